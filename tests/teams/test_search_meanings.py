"""What is found by its meaning, where no word of the question stands there; and what becomes of it without encoder."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from hitl_tui.meaning import encoder
from hitl_tui.teams.search.index import SearchIndex
from hitl_tui.teams.search.index_refresh import Allowed

RULE = "The office dog must be kept on a lead in the lobby.\n"


def write(folder: Path, notes: int = 250) -> None:
    folder.mkdir(exist_ok=True)
    for number in range(notes):
        (folder / f"note{number:03}.md").write_text(f"# Batch {number}\n\nRun {number} of the nightly job ended.\n")
    (folder / "pets.md").write_text(f"# Animals\n\n{RULE}")


def sketched(store: Path) -> int:
    db = sqlite3.connect(store)
    try:
        return int(db.execute("SELECT count(*) FROM windows WHERE meaning IS NOT NULL").fetchone()[0])
    finally:
        db.close()


def test_a_window_without_a_word_of_the_question_is_found(tmp_path: Path) -> None:
    write(tmp_path / "docs")
    with SearchIndex(tmp_path / "index.db") as index:
        index.refresh(tmp_path / "docs")
        hits = index.query("강아지는 목줄을 해야 하나요?")
    assert next(one.path for one in (*hits.passages, *hits.far)) == "pets.md"


def test_sketches_go_on_where_the_last_search_left_off_and_follow_the_files(tmp_path: Path) -> None:
    write(tmp_path / "docs", 20)
    store = tmp_path / "index.db"
    with SearchIndex(store) as index:
        index.refresh(tmp_path / "docs", allowed=Allowed(sketches=8))
        assert sketched(store) == 8
        index.refresh(tmp_path / "docs", allowed=Allowed(sketches=8))
        assert sketched(store) == 16
        index.refresh(tmp_path / "docs", allowed=Allowed(sketches=None))
        assert sketched(store) == 21
        (tmp_path / "docs" / "pets.md").write_text("# Plants\n\nWater them on Mondays.\n")
        index.refresh(tmp_path / "docs", allowed=Allowed(sketches=0))
        assert sketched(store) == 20
        index.refresh(tmp_path / "docs")
        assert sketched(store) == 21


def test_without_an_encoder_the_words_find_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder, "_ENCODER", encoder._Encoder())
    monkeypatch.setattr(encoder, "_COMMAND", ("-c", "raise SystemExit(1)"))
    write(tmp_path / "docs", 20)
    with SearchIndex(tmp_path / "index.db") as index:
        index.refresh(tmp_path / "docs")
        hits = index.query("Where must the office dog be kept on a lead?")
    assert hits.passages[0].path == "pets.md"
