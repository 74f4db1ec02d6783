"""Steps of tasks outside of sessions: recorded, asked about, decided, waited for.

Any agent or script may do this, through a command, a tool server or a chat; all of them come here. What a decision
amounts to says `core.requests`, and nothing here.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from hitl_tui.core.errors import BadInput, HitlError, Refused, UnknownName
from hitl_tui.core.events import after_seconds, utc_now
from hitl_tui.core.identity import Identity
from hitl_tui.core.json_text import digest
from hitl_tui.core.json_types import Json, Subject
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip
from hitl_tui.core.policy import Policy, Risk, Ruling
from hitl_tui.core.requests import OPTIONS, Decision, Kind, Request, Verdict, closed_words, request_id
from hitl_tui.core.safe_text import one_line
from hitl_tui.ledger.protocols import Conflict, Requests, Streams, read_stream
from hitl_tui.ledger.records import Entry, RequestView
from hitl_tui.task_checkpoints.checkpoint import STEP, Checkpoint, Status, checkpoint_of

_TASK = re.compile(r"[\w-][\w .:@+-]{0,127}")
_LONGEST = {"action": 20_000, "agent": 200, "message": 20_000}
_HIGHEST_STEP = 1_000_000_000
_TRIES = 1_000


class TaskLedger(Streams, Requests, Protocol):
    """What task checkpoints need of a store."""


class UnknownTask(UnknownName):
    """There is no such task, or step of it."""


class TaskCheckpoints:
    """The steps of all tasks in one store.

    Args:
        ledger: the store.
        policy: who has to decide what.
        now: the time, ISO 8601, UTC.
    """

    def __init__(self, ledger: TaskLedger, policy: Policy = Policy(), now: Callable[[], str] = utc_now) -> None:
        self._ledger = ledger
        self._policy = policy
        self._now = now

    # ---------------------------------------------------------------------------------------------------- an agent

    async def record(self, task_id: str, step: int, action: str, agent: str, message: str | None = None) -> Checkpoint:
        """Record a step; with a message it asks, and waits for a decision.

        Raises:
            BadInput: a value can't be used, or the step isn't after those that are there.
            Refused: the task was rejected, so nothing of it goes on (`rejected`).
        """
        _check(task_id, step, action, agent, message)
        for _ in range(_TRIES):
            length = (await self._ledger.head(task_id)).n
            _check_next(await self.steps(task_id), task_id, step)
            data: dict[str, object] = {"task_id": task_id, "step": step, "action": action, "agent": agent}
            now = self._now()
            if message is not None:
                data |= {"message": message, "request": self._request(task_id, step, action, agent, message, now)}
            try:
                return await self._checkpoint(await self._ledger.append(task_id, length, STEP, data, now))
            except Conflict:  # somebody wrote meanwhile, so it is looked at again
                continue
        raise HitlError(Message("{} is being written all the time", clip(task_id)))

    async def was_shown(self, checkpoint: Checkpoint, by: str, channel: str) -> None:
        """Note that a step that asks was shown to somebody."""
        if checkpoint.view is not None:
            await self._ledger.mark_shown([checkpoint.view.request.id], by, channel, self._now())

    # ---------------------------------------------------------------------------------------------------- a person

    async def decide(
        self,
        checkpoint: Checkpoint,
        verdict: Verdict,
        who: Identity,
        channel: str,
        *,
        reason: str = "",
        value: Json = None,
        seen: str | None = None,
    ) -> Checkpoint:
        """Say something of a step that waits.

        Args:
            checkpoint: the step.
            verdict: approve or reject.
            who: who says it.
            channel: through what.
            reason: their words.
            value: what the agent gets with an approval.
            seen: digest of what they were shown; None for what is shown with this.

        Raises:
            Refused: it can't count.
        """
        if checkpoint.view is None:
            raise Refused(Message("{} asks nothing.", checkpoint.name), reason="unknown")
        request, now = checkpoint.view.request, self._now()
        decision = Decision(
            request.id,
            verdict,
            who.name,
            request.digest if seen is None else seen,
            now,
            channel,
            who.level,
            reason,
            value,
            "",
            who.person,
            who.proof,
            who.account,
            who.claimed,
        )
        if seen is None:
            await self._ledger.mark_shown([request.id], who.name, channel, now)
        view = await self._ledger.decide(decision, now)
        return replace(checkpoint, view=view)

    # ----------------------------------------------------------------------------------------------------- reading

    async def steps(self, task_id: str) -> list[Checkpoint]:
        """Return a task's steps in order; what is overdue is settled by being read."""
        found = await self._steps(task_id)
        if any(one.expired for one in found) and await self._ledger.expire(self._now(), task_id):
            return await self._steps(task_id)
        return found

    async def the_step(self, task_id: str, step: int | None) -> Checkpoint:
        """Return a task's step, or the only one that waits, else the last.

        Raises:
            UnknownTask: there is none.
            BadInput: several wait, and none is named.
        """
        _check_task(task_id)
        known = await self.steps(task_id)
        if not known:
            raise UnknownTask(Message('No task "{}" here.', one_line(clip(task_id), 80)))
        if step is not None:
            found = next((one for one in known if one.step == step), None)
            if found is None:
                steps = ", ".join(str(one.step) for one in known[-8:])
                raise UnknownTask(Message("{} has no step {}; it has {}.", task_id, step, steps))
            return found
        waiting = [one for one in known if one.status is Status.INTERRUPTED]
        if len(waiting) > 1:
            steps = ", ".join(str(one.step) for one in waiting)
            raise BadInput(Message("Several steps of {} wait; name one with --step: {}.", task_id, steps))
        return (waiting or known)[-1]

    async def the_waiting(self, task_id: str, step: int | None) -> Checkpoint:
        """Return a task's step that waits for a decision.

        Raises:
            UnknownTask: there is none of that name.
            Refused: it was decided already, or asks nothing.
        """
        found = await self.the_step(task_id, step)
        if found.status is Status.INTERRUPTED:
            return found
        if found.view is None:
            raise Refused(Message("No step of {} waits for a decision.", task_id), reason="unknown")
        raise Refused(closed_words(found.view.request, found.view.resolution, self._now()), reason="late")

    async def waiting(self) -> list[Checkpoint]:
        """Return all steps that wait, in the order in which they began to; what is overdue is settled."""
        found = [
            one
            for head in await self._ledger.streams()
            for one in await self.steps(head.stream)
            if one.status is Status.INTERRUPTED
        ]
        return sorted(found, key=lambda one: one.recorded_at)

    async def expire(self) -> list[Checkpoint]:
        """Settle what is overdue in all tasks; return it."""
        gone: list[Checkpoint] = []
        for head in await self._ledger.streams():
            settled = await self._ledger.expire(self._now(), head.stream)
            gone += [c for c in await self._steps(head.stream) if c.view and c.view.request.id in settled]
        return gone

    # -------------------------------------------------------------------------------------------------- of its own

    async def _steps(self, task_id: str) -> list[Checkpoint]:
        return [await self._checkpoint(e) async for e in read_stream(self._ledger, task_id) if e.kind == STEP]

    async def _checkpoint(self, entry: Entry) -> Checkpoint:
        stored = entry.data.get("request")
        if not stored:
            return checkpoint_of(entry, None)
        request = Request.from_dict(stored)
        if (view := await self._view(entry.stream, request.id)) is None:
            await self._ledger.open_requests([request])
            view = await self._view(entry.stream, request.id)
        return checkpoint_of(entry, view)

    async def _view(self, task_id: str, request_id: str) -> RequestView | None:
        """Return a request of a task; by its id alone it would be looked for in every task."""
        known = await self._ledger.requests(self._now(), session=task_id, pending=False)
        return next((view for view in known if view.request.id == request_id), None)

    def _request(self, task_id: str, step: int, action: str, agent: str, message: str, now: str) -> dict[str, object]:
        judgement = self._policy.judge_step(agent, action)
        subject: Subject = {
            "task": task_id,
            "step": step,
            "action": action,
            "agent": agent,
            "message": message,
            "policy": self._policy.version,
        }
        sealed, terms = digest(dict(subject)), judgement.terms
        if judgement.ruling is Ruling.DENY:
            raise Refused(
                Message("Policy rule {} denies {} of {}.", judgement.rule, clip(action), agent), reason="denied"
            )
        deadline = after_seconds(now, terms.deadline) if terms.deadline else ""
        return Request(
            request_id(task_id, 0, "", 0, (step,), sealed, secrets.token_hex(16)),
            task_id,
            0,
            Kind.EXTERNAL,
            "",
            agent,
            subject,
            sealed,
            requester=agent,
            terms=terms,
            options=OPTIONS[Kind.EXTERNAL],
            about={"title": message},
            opened_at=now,
            deadline=deadline,
            risk=Risk.HIGH.value,
        ).to_dict()


