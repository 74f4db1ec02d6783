"""The SQLite savers of a session's checkpoints, and opening its file to write or only to read."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    get_checkpoint_id,
    get_checkpoint_metadata,
    writes_sort_key,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.checkpoint.sqlite.utils import search_where
from langgraph.types import Overwrite

from hitl_tui.core.errors import StorageError
from hitl_tui.core.messages import Message
from hitl_tui.ledger.sqlite_readonly import read_connection
from hitl_tui.supervisor.checkpoint_ids import keep_ahead
from hitl_tui.supervisor.state import merge_todos
from hitl_tui.threads.packed_values import packed_aside, unpacked
from hitl_tui.threads.row_checksums import (
    CHECKPOINT_COLUMNS,
    COLUMN,
    FORMAT,
    ORDER,
    TABLES,
    WRITE_COLUMNS,
    Check,
    check,
    check_of,
    check_structure,
    checksum,
    has_our_tables,
    prepare,
)
from hitl_tui.threads.store_tables import Row, Values

Reducer = Callable[[Any, Sequence[Any]], Any]
"""Applies what was written to a channel, in order, to its value."""

Write = tuple[str, str, Any]
"""Task, channel, value."""

_WALK_AT_ONCE = 64
"""Checkpoints that are gone back at once to find a delta channel's last whole value."""

_LONGEST_WALK = 16
"""Checkpoints that are looked at between a remembered one and the one to load, before it is loaded from scratch."""

_MOST_ROWS = 1000
"""Rows of ten values that one statement takes: SQLite allows 32,766 values."""

_CHECKPOINT = "c.parent_checkpoint_id, c.type, c.checkpoint, c.metadata"
_WRITE = "w.task_id, w.task_path, w.idx, w.channel, w.type, w.value"

_LOAD = f"""SELECT 0, c.checkpoint_id, {_CHECKPOINT}, NULL, NULL, c.$sum FROM checkpoints c
    WHERE c.thread_id = :thread AND c.checkpoint_ns = :ns AND c.checkpoint_id = {{chosen}}
    UNION ALL
    SELECT 1, w.checkpoint_id, {_WRITE}, w.$sum FROM writes w
    WHERE w.thread_id = :thread AND w.checkpoint_ns = :ns AND w.checkpoint_id = {{chosen}}"""  # noqa: S608 - constants
_NEWEST = """SELECT checkpoint_id FROM checkpoints WHERE thread_id = :thread AND checkpoint_ns = :ns
    ORDER BY rowid DESC LIMIT 1"""

_PUT = f"""INSERT INTO checkpoints ({CHECKPOINT_COLUMNS}, {COLUMN}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET parent_checkpoint_id = excluded.parent_checkpoint_id, type = excluded.type,
    checkpoint = excluded.checkpoint, metadata = excluded.metadata, {COLUMN} = excluded.{COLUMN}"""  # noqa: S608 - constants
"""A checkpoint that is written again keeps its place in the order."""

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


@dataclass(frozen=True, slots=True)
class Remembered:
    """A delta channel's value at a checkpoint; nobody changes it in place, reducers make new ones."""

    checkpoint_id: str
    value: object


