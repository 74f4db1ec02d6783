"""Steps of tasks outside of sessions: recorded, asked about, decided, waited for.

Any agent or script may do this, through a command, a tool server or a chat; all of them come here. What a decision
amounts to says `core.requests`, and nothing here.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Protocol

from hitl_tui.core.errors import BadInput, HitlError, Refused, UnknownName
from hitl_tui.core.events import after_seconds, utc_now
from hitl_tui.core.identity import Identity
from hitl_tui.core.json_text import canonical, digest
from hitl_tui.core.json_types import Json, JsonObject, Subject
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip
from hitl_tui.core.policy import Policy, Risk, Ruling
from hitl_tui.core.requests import (
    OPTIONS,
    REFUSING,
    Decision,
    Kind,
    Outcome,
    Request,
    Verdict,
    check_ending,
    closed_words,
    needs_verified,
    request_id,
)
from hitl_tui.core.safe_text import one_line
from hitl_tui.core.supersession import Cause
from hitl_tui.ledger.protocols import Conflict, Requests, Streams, read_stream
from hitl_tui.ledger.records import Entry, Head, RequestView
from hitl_tui.policy.approver_names import alike
from hitl_tui.policy.approvers import ApproverFile
from hitl_tui.policy.secrecy import Secrecy
from hitl_tui.task_checkpoints.checkpoint import (
    AWAITED,
    EDITED,
    STEP,
    TAKEN,
    Call,
    Checkpoint,
    Ruled,
    Status,
    checkpoint_of,
    denied_words,
)
from hitl_tui.task_checkpoints.signed_votes import SignedVotes

_TASK = re.compile(r"[\w-][\w .:@+-]{0,127}")
_ID = re.compile(r"cp-(.{1,128})-\d+-[0-9a-f]{8}")
_LONGEST = {"action": 20_000, "agent": 200, "message": 20_000}
HIGHEST_STEP = 1_000_000_000
_TRIES = 1_000
_ALL = 1_000_000_000
_LONGEST_CALL = 1_000_000
"""Bytes of a call's arguments as JSON."""
CALL_DEADLINE = 86_400.0
"""Seconds that a call is asked about where no rule says: whoever wanted to make it has gone on by then."""


class TaskLedger(Streams, Requests, Protocol):
    """What task checkpoints need of a store."""

    async def snapshot(self) -> TaskLedger:
        """Return what is written by now, to be read at length without looking for more."""
        ...


@dataclass(frozen=True, slots=True)
class _Looked:
    """What of a task waited when its stream had a length; no longer true once one of its deadlines is over."""

    length: int
    waiting: tuple[Checkpoint, ...]
    until: str


class UnknownTask(UnknownName):
    """There is no such task, or step of it."""


