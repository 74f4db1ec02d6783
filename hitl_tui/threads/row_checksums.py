"""Checksums of rows in a checkpoint file, checked whenever a row is read.

A checksum covers everything in a row: keys, parent, blob and metadata. It finds damage; whoever can write the file can
also compute it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from hashlib import blake2b
from pathlib import Path

from hitl_tui.core.errors import StorageError
from hitl_tui.core.messages import Message

FORMAT, SEALED = 3, 2
"""Version of what we keep in a checkpoint file, in its `user_version`; since 2 each row has a checksum.

Since 3 values may be packed.
"""

CHECKPOINT_COLUMNS = "thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata"
WRITE_COLUMNS = "thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value"
COLUMN = "checksum"

INDEX = "checkpoints_in_order"
TABLES = f"""
CREATE TABLE IF NOT EXISTS checkpoints (
    thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
    parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB, {COLUMN} BLOB,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id));
CREATE TABLE IF NOT EXISTS writes (
    thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
    task_id TEXT NOT NULL, task_path TEXT NOT NULL DEFAULT '', idx INTEGER NOT NULL, channel TEXT NOT NULL,
    type TEXT, value BLOB, {COLUMN} BLOB,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx));
"""
ORDER = f"CREATE INDEX IF NOT EXISTS {INDEX} ON checkpoints (thread_id, checkpoint_ns)"
"""Rows of a thread in the order they were written: an index ends with the number of the row."""

_KNOWN = frozenset({("table", "checkpoints"), ("table", "writes"), ("index", INDEX)})
_DO = Message("Put back a copy of the file, or import an export of the session.")

Row = Sequence[object]
Check = Callable[[Row, object], None]


def checksum(row: Row) -> bytes:
    """Return the checksum of a row: texts, numbers, blobs and None, in the order of the columns."""
    blobs = [value for value in row if isinstance(value, bytes)]
    plain = tuple(len(value) if isinstance(value, bytes) else value for value in row)
    hashed = blake2b(ascii(plain).encode(), digest_size=16)
    for blob in blobs:
        hashed.update(blob)
    return hashed.digest()


def check(row: Row, kept: object) -> None:
    """Check a row against the checksum kept with it.

    Raises:
        StorageError: it isn't as it was written.
    """
    if kept != checksum(row):
        raise StorageError(
            Message(
                "A checkpoint of {} is damaged: it isn't as it was written; nothing was changed.", str(row[0])[:80]
            ),
            help=_DO,
        )


def check_unless_older(row: Row, kept: object) -> None:
    """Check a row of a file whose rows may be from before there were checksums.

    Raises:
        StorageError: it has a checksum and isn't as it was written.
    """
    if kept is not None:
        check(row, kept)


def check_of(db: sqlite3.Connection) -> tuple[str, Check]:
    """Return what to select as the checksum in a checkpoint file, and how to check it."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    columns = {str(row[1]) for row in db.execute("PRAGMA table_info(checkpoints)")}
    if int(version) >= SEALED:
        return COLUMN, check
    return (COLUMN if COLUMN in columns else "NULL"), check_unless_older


def has_our_tables(db: sqlite3.Connection) -> bool:
    """Return whether a database holds nothing but tables that a checkpoint file has."""
    return set(db.execute("SELECT type, name FROM sqlite_master WHERE sql <> ''")) <= _KNOWN


def check_structure(db: sqlite3.Connection, path: Path) -> None:
    """Check that a checkpoint file has our tables, and that SQLite finds every row where its indexes say it is.

    Raises:
        StorageError: it is damaged.
    """
    if not has_our_tables(db):
        raise StorageError(
            Message("The checkpoints {} are damaged: its tables aren't ours; nothing was changed.", path), help=_DO
        )
    found = str(db.execute("PRAGMA integrity_check(1)").fetchone()[0])
    if found != "ok":
        raise StorageError(
            Message("The checkpoints {} are damaged ({}); nothing was changed.", path, found[:200]), help=_DO
        )


def check_rows(db: sqlite3.Connection) -> None:
    """Check every row of a checkpoint file.

    Raises:
        StorageError: one isn't as it was written.
    """
    column, fits = check_of(db)
    for table, columns in (("checkpoints", CHECKPOINT_COLUMNS), ("writes", WRITE_COLUMNS)):
        with closing(db.execute(f"SELECT {columns}, {column} FROM {table}")) as rows:  # noqa: S608 - constants
            for *row, kept in rows:
                fits(row, kept)


def prepare(db: sqlite3.Connection) -> None:
    """Bring a checkpoint file to today's format: tables, order, and a checksum in each row from before there were any.

    Args:
        db: a connection in autocommit mode whose file was checked.
    """
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version >= FORMAT:
        return
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("BEGIN IMMEDIATE")
    try:
        if version < SEALED:
            _seal(db)
        db.execute(f"PRAGMA user_version = {FORMAT}")
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise


def _seal(db: sqlite3.Connection) -> None:
    for statement in TABLES.split(";\n"):
        if statement.strip():
            db.execute(statement)
    for table, columns in (("checkpoints", CHECKPOINT_COLUMNS), ("writes", WRITE_COLUMNS)):
        there = {str(row[1]) for row in db.execute(f"PRAGMA table_info({table})")}
        if table == "writes" and "task_path" not in there:
            db.execute("ALTER TABLE writes ADD COLUMN task_path TEXT NOT NULL DEFAULT ''")
        if COLUMN not in there:
            db.execute(f"ALTER TABLE {table} ADD COLUMN {COLUMN} BLOB")
        unsealed = f"SELECT rowid, {columns} FROM {table} WHERE {COLUMN} IS NULL"  # noqa: S608 - constants
        sums = [(checksum(row), number) for number, *row in db.execute(unsealed)]
        db.executemany(f"UPDATE {table} SET {COLUMN} = ? WHERE rowid = ?", sums)  # noqa: S608 - constants
    db.execute(ORDER)
