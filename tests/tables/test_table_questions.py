"""Questions about tables: which table, which query, what it gives, and when there is none."""

from __future__ import annotations

import asyncio
import threading
import unicodedata
from dataclasses import replace
from datetime import date
from pathlib import Path

import duckdb
import pytest
from tables_support import shared

from hitl_tui.tables import engine as engine_module
from hitl_tui.tables import profile as profile_module
from hitl_tui.tables.ask import About, Answer, about, ask, continues
from hitl_tui.tables.engine import TableError, engine, in_thread, seconds_for
from hitl_tui.tables.files import table_files
from hitl_tui.tables.profile import profiles
from hitl_tui.tables.query import TableQuery
from hitl_tui.teams.analysis.table_answer import brief

SALES = """date,region,product,units,price
2023-01-05,North,tea,10,2.5
2023-02-06,South,tea,20,2.5
2023-02-07,South,coffee,5,4
2024-01-08,North,coffee,8,4
2024-03-09,North,tea,,2.5
"""
CITIES = "city\tcountry\tpopulation\nSeoul\tSouth Korea\t9400000\nBusan\tSouth Korea\t3300000\nLyon\tFrance\t520000\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sales.csv").write_text(SALES, encoding="utf-8")
    (tmp_path / "cities.tsv").write_text(CITIES, encoding="utf-8")
    return tmp_path


def asked(folder: Path, question: str, before: TableQuery | None = None) -> Answer:
    return ask(question, table_files(shared(folder)), before)


def written(folder: Path, name: str, content: str) -> Path:
    (folder / name).write_text(content, encoding="utf-8")
    return folder


def first(answer: Answer) -> object:
    assert answer.result is not None, answer
    return answer.result.rows[0][0]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("average price of tea in sales.csv", 2.5),
        ("how many customers bought over 8 units, sales.csv?", 2),
        ("how many rows from 2024 are in sales.csv?", 2),
        ("sales.csv에서 units가 제일 많은 지역은?", "South"),
        ("total units since February 2023 in sales.csv", 33),
        ("total units after February 2023 in sales.csv", 8),
        ("total units before 2024 in sales.csv", 35),
        ("sales.csv 2023년 2월 이후 units 합계", 33),
        ("sales.csv 2023년까지 units 합계", 35),
        ("sales.csv에서 차(tea)의 평균 가격은?", 2.5),
        ("total units in sales.csv for the north region", 18),
        ("how many rows of sales.csv have units over 8?", 2),
        ("sales.csv에서 units가 10 이상인 건 몇 건?", 2),
        ("which region has the most units in sales.csv?", "South"),
        ("total units in 2023 in sales.csv", 35),
        ("sales.csv 2023년 2월 units 합계", 25),
        ("how many rows have empty units in sales.csv", 1),
        ("which city has the largest population?", "Seoul"),
        ("인구가 가장 적은 도시는?", "Lyon"),
        ("average population of cities in South Korea", 6_350_000),
        ("한국 도시 평균 인구는?", 6_350_000),
    ],
)
def test_a_question_is_answered_from_its_table(folder: Path, question: str, expected: object) -> None:
    assert first(asked(folder, question)) == expected


def test_shares_and_changes(folder: Path) -> None:
    share = brief(asked(folder, "what share of rows in sales.csv are tea?"), "en")
    assert "**60%**" in share.answer
    change = brief(asked(folder, "how did total units change from 2023 to 2024 in sales.csv?"), "en")
    assert "**27 less**" in change.answer


def test_a_rise_within_one_year_is_from_the_year_before(tmp_path: Path) -> None:
    rows = "valid_from,price_ct,basic_eur\n2026-01-01,32.4,126\n2027-01-01,35.1,132\n"
    (tmp_path / "power-tariff.csv").write_text(rows)
    change = brief(asked(tmp_path, "By how many percent does our price rise in 2027? power-tariff.csv"), "en")
    assert "+8.3%" in change.answer


def test_of_two_columns_that_have_a_value_the_one_of_a_category_is_counted(tmp_path: Path) -> None:
    (tmp_path / "countries.csv").write_text("name,region\nEast Asia,World\nJapan,East Asia\nFiji,East Asia\n")
    assert first(asked(tmp_path, "how many countries of East Asia are in countries.csv?")) == 2


@pytest.mark.parametrize(
    ("question", "language", "head"),
    [
        ("are there rows with more than 100 units in sales.csv?", "en", "**0**"),
        ("sales.csv에서 units가 15 초과인 행이 있나요?", "ko", "**1**"),
    ],
)
def test_a_question_whether_there_are_rows_gets_how_many(folder: Path, question: str, language: str, head: str) -> None:
    assert brief(asked(folder, question), language).answer.startswith(head)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the total amount where settled is no?", 2310),
        ("What is the total amount of rows that are not settled?", 2310),
        ("What is the sum of all unsettled bills?", 2310),
        ("settled가 no인 amount 합계는?", 2310),
        ("How many bills are settled?", 2),
    ],
)
def test_a_column_of_yes_and_no_that_is_named_limits_the_rows(tmp_path: Path, question: str, expected: float) -> None:
    rows = "Alba,1200,yes\nBora,310,no\nAlba,2000,no\nCato,500,yes\n"
    (tmp_path / "bills.csv").write_text(f"customer,amount,settled\n{rows}", encoding="utf-8")
    assert first(asked(tmp_path, question)) == expected


def test_a_word_is_read_as_the_column_that_means_it_and_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("day,visitors\nMon,3\nTue,9\n")
    told = brief(asked(tmp_path, "visits.csv에서 visitors가 가장 많은 요일은?"), "ko").answer
    assert "Tue" in told


