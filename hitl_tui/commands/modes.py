"""When a person is asked (C4): the mode, and what another one would let run without a question."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from hitl_tui.commands.hand import Hand
from hitl_tui.commands.results import CommandResult
from hitl_tui.commands.rules import rules_file
from hitl_tui.config import standing
from hitl_tui.core.errors import HitlError, UnknownName
from hitl_tui.core.events import EventKind
from hitl_tui.core.names import clip
from hitl_tui.core.policy import Mode, Ruling
from hitl_tui.core.requests import Kind
from hitl_tui.core.supersession import Cause
from hitl_tui.core.todos import Status, SupervisorTodo

_NAMED = 8


async def mode(hand: Hand, values: Mapping[str, Any]) -> CommandResult:
    """Say which mode it is, or change it: the answer names what goes on without a question from now on (C4).

    Raises:
        UnknownName: there is no such mode.
    """
    if "mode" not in values:
        mode = hand.snapshot.mode
        return CommandResult("ok", f"The mode is {mode}.", {"mode": mode})
    try:
        mode = Mode(values["mode"].lower())
    except ValueError:
        raise UnknownName(f'There is no mode "{clip(values["mode"])}"; it is step, plan or risk.') from None
    going = await freed(hand, mode)
    data = {"mode": mode.value}
    message = f"The mode is now {mode}."
    if going:
        names = ", ".join(going[:_NAMED]) + (", …" if len(going) > _NAMED else "")
        message = f"The mode is now {mode}; without a question from now on: {names}."
    closing = replace(hand.ends(Cause.MODE, *going, detail=mode), since="") if going else None
    shown = {**data, "freed": list(going)}
    return await hand.change(EventKind.MODE, data, "updated", message, shown, closing=closing)


async def freed(hand: Hand, mode: Mode) -> tuple[str, ...]:
    """Return the ids of the TODOs that ask or would ask now, and would run without a question in another mode.

    Args:
        hand: the session.
        mode: the other mode.
    """
    seen, policy = hand.snapshot, hand.face.rules.policy
    now, plan = Mode(seen.mode), any(q.kind is Kind.PLAN for q in seen.questions)
    if mode is now:
        return ()

    def passes(todo: SupervisorTodo, mode: Mode) -> bool:
        return policy.judge(mode, todo.agent_name, todo.risk, todo.command).ruling is Ruling.ALLOW

    waiting = [
        todo
        for todo in seen.todos
        if todo.status in (Status.PENDING, Status.WAITING_APPROVAL) and todo.question is None and todo.approval is None
    ]
    found = {todo.id for todo in waiting if passes(todo, mode) and (plan or not passes(todo, now))}
    if now is Mode.STEP:
        with suppress(HitlError):  # a file that can't be read allows nothing
            found.update(await _ruled(hand, mode))
    return tuple(todo.id for todo in waiting if todo.id in found)


async def _ruled(hand: Hand, mode: Mode) -> list[str]:
    """Return the TODOs whose questions standing rules answer in a mode."""
    seen = hand.snapshot
    requests = [q.view.request for q in seen.questions if q.kind is Kind.TODO]
    rules = await asyncio.to_thread(standing.load_rules, rules_file(hand))
    given = standing.decisions(requests, mode, seen.workspace, rules, hand.face.desk.now())
    answered = {decision.request_id for decision in given}
    return [request.todo_id for request in requests if request.id in answered]
