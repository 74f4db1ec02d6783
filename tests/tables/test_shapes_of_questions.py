"""What is asked of rows: one figure for each of several values, so many with most, superlatives that no list has."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_tui.tables.ask import About, about, read
from hitl_tui.tables.files import table_files
from hitl_tui.tables.mapping import Reader
from hitl_tui.tables.profile import profiles
from hitl_tui.tables.words import superlatives
from tests.tables.test_columns_and_values import folder, said

KIOSKS = "county,kiosk_kind,kiosks\nAlm,tea,5\nAlm,juice,2\nBad,tea,7\nBad,juice,1\n"
GUITARS = "guitar,cond,price\nA,new,500\nB,used,300\nC,new,700\nD,used,200\n"
LEVELS = "year,Harbour,Mill\n1990,4.5,2\n1991,5.5,3\n1992,6.5,4\n1993,7,5\n"
BOATS = "boat,hull,sail_area,turbine\nAda,oak,30,Ost\nBo,steel,80,Ost\nCem,oak,55,West\nDee,steel,75,West\n"
RENTALS = "day,season,temp,cnt\n" + "".join(
    f"{2021 + n // 6}-0{1 + n % 6}-02,{'sw'[n % 2]},{n}.5,{10 + n}\n" for n in range(12)
)
TURNOUT = "district,turnout\nNorth,48\nSouth,61\nEast,44\n"
TRADE = "sector,tariff_score,trade_kind\nSteel,7,open\nToys,9,open\nRice,3,closed\n"


@pytest.mark.parametrize(
    ("question", "tables", "expected"),
    [
        ("Alm이랑 Bad의 kiosks 수를 다 더하면 각각 몇 개야?", {"places": KIOSKS}, ("Alm: **7**", "Bad: **8**")),
        ("tea versus juice: how many kiosks has each?", {"places": KIOSKS}, ("tea: **12**", "juice: **3**")),
        ("what is the average price of new guitars, and of used ones?", {"guitars": GUITARS}, ("**600**", "**250**")),
        ("Harbour 수치가 1990년이랑 1992년에 각각 얼마였지?", {"levels": LEVELS}, ("1990: **4.5**", "1992: **6.5**")),
        ("what was the Harbour level in 1990 and in 1992?", {"levels": LEVELS}, ("4.5", "6.5")),
    ],
)
def test_each_of_several_values_has_a_figure(
    tmp_path: Path, question: str, tables: dict[str, str], expected: tuple[str, ...]
) -> None:
    told = said(tmp_path, question, **tables)
    assert all(one in told for one in expected), told


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("sail_area가 제일 큰 boat 두 척이 뭐야?", ("Bo", "Dee")),
        ("sail_area가 가장 큰 boat 세 대는?", ("Bo", "Dee", "Cem")),
        ("which three boats have the largest sail area?", ("Bo", "Dee", "Cem")),
    ],
)
def test_a_numeral_before_a_noun_says_how_many_have_most(
    tmp_path: Path, question: str, expected: tuple[str, ...]
) -> None:
    told = said(tmp_path, question, boats=BOATS)
    assert all(name in told for name in expected), told
    assert "Ada" not in told


def test_a_numeral_beside_another_noun_is_no_limit(tmp_path: Path) -> None:
    told = said(tmp_path, "which boat with two sails has the largest sail area?", boats=BOATS)
    assert "Dee" not in told


def test_superlatives_are_known_by_their_other_forms() -> None:
    found = "the deadliest, hardest, chunkiest and cleanest forest in the west: an honest guest, a priest, a test"
    assert [found[a:b] for a, b in superlatives(found)] == ["deadliest", "hardest", "chunkiest", "cleanest"]


def test_a_superlative_that_no_list_has_asks_for_most(tmp_path: Path) -> None:
    told = said(tmp_path, "which two sectors are hit hardest by the trade war?", trade=TRADE)
    assert "Toys" in told
    assert "Rice" not in told


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("by how much did total rentals rise from 2021 to 2022, in per cent?", "+48%"),
        ("which districts had a turnout below 50 percent?", "East"),
        ("Ost 터빈 배는 몇 척이야?", "**2**"),
    ],
)
def test_parts_of_words_and_units_ask_for_nothing(tmp_path: Path, question: str, expected: str) -> None:
    assert expected in said(tmp_path, question, rentals=RENTALS, turnout=TURNOUT, boats=BOATS)


def test_there_is_no_mean_of_nothing(tmp_path: Path) -> None:
    answer = read("what did people earn on average?", table_files(folder(tmp_path, boats=BOATS)))
    assert all("avg(*)" not in one.query.sql() for one in answer.choices)


TREMORS = "place,magnitude,day\n" + "".join(
    f"{place},{size},{day}\n"
    for place, size, day in (
        ("Alm", 5.5, "2019-02-01"), ("Bad", 6.5, "2019-03-04"), ("Bad", 1.5, "2019-05-01"), ("Alm", 2.5, "2020-02-06"),
        ("Ulm", 6.1, "2021-03-07"),
    )
)  # fmt: skip
PETITIONS = "Governor,Year,Requests Denied By The Governor,Pardons,Commutations\n" + "".join(
    f"{name},{year},{denied},{pardons},{commuted}\n"
    for name, year, denied, pardons, commuted in (
        ("Adler", 1990, 9, 4, 12), ("Adler", 1991, 8, 5, 1), ("Birch", 1992, 2, 6, 9), ("Birch", 1993, 3, 7, 8),
    )
)  # fmt: skip
SHARES = "Date,High,Volume,Otter\n2020-01-02,90,500,31.5\n2020-06-05,70,900,28\n2020-12-30,80,100,35.5\n"
VISITS = "id,date\n" + "".join(f"{n % 4},2020-01-{n + 1:02d}\n" for n in range(12))
OUTLETS = "order_line,quantity,total_price,teashop_name\n1,1,900,Green Leaf\n2,5,20,Old Mill\n3,4,30,Old Mill\n"
HIRES = "day,workingday,cnt\n" + "".join(f"2021-02-0{1 + n // 2},{n // 2 % 2},{5 * n}\n" for n in range(6))
TRIAL = "week,ill,aid\n" + "".join(f"{n},{int(n % 4 == 0)},{int(n % 3 > 0)}\n" for n in range(24))
CABINS = "Pclass,survived,fare\n1,1,80\n1,0,70\n2,0,20\n3,0,7\n3,1,8\n1,1,60\n"


@pytest.mark.parametrize(
    ("question", "tables", "expected"),
    [
        ("strongest tremor: what magnitude and which year?", {"tremors": TREMORS}, ("6.5", "2019-03-04")),
        ("which governor commuted the most sentences, and how many?", {"petitions": PETITIONS}, ("Birch: **17**",)),
        ("what was the highest volume?", {"shares": SHARES}, ("900", "2020-06-05")),
        ("최대 volume이 얼마였어?", {"shares": SHARES}, ("900",)),
        ("매출이 제일 큰 teashop이 어디고 얼마나 팔았어?", {"outlets": OUTLETS}, ("Green Leaf: **900**",)),
        ("what was the record number of hires in a single day?", {"hires": HIRES}, ("2021-02-03", "**45**")),
        ("hires.csv에서 대여가 하루에 제일 많았던 날은 언제야?", {"hires": HIRES}, ("2021-02-03", "**45**")),
    ],
)
def test_what_most_is_asked_of(
    tmp_path: Path, question: str, tables: dict[str, str], expected: tuple[str, ...]
) -> None:
    told = said(tmp_path, question, **tables)
    assert all(one in told for one in expected), told


@pytest.mark.parametrize(
    ("question", "tables", "expected"),
    [
        ("Otter 값이 2020년 마지막 거래일에 얼마였지?", {"shares": SHARES}, "**35.5**"),
        ("what was Otter at the last close of the shares?", {"shares": SHARES}, "**35.5**"),
        ("what was the very first Otter price?", {"shares": SHARES}, "**31.5**"),
        ("tremors는 언제부터 언제까지 있어?", {"tremors": TREMORS}, "**2019-02-01 – 2021-03-07**"),
        ("what dates do the tremors in Bad run from and to?", {"tremors": TREMORS}, "**2019-03-04 – 2019-05-01**"),
        ("From when to when were there tremors in Bad?", {"tremors": TREMORS}, "**2019-03-04 – 2019-05-01**"),
    ],
)
def test_rows_may_be_the_first_and_the_last(
    tmp_path: Path, question: str, tables: dict[str, str], expected: str
) -> None:
    assert expected in said(tmp_path, question, **tables)


@pytest.mark.parametrize(
    ("question", "tables", "expected"),
    [
        ("how many different customers are there?", {"customers": VISITS}, "**4**"),
        ("What percentage of first-class passengers survived?", {"cabins": CABINS}, "**66.7%**"),
        ("which Pclass (the first, second etc.) has the most rows in cabins.csv?", {"cabins": CABINS}, "1: **3**"),
    ],
)
def test_keys_classes_and_examples(tmp_path: Path, question: str, tables: dict[str, str], expected: str) -> None:
    assert expected in said(tmp_path, question, **tables)


SKIES = "town,sky,day\n" + "".join(
    f"{('Alm', 'Bad', 'Ulm')[n % 3]},{'snow' if n % 5 == 0 or n % 3 == 1 else 'sun'},2021-01-{n + 1:02d}\n"
    for n in range(18)
)
CROPS = "season,yield_total\n2000-01,60\n1950-51,6\n1975-76,25\n"
JOBS = "month,construction\n" + "".join(f"20{6 + n // 12:02d}-{1 + n % 12:02d}-01,{900 - 5 * n}\n" for n in range(36))
OUTPUT = "Year,Output,Index score\n1990,40,3\n1991,48,4\n1992,55,4\n1993,58,5\n"
RATES = "Year,Jan,Feb,Annual\n1981,7.5,7.4,7.6\n1982,8.6,8.9,9.7\n"
PLANTS = "technology,vintage_year,cost\nwind,2001,30\ncoal,2001,10\nwind,2000,32\ncoal,2000,12\n"


@pytest.mark.parametrize(
    ("question", "tables", "expected"),
    [
        ("Alm이랑 Bad 중에 snow인 날이 더 많은 데는 어디야?", {"skies": SKIES}, ("Bad: **6**", "Alm: **2**")),
        ("which had more snow days, Alm or Bad?", {"skies": SKIES}, ("Bad: **6**", "Alm: **2**")),
        (
            "crops.csv에서 2000-01년 yield total은 1950-51년에 비해 몇 배야?",
            {"crops": CROPS},
            ("1950-51: 6 → 2000-01: 60", "×10"),
        ),
        (
            "construction jobs: how many were lost from January 2006 to January 2008?",
            {"jobs": JOBS},
            ("**120 less**",),
        ),
        ("what was the first year in which the output exceeded 50?", {"output": OUTPUT}, ("**1992**",)),
        ("output가 처음으로 50을 넘은 해는?", {"output": OUTPUT}, ("**1992**",)),
        ("of the ill in trial.csv, what share got aid?", {"trial": TRIAL}, ("(4 / 6; ill = 1)",)),
        ("how much more did wind cost than coal in 2001?", {"plants": PLANTS}, ("coal: 10",)),
    ],
)
def test_times_groups_and_bounds_are_compared(
    tmp_path: Path, question: str, tables: dict[str, str], expected: tuple[str, ...]
) -> None:
    told = said(tmp_path, question, **tables)
    assert all(one in told for one in expected), told


def test_how_many_behind_a_superlative_asks_for_its_figure(tmp_path: Path) -> None:
    (table,) = profiles(table_files(folder(tmp_path, orders="ts,y\n2021-01-01,4\n2021-01-02,9\n"))).tables
    query = Reader("건수가 제일 많았던 날은 언제고 몇 건이었어?", table, named=True).read()[0].query
    assert (query.shape, query.measure, query.order) == ("rows", "y", "desc")


@pytest.mark.parametrize(
    ("rain", "expected"),
    [((0.1234, 0.2345), "**0.179 (≈ 0.1789)**"), ((0.5, 0.25), "**0.375**"), ((0, 0.4), "**0.2**")],
)
def test_a_small_figure_has_one_more_digit_in_brackets(
    tmp_path: Path, rain: tuple[float, float], expected: str
) -> None:
    fell = f"year,rain\n2001,{rain[0]}\n2002,{rain[1]}\n"
    assert expected in said(tmp_path, "average rain in fell.csv", fell=fell)


def test_years_are_not_added_up(tmp_path: Path) -> None:
    claims = "Accident Year,Reported Claims\n2001,100\n2002,250\n"
    assert "**350**" in said(tmp_path, "total reported claims over all accident years?", claims=claims)


def test_what_is_counted_is_the_last_of_several_nouns(tmp_path: Path) -> None:
    housing = "city,year,month,sales\nAustin,2010,1,1200\nAustin,2010,2,1500\nDallas,2010,1,900\n"
    assert "**2,700**" in said(tmp_path, "how many home sales were there in Austin in 2010?", txhousing=housing)


def test_how_many_files_there_are_is_no_question_to_a_table(tmp_path: Path) -> None:
    tables = {f"north_{n}": f"year,north\n2001,{n}\n" for n in range(3)}
    folder(tmp_path, **tables)
    assert about("how many of the csv files here are north ones?", tmp_path) is About.TEXT
