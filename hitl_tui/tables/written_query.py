"""SQL that somebody wrote about tables of a folder: what may be written, how it is run, and what there is to ask.

It runs in the same engine as queries that are read out of a question, in a process of its own: nothing but the tables
that it names can be read, nothing can be written, installed or set, and time and memory are bounded.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any

from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line
from hitl_tui.tables import query_process
from hitl_tui.tables.engine import Result, TableError, quote, seconds_for, watched
from hitl_tui.tables.files import table_files
from hitl_tui.tables.profile import Column, Table, profiles

LONGEST = 20_000
"""Characters of a query."""
MOST_ROWS = 200
_MOST_TABLES, _MOST_COLUMNS, _MOST_VALUES = 30, 60, 8
_LONGEST_VALUE = 40
_START = 10.0
"""Seconds beyond those of the query that its process may take."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a written query gave.

    Args:
        result: its rows.
        tables: the tables that it read.
    """

    result: Result
    tables: tuple[Table, ...]


def check_select(sql: str) -> None:
    """Check that a text is one query that only reads; no file is touched.

    Raises:
        BadInput: it isn't; the message says why.
    """
    if not sql.strip() or len(sql) > LONGEST:
        raise BadInput(Message("A query is a text of 1 to {} characters.", f"{LONGEST:,}"))
    import duckdb

    with duckdb.connect(":memory:") as connection:
        try:
            statements = connection.extract_statements(sql)
        except duckdb.Error as error:
            raise BadInput(Message("The query can't be read: {}.", _first_line(error))) from error
    if len(statements) != 1 or statements[0].type is not duckdb.StatementType.SELECT:
        raise BadInput(Message("Only one SELECT can be asked of tables."))


def tables_of(workspace: Path) -> dict[str, Table]:
    """Return the tables of a folder by the names that SQL gives them, each once."""
    found: dict[str, Table] = {}
    for table in profiles(table_files(workspace)).tables:
        name = _sql_name(f"{table.stem} {table.sheet}" if table.sheet else table.stem)
        number, own = 1, name
        while own in found:
            number += 1
            own = f"{name}_{number}"
        found[own] = table
    return found


def check_query(sql: str, workspace: Path) -> None:
    """Check that a query can be run on a folder's tables, without running it.

    Raises:
        BadInput: it can't.
    """
    check_select(sql)
    try:
        _asked(sql, tables_of(workspace), check=True)
    except TableError as error:
        raise BadInput(error.message) from error


def run_query(sql: str, workspace: Path) -> Written:
    """Return what a query gives, its cells as people read them.

    Raises:
        BadInput: it isn't one that only reads, or names a table that isn't there.
        TableError: it can't be run, or took too long or too much.
    """
    check_select(sql)
    return _asked(sql, tables_of(workspace), check=False)


def described(workspace: Path) -> str:
    """Return the tables of a folder with their columns, a line each, for whoever writes a query; empty for none."""
    lines: list[str] = []
    known = tables_of(workspace)
    for name, table in list(known.items())[:_MOST_TABLES]:
        lines.append(f"{quote(name)} ({one_line(table.name, 200)}, {table.rows:,} rows):")
        lines += [f"  {_column(column)}" for column in table.columns[:_MOST_COLUMNS] if column.kind != "other"]
    if len(known) > _MOST_TABLES:
        lines.append(f"and {len(known) - _MOST_TABLES} more tables")
    return "\n".join(lines)


def _asked(sql: str, tables: Mapping[str, Table], *, check: bool) -> Written:
    """Ask in a process of its own, which sees the tables that a query names as views of their cleaned rows."""
    named = _named(sql, tables)
    wanted = {name: table for name, table in tables.items() if name in named}
    request = {
        "sql": sql,
        "check": check,
        "limit": MOST_ROWS,
        "tables": [
            {**asdict(table.file), "absolute": str(table.file.absolute), "name": name, "sheet": table.sheet,
             "sql": table.sql}
            for name, table in wanted.items()
        ],
    }  # fmt: skip
    seconds = seconds_for(table.file for table in wanted.values())
    command = [sys.executable, "-P", "-X", "utf8", "-m", query_process.__name__]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL) as process, watched(_Process(process)):
        try:
            said, _ = process.communicate(json.dumps(request).encode(), seconds + _START)
        except subprocess.TimeoutExpired as error:
            raise TableError(Message("The query took longer than {} seconds.", int(seconds))) from error
        finally:
            process.kill()
    try:
        answer = json.loads(said)
    except ValueError as error:
        raise TableError(Message("The query needed too much memory, or was stopped.")) from error
    if answer.get("late"):
        raise TableError(Message("The query took longer than {} seconds.", int(seconds)))
    if "error" in answer:
        raise TableError(Message("The query can't be run: {}.", one_line(answer["error"], 300).rstrip(".")))
    written = {c.name: c.written for table in wanted.values() for c in table.columns if c.written}
    cells = [written.get(name, {}) for name in answer["names"]]
    rows = tuple(
        tuple(as_written.get(cell, cell) for as_written, cell in zip(cells, row, strict=True)) for row in answer["rows"]
    )
    return Written(Result(tuple(answer["names"]), rows, answer["more"]), tuple(wanted.values()))


@dataclass(frozen=True)
class _Process:
    """A query's process, as something that can be stopped."""

    process: subprocess.Popen[bytes]

    def stop(self) -> None:
        self.process.kill()


