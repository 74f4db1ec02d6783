"""Numbers that are of a column by their unit, several of one column, and values that are short for what is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_tui.tables.ask import Answer, run
from hitl_tui.tables.files import table_files
from hitl_tui.tables.mapping import Reader
from hitl_tui.tables.profile import profiles
from tests.tables.test_table_questions import written

SNACKS = "snack,maker,salt,fat,shelf\nCrisps,K,9,12,1\nNuts,G,2,30,2\nBars,P,1,12,2\nRings,K,5,20,3\nPuffs,K,7,4,3\n"
STOVES = "id,income,chosen\n" + "".join(
    f"{n},{n % 4},{stove}\n" for n, stove in enumerate(("hp", "gc", "hp", "er", "gc", "hp"), 1)
)
CREW = "name,status,age,hours\nAda,PT,31,4\nBo,FT,44,8\nCy,PT,65,3\nDi,CT,31,9\nEm,FT,65,7\n"
MILLS = "mill,blade_length,hub_heights\nA,60,80; 90\nB,75,75; 90\nC,90,75; 80; 60\nD,30,60; 75\n"
YEARS = "Year,Norland,Suland\n" + "".join(f"{year},{year - 1900},{2 * year - 3900}\n" for year in range(1990, 2001))
LANDS = "land,area,taxes\nDistrict of Umbria,5,9\nOslo,6,8\nUnited Isles,7,7\nBergen,8,6\n"
STEEL = "plant,output in million tons\nA,2.5\nB,4.5\nC,7\n"


def rows(at: Path, name: str, content: str, question: str) -> list[tuple[object, ...]]:
    """Return what the best reading of a question in one table gives."""
    written(at, name, content)
    (table,) = profiles(table_files(at)).tables
    best, *_ = Reader(question, table, True, by_meaning=True).read()
    answer = run(Answer(best))
    assert answer.result is not None, best
    return list(answer.result.rows)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how many snacks have 9 grams of salt or more?", 1),
        ("how many snacks with 12 grams of fat are there?", 2),
        ("how many of the snacks are Kellogg's?", 3),
    ],
)
def test_a_number_is_of_what_follows_its_unit(tmp_path: Path, question: str, expected: int) -> None:
    assert rows(tmp_path, "snacks.csv", SNACKS, question)[0][0] == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how many of the crew are part-timers?", 2),
        ("how many of the crew are 65 years old?", 2),
        ("65세인 사람의 hours 합계는?", 10),
        ("31세인 사람은 몇 명이야?", 2),
    ],
)
def test_ages_and_codes_say_who_is_meant(tmp_path: Path, question: str, expected: int) -> None:
    assert rows(tmp_path, "crew.csv", CREW, question)[0][0] == expected


def test_a_code_is_made_of_the_first_letters_of_words(tmp_path: Path) -> None:
    assert rows(tmp_path, "stoves.csv", STOVES, "how many households took a heat pump?")[0][0] == 3


def test_a_number_with_a_bound_is_no_text(tmp_path: Path) -> None:
    found = rows(tmp_path, "mills.csv", MILLS, "which mills have a blade of 75 m or more?")
    assert {row[0] for row in found} == {"B", "C"}


@pytest.mark.parametrize("question", ["Norland은 1992년이랑 1998년에 각각 얼마였어?", "Norland in 1992 and in 1998?"])
def test_of_two_years_either_is_meant(tmp_path: Path, question: str) -> None:
    found = rows(tmp_path, "years.csv", YEARS, question)
    assert {92.0, 98.0} <= {value for row in found for value in row}


def test_capitals_are_the_initials_of_a_value(tmp_path: Path) -> None:
    lowest = rows(tmp_path, "lands.csv", LANDS, "which land has the smallest area, leaving out the D.U.?")
    assert "Oslo" in lowest[0]
    found = rows(tmp_path, "lands.csv", LANDS, "what are the taxes of the D.U.?")
    assert 9.0 in found[0]


def test_a_header_says_in_millions(tmp_path: Path) -> None:
    assert rows(tmp_path, "steel.csv", STEEL, "how many plants have an output over 4 million tons?")[0][0] == 2


SUN = "YEAR,SUNACTIVITY,TOTEMP\n1956,141,7\n1957,190,9\n1958,184,8\n"
BERTHS = "name,pclass,survived\nAnn,1,1\nBob,1,0\nCy,2,1\nDi,3,0\nEd,1,1\n"
STAFF = "name,education,wage\n" + "".join(
    f"P{n},{degree},{wage}\n"
    for n, (degree, wage) in enumerate(
        (
            ("1. None", 60),
            ("4. College Grad", 100),
            ("5. Advanced Degree", 150),
            ("1. None", 70),
            ("4. College Grad", 90),
        )
    )
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [("in which year was the highest activity of the sun?", 1957.0), ("what was the employment in 1958?", 8.0)],
)
def test_capitals_are_written_together_of_two_words(tmp_path: Path, question: str, expected: float) -> None:
    assert expected in rows(tmp_path, "sunspots.csv", SUN, question)[0]


def test_two_words_with_a_hyphen_are_two(tmp_path: Path) -> None:
    assert rows(tmp_path, "berths.csv", BERTHS, "how many first-class passengers survived?")[0][0] == 2


def test_a_value_is_said_without_the_number_before_it(tmp_path: Path) -> None:
    assert rows(tmp_path, "staff.csv", STAFF, "what is the average wage with an advanced degree?")[0][0] == 150.0


def test_a_word_and_a_number_are_a_name_together(tmp_path: Path) -> None:
    written(tmp_path, "prices.csv", "day,SP500,KO\n2020-03-16,2386,45\n2020-03-17,2529,46\n")
    (table,) = profiles(table_files(tmp_path)).tables
    best, *_ = Reader("what was the highest S&P 500?", table, False, by_meaning=True).read()
    assert "SP500" in best.query.names and not best.unknown
