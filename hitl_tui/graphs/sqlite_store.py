"""LangGraph's SQLite store, for several processes at once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiosqlite
from langgraph.store.sqlite.aio import AsyncSqliteStore


class SharedSqliteStore(AsyncSqliteStore):
    """A store whose file other processes write, too.

    LangGraph's own begins to read and then writes, which SQLite refuses at once where another process wrote meanwhile,
    and keeps what a failed batch did of it.
    """

    @asynccontextmanager
    async def _cursor(self, *, transaction: bool = True) -> AsyncIterator[aiosqlite.Cursor]:
        if not self.is_setup:
            await self.setup()
        async with self.lock, self.conn.cursor() as cursor:
            if not transaction:
                yield cursor
                return
            await cursor.execute("BEGIN IMMEDIATE")
            try:
                yield cursor
            except BaseException:
                await cursor.execute("ROLLBACK")
                raise
            await cursor.execute("COMMIT")
