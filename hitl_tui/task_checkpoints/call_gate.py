"""Whether a call of an agent outside of sessions may be made: by a rule, by people, or by nobody within the time.

`hitl-tui hook` and `require_approval` ask here. A decision counts for exactly one call, and is taken before it is made.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_text import canonical
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Judgement, Policy, Ruling
from hitl_tui.core.requests import Outcome
from hitl_tui.core.safe_text import one_line
from hitl_tui.core.secret_masks import put_back
from hitl_tui.ledger.existing_record import has_record
from hitl_tui.policy.approvers import ApproverFile
from hitl_tui.policy.secrecy import Secrecy
from hitl_tui.task_checkpoints.checkpoint import Call, Checkpoint, Ruled, Status
from hitl_tui.task_checkpoints.folders import held_under, register, store_of, trust_of
from hitl_tui.task_checkpoints.service import TaskCheckpoints

_SETTINGS = "hitl.toml"
_NAME = re.compile(r"\w[\w.@+-]{0,59}")


class Answer(StrEnum):
    """What a program is told."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"  # nobody decided in time


@dataclass(frozen=True, slots=True)
class Said:
    """The answer to a call.

    Args:
        answer: whether it may be made.
        reason: why, and who says so; a sentence each.
        step: what was recorded about it, if anything was.
        arguments: what it is to be made with instead; None for its own.
    """

    answer: Answer
    reason: tuple[str, ...]
    step: Checkpoint | None = None
    arguments: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A call that a program asks about.

    Args:
        session: of the agent; a decision counts in one alone.
        call: what it would do.
        message: what the agent says of it; empty where it says nothing.
    """

    session: str
    call: Call
    message: str = ""

    @property
    def task(self) -> str:
        """The task that calls of this agent's session are steps of."""
        return f"{self.call.agent}:{self.session}"

    @property
    def question(self) -> str:
        """What people are asked."""
        return self.message or f"{self.call.agent} is about to use {self.call.tool}"


def usable_name(what: str, name: str) -> str:
    """Return the name of an agent or a session, if a task can be named after it.

    Args:
        what: which name it is, as the program calls it.
        name: the name.

    Raises:
        BadInput: it can't be used.
    """
    if not _NAME.fullmatch(name):
        shown = one_line(json.dumps(name, ensure_ascii=False), 80)
        raise BadInput(Message("{} can't be {}: up to 60 letters, digits and . - _ @ +.", what, shown))
    return name


class CallGate:
    """Asks about the calls of the agents of one folder.

    Nothing of it waits for an event loop where none runs (see `entry_files.at_once`), but what it is given to sleep.

    Args:
        masc: where calls are recorded; the rules are those beside it.
        data: the data folder, which knows what is trusted, and whose inbox shows what waits.
        environ: the environment.
        secrecy: is told where secrets are declared; people see their names.
        changed: called when something was asked or decided.
    """

    def __init__(
        self, masc: Path, data: Path, environ: Mapping[str, str], secrecy: Secrecy, changed: Callable[[], None]
    ) -> None:
        self._masc, self._data, self._secrecy = masc, data, secrecy
        secrecy.look_in([masc.parent], data)
        self._rules = _Rules(masc, data)
        store = store_of(masc, environ, changed)
        self._tasks = TaskCheckpoints(store, self._rules.held, secrecy=secrecy)
        self._poll = store.poll

    async def decide(self, asked: Asked, seconds: float, sleep: Callable[[float], Awaitable[None]]) -> Said:
        """Return what a call is answered with.

        Args:
            asked: the call.
            seconds: how long people are waited for.
            sleep: waits that many seconds.

        Raises:
            HitlError: it can't be told.
        """
        end = time.monotonic() + seconds
        exact = asked.call.arguments
        shown: JsonObject = self._secrecy.mask_json(exact, json.dumps(exact, ensure_ascii=False))
        asked = replace(asked, call=replace(asked.call, arguments=shown), message=self._secrecy.mask(asked.message))
        register(self._data, self._masc)
        judged, note = self._rules.judge(asked.call)
        if judged.ruling is Ruling.DENY or (judged.ruling is Ruling.ALLOW and not await self._refused(asked)):
            ruled = Ruled(judged.ruling.value, judged.rule, judged.name)
            step = await self._tasks.note_ruled(asked.task, asked.call, ruled)
            return Said(Answer(judged.ruling.value), (_ruled_words(ruled),), step)
        said = await self._people(asked, end, sleep)
        if said.answer is Answer.ASK and said.step is not None:
            return replace(said, reason=(*said.reason, *filter(None, (note, self._rules.shortfall(said.step)))))
        if said.arguments is not None:
            restored = put_back(dict(said.arguments), dict(shown), dict(exact), self._secrecy.known)
            assert isinstance(restored, dict), "an edited call has an object"
            return replace(said, arguments=None if canonical(restored) == canonical(exact) else restored)
        return said

    async def _refused(self, asked: Asked) -> bool:
        """Whether people refused the call and nobody heard of it: that counts, whatever a rule says since."""
        last = await self._tasks.untaken(asked.task, asked.call)
        return last is not None and last.status is Status.REJECTED

    async def _people(self, asked: Asked, end: float, sleep: Callable[[float], Awaitable[None]]) -> Said:
        """Ask people, and wait for them."""
        while True:
            step = await self._tasks.ask(asked.task, asked.call, asked.question)
            step = await self._wait_for(step, end, sleep)
            assert step.view is not None, "what was asked has a request"
            outcome = step.view.resolution.outcome
            if outcome is Outcome.PENDING:
                return Said(Answer.ASK, (_unanswered(step.view.request.id),), step)
            if outcome is not Outcome.SUPERSEDED and await self._tasks.take(step):
                return _decided(step, outcome)
            # Somebody is editing it, or another call of the same input took the decision.

    async def _wait_for(self, step: Checkpoint, end: float, sleep: Callable[[float], Awaitable[None]]) -> Checkpoint:
        noted = ""
        while True:
            asked = step.view.request.id if step.status is Status.INTERRUPTED and step.view is not None else noted
            if asked != noted:  # one that was edited is another
                noted, step = asked, await self._tasks.await_for(step, end - time.monotonic())
            assert step.view is not None, "what was asked has a request"
            open_still = step.view.resolution.outcome in (Outcome.PENDING, Outcome.SUPERSEDED)
            if not open_still or time.monotonic() >= end:
                return step
            await sleep(self._poll)
            step = await self._tasks.the_step(step.task_id, step.step)