def test_a_group_that_the_table_doesn_t_have_is_refused(folder: Path) -> None:
    assert asked(folder, "total units per salesman in sales.csv").why == "unsure"


def test_of_values_that_differ_in_case_the_one_as_written_counts(tmp_path: Path) -> None:
    (tmp_path / "makers.csv").write_text("maker,model\nAcme labs,a\nAcme Labs,b\nAcme labs,c\nOther,d\n")
    assert first(asked(tmp_path, "how many models does Acme labs have in makers.csv?")) == 2
    assert first(asked(tmp_path, "how many models does ACME LABS have in makers.csv?")) == 3


@pytest.mark.parametrize("padding", ["", "short\n"])
def test_no_row_is_lost_to_a_line_break_inside_a_cell(tmp_path: Path, padding: str) -> None:
    rows = "".join(f'{n},"Street {n}\n# floor {n}, ""east"" wing"\n' for n in range(3_000))
    (tmp_path / "addresses.csv").write_text(f"house,address\n{rows}{padding}", encoding="utf-8")
    expected = 3_000 + bool(padding)
    assert first(asked(tmp_path, "how many rows are in addresses.csv?")) == expected


def test_a_table_of_nothing_but_numbers_is_read(tmp_path: Path) -> None:
    made = tmp_path / "readings.parquet"
    duckdb.sql("SELECT i AS hour, i * 1.5 AS level FROM range(4) rows(i)").write_parquet(str(made))
    assert first(asked(tmp_path, "average level in readings.parquet")) == 2.25


@pytest.mark.parametrize(
    "question", ["average salary in sales.csv", "average price of juice in sales.csv", "sales.csv에서 커피콩 등급은?"]
)
def test_what_the_table_doesn_t_have_is_said_and_never_dropped(folder: Path, question: str) -> None:
    answer = asked(folder, question)
    assert answer.result is None
    told = brief(answer, "en")
    assert not told.answer
    assert any("product (tea, coffee)" in line for line in told.absent)


def test_a_file_that_isn_t_there_is_never_replaced_by_another(folder: Path) -> None:
    answer = asked(folder, "average price in diamonds.csv")
    assert (answer.why, answer.named) == ("absent", "diamonds.csv")


def test_a_year_without_rows_gives_no_figure(folder: Path) -> None:
    told = brief(asked(folder, "total units in 1960 in sales.csv"), "en")
    assert not told.answer
    assert "2023–2024" in told.absent[0]


def test_a_further_question_goes_on_from_the_last(folder: Path) -> None:
    start = asked(folder, "total units in 2023 in sales.csv")
    assert start.mapped is not None
    before = TableQuery.from_dict(start.mapped.query.to_dict())
    assert before == start.mapped.query
    assert first(asked(folder, "and for 2024?", before)) == 8
    assert first(asked(folder, "그럼 South는?", before)) == 25
    assert continues("and for 2024?", ["total units in 2023 in sales.csv"], folder)
    assert not continues("how do I install it?", ["total units in 2023 in sales.csv"], folder)
    assert not continues("total units in 2024 in sales.csv", ["total units in 2023 in sales.csv"], folder)


@pytest.mark.parametrize("further", ["and for white ones that year?", "그 해 white는?"])
def test_what_asks_of_the_same_time_keeps_it(tmp_path: Path, further: str) -> None:
    rows = "".join(f"{year},{race},{year % 100 + len(race)}\n" for year in (1950, 1951) for race in ("white", "black"))
    rows += "1952,asian,9\n"
    (tmp_path / "infants.csv").write_text(f"year,race,mortality_rate\n{rows}", encoding="utf-8")
    start = asked(tmp_path, "what was the mortality rate for black infants in 1950")
    assert start.mapped is not None and "**55**" in brief(start, "en").answer
    assert "mortality_rate: **55**, race: **white**" in brief(asked(tmp_path, further, start.mapped.query), "en").answer


def test_a_question_that_says_all_that_it_asks_takes_nothing_from_the_last(tmp_path: Path) -> None:
    rows = ["2026-10-02,카페라떼,41", "2026-10-05,아메리카노,90", "2026-10-09,카페라떼,42", "2026-09-03,치즈케이크,200"]
    (tmp_path / "매출.csv").write_text("\n".join(["날짜,품목,수량", *rows]) + "\n", encoding="utf-8")
    start = asked(tmp_path, "10월에 카페라떼 수량 합계는?")
    assert start.mapped is not None and first(start) == 83
    assert first(asked(tmp_path, "10월에 가장 많이 팔린 품목은?", start.mapped.query)) == "아메리카노"
    assert first(asked(tmp_path, "그럼 9월은?", start.mapped.query)) != 83
    assert first(asked(tmp_path, "9월에는 수량 합계가 모두 얼마야?", start.mapped.query)) == 200
    assert first(asked(tmp_path, "What was the total 수량 in October?", start.mapped.query)) == 173


