"""The store that a graph's nodes get where it has none of its own: one SQLite file for each workspace."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import aiosqlite
from langgraph.store.base import BaseStore, Item, Op, PutOp, Result
from langgraph.store.base.batch import AsyncBatchedBaseStore
from langgraph.store.memory import InMemoryStore

from hitl_tui.config.atomic_files import locked, make_private
from hitl_tui.config.declared_graphs import GraphDeclaration, is_file_target
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line
from hitl_tui.graphs.factories import made_by
from hitl_tui.graphs.graph_source import GraphSource
from hitl_tui.graphs.graph_target import GraphError, load_target

if TYPE_CHECKING:
    from langgraph.store.base import TTLConfig
    from langgraph.store.sqlite.aio import AsyncSqliteStore
    from langgraph.store.sqlite.base import SqliteIndexConfig


class StoreFailure(Exception):
    """A store's file can't be used: a failure of the node that wanted something of it."""


_WAIT = 30.0
"""Seconds that a write waits for another process's."""


@dataclass(frozen=True, slots=True)
class StoreIndex:
    """How a store finds by meaning.

    Args:
        config: dimensions, fields and what embeds; None where it finds nothing by meaning.
        lacks: why it doesn't, though it is declared; empty where it does, or nothing is declared.
    """

    config: Mapping[str, Any] | None = None
    lacks: str = ""


_BOX = "__value__"
"""Holds a value that is no mapping: the server takes such, LangGraph's SQLite store doesn't."""


def _boxed(op: Op) -> Op:
    value: object = op.value if isinstance(op, PutOp) else None
    if isinstance(op, PutOp) and value is not None and not isinstance(value, Mapping):
        return op._replace(value={_BOX: value})
    return op


