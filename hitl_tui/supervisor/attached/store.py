"""Checkpoint stores of others, to write to: where an attached graph's own threads live (I1)."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiosqlite
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from hitl_tui.core.errors import StorageError
from hitl_tui.supervisor.checkpointer import create_checkpointer, is_ours, serializer


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
        raise StorageError(f"{path} can't be opened: {error}.") from error
    try:
        saver = AsyncSqliteSaver(connection, serde=serializer())
        try:
            await saver.setup()
        except sqlite3.Error as error:
            raise StorageError(f"{path} can't be used as a checkpoint database: {error}.") from error
        yield saver
    finally:
        await connection.close()


def _file(uri: str) -> Path:
    path = Path(uri.removeprefix("sqlite:///")).expanduser()
    if not path.is_file():
        raise StorageError(f"There is no checkpoint database {path}.")
    return path


@asynccontextmanager
async def _postgres(uri: str) -> AsyncIterator[BaseCheckpointSaver[str]]:
    try:
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
        from psycopg import OperationalError
    except ImportError as error:
        raise StorageError(
            "PostgreSQL stores need an extra; install it with: uv pip install 'hitl-tui[postgres]'."
        ) from error
    try:
        async with AsyncPostgresSaver.from_conn_string(uri, serde=serializer()) as saver:
            yield saver
    except OperationalError as error:
        # What the driver says may repeat the URI with its password.
        raise StorageError(f"The PostgreSQL store can't be reached ({type(error).__name__}).") from error
