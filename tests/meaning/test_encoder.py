"""The encoders' process: what it tells, and what becomes of a search when it can't run."""

from __future__ import annotations

import os
import signal
import sqlite3
from pathlib import Path

import pytest

from hitl_tui.meaning import encoder

LEAVE = "Employees receive fifteen days of paid leave a year."
OTHERS = ("The build server restarts at midnight.", "Invoices are sent on the first of the month.", "Wear a helmet.")


@pytest.mark.parametrize("question", ["How much holiday do I get?", "연차 휴가는 며칠인가요?"])
def test_a_question_is_most_like_what_it_is_about_in_other_words(question: str) -> None:
    likes = encoder.likenesses(question, [*OTHERS, LEAVE])
    assert max(likes) == likes[-1]


@pytest.mark.parametrize("question", ["How much holiday do I get?", "연차 휴가는 며칠인가요?"])
def test_the_passage_that_answers_is_judged_best(question: str) -> None:
    judged = encoder.answering(question, [*OTHERS, LEAVE])
    assert not judged or max(judged) == judged[-1]


@pytest.mark.parametrize("question", ["How much holiday do I get?", "연차 휴가는 며칠인가요?"])
def test_the_window_that_answers_matches_best_whatever_else_is_asked_with_it(question: str) -> None:
    windows = [("Company handbook", (text,)) for text in (*OTHERS, LEAVE)]
    found = encoder.matches(question, windows)
    assert max(found) == found[-1]
    assert encoder.matches(question, windows[-1:]) == pytest.approx(found[-1:], abs=1e-4)
    assert encoder.matches(question, []) == []


def test_sketches_find_what_means_the_same(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    db = sqlite3.connect(store)
    db.execute("CREATE TABLE windows (id INTEGER PRIMARY KEY, file INTEGER, meaning BLOB)")
    made = encoder.sketches([*OTHERS, LEAVE])
    db.executemany("INSERT INTO windows VALUES (?, ?, ?)", [(at, at % 2, sketch) for at, sketch in enumerate(made)])
    db.commit()
    db.close()
    found = encoder.nearest("연차 휴가는 며칠인가요?", store, 1, known=[0])
    assert max(found, key=lambda window: found[window]) == 3
    assert set(found) == {0, 3}
    assert 3 not in encoder.nearest("연차 휴가는 며칠인가요?", store, 4, known=[], files=[0])


@pytest.mark.long
def test_a_process_that_was_killed_is_started_again() -> None:
    encoder.load()
    process = encoder._ENCODER._process
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert encoder.likenesses("leave", [LEAVE]) != [0.0]


def test_what_can_not_run_finds_nothing_alike(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = encoder._Encoder()
    monkeypatch.setattr(encoder, "_ENCODER", broken)
    monkeypatch.setattr(encoder, "_COMMAND", ("-c", "raise SystemExit(1)"))
    assert encoder.likenesses("leave", [LEAVE, *OTHERS]) == [0.0] * 4
    assert encoder.answering("leave", [LEAVE]) == []
    assert encoder.matches("leave", [("Leave", [LEAVE])]) == [0.0]
    assert encoder.sketches([LEAVE]) == []
    assert encoder.nearest("leave", tmp_path / "none.db", 3, []) == {}


def test_a_store_that_is_gone_or_damaged_has_nothing_near_and_ends_no_process(tmp_path: Path) -> None:
    encoder.load()
    process = encoder._ENCODER._process
    assert encoder.nearest("leave", tmp_path / "none.db", 3, []) == {}
    (tmp_path / "broken.db").write_bytes(b"no database " * 100)
    assert encoder.nearest("leave", tmp_path / "broken.db", 3, []) == {}
    assert encoder._ENCODER._process is process
    assert process is not None and process.poll() is None
