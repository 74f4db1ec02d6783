"""The ledger in a PostgreSQL database, for any number of processes on any number of machines."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

from hitl_tui.core.errors import StorageError
from hitl_tui.core.messages import Message
from hitl_tui.ledger.postgres_database import PostgresTables
from hitl_tui.ledger.postgres_schema import PROTECTION
from hitl_tui.ledger.records import Problem
from hitl_tui.ledger.sealing import Sealing
from hitl_tui.ledger.sql_transaction import Row, Transaction
from hitl_tui.ledger.sqlite_schema import create_all
from hitl_tui.ledger.table_ledger import Changed, PostSignals, TableLedger
from hitl_tui.ledger.view_check import OF_STREAM, view_problems
from hitl_tui.ledger.view_schema import VIEWS
from hitl_tui.ledger.view_tables import COLUMNS, entry_of

_PAGE = 5_000
"""Entries that are held in memory at a time."""


class PostgresLedger(TableLedger):
    """`Ledger` in PostgreSQL; open it with `PostgresLedger.open`."""

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        address: str,
        *,
        sealing: Sealing | None = None,
        changed: Changed | None = None,
        posted: Changed | None = None,
    ) -> AsyncIterator[PostgresLedger]:
        """Open a ledger and close it at the end of the block; its tables are made when they are missing.

        Args:
            address: `postgresql://…`; libpq's environment variables, password and service files count, too.
            sealing: signs what is written and anchors it; None for neither.
            changed, posted: see `TableLedger`.

        Raises:
            BadInput: the driver is missing.
            StorageError: the server can't be reached or used, or its tables are of a newer version.
        """
        signals = PostSignals()
        database = PostgresTables(address, sealing, signals.announce)
        await database.open()
        ledger = cls(database, changed, signals, posted)
        try:
            yield ledger
        finally:
            await ledger.close()

    async def view_problems(self, stream: str | None = None) -> list[Problem]:
        """See `Streams.view_problems`. What it asks for is copied into an SQLite file, where views are built anew."""
        with tempfile.TemporaryDirectory(prefix="hitl-tui-") as folder:
            path = Path(folder, "ledger.db")
            problems = await self._database.read(lambda db: [*_unprotected(db), *_copy(db, path, stream)])
            return [*problems, *await asyncio.to_thread(view_problems, path, stream)]


def _unprotected(db: Transaction) -> Iterator[Problem]:
    """Yield what says of triggers that they were dropped or switched off."""
    rows = db.execute(
        "SELECT tgname FROM pg_trigger WHERE tgrelid = CAST('entries' AS regclass) AND tgenabled IN ('O', 'A')"
    )
    found = {row[0] for row in rows}
    for name in PROTECTION:
        if name not in found:
            yield Problem("", 0, Message("The trigger {}, which protects entries, is gone.", name))


def _copy(db: Transaction, path: Path, stream: str | None) -> list[Problem]:
    """Copy entries and views, of all streams or of what one rests on, into an SQLite ledger.

    Returns:
        what has no place there.
    """
    problems = list[Problem]()
    with closing(sqlite3.connect(path, isolation_level=None)) as copy:
        copy.execute("BEGIN")
        create_all(copy)
        keys = set[str]()
        for row in _entries(db) if stream is None else _entries_of(db, stream):
            copy.execute(f"INSERT INTO entries ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)  # noqa: S608 - constants
            keys |= _effect_of(row) if stream is not None else set()
        for view in VIEWS:
            for row in _view(db, view, stream, keys):
                try:
                    copy.execute(f"INSERT INTO {view} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608
                except sqlite3.Error as error:
                    problems.append(Problem("", 0, Message("The view {} can't be checked: {}.", view, error)))
        copy.execute("COMMIT")
    return problems


def _view(db: Transaction, view: str, stream: str | None, keys: Iterable[str]) -> Iterator[Row]:
    """Yield the rows of a view, of all streams or of one; effects with certain keys may have passed to another."""
    if stream is None:
        yield from db.execute(f"SELECT * FROM {view}")  # noqa: S608 - constants
        return
    yield from db.execute(f"SELECT * FROM {view} WHERE {OF_STREAM[view]}", {"stream": stream})  # noqa: S608 - constants
    if view == "effects":
        for key in keys:
            yield from db.execute("SELECT * FROM effects WHERE key = ? AND session <> ?", (key, stream))


def _effect_of(row: Row) -> set[str]:
    """Return the key of the effect that an entry is about, if it is about one."""
    try:
        key = entry_of(row).data.get("key")
    except StorageError:  # it is named elsewhere
        return set()
    return {key} if isinstance(key, str) else set()


def _entries(db: Transaction) -> Iterator[Row]:
    """Yield all rows of entries, a page at a time."""
    last = 0
    while rows := db.execute(
        f"SELECT {COLUMNS} FROM entries WHERE id > ? ORDER BY id LIMIT {_PAGE}",  # noqa: S608 - constants
        (last,),
    ).fetchall():
        yield from rows
        last = rows[-1][0]


def _entries_of(db: Transaction, stream: str) -> Iterator[Row]:
    """Yield the rows of a stream's entries, and of those by which effects began that it has."""
    yield from db.execute(
        f"SELECT {COLUMNS} FROM entries WHERE stream = :stream"  # noqa: S608 - constants
        f" UNION SELECT {COLUMNS} FROM entries WHERE id IN (SELECT first FROM effects WHERE session = :stream)",
        {"stream": stream},
    )
