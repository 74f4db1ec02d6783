"""How a session's plan is reviewed: by when, how often it is revised, and who or what ended that."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from enum import StrEnum

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_types import Json, PlanReviewed, Stored
from hitl_tui.core.messages import Message
from hitl_tui.core.names import plain_name
from hitl_tui.core.policy import Terms
from hitl_tui.core.requests import Verdict, needs_verified

MAX_PLAN_REVISIONS = 10
"""How often a plan is revised unless a session says otherwise."""

LAST_REVISION = Message("The next revision is the last: the plan goes ahead with it, each risky step still asks.")
"""What is to be known by who reviews a plan whose next revision isn't asked about."""

MOST_REVISIONS = 100
LONGEST_DEADLINE = 31 * 24 * 3600.0


@dataclass(frozen=True, slots=True)
class ReviewOptions:
    """What a session was begun with for the review of its plan.

    Args:
        deadline: seconds that a plan waits for an answer once it was shown or published; 0 for ever.
        on_deadline: `approve` or `reject`, what it means that nobody answered.
        max_revisions: how often the plan is revised; then it goes ahead, and what is of high risk still asks.

    Raises:
        BadInput: one of them can't be used.
    """

    deadline: float = 0.0
    on_deadline: str = "reject"
    max_revisions: int = MAX_PLAN_REVISIONS

    def __post_init__(self) -> None:
        if not 0 <= self.deadline <= LONGEST_DEADLINE:
            raise BadInput(Message("The deadline of a plan must be 0 to {} seconds.", f"{LONGEST_DEADLINE:.0f}"))
        if self.on_deadline not in ("approve", "reject"):
            raise BadInput(Message('The deadline of a plan ends in "approve" or "reject".'))
        if not 1 <= self.max_revisions <= MOST_REVISIONS:
            raise BadInput(Message("A plan can be revised 1 to {} times.", MOST_REVISIONS))

    def to_dict(self) -> dict[str, Json]:
        """Return all fields as JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Stored) -> ReviewOptions:
        """Return what `to_dict` wrote; what is missing gets its default.

        Raises:
            BadInput, TypeError, ValueError: it is none.
        """
        known = cls()
        return cls(
            deadline=float(data.get("deadline", known.deadline)),
            on_deadline=str(data.get("on_deadline", known.on_deadline)),
            max_revisions=int(data.get("max_revisions", known.max_revisions)),
        )

    def terms(self, ruled: Terms) -> Terms:
        """Return what it takes to decide a plan: a rule's terms, with the session's deadline where it has none.

        Where a rule wants several people, or a level, that nobody answered never stands for them.
        """
        if ruled.deadline or not self.deadline:
            return ruled
        end = "reject" if needs_verified(ruled) else self.on_deadline
        return replace(ruled, deadline=self.deadline, on_deadline=end)


UNSAID = ReviewOptions()
"""How a plan is reviewed where nobody says."""


class EndedBy(StrEnum):
    """Who or what ended the review of a plan."""

    PERSON = "person"
    TIMEOUT = "timeout"
    LIMIT = "limit"
    RULE = "rule"


def ended_message(reviewed: PlanReviewed) -> str:
    """Return who or what ended the review of a plan, in a sentence; empty while it goes on."""
    ended, approved = reviewed.get("ended_by", ""), reviewed.get("verdict") == Verdict.APPROVE
    by, most = plain_name(str(reviewed.get("by", ""))), reviewed.get("max_revisions", 0)
    if ended == EndedBy.LIMIT:
        return Message("The limit of revisions ({}) let the plan begin, not a person; each risky step asks.", most)
    if ended == EndedBy.RULE:
        return Message("A rule of hitl.toml let the plan begin, not a person: {}.", by)
    if ended == EndedBy.TIMEOUT and approved:
        return Message("Nobody answered in time, so the plan begins; each risky step asks.")
    if ended == EndedBy.TIMEOUT:
        return Message("Nobody answered in time, so the plan is rejected.")
    if ended == EndedBy.PERSON:
        who = f"{by} ({reviewed['channel']})" if reviewed.get("channel") else by
        return Message("{} approved the plan.", who) if approved else Message("{} rejected the plan.", who)
    return ""
