"""Checkpoints of sessions in PostgreSQL: LangGraph's own saver and tables, read as those of a file are.

Who owns a session holds its lock on the very connection that the saver writes through: a connection that is gone can't
write, and it is the lock's end.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import psycopg
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
)
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg.rows import DictRow, tuple_row

from hitl_tui.core.errors import SessionBusy
from hitl_tui.core.messages import Message
from hitl_tui.ledger.postgres_connection import connect_alone, explained, holder_name, lock_number
from hitl_tui.ledger.postgres_database import translated
from hitl_tui.supervisor.checkpoint_ids import keep_ahead
from hitl_tui.supervisor.saver_use import SaverUse
from hitl_tui.supervisor.serializer import serializer
from hitl_tui.threads import value_decoder
from hitl_tui.threads.session_history import WholeCheckpoint
from hitl_tui.threads.store_tables import Dialect, Row

DIALECT = Dialect(
    checkpoints="checkpoints",
    writes="(SELECT thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, blob AS value"
    " FROM checkpoint_writes)",
    head="c.thread_id, c.checkpoint_ns",
    ids="(SELECT unnest(CAST(:ids AS text[])) AS id)",
)

_WHOLE = """SELECT c.checkpoint_id, c.checkpoint, b.channel, b.type, b.blob FROM checkpoints c
    LEFT JOIN LATERAL (SELECT b.channel, b.type, b.blob FROM jsonb_each_text(c.checkpoint -> 'channel_versions') v
        CROSS JOIN LATERAL (SELECT * FROM checkpoint_blobs b WHERE b.thread_id = c.thread_id
            AND b.checkpoint_ns = c.checkpoint_ns AND b.channel = v.key AND b.version = v.value LIMIT 1) b
        WHERE b.type <> 'empty') b ON true
    WHERE c.thread_id = :thread AND c.checkpoint_ns = :ns AND c.checkpoint_id = ANY(CAST(:ids AS text[]))"""

_MIGRATING = 0x6869746E
"""Number of the lock that whoever makes or changes the tables of checkpoints holds."""


def _in_json(text: str) -> bool:
    """Return whether a text can be part of JSON in PostgreSQL."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


