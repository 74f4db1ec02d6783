"""Whatever somebody edits in the ledger's file is a problem that is named, and hides nothing else (T9)."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from cli_support import Shell

from hitl_tui.ledger.sqlite_ledger import SqliteLedger
from hitl_tui.supervisor.ledger_sealing import sealing_of
from hitl_tui.supervisor.storage import DataFolder

SETTINGS = """
[teams.command_team.commands.note]
run = ["touch", "noted"]
risk = "low"
"""
AT = "2026-01-01T00:00:00.000000+00:00"

ROWS = {
    "entries": "stream <> 'other' AND (id IN (SELECT min(id) FROM entries GROUP BY kind)"
    " OR id IN (SELECT max(id) FROM entries GROUP BY stream))",
    "streams": "stream <> 'other'",
    "sessions": "session <> 'other'",
    "requests": "session IN ('s1', 'gone')",
    "decisions": "entry > 0",
    "inbox": "session <> 'other' AND (entry IN (SELECT min(entry) FROM inbox GROUP BY session)"
    " OR entry IN (SELECT max(entry) FROM inbox GROUP BY session))",
    "effects": "key <> ''",
    "stopped_runs": "run_id <> ''",
    "signatures": "stream NOT IN ('other', 'audit/keys')"
    " AND n = (SELECT max(n) FROM signatures of_it WHERE of_it.stream = signatures.stream)",
}
"""The rows of each table that are edited, one by one. Of signatures the last of a stream vouches for all before it."""

MEANINGLESS = "UPDATE signatures SET first ="
"""Begins edits of what says nothing while a stream has other signatures."""

MOST = 2
"""How many of them."""

OTHERWISE = ("NULL", "'zzz'", "x'ff00'", "CAST(x'ff' AS TEXT)", "1", "'other'")
"""What is written into any column, whatever its type."""


BESIDES = "Entry 2 (request_opened) was changed: its hash isn't that of its content."
"""What is found of the session that was edited first."""


async def _append(data: Path) -> None:
    """Write what no session here comes to by itself: a restore that wasn't finished, a run that was stopped."""
    sealing = sealing_of(DataFolder(data), os.environ, print)
    async with SqliteLedger.open(data / "ledger.db", sealing=sealing) as record:
        await record.record("gone", "session_created", {"title": "x"}, AT)
        await record.post("gone", 0, "e1", {"kind": "noted"}, AT)
        await record.stop_run("gone", "run-1", AT)
        await record.begin_restore("gone", "checkpoint", "ann", AT)
        await record.record("gone", "session_deleted", {}, AT)


def _declare(ledger: Path, tables: dict[str, str], triggers: list[str]) -> None:
    """Let the file say that its tables were made by these statements; their rows stay as they are."""
    with closing(sqlite3.connect(ledger, isolation_level=None)) as db:
        db.execute("PRAGMA synchronous = OFF")
        for sql in triggers:
            db.execute(sql)
        db.execute("PRAGMA writable_schema = ON")
        for name, sql in tables.items():
            db.execute("UPDATE sqlite_master SET sql = ? WHERE type = 'table' AND name = ?", (sql, name))


