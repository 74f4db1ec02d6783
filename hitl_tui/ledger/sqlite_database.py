"""One SQLite file, one connection, one thread: how transactions run whole."""

from __future__ import annotations

import os
import random
import secrets
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from hitl_tui.config.atomic_files import link_new, make_private, sync_folder
from hitl_tui.core.errors import BadInput, HitlError, StorageError
from hitl_tui.core.messages import Message
from hitl_tui.ledger.sealing import Sealing
from hitl_tui.ledger.sql_transaction import TableForm, Transaction, Work, carried_out
from hitl_tui.ledger.sqlite_readonly import ReadOnlyCopy, copy_of_nothing, in_memory, read_connection
from hitl_tui.ledger.sqlite_schema import APPLICATION_ID, FORM, OLDEST, create_all
from hitl_tui.ledger.view_schema import VERSION
from hitl_tui.ledger.view_tables import rebuild
from hitl_tui.ledger.work_thread import WorkThread

T = TypeVar("T")

BUSY_TIMEOUT = 10.0
"""Seconds SQLite waits for another writer before a transaction is tried anew."""
PATIENCE = 30.0
"""Seconds after which a transaction that finds the file locked isn't tried again."""
_COMMITTING = 2.0
"""Seconds after a write to the log in which what was written may still become visible."""
_LONGEST = 5.0
"""Seconds after which the inbox is read though nothing was written."""


class Database:
    """The ledger's connection, on a thread of its own.

    A transaction is a plain function that runs from begin to commit on that thread. Cancelling whoever waits for it
    doesn't cut it short: it commits or rolls back whole.

    Args:
        path: the file.
        read_only: nothing will be written.
        sealing: signs and anchors what is written; None for neither.
    """

    def __init__(self, path: Path, read_only: bool, sealing: Sealing | None = None) -> None:
        self.path = path
        self.read_only = read_only
        self._sealing = sealing
        self._thread = WorkThread()
        self._db: sqlite3.Connection | None = None

    @property
    def form(self) -> TableForm:
        return FORM

    @property
    def place(self) -> Path:
        return self.path

    @property
    def machine(self) -> str:
        return ""

    def version(self, db: Transaction) -> object:
        db.execute("SELECT 1 FROM requests WHERE entry = 0").fetchone()  # the version is that of what is read
        assert isinstance(db, sqlite3.Connection)
        return db, int(db.execute("PRAGMA data_version").fetchone()[0]), db.total_changes

    def written(self) -> tuple[int, int]:
        """Return when the database's log was last written, and how long it is; the file isn't opened for that."""
        try:
            found = Path(f"{self.path}-wal").stat()
        except OSError:
            return 0, 0
        return found.st_mtime_ns, found.st_size

    def stamp(self) -> object:
        return self.written()

    def patience(self, written: object, poll: float) -> float:
        # A commit is written to the log, brought to the disk, and only then there to be read.
        assert isinstance(written, tuple)
        return poll if abs(time.time() - written[0] / 1e9) < _COMMITTING else _LONGEST

    def announce(self, session: str) -> None:
        """Do nothing: others see that the log was written."""

    async def open(self) -> None:
        """Open the file; one that isn't there is made where it may be written, and else counts as empty.

        Raises:
            StorageError: it isn't a ledger this version can use; the file is left as it was.
        """
        try:
            self._db = await self._thread.run(self._opened)
        except BaseException:
            self._thread.end()
            raise

    def _opened(self) -> sqlite3.Connection:
        if not self.read_only or os.path.lexists(self.path):
            return connect(self.path, self.read_only)
        db = copy_of_nothing(self.path)
        create_all(db)
        return db

    async def close(self) -> None:
        """Let what was begun run to its end, then close; repeating it is harmless."""
        db, self._db = self._db, None
        if db is not None:
            try:
                if self._sealing is not None:
                    await self._thread.run(self._sealing.close)
                await self._thread.run(db.close)
            finally:
                self._thread.end()

    async def write(self, work: Work[T], then: Callable[[T], None] | None = None) -> T:
        """Run `work` in a transaction that excludes other writers.

        Args:
            work: may be run again when the file was locked, each time on a clean slate.
            then: run on the thread with the result once it is committed, even when nobody waits any more.

        Raises:
            StorageError: the file is full, locked for too long, damaged or read-only; nothing was written.
            BadInput: SQLite has no form for a value.
        """
        if self.read_only:
            raise StorageError(Message("The ledger {} can only be read here, so nothing was changed.", self.path))
        sealing = self._sealing
        if sealing is None:
            return await self._run("BEGIN IMMEDIATE", work, then)

        def sealed(result: T) -> None:
            sealing.committed()
            if then is not None:
                then(result)

        return await self._run("BEGIN IMMEDIATE", lambda db: sealing.around(db, FORM, work), sealed)

    async def read(self, work: Work[T]) -> T:
        """Run `work` on one consistent state of the file."""
        return await self._run("BEGIN", work, None)

    async def peek(self, work: Work[T]) -> T:
        """Run `work`, a single statement that is read to its end, without the cost of a transaction."""
        return await self._run("", work, None)

    async def _run(self, begin: str, work: Work[T], then: Callable[[T], None] | None) -> T:
        db = self._db
        if db is None:
            raise StorageError(Message("The ledger {} is closed.", self.path))

        def job() -> T:
            result = transact(self._current(db), self.path, begin, work)
            if then is not None:
                then(result)
            return result

        return await self._thread.run(job)

    def _current(self, db: sqlite3.Connection) -> sqlite3.Connection:
        """Return the connection, or a new one in the place of a copy that others have written past."""
        if not isinstance(db, ReadOnlyCopy) or not db.outdated:
            return db
        self._db = connect(self.path, self.read_only)
        db.close()
        return self._db