class WorkspaceStore(AsyncBatchedBaseStore):
    """A store in a file that is made when something first uses it; any number of processes may have it open.

    Args:
        path: the file.
        index: how it finds by meaning.
        ttl: how long what it keeps lives, as langgraph.json says it; empty for ever.
    """

    supports_ttl = True

    def __init__(self, path: Path, index: StoreIndex, ttl: Mapping[str, Any]) -> None:
        super().__init__()
        self._path = path
        self._index = index
        self._opening = asyncio.Lock()
        self._opened: AsyncSqliteStore | None = None
        self._stack = AsyncExitStack()
        self.ttl_config = cast("TTLConfig | None", dict(ttl) or None)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry operations out, those of one call as a whole or not at all."""
        results = await (await self._store()).abatch(map(_boxed, ops))
        for found in results:
            for item in found if isinstance(found, list) else (found,):
                if isinstance(item, Item) and item.value.keys() == {_BOX}:
                    item.value = item.value[_BOX]
        return results

    async def close(self) -> None:
        """Close the file."""
        await self._stack.aclose()
        self._opened = None

    async def _store(self) -> AsyncSqliteStore:
        async with self._opening:
            if self._opened is None:
                self._opened = await self._stack.enter_async_context(
                    _sqlite_store(self._path, self._index.config, self.ttl_config)
                )
            return self._opened


@asynccontextmanager
async def _sqlite_store(
    path: Path, index: Mapping[str, Any] | None, ttl: TTLConfig | None
) -> AsyncIterator[AsyncSqliteStore]:
    from hitl_tui.graphs.sqlite_store import SharedSqliteStore

    config = cast("SqliteIndexConfig | None", dict(index) if index else None)
    try:
        await asyncio.to_thread(_prepare, path, config)
        async with aiosqlite.connect(path, timeout=_WAIT, isolation_level=None) as connection:
            # What a node has stored has to outlast a power cut as well as the step that says it ran.
            await connection.execute("PRAGMA synchronous=FULL")
            store = SharedSqliteStore(connection, index=config, ttl=ttl)
            await store.setup()
            if ttl:
                await store.sweep_ttl()
                if ttl.get("sweep_interval_minutes"):
                    await store.start_ttl_sweeper()
            try:
                yield store
            finally:
                await store.stop_ttl_sweeper()
    except (sqlite3.Error, OSError) as error:
        raise StoreFailure(Message("The store {} can't be used: {}.", path, one_line(str(error), 200))) from error


def _prepare(path: Path, index: SqliteIndexConfig | None) -> None:
    """Make the file with its tables, one process at a time."""
    from langgraph.store.sqlite import SqliteStore

    make_private(path.parent)
    with locked(path):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        connection = sqlite3.connect(path, timeout=_WAIT, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            SqliteStore(connection, index=index).setup()
        finally:
            connection.close()


def keeps_store(store: BaseStore | None) -> bool:
    """Tell whether a graph that was compiled with a store goes on with it: an empty one in memory holds nothing yet."""
    if not isinstance(store, InMemoryStore):
        return store is not None
    return bool(store.index_config or store.list_namespaces(limit=1))


@asynccontextmanager
async def open_store(
    declaration: GraphDeclaration, source: GraphSource, path: Path, tell: Callable[[str], None]
) -> AsyncIterator[BaseStore]:
    """Open the store that a graph without one gets.

    Args:
        declaration: which graph; its `store` says what is declared.
        source: its files as they were read.
        path: the file of the workspace's own store.
        tell: is told, in one sentence, what it can't do.

    Raises:
        GraphError: the declared store can't be loaded.
    """
    if named := str(declaration.store.get("path", "")):
        async with AsyncExitStack() as stack:
            yield await _own_store(_loaded(declaration, source, named), named, stack)
        return
    index = index_of(declaration, source)
    if index.lacks:
        tell(index.lacks)
    store = WorkspaceStore(path, index, declaration.store.get("ttl") or {})
    try:
        yield store
    finally:
        await store.close()


async def _own_store(found: Any, named: str, stack: AsyncExitStack) -> BaseStore:
    found = await made_by(found, stack, lambda value: isinstance(value, BaseStore))
    if isinstance(found, BaseStore):
        return found
    raise GraphError(
        Message("{} is a {}, not a store or something that makes one.", one_line(named, 120), type(found).__name__)
    )


def _loaded(declaration: GraphDeclaration, source: GraphSource, target: str) -> Any:
    """Return what a target of langgraph.json names; also `package.module.attribute`."""
    if ":" not in target:
        module, _, attribute = target.rpartition(".")
        target = f"{module}:{attribute}"
    return load_target(replace(declaration, target=target), source)


def index_of(declaration: GraphDeclaration, source: GraphSource) -> StoreIndex:
    """Return how the declared store finds by meaning."""
    declared = declaration.store.get("index") or {}
    if not declared:
        return StoreIndex()
    embed = str(declared.get("embed", ""))
    if not hasattr(sqlite3.Connection, "enable_load_extension"):
        return StoreIndex(lacks=_lacks(Message("this Python's SQLite loads no extensions")))
    try:
        found = _embeddings(declaration, source, embed)
    except GraphError as error:
        return StoreIndex(lacks=_lacks(error.message.rstrip(".")))
    except Exception as error:  # noqa: BLE001 - whatever a provider's package raises without its key
        said = one_line(str(error).split("\n")[0], 200).rstrip(".")
        return StoreIndex(lacks=_lacks(Message("{} can't be had: {}", one_line(embed, 80), said)))
    fields = {"fields": declared["fields"], "text_fields": declared["fields"]} if declared.get("fields") else {}
    return StoreIndex({"dims": declared["dims"], "embed": found, **fields})


def _lacks(why: str) -> str:
    return Message("The store works without finding by meaning: {}.", why)


def _embeddings(declaration: GraphDeclaration, source: GraphSource, embed: str) -> Any:
    from langgraph.store.base import ensure_embeddings

    if is_file_target(embed):
        return ensure_embeddings(_loaded(declaration, source, embed))
    return ensure_embeddings(embed)
