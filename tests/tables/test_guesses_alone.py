"""A table that nobody names isn't asked where all that a question says of it was guessed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tables_support import shared

from hitl_tui.tables.ask import About, about, ask
from hitl_tui.tables.files import table_files

TABLES = {
    "budget": "department,year,budget,spent\nIT,2026,60000,55000\nHR,2026,40000,38000\nSales,2026,90000,91000\n",
    "staff": "name,department,hired,salary,leave_days\nKim,IT,2020-03-01,52000,15\nLee,HR,2021-07-15,48000,12\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in TABLES.items():
        (tmp_path / f"{name}.csv").write_text(content, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("tables", [("budget",), ("budget", "staff")])
@pytest.mark.parametrize(
    "question",
    [
        "연차는 최대 며칠까지 받을 수 있어?",
        "재택근무는 일주일에 며칠까지 할 수 있어?",
        "가장 늦게 신청할 수 있는 날은 언제야?",
    ],
)
def test_a_guess_alone_answers_nothing(tmp_path: Path, tables: tuple[str, ...], question: str) -> None:
    for name in tables:
        (tmp_path / f"{name}.csv").write_text(TABLES[name], encoding="utf-8")
    answer = ask(question, table_files(shared(tmp_path)))
    assert answer.result is None and not answer.likely, answer
    assert about(question, tmp_path) is About.TEXT


def test_a_guess_beside_what_a_table_has_answers(folder: Path) -> None:
    question = "IT 부서에서 나간 돈은 얼마야?"
    answer = ask(question, table_files(shared(folder)))
    assert answer.result is not None and answer.mapped is not None, answer
    assert answer.mapped.query.measure == "spent"


def test_a_guess_answers_where_the_table_is_named(folder: Path) -> None:
    answer = ask("budget.csv에서 최대 얼마까지 받을 수 있어?", table_files(folder))
    assert answer.result is not None, answer


@pytest.mark.parametrize(
    "question",
    [
        "tea는 며칠 안에 반품할 수 있나요?",
        "coffee 반품 기간은 며칠인가요?",
        "Within how many days can tea be returned?",
    ],
)
def test_no_number_of_something_else_is_one_of_days(tmp_path: Path, question: str) -> None:
    rows = [f"2026-0{1 + n % 3}-0{1 + n % 5},{('tea', 'coffee')[n % 2]},{n % 17 + 1},{100 * n}" for n in range(60)]
    (tmp_path / "sales.csv").write_text("\n".join(["date,product,units,revenue", *rows]), encoding="utf-8")
    answer = ask(question, table_files(shared(tmp_path)))
    assert answer.result is None, answer.sql
    assert about(question, tmp_path) is About.TEXT