def test_rows_of_a_year_alone_answer_no_question_about_something_else(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text(
        "date,product,total\n2026-01-10,Lamp,80\n2026-02-11,Desk,300\n", encoding="utf-8"
    )
    assert about("How many days of holiday can I carry over into the next year?", tmp_path) is About.TEXT
    assert about("How many lamps did we sell in January?", tmp_path) is not About.TEXT


def test_questions_that_aren_t_about_tables_are_left_alone(folder: Path) -> None:
    assert about("how do I restart the mail server?", folder) is About.TEXT
    assert about("전세금 인상 상한은 몇 퍼센트인가요?", folder) is About.TEXT
    assert about("what is the average price in sales.csv?", folder) is About.TABLE


def test_nothing_but_the_files_can_be_read_and_nothing_be_set(folder: Path) -> None:
    (folder / "secret.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    files = [file for file in table_files(folder) if file.path == "sales.csv"]
    with engine(files) as opened:
        for sql in (
            f"SELECT * FROM read_csv('{folder / 'secret.csv'}')",
            f"COPY (SELECT 1) TO '{folder / 'out.csv'}'",
            "INSTALL httpfs",
            "SET memory_limit = '4GB'",
        ):
            with pytest.raises(TableError):
                opened.ask(sql)
    assert not (folder / "out.csv").exists()


def test_a_query_that_takes_too_long_is_interrupted(folder: Path) -> None:
    with engine(table_files(folder), 0.2) as opened, pytest.raises(TableError, match="longer than"):
        opened.ask("SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range * b.range % 7 = 3")


def test_a_query_of_large_files_may_take_longer(folder: Path) -> None:
    (file,) = (file for file in table_files(folder) if file.path == "sales.csv")
    assert seconds_for([file]) < 21 < 60 < seconds_for([replace(file, size=1_000_000_000)]) < 120


@pytest.mark.parametrize("cell", ["steel", '"steel, ""hard""\nand bright"', "farmer's", ' "steel" '])
def test_a_large_text_is_read_as_a_small_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cell: str) -> None:
    lines = [f"2024-{n % 12 + 1:02},{cell if n % 3 else 'NA'},{n},1,{n % 7}\n" for n in range(5_000)]
    said = []
    for size in ("small", "large"):
        (tmp_path / size).mkdir()
        (tmp_path / size / "goods.csv").write_text("month,kind,n,pieces,price\n" + "".join(lines) + "Total,,,5000,\n")
        answer = ask("total pieces by kind in goods.csv", table_files(tmp_path / size))
        assert answer.result is not None, answer
        (table,) = profiles(table_files(tmp_path / size)).tables
        said.append((table.columns, answer.result.rows))
        for module in (engine_module, profile_module):
            monkeypatch.setattr(module, "SMALL", 0)
    (columns, rows), (large, large_rows) = said
    assert large_rows == rows and sum(row[1] for row in rows) == 3_333
    for one, other in zip(columns, large, strict=True):
        assert replace(one, distinct=0) == replace(other, distinct=0)


def test_korean_encodings_and_codes(tmp_path: Path) -> None:
    (tmp_path / "직원.csv").write_bytes(
        "이름,우편번호,급여(만원)\n김하나,01234,300\n이두리,05678,400\n".encode("cp949")
    )
    told = brief(asked(tmp_path, "직원.csv 평균 급여는?"), "ko")
    assert "350만 원" in told.answer


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("sales.csv 1월부터 2월까지 units 합계", 43),
        ("total units from January to March 2023 in sales.csv", 35),
        ("sales.csv 2023년 2월부터 2024년 1월까지 units 합계", 33),
        ("total units in January and February 2023 in sales.csv", 35),
        ("total units in sales.csv on 2023-01-05", 10),
        ("total units in sales.csv from 2023-02-06 to 2023-02-07", 25),
        ("total units in the first quarter of 2023 in sales.csv", 35),
        ("sales.csv 2023년 1분기 units 합계", 35),
    ],
)
def test_a_period_is_all_of_it(folder: Path, question: str, expected: int) -> None:
    assert first(asked(folder, question)) == expected


@pytest.mark.parametrize("day", ["on 2023-02-31", "on 29 February 2023", "since 29 February 2023"])
def test_a_day_that_no_calendar_has_is_not_answered(folder: Path, day: str) -> None:
    assert asked(folder, f"total units in sales.csv {day}").why == "unsure"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("total units in sales.csv on 29 February", 7),
        ("total units in sales.csv since 29 February", 12),
        ("sales.csv에서 2월 29일 units 합계", 7),
        ("total units in sales.csv from 28 February to 29 February", 9),
    ],
)
def test_a_day_that_few_years_have_is_the_last_one_there_is(tmp_path: Path, question: str, expected: int) -> None:
    written(tmp_path, "sales.csv", "date,units\n2020-02-29,1\n2024-02-28,2\n2024-02-29,7\n2025-03-01,5\n")
    assert first(asked(tmp_path, question)) == expected


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("total units in sales.csv last month", 5),
        ("total units in sales.csv this year", 12),
        ("sales.csv에서 지난달 units 합계", 5),
        ("sales.csv에서 작년 units 합계", 2),
        ("total units of this year.csv in 2021", 12),
        ("total units in last year/stock.csv in 2021", 12),
    ],
)
def test_last_month_is_that_of_the_day_of_the_question(tmp_path: Path, question: str, meant: int) -> None:
    written(tmp_path, "sales.csv", "date,units\n2020-12-31,2\n2021-11-30,5\n2021-12-31,7\n")
    written(tmp_path, "this year.csv", "date,units\n2020-12-31,2\n2021-11-30,5\n2021-12-31,7\n")
    (tmp_path / "last year").mkdir()
    written(tmp_path / "last year", "stock.csv", "date,units\n2020-12-31,2\n2021-11-30,5\n2021-12-31,7\n")
    files = table_files(tmp_path)
    assert first(ask(question, files, today=date(2021, 12, 31))) == meant
    assert first(ask(question, files, today=date(2022, 1, 1))) != meant or "2021" in question


@pytest.mark.long
async def test_a_query_ends_with_the_waiting_for_it(folder: Path) -> None:
    began, ended = threading.Event(), threading.Event()

    def count() -> None:
        try:
            with engine(table_files(folder)) as opened:
                began.set()
                opened.ask("SELECT count(*) FROM range(100000000000) a, range(1000) b")
        except TableError as error:
            assert "stopped" in str(error)
            ended.set()

    waiting = asyncio.create_task(in_thread(count))
    await asyncio.to_thread(began.wait)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await asyncio.to_thread(ended.wait, 30)


