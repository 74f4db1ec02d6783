"""Words that choose no rows: verbs, what is denied, abbreviations; and keys that are written with zeros before them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_tui.tables.ask import About, about, again, ask
from hitl_tui.tables.files import table_files
from hitl_tui.tables.query import TableQuery
from tests.tables.test_columns_and_values import folder, said

SHOPS = "code,name,market\n" + "".join(
    f"{n:06d},{name},{('North', 'South')[n % 2]}\n"
    for n, name in enumerate(
        ("Dock & Deal", "Harbour Deal Co", "Oak", "Elm Tree Books", "Pine", "Birch", "Ash", "Fir", "Yew", "Beech"),
        31201,
    )
)
PORTS = "port,zone\n" + "".join(
    f"P{n},{('FOREIGN', 'US', 'CANADIAN', 'FOREIGN', 'UNKNOWN')[n % 5]}\n" for n in range(20)
)
TOWNS = "code,mayor\n" + "".join(f"{n},M{n}\n" for n in range(31200, 31220, 19))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how many of the shops deal in the North market?", "**5** (market = North)"),
        ('how many shops have "deal" in their name?', "**2**"),
        ("how many shops are called Deal?", "**2**"),
        ("how many ports are foreign, i.e. neither US nor Canada (nor unknown)?", "**8**"),
        ("how many ports are neither US nor Canadian?", "**12**"),
    ],
)
def test_a_word_that_is_not_said_as_a_value_chooses_no_rows(tmp_path: Path, question: str, expected: str) -> None:
    assert expected in said(tmp_path, question, shops=SHOPS, ports=PORTS)


@pytest.mark.parametrize(
    ("question", "expected"), [("what is the name of shop 31203", "Oak"), ("코드 31203 이름이 뭐야?", "Oak")]
)
def test_a_key_is_the_same_without_the_zeros_before_it(tmp_path: Path, question: str, expected: str) -> None:
    assert expected in said(tmp_path, question, shops=SHOPS)


def test_where_a_table_has_no_such_row_the_next_one_is_asked(tmp_path: Path) -> None:
    folder(tmp_path, shops=SHOPS, towns=TOWNS)
    answer = ask("how many names does code 31205 have", table_files(tmp_path))
    assert answer.mapped is not None
    assert answer.mapped.table.stem == "shops"
    assert not answer.empty


def test_a_short_ending_of_parquet_is_a_table(tmp_path: Path) -> None:
    import duckdb

    duckdb.sql("SELECT 'Oak' AS shop, '0123' AS licence UNION ALL SELECT 'Elm', '0456'").write_parquet(
        str(tmp_path / "licences.pq")
    )
    assert about("what is the licence of Oak?", tmp_path) is About.TABLE


@pytest.mark.parametrize("years", ["2011-2013", "2011–2013", "2011~2013"])
def test_a_dash_between_years_is_no_minus(tmp_path: Path, years: str) -> None:
    rain = "year,rain\n" + "".join(f"{year},{year - 2000}\n" for year in range(2005, 2020))
    assert "**12**" in said(tmp_path, f"average rain over {years}", rain=rain)


def test_a_sum_of_each_column_has_no_row_for_the_total(tmp_path: Path) -> None:
    towns = ("Oak", "Elm", "Fir", "Ash", "Yew", "Bay", "Box")
    visits = "town,year,visitors,guides\n" + "".join(f"{one},{year},9,3\n" for one in towns for year in (2021, 2022))
    query = TableQuery("visits.csv", shape="groups", aggregate="sum", columns=("visitors", "guides"))
    answer = again(query, table_files(folder(tmp_path, visits=visits)))
    assert answer.result is not None
    assert answer.result.rows == (("visitors", 126), ("guides", 42))


def test_a_verb_whose_object_is_the_figure_limits_no_rows(tmp_path: Path) -> None:
    stays = "guest,week,nights\nAda,10,5\nBen,10,2\nCleo,11,9\n"
    assert "Ada" in said(tmp_path, "who booked the most nights in week 10?", stays=stays)
