"""Where feedback objects lie: the protocol that a folder and an S3 bucket fulfil.

Three places, of which only the first is looked through again and again: the feedback, what was set aside with the
reason why, and the requests that a reviewer without the runtime's events finds there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Literal, Protocol

from hitl_tui.channels.plan_feedback.feedback import Feedback, Problem, proper_id
from hitl_tui.core.errors import BadInput, Refused, StorageError
from hitl_tui.core.json_text import strict_json
from hitl_tui.core.json_types import Json
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line

_MARK = 12
LARGEST_REQUEST = 4 * 1024 * 1024
"""Bytes of a published request that a reviewer's program reads."""


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


class StoreDenied(StorageError):
    """The store refuses what was asked of it: credentials or permissions, which trying again doesn't mend."""


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


class FeedbackStore(Protocol):
    """Where feedback lies.

    Every method raises `StorageError` (or `StoreDenied`) where the store can't be used now.
    """

    def path(self, request_id: str) -> str:
        """Return where the feedback for a request has to be put: what `feedback_s3_path` says."""

    async def poll(self, waiting: Collection[str], done: Mapping[str, str] = NOTHING_DONE) -> Polled:
        """Look once for feedback.

        Args:
            waiting: ids of the requests that wait.
            done: versions by request id of objects that were dealt with and couldn't be removed; they aren't read
                again.
        """

    async def read_each(self, request_ids: Collection[str], done: Mapping[str, str] = NOTHING_DONE) -> Polled:
        """Read the feedback for some requests, without looking for any other; `done` as in `poll`."""

    async def remove(self, found: Found) -> None:
        """Remove an object that was acted on; one that is gone is no error, and a newer one stays."""

    async def set_aside(self, found: Found, problem: Problem) -> str:
        """Move an object out of what is looked through, with the reason beside it; return where it is now."""

    async def put_new(self, request_id: str, feedback: Feedback) -> str:
        """Put feedback for a request, if there is none; return its fingerprint.

        Raises:
            AlreadyAnswered: there is.
        """

    async def fate(self, request_id: str, fingerprint: str) -> Fate:
        """Return what became of feedback that was put: it lies there, was taken, or was set aside with this problem."""

    async def publish(self, request: PublishedRequest) -> None:
        """Let reviewers find a request; what was published under its id is replaced."""

    async def withdraw(self, request_id: str, ended: Mapping[str, Json] | None = None) -> None:
        """Take a request back that waits no more; one that isn't there is no error.

        Args:
            request_id: the request.
            ended: the event that tells what became of it, for who comes later; None where nobody knows.
        """

    async def requests(self) -> Sequence[PublishedRequest]:
        """Return the requests that reviewers find, the one published first in front; what can't be read is left out."""

    async def request(self, request_id: str) -> PublishedRequest | None:
        """Return a request that waits, or one with the event that told what became of it; None where neither is."""

    async def close(self) -> None:
        """Close what is held open."""


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


def aside_name(found: Found) -> str:
    """Return what an object that is set aside is called, before its ending; one that was read is known by its bytes."""
    mark = found.fingerprint or hashlib.sha256(found.version.encode()).hexdigest()
    return f"{found.request_id}.{mark[:_MARK]}"


def reason_name(request_id: str, fingerprint: str) -> str:
    """Return what the reason is called for which an object was set aside that has a fingerprint."""
    return f"{request_id}.{fingerprint[:_MARK]}.reason.json"


def problem_in(data: bytes) -> Problem:
    """Return why an object was set aside, as `reason_of` wrote it."""
    try:
        document = strict_json(data.decode())
    except (ValueError, BadInput):
        document = None
    told = document if isinstance(document, dict) else {}
    return Problem(str(told.get("kind", "refused")), Message("{}", one_line(str(told.get("reason", "")), 1_000)))


def reason_of(found: Found, problem: Problem) -> bytes:
    """Return the document that stands beside an object that was set aside."""
    document = {
        "request_id": found.request_id,
        "object": found.path,
        "kind": problem.kind,
        "reason": str(problem.reason),
        "set_aside_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return json.dumps(document, ensure_ascii=False, indent=2).encode() + b"\n"


def event_in(data: bytes, request_id: str) -> PublishedRequest | None:
    """Return the request that a published document holds; None where it holds none, or another."""
    try:
        event = strict_json(data.decode())
    except (ValueError, BadInput):
        return None
    if not isinstance(event, dict) or event.get("request_id") != request_id:
        return None
    return PublishedRequest(request_id, event)
