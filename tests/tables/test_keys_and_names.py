"""What keys of other tables say, what rows are told apart by, and figures that nobody named."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_tui.tables.ask import read
from hitl_tui.tables.files import table_files
from hitl_tui.tables.profile import profiles
from tests.tables.test_columns_and_values import said

FORMS = {
    "kinds": "kind_id,name\n1,Vase\n2,Bowl\n3,Plate\n",
    "glazes": "glaze_id,name\n1,Celadon\n2,Tenmoku\n",
    "pots": "pot_id,kind,glaze,name,minutes,potter_id\n"
    + "".join(
        f"{n},{1 + n % 3 if n % 5 else 1},{1 + n % 2},Pot {n},{30 + n * 7 % 50},Q{1 + n % 4}\n" for n in range(1, 31)
    ),
    "potters": "potter_id,name,town\nQ1,Ann Fry,Ulm\nQ2,Bo Kern,Bonn\nQ3,Cy Lamm,Ulm\nQ4,Di Moss,Kiel\n",
}
TERMS = (
    "name,start,end,party\nAdler,2001-01-20,2009-01-20,Red\nBirch,2009-01-20,2010-06-01,Blue\n"
    "Croft,2010-06-01,2015-01-20,Red\n"
)
LANDS = "county,state,poptotal\n" + "".join(
    f"{name},{state},{people}\n"
    for name, state, people in (
        ("ADAMS", "IL", 10), ("BOONE", "IL", 20), ("OHIO", "IN", 5), ("CLARK", "IN", 30), ("ADAMS", "OH", 40),
        ("ALLEN", "OH", 50), ("LOGAN", "OH", 60), ("ADAMS", "IN", 7), ("ERIE", "OH", 8), ("COOK", "IL", 9),
    )
)  # fmt: skip
HOMES = "city,year,month,sales,median\n" + "".join(
    f"{city},{year},{month},{month * 3},{90_000 + month}\n"
    for city in ("Bonn", "Ulm")
    for year in (2013, 2014)
    for month in range(1, 13)
)
COURSES = "강좌코드,강좌명,담당강사,정원\nC1,요가 기초,T1,20\nC2,수채화,,15\nC3,기타 합주,T2,12\n"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What kind has the most pots?", "Vase: **14**"),
        ("which glaze is on the most pots?", "Celadon: **15**"),
        ("what's the longest pot, in minutes?", "Pot 7"),
        ("which potter made Pot 5?", "Bo Kern"),
    ],
)
def test_a_key_of_another_table_is_told_by_its_name_and_is_no_figure(
    tmp_path: Path, question: str, expected: str
) -> None:
    assert expected in said(tmp_path, question, **FORMS)


@pytest.mark.parametrize(
    ("question", "tables", "expected"),
    [
        ("which name had the shortest term?", {"terms": TERMS}, "Birch"),
        ("가장 오래 있었던 사람은?", {"terms": TERMS}, "Adler"),
        ("which state has the most counties?", {"lands": LANDS}, "OH: **4**"),
        ("오하이오주 카운티 인구 다 더하면?", {"lands": LANDS}, "**158**"),
        ("How many homes were sold in Ulm in 2014?", {"homes": HOMES}, "**234**"),
        ("담당 강사가 안 정해진 강좌는?", {"강좌": COURSES}, "수채화"),
    ],
)
def test_what_rows_are_is_known(tmp_path: Path, question: str, tables: dict[str, str], expected: str) -> None:
    assert expected in said(tmp_path, question, **tables)


@pytest.mark.parametrize("question", ["강사 중에 나이 제일 많은 사람은?", "which pot is the heaviest?"])
def test_a_figure_that_no_table_has_is_not_taken_for_another(tmp_path: Path, question: str) -> None:
    paid = {"강사": "강사명,시급\n김가온,30000\n박나래,45000\n"}
    assert said(tmp_path, question, **paid, **FORMS) == ""


SLEEP = "name,vore,sleep_total,sleep_rem,sleep_cycle\n" + "".join(
    f"{name},{vore},{total},{total / 5},{0.1 * n}\n"
    for n, (name, vore, total) in enumerate(
        (("Cow", "herbi", 4.0), ("Little brown bat", "insecti", 19.9), ("Dog", "carni", 10.1), ("Horse", "herbi", 2.9))
    )
)
SIGNED = "신청번호,회원번호,신청일\n" + "".join(f"N{n},M{n % 4},2024-0{1 + n % 9}-03\n" for n in range(1, 21))
MEMBERS = "회원번호,이름,성별\nM0,김하나,여\nM1,이둘,남\nM2,박세나,여\nM3,최네오,남\n"


def test_a_total_goes_before_its_parts(tmp_path: Path) -> None:
    (tmp_path / "sleep.csv").write_text(SLEEP)
    assert "Little brown bat" in said(tmp_path, "what mammal sleeps the most?")


def test_a_letter_of_a_joined_table_is_the_sex_that_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "수강신청.csv").write_text(SIGNED, encoding="utf-8")
    (tmp_path / "회원명부.csv").write_text(MEMBERS, encoding="utf-8")
    assert "**10**" in said(tmp_path, "2024년에 여자 회원들이 신청한 건 몇 건이야?")


def test_where_rows_are_asked_for_and_no_row_is_nothing_is_told_as_sure(tmp_path: Path) -> None:
    (tmp_path / "midwest.csv").write_text(LANDS)
    assert "LOGAN" in said(tmp_path, "인구가 가장 많은 카운티는?") + said(
        tmp_path, "which county has the highest poptotal?"
    )
    assert read("캘리포니아에서 인구가 가장 많은 카운티는?", table_files(tmp_path)).why
    assert read("which county in California has the highest poptotal?", table_files(tmp_path)).why


def test_no_row_is_chosen_by_a_word_of_every_day(tmp_path: Path) -> None:
    (tmp_path / "songs.csv").write_text(
        "song,genre,sold\nWe have rain,Metal,3\nThe sun,Metal,4\nHave no fear,Rock,5\nA day,Rock,6\n"
    )
    assert "**7**" in said(tmp_path, "How many Metal songs have been sold so far?")


SURVEY = "year,marital,tvhours\n" + "".join(
    f"{2012 + n % 2},{'Divorced' if n % 4 == 0 else 'Married'},{n % 5}\n" for n in range(40)
)
MODEL = (
    "hour,Time series of the lowest income in kWh based on modified data of the institute for a state of the art\n"
    + "".join(f"{n},{n * 1.5}\n" for n in range(24))
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("2013년 응답자들 TV 하루 평균 몇 시간 봐?", "**2**"),
        ("what percentage of everyone surveyed is divorced?", "**25%**"),
    ],
)
def test_two_letters_may_begin_a_name_and_everyone_is_each_row(tmp_path: Path, question: str, expected: str) -> None:
    (tmp_path / "survey.csv").write_text(SURVEY)
    assert expected in said(tmp_path, question)


def test_a_remark_in_a_header_is_no_name(tmp_path: Path) -> None:
    (tmp_path / "params.csv").write_text(MODEL)
    (table,) = profiles(table_files(tmp_path)).tables
    assert max(len(column.name) for column in table.columns) == 80
    assert "24" in said(tmp_path, "how many hours are in params.csv?")
