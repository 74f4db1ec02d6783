"""What a stopped graph waits for: its interrupts at any depth, and its breakpoints."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.pregel import Pregel
from langgraph.types import Interrupt, PregelTask, StateSnapshot

from hitl_tui.core.json_text import canonical, digest, key_order
from hitl_tui.graphs.json_values import plain

LARGEST = 256_000
"""Bytes of JSON that a question carries; what is larger is shown cut, with its digest."""

_MOST_ORDER = 64_000
"""Bytes of JSON that say in which order the fields of a question came; where it takes more they are sorted."""

_SHOWN = 16_000
"""Bytes of a larger question that are shown: a person reads it to its end."""

BREAK = "break:"

RESUME = "__resume__"
"""Channel in which LangGraph keeps answers."""

_UNFINISHED = (RESUME, "__interrupt__", "__error__", "__error_source_node__")
"""Channels of tasks that have asked or failed; whatever else a task wrote is its result."""


@dataclass(frozen=True, slots=True)
class Level:
    """One node on the way to an interrupt.

    Args:
        name: the node's name.
        whole: its function runs again from its start; False for a subgraph, which goes on within.
        task: id of its task.
    """

    name: str
    whole: bool
    task: str


@dataclass(frozen=True, slots=True)
class Asked:
    """One interrupt and where it came from.

    Args:
        interrupt: LangGraph's own.
        levels: the nodes that hold it, outermost first.
        index: counts those of one node.
    """

    interrupt: Interrupt
    levels: tuple[Level, ...]
    index: int


def asked_in(state: StateSnapshot, graph: Pregel[Any, Any, Any, Any]) -> list[Asked]:
    """Return every interrupt of a paused thread once, with its way in.

    Args:
        state: as `aget_state(config, subgraphs=True)` gives it.
        graph: the graph it is of.
    """
    found: dict[str, Asked] = {}
    for levels, index, interrupt in _walk(state.tasks, graph, ()):
        known = found.get(interrupt.id)
        if known is None or len(known.levels) < len(levels):
            found[interrupt.id] = Asked(interrupt, levels, index)
    return list(found.values())


def _walk(
    tasks: Sequence[PregelTask], graph: Pregel[Any, Any, Any, Any] | None, above: tuple[Level, ...]
) -> Iterator[tuple[tuple[Level, ...], int, Interrupt]]:
    for task in tasks:
        if not task.interrupts:
            continue
        inner, below = node_graph(graph, task.name), within(task)
        levels = (*above, Level(task.name, inner is None, task.id))
        if inner is None or below is None:
            for index, interrupt in enumerate(task.interrupts):
                yield levels, index, interrupt
        # A subgraph that went on to a breakpoint of its own leaves its answered questions with its parent.
        if below is not None:
            yield from _walk(below.tasks, inner or called_graph(graph, task.name), levels)


def within(task: PregelTask) -> StateSnapshot | None:
    """Return where the subgraph of a task stands; None where there is none or it hasn't begun."""
    state = task.state
    return state if isinstance(state, StateSnapshot) and state.created_at is not None else None


def node_graph(graph: Pregel[Any, Any, Any, Any] | None, name: str) -> Pregel[Any, Any, Any, Any] | None:
    """Return the graph that a node is; None for one that is a function, also when that calls a graph."""
    node = graph.nodes.get(name) if graph is not None else None
    bound = getattr(node, "bound", None)
    return bound if isinstance(bound, Pregel) else None


def called_graph(graph: Pregel[Any, Any, Any, Any] | None, name: str) -> Pregel[Any, Any, Any, Any] | None:
    """Return the graph that a node which is a function calls; None where there is none, or no saying which."""
    node = graph.nodes.get(name) if graph is not None else None
    found = [g for g in getattr(node, "subgraphs", None) or () if isinstance(g, Pregel)]
    return found[0] if len(found) == 1 else None


def inner_graph(graph: Pregel[Any, Any, Any, Any], name: str) -> Pregel[Any, Any, Any, Any] | None:
    """Return the graph that a node is or calls; None where there is none, or no saying which."""
    return node_graph(graph, name) or called_graph(graph, name)


