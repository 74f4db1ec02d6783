"""`ReviewedRuntimes`: runtimes elsewhere whose requests stand in the inbox here."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from urllib.parse import urlsplit

from hitl_tui.channels.plan_feedback.feedback import Feedback
from hitl_tui.channels.plan_feedback.review_feed import PublishedRequests, Reviews
from hitl_tui.channels.plan_feedback.review_place import (
    NOT_TAKEN,
    Ending,
    check_answer,
    place_at,
    refusal,
    send_answer,
)
from hitl_tui.core.errors import HitlError, Refused, StorageError
from hitl_tui.core.events import utc_now
from hitl_tui.core.messages import Message
from hitl_tui.core.review_request import ReviewRequest
from hitl_tui.core.safe_text import one_line
from hitl_tui.supervisor.remote_reviews import WaitingReview

_INTERVAL, _LONGEST = 3.0, 60.0
"""Seconds from one look to the next; each time it can't be reached, twice as many, up to the most."""
_PATIENCE = 5.0
"""Seconds that one look may take."""
_TAKEN_WITHIN = 10.0
"""Seconds to wait for what becomes of an answer."""


class ReviewedRuntimes:
    """See `RemoteReviews`; one that can't be read hides nothing of the others.

    Args:
        addresses: where the runtimes are; see `ReviewedRuntime`.
        environ: has tokens.
        by: who answers, as they claim to be called.

    Raises:
        HitlError: none of them can be read.
    """

    def __init__(self, addresses: Sequence[str], environ: Mapping[str, str], by: str) -> None:
        self._each: list[ReviewedRuntime] = []
        self._unusable: list[str] = []
        for address in dict.fromkeys(addresses):
            try:
                self._each.append(ReviewedRuntime(address, environ, by))
            except HitlError as error:
                if len(addresses) == 1:
                    raise
                self._unusable.append(error.message)

    @property
    def problems(self) -> Sequence[str]:
        return [*self._unusable, *(one.problem for one in self._each if one.problem is not None)]

    @property
    def waiting(self) -> Sequence[WaitingReview]:
        found = {one.request.request_id: one for runtime in reversed(self._each) for one in reversed(runtime.waiting)}
        return list(reversed(found.values()))

    def gone(self, request_id: str) -> Message | None:
        known = next((one for one in self._each if one.knows(request_id)), None)
        return known.gone(request_id) if known is not None else Ending().words(request_id)

    async def ending(self, request_id: str) -> Message | None:
        told = await asyncio.gather(*(one.ending(request_id) for one in self._each))
        return next((message for message in told if message is not None), None)

    async def look(self) -> None:
        await asyncio.gather(*(one.look() for one in self._each))

    async def follow(self, changed: Callable[[], object]) -> None:
        await asyncio.gather(*(one.follow(changed) for one in self._each))

    async def answer(self, request: ReviewRequest, *, approved: bool, text: str) -> Message:
        asking = next((one for one in self._each if one.waits(request.request_id)), None)
        if asking is None:
            raise Refused(str(self.gone(request.request_id)), reason="late")
        return await asking.answer(request, approved=approved, text=text)

    async def close(self) -> None:
        for one in self._each:
            await one.close()


class ReviewedRuntime:
    """One of them; see `RemoteReviews`.

    Args:
        address: where the runtime is: `http://HOST:PORT`, `s3://BUCKET[/PREFIX]`, or a folder.
        environ: has tokens.
        by: who answers, as they claim to be called.

    Raises:
        BadInput: it is nowhere.
        MissingExtra: what it needs isn't installed.
    """

    def __init__(self, address: str, environ: Mapping[str, str], by: str) -> None:
        self._place, self._by = place_at(address, environ), by
        self._source = PublishedRequests(self._place.store)
        self._reviews = Reviews()
        self._since: dict[str, str] = {}
        self._address = address
        self.problem: Message | None = None

    @property
    def waiting(self) -> Sequence[WaitingReview]:
        place, verified = _short(self._address), self._place.verified
        return [
            WaitingReview(one, place, self._since[one.request_id], refusal(one, verified=verified))
            for one in self._reviews.waiting.values()
        ]

    def waits(self, request_id: str) -> bool:
        """Return whether a request waits there."""
        return request_id in self._reviews.waiting

    def knows(self, request_id: str) -> bool:
        """Return whether a request waits there, or was seen to."""
        return self.waits(request_id) or request_id in self._reviews.endings

    def gone(self, request_id: str) -> Message | None:
        if self.waits(request_id):
            return None
        return self._reviews.endings.get(request_id, Ending()).words(request_id)

    async def ending(self, request_id: str) -> Message | None:
        """Return what became of a request, if that is told there."""
        found = None
        with suppress(StorageError, TimeoutError):  # `look` says what is out of reach
            async with asyncio.timeout(_PATIENCE):
                found = await self._source.one(request_id)
        if found is not None:
            self._reviews.take(found.event)
        return self.gone(request_id) if self.knows(request_id) else None

    async def look(self) -> None:
        try:
            async with asyncio.timeout(_PATIENCE):
                async for batch in self._source.batches(follow=False):
                    for event in batch:
                        self._reviews.take(event)
        except TimeoutError:
            self.problem = Message("The runtime at {} doesn't answer.", one_line(self._address, 100))
        except StorageError as error:
            self.problem = Message("{}", error)
        else:
            self.problem, now = None, utc_now()
            self._since = {one: self._since.get(one, now) for one in self._reviews.waiting}

    async def follow(self, changed: Callable[[], object]) -> None:
        pause, before = _INTERVAL, None
        while True:
            await self.look()
            pause = _INTERVAL if self.problem is None else min(_LONGEST, pause * 2)
            seen = (tuple(self._reviews.waiting), str(self.problem or ""))
            if seen != before:
                before = seen
                changed()
            await asyncio.sleep(pause * random.uniform(0.8, 1.0))  # noqa: S311 - it only spreads the looks

    async def answer(self, request: ReviewRequest, *, approved: bool, text: str) -> Message:
        feedback = Feedback(approved, text, datetime.now(UTC), request.digest, self._by)
        check_answer(request, feedback, verified=self._place.verified)
        try:
            said = await send_answer(self._place.store, request, feedback, _TAKEN_WITHIN)
        except Refused as error:
            if error.reason != NOT_TAKEN:
                self._reviews.answer(request.request_id)
            raise
        self._reviews.answer(request.request_id)
        return said

    async def close(self) -> None:
        await self._place.store.close()


def _short(address: str) -> str:
    """Return what tells a runtime from others in a list."""
    if "://" not in address:
        return address.rstrip("/").rpartition("/")[2] or address
    parts = urlsplit(address)
    return f"{parts.netloc}{parts.path}".rstrip("/")
