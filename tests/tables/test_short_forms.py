"""Short forms in names of columns and in values, and names in the other language."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from hitl_tui.tables.short_forms import senses_of, short_forms_of
from tests.tables.test_table_questions import asked, written

LOANS = """client,overdue,lfl,tensile_mpa,arm
Ada,yes,4.0,310,obs
Bo,no,5.5,280,trt
Cy,yes,2.1,450,obs
Di,no,7.5,120,trt
Eve,yes,1.3,200,obs
"""


def test_each_line_has_a_short_form_and_its_senses_in_both_languages() -> None:
    lines = resources.files("hitl_tui.tables").joinpath("short_forms.tsv").read_text(encoding="utf-8").splitlines()
    forms = [line.split("\t") for line in lines]
    assert all(len(parts) == 3 and all(part == part.strip() for part in parts) for parts in forms)
    assert [short for short, *_ in forms] == sorted({short for short, *_ in forms})
    assert all(short == short.lower() for short, *_ in forms)


def test_a_short_form_has_senses_and_a_sense_has_short_forms() -> None:
    assert "lower flammability limit" in senses_of("lfl")
    assert "lfl" in short_forms_of("lower flammability limit")
    assert senses_of("client") == ()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("연체 중인 사람은 몇 명이야?", 3),
        ("폭발하한 평균이 얼마야?", 4.08),
        ("관찰 환자는 몇 명이야?", 3),
    ],
)
def test_what_is_asked_in_korean_is_found_in_short_english(tmp_path: Path, question: str, expected: float) -> None:
    written(tmp_path, "loans.csv", LOANS)
    answer = asked(tmp_path, f"loans.csv에서 {question}")
    assert answer.result is not None, answer
    assert answer.result.rows[0][0] == pytest.approx(expected)
