"""What an answer rests on: numbered as it is cited, and a file is only opened where it is text of the folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_tui.core.errors import BadInput
from hitl_tui.supervisor.answer_sources import AnswerSource, file_of, sources_of
from hitl_tui.supervisor.snapshot import ResponseData, Snapshot


def test_what_is_cited_comes_first_and_then_what_was_written() -> None:
    response: ResponseData = {
        "citations": [
            {"path": "a.md", "line": 3, "end_line": 4, "quote": "two\n words"},
            {"path": "b.pdf", "line": 7, "page": 2},
        ],
        "files": ["out/report.md"],
    }
    found = sources_of(Snapshot("s1", "q", "/w", "step", "finished", 0, 0, "c1", {}, response=response))
    assert [source.label for source in found] == ["a.md:3", "b.pdf p.2:7", "out/report.md"]
    assert [source.quote for source in found] == ["two words", "", ""]


def test_a_file_that_the_text_names_is_a_source_where_it_is_in_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "outbox").mkdir(parents=True)
    (folder / "outbox" / "001.eml").write_text("Dear Ann")
    (folder / "a.md").write_text("words")
    (tmp_path / "secret.md").write_text("secret")
    text = "The mail is in outbox/001.eml. It rests on `a.md:1`, on gone.md and on ../secret.md, and costs 1.5."
    response: ResponseData = {"text": text, "citations": [{"path": "a.md", "line": 1}]}
    found = sources_of(Snapshot("s1", "q", str(folder), "step", "finished", 0, 0, "c1", {}, response=response))
    assert [source.label for source in found] == ["a.md:1", "outbox/001.eml"]


def test_a_file_is_found_below_the_folder_only_and_only_as_text(tmp_path: Path) -> None:
    folder, other = tmp_path / "folder", tmp_path / "other.md"
    folder.mkdir()
    other.write_text("secret")
    (folder / "a.md").write_text("words")
    (folder / "inside.md").symlink_to("a.md")
    (folder / "outside.md").symlink_to(other)
    (folder / "picture.md").write_bytes(b"\x89PNG\0")
    assert file_of(AnswerSource("a.md", 1), folder) == folder / "a.md"
    assert file_of(AnswerSource("inside.md", 1), folder) == folder / "a.md"
    for path, page in (("outside.md", 0), ("../other.md", 0), ("picture.md", 0), ("a.md", 1), ("gone.md", 0), (".", 0)):
        with pytest.raises(BadInput):
            file_of(AnswerSource(path, 1, page), folder)
