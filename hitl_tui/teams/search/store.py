"""The cache file of an index: opened safely by several processes, rebuilt when it is damaged or of another version."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from hitl_tui.config.files import make_private
from hitl_tui.core.errors import StorageError

VERSION = 7
WAIT_SECONDS = 60.0
_CORRUPT = (11, 26)  # SQLITE_CORRUPT, SQLITE_NOTADB: primary result codes
_TABLES = {"meta", "files", "blocks", "words"}
_SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE files (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL, read_ns INTEGER NOT NULL, digest TEXT NOT NULL, blocks INTEGER NOT NULL,
    hangul INTEGER NOT NULL, reason TEXT NOT NULL, note TEXT NOT NULL
);
CREATE TABLE blocks (
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL, line INTEGER NOT NULL, end_line INTEGER NOT NULL,
    page INTEGER NOT NULL, heading TEXT NOT NULL, text TEXT NOT NULL
);
CREATE INDEX blocks_by_file ON blocks (file);
CREATE VIRTUAL TABLE words USING fts5 (body, title, name, tokenize = "unicode61 remove_diacritics 0");
INSERT INTO words (words, rank) VALUES ('rank', 'bm25(1.0, 0.8, 0.4)');
"""


def is_damage(error: sqlite3.Error) -> bool:
    """True when an error says that the file itself is damaged or no database."""
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(code, int) and code & 0xFF in _CORRUPT


def storage_error(path: Path, error: Exception) -> StorageError:
    """Return the error a person sees for a failure of the cache file."""
    return StorageError(f"The search index {path} can't be used: {error}.", help="It can be deleted at any time.")


def open_store(path: Path, wait: float = WAIT_SECONDS) -> sqlite3.Connection:
    """Open the cache file, making or rebuilding it where needed.

    Args:
        path: the file; its folder is made.
        wait: seconds to wait for another process that writes.

    Raises:
        StorageError: the file or its folder can't be used.
    """
    try:
        make_private(path.parent)
        with _guard(path):
            try:
                return _connect(path, wait)
            except sqlite3.DatabaseError as error:
                if not is_damage(error):
                    raise
            _remove(path)
            return _connect(path, wait)
    except (OSError, sqlite3.Error) as error:
        raise storage_error(path, error) from error


def rebuild_store(path: Path, wait: float = WAIT_SECONDS) -> sqlite3.Connection:
    """Throw the cache file away and make a new one; see `open_store`."""
    try:
        with _guard(path):
            _remove(path)
            return _connect(path, wait)
    except (OSError, sqlite3.Error) as error:
        raise storage_error(path, error) from error


@contextlib.contextmanager
def _guard(path: Path) -> Iterator[None]:
    """Let one process at a time open or replace the file; the kernel releases it when a process dies."""
    descriptor = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _connect(path: Path, wait: float) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=wait, isolation_level=None)
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = ON")  # what may hold a secret that is declared by now
        if version != VERSION or not tables >= _TABLES:
            _make(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _make(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute("DROP TABLE IF EXISTS words")
        for table in ("meta", "files", "blocks"):
            connection.execute(f"DROP TABLE IF EXISTS {table}")
        for statement in _SCHEMA.split(";\n"):
            if statement.strip():
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
