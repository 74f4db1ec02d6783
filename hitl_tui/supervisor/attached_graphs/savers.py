"""Checkpoint stores of the user's own, which attached graphs keep their threads in."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiosqlite
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from hitl_tui.config.extras import install_help
from hitl_tui.core.errors import StorageError
from hitl_tui.core.messages import Message
from hitl_tui.supervisor.checkpoint_file import is_ours
from hitl_tui.supervisor.checkpoint_saver import create_checkpointer
from hitl_tui.supervisor.serializer import serializer


@asynccontextmanager
async def open_saver(uri: str) -> AsyncIterator[BaseCheckpointSaver[str]]:
    """Open the saver of a store that an application of the user's writes, too.

    Args:
        uri: path of a SQLite file (`sqlite:///…` too), or a `postgresql://` URI.

    Raises:
        StorageError: it can't be opened, or its driver isn't installed.
    """
    if uri.startswith(("postgresql://", "postgres://")):
        async with _postgres(uri) as saver:
            yield saver
        return
    path = await asyncio.to_thread(_file, uri)
    if await asyncio.to_thread(is_ours, path):
        async with create_checkpointer(path) as ours:
            yield ours
        return
    try:
        connection = await aiosqlite.connect(path, timeout=10)
    except sqlite3.Error as error:
        raise StorageError(Message("{} can't be opened: {}.", path, error)) from error
    try:
        saver = AsyncSqliteSaver(connection, serde=serializer())
        try:
            await saver.setup()
        except sqlite3.Error as error:
            raise StorageError(Message("{} can't be used as a checkpoint database: {}.", path, error)) from error
        yield saver
    finally:
        await connection.close()


def _file(uri: str) -> Path:
    path = Path(uri.removeprefix("sqlite:///")).expanduser()
    if not path.is_file():
        raise StorageError(Message("No checkpoint database at {}.", path))
    return path


@asynccontextmanager
async def _postgres(uri: str) -> AsyncIterator[BaseCheckpointSaver[str]]:
    try:
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
        from psycopg import OperationalError
    except ImportError as error:
        raise StorageError(
            Message('PostgreSQL stores need the extra "postgres".'), help=install_help("postgres")
        ) from error
    try:
        async with AsyncPostgresSaver.from_conn_string(uri, serde=serializer()) as saver:
            yield saver
    except OperationalError as error:
        # What the driver says may repeat the URI with its password.
        raise StorageError(Message("The PostgreSQL store can't be reached ({}).", type(error).__name__)) from error
