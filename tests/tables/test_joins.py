"""Tables of which one holds the key of another, and figures for each month, weekday or quarter of a date."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_tui.tables.ask import again, ask
from hitl_tui.tables.files import table_files
from hitl_tui.tables.joins import joined
from hitl_tui.tables.profile import profiles
from hitl_tui.tables.query import TableQuery
from hitl_tui.teams.analysis.table_preview import planned_queries
from tests.tables.test_columns_and_values import asked, folder, said

HIRES = "hire_no,out_dt,cl_id,kit,fee_eur\n" + "".join(
    f"{n},2024-{1 + n % 5:02d}-{1 + n % 28:02d},C{n % 3 + 1},{('KY', 'SP', 'KY')[n % 3]},{10 + n}\n" for n in range(30)
)
CLIENTS = "cl_id,nm,town\nC1,Ada Roe,Ulm\nC2,Ben Ilk,Bonn\nC3,Cem Ural,Ulm\n"
KITS = "kit,label,kind\nKY,kayak,boat\nSP,paddle board,board\n"
WAGES = "emp_no,name,pay\n7,Ada Roe,10\n8,Ben Ilk,20\n9,Cem Ural,30\n"
SHIFTS = "day,emp_no,hours\n2024-05-06,7,3\n2024-05-07,7,4\n2024-05-13,8,5\n2024-06-18,9,8\n"
TABLES = {"hires": HIRES, "clients": CLIENTS, "kits": KITS}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how much did Ada Roe pay for hires in 2024?", "**235**"),
        ("Ada Roe의 hire fee 합계는?", "**235**"),
        ("which town has the most hires?", "Ulm: **20**"),
        ("how many hires were of a kayak?", "**20**"),
        ("which kit has the most hires?", "kayak: **20**"),
        ("which kit code has the most hires?", "KY: **20**"),
    ],
)
def test_rows_have_the_columns_of_the_table_whose_key_they_hold(tmp_path: Path, question: str, expected: str) -> None:
    assert expected in said(tmp_path, question, **TABLES)


def test_the_query_names_what_it_joins_and_runs_again(tmp_path: Path) -> None:
    answer = asked(tmp_path, "how many hires were of a kayak?", **TABLES)
    assert 'FROM "t" LEFT JOIN "kits" USING ("kit")' in answer.sql
    assert "clients" not in answer.sql
    assert answer.mapped is not None
    assert answer.mapped.table.name == "hires.csv + kits.csv"
    repeated = again(TableQuery.from_dict(answer.mapped.query.to_dict()), table_files(tmp_path))
    assert repeated.result == answer.result


def test_one_table_that_has_all_that_is_said_is_asked_alone(tmp_path: Path) -> None:
    answer = asked(tmp_path, "how many clients are from Ulm?", **TABLES)
    assert answer.mapped is not None
    assert answer.mapped.table.name == "clients.csv"
    assert "JOIN" not in answer.sql


def test_a_further_question_goes_on_from_a_query_of_two_tables(tmp_path: Path) -> None:
    files = table_files(folder(tmp_path, **TABLES))
    first = ask("total fee of hires by Ada Roe", files)
    assert first.mapped is not None
    assert first.result is not None
    assert first.result.rows[0][0] == 235
    then = ask("and Ben Ilk?", files, first.mapped.query)
    assert then.result is not None
    assert then.result.rows[0][0] == 245


def test_a_number_is_a_key_where_all_of_its_values_are_there(tmp_path: Path) -> None:
    at = folder(tmp_path, shifts=SHIFTS, wages=WAGES, other="emp_no,x\n1,a\n2,b\n")
    found = joined(profiles(table_files(at)).tables)
    assert [(one.file.path, one.joins[0].table.file.path) for one in found] == [("shifts.csv", "wages.csv")]
    assert "**7 h**" in said(tmp_path, "how many hours did Ada Roe have in shifts?")


def test_columns_that_have_nothing_in_common_join_nothing(tmp_path: Path) -> None:
    numbered = {"red": "id,x\n1,5\n2,7\n3,9\n", "blue": "id,y\n1,3\n2,4\n3,4\n4,1\n"}
    assert not joined(profiles(table_files(folder(tmp_path, **numbered))).tables)
    at = folder(tmp_path, a="who,x\nAda,1\nAda,2\nBen,3\nCem,4\n", b="name,y\nDoe,1\nRoe,2\nPoe,3\n")
    assert not joined(profiles(table_files(at)).tables)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what was the best month for fees?", "May: **159**"),
        ("fee_eur가 가장 많은 달은 몇 월이야?", "5월: **159**"),
        ("which quarter of 2024 had the highest total fee?", "Q1: **423**"),
        ("hires가 가장 적은 요일은 무슨 요일이야?", "화요일: **3**"),
        ("which day of the week had the fewest hires?", "Tuesday: **3**"),
    ],
)
def test_a_unit_of_time_that_is_asked_for_is_what_figures_are_of(tmp_path: Path, question: str, expected: str) -> None:
    assert expected in said(tmp_path, question, hires=HIRES)


def test_weekdays_are_in_their_order(tmp_path: Path) -> None:
    answer = asked(tmp_path, "hires by weekday", hires=HIRES)
    assert answer.result is not None
    assert [row[0] for row in answer.result.rows][:2] == ["Monday", "Tuesday"]


def test_what_is_shown_before_it_is_approved_is_what_runs(tmp_path: Path) -> None:
    question = "how much did Ada Roe pay for hires in 2024?"
    answer = asked(tmp_path, question, **TABLES)
    [planned] = planned_queries(question, tmp_path, {})
    assert "JOIN" in planned["sql"]
    assert planned["sql"] == answer.sql


MEMBERS = "mem_id,name,city\n" + "".join(
    f"M{n},{name},{city}\n" for n, (name, city) in enumerate([("Ada", "Ulm"), ("Ben", "Bonn"), ("Cem", "Kiel")])
)
ORDERS = "no,mem_id,amt\n" + "".join(f"{n},M{n % 3},{n * 100}\n" for n in range(1, 13))


@pytest.mark.parametrize("called", ["members", "t", "T", "beside0", "source0", 'mem"bers'])
def test_a_table_beside_another_may_be_called_anything(tmp_path: Path, called: str) -> None:
    assert "**3,000**" in said(tmp_path, "total amt of Ada", orders=ORDERS, **{called: MEMBERS})


@pytest.mark.parametrize("head", ["no,Mem_ID,amt", "Name,mem_id,amt", "City,MEM_ID,amt", "NO,mem_id,Amt"])
def test_names_that_differ_in_their_capitals_alone_are_the_same(tmp_path: Path, head: str) -> None:
    orders = ORDERS.replace("no,mem_id,amt", head)
    answer = asked(tmp_path, "total amt of Ada", orders=orders, members=MEMBERS)
    assert answer.result is not None
    assert answer.result.rows[0][0] == 3000
