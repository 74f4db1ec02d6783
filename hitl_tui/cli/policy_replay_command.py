"""`hitl-tui policy replay`: what other rules would have made of all that was decided, in sessions and tasks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hitl_tui.cli.admin_commands import looking
from hitl_tui.cli.job import Job
from hitl_tui.cli.settings import existing_workspace
from hitl_tui.config.loader import content_of, parse_content
from hitl_tui.config.workspace import WorkspaceConfig
from hitl_tui.core.errors import BadInput, HitlError
from hitl_tui.core.interrupts.recognition import title_of
from hitl_tui.core.messages import Message, counted_message
from hitl_tui.core.policy import Facts, Judgement, Mode, Of, Ruling, Terms
from hitl_tui.core.requests import Kind, name_of
from hitl_tui.core.safe_text import one_line
from hitl_tui.language import _, translate
from hitl_tui.ledger.protocols import read_stream
from hitl_tui.policy.policy_replay import Difference, Recorded, counts, replay
from hitl_tui.policy.rule_explanation import facts_of
from hitl_tui.supervisor.session_follower import SessionFollower
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.task_checkpoints.service import CALL_DEADLINE
from hitl_tui.wording.policy_rows import terms_words
from hitl_tui.wording.text_lines import shown

NOTHING, FOUND = 0, 1


async def replayed(job: Job) -> int:
    """Say what other rules would have made of all that was decided; return the exit code."""

    given = job.arguments
    config = _read(given.policy)
    only = existing_workspace(given.workspace).resolve() if given.workspace else None
    problems: list[str] = []
    async with looking(job) as registry:
        recorded = [*await _of_sessions(registry, only, problems), *await _of_tasks(registry, only, problems)]
        found = replay(config.policy, sorted(recorded, key=lambda one: one.at), registry.now())
    number = counts(found)
    message = counted_message(
        "{} of {} decisions would have been different.",
        "{} of {} decisions would have been different.",
        len(found),
        len(recorded),
    )
    if given.json:
        job.out.document(
            {
                "status": "findings" if found else "ok",
                "message": message,
                "policy": given.policy,
                "recorded": len(recorded),
                "counts": number,
                "problems": problems,
                "differences": [one.to_dict() for one in found],
            }
        )
    else:
        job.say(*problems)
        job.out.lines([shown(line) for line in (*map(_difference_line, found), translate(message))])
    return FOUND if found else NOTHING


def _read(name: str) -> WorkspaceConfig:
    path = Path(name)
    content = content_of(path)
    if content is None:
        raise BadInput(Message("There is no file {}.", one_line(name, 200)))
    return parse_content(content, name)


def _difference_line(one: Difference) -> str:
    words = {"allow": _("allowed"), "ask": _("asked"), "deny": _("denied")}
    outcomes = {
        "approved": _("approved"),
        "rejected": _("rejected"),
        "skipped": _("skipped"),
        "stopped": _("stopped"),
        "expired": _("expired"),
        "pending": _("waiting"),
        "superseded": "",
    }
    recorded, after = one.recorded, one.after
    before = recorded.before
    rule = _("rule {n}").format(n=after.rule) if after.rule else _("no rule")
    if before.ruling is after.ruling:
        how = f"{terms_words(before.terms)} → {terms_words(after.terms)}"
    else:
        how = f"{words[before.ruling]} → {words[after.ruling]}"
    ended = [outcomes.get(outcome, "") for outcome in (recorded.outcome, one.outcome)]
    became = f"{ended[0]} → {ended[1]}" if all(ended) and ended[0] != ended[1] else ended[0]
    where = f"{recorded.stream} {recorded.name}" if recorded.source == "session" else recorded.name
    parts = (one_line(where, 60), one_line(recorded.what, 80), f"{how} ({rule})", became)
    return " · ".join(filter(None, parts))


@dataclass(frozen=True, slots=True)
class Modes:
    """The mode that a session began in, and each other one with when it was chosen."""

    first: Mode
    changes: Sequence[tuple[str, Mode]] = ()

    def at(self, time: str) -> Mode:
        """Return the mode at a time, ISO 8601, UTC."""
        return next((mode for at, mode in reversed(self.changes) if at <= time), self.first)


async def modes_of(registry: SessionRegistry, session: str) -> Modes:
    """Return the modes that a session has had, as it is recorded."""
    events = [
        (entry.at, entry.data["event"])
        async for entry in read_stream(registry.ledger, session)
        if entry.kind == "event" and entry.data["event"].get("kind") == "mode"
    ]
    first = registry.data.session(session).info().mode
    return Modes(Mode(first) if first else Mode.STEP, [(at, Mode(event["mode"])) for at, event in events])


async def _of_sessions(registry: SessionRegistry, only: Path | None, problems: list[str]) -> list[Recorded]:
    """Return what was asked in sessions, and what ran unasked."""
    found: list[Recorded] = []
    for session in registry.data.ids():
        try:
            if only is None or _is_in(registry.data.session(session).info().workspace, only):
                found += await _of_session(registry, session)
        except HitlError as error:
            problems.append(Message("{}: {}", session, error.message))
    return found


def _is_in(folder: str, only: Path) -> bool:
    return Path(folder).resolve() == only


async def _of_session(registry: SessionRegistry, session: str) -> list[Recorded]:
    modes = await modes_of(registry, session)
    views = await registry.ledger.requests(registry.now(), session=session, pending=False, limit=1_000_000)
    arguments = {v.request.todo_id: v.request.subject.get("arguments") for v in views if v.request.kind is Kind.TODO}
    found: list[Recorded] = []
    for view in views:
        request, facts = view.request, facts_of(view.request)
        if request.kind not in (Kind.TODO, Kind.INTERRUPT) or request.superseded:
            continue
        if request.kind is Kind.INTERRUPT:
            facts = Facts.of_todo(facts.team, facts.risk, facts.command, arguments.get(request.todo_id))
        before = Judgement(Ruling.ASK, request.terms, request.about.get("rule", 0))
        at = request.opened_at
        what = title_of(request)
        found.append(Recorded("session", session, name_of(request), what, at, facts, modes.at(at), before, view))
    async with SessionFollower.open(await registry.setup(session, teams=False)) as follower:
        todos = follower.snapshot.todos
    for todo in todos:
        if denied := todo.metadata.get("denied"):
            at, before = todo.completed_at, Judgement(Ruling.DENY, Terms(), denied["rule"], denied["name"])
        elif todo.approval is not None and todo.approval.get("channel") == "policy":
            at, before = str(todo.approval["at"]), Judgement(Ruling.ALLOW, Terms(), 0)
        else:
            continue
        facts = Facts.of_todo(todo.agent_name, todo.risk, todo.command, todo.arguments)
        found.append(Recorded("session", session, todo.id, todo.name, at, facts, modes.at(at), before))
    return found


async def _of_tasks(registry: SessionRegistry, only: Path | None, problems: list[str]) -> list[Recorded]:
    """Return what was asked of tasks, and what rules decided there."""
    found: list[Recorded] = []
    for one in await registry.tasks.recorded(only or await asyncio.to_thread(Path.cwd)):
        step, call = one.step, one.step.call
        if only is not None and not _is_in(str(one.masc.parent), only):
            continue
        deadline = CALL_DEADLINE if call is not None else 0.0
        what = step.action if call is None else f"{step.action} {json.dumps(dict(call.arguments), ensure_ascii=False)}"
        if step.view is not None:
            facts, request = facts_of(step.view.request), step.view.request
            before = Judgement(Ruling.ASK, request.terms, request.about.get("rule", 0))
        elif step.ruled is not None:
            arguments = None if call is None else call.arguments
            facts = Facts(Of.STEP, agent=step.agent, action=step.action, arguments=arguments)
            before = Judgement(Ruling(step.ruled.ruling), Terms(), step.ruled.rule)
        else:
            continue
        of = ("task", step.task_id, step.name, what, step.recorded_at, facts, Mode.RISK, before, step.view)
        found.append(Recorded(*of, asks_always=call is None, deadline=deadline))
    problems += registry.tasks.problems
    return found
