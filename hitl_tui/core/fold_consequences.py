"""What follows by itself after something happened: who is blocked, who asks, what may run without asking."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from itertools import islice

from hitl_tui.core.board import (
    PLAN_ACCEPTED,
    PLAN_DRAFT,
    Draft,
    approval_binds,
    dependencies_met,
    judge,
    subject_of,
    with_inputs,
)
from hitl_tui.core.interrupts.numbers import asked_anew, interrupts_of
from hitl_tui.core.json_text import digest
from hitl_tui.core.json_types import Approval, TodoMetadata
from hitl_tui.core.messages import Message
from hitl_tui.core.plan_index import MANUAL
from hitl_tui.core.policy import Mode, Ruling
from hitl_tui.core.questions import interrupt_questions, plan_question, question_of
from hitl_tui.core.todos import SYSTEM, Status, SupervisorTodo

_FOLLOWING = frozenset({"pending", "waiting_approval", "blocked", "failed"})
"""Statuses of TODOs that what becomes of their dependencies matters to."""


def settle(draft: Draft, at: str) -> None:
    """Let the plan follow.

    Only what the changes can reach is looked at: a thousand TODOs that nothing happened to cost nothing.

    Args:
        draft: is changed in place.
        at: time of the last event; what policies allow carries it.
    """
    reached = _reached(draft)
    while changed := _follow_dependencies(draft, reached):
        reached |= draft.users_of(changed)
    _ask_failures_anew(draft, reached)
    if draft.control.plan == PLAN_ACCEPTED:
        _ask(draft, reached, at)
    elif draft.control.plan == PLAN_DRAFT and draft.changed and _plan_changed(draft):
        # Also when it is changed back: a question that was taken back never comes again as it was.
        draft.control = replace(draft.control, plan_asked=draft.control.plan_asked + 1)
    completed = draft.control.completed + sum(_completion(draft, todo_id) for todo_id in draft.changed)
    concluded = draft.control.concluded and not draft.changed
    if (completed, concluded) != (draft.control.completed, draft.control.concluded):
        draft.control = replace(draft.control, completed=completed, concluded=concluded)


def ask_closed_anew(draft: Draft, closed: Mapping[str, str]) -> None:
    """Ask anew what an event should have ended and didn't: its request is superseded for good.

    Args:
        draft: after the event.
        closed: ids of the TODOs, by the ids of the requests that ended with it.
    """
    for todo_id in sorted({str(todo_id) for todo_id in closed.values()}):
        if todo_id not in draft:
            continue
        todo = draft.get(todo_id)
        inside = {i for i, request in interrupt_questions(draft, todo) if request.id in closed}
        if inside and todo.question is not None:
            interrupts = [asked_anew(i, todo.asked) if i["id"] in inside else i for i in interrupts_of(todo.question)]
            todo = replace(todo, question={**todo.question, "interrupts": interrupts}, asked=todo.asked + 1)
            draft.put(todo)
        asked = question_of(draft, todo)
        if asked is not None and asked.id in closed:
            draft.put(replace(todo, asked=todo.asked + 1))


def _ask_failures_anew(draft: Draft, reached: Iterable[str]) -> None:
    """Ask anew about failures whose retry would get other input than was shown; also when it is the old one again."""
    before = Draft(draft.board, draft.rules)
    for todo_id in reached:
        if todo_id not in before or todo_id not in draft or draft.status(todo_id) != "failed":
            continue
        was, todo = before.get(todo_id), draft.get(todo_id)
        if was.status is not Status.FAILED or was.question is None or todo.question is None or was.asked != todo.asked:
            continue
        shown, now = question_of(before, was), question_of(draft, todo)
        if shown is not None and now is not None and shown.digest != now.digest:
            draft.put(replace(todo, asked=todo.asked + 1))


def _plan_changed(draft: Draft) -> bool:
    before = plan_question(Draft(draft.board, draft.rules))
    return before.digest != plan_question(draft).digest


def _reached(draft: Draft) -> set[str]:
    """Return the TODOs that may have to follow: all of them when the session's course changed."""
    before, now = draft.board.control, draft.control
    if not draft.changed or (before.plan, before.mode, before.branch) != (now.plan, now.mode, now.branch):
        return set(draft)
    return set(draft.changed) | draft.board.index.groups[MANUAL] | draft.users_of(draft.changed)


