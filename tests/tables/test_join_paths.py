"""Tables that are joined through others, and which of several columns and values of them a question is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_tui.tables.files import table_files
from hitl_tui.tables.joins import joined
from hitl_tui.tables.profile import profiles
from tests.tables.test_columns_and_values import folder, said

OWNERS = "own_id,name,town,since\n" + "".join(
    f"W{n},{name},{town},20{10 + n}-03-01\n"
    for n, (name, town) in enumerate(
        [("Otter Sails", "Kiel"), ("Bram Boats", "Hull"), ("한강요트", "서울"), ("Quay Nine", "Kiel")], 1
    )
)
JOBS = "job_id,own_id,title,kind,quote,began,mech\n" + "".join(
    f"J{n:02d},W{1 + n % 4},{('Keel', 'Mast', '도장')[n % 3]} {n},{('hull', 'rigging')[n % 2]},{100 * n},"
    f"202{3 + n % 2}-0{1 + n % 9}-11,S{1 + n % 3}\n"
    for n in range(1, 13)
)
STAFF = "직원번호,이름,부서,입사일\nS1,Ada Roe,선체,2015-03-02\nS2,이하늘,돛,2019-07-01\nS3,Cem Ural,돛,2021-01-11\n"
BILLS = "bill_no,job_id,sent,due,amt,paid,paid_on\n" + "".join(
    f"B{n:03d},J{1 + n % 12:02d},{month}-05,{month}-25,{1000 + 10 * (n * 7 % 31)},{paid}\n"
    for n in range(1, 31)
    for month in (f"202{3 + n // 15}-{1 + n % 12:02d}",)
    for paid in ("N," if n % 7 == 0 else f"Y,{month}-{'28' if n % 5 == 0 else '20'}",)
)
HOURS = {
    f"작업시간_{year}": "날짜,직원번호,작업ID,시간,메모\n"
    + "".join(
        f"{year}-{1 + n % 12:02d}-0{1 + n % 9},S{1 + n % 3},J{1 + n % 12:02d},{1 + n % 4}.5,{('회의', '현장')[n % 2]}\n"
        for n in range(first, 60)
    )
    for year, first in ((2023, 0), (2024, 10))
}
YARD = {"owners": OWNERS, "jobs": JOBS, "staff": STAFF, "bills": BILLS, **HOURS}


def test_a_join_is_a_path_through_keys(tmp_path: Path) -> None:
    found = {one.file.path: one for one in joined(profiles(table_files(folder(tmp_path, **YARD))).tables)}
    assert {one.table.file.path for one in found["bills.csv"].joins} == {"jobs.csv", "owners.csv", "staff.csv"}
    assert {one.table.file.path for one in found["작업시간_2023.csv"].joins} == {"jobs.csv", "owners.csv", "staff.csv"}
    # The staff of working hours are those who worked, not the mechanics of their jobs.
    direct = next(one for one in found["작업시간_2023.csv"].joins if one.table.file.path == "staff.csv")
    assert direct.key == "직원번호"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("total amt of the bills of Otter Sails", "7,840"),
        ("bill total by owner", "Otter Sails: **7,840**"),
        ("which town has the highest bill total?", "Kiel: **17,050**"),
        ("이하늘의 2024년 작업시간은?", "51.5"),
        ("How many hours did 이하늘 work in 2024?", "51.5"),
        ("hull jobs: total hours", "193.5"),
        ("how much did Otter Sails pay us in 2023?", "**2,360**"),
    ],
)
def test_what_a_table_reaches_by_keys_is_read_beside_it(tmp_path: Path, question: str, expected: str) -> None:
    assert expected in said(tmp_path, question, **YARD)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many hull jobs are there?", "**6**"),
        ("이하늘이 담당하는 작업은 몇 건이야?", "**4**"),
        ("which mechanic has the most jobs?", "**4**"),
        ("share of hull in the total quote", "53.8%"),
        ("What percentage of bills is unpaid?", "13.3%"),
        ("미납 청구서 합계가 얼마야?", "4,560"),
        ("how many bills were paid after the due date?", "**6**"),
        ("납기일보다 늦게 입금된 청구는 몇 건이야?", "**6**"),
        ("compare hours 2023 and 2024", "2023: 180 → 2024: 152"),
        ("2023년과 2024년 작업시간 비교", "2023: 180 → 2024: 152"),
        ("2023년과 2024년 청구 금액 비교", "2023: 16,080 → 2024: 17,330"),
    ],
)
def test_what_is_said_is_accounted_for(tmp_path: Path, question: str, expected: str) -> None:
    assert expected in said(tmp_path, question, **YARD)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("2024년 작업시간", "152"),
        ("회의에 쓴 시간은?", "138.5"),
    ],
)
def test_a_figure_that_is_named_of_several_rows_is_their_sum(tmp_path: Path, question: str, expected: str) -> None:
    assert expected in said(tmp_path, question, **YARD)