class TaskCheckpoints:
    """The steps of all tasks in one store: the one entrance to it, where whatever anybody says is masked.

    Args:
        ledger: the store.
        policy: who has to decide what.
        now: the time, ISO 8601, UTC.
        secrecy: knows the secrets that are declared there; None where none are.
        approvers: who counts now; None where every vote counts as it was given.
        votes: signs them where several people or a level are demanded; None for the account's own key.
    """

    def __init__(
        self,
        ledger: TaskLedger,
        policy: Policy = Policy(),
        now: Callable[[], str] = utc_now,
        secrecy: Secrecy | None = None,
        approvers: ApproverFile | None = None,
        votes: SignedVotes | None = None,
    ) -> None:
        self._votes = votes or SignedVotes()
        self._secrecy = secrecy or Secrecy()
        self._approvers = approvers
        self._ledger = ledger
        self._policy = policy
        self._now = now
        self._looked: dict[str, _Looked] = {}

    # ---------------------------------------------------------------------------------------------------- an agent

    async def record(
        self, task_id: str, step: int, action: str, agent: str, message: str | None = None, *, again: bool = False
    ) -> Checkpoint:
        """Record a step; with a message it asks, and waits for a decision. One that a rule denies is rejected.

        Args:
            task_id, step: which.
            action: what it does, in the agent's words.
            agent: whose.
            message: what it asks; None for a step that asks nothing.
            again: where exactly this was recorded before, that is returned as it stands.

        Raises:
            BadInput: a value can't be used, the step isn't after those that are there, or, with `again`, the step of
                that number is another one: what was said of that counts for nothing else.
            Refused: the task was rejected, so nothing of it goes on (`rejected`).
        """
        self._check_id(task_id)
        action, agent, message = self._text(action), self._text(agent), self._said(message)
        _check(task_id, step, action, agent, message)
        for _ in range(_TRIES):
            length = (await self._ledger.head(task_id)).n
            known = await self.steps(task_id)
            before = next((one for one in known if one.step == step), None) if again else None
            if before is not None:
                _check_same(before, action, agent, message)
                return before
            _check_next(known, task_id, step)
            data: dict[str, object] = {"task_id": task_id, "step": step, "action": action, "agent": agent}
            now = self._now()
            if message is not None:
                data["message"] = message
                asked = self._request(task_id, step, action, agent, message, now)
                data |= {"ruled": asked.to_dict()} if isinstance(asked, Ruled) else {"request": asked}
            try:
                return await self._checkpoint(await self._ledger.append(task_id, length, STEP, data, now))
            except Conflict:  # somebody wrote meanwhile, so it is looked at again
                continue
        raise HitlError(Message("{} is being written all the time", clip(task_id)))

    # ---------------------------------------------------------------------------------------------- calls of agents

    async def ask(self, task_id: str, call: Call, message: str) -> Checkpoint:
        """Return the question whether a call may be made.

        That is the one that waits for exactly this call, under the rules that hold, or was decided and not taken yet;
        where there is none, a new one is asked. A refusal counts whatever rules hold.

        Raises:
            BadInput: a value can't be used.
            Refused: a rule denies it (`denied`).
        """
        self._check_id(task_id)
        call, message = self._call(call), self._text(message)
        _check_call(task_id, call)
        for _ in range(_TRIES):
            length = (await self._ledger.head(task_id)).n
            steps, now = await self.steps(task_id), self._now()
            last = _untaken(steps, call)
            if last is not None and last.view is not None:
                same = last.view.request.subject.get("policy") == self._policy.version
                if same or last.status is Status.REJECTED:
                    return last
                if last.status is Status.INTERRUPTED:
                    await self._supersede(task_id, last.view.request.id, Cause.ADVANCED)
                    continue
            step = _next_step(steps)
            data = _step_data(task_id, step, call) | {"message": message}
            data["request"] = self._asking(task_id, step, call, message, now)
            try:
                return await self._checkpoint(await self._ledger.append(task_id, length, STEP, data, now))
            except Conflict:
                continue
        raise HitlError(Message("{} is being written all the time", clip(task_id)))

    async def untaken(self, task_id: str, call: Call) -> Checkpoint | None:
        """Return the question about exactly this call whose answer nobody took yet; None where there is none."""
        return _untaken(await self.steps(task_id), self._call(call))

    async def note_ruled(self, task_id: str, call: Call, ruled: Ruled) -> Checkpoint:
        """Record a call that a rule decided.

        Raises:
            BadInput: a value can't be used.
        """
        self._check_id(task_id)
        call = self._call(call)
        _check_call(task_id, call)
        for _ in range(_TRIES):
            length = (await self._ledger.head(task_id)).n
            data = _step_data(task_id, _next_step(await self._steps(task_id)), call) | {"ruled": ruled.to_dict()}
            try:
                return await self._checkpoint(await self._ledger.append(task_id, length, STEP, data, self._now()))
            except Conflict:
                continue
        raise HitlError(Message("{} is being written all the time", clip(task_id)))

    async def await_for(self, checkpoint: Checkpoint, seconds: float) -> Checkpoint:
        """Note for how long a program waits for what is decided about its call, and return that as it stands."""
        found, now = await self.the_step(checkpoint.task_id, checkpoint.step), self._now()
        assert found.view is not None, "only what was asked is awaited"
        view, until = found.view, after_seconds(now, max(0.0, seconds))
        if until <= str(view.evidence.get(AWAITED, "")):  # another one waits for the same
            return found
        await self._ledger.attach_evidence(view.request.id, {**view.evidence, AWAITED: until}, now)
        return await self.the_step(checkpoint.task_id, checkpoint.step)

    async def take(self, checkpoint: Checkpoint) -> bool:
        """Note that an agent goes on with what was decided about its call; False where it was taken already."""
        task_id, seen = checkpoint.task_id, checkpoint.view
        assert seen is not None, "only what was asked is taken"
        for _ in range(_TRIES):
            length = (await self._ledger.head(task_id)).n
            found = await self.the_step(task_id, checkpoint.step)
            if found.taken or found.view is None or found.view.request.id != seen.request.id:
                return False
            data = {"step": checkpoint.step, "request_id": seen.request.id}
            try:
                await self._ledger.append(task_id, length, TAKEN, data, self._now())
            except Conflict:
                continue
            return True
        raise HitlError(Message("{} is being written all the time", clip(task_id)))

    async def edit(self, checkpoint: Checkpoint, arguments: JsonObject, who: Identity, seen: str) -> Checkpoint:
        """Give a call other arguments: it is asked about anew, and no vote on what stood before counts for it.

        Args:
            checkpoint: a call that waits.
            arguments: what it would run with instead.
            who: who edits it.
            seen: digest of what they were shown.

        Raises:
            BadInput: it is no call, or nothing would change.
            Refused: it was decided, they may not, or a rule denies it with these arguments.
        """
        task_id, step, call = checkpoint.task_id, checkpoint.step, checkpoint.call
        if checkpoint.view is None or call is None:
            raise BadInput(Message("{} has no arguments that could be edited; approve or reject it.", checkpoint.name))
        request, now = checkpoint.view.request, self._now()
        if seen != request.digest:
            raise Refused(
                Message("The question changed since it was shown; read it again, then decide."), reason="stale"
            )
        who, arguments = self._who(who), self._object(arguments)
        _check_other(request.requester, who)
        check_ending(checkpoint.name, request.terms, [who], None, request.requester)
        other = replace(call, arguments=dict(arguments))
        _check_call(task_id, other)
        if other.digest == replace(call, arguments=checkpoint.arguments or {}).digest:
            raise BadInput(Message("Nothing was changed: these are the arguments of {}.", checkpoint.name))
        asked = self._asking(task_id, step, other, checkpoint.message, now)
        # From here on nothing that was said of the old arguments counts; ended in between, the agent asks anew.
        if not await self._supersede(task_id, request.id, Cause.EDITED, who.name):
            late = await self.the_step(task_id, step)
            assert late.view is not None, "a step that asked has a request"
            raise Refused(closed_words(late.view.request, late.view.resolution, now), reason="late")
        data = {"step": step, "by": who.name, "arguments": dict(arguments), "request": asked}
        await self._ledger.record(task_id, EDITED, data, now)
        edited = await self.the_step(task_id, step)
        assert edited.view is not None, "a step that asked has a request"
        until = checkpoint.view.evidence.get(AWAITED)
        if until is None or AWAITED in edited.view.evidence:
            return edited
        # Whoever waits says so anew; that nobody does stays true.
        await self._ledger.attach_evidence(edited.view.request.id, {AWAITED: until}, now)
        return await self.the_step(task_id, step)

    async def _supersede(self, task_id: str, request_id: str, cause: Cause, by: str = "") -> bool:
        views = await self._ledger.requests(self._now(), session=task_id, limit=_ALL)
        keep = [view.request.id for view in views if view.request.id != request_id]
        return request_id in await self._ledger.supersede(task_id, keep, cause, self._now(), by)

    # ----------------------------------------------------------------------------------------------------- showing

    async def was_shown(self, checkpoint: Checkpoint, by: str, channel: str) -> None:
        """Note that a step that asks was shown to somebody."""
        if checkpoint.view is not None:
            await self._ledger.mark_shown([checkpoint.view.request.id], self._text(by), channel, self._now())

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
        who, reason, value = self._who(who), self._text(reason), self._secrecy.hidden(value)
        _check_other(request.requester, who)
        if verdict not in REFUSING:
            self._check_rules(request)
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
            self._gone(checkpoint.view),
        )
        if needs_verified(request.terms):
            decision = self._votes.signed(checkpoint.task_id, decision)
        if seen is None:
            await self._ledger.mark_shown([request.id], who.name, channel, now)
        view = await self._ledger.decide(decision, now)
        if (decided := replace(checkpoint, view=view)).ends_task:
            await self.steps(checkpoint.task_id)  # what else of it waits ends with it
        return decided

    def _gone(self, view: RequestView) -> tuple[str, ...]:
        """Return those whose votes don't count any more."""
        return self._approvers.current.without(view.decisions, view.request.terms) if self._approvers else ()

    def _check_rules(self, request: Request) -> None:
        """Refuse an approval of what the rules deny by now, or leave to more people than when it was asked."""
        subject, asked = request.subject, request.terms
        if subject.get("policy") == self._policy.version:
            return
        judged = self._policy.judge_step(subject["agent"], subject["action"], subject.get("arguments"))
        if judged.ruling is Ruling.DENY:
            raise Refused(Message("Rule {} denies it by now; reject it.", judged.label), reason="denied")
        if judged.terms.quorum > max(1, asked.quorum) or judged.terms.level > asked.level:
            needed = (max(1, judged.terms.quorum), judged.terms.level)
            raise Refused(
                Message(
                    "Rule {} asks more people by now (number: {}, level: {}); reject it, so that it is asked again.",
                    judged.label,
                    *needed,
                ),
                reason="not_allowed",
            )

    # ----------------------------------------------------------------------------------------------------- masking

    def _check_id(self, task_id: str) -> None:
        if name := self._secrecy.held(task_id):
            raise BadInput(Message("The id of the task holds the secret {}; choose another id.", name))

    def _text(self, text: str) -> str:
        return str(self._secrecy.hidden(text))

    def _said(self, text: str | None) -> str | None:
        return None if text is None else self._text(text)

    def _object(self, value: JsonObject) -> JsonObject:
        found = self._secrecy.hidden(dict(value))
        assert isinstance(found, dict), "an object stays one"
        return found

    def _call(self, call: Call) -> Call:
        return replace(
            call,
            agent=self._text(call.agent),
            tool=self._text(call.tool),
            arguments=self._object(call.arguments),
            folder=self._text(call.folder),
        )

    def _who(self, who: Identity) -> Identity:
        return replace(who, name=self._text(who.name), claimed=self._text(who.claimed))

    # ----------------------------------------------------------------------------------------------------- reading

    async def steps(self, task_id: str) -> list[Checkpoint]:
        """Return a task's steps in order; what is overdue is settled by being read."""
        found = await self._steps(task_id)
        if any(one.expired for one in found) and await self._ledger.expire(self._now(), task_id):
            found = await self._steps(task_id)
        return await self._steps(task_id) if await self._end_rest(found) else found

    async def _end_rest(self, known: Sequence[Checkpoint]) -> bool:
        """End what waits in a task that ended with another step; return whether anything did."""
        ended, rest = _left_over(known)
        if ended is None or not rest:
            return False
        keep = [one.view.request.id for one in known if one.view is not None and one not in rest]
        return bool(await self._ledger.supersede(ended.task_id, keep, Cause.STOPPED, self._now(), ended.ended_by))

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
            raise BadInput(Message("Several steps of {} wait; name one by its step: {}.", task_id, steps))
        return (waiting or known)[-1]

    async def of_id(self, checkpoint_id: str) -> Checkpoint:
        """Return the step that has this id.

        Raises:
            UnknownTask: there is none.
        """
        named = _ID.fullmatch(checkpoint_id)
        known = await self.steps(named[1]) if named and _TASK.fullmatch(named[1]) else []
        found = next((one for one in known if one.id == checkpoint_id), None)
        if found is None:
            raise UnknownTask(Message('No checkpoint "{}" here.', one_line(clip(checkpoint_id), 80)))
        return found

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

    async def request(self, request_id: str) -> RequestView | None:
        """Return what was asked under an id, decided or not; None where nothing was."""
        return await self._ledger.request(request_id, self._now())

    async def lengths(self) -> dict[str, int]:
        """Return how many entries each task has; there are more after anything was done about it."""
        return {head.stream: head.n for head in await self._ledger.streams()}

    async def waiting(self) -> list[Checkpoint]:
        """Return all steps that wait, in the order in which they began to; what is overdue is settled."""
        found: list[Checkpoint] = []
        still = await self._ledger.snapshot()
        for head in await still.streams():
            looked = self._looked.get(head.stream)
            if looked is None or looked.length != head.n or (looked.until and looked.until <= self._now()):
                looked = await self._look(head, still)
            found += looked.waiting
        return sorted(found, key=lambda one: one.recorded_at)

    async def decided_since(self, since: str) -> list[RequestView]:
        """Return what was decided from a time on, ISO 8601, UTC."""
        return await self._ledger.decided_since(since, self._now())

    async def recorded(self, task_id: str | None = None) -> list[Checkpoint]:
        """Return all steps of a task, or of all; nothing is settled by it."""
        names = [head.stream for head in await self._ledger.streams()] if task_id is None else [task_id]
        return [one for name in names for one in await self._steps(name)]

    async def expire(self) -> list[Checkpoint]:
        """Settle what is overdue in all tasks; return it."""
        gone: list[Checkpoint] = []
        for head in await self._ledger.streams():
            settled = await self._ledger.expire(self._now(), head.stream)
            known = await self.steps(head.stream) if settled else []
            gone += [c for c in known if c.view and c.view.request.id in settled]
        return gone

    # -------------------------------------------------------------------------------------------------- of its own

    async def _look(self, head: Head, still: TaskLedger) -> _Looked:
        """Return what of a task waits, as a snapshot says, unless something is overdue or ended with the task."""
        steps = await self._steps(head.stream, still)
        ended, rest = _left_over(steps)
        if any(one.expired for one in steps) or (ended is not None and rest):
            steps = await self.steps(head.stream)
        waiting = tuple(one for one in steps if one.status is Status.INTERRUPTED)
        deadlines = [one.view.request.expires_at for one in waiting if one.view and one.view.request.expires_at]
        looked = self._looked[head.stream] = _Looked(head.n, waiting, min(deadlines, default=""))
        return looked

    async def _steps(self, task_id: str, ledger: TaskLedger | None = None) -> list[Checkpoint]:
        reading = ledger or self._ledger
        steps, edited, taken = list[Entry](), dict[int, Entry](), set[str]()
        async for entry in read_stream(reading, task_id):
            if entry.kind == STEP:
                steps.append(entry)
            elif entry.kind == EDITED:
                edited[int(entry.data["step"])] = entry
            elif entry.kind == TAKEN:
                taken.add(str(entry.data["request_id"]))
        views = await self._views(task_id, reading)
        return [await self._checkpoint(entry, views, edited.get(int(entry.data["step"])), taken) for entry in steps]

    async def _checkpoint(
        self,
        entry: Entry,
        views: Mapping[str, RequestView] = MappingProxyType({}),
        edited: Entry | None = None,
        taken: Set[str] = frozenset(),
    ) -> Checkpoint:
        stored = (edited or entry).data.get("request")
        if not stored:
            return checkpoint_of(entry, None)
        request = Request.from_dict(stored)
        if (view := views.get(request.id)) is None:
            await self._ledger.open_requests([request])
            view = (await self._views(entry.stream, self._ledger)).get(request.id)
        found = checkpoint_of(entry, view, edited=edited.data if edited else None, taken=request.id in taken)
        if found.view is None or found.view.resolution.verdict is not Verdict.APPROVE:
            return found
        given = None if found.call is None else found.arguments
        return self._votes.held(found, self._policy.judge_step(found.agent, found.action, given).terms)

    async def _views(self, task_id: str, reading: TaskLedger) -> Mapping[str, RequestView]:
        """Return the requests of a task by id; by one's id alone it would be looked for in every task."""
        known = await reading.requests(self._now(), session=task_id, pending=False, limit=_ALL)
        return {view.request.id: view for view in known}

    def _asking(self, task_id: str, step: int, call: Call, message: str, now: str) -> dict[str, object]:
        """Return the request of a call.

        Raises:
            Refused: a rule denies it (`denied`).
        """
        asked = self._request(task_id, step, call.tool, call.agent, message, now, call)
        if isinstance(asked, Ruled):
            raise Refused(denied_words(call.agent, call.tool, asked), reason="denied")
        return asked

    def _request(
        self, task_id: str, step: int, action: str, agent: str, message: str, now: str, call: Call | None = None
    ) -> dict[str, object] | Ruled:
        """Return the request that asks about a step, or which rule denies it."""
        judgement = self._policy.judge_step(agent, action, None if call is None else call.arguments)
        if judgement.ruling is Ruling.DENY:
            return Ruled(judgement.ruling.value, judgement.rule, judgement.name)
        subject: Subject = {
            "task": task_id,
            "step": step,
            "action": action,
            "agent": agent,
            "message": message,
            "policy": self._policy.version,
        }
        if call is not None:
            subject |= {"arguments": dict(call.arguments), "folder": call.folder}
        sealed, terms = digest(dict(subject)), judgement.terms
        if call is not None and not terms.deadline:
            terms = replace(terms, deadline=CALL_DEADLINE)
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
            about={"title": message, "rule": judgement.rule},
            opened_at=now,
            deadline=deadline,
            risk=Risk.HIGH.value,
        ).to_dict()


