"""Why a request was superseded: the cause, who and when, and the words for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from hitl_tui.core.json_types import Stored
from hitl_tui.core.messages import Message, word
from hitl_tui.core.names import plain_name


class Cause(StrEnum):
    """What superseded a request."""

    RESTORED = "restored"  # the session went back to another moment
    ADVANCED = "advanced"  # the plan went on
    POLICY = "policy"  # the rules that it was asked under changed
    FILES = "files"  # files that it was bound to changed; detail: their names
    DELETED = "deleted"  # the session was deleted
    SKIPPED = "skipped"  # the rest: somebody ended what it was about
    REMOVED = "removed"
    CANCELLED = "cancelled"
    EDITED = "edited"
    STOPPED = "stopped"
    STATUS = "status"  # detail: the status
    REWOUND = "rewound"
    MODE = "mode"  # detail: the mode
    DECIDED = "decided"  # another request was decided; detail: what was said of it
    PLAN = "plan"
    PROPOSAL = "proposal"
    EARLIER = "earlier"  # detail: what an earlier version of the program wrote


_REASONS: Mapping[Cause, str] = {
    Cause.RESTORED: Message("the session went back to another moment"),
    Cause.ADVANCED: Message("the plan went on"),
    Cause.POLICY: Message("the rules changed"),
    Cause.DELETED: Message("the session was deleted"),
}
_REPLACED = frozenset({*_REASONS, Cause.FILES})
"""What nobody did to the request itself: it was replaced, or what it was about is gone."""
_PAST: Mapping[str, str] = {
    "approve": "approved",
    "edit": Message("approved with changes"),
    "reject": "rejected",
    "ignore": "ignored",
    "skip": "skipped",
    "respond": "answered",
    "retry": "retried",
    "stop": "stopped",
    "use_as_done": Message("confirmed as done"),
    "do_again": "repeated",
}


@dataclass(frozen=True, slots=True)
class Supersession:
    """Why a request doesn't count any more.

    Args:
        cause: what superseded it.
        by: who did; empty where nobody did or it isn't known.
        at: when, ISO 8601, UTC; empty in records of earlier versions that don't say it.
        detail: what the cause needs besides, see `Cause`.
    """

    cause: Cause
    by: str = ""
    at: str = ""
    detail: str = ""

    @property
    def ended_at(self) -> str:
        """When somebody ended what the request was about, ISO 8601; empty where nobody did."""
        return "" if self.cause in _REPLACED else self.at

    @property
    def word(self) -> str:
        """What became of what it was about: `skipped`; or why it isn't asked any more."""
        if self.cause in _REASONS:
            return _REASONS[self.cause]
        if self.cause is Cause.FILES:
            return Message("{} changed", self.detail)
        if self.cause is Cause.STATUS:
            return Message("set to {}", self.detail)
        if self.cause is Cause.MODE:
            return Message("allowed by mode {}", self.detail)
        if self.cause is Cause.DECIDED:
            return past_word(self.detail)
        if self.cause in (Cause.PLAN, Cause.PROPOSAL):
            return Message("ended with the {}", self.cause)
        if self.cause is Cause.REWOUND:
            return Message("sent back to an earlier step")
        return self.detail if self.cause is Cause.EARLIER else self.cause.value

    @property
    def who(self) -> str:
        """Who did it, as people are shown it."""
        return (self.by if self.cause is Cause.EARLIER else plain_name(self.by)) or "operator"

    def to_dict(self) -> dict[str, str]:
        """Return it as JSON values, without what is empty; `from_dict` gives back an equal one."""
        values = {"by": self.by, "at": self.at, "detail": self.detail}
        return {"cause": self.cause.value, **{key: value for key, value in values.items() if value}}

    @classmethod
    def from_dict(cls, data: Stored) -> Supersession:
        """Return what `to_dict` wrote.

        Raises:
            KeyError, TypeError, ValueError: it is none.
        """
        by, at, detail = (str(data.get(key, "")) for key in ("by", "at", "detail"))
        return cls(Cause(data["cause"]), by, at, detail)


def past_word(said: str) -> str:
    """Return what became of a question by what was said of it: `approved`."""
    return word(_PAST.get(said, said))
