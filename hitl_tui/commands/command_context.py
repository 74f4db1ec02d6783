"""What commands act with: a session, and who acts on it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hitl_tui.commands.question_lookup import (
    Unbound,
    Unshown,
    asked_too_late,
    different_risks,
    not_as_shown,
    risk_classes,
)
from hitl_tui.commands.results import CommandResult, failure
from hitl_tui.core.board import Board, Control, Draft, judge
from hitl_tui.core.errors import AskedAnew, BadInput, HitlError, Refused, StorageError, UnknownName
from hitl_tui.core.events import Event, EventKind
from hitl_tui.core.fold import check_event
from hitl_tui.core.identity import Identity
from hitl_tui.core.json_text import names_digest
from hitl_tui.core.json_types import EventData, Json, JsonObject
from hitl_tui.core.messages import Message, word
from hitl_tui.core.names import person, resolve_id, step_name
from hitl_tui.core.plan import AgentFacts, changed_words
from hitl_tui.core.policy import Mode, Risk
from hitl_tui.core.proposal_changes import carry_out
from hitl_tui.core.question_field import question_of, question_path, with_question
from hitl_tui.core.questions import MOST_CHANGED
from hitl_tui.core.requests import (
    EVERYTHING,
    REFUSING,
    Decision,
    Kind,
    Outcome,
    Verdict,
    accepted_changes,
    accepted_numbers,
    check_ending,
    closed_words,
    ended_by,
    lets_run,
    was_since,
)
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.core.supersession import Cause
from hitl_tui.core.todos import MAY_BEGIN, Status, SupervisorTodo, programs_of
from hitl_tui.ledger.approval_log import input_changes, input_values
from hitl_tui.ledger.records import Closing
from hitl_tui.policy.approvers import IN_HEADER
from hitl_tui.supervisor.bound_files import GIVEN
from hitl_tui.supervisor.session_view import SessionView
from hitl_tui.supervisor.snapshot import Question, Snapshot, as_questions

if TYPE_CHECKING:
    from hitl_tui.planning.agent import PlanningAgent
    from hitl_tui.policy.operator_identity import Acting
    from hitl_tui.supervisor.admin import SessionAdmin
    from hitl_tui.task_checkpoints.task_inbox import TaskInbox

_DONE: Mapping[Verdict, tuple[str, Message]] = {
    Verdict.APPROVE: ("resumed", Message("Approved {what}.")),
    Verdict.REJECT: ("rejected", Message("Rejected {what}.")),
    Verdict.SKIP: ("skipped", Message("Skipped {what}.")),
    Verdict.RESPOND: ("resumed", Message("Answered {what}.")),
    Verdict.RETRY: ("resumed", Message("Retrying {what}.")),
    Verdict.STOP: ("stopped", Message("Stopped {what}.")),
    Verdict.USE_AS_DONE: ("resumed", Message("Using {what} as done.")),
    Verdict.DO_AGAIN: ("resumed", Message("Doing {what} again.")),
}


_DECIDING = frozenset({EventKind.EDIT, EventKind.UPDATE, EventKind.SKIP, EventKind.CANCEL, EventKind.STOP})
"""Orders that stand among the decisions, with where they were given."""

_ASKED = {Kind.PLAN: Message("the plan"), Kind.PROPOSAL: Message("the proposal")}


def _asked(question: Question) -> str:
    """Return what a question is about, in a sentence: its step's number, the plan, or the proposal."""
    return _ASKED.get(question.kind) or step_name(question.name)


AHEAD: Mapping[str, frozenset[Risk]] = {
    Verdict.APPROVE: frozenset({Risk.LOW}),
    Verdict.REJECT: frozenset({Risk.LOW, Risk.MEDIUM}),
    Verdict.SKIP: frozenset({Risk.LOW, Risk.MEDIUM}),
}
"""What may be said of a step before its question was shown, when the step is named, and of which risk it has to be."""

_MOST = 10_000

