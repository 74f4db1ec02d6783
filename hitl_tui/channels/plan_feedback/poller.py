"""The poller: one look at the feedback for all requests of a runtime that wait, again and again.

It decides nothing. Every object is handed to `decide`, which asks the ledger; what was taken is removed, anything else
is set aside with the reason. An object that can't be removed is remembered and not handed over again, and after a
restart the ledger knows it by its fingerprint. No clock but the monotonic one is read, so wrong clocks do no harm.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Literal

from hitl_tui.channels.plan_feedback.feedback import Feedback, Problem
from hitl_tui.channels.plan_feedback.store import FeedbackStore, Found, Polled
from hitl_tui.core.errors import StorageError
from hitl_tui.core.messages import Message

LONGEST_PAUSE = 60.0
"""Seconds between two looks while the store can't be used, at most."""
_SHORTEST = 0.8
"""Part of the interval after which the next look may begin: runtimes that share a store spread out."""
_IDLE = 10
"""Intervals between two looks while nothing waits: late objects are found all the same."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The decision of an object is in the ledger, by this delivery or an earlier one of the same object."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An object decides nothing.

    Args:
        reason: one sentence.
        kind: `late` (decided already), `foreign` (another digest) or `refused` (a rule).
    """

    reason: Message
    kind: Literal["late", "foreign", "refused"] = "refused"


@dataclass(frozen=True, slots=True)
class Report:
    """Something that the runtime's operator has to know.

    Args:
        what: `set_aside`, `stuck` (an object can't be moved out of the way), `unreachable`, `reachable`, or `notice`
            (nothing failed).
        message: one sentence.
        request_id: the request concerned; empty where it is the store.
        path: where the object is now.
    """

    what: Literal["set_aside", "stuck", "unreachable", "reachable", "notice"]
    message: Message
    request_id: str = ""
    path: str = ""


Decide = Callable[[str, Feedback, Found], Awaitable[Taken | Refusal]]
"""Gives the ledger the vote of an object: request id, what it says, and the object, whose fingerprint and path go on
record. An object delivered twice is `Taken` twice. `StorageError` means: try again at the next look."""


class Poller:
    """Use `run` as a task; cancel it to stop.

    Args:
        store: where the feedback lies.
        waiting: returns the ids of the requests that wait now.
        ours: returns whether a request that doesn't wait is one of this runtime's. Its feedback is late, or was acted
            on and is still there; what isn't ours is left to other runtimes.
        decide: takes a vote to the ledger.
        report: is told what somebody has to know.
        interval: seconds from one look to the next, at most.
    """

    def __init__(
        self,
        store: FeedbackStore,
        waiting: Callable[[], Collection[str]],
        decide: Decide,
        *,
        ours: Callable[[str], Awaitable[bool]],
        report: Callable[[Report], None],
        interval: float = 3.0,
    ) -> None:
        self._store = store
        self._waiting = waiting
        self._decide = decide
        self._ours = ours
        self._report = report
        self._interval = interval
        self._dealt_with: dict[str, _DealtWith] = {}
        self._strangers: frozenset[str] = frozenset()
        self._failures = 0
        self._problem = self._notice = ""

    async def run(self) -> None:
        """Look until cancelled."""
        looked = -math.inf
        while True:
            begun = time.monotonic()
            if self._waiting() or self._dealt_with or begun - looked >= self._interval * _IDLE:
                await self.look()
                looked = begun
            longest = min(self._interval * 2 ** min(self._failures, 10), max(LONGEST_PAUSE, self._interval))
            until = begun + longest * random.uniform(_SHORTEST, 1.0)  # noqa: S311 - it spreads looks, no more
            await asyncio.sleep(max(0.0, until - time.monotonic()))

    async def look(self) -> None:
        """Look once, act on what is there, and report what can't be acted on."""
        for dealt_with in [one for one in self._dealt_with.values() if one.next_try <= time.monotonic()]:
            await self._move_away(dealt_with)
        try:
            polled = await self._store.poll(self._waiting(), self._done())
            late = [one for one in polled.others if one not in self._strangers and await self._ours(one)]
            self._strangers = frozenset(polled.others) - frozenset(late)
            more = await self._store.read_each(late, self._done()) if late else Polled()
            problem = polled.problem or more.problem
            if polled.notice is not None and str(polled.notice) != self._notice:
                self._notice = str(polled.notice)
                self._report(Report("notice", polled.notice))
            for found in (*polled.found, *more.found):
                try:
                    await self._act(found)
                except StorageError as error:
                    problem = Message("{}", error)
        except StorageError as error:
            problem = Message("{}", error)
            self._failures += 1
        else:
            self._failures = 0
        self._tell(problem)

    def _done(self) -> dict[str, str]:
        return {request_id: one.found.version for request_id, one in self._dealt_with.items()}

    async def _act(self, found: Found) -> None:
        problem: Problem | None
        if isinstance(found.content, Problem):
            problem = found.content
        else:
            answer = await self._decide(found.request_id, found.content, found)
            problem = Problem(answer.kind, answer.reason) if isinstance(answer, Refusal) else None
        # From here on it is never handed over again, whatever becomes of moving it.
        self._dealt_with[found.request_id] = dealt_with = _DealtWith(found, problem)
        await self._move_away(dealt_with)

    async def _move_away(self, dealt_with: _DealtWith) -> None:
        found, problem = dealt_with.found, dealt_with.problem
        path = found.path
        try:
            if problem is None:
                await self._store.remove(found)
            else:
                path = await self._store.set_aside(found, problem)
        except StorageError as error:
            dealt_with.tries += 1
            pause = min(self._interval * 2 ** min(dealt_with.tries, 10), max(LONGEST_PAUSE, self._interval))
            dealt_with.next_try = time.monotonic() + pause
            if dealt_with.tries == 1:
                text = Message("The feedback for {} was dealt with, but can't be removed: {}", found.request_id, error)
                self._report(Report("stuck", text, found.request_id, path))
            return
        del self._dealt_with[found.request_id]
        if problem is not None:
            text = Message("Set aside the feedback for {}: {}", found.request_id, problem.reason)
            self._report(Report("set_aside", text, found.request_id, path))

    def _tell(self, problem: Message | None) -> None:
        """Report that feedback can't be read, once for each reason, and that it can again."""
        if problem is None and self._problem:
            self._report(Report("reachable", Message("Feedback can be read again.")))
        elif problem is not None and str(problem) != self._problem:
            self._report(Report("unreachable", Message("Feedback can't be read now: {}", problem)))
        self._problem = str(problem or "")


@dataclass(slots=True)
class _DealtWith:
    """An object that was acted on or refused, until it is out of the way.

    Args:
        found: the object.
        problem: why it is set aside; None for one to be removed.
        tries: how often moving it failed.
        next_try: when it is moved again, by the monotonic clock.
    """

    found: Found
    problem: Problem | None
    tries: int = 0
    next_try: float = 0.0
