"""Two questions of one sentence, and a figure of what was just listed."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_tui.tables.ask import About, Answer, about, ask, continues
from hitl_tui.tables.files import table_files
from hitl_tui.teams.analysis.table_answer import brief

DUES = "parent,class,fee due,fee paid\nAda,Red,40,40\nBen,Blue,40,10\nCleo,Red,25,0\nDan,Blue,25,25\n"
TRIPS = "날짜,기사,구간,요금\n2026-05-02,한별,공항,42000\n2026-05-09,도담,시내,9000\n2026-05-20,한별,시내,11000\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "fees.csv").write_text(DUES, encoding="utf-8")
    (tmp_path / "운행.csv").write_text(TRIPS, encoding="utf-8")
    return tmp_path


def cells(answer: Answer | None) -> set[object]:
    assert answer is not None and answer.result is not None, answer
    return {cell for row in answer.result.rows for cell in row}


@pytest.mark.parametrize(
    ("question", "first", "second"),
    [
        ("Who still owes fees, and how much altogether?", {"Ben", "Cleo"}, 55),
        ("which parents are in Red and how much is the fee due in total?", {"Ada", "Cleo"}, 65),
        ("한별이 운행한 구간은 어디고 요금은 모두 얼마야?", {"공항", "시내"}, 53000),
        ("시내 요금은 모두 얼마고 평균은 얼마야?", {20000}, 10000),
        ("what is the average fee paid and who has the highest fee paid?", {18.75}, "Ada"),
    ],
)
def test_each_of_two_questions_is_answered_of_the_same_rows(
    folder: Path, question: str, first: set[object], second: object
) -> None:
    answer = ask(question, table_files(folder))
    assert first <= cells(answer)
    assert second in cells(answer.second)


def test_a_second_question_that_the_table_does_not_answer_is_named(folder: Path) -> None:
    answer = ask("Who still owes fees, and what is the total weight?", table_files(folder))
    assert {"Ben", "Cleo"} <= cells(answer)
    assert "Not answered: “what is the total weight?”" in brief(answer, "en").answer


@pytest.mark.parametrize(
    ("listed", "question", "expected"),
    [
        ("who still owes fees?", "how much is that altogether?", 55),
        ("한별이 5월에 운행한 구간 목록", "모두 얼마야?", 53000),
        ("구간별 요금 합계", "그럼 다 합해서 얼마야?", 62000),
    ],
)
def test_a_total_asked_for_after_a_list_is_that_of_its_rows(
    folder: Path, listed: str, question: str, expected: float
) -> None:
    before = ask(listed, table_files(folder)).mapped
    assert before is not None
    assert expected in cells(ask(question, table_files(folder), before.query))
    assert continues(question, [listed], folder) or about(question, folder) is About.TABLE


def test_a_total_of_what_has_no_figure_is_not_made_up(folder: Path) -> None:
    before = ask("which parents are in Red?", table_files(folder)).mapped
    assert before is not None
    assert ask("how much is that altogether?", table_files(folder), before.query).result is None


@pytest.mark.parametrize(
    ("question", "figures"),
    [
        ("what is the average of fee paid, and which class has the fewest in fees.csv?", (18.75, "Blue")),
        ("which class has the most fee paid and what is the average of fee due in fees.csv?", ("Red", 32.5)),
        ("운행.csv에서 요금 평균은 얼마고 가장 적은 구간은 뭐야?", (pytest.approx(20666.67), "시내")),
    ],
)
def test_a_figure_of_all_and_what_has_least_are_two_questions(
    folder: Path, question: str, figures: tuple[object, object]
) -> None:
    answer = ask(question, table_files(folder))
    assert answer.result is not None and answer.second is not None and answer.second.result is not None
    assert (answer.result.rows[0][0], answer.second.result.rows[0][0]) == figures
