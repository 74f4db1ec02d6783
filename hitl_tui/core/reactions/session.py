"""What concerns the session as a whole: mode, settings, proposals, restores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hitl_tui.core.board import Draft
from hitl_tui.core.errors import BadInput, Refused
from hitl_tui.core.events import Event
from hitl_tui.core.interrupts import HIGHEST_NUMBER, highest_number
from hitl_tui.core.plan import Change
from hitl_tui.core.policy import Mode, Risk
from hitl_tui.core.requests import BY_RULE
from hitl_tui.core.settle import withdraw_unbound
from hitl_tui.core.todos import MAY_BEGIN, Status


def mode(draft: Draft, event: Event) -> None:
    """`mode`: what asked only because of the mode is judged again."""
    draft.control = replace(draft.control, mode=Mode(event.data["mode"]))
    _judge_again(draft)


def configured(draft: Draft, event: Event) -> None:
    """`policy_version`, `concurrency`, `risks` {todo id: risk}: the workspace's settings are others than before."""
    _class_anew(draft, event.data.get("risks") or {})
    version = str(event.data["policy_version"])
    if version != draft.control.policy_version:
        for todo_id in draft.with_status(Status.WAITING_APPROVAL, Status.FAILED):
            todo = draft.get(todo_id)
            if todo.status is Status.WAITING_APPROVAL or todo.question is not None:
                draft.put(replace(todo, asked=todo.asked + 1))
        for todo_id in draft.with_status(Status.PENDING):
            todo = draft.get(todo_id)
            if todo.approval is not None:
                withdraw_unbound(draft, todo)
        _ask_inside_anew(draft)
    draft.control = replace(
        draft.control,
        policy_version=version,
        concurrency=max(1, int(event.data["concurrency"])),
        held=False,
    )
    _judge_again(draft)


def _class_anew(draft: Draft, risks: Mapping[str, str]) -> None:
    """Give what hasn't begun the risk that it is of now; what was said of it under another one doesn't count."""
    for todo_id, risk in risks.items():
        todo = draft.get(todo_id) if todo_id in draft else None
        if todo is None or todo.status not in MAY_BEGIN or todo.risk is Risk(risk):
            continue
        if todo.question is None:
            todo = todo.move(Status.PENDING) if todo.status is Status.WAITING_APPROVAL else todo
            todo = replace(todo, approval=None)
        draft.put(replace(todo, risk=Risk(risk), asked=todo.asked + 1))


def _ask_inside_anew(draft: Draft) -> None:
    """Ask anew what runs ask from inside and nobody has answered: under other rules it may take more people."""
    for todo_id, raw in draft.board.todos.items():
        if todo_id not in draft or not (raw.get("question") or {}).get("interrupts"):
            continue
        todo = draft.get(todo_id)
        question = dict(todo.question or {})
        question["interrupts"] = [
            i if "answer" in i else {**i, "asked": max(todo.asked, int(i.get("asked", 0))) + 1}
            for i in question.get("interrupts", ())
        ]
        draft.put(replace(todo, question=question))


def _judge_again(draft: Draft) -> None:
    for todo_id in draft.with_status(Status.WAITING_APPROVAL, Status.PENDING):
        todo = draft.get(todo_id)
        if todo.status is Status.WAITING_APPROVAL and todo.question is None:
            draft.put(todo.move(Status.PENDING))
        elif todo.approval is not None and todo.approval.get("channel") == "policy":
            draft.put(replace(todo, approval=None))
        elif todo.approval is not None and todo.approval.get("channel") == BY_RULE and draft.control.mode is Mode.STEP:
            # What a standing rule approved and didn't start is another question now: in mode step everything asks.
            draft.put(replace(todo, approval=None, asked=todo.asked + 1))


def proposed(draft: Draft, event: Event) -> None:
    """`proposal`: a `core.plan.Proposal` dict."""
    proposal = dict(event.data["proposal"])
    if not proposal.get("changes"):
        raise BadInput("This proposal changes nothing.")
    for change in proposal["changes"]:
        Change(change["kind"])
    draft.control = replace(draft.control, proposals={**draft.control.proposals, str(proposal["id"]): proposal})


def restored(draft: Draft, event: Event) -> None:
    """`branch`, `ran` {todo id: {`status`, `branch`}}: an earlier checkpoint is the head now (D11).

    Optionally `highest` (number of a TODO) and `numbers` (of interrupts, by TODO): those used on the branch that is
    left, which nothing else gets.
    """
    branch = int(event.data["branch"])
    if branch <= draft.control.branch:
        raise Refused("A newer restore has taken place.", reason="superseded")
    ran, numbers = event.data.get("ran") or {}, event.data.get("numbers") or {}
    for todo_id in list(draft):
        todo = draft.get(todo_id)
        if todo.status is Status.IN_PROGRESS or (todo.status is Status.WAITING_APPROVAL and todo.question):
            todo = todo.goes_on(event.at).move(Status.PENDING, question=None, approval=None)
        elif todo.status is Status.PENDING:
            todo = replace(todo, approval=None)
        number = max(highest_number(todo.to_state()), int(numbers.get(todo_id, 0)))
        if number:
            todo = replace(todo, metadata={**todo.metadata, HIGHEST_NUMBER: number})
        if todo_id in ran and todo.status is not Status.COMPLETED:
            todo = replace(todo, metadata={**todo.metadata, "ran_before": dict(ran[todo_id])})
        if todo.attempt and todo.status is Status.PENDING:
            todo = replace(todo, attempt=0)
        draft.put(todo)
    highest = max(draft.control.highest, int(event.data.get("highest", 0)))
    draft.control = replace(draft.control, branch=branch, highest=highest)
    _judge_again(draft)
