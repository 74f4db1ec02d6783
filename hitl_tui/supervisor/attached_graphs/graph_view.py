"""A paused graph as a person looks at it: where it stands, its state, its nodes."""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph.pregel import Pregel
from langgraph.types import StateSnapshot
from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

from hitl_tui.core.errors import BadInput
from hitl_tui.core.interrupts.json_schema import problem
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line
from hitl_tui.graphs.json_values import plain
from hitl_tui.graphs.served_graph import ServedGraph
from hitl_tui.supervisor.attached_graphs.waiting_points import asked_in


@dataclass(frozen=True, slots=True)
class Edge:
    """One edge of a drawn graph.

    Args:
        source, target: names of nodes.
        label: what decides, of a conditional one.
        conditional: it isn't always taken.
    """

    source: str
    target: str
    label: str
    conditional: bool


@dataclass(frozen=True, slots=True)
class GraphView:
    """One attached graph and where its thread stands.

    Args:
        todo_id, agent: whose it is.
        thread, checkpoint_id: where; empty when it hasn't begun.
        nodes: names, in the order they were added.
        edges: between them, `__start__` and `__end__`.
        values: the state, JSON.
        next: the nodes that come next.
        asking: the nodes that hold a question now, outermost first.
        entered: how often each was entered, by path.
        before, after: nodes it stops before and after.
        edited: the state that a change of it would make; None where nobody asked, or that can't be known.
    """

    todo_id: str
    agent: str
    thread: str
    checkpoint_id: str
    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]
    values: Any
    next: tuple[str, ...]
    asking: tuple[tuple[str, ...], ...]
    entered: Mapping[str, int]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    edited: Any = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "todo_id": self.todo_id,
            "agent": self.agent,
            "thread": self.thread,
            "checkpoint_id": self.checkpoint_id,
            "nodes": list(self.nodes),
            "edges": [[e.source, e.target, e.label, e.conditional] for e in self.edges],
            "state": self.values,
            "next": list(self.next),
            "asking": [list(path) for path in self.asking],
            "entered": dict(self.entered),
            "before": list(self.before),
            "after": list(self.after),
        }


def drawn(graph: Pregel[Any, Any, Any, Any]) -> tuple[tuple[str, ...], tuple[Edge, ...]]:
    """Return a graph's nodes and edges, its subgraphs' within; what it can't say of itself is left out."""
    try:
        found = graph.get_graph(xray=True)
    except Exception:  # noqa: BLE001 - drawing calls their functions' hints and subgraphs; nothing depends on it
        names = tuple(str(n) for n in graph.nodes if not str(n).startswith("__"))
        return names, ()
    edges = tuple(Edge(e.source, e.target, str(e.data or ""), bool(e.conditional)) for e in found.edges)
    return tuple(found.nodes), edges


def view_of(
    todo_id: str,
    agent: str,
    graph: Pregel[Any, Any, Any, Any],
    state: StateSnapshot,
    entered: Mapping[str, int],
    stops: tuple[Sequence[str], Sequence[str]],
    edited: StateSnapshot | None = None,
) -> GraphView:
    """Return a graph and where it stands; `edited` is its state with a change."""
    nodes, edges = drawn(graph)
    place = (state.config or {}).get("configurable", {})
    return GraphView(
        todo_id=todo_id,
        agent=agent,
        thread=str(place.get("thread_id", "")),
        checkpoint_id=str(place.get("checkpoint_id", "")),
        nodes=nodes,
        edges=edges,
        values=plain(state.values),
        next=tuple(state.next),
        asking=tuple(tuple(level.name for level in a.levels) for a in asked_in(state, graph)),
        entered=dict(entered),
        before=tuple(stops[0]),
        after=tuple(stops[1]),
        edited=None if edited is None else plain(edited.values),
    )


def check_update(graph: Pregel[Any, Any, Any, Any], values: Mapping[str, Any]) -> None:
    """Check a change of state against the graph's schema, field by field.

    Raises:
        BadInput: a field isn't there, or a value doesn't fit its type.
    """
    schema = getattr(getattr(graph, "builder", None), "state_schema", None)
    channels = {str(name) for name in graph.channels if not str(name).startswith(("__", "branch:"))}
    for name in values:
        if name not in channels or name in graph.nodes:
            known = ", ".join(sorted(channels - set(graph.nodes)))
            raise BadInput(Message('The state has no "{}"; it has {}.', one_line(name, 60), known))
    served: object = graph
    if isinstance(served, ServedGraph):
        _check_schema(served.state_schema, values)
    if schema is None:
        return
    try:
        hints = typing.get_type_hints(schema, include_extras=False)
    except (NameError, TypeError, AttributeError):
        return
    for name, value in values.items():
        kind = hints.get(name)
        if kind is None or "BaseMessage" in str(kind) or "AnyMessage" in str(kind):
            continue  # messages are given as role and content, and converted by their reducer
        try:
            TypeAdapter(_bare(kind)).validate_python(value)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            at = ".".join(str(part) for part in (name, *first["loc"]))
            raise BadInput(Message('"{}" doesn\'t fit: {}.', one_line(at, 100), one_line(first["msg"], 200))) from error
        except (PydanticSchemaGenerationError, PydanticUserError, TypeError, NameError):
            continue


def _check_schema(schema: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Check a change of state against the JSON Schema that a server tells of it."""
    for name, value in values.items():
        form = schema["properties"][name]
        if "Message" not in str(form) and (wrong := problem({**form, "$defs": schema.get("$defs", {})}, value)):
            raise BadInput(Message('"{}" doesn\'t fit: {}', one_line(name, 100), wrong))


def _bare(kind: Any) -> Any:
    """Return a field's type without what only its schema means: `Required`, `NotRequired`, `Annotated`."""
    while typing.get_origin(kind) in (typing.Required, typing.NotRequired, typing.Annotated):
        kind = typing.get_args(kind)[0]
    return kind
