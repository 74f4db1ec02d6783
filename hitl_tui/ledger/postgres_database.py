"""The PostgreSQL database of a ledger: one connection on a thread of its own, transactions that run whole.

A transaction sees one moment (repeatable read). Whatever it decides by lies in streams and effects that it also writes
to, so of two that overlap one fails, at the number of an entry or at an effect's row, and is tried again: no decision
is made by what isn't so any more.
"""

from __future__ import annotations

import random
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from hitl_tui.config.postgres_address import shown_address
from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.core.messages import Message
from hitl_tui.ledger.postgres_connection import PATIENCE, connect, driver, explained, is_lost
from hitl_tui.ledger.postgres_schema import FORM, check_version, migrate, version_of
from hitl_tui.ledger.sealing import Sealing
from hitl_tui.ledger.sql_transaction import TableForm, Transaction, Work, carried_out
from hitl_tui.ledger.view_schema import VERSION
from hitl_tui.ledger.work_thread import WorkThread

if TYPE_CHECKING:
    import psycopg

T = TypeVar("T")

CHANNEL = "hitl_tui"
"""Where it is told which session was written to."""

_QUEUE = 0x6869746D
"""Number of the lock that transactions wait for in line after others were faster."""

_LONGEST = 5.0
"""Seconds after which the inbox is read though nobody told of a write."""
_UNHEARD = 1.0
"""The same while nobody could tell."""
_LONGEST_NAME = 1_000
"""Characters of a session's name that is told; longer ones are read after a while."""

_VALUE = re.compile(r"\?(\d+)|\?|(?<![:\w]):([a-z_]+)\b")


@lru_cache(maxsize=512)
def translated(statement: str) -> tuple[str, bool]:
    """Return a statement as psycopg takes it, and whether its values stand in it by number."""
    numbered = re.search(r"\?\d", statement) is not None

    def value(found: re.Match[str]) -> str:
        if found[1] or found[2]:
            return f"%({found[2] or 'v' + found[1]})s"
        return "%s"

    return _VALUE.sub(value, statement.replace("%", "%%")), numbered


