"""The checkpoint saver of a session (D1)."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from urllib.parse import quote

import aiosqlite
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from hitl_tui.core.errors import StorageError
from hitl_tui.ledger.sqlite_readonly import read_connection
from hitl_tui.supervisor.checksums import FORMAT, Check, check_of, check_structure, has_our_tables, prepare
from hitl_tui.supervisor.saver import CheckedSaver, SessionSaver
from hitl_tui.supervisor.state import merge_todos

_ROWS = 64
"""Rows that are fetched at once."""


def serializer() -> JsonPlusSerializer:
    """Return a serializer that loads plain data only: no type that a checkpoint names is ever imported."""
    return JsonPlusSerializer(allowed_msgpack_modules=None)


@asynccontextmanager
async def create_checkpointer(
    db_path: str | Path, *, enable_checkpointing: bool = True
) -> AsyncIterator[BaseCheckpointSaver[str]]:
    """Open the saver on a SQLite file: folders made, schema set up, WAL, strict deserialisation (D1).

    Leaving the context always closes the file. Nobody else in this process may open `db_path` through a file API
    while it is open: closing such a descriptor drops SQLite's locks.

    Args:
        db_path: the checkpoint file.
        enable_checkpointing: False runs without a file: state lives as long as the process.

    Raises:
        StorageError: the file can't be opened, isn't a checkpoint database or was written by a newer version; it is
            not touched.
    """
    if not enable_checkpointing:
        yield InMemorySaver(serde=serializer())
        return
    path = Path(db_path)
    await asyncio.to_thread(_prepare, path)
    try:
        connection = await aiosqlite.connect(path, timeout=10, isolation_level=None, cached_statements=32)
    except sqlite3.Error as error:
        raise StorageError(f"{path} can't be opened: {error}.") from error
    try:
        saver = SessionSaver(connection, serde=serializer(), reducers={"todos": merge_todos}, threads="session_")
        try:
            # The driver's own default is FULL; WAL with NORMAL keeps every commit over a killed process.
            await connection.execute("PRAGMA synchronous=NORMAL")
        except sqlite3.Error as error:
            raise StorageError(f"{path} can't be used as a checkpoint file: {error}.") from error
        yield saver
    finally:
        await connection.close()


def make_durable(db_path: Path) -> None:
    """Bring everything that was committed so far to the disk: with WAL and NORMAL a power cut may take it before.

    Raises:
        StorageError: it can't be written.
    """
    try:
        # A connection of its own: one with a read under way can't do this.
        connection = sqlite3.connect(db_path, timeout=10)
        try:
            connection.execute("PRAGMA wal_checkpoint(FULL)").fetchone()
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise StorageError(f"{db_path} can't be brought to the disk: {error}.") from error


@asynccontextmanager
async def open_read_only(db_path: str | Path, *, checked: bool = False) -> AsyncIterator[CheckedSaver]:
    """Open a checkpoint file for reading, also while another process owns it.

    Args:
        db_path: the file.
        checked: this process has looked for damage in it already.

    Raises:
        StorageError: it isn't there, can't be read or is damaged.
    """
    path = Path(db_path)
    column, fits = await asyncio.to_thread(check_file, path, checked=checked)
    try:
        connection = await aiosqlite.Connection(lambda: read_connection(path), _ROWS)
    except (sqlite3.Error, OSError) as error:
        raise StorageError(f"{path} can't be read: {error}.") from error
    try:
        yield CheckedSaver(connection, serde=serializer(), column=column, check=fits)
    except sqlite3.Error as error:
        raise StorageError(f"{path} can't be read: {error}.") from error
    finally:
        await connection.close()


def _prepare(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        existed = path.exists()
    except OSError as error:
        raise StorageError(f"{path.parent} can't be made: {error.strerror}.") from error
    if existed:
        _roll_back(path)
        check_file(path)
    try:
        with closing(sqlite3.connect(path, timeout=10, isolation_level=None)) as db:
            prepare(db)
    except sqlite3.Error as error:
        raise StorageError(f"{path} can't be used as a checkpoint file: {error}.") from error


def _roll_back(path: Path) -> None:
    """Let SQLite undo what a process was writing that was killed before the file had its log: no reader may do that."""
    if not Path(f"{path}-journal").exists():
        return
    try:
        connection = sqlite3.connect(f"file:{_quoted(path)}?mode=rw", uri=True, timeout=10)
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise StorageError(f"{path} can't be read as a checkpoint file: {error}.") from error


def is_ours(path: Path) -> bool:
    """Return whether a SQLite file is one that `create_checkpointer` made, of any version."""
    try:
        with closing(read_connection(path)) as db:
            return int(db.execute("PRAGMA user_version").fetchone()[0]) > 0 and has_our_tables(db)
    except (sqlite3.Error, OSError):
        return False


def check_file(path: Path, *, checked: bool = False) -> tuple[str, Check]:
    """Check that a file is a checkpoint database of ours, without touching it.

    Args:
        path: the file.
        checked: only look whether it is one; it was looked for damage already.

    Returns:
        what to select as the checksum of its rows, and how to check it.

    Raises:
        StorageError: it is missing, cut off, damaged, of a newer version or not SQLite.
    """
    try:
        connection = read_connection(path)
        try:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version > FORMAT:
                raise StorageError(
                    f"{path} was written by a newer version of hitl-tui (format {version}, this one reads {FORMAT})."
                )
            pages, size = _pages(connection)
            if pages * size > path.stat().st_size and not Path(f"{path}-wal").exists():
                raise StorageError(f"{path} is cut off: {path.stat().st_size} of {pages * size} bytes are there.")
            if not checked:
                check_structure(connection, path)
            return check_of(connection)
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise StorageError(f"{path} can't be read as a checkpoint file: {error}.") from error
    except OSError as error:
        raise StorageError(f"{path} can't be read: {error.strerror}.") from error


def _pages(connection: sqlite3.Connection) -> tuple[int, int]:
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    return int(pages), int(size)


def _quoted(path: Path) -> str:
    return quote(str(path.resolve()))
