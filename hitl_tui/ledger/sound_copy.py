"""A copy of a record that was edited, in which everything can be read: what `audit verify` goes on with."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

from hitl_tui.ledger.signature_table import all_signatures, make_table
from hitl_tui.ledger.signatures import Place
from hitl_tui.ledger.sql_transaction import Row, TableForm, Transaction
from hitl_tui.ledger.sqlite_database import Database
from hitl_tui.ledger.sqlite_ledger import SqliteLedger
from hitl_tui.ledger.sqlite_schema import FORM, create_all
from hitl_tui.ledger.table_ledger import TableLedger
from hitl_tui.ledger.view_tables import COLUMNS, project_all


@asynccontextmanager
async def sound_copy(ledger: TableLedger) -> AsyncIterator[TableLedger]:
    """Give a ledger that has the entries and signatures of another one, and views that say what these entries do.

    So an edited row of a view keeps nothing from being read. A row that no ledger writes is left out:
    `Streams.view_problems` names it.

    Raises:
        StorageError: the ledger as a whole can't be read.
    """
    with tempfile.TemporaryDirectory(prefix="hitl-tui-") as folder:
        path = Path(folder, "ledger.db")
        await ledger.look(lambda db, form: _fill(path, db, form))
        database = Database(path, read_only=True)
        await database.open()
        copy = _SoundLedger(database, ledger.place)
        try:
            yield copy
        finally:
            await copy.close()


class _SoundLedger(SqliteLedger):
    """A copy that is known by what it is a copy of.

    Args:
        database: the copy.
        place: what was copied.
    """

    def __init__(self, database: Database, place: Place) -> None:
        super().__init__(database)
        self._place = place

    @property
    def place(self) -> Place:
        return self._place


def _fill(path: Path, db: Transaction, form: TableForm) -> None:
    """Copy what has the types that a ledger writes into a new file, and build its views."""
    with closing(sqlite3.connect(path, isolation_level=None)) as copy:
        copy.execute("BEGIN")
        create_all(copy)
        make_table(copy, FORM)
        for row in db.execute(f"SELECT {COLUMNS} FROM entries ORDER BY id"):  # noqa: S608 - constants
            _insert(copy, f"entries ({COLUMNS})", row)
        for row in all_signatures(db, form):
            _insert(copy, "signatures", row)
        for _ in project_all(copy):
            pass
        copy.execute("COMMIT")


def _insert(copy: sqlite3.Connection, table: str, row: Row) -> None:
    with suppress(sqlite3.IntegrityError):  # the tables are strict
        copy.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608 - constants
