"""Figures made of two columns of a table."""

from __future__ import annotations

from pathlib import Path

import pytest
from tables_support import shared

from hitl_tui.tables.ask import Answer, ask
from hitl_tui.tables.files import table_files
from hitl_tui.teams.analysis.table_answer import brief

FEES = "Player,Group,Fee due,Fee paid\nAnn,U12,£30,£30\nBob,U12,£30,\nCem,U14,£25,£10\nDee,U14,£25,£25\n"
STORE = "품목,현재고,최소재고\n설탕,3,5\n소금,9,5\n식초,5,5\n간장,1,4\n"
ROTA = "날짜,직원,출근,퇴근\n2026-11-01,김나래,09:00,17:30\n2026-11-02,박보영,18:00,02:00\n2026-11-03,김나래,9:00,13:00"
PARTS = "part,in stock,minimum,shelf\nbolt,10,50,A\nnut,80,50,A\nwasher,49,50,B\n"


def asked(folder: Path, content: str, question: str) -> Answer:
    (folder / "table.csv").write_text(content, encoding="utf-8")
    return ask(question, table_files(shared(folder)))


@pytest.mark.parametrize(
    ("content", "question", "expected"),
    [
        (FEES, "how much is still owed in fees altogether?", 45),
        (FEES, "how much does Cem still owe in fees?", 15),
        (FEES, "who owes the most fees?", "Bob"),
        (FEES, "how many players owe fees?", 2),
        (FEES, "outstanding fees by group", 30),
        (PARTS, "what is the most short of stock?", "bolt"),
        (FEES, "how much was paid in fees altogether?", 65),
        (ROTA, "김나래는 11월에 총 몇 시간 일해?", 12.5),
        (ROTA, "박보영은 몇 시간 일했어?", 8),
        (ROTA, "직원별 근무시간 합계", "김나래"),
        (STORE, "부족한 품목은 몇 개야?", 2),
        (PARTS, "how many parts are below minimum?", 2),
    ],
)
def test_a_figure_of_two_columns(tmp_path: Path, content: str, question: str, expected: object) -> None:
    answer = asked(tmp_path, content, question)
    assert answer.result is not None, answer
    assert expected in answer.result.rows[0][:2]


@pytest.mark.parametrize(
    ("content", "question", "expected"),
    [
        (FEES, "who still owes fees?", {"Bob", "Cem"}),
        (STORE, "지금 모자란 품목 뭐뭐 있어?", {"설탕", "간장"}),
        (STORE, "최소재고 미만인 품목은?", {"설탕", "간장"}),
        (PARTS, "which parts are running low?", {"bolt", "washer"}),
    ],
)
def test_rows_by_two_columns(tmp_path: Path, content: str, question: str, expected: set[str]) -> None:
    answer = asked(tmp_path, content, question)
    assert answer.result is not None, answer
    names = {cell for row in answer.result.rows for cell in row if isinstance(cell, str)}
    assert names == expected


@pytest.mark.parametrize(
    ("content", "question"),
    [
        ("Player,Fee due\nAnn,30\nBob,25\n", "how much is still owed in fees altogether?"),
        ("Player,Fee due,Fee paid,Club paid\nAnn,30,10,5\nBob,25,25,0\n", "how much is still owed in fees?"),
        ("Player,Due,Paid\nAnn,£30,yes\nBob,£25,no\n", "how much is still owed altogether?"),
        ("직원,출근,퇴근\n김나래,9:00,5:00\n박보영,8:00,4:00\n", "김나래는 총 몇 시간 일해?"),
        (STORE, "모자란 품목은 합계 얼마나 돼?"),
    ],
)
def test_columns_that_do_not_fit_make_no_figure(tmp_path: Path, content: str, question: str) -> None:
    answer = asked(tmp_path, content, question)
    assert answer.mapped is None or " − " not in str(answer.mapped.query)


def test_the_two_columns_stand_in_the_query(tmp_path: Path) -> None:
    answer = asked(tmp_path, FEES, "how much is still owed in fees altogether?")
    told = brief(answer, "en")
    assert "total of Fee due − Fee paid over 4 rows: **45**" in told.answer
    assert "Fee due − Fee paid" in answer.sql


HALLS = "hall,guests,seats\nEast,120,90\nWest,40,60\nNorth,75,75\nOld,30,20\n"
ORDERS = "지점,주문량,목표주문량,실적,지역\n강남,30,40,9,서울\n종로,50,40,8,서울\n해운대,12,20,7,부산\n"
LEAVE = "이름,부서,부여일수,사용일수\n한가람,개발,15,4\n도미래,기획,12,11\n문새벽,개발,20,\n"


@pytest.mark.parametrize(
    ("content", "question", "expected"),
    [
        (ORDERS, "주문량이 목표주문량보다 적은 지점은 어디야?", {"강남", "해운대"}),
        (ORDERS, "목표주문량보다 주문량이 많은 지점을 모두 알려줘", {"종로"}),
        (ORDERS, "목표주문량보다 적은 지점 목록", {"강남", "해운대"}),
        (HALLS, "which halls have more guests than seats?", {"East", "Old"}),
        (HALLS, "list the halls whose guests are below seats", {"West"}),
    ],
)
def test_a_column_compared_with_another_gives_all_such_rows(
    tmp_path: Path, content: str, question: str, expected: set[str]
) -> None:
    answer = asked(tmp_path, content, question)
    assert answer.result is not None, answer
    assert {row[answer.result.names.index(content[: content.index(",")])] for row in answer.result.rows} == expected


def test_rows_by_a_column_compared_with_another_are_counted(tmp_path: Path) -> None:
    answer = asked(tmp_path, ORDERS, "주문량이 목표주문량보다 적은 지점은 몇 곳이야?")
    assert answer.result is not None
    assert answer.result.rows[0][0] == 2


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("남은 휴가가 가장 많은 사람은 누구야?", "문새벽"),
        ("남은 휴가가 가장 적은 사람은?", "도미래"),
        ("한가람은 휴가가 며칠 남았어?", 11),
    ],
)
def test_what_is_left_of_what_was_granted(tmp_path: Path, question: str, expected: object) -> None:
    (tmp_path / "휴가현황.csv").write_text(LEAVE, encoding="utf-8")
    answer = ask(question, table_files(tmp_path))
    assert answer.result is not None, answer
    assert expected in answer.result.rows[0]


def test_who_owes_how_much_names_nobody_who_owes_nothing(tmp_path: Path) -> None:
    answer = asked(tmp_path, FEES, "who still owes fees, and how much altogether?")
    assert answer.result is not None, answer
    names = answer.result.names.index("Player")
    assert {row[names] for row in answer.result.rows} == {"Bob", "Cem"}
