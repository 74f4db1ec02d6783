"""Questions about a month, a quarter or a year: only its rows count, and where that can't be known nothing is said."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hitl_tui.teams.analysis.calendar_dates import moment_of, periods, relative
from hitl_tui.teams.analysis.computation import analyse
from hitl_tui.teams.analysis.csv_tables import TableSummary, parse_table
from hitl_tui.teams.analysis.table_summary import summarise

SALES = """월,지점,매출액
2025-12,서울,11
2026-01,서울,12
2026-01,부산,8
2026-02,서울,15
2026-03,부산,9
"""
DAYS = """date,product,amount
2026-01-05,Widget,1
2026-01-20,Gadget,2
2026-02-14,Widget,4
2026-03-03,Gadget,8
"""
PARTS = "year,month,amount\n2025,1,1\n2026,1,2\n2026,2,4\n"
BARE = "city,amount\nSeoul,1\nBusan,2\n"


def total(table: str, query: str) -> Fraction:
    """Return the sum of all rows that a question chooses."""
    (found,) = [stat for stat in summarise(parse_table(table, "t.csv"), query).stats if not stat.group]
    return found.total


@pytest.mark.parametrize(
    ("table", "query", "expected"),
    [
        (SALES, "2월 매출액 합계는?", 15),
        (SALES, "2026년 1월 서울 매출액 합계는?", 12),
        (SALES, "2026년 매출액 합계는?", 44),
        (SALES, "2026년 1분기 매출액 합계", 44),
        (SALES, "1월부터 2월까지 매출액 합계", 35),
        (SALES, "1~2월 매출액 합계", 35),
        (SALES, "2025-12부터 2026-01까지 매출액 합계", 31),
        (SALES, "하반기 매출액 합계", 11),
        (DAYS, "total amount in February 2026", 4),
        (DAYS, "total amount from January to February 2026", 7),
        (DAYS, "total amount in Q1 2026", 15),
        (DAYS, "total amount from 2026-01-10 to 2026-02-20", 6),
        (DAYS, "total amount on January 5, 2026", 1),
        (DAYS, "the total amount may be known", 15),
        (PARTS, "total amount in January 2026", 2),
        (PARTS, "2026년 1월 amount 합계", 2),
    ],
)
def test_only_the_rows_of_the_period_count(table: str, query: str, expected: int) -> None:
    assert total(table, query) == expected


def test_several_periods_are_added_up_each_by_itself() -> None:
    summary = summarise(parse_table(SALES, "t.csv"), "2월과 3월 매출액 합계")
    assert {stat.group: stat.total for stat in summary.stats} == {"": 24, "2월": 15, "3월": 9}
    assert TableSummary.from_dict(summary.to_dict()) == summary


def test_what_is_best_is_looked_for_within_the_period() -> None:
    (best,) = summarise(parse_table(SALES, "t.csv"), "1월에 매출액이 가장 높은 지점은 어디야?").best
    assert (best.column, best.values, best.total) == ("지점", ("서울",), "12")


def test_the_best_of_two_columns_is_looked_for_in_each() -> None:
    found = summarise(parse_table(SALES, "t.csv"), "매출액이 가장 높은 달과 지점은?").best
    assert [(best.column, best.values) for best in found] == [("월", ("2026-01",)), ("지점", ("서울",))]


@pytest.mark.parametrize(
    ("table", "query", "said"),
    [
        (SALES, "4월 매출액 합계는?", '계산하지 않음: t.csv에 "4월"에 해당하는 행이 없습니다(월 열 기준).'),
        (SALES, "지난달 매출액 합계는?", '"지난달"의 연도와 월을 알 수 없습니다.'),
        (DAYS, "What was the total amount last month?", 'it isn\'t known when "last month" is'),
    ],
)
def test_a_period_without_rows_gives_no_figures_and_says_so(table: str, query: str, said: str) -> None:
    analysis = analyse(query, [], [parse_table(table, "t.csv")])
    assert not analysis.steps
    assert said in analysis.not_computed
    assert "표도 없어" not in analysis.not_computed and "no table" not in analysis.not_computed


def test_a_table_without_dates_says_that_its_figures_are_of_all_times() -> None:
    analysis = analyse("total amount in February 2026", [], [parse_table(BARE, "t.csv")])
    assert [step.exact for step in analysis.steps] == ["3"]
    assert analysis.unanswered == (
        't.csv has no column of dates, so "February 2026" could not be chosen: its figures are of all rows.',
    )


@pytest.mark.parametrize("text", ["3개월 매출", "you may march on", "version 12", "제3조 2항", "2026 units"])
def test_what_is_no_period_is_none(text: str) -> None:
    assert periods(text) == ()


def test_relative_periods_and_cells() -> None:
    assert (relative("작년 매출"), relative("매출")) == ("작년", "")
    assert moment_of("2026-01-05 10:00:01") == (2026, 1, 5)
    assert moment_of("2026년 3월") == (2026, 3, None)
    assert moment_of("3,000") is None and moment_of("2026-13") is None
