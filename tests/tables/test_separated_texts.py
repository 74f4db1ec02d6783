"""Texts that are tables: their lines are parted by tabs or bars."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_tui.tables.files import table_files
from tests.tables.test_table_questions import asked

RAIN = ["Day\tYear\tRain(mm)", *(f"{day}\t{year}\t{day + year - 2000}.5" for year in (2000, 2001) for day in (1, 2, 3))]


@pytest.mark.parametrize("name", ["rain.txt", "rain.dat"])
@pytest.mark.parametrize("before", ["", "%% Rain of two years %%\n", "# rain\n# of two years\n"])
def test_a_text_of_lines_with_the_same_separators_is_a_table(tmp_path: Path, name: str, before: str) -> None:
    (tmp_path / name).write_text(before + "\n".join(RAIN) + "\n")
    answer = asked(tmp_path, f"what is the total rain in 2001 in {name}?")
    assert answer.result is not None, answer
    assert answer.result.rows[0][0] == 10.5


def test_bars_part_columns_too(tmp_path: Path) -> None:
    (tmp_path / "stops.txt").write_text("\n".join(RAIN).replace("\t", "|") + "\n")
    answer = asked(tmp_path, "what is the total rain in 2000 in stops.txt?")
    assert answer.result is not None, answer
    assert answer.result.rows[0][0] == 7.5


@pytest.mark.parametrize(
    "text",
    [
        "Dear all,\nthe fair is on Sunday.\nPlease bring cake.\nThe hall opens at nine.\nSee you there.\nAda\n",
        "one\ttwo\nthree\n\nfour\tfive\tsix\nseven\neight\tnine\n",
        "a\tb\nc\td\n",
    ],
)
def test_prose_and_a_few_lines_are_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "note.txt").write_text(text)
    assert table_files(tmp_path) == ()


def test_a_text_that_has_changed_is_looked_at_anew(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("nothing yet\n")
    assert table_files(tmp_path) == ()
    (tmp_path / "log.txt").write_text("\n".join(RAIN) + "\n")
    assert [file.path for file in table_files(tmp_path)] == ["log.txt"]


@pytest.mark.parametrize(("name", "between"), [("cover.csv", ","), ("cover.txt", "\t")])
def test_a_header_that_begins_with_a_sign_of_per_cent_is_none_of_the_comments(
    tmp_path: Path, name: str, between: str
) -> None:
    rows = "\n".join(f"{n},{n + 10}" for n in range(1, 7)).replace(",", between)
    (tmp_path / name).write_text(f"%cover{between}depth\n{rows}\n")
    answer = asked(tmp_path, f"what is the average depth in {name}?")
    assert answer.result is not None, answer
    assert answer.result.rows[0] == (13.5, 6)
