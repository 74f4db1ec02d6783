"""Tables of the same columns as one, rows that are totals of others, and which figure of a table is meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_tui.tables.ask import About, about, ask, continues, read
from hitl_tui.tables.files import table_files
from hitl_tui.teams.analysis.table_answer import brief
from tests.tables.test_columns_and_values import asked, folder, said, workbook

EVENTS = '"guest","age" "Ada",31 "Ben",{}'
PRICES = "item;price\nlamp;9,50\nchair;1.020,25\nrug;30,5\n"
FIRMS = "town,yr,n_firm\n" + "".join(f"{town},{year},{n + year - 2000}\n" for town, n in (("Ulm", 40), ("Bonn", 70))
                                     for year in (2001, 2002))  # fmt: skip
CRIMES = "district,year,Theft,Bike\nNorth,2001,90,10\nNorth,2001,80,20\nSouth,2001,20,25\nEast,2002,99,70\n"
SHOPS = "branch,sales,profit\nOne,500,40\nTwo,900,-20\nThree,300,-30\nTwo,800,-25\n"
BIRTHS = {
    first: "year,month,births\n"
    + "".join(f"{year},{month},{year - 1990 + month}\n" for year in (first, first + 1) for month in (1, 2, 3))
    for first in (1999, 2001, 2003)
}
AREAS = ("Land", "Ay", "Bee", "Cee", "Dee", "Eff", "Gee")
BORN = "area,year,births\n" + "".join(
    f"{area},{year},{births * (year - 2000)}\n" for year in (2001, 2002, 2003)
    for area, births in zip(AREAS, (21, 1, 2, 3, 4, 5, 6), strict=True)
)  # fmt: skip


def test_sheets_of_the_same_columns_are_one_table(tmp_path: Path) -> None:
    workbook(tmp_path / "party.xlsx", may=EVENTS.format(45), june=EVENTS.format(52))
    assert "**4**" in said(tmp_path, "how many rows are in party.xlsx?")
    assert "**52**" in said(tmp_path, "who is the oldest guest in party.xlsx and what age?")


def test_remarks_below_a_table_are_no_rows(tmp_path: Path) -> None:
    workbook(tmp_path / "party.xlsx", may='"guest","age","seat" "Ada",31,2 "Ben",45,3 "seen","","" "","by",""')
    assert "**38**" in said(tmp_path, "average age in party.xlsx")


def test_a_comma_may_part_decimals(tmp_path: Path) -> None:
    assert "**1,060.25**" in said(tmp_path, "total price in prices.csv", prices=PRICES)


@pytest.mark.parametrize("question", ["how many firms were there in Bonn in 2002?", "2002년 Bonn firm은 몇 개야?"])
def test_a_number_of_things_is_added_up_where_they_are_counted(tmp_path: Path, question: str) -> None:
    assert "**72**" in said(tmp_path, question, firms=FIRMS)


def test_most_of_a_kind_is_the_sum_of_that_kind(tmp_path: Path) -> None:
    assert "North: **30**" in said(tmp_path, "which district had the most bike thefts in 2001?", crimes=CRIMES)


@pytest.mark.parametrize(
    "question", ["which branch lost the most in shops.csv?", "shops.csv에서 손실이 가장 큰 branch는?"]
)
def test_what_lost_most_has_the_lowest_profit(tmp_path: Path, question: str) -> None:
    assert "Two: **-45**" in said(tmp_path, question, shops=SHOPS)


def test_a_row_that_is_the_total_of_the_others_is_not_added_to_them(tmp_path: Path) -> None:
    assert "**42**" in said(tmp_path, "total births in 2002 in born.csv", born=BORN)
    assert "Gee: **36**" in said(tmp_path, "which area has the most births in born.csv?")


def test_files_of_the_same_columns_are_asked_together_where_all_are_meant(tmp_path: Path) -> None:
    rows = "city,year,people\n{0},2001,{1}\n{0},2002,9\n{2},2001,{3}\n"
    towns = {"towns_north": rows.format("Kiel", 10, "Lund", 20), "towns_south": rows.format("Ulm", 5, "Graz", 7)}
    answer = asked(tmp_path, "how many people live in all the towns together in 2001?", **towns)
    assert answer.result is not None and answer.result.rows[0][0] == 42
    assert answer.mapped is not None and answer.mapped.table.name == "towns_*th.csv"


def test_a_people_is_known_by_its_country(tmp_path: Path) -> None:
    firms = "firm,country\nHan,South Korea\nNam,South Korea\nOak,South Africa\n"
    assert "**2**" in said(tmp_path, "how many South Korean firms are in firms.csv?", firms=firms)


def test_words_after_the_question_ask_nothing(tmp_path: Path) -> None:
    lines = "order id,line,mode\nA1,1,air\nA1,2,air\nB2,1,air\nC3,1,sea\n"
    assert "**2**" in said(tmp_path, "How many different orders went by air? Orders, not lines.", freight=lines)


def test_two_figures_that_are_named_alike_are_not_one_of_them(tmp_path: Path) -> None:
    games = "round,home_goals,away_goals\n1,2,1\n2,0,3\n"
    files = table_files(folder(tmp_path, games=games))
    assert ask("what is the average of goals in games.csv, home and away?", files).result is None


LANDS = "country,year,age\n" + "".join(
    f'"{land}",{year},{n + year - 2001}\n' for land, n in (("Korea, Rep.", 50), ("Korea, Dem. Rep.", 40), ("Peru", 30))
    for year in (2001, 2002)
)  # fmt: skip


def test_a_word_that_is_in_several_names_gets_no_mean_of_them(tmp_path: Path) -> None:
    assert not said(tmp_path, "how much did age in Korea change from 2001 to 2002 in lands.csv?", lands=LANDS)


@pytest.mark.parametrize("question", ["총인구는 평양에 몇 명이야? people.csv", "people.csv에서 평양 인구는 몇 명이야?"])
def test_what_no_value_is_limits_no_sum_of_all_rows(tmp_path: Path, question: str) -> None:
    people = "시도,연도,인구(명)\n서울,2001,10\n부산,2001,20\n서울,2002,11\n부산,2002,21\n"
    assert not said(tmp_path, question, people=people)


def test_a_further_question_goes_to_the_table_that_it_names(tmp_path: Path) -> None:
    rows = "name,capacity,floors\n{},10,2\n{},30,3\n"
    towers = {"towers_sweden": rows.format("A", "B"), "towers_norway": rows.format("C", "D").replace("30", "50")}
    first = asked(tmp_path, "total capacity in towers_sweden.csv", **towers).mapped
    assert first is not None
    second = ask("and in Norway?", table_files(tmp_path), first.query)
    assert second.result is not None and second.result.rows[0][0] == 60


def test_a_name_may_be_a_value_though_a_column_is_called_so(tmp_path: Path) -> None:
    seats = "seat,Ada,Ben,winner\nA,10,4,Ada\nB,3,9,Ben\nC,8,5,Ada\n"
    assert "**2**" in said(tmp_path, "how many seats did Ada win in seats.csv?", seats=seats)
    assert "**21**" in said(tmp_path, "total of Ada in seats.csv")


def test_a_further_time_is_looked_up_where_it_is(tmp_path: Path) -> None:
    at = folder(tmp_path, **{f"births_{first}": rows for first, rows in BIRTHS.items()})
    first = asked(at, "how many births were there in 1999?")
    assert first.mapped is not None
    later = ask("and in 2004?", table_files(at), first.mapped.query)
    assert "**48**" in brief(later, "en").answer
    assert later.mapped is not None
    assert later.mapped.query.source == "births_2003.csv"


@pytest.mark.parametrize(
    "question",
    ["total of the births in births_1999 and births_2003", "births_1999.csv랑 births_2003.csv의 births 합계는?"],
)
def test_tables_that_are_named_together_are_asked_together(tmp_path: Path, question: str) -> None:
    answer = asked(tmp_path, question, **{f"births_{first}": rows for first, rows in BIRTHS.items()})
    assert "**162**" in brief(answer, "en").answer


def test_a_file_that_is_named_beside_another_may_have_no_rows(tmp_path: Path) -> None:
    (tmp_path / "births_of_nobody.json").write_text('[{"a": []}]', encoding="utf-8")
    answer = asked(tmp_path, "total births in births_of_nobody.json and births_1999.csv", births_1999=BIRTHS[1999])
    assert "**69**" in brief(answer, "en").answer


def test_a_table_that_is_named_is_asked_though_words_are_left(tmp_path: Path) -> None:
    at = folder(tmp_path, bike_trips="month,trips\nMay,5\nJune,7\n", other="a,b\n1,2\n")
    assert about("bike_trips: how many wobbly trips in May?", at) is About.TABLE
    assert about("bike_trips: why was it closed?", at) is About.TEXT
    assert about("what does the column trips in the bike_trips data stand for?", at) is About.TEXT


@pytest.mark.long
def test_many_tables_of_one_form_are_asked_together(tmp_path: Path) -> None:
    names = ",".join(["shop", "amount", *(f"n{n}" for n in range(12))])
    rows = "".join(f"{shop},{n},{',2020-01-02' * 12}\n".replace(",,", ",") for n, shop in enumerate(("Ulm", "Bonn")))
    tables = {f"sales_{number}": f"{names}\n{rows}" for number in range(40)}
    assert "**40**" in said(tmp_path, "total amount of all sales", **tables)


def test_tables_asked_together_say_which_could_not_be_read(tmp_path: Path) -> None:
    tables = {f"sales_{year}": f"shop,year,amount\nUlm,{year},5\nBonn,{year},6\n" for year in (2022, 2023)}
    (tmp_path / "sales_2024.parquet").write_bytes(b"PAR1 cut off")
    told = said(tmp_path, "total amount of all sales", **tables)
    assert "**22**" in told and "perhaps left out: `sales_2024.parquet`" in told


@pytest.mark.long
def test_a_table_of_many_columns_is_read(tmp_path: Path) -> None:
    rows = "".join(",".join([str(n), *["2020-01-02", "1,5", "x"] * 90]) + "\n" for n in range(30))
    names = ",".join(["amount", *(f"c{n}" for n in range(270))])
    assert "**435**" in said(tmp_path, "total amount in wide.csv", wide=f"{names}\n{rows}".replace("1,5", "1.5"))


ORDERS = {
    f"orders_{year}": "no,day,amt,qty,way\n"
    + "".join(f"{n},{year}-0{1 + n % 9}-11,{n}000,{n + 1},{'online' if n % 3 else 'shop'}\n" for n in range(many))
    for year, many in ((2023, 10), (2024, 14))
}
FEES = "month,name,금액,paid\n" + "".join(f"2024-0{n}-01,Ada,30000,O\n" for n in range(1, 10))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("2024년 주문 금액 합계는?", "**91,000**"),
        ("2024년 주문 건수는?", "**14**"),
        ("2023년 대비 2024년 주문 건수는 얼마나 늘었어?", "**4 more**, +40% (2023: 10 → 2024: 14"),
        ("How did the number of orders change from 2023 to 2024?", "**4 more**"),
    ],
)
def test_a_word_that_a_table_is_called_by_is_about_that_table(tmp_path: Path, question: str, expected: str) -> None:
    assert expected in brief(asked(tmp_path, question, fees=FEES, **ORDERS), "en").answer


@pytest.mark.parametrize("question", ["compare the number of orders in 2023 and 2024", "orders by year"])
def test_years_that_stand_in_tables_of_one_form_are_compared(tmp_path: Path, question: str) -> None:
    answer = asked(tmp_path, question, fees=FEES, **ORDERS)
    assert answer.result is not None
    assert [row[1] for row in answer.result.rows] == [10, 14]
    assert "orders_2023" in answer.sql or answer.whole


def test_what_a_table_is_called_by_is_no_value_of_it(tmp_path: Path) -> None:
    members = "name,role,city\nAda,chair,Ulm\nBen,member,Ulm\nCem,member,Bonn\n"
    assert "**2**" in said(tmp_path, "how many members live in Ulm?", members=members)


def test_a_value_of_another_table_is_not_left_out(tmp_path: Path) -> None:
    answer = asked(tmp_path, "what share of the 2024 sales was online?", fees=FEES, **ORDERS)
    assert answer.mapped is None or answer.why or answer.mapped.table.name.startswith("orders")


HOURS = {
    f"hours_{year}": "day,person,hours\n"
    + "".join(f"{year}-0{month}-15,{person},{hours + year - 2020}\n" for month in (2, 5) for person, hours in people)
    for year, people in ((2023, (("Ada", 2), ("Ben", 9))), (2024, (("Ada", 9), ("Ben", 1))))
}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how many hours are there?", "**70 h**"),
        ("what are the total hours?", "**70 h**"),
        ("hours 합계는?", "**70 h**"),
        ("who has the most hours?", "Ada: **36 h**"),
        ("total hours of Ben", "**34 h**"),
        ("how many hours in 2023?", "**34 h**"),
        ("total hours of Ben in 2024", "**10 h**"),
    ],
)
def test_files_of_one_time_after_another_are_asked_together_where_no_time_is_asked_for(
    tmp_path: Path, question: str, expected: str
) -> None:
    assert expected in brief(asked(tmp_path, question, **HOURS), "en").answer


@pytest.mark.parametrize(
    ("further", "expected"), [("and for 2023?", 34), ("그럼 2023년은?", 34), ("and in 2023 for Ben?", 24)]
)
def test_a_further_question_for_another_year_is_asked_of_the_file_of_that_year(
    tmp_path: Path, further: str, expected: float
) -> None:
    first = "total hours in 2024?"
    folder(tmp_path, **HOURS)
    files = table_files(tmp_path)
    before = read(first, files).mapped
    assert before is not None
    answer = ask(further, files, before.query)
    assert answer.result is not None and answer.result.rows[0][0] == expected
    assert answer.mapped is not None and answer.mapped.query.source == "hours_2023.csv"
    assert continues(further, [first], tmp_path)


OFFICE = {
    "경비": "날짜,항목,금액\n" + "".join(f"2025-0{n}-03,{'교통' if n == 8 else '식비'},{n}000\n" for n in range(1, 9)),
    "invoices": "no,issued,amt,vat\n" + "".join(f"R{n},2025-0{n}-20,{n}00000,{n}0000\n" for n in range(1, 6)),
    "rates": "emp,yr,hr_rate\n" + "".join(f"E{n},{yr},{n}0000\n" for yr in (2024, 2025) for n in range(5, 10)),
}


@pytest.mark.parametrize(
    ("question", "expected", "table"),
    [
        ("average expense in 2025", "**4,500**", "경비"),
        ("what were our total expenses?", "**36,000**", "경비"),
        ("what share of the expenses is 교통?", "**22.2%** (8000 / 36000", "경비"),
        ("경비에서 교통이 차지하는 비율은?", "**22.2%** (8000 / 36000", "경비"),
        ("2025년 청구 금액 합계는?", "**1,500,000**", "invoices"),
        ("how much did we invoice in 2025?", "**1,500,000**", "invoices"),
        ("2025년 부가세 합계는?", "**150,000**", "invoices"),
        ("2025년 평균 시급은 얼마야?", "**70,000**", "rates"),
    ],
)
def test_a_table_or_column_is_called_in_the_other_language(
    tmp_path: Path, question: str, expected: str, table: str
) -> None:
    answer = asked(tmp_path, question, **OFFICE)
    assert expected in brief(answer, "en").answer
    assert answer.mapped is not None and answer.mapped.table.stem == table
