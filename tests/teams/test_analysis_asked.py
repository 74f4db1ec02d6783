"""What a question asks of a table: sums first, which value is best, and honestly what can't be told."""

from __future__ import annotations

import pytest

from hitl_tui.teams.analysis.analysis_model import Analysis
from hitl_tui.teams.analysis.analysis_report import brief, render
from hitl_tui.teams.analysis.computation import analyse
from hitl_tui.teams.analysis.csv_tables import TableSummary, parse_table
from hitl_tui.teams.analysis.table_summary import summarise

CSV = """day,item,units,revenue
2026-03-02,bread,120,436
2026-03-02,cake,15,225
2026-03-02,coffee,80,240
2026-03-03,bread,150,545
2026-03-03,cake,22,330
2026-03-03,coffee,95,285
2026-03-04,bread,126,461
2026-03-04,cake,38,572
2026-03-04,coffee,60,180
"""
KOREAN = (
    "날짜,품목,수량,매출(원)\n3월 2일,빵,120,436\n3월 2일,케이크,15,225\n3월 3일,빵,150,545\n3월 3일,케이크,22,330\n"
)


def answered(query: str, table: str = CSV) -> list[str]:
    """Return the lines of the answer, without their sources."""
    told = brief(analyse(query, (), [parse_table(table, "sales.csv")]))
    return [line.partition(" [`")[0].removeprefix("- ") for line in told.answer.split("\n") if line.startswith("- ")]


def test_sums_come_first_together_and_by_name_then_the_best_day() -> None:
    assert answered("What is the total revenue of bread and cake, and which day was best?") == [
        "Total of revenue, bread, cake (6 rows): 2,569",
        "Total of revenue, bread (3 rows): 1,442",
        "Total of revenue, cake (3 rows): 1,127",
        "day with the highest revenue (bread, cake): 2026-03-04 (1,033)",
    ]


def test_korean_questions_are_answered_the_same_over_either_language() -> None:
    assert answered("bread와 cake의 총매출은 얼마고 어느 날이 가장 좋았어?") == [
        "revenue 합계, bread, cake(6행): 2,569",
        "revenue 합계, bread(3행): 1,442",
        "revenue 합계, cake(3행): 1,127",
        "revenue 합계가 가장 높은 day (bread, cake): 2026-03-04 (1,033)",
    ]
    assert answered("매출 합계와 매출이 가장 적은 날짜는 언제야?", KOREAN) == [
        "매출 합계, 모든 행(4행): 1,536원",
        "매출 합계가 가장 낮은 날짜: 3월 2일 (661원)",
    ]


@pytest.mark.parametrize(
    ("query", "line"),
    [
        ("Which day had the highest revenue?", "day with the highest revenue: 2026-03-04 (1,213)"),
        ("which item sold the fewest units", "item with the lowest units: cake (75)"),
        ("Which of the items has the most revenue?", "item with the highest revenue: bread (1,442)"),
        ("What was the worst day for cake revenue?", "day with the lowest revenue (cake): 2026-03-02 (225)"),
        ("매출이 가장 높은 날은 언제야?", "revenue 합계가 가장 높은 day: 2026-03-04 (1,213)"),
        ("언제 매출이 가장 낮았어?", "revenue 합계가 가장 낮은 day: 2026-03-02 (901)"),
    ],
)
def test_the_best_value_is_named_with_its_sum_and_nothing_else_is_told(query: str, line: str) -> None:
    assert answered(query) == [line]


def test_values_that_are_equal_are_all_named() -> None:
    table = "day,sales\nMon,5\nTue,7\nWed,7\n"
    assert answered("Which day had the highest sales?", table) == ["day with the highest sales: Tue, Wed (7)"]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (
            "What is the total revenue, and which shop was best?",
            'Not computed: "which shop was best": sales.csv has no column "shop"; it has day, item, units, revenue.',
        ),
        (
            "Which day was best?",
            'Not computed: "Which day was best": the question doesn\'t say by what; sales.csv has units, revenue.',
        ),
        (
            "어느 매장이 제일 잘 팔았어?",
            '계산하지 않음: "어느 매장이 제일 잘 팔았어". sales.csv에 "매장" 열이 없습니다. '
            "있는 열: day, item, units, revenue.",
        ),
    ],
)
def test_what_can_t_be_told_is_said(query: str, said: str) -> None:
    assert answered(query)[-1] == said
    analysis = analyse(query, (), [parse_table(CSV, "sales.csv")])
    assert said in render(analysis)
    assert Analysis.from_dict(analysis.to_dict()) == analysis


@pytest.mark.parametrize(
    "query", ["What is the best way to bake?", "What is the highest revenue?", "revenue of coffee"]
)
def test_questions_for_nothing_of_the_kind_get_the_statistics(query: str) -> None:
    assert all("mean" in line and "highest" in line for line in answered(query))


def test_averages_stay_where_they_are_asked_for_too() -> None:
    lines = answered("total and average units of coffee")
    assert lines[0] == "Total of units, coffee (3 rows): 235"
    assert lines[1].startswith("units, coffee (3 rows): mean 78.33")


def test_a_summary_with_all_of_it_survives_json_and_an_old_one_is_read() -> None:
    summary = summarise(parse_table(CSV, "sales.csv"), "total revenue, which day was best and which shop was worst?")
    assert len(summary.best) == 2
    assert TableSummary.from_dict(summary.to_dict()) == summary
    old = {k: v for k, v in summary.to_dict().items() if k not in ("totals", "averages", "best")}
    assert TableSummary.from_dict(old).averages


def test_how_the_best_was_found_can_be_done_again() -> None:
    (step,) = analyse("Which item has the most revenue?", (), [parse_table(CSV, "sales.csv")]).steps
    assert step.formula == "bread: 1,442; cake: 1,127; coffee: 705"
    many = "day,sales\n" + "".join(f"d{n:02d},{n}\n" for n in range(20))
    (step,) = analyse("Which day had the lowest sales?", (), [parse_table(many, "t.csv")]).steps
    assert step.formula.startswith("d00: 0; d01: 1;") and step.formula.endswith("; and 8 more")