def _named(sql: str, tables: Mapping[str, Table]) -> set[str]:
    """Return the names of the tables that a query reads, as its parser has them: no column is looked up for it.

    Raises:
        BadInput: one of them isn't there.
    """
    import duckdb

    with duckdb.connect(":memory:") as connection:
        try:
            ((tree,),) = connection.execute("SELECT json_serialize_sql(?)", [sql]).fetchall()
        except duckdb.Error as error:
            raise BadInput(Message("The query can't be read: {}.", _first_line(error))) from error
    by_case = {name.casefold(): name for name in tables}
    parts = list(_parts(json.loads(tree)))
    own = {str(part["key"]).casefold() for part in parts if "key" in part and "value" in part}  # WITH name AS …
    found = set()
    for part in parts:
        if part.get("type") != "BASE_TABLE":
            continue
        name, within = str(part["table_name"]), str(part.get("schema_name") or "")
        if name.casefold() in by_case and within in ("", "main"):
            found.add(by_case[name.casefold()])
        elif within or name.casefold() not in own:
            known = ", ".join(list(tables)[:_MOST_TABLES]) or "—"
            shown = one_line(f"{within}.{name}" if within else name, 60)
            raise BadInput(Message('No table is called "{}"; there are {}.', shown, known))
    return found


def _parts(tree: Any) -> Iterator[dict[str, Any]]:
    """Yield every object of a JSON document."""
    left = [tree]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            yield value
            left += value.values()
        elif isinstance(value, list):
            left += value


def _column(column: Column) -> str:
    about = column.kind
    if column.unit:
        about += f" in {one_line(column.unit, 20)}"
    if column.kind == "number" and column.filled:
        about += f", {column.low:g} to {column.high:g}"
    elif column.kind == "date" and column.filled:
        about += f", years {column.low:g} to {column.high:g}"
    elif column.values:
        shown = ", ".join(repr(one_line(value, _LONGEST_VALUE)) for value in column.values[:_MOST_VALUES])
        about += f": {shown}" + (", …" if column.distinct > _MOST_VALUES else "")
    return f"{quote(column.name)} {about}"


def _sql_name(stem: str) -> str:
    made = re.sub(r"\W+", "_", stem.casefold()).strip("_") or "table"
    return f"t_{made}" if made[0].isdigit() else made


def _first_line(error: Exception) -> str:
    return one_line(str(error).split("\n")[0], 200).rstrip(".")
