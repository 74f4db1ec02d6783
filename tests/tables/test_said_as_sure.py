"""What a figure has to be for to be said as sure: all files of a time, the column that is meant, what is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_tui.tables.ask import read
from hitl_tui.tables.files import table_files
from tests.tables.test_columns_and_values import folder, said

HOURS = {
    f"work_{year}": "day,who,hours,note\n"
    + "".join(
        f"{year}-{1 + n // 3:02d}-05,{'Ada' if n % 2 else 'Ben'},{n * rate},{'회의' if n < 3 else 'plan'}\n"
        for n in range(1, 7)
    )
    for year, rate in ((2023, 3), (2024, 1))
}
MEMBERS = {
    f"members_{year}": "name,joined,fee\n" + "".join(f"M{n},20{n + 10}-01-01,{n}\n" for n in range(1, 9 + year % 2))
    for year in (2023, 2024)
}
HOUSES = "Id,YearBuilt,HouseStyle,PoolArea,MoSold,YrSold,SalePrice\n" + "".join(
    f"{n},{1985 + n % 25},{'AB'[n % 2]},{40 * (n % 5 == 0)},{1 + n % 12},{2006 + n % 4},{9000 + n}\n" for n in range(40)
)
TITLES = "school,year,finish\n" + "".join(
    f"{'Elm' if n % 3 else 'Oak'},{1990 + n},{('champ', 'final')[n % 2]}\n" for n in range(24)
)
CASES = "week,year,fever_cases\n" + "".join(f"{n},{2015 + n % 2},{n + 3}\n" for n in range(30))
BARS = "slug,name,price_basis,price_kind,price_note,grill_eur,address\n" + "".join(
    f"b{n},Bar {'ABCDEFGH'[n]},{('menu', 'note')[n % 2]},{('grill', 'dish')[n % 2]},from {n},{9 - n}.5,Street {n}\n"
    for n in range(8)
)
SCORES = "firm,year,score,percent_score\n" + "".join(
    f"F{n},{2022 + n // 9},{n % 9 + 1},{5 * (n + 1)}\n" for n in range(18)
)
COSTS = "날짜,항목,금액,영수증\n" + "".join(
    f"2025-0{n}-03,{('교통', '식비')[n % 2]},{n}000,{'OX'[n % 3 == 0]}\n" for n in range(1, 9)
)
BILLS = "no,paid_on,amt\n" + "".join(f"{n},2025-0{n}-05,{n}00\n" for n in range(1, 9))
LEAVE = "who,kind,start,일수\n" + "".join(
    f"{('Ada', 'Ben')[n % 2]},{'병가' if n > 3 else '연차'},2025-0{n}-02,{n}\n" for n in range(1, 8)
)


@pytest.mark.parametrize(
    ("question", "tables", "expected"),
    [
        ("how many hours did Ada work?", HOURS, "**36 h**"),
        ("how many hours did Ada work in 2024?", HOURS, "**9 h**"),
        ("2023년 회의 시간 합계", HOURS, "**9 h (9시간)**"),
        ("By how much did the average house sale price rise from 2007 to 2008?", {"house_prices": HOUSES}, "2007:"),
        ("How many of the houses in the sale price file have a pool?", {"house_prices": HOUSES}, "**8**"),
        ("which bar has the cheapest grill, and what does it cost?", {"bars": BARS}, "Bar H"),
        ("2023년 점수 평균, 퍼센트 점수 말고 그냥 score로", {"scores": SCORES}, "**5**"),
        ("영수증 없는 비용은 몇 건이야?", {"비용": COSTS}, "**2**"),
        ("항목별 금액 상위 1개", {"비용": COSTS}, "교통: **20,000**"),
        ("which month had the highest expenses?", {"expenses": COSTS}, "August: **8,000**"),
        ("Ada는 2025년에 병가를 며칠 썼어?", {"leave": LEAVE}, "**10**"),
    ],
)
def test_it_is_what_is_asked_for(tmp_path: Path, question: str, tables: dict[str, str], expected: str) -> None:
    assert expected in said(tmp_path, question, **tables)


@pytest.mark.parametrize(
    ("question", "tables"),
    [
        ("how many tournament titles does Oak have in the titles file?", {"titles": TITLES}),
        ("How many Zika cases were there in 2016?", {"fever_cases": CASES}),
        ("average expense in 2025", {"bills": BILLS}),
        ("접대비 합계", {"비용": COSTS}),
        ("how many days of leave did Ada take in 2024?", HOURS),
    ],
)
def test_what_leaves_out_what_is_counted_is_not_sure(tmp_path: Path, question: str, tables: dict[str, str]) -> None:
    assert read(question, table_files(folder(tmp_path, **tables))).why


def test_files_of_the_same_things_are_not_added_up(tmp_path: Path) -> None:
    assert "**36**" in said(tmp_path, "what is the total fee of the members?", **MEMBERS)


def test_what_rows_are_called_is_no_flag_of_them(tmp_path: Path) -> None:
    rows = "".join(f"{n},{n * 1.5},{n % 2},{'True' if n % 10 == 0 else 'False'}\n" for n in range(40))
    fraud = "number,transaction_amount,is_foreign_transaction,is_fraud\n" + rows
    asked = "What percentage of the transactions in the fraud data is marked as fraud?"
    assert "**10%** (4 / 40; all rows)" in said(tmp_path, asked, fraud_data=fraud)
    assert "**0%**" in said(tmp_path, "What share of the foreign transactions is fraud?", fraud_data=fraud)
