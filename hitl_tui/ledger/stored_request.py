"""A request as a store keeps it, with what was decided about it and what that amounts to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hitl_tui.core.requests import Decision, Outcome, Request, Resolution, Verdict, resolve
from hitl_tui.ledger.records import RequestView


@dataclass(frozen=True, slots=True)
class StoredRequest:
    """A request as it is kept.

    Args:
        settled_at: when its `decided` event was posted, empty before.
        settled: the outcome and the verdict of that event; None before.
    """

    request: Request
    settled_at: str
    settled: tuple[Outcome, Verdict] | None
    evidence: Mapping[str, Any]
    decisions: tuple[Decision, ...]

    def view(self, now: str) -> RequestView:
        return RequestView(self.request, self.decisions, self.resolution(now), self.evidence)

    def resolution(self, now: str) -> Resolution:
        """Return what the decisions amount to; what is settled stays so, whatever the clock and today's rules say."""
        at = max(now, self.settled_at)
        found = resolve(self.request, self.decisions, at)
        if not self.settled_at or self.request.superseded or found.outcome in (Outcome.APPROVED, Outcome.REJECTED):
            return found
        if self.settled is not None and self.settled[0] is Outcome.EXPIRED:
            return Resolution(*self.settled)  # an older program may have taken silence for an approval
        found = resolve(self.request, self.decisions, at, by_name=True)  # from before people were verified
        return found if found.decided or self.settled is None else Resolution(*self.settled, self.decisions)
