"""Where feedback objects lie, among the documents of a folder or an S3 bucket.

Three places, of which only the first is looked through again and again: the feedback, what was set aside with the
reason why, and the requests that a reviewer without the runtime's events finds there.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Awaitable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Literal, TypeVar

from hitl_tui.channels.plan_feedback.documents import Documents, Listed, ListingDenied, NoAccess, StoreDenied
from hitl_tui.channels.plan_feedback.feedback import LARGEST, Feedback, Problem, oversized, proper_id, read
from hitl_tui.core.errors import BadInput, Refused, StorageError
from hitl_tui.core.json_text import strict_json
from hitl_tui.core.json_types import Json
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line

_MARK = 12
_ASIDE, _REQUESTS, _DECIDED = "set-aside", "requests", "decided"
_LISTING_DENIED = 600.0
"""Seconds after which listing is tried again where it was denied."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Found:
    """A feedback object.

    Args:
        request_id: the request that its name stands for.
        path: where it is, as people are told.
        version: tells it from whatever stood or will stand under its name.
        content: what it says, or why it can't be used.
        fingerprint: SHA-256 of its bytes; empty where they weren't read. Two deliveries of one object have the same.
    """

    request_id: str
    path: str
    version: str
    content: Feedback | Problem
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Polled:
    """What one look found.

    Args:
        found: objects for the requests that were asked for.
        others: request ids of objects for other requests, which weren't read; they may be another runtime's.
        problem: why some object couldn't be read now; it is tried again at the next look.
        notice: what somebody should know though nothing failed.
    """

    found: Sequence[Found] = ()
    others: Sequence[str] = ()
    problem: Message | None = None
    notice: Message | None = None


class AlreadyAnswered(Refused):
    """Feedback for the request is there already; nothing was written."""

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="repeated")


NOTHING_DONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class PublishedRequest:
    """A request that waits for a reviewer, as its runtime published it.

    Args:
        request_id: its id.
        event: the event that the runtime emitted for it.
    """

    request_id: str
    event: Mapping[str, Json] = field(default_factory=dict)


Fate = Literal["waiting", "taken"] | Problem


