"""Loading a graph: what a module holds, compiled to run on our checkpoint saver."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import inspect
import sqlite3
import typing
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

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
from hitl_tui.core.json_types import Json, JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line
from hitl_tui.graphs.function_graph import function_graph
from hitl_tui.graphs.graph_target import GraphError, is_factory, looks_like_graph, raised
from hitl_tui.graphs.json_values import plain

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.graph import StateGraph
    from langgraph.pregel import Pregel

    AnyPregel = Pregel[Any, Any, Any, Any]
    AnyGraph = AnyPregel | StateGraph[Any, Any, Any, Any]

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
    """

    input_schema: JsonObject
    nodes: tuple[str, ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    keeps: str = ""
    forgets: bool = False
    store: str = ""


async def resolve(declaration: GraphDeclaration, found: Any, stack: AsyncExitStack) -> AnyGraph:
    """Return a declared graph or builder, calling factories; what they open stays open as long as the stack.

    Args:
        declaration: which graph.
        found: what it names, see `load_target`.
        stack: closes what factories open.

    Raises:
        GraphError: there is none, or making it failed.
    """
    shown = one_line(declaration.target, 120)
    for _ in range(4):  # a factory may return a coroutine or a context manager of a graph
        if looks_like_graph(found):
            return cast("AnyPregel", found)
        if (made := function_graph(found)) is not None:
            return made
        try:
            if inspect.isawaitable(found):
                found = await found
            elif isinstance(found, contextlib.AbstractAsyncContextManager):
                found = await stack.enter_async_context(found)
            elif isinstance(found, contextlib.AbstractContextManager):
                found = stack.enter_context(found)
            elif is_factory(found):
                found = _called(found, declaration)
            else:
                break
        except GraphError:
            raise
        except (Exception, SystemExit) as error:
            raise raised(error) from error
    raise GraphError(
        Message("{} is a {}, not a LangGraph graph or something that makes one.", shown, type(found).__name__)
    )


def _called(factory: Any, declaration: GraphDeclaration) -> Any:
    """Call a factory with the configuration if it takes one."""
    try:
        parameters = list(inspect.signature(factory).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    needed = [p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if len(needed) > 1:
        names = ", ".join(p.name for p in needed)
        raise GraphError(
            Message("{} needs the arguments {}; a factory takes none, or the config.", declaration.target, names)
        )
    if not needed:
        return factory()
    config = {"configurable": dict(declaration.config.get("configurable", {}))}
    return factory(**{needed[0].name: config}) if needed[0].kind is needed[0].KEYWORD_ONLY else factory(config)


async def facts_of(graph: AnyGraph) -> GraphFacts:
    """Return what is known of a graph without running it."""
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import StateGraph

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


def field_schema(kind: object) -> dict[str, Json]:
    """Return a JSON Schema of a class with annotated fields, made field by field; {} where it has none."""
    try:
        hints = typing.get_type_hints(kind, include_extras=True)
    except (NameError, TypeError, AttributeError):
        return {}
    needed = getattr(kind, "__required_keys__", None)
    required = [name for name in hints if needed is None or name in needed]
    if needed is None:
        required = [name for name in hints if not hasattr(kind, name)]
    properties = {name: _schema_of(hint) for name, hint in hints.items()}
    return {"type": "object", "properties": properties, "required": required} if properties else {}


def _schema_of(hint: Any) -> Any:
    from pydantic import TypeAdapter

    while typing.get_origin(hint) in (typing.Required, typing.NotRequired, typing.Annotated):
        hint = typing.get_args(hint)[0]
    try:
        return plain(TypeAdapter(hint).json_schema())
    except Exception:  # noqa: BLE001 - whatever a type raises: anything may be given for it
        return {}


def _names(nodes: Any) -> tuple[str, ...]:
    return ("*",) if nodes == "*" else tuple(str(name) for name in nodes or ())


def with_saver(
    graph: AnyGraph,
    saver: BaseCheckpointSaver[str],
    state_types: tuple[str, ...] = (),
) -> AnyPregel:
    """Return a graph on a saver, everything else as it was compiled; one with a durable saver of its own keeps it.

    Args:
        graph: compiled, a builder, or made by the functional API.
        saver: where its threads are to live.
        state_types: `module:Class` of types that its state may hold inside untyped fields.

    Raises:
        GraphError: it can't be compiled, or a type can't be found.
    """
    from langgraph.graph import StateGraph

    kept = saver.with_allowlist(_types(state_types)) if state_types else saver
    try:
        if isinstance(graph, StateGraph):
            return cast("AnyPregel", graph.compile(checkpointer=kept))
        if _is_kept(graph.checkpointer):
            return _asynchronous(graph)
        allowed = getattr(graph, "_serde_allowlist", None)
        if allowed:
            kept = kept.with_allowlist(allowed)
        copy = graph.copy({"checkpointer": kept})
    except GraphError:
        raise
    except Exception as error:
        raise GraphError(Message("The graph can't be compiled: {}.", one_line(str(error), 300))) from error
    # A copy forgets which types its channels declare, and they would come back as plain dicts.
    copy._serde_allowlist = allowed
    return copy


def _asynchronous(graph: AnyPregel) -> AnyPregel:
    """Return a graph whose own saver can be awaited: a synchronous one is called in threads."""
    from langgraph.checkpoint.base import BaseCheckpointSaver

    saver = graph.checkpointer
    if not isinstance(saver, BaseCheckpointSaver) or type(saver).__name__ not in _SYNCHRONOUS:
        return graph
    copy = graph.copy({"checkpointer": ThreadedSaver(saver)})
    copy._serde_allowlist = getattr(graph, "_serde_allowlist", None)
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