class CheckedSaver(AsyncSqliteSaver):
    """Saver on a file of ours, for reading: newest is what was written last, and damaged rows are never believed.

    LangGraph's own goes by ids, which are times of clocks; clocks go back.

    Args:
        connection: an open aiosqlite connection in autocommit mode.
        serde: how values are kept.
        column: what to select as a row's checksum.
        check: checks a row against it.
    """

    def __init__(
        self, connection: aiosqlite.Connection, *, serde: SerializerProtocol, column: str = COLUMN, check: Check = check
    ) -> None:
        super().__init__(connection, serde=serde)
        self.is_setup = True
        self.column = column
        self.check = check
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

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        thread, ns = _place(config)
        chosen = get_checkpoint_id(config)
        values = {"thread": thread, "ns": ns, "id": chosen}
        rows = await self.rows(self._load.format(chosen=":id" if chosen else f"({_NEWEST})"), values)
        if not rows or rows[0][0] != 0:
            return None
        _, checkpoint_id, parent, kind, blob, metadata, _, _, kept = rows[0]
        self.check((thread, ns, checkpoint_id, parent, kind, blob, metadata), kept)
        for _, at, *write, kept in rows[1:]:
            self.check((thread, ns, at, *write), kept)
        if not chosen:
            keep_ahead(checkpoint_id)
        writes = sorted(rows[1:], key=lambda r: writes_sort_key(r[3], r[2], r[4]))
        return CheckpointTuple(
            config if chosen else _config(thread, ns, checkpoint_id),
            self.serde.loads_typed((kind, blob)),
            json.loads(metadata) if metadata is not None else {},
            _config(thread, ns, parent) if parent else None,
            [(w[2], w[5], self.serde.loads_typed((w[6], w[7]))) for w in writes],
        )

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        where, values = search_where(config, filter)
        bounds: list[str | None] = []
        if before is not None:
            # It may be one of another namespace: what is asked for is what was written before it.
            there = "thread_id = ? AND " if config is not None else ""
            bounds = [str(config["configurable"]["thread_id"])] if config is not None else []
            bounds.append(get_checkpoint_id(before))
            bound = f"rowid < (SELECT rowid FROM checkpoints WHERE {there}checkpoint_id = ?)"  # noqa: S608 - constants
            where = f"{where} AND {bound}" if where else f"WHERE {bound}"
        sql = f"SELECT thread_id, checkpoint_ns, checkpoint_id FROM checkpoints {where} ORDER BY rowid DESC LIMIT ?"  # noqa: S608 - constants
        # One by one: a list that is left half read holds nothing up.
        for thread, ns, checkpoint_id in await self.rows(sql, [*values, *bounds, -1 if limit is None else limit]):
            found = await self.aget_tuple(_config(thread, ns, checkpoint_id))
            if found is not None:
                yield found

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        thread, ns = _place(config)
        at = str(get_checkpoint_id(config) or await self.newest(thread, ns))
        writes: dict[str, list[Sequence[Write]]] = {channel: [] for channel in channels}
        seeds: dict[str, object] = {}
        seen = {at}
        missing = set(channels)
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
        histories: dict[str, DeltaChannelHistory] = {}
        for channel, parts in writes.items():
            histories[channel] = {"writes": [w for part in reversed(parts) for w in part]}
            if channel in seeds:
                histories[channel]["seed"] = seeds[channel]
        return histories

    async def newest(self, thread: str, ns: str = "") -> str:
        """Return the id of the checkpoint written last, empty when there is none."""
        found = await self.rows(_NEWEST, {"thread": thread, "ns": ns})
        return str(found[0][0]) if found else ""

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
        wrote.sort(key=lambda w: writes_sort_key(w[1], w[0], w[2]))
        values = {} if at == known else self.serde.loads_typed((kind, blob)).get("channel_values") or {}
        return Ancestor(at, values, [(w[0], w[3], self.serde.loads_typed((w[4], w[5]))) for w in wrote])