class FeedbackStore:
    """Feedback among documents, wherever they lie.

    Every coroutine raises `StorageError` (or `StoreDenied`) where that can't be used now.

    Args:
        documents: where.
    """

    def __init__(self, documents: Documents) -> None:
        self.documents = documents
        self._denied_until = 0.0
        self._unfinished: dict[str, str] = {}
        self._read_before: dict[str, tuple[str, PublishedRequest]] = {}

    def path(self, request_id: str) -> str:
        """Return where the feedback for a request has to be put: what `feedback_s3_path` says."""
        return self.documents.told(checked_id(request_id))

    async def poll(self, waiting: Collection[str], done: Mapping[str, str] = NOTHING_DONE) -> Polled:
        """Look once for feedback.

        Args:
            waiting: ids of the requests that wait.
            done: versions by request id of objects that were dealt with and couldn't be removed; they aren't read
                again.
        """
        if time.monotonic() < self._denied_until:
            return await self.read_each(waiting, done)
        try:
            listed = await self.documents.list()
        except ListingDenied as denied:
            self._denied_until = time.monotonic() + _LISTING_DENIED
            notice = Message(
                "Listing {} is denied, so each request is asked for by itself; late feedback isn't noticed.",
                denied.place,
            )
            return replace(await self.read_each(waiting, done), notice=notice)
        self._unfinished = {one: version for one, version in self._unfinished.items() if one in listed}
        there = (listed[one] for one in sorted(waiting) if one in listed)
        polled = await self._read([one for one in there if one.version != done.get(one.name)], NOTHING_DONE)
        return replace(polled, others=sorted(listed.keys() - set(waiting)))

    async def read_each(self, request_ids: Collection[str], done: Mapping[str, str] = NOTHING_DONE) -> Polled:
        """Read the feedback for some requests, without looking for any other; `done` as in `poll`."""
        return await self._read([Listed(checked_id(one)) for one in sorted(request_ids)], done)

    async def remove(self, found: Found) -> None:
        """Remove an object that was acted on; one that is gone is no error, and a newer one stays."""
        await self.documents.delete(checked_id(found.request_id), found.version)

    async def set_aside(self, found: Found, problem: Problem) -> str:
        """Move an object out of what is looked through, with the reason beside it; return where it is now."""
        name = _aside_name(found.request_id, found.fingerprint or hashlib.sha256(found.version.encode()).hexdigest())
        await self.documents.put(_reason_name(name), _reason_of(found, problem), _ASIDE)
        await self.documents.move(checked_id(found.request_id), found.version, _ASIDE, name)
        return self.documents.told(name, _ASIDE)

    async def put_new(self, request_id: str, feedback: Feedback) -> str:
        """Put feedback for a request, if there is none; return its fingerprint.

        Raises:
            AlreadyAnswered: there is.
        """
        data = feedback.to_bytes(request_id)
        if not await self.documents.put_new(checked_id(request_id), data):
            raise already_answered(request_id)
        return hashlib.sha256(data).hexdigest()

    async def fate(self, request_id: str, fingerprint: str) -> Fate:
        """Return what became of feedback that was put: it lies there, was taken, or was set aside with this problem."""
        found = await self.documents.get(checked_id(request_id))
        if found is not None and found.data is not None and hashlib.sha256(found.data).hexdigest() == fingerprint:
            return "waiting"
        reason = await self.documents.get(_reason_name(_aside_name(request_id, fingerprint)), _ASIDE)
        return "taken" if reason is None else _problem_in(reason.data or b"")

    async def publish(self, request: PublishedRequest) -> None:
        """Let reviewers find a request; what was published under its id is replaced."""
        await self.documents.put(checked_id(request.request_id), _event_bytes(request.event), _REQUESTS)

    async def withdraw(self, request_id: str, ended: Mapping[str, Json] | None = None) -> None:
        """Take a request back that waits no more; one that isn't there is no error.

        Args:
            request_id: the request.
            ended: the event that tells what became of it, for who comes later; None where nobody knows.
        """
        if ended is not None:
            await self.documents.put(checked_id(request_id), _event_bytes(ended), _DECIDED)
        await self.documents.delete(checked_id(request_id), beside=_REQUESTS)

    async def requests(self) -> Sequence[PublishedRequest]:
        """Return the requests that reviewers find, the one published first in front; what can't be read is left out."""
        try:
            listed = await self.documents.list(_REQUESTS)
        except ListingDenied as denied:
            raise StoreDenied(Message("Listing {} is denied, so name the request.", denied.place)) from denied
        self._read_before = {one: kept for one, kept in self._read_before.items() if one in listed}
        in_order = sorted(listed.values(), key=lambda each: (each.modified, each.name))
        found, errors = await _each(self._published(one) for one in in_order)
        if errors and not found:
            raise errors[0]
        return tuple(found)

    async def request(self, request_id: str) -> PublishedRequest | None:
        """Return a request that waits, or one with the event that told what became of it; None where neither is."""
        return await self._event(request_id, _REQUESTS) or await self._event(request_id, _DECIDED)

    async def close(self) -> None:
        """Close what is held open."""
        await self.documents.close()

    async def _read(self, listed: Sequence[Listed], done: Mapping[str, str]) -> Polled:
        """Read objects, several at the same time; one that can't be read doesn't hold up the others."""
        found, errors = await _each(self._found(one, done.get(one.name, "")) for one in listed)
        if errors and len(errors) == len(listed):
            raise errors[0]
        whole = [one for one in found if self.documents.atomic or self._is_finished(one)]
        return Polled(whole, (), Message("{}", errors[0]) if errors else None)

    async def _found(self, listed: Listed, done: str) -> Found | None:
        name, path = listed.name, self.documents.told(listed.name)
        if listed.size > LARGEST:
            return Found(name, path, listed.version, oversized(listed.size))
        try:
            there = await self.documents.get(name, largest=LARGEST, unless=done)
        except NoAccess:
            if listed.version:
                raise
            return None  # so is answered where listing is denied, for what isn't there
        if there is None:
            return None
        if not there.regular:
            return Found(name, path, there.version, Problem("malformed", Message("It isn't a regular file.")))
        if there.data is None:
            return Found(name, path, there.version, oversized(there.size))
        return Found(name, path, there.version, read(there.data, name), hashlib.sha256(there.data).hexdigest())

    def _is_finished(self, found: Found) -> bool:
        """Return whether an object is whole: who writes it plainly may be in the middle.

        One that can't be used is judged when it stands unchanged at a second look.
        """
        if isinstance(found.content, Problem) and self._unfinished.get(found.request_id) != found.version:
            self._unfinished[found.request_id] = found.version
            return False
        self._unfinished.pop(found.request_id, None)
        return True

    async def _published(self, listed: Listed) -> PublishedRequest | None:
        """Return a request that was listed; one that was read before and is the same isn't read again."""
        version, known = self._read_before.get(listed.name, ("", None))
        if known is not None and version and version == listed.version:
            return known
        found = await self._event(listed.name, _REQUESTS)
        if found is not None:
            self._read_before[listed.name] = listed.version, found
        return found

    async def _event(self, request_id: str, place: str) -> PublishedRequest | None:
        found = await self.documents.get(checked_id(request_id), place)
        return None if found is None or found.data is None else _event_in(found.data, request_id)