class _Rules:
    """The rules of a folder: those that hold in any case, and those that allow once it is trusted.

    Raises:
        ConfigError: they can't be used.
    """

    def __init__(self, masc: Path, data: Path) -> None:
        self._masc, self._folder, self._data = masc, masc.parent, data
        self._trust = trust_of(masc, data) if has_record(data, os.environ) else None
        self.held = held_under(masc, self._trust)
        self._declared = Policy()
        if self.held.rules:
            from hitl_tui.config.loader import content_of, parse_content

            self._declared = parse_content(content_of(self._folder / _SETTINGS)).policy

    def judge(self, call: Call) -> tuple[Judgement, str]:
        """Return what they say of a call, and what would help where a rule would allow it but isn't obeyed."""
        held = self.held.judge_step(call.agent, call.tool, call.arguments)
        wanted = self._declared.judge_step(call.agent, call.tool, call.arguments)
        if wanted.ruling is not Ruling.ALLOW or held.ruling is Ruling.DENY:
            return held, ""
        trust = self._trust or trust_of(self._masc, self._data)
        if trust.trusted:
            return trust.declared.policy.judge_step(call.agent, call.tool, call.arguments), ""
        return held, Message("Rule {} allows it once this folder is trusted: {}", wanted.rule, trust.command)

    def shortfall(self, step: Checkpoint) -> str:
        """Return why nobody can approve a step, if nobody can."""
        assert step.view is not None, "what was asked has a request"
        request = step.view.request
        if request.terms.quorum <= 1 and not request.terms.level:
            return ""
        return ApproverFile(self._data).load().shortfall(request.terms, request.requester)


def _unanswered(request_id: str) -> Message:
    return Message(
        "Nobody decided in time. It waits in hitl-tui inbox as {}; approved there, this exact call may be made once.",
        request_id,
    )


def _ruled_words(ruled: Ruled) -> Message:
    name = f' "{ruled.name}"' if ruled.name else ""
    if ruled.ruling == Ruling.ALLOW:
        return Message("{} rule {}{} allows it.", _SETTINGS, ruled.rule, name)
    return Message("{} rule {}{} denies it.", _SETTINGS, ruled.rule, name)


def _decided(step: Checkpoint, outcome: Outcome) -> Said:
    assert step.view is not None, "what was asked has a request"
    decisions = step.view.resolution.decisions
    by, reasons = ", ".join(d.by for d in decisions), tuple(d.reason for d in decisions if d.reason)
    if outcome is Outcome.APPROVED:
        said = Message("Approved by {}.", by) if step.edited is None else Message("Approved by {} as edited.", by)
        return Said(Answer.ALLOW, (said, *reasons), step, step.edited)
    if outcome is Outcome.EXPIRED:
        return Said(Answer.DENY, (Message("Nobody decided before {}.", step.view.request.deadline),), step)
    return Said(Answer.DENY, (Message("Rejected by {}.", by), *reasons), step)
