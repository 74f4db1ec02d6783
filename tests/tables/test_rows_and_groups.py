"""What has most or least: a row, or rows of one name added up; and whose column is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from tables_support import shared

from hitl_tui.tables.ask import About, Answer, about, ask
from hitl_tui.tables.files import table_files
from hitl_tui.teams.analysis.table_answer import brief, shown

FAIRS = "fair,day,town,visits,fee\nHill Fair,2025-03-02,Alm,80,10\nCity Market,2025-05-04,Bad,140,12\n"
FAIRS += "Hill Fair,2026-03-01,Alm,75,10\nLake Days,2026-06-07,Bad,90,9\n"
TOOLS = "품명,수량,단가,보관칸\n전동 드릴,1,89000,지하실\n줄자,4,7000,다락방\n사다리,1,120000,지하실\n"
COSTS = "날짜,담당,구분,금액\n2026-04-02,한솔,도구,95000\n2026-04-09,다온,간식,61000\n2026-04-20,한솔,도구,12000\n"


def asked(folder: Path, question: str, **tables: str) -> Answer:
    for name, content in tables.items():
        (folder / f"{name}.csv").write_text(content, encoding="utf-8")
    return ask(question, table_files(shared(folder)))


@pytest.mark.parametrize("name", ["fairs", "fair-list", "fairs_2025", "큰fair목록"])
def test_rows_of_a_table_named_after_what_is_asked_for_are_compared_one_by_one(tmp_path: Path, name: str) -> None:
    answer = asked(tmp_path, "which fair had the fewest visits?", **{name: FAIRS})
    assert answer.result is not None
    assert answer.result.rows[0][:2] == ("Hill Fair", 75), answer
    assert "2026-03-01" in brief(answer, "en").answer
    assert "added up by fair: **Lake Days**, 90" in brief(answer, "en").answer


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("which fair had the most visits in total?", "Hill Fair"),
        ("which fair had the most visits?", "City Market"),
        ("which fair had the lowest fee?", "Lake Days"),
    ],
)
def test_they_are_added_up_where_a_total_is_asked_for(tmp_path: Path, question: str, expected: str) -> None:
    answer = asked(tmp_path, question, fairs=FAIRS)
    assert answer.result is not None
    assert answer.result.rows[0][0] == expected


def test_where_a_group_has_most_and_a_row_of_another_one_both_are_said(tmp_path: Path) -> None:
    answer = asked(tmp_path, "which town had the fewest visits?", fairs=FAIRS)
    told = brief(answer, "en").answer
    assert told.startswith("Alm: **155**")
    assert "in a single row" not in told
    rows = FAIRS.replace("Bad,90", "Bad,20")
    told = brief(asked(tmp_path, "which town had the fewest visits?", fairs=rows), "en").answer
    assert told.startswith("Alm: **155**")
    assert "in a single row: **Bad**, 20" in told


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("단가가 50,000원 넘는 도구는 뭐야?", {"전동 드릴", "사다리"}),
        ("단가가 가장 비싼 도구는?", {"사다리"}),
        ("금액이 50,000원 넘는 도구는?", {"한솔"}),
    ],
)
def test_a_column_of_the_very_name_is_meant_not_one_of_another_table_that_is_near(
    tmp_path: Path, question: str, expected: set[str]
) -> None:
    answer = asked(tmp_path, question, 도구목록=TOOLS, 경비_2026년4월=COSTS)
    assert answer.result is not None, answer
    assert expected <= {cell for row in answer.result.rows for cell in row}
    assert len(answer.result.rows) == len(expected)
    assert about(question, tmp_path) is About.TABLE


def test_a_time_is_said_once_where_it_is_whole(tmp_path: Path) -> None:
    answer = asked(tmp_path, "total time in walks.csv", walks="walk,time (min)\nEast,50\nWest,45\n")
    assert answer.mapped is not None
    column = answer.mapped.table.column("time (min)")
    assert shown(95, column, "en") == "95 min (1 h 35 min)"
    assert shown(45, column, "en") == "45 min"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (("233.880005", "12.129883"), "233.88"),
        (("140.0", "18.5"), "140"),
        (("29.240", "17.125"), "29.24"),
        (("84.50", "12.25"), "84.50"),
        (("123456789.12", "5.25"), "123,456,789.12"),
    ],
)
def test_figures_have_the_decimals_that_were_meant(tmp_path: Path, written: tuple[str, ...], expected: str) -> None:
    rows = "".join(f"{name},{figure}\n" for name, figure in zip("AB", written, strict=True))
    told = brief(asked(tmp_path, "which well has the highest pressure?", wells="well,pressure\n" + rows), "en").answer
    assert f"pressure: **{expected}**" in told


PLAYERS = "No,Name,Position,Born,Club,Height\n1,Ada,Goal,15-Mar-99,Alm,181\n2,Bo,Wing,02-May-85,Bad,176\n"
PLAYERS += "3,Cy,Back,30-Nov-04,Alm,190\n"


def test_the_row_that_has_most_is_told_with_all_that_a_small_table_has(tmp_path: Path) -> None:
    told = brief(asked(tmp_path, "Which position has the highest height?", players=PLAYERS), "en").answer
    assert {"Back", "190", "Cy", "Alm", "2004-11-30"} <= set(told.replace("**", "").replace(",", "").split()), told


def test_years_of_two_digits_after_a_month_are_of_our_time(tmp_path: Path) -> None:
    answer = asked(tmp_path, "how many players were born before 1990?", players=PLAYERS)
    assert answer.result is not None
    assert answer.result.rows[0][0] == 1
