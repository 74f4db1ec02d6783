"""Reading a database of ours, also where this account can't write.

In WAL mode even a reader needs the log and its index beside the file, and makes them where there are none. Where it
can't, the file is copied while nobody writes it, and the copy is read. `immutable` would read without any lock what
another account may be writing.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from hitl_tui.core.messages import Message

TIMEOUT = 10.0
"""Seconds SQLite waits for a lock."""

_PARTS = ("", "-wal", "-journal")
_GRAIN = 0.05
"""Seconds; what was written less than that before it was copied may have been written after, without a sign of it."""
_TRIES = 40
_INDEX = 256 * 1024
"""Bytes that may be needed beside a database to read it."""

Written = tuple[tuple[int, int], ...]
"""When each part of a database was written last (nanoseconds), and its bytes; zeros for one that isn't there."""


class ReadOnlyCopy(sqlite3.Connection):
    """A connection to a copy in memory."""

    source: Path
    taken: Written = ()

    @property
    def outdated(self) -> bool:
        """The file has changed since."""
        return _written(self.source) != self.taken


def read_connection(path: Path) -> sqlite3.Connection:
    """Connect to a database that may be written by others, and only be read by this account.

    Args:
        path: a file that isn't open through any other API in this process: closing that drops SQLite's locks.

    Returns:
        A connection that follows what others write; a `ReadOnlyCopy` where SQLite can't do that.

    Raises:
        sqlite3.Error, OSError: it can't be read.
    """
    try:
        return _live(path)
    except sqlite3.OperationalError as error:
        code = error.sqlite_errorcode & 0xFF
        unable = code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY) and not os.access(path.parent, os.W_OK)
        # The index beside a log takes room, too: on a full disk even a reader can't make it.
        full = code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN) and _is_full(path.parent)
        if not (unable or full) or not path.is_file():
            raise
    return _copied(path)


def _is_full(folder: Path) -> bool:
    found = os.statvfs(folder)
    return bool(found.f_blocks) and found.f_bfree * found.f_frsize < _INDEX


def _live(path: Path) -> sqlite3.Connection:
    uri = f"{path.resolve().as_uri()}?mode=ro"
    db = sqlite3.connect(uri, uri=True, timeout=TIMEOUT, isolation_level=None, cached_statements=256)
    try:
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()  # opening alone touches nothing
    except BaseException:
        db.close()
        raise
    return db


def in_memory(db: sqlite3.Connection, path: Path) -> ReadOnlyCopy:
    """Return a copy of a database in memory, which may be changed.

    Args:
        db: a connection to it; a copy is returned as it is.
        path: its file.
    """
    if isinstance(db, ReadOnlyCopy):
        return db
    before, now = _written(path), time.time_ns()
    copy = _empty(path)
    try:
        db.backup(copy)
    except BaseException:
        copy.close()
        raise
    if now - max(at for at, _size in before) > _GRAIN * 1e9:
        copy.taken = before  # else it counts as outdated: what was written just now may be written on
    return copy


def copy_of_nothing(path: Path) -> ReadOnlyCopy:
    """Return an empty copy, in memory, of a database that isn't there; it is outdated once there is one."""
    copy = _empty(path)
    copy.taken = _written(path)
    return copy


def _empty(path: Path) -> ReadOnlyCopy:
    copy = sqlite3.connect(":memory:", isolation_level=None, cached_statements=256, factory=ReadOnlyCopy)
    copy.source = path
    return copy


def _copied(path: Path) -> ReadOnlyCopy:
    with tempfile.TemporaryDirectory(prefix="hitl-tui-") as folder:
        copy = Path(folder, "copy.db")
        taken = _copy_at_rest(path, copy)
        db = _empty(path)
        db.taken = taken
        try:
            with closing(sqlite3.connect(copy)) as whole:  # takes in what its log holds
                whole.backup(db)
        except BaseException:
            db.close()
            raise
        return db


def _copy_at_rest(path: Path, target: Path) -> Written:
    # A connection of this process would have its index by now, and then nobody needs a copy: no lock of ours is lost.
    for _ in range(_TRIES):
        before, now = _written(path), time.time_ns()
        for part in _PARTS:
            try:
                shutil.copyfile(f"{path}{part}", f"{target}{part}")
            except FileNotFoundError:
                if not part:
                    raise
                Path(f"{target}{part}").unlink(missing_ok=True)
        # What was written in a time to come was written before a clock went back, so long ago.
        if _written(path) == before and abs(now - max(at for at, _size in before)) > _GRAIN * 1e9:
            return before
        time.sleep(_GRAIN)
    raise OSError(Message("{} is being written all the time", path))


def file_stamps(paths: Iterable[Path]) -> Written:
    """Return what is another value once one of these files was written: times in nanoseconds, and sizes."""
    found = []
    for path in paths:
        try:
            stat = path.stat()
        except FileNotFoundError:
            found.append((0, 0))
        else:
            found.append((stat.st_mtime_ns, stat.st_size))
    return tuple(found)


def _written(path: Path) -> Written:
    return file_stamps(Path(f"{path}{part}") for part in _PARTS)
