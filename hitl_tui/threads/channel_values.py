"""Tasks, next nodes and questions, read from LangGraph's channels and writes without the graph. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

from hitl_tui.core.json_types import GraphState, Json, JsonObject
from hitl_tui.threads.thread_model import Question, TaskInfo
from hitl_tui.threads.value_decoder import TYPE, Snapshot

START, TASKS, INTERRUPT, RESUME = "__start__", "__pregel_tasks", "__interrupt__", "__resume__"
ERROR, ERROR_NODE = "__error__", "__error_source_node__"
CONTROL = (ERROR, ERROR_NODE, INTERRUPT, RESUME)
"""Channels of writes that say what became of a task, not what it produced."""
NO_TASK = "00000000-0000-0000-0000-000000000000"
"""Task id of writes that came from outside: input, answers, updates."""

_EDGES = ("branch:to:", "start:", "branch:", "join:")
_PULL, _PUSH = "~__pregel_pull, ", "~__pregel_push, "


@dataclass(frozen=True, slots=True)
class ChannelWrite:
    """One write of one task, as it was stored.

    Args:
        checkpoint_id: from which checkpoint on it ran.
        task_id, task_path: whose it is; the path is empty in old stores.
        idx: its place among the task's writes.
        channel: where it went.
        value: plain JSON.
    """

    checkpoint_id: str
    task_id: str
    task_path: str
    idx: int
    channel: str
    value: Any


def is_internal(channel: str) -> bool:
    """Return whether a channel carries control and is no part of the state that a graph declares."""
    return channel.startswith(_EDGES) or (channel.startswith("__") and channel not in ("__root__", "__previous__"))


def next_nodes(values: GraphState) -> tuple[str, ...]:
    """Return the nodes that would run next, in the order of their channels.

    Args:
        values: the channels that have a value at a checkpoint.
    """
    found: list[str] = []
    for channel, value in values.items():
        if channel == START:
            found.append(START)
        elif channel == TASKS:
            found += sent_to(value)
        elif channel.startswith("branch:to:"):
            found.append(channel.removeprefix("branch:to:"))
        elif channel.startswith("join:"):
            names, _, node = channel.removeprefix("join:").rpartition(":")
            if isinstance(value, list) and set(names.split("+")) <= {str(v) for v in value}:
                found.append(node)
        elif channel.startswith(("branch:", "start:")):
            found.append(channel.rpartition(":")[2])
    nodes = [node for node in found if node != START]
    return tuple(dict.fromkeys(nodes or found))


def old_edges(checkpoint: JsonObject, values: GraphState) -> tuple[str, ...]:
    """Return the channels that are edges as LangGraph had them before 0.3: named for the node that ran, and holding it.

    They don't say where they lead.
    """
    old = checkpoint.get("v", 1) == 1
    return tuple(channel for channel, value in values.items() if value == channel) if old else ()


def told_by(metadata: Mapping[str, object]) -> tuple[str, ...]:
    """Return the nodes whose step made a checkpoint, as its metadata told before LangGraph 0.5; nothing later."""
    writes = metadata.get("writes")
    return tuple(map(str, writes)) if metadata.get("source") == "loop" and isinstance(writes, Mapping) else ()


def sent_to(value: Any) -> list[str]:
    """Return the nodes that `Send`s go to."""
    return [str(arguments[0]) for arguments in (_send(v) for v in value) if arguments] if _is_list(value) else []


def _send(value: Json) -> Sequence[Json]:
    if not isinstance(value, Mapping):
        return ()
    arguments = value.get("value")
    if isinstance(arguments, list) and arguments:
        return arguments
    return (value["node"],) if "node" in value else ()


def _is_list(value: Json) -> bool:
    return isinstance(value, list)


def node_of(write: ChannelWrite, sends: Sequence[str] = ()) -> str:
    """Return the node of a task, as far as its path tells.

    Args:
        write: any write of it.
        sends: the nodes of the checkpoint's own `Send`s, in order.
    """
    path = write.task_path
    if path.startswith(_PULL):
        return path.removeprefix(_PULL)
    if path.startswith(_PUSH):
        place = path.removeprefix(_PUSH).partition(",")[0]
        if place.isdigit() and int(place) < len(sends):
            return sends[int(place)]
    return ""


def tasks_of(writes: Iterable[ChannelWrite], sends: Sequence[str] = ()) -> list[TaskInfo]:
    """Return what the tasks of one checkpoint did, in the order LangGraph applies it."""
    grouped: dict[str, list[ChannelWrite]] = {}
    for write in sorted(writes, key=lambda w: (w.task_path, w.task_id, w.idx)):
        grouped.setdefault(write.task_id, []).append(write)
    found = []
    for task_id, own in grouped.items():
        node = next((name for name in (node_of(w, sends) for w in own) if name), "")
        node = node or next((str(w.value) for w in own if w.channel == ERROR_NODE), "")
        results = tuple((w.channel, w.value) for w in own if w.channel not in CONTROL)
        error = next((_error(w.value) for w in own if w.channel == ERROR), "")
        found.append(TaskInfo(task_id, "" if task_id == NO_TASK else node, results, error))
    return found


def is_edit(task: TaskInfo, checkpoint_id: str) -> bool:
    """Return whether a task of a checkpoint is an edit of its state that got an id of its own: no node ran for it."""
    try:
        return UUID(task.id) == uuid5(UUID(checkpoint_id), INTERRUPT)
    except ValueError:
        return False


def _error(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def questions_of(writes: Iterable[ChannelWrite], sends: Sequence[str] = ()) -> list[Question]:
    """Return the interrupts that one checkpoint's tasks raised, with what was answered to them."""
    kept = sorted(writes, key=lambda w: (w.task_path, w.task_id, w.idx))
    finished = {w.task_id for w in kept if w.channel not in CONTROL}
    given = [w for w in kept if w.channel == RESUME]
    asking = {w.task_id for w in kept if w.channel == INTERRUPT}
    found = []
    for write in kept:
        if write.channel != INTERRUPT:
            continue
        node, pending = node_of(write, sends), write.task_id not in finished
        answers = _answers(given, write.task_id)
        if len(asking) == 1 and not (pending and answers):
            # What was said to whatever asks is for the only one that does; it isn't kept with its task at the end.
            answers += [a for a in _answers(given, NO_TASK) if answers[-1:] != [a]]
        raised = write.value if isinstance(write.value, list) else [write.value]
        found += [_question(r, node, pending, tuple(answers)) for r in raised]
    return found


