"""`CommandHandler`: carries chat commands out on a session and answers with typed results."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from hitl_tui.commands import (
    answer_commands,
    decision_commands,
    graph_commands,
    model_commands,
    plan_commands,
    rule_commands,
    session_commands,
    source_command,
    task_commands,
    template_commands,
    trust_commands,
)
from hitl_tui.commands.command_context import CommandContext
from hitl_tui.commands.parser import CommandValues, Parsed, is_command, parse
from hitl_tui.commands.question_lookup import Unbound, Unshown
from hitl_tui.commands.results import CommandResult, failure
from hitl_tui.core.errors import BadInput, HitlError, Refused, UnknownName
from hitl_tui.core.identity import Identity
from hitl_tui.core.json_types import Json, JsonObject, ProposedChange, StepNamed
from hitl_tui.core.messages import Message
from hitl_tui.core.names import resolve_id
from hitl_tui.core.policy import Mode
from hitl_tui.core.proposal_changes import plan_now, plan_then
from hitl_tui.core.requests import Verdict
from hitl_tui.core.safe_text import mask, mask_json
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.policy.operator_identity import Acting
from hitl_tui.supervisor.admin import SessionAdmin
from hitl_tui.supervisor.session_view import SessionView
from hitl_tui.supervisor.snapshot import Question, Snapshot

if TYPE_CHECKING:
    from hitl_tui.planning.agent import PlanningAgent
    from hitl_tui.task_checkpoints.task_inbox import TaskInbox

COMMANDS: Mapping[str, Callable[[CommandContext, CommandValues], Awaitable[CommandResult]]] = MappingProxyType(
    {
        "todos": plan_commands.todos,
        "todo show": plan_commands.show,
        "checkpoint list": plan_commands.checkpoint_list,
        "help": plan_commands.help_,
        "todo approve": decision_commands.approve,
        "todo reject": decision_commands.reject,
        "todo skip": decision_commands.skip,
        "todo retry": decision_commands.retry,
        "todo done": decision_commands.done,
        "todo again": decision_commands.again,
        "answer": answer_commands.answer,
        "approve": task_commands.approve,
        "reject": task_commands.reject,
        "decisions": plan_commands.decisions,
        "plan approve": decision_commands.plan_approve,
        "plan reject": decision_commands.plan_reject,
        "proposal accept": decision_commands.proposal_accept,
        "proposal run": decision_commands.proposal_run,
        "proposal reject": decision_commands.proposal_reject,
        "proposal keep": decision_commands.proposal_keep,
        "rules list": rule_commands.list_rules,
        "rules allow": rule_commands.allow,
        "rules edit": rule_commands.edit,
        "rules revoke": rule_commands.revoke,
        "todo add": plan_commands.add,
        "todo edit": plan_commands.edit,
        "todo update": plan_commands.update,
        "todo remove": plan_commands.remove,
        "todo priority": plan_commands.priority,
        "todo putback": plan_commands.put_back,
        "todo move": plan_commands.move,
        "todo cancel": plan_commands.cancel,
        "graph": graph_commands.draw,
        "state show": graph_commands.state_show,
        "state edit": graph_commands.state_edit,
        "state diff": graph_commands.state_diff,
        "break": graph_commands.set_breakpoints,
        "unbreak": graph_commands.clear_breakpoints,
        "step": graph_commands.step,
        "continue": graph_commands.continue_run,
        "rescue": graph_commands.rescue,
        "reset": session_commands.reset,
        "title": session_commands.rename,
        "export": session_commands.export,
        "source": source_command.source,
        "fork": session_commands.fork,
        "sessions": session_commands.sessions,
        "import": session_commands.import_,
        "delete": session_commands.delete,
        "mode": rule_commands.mode,
        "model": model_commands.model,
        "template list": template_commands.list_,
        "template show": template_commands.show,
        "template save": template_commands.save,
        "template run": template_commands.run,
        "trust": trust_commands.trust,
        "stop": decision_commands.stop,
        "checkpoint restore": plan_commands.checkpoint_restore,
    }
)


class CommandHandler:
    """Carries commands out.

    Args:
        session: the session.
        planner: turns plain text into proposals, and knows the agents.
        by: who gives the commands.
        channel: `console`, `repl`, `cli`, `pipe`.
        admin: administers all sessions; None where there is only this one.
        acting: says how they are identified, asked at each decision; None for a name that nothing proves.
        terminal: they have the questions before them, so that names are enough; elsewhere what is of high risk takes
            its digest.
        since: when the chain of commands began that it carries out; see `CommandContext`.
        tasks: what waits of tasks outside of sessions; None where only this session counts.
        names: ids of the questions that are answered, where the command line names them.
        folder, opens_next: see `CommandContext`.
    """

    def __init__(
        self,
        session: SessionView,
        planner: PlanningAgent,
        *,
        by: str,
        channel: str,
        admin: SessionAdmin | None = None,
        acting: Acting | None = None,
        terminal: bool = False,
        since: str = "",
        tasks: TaskInbox | None = None,
        names: tuple[str, ...] = (),
        folder: Path | None = None,
        opens_next: bool = False,
    ) -> None:
        self._context = CommandContext(
            session,
            planner,
            by,
            channel,
            admin,
            acting,
            terminal,
            names=names,
            since=since,
            tasks=tasks,
            folder=folder,
            opens_next=opens_next,
        )

    def acting_as(self, identity: Identity) -> CommandHandler:
        """Return what carries commands out for somebody else: an approver who gave their token."""
        context = self._context
        return CommandHandler(
            context.session,
            context.planner,
            by=identity.name,
            channel=context.channel,
            admin=context.admin,
            acting=lambda: identity,
            terminal=context.terminal,
            since=context.since,
            tasks=context.tasks,
            folder=context.folder,
        )

    async def handle_command(self, line: str, known: Collection[str] | None = None, began: str = "") -> CommandResult:
        """Carry a line out: a command, or plain text as a proposal to change the plan.

        Args:
            line: what was written.
            known: ids of the questions that were shown when it was begun: it answers no other one, but what
                is of less than high risk may be approved in advance; None where the caller shows what it answers.
            began: when the command was begun, ISO 8601, UTC; now by default. What others decided meanwhile stands.

        Never raises for what a person wrote: an error is a result with `error`, and changed nothing.
        """
        context = self._beginning(began)
        try:
            line = mask(line, self._context.session.writer.secrets)
            if not is_command(line):
                return await plan_commands.propose(context, line)
            return await self._carry_out(context, parse(line), known, line)
        except Unshown as error:
            asked = {"asked": [q.name for q in error.questions], "request_ids": [q.id for q in error.questions]}
            return CommandResult("asked", error.message, asked)
        except Unbound as error:
            found = failure(error.message, error.help, reason="digest", exit_code=error.exit_code)
            return replace(found, data={**found.data, "give": list(error.commands)})
        except Refused as error:
            return failure(error.message, error.help, reason=error.reason)
        except HitlError as error:
            return failure(error.message, error.help, exit_code=error.exit_code)

    async def propose(self, text: str, event_id: str = "") -> CommandResult:
        """Propose the change of the plan that plain text asks for; see `plan_commands.propose`.

        Args:
            text: the text; it is never a command.
            event_id: id of the event that says so: the same again changes nothing.

        Raises:
            HitlError: it can't be; nothing changed.
        """
        text = mask(text, self._context.session.writer.secrets)
        return await plan_commands.propose(replace(self._beginning(), event_id=event_id), text)

    def _beginning(self, began: str = "") -> CommandContext:
        return replace(self._context, began=began or self._context.session.writer.now())

    async def _carry_out(
        self, context: CommandContext, parsed: Parsed, known: Collection[str] | None, line: str
    ) -> CommandResult:
        if parsed.spec.screen:
            raise BadInput(Message("/{} works in the console only.", parsed.spec.name))
        if parsed.spec.local:
            raise BadInput(Message("/{} works only in the console and in line mode.", parsed.spec.name))
        seen, names = None if known is None else frozenset(known), tuple(parsed.values.words("id"))
        context = replace(context, known=seen, line=line, names=names, digest=parsed.values.text("digest"))
        before = context.snapshot
        try:
            return await COMMANDS[parsed.spec.name](context, parsed.values)
        except (BadInput, Refused, Unshown, Unbound):
            if parsed.changes:
                await self._refuse_overtaken(context, before)
            raise

    async def _refuse_overtaken(self, context: CommandContext, before: Snapshot) -> None:
        """Say who decided, where a command can't be carried out because somebody was faster.

        Raises:
            Refused: somebody was.
        """
        for name in context.names if len(context.names) == 1 else ():  # of several the answer says what became of each
            todo_id = f"todo_{int(name):03d}" if name.isascii() and name.isdigit() else name
            with suppress(UnknownName):  # it may have been removed
                todo_id = resolve_id(name, before.raw)
            await context.refuse_overtaken(todo_id)

    async def decide(
        self, question: Question, verdict: Verdict, *, reason: str = "", value: Json = None
    ) -> CommandResult:
        """Answer a question as it was shown: the decision carries the digest of what was on the screen.

        Args:
            question: the question.
            verdict: the answer.
            reason: words that go with it.
            value: what goes with it, JSON.

        Raises:
            Refused: it can't count: late, repeated, stale, superseded, not allowed.
        """
        return await self._beginning().decide(question, verdict, reason=reason, value=value)

    async def answer(self, question: Question, value: Json, action: str = "", reason: str = "") -> CommandResult:
        """Answer what a team asks from inside, as it was shown.

        Args:
            question: the question.
            value: the answer, as its form made it.
            action: the action that made it.
            reason: why, for the record.

        Raises:
            BadInput: it doesn't fit, or can't be kept.
            Refused: it can't count: late, repeated, stale, superseded, not allowed.
        """
        return await answer_commands.send(self._beginning(), question, value, action, reason)

    async def freed(self, mode: Mode) -> tuple[str, ...]:
        """Return the ids of the TODOs that another mode would let run without a question; see `rule_commands.freed`."""
        return await rule_commands.freed(self._context, mode)

    def plan_with(self, changes: Sequence[ProposedChange]) -> tuple[Sequence[StepNamed], Sequence[StepNamed]]:
        """Return the steps of the plan as they stand, and as they would with changes of a proposal."""
        draft = self._context.draft()
        return plan_now(draft), plan_then(draft, changes)

    async def edit(self, todo: SupervisorTodo, text: str, arguments: JsonObject) -> CommandResult:
        """Give a TODO another exact input; it is asked anew.

        Args:
            todo: the TODO.
            text: the task in words.
            arguments: named parameters for the team.

        Raises:
            BadInput: the team can't use it.
        """
        secrets = self._context.session.writer.secrets
        return await self._beginning().edit(todo, mask(text, secrets), mask_json(dict(arguments), secrets))


async def approve_given(session: SessionView, planner: PlanningAgent, by: str, acting: Acting | None) -> CommandResult:
    """Approve the run of an attached graph whose exact input its person wrote on the command line.

    On record it is what it was: a decision on the command line, whatever interface the session is opened in.

    Args:
        session: the session, which asks about that run now.
        planner: the session's.
        by: who started it.
        acting: says how they are identified.
    """
    question = session.snapshot.questions[0]
    # They wrote what it asks about themselves: the command line is where they saw it.
    session.writer.showing.note([question.id], by, Message("command line"))
    handler = CommandHandler(session, planner, by=by, channel="cli", acting=acting)
    return await handler.handle_command(f"/todo approve {question.todo_id} --digest {question.digest}")