class Edited:
    """A record with rows in all tables, to be edited again and again.

    Args:
        shell: its data folder.
    """

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.ledger = shell.data / "ledger.db"
        with closing(sqlite3.connect(self.ledger, isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode = DELETE")
            triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
            self._triggers = [sql for _, sql in triggers]
            self._tables = dict(db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall())
            for name, _ in triggers:
                db.execute(f"DROP TRIGGER {name}")
            db.execute("UPDATE entries SET at = '2024' WHERE stream = 'other' AND n = 2")
        loose = {name: sql.replace(" NOT NULL", "").replace("STRICT, ", "") for name, sql in self._tables.items()}
        _declare(self.ledger, {name: sql.removesuffix("STRICT") for name, sql in loose.items()}, [])
        self._loose = self.ledger.with_name("loose")
        shutil.copyfile(self.ledger, self._loose)

    def edits(self, table: str) -> list[str]:
        """Return what is tried with a table: each column of some rows changed and swapped, and the rows deleted."""
        with closing(sqlite3.connect(self._loose)) as db:
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            rows = db.execute(f"SELECT {', '.join(columns)} FROM {table} WHERE {ROWS[table]}").fetchall()
        found = []
        for row in rows[:: max(1, len(rows) // MOST)]:
            where = " AND ".join(f"{c} IS {_literal(value)}" for c, value in zip(columns, row, strict=True))
            found.append(f"DELETE FROM {table} WHERE {where}")
            for number, column in enumerate(columns):
                of_others = sorted({other[number] for other in rows} - {row[number]}, key=str)[:1]
                for value in (*OTHERWISE, f"{column} + 1", *map(_literal, of_others)):
                    found.append(f"UPDATE {table} SET {column} = {value} WHERE {where} AND {column} IS NOT {value}")
        return found

    def carry_out(self, statement: str) -> bool:
        """Edit the file as it was; return False where that isn't possible, or changes nothing."""
        for suffix in ("-wal", "-shm"):
            Path(f"{self.ledger}{suffix}").unlink(missing_ok=True)
        shutil.copyfile(self._loose, self.ledger)
        with closing(sqlite3.connect(self.ledger, isolation_level=None)) as db:
            db.execute("PRAGMA ignore_check_constraints = ON")
            db.execute("PRAGMA synchronous = OFF")
            try:
                changed = db.execute(statement).rowcount
            except sqlite3.Error:
                return False
        if changed:
            _declare(self.ledger, self._tables, self._triggers)
        return bool(changed)


def _literal(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory) -> Edited:
    shell = Shell(tmp_path_factory.mktemp("record"))
    shell.declare(SETTINGS)
    shell.run("run", "compare the deposit rules with the jeonse contract and summarise both")
    for line in ("/todo skip 1", "/todo add command_team note", "/todo approve 3", "/mode risk"):
        assert shell.run("do", "s1", line).code in (0, 3), line
    listed = shell.run("do", "s1", "/checkpoint list", "--json").json["checkpoints"]
    assert shell.run("do", "s1", f"/checkpoint restore {listed[-1]['checkpoint_id']}").code in (0, 3)
    assert shell.run("fork", "s1").code == 0
    assert shell.run("run", "deposit rules", "--session", "other").code in (0, 3)
    asyncio.run(_append(shell.data))
    assert shell.run("audit", "verify", "--json").json["problems"] == []
    return Edited(shell)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("table", ROWS)
def test_every_edit_is_named_and_hides_no_other(edited: Edited, table: str) -> None:
    wrong, tried = list[tuple[str, object]](), 0
    for statement in edited.edits(table):
        if not edited.carry_out(statement):
            continue
        tried += 1
        found = edited.shell.run("audit", "verify", "--json").json
        problems = [(one["stream"], one["what"]) for one in found.get("problems", ())]
        silent = {stream for stream, _ in problems} == {"other"} and not statement.startswith(MEANINGLESS)
        if ("other", BESIDES) not in problems or silent:
            wrong.append((statement, problems or found))
    assert tried > 10 and not wrong


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("table", ROWS)
def test_every_edit_leaves_a_sentence_where_a_session_cannot_be_read(
    edited: Edited, table: str, tmp_path: Path
) -> None:
    wrong = list[tuple[str, object]]()
    for statement in edited.edits(table)[::5]:
        if not edited.carry_out(statement):
            continue
        for command in (
            ("sessions",),
            ("inbox",),
            ("show", "s1"),
            ("do", "s1", "/todos"),
            ("export", "s1", str(tmp_path / "s1.hitl")),
            ("audit", "decisions"),
            ("audit", "export"),
        ):
            done = edited.shell.run(*command)
            if "Unexpected" in done.err or done.err.count("\n") > 2:
                wrong.append((f"{statement}; {command}", done.err))
    assert not wrong
