"""Rows held against a limit that a document sets."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_tui.tables.ask import About, about, ask
from hitl_tui.tables.files import table_files
from hitl_tui.teams.analysis.table_answer import brief
from hitl_tui.teams.analysis.table_limits import held
from hitl_tui.teams.passages import Passage

LOANS = (
    "대여일,이름,품목,금액\n2026-03-02,가을,보드게임,9000\n2026-03-05,나무,퍼즐,7000\n2026-03-09,다솔,보드게임,14000\n"
)
VISITS = "week,guest,room,nights\n9,Ada,East,3\n9,Ben,West,6\n10,Ada,West,7\n"
RULES = (
    "# 대여 규칙\n\n1. 퍼즐 보증금은 5,000원까지 받는다.\n2. 보드게임은 10,000원까지 받는다. 단골은 20,000원까지다.\n"
)
HOUSE = "# House rules\n\nNobody books more than 5 nights a week. Breakfast is at most 12 euros.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "대여.csv").write_text(LOANS, encoding="utf-8")
    (tmp_path / "visits.csv").write_text(VISITS, encoding="utf-8")
    return tmp_path


def told(folder: Path, question: str, text: str) -> tuple[str, str]:
    """Return the answer, and what was said instead of one."""
    language = "ko" if "가" <= question[0] <= "힣" else "en"
    answer = ask(question, table_files(folder))
    assert answer.why == "limit", answer
    said = Passage("rules.md", 1, text.count("\n") + 1, text)
    found, note, _ = held(answer, question, [said] if text else [], language)
    made = brief(found, language, note)
    return made.answer, "\n".join(made.absent)


def test_rows_beyond_a_limit_are_those_beyond_the_one_in_the_document(folder: Path) -> None:
    question = "퍼즐 한도를 넘긴 사람은 누구야?"
    assert about(question, folder) is About.LIMIT
    answer, _ = told(folder, question, RULES)
    assert "나무" in answer and "금액 > 5000" in answer and "rules.md:3" in answer


def test_what_is_said_beside_the_limit_is_quoted_with_it(folder: Path) -> None:
    answer, _ = told(folder, "보드게임 한도를 넘긴 사람이 있어?", RULES)
    assert "다솔" in answer and "가을" not in answer
    assert "단골은 20,000원까지다" in answer and "다른 한도도 있음: 2만 원" in answer


def test_a_limit_for_a_week_holds_for_rows_of_a_week(folder: Path) -> None:
    answer, _ = told(folder, "Who booked more nights in week 10 than the house rules allow?", HOUSE)
    assert "Ada" in answer and "Ben" not in answer
    _, instead = told(folder, "Who booked more nights than the house rules allow?", HOUSE)
    assert "for a period" in instead


@pytest.mark.parametrize("text", ["", "# 대여 규칙\n\n퍼즐은 3명까지 함께 빌린다.\n"])
def test_without_a_limit_nothing_is_answered_and_that_is_said(folder: Path, text: str) -> None:
    answer, instead = told(folder, "퍼즐 한도를 넘긴 사람은 누구야?", text)
    assert not answer and "한도를 찾지 못했습니다" in instead


def test_where_nobody_is_beyond_it_the_limit_is_said(folder: Path) -> None:
    answer, instead = told(folder, "퍼즐 한도를 넘긴 사람은 누구야?", RULES.replace("5,000", "8,000"))
    assert not answer and "rules.md:3" in instead and "해당하는 행이 없습니다" in instead


def test_a_limit_that_is_a_column_is_compared_with_it(tmp_path: Path) -> None:
    (tmp_path / "차량.csv").write_text("차량,주행,한도\n모닝,120,100\n레이,80,100\n", encoding="utf-8")
    answer = ask("주행이 한도보다 많은 차량은?", table_files(tmp_path))
    assert answer.result is not None and answer.why == ""
    assert "모닝" in answer.result.rows[0]