FUND = """date,paid_by,category,amount
{last}-11-03,Tom,food,40
{year}-01-05,Ann,food,55
{year}-01-06,Tom,repair,25
{year}-01-07,Ann,food,5
"""


@pytest.fixture
def fund(tmp_path: Path) -> Path:
    this = date.today().year
    (tmp_path / "fund.csv").write_text(FUND.format(year=this, last=this - 1), encoding="utf-8")
    (tmp_path / "hills.csv").write_text("산,높이,거리_km\n관악산,632,9.5\n치악산,1288,10.6\n오대산,1563,13\n", "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how much did Tom pay this year?", 25),
        ("Tom이 작년에 낸 돈은 얼마?", 40),
        ("how much has Ann spent since January?", 60),
        ("since November, how much did we spend on food?", 100),
        ("who paid the most in total?", "Tom"),
        ("1000미터 넘는 산은 몇 개?", 2),
    ],
)
def test_relative_times_persons_and_figures_beyond_a_number_are_read(
    fund: Path, question: str, expected: object
) -> None:
    assert first(asked(fund, question)) == expected


def test_who_paid_how_much_is_told_for_each_person(fund: Path) -> None:
    answer = asked(fund, "누가 얼마나 냈어?")
    assert answer.result is not None
    assert sorted(tuple(row[:2]) for row in answer.result.rows) == [("Ann", 60.0), ("Tom", 65.0)]


def test_a_name_of_two_letters_and_hours_are_read(tmp_path: Path) -> None:
    (tmp_path / "근무표.csv").write_text(
        "날짜,이름,시간\n2026-11-02,한별,6\n2026-11-02,도담,5\n2026-11-03,한별,8\n", "utf-8"
    )
    assert first(asked(tmp_path, "한별이는 몇 시간 일했어?")) == 14


def test_what_has_not_happened_is_no_question_for_a_table(fund: Path) -> None:
    assert about("who paid food this year?", fund) is not About.TEXT
    assert about("who has not paid food this year?", fund) is About.TEXT
    assert about("who hasn't paid food this year?", fund) is About.TEXT


def test_a_word_that_no_table_has_leaves_a_question_to_the_documents(fund: Path) -> None:
    assert about("how much did Tom pay this year?", fund) is not About.TEXT
    assert about("how much kerosene did Tom pay this year?", fund) is About.TEXT


SPENT = """날짜,분류,거래처,금액
2026-02-11,교통,코레일,119600
2026-03-04,회식,삼겹살집,196000
2026-03-09,교통,SRT,104800
2026-03-20,서버,AWS,1402100
"""


def test_what_a_word_for_costs_names_is_looked_up_and_what_is_not_there_is_not_summed_up(tmp_path: Path) -> None:
    (tmp_path / "지출.csv").write_text(SPENT, encoding="utf-8")
    files = table_files(tmp_path)
    dinners = ask("회식비는 3월에 얼마 썼어?", files)
    assert dinners.result is not None and dinners.result.rows == ((196000.0, 1),)
    taxis = ask("택시비는 3월에 얼마 썼어?", files)
    assert taxis.result is None and about("택시비는 3월에 얼마 썼어?", tmp_path) is About.TEXT
    everything = ask("3월에 얼마 썼어?", files)
    assert everything.result is not None and everything.result.rows == ((1702900.0, 3),)


STAFF = """name,department,hire_date,extension,desk,fee paid
Lena Hartmann,Finance,2017-04-01,214,"12, left",yes
Tom Kim,Engineering,2019-09-16,233,3,no
Ana Costa,Engineering,2014-02-03,230,4,yes
"""
ROSTER = "이름,부서,입사일,내선번호\n김민수,개발팀,2018-03-02,3412\n이서연,인사팀,2020-07-15,3105\n"
ROSTER += "최유진,개발팀,2023-05-22,3415\n"
KEYS = "key no,room,holder,location\nK-01,12,Ana Costa,desk\nK-02,14,Tom Kim,safe\n"
SUPPLIERS = (
    "supplier,product,phone,serial number\nKleber AG,wood glue,111,A1\nFerro SA,steel brackets,222,A2\n"
    "Vidrio SL,glass panes,333,A3\n"
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("김민수 언제 입사했어?", "2018-03-02"),
        ("이서연 직통 번호 알려줘", "3,105"),
        ("개발팀에는 누가 있어?", "최유진"),
        ("when did Lena join?", "2017-04-01"),
        ("what is Kim's extension?", "233"),
        ("what is the extension number of Ana Costa?", "230"),
        ("who has the keys for room 12?", "Ana Costa"),
        ("where is the key of room 14?", "safe"),
        ("which supplier delivers wood glue?", "Kleber AG"),
        ("has Tom Kim paid his fee?", "no"),
        ("what is the serial number of glass panes?", "A3"),
    ],
)
def test_a_row_is_looked_up_by_what_names_it(tmp_path: Path, question: str, said: str) -> None:
    for name, rows in (("staff.csv", STAFF), ("명부.csv", ROSTER), ("keys.csv", KEYS), ("suppliers.csv", SUPPLIERS)):
        (tmp_path / name).write_text(rows, encoding="utf-8")
    assert about(question, tmp_path) in (About.TABLE, About.BOTH)
    assert said in brief(asked(tmp_path, question), "en").answer


@pytest.mark.parametrize("question", ["Lena's shoe size", "when is Lena's birthday?", "김민수 혈액형이 뭐야?"])
def test_what_no_column_has_is_not_looked_up(tmp_path: Path, question: str) -> None:
    (tmp_path / "staff.csv").write_text(STAFF, encoding="utf-8")
    (tmp_path / "명부.csv").write_text(ROSTER, encoding="utf-8")
    assert about(question, tmp_path) is About.TEXT


