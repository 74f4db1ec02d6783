"""A runtime elsewhere, as a reviewer sees it: where its requests are read, and how they are answered."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from hitl_tui.channels.callers import APPROVER_TOKEN
from hitl_tui.channels.plan_feedback.feedback import LARGEST, Feedback, Problem
from hitl_tui.channels.plan_feedback.runtime_client import SCHEMES, RuntimeClient
from hitl_tui.channels.plan_feedback.store import Fate, PublishedRequest
from hitl_tui.channels.plan_feedback.store_address import store_at
from hitl_tui.core.errors import BadInput, Refused, StorageError
from hitl_tui.core.messages import Message, word
from hitl_tui.core.plan_review import LAST_REVISION
from hitl_tui.core.requests import Outcome
from hitl_tui.core.review_request import PLAN, ReviewRequest
from hitl_tui.core.safe_text import one_line
from hitl_tui.wording.times import day_words

RUNTIME_TOKEN = "HITL_SERVE_TOKEN"  # noqa: S105 - the name of a variable
TOKENS = (APPROVER_TOKEN, RUNTIME_TOKEN)
"""Variables with a token that lets in where a runtime listens; an approver's proves who answers, too."""
NOT_TAKEN = "not_allowed"
"""Reason of a refusal after which a request still waits."""
_LOOK = 0.5
"""Seconds between looks for what became of an answer."""


class AnswerPlace(Protocol):
    """Where answers go; see `FeedbackStore`."""

    def path(self, request_id: str) -> str: ...

    async def put_new(self, request_id: str, feedback: Feedback) -> str: ...

    async def fate(self, request_id: str, fingerprint: str) -> Fate: ...

    async def close(self) -> None: ...


class RequestPlace(AnswerPlace, Protocol):
    """Where requests that wait can be read, too."""

    async def requests(self) -> Sequence[PublishedRequest]: ...

    async def request(self, request_id: str) -> PublishedRequest | None: ...


@dataclass(frozen=True, slots=True)
class RuntimePlace:
    """Where a runtime is.

    Args:
        store: its requests and answers.
        verified: answers carry an approver's token.
    """

    store: RequestPlace
    verified: bool = False


def place_at(address: str, environ: Mapping[str, str]) -> RuntimePlace:
    """Return the place that an address names; nothing is connected to yet.

    Args:
        address: `http://HOST:PORT`, `s3://BUCKET[/PREFIX]`, or a folder.
        environ: has tokens.

    Raises:
        BadInput: it names none.
        MissingExtra: what it needs isn't installed.
    """
    if not address.startswith(SCHEMES):
        return RuntimePlace(store_at(address))
    token = next((found for name in TOKENS if (found := environ.get(name, "").strip())), "")
    return RuntimePlace(RuntimeClient(address, token), verified=bool(environ.get(APPROVER_TOKEN, "").strip()))


def check_answer(request: ReviewRequest, feedback: Feedback, *, verified: bool) -> None:
    """See that an answer can decide a request.

    Raises:
        Refused: an approval takes more than feedback.
        BadInput: it is too long.
    """
    if feedback.approved and (why := refusal(request, verified=verified)) is not None:
        raise Refused(why, reason="not_allowed")
    if len(feedback.to_bytes(request.request_id)) > LARGEST:
        raise BadInput(Message("Feedback has at most {} bytes.", LARGEST))


def refusal(request: ReviewRequest, *, verified: bool) -> Message | None:
    """Return why answers from here can't approve a request; None where they can."""
    if request.takes_feedback or verified:
        return None
    return Message(
        "{} takes a verified approver, which feedback can't be: decide it where the runtime is, with hitl-tui decide.",
        request.request_id,
    )


async def send_answer(place: AnswerPlace, request: ReviewRequest, feedback: Feedback, patience: float) -> Message:
    """Put an answer and wait a little for what becomes of it; return a sentence about that.

    Args:
        place: where it is put.
        request: what it answers.
        feedback: the answer.
        patience: seconds to wait.

    Raises:
        Refused: somebody else was first, or the runtime didn't take it.
        StorageError: it can't be put now.
    """
    fingerprint = await place.put_new(request.request_id, feedback)
    loop = asyncio.get_running_loop()
    until = loop.time() + patience
    while True:
        try:
            fate = await place.fate(request.request_id, fingerprint)
        except StorageError:  # who may only put doesn't see it
            fate = "waiting"
        if isinstance(fate, Problem):
            late = fate.kind == "late"
            raise Refused(Message("The runtime didn't take it: {}", fate.reason), reason="late" if late else NOT_TAKEN)
        if fate == "taken":
            if request.quorum > 1:
                return Message("Your vote is on record; {} have to approve.", request.quorum)
            if feedback.approved:
                return Message("Approved.")
            if request.last:
                return Message("The runtime took your feedback. {}", LAST_REVISION)
            if request.kind == PLAN:
                return Message("The runtime took your feedback; the next revision is a new request.")
            return Message("Rejected.")
        if loop.time() >= until:
            return Message("Sent to {}. The runtime hasn't taken it yet.", place.path(request.request_id))
        await asyncio.sleep(_LOOK)


@dataclass(frozen=True, slots=True)
class Ending:
    """What became of a request, as far as its runtime told.

    Args:
        outcome: as the record has it; empty where it isn't told.
        by: who decided.
        at: when, ISO 8601; empty where it isn't told.
    """

    outcome: str = ""
    by: tuple[str, ...] = ()
    at: str = ""

    def words(self, request_id: str) -> Message:
        """Return what to say to whoever comes later."""
        outcome = word(self.outcome) if self.outcome in {*Outcome} else one_line(self.outcome, 60)
        by, at = one_line(", ".join(self.by), 200), day_words(self.at)
        if outcome and by and at:
            return Message("{} is decided already: {}, by {} at {}.", request_id, outcome, by, at)
        if outcome and by:
            return Message("{} is decided already: {}, by {}.", request_id, outcome, by)
        if outcome and at:
            return Message("{} is decided already: {}, at {}.", request_id, outcome, at)
        if outcome:
            return Message("{} is decided already: {}.", request_id, outcome)
        return Message("{} waits no more.", request_id)
