"""What follows by itself after something happened: who is blocked, who asks, what may run without asking."""

from __future__ import annotations

from dataclasses import replace

from hitl_tui.core.board import PLAN_ACCEPTED, Draft, approval_binds, dependencies_met, judge, subject_of
from hitl_tui.core.digest import digest
from hitl_tui.core.policy import Mode, Ruling
from hitl_tui.core.todos import SYSTEM, Status, SupervisorTodo

_OPEN = frozenset({"pending", "waiting_approval", "blocked"})
_KEPT_INPUTS = 20


def settle(draft: Draft, at: str) -> None:
    """Let the plan follow.

    Args:
        draft: is changed in place.
        at: time of the last event; what policies allow carries it.
    """
    while _follow_dependencies(draft):
        pass
    if draft.control.plan == PLAN_ACCEPTED:
        _ask(draft, at)
    completed = sum(1 for status in draft.statuses().values() if status == "completed")
    concluded = draft.control.concluded and not draft.changed
    if (completed, concluded) != (draft.control.completed, draft.control.concluded):
        draft.control = replace(draft.control, completed=completed, concluded=concluded)


def withdraw_unbound(draft: Draft, todo: SupervisorTodo) -> bool:
    """Take an approval back when it stands for something else than what would run now; return whether it did."""
    if approval_binds(draft, todo):
        return False
    draft.put(replace(todo, approval=None, asked=todo.asked + 1))
    return True


def _follow_dependencies(draft: Draft) -> bool:
    """Block, unblock and mark missing input, one step along the dependencies; return whether anything changed."""
    moved = False
    for todo_id, status in draft.statuses().items():
        if status not in _OPEN:
            continue
        dependencies = draft.dependencies(todo_id)
        if not dependencies and status != "blocked":
            continue
        states = [draft.status(d) for d in dependencies]
        stuck = "failed" in states or "blocked" in states
        if stuck and status != "blocked":
            todo = draft.get(todo_id)
            draft.put(todo.move(Status.BLOCKED, approval=None, question=None))
            moved = True
        elif status == "blocked" and not stuck and not draft.get(todo_id).metadata.get("held"):
            draft.put(draft.get(todo_id).move(Status.PENDING))
            moved = True
        elif "skipped" in states and _mark_missing(draft, todo_id):
            moved = True
        elif status == "waiting_approval" and not dependencies_met(draft, todo_id):
            todo = draft.get(todo_id)
            if todo.question is None:
                draft.put(todo.move(Status.PENDING))
                moved = True
    return moved


def _mark_missing(draft: Draft, todo_id: str) -> bool:
    """A dependency the operator skipped leaves its dependants without input: they ask (again), and say so (D8)."""
    todo = draft.get(todo_id)
    lost = [
        d
        for d in todo.dependencies
        if draft.status(d) == "skipped" and d not in todo.missing and draft.get(d).metadata.get("skipped_by") != SYSTEM
    ]
    if not lost or todo.status is Status.BLOCKED:
        return False
    if todo.status is Status.WAITING_APPROVAL:
        todo = todo.move(Status.PENDING, question=None)
    draft.put(replace(todo, missing=(*todo.missing, *lost), approval=None, asked=todo.asked + 1))
    return True


def _ask(draft: Draft, at: str) -> None:
    """Let every TODO whose turn it is ask, pass or be denied, as the rules say."""
    first_open: float | None = None
    for todo_id, status in draft.statuses().items():
        if status != "pending" or draft.status(todo_id) != "pending" or not dependencies_met(draft, todo_id):
            continue
        todo = draft.get(todo_id)
        if todo.approval is not None:
            continue
        if draft.control.mode is Mode.STEP and todo.metadata.get("manual") and not todo.dependencies:
            if first_open is None:
                first_open = _first_open(draft)
            if first_open < todo.rank:
                continue
        _judge(draft, _with_inputs(draft, todo), at)


def _first_open(draft: Draft) -> float:
    going = _OPEN | {"in_progress"}
    open_ranks = (draft.rank(t) for t, status in draft.statuses().items() if status in going)
    return min(open_ranks, default=0.0)


def _with_inputs(draft: Draft, todo: SupervisorTodo) -> SupervisorTodo:
    """Freeze what a TODO without dependencies of its own gets: what was completed before it when it asks."""
    if todo.dependencies or not todo.metadata.get("manual"):
        return todo
    done = sorted(draft.with_status(Status.COMPLETED), key=draft.rank)
    return replace(todo, metadata={**todo.metadata, "inputs": done[-_KEPT_INPUTS:]})


def _judge(draft: Draft, todo: SupervisorTodo, at: str) -> None:
    judgement = judge(draft, todo)
    if judgement.ruling is Ruling.DENY:
        error = f"denied by policy rule {judgement.rule}"
        draft.put(todo.move(Status.FAILED, error=error, completed_at=at, metadata={**todo.metadata, "rejected": True}))
        while _follow_dependencies(draft):
            pass
    elif judgement.ruling is Ruling.ALLOW and not todo.missing:
        who = f"policy rule {judgement.rule}" if judgement.rule else f"mode {draft.control.mode}"
        approval = {
            "by": who,
            "at": at,
            "channel": "policy",
            "digest": digest(subject_of(draft, todo)),
            "request_id": "",
            "ahead": False,
        }
        draft.put(replace(todo, approval=approval))
    else:
        draft.put(todo.move(Status.WAITING_APPROVAL))
