"""Loading a graph: what a module holds, compiled to run on our checkpoint saver."""

from __future__ import annotations

import asyncio
import importlib
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from typing_extensions import is_typeddict

from hitl_tui.config.declared_graphs import GraphDeclaration
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line
from hitl_tui.graphs.factories import made_by
from hitl_tui.graphs.first_questions import FirstQuestions, first_questions
from hitl_tui.graphs.function_graph import function_graph
from hitl_tui.graphs.graph_context import ContextForm, context_form
from hitl_tui.graphs.graph_schema import field_schema
from hitl_tui.graphs.graph_store import keeps_store
from hitl_tui.graphs.graph_target import GraphError, looks_like_graph
from hitl_tui.graphs.json_values import plain
from hitl_tui.graphs.served_graph import ServedGraph

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.graph import StateGraph
    from langgraph.pregel import Pregel
    from langgraph.store.base import BaseStore

    AnyPregel = Pregel[Any, Any, Any, Any]

AnyGraph: TypeAlias = "AnyPregel | StateGraph[Any, Any, Any, Any] | ServedGraph"

_DATABASE = "SELECT file FROM pragma_database_list WHERE name = 'main'"
_SYNCHRONOUS = frozenset({"SqliteSaver", "PostgresSaver", "ShallowPostgresSaver"})
"""Savers whose asynchronous half is another class."""


