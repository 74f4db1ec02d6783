"""A graph whose code was changed while one of its threads was under way: what LangGraph would drop without a word.

A checkpoint names the nodes that come next. LangGraph passes over those that a graph doesn't have any more: the thread
then looks finished, and an answer that was given to such a node is lost.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from langgraph.pregel import Pregel
from langgraph.types import StateSnapshot

from hitl_tui.supervisor.attached.pending import inner_graph

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
        within = inner_graph(graph, task.name)
        if isinstance(task.state, StateSnapshot) and within is not None:
            async for name in _lost(within, saver, task.state):
                yield f"{task.name} → {name}"