def transact(db: sqlite3.Connection, path: Path, begin: str, work: Work[T]) -> T:
    """Run one transaction, again while another process holds the file, for `PATIENCE` seconds at most.

    Raises:
        StorageError, BadInput: see `Database.write`.
    """
    give_up = time.monotonic() + PATIENCE
    attempt = 0
    while True:
        try:
            return _once(db, begin, work)
        except sqlite3.Error as error:
            if _is_no_text(error) and db.text_factory is str:
                db.text_factory = text_of  # a file that was edited is read to its end
                continue
            if not _is_busy(error) or time.monotonic() >= give_up:
                raise explain(path, error) from error
            attempt += 1
            time.sleep(random.uniform(0, min(0.5, 0.01 * 2**attempt)))  # noqa: S311 - spreads retries
        except (UnicodeEncodeError, OverflowError) as error:
            raise BadInput(Message("A name or number can't be kept in the ledger: {}.", error)) from error


def _once(db: sqlite3.Connection, begin: str, work: Work[T]) -> T:
    if begin:
        db.execute(begin)
    try:
        result = carried_out(work, db)
        if begin:
            db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    return result


def connect(path: Path, read_only: bool) -> sqlite3.Connection:
    """Return a connection to a ledger, which is made first when there is none and it may be written.

    The views of one of an older version are built anew: in the file where it may be written, else in a copy in memory.

    Raises:
        StorageError: it can't be used; it is left as it was.
    """
    if path.is_symlink():  # what is known of its signatures is known by its path
        raise StorageError(Message("{} is a link; the ledger must be a file of its own.", path))
    try:
        if not path.exists():
            if read_only:
                raise StorageError(Message("No ledger at {}.", path))
            _create(path)
        db = _checked(path)
        if read_only:
            return db if _version(db) == VERSION else _upgraded_copy(db, path)
        db.close()
        return _upgraded(_tuned(path))
    except (sqlite3.Error, OSError) as error:
        raise explain(path, error) from error


def _upgraded(db: sqlite3.Connection) -> sqlite3.Connection:
    """Bring a ledger's views to this version, in one transaction; return its connection.

    Raises:
        StorageError: an entry can't be read; the file is left as it was.
    """
    try:
        if _version(db) != VERSION:
            db.execute("BEGIN IMMEDIATE")
            if _version(db) != VERSION:  # nobody was faster
                rebuild(db, FORM)
                db.execute(f"PRAGMA user_version = {VERSION}")
            db.execute("COMMIT")
    except BaseException:
        db.close()
        raise
    return db