def _completion(draft: Draft, todo_id: str) -> int:
    """Return 1 when a changed TODO came to be completed, -1 when it no longer is, else 0."""
    before = draft.board.todos.get(todo_id)
    was = before is not None and before["status"] == "completed"
    todo = draft.changed[todo_id]
    return int(todo is not None and todo.status is Status.COMPLETED) - int(was)


def withdraw_unbound(draft: Draft, todo: SupervisorTodo) -> bool:
    """Take an approval back when it stands for something else than what would run now; return whether it did."""
    if approval_binds(draft, todo):
        return False
    draft.put(replace(todo, approval=None, asked=todo.asked + 1))
    return True


def _follow_dependencies(draft: Draft, reached: Iterable[str]) -> set[str]:
    """Block, unblock and mark missing input, one step along the dependencies; return what changed."""
    moved: set[str] = set()
    for todo_id in reached:
        if todo_id not in draft or draft.status(todo_id) not in _FOLLOWING:
            continue
        before = draft.changed.get(todo_id)
        _follow(draft, todo_id)
        if draft.changed.get(todo_id) is not before:
            moved.add(todo_id)
    return moved


def _follow(draft: Draft, todo_id: str) -> None:
    status = draft.status(todo_id)
    if status == "failed":  # whether to retry is asked anew, with the results that there are now
        if draft.missing(todo_id):
            _mark_missing(draft, todo_id)
        return
    states = [draft.status(d) for d in draft.dependencies(todo_id)]
    stuck = "failed" in states or "blocked" in states
    if stuck and status != "blocked":
        todo = draft.get(todo_id)
        draft.put(todo.with_status(Status.BLOCKED, approval=None, question=None, asked=todo.asked + 1))
    elif status == "blocked" and not stuck:
        todo = draft.get(todo_id)
        if not todo.metadata.get("held"):
            draft.put(todo.with_status(Status.PENDING))
    elif ("skipped" in states or draft.missing(todo_id)) and _mark_missing(draft, todo_id):
        return
    elif status == "waiting_approval" and not _still_given(draft, todo_id):
        todo = draft.get(todo_id)
        if todo.question is None:
            # A question that was taken back never comes again as it was: its request is superseded for good.
            draft.put(todo.with_status(Status.PENDING, asked=todo.asked + 1))


def _still_given(draft: Draft, todo_id: str) -> bool:
    """Return whether what a TODO asked with is still there: dependencies done, frozen inputs completed."""
    frozen = draft.get(todo_id).metadata.get("inputs", ())
    return dependencies_met(draft, todo_id) and all(draft.status(i) == "completed" for i in frozen)


def _mark_missing(draft: Draft, todo_id: str) -> bool:
    """A dependency the operator skipped leaves its dependants without input: they ask (again), and say so.

    Once the skip is taken back they ask again without that.
    """
    todo = draft.get(todo_id)
    lost = [
        d
        for d in todo.dependencies
        if draft.status(d) == "skipped"
        and draft.get(d).metadata.get("skipped_by") != SYSTEM
        and draft.get(d).result is None  # what it printed before it failed is there
    ]
    if set(lost) == set(todo.missing) or todo.status is Status.BLOCKED:
        return False
    if todo.status is Status.WAITING_APPROVAL:
        todo = todo.with_status(Status.PENDING, question=None)
    draft.put(replace(todo, missing=tuple(lost), approval=None, asked=todo.asked + 1))
    return True


def _ask(draft: Draft, reached: Iterable[str], at: str) -> None:
    """Let every TODO whose turn it is ask, pass or be denied, as the rules say."""
    first_open: float | None = None
    for todo_id in sorted((t for t in reached if t in draft), key=draft.rank):
        if draft.status(todo_id) != "pending" or not dependencies_met(draft, todo_id):
            continue
        todo = draft.get(todo_id)
        if _without_results(draft, todo):
            if not _fed_by_proposal(draft, todo_id):
                _pass_over(draft, todo, at)
            continue
        if todo.approval is not None:
            if todo.approval.get("channel") != "policy" or judge(draft, todo).ruling is Ruling.ALLOW:
                continue
            todo = replace(todo, approval=None)
        if draft.control.mode is Mode.STEP and todo.metadata.get("manual") and not todo.dependencies:
            if first_open is None:
                first_open = _first_open(draft)
            if first_open < todo.rank and _first_open(draft, _all_users(draft, todo_id)) < todo.rank:
                if draft.get(todo_id).approval is not None:
                    draft.put(todo)
                continue
        _judge(draft, with_inputs(draft, todo), at)
        if draft.status(todo_id) == "failed":
            first_open = None


