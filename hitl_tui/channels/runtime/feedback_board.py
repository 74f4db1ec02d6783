"""Requests put up in a feedback store, and the feedback for them: a folder, or S3 (P3)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial

from hitl_tui.channels.plan_feedback.poller import Poller, Report
from hitl_tui.channels.plan_feedback.store import FeedbackStore, PublishedRequest
from hitl_tui.channels.runtime.events import Event
from hitl_tui.channels.runtime.remote_answers import RemoteAnswers
from hitl_tui.core.errors import StorageError
from hitl_tui.core.messages import Message

_AGAIN = 5.0
"""Seconds until the store is tried again that couldn't be written."""

log = logging.getLogger(__name__)


class FeedbackBoard:
    """A `RequestBoard` in a feedback store. What can't be written now is written later.

    Args:
        store: the store.
        answers: takes votes to the record.
        report: is told what the runtime's operator has to know.
        interval: seconds from one look for feedback to the next.
    """

    def __init__(
        self, store: FeedbackStore, answers: RemoteAnswers, report: Callable[[Message], None], interval: float
    ) -> None:
        self._store, self._answers, self._report, self._interval = store, answers, report, interval
        self._late: dict[str, Callable[[], Awaitable[None]]] = {}

    def path(self, request_id: str) -> str | None:
        return self._store.path(request_id)

    async def publish(self, request_id: str, event: Event) -> bool:
        return await self._write(
            request_id, partial(self._store.publish, PublishedRequest(request_id, event.to_dict()))
        )

    async def withdraw(self, request_id: str, ended: Event | None) -> None:
        told = None if ended is None else ended.to_dict()
        await self._write(request_id, partial(self._store.withdraw, request_id, told))

    async def run(self, waiting: Callable[[], list[str]]) -> None:
        """Look for feedback until cancelled.

        Args:
            waiting: the ids of the requests that wait.
        """

        def tell(report: Report) -> None:
            where = f" ({report.path})" if report.path else ""
            self._report(Message("{}{}", report.message, where))

        poller = Poller(
            self._store, waiting, self._answers.take, ours=self._answers.knows, report=tell, interval=self._interval
        )
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(poller.run())
                group.create_task(self._write_late())
        finally:
            await self._store.close()

    async def _write(self, request_id: str, write: Callable[[], Awaitable[None]]) -> bool:
        self._late.pop(request_id, None)
        try:
            await write()
        except StorageError as error:
            log.warning("%s can't be published or withdrawn now: %s", request_id, error.message)
            self._late[request_id] = write
            return False
        return True

    async def _write_late(self) -> None:
        while True:
            await asyncio.sleep(_AGAIN)
            for request_id, write in list(self._late.items()):
                if not await self._write(request_id, write):
                    break
