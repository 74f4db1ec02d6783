"""SQL that somebody wrote sees nothing but the tables that it names, and writes nothing."""

from __future__ import annotations

import resource
import time
from pathlib import Path

import pytest

from hitl_tui.core.errors import BadInput
from hitl_tui.tables.engine import TableError, seconds_for
from hitl_tui.tables.written_query import check_query, described, run_query, tables_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sales 2026.csv").write_text("city,when,amount\nSeoul,2026-01-05,1200\nBusan,2026-02-05,80\n")
    (tmp_path / "cities.csv").write_text("city,country\nSeoul,KR\nBusan,KR\n")
    (tmp_path / "secret.txt").write_text("nobody's business\n")
    return tmp_path


def test_several_tables_are_joined_by_the_names_they_are_told_by(folder: Path) -> None:
    assert list(tables_of(folder)) == ["cities", "sales_2026"]
    told = described(folder)
    assert '"sales_2026" (sales 2026.csv, 2 rows):' in told and '"when" date, years 2026 to 2026' in told
    sql = "SELECT c.country, sum(s.amount) AS total FROM sales_2026 s JOIN Cities c USING (city) GROUP BY ALL"
    check_query(sql, folder)
    written = run_query(sql, folder)
    assert written.result.rows == (("KR", "1280"),)
    assert {table.file.path for table in written.tables} == {"sales 2026.csv", "cities.csv"}


def test_names_within_a_query_are_its_own(folder: Path) -> None:
    big = "SELECT * FROM main.sales_2026 WHERE amount > 100"
    sql = f"WITH big AS ({big}) SELECT city, country FROM big NATURAL JOIN cities"
    check_query(sql, folder)
    assert run_query(sql, folder).result.rows == (("Seoul", "KR"),)


@pytest.mark.parametrize(
    "sql",
    [
        "COPY cities TO '{folder}/cities.csv'",
        "COPY (SELECT 1) TO '{folder}/new.csv'",
        "CREATE TABLE x AS SELECT 1",
        "INSERT INTO cities VALUES ('Jeju', 'KR')",
        "ATTACH '{folder}/x.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "PRAGMA database_list",
        "EXPORT DATABASE '{folder}/all'",
        "SELECT 1; DROP TABLE cities",
        "EXPLAIN ANALYZE SELECT 1",
        "CALL pragma_version()",
        "",
    ],
)
def test_whatever_is_not_one_query_is_refused(folder: Path, sql: str) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for ask in (check_query, run_query):
        with pytest.raises(BadInput):
            ask(sql.format(folder=folder), folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('{folder}/secret.txt')",
        "SELECT * FROM read_csv('{folder}/cities.csv')",
        "SELECT * FROM '{folder}/cities.csv'",
        "SELECT * FROM glob('{folder}/*')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM read_csv('http://127.0.0.1:9/x.csv')",
        "SELECT s.* FROM sales_2026 s, read_text('{folder}/secret.txt')",
        "SELECT getenv('HOME')",
        "SELECT * FROM information_schema.tables",
        "SELECT * FROM 'source 0', cities",
        "SELECT * FROM query_table('sales_2026'), cities",
        "SELECT * FROM query('DROP TABLE cities'), cities",
        "SELECT * FROM duckdb_settings(), nowhere",
    ],
)
def test_nothing_else_can_be_read(folder: Path, sql: str) -> None:
    with pytest.raises((BadInput, TableError)):
        run_query(sql.format(folder=folder), folder)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT length(repeat('x', 100000000) || city) FROM cities, range(100)",
        pytest.param("SELECT repeat('x', 300000000) FROM cities", marks=pytest.mark.slow),
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t",
    ],
)
def test_a_query_that_takes_too_much_ends_and_takes_nothing_with_it(folder: Path, sql: str) -> None:
    began = time.monotonic()
    try:
        run_query(sql, folder)
    except TableError as error:
        assert "Traceback" not in error.message
    assert time.monotonic() - began < seconds_for([]) + 15
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 3 << 20  # KiB


def test_a_file_of_the_folder_is_never_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "duckdb.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(folder)
    assert run_query("SELECT count(*) FROM cities", folder).result.rows == (("2",),)


def test_what_a_cell_holds_is_shown_harmlessly(folder: Path) -> None:
    (folder / "odd.csv").write_text('name,n\n"\x1b[31mred | blue",1\n"two\nlines",2\n')
    names = [row[0] for row in run_query("SELECT name FROM odd ORDER BY n", folder).result.rows]
    assert names == ["␛[31mred / blue", "two lines"]
