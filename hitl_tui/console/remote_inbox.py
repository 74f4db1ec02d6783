"""The requests of runtimes elsewhere, where a setting names some: they are read beside everything else."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from hitl_tui.core.errors import HitlError
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line

if TYPE_CHECKING:
    from hitl_tui.ledger.records import RequestView
    from hitl_tui.supervisor.remote_reviews import RemoteReviews, WaitingReview

log = logging.getLogger(__name__)


class RemoteInbox:
    """Follows the runtimes that the settings name, until it is closed; nothing waits for it.

    Args:
        places: returns where the runtimes are.
        reach: returns the runtimes that are somewhere.
        changed: is told when something else waits, or can't be read any more.
    """

    def __init__(
        self,
        places: Callable[[], Awaitable[Sequence[str]]],
        reach: Callable[[Sequence[str]], RemoteReviews],
        changed: Callable[[], object],
    ) -> None:
        self._places, self._reach, self._changed = places, reach, changed
        self._problem = ""
        self._again = asyncio.Event()
        self._task = asyncio.create_task(self._run(), name="runtimes elsewhere")
        self.runtime: RemoteReviews | None = None

    @property
    def problems(self) -> Sequence[str]:
        """Why some can't be read now, a sentence each."""
        if self._problem:
            return [self._problem]
        return self.runtime.problems if self.runtime is not None else []

    def waiting(self, request_id: str) -> WaitingReview | None:
        """Return a request that waits there; None where it doesn't."""
        there = self.runtime.waiting if self.runtime is not None else ()
        return next((one for one in there if one.request.request_id == request_id), None)

    @property
    def views(self) -> list[RequestView]:
        """What waits there; the runtime may have the same record as is here."""
        return [one.view for one in self.runtime.waiting] if self.runtime is not None else []

    def settings_changed(self) -> None:
        """See whether the settings name others now."""
        self._again.set()

    async def close(self) -> None:
        """Stop following."""
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _run(self) -> None:
        while True:
            self._again.clear()
            following = asyncio.create_task(self._follow())
            try:
                await self._again.wait()
            finally:
                following.cancel()
                await asyncio.wait({following})

    async def _follow(self) -> None:
        self._problem = ""
        try:
            places = await self._places()
            if not places:
                return
            self.runtime = self._reach(places)
            try:
                await self.runtime.follow(self._changed)
            finally:
                with suppress(HitlError):
                    await self.runtime.close()
                self.runtime = None
        except HitlError as error:
            self._problem = error.message
        except Exception as error:
            log.exception("the runtimes elsewhere can't be followed")
            self._problem = Message("Unexpected error ({}).", one_line(repr(error), 200))
        self._changed()
