"""What runtimes elsewhere ask, beside what is asked here: the inbox lists both and answers both (P4, M6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from hitl_tui.core.json_types import Subject
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Risk, Terms
from hitl_tui.core.requests import Kind, Outcome, Request, Resolution, Verdict
from hitl_tui.core.review_request import PLAN, PROPOSAL, ReviewRequest
from hitl_tui.ledger.records import RequestView

_KINDS = {PLAN: Kind.PLAN, PROPOSAL: Kind.PROPOSAL}


@dataclass(frozen=True, slots=True)
class WaitingReview:
    """A request of a runtime elsewhere that waits.

    Args:
        request: what it asks.
        place: where the runtime is, in short.
        since: when it was seen first, ISO 8601, UTC.
        why_not: why it can't be approved from here; None where it can.
    """

    request: ReviewRequest
    place: str
    since: str
    why_not: Message | None = None

    @property
    def view(self) -> RequestView:
        """It as any request that waits."""
        asked, plan = self.request, self.request.kind == PLAN
        proposal = asked.kind == PROPOSAL
        about_plan = {"query": asked.query, "steps": [{"risk": step.risk} for step in asked.steps]}
        request = Request(
            id=asked.request_id,
            session=f"{asked.job} @ {self.place}",
            branch=0,
            kind=_KINDS.get(asked.kind, Kind.TODO),
            todo_id="" if plan or proposal else asked.todo_id,
            source="",
            subject=cast(Subject, about_plan if plan else {} if proposal else dict(asked.subject)),
            digest=asked.digest,
            terms=Terms(quorum=asked.quorum, level=asked.level),
            options=(Verdict.APPROVE, Verdict.REJECT),
            about={"title": asked.title or asked.message, "text": asked.query},
            opened_at=self.since,
            deadline=asked.expires,
            risk=Risk.LOW if plan else asked.risk,
            first_shown=self.since,
        )
        return RequestView(request, (), Resolution(Outcome.PENDING), {})


class RemoteReviews(Protocol):
    """The requests of the runtimes elsewhere that the settings name."""

    @property
    def problems(self) -> Sequence[str]:
        """Why some of them can't be read now, a sentence each."""
        ...

    @property
    def waiting(self) -> Sequence[WaitingReview]:
        """What waits, as it was read last."""
        ...

    def gone(self, request_id: str) -> Message | None:
        """Return what became of a request that waits no more; None while it waits."""
        ...

    async def ending(self, request_id: str) -> Message | None:
        """Return what became of a request that was never seen to wait; None where no runtime tells."""
        ...

    async def look(self) -> None:
        """Read once what waits; where that can't be done now, `problems` say why."""
        ...

    async def follow(self, changed: Callable[[], object]) -> None:
        """Read what waits again and again until cancelled, and tell of every change."""
        ...

    async def answer(self, request: ReviewRequest, *, approved: bool, text: str) -> Message:
        """Answer a request as it was shown; return what became of that.

        Raises:
            Refused: somebody else was first, or it can't count.
            BadInput: the text is too long.
            StorageError: its runtime can't be reached now.
        """
        ...

    async def close(self) -> None:
        """Close what is held open."""
        ...