def stands_at(state: StateSnapshot) -> str:
    """Return a digest of where a thread and its subgraphs stand: an answer is for exactly that."""
    found = [place["configurable"] for place in places(state)]
    names = [[str(p.get("checkpoint_ns", "")).split(":")[0], str(p.get("checkpoint_id", ""))] for p in found]
    return digest(sorted(names))[:16]


def places(state: StateSnapshot) -> Iterator[RunnableConfig]:
    """Yield where a thread and the subgraphs that are at work in it stand."""
    if state.config:
        yield state.config
    for task in state.tasks:
        if isinstance(task.state, StateSnapshot):
            yield from places(task.state)


async def finished_in(saver: Any, state: StateSnapshot) -> set[str]:
    """Return the ids of a paused thread's tasks that are done, calls of `@task` as well as nodes.

    LangGraph reports them again and doesn't run them.
    """
    kept = [await saver.aget_tuple(place) for place in places(state)]
    writes = (write for found in kept if found is not None for write in found.pending_writes or ())
    return {task for task, channel, _ in writes if channel not in _UNFINISHED}


def cut_off_in(state: StateSnapshot) -> bool:
    """Return whether a node of a step in which another one asks has come to no end: it was at work when all stopped."""
    return any(
        cut_off_in(task.state)
        if task.interrupts and isinstance(task.state, StateSnapshot)
        else not task.interrupts and task.result is None
        for task in state.tasks
    )


def torn_in(state: StateSnapshot) -> bool:
    """Return whether a node was at work when another one of its step failed: how far it got isn't known."""
    return any(
        (isinstance(task.state, StateSnapshot) and torn_in(task.state))
        or (not task.interrupts and task.result is None and (task.error is None or _is_cancelled(task.error)))
        for task in state.tasks
    )


def _is_cancelled(error: object) -> bool:
    """Return whether a task's error, an exception or its text, is a cancellation."""
    return str(error).startswith("CancelledError") or repr(error).startswith("CancelledError")


def question_for(asked: Asked, at: str, again: Sequence[str]) -> dict[str, Any]:
    """Return an interrupt as an event carries it.

    Args:
        asked: the interrupt.
        at: see `stands_at`.
        again: what answering it runs again, a line each.
    """
    found: dict[str, Any] = {
        "id": asked.interrupt.id,
        "path": [level.name for level in asked.levels],
        "index": asked.index,
        "value": bounded(plain(asked.interrupt.value)),
        "at": at,
        "again": list(again),
    }
    schema = plain(asked.interrupt.response_schema)
    if isinstance(schema, Mapping) and len(canonical(schema)) <= LARGEST:
        found["schema"] = dict(schema)
    if len(canonical(order := key_order([found["value"], found.get("schema")]))) <= _MOST_ORDER:
        found["order"] = order
    return found


def bounded(value: Any) -> Any:
    """Return a JSON value; one that is too large for a question as an object that shows how each of its parts begins.

    The object isn't of the value's own form, so that no answer can be made of parts that were cut. Of tool calls every
    one is there, with how its arguments begin.
    """
    data = canonical(value)
    if len(data) <= LARGEST:
        return value
    shown: Any = data[:_SHOWN].decode("utf-8", "ignore")
    for items, characters in ((40, 1_000), (10, 200), (3, 60)):
        calls = _beginning_of_calls(value, items, characters)
        parts = _beginning(value, items, characters) if calls is None else calls
        if len(canonical(parts)) <= (_SHOWN if calls is None else LARGEST):
            shown = parts
            break
    return {
        "cut": f"{len(data):,} bytes; of what is long only the beginning is here",
        "shown": shown,
        "sha256": hashlib.sha256(data).hexdigest(),
    }


