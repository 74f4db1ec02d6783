"""What changes of the settings do to an open session, and what standing rules answer in it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from hitl_tui.config.loader import FILE_NAME
from hitl_tui.core.board import Control
from hitl_tui.core.errors import AskedAnew, ConfigError, HitlError, Refused
from hitl_tui.core.events import EventKind
from hitl_tui.core.json_text import digest
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Mode
from hitl_tui.core.requests import REFUSING, Kind, Request, Verdict
from hitl_tui.core.safe_text import mask_json, one_line
from hitl_tui.core.todos import MAY_BEGIN, SupervisorTodo
from hitl_tui.policy import standing_rules
from hitl_tui.policy.policy_source import PolicySource, on_record
from hitl_tui.supervisor.activity import ActivityStream
from hitl_tui.supervisor.ledger_writer import LedgerWriter
from hitl_tui.supervisor.session_setup import SessionSetup
from hitl_tui.supervisor.session_view import SessionView

log = logging.getLogger(__name__)

POLICY = "policy"
"""Kind of the entry that says which rules hold from there on."""

SOON = 0.1
"""Seconds until a file that is being written is looked at again."""

_LOOKS = 20
"""How often a file that is being written is looked at for somebody who waits."""

_HARMLESS = REFUSING | {Verdict.USE_AS_DONE}
_OF_A_TEAM = frozenset({Kind.TODO, Kind.FAILURE, Kind.EFFECT, Kind.INTERRUPT})


class PolicySync:
    """Keeps one session's state in step with its policy, for the process that owns it.

    Args:
        setup: of the session.
        activity: where it says what changed.
        writer: posts that.
    """

    def __init__(self, setup: SessionSetup, activity: ActivityStream, writer: LedgerWriter) -> None:
        self._setup = setup
        self._activity = activity
        self._writer = writer
        self._told = ""

    def poll_after(self, longest: float) -> float:
        """Return the seconds after which to look again though nothing was said."""
        return min(longest, SOON) if self._setup.policy.waiting else longest

    async def refresh(self) -> bool:
        """See what the file says; say what is wrong with it, once. Return whether anything else holds now."""
        policy = self._setup.policy
        before = policy.problem
        changed = await policy.look()
        await self._setup.renew()
        if policy.notice != self._told:
            self._told = policy.notice
            if self._told:
                self._activity.write("", "note", self._told)
        if policy.problem and policy.problem != before:
            self._activity.write("", "note", policy.problem)
        elif before and not policy.problem:
            self._activity.write("", "note", Message("{} can be read again.", FILE_NAME))
        return changed

    async def apply(self, control: Control, *, begins: bool = False, todos: Iterable[SupervisorTodo] = ()) -> None:
        """Let the state follow where it was made under other rules, or held back what would begin; on record first.

        Args:
            control: of the state.
            begins: the session is new, and so are its rules.
            todos: those that may have been planned when they were declared to be of another risk.

        Raises:
            StorageError: it can't be written; nothing takes effect then.
        """
        policy = self._setup.policy
        rules, version = policy.rules, policy.rules.policy.version
        other = version != control.policy_version
        if other or (begins and rules.policy.all_rules):
            entry = on_record(policy, "" if begins else control.policy_version)
            masked = mask_json(entry, self._setup.secrets)
            await self._setup.ledger.record(self._setup.info.id, POLICY, masked, self._setup.now())
            await self._setup.ledger.expire(self._setup.now(), self._setup.info.id)  # under the rules of its deadline
        bound = max(1, rules.concurrency)
        risks = self._changed_risks(todos)
        if not (other or risks) and bound == control.concurrency and not (control.held and policy.current):
            return
        if other and not policy.notice:
            self._activity.write(
                "", "note", Message("{} changed; its policy holds for all that hasn't begun.", FILE_NAME)
            )
        data = {"policy_version": version, "concurrency": bound, **({"risks": risks} if risks else {})}
        key = f"configured:{version}:{bound}:{control.cursor}:{control.branch}{f':{digest(risks)}' if risks else ''}"
        await self._writer.post(EventKind.CONFIGURED, data, by="supervisor", event_id=key)

    def _changed_risks(self, todos: Iterable[SupervisorTodo]) -> dict[str, str]:
        """Return the risk of those TODOs that are of another one, as they are declared now."""
        agents = self._setup.planner.agents
        known = ((todo, agents[todo.agent_name].risk_of(todo.arguments)) for todo in todos if todo.agent_name in agents)
        return {todo.id: risk.value for todo, risk in known if todo.status in MAY_BEGIN and risk is not todo.risk}


async def renew_settings(setup: SessionSetup) -> str:
    """See `SessionView.renew`; a file that was written a moment ago is waited for."""
    policy = setup.policy
    for _ in range(_LOOKS):
        await policy.look()
        if not policy.waiting:
            break
        await asyncio.sleep(SOON)
    return await setup.renew()


async def check_policy(
    policy: PolicySource, version: Callable[[], str], verdict: Verdict, request: Request | None
) -> None:
    """Refuse what would let something go on while the rules aren't known, or aren't those that it was asked under.

    Args:
        policy: what holds.
        version: gives the version of the policy that the session's state follows.
        verdict: what somebody says.
        request: what it is said to; None where there is no such question.

    Raises:
        Refused: nothing was written; the question stays, or is asked anew.
    """
    if verdict in _HARMLESS:
        return
    await policy.look()
    if policy.problem:
        raise Refused(policy.problem, reason="not_allowed")
    if request is not None and request.kind in _OF_A_TEAM and (why := policy.why_withheld(request.source)):
        raise Refused(why, reason="not_allowed")
    if policy.rules.policy.version != version():
        raise AskedAnew(Message("{} changed since you were asked; you are asked again under its policy.", FILE_NAME))


async def apply_standing_rules(session: SessionView, path: Path, now: Callable[[], str]) -> None:
    """Answer what the rules allow, as decisions on record, until the session can't go on.

    Args:
        session: which.
        path: the file with the rules, read anew whenever something is asked.
        now: the clock.
    """
    workspace, said, idle = session.setup.info.workspace, "", set[str]()
    seen = session.snapshot
    try:
        while True:
            try:
                rules = await asyncio.to_thread(standing_rules.load_rules, path) if seen.questions else ()
            except ConfigError as error:
                rules = ()
                if error.message != said:
                    log.warning("no standing rule holds: %s", error.message)
                said = error.message
            for rule in standing_rules.without_team(rules, workspace, session.setup.planner.agents):
                if rule.id not in idle:
                    log.warning("rule %s allows nothing: there is no team %s here", rule.id, one_line(rule.team, 60))
                    idle.add(rule.id)
            asked = [question.view.request for question in seen.questions]
            for decision in standing_rules.decisions(asked, Mode(seen.mode), workspace, rules, now()):
                with suppress(Refused):
                    await session.writer.decide(decision)
            seen = await session.changed(seen)
    except HitlError as error:
        log.info("standing rules of %s end: %s", session.id, error.message)
    except Exception:
        log.exception("standing rules of %s", session.id)