def _upgraded_copy(db: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    try:
        copy = in_memory(db, path)
    finally:
        if not isinstance(db, ReadOnlyCopy):
            db.close()
    return _upgraded(copy)


def _tuned(path: Path) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode=rw"
    db = sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT, isolation_level=None, cached_statements=256)
    try:
        _tune(db)
    except BaseException:
        db.close()
        raise
    return db


def _tune(db: sqlite3.Connection) -> None:
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute("PRAGMA journal_size_limit = 67108864")
    if sys.platform == "darwin":  # a plain fsync there leaves data in the drive's cache
        db.execute("PRAGMA fullfsync = ON")
        db.execute("PRAGMA checkpoint_fullfsync = ON")


def _checked(path: Path) -> sqlite3.Connection:
    """Return a connection for reading an existing file, of which no byte is changed.

    Raises:
        StorageError: it isn't a ledger of this version.
    """
    if not path.is_file():
        raise StorageError(Message("{} isn't a file, so it can't be the ledger.", path))
    if path.stat().st_size == 0:
        raise StorageError(
            Message("The ledger {} is empty, so it was cut short; restore it, or delete it to start over.", path)
        )
    db = read_connection(path)
    try:
        _check_format(db, path)
        db.execute("SELECT count(*) FROM streams").fetchone()
    except BaseException:
        db.close()
        raise
    return db


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _check_format(db: sqlite3.Connection, path: Path) -> None:
    application = db.execute("PRAGMA application_id").fetchone()[0]
    version = _version(db)
    if application != APPLICATION_ID:
        raise StorageError(Message("{} isn't a ledger (nothing in it says so), so it was left as it is.", path))
    if not OLDEST <= version <= VERSION:
        raise StorageError(
            Message(
                "The ledger {} has format {} and this program knows format {}, so it was left as it is; "
                "use a newer hitl-tui.",
                path,
                version,
                VERSION,
            )
        )


def _create(path: Path) -> None:
    """Make a ledger under another name and link it into place, so that it is there whole or not at all."""
    make_private(path.parent)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}.new")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        db = _tuned(draft)
        try:
            db.execute("BEGIN IMMEDIATE")
            create_all(db)
            db.execute("COMMIT")
        finally:
            db.close()
        try:
            link_new(draft, path)
        except FileExistsError:
            return  # another process was first
        sync_folder(path.parent)
    finally:
        draft.unlink(missing_ok=True)
        for suffix in ("-wal", "-shm", "-journal"):
            Path(f"{draft}{suffix}").unlink(missing_ok=True)


def text_of(raw: bytes) -> str:
    """Return a text of the file; what isn't UTF-8 in it, which no ledger writes, is replaced."""
    return raw.decode(errors="replace")


def _is_no_text(error: sqlite3.Error) -> bool:
    return isinstance(error, sqlite3.OperationalError) and str(error).startswith("Could not decode")


def _code(error: Exception) -> int:
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _is_busy(error: Exception) -> bool:
    return _code(error) == sqlite3.SQLITE_BUSY


def explain(path: Path, error: Exception) -> HitlError:
    """Return the one sentence for a failure of SQLite or of the file system."""
    code = _code(error)
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return StorageError(
            Message(
                "Disk full: the ledger {} can't be written. Make room, then look first: what was "
                "recorded before counts.",
                path,
            )
        )
    if _is_busy(error):
        return StorageError(
            Message("Another program keeps the ledger {} locked: nothing was written; try again.", path)
        )
    if code == sqlite3.SQLITE_NOTADB:
        return StorageError(Message("{} isn't a ledger (it isn't an SQLite file), so it was left as it is.", path))
    if code == sqlite3.SQLITE_CORRUPT:
        return StorageError(Message("The ledger {} is damaged or cut short; restore it from a backup.", path))
    if code == sqlite3.SQLITE_READONLY:
        return StorageError(Message("The ledger {} can't be written: this account may only read it.", path))
    if code == sqlite3.SQLITE_TOOBIG:
        return BadInput(Message("This is too large for the ledger: SQLite keeps at most a gigabyte in one place."))
    if code == sqlite3.SQLITE_CONSTRAINT:
        return StorageError(Message("The tables of the ledger {} contradict each other ({}); verify it.", path, error))
    return StorageError(Message("The ledger {} can't be used: {}.", path, getattr(error, "strerror", None) or error))
