"""What the rows of a table are of, and how words of a question meet its columns and values."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from tables_support import shared

from hitl_tui.tables import profile
from hitl_tui.tables.ask import About, Answer, about, ask
from hitl_tui.tables.files import table_files
from hitl_tui.tables.profile import profiles
from hitl_tui.teams.analysis.table_answer import brief

ROUTES = "source,target,trips\nOslo,Bergen,40\nOslo,Moss,30\nOslo,Hamar,20\nBergen,Oslo,45\nBergen,Moss,70\n"
SHOP = "Item,Units,Unit Price,Total\nBinder,3,2,6\nPen,10,1,10\nBinder,4,2,8\nDesk,1,90,90\n"
POWER = "year,fuel,net_generation\n" + "".join(
    f"{year},{fuel},{mwh + year - 2001}\n" for year in range(2001, 2005) for fuel, mwh in (("Coal", 70), ("Wind", 30))
)
LANDS = 'name,currencies,area\nA,EUR,10\nB,USD,20\nC,"EUR, USD",30\nD,"CHF, EUR",40\nE,CHF,50\nF,EUR,5\nG,USD,6\n'
PRICES = "symbol,date,price\n" + "".join(
    f"{symbol},{month} 1 {year},{price + 10 * (year - 2000) + n}\n"
    for symbol, price in (("KLMN", 50), ("OPQR", 80))
    for year in (2000, 2001, 2002)
    for n, month in enumerate(("Jan", "Feb", "Mar"))
)
BIRDS = "Phase of flight,Wildlife Species,Cost Total\n" + "".join(
    f"{phase},{species},{cost}\n"
    for phase, species, cost in (
        ("Approach", "Unknown bird", 1), ("Approach", "Gull", 2), ("Approach", "Gull", 3), ("Climb", "Unknown bird", 4),
        ("Climb", "Unknown bird", 5),
    )
)  # fmt: skip
STATES = "state,poverty,income\nOhio,14.2,300\nUtah,11.0,400\nIowa,12.1,500\n"
CALLS = "year,month,day,line,calls\n" + "".join(
    f"{year},{month},{day},{line},{month}\n"
    for year in (2012, 2013) for month in (1, 2, 3) for day in (1, 2) for line in ("N1", "S2")
)  # fmt: skip


def folder(at: Path, **tables: str) -> Path:
    for name, content in tables.items():
        (at / f"{name}.csv").write_text(content, encoding="utf-8")
    return at


def asked(at: Path, question: str, **tables: str) -> Answer:
    return ask(question, table_files(shared(folder(at, **tables))))


def said(at: Path, question: str, **tables: str) -> str:
    return brief(asked(at, question, **tables), "ko" if any("가" <= c <= "힣" for c in question) else "en").answer


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("which source has the most trips in routes.csv?", "Bergen: **115**"),
        ("which source has the fewest trips in routes.csv, and how many?", "Oslo: **90**"),
        ("how many trips start in Bergen according to routes.csv?", "**115**"),
        ("routes.csv에서 Bergen 출발 운행(trips)은 모두 몇 회야?", "**115**"),
    ],
)
def test_rows_that_carry_a_count_are_added_up(tmp_path: Path, question: str, expected: str) -> None:
    assert expected in said(tmp_path, question, routes=ROUTES)


@pytest.mark.parametrize(
    "question",
    ["how many binders were sold in total according to shop.csv?", "shop.csv에서 바인더는 모두 몇 개 팔렸어?"],
)
def test_what_was_sold_in_total_is_counted_not_paid(tmp_path: Path, question: str) -> None:
    assert "**7**" in said(tmp_path, question, shop=SHOP)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what share of the electricity came from wind in 2002?", "30.4%"),
        ("power.csv에서 2002년 풍력(Wind) 비중은 몇 퍼센트야?", "30.4%"),
    ],
)
def test_a_share_of_rows_that_are_one_each_is_a_share_of_their_measure(
    tmp_path: Path, question: str, expected: str
) -> None:
    assert expected in said(tmp_path, question, power=POWER)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("lands.csv에서 통화에 EUR가 들어가는 곳이 몇 군데야?", "**4**"),
        ("how many rows in lands.csv use EUR?", "**4**"),
        ("which name in lands.csv with EUR has the largest area?", "**D**"),
    ],
)
def test_a_cell_that_holds_a_list_has_each_of_its_values(tmp_path: Path, question: str, expected: str) -> None:
    assert expected in said(tmp_path, question, lands=LANDS)


def test_a_list_in_json_is_one_of_a_cell(tmp_path: Path) -> None:
    rows = [{"land": "A", "languages": ["French", "Dutch"]}, {"land": "B", "languages": ["French"]}]
    rows.append({"land": "C", "languages": ["Danish"]})
    (tmp_path / "spoken.json").write_text(json.dumps(rows), encoding="utf-8")
    assert "**2**" in said(tmp_path, "how many lands in spoken.json have French among their languages?")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how much did the price of KLMN change from Jan 2000 to Mar 2002?", "**22 more**"),
        ("KLMN 가격은 2000년 1월에서 2002년 3월까지 몇 퍼센트 올랐어?", "+44%"),
        ("prices.csv에서 KLMN 평균 가격은 2000년보다 2001년에 얼마나 올랐어?", "**10 증가**"),
        ("how much did the average price of OPQR rise between 2000 and 2002 in prices.csv?", "**20 more**"),
    ],
)
def test_a_change_goes_from_one_moment_to_another(tmp_path: Path, question: str, expected: str) -> None:
    assert expected in said(tmp_path, question, prices=PRICES)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("in which phase of flight do most bird strikes happen, and how many?", "Approach: **3**"),
        ("birdstrikes.csv에서 조류 충돌이 제일 많은 비행 단계는?", "Approach: **3**"),
    ],
)
def test_words_of_a_table_s_own_subject_narrow_nothing(tmp_path: Path, question: str, expected: str) -> None:
    assert expected in said(tmp_path, question, birdstrikes=BIRDS)


@pytest.mark.parametrize(
    "question",
    ["what is the poverty of Puerto Rico in states.csv?", "states.csv에서 푸에르토리코 빈곤율은?"],
)
def test_a_value_that_is_not_there_is_said_with_those_that_are(tmp_path: Path, question: str) -> None:
    assert about(question, folder(tmp_path, states=STATES)) is About.TABLE
    answer = asked(tmp_path, question)
    assert answer.result is None or answer.empty
    told = "\n".join(map(str, brief(answer, "en").absent))
    assert "states.csv" in told
    assert "Ohio" in told


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how many calls were there on line N1 in March 2013?", "**6**"),
        ("calls.csv에서 2013년 3월 N1 통화(calls) 합계는?", "**6**"),
    ],
)
def test_a_month_may_be_a_column_of_numbers(tmp_path: Path, question: str, expected: str) -> None:
    assert expected in said(tmp_path, question, calls=CALLS)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("states.csv에 나온 소득(income)을 다 더하면?", "**1,200**"),
        ("states.csv에서 income 최댓값은?", "**500**"),
        ("states.csv에서 income 최솟값은?", "**300**"),
        ("states.csv에서 빈곤율이 12를 넘는 곳은 몇 곳이야?", "**2**"),
    ],
)
def test_a_table_that_is_named_is_asked(tmp_path: Path, question: str, expected: str) -> None:
    assert about(question, folder(tmp_path, states=STATES)) is About.TABLE
    assert expected in said(tmp_path, question)


SMOKES = "state,year,price,sales\n" + "".join(f"{n},{year},{year + n},{n}\n" for n in (1, 2) for year in range(63, 93))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what was the average price in 1990 in smokes.csv?", "**91.5**"),
        ("smokes.csv에서 1970년 평균 가격은?", "**71.5**"),
    ],
)
def test_years_may_leave_out_their_century(tmp_path: Path, question: str, expected: str) -> None:
    assert expected in said(tmp_path, question, smokes=SMOKES)


@pytest.mark.parametrize("question", ["how many lands in states.csv have a purple state?"])
def test_no_count_of_different_values_answers_for_one_that_is_not_there(tmp_path: Path, question: str) -> None:
    assert not said(tmp_path, question, states=STATES)


def test_what_a_column_s_name_says_is_no_group(tmp_path: Path) -> None:
    hours = "machine,member_eur_per_hour,guest_eur_per_hour\nTable saw,9.50,\nPlaner,11.00,\nBench,2.00,4.50\n"
    assert "11" in said(tmp_path, "What does the planer cost a member per hour in hours.csv?", hours=hours)


_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PARTS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def workbook(file: Path, **sheets: str) -> None:
    """Write a workbook whose cells hold numbers as they are given, or texts in quotation marks."""
    with zipfile.ZipFile(file, "w") as made:
        for n, (_, rows) in enumerate(sheets.items(), start=1):
            cells = "".join(f"<row>{''.join(map(_cell, row.split(',')))}</row>" for row in rows.split())
            made.writestr(
                f"xl/worksheets/sheet{n}.xml", f'<worksheet xmlns="{_MAIN}"><sheetData>{cells}</sheetData></worksheet>'
            )
        root = f'<Relationship Id="r" Type="{_PARTS}/officeDocument" Target="xl/workbook.xml"/>'
        made.writestr("_rels/.rels", f'<Relationships xmlns="{_PACKAGE}/relationships">{root}</Relationships>')
        names = "".join(f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(sheets, start=1))
        made.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{_MAIN}" xmlns:r="{_PARTS}"><sheets>{names}</sheets></workbook>'
        )
        found = "".join(
            f'<Relationship Id="r{n}" Type="{_PARTS}/worksheet" Target="worksheets/sheet{n}.xml"/>'
            for n in range(1, len(sheets) + 1)
        )
        made.writestr(
            "xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{_PACKAGE}/relationships">{found}</Relationships>'
        )


def _cell(value: str) -> str:
    words = value.strip('"')
    return f'<c t="inlineStr"><is><t>{words}</t></is></c>' if words != value else f'<c t="n"><v>{value}</v></c>'


def test_a_sheet_that_cannot_be_read_leaves_the_others(tmp_path: Path) -> None:
    good, bad = '"town","people" "Ulm",10 "Bonn",32', '"town","people" "Ulm",1.2.3'
    workbook(tmp_path / "towns.xlsx", good=good, bad=bad)
    assert "**42**" in said(tmp_path, "total people in towns.xlsx")
    workbook(tmp_path / "towns.xlsx", bad=bad)
    assert asked(tmp_path, "total people in towns.xlsx").result is None


def test_a_table_with_many_columns_is_read(tmp_path: Path) -> None:
    names = [f"{year}_{what}" for year in range(1960, 2016) for what in ("fertility", "income")]
    rows = [",".join(["Chad", *(str(at / 7) for at in range(len(names)))]), ",".join(["Peru", *("" for _ in names)])]
    (tmp_path / "wide.csv").write_text("\n".join([",".join(["country", *names]), *rows]) + "\n")
    found = profiles(table_files(tmp_path))
    assert found.unread == ()
    assert len(found.tables[0].columns) == len(names) + 1


def test_a_number_that_is_in_a_column_s_name_doesn_t_name_it(tmp_path: Path) -> None:
    rows = "id,Store,Dept,Date,Weekly_Sales,MarkDown1\n" + "".join(
        f"1_{n},1,{n % 3},2010-02-{n:02},{100.5 + n},{n if n % 2 else ''}\n" for n in range(1, 29)
    )
    answer = asked(tmp_path, "월마트 1호점에 직원이 몇 명인지 알려줘", walmart_sales_weekly=rows)
    assert answer.mapped is None or all(one.op != "full" for one in answer.mapped.query.filters)


def test_no_table_is_lost_where_more_are_asked_than_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile, "_CACHED", 2)
    files = table_files(folder(tmp_path, routes=ROUTES, shop=SHOP, states=STATES))
    for _ in range(2):
        assert len(profiles(files).tables) == 3


WINES = "Month,Red,White\n" + "".join(
    f"{month}-{year},{n},{2 * n}\n"
    for n, (year, month) in enumerate(((y, m) for y in (85, 90) for m in ("Jan", "Feb")), 1)
)
QUARTERS = "QuarterYear,Revenue\n" + "".join(
    f"Q{quarter}-{year},{quarter * (year - 90)}\n" for year in (93, 94) for quarter in (1, 2, 3, 4)
)
PAY = "name,salary\nAda,250000\nBen,90000\nCem,300000\n"
AIRFARES = "city,income\nSan Francisco,250000\nBoston,90000\n"
ADS = "platform,spend\nFacebook Ads,10\nGoogle Ads,5\nFacebook Ads,20\nVideo Ads,4\n"
LAPTOPS = "Date,Store Postcode,Store X,Store Y\n2008-01-02,N1,541,184\n2008-01-03,N1,541,184\n2008-01-03,E7,990,999\n"
TURBINES = "type,rotor_diameter,rotor_area\nA,116,10567\nB,180,25446\nC,90,6362\n"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("By how much did red wine sales go up from 1985 to 1990?", "**4 more**"),
        ("What was the toy shop revenue for all of 1994?", "**40**"),
        ("In the San Francisco salaries, how many people got more than 200,000?", "**2**"),
        ("How many people of the 2014 salaries got more than 200,000?", "**2**"),
        ("광고 리포트에서 광고비를 제일 많이 쓴 플랫폼이 어디고 총 얼마 썼어?", "Facebook Ads"),
        ("Which store postcode sold the most laptops in January 2008?", "N1"),
        ("터빈 데이터에서 로터 지름이 제일 큰 기종이 뭐야?", "B"),
    ],
)
def test_names_and_times_are_known_however_they_are_written(tmp_path: Path, question: str, expected: str) -> None:
    tables = {
        "red_wines": WINES, "toyshop_revenues": QUARTERS, "sf_salaries2014": PAY, "airfares": AIRFARES,
        "ad_report": ADS, "laptop_sales": LAPTOPS, "turbine_data": TURBINES,
    }  # fmt: skip
    assert expected in said(tmp_path, question, **tables).split("SELECT")[0]


def test_a_rate_by_a_unit_of_time_and_a_capital_letter_are_no_time(tmp_path: Path) -> None:
    rates = "crane,price_usd_per_hour,tv_S,idle_s\nCrawler,1190,5400,60\nTower,800,3600,7200\n"
    assert "**1,190**" in said(tmp_path, "What is the highest price_usd_per_hour in rates.csv?", rates=rates)
    assert "**5,400**" in said(tmp_path, "What is the highest tv_S in rates.csv?", rates=rates)
    assert "7,200 s" in said(tmp_path, "What is the highest idle_s in rates.csv?", rates=rates)
