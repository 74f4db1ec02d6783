"""A step of somebody's task, as it is recorded and decided (M1, M2)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum

from hitl_tui.core.json_text import digest, short_id
from hitl_tui.core.json_types import Json, JsonObject, Stored
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip
from hitl_tui.core.policy import Ruling, rule_label
from hitl_tui.core.requests import Outcome, Verdict
from hitl_tui.core.supersession import Cause, Supersession
from hitl_tui.ledger.approval_log import TASK_STEP
from hitl_tui.ledger.records import Entry, RequestView

STEP = TASK_STEP
"""Kind of the entry that records a step. One that asks carries its request, so that no crash keeps it from asking."""
EDITED = "task_step_edited"
"""Kind of the entry that gives a call other arguments; it carries the request that is asked instead."""
TAKEN = "task_step_taken"
"""Kind of the entry that an agent goes on with what was decided about a call: a decision is used once."""


AWAITED = "awaited_until"
"""What stands beside the request of a call: until when the program that asks waits, ISO 8601, UTC."""


class Status(StrEnum):
    """How a step stands."""

    COMPLETED = "completed"  # it asked nothing, or was approved
    INTERRUPTED = "interrupted"  # it waits for a decision
    REJECTED = "rejected"  # and with it the task


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool that an agent outside of sessions is about to make.

    Args:
        agent: who.
        tool: the tool.
        arguments: what it gets.
        folder: where it would run.
    """

    agent: str
    tool: str
    arguments: JsonObject
    folder: str = ""

    @property
    def digest(self) -> str:
        """What it is bound to: another one has another."""
        return digest({"agent": self.agent, "tool": self.tool, **self.to_dict()})

    def to_dict(self) -> dict[str, Json]:
        """Return what an entry keeps besides agent and tool."""
        return {"arguments": dict(self.arguments), "folder": self.folder}