def _answers(given: Sequence[ChannelWrite], task_id: str) -> list[Json]:
    own = [w.value for w in given if w.task_id == task_id]
    # A task keeps the list of its answers; what comes from outside is one.
    return [a for value in own for a in (value if task_id != NO_TASK and isinstance(value, list) else [value])]


def _question(raised: Json, node: str, pending: bool, answers: tuple[Json, ...]) -> Question:
    if not isinstance(raised, Mapping):
        return Question("", node, raised, None, pending, answers)
    ident = str(raised.get("id") or raised.get("interrupt_id") or "")
    place = raised.get("ns")
    if not node and isinstance(place, list) and place:
        node = str(place[-1]).rpartition(":")[0]
    if "value" not in raised or not {TYPE, "id", "interrupt_id", "ns", "resumable"} & raised.keys():
        return Question("", node, raised, None, pending, answers)
    return Question(ident, node, raised.get("value"), raised.get("response_schema"), pending, answers)


_ASKS = ("question", "message", "description", "instruction", "prompt", "text", "title", "action", "type")


def asked_words(value: Json) -> str:
    """Return what an interrupt asks in a few words, not yet safe to show."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value:
        return asked_words(value[0])
    if isinstance(value, Mapping):
        for key in _ASKS:
            if isinstance(value.get(key), str) and value[key]:
                return str(value[key])
        for key in ("action_requests", "action_request", "value"):
            if value.get(key):
                return asked_words(_named(value[key]))
        return ", ".join(str(k) for k in value)
    return json.dumps(value, ensure_ascii=False)


def _named(value: Json) -> Json:
    if isinstance(value, list) and value:
        return _named(value[0])
    if isinstance(value, Mapping) and isinstance(name := value.get("name") or value.get("action"), str):
        return name
    return value


_SAYS = ("messages", "query", "question", "input", "task", "topic", "prompt", "request", "text", "content")


def title_of(values: GraphState) -> str:
    """Return what a thread seems to be about, not yet safe to show: what a person said first, or the input.

    Args:
        values: the channels of its first checkpoint.
    """
    given = values.get(START, values)
    return _said(given.value if isinstance(given, Snapshot) else given)


def _said(value: Json, depth: int = 0) -> str:
    if isinstance(value, str):
        return value
    if depth > 4 or value is None:
        return ""
    if isinstance(value, Mapping):
        if "role" in value and "content" in value:
            return _content(value["content"])
        keys = [k for k in _SAYS if k in value] + [k for k in value if k not in _SAYS and not is_internal(str(k))]
        return next((said for said in (_said(value[k], depth + 1) for k in keys if k != TYPE) if said), "")
    if isinstance(value, list):
        if len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], str) and value[0] in _SPEAKERS:
            return value[1]
        people = [v for v in value if isinstance(v, Mapping) and v.get("role") in ("human", "user")]
        return next((said for said in (_said(v, depth + 1) for v in [*people, *value]) if said), "")
    return ""


_SPEAKERS = frozenset({"user", "human", "system", "assistant", "ai"})


def _content(content: Json) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return " ".join(str(p.get("text", "")) for p in content if isinstance(p, Mapping) and p.get("text"))
    return ""
