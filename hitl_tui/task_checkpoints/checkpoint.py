"""A step of somebody's task, as it is recorded and decided (M1, M2)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from hitl_tui.core.json_text import short_id
from hitl_tui.core.json_types import Json
from hitl_tui.core.messages import Message
from hitl_tui.core.requests import Outcome, Verdict
from hitl_tui.ledger.records import Entry, RequestView

STEP = "task_step"
"""Kind of the entry that records a step. One that asks carries its request, so that no crash keeps it from asking."""


class Status(StrEnum):
    """How a step stands."""

    COMPLETED = "completed"  # it asked nothing, or was approved
    INTERRUPTED = "interrupted"  # it waits for a decision
    REJECTED = "rejected"  # and with it the task


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One step of a task.

    Args:
        id: `cp-TASK-STEP-…`.
        task_id, step: which.
        action: what it does, in the agent's words.
        agent: whose.
        recorded_at: ISO 8601, UTC.
        message: what it asks; empty for a step that asks nothing.
        view: its request with what was decided; None for a step that asks nothing.
    """

    id: str
    task_id: str
    step: int
    action: str
    agent: str
    recorded_at: str
    message: str = ""
    view: RequestView | None = None

    @property
    def status(self) -> Status:
        """How it stands."""
        if self.view is None:
            return Status.COMPLETED
        resolution = self.view.resolution
        if resolution.outcome is Outcome.PENDING:
            return Status.INTERRUPTED
        return Status.COMPLETED if resolution.verdict is Verdict.APPROVE else Status.REJECTED

    @property
    def expired(self) -> bool:
        """Nobody decided in time."""
        return self.view is not None and self.view.resolution.outcome is Outcome.EXPIRED

    @property
    def name(self) -> str:
        """What people call it: `deploy.3`."""
        return f"{self.task_id}.{self.step}"

    @property
    def needed(self) -> int:
        """How many more people have to say something until it is decided."""
        return self.view.resolution.needed if self.view else 0

    def decision_words(self, verdict: Verdict) -> Message:
        """Return what a verdict that was just recorded led to."""
        if self.needed:
            return Message("Recorded; {} more needed to {}.", self.needed, verdict.value)
        if verdict is Verdict.APPROVE:
            return Message("Approved {what}.", what=self.name)
        return Message("Rejected {what}.", what=self.name)

    def to_dict(self) -> dict[str, Json]:
        """Return it as JSON values."""
        found: dict[str, Json] = {
            "id": self.id,
            "task_id": self.task_id,
            "step": self.step,
            "action": self.action,
            "agent": self.agent,
            "status": self.status.value,
            "recorded_at": self.recorded_at,
        }
        if self.view is None:
            return found
        request, resolution = self.view.request, self.view.resolution
        found |= {
            "interrupt_message": self.message,
            "interrupt_at": request.opened_at,
            "request_id": request.id,
            "digest": request.digest,
            "risk": request.risk_class.value,
            "deadline": request.deadline,
            "votes": len(resolution.decisions),
            "quorum": request.terms.quorum,
            "level": request.terms.level,
        }
        last = resolution.decisions[-1] if resolution.decisions else None
        if self.status is Status.COMPLETED and last is not None:
            found |= {"resume_value": last.value, "resumed_at": last.at, "by": [d.by for d in resolution.decisions]}
        elif self.status is Status.REJECTED:
            at = last.at if last else request.deadline
            found |= {"rejected_at": at, "reason": last.reason if last else "expired", "expired": self.expired}
            if last is not None:
                found["by"] = [d.by for d in resolution.decisions]
        return found


def checkpoint_of(entry: Entry, view: RequestView | None) -> Checkpoint:
    """Return the step that an entry records, with what was decided about it."""
    data = entry.data
    task_id, step = str(data["task_id"]), int(data["step"])
    return Checkpoint(
        f"cp-{task_id}-{step}-{short_id(entry.hash)[:8]}",
        task_id,
        step,
        str(data["action"]),
        str(data["agent"]),
        entry.at,
        str(data.get("message", "")),
        view,
    )
