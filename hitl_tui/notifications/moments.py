"""What is told of a request, and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum

from hitl_tui.core.json_types import JsonObject, Stored
from hitl_tui.core.requests import Decision, Outcome, Request


class Moment(StrEnum):
    """When something is told."""

    OPENED = "opened"
    HALF_TIME = "half_time"
    DECIDED = "decided"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a request comes from.

    Args:
        title: what its session is called; empty for a task.
        folder: the workspace; empty where it can't be told.
        machine: where that folder is.
    """

    title: str = ""
    folder: str = ""
    machine: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """One thing that is told.

    Args:
        moment: when.
        request: of which request.
        outcome: what it amounts to by now.
        decisions: what people said of it.
        origin: where it comes from.
    """

    moment: Moment
    request: Request
    outcome: Outcome = Outcome.PENDING
    decisions: Sequence[Decision] = field(default=())
    origin: Origin = Origin()

    def to_dict(self) -> dict[str, object]:
        """Return all fields as JSON values."""
        return {
            "moment": self.moment.value,
            "request": self.request.to_dict(),
            "outcome": self.outcome.value,
            "decisions": [decision.to_dict() for decision in self.decisions],
            "origin": asdict(self.origin),
        }

    @classmethod
    def from_dict(cls, data: Stored | JsonObject) -> Told:
        """Return what `to_dict` wrote; what an older version queued has no origin."""
        stored: Stored = dict(data)
        decisions = tuple(Decision.from_dict(one) for one in stored["decisions"])
        request = Request.from_dict(stored["request"])
        origin = Origin(**stored.get("origin", {}))
        return cls(Moment(stored["moment"]), request, Outcome(stored["outcome"]), decisions, origin)


@dataclass(frozen=True, slots=True)
class Text:
    """A message to people: plain text, no markup."""

    title: str
    body: str


def half_time(request: Request) -> str:
    """Return when half of the time to decide a request is over, ISO 8601, UTC; empty where it never expires."""
    if not request.expires_at:
        return ""
    begin = request.first_shown if request.ends_in_approval else request.opened_at
    since, end = datetime.fromisoformat(begin), datetime.fromisoformat(request.expires_at)
    return (since + (end - since) / 2).isoformat()
