"""Answers from elsewhere (HTTP, feedback objects), given to the record as any other: the first that counts wins."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hitl_tui.channels.plan_feedback.feedback import Feedback
from hitl_tui.channels.plan_feedback.poller import Refusal, Taken
from hitl_tui.channels.plan_feedback.store import Found
from hitl_tui.commands.handler import CommandHandler
from hitl_tui.commands.request_answer import answer_request
from hitl_tui.commands.results import CommandResult
from hitl_tui.core.errors import BadInput, HitlError, Refused, StorageError, UnknownName
from hitl_tui.core.identity import Identity
from hitl_tui.core.json_text import names_digest
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip
from hitl_tui.core.policy import Risk
from hitl_tui.core.requests import REFUSING, Decision, Kind, Outcome, closed_words, name_of
from hitl_tui.core.safe_text import one_line
from hitl_tui.ledger.protocols import read_stream
from hitl_tui.ledger.records import RequestView
from hitl_tui.policy.approvers import IN_HEADER, IN_SHELL, claimed_identity
from hitl_tui.supervisor.session_follower import SessionFollower
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.snapshot import Question

OBJECT = "feedback_object"
"""Kind of the entry that says which object a decision comes from; it is written before the decision."""
_BY_OBJECT = "feedback"
_KEYS = ("request_id", "approved", "answer", "feedback", "digest", "value", "reviewer", "timestamp")
_ANONYMOUS = "reviewer"
_ASKED_ANEW = frozenset({"stale", "superseded", "gone"})


@dataclass(frozen=True, slots=True)
class Answer:
    """What somebody says to a request.

    Args:
        request_id: the request.
        answer: `approve`, `reject`, or another word that it takes.
        reason: why; for a plan what to change.
        text: what goes with it, as `hitl-tui decide --args` takes it.
        digest: that of what they were shown, or its beginning; empty where they don't say.
        reviewer: who they say they are; empty for nobody.
    """

    request_id: str
    answer: str
    reason: str = ""
    text: str = ""
    digest: str = ""
    reviewer: str = ""


def read_answer(found: Mapping[str, Any]) -> Answer:
    """Return the answer that a JSON object is: with `approved` as a feedback object has it, or with `answer`.

    Raises:
        BadInput: it is none.
    """
    for key in found:
        if key not in _KEYS:
            known = ", ".join(_KEYS)
            raise BadInput(Message('Unknown key "{}" in an answer; it has {}.', one_line(clip(key), 60), known))
    for key in ("request_id", "answer", "feedback", "digest", "reviewer", "timestamp"):
        if not isinstance(found.get(key, ""), str):
            raise BadInput(Message('"{}" has to be text.', key))
    approved, answer = found.get("approved"), found.get("answer", "")
    if (approved is None) == (not answer) or not isinstance(approved, bool | None):
        raise BadInput(Message('An answer has either "approved", true or false, or "answer".'))
    if approved is False and not found.get("feedback", "").strip():
        raise BadInput(Message('"approved" is false, and "feedback" doesn\'t say what to change.'))
    value = found.get("value")
    return Answer(
        found.get("request_id", ""),
        answer or ("approve" if approved else "reject"),
        found.get("feedback", ""),
        "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False),
        found.get("digest", "").strip().lower(),
        one_line(found.get("reviewer", ""), 200),
    )


class RemoteAnswers:
    """Takes answers to the record.

    Args:
        registry: the sessions.

    Attributes:
        outdated: is told of a session whose question isn't what it would ask now, so that it asks anew.
    """

    def __init__(self, registry: SessionRegistry) -> None:
        self._registry = registry
        self.outdated: Callable[[str], object] = lambda _: None

    async def give(self, answer: Answer, channel: str, who: Identity | None = None) -> CommandResult:
        """Decide a request.

        Args:
            answer: the answer.
            channel: where it comes from, for the record.
            who: a verified approver; None for whoever they say they are.

        Raises:
            UnknownName: there is no such request.
            BadInput: it doesn't answer it.
            Refused: it can't count; nothing was decided.
            StorageError: it can't be put on record.
        """
        registry, view = self._registry, await self._view(answer.request_id)
        if view.resolution.outcome is not Outcome.PENDING:
            raise Refused(closed_words(view.request, view.resolution, registry.now()), reason="late")
        identity = who or self._claimed(answer.reviewer, IN_SHELL if channel == _BY_OBJECT else IN_HEADER)
        setup = await registry.setup(view.request.session, teams=False)
        async with SessionFollower.open(setup) as session:
            question = next((q for q in session.snapshot.questions if q.id == answer.request_id), None)
            if question is None:
                raise Refused(Message("This question was replaced; look at the new one."), reason="gone")
            _check(question, answer, identity)
            handler = CommandHandler(
                session,
                setup.planner,
                by=identity.name,
                channel=channel,
                admin=registry.admin,
                acting=lambda: identity,
                names=(question.id,),
            )
            try:
                result = await answer_request(handler, question, answer.answer, answer.text, answer.reason)
            except Refused as error:
                if error.reason in _ASKED_ANEW:
                    self.outdated(view.request.session)
                raise
        if result.failed:
            raise Refused(result.message, reason=str(result.data.get("reason", "not_allowed")))
        return result

    async def take(self, request_id: str, feedback: Feedback, found: Found) -> Taken | Refusal:
        """Take the vote of a feedback object; see `Poller`.

        Raises:
            StorageError: it can't be put on record now.
        """
        answer = Answer(
            request_id,
            "approve" if feedback.approved else "reject",
            feedback.feedback,
            digest=feedback.digest,
            reviewer=feedback.reviewer,
        )
        try:
            view = await self._view(request_id)
            if await self._came_from(view, found):
                return Taken()
            if view.resolution.outcome is Outcome.PENDING:
                data = {
                    "request_id": request_id,
                    "fingerprint": found.fingerprint,
                    "path": found.path,
                    "timestamp": feedback.timestamp.isoformat(),
                }
                await self._registry.ledger.record(view.request.session, OBJECT, data, self._registry.now())
            await self.give(answer, _BY_OBJECT)
        except StorageError:
            raise
        except Refused as error:
            if error.reason in ("late", "superseded", "gone"):
                return Refusal(Message("{}", error.message), "late")
            return Refusal(Message("{}", error.message), "foreign" if error.reason == "stale" else "refused")
        except HitlError as error:
            return Refusal(Message("{}", error.message))
        return Taken()

    async def knows(self, request_id: str) -> bool:
        """Return whether a request is one of this data folder's."""
        return await self._registry.ledger.request(request_id, self._registry.now()) is not None

    async def _view(self, request_id: str) -> RequestView:
        view = await self._registry.ledger.request(request_id, self._registry.now())
        if view is None:
            raise UnknownName(Message("No request {}.", one_line(clip(request_id), 80)))
        return view

    async def _came_from(self, view: RequestView, found: Found) -> bool:
        """Return whether a decision of the request is this object's, which is delivered again."""
        if not any(decision.channel == _BY_OBJECT for decision in view.decisions) or not found.fingerprint:
            return False
        last = ""
        async for entry in read_stream(self._registry.ledger, view.request.session):
            if entry.kind == OBJECT and entry.data.get("request_id") == view.request.id:
                last = str(entry.data.get("fingerprint", ""))
            elif entry.kind == "decision":
                said = Decision.from_dict(entry.data["decision"])
                if (said.request_id, said.channel, last) == (view.request.id, _BY_OBJECT, found.fingerprint):
                    return True
        return False

    def _claimed(self, name: str, where: str) -> Identity:
        return claimed_identity(self._registry.approvers.current, name or _ANONYMOUS, where)


def _check(question: Question, answer: Answer, who: Identity) -> None:
    """See that who answers was shown what they answer, and is somebody who may.

    Raises:
        Refused: they weren't, or aren't.
    """
    if answer.digest and not names_digest(answer.digest, question.digest):
        raise Refused(Message("The question changed since it was shown; read it again, then decide."), reason="stale")
    if answer.answer in {*REFUSING, "ignore"}:
        return
    name = name_of(question.view.request)
    if not answer.digest and question.kind is not Kind.PLAN:
        raise Refused(Message("{} takes the digest of what was shown with the answer.", name), reason="digest")
    if question.risk is Risk.HIGH and not (answer.digest and who.person):
        raise Refused(
            Message("{} is high-risk: from elsewhere it takes its digest, and the token of an approver.", name),
            reason="not_allowed",
        )