def test_a_name_that_is_pasted_decomposed_is_found(tmp_path: Path) -> None:
    written(tmp_path, unicodedata.normalize("NFD", "매출.csv"), "지점,금액\n서울,3\n부산,4\n")
    written(tmp_path, "지출.csv", "지점,금액\n서울,5\n부산,6\n")
    assert first(asked(tmp_path, unicodedata.normalize("NFD", "매출.csv 금액 합계는?"))) == 7


def test_a_sum_has_the_decimals_of_its_column(tmp_path: Path) -> None:
    (tmp_path / "costs.csv").write_text(
        'what,amount,size,weight\ntravel,"1,234.50",1.5,3.0\nbooks,89.90,2,4.0\n', encoding="utf-8"
    )
    assert "**1,324.40**" in brief(asked(tmp_path, "total amount in costs.csv"), "en").answer
    assert "**3.5**" in brief(asked(tmp_path, "total size in costs.csv"), "en").answer
    assert "**7**" in brief(asked(tmp_path, "total weight in costs.csv"), "en").answer


TAKINGS = """date,shop,product,quantity,amount_eur
2026-10-01,Mill Lane,bread,40,120.50
2026-10-09,Mill Lane,cake,12,130.10
2026-11-03,Mill Lane,cake,60,209.00
2026-10-02,High Street,cake,20,210.00
"""


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How much did Mill Lane sell in total?", 459.6),
        ("How much did we sell in October?", 460.6),
        ("Mill Lane은 얼마나 팔았어?", 459.6),
        ("How much cake did we sell?", 92),
        ("How many did we sell in October?", 72),
        ("10월에 몇 개 팔았어?", 72),
    ],
)
def test_how_much_was_sold_is_money_and_how_many_is_none(tmp_path: Path, question: str, expected: float) -> None:
    (tmp_path / "takings.csv").write_text(TAKINGS, encoding="utf-8")
    assert first(asked(tmp_path, question)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("question", "source", "expected"), [("평균 염분은?", "buoys.csv", 34), ("공항 평균 고도는?", "airports.csv", 265)]
)
def test_a_korean_word_means_a_table_and_a_column_in_english(
    tmp_path: Path, question: str, source: str, expected: float
) -> None:
    (tmp_path / "buoys.csv").write_text("buoy,current speed,salinity\nB1,2.5,35\nB1,3.5,34\nB2,1.5,33\n")
    (tmp_path / "airports.csv").write_text("name,runways,elevation\nUlm,2,410\nLund,1,120\n")
    answer = asked(tmp_path, question)
    assert answer.mapped is not None and answer.mapped.query.source == source
    assert first(answer) == expected
    assert about(question, tmp_path) is About.TABLE


CARS = """[{"Name": "polo", "Horsepower": 60, "Origin": "Europe", "tags": ["a"]},
 {"Name": "civic", "Horsepower": 80, "Origin": "Japan"}]"""


def test_a_list_of_records_is_a_table(tmp_path: Path) -> None:
    written(tmp_path, "cars.json", CARS)
    assert first(asked(tmp_path, "cars.json에서 일본 차 평균 마력은?")) == 80
    assert first(asked(tmp_path, "마력이 제일 높은 차가 뭐야")) == "civic"


def test_a_record_a_line_is_a_table(tmp_path: Path) -> None:
    written(tmp_path, "visits.jsonl", '{"page": "home", "seconds": 4}\n{"page": "help", "seconds": 8}\n')
    assert first(asked(tmp_path, "average seconds in visits.jsonl")) == 6


SHELF = """{"version": 2, "reading_days": 200, "owner": {"name": "Ann", "lending_days": 30},
 "tags": ["old", "new"], "books": [
 {"title": "Tides", "pages": 210, "lent": true, "about": ["sea", "moon"]},
 {"title": "Kites", "pages": 90, "lent": false, "about": ["wind"]},
 {"title": "Maps", "pages": 150, "about": ["sea", "land"]}],
 "readers": [{"name": "Bo", "since": "2021-03-01"}, {"name": "Cy", "since": "2023-05-01"}]}"""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("how many books are in shelf.json?", "**3**"),
        ("total pages in shelf.json", "**450**"),
        ("which book has the most pages?", "Tides"),
        ("shelf.json에서 페이지가 가장 적은 책은?", "Kites"),
        ("How many books are about sea?", "**2**"),
        ("how many readers are in shelf.json?", "**2**"),
    ],
)
def test_the_lists_of_records_in_a_json_object_are_tables(tmp_path: Path, question: str, answer: str) -> None:
    written(tmp_path, "shelf.json", SHELF)
    assert answer in brief(asked(tmp_path, question), "en").answer


def test_half_a_character_in_a_json_object_stops_nothing(tmp_path: Path) -> None:
    written(tmp_path, "odd.json", '{"rows": [{"n": "x\\ud800", "v": 1}, {"n": "y", "v": 2}, {"\\udfff": 3}]}')
    written(tmp_path, "cars.json", CARS)
    assert first(asked(tmp_path, "total v in odd.json")) == 3
    assert first(asked(tmp_path, "how many cars are in cars.json?")) == CARS.count("{")


def test_what_a_json_object_has_beside_its_lists_is_no_table(tmp_path: Path) -> None:
    written(tmp_path, "shelf.json", SHELF)
    assert about("how many reading_days are there by shelf.json?", tmp_path) is About.TEXT
    assert about("how many lending_days are there by shelf.json?", tmp_path) is About.TEXT