class PostgresTransaction:
    """`Transaction` on a connection of psycopg."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def execute(self, statement: str, values: Sequence[Any] | Mapping[str, Any] = (), /) -> psycopg.Cursor[Any]:
        written, numbered = translated(statement)
        if numbered and not isinstance(values, Mapping):
            values = {f"v{number}": value for number, value in enumerate(values, 1)}
        errors = driver().errors
        try:
            return self._connection.execute(written, values)
        except (errors.NotNullViolation, errors.CheckViolation) as error:
            raise ValueError(str(error)) from error

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> object:
        with self._connection.cursor() as cursor:
            cursor.executemany(translated(statement)[0], rows)
        return None


class PostgresTables:
    """`TableDatabase` in PostgreSQL.

    Args:
        address: `postgresql://…`.
        sealing: signs and anchors what is written; None for neither.
        hear: called, on a thread of its own, with each session that another process wrote to.
    """

    def __init__(self, address: str, sealing: Sealing | None, hear: Callable[[str], None]) -> None:
        self._address = address
        self._sealing = sealing
        self._thread = WorkThread()
        self._connection: psycopg.Connection[Any] | None = None
        self._listener = Listener(address, hear)
        self._closed = False

    @property
    def form(self) -> TableForm:
        return FORM

    @property
    def place(self) -> str:
        return shown_address(self._address)

    @property
    def machine(self) -> str:
        return socket.gethostname()

    async def open(self) -> None:
        """Connect, and make the tables or bring them to this version.

        Raises:
            StorageError: it can't be reached or used, or was written by a newer version; nothing is changed.
        """
        try:
            await self._thread.run(self._prepare)
        except BaseException:
            self._thread.end()
            raise

    def _prepare(self) -> None:
        # What was never reached isn't waited for: the address may be wrong.
        self._connection = connection = connect(self._address)
        try:
            found = version_of(PostgresTransaction(connection))
        except driver().Error as error:
            raise explained(error, self._address) from None
        check_version(found, self._address)
        if found != VERSION:
            self._transact("BEGIN", lambda db: migrate(db, self._address))

    async def close(self) -> None:
        """Let what was begun run to its end, then close; repeating it is harmless."""
        if self._closed:
            return
        self._closed = True
        self._listener.end()

        def end() -> None:
            if self._sealing is not None:
                self._sealing.close()
            if self._connection is not None:
                self._connection.close()

        try:
            await self._thread.run(end)
        finally:
            self._thread.end()

    async def write(self, work: Work[T], then: Callable[[T], None] | None = None) -> T:
        sealing = self._sealing

        def whole(db: Transaction) -> T:
            return work(db) if sealing is None else sealing.around(db, FORM, work)

        def job() -> T:
            result = self._transact("BEGIN ISOLATION LEVEL REPEATABLE READ", whole)
            if sealing is not None:
                sealing.committed()
            if then is not None:
                then(result)
            return result

        return await self._thread.run(job)

    async def read(self, work: Work[T]) -> T:
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        return await self._thread.run(lambda: self._transact(begin, work))

    async def peek(self, work: Work[T]) -> T:
        return await self._thread.run(lambda: self._transact("", work))

    def version(self, db: Transaction) -> object:
        return db.execute("SELECT CAST(pg_current_snapshot() AS TEXT)").fetchone()[0]

    def written(self) -> object:
        return self._listener.heard

    def stamp(self) -> object:
        heard = self._listener.heard
        return heard, 0 if self._listener.listening else int(time.monotonic() / _UNHEARD)

    def patience(self, written: object, poll: float) -> float:
        return _LONGEST if self._listener.listening else max(poll, _UNHEARD)

    def announce(self, session: str) -> None:
        # In a transaction of its own: one that tells of itself keeps all others from committing while it does.
        if self._connection is not None and len(session) <= _LONGEST_NAME:
            with suppress(driver().Error):  # who isn't told looks after a while
                self._connection.execute("SELECT pg_notify(%s, %s)", (CHANNEL, session))

    # ------------------------------------------------------------------------------------------- on the ledger's thread

    def _transact(self, begin: str, work: Work[T]) -> T:
        """Run one transaction, again while others are faster or the server is away, for `PATIENCE` seconds at most.

        Raises:
            StorageError, BadInput: see `TableDatabase`.
        """
        if self._closed:
            raise StorageError(Message("The ledger {} is closed.", shown_address(self._address)))
        pg, give_up, attempt = driver(), time.monotonic() + PATIENCE, 0
        while True:
            attempt += 1
            try:
                return self._attempt(begin, work, queued=attempt > 1)
            except (pg.errors.SerializationFailure, pg.errors.DeadlockDetected, pg.errors.UniqueViolation) as error:
                if time.monotonic() >= give_up:
                    raise explained(error, self._address) from error
            except pg.Error as error:
                if isinstance(error, pg.DataError):
                    raise BadInput(Message("A name or number can't be kept in the ledger: {}.", error)) from error
                if not is_lost(error) or time.monotonic() >= give_up:
                    raise explained(error, self._address) from error
            except StorageError:
                if self._connection is not None or time.monotonic() >= give_up:
                    raise
            except (UnicodeEncodeError, OverflowError) as error:
                raise BadInput(Message("A name or number can't be kept in the ledger: {}.", error)) from error
            time.sleep(random.uniform(0, min(0.5, 0.002 * 2**attempt)))  # noqa: S311 - spreads retries

    def _attempt(self, begin: str, work: Work[T], *, queued: bool) -> T:
        connection = self._live()
        db = PostgresTransaction(connection)
        if not begin:
            return carried_out(work, db)
        # In line before anything is read: what is read then is what the one before left.
        in_line = queued and self._stand_in_line(connection)
        number = ""
        try:
            connection.execute(begin)
            result = carried_out(work, db)
            row = connection.execute("SELECT CAST(pg_current_xact_id_if_assigned() AS TEXT)").fetchone()
            number = (row and row[0]) or ""
            connection.execute("COMMIT")
        except BaseException as error:
            with suppress(driver().Error):
                connection.execute("ROLLBACK")
            # Lost while it was committed: the server knows what became of it.
            if number and isinstance(error, driver().Error) and is_lost(error) and self._was_committed(number):
                return result
            raise
        finally:
            if in_line:
                with suppress(driver().Error):
                    connection.execute("SELECT pg_advisory_unlock(%s)", (_QUEUE,))
        return result

    def _stand_in_line(self, connection: psycopg.Connection[Any]) -> bool:
        try:
            connection.execute("SELECT pg_advisory_lock(%s)", (_QUEUE,))
        except driver().errors.LockNotAvailable:
            return False
        return True

    def _live(self) -> psycopg.Connection[Any]:
        if self._connection is None or self._connection.closed:
            self._connection = None
            self._connection = connect(self._address)
        return self._connection

    def _was_committed(self, number: str) -> bool:
        """Find out what became of a transaction whose end wasn't heard of.

        Raises:
            StorageError: the server isn't back in time: it is said that it isn't known.
        """
        give_up = time.monotonic() + PATIENCE
        unknown = StorageError(
            Message(
                "The connection to {} was lost while something was recorded; look first whether it was.",
                shown_address(self._address),
            )
        )
        while True:
            try:
                row = self._live().execute("SELECT pg_xact_status(CAST(%s AS xid8))", (number,)).fetchone()
            except (driver().Error, StorageError):
                row = None
            if row is not None and row[0] in ("committed", "aborted"):
                return bool(row[0] == "committed")
            if time.monotonic() >= give_up:
                raise unknown
            time.sleep(0.1)


class Listener:
    """Hears of what other processes write, on a connection and a thread of its own that begin when they are wanted.

    Args:
        address: `postgresql://…`.
        hear: called with each session that was written to.
    """

    def __init__(self, address: str, hear: Callable[[str], None]) -> None:
        self._address = address
        self._hear = hear
        self._heard = 0
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self.listening = False

    @property
    def heard(self) -> int:
        """How often something was heard, or may have been missed."""
        if self._thread is None and not self._ended.is_set():
            self._thread = threading.Thread(target=self._listen, name="ledger changes", daemon=True)
            self._thread.start()
        return self._heard

    def end(self) -> None:
        """Listen no more."""
        self._ended.set()

    def _listen(self) -> None:
        while not self._ended.is_set():
            with suppress(driver().Error, StorageError), connect(self._address) as connection:
                connection.execute(f"LISTEN {CHANNEL}")
                self.listening = True
                self._heard += 1  # what was said before wasn't heard
                while not self._ended.is_set():
                    for told in connection.notifies(timeout=0.5, stop_after=100):
                        self._heard += 1
                        self._hear(told.payload)
            self.listening = False
            self._ended.wait(1.0)
