"""Words that no letters link to a table, figures of two columns, and what goes on from a question in other words."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_tui.tables.ask import ask
from hitl_tui.tables.files import table_files
from tests.tables.test_table_questions import asked, written

CLINICS = """district,specialty,staff
North,Pediatrics,41
North,Dermatology,12
North,Neurosurgery,7
South,Pediatrics,19
South,Dermatology,30
South,Neurosurgery,3
"""
SKATERS = """skater,height_cm,weight_kg,veteran,jumps,spins
Ada,161,52,1,5,4
Bo,178,70,0,3,6
Cy,170,61,1,9,2
Di,166,58,0,4,5
"""


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("South에서 피부과 직원은 모두 몇 명이야?", 30),
        ("South에서 소아청소년과 직원은 모두 몇 명이야?", 19),
        ("how many staff are neurosurgeons in the North?", 7),
    ],
)
def test_a_word_means_a_value_in_another_language_or_form(tmp_path: Path, question: str, expected: int) -> None:
    written(tmp_path, "clinics.csv", CLINICS)
    answer = asked(tmp_path, question)
    assert answer.result is not None, answer
    assert answer.result.rows[0][0] == expected


def test_what_something_is_asked_for_each_of_is_a_column_by_its_meaning(tmp_path: Path) -> None:
    written(tmp_path, "marks.csv", "student,major,mark\nAnn,Law,80\nBen,Law,90\nCyd,Physics,70\nDot,Physics,72\n")
    answer = asked(tmp_path, "marks.csv에서 전공별로 평균 점수를 내면 어느 전공이 제일 높고 몇 점이야?")
    assert answer.result is not None, answer
    assert answer.result.rows[0][:2] == ("Law", 85.0)


def test_two_groups_of_a_yes_and_no_are_compared(tmp_path: Path) -> None:
    written(tmp_path, "skaters.csv", SKATERS)
    question = "In skaters.csv, by how much are average jumps of veterans higher than of those who aren't veterans?"
    answer = asked(tmp_path, question)
    assert answer.result is not None, answer
    assert dict(answer.result.rows) == {0.0: 3.5, 1.0: 7.0}


def test_two_columns_that_differ_in_a_word_are_summed_together(tmp_path: Path) -> None:
    written(tmp_path, "matches.csv", "round,HomeGoals,AwayGoals\n1,2,1\n2,0,3\n3,4,4\n")
    answer = asked(tmp_path, "how many home and away goals were there together in matches.csv?")
    assert answer.result is not None, answer
    assert answer.result.rows[0][0] == 14


def test_people_are_counted_where_rows_are_what_holds_them(tmp_path: Path) -> None:
    written(tmp_path, "lifeboats.csv", "boat,side,men,women,total\nA,Port,3,4,7\nB,Port,1,9,10\nC,Starboard,5,5,10\n")
    answer = asked(tmp_path, "how many people were in the lifeboats on the port side altogether?")
    assert answer.result is not None, answer
    assert answer.result.rows[0][0] == 17


def test_a_month_in_words_is_found_by_its_number(tmp_path: Path) -> None:
    written(tmp_path, "visits.csv", "month,park,visits\nAugust,Elm,9\nSeptember,Elm,4\nSeptember,Oak,6\n")
    answer = asked(tmp_path, "visits.csv에서 9월 visits 합계는?")
    assert answer.result is not None, answer
    assert answer.result.rows[0][0] == 10


def test_names_stand_for_a_column_called_by_their_initials(tmp_path: Path) -> None:
    written(tmp_path, "fish.csv", "name,sell_gl,sell_rv\nPike,100,700\nCarp,400,300\n")
    answer = asked(tmp_path, "which fish has the highest Round Valley price in fish.csv?")
    assert answer.result is not None, answer
    assert "Pike" in answer.result.rows[0]


def test_how_high_asks_for_no_value_of_that_name(tmp_path: Path) -> None:
    written(tmp_path, "plans.csv", "plan,risk,margin\nAlpha,High,3\nBeta,Low,9\nGamma,High,5\n")
    answer = asked(tmp_path, "Which plan in plans.csv has the best margin, and how high is it?")
    assert answer.result is not None, answer
    assert "Beta" in answer.result.rows[0]


def test_the_other_way_round_goes_on_from_a_question(tmp_path: Path) -> None:
    written(tmp_path, "skaters.csv", SKATERS)
    written(tmp_path, "clinics.csv", CLINICS)
    files = table_files(tmp_path)
    first = ask("who is the tallest skater in skaters.csv?", files)
    assert first.mapped is not None and first.result is not None and "Bo" in first.result.rows[0]
    second = ask("and the other way round, who is the smallest?", files, first.mapped.query)
    assert second.result is not None and "Ada" in second.result.rows[0]


def test_what_follows_names_a_value_and_no_column_that_has_its_name(tmp_path: Path) -> None:
    written(tmp_path, "sales.csv", "segment,shop,units,oslo_gap\npremium,Bergen,5,\npremium,Oslo,8,\nbasic,Oslo,3,2\n")
    files = table_files(tmp_path)
    first = ask("how many units of premium did Bergen take in total?", files)
    assert first.mapped is not None and first.result is not None
    second = ask("and Oslo?", files, first.mapped.query)
    assert second.result is not None and second.result.rows[0][0] == 8
