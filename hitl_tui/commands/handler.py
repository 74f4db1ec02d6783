"""`CommandHandler`: carries chat commands out on a session and answers with typed results (D10)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from hitl_tui.commands.inputs import edited_input, manual_todo
from hitl_tui.commands.parser import Parsed, is_command, parse
from hitl_tui.commands.results import CommandResult, failure
from hitl_tui.commands.spec import CommandSpec, help_table, registry
from hitl_tui.core.board import Board, Control, Draft, judge
from hitl_tui.core.errors import BadInput, HitlError, Refused, UnknownName
from hitl_tui.core.events import EventKind
from hitl_tui.core.plan import AgentFacts
from hitl_tui.core.policy import Mode, Ruling
from hitl_tui.core.questions import question_of
from hitl_tui.core.reactions.operators import DEFAULT_SKIP_REASON
from hitl_tui.core.requests import Decision, Kind, Outcome, Verdict
from hitl_tui.core.todos import (
    OPERATOR,
    Status,
    SupervisorTodo,
    check_transition,
    clip,
    parse_priority,
    parse_status,
    resolve_id,
)
from hitl_tui.planning.agent import PlanningAgent
from hitl_tui.supervisor.face import SessionFace
from hitl_tui.supervisor.snapshot import Question, Snapshot

_PAGE = 20


class CommandHandler:
    """Carries commands out.

    Args:
        face: the session.
        planner: turns plain text into proposals, and knows the agents.
        by: who gives the commands.
        channel: `console`, `repl`, `cli`, `pipe`.
        level: their approver level.
    """

    def __init__(self, face: SessionFace, planner: PlanningAgent, *, by: str, channel: str, level: int = 0) -> None:
        self._face = face
        self._planner = planner
        self._by = by
        self._channel = channel
        self._level = level
        self._commands: Mapping[str, Callable[[Mapping[str, Any]], Awaitable[CommandResult]]] = {
            "todos": self._todos,
            "todo approve": self._approve,
            "todo reject": self._reject,
            "todo skip": self._skip,
            "todo add": self._add,
            "todo edit": self._edit,
            "todo update": self._update,
            "todo remove": self._remove,
            "todo priority": self._priority,
            "todo move": self._move,
            "todo retry": self._retry,
            "todo cancel": self._cancel,
            "todo done": self._done,
            "todo again": self._again,
            "todo show": self._show,
            "answer": self._answer,
            "plan approve": self._plan_approve,
            "plan reject": self._plan_reject,
            "proposal accept": self._proposal_accept,
            "proposal reject": self._proposal_reject,
            "checkpoint list": self._checkpoint_list,
            "checkpoint restore": self._checkpoint_restore,
            "mode": self._mode,
            "stop": self._stop,
            "help": self._help,
        }

    async def handle(self, line: str) -> CommandResult:
        """Carry a line out: a command, or plain text as a proposal to change the plan.

        Never raises for what a person wrote: an error is a result with `error`, and changed nothing.
        """
        try:
            if not is_command(line):
                return await self._propose(line)
            return await self.run(parse(line))
        except Refused as error:
            return failure(error.message, error.help, reason=error.reason)
        except HitlError as error:
            return failure(error.message, error.help, exit_code=error.exit_code)

    async def run(self, parsed: Parsed) -> CommandResult:
        """Carry a parsed command out.

        Raises:
            HitlError: it can't be; nothing changed.
        """
        if parsed.spec.local:
            raise BadInput(f"/{parsed.spec.name} works in the console and the line mode only.")
        return await self._commands[parsed.spec.name](parsed.values)

    async def decide(
        self, question: Question, verdict: Verdict, *, reason: str = "", value: Any = None
    ) -> CommandResult:
        """Answer a question as it was shown: the decision carries the digest of what was on the screen.

        Raises:
            Refused: it can't count: late, repeated, stale, superseded, not allowed.
        """
        now = self._face.desk.now()
        decision = Decision(
            question.id, verdict, self._by, question.digest, now, self._channel, self._level, reason, value
        )
        view = await self._face.desk.decide(decision)
        data: dict[str, Any] = {"todo_id": question.todo_id, "request_id": question.id, "verdict": verdict.value}
        if view.resolution.outcome is Outcome.PENDING:
            missing = view.resolution.needed
            data["needed"] = missing
            return CommandResult("recorded", f"Recorded; {missing} more must say {verdict}.", data)
        refused = await self._refusal(await self._face.desk.last_seq(), f"decided:{question.id}")
        if refused:
            return refused
        status, message = _SAID[verdict]
        return self._done_with(status, message.format(what=question.name), data)

    # Looking ---------------------------------------------------------------------------------------------------

    async def _todos(self, values: Mapping[str, Any]) -> CommandResult:
        seen = self._snapshot
        summary = seen.summary
        current = seen.current_todo_id
        message = f"{summary['total']} TODOs, {summary['completed']} completed, {len(seen.questions)} waiting for you."
        data = {
            "todos": [t.to_dict() for t in seen.todos],
            "summary": summary,
            "current_todo_id": current or None,
            "checkpoint_id": seen.checkpoint_id,
        }
        return CommandResult("ok", message, data)

    async def _show(self, values: Mapping[str, Any]) -> CommandResult:
        todo = self._todo(values["id"])
        question = self._snapshot.question_of(todo.id)
        data: dict[str, Any] = {"todo_id": todo.id, "todo": todo.to_dict()}
        if question is not None:
            data["question"] = question.to_dict()
        if todo.result and todo.result.get("digest"):
            data["result"] = await self._face.artifact(str(todo.result["digest"]))
        return CommandResult("ok", f"{todo.id} is {todo.status}: {todo.name}", data)

    async def _checkpoint_list(self, values: Mapping[str, Any]) -> CommandResult:
        limit = _number(values.get("limit", str(_PAGE)))
        if "todo" in values:
            steps = await self._face.steps(self._todo(values["todo"]).id, limit)
            message = f"{len(steps)} steps of its team, newest first."
            return CommandResult("ok", message, {"checkpoints": [c.to_dict() for c in steps]})
        before = await self._face.find_checkpoint(values["before"]) if "before" in values else ""
        found = await self._face.checkpoints(limit, before)
        message = f"{len(found)} checkpoints, newest first." if found else "There are no checkpoints before that."
        return CommandResult("ok", message, {"checkpoints": [c.to_dict() for c in found]})

    async def _help(self, values: Mapping[str, Any]) -> CommandResult:
        words = " ".join(values.get("command", ())).removeprefix("/").lower()
        table = help_table()
        if words:
            specs = {s.name: s for n, s in registry().items() if n == words or n.startswith(f"{words} ")}
            if not specs:
                raise UnknownName(f'There is no command "/{clip(words)}"; /help lists all.')
            table = [(s.usage, s.summary) for s in specs.values()]
        commands = [{"usage": usage, "summary": summary} for usage, summary in table]
        return CommandResult("ok", "\n".join(f"{usage}\n    {text}" for usage, text in table), {"commands": commands})

    # Deciding --------------------------------------------------------------------------------------------------

    async def _approve(self, values: Mapping[str, Any]) -> CommandResult:
        names = values.get("id") or []
        if not names:
            question = self._current_question()
            if question.kind is not Kind.TODO:
                return await self.decide(question, Verdict.APPROVE)
            return await self._approve_all([question], values.get("digest"))
        todos = [self._todo(name) for name in dict.fromkeys(names)]
        questions = [await self._question(todo, Kind.TODO, "approve") for todo in todos]
        return await self._approve_all(questions, values.get("digest"))

    async def _approve_all(self, questions: list[Question], digest: str | None) -> CommandResult:
        if digest is not None and not (len(questions) == 1 and _names(digest, questions[0].digest)):
            raise Refused("What was shown isn't what is asked any more; look again and decide anew.", reason="stale")
        if len(questions) == 1:
            return await self.decide(questions[0], Verdict.APPROVE)
        results = [await self._approve_one(question) for question in questions]
        failed = next((r for r in results if r.failed), None)
        data = {
            "todo_id": questions[0].todo_id,
            "todo_ids": [q.todo_id for q in questions],
            "results": [r.to_dict() for r in results],
        }
        if failed is None:
            return CommandResult(results[0].status, f"{len(questions)} TODOs approved.", data)
        approved = [q.todo_id for q, r in zip(questions, results, strict=True) if not r.failed]
        told = f" Approved: {', '.join(approved)}." if approved else ""
        return CommandResult(failed.status, failed.message + told, {**failed.data, **data}, failed.exit_code)

    async def _approve_one(self, question: Question) -> CommandResult:
        """Approve one of several: a refusal of one doesn't hide what became of the others."""
        try:
            return await self.decide(question, Verdict.APPROVE)
        except Refused as error:
            return failure(error.message, error.help, reason=error.reason)

    def _current_question(self) -> Question:
        asked = self._snapshot.questions
        for question in asked:
            if question.kind is Kind.TODO:
                return question
        for question in asked:
            if Verdict.APPROVE in question.view.request.options:
                return question
        if asked:
            ways = ", ".join(asked[0].commands.values())
            raise BadInput(f"{asked[0].name} doesn't wait for an approval; answer it with one of {ways}.")
        raise BadInput("Nothing waits for an approval now.", help="/todos shows where everything stands.")

    async def _question(self, todo: SupervisorTodo, kind: Kind, what: str) -> Question:
        """Return the open question of this kind about a TODO; an approval may be given before it is asked."""
        question = self._snapshot.question_of(todo.id)
        if question is not None and question.kind is kind:
            return question
        if question is not None:
            ways = ", ".join(question.commands.values())
            raise BadInput(f"{todo.id} waits for something else than this; answer it with one of {ways}.")
        if kind is not Kind.TODO or todo.status is not Status.PENDING:
            raise BadInput(f"{todo.id} is {todo.status} and doesn't wait for a decision to {what}.")
        if todo.approval is not None:
            raise BadInput(f"{todo.id} was approved by {todo.approval.get('by', '')} already.")
        request = question_of(self._draft(), todo)
        if request is None:
            if judge(self._draft(), todo).ruling is Ruling.DENY:
                raise BadInput(f"{todo.id} is denied by the policy and can't be approved.")
            waits = ", ".join(todo.dependencies)
            raise BadInput(f"{todo.id} is of {todo.risk} risk and asks once its input is known, after {waits}.")
        await self._face.desk.open(request)
        view = await self._face.desk.ledger.request(request.id, self._face.desk.now())
        if view is None:
            raise Refused(f"The question about {todo.id} is gone.", reason="unknown")
        return Question(view)

    async def _reject(self, values: Mapping[str, Any]) -> CommandResult:
        todo = self._todo(values["id"])
        question = self._snapshot.question_of(todo.id)
        verdict = Verdict.STOP if question is not None and question.kind is Kind.EFFECT else Verdict.REJECT
        if question is None:
            question = await self._question(todo, Kind.TODO, "reject")
        elif verdict not in question.view.request.options:
            ways = ", ".join(question.commands.values())
            raise BadInput(f"{todo.id} can't be rejected now; answer it with one of {ways}.")
        return await self.decide(question, verdict, reason=values.get("reason", ""))

    async def _skip(self, values: Mapping[str, Any]) -> CommandResult:
        todo, reason = self._todo(values["id"]), values.get("reason", DEFAULT_SKIP_REASON)
        question = self._snapshot.question_of(todo.id)
        if question is not None and Verdict.SKIP in question.view.request.options:
            return await self.decide(question, Verdict.SKIP, reason=reason)
        check_transition(todo, Status.SKIPPED, OPERATOR)
        data = {"todo_id": todo.id, "reason": reason}
        return await self._change(EventKind.SKIP, data, "skipped", f"{todo.id} is skipped.", data)

    async def _retry(self, values: Mapping[str, Any]) -> CommandResult:
        todo = self._todo(values["id"])
        question = self._snapshot.question_of(todo.id)
        if question is not None and question.kind is Kind.FAILURE:
            return await self.decide(question, Verdict.RETRY)
        check_transition(todo, Status.PENDING, OPERATOR)
        if todo.status is not Status.FAILED:
            raise BadInput(f"{todo.id} is {todo.status}; only a failed TODO can be tried again.")
        return await self._set_status(todo, Status.PENDING)

    async def _done(self, values: Mapping[str, Any]) -> CommandResult:
        question = await self._question(self._todo(values["id"]), Kind.EFFECT, "use an effect as done")
        return await self.decide(question, Verdict.USE_AS_DONE)

    async def _again(self, values: Mapping[str, Any]) -> CommandResult:
        question = await self._question(self._todo(values["id"]), Kind.EFFECT, "do an effect again")
        return await self.decide(question, Verdict.DO_AGAIN)

    async def _answer(self, values: Mapping[str, Any]) -> CommandResult:
        question = await self._question(self._todo(values["id"]), Kind.INTERRUPT, "answer")
        return await self.decide(question, Verdict.RESPOND, value=_typed(values["value"]))

    async def _plan_approve(self, values: Mapping[str, Any]) -> CommandResult:
        return await self.decide(self._only(Kind.PLAN), Verdict.APPROVE)

    async def _plan_reject(self, values: Mapping[str, Any]) -> CommandResult:
        return await self.decide(self._only(Kind.PLAN), Verdict.REJECT, reason=values.get("feedback", ""))

    async def _proposal_accept(self, values: Mapping[str, Any]) -> CommandResult:
        return await self.decide(self._only(Kind.PROPOSAL, values.get("id")), Verdict.APPROVE)

    async def _proposal_reject(self, values: Mapping[str, Any]) -> CommandResult:
        question = self._only(Kind.PROPOSAL, values.get("id"))
        return await self.decide(question, Verdict.REJECT, reason=values.get("reason", ""))

    def _only(self, kind: Kind, name: str | None = None) -> Question:
        found = {q.name: q for q in self._snapshot.questions if q.kind is kind}
        if name is not None:
            return found[resolve_id(name, found, kind.value)]
        if not found:
            raise BadInput(f"No {kind} waits for a decision now.")
        if len(found) > 1:
            raise BadInput(f"Several are open: {', '.join(found)}; name one.")
        return next(iter(found.values()))

    # Changing --------------------------------------------------------------------------------------------------

    async def _add(self, values: Mapping[str, Any]) -> CommandResult:
        facts = self._agent(values["agent"])
        seen = self._snapshot
        todo = manual_todo(
            facts,
            str(values.get("text", "")),
            query=seen.query,
            taken=seen.taken,
            after=[resolve_id(name, seen.raw) for name in values.get("after", ())],
            priority=parse_priority(values.get("priority", "medium")),
            now=self._face.desk.now(),
        )
        seq, event_id = await self._face.desk.post(EventKind.ADD, {"todo": todo.to_dict()}, by=self._by)
        after = await self._face.applied(seq)
        refused = await self._refusal(seq, event_id)
        if refused:
            return refused
        added = next((t for t in after.todos if t.metadata.get("event") == event_id), todo)
        data = {"todo": added.to_dict(), "todo_id": added.id}
        return self._done_with("added", f"{added.id} added for {facts.name}.", data)

    def _agent(self, name: str) -> AgentFacts:
        agents = {n: a for n, a in self._planner.agents.items() if a.enabled}
        facts = self._planner.agents.get(name)
        if facts is not None and not facts.enabled:
            raise BadInput(f"{name} is disabled in hitl.toml.")
        return agents[resolve_id(name, agents, "agent")]

    async def _edit(self, values: Mapping[str, Any]) -> CommandResult:
        todo = self._todo(values["id"])
        return await self.edit(todo, *edited_input(todo, values["input"]))

    async def edit(self, todo: SupervisorTodo, text: str, arguments: Mapping[str, Any]) -> CommandResult:
        """Give a TODO another exact input; it is asked anew.

        Args:
            todo: the TODO.
            text: the task in words.
            arguments: named parameters for the team.

        Raises:
            BadInput: the team can't use it.
        """
        facts = self._planner.agents.get(todo.agent_name)
        if facts is None:
            raise UnknownName(f"{todo.id} belongs to {todo.agent_name}, which this workspace doesn't have.")
        bound = facts.bind(text, arguments)
        data = {
            "todo_id": todo.id,
            "arguments": bound,
            "risk": facts.risk_of(bound).value,
            "description": text,
        }
        message = f"{todo.id} has another input and is asked anew."
        return await self._change(EventKind.EDIT, data, "edited", message, {"todo_id": todo.id, "arguments": bound})

    async def _update(self, values: Mapping[str, Any]) -> CommandResult:
        todo, status = self._todo(values["id"]), parse_status(values["status"])
        check_transition(todo, status, OPERATOR)
        return await self._set_status(todo, status)

    async def _set_status(self, todo: SupervisorTodo, status: Status) -> CommandResult:
        data = {"todo_id": todo.id, "status": status.value}
        shown = {"todo_id": todo.id, "new_status": status.value}
        return await self._change(EventKind.UPDATE, data, "updated", f"{todo.id} is {status} now.", shown)

    async def _remove(self, values: Mapping[str, Any]) -> CommandResult:
        data = {"todo_id": self._todo(values["id"]).id}
        return await self._change(EventKind.REMOVE, data, "removed", f"{data['todo_id']} is removed.", data)

    async def _priority(self, values: Mapping[str, Any]) -> CommandResult:
        level = parse_priority(values["level"])
        data = {"todo_id": self._todo(values["id"]).id, "priority": level.value}
        return await self._change(EventKind.PRIORITY, data, "updated", f"{data['todo_id']} is {level} now.", data)

    async def _move(self, values: Mapping[str, Any]) -> CommandResult:
        where = values["where"].lower()
        if where not in ("before", "after"):
            raise BadInput(f'"{clip(values["where"])}" must be before or after.', help=_usage("todo move"))
        todo, anchor = self._todo(values["id"]), self._todo(values["anchor"])
        data = {"todo_id": todo.id, "where": where, "anchor": anchor.id}
        return await self._change(EventKind.MOVE, data, "moved", f"{todo.id} is {where} {anchor.id} now.", data)

    async def _cancel(self, values: Mapping[str, Any]) -> CommandResult:
        todo = self._todo(values["id"])
        if todo.status is not Status.IN_PROGRESS:
            raise BadInput(f"{todo.id} is {todo.status}; only a running TODO can be cancelled.")
        data = {"todo_id": todo.id}
        return await self._change(EventKind.CANCEL, data, "cancelled", f"{todo.id} is stopped.", data)

    async def _mode(self, values: Mapping[str, Any]) -> CommandResult:
        if "mode" not in values:
            mode = self._snapshot.mode
            return CommandResult("ok", f"The mode is {mode}.", {"mode": mode})
        try:
            mode = Mode(values["mode"].lower())
        except ValueError:
            raise UnknownName(f'There is no mode "{clip(values["mode"])}"; it is step, plan or risk.') from None
        data = {"mode": mode.value}
        return await self._change(EventKind.MODE, data, "updated", f"The mode is {mode} now.", data)

    async def _stop(self, values: Mapping[str, Any]) -> CommandResult:
        return await self._change(EventKind.STOP, {}, "stopped", "Everything that hadn't ended is stopped.", {})

    async def _checkpoint_restore(self, values: Mapping[str, Any]) -> CommandResult:
        thread, step = await self._face.find_step(values["id"])
        if thread:
            return await self._rewind(thread, step)
        checkpoint_id = await self._face.find_checkpoint(values["id"])
        branch = await self._face.desk.restore(checkpoint_id, self._by)
        await self._face.on_branch(branch)
        data = {"checkpoint_id": checkpoint_id, "branch": branch}
        return self._done_with("restored", f"The session stands at {checkpoint_id} again; nothing was executed.", data)

    async def _rewind(self, thread: str, step: str) -> CommandResult:
        """Let a TODO's team go on from one of its own steps, once it is approved anew (D13)."""
        todo = self._todo(thread.split("/")[1])
        data = {"todo_id": todo.id, "thread": thread, "checkpoint_id": step}
        message = f"{todo.id} will go on from that step of {todo.agent_name}; it is asked first."
        return await self._change(EventKind.REWIND, data, "restored", message, data)

    async def _propose(self, text: str) -> CommandResult:
        seen = self._snapshot
        words = text.strip()
        if not words:
            raise BadInput("Nothing was written.", help="/help lists all commands.")
        proposal = await self._planner.revise(words, seen.query, seen.todos, seen.taken)
        event = {"proposal": proposal.to_dict()}
        data = {"proposal": proposal.to_dict(), "proposal_id": proposal.id}
        message = f"Proposed: {proposal.reason} Accept with /proposal accept {proposal.id}."
        return await self._change(EventKind.PROPOSED, event, "proposed", message, data)

    # Helpers ---------------------------------------------------------------------------------------------------

    @property
    def _snapshot(self) -> Snapshot:
        return self._face.snapshot

    def _todo(self, name: str) -> SupervisorTodo:
        todo = self._snapshot.todo(resolve_id(name, self._snapshot.raw))
        assert todo is not None
        return todo

    def _draft(self) -> Draft:
        seen = self._snapshot
        control = Control(mode=Mode(seen.mode), branch=seen.branch, cursor=seen.cursor, highest=seen.highest)
        return Draft(Board(seen.session_id, seen.query, seen.raw, control), self._face.rules)

    async def _change(
        self, kind: EventKind, event: Mapping[str, Any], status: str, message: str, data: Mapping[str, Any]
    ) -> CommandResult:
        seq, event_id = await self._face.desk.post(kind, event, by=self._by)
        return await self._refusal(seq, event_id) or self._done_with(status, message, data)

    async def _refusal(self, seq: int, event_id: str) -> CommandResult | None:
        """Wait until an event took effect; return why it did not."""
        seen = await self._face.applied(seq)
        for refusal in seen.refused:
            if refusal["event"] == event_id:
                return failure(str(refusal["message"]), reason=str(refusal["reason"]))
        return None

    def _done_with(self, status: str, message: str, data: Mapping[str, Any]) -> CommandResult:
        if self._face.owned:
            return CommandResult(status, message, data)
        told = "Recorded; the process that has the session open acts on it."
        return CommandResult("recorded", told, {**data, "intended": status})


_SAID: Mapping[Verdict, tuple[str, str]] = {
    Verdict.APPROVE: ("resumed", "{what} is approved."),
    Verdict.REJECT: ("rejected", "{what} is rejected."),
    Verdict.SKIP: ("skipped", "{what} is skipped."),
    Verdict.RESPOND: ("resumed", "{what} has its answer."),
    Verdict.RETRY: ("resumed", "{what} is tried again."),
    Verdict.STOP: ("stopped", "{what} is stopped."),
    Verdict.USE_AS_DONE: ("resumed", "{what} goes on as if it had been done."),
    Verdict.DO_AGAIN: ("resumed", "{what} does it again."),
}


def _names(text: str, digest: str) -> bool:
    """Return whether a text is a digest or enough of its beginning to stand for it."""
    return len(text) >= 8 and digest.startswith(text)


def _usage(name: str) -> str:
    spec: CommandSpec = registry()[name]
    return spec.usage


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 1000:
        raise BadInput(f'"{clip(text)}" must be a number from 1 to 1000.')
    return int(text)


def _typed(text: str) -> Any:
    """Return a typed value: `30` is a number, `"30"` a text, what isn't JSON is text as it stands."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
