"""What is known of one checkpoint in a list. Nothing here imports LangGraph: readers of any store use it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


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

    def to_dict(self) -> dict[str, Any]:
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
