"""The SQLite savers of a session's checkpoints, and opening its file to write or only to read."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
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
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.checkpoint.sqlite.utils import search_where
from langgraph.types import Overwrite

from hitl_tui.core.board import merge_todos
from hitl_tui.core.errors import StorageError
from hitl_tui.core.messages import Message
from hitl_tui.supervisor.checkpoint_file import CheckpointFile, Write, check_file
from hitl_tui.supervisor.checkpoint_ids import keep_ahead
from hitl_tui.supervisor.saver_use import SaverUse
from hitl_tui.supervisor.serializer import serializer
from hitl_tui.threads.packed_values import packed_aside
from hitl_tui.threads.row_checksums import (
    CHECKPOINT_COLUMNS,
    COLUMN,
    WRITE_COLUMNS,
    Check,
    check,
    checksum,
    prepare,
)
from hitl_tui.threads.store_tables import Row

Reducer = Callable[[Any, Sequence[Any]], Any]
"""Applies what was written to a channel, in order, to its value."""

_THREADS = "session_"
"""How the ids of the threads begin whose channels are remembered."""
_LONGEST_WALK = 16
"""Checkpoints that are looked at between a remembered one and the one to load, before it is loaded from scratch."""

_MOST_ROWS = 1000
"""Rows of ten values that one statement takes: SQLite allows 32,766 values."""

_PUT = f"""INSERT INTO checkpoints ({CHECKPOINT_COLUMNS}, {COLUMN}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET parent_checkpoint_id = excluded.parent_checkpoint_id, type = excluded.type,
    checkpoint = excluded.checkpoint, metadata = excluded.metadata, {COLUMN} = excluded.{COLUMN}"""  # noqa: S608 - constants
"""A checkpoint that is written again keeps its place in the order."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """A delta channel's value at a checkpoint; nobody changes it in place, reducers make new ones."""

    checkpoint_id: str
    value: object


class CheckedSaver(CheckpointFile, AsyncSqliteSaver):
    """Saver on a file of ours, for reading.

    LangGraph's own goes by ids, which are times of clocks; clocks go back.

    Args:
        connection: an open aiosqlite connection in autocommit mode.
        serde: how values are kept.
        column: what to select as a row's checksum.
        check: checks a row against it.
    """

    serde: SerializerProtocol

    def __init__(
        self, connection: aiosqlite.Connection, *, serde: SerializerProtocol, column: str = COLUMN, check: Check = check
    ) -> None:
        AsyncSqliteSaver.__init__(self, connection, serde=serde)
        CheckpointFile.__init__(self, connection, serde=self.serde, column=column, check=check)
        self.is_setup = True

    @classmethod
    def on(cls, file: CheckpointFile) -> CheckedSaver:
        """Return a saver on a file that is open for reading; it is closed with that."""
        return cls(file.conn, serde=serializer(), column=file.column, check=file.check)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        thread, ns = _place(config)
        chosen = get_checkpoint_id(config)
        found = await self.stored(thread, ns, chosen or "")
        if found is None:
            return None
        if not chosen:
            keep_ahead(found.id)
        return CheckpointTuple(
            config if chosen else _config(thread, ns, found.id),
            self.serde.loads_typed((found.kind, found.blob)),
            json.loads(found.metadata) if found.metadata is not None else {},
            _config(thread, ns, found.parent) if found.parent else None,
            [(w[0], w[3], self.serde.loads_typed((w[4], w[5]))) for w in found.writes],
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
        histories: dict[str, DeltaChannelHistory] = {}
        for channel, past in (await self.past_of(thread, ns, at, channels)).items():
            histories[channel] = {"writes": list(past.writes)}
            if past.found:
                histories[channel]["seed"] = past.seed
        return histories


class SessionSaver(CheckedSaver):
    """Saver of the process that owns the file, the only one that writes it.

    Args:
        connection: an open aiosqlite connection in autocommit mode (`isolation_level=None`).
        serde: how values are kept.
        reducers: delta channels of mappings to remember, with their reducers, which have to be pure.
    """

    def __init__(
        self, connection: aiosqlite.Connection, *, serde: SerializerProtocol, reducers: Mapping[str, Reducer]
    ) -> None:
        super().__init__(connection, serde=serde)
        self._reducers = dict(reducers)
        self._remembered: dict[tuple[str, str, str], Remembered] = {}
        self.use = SaverUse()

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
        return self._reducers.get(channel) if not ns and thread.startswith(_THREADS) else None

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        thread, ns = _place(config)
        details = json.dumps(get_checkpoint_metadata(config, metadata), ensure_ascii=False).encode("utf-8", "ignore")
        with self.use.counted():
            kind, blob = await packed_aside(*self.serde.dumps_typed(checkpoint))
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
        with self.use.counted():
            unsealed = [
                (
                    *place,
                    WRITES_IDX_MAP.get(channel, number),
                    channel,
                    *await packed_aside(*self.serde.dumps_typed(value)),
                )
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


def _place(config: RunnableConfig) -> tuple[str, str]:
    configurable = config["configurable"]
    return str(configurable["thread_id"]), str(configurable.get("checkpoint_ns", ""))


def _config(thread: str, ns: str, checkpoint_id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": ns, "checkpoint_id": checkpoint_id}}


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
        saver = SessionSaver(connection, serde=serializer(), reducers={"todos": merge_todos})
        try:
            # The driver's own default is FULL; WAL with NORMAL keeps every commit over a killed process.
            await connection.execute("PRAGMA synchronous=NORMAL")
        except sqlite3.Error as error:
            raise StorageError(Message("{} can't be used as a checkpoint file: {}.", path, error)) from error
        try:
            yield saver
        finally:
            await saver.use.ended()
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


def _quoted(path: Path) -> str:
    return quote(str(path.resolve()))