class DatabaseSaver(AsyncPostgresSaver):
    """LangGraph's saver on one connection; failures of it raise StorageError.

    Args:
        connection: in autocommit mode.
        address: where it leads, for what people are told.
    """

    conn: psycopg.AsyncConnection[DictRow]
    dialect = DIALECT

    def __init__(self, connection: psycopg.AsyncConnection[DictRow], address: str) -> None:
        super().__init__(conn=connection, serde=serializer())
        self._address = address
        self._use = SaverUse()

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncIterator[psycopg.AsyncCursor[DictRow]]:
        with self._in_use():
            async with super()._cursor(pipeline=pipeline) as cursor:
                yield cursor

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        with self._use.counted():
            try:
                yield
            except psycopg.Error as error:
                raise explained(error, self._address) from error

    async def close(self) -> None:
        """Close the connection once nobody uses it: what was cancelled may still be writing."""
        await self._use.ended()
        await self.conn.close()

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        with self._in_use():
            # LangGraph's saver keeps texts in JSON, where PostgreSQL takes not every one; among the blobs it takes all.
            values = checkpoint["channel_values"]
            if beyond := {
                name: value for name, value in values.items() if isinstance(value, str) and not _in_json(value)
            }:
                thread, ns = config["configurable"]["thread_id"], config["configurable"].get("checkpoint_ns", "")
                versions = {name: new_versions[name] for name in beyond if name in new_versions}
                rows = await asyncio.to_thread(self._dump_blobs, thread, ns, beyond, versions)
                async with self._cursor(pipeline=True) as cursor:
                    await cursor.executemany(self.UPSERT_CHECKPOINT_BLOBS_SQL, rows)
                within = {name: value for name, value in values.items() if name not in beyond}
                checkpoint = {**checkpoint, "channel_values": within}
            return await super().aput(config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        with self._in_use():  # while values are packed in a thread, too, before it comes to the connection
            await super().aput_writes(config, writes, task_id, task_path)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found = await super().aget_tuple(config)
        if found is not None and not get_checkpoint_id(config):
            keep_ahead(str(found.config["configurable"]["checkpoint_id"]))
        return found

    async def rows(self, sql: str, values: Sequence[object] | Mapping[str, object] = ()) -> list[Row]:
        """Return a statement's rows. Raises StorageError: the database can't be read."""
        with self._in_use():
            try:
                async with self.lock, self.conn.cursor(row_factory=tuple_row) as cursor:
                    await cursor.execute(translated(sql)[0], values)
                    return list(await cursor.fetchall())
            except psycopg.errors.UndefinedTable:  # nobody has made them yet
                return []

    async def newest(self, thread: str, ns: str = "") -> str:
        """Return the id of the checkpoint written last, empty when there is none."""
        found = await self.rows(
            "SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = :thread AND checkpoint_ns = :ns",
            {"thread": thread, "ns": ns},
        )
        return str(found[0][0] or "") if found else ""

    async def whole(self, rows: Sequence[Row], *, plain: bool = False) -> list[WholeCheckpoint]:
        """See `CheckpointRows.whole`."""
        if not rows:
            return []
        values = {"thread": rows[0][3], "ns": rows[0][4], "ids": [row[0] for row in rows]}
        found: dict[str, dict[str, Any]] = {}
        for checkpoint_id, checkpoint, channel, kind, blob in await self.rows(_WHOLE, values):
            there = found.setdefault(checkpoint_id, {**checkpoint, "channel_values": {**checkpoint["channel_values"]}})
            if channel is not None:
                value = value_decoder.load(kind, blob) if plain else self.serde.loads_typed((kind, bytes(blob)))
                there["channel_values"][channel] = value
        return [WholeCheckpoint(row[0], row[1], found[row[0]], row[2]) for row in rows]

    async def prepare(self) -> None:
        """Make LangGraph's tables or bring them to its version, one process at a time.

        Raises:
            StorageError: it can't be done.
        """
        try:
            made = await self.rows("SELECT max(v) FROM checkpoint_migrations")
            if made and made[0][0] is not None and int(made[0][0]) >= len(self.MIGRATIONS) - 1:
                return
            # Not waited for within a statement: an index is made once all statements that began before have ended.
            while True:
                ((ours,),) = await self.rows("SELECT pg_try_advisory_lock(:lock)", {"lock": _MIGRATING})
                if ours:
                    break
                await asyncio.sleep(0.1)
            try:
                await self.setup()
            finally:
                await self.rows("SELECT pg_advisory_unlock(:lock)", {"lock": _MIGRATING})
        except psycopg.Error as error:
            raise explained(error, self._address) from error


@asynccontextmanager
async def saver_of(address: str) -> AsyncIterator[DatabaseSaver]:
    """Open a saver on a connection of its own.

    Raises:
        StorageError: the database can't be reached.
    """
    saver = DatabaseSaver(await connect_alone(address), address)
    try:
        yield saver
    finally:
        await saver.close()


@asynccontextmanager
async def owning_saver(address: str, session_id: str, holder: str) -> AsyncIterator[DatabaseSaver]:
    """Open the saver of a session that this process owns while the context lasts.

    Args:
        address: of the database.
        session_id: which.
        holder: what people call this process.

    Raises:
        SessionBusy: another process owns it.
        StorageError: the database can't be used.
    """
    async with saver_of(address) as saver:
        await saver.prepare()
        locked = await saver.rows(
            "SELECT pg_try_advisory_lock(:lock), set_config('application_name', :name, false)",
            {"lock": lock_number(session_id), "name": holder_name(os.getpid(), holder)},
        )
        if not locked[0][0]:
            raise SessionBusy(Message("Another process has session {} open.", session_id))
        yield saver