_LETTING_RUN = (Verdict.APPROVE, Verdict.RETRY, Verdict.RESPOND, Verdict.DO_AGAIN)
"""Verdicts after which something is executed."""

_UNDECIDED = (Status.PENDING, Status.WAITING_APPROVAL, Status.FAILED)


def stopped_result(
    error: StorageError, begun: Sequence[str] = (), result: CommandResult | None = None
) -> CommandResult:
    """Return the answer to what is recorded, where the session can't go on.

    Args:
        error: why it can't.
        begun: ids of the TODOs that acted on the world when it stopped.
        result: what would have been answered; None where that isn't known.
    """
    if begun:
        message = Message(
            "Recorded, but the session stopped: {} {} had begun; opening the session again asks whether it happened.",
            error.message,
            ", ".join(map(step_name, begun)),
        )
    else:
        message = Message(
            "Recorded, but the session stopped: {} It takes effect when the session is opened again.", error.message
        )
    more = {} if result is None else {**result.data, "intended": result.status}
    return CommandResult("recorded", message, {**more, "stopped": error.message, "begun": list(begun)})


def _bound_now(facts: AgentFacts, todo: SupervisorTodo, asked: JsonObject) -> JsonObject:
    """Return the arguments of a step with what it would execute now; nothing of a step that has begun is made anew.

    Nor is anything of a call of a tool: what it takes only its code could say, which is to be asked about first.
    """
    called = isinstance(asked.get("calls"), str)
    if facts.programs is not None and (called or todo.attempt or todo.question is not None):
        return {**asked, "programs": dict(facts.programs(asked))}
    return facts.bind(todo.description, {key: asked[key] for key in GIVEN if key in asked})


