"""Threads, checkpoints, tasks and questions of a checkpoint store, as plain data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from hitl_tui.core.json_types import GraphState, Json, JsonObject, PlanReviewed
from hitl_tui.core.messages import Message

_UUID6 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-6[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_WAITS = re.compile(r"(?P<count>\d+) waiting: (?P<names>.+)", re.DOTALL)
"""What a session's checkpoint says that waits; those of other stores say it in words of their graph."""
_NAMED = 5
"""Of more than these a session's checkpoint names only the first."""
_BEGINNING = datetime(1582, 10, 15, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """What a store is.

    Args:
        kind: `SQLite` or `PostgreSQL`.
        name: where it is, fit to be shown: never with a password.
        notes: what a reader should know, one sentence each.
    """

    kind: str
    name: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ThreadInfo:
    """One thread in the list.

    Args:
        thread_id: its id.
        head: id of its newest checkpoint; empty when only its subgraphs have any.
        at: when that was written, ISO 8601; empty when that isn't known.
        checkpoints: how many there are, those of subgraphs included.
        title: what it seems to be about: the first thing a person said, or its input.
        waiting: its newest checkpoint asks and has no answer.
        subgraphs: how many namespaces beside the root have checkpoints.
    """

    thread_id: str
    head: str
    at: str
    checkpoints: int
    title: str = ""
    waiting: bool = False
    subgraphs: int = 0

    def to_dict(self) -> dict[str, Json]:
        return {
            "thread_id": self.thread_id,
            "head": self.head,
            "last": self.at,
            "checkpoints": self.checkpoints,
            "title": self.title,
            "waiting": self.waiting,
            "subgraphs": self.subgraphs,
        }


@dataclass(frozen=True, slots=True)
class Search:
    """What a search found.

    Args:
        threads: one page of it.
        total: how many threads the store has.
        by_id: how many of them, those that were written longest ago, were looked for by their ids alone.
    """

    threads: tuple[ThreadInfo, ...]
    total: int
    by_id: int = 0

    @property
    def note(self) -> str:
        """Return what wasn't looked at, one sentence; empty for nothing."""
        if not self.by_id:
            return ""
        return Message(
            "Titles were searched in the {} newest threads, ids in all {}.",
            f"{self.total - self.by_id:,}",
            f"{self.total:,}",
        )


@dataclass(frozen=True, slots=True)
class Namespace:
    """The checkpoints of a graph or of one run of a subgraph within a thread.

    Args:
        ns: as LangGraph writes it, `node:task|inner:task`; empty for the graph itself.
        checkpoints: how many there are.
        head: id of the newest.
        at: when that was written, ISO 8601; empty when that isn't known.
        parent: checkpoint of the graph around it that it ran from; empty when that isn't known.
    """

    ns: str
    checkpoints: int
    head: str
    at: str
    parent: str = ""

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes that lead to it from outside in."""
        return tuple(part.rpartition(":")[0] or part for part in self.ns.split("|")) if self.ns else ()

    def to_dict(self) -> dict[str, Json]:
        return {
            "ns": self.ns,
            "nodes": list(self.nodes),
            "checkpoints": self.checkpoints,
            "head": self.head,
            "last": self.at,
            "parent_checkpoint_id": self.parent or None,
        }


@dataclass(frozen=True, slots=True)
class Question:
    """An interrupt that a node raised.

    Args:
        id: LangGraph's id of it; empty in stores from before there was one.
        node: which node asks; empty when that isn't known.
        value: what it asks, plain JSON.
        schema: JSON Schema of the answer, where the graph gave one.
        pending: nobody has answered so that the node could end.
        answers: what its node was answered so far, in order; the last one is to this question unless it is pending.
    """

    id: str
    node: str
    value: Any
    schema: Json = None
    pending: bool = True
    answers: tuple[Json, ...] = ()

    def to_dict(self) -> dict[str, Json]:
        found = {"id": self.id, "node": self.node, "value": self.value, "pending": self.pending}
        return {
            **found,
            **({"response_schema": self.schema} if self.schema is not None else {}),
            **({"answers": list(self.answers)} if self.answers else {}),
        }


@dataclass(frozen=True, slots=True)
class TaskInfo:
    """What one task did from a checkpoint on.

    Args:
        id: its id.
        node: the node; empty when that isn't known.
        writes: channel and value of each of its results.
        error: what went wrong; empty for nothing.
    """

    id: str
    node: str
    writes: tuple[tuple[str, Any], ...] = ()
    error: str = ""

    def to_dict(self) -> dict[str, Json]:
        found: dict[str, Any] = {"id": self.id, "node": self.node}
        found["writes"] = [{"channel": channel, "value": value} for channel, value in self.writes]
        return {**found, **({"error": self.error} if self.error else {})}


@dataclass(frozen=True, slots=True)
class FullCheckpoint:
    """A thread as it was at one checkpoint.

    Args:
        checkpoint_id: which one.
        values: the state: channels that the graph declares, plain JSON.
        internal: the other channels, which carry control from node to node.
        next: nodes that would run next; `__start__` when there is only input yet.
        questions: interrupts raised from here.
        tasks: what ran from here on.
        metadata: as it was stored.
        at: when it was written, ISO 8601.
        notes: how values were put together, and what can't be read, one sentence each.
    """

    checkpoint_id: str
    values: GraphState
    internal: JsonObject = field(default_factory=dict)
    next: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    tasks: tuple[TaskInfo, ...] = ()
    metadata: JsonObject = field(default_factory=dict)
    at: str = ""
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Json]:
        return {
            "checkpoint_id": self.checkpoint_id,
            "at": self.at,
            "next": list(self.next),
            "values": dict(self.values),
            "questions": [q.to_dict() for q in self.questions],
            "tasks": [t.to_dict() for t in self.tasks],
            "metadata": dict(self.metadata),
            "internal": dict(self.internal),
            "notes": list(self.notes),
        }


def time_of(checkpoint_id: str) -> str:
    """Return when a checkpoint was written, read from its id (UUID version 6); empty when the id doesn't tell."""
    if not _UUID6.fullmatch(checkpoint_id):
        return ""
    digits = checkpoint_id.replace("-", "")
    ticks = (int(digits[:12], 16) << 12) | int(digits[13:16], 16)
    try:
        return (_BEGINNING + timedelta(microseconds=ticks // 10)).isoformat()
    except OverflowError:
        return ""


@dataclass(frozen=True, slots=True)
class CheckpointInfo:
    """One checkpoint.

    Args:
        checkpoint_id: id; ids don't tell the order.
        parent_id: the checkpoint it came from; empty for the first.
        timestamp: ISO 8601, UTC.
        node: where the session stood: the node that runs next.
        todos_completed: how many TODOs were completed.
        step: superstep.
        branch: branch it belongs to.
        source: `input`, `loop` or `fork` (a restore).
        waiting: it waits for a person or a run at a gate.
        message: what it waited for, in words.
        outcome: `finished` or `failed` once there is a response to everything; empty before.
        cursor: number of the last inbox event that is in it.
        tally: how the TODOs had ended, counted (`core.tally`), once there is a response; empty before.
        refused: ids of the last events that had no effect.
        reviewed: who or what had ended the review of the plan; empty before.
    """

    checkpoint_id: str
    parent_id: str
    timestamp: str
    node: str
    todos_completed: int
    step: int
    branch: int
    source: str
    waiting: bool
    message: str
    outcome: str = ""
    cursor: int = 0
    tally: Mapping[str, int] = field(default_factory=dict, hash=False)
    refused: tuple[str, ...] = ()
    reviewed: PlanReviewed = field(default_factory=lambda: PlanReviewed(), hash=False)

    def to_dict(self) -> dict[str, Json]:
        return {
            "checkpoint_id": self.checkpoint_id,
            "parent_id": self.parent_id,
            "timestamp": self.timestamp,
            "node": self.node,
            "todos_completed": self.todos_completed,
            "step": self.step,
            "branch": self.branch,
            "source": self.source,
            "waiting": self.waiting,
            "message": self.message,
        }


@dataclass(frozen=True, slots=True)
class Waiting:
    """What asks at a checkpoint of a session.

    Args:
        names: ids of TODOs, `plan`, ids of proposals; at most the first five.
        count: how many there are.
    """

    names: tuple[str, ...] = ()
    count: int = 0

    @classmethod
    def at(cls, info: CheckpointInfo) -> Waiting | None:
        """Return what asks at a checkpoint; None where its words aren't a session's."""
        found = _WAITS.fullmatch(info.message)
        if found is None:
            return None if info.waiting and info.message else cls()
        return cls(tuple(found["names"].split(", ")), int(found["count"]))

    @property
    def unnamed(self) -> int:
        """How many more than the named ones ask; a name may stand for several questions of a team."""
        return self.count - len(self.names) if len(self.names) >= _NAMED else 0

    def since(self, before: Waiting) -> Waiting:
        """Return what asks here and didn't before, as far as that is known."""
        if before.count > _NAMED and self.count <= before.count:  # it moved up to where it is named
            return Waiting()
        names = tuple(name for name in self.names if name not in before.names)
        return Waiting(names, len(names) + max(0, self.unnamed - before.unnamed))
