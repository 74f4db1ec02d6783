"""A session's checkpoint file, open for reading without LangGraph: which it is, whether it is whole, and its rows."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import aiosqlite

from hitl_tui.core.errors import StorageError
from hitl_tui.core.messages import Message
from hitl_tui.ledger.sqlite_readonly import read_connection
from hitl_tui.supervisor.plain_values import PlainValues
from hitl_tui.threads import value_decoder
from hitl_tui.threads.row_checksums import (
    COLUMN,
    FORMAT,
    ORDER,
    TABLES,
    Check,
    check,
    check_of,
    check_structure,
    has_our_tables,
)
from hitl_tui.threads.session_history import CheckpointRows, Deserializer, WholeCheckpoint, file_dialect
from hitl_tui.threads.store_tables import Dialect, Row, Values

Write = tuple[str, str, Any]
"""Task, channel, value."""

_WALK_AT_ONCE = 64
"""Checkpoints that are gone back at once to find a delta channel's last whole value."""

_ROWS = 64
"""Rows that are fetched at once."""

_CHECKPOINT = "c.parent_checkpoint_id, c.type, c.checkpoint, c.metadata"
_WRITE = "w.task_id, w.task_path, w.idx, w.channel, w.type, w.value"

_LOAD = f"""SELECT 0, c.checkpoint_id, {_CHECKPOINT}, NULL, NULL, c.$sum FROM checkpoints c
    WHERE c.thread_id = :thread AND c.checkpoint_ns = :ns AND c.checkpoint_id = {{chosen}}
    UNION ALL
    SELECT 1, w.checkpoint_id, {_WRITE}, w.$sum FROM writes w
    WHERE w.thread_id = :thread AND w.checkpoint_ns = :ns AND w.checkpoint_id = {{chosen}}"""  # noqa: S608 - constants
_NEWEST = """SELECT checkpoint_id FROM checkpoints WHERE thread_id = :thread AND checkpoint_ns = :ns
    ORDER BY rowid DESC LIMIT 1"""

_WALK = f"""WITH RECURSIVE up(id, parent, depth) AS (
        SELECT checkpoint_id, parent_checkpoint_id, 0 FROM checkpoints
        WHERE thread_id = :thread AND checkpoint_ns = :ns AND checkpoint_id = :id
        UNION ALL
        SELECT c.checkpoint_id, c.parent_checkpoint_id, up.depth + 1
        FROM up CROSS JOIN checkpoints c ON c.checkpoint_id = up.parent
        WHERE c.thread_id = :thread AND c.checkpoint_ns = :ns AND up.id <> :known AND up.depth < :most)
    SELECT up.id, {_CHECKPOINT}, c.$sum, {_WRITE}, w.$sum
    FROM up CROSS JOIN checkpoints c ON c.thread_id = :thread AND c.checkpoint_ns = :ns AND c.checkpoint_id = up.id
    LEFT JOIN writes w ON w.thread_id = :thread AND w.checkpoint_ns = :ns AND w.checkpoint_id = up.id
        AND w.channel IN (SELECT value FROM json_each(:channels))
    WHERE up.depth > 0 ORDER BY up.depth"""  # noqa: S608 - constants

_WRITTEN = """SELECT channel, type, value FROM writes WHERE thread_id = ? AND checkpoint_ns = ''
    AND channel IN (SELECT value FROM json_each(?)) ORDER BY rowid"""


@dataclass(frozen=True, slots=True)
class CheckpointRow:
    """A checkpoint's row and those of the writes from it on, each as it was written.

    Args:
        id, parent: its own id and its parent's, None for none.
        kind, blob: format and bytes of its values.
        metadata: JSON, None where there is none.
        writes: task, path, index, channel, format and bytes of each, in the order they are applied.
    """

    id: str
    parent: str | None
    kind: str
    blob: bytes
    metadata: bytes | str | None
    writes: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Ancestor:
    """A checkpoint that another one came from.

    Args:
        id: which.
        values: its channels' values.
        writes: what was written from it on to the channels asked for, in order: task, channel, value.
    """

    id: str
    values: Values
    writes: Sequence[Write]


@dataclass(slots=True)
class ChannelPast:
    """What a delta channel's value at a checkpoint is made of.

    Args:
        writes: what was written to it since its last whole value, oldest first.
        found: whether there is such a value; else it began empty.
        seed: that value as it was stored.
    """

    writes: Sequence[Write]
    found: bool = False
    seed: object = None