def _check_next(known: Sequence[Checkpoint], task_id: str, step: int) -> None:
    ended = next((one for one in known if one.status is Status.REJECTED), None)
    if ended is not None:
        how = Message("expired") if ended.expired else Message("was rejected")
        raise Refused(Message("{} ended: its step {} {}.", task_id, ended.step, how), reason="rejected")
    if not known or step > known[-1].step:
        return
    same = next((one for one in known if one.step == step), None)
    if same is None or step < known[-1].step:
        raise BadInput(Message("{} is at step {}; step {} would go back.", task_id, known[-1].step, step))
    if same.status is Status.INTERRUPTED:
        raise BadInput(Message("Step {} of {} waits for a decision already.", step, task_id))
    raise BadInput(Message("Step {} of {} is recorded already; take a higher number.", step, task_id))


def _check(task_id: str, step: int, action: str, agent: str, message: str | None) -> None:
    _check_task(task_id)
    if not 0 <= step <= _HIGHEST_STEP:
        raise BadInput(Message("A step is a whole number from 0 to {}, not {}.", _HIGHEST_STEP, step))
    texts = {"action": action, "agent": agent} | ({} if message is None else {"message": message})
    for name, text in texts.items():
        if not text.strip():
            raise BadInput(Message("The {} must not be empty.", name))
        if len(text) > _LONGEST[name]:
            raise BadInput(Message("The {} has {} characters; the limit is {}.", name, len(text), _LONGEST[name]))
        if "\0" in text:
            raise BadInput(Message("The {} must not hold a null character.", name))


def _check_task(task_id: str) -> None:
    if not _TASK.fullmatch(task_id):
        raise BadInput(
            Message(
                '"{}" can\'t be a task id: up to 128 letters, digits, spaces and . - _ : @ +, with no dot first.',
                one_line(clip(task_id), 80),
            )
        )
