"""A person's change of the state of a paused graph: what comes next stays, and what comes of it is known before."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel import Pregel
from langgraph.pregel._read import PregelNode
from langgraph.types import Command, Send, StateSnapshot

from hitl_tui.core.errors import BadInput, error_words
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line

if TYPE_CHECKING:
    AnyPregel = Pregel[Any, Any, Any, Any]

_EDITOR = "__edit__"
_SENDS = "__pregel_tasks"
"""The channel of calls by `Send`, which `next` only names."""
_DELTA = "DeltaChannel"


async def edit_state(graph: AnyPregel, place: RunnableConfig, values: Mapping[str, Any]) -> None:
    """Write a checkpoint after another one, with a change of its state; the same nodes come next.

    LangGraph's own change of a state is a result of the node before: it goes where that node's edges lead, which is
    nowhere after one that went on by a `Command`.

    Args:
        graph: on the thread's saver.
        place: the checkpoint.
        values: what the fields are changed to, or what their reducers get.
    """
    nodes = [node for name, node in graph.nodes.items() if not name.startswith("__")]
    writer = next((node.writers[0] for node in nodes if isinstance(node, PregelNode) and node.writers), None)
    if not isinstance(graph, CompiledStateGraph) or writer is None:
        await _update(graph, place, values)
        return
    saver: Any = graph.checkpointer
    state, held = await graph.aget_state(place), await saver.aget_tuple(place)
    sends = [send for send in held.checkpoint["channel_values"].get(_SENDS) or () if isinstance(send, Send)]
    goes = list(state.next)
    for name in (send.node for send in sends):
        if name in goes:
            goes.remove(name)
    editing = copy.copy(graph)
    editing.nodes = {**graph.nodes, _EDITOR: PregelNode(triggers=[], channels=[], writers=[writer])}
    await editing.aupdate_state(place, Command(update=dict(values), goto=[*goes, *sends]), as_node=_EDITOR)


async def _update(graph: AnyPregel, place: RunnableConfig, values: Mapping[str, Any]) -> None:
    """Change a state as LangGraph does, and take it back where something else would come next.

    Raises:
        BadInput: something else would.
    """
    before = await graph.aget_state(place)
    after = await graph.aget_state(await graph.aupdate_state(place, dict(values), as_node=None))
    if sorted(before.next) != sorted(after.next):
        await graph.aupdate_state(before.config, None, as_node="__copy__")
        raise _other_next(before, after)


async def edited(graph: AnyPregel, place: RunnableConfig, values: Mapping[str, Any]) -> StateSnapshot | None:
    """Return what a change of a state would make of it, the thread untouched; None where that can't be known.

    Raises:
        BadInput: the state can't be changed like this.
    """
    saver: Any = graph.checkpointer
    held = await saver.aget_tuple(place)
    if held is None or any(type(channel).__name__ == _DELTA for channel in graph.channels.values()):
        return None
    memory = InMemorySaver(serde=saver.serde)
    thread: RunnableConfig = {"configurable": {"thread_id": "edited", "checkpoint_ns": ""}}
    there = memory.put(thread, held.checkpoint, held.metadata, held.checkpoint["channel_versions"])
    writes: dict[str, list[tuple[str, Any]]] = {}
    for task, channel, value in held.pending_writes or ():
        writes.setdefault(task, []).append((channel, value))
    for task, written in writes.items():
        memory.put_writes(there, written, task)
    trial = copy.copy(graph)
    trial.checkpointer = memory
    before = await trial.aget_state(there)
    try:
        await edit_state(trial, there, values)
        after = await trial.aget_state(thread)
    except Exception as error:  # a reducer may be anybody's
        said = one_line(error_words(error), 300)
        raise BadInput(Message("The state can't be changed like this: {}.", said)) from error
    if sorted(before.next) != sorted(after.next):
        raise _other_next(before, after)
    return after


def _other_next(before: StateSnapshot, after: StateSnapshot) -> BadInput:
    return BadInput(
        Message(
            "With this change {} would come next instead of {}; the state stays as it was.",
            ", ".join(after.next) or Message("nothing"),
            ", ".join(before.next) or Message("nothing"),
        )
    )