def test_of_a_broken_json_object_it_is_said_that_it_can_t_be_read(tmp_path: Path) -> None:
    written(tmp_path, "broken.json", '{"books": [{"title": "Tides"}, {"title": ')
    written(tmp_path, "cars.json", CARS)
    assert first(asked(tmp_path, "how many cars are in cars.json?")) == CARS.count("{")
    told = brief(asked(tmp_path, "how many books are in broken.json?"), "en")
    assert (told.answer, told.absent[0].count("can't be read")) == ("", 1)


def test_json_that_is_no_list_of_records_is_no_table(tmp_path: Path) -> None:
    written(tmp_path, "settings.json", '{"name": "x", "width": 3}')
    written(tmp_path, "numbers.json", "[1, 2, 3]")
    assert table_files(tmp_path) == ()
    assert about("what does settings.json say about width?", written(tmp_path, "cars.json", CARS)) is About.TEXT


def test_what_was_sold_is_the_amount_of_the_table_of_sales(tmp_path: Path) -> None:
    written(
        tmp_path, "invoices.csv", "invoice,customer,due_date,total\n7,Hanbit,2025-06-30,1200\n8,Orion,2025-05-15,950\n"
    )
    written(tmp_path, "sales.csv", "date,product,quantity,amount\n2025-01-03,Drill,2,240\n2025-01-09,Saw,1,80.5\n")
    assert first(asked(tmp_path, "How much did we sell in total?")) == 320.5


def test_a_name_of_two_syllables_is_found_by_its_sound(tmp_path: Path) -> None:
    written(tmp_path, "planes.csv", "model,maker,seats\n747,Boeing,467\nA320,Airbus,180\n787,Boeing,296\n")
    assert first(asked(tmp_path, "보잉 비행기는 몇 대야?")) == 2


TICKETS = """seller,kind,tickets,amount
Ann,adult,4,48.00
Ben,child,2,12.00
Ann,child,3,18.00
TOTAL,,9,78.00
"""


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many tickets did Ann sell?", 7),
        ("How many tickets did we sell in total?", 9),
        ("How much did Ann take?", 66),
        ("How many child tickets did we sell?", 5),
    ],
)
def test_what_a_column_holds_the_number_of_is_summed_up_without_the_row_of_totals(
    tmp_path: Path, question: str, expected: float
) -> None:
    written(tmp_path, "tickets sold.csv", TICKETS)
    assert first(asked(tmp_path, question)) == expected


def test_totals_that_are_a_value_among_others_stay(tmp_path: Path) -> None:
    rows = "year,sex,people\n2020,Total,10\n2020,Female,6\n2020,Male,4\n2021,Total,12\n2021,Female,7\n2021,Male,5\n"
    written(tmp_path, "people.csv", rows)
    assert first(asked(tmp_path, "number of rows in people.csv")) == 6


def test_the_other_word_of_a_question_says_which_of_two_columns(tmp_path: Path) -> None:
    written(tmp_path, "shows.csv", "show,seats_total,seats_sold\nHamlet,100,80\nTosca,120,90\n")
    assert first(asked(tmp_path, "total seats sold in shows.csv")) == 170
    written(tmp_path, "subs.csv", "member,sub due,sub received\nAnn,36,36\nBen,36,18\n")
    assert asked(tmp_path, "how much in subs altogether, subs.csv").result is None
    assert first(asked(tmp_path, "how much is owed in subs altogether, subs.csv")) == 18


def test_what_asks_names_no_column(tmp_path: Path) -> None:
    written(
        tmp_path, "spending.csv", "What,For,Cost\ncostumes,Hamlet,£80.00\nlights,Hamlet,£45.50\ncostumes,Tosca,£20\n"
    )
    assert first(asked(tmp_path, "What did we spend on costumes?")) == 100


def test_a_name_with_a_title_or_without_the_family_decides_the_table(tmp_path: Path) -> None:
    written(tmp_path, "지출.csv", "날짜,항목,금액,결제자\n2026-03-01,간식,10000,김태호\n2026-03-05,교통,30000,김태호\n")
    written(tmp_path, "회비.csv", "이름,금액\n이하늘,25000\n박지은,25000\n")
    answer = asked(tmp_path, "김태호 단장이 결제한 돈 평균")
    assert answer.mapped is not None and answer.mapped.query.source == "지출.csv" and first(answer) == 20000
    assert first(asked(tmp_path, "하늘이 회비 얼마 냈어?")) == "이하늘"


def test_a_comparison_with_a_particle_after_the_number_is_read(tmp_path: Path) -> None:
    written(tmp_path, "출석.csv", "이름,출석수\n김소연,2\n박지은,5\n이하늘,1\n")
    answer = asked(tmp_path, "출석수가 3보다 적은 사람")
    assert answer.result is not None and {row[0] for row in answer.result.rows} == {"김소연", "이하늘"}


def test_the_newest_version_of_a_table_answers_and_the_others_are_named(tmp_path: Path) -> None:
    written(tmp_path, "members 2025.csv", "member,due\nAnn,36\nBen,36\nCy,20\n")
    written(tmp_path, "members 2024 (old).csv", "member,due\nAnn,32\nBen,32\n")
    answer = asked(tmp_path, "how many members do we have?")
    assert first(answer) == 3
    assert "`members 2024 (old).csv`" in brief(answer, "en").answer
    assert first(asked(tmp_path, "how many members did we have in 2024?")) == 2


def test_a_change_goes_from_the_table_of_one_month_to_that_of_another(tmp_path: Path) -> None:
    written(tmp_path, "매출_9월.csv", "날짜,일매출\n2026.09.01,100000\n2026.09.02,200000\n합계,300000\n")
    written(tmp_path, "매출_10월.csv", "날짜,일매출\n2026.10.01,150000\n2026.10.02,250000\n합계,400000\n")
    answer = brief(asked(tmp_path, "매출이 9월보다 10월에 얼마나 늘었어?"), "ko").answer
    assert "**100,000 증가**" in answer and "9: 300,000 → 10: 400,000" in answer


