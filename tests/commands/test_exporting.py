"""Files to read: the answer and the plan as Markdown or JSON, harmless for who opens them (C8, C10)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from hitl_tui.commands.exporting import as_json, as_markdown, is_for_reading, write_for_reading
from hitl_tui.core.errors import BadInput
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.supervisor.snapshot import Snapshot
from hitl_tui.teams.brief import EXPORTED
from hitl_tui.teams.search.blocks import Unreadable
from hitl_tui.teams.search.text import extract_bytes

HOSTILE = "a\x1b[2J\x9b1m\u202eb"


def snapshot(response: dict[str, object] | None) -> Snapshot:
    todo = SupervisorTodo(
        id="todo_001",
        name=f"Find {HOSTILE}",
        agent_name="search_team",
        status=Status.COMPLETED,
        approval={"by": f"ann{HOSTILE}", "at": "2026-01-01T00:00:00+00:00"},
        result={"summary": f"found {HOSTILE}"},
    )
    raw = {todo.id: todo.to_state()}
    return Snapshot("s1", f"Why?\n{HOSTILE}", "/w", "step", "approval", 0, 0, "c1", raw, response=response)


def test_markdown_has_question_answer_and_plan_and_nothing_that_moves() -> None:
    text = as_markdown(snapshot({"text": f"# Answer\n\n5 percent {HOSTILE}"}))
    assert text.startswith("# Why?\n")
    for said in (
        "5 percent a␛[2J",
        "**todo_001** Find a␛[2J",
        "approved by anna␛",
        "found a␛",
        "Session s1, checkpoint c1.",
    ):
        assert said in text
    assert not {"\x1b", "\x9b", "\u202e"} & set(text)
    assert "Not finished" in as_markdown(snapshot(None))


def test_markdown_is_in_the_language_of_the_question() -> None:
    asked = replace(snapshot({"text": "## 답변\n\n5%"}), query="상한은 얼마인가?")
    text = as_markdown(asked)
    assert "## 계획\n" in text and "(search_team): 완료\n" in text
    assert "  - 승인: anna␛" in text and "세션 s1, 체크포인트 c1." in text
    assert "끝나지 않았습니다" in as_markdown(replace(asked, response=None))


def test_an_exported_answer_is_no_evidence_for_another_one() -> None:
    text = as_markdown(snapshot({"text": "The cap is 5 percent."}))
    assert extract_bytes(text.replace(EXPORTED, "").encode(), ".md").blocks
    with pytest.raises(Unreadable, match="exported here"):
        extract_bytes(text.encode(), ".md")


def test_json_is_exact_and_in_ascii() -> None:
    text = as_json(snapshot({"text": HOSTILE}))
    assert text.isascii() and "\x1b" not in text
    assert json.loads(text)["response"]["text"] == HOSTILE


def test_no_file_is_written_over_and_a_missing_folder_is_said(tmp_path: Path) -> None:
    target = tmp_path / "a.md"
    assert write_for_reading(snapshot(None), target) == target
    before = target.read_bytes()
    with pytest.raises(BadInput, match="exists already"):
        write_for_reading(snapshot({"text": "x"}), target)
    assert target.read_bytes() == before
    with pytest.raises(BadInput, match="doesn't exist"):
        write_for_reading(snapshot(None), tmp_path / "none" / "a.json")
    assert [is_for_reading(Path(p)) for p in ("a.MD", "a.json", "a.hitl", "a")] == [True, True, False, False]


@pytest.mark.parametrize("name", ["a.pdf", "a.hitl.zip", "a.MD5", "\x1b[2J.docx"])
def test_a_name_that_promises_another_kind_of_file_is_refused(name: str) -> None:
    with pytest.raises(BadInput) as caught:
        is_for_reading(Path(name))
    assert all(kind in caught.value.message for kind in (".hitl", ".md", ".json"))
    assert "\x1b" not in caught.value.message