def _beginning_of_calls(value: Any, items: int, characters: int) -> Any:
    """Return tool calls with the beginnings of their arguments, in the form they came in; None for anything else."""
    if isinstance(value, list):
        calls = [_beginning_of_calls(item, items, characters) for item in value]
        return calls if calls and all(call is not None and "action_request" in call for call in calls) else None
    if not isinstance(value, Mapping):
        return None

    def short(call: Any) -> Any:
        cut = {k: _beginning(call[k], items, characters) for k in ("args", "description") if k in call}
        return {**call, **cut}

    if value.get("type") == "tool_approval":
        return short(value)
    if isinstance(value.get("action_request"), Mapping):
        return {**short(value), "action_request": short(value["action_request"])}
    requests = value.get("action_requests")
    if isinstance(requests, list) and all(isinstance(call, Mapping) for call in requests):
        return {**value, "action_requests": [short(call) for call in requests]}
    return None


def _beginning(value: Any, items: int, characters: int) -> Any:
    if isinstance(value, str) and len(value) > characters:
        return f"{value[:characters]}… ({len(value):,} characters)"
    if isinstance(value, Mapping):
        found = {k: _beginning(v, items, characters) for k, v in list(value.items())[:items]}
        return {**found, "…": f"{len(value) - items:,} more"} if len(value) > items else found
    if isinstance(value, list):
        parts = [_beginning(v, items, characters) for v in value[:items]]
        return [*parts, f"… {len(value) - items:,} more"] if len(value) > items else parts
    return value


def breakpoint_question(state: StateSnapshot, nodes: Sequence[str]) -> dict[str, Any]:
    """Return a static breakpoint as an event carries it; of one in a subgraph it names the node there.

    Args:
        state: the paused thread.
        nodes: the nodes before which it stopped; after one that is the next ones.
    """
    place = str((state.config or {}).get("configurable", {}).get("checkpoint_id", ""))
    named = {"nodes": list(_next_within(state, nodes)), "next": list(_next_within(state, state.next))}
    value = {"breakpoint": "before", **named}
    return {
        "id": f"{BREAK}{place}",
        "path": list(nodes),
        "index": 0,
        "value": value,
        "at": stands_at(state),
        "again": [],
        "schema": {"type": "object", "properties": {"action": {"enum": ["continue", "step"]}}, "required": ["action"]},
    }


def _next_within(state: StateSnapshot, names: Sequence[str]) -> Iterator[str]:
    """Yield the nodes that come next, those of subgraphs that have begun by their way in: `sub/node`."""
    tasks = {task.name: task for task in state.tasks}
    for name in names:
        below = within(tasks[name]) if name in tasks else None
        if below is None or not below.next:
            yield name
        else:
            yield from (f"{name}/{inner}" for inner in _next_within(below, below.next))


_NEXT = "branch:to:"
"""Channels by which a checkpoint says which nodes come next; they belong to LangGraph's `StateGraph`."""


async def vanished(
    graph: Pregel[Any, Any, Any, Any], state: StateSnapshot, interrupts: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return the nodes that a thread stands before and its graph doesn't have any more.

    Args:
        graph: on the thread's saver.
        state: as `aget_state(config, subgraphs=True)` gives it.
        interrupts: what the thread was last seen to ask and wasn't told yet, each with its `path`.
    """
    found = [name async for name in _lost(graph, graph.checkpointer, state)]
    found += [str(i["path"][0]) for i in interrupts if i["path"] and i["path"][0] not in graph.nodes]
    return list(dict.fromkeys(found))


async def _lost(graph: Pregel[Any, Any, Any, Any], saver: Any, state: StateSnapshot) -> AsyncIterator[str]:
    kept = await saver.aget_tuple(state.config) if state.created_at is not None else None
    if kept is not None:
        for channel in kept.checkpoint["channel_values"]:
            if str(channel).startswith(_NEXT) and channel not in graph.channels:
                yield str(channel).removeprefix(_NEXT)
    for task in state.tasks:
        inner = inner_graph(graph, task.name)
        if isinstance(task.state, StateSnapshot) and inner is not None:
            async for name in _lost(inner, saver, task.state):
                yield f"{task.name} → {name}"
