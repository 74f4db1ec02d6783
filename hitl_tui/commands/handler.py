"""`CommandHandler`: carries chat commands out on a session and answers with typed results (D10)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from hitl_tui.commands import answering, changing, deciding, graphs, keeping, looking, modes, rules, trust
from hitl_tui.commands.asked import Unbound, Unshown
from hitl_tui.commands.hand import Hand
from hitl_tui.commands.parser import Parsed, is_command, parse
from hitl_tui.commands.results import CommandResult, failure
from hitl_tui.core.errors import BadInput, HitlError, Refused, UnknownName
from hitl_tui.core.identity import Identity
from hitl_tui.core.names import resolve_id
from hitl_tui.core.policy import Mode
from hitl_tui.core.requests import Verdict
from hitl_tui.core.safe_text import mask, mask_json
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.planning.agent import PlanningAgent
from hitl_tui.policy.operator import Acting
from hitl_tui.supervisor.face import SessionFace
from hitl_tui.supervisor.snapshot import Question, Snapshot

COMMANDS: Mapping[str, Callable[[Hand, Mapping[str, Any]], Awaitable[CommandResult]]] = MappingProxyType(
    {
        "todos": looking.todos,
        "todo show": looking.show,
        "checkpoint list": looking.checkpoint_list,
        "help": looking.help_,
        "todo approve": deciding.approve,
        "todo reject": deciding.reject,
        "todo skip": deciding.skip,
        "todo retry": deciding.retry,
        "todo done": deciding.done,
        "todo again": deciding.again,
        "answer": answering.answer,
        "plan approve": deciding.plan_approve,
        "plan reject": deciding.plan_reject,
        "proposal accept": deciding.proposal_accept,
        "proposal reject": deciding.proposal_reject,
        "rules list": rules.listed,
        "rules allow": rules.allow,
        "rules edit": rules.edit,
        "rules revoke": rules.revoke,
        "todo add": changing.add,
        "todo edit": changing.edit,
        "todo update": changing.update,
        "todo remove": changing.remove,
        "todo priority": changing.priority,
        "todo move": changing.move,
        "todo cancel": changing.cancel,
        "graph": graphs.draw,
        "state show": graphs.state_show,
        "state edit": graphs.state_edit,
        "state diff": graphs.state_diff,
        "break": graphs.stop_at,
        "unbreak": graphs.stop_nowhere,
        "step": graphs.step,
        "continue": graphs.go_on,
        "rescue": graphs.rescue,
        "rename": keeping.rename,
        "export": keeping.export,
        "fork": keeping.fork,
        "sessions": keeping.sessions,
        "import": keeping.import_,
        "delete": keeping.delete,
        "mode": modes.mode,
        "trust": trust.trust,
        "stop": deciding.stop,
        "checkpoint restore": changing.checkpoint_restore,
    }
)


class CommandHandler:
    """Carries commands out.

    Args:
        face: the session.
        planner: turns plain text into proposals, and knows the agents.
        by: who gives the commands.
        channel: `console`, `repl`, `cli`, `pipe`.
        keeper: keeps all sessions; None where there is only this one.
        acting: says how they are identified, asked at each decision; None for a name that nothing proves.
        terminal: they have the questions before them, so that names are enough; elsewhere what is of high risk takes
            its digest (T2).
        since: when the chain of commands began that it carries out; see `Hand`.
    """

    def __init__(
        self,
        face: SessionFace,
        planner: PlanningAgent,
        *,
        by: str,
        channel: str,
        keeper: keeping.Keeper | None = None,
        acting: Acting | None = None,
        terminal: bool = False,
        since: str = "",
    ) -> None:
        self._hand = Hand(face, planner, by, channel, keeper, acting, terminal, since=since)

    def acting_as(self, identity: Identity) -> CommandHandler:
        """Return what carries commands out for somebody else: an approver who gave their token."""
        hand = self._hand
        return CommandHandler(
            hand.face,
            hand.planner,
            by=identity.name,
            channel=hand.channel,
            keeper=hand.keeper,
            acting=lambda: identity,
            terminal=hand.terminal,
            since=hand.since,
        )

    async def handle(self, line: str, known: Collection[str] | None = None, began: str = "") -> CommandResult:
        """Carry a line out: a command, or plain text as a proposal to change the plan.

        Args:
            line: what was written.
            known: ids of the questions that were shown when it was begun: it answers no other one (T2, C3), but what
                is of less than high risk may be approved in advance; None where the caller shows what it answers.
            began: when the command was begun, ISO 8601, UTC; now by default. What others decided meanwhile stands.

        Never raises for what a person wrote: an error is a result with `error`, and changed nothing.
        """
        hand = self._beginning(began)
        try:
            line = mask(line, self._hand.face.desk.secrets)
            if not is_command(line):
                return await changing.propose(hand, line)
            return await self._carry_out(hand, parse(line), known, line)
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

    async def run(self, parsed: Parsed, known: Collection[str] | None = None, line: str = "") -> CommandResult:
        """Carry a parsed command out; see `handle`.

        Raises:
            HitlError: it can't be; nothing changed.
        """
        return await self._carry_out(self._beginning(), parsed, known, line)

    def _beginning(self, began: str = "") -> Hand:
        return replace(self._hand, began=began or self._hand.face.desk.now())

    async def _carry_out(self, hand: Hand, parsed: Parsed, known: Collection[str] | None, line: str) -> CommandResult:
        if parsed.spec.local:
            raise BadInput(f"/{parsed.spec.name} works in the console and the line mode only.")
        given = parsed.values.get("id")
        names = tuple(map(str, [given] if isinstance(given, str) else given or ()))
        seen = None if known is None else frozenset(known)
        digest = str(parsed.values.get("digest") or "")
        hand = replace(hand, known=seen, line=line, names=names, digest=digest)
        before = hand.snapshot
        try:
            return await COMMANDS[parsed.spec.name](hand, parsed.values)
        except (BadInput, Refused, Unshown, Unbound):
            if parsed.spec.changes:
                await self._refuse_overtaken(hand, before)
            raise

    async def _refuse_overtaken(self, hand: Hand, before: Snapshot) -> None:
        """Say who decided, where a command can't be carried out because somebody was faster.

        Raises:
            Refused: somebody was.
        """
        for name in hand.names if len(hand.names) == 1 else ():  # of several the answer says what became of each
            todo_id = f"todo_{int(name):03d}" if name.isascii() and name.isdigit() else name
            with suppress(UnknownName):  # it may have been removed
                todo_id = resolve_id(name, before.raw)
            await hand.refuse_overtaken(todo_id)

    async def decide(
        self, question: Question, verdict: Verdict, *, reason: str = "", value: Any = None
    ) -> CommandResult:
        """Answer a question as it was shown: the decision carries the digest of what was on the screen.

        Raises:
            Refused: it can't count: late, repeated, stale, superseded, not allowed.
        """
        return await self._beginning().decide(question, verdict, reason=reason, value=value)

    async def answer(self, question: Question, value: Any, action: str = "") -> CommandResult:
        """Answer what a team asks from inside, as it was shown (I2).

        Args:
            question: the question.
            value: the answer, as its form made it.
            action: the action that made it.

        Raises:
            BadInput: it doesn't fit, or can't be kept.
            Refused: it can't count: late, repeated, stale, superseded, not allowed.
        """
        return await answering.send(self._beginning(), question, value, action)

    async def freed(self, mode: Mode) -> tuple[str, ...]:
        """Return the ids of the TODOs that another mode would let run without a question; see `modes.freed` (C4)."""
        return await modes.freed(self._hand, mode)

    async def edit(self, todo: SupervisorTodo, text: str, arguments: Mapping[str, Any]) -> CommandResult:
        """Give a TODO another exact input; it is asked anew.

        Args:
            todo: the TODO.
            text: the task in words.
            arguments: named parameters for the team.

        Raises:
            BadInput: the team can't use it.
        """
        secrets = self._hand.face.desk.secrets
        return await self._beginning().edit(todo, mask(text, secrets), mask_json(dict(arguments), secrets))