@dataclass(frozen=True, slots=True)
class CommandContext:
    """Who acts on which session, and how an action is carried through.

    Args:
        session: the session.
        planner: turns plain text into proposals, and knows the agents.
        by: who acts.
        channel: `console`, `repl`, `cli`, `pipe`.
        admin: administers all sessions; None where there is only this one.
        acting: says how they are identified; None for a name that nothing proves.
        terminal: they have the questions before them; elsewhere what is of high risk takes its digest.
        known: ids of the questions that were shown when the command was begun; None where a question itself is
            answered, as it was shown.
        line: the command.
        names: what it names: TODOs, questions, requests.
        digest: the digest it carries; empty for none.
        began: when the command was begun, ISO 8601, UTC: what others decided from then on stands.
        since: when the chain of commands began that this one is part of, ISO 8601, UTC: a digest names no question that
            was first shown later, since it may come from elsewhere. Empty for a command alone.
        tasks: what waits of tasks outside of sessions; None where only this session counts.
        folder: where files are that are named without their folder, and a session is exported to a file with an ending;
            None for the current folder, and names as they are.
        event_id: id of the event that it posts: the same again changes nothing. Empty for one of its own.
        opens_next: of a session that nobody owns, the caller opens it after the command.
    """

    session: SessionView
    planner: PlanningAgent
    by: str
    channel: str
    admin: SessionAdmin | None = None
    acting: Acting | None = None
    terminal: bool = False
    known: frozenset[str] | None = None
    line: str = ""
    names: tuple[str, ...] = ()
    digest: str = ""
    began: str = ""
    since: str = ""
    tasks: TaskInbox | None = None
    event_id: str = ""
    folder: Path | None = None
    opens_next: bool = False

    @property
    def identity(self) -> Identity:
        """Who acts, as they are identified now."""
        return self.acting() if self.acting is not None else Identity(self.by)

    @property
    def snapshot(self) -> Snapshot:
        """The session as it is now."""
        return self.session.snapshot

    def todo(self, name: str) -> SupervisorTodo:
        """Return the TODO that an id, prefix or number names.

        Raises:
            UnknownName: none or several.
        """
        todo = self.snapshot.todo(resolve_id(name, self.snapshot.raw))
        assert todo is not None
        return todo

    def draft(self) -> Draft:
        """Return the board as the snapshot shows it."""
        seen = self.snapshot
        control = Control(
            mode=Mode(seen.mode), branch=seen.branch, cursor=seen.cursor, highest=seen.highest, lineage=seen.lineage
        )
        return Draft(Board(seen.session_id, seen.query, seen.raw, control, seen.follower), self.session.rules)

    def _naming_others(self, refused: Refused, question: Question, verdict: Verdict) -> Refused:
        """Return a refusal that names who could decide instead, and how they say that they are the ones."""
        others = [name for name in question.able if person(name) != person(self.identity.person)]
        if refused.reason != "not_allowed" or refused.help or not others:
            return refused
        command = question.commands.get(verdict.value, "")
        if self.channel == "cli":
            how = Message("Who can: {}. With their token: add --approver {}.", ", ".join(others), others[0])
        elif self.channel in ("console", "repl") and command:
            how = Message("Who can: {}. With their token: /as {} {}", ", ".join(others), others[0], command)
        elif self.channel == "http":
            how = Message("Who can: {}. With their token: {}", ", ".join(others), IN_HEADER)
        else:
            how = Message("Who can: {}.", ", ".join(others))
        return Refused(refused.message, reason=refused.reason, help=how)

    async def decide(
        self, question: Question, verdict: Verdict, *, reason: str = "", value: Json = None, action: str = ""
    ) -> CommandResult:
        """See `CommandHandler.decide`; `action` is the one that made the value."""
        if question.todo_id and question.view.request.opened_at >= self.began:
            await self.refuse_overtaken(question.todo_id)
        self.check([question], verdict)
        if self.terminal and self.known is None:  # who answers a question itself has it on the screen
            self.session.writer.showing.note([question.id], self.by, self.channel)
        await self.session.writer.showing.settled()
        if verdict in _LETTING_RUN:
            await self._refuse_changed(question)
        if question.obstacle and verdict not in REFUSING:
            raise Refused(question.obstacle, reason="not_allowed")
        who = self.identity
        if question.kind is Kind.PROPOSAL and verdict is Verdict.APPROVE:
            await self._check_proposed(question, who, value)
        decision = Decision(
            question.id,
            verdict,
            who.name,
            question.digest,
            self.session.writer.now(),
            self.channel,
            who.level,
            reason,
            value,
            action,
            who.person,
            who.proof,
            who.account,
            who.claimed,
        )
        planned = {todo.id for todo in self.snapshot.todos}
        try:
            view = await self.session.writer.decide(decision)
        except Refused as error:
            raise self._naming_others(error, question, verdict) from error
        data: dict[str, object] = {"todo_id": question.todo_id, "request_id": question.id, "verdict": verdict.value}
        if action:
            data["action"] = action
        if view.resolution.outcome is Outcome.PENDING:
            missing = view.resolution.needed
            data["needed"] = missing
            message = Message("Recorded; {} more needed to {}.", missing, word(decision.said))
            return CommandResult("recorded", message, data)
        refused = await self.refusal(await self.session.writer.last_seq(), f"decided:{question.id}")
        if refused:
            return refused
        status, done = _DONE[verdict]
        said = done.filled(what=_asked(question))
        if question.kind is Kind.PROPOSAL and verdict is Verdict.APPROVE:
            said = Message("Plan changed: {}.", changed_words(question.subject["proposal"]["changes"]))
        if question.kind is Kind.PROPOSAL and isinstance(value, dict):
            changes = question.view.request.subject["proposal"]["changes"]
            data |= value
        if question.kind is Kind.PROPOSAL and lets_run(value):
            added = [todo for todo in self.snapshot.todos if todo.id not in planned]
            asking = [step_name(t.id) for t in added if t.status is Status.PENDING and t.approval is None]
            if asking:
                said = Message("{} You will still be asked about {}.", said, ", ".join(asking))
            elif added:
                said = Message("{} What it adds runs without another question.", said)
        elif question.kind is Kind.PROPOSAL and isinstance(value, dict):
            numbers = ", ".join(map(str, accepted_numbers(value)))
            said = Message("Accepted changes {} of {}; the others are left out.", numbers, len(changes))
        elif verdict is Verdict.REJECT and reason and question.kind is not Kind.PLAN:
            said = Message("{} Your reason is recorded; to change the plan, describe the change.", said)
        return self.change_result(status, said, data)

    def check(self, questions: Sequence[Question], verdict: Verdict) -> None:
        """Check that a command may answer these questions together, before any of them is answered.

        Raises:
            Unshown: one of them was not shown before the command began; nowhere but at a terminal.
            Refused: the digest that it carries isn't theirs.
            BadInput: they are of different risk, or it takes a digest.
        """
        if self.digest and not (len(questions) == 1 and names_digest(self.digest, questions[0].digest)):
            raise not_as_shown()
        self._check_shown([q for q in questions if not self._saw(q, verdict)])
        found = risk_classes(questions)
        if len(found) > 1:
            raise different_risks(questions)
        if verdict in REFUSING or self.terminal or found != [Risk.HIGH]:
            return
        if not all(self._names(question) for question in questions):
            raise self._takes_digest(questions, verdict)

    def _saw(self, question: Question, verdict: Verdict) -> bool:
        if self.known is None or question.id in self.known:
            return True
        if self.terminal and any(question.id == asked.id for asked in self.snapshot.questions):
            return False  # it was asked while the line was typed: whoever typed it meant what stood there before
        ahead = question.kind is Kind.TODO and question.risk in AHEAD.get(verdict, ())
        return ahead and bool(self.names)

    def check_seen(self, questions: Sequence[Question]) -> None:
        """Check that a line typed at a terminal ends no question that came while it was typed.

        Raises:
            BadInput: it would.
        """
        if self.terminal and self.known is not None:
            self._check_shown([question for question in questions if question.id not in self.known])

    def _check_shown(self, early: Sequence[Question]) -> None:
        if early:
            raise asked_too_late(early) if self.terminal else Unshown(early)

    def _names(self, question: Question) -> bool:
        """Return whether the command says by itself exactly which question it means: its id, or its digest."""
        if question.id in self.names:
            return True
        return names_digest(self.digest, question.digest) and not self._came_since(question)

    def _came_since(self, question: Question) -> bool:
        """Return whether a question was first shown after the chain of commands began: its digest came before it."""
        shown = question.view.request.first_shown
        return bool(self.since) and not (shown and shown < self.since)

    def _takes_digest(self, questions: Sequence[Question], verdict: Verdict) -> Unbound:
        lines = {step_name(q.name): self._by_id(q, verdict, alone=len(questions) == 1) for q in questions}
        if self.digest:
            message = Message(
                "{} was first shown after these commands began; from here, give its question id.", next(iter(lines))
            )
        elif len(lines) == 1:
            message = Message(
                "{} is high-risk; from here, give the id or digest of the question you were shown.", next(iter(lines))
            )
        else:
            message = Message("{} are high-risk; from here, name each by the question id you were shown.", tuple(lines))
        return Unbound(message, lines.values())

    def _by_id(self, question: Question, verdict: Verdict, *, alone: bool) -> str:
        """Return the command with the request's id in place of its name: a digest may be that of an answered one."""
        if alone and len(self.names) == 1:
            named = re.compile(rf"(?<=\s){re.escape(self.names[0])}(?=\s|$)")
            given = rf"\s+--digest[\s=]+{re.escape(self.digest)}(?=\s|$)" if self.digest else r"(?!)"
            plain = re.sub(given, "", self.line)
            line, found = named.subn(question.id, plain.strip(), count=1)
            if found:
                return line
        return question.bound_commands.get(verdict.value, f"/answer {question.id} VALUE")

    async def _refuse_changed(self, question: Question) -> None:
        """See that a command's or graph's programs are what they were when it was asked about; else it is asked anew.

        Raises:
            AskedAnew: one isn't.
        """
        todo = self.snapshot.todo(question.todo_id)
        facts = self.planner.agents.get(todo.agent_name) if todo is not None else None
        if todo is None or facts is None or facts.changed is None:
            return
        if self.snapshot.carrier:  # what runs is a worker's copy, which is looked at before it starts
            return
        subject = question.view.request.subject
        if question.kind in (Kind.TODO, Kind.FAILURE):
            if todo.status not in _UNDECIDED:
                return  # who decides too late is told so by the ledger
            asked = subject.get("arguments") or {}
            approved = programs_of(asked)
        elif programs := subject.get("programs"):
            asked, approved = todo.arguments, programs
        else:
            return  # it was asked before programs were part of such questions; the run looks at them
        bound = await asyncio.to_thread(_bound_now, facts, todo, asked)
        if changed := await asyncio.to_thread(facts.changed, approved, programs_of(bound)):
            await self._ask_anew(todo, bound, changed)
            names = one_line(safe_text(", ".join(changed), multiline=False), 300)
            raise AskedAnew(
                Message("{} changed since you were asked; you are asked again about what it is now.", names)
            )

    async def _ask_anew(self, todo: SupervisorTodo, bound: JsonObject, changed: Sequence[str]) -> None:
        risk = self.planner.agents[todo.agent_name].risk_of(bound)
        data: EventData = {
            "todo_id": todo.id,
            "arguments": bound,
            "risk": risk.value,
            "description": todo.description,
            "changed": list(changed[:MOST_CHANGED]),
        }
        await self.change(EventKind.BOUND, data, "edited", "", {})

    async def edit(self, todo: SupervisorTodo, text: str, arguments: JsonObject) -> CommandResult:
        """See `CommandHandler.edit`. Steps that go on from it with the same question get the new one, too."""
        data = await self._input(todo, text, arguments)
        bound = data["arguments"]
        if edits := input_changes(input_values(todo.arguments, todo.description), input_values(bound, text)):
            data["edits"] = [[*edit] for edit in edits]
        elif todo.approval is not None:
            data["was"] = Verdict.APPROVE
        shown: dict[str, object] = {"todo_id": todo.id, "arguments": bound}
        message = Message("Edited {}; it asks for approval again.", step_name(todo.id))
        if also := [other async for other in self._edited_with(todo, bound)]:
            data["also"] = also
            shown["also_edited"] = [other["todo_id"] for other in also]
            message = Message(
                "Edited {}, and {} with the same question; they ask for approval again.",
                step_name(todo.id),
                ", ".join(step_name(other["todo_id"]) for other in also),
            )
        closing = self._ends_by_edit(todo.id, *(other["todo_id"] for other in also))
        return await self.change(EventKind.EDIT, data, "edited", message, shown, closing=closing)

    def _ends_by_edit(self, *todo_ids: str) -> Closing:
        return self.ends(Cause.EDITED, *todo_ids, amounts_to=None)

    async def _edited_with(self, todo: SupervisorTodo, arguments: JsonObject) -> AsyncIterator[EventData]:
        """Yield the new inputs of the steps that go on from an edited one with its question, where it has another."""
        path = self._question_path(todo)
        asked, now = question_of(todo.arguments, path), question_of(arguments, path)
        if not asked or not now or asked == now:
            return
        for other in self._asking(asked, todo):
            with suppress(HitlError):  # such as that others have to decide about it
                await self._checked(self._ends_by_edit(other.id))
                changed = with_question(other.arguments, self._question_path(other), now)
                yield await self._input(other, other.description, changed)

    def _question_path(self, todo: SupervisorTodo) -> tuple[str, ...]:
        facts = self.planner.agents.get(todo.agent_name)
        return question_path(facts.input_schema()) if facts is not None else ()

    def _asking(self, question: str, todo: SupervisorTodo) -> list[SupervisorTodo]:
        """Return the steps that rest on one, near or far, weren't begun, and ask a question."""
        reached, found = {todo.id}, list[SupervisorTodo]()
        for other in self.snapshot.todos:
            if reached.isdisjoint(other.dependencies):
                continue
            reached.add(other.id)
            idle = other.status in (Status.PENDING, Status.WAITING_APPROVAL, Status.BLOCKED)
            if idle and question_of(other.arguments, self._question_path(other)) == question:
                found.append(other)
        return found

    async def _input(self, todo: SupervisorTodo, text: str, arguments: JsonObject) -> EventData:
        """Return an input of a step as an event gives it."""
        bound = await asyncio.to_thread(self._bound, todo, text, arguments)
        risk = self.planner.agents[todo.agent_name].risk_of(bound)
        return {"todo_id": todo.id, "arguments": bound, "risk": risk.value, "description": text}

    def _bound(self, todo: SupervisorTodo, text: str, arguments: JsonObject) -> dict[str, Json]:
        facts = self.planner.agents.get(todo.agent_name)
        if facts is None:
            raise UnknownName(
                Message("{} belongs to {}, which this workspace doesn't have.", step_name(todo.id), todo.agent_name)
            )
        return facts.bind(text, arguments)

    async def change(
        self,
        kind: EventKind,
        event: EventData,
        status: str,
        message: str,
        data: Mapping[str, object],
        *,
        closing: Closing | None = None,
    ) -> CommandResult:
        """Post an event and answer once it took effect, or say why it did not.

        Args:
            kind: of the event.
            event: its data.
            status, message, data: what is answered when it took effect.
            closing: the questions that it ends, see `ends`.

        Raises:
            Refused: one of them was decided since the command began.
        """
        if kind in _DECIDING:
            event = {**event, "channel": self.channel}
        if closing is not None and kind is not EventKind.MODE and EVERYTHING not in closing.todo_ids:
            await self.refuse_overtaken(*closing.todo_ids)
            check_event(self.draft(), Event(kind, event, by=self.by, at=self.session.writer.now()))
            closing = await self._checked(closing)
        seq, event_id = await self.session.writer.post(kind, event, by=self.by, event_id=self.event_id, closing=closing)
        return await self.refusal(seq, event_id) or self.change_result(status, message, data)

    def ends(
        self,
        cause: Cause,
        *todo_ids: str,
        verdict: str = "",
        detail: str = "",
        amounts_to: Verdict | None = Verdict.REJECT,
    ) -> Closing:
        """Return what a change of TODOs does to their open questions.

        Args:
            cause: what becomes of them.
            todo_ids: the TODOs.
            verdict: what is said of an open question that takes it isn't ended but decided; empty for none.
            detail: what the cause needs besides.
            amounts_to: see `core.requests.check_ending`.
        """
        # To stop everything lets nothing run, and what a mode lets run the rules say: anybody may.
        who = () if cause is Cause.MODE or EVERYTHING in todo_ids else (self.identity,)
        return Closing(cause, self.by, todo_ids, self.began, verdict, detail, who, amounts_to)

    async def _checked(self, closing: Closing) -> Closing:
        """Check that a change may end what its TODOs ask, or will ask, as an answer to that might.

        Raises:
            Unshown: something of high risk was not shown before the command began.
            Unbound: it counts as an approval of something of high risk, which takes its id or digest.
            Refused: it takes others, or more people.
        """
        asked = {todo_id: await self.open_questions(todo_id) for todo_id in closing.todo_ids}
        questions = [question for found in asked.values() for question in found]
        risky = [question for question in questions if question.risk is Risk.HIGH]
        if risky or self.digest:
            if self.terminal and self.known is None:
                self.session.writer.showing.note([question.id for question in risky], self.by, self.channel)
            self.check(risky or questions, closing.amounts_to or Verdict.REJECT)
            await self.session.writer.showing.settled()
        for todo_id, found in asked.items():
            if not found and closing.amounts_to is not None:
                self._check_unasked(todo_id, closing.amounts_to, closing.who)
        return replace(closing, met=frozenset(question.id for question in questions))

    async def _check_proposed(self, proposal: Question, who: Identity, value: Json) -> None:
        """Check that a proposal can be accepted, as far as that is wanted, and what it takes away ended by who accepts.

        Raises:
            BadInput: what is wanted of it can't stand alone.
            Refused: it takes others, or more people, to end what it takes away.
        """
        state = proposal.view.request.subject["proposal"]
        accepted = accepted_changes(state["changes"], value)
        if value is not None:
            draft, event = self.draft(), Event(EventKind.DECIDED, {}, by=self.by, at=self.session.writer.now())
            carry_out(draft, event, accepted)
            if draft.control.refused:
                raise BadInput(draft.control.refused[-1]["message"])
        for todo_id in ended_by(accepted):
            if not await self.open_questions(todo_id):
                self._check_unasked(todo_id, Verdict.SKIP, (who,))

    def _check_unasked(self, todo_id: str, amounts_to: Verdict, who: Sequence[Identity]) -> None:
        """Check that people may settle a TODO that asks nothing now as if it were asked about.

        Raises:
            BadInput: it is of high risk and would count as done; from here that takes a question.
            Refused: it takes others, or more people.
        """
        todo = self.snapshot.todo(todo_id)
        if todo is None or todo.status not in MAY_BEGIN:
            return
        check_ending(todo.id, judge(self.draft(), todo).terms, who, amounts_to)
        away = not self.terminal and self.known is not None
        if away and amounts_to is Verdict.APPROVE and todo.risk is Risk.HIGH:
            raise BadInput(
                Message(
                    "{} is high-risk and has no open question; from here it can't be set to completed.",
                    step_name(todo.id),
                ),
                help=Message("Use the console, or line mode at a terminal."),
            )

    async def open_questions(self, todo_id: str) -> tuple[Question, ...]:
        """Return what the ledger says is asked about a TODO, also what the snapshot doesn't show yet."""
        writer = self.session.writer
        return as_questions(
            await writer.ledger.requests(writer.now(), session=self.session.id, todo_id=todo_id), self.snapshot.raw
        )

    async def refuse_overtaken(self, *todo_ids: str) -> None:
        """Refuse a command when something about one of its TODOs was decided since it was begun.

        Raises:
            Refused: it was; the message says what, by whom and when.
        """
        writer = self.session.writer
        for todo_id in todo_ids if self.began else ():
            views = await writer.ledger.requests(
                writer.now(), session=self.session.id, todo_id=todo_id, pending=False, limit=_MOST
            )
            for view in reversed(views):
                last = view.resolution.decisions[-1:] if view.resolution.decided else ()
                if any(
                    was_since(at, self.began, writer.now()) for at in (*(d.at for d in last), view.request.ended_at)
                ):
                    raise Refused(closed_words(view.request, view.resolution, writer.now()), reason="late")

    async def refusal(self, seq: int, event_id: str) -> CommandResult | None:
        """Wait until an event took effect; return why it did not."""
        try:
            seen = await self.session.applied(seq)
        except StorageError as error:  # what was recorded counts, whatever became of the rest
            return stopped_result(error, self.session.begun)
        for refusal in seen.refused:
            if refusal["event"] == event_id:
                result = failure(refusal["message"], reason=refusal["reason"])
                return replace(result, data={**result.data, "event": event_id})
        return None

    def change_result(self, status: str, message: str, data: Mapping[str, object]) -> CommandResult:
        """Return the answer to what was done, or to what was recorded for the process that owns the session."""
        if self.session.owned or (self.opens_next and self.session.alone):
            return CommandResult(status, message, data)
        seen = self.session.snapshot
        told = Message("Recorded; the process that has the session open will act on it.")
        if seen.carrier:
            told = (
                Message("Recorded. {}", seen.problem) if seen.problem else Message("Recorded; a worker will act on it.")
            )
        return CommandResult("recorded", told, {**data, "intended": status})