def test_who_has_not_paid_are_those_of_whom_nothing_is_written(tmp_path: Path) -> None:
    written(tmp_path, "회비.csv", "월,이름,납부일,금액\n11월,김소연,2026-11-02,30000\n11월,이하늘,,\n10월,박지은,,\n")
    answer = asked(tmp_path, "11월 회비 아직 안낸 사람 누구야")
    assert answer.result is not None and [row[0] for row in answer.result.rows] == ["이하늘"]


def test_days_of_a_column_are_read_in_one_order(tmp_path: Path) -> None:
    written(tmp_path, "visits.csv", "day,visitors\n01/02/2024,5\n01/25/2024,7\n02/03/2024,9\n")
    assert first(asked(tmp_path, "total visitors in January 2024 in visits.csv")) == 12


def test_how_long_something_takes_is_told_in_minutes_too(tmp_path: Path) -> None:
    written(
        tmp_path,
        "songs.json",
        '[{"title": "a", "length": "4:20", "part": 1}, {"title": "b", "length": "3:10", "part": 1}]',
    )
    assert "7분 30초" in brief(asked(tmp_path, "1부 곡들 다 부르면 몇 분쯤 돼? songs.json"), "ko").answer


SPENDING = """Date,What,From,Sort,Amount,VAT back
02-May-25,Groceries,Hanlon,Food,€100.00,
06-Jun-25,Groceries,Hanlon,Food,€231.10,
04-Jul-25,Groceries,Hanlon,Food,€297.80,
02-Aug-25,Groceries,Hanlon,Food,€318.45,
03-Aug-25,Ewe nuts,Co-op,Feed,€84.00,€38.34
"""
STAYS = "Name,Arrive,Total\nAnn,2025-06-03,300\nBen,2025-07-03,200\nCy,2025-08-09,100\n"


@pytest.mark.parametrize("until", ["to end of august", "until the end of august", "to august"])
def test_days_with_a_short_year_are_dates_and_a_time_goes_to_the_end_of_a_month(tmp_path: Path, until: str) -> None:
    written(written(tmp_path, "spending.csv", SPENDING), "stays.csv", STAYS)
    assert first(asked(tmp_path, f"how much went to hanlon from june {until}?")) == pytest.approx(847.35)


def test_a_table_does_not_answer_about_what_is_a_value_of_another(tmp_path: Path) -> None:
    written(written(tmp_path, "spending.csv", "From,Amount\nHanlon,80\nCo-op,20\n"), "stays.csv", STAYS)
    answer = asked(tmp_path, "how much went to hanlon from june to august?")
    assert answer.result is None or first(answer) == 80


def test_money_that_went_somewhere_is_an_amount(tmp_path: Path) -> None:
    rows = "2026.07.02,펌프,6150000,동아설비\n2026.09.23,오수관,3970000,동아설비\n2026.09.24,등,900,한빛\n"
    written(tmp_path, "집행내역.csv", f"집행일,내용,금액,업체\n{rows}")
    assert first(asked(tmp_path, "동아설비에 나간 돈 다 얼마야?")) == 10_120_000


def test_what_is_asked_for_in_all_is_a_sum_whatever_its_column_is_called(tmp_path: Path) -> None:
    written(
        tmp_path,
        "산행.csv",
        "날짜,산,버스비\n2025-03-02,설악산,620000\n2025-05-04,소백산,550000\n2024-05-04,지리산,1\n",
    )
    assert first(asked(tmp_path, "2025년에 버스비로 모두 얼마 썼어요?")) == 1_170_000


@pytest.mark.parametrize(
    ("question", "expected"),
    [("How much do we still have to pay for transport?", 1_950), ("How much is still to be paid for lodging?", 2_340)],
)
def test_what_is_still_to_pay_is_not_what_is_paid(tmp_path: Path, question: str, expected: int) -> None:
    rows = "coach,transport,1950,no\nferry,transport,1610,yes\nhostel,lodging,2340,no\ndeposit,lodging,600,yes\n"
    written(tmp_path, "bills.csv", f"item,category,amount_eur,paid\n{rows}")
    assert first(asked(tmp_path, question)) == expected


def test_a_word_that_only_means_a_column_counts_no_rows(tmp_path: Path) -> None:
    written(tmp_path, "회원명단.csv", "이름,입회일,연락처\n김정호,2018-03-10,010\n이수진,2019-05-18,011\n")
    answer = asked(tmp_path, "회원 제명은 언제 할 수 있나요?")
    assert answer.result is None and about("회원 제명은 언제 할 수 있나요?", tmp_path) is About.TEXT


def test_a_question_that_ends_in_the_past_is_the_same(tmp_path: Path) -> None:
    written(tmp_path, "산행비용.csv", "산,참가인원,버스비\n비슬산,28,550000\n월출산,25,600000\n")
    found = [asked(tmp_path, f"비슬산 참가인원은 몇 명{end}?").result for end in ("이었어", "이었나요", "이야")]
    assert all(result is not None and result.rows == (("비슬산", 28),) for result in found)


REPAIRS = """날짜,내용,구분,금액
2026-02-03,보일러 수리 3층,설비,310000
2026-03-11,보일러 부품,설비,92000
2026-03-19,현관 전구,소모품,18000
"""
LOANS_MAY = """borrower,book,fee,paid,paid_on
Ines Roth,Atlas,4.00,4.00,2026-05-02
Otto Lang,Maps,4.00,0,
Pia Weiss,Stars,2.50,2.50,2026-05-19
Karl Behr,Rocks,2.50,0,
"""
STALL = """day,fruit,qty,unit_price,revenue
2026-08-01,Plum,30,0.50,15.00
2026-08-01,Melon,9,4.00,36.00
2026-08-02,Plum,55,0.40,22.00
2026-08-02,Melon,4,4.00,16.00
2026-08-03,Plum,20,1.50,30.00
"""


