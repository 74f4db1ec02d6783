"""A SQLite checkpoint store, opened so that it can't be changed, also while others write it.

It is opened by `mode=ro`, never `immutable`, and no other file API touches it: closing such a descriptor would drop the
locks of whoever has it open in this process. Beside a file in WAL mode SQLite makes a `-wal` and a `-shm`; where there
was none they go again, unless somebody else uses them by then. The file is never written.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import quote

from hitl_tui.core.errors import BadInput, HitlError, StorageError
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import safe_text
from hitl_tui.threads.row_checksums import FORMAT
from hitl_tui.threads.store_tables import Dialect, Row, StoredCheckpoint, Values
from hitl_tui.threads.thread_model import StoreInfo

_BUSY = 10.0
_WHOLE = "SELECT type, checkpoint FROM $c WHERE thread_id = :thread AND checkpoint_ns = :ns AND checkpoint_id = :id"
_COLUMNS = {"thread_id", "checkpoint_ns", "checkpoint_id", "parent_checkpoint_id", "type", "checkpoint", "metadata"}
_WRITES = {"thread_id", "checkpoint_ns", "checkpoint_id", "task_id", "idx", "channel", "type", "value"}
_OLD = {"thread_id", "thread_ts", "parent_ts", "checkpoint"}
"""Columns of LangGraph before 0.2."""
_OURS = range(1, FORMAT + 1)
"""Formats of our own files: in them the newest checkpoint is the one written last, whatever its id."""
_DEFAULTS = {"checkpoint_ns": "''", "type": "NULL", "metadata": "NULL", "task_path": "''", "idx": "0"}


class SqliteDatabase:
    """An open SQLite store; `open` makes one.

    Args:
        connection: open for reading.
        path: the file.
        info: what it is, in words.
        dialect: how its tables are called.
        quiet: nobody had it open before.
    """

    def __init__(
        self, connection: sqlite3.Connection, path: Path, info: StoreInfo, dialect: Dialect, *, quiet: bool = False
    ) -> None:
        self._connection = connection
        self._quiet = quiet
        self._path = path
        self._info = info
        self._dialect = dialect
        self._lock = asyncio.Lock()
        self._closed = False

    @property
    def info(self) -> StoreInfo:
        return self._info

    @property
    def dialect(self) -> Dialect:
        return self._dialect

    @classmethod
    async def open(cls, path: Path) -> SqliteDatabase:
        """Open a file.

        Raises:
            BadInput: it isn't there, or is no checkpoint store of LangGraph that can be read; it is not touched.
        """
        quiet = not any(beside.exists() for beside in _beside(path))
        connection, info, dialect = await asyncio.to_thread(_open, path)
        return cls(connection, path, info, dialect, quiet=quiet)

    def ids(self, texts: Sequence[str]) -> Any:
        return json.dumps(list(texts))

    async def rows(self, sql: str, values: Values) -> list[Row]:
        async with self._lock:
            if self._closed:
                raise StorageError(Message("{} was closed.", _shown(self._path)))
            working = asyncio.ensure_future(asyncio.to_thread(self._fetch, sql, dict(values)))
            try:
                return await asyncio.shield(working)
            except asyncio.CancelledError:
                # Nobody waits for it any more, and the connection takes one statement at a time.
                self._connection.interrupt()
                await asyncio.wait({working})
                working.exception()
                raise

    def _fetch(self, sql: str, values: dict[str, Any]) -> list[Row]:
        try:
            return self._connection.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise _explained(self._path, error) from error

    async def whole(
        self, thread: str, ns: str, checkpoint_id: str
    ) -> tuple[StoredCheckpoint | None, Mapping[str, StoredCheckpoint]]:
        found = await self.rows(
            Template(_WHOLE).substitute(c=self._dialect.checkpoints),
            {"thread": thread, "ns": ns, "id": checkpoint_id},
        )
        return (StoredCheckpoint(found[0][0], found[0][1]) if found else None), {}

    async def channels(
        self, thread: str, ns: str, checkpoint_ids: Sequence[str], like: Sequence[str]
    ) -> Mapping[str, Mapping[str, StoredCheckpoint]]:
        return {}

    async def inputs(self, places: Sequence[tuple[str, str]]) -> Mapping[str, StoredCheckpoint]:
        return {}

    async def close(self) -> None:
        async with self._lock:
            if not self._closed:
                self._closed = True
                await asyncio.to_thread(self._connection.close)
                if self._quiet:
                    await asyncio.to_thread(_tidy, self._path)


def _open(path: Path) -> tuple[sqlite3.Connection, StoreInfo, Dialect]:
    shown = _shown(path)
    try:
        if not path.exists():
            raise BadInput(Message("{} doesn't exist.", shown))
        if path.is_dir():
            inside = path / "checkpoints.db"
            near = Message("Did you mean {}?", _shown(inside)) if inside.is_file() else ""
            raise BadInput(Message("{} is a folder; a checkpoint database is a file in one.", shown), help=near)
        if not path.is_file():
            raise BadInput(Message("{} isn't a regular file.", shown))
        if path.stat().st_size == 0 and not Path(f"{path}-wal").exists():
            raise BadInput(Message("{} is empty.", shown))
        target = path.resolve()
    except (OSError, ValueError) as error:
        raise BadInput(Message("{} can't be read: {}.", shown, getattr(error, "strerror", None) or error)) from error
    connection: sqlite3.Connection | None = None
    try:
        connection = sqlite3.connect(
            f"file:{quote(str(target))}?mode=ro", uri=True, timeout=_BUSY, isolation_level=None, check_same_thread=False
        )
        # Texts that are no UTF-8 are shown with what stands for them, not an error.
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
        notes, dialect = _read_schema(connection, path)
    except sqlite3.Error as error:
        _close(connection)
        raise BadInput(_explained(path, error).message) from error
    except HitlError:
        _close(connection)
        raise
    return connection, StoreInfo("SQLite", shown, notes), dialect


def _beside(path: Path) -> list[Path]:
    """Return the files that SQLite makes beside one in WAL mode."""
    return [Path(f"{path}{ending}") for ending in ("-wal", "-shm")]


def _tidy(path: Path) -> None:
    """Take away the empty `-wal` and the `-shm` that reading a file in WAL mode made.

    Only a connection that could write does so, when it closes as the last one of all processes.
    """
    wal = _beside(path)[0]
    with suppress(sqlite3.Error, OSError):
        if not wal.exists() or wal.stat().st_size:
            return
        with closing(sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=rw", uri=True, timeout=0)) as last:
            last.execute("PRAGMA query_only = ON")
            last.execute("SELECT count(*) FROM sqlite_master").fetchone()


def _close(connection: sqlite3.Connection | None) -> None:
    if connection is not None:
        with suppress(sqlite3.Error):
            connection.close()


def _read_schema(connection: sqlite3.Connection, path: Path) -> tuple[tuple[str, ...], Dialect]:
    shown = _shown(path)
    tables = {
        str(name): str(sql or "")
        for name, sql in connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' LIMIT 10000")
    }
    if "checkpoints" not in tables:
        raise BadInput(Message("{} is a SQLite database without LangGraph's table of checkpoints.", shown))
    for name in ("checkpoints", "writes"):
        if tables.get(name, "").lower().split()[1:2] == ["virtual"]:
            raise BadInput(
                Message("{} has no table {} of LangGraph's but a virtual one, which could run code.", shown, name)
            )
    columns, writes = (_columns(connection, name) for name in ("checkpoints", "writes"))
    notes: list[str] = []
    if columns >= _OLD and "checkpoint_id" not in columns:
        notes.append(Message("It was written by LangGraph before 0.2."))
        other = {"checkpoint_id": "thread_ts", "parent_checkpoint_id": "parent_ts", **_DEFAULTS}
        kept = _relation("checkpoints", columns, _COLUMNS, other)
    elif missing := _COLUMNS - {"type", "metadata", "checkpoint_ns"} - columns:
        raise BadInput(
            Message(
                "{} has a table of checkpoints in a form that isn't known here: without {}.",
                shown,
                ", ".join(sorted(missing)),
            )
        )
    else:
        kept = _relation("checkpoints", columns, _COLUMNS, _DEFAULTS)
    if not writes:
        notes.append(Message("It has no table of writes: questions and results of single tasks can't be shown."))
    return tuple(notes), Dialect(
        checkpoints=kept,
        writes=_writes(writes),
        head="c.type, CASE WHEN length(c.checkpoint) <= :most THEN c.checkpoint END, length(c.checkpoint)",
        ids="(SELECT value AS id FROM json_each(:ids))",
        ordered=kept == "checkpoints" and connection.execute("PRAGMA user_version").fetchone()[0] in _OURS,
    )


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})")}


def _relation(table: str, there: set[str], wanted: set[str], otherwise: Mapping[str, str]) -> str:
    """Return a table, or a selection that has the columns it lacks."""
    if wanted <= there:
        return table
    parts = [name if name in there else f"{otherwise.get(name, 'NULL')} AS {name}" for name in sorted(wanted)]
    return " ".join(("(SELECT", ", ".join(parts), "FROM", f"{table})"))


def _writes(there: set[str]) -> str:
    wanted = {*_WRITES, "task_path"}
    if not there & {"checkpoint_id", "thread_ts"} or not {"thread_id", "channel", "value"} <= there:
        return f"(SELECT {', '.join(f'NULL AS {name}' for name in sorted(wanted))} WHERE 0)"
    return _relation("writes", there, wanted, {"checkpoint_id": "thread_ts", **_DEFAULTS})


def _explained(path: Path, error: sqlite3.Error) -> StorageError:
    """Return one sentence for what SQLite says."""
    shown, name = _shown(path), getattr(error, "sqlite_errorname", "") or ""
    if name.startswith("SQLITE_NOTADB"):
        return StorageError(Message("{} isn't a SQLite database, or it is encrypted.", shown))
    if name.startswith("SQLITE_CORRUPT"):
        return StorageError(Message("{} is damaged or cut off: SQLite can't read its pages.", shown))
    if name.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
        return StorageError(
            Message(
                "{} can't be opened for reading. In WAL mode its folder must be writable or its "
                "-shm file present; or copy it with its -wal file to a folder of yours and open "
                "that.",
                shown,
            )
        )
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StorageError(Message("{} is locked by another program; try again in a moment.", shown))
    if name.startswith("SQLITE_IOERR"):
        return StorageError(Message("{} can't be read from the disk ({}).", shown, name))
    return StorageError(Message("{} can't be read: {}.", shown, safe_text(str(error), multiline=False, limit=200)))


def _shown(path: Path) -> str:
    return safe_text(str(path), multiline=False, limit=300)