class CheckpointFile:
    """A file of ours, for reading: newest is what was written last, and damaged rows are never believed.

    Args:
        connection: an open aiosqlite connection in autocommit mode.
        serde: how values are kept.
        column: what to select as a row's checksum.
        check: checks a row against it.
    """

    conn: aiosqlite.Connection
    serde: Deserializer
    dialect: Dialect

    def __init__(
        self, connection: aiosqlite.Connection, *, serde: Deserializer, column: str = COLUMN, check: Check = check
    ) -> None:
        self.conn = connection
        self.serde = serde
        self.column = column
        self.check = check
        self.dialect = file_dialect(column)
        sums = (column.replace(COLUMN, f"c.{COLUMN}"), column.replace(COLUMN, f"w.{COLUMN}"))
        self._load, self._walk = (_with_sums(text, *sums) for text in (_LOAD, _WALK))

    async def rows(self, sql: str, values: Row | Values = ()) -> list[Row]:
        """Return a statement's rows.

        Raises:
            StorageError: the file can't be read.
        """
        try:
            return list(await self.conn.execute_fetchall(sql, values))  # type-checked by aiosqlite as a sequence
        except sqlite3.Error as error:
            raise unreadable(error) from error

    async def whole(self, rows: Sequence[Row], *, plain: bool = False) -> list[WholeCheckpoint]:
        """See `CheckpointRows.whole`."""
        found: list[WholeCheckpoint] = []
        for checkpoint_id, parent, metadata, thread, ns, kind, blob, kept in rows:
            self.check((thread, ns, checkpoint_id, parent, kind, blob, metadata), kept)
            value = value_decoder.load(str(kind), blob) if plain else self.serde.loads_typed((kind, blob))
            found.append(WholeCheckpoint(checkpoint_id, parent, value, metadata))
        return found

    async def stored(self, thread: str, ns: str = "", checkpoint_id: str = "") -> CheckpointRow | None:
        """Return a checkpoint, the one written last where none is named; None when it isn't there.

        Raises:
            StorageError: a row isn't as it was written.
        """
        values = {"thread": thread, "ns": ns, "id": checkpoint_id}
        rows = await self.rows(self._load.format(chosen=":id" if checkpoint_id else f"({_NEWEST})"), values)
        if not rows or rows[0][0] != 0:
            return None
        _, found, parent, kind, blob, metadata, _, _, kept = rows[0]
        self.check((thread, ns, found, parent, kind, blob, metadata), kept)
        for _, at, *write, kept in rows[1:]:
            self.check((thread, ns, at, *write), kept)
        return CheckpointRow(found, parent, kind, blob, metadata, in_order([row[2:8] for row in rows[1:]]))

    async def newest(self, thread: str, ns: str = "") -> str:
        """Return the id of the checkpoint written last, empty when there is none."""
        found = await self.rows(_NEWEST, {"thread": thread, "ns": ns})
        return str(found[0][0]) if found else ""

    async def past_of(
        self, thread: str, ns: str, checkpoint_id: str, channels: Sequence[str]
    ) -> dict[str, ChannelPast]:
        """Return what the values of delta channels at a checkpoint are made of that doesn't hold them itself.

        Raises:
            StorageError: a row isn't as it was written.
        """
        writes: dict[str, list[Sequence[Write]]] = {channel: [] for channel in channels}
        seeds: dict[str, object] = {}
        at, seen, missing = checkpoint_id, {checkpoint_id}, set(channels)
        while missing:
            before = len(seen)
            for ancestor in await self.ancestors(thread, ns, at, sorted(missing), most=_WALK_AT_ONCE):
                if ancestor.id in seen:  # a chain that was made a loop
                    missing.clear()
                    break
                seen.add(ancestor.id)
                at = ancestor.id
                for channel in list(missing):
                    writes[channel].append([w for w in ancestor.writes if w[1] == channel])
                    if channel in ancestor.values:
                        seeds[channel] = ancestor.values[channel]
                        missing.discard(channel)
                if not missing:
                    break
            if len(seen) - before < _WALK_AT_ONCE:
                break
        return {
            channel: ChannelPast([w for part in reversed(parts) for w in part], channel in seeds, seeds.get(channel))
            for channel, parts in writes.items()
        }

    async def ancestors(
        self, thread: str, ns: str, checkpoint_id: str, channels: Sequence[str], *, most: int, known: str = ""
    ) -> Iterator[Ancestor]:
        """Return what a checkpoint came from, nearest first, at most so many, and nothing before one that is known.

        Of that one there are the writes alone. Each is checked and decoded when it is its turn: a caller mostly has
        enough after a few.
        """
        values = {
            "thread": thread, "ns": ns, "id": checkpoint_id, "known": known, "most": most,
            "channels": json.dumps(list(channels)),
        }  # fmt: skip
        by_id: dict[str, list[Row]] = {}
        for row in await self.rows(self._walk, values):
            by_id.setdefault(row[0], []).append(row)
        return (self._ancestor(thread, ns, rows, known) for rows in by_id.values())

    def _ancestor(self, thread: str, ns: str, rows: Sequence[Row], known: str) -> Ancestor:
        at, parent, kind, blob, metadata, kept = rows[0][:6]
        self.check((thread, ns, at, parent, kind, blob, metadata), kept)
        wrote = [row[6:] for row in rows if row[6] is not None]
        for *write, kept in wrote:
            self.check((thread, ns, at, *write), kept)
        values = {} if at == known else self.serde.loads_typed((kind, blob)).get("channel_values") or {}
        return Ancestor(at, values, [(w[0], w[3], self.serde.loads_typed((w[4], w[5]))) for w in in_order(wrote)])