@dataclass(frozen=True, slots=True)
class Ruled:
    """What a rule said of a step that nobody was asked about.

    Args:
        ruling: `allow` or `deny`.
        rule: its number, from 1.
        name: what people call it.
    """

    ruling: str
    rule: int
    name: str = ""

    def to_dict(self) -> dict[str, Json]:
        """Return all fields as JSON values."""
        return {"ruling": self.ruling, "rule": self.rule, "name": self.name}


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
        call: the call that it asks about; None for a step that the agent names in words.
        edited: what a person gave the call instead of its arguments; None where nobody did.
        taken: the agent went on with what was decided.
        ruled: which rule decided it, where nobody was asked.
    """

    id: str
    task_id: str
    step: int
    action: str
    agent: str
    recorded_at: str
    message: str = ""
    view: RequestView | None = None
    call: Call | None = None
    edited: JsonObject | None = None
    taken: bool = False
    ruled: Ruled | None = None

    @property
    def status(self) -> Status:
        """How it stands."""
        if self.view is None:
            return Status.REJECTED if self.denied else Status.COMPLETED
        resolution = self.view.resolution
        if resolution.outcome is Outcome.PENDING:
            return Status.INTERRUPTED
        return Status.COMPLETED if resolution.verdict is Verdict.APPROVE else Status.REJECTED

    @property
    def denied(self) -> Message | None:
        """Which rule denied it, in a sentence; None where none did."""
        if self.ruled is None or self.ruled.ruling != Ruling.DENY:
            return None
        return denied_words(self.agent, self.action, self.ruled)

    @property
    def ends_task(self) -> bool:
        """Nothing of the task goes on after it: a step was refused. A call that is refused ends nothing else."""
        return self.status is Status.REJECTED and self.call is None

    @property
    def ended_by(self) -> str:
        """Who refused it, as the record says it."""
        if self.ruled is not None:
            return f"policy rule {rule_label(self.ruled.rule, self.ruled.name)}"
        said = self.view.resolution.decisions if self.view else ()
        return said[-1].by if said else "deadline"

    @property
    def stopped(self) -> Supersession | None:
        """Why it was ended with another step of its task; None where it wasn't."""
        superseded = self.view.request.superseded if self.view is not None else None
        return superseded if superseded is not None and superseded.cause is Cause.STOPPED else None

    @property
    def unproven(self) -> str:
        """Why votes that are on record of it don't count, in a sentence; empty where they do, or there are none."""
        if self.view is None or self.view.request.superseded is not None:
            return ""
        resolution = self.view.resolution
        return resolution.decisions[-1].reason if resolution.outcome is Outcome.SUPERSEDED else ""

    @property
    def arguments(self) -> JsonObject | None:
        """What its call would run with, if it is one."""
        return self.edited if self.edited is not None or self.call is None else self.call.arguments

    @property
    def does(self) -> str:
        """What it does, in a line: its action, and for a call with what and where."""
        if self.call is None:
            return self.action
        where = f" ({self.call.folder})" if self.call.folder else ""
        return f"{self.action} {json.dumps(dict(self.arguments or {}), ensure_ascii=False)}{where}"

    @property
    def expired(self) -> bool:
        """Nobody decided in time."""
        return self.view is not None and self.view.resolution.outcome is Outcome.EXPIRED

    @property
    def outcome(self) -> str:
        """How it stands, in a word: `recorded`, `waiting`, `approved`, `rejected` or `expired`."""
        match self.status:
            case Status.INTERRUPTED:
                return "waiting"
            case Status.COMPLETED:
                return "recorded" if self.view is None else "approved"
            case Status.REJECTED:
                return "expired" if self.expired else "rejected"

    @property
    def name(self) -> str:
        """What people call it: `deploy.3`."""
        return f"{self.task_id}.{self.step}"

    @property
    def value(self) -> Json:
        """What those who approved it so far give the agent along; others approve the same, or nothing."""
        said = self.view.resolution.decisions if self.view else ()
        return next((d.value for d in said if d.value is not None), None)

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
        if self.call is not None:
            found |= {"arguments": dict(self.arguments or {}), "folder": self.call.folder, "taken": self.taken}
        if self.edited is not None and self.call is not None:
            found["arguments_before"] = dict(self.call.arguments)
        if self.ruled is not None:
            found["ruled"] = self.ruled.to_dict()
        if self.message:
            found["interrupt_message"] = self.message
        if self.denied is not None:
            found |= {"rejected_at": self.recorded_at, "reason": str(self.denied)}
        if self.view is None:
            return found
        request, resolution = self.view.request, self.view.resolution
        found |= {
            "interrupt_at": request.opened_at,
            "request_id": request.id,
            "digest": request.digest,
            "risk": request.risk_class.value,
            "deadline": request.deadline,
            "votes": len(resolution.decisions),
            "quorum": request.terms.quorum,
            "level": request.terms.level,
        }
        if self.status is Status.INTERRUPTED and self.value is not None:
            found["value"] = self.value
        last = resolution.decisions[-1] if resolution.decisions else None
        if self.status is Status.COMPLETED and last is not None:
            found |= {"resume_value": last.value, "resumed_at": last.at, "by": [d.by for d in resolution.decisions]}
        elif self.status is Status.REJECTED:
            at = last.at if last else self.stopped.at if self.stopped else request.deadline
            reason = last.reason if last else "stopped" if self.stopped else "expired"
            found |= {"rejected_at": at, "reason": reason, "expired": self.expired}
            if self.stopped is not None:
                found["by"] = [self.stopped.who]
            elif last is not None:
                found["by"] = [d.by for d in resolution.decisions]
        return found


def unawaited(view: RequestView, now: str) -> Message | None:
    """Return what approving a call does that nobody waits for any more; None where somebody may.

    Args:
        view: its request.
        now: ISO 8601, UTC.
    """
    until = str(view.evidence.get(AWAITED, ""))
    if not until or until > now:
        return None
    return Message("Nobody waits any more; approving allows the next identical call.")


def denied_words(agent: str, action: str, ruled: Ruled) -> Message:
    """Return what is said of a step that a rule denies."""
    rule = rule_label(ruled.rule, ruled.name)
    return Message("Policy rule {} denies {} of {}.", rule, clip(action), agent)


def checkpoint_of(
    entry: Entry, view: RequestView | None, *, edited: Stored | None = None, taken: bool = False
) -> Checkpoint:
    """Return the step that an entry records.

    Args:
        entry: of kind `STEP`.
        view: its request as it stands, with what was decided.
        edited: the data of the last entry of kind `EDITED` about it.
        taken: whether there is one of kind `TAKEN`.
    """
    data = entry.data
    task_id, step, action, agent = str(data["task_id"]), int(data["step"]), str(data["action"]), str(data["agent"])
    call, ruled = data.get("call"), data.get("ruled")
    return Checkpoint(
        f"cp-{task_id}-{step}-{short_id(entry.hash)[:8]}",
        task_id,
        step,
        action,
        agent,
        entry.at,
        str(data.get("message", "")),
        view,
        None if call is None else Call(agent, action, dict(call["arguments"]), str(call["folder"])),
        None if edited is None else dict(edited["arguments"]),
        taken,
        None if ruled is None else Ruled(str(ruled["ruling"]), int(ruled["rule"]), str(ruled["name"])),
    )