def _check_next(known: Sequence[Checkpoint], task_id: str, step: int) -> None:
    ended = next((one for one in known if one.ends_task), None)
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


def _check_same(found: Checkpoint, action: str, agent: str, message: str | None) -> None:
    """Refuse a step that was recorded with anything else.

    Raises:
        BadInput: it was.
    """
    asks = found.view is not None or found.denied is not None
    same = (found.action, found.agent, found.message) == (action, agent, message or "")
    if found.call is not None or not same or asks != (message is not None):
        said = Message(
            "Step {} of {} was recorded with another action, agent or message, as {}; a new one needs a higher number.",
            found.step,
            found.task_id,
            found.id,
        )
        raise BadInput(said)


def _left_over(known: Sequence[Checkpoint]) -> tuple[Checkpoint | None, list[Checkpoint]]:
    """Return the step that a task ended with, None for one that goes on, and the steps that wait."""
    ended = next((one for one in known if one.ends_task), None)
    return ended, [one for one in known if one.status is Status.INTERRUPTED and one.call is None]


def _untaken(steps: Sequence[Checkpoint], call: Call) -> Checkpoint | None:
    """Return the last question about a call, where it still is its question, or its answer, and wasn't taken."""
    asked = [one for one in steps if one.view and one.call and one.call.digest == call.digest and not one.taken]
    last = asked[-1] if asked else None
    over = last is None or last.view is None or last.view.resolution.outcome in (Outcome.SUPERSEDED, Outcome.EXPIRED)
    return None if over else last


def _check_other(requester: str, who: Identity) -> None:
    """Refuse somebody whose name can't be told apart from that of the agent that asks.

    Raises:
        Refused: it can't.
    """
    if any(alike(name, requester) for name in (who.person, who.claimed, who.account) if name):
        raise Refused(Message("{} asked for this and can't decide it.", who.name), reason="not_allowed")


def _next_step(known: Sequence[Checkpoint]) -> int:
    return known[-1].step + 1 if known else 1


def _step_data(task_id: str, step: int, call: Call) -> dict[str, object]:
    return {"task_id": task_id, "step": step, "action": call.tool, "agent": call.agent, "call": call.to_dict()}


def _check_call(task_id: str, call: Call) -> None:
    _check(task_id, 0, call.tool, call.agent, None)
    if (size := len(canonical(dict(call.arguments)))) > _LONGEST_CALL:
        raise BadInput(Message("The arguments have {} bytes; the limit is {}.", size, _LONGEST_CALL))


def _check(task_id: str, step: int, action: str, agent: str, message: str | None) -> None:
    _check_task(task_id)
    if not 0 <= step <= HIGHEST_STEP:
        raise BadInput(Message("A step is a whole number from 0 to {}, not {}.", HIGHEST_STEP, step))
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