class SessionSaver(CheckedSaver):
    """Saver of the process that owns the file, the only one that writes it.

    Args:
        connection: an open aiosqlite connection in autocommit mode (`isolation_level=None`).
        serde: how values are kept.
        reducers: delta channels of mappings to remember, with their reducers, which have to be pure.
        threads: how the ids of the threads begin whose channels these are.
    """

    def __init__(
        self,
        connection: aiosqlite.Connection,
        *,
        serde: SerializerProtocol,
        reducers: Mapping[str, Reducer],
        threads: str,
    ) -> None:
        super().__init__(connection, serde=serde)
        self._reducers = dict(reducers)
        self._threads = threads
        self._remembered: dict[tuple[str, str, str], Remembered] = {}

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found = await super().aget_tuple(config)
        if found is not None:
            thread, ns = _place(config)
            values = found.checkpoint.get("channel_values") or {}
            for channel in self._reducers:
                whole = values.get(channel)
                if isinstance(whole, _DeltaSnapshot) and self._reducer(thread, ns, channel) is not None:
                    self._remembered[thread, ns, channel] = Remembered(str(found.checkpoint["id"]), whole.value)
        return found

    def _reducer(self, thread: str, ns: str, channel: str) -> Reducer | None:
        # Teams' graphs share this saver, and may call a channel of theirs the same.
        return self._reducers.get(channel) if not ns and thread.startswith(self._threads) else None

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        thread, ns = _place(config)
        kind, blob = await packed_aside(*self.serde.dumps_typed(checkpoint))
        details = json.dumps(get_checkpoint_metadata(config, metadata), ensure_ascii=False).encode("utf-8", "ignore")
        row = (thread, ns, checkpoint["id"], config["configurable"].get("checkpoint_id"), kind, blob, details)
        async with self.lock:
            await self.rows(_PUT, (*row, checksum(row)))
        return _config(thread, ns, checkpoint["id"])

    def get_next_version(self, current: str | None, channel: None) -> str:
        """Return a version without the digits at random that LangGraph adds, which can't be packed.

        They tell versions of forks apart where values are stored by version; here each checkpoint holds its own.
        """
        return super().get_next_version(current, channel).partition(".")[0]

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        if not writes:
            return
        thread, ns = _place(config)
        checkpoint_id = str(config["configurable"]["checkpoint_id"])
        otherwise = "REPLACE" if all(w[0] in WRITES_IDX_MAP for w in writes) else "IGNORE"
        place = thread, ns, checkpoint_id, task_id, task_path
        unsealed = [
            (*place, WRITES_IDX_MAP.get(channel, number), channel, *await packed_aside(*self.serde.dumps_typed(value)))
            for number, (channel, value) in enumerate(writes)
        ]
        rows = [(*row, checksum(row)) for row in unsealed]
        async with self.lock:
            if len(rows) <= _MOST_ROWS:
                await self._insert(otherwise, rows)
            else:
                await self._insert_all(otherwise, rows)

    async def _insert_all(self, otherwise: str, rows: Sequence[Row]) -> None:
        """Write more rows than one statement takes, all or none: a task with some of its writes would count as done."""
        try:
            await self.rows("BEGIN IMMEDIATE")
            for start in range(0, len(rows), _MOST_ROWS):
                await self._insert(otherwise, rows[start : start + _MOST_ROWS])
        except BaseException:
            await self.conn.rollback()
            raise
        await self.conn.commit()

    async def _insert(self, otherwise: str, rows: Sequence[Row]) -> None:
        await self.rows(
            f"INSERT OR {otherwise} INTO writes ({WRITE_COLUMNS}, {COLUMN})"  # noqa: S608 - constants
            f" VALUES {', '.join(['(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'] * len(rows))}",
            [value for row in rows for value in row],
        )

    async def adelete_thread(self, thread_id: str) -> None:
        self._remembered = {key: kept for key, kept in self._remembered.items() if key[0] != thread_id}
        await super().adelete_thread(thread_id)

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        thread, ns = _place(config)
        checkpoint_id = get_checkpoint_id(config)
        found: dict[str, DeltaChannelHistory] = {}
        for channel in channels:
            kept = self._remembered.get((thread, ns, channel))
            if checkpoint_id and kept is not None:
                history = await self._since(thread, ns, channel, str(checkpoint_id), kept)
                if history is not None:
                    found[channel] = history
        missing = [channel for channel in channels if channel not in found]
        if missing:
            found |= await super().aget_delta_channel_history(config=config, channels=missing)
        return {
            channel: self._remember(thread, ns, channel, str(checkpoint_id or ""), history)
            for channel, history in found.items()
        }

    async def _since(
        self, thread: str, ns: str, channel: str, checkpoint_id: str, kept: Remembered
    ) -> DeltaChannelHistory | None:
        """Return a channel's history from the remembered checkpoint on; None when that isn't a near ancestor."""
        if checkpoint_id == kept.checkpoint_id:
            return {"seed": _DeltaSnapshot(kept.value), "writes": []}
        found = await self.ancestors(thread, ns, checkpoint_id, [channel], most=_LONGEST_WALK, known=kept.checkpoint_id)
        writes: list[Sequence[Write]] = []
        for ancestor in found:
            writes.append(ancestor.writes)
            # A snapshot ends the walk also before the remembered checkpoint: on a fork the writes beyond it belong
            # to another branch.
            if ancestor.id == kept.checkpoint_id:
                seed = _DeltaSnapshot(kept.value)
            elif channel in ancestor.values:
                seed = ancestor.values[channel]
            else:
                continue
            return {"seed": seed, "writes": [w for part in reversed(writes) for w in part]}
        return None

    def _remember(
        self, thread: str, ns: str, channel: str, checkpoint_id: str, history: DeltaChannelHistory
    ) -> DeltaChannelHistory:
        reducer = self._reducer(thread, ns, channel)
        # Before its first snapshot a channel begins empty, and all that was ever written to it follows.
        seed = history.get("seed", _DeltaSnapshot({}))
        values = [value for _, _, value in history["writes"]]
        if reducer is None or not checkpoint_id or not isinstance(seed, _DeltaSnapshot):
            return history
        if any(isinstance(value, Overwrite) for value in values):
            return history
        value = reducer(seed.value, values) if values else seed.value
        self._remembered[thread, ns, channel] = Remembered(checkpoint_id, value)
        return {"seed": _DeltaSnapshot(value), "writes": []}


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


