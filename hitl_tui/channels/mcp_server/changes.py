"""What happens to steps that ask, whoever makes it happen: this process, another one, or the clock."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

from hitl_tui.core.errors import HitlError
from hitl_tui.core.events import utc_now
from hitl_tui.task_checkpoints.checkpoint import Checkpoint
from hitl_tui.task_checkpoints.service import TaskCheckpoints

_AT_LEAST = 1.0
"""Seconds after which a store is looked at even if nothing says that it was written to: deadlines pass, too."""
_COARSE = 100_000_000
"""Nanoseconds within which a file system may give two writes one time."""

log = logging.getLogger(__name__)


class Event(StrEnum):
    """What happened to a step that asks."""

    OPENED = "opened"
    VOTED = "voted"  # somebody approved it, and others have to
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that happened.

    Args:
        event: what.
        step: the step, as it stands.
    """

    event: Event
    step: Checkpoint


class Changes:
    """Follows the steps of a store.

    Args:
        tasks: the store's.
        poll: seconds between looks.
        written_at: when anybody wrote into it last, in nanoseconds; 0 while nobody did, None where that can't be told.
        now: the time, ISO 8601, UTC.
    """

    def __init__(
        self,
        tasks: TaskCheckpoints,
        poll: float,
        written_at: Callable[[], int] | None = None,
        now: Callable[[], str] = utc_now,
    ) -> None:
        self._tasks, self._poll, self._written_at, self._now = tasks, poll, written_at, now
        self._lengths: dict[str, int] = {}
        self._stand: dict[str, tuple[str, int]] = {}
        self._deadlines: dict[str, tuple[str, str]] = {}
        self._looking = asyncio.Lock()
        self._news = asyncio.Event()

    async def look(self) -> list[Change]:
        """Return what happened since the last look, in the order of tasks and steps.

        Raises:
            StorageError: the store can't be read.
        """
        async with self._looking:
            lengths, now = await self._tasks.lengths(), self._now()
            written = {task for task, n in lengths.items() if n != self._lengths.get(task)}
            overdue = {task for task, deadline in self._deadlines.values() if deadline <= now}
            found = [change for task in sorted(written | overdue) for change in await self._look_at(task)]
            self._lengths |= lengths
        if written or found:
            self._news.set()
            self._news = asyncio.Event()
        return found

    async def follow(self, tell: Callable[[Change], object]) -> None:
        """Tell of everything that happens from now on, until cancelled."""
        seen, looked, problem = -1, 0.0, ""
        while True:
            stamp, at = 0 if self._written_at is None else self._written_at(), time.monotonic()
            if not stamp or stamp != seen or time.time_ns() - stamp < _COARSE or at - looked >= _AT_LEAST:
                seen, looked = stamp, at
                try:
                    for change in await self.look():
                        tell(change)
                    problem = ""
                except HitlError as error:
                    if error.message != problem:
                        log.warning("%s", error.message)
                    problem = error.message
            await asyncio.sleep(self._poll)

    async def wait(self, step: Checkpoint, seconds: float) -> Checkpoint:
        """Return a step once it doesn't wait any more, or as it stands when the time is up.

        Raises:
            StorageError: the store can't be read.
        """
        end = time.monotonic() + seconds
        while True:
            news = self._news
            step = await self._tasks.the_step(step.task_id, step.step)
            left = end - time.monotonic()
            if step.outcome != "waiting" or left <= 0:
                return step
            with suppress(TimeoutError):
                await asyncio.wait_for(news.wait(), left)

    async def _look_at(self, task: str) -> list[Change]:
        found: list[Change] = []
        for step in await self._tasks.steps(task):
            if step.view is None:
                continue
            key, votes = step.view.request.id, len(step.view.resolution.decisions)
            before = self._stand.get(key)
            self._stand[key] = (step.outcome, votes)
            if before is None:
                found.append(Change(Event.OPENED, step))
            if step.outcome == "waiting":
                if step.view.request.expires_at:
                    self._deadlines[step.id] = (task, step.view.request.expires_at)
                if votes > (before[1] if before else 0):
                    found.append(Change(Event.VOTED, step))
            else:
                self._deadlines.pop(step.id, None)
                if before is None or before[0] == "waiting":
                    found.append(Change(Event(step.outcome), step))
        return found
