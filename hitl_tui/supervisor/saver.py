"""`SessionSaver`: the SQLite saver of a process that owns its file.

It is `AsyncSqliteSaver` with two differences that only an owner may have. Each operation is one statement, so one
trip to the connection's thread instead of three to six. And the value of a delta channel at the checkpoint that was
loaded last is kept: the next load replays what came since, not everything since the last snapshot.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    get_checkpoint_id,
    get_checkpoint_metadata,
    writes_sort_key,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Overwrite

Reducer = Callable[[Any, Sequence[Any]], Any]

_LONGEST_WALK = 16
"""Checkpoints that are looked at between a remembered one and the one to load, before it is loaded from scratch."""

_MOST_ROWS = 1000
"""Rows of nine values that one statement takes: SQLite allows 32,766 values."""

_LOAD = """SELECT 0, c.checkpoint_id, c.parent_checkpoint_id, c.type, c.checkpoint, c.metadata, NULL FROM checkpoints c
    WHERE c.thread_id = :thread AND c.checkpoint_ns = :ns AND c.checkpoint_id = {chosen}
    UNION ALL
    SELECT 1, w.task_id, w.channel, w.type, w.value, w.task_path, w.idx FROM writes w
    WHERE w.thread_id = :thread AND w.checkpoint_ns = :ns AND w.checkpoint_id = {chosen}"""
_LOAD_NAMED = _LOAD.format(chosen=":id")
_LOAD_NEWEST = _LOAD.format(
    chosen="(SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = :thread AND checkpoint_ns = :ns)"
)

_WALK = """WITH RECURSIVE up(id, parent, type, blob, depth) AS (
        SELECT checkpoint_id, parent_checkpoint_id, type, NULL, 0 FROM checkpoints
        WHERE thread_id = :thread AND checkpoint_ns = :ns AND checkpoint_id = :id
        UNION ALL
        SELECT c.checkpoint_id, c.parent_checkpoint_id, c.type, c.checkpoint, up.depth + 1
        FROM up CROSS JOIN checkpoints c ON c.checkpoint_id = up.parent
        WHERE c.thread_id = :thread AND c.checkpoint_ns = :ns AND up.id <> :known AND up.depth < :most)
    SELECT up.id, up.type, up.blob, w.task_id, w.channel, w.type, w.value, w.task_path, w.idx
    FROM up LEFT JOIN writes w ON w.thread_id = :thread AND w.checkpoint_ns = :ns AND w.checkpoint_id = up.id
        AND w.channel = :channel
    WHERE up.depth > 0 ORDER BY up.depth"""


@dataclass(frozen=True, slots=True)
class Remembered:
    """A delta channel's value at a checkpoint; nobody changes it in place, reducers make new ones."""

    checkpoint_id: str
    value: Any


class SessionSaver(AsyncSqliteSaver):
    """Saver on a connection in autocommit mode (`isolation_level=None`), the only one that writes the file.

    Args:
        connection: an open aiosqlite connection.
        serde: how values are kept.
        reducers: delta channels to remember, with their reducers, which have to be pure.
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
        thread, ns = _place(config)
        chosen = get_checkpoint_id(config)
        values = {"thread": thread, "ns": ns, "id": chosen}
        rows = list(await self.conn.execute_fetchall(_LOAD_NAMED if chosen else _LOAD_NEWEST, values))
        if not rows or rows[0][0] != 0:
            return None
        _, checkpoint_id, parent, kind, blob, metadata, _ = rows[0]
        writes = sorted(rows[1:], key=lambda r: writes_sort_key(r[5], r[1], r[6]))
        return CheckpointTuple(
            config if chosen else _config(thread, ns, checkpoint_id),
            self.serde.loads_typed((kind, blob)),
            json.loads(metadata) if metadata is not None else {},
            _config(thread, ns, parent) if parent else None,
            [(task, channel, self.serde.loads_typed((kind, value))) for _, task, channel, kind, value, _, _ in writes],
        )

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        thread, ns = _place(config)
        kind, blob = self.serde.dumps_typed(checkpoint)
        details = json.dumps(get_checkpoint_metadata(config, metadata), ensure_ascii=False).encode("utf-8", "ignore")
        async with self.lock:
            await self.conn.execute_fetchall(
                "INSERT OR REPLACE INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id,"
                " type, checkpoint, metadata) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (thread, ns, checkpoint["id"], config["configurable"].get("checkpoint_id"), kind, blob, details),
            )
        return _config(thread, ns, checkpoint["id"])

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        if not writes:
            return
        thread, ns = _place(config)
        checkpoint_id = str(config["configurable"]["checkpoint_id"])
        otherwise = "REPLACE" if all(w[0] in WRITES_IDX_MAP for w in writes) else "IGNORE"
        place = thread, ns, checkpoint_id, task_id, task_path
        rows = [
            (*place, WRITES_IDX_MAP.get(channel, number), channel, *self.serde.dumps_typed(value))
            for number, (channel, value) in enumerate(writes)
        ]
        async with self.lock:
            if len(rows) <= _MOST_ROWS:
                await self._insert(otherwise, rows)
            else:
                await self._insert_all(otherwise, rows)

    async def _insert_all(self, otherwise: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Write more rows than one statement takes, all or none: a task with some of its writes would count as done."""
        try:
            await self.conn.execute_fetchall("BEGIN IMMEDIATE")
            for start in range(0, len(rows), _MOST_ROWS):
                await self._insert(otherwise, rows[start : start + _MOST_ROWS])
        except BaseException:
            await self.conn.rollback()
            raise
        await self.conn.commit()

    async def _insert(self, otherwise: str, rows: Sequence[tuple[Any, ...]]) -> None:
        await self.conn.execute_fetchall(
            f"INSERT OR {otherwise} INTO writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx,"  # noqa: S608
            f" channel, type, value) VALUES {', '.join(['(?, ?, ?, ?, ?, ?, ?, ?, ?)'] * len(rows))}",
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
        values = {
            "thread": thread, "ns": ns, "id": checkpoint_id, "known": kept.checkpoint_id, "channel": channel,
            "most": _LONGEST_WALK,
        }  # fmt: skip
        by_id: dict[str, list[Any]] = {}
        for row in await self.conn.execute_fetchall(_WALK, values):
            by_id.setdefault(row[0], []).append(row)
        writes: list[list[Any]] = []
        for ancestor, rows in by_id.items():
            writes.append(
                [
                    (task, name, self.serde.loads_typed((kind, value)))
                    for _, _, _, task, name, kind, value, path, number in sorted(
                        (r for r in rows if r[3] is not None), key=lambda r: writes_sort_key(r[7], r[3], r[8])
                    )
                ]
            )
            # A snapshot ends the walk also before the remembered checkpoint: on a fork the writes beyond it belong
            # to another branch.
            stored = self.serde.loads_typed((rows[0][1], rows[0][2])).get("channel_values") or {}
            if channel in stored:
                return {"seed": stored[channel], "writes": [w for part in reversed(writes) for w in part]}
            if ancestor == kept.checkpoint_id:
                seed = _DeltaSnapshot(kept.value)
                return {"seed": seed, "writes": [w for part in reversed(writes) for w in part]}
        return None

    def _remember(
        self, thread: str, ns: str, channel: str, checkpoint_id: str, history: DeltaChannelHistory
    ) -> DeltaChannelHistory:
        # Teams' graphs share this saver, and may call a channel of theirs the same.
        reducer = self._reducers.get(channel) if not ns and thread.startswith(self._threads) else None
        seed = history.get("seed")
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
