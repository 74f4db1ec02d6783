"""What tests of plan feedback share: a runtime that keeps decisions in memory, and answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

from hitl_tui.channels.plan_feedback.feedback import Feedback
from hitl_tui.channels.plan_feedback.poller import Poller, Refusal, Report, Taken
from hitl_tui.channels.plan_feedback.store import FeedbackStore, Found
from hitl_tui.core.messages import Message

WHEN = datetime(2026, 11, 27, 9, 30, tzinfo=UTC)
APPROVED = Feedback(True, "", WHEN)
REVISE = Feedback(False, "Only the search, please.", WHEN)


class Decisions:
    """A ledger of first decisions, and what its poller does with it.

    Args:
        store: where feedback lies.
        waiting: ids of the requests that wait.
    """

    def __init__(self, store: FeedbackStore, *waiting: str) -> None:
        self.store, self.waiting, self.known = store, set(waiting), set(waiting)
        self.decided: dict[str, str] = {}
        self.taken: list[tuple[str, Feedback]] = []
        self.calls = 0
        self.reports: list[Report] = []

    def poller(self, interval: float = 0.05) -> Poller:
        async def ours(request_id: str) -> bool:
            return request_id in self.known

        return Poller(
            self.store, lambda: self.waiting, self.decide, ours=ours, report=self.reports.append, interval=interval
        )

    async def decide(self, request_id: str, feedback: Feedback, found: Found) -> Taken | Refusal:
        self.calls += 1
        if self.decided.setdefault(request_id, found.fingerprint) != found.fingerprint:
            return Refusal(Message("It is decided already."), "late")
        if request_id in self.waiting:
            self.waiting.discard(request_id)
            self.taken.append((request_id, feedback))
        return Taken()

    def told(self, what: str) -> list[Report]:
        return [report for report in self.reports if report.what == what]


async def run_until(poller: Poller, holds: Callable[[], object], seconds: float = 60) -> None:
    """Run a poller until something holds."""
    running = asyncio.create_task(poller.run())
    try:
        async with asyncio.timeout(seconds):
            while not holds():
                assert not running.done(), running.exception()
                await asyncio.sleep(0.005)
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