@pytest.mark.parametrize("question", ["보일러 위약금은 얼마야?", "올해 적립금은 얼마야?", "예치금이 얼마지?"])
def test_a_word_that_is_only_near_a_column_in_meaning_is_no_sum_of_its_rows(tmp_path: Path, question: str) -> None:
    written(tmp_path, "수리내역.csv", REPAIRS)
    assert about(question, tmp_path) is About.TEXT


@pytest.mark.parametrize("question", ["올해 적립금은 얼마야?", "올해 적립금이 얼마지?"])
def test_a_whole_question_after_another_keeps_its_own_noun(tmp_path: Path, question: str) -> None:
    written(tmp_path, "수리내역.csv", REPAIRS)
    first = "올해 설비에 모두 얼마 썼어?"
    before = asked(tmp_path, first).mapped
    assert before is not None
    assert continues("소모품은?", [first], tmp_path)
    assert asked(tmp_path, question, before.query).result is None


@pytest.mark.parametrize(
    "question", ["who hasn't paid the May fee?", "5월에 돈을 안 낸 사람은 누구야?", "5월 미납자 명단"]
)
def test_who_paid_nothing_has_not_paid_though_a_figure_stands_there(tmp_path: Path, question: str) -> None:
    answer = asked(written(tmp_path, "loans_2026-05.csv", LOANS_MAY), question)
    assert answer.result is not None
    assert {row[0] for row in answer.result.rows} == {"Otto Lang", "Karl Behr"}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("who paid after 2 May?", {"Pia Weiss"}),
        ("who paid on May 2nd?", {"Ines Roth"}),
        ("5월 19일까지 낸 사람은?", {"Ines Roth", "Pia Weiss"}),
        ("5월 3일 이후에 낸 사람은 누구야?", {"Pia Weiss"}),
        ("3일 넘겨서 낸 사람은?", {"Pia Weiss"}),
        ("2일까지 낸 사람은 누구야?", {"Ines Roth"}),
    ],
)
def test_a_day_without_its_year_is_a_condition(tmp_path: Path, question: str, expected: set[str]) -> None:
    answer = asked(written(tmp_path, "loans_2026-05.csv", LOANS_MAY), question)
    assert answer.result is not None
    at = [name in ("borrower",) for name in answer.result.names].index(True)
    assert {row[at] for row in answer.result.rows} == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("On which day did we sell the most plums, and how many?", ["2026-08-02", "55"]),
        ("which fruit sold the most pieces on 3 August?", ["Plum", "20"]),
        ("on which day were the most melons sold?", ["2026-08-01", "9"]),
    ],
)
def test_the_most_that_was_sold_is_the_most_pieces(tmp_path: Path, question: str, expected: list[str]) -> None:
    answer = asked(written(tmp_path, "stall.csv", STALL), question)
    assert answer.result is not None
    assert [str(cell).removesuffix(".0")[:10] for cell in answer.result.rows[0]] == expected


def test_how_many_each_are_counted(tmp_path: Path) -> None:
    written(tmp_path, "명부.csv", "이름,학급,키\n가온,해,150\n나래,달,141\n다솜,해,139\n")
    answer = asked(tmp_path, "학급별로 학생이 몇 명씩이야?")
    assert answer.result is not None
    assert [(row[0], int(row[1])) for row in answer.result.rows] == [("해", 2), ("달", 1)]


LENT = "도구,보관칸,수량,벌금\n톱,지하실,2,3000\n망치,다락방,3,9000\n대패,다락방,1,12000\n"
TEAM = "player,team,joined,games,cards\nAnn,Red,2019-02-03,4,2\nBo,Blue,2021-01-01,9,1\nCy,Red,2022-05-01,2,0\n"


@pytest.mark.parametrize(
    ("content", "question", "expected"),
    [
        (LENT, "다락방에 있는 물건 목록", {"망치", "대패"}),
        (LENT, "다락방에 뭐가 있어?", {"망치", "대패"}),
        (LENT, "다락방에 있는 물건을 모두 보여줘", {"망치", "대패"}),
        (TEAM, "which people are in Red?", {"Ann", "Cy"}),
    ],
)
def test_which_rows_there_are_is_a_list_not_a_number(
    tmp_path: Path, content: str, question: str, expected: set[str]
) -> None:
    answer = asked(written(tmp_path, "물건.csv", content), question)
    assert answer.result is not None, answer
    assert {row[0] for row in answer.result.rows} == expected


def test_a_list_that_is_cut_says_how_many_there_are(tmp_path: Path) -> None:
    rows = "".join(f"{n},{'north' if n % 2 else 'south'},{n}\n" for n in range(200))
    written(tmp_path, "wells.csv", f"depth,side,flow\n{rows}")
    told = brief(asked(tmp_path, "rows of the north side in wells.csv"), "en").answer
    assert told.startswith("**100** rows (side = north), the first 15 [`wells.csv`, query over 200 rows]:")


@pytest.mark.parametrize("question", ["다락방 상한을 넘긴 물건이 있어?", "did Ann exceed the limit of visits?"])
def test_a_bound_that_no_query_has_is_not_dropped(tmp_path: Path, question: str) -> None:
    written(tmp_path, "물건.csv", LENT)
    assert asked(written(tmp_path, "visits.csv", "player,visits\nAnn,3\nBo,9\n"), question).result is None
