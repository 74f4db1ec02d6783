"""Tables: rows a question names, statistics with units, and files that can't be used."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path

import pytest

from hitl_tui.teams.analysis.analysis_graph import MAX_BYTES, limit_lines, read_tables
from hitl_tui.teams.analysis.analysis_model import Passage
from hitl_tui.teams.analysis.computation import analyse
from hitl_tui.teams.analysis.csv_tables import TableSummary, parse_table
from hitl_tui.teams.analysis.table_summary import summarise

CSV = """district,complex,area_m2,date,매매가(만원),전세가(만원)
강남구,가람,59.9,2024-03-11,185000,82000
강남구,나래,84.9,2024-04-02,243000,118000
서초구,다온,84.9,2024-05-07,"256,000",124000
"""


def test_rows_that_the_question_names_are_counted_in_won() -> None:
    summary = summarise(parse_table(CSV, "prices.csv"), "강남구 아파트 시세 조회")
    assert (summary.chosen, summary.row_count) == (2, 3)
    assert summary.filters == ("district = 강남구",)
    assert (summary.first_line, summary.last_line) == (2, 3)
    sale = summary.stats[0]
    assert (sale.column, sale.unit, sale.count) == ("매매가", "KRW", 2)
    assert (sale.low, sale.high) == (Fraction(1_850_000_000), Fraction(2_430_000_000))
    assert sale.mean == sale.middle == Fraction(2_140_000_000)


def test_naming_several_values_groups_by_their_column() -> None:
    summary = summarise(parse_table(CSV, "prices.csv"), "강남구와 서초구의 전세가 비교")
    assert summary.grouped_by == "district"
    means = {stat.group: stat.mean for stat in summary.stats if stat.group}
    assert means == {"강남구": Fraction(1_000_000_000), "서초구": Fraction(1_240_000_000)}


@pytest.mark.parametrize("query", ["구별 시세", "average price by district"])
def test_asking_by_a_column_groups_by_it(query: str) -> None:
    assert summarise(parse_table(CSV, "prices.csv"), query).grouped_by == "district"


def test_dates_and_text_are_no_numeric_columns() -> None:
    summary = summarise(parse_table(CSV, "prices.csv"), "전부")
    assert [stat.column for stat in summary.stats] == ["area_m2", "매매가", "전세가"]
    assert summary.stats[0].unit == "m²"


def test_cells_may_carry_their_own_units() -> None:
    summary = summarise(parse_table("name,가격\na,3억 5천만원\nb,2억\n", "t.csv"), "가격")
    assert [(stat.unit, stat.total) for stat in summary.stats] == [("KRW", Fraction(550_000_000))]


def test_a_summary_survives_json() -> None:
    summary = summarise(parse_table(CSV, "prices.csv"), "강남구와 서초구")
    assert TableSummary.from_dict(summary.to_dict()) == summary


@pytest.mark.parametrize(
    ("text", "sample"),
    [
        (CSV, False),
        ("data,price\nSAMPLE,5\n", True),
        ("이름,가격\n샘플한빛,5\n", True),
        ("a,b\nresampled,5\n", False),
    ],
)
def test_sample_data_is_recognised_when_the_file_says_so(text: str, sample: bool) -> None:
    assert parse_table(text, "t.csv").sample is sample


def test_ragged_rows_quotes_and_blank_lines_keep_their_line_numbers() -> None:
    table = parse_table('a,b,c\n1,2\n\n"x\ny",5,6,7\n3,4,5\n', "t.csv")
    assert table.rows == (("1", "2", ""), ("x\ny", "5", "6"), ("3", "4", "5"))
    assert table.lines == (2, 4, 6)


@pytest.mark.parametrize("text", ["", "only one column\n1\n", "\n\n"])
def test_what_is_no_table_is_refused_by_name(text: str) -> None:
    with pytest.raises(ValueError, match=r"t\.csv"):
        parse_table(text, "t.csv")


def test_files_outside_missing_too_large_or_binary_are_notes_and_the_rest_is_read(tmp_path: Path) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()
    (tmp_path / "secret.csv").write_text(CSV)
    (workspace / "link.csv").symlink_to(tmp_path / "secret.csv")
    (workspace / "good.csv").write_text(CSV)
    (workspace / "korean.csv").write_bytes("구,가격\n강남구,5\n".encode("cp949"))
    (workspace / "binary.csv").write_bytes(b"\xff\xfe\x00\x81\x8d")
    (workspace / "loop.csv").symlink_to(workspace / "loop.csv")
    with (workspace / "huge.csv").open("wb") as huge:
        os.truncate(huge.fileno(), MAX_BYTES + 1)
    bad = ["../secret.csv", "link.csv", "nope.csv", "huge.csv", "binary.csv", "loop.csv", "a\0.csv"]
    names = ["good.csv", *bad, "korean.csv"]
    tables, notes = read_tables(workspace, [*names, "good.csv", "notes.md"])
    assert [table.path for table in tables] == ["good.csv", "korean.csv"]
    assert len(notes) == len(bad)
    assert sum("outside the workspace" in note for note in notes) == 2
    assert any("larger than 5 MB" in note for note in notes)


def test_limits_near_a_passage_are_read_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "law.md").write_text(
        "# 증액\n\n- 제7조에 관한 글이다.\n- 증액은 5%를 초과하지 못한다.\n", encoding="utf-8"
    )
    (line,) = limit_lines(tmp_path, [Passage("law.md", 3, 3, "- 제7조에 관한 글이다.")])
    assert (line.line, line.heading) == (4, "증액")
    assert limit_lines(tmp_path, [Passage("law.md", 3, 4, "…")]) == ()
    assert limit_lines(tmp_path, [Passage("../gone.md", 1, 1, "…")]) == ()


@pytest.mark.parametrize("query", ["Compare the price of widget and gadget", "widget과 gadget의 가격을 비교해줘"])
def test_two_rows_compared_give_their_values_difference_and_ratio_and_no_statistics(query: str) -> None:
    table = parse_table("product,price,stock\nwidget,12.5,40\ngadget,30,3\nsprocket,7,9\n", "prices.csv")
    steps = analyse(query, (), [table]).steps
    assert [(step.value.rstrip("times 배"), step.exact) for step in steps] == [
        ("12.5", "25/2"),
        ("30", "30"),
        ("17.5", "35/2"),
        ("2.4", "12/5"),
    ]
    assert not any("mean" in step.value or "평균" in step.value for step in steps)