class StoredCheckpoints(CheckpointRows, Protocol):
    """The checkpoints of a session, open for reading: `CheckpointFile`, or those of a database."""

    async def newest(self, thread: str, ns: str = "") -> str:
        """Return the id of the checkpoint written last, empty when there is none."""
        ...


def in_order(writes: Sequence[Row]) -> list[Row]:
    """Return writes of one checkpoint in the order that LangGraph applies them: by path, task and index."""
    return sorted(writes, key=lambda w: (w[1], w[0], w[2]))


def unreadable(error: sqlite3.Error) -> StorageError:
    """Return the sentence for what SQLite says of a checkpoint file."""
    code = (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return StorageError(Message("The checkpoints can't be written or read ({}): is the disk full?", error))
    if code == sqlite3.SQLITE_CORRUPT:
        return StorageError(Message("The checkpoints are damaged; put back a copy of the file, or import an export."))
    return StorageError(Message("The checkpoints can't be used: {}.", error))


def _with_sums(statement: str, of_checkpoint: str, of_write: str) -> str:
    return statement.replace("c.$sum", of_checkpoint).replace("w.$sum", of_write)


@asynccontextmanager
async def open_read_only(db_path: str | Path, *, checked: bool = False) -> AsyncIterator[CheckpointFile]:
    """Open a checkpoint file for reading, also while another process owns it.

    Args:
        db_path: the file.
        checked: this process has looked for damage in it already.

    Raises:
        StorageError: it isn't there, can't be read or is damaged.
    """
    path = Path(db_path)
    column, fits = await asyncio.to_thread(check_file, path, checked=checked)
    if not await asyncio.to_thread(_has_tables, path):
        async with open_empty() as file:
            yield file
        return
    try:
        connection = await aiosqlite.Connection(lambda: read_connection(path), _ROWS)
    except (sqlite3.Error, OSError) as error:
        raise StorageError(Message("{} can't be read: {}.", path, error)) from error
    try:
        yield CheckpointFile(connection, serde=PlainValues(), column=column, check=fits)
    except sqlite3.Error as error:
        raise StorageError(Message("{} can't be read: {}.", path, error)) from error
    finally:
        await connection.close()


def written_to(path: Path, thread: str, channels: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return what was written to some channels of a thread, oldest first, unchecked: channel, format and bytes.

    A file that can't be read has nothing.
    """
    try:
        with closing(read_connection(path)) as db:
            return db.execute(_WRITTEN, (thread, json.dumps(list(channels)))).fetchall()
    except (sqlite3.Error, OSError):
        return []


@asynccontextmanager
async def open_empty() -> AsyncIterator[CheckpointFile]:
    """Open for reading what a session that was killed before its first checkpoint would have had."""
    connection = await aiosqlite.connect(":memory:", isolation_level=None)
    try:
        await connection.executescript(f"{TABLES}{ORDER}")
        yield CheckpointFile(connection, serde=PlainValues())
    finally:
        await connection.close()


def _has_tables(path: Path) -> bool:
    """Return False for a file whose maker was killed before there was anything in it."""
    try:
        with closing(read_connection(path)) as db:
            return bool(db.execute("SELECT EXISTS (SELECT 1 FROM sqlite_master)").fetchone()[0])
    except (sqlite3.Error, OSError):  # reading it says what is wrong
        return True


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
                    Message(
                        "{} was written by a newer version of hitl-tui (format {}, this one reads {}).",
                        path,
                        version,
                        FORMAT,
                    )
                )
            pages, size = _pages(connection)
            if pages * size > path.stat().st_size and not Path(f"{path}-wal").exists():
                raise StorageError(
                    Message("{} is cut off: {} of {} bytes are there.", path, path.stat().st_size, pages * size)
                )
            if not checked:
                check_structure(connection, path)
            return check_of(connection)
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise StorageError(Message("{} can't be read as a checkpoint file: {}.", path, error)) from error
    except OSError as error:
        raise StorageError(Message("{} can't be read: {}.", path, error.strerror)) from error


def _pages(connection: sqlite3.Connection) -> tuple[int, int]:
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    return int(pages), int(size)


def write_through(db_path: Path) -> None:
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
        raise StorageError(Message("{} can't be written to disk: {}.", db_path, error)) from error