async def _each(asked: Iterable[Awaitable[T | None]]) -> tuple[list[T], list[StorageError]]:
    """Return what several coroutines give, in their order, and why some gave nothing."""

    async def one(each: Awaitable[T | None]) -> T | StorageError | None:
        try:
            return await each
        except StorageError as error:
            return error

    results = await asyncio.gather(*map(one, asked))
    errors = [result for result in results if isinstance(result, StorageError)]
    return [one for one in results if one is not None and not isinstance(one, StorageError)], errors


def checked_id(request_id: str) -> str:
    """Return the id of a request, which is part of a name.

    Raises:
        BadInput: it can't be one.
    """
    if not proper_id(request_id):
        raise BadInput(Message("{} can't be the id of a request.", repr(one_line(request_id, 60))))
    return request_id


def already_answered(request_id: str) -> AlreadyAnswered:
    """Return the error of somebody who comes second."""
    return AlreadyAnswered(Message("Somebody answered {} already; your answer was not sent.", request_id))


def _aside_name(request_id: str, mark: str) -> str:
    """Return what an object that is set aside is called; one that was read is known by its bytes."""
    return f"{request_id}.{mark[:_MARK]}"


def _reason_name(aside: str) -> str:
    return f"{aside}.reason"


def _event_bytes(event: Mapping[str, Json]) -> bytes:
    return json.dumps(dict(event), ensure_ascii=False).encode()


def _problem_in(data: bytes) -> Problem:
    """Return why an object was set aside, as `_reason_of` wrote it."""
    try:
        document = strict_json(data.decode())
    except (ValueError, BadInput):
        document = None
    told = document if isinstance(document, dict) else {}
    return Problem(str(told.get("kind", "refused")), Message("{}", one_line(str(told.get("reason", "")), 1_000)))


def _reason_of(found: Found, problem: Problem) -> bytes:
    """Return the document that stands beside an object that was set aside."""
    document = {
        "request_id": found.request_id,
        "object": found.path,
        "kind": problem.kind,
        "reason": str(problem.reason),
        "set_aside_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return json.dumps(document, ensure_ascii=False, indent=2).encode() + b"\n"


def _event_in(data: bytes, request_id: str) -> PublishedRequest | None:
    """Return the request that a published document holds; None where it holds none, or another."""
    try:
        event = strict_json(data.decode())
    except (ValueError, BadInput):
        return None
    if not isinstance(event, dict) or event.get("request_id") != request_id:
        return None
    return PublishedRequest(request_id, event)
