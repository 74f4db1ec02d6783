"""What can happen to a session, and when; `core.fold` says what it does to the board."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import cast

from hitl_tui.core.json_types import EventData, Refusal
from hitl_tui.core.messages import messages_restored, with_messages


class EventKind(StrEnum):
    """Everything that may be in a session's inbox."""

    DECIDED = "decided"
    FINISHED = "finished"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    DOUBT = "doubt"
    CONTINUED = "continued"
    SKIP = "skip"
    ADD = "add"
    REMOVE = "remove"
    PUT_BACK = "put_back"
    UPDATE = "update"
    PRIORITY = "priority"
    MOVE = "move"
    EDIT = "edit"
    CANCEL = "cancel"
    REWIND = "rewind"
    BREAK = "break"
    MODE = "mode"
    STOP = "stop"
    PROPOSED = "proposed"
    RESTORED = "restored"
    CONFIGURED = "configured"
    BOUND = "bound"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened.

    Args:
        kind: its kind; an unknown one is refused.
        data: JSON; what each kind needs is said at its handler.
        id: unique in the session.
        seq: number in the session's inbox, from 1.
        at: ISO 8601, UTC.
        by: who.
    """

    kind: str
    data: EventData = field(default_factory=lambda: EventData())
    id: str = ""
    seq: int = 0
    at: str = ""
    by: str = ""

    def to_dict(self) -> dict[str, object]:
        """Return all fields as JSON values; `from_dict` gives back an equal event."""
        return {
            "kind": str(self.kind),
            "data": with_messages(self.data),
            "id": self.id,
            "seq": self.seq,
            "at": self.at,
            "by": self.by,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Event:
        """Return the event these fields describe; what can't be understood is left empty, and `fold` refuses it."""
        body, seq = data.get("data"), data.get("seq", 0)
        return cls(
            kind=str(data.get("kind", "")),
            data=cast(EventData, messages_restored(dict(body))) if isinstance(body, Mapping) else {},
            id=str(data.get("id", "")),
            seq=seq if isinstance(seq, int) else 0,
            at=str(data.get("at", "")),
            by=str(data.get("by", "")),
        )


def after_seconds(at: str, seconds: float) -> str:
    """Return the time so many seconds after another, ISO 8601."""
    return (datetime.fromisoformat(at) + timedelta(seconds=seconds)).isoformat(timespec="microseconds")


def seconds_between(start: str, end: str) -> float | None:
    """Return the seconds between two ISO 8601 times, None when one is missing or unreadable."""
    try:
        return round((datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds(), 3)
    except (ValueError, TypeError):
        return None


def utc_now() -> str:
    """Return the time now: ISO 8601 in UTC with microseconds, so that texts sort as times do."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


_LONGEST_REFUSAL = 500
"""Characters of a text that says why an event was refused."""


def refusal(event: Event, message: str, reason: str) -> Refusal:
    """Return what is kept of an event that could not take effect.

    Args:
        event: the event.
        message: why not, in one sentence.
        reason: the same in a word.
    """
    said = message if len(message) <= _LONGEST_REFUSAL else message[:_LONGEST_REFUSAL]
    return {"event": event.id, "kind": str(event.kind)[:60], "message": said, "reason": reason}
