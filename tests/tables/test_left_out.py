"""What can't be sure: a figure that leaves out a rare word; and figures of the wrong rows, part or extreme."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_tui.tables.ask import read
from hitl_tui.tables.files import table_files
from tests.tables.test_columns_and_values import folder, said

DUES = "이름,월,금액\n" + "".join(f"{name},2025-0{n}-01,30000\n" for name in ("정유진", "한도윤") for n in range(1, 7))
DOGS = "dog,kennel,weight\nRex,North,20\nBo,North,30\nFly,South,10\n"
COMING = "day,who,att\n2025-03-04,정유진,P\n2025-03-04,한도윤,A\n2025-03-11,정유진,A\n2025-03-11,한도윤,L\n"
ORDERS = "ord_no,ord_dt,amt,pd_yn\n" + "".join(f"{n},2025-0{n}-11,{n}000,{'YN'[n % 2]}\n" for n in range(1, 8))
SALES = "month,cars\n" + "".join(
    f"{year}-{month:02d},{month * 10}\n" for year in (1964, 1965) for month in range(1, 13)
)
PARTS = "part,failure kind\n" + "".join(
    f"{n},{'No failure' if n % 3 else ('heat', 'wear')[n % 2]}\n" for n in range(21)
)
DAYS = "day,lowest_temp,highest_temp\n2024-01-01,9,12\n2024-01-02,4,20\n2024-01-03,8,9\n"
PEOPLE = "who,treat,married\nAda,1,1\nBen,1,0\nCem,0,1\nDee,0,1\nEva,1,0\n"


@pytest.mark.parametrize("question", ["정유진은 몇 번 결석했나?", "how many dogs were stolen in North?"])
def test_a_figure_that_leaves_out_a_rare_verb_is_not_sure(tmp_path: Path, question: str) -> None:
    answer = read(question, table_files(folder(tmp_path, dues=DUES, dogs=DOGS)))
    assert answer.why


def test_the_table_that_has_the_verb_is_asked(tmp_path: Path) -> None:
    tables = {"dues": DUES, "coming": COMING}
    assert "**1** (who = 정유진, att = A)" in said(tmp_path, "정유진은 몇 번 결석했나?", **tables)
    assert "정유진" in said(tmp_path, "2025년 3월 4일에 누가 참석했어?", **tables)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how many orders in 2025 are not paid?", "**4**"),
        ("what was the total amount of orders in 2025?", "**28,000**"),
        ("how many cars were sold in 1965?", "**780**"),
        ("which kind of failure happens most often?", "**4**"),
        ("which day was the hottest?", "2024-01-02"),
        ("in people.csv, what share of the treated people were married?", "**33.3%** (1 / 3; treat = 1)"),
    ],
)
def test_what_is_counted_is_what_is_asked_for(tmp_path: Path, question: str, expected: str) -> None:
    tables = {"orders": ORDERS, "car_sales": SALES, "parts": PARTS, "day_temperatures": DAYS, "people": PEOPLE}
    assert expected in said(tmp_path, question, **tables)