def _place(config: RunnableConfig) -> tuple[str, str]:
    configurable = config["configurable"]
    return str(configurable["thread_id"]), str(configurable.get("checkpoint_ns", ""))


def _config(thread: str, ns: str, checkpoint_id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": ns, "checkpoint_id": checkpoint_id}}


_ROWS = 64
"""Rows that are fetched at once."""


class UnpackingSerializer(JsonPlusSerializer):
    """Loads what the saver packed, too."""

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        return super().loads_typed(unpacked(*data))


def serializer() -> JsonPlusSerializer:
    """Return a serializer that loads plain data only: no type that a checkpoint names is ever imported."""
    return UnpackingSerializer(allowed_msgpack_modules=None)


@asynccontextmanager
async def create_checkpointer(
    db_path: str | Path, *, enable_checkpointing: bool = True
) -> AsyncIterator[BaseCheckpointSaver[str]]:
    """Open the saver on a SQLite file: folders made, schema set up, WAL, strict deserialisation.

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
        raise StorageError(Message("{} can't be opened: {}.", path, error)) from error
    try:
        saver = SessionSaver(connection, serde=serializer(), reducers={"todos": merge_todos}, threads="session_")
        try:
            # The driver's own default is FULL; WAL with NORMAL keeps every commit over a killed process.
            await connection.execute("PRAGMA synchronous=NORMAL")
        except sqlite3.Error as error:
            raise StorageError(Message("{} can't be used as a checkpoint file: {}.", path, error)) from error
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
        raise StorageError(Message("{} can't be written to disk: {}.", db_path, error)) from error


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
    if not await asyncio.to_thread(_has_tables, path):
        async with open_empty() as saver:
            yield saver
        return
    try:
        connection = await aiosqlite.Connection(lambda: read_connection(path), _ROWS)
    except (sqlite3.Error, OSError) as error:
        raise StorageError(Message("{} can't be read: {}.", path, error)) from error
    try:
        yield CheckedSaver(connection, serde=serializer(), column=column, check=fits)
    except sqlite3.Error as error:
        raise StorageError(Message("{} can't be read: {}.", path, error)) from error
    finally:
        await connection.close()


@asynccontextmanager
async def open_empty() -> AsyncIterator[CheckedSaver]:
    """Open for reading what a session that was killed before its first checkpoint would have had."""
    connection = await aiosqlite.connect(":memory:", isolation_level=None)
    try:
        await connection.executescript(f"{TABLES}{ORDER}")
        yield CheckedSaver(connection, serde=serializer())
    finally:
        await connection.close()


def _prepare(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        existed = path.exists()
    except OSError as error:
        raise StorageError(Message("{} can't be created: {}.", path.parent, error.strerror)) from error
    if existed:
        _roll_back(path)
        check_file(path)
    try:
        with closing(sqlite3.connect(path, timeout=10, isolation_level=None)) as db:
            prepare(db)
    except sqlite3.Error as error:
        raise StorageError(Message("{} can't be used as a checkpoint file: {}.", path, error)) from error


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
        raise StorageError(Message("{} can't be read as a checkpoint file: {}.", path, error)) from error


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


def _quoted(path: Path) -> str:
    return quote(str(path.resolve()))
