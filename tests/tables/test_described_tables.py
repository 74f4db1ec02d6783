"""Tables that are chosen by what documents beside them say, and words that only say which table is meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_tui.tables.ask import read
from hitl_tui.tables.files import table_files
from tests.tables.test_columns_and_values import folder, said

FLATS = "price,area,brick\n" + "".join(f"{90000 + 1000 * n},{('East', 'West')[n % 2]},{n % 2}\n" for n in range(12))
FILMS = "price,seats,hall\n" + "".join(f"{8 + n % 5},{40 + n},{('Blue', 'Red')[n % 2]}\n" for n in range(12))
TRIAL = "person,vitamin,diabetes,age\n" + "".join(f"{n},{n % 2},{int(n % 3 == 0)},{30 + n}\n" for n in range(30))
WAGES = "salary,rank,years\n" + "".join(f"{50000 + 717 * n},{('Prof', 'Asst')[n % 2]},{n % 9}\n" for n in range(40))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t1_description.md", "## House prices\n\nPrices of single-family houses that were sold in Springfield.\n"),
        (
            "README.md",
            "# Files\n\n- t1.csv: prices of houses that were sold in Springfield\n- t2.csv: cinema tickets\n",
        ),
    ],
)
def test_a_table_is_chosen_by_what_is_said_of_it_beside_it(tmp_path: Path, name: str, text: str) -> None:
    question = "스프링필드 집값 자료에서 평균 가격은 얼마야?"
    folder(tmp_path, t1=FLATS, t2=FILMS)
    (tmp_path / name).write_text(text, encoding="utf-8")
    answer = read(question, table_files(tmp_path))
    assert answer.mapped is not None
    assert answer.mapped.table.stem == "t1"


def test_what_a_survey_is_of_chooses_no_rows(tmp_path: Path) -> None:
    question = "in the vitamin survey, how many of the people are diabetic?"
    assert "**10** (diabetes = 1)" in said(tmp_path, question, vitamin_survey_2=TRIAL)


def test_a_figure_that_the_table_is_called_by_numbers_no_rows(tmp_path: Path) -> None:
    question = "교수 급여 자료에서 Prof 평균 급여는 얼마야?"
    assert "**63,623**" in said(tmp_path, question, salary=WAGES)