@dataclass(frozen=True, slots=True)
class GraphFacts:
    """What is known of a graph without running it.

    Args:
        input_schema: JSON Schema of what it takes.
        nodes: its nodes' names, in order.
        before, after: nodes it stops before and after by itself; `("*",)` for all.
        keeps: the kind of saver of its own that it keeps (`AsyncPostgresSaver`); empty for none.
        forgets: it came with a saver in memory, which ours replaces.
        store: absolute path of the SQLite file that its own saver keeps threads in; empty for none.
        context: what it takes as its context.
        remembers: the kind of store of its own that it keeps in memory (`InMemoryStore`); empty for none.
        first: where it asks first.
    """

    input_schema: JsonObject
    nodes: tuple[str, ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    keeps: str = ""
    forgets: bool = False
    store: str = ""
    context: ContextForm = field(default_factory=ContextForm)
    remembers: str = ""
    first: FirstQuestions = field(default_factory=FirstQuestions)


async def resolve(declaration: GraphDeclaration, found: Any, stack: AsyncExitStack) -> AnyGraph:
    """Return a declared graph or builder, calling factories; what they open stays open as long as the stack.

    Args:
        declaration: which graph.
        found: what it names, see `load_target`.
        stack: closes what factories open.

    Raises:
        GraphError: there is none, or making it failed.
    """
    if isinstance(found, ServedGraph):
        stack.push_async_callback(found.aclose)
        return found
    functions: list[AnyGraph] = []

    def is_graph(value: Any) -> bool:
        if looks_like_graph(value):
            return True
        if (made := function_graph(value)) is not None:
            functions.append(made)
        return bool(functions)

    found = await made_by(found, stack, is_graph, declaration)
    if functions:
        return functions[0]
    if looks_like_graph(found):
        return cast("AnyPregel", found)
    shown = one_line(declaration.target, 120)
    raise GraphError(
        Message("{} is a {}, not a LangGraph graph or something that makes one.", shown, type(found).__name__)
    )


async def facts_of(graph: AnyGraph) -> GraphFacts:
    """Return what is known of a graph without running it."""
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import StateGraph
    from langgraph.store.memory import InMemoryStore

    if isinstance(graph, ServedGraph):
        return GraphFacts(graph.input_schema, tuple(graph.nodes), context=ContextForm(schema=graph.context_fields))
    saver = None if isinstance(graph, StateGraph) else graph.checkpointer
    compiled = graph.compile() if isinstance(graph, StateGraph) else graph
    try:
        schema = plain(compiled.get_input_jsonschema())
    except Exception:  # noqa: BLE001 - before Python 3.12 every typing.TypedDict; types without a JSON Schema, too
        schema = field_schema(getattr(getattr(compiled, "builder", None), "input_schema", None))
    if is_typeddict(getattr(getattr(compiled, "builder", None), "input_schema", None)):
        # LangGraph takes any part of such a state; only models and dataclasses insist on their fields.
        schema.pop("required", None)
    return GraphFacts(
        input_schema=schema,
        nodes=tuple(str(name) for name in compiled.nodes if not str(name).startswith("__")),
        before=_names(compiled.interrupt_before_nodes),
        after=_names(compiled.interrupt_after_nodes),
        keeps=type(saver).__name__ if _is_kept(saver) else "",
        forgets=isinstance(saver, InMemorySaver),
        store=await _file_of(saver),
        context=context_form(compiled),
        remembers=type(compiled.store).__name__
        if isinstance(compiled.store, InMemoryStore) and keeps_store(compiled.store)
        else "",
        first=first_questions(compiled),
    )


async def _file_of(saver: object) -> str:
    """Return the SQLite file that a saver keeps threads in; empty for none."""
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    try:
        if isinstance(saver, SqliteSaver):
            row = saver.conn.execute(_DATABASE).fetchone()
        elif isinstance(saver, AsyncSqliteSaver):
            async with saver.conn.execute(_DATABASE) as cursor:
                row = await cursor.fetchone()
        else:
            return ""
    except (sqlite3.Error, ValueError):  # it is closed, or another thread's
        return ""
    return str(row[0]) if row else ""


def _is_kept(saver: object) -> bool:
    """Tell whether a saver that a graph came with stays: one that keeps threads longer than the process."""
    from langgraph.checkpoint.memory import InMemorySaver

    return saver not in (None, True, False) and not isinstance(saver, InMemorySaver)


def _names(nodes: Any) -> tuple[str, ...]:
    return ("*",) if nodes == "*" else tuple(str(name) for name in nodes or ())


def with_saver(
    graph: AnyGraph,
    saver: BaseCheckpointSaver[str],
    state_types: tuple[str, ...] = (),
    store: BaseStore | None = None,
) -> AnyPregel:
    """Return a graph on a saver, everything else as it was compiled; one with a durable saver or a server keeps that.

    Args:
        graph: compiled, a builder, or made by the functional API.
        saver: where its threads are to live.
        state_types: `module:Class` of types that its state may hold inside untyped fields.
        store: what its nodes get as their store; None for what it was compiled with.

    Raises:
        GraphError: it can't be compiled, or a type can't be found.
    """
    from langgraph.graph import StateGraph

    if isinstance(graph, ServedGraph):
        return cast("AnyPregel", graph)
    kept = saver.with_allowlist(_types(state_types)) if state_types else saver
    try:
        if isinstance(graph, StateGraph):
            return cast("AnyPregel", graph.compile(checkpointer=kept, store=store))
        update: dict[str, Any] = {} if store is None else {"store": store}
        allowed = getattr(graph, "_serde_allowlist", None)
        if not _is_kept(graph.checkpointer):
            update["checkpointer"] = kept.with_allowlist(allowed) if allowed else kept
        elif type(graph.checkpointer).__name__ in _SYNCHRONOUS:
            update["checkpointer"] = ThreadedSaver(cast("BaseCheckpointSaver[Any]", graph.checkpointer))
        if not update:
            return graph
        copy = graph.copy(update)
    except GraphError:
        raise
    except Exception as error:
        raise GraphError(Message("The graph can't be compiled: {}.", one_line(str(error), 300))) from error
    # A copy forgets which types its channels declare, and they would come back as plain dicts.
    copy._serde_allowlist = allowed
    return copy


def _types(names: tuple[str, ...]) -> set[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()
    for name in names:
        module, _, kind = name.partition(":")
        try:
            if not isinstance(getattr(importlib.import_module(module), kind), type):
                raise GraphError(Message('state_types: "{}" isn\'t a class.', one_line(name, 100)))
        except (ImportError, AttributeError, ValueError) as error:
            raise GraphError(
                Message('state_types: no class "{}"; expected module:Class.', one_line(name, 100))
            ) from error
        found.add((module, kind))
    return found


class ThreadedSaver(BaseCheckpointSaver[Any]):
    """Calls a synchronous saver in threads, one call at a time: their connections aren't made for more.

    Args:
        saver: the graph's own, for example a `SqliteSaver`.
    """

    def __init__(self, saver: BaseCheckpointSaver[Any]) -> None:
        super().__init__(serde=saver.serde)
        self.saver = saver
        self._one = asyncio.Lock()

    @property
    def config_specs(self) -> list[Any]:
        return self.saver.config_specs

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        async with self._one:
            return await asyncio.to_thread(self.saver.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        def read() -> list[CheckpointTuple]:
            return list(self.saver.list(config, filter=filter, before=before, limit=limit))

        async with self._one:
            found = await asyncio.to_thread(read)
        for item in found:
            yield item

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        async with self._one:
            return await asyncio.to_thread(self.saver.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        async with self._one:
            await asyncio.to_thread(self.saver.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        async with self._one:
            await asyncio.to_thread(self.saver.delete_thread, thread_id)

    def get_next_version(self, current: object, channel: None = None) -> object:
        return self.saver.get_next_version(current, channel)
