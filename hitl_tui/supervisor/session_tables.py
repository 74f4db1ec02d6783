"""`SessionTables`: the tables of what is known of sessions in a PostgreSQL database, and the connection to them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hitl_tui.config.workspace_copy import workspace_copy
from hitl_tui.ledger.postgres_connection import SCHEMA, connect, driver, explained, is_lost
from hitl_tui.ledger.postgres_database import PostgresTransaction
from hitl_tui.ledger.sql_transaction import Row

if TYPE_CHECKING:
    import psycopg

T = TypeVar("T")

_MAKING = 0x6869746F
"""Number of the lock that whoever makes these tables holds."""

_THERE = """SELECT 1 FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
    WHERE s.nspname = ? AND c.relname = 'session_records_in_order'"""
"""What was added last."""

_TABLES = (
    """CREATE TABLE IF NOT EXISTS session_records (
        id TEXT COLLATE "C" PRIMARY KEY, n BIGINT GENERATED ALWAYS AS IDENTITY, info TEXT NOT NULL, graphs TEXT NOT NULL
    )""",
    """CREATE TABLE IF NOT EXISTS results (digest TEXT COLLATE "C" PRIMARY KEY, content BYTEA)""",
    """CREATE TABLE IF NOT EXISTS session_results (
        session TEXT COLLATE "C" NOT NULL, digest TEXT COLLATE "C" NOT NULL, PRIMARY KEY (session, digest)
    )""",
    """ALTER TABLE session_records ADD COLUMN IF NOT EXISTS workspace TEXT NOT NULL DEFAULT '',
        ADD COLUMN IF NOT EXISTS digest TEXT NOT NULL DEFAULT '',
        ADD COLUMN IF NOT EXISTS queue TEXT COLLATE "C" NOT NULL DEFAULT '',
        ADD COLUMN IF NOT EXISTS rested BIGINT""",
    """CREATE TABLE IF NOT EXISTS workers (
        id BIGINT PRIMARY KEY, name TEXT NOT NULL, host TEXT NOT NULL, pid BIGINT NOT NULL, queues TEXT[] NOT NULL,
        about TEXT NOT NULL, since TEXT NOT NULL, seen TIMESTAMPTZ NOT NULL
    )""",
    "ALTER TABLE results ADD COLUMN IF NOT EXISTS written TIMESTAMPTZ NOT NULL DEFAULT now()",
    "CREATE INDEX IF NOT EXISTS results_of_digest ON session_results (digest)",
    "CREATE INDEX IF NOT EXISTS session_records_in_order ON session_records (n)",
)

_BIND = "UPDATE session_records SET workspace = %s, digest = %s, queue = %s WHERE id = %s"


class SessionTables:
    """What is known of sessions, in one short transaction each; may be used from any thread.

    Args:
        address: `postgresql://…`.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._lock = threading.Lock()
        self._connection: psycopg.Connection[Any] | None = None

    def rows(self, statement: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[Row]:
        """Run a statement that may be run again; return its rows.

        Raises:
            StorageError: the database can't be used.
        """

        def work(connection: psycopg.Connection[Any]) -> list[Row]:
            cursor = PostgresTransaction(connection).execute(statement, values)
            return cursor.fetchall() if cursor.description is not None else []

        try:
            return self.use(work)
        except driver().errors.UndefinedTable:
            return []

    def use(self, work: Callable[[psycopg.Connection[Any]], T]) -> T:
        """Do something that may be done again with the connection, which commits each statement.

        Raises:
            StorageError: the database can't be used.
        """
        pg = driver()
        with self._lock:
            for last in (False, True):
                if self._connection is None or self._connection.closed:
                    self._connection = None
                    self._connection = connect(self.address)
                try:
                    return work(self._connection)
                except pg.errors.UndefinedTable:
                    raise
                except pg.Error as error:
                    if last or not is_lost(error):
                        raise explained(error, self.address) from error
        raise AssertionError

    def make(self) -> None:
        """Make the tables where they are missing.

        Raises:
            StorageError: they can't be made.
        """
        if self.rows(_THERE, (SCHEMA,)):
            return
        try:
            with closing(connect(self.address)) as connection, connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MAKING,))
                for statement in _TABLES:
                    connection.execute(statement)
                for session, info in connection.execute("SELECT id, info FROM session_records WHERE queue = ''"):
                    copy = workspace_copy(Path(json.loads(info)["workspace"]))
                    connection.execute(_BIND, (copy.name, copy.digest, copy.queue, session))
        except driver().Error as error:
            raise explained(error, self.address) from error

    def close(self) -> None:
        """Close the connection; another one is made when it is wanted."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None