def _without_results(draft: Draft, todo: SupervisorTodo) -> bool:
    """Whether a planned TODO would only work on results, and every step before it found nothing."""
    if not todo.metadata.get("needs_results") or todo.metadata.get("manual") or todo.asked or todo.approval:
        return False
    before = [draft.get(todo_id) for todo_id in todo.dependencies]
    return bool(before) and all(
        t.status is Status.COMPLETED and t.result and t.result.get("found") is False for t in before
    )


def _fed_by_proposal(draft: Draft, todo_id: str) -> bool:
    """Whether a proposal is open whose steps shall give results to a TODO, or to one before it."""
    waiting = {todo_id, *draft.dependencies(todo_id)}
    changes = [c for p in draft.control.proposals.values() for c in p.get("changes", ()) if isinstance(c, Mapping)]
    for change in changes:
        todo = change.get("todo")
        metadata = todo.get("metadata") if isinstance(todo, Mapping) else None
        fed = metadata.get("feeds") if isinstance(metadata, Mapping) else None
        if isinstance(fed, list | tuple) and not waiting.isdisjoint(map(str, fed)):
            return True
    return False


def _pass_over(draft: Draft, todo: SupervisorTodo, at: str) -> None:
    """Skip a TODO that has nothing to work on, and let what depends on it follow."""
    why = Message("the steps before it found nothing")
    metadata: TodoMetadata = {**todo.metadata, "skip_reason": why, "skipped_by": SYSTEM}
    draft.put(todo.with_status(Status.SKIPPED, approval=None, metadata=metadata, completed_at=at))
    reached = {todo.id}
    while reached := _follow_dependencies(draft, draft.users_of(reached)):
        pass


def _first_open(draft: Draft, besides: Collection[str] = ()) -> float:
    """Return the rank of the first TODO whose turn is still to come, or is now; without some that wait themselves."""
    # What is blocked comes only after something else was decided: nothing waits for its turn.
    going = (Status.PENDING, Status.WAITING_APPROVAL, Status.IN_PROGRESS)
    changed = draft.changed
    still = (rank for rank, i in draft.board.index.line if i not in changed and i not in besides)
    ranks = [*islice(still, 1)]
    ranks += [t.rank for i, t in changed.items() if t is not None and t.status in going and i not in besides]
    return float(min(ranks, default=0.0))


def _all_users(draft: Draft, todo_id: str) -> set[str]:
    """Return the TODOs that depend on one, or on one that does."""
    found: set[str] = set()
    reached = {todo_id}
    while reached := draft.users_of(reached) - found:
        found |= reached
    return found


def _judge(draft: Draft, todo: SupervisorTodo, at: str) -> None:
    judgement = judge(draft, todo)
    before = draft.board.todos.get(todo.id)
    asked = before is not None and before["status"] == "waiting_approval"
    # What people were asked only they answer: what rules have come to allow runs once somebody sets a mode besides.
    unasked = not asked or draft.control.mode is not draft.board.control.mode
    if judgement.ruling is Ruling.DENY:
        error = Message("denied by policy rule {}", judgement.label)
        denied: TodoMetadata = {"rejected": True, "denied": {"rule": judgement.rule, "name": judgement.name}}
        draft.put(todo.with_status(Status.FAILED, error=error, completed_at=at, metadata={**todo.metadata, **denied}))
        reached = {todo.id}
        while reached := _follow_dependencies(draft, draft.users_of(reached)):
            pass
    elif judgement.ruling is Ruling.ALLOW and unasked and not todo.missing:
        who = Message("policy rule {}", judgement.label) if judgement.rule else Message("mode {}", draft.control.mode)
        if asked:
            todo = replace(todo, asked=todo.asked + 1)
        approval: Approval = {
            "by": who,
            "at": at,
            "channel": "policy",
            "digest": digest(subject_of(draft, todo)),
            "request_id": "",
            "ahead": False,
        }
        draft.put(replace(todo, approval=approval))
    else:
        draft.put(todo.with_status(Status.WAITING_APPROVAL))
