"""What answering an interrupt runs again: a task that asked begins anew, with all that it did before its question."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel
from langgraph.types import PregelTask, StateSnapshot

from hitl_tui.core.messages import Message
from hitl_tui.graphs.asking_nodes import acts_before_asking, call_acts_before_asking
from hitl_tui.supervisor.attached_graphs.waiting_points import RESUME, Asked, called_graph, node_graph, within

_TASKS, _PUSH = "__pregel_tasks", "__pregel_push"
"""Channel in which LangGraph keeps what nodes were sent, and the way of a task that was sent something."""

_ASKS_BY_CALL = re.compile(r"[0-9a-f]{32}")
"""Ids that LangGraph gives what `interrupt()` asks, by which an answer finds its way; others are of `NodeInterrupt`."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """What a task that waits does once more, as far as that can be told.

    Args:
        calls: the calls of tools that it makes again; empty for a node that isn't told call by call.
        alone: there is no other call in that task, so it is the one that asks.
    """

    calls: tuple[str, ...] = ()
    alone: bool = False


async def repeats_in(graph: Pregel[Any, Any, Any, Any], state: StateSnapshot) -> Mapping[str, Repeat | None]:
    """Return what each task of a paused thread that asks does once more when it is answered, by its id.

    It is None for one that does nothing again.

    Args:
        graph: on the thread's saver.
        state: as `aget_state(config, subgraphs=True)` gives it.
    """
    found: dict[str, Repeat | None] = {}
    await _note(found, graph, graph.checkpointer, state)
    return found


async def _note(
    found: dict[str, Repeat | None], graph: Pregel[Any, Any, Any, Any] | None, saver: Any, state: StateSnapshot
) -> None:
    waiting = [task for task in state.tasks if task.interrupts]
    kept = await saver.aget_tuple(state.config) if waiting else None
    for task in waiting:
        node = graph.nodes.get(task.name) if graph is not None else None
        inner, below = node_graph(graph, task.name), within(task)
        if inner is None:
            writes = kept.pending_writes or () if kept is not None else ()
            answered = any(task_id == task.id and channel == RESUME for task_id, channel, _ in writes)
            given = _sent(task, kept) if task.path[:1] == (_PUSH,) else state.values
            found[task.id] = _repeat(node, given, answered=answered or below is not None)
        if below is not None:
            await _note(found, inner or called_graph(graph, task.name), saver, below)


def _sent(task: PregelTask, kept: Any) -> Any:
    """Return what a task was sent; None where that isn't known."""
    sent = (kept.checkpoint["channel_values"].get(_TASKS) if kept is not None else None) or ()
    place = task.path[1]
    return sent[place].arg if isinstance(place, int) and place < len(sent) else None


def _repeat(node: Any, given: Any, *, answered: bool) -> Repeat | None:
    tools = getattr(node, "bound", None)
    calls = _calls(given, tools) if isinstance(tools, ToolNode) else ()
    if not isinstance(tools, ToolNode) or not calls:
        return Repeat() if acts_before_asking(node, answered=answered) else None
    wrapped = any(getattr(tools, name, None) is not None for name in ("_wrap_tool_call", "_awrap_tool_call"))
    made = [c for c in calls if wrapped or call_acts_before_asking(_functions(tools, c), answered=answered)]
    return Repeat(tuple(made), len(calls) == 1) if made else None


def _functions(tools: ToolNode, name: str) -> list[Any]:
    tool = tools.tools_by_name.get(name)
    return [one for one in (getattr(tool, "func", None), getattr(tool, "coroutine", None)) if one is not None]


def _calls(given: Any, tools: ToolNode) -> list[str]:
    """Return the names of the tools that a task calls, in order; none where that isn't known."""
    if isinstance(given, Mapping) and isinstance(call := given.get("tool_call"), Mapping):
        return [str(call.get("name"))]
    if isinstance(given, list) and given and isinstance(given[-1], Mapping) and given[-1].get("type") == "tool_call":
        return [str(call.get("name")) for call in given]
    key = str(getattr(tools, "_messages_key", "messages"))
    messages = given.get(key) if isinstance(given, Mapping) else given if isinstance(given, list) else None
    asked = [made for m in messages or () if (made := getattr(m, "tool_calls", None))]
    return [str(call.get("name")) for call in asked[-1]] if asked else []


def again(asked: Asked, repeats: Mapping[str, Repeat | None]) -> list[str]:
    """Return what runs again of an interrupt's own nodes when it is answered, a line each, from the node outward.

    A node that did nothing before it asked does nothing again.

    What waits beside it changes with every answer: `Question.again` adds it when it is shown.
    """
    lines: list[str] = []
    path = [level.name for level in asked.levels]
    if not _ASKS_BY_CALL.fullmatch(asked.interrupt.id):
        lines.append(
            Message("`{}` raises NodeInterrupt: no answer reaches it. Change its state first: /state edit", path[-1])
        )
    for depth in range(len(path), 0, -1):
        place, level = " → ".join(path[:depth]), asked.levels[depth - 1]
        if not level.whole:
            lines.append(Message("`{}` goes on inside; its finished nodes don't run again", place))
        elif (repeat := repeats.get(level.task, Repeat())) is not None:
            lines.append(_again_words(repeat, place))
    return lines


def _again_words(repeat: Repeat, place: str) -> Message:
    if repeat.calls and not repeat.alone:
        return Message(
            "`{}` makes these calls once more after your answer, from their start: {}", place, _counted(repeat.calls)
        )
    return Message(
        "What comes after your answer happens once; what `{}` did before it asked is done a second time",
        " → ".join([place, *repeat.calls]),
    )


def _counted(names: Sequence[str]) -> str:
    """Return names, each once, with how often where that is more."""
    return ", ".join(f"{name} ×{n}" if (n := names.count(name)) > 1 else name for name in dict.fromkeys(names))
