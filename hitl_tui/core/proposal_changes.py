"""What the changes of a proposal make of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from hitl_tui.core import fold_operator_events
from hitl_tui.core.board import Draft
from hitl_tui.core.errors import HitlError
from hitl_tui.core.events import Event, EventKind, refusal
from hitl_tui.core.fold_operator_events import DEFAULT_SKIP_REASON
from hitl_tui.core.json_types import EventData, ProposedChange, StepNamed
from hitl_tui.core.messages import Message
from hitl_tui.core.plan import Change, inherited
from hitl_tui.core.todos import Status

MOST_NAMED = 40
"""Steps of a plan that a proposal shows as it is and as it would be."""


def plan_now(draft: Draft) -> list[StepNamed]:
    """Return the steps that aren't skipped, in their order; none of a plan too long to be read beside a question."""
    return _named(draft) if len([*islice(draft, MOST_NAMED + 1)]) <= MOST_NAMED else []


def plan_then(draft: Draft, changes: Sequence[ProposedChange]) -> list[StepNamed]:
    """Return the same of what would come of changes that are accepted now: as it is, where they can't be made."""
    if not (now := plan_now(draft)):
        return now
    then = draft.copy()
    carry_out(then, Event(EventKind.DECIDED, {}), changes)
    return _named(then)


def _named(draft: Draft) -> list[StepNamed]:
    todos = [draft.get(todo_id) for todo_id in sorted(draft, key=draft.rank)]
    return [{"id": todo.id, "title": todo.name} for todo in todos if todo.status is not Status.SKIPPED]


def carry_out(draft: Draft, event: Event, changes: Sequence[ProposedChange]) -> tuple[str, ...]:
    """Make a proposal's changes, all or none, and return the ids of what it adds. Nobody is asked about it any more."""
    before = dict(draft.changed), draft.control
    try:
        return _make(draft, event, changes)
    except (HitlError, LookupError, TypeError, ValueError, AttributeError) as error:
        draft.changed, draft.control = before
        why = error.message if isinstance(error, HitlError) else repr(error)
        message = Message("The plan can no longer change like this: {}", why)
        draft.control = draft.control.refuse([refusal(event, message, "stale")])
        return ()


def work_in(draft: Draft, changes: Sequence[ProposedChange], at: str) -> None:
    """Change a plan of which nothing has begun: what goes leaves it, and what needed that needs what it needed.

    Args:
        at: the time, ISO 8601 in UTC.

    Raises:
        HitlError: they can't be made.
    """
    leave = (Change.SKIP, Change.REMOVE)
    _make(draft, Event(EventKind.DECIDED, {}, at=at), [one for one in changes if one["kind"] not in leave])
    for gone in (draft.get(one["todo_id"]) for one in changes if one["kind"] in leave):
        for todo in [draft.get(user) for user in draft.users_of([gone.id]) if user in draft]:
            draft.put(replace(todo, dependencies=inherited(todo.dependencies, gone.id, gone.dependencies)))
        draft.drop(gone.id)
    fold_operator_events.rank_by_dependencies(draft)


def _make(draft: Draft, event: Event, changes: Sequence[ProposedChange]) -> tuple[str, ...]:
    renamed: dict[str, str] = {}
    for change in changes:
        _apply_change(draft, event, change, renamed)
    if any(Change(c["kind"]) in (Change.ADD, Change.AFTER) for c in changes):
        fold_operator_events.rank_by_dependencies(draft)
    return tuple(renamed.values())


def _apply_change(draft: Draft, event: Event, change: ProposedChange, renamed: dict[str, str]) -> None:
    """Apply one change of a proposal; `renamed` keeps what ids its additions got instead of the proposed ones."""
    kind = Change(change["kind"])
    if kind is Change.ADD:
        todo = fold_operator_events.new_todo(change["todo"])
        todo = replace(todo, dependencies=tuple(renamed.get(d, d) for d in todo.dependencies))
        renamed[str(change["todo"]["id"])] = fold_operator_events.add_todo(draft, event, todo)
    elif kind is Change.SKIP:
        reason = change.get("reason") or DEFAULT_SKIP_REASON
        fold_operator_events.skip(draft, replace(event, data={"todo_id": change["todo_id"], "reason": reason}))
    elif kind is Change.REMOVE:
        fold_operator_events.remove(draft, replace(event, data={"todo_id": change["todo_id"]}))
    elif kind is Change.EDIT:
        given: EventData = {"todo_id": change["todo_id"], "arguments": change["arguments"], "risk": change["risk"]}
        fold_operator_events.edit(draft, replace(event, data=given))
    elif kind is Change.AFTER:
        after = [renamed.get(d, d) for d in change["after"]]
        fold_operator_events.come_after(draft, replace(event, data={"todo_id": change["todo_id"], "after": after}))
        if anchor := change.get("anchor"):
            where: EventData = {"todo_id": change["todo_id"], "where": change["where"]}
            where["anchor"] = renamed.get(anchor, anchor)
            fold_operator_events.place(draft, replace(event, data=where))
    else:
        fold_operator_events.priority(
            draft, replace(event, data={"todo_id": change["todo_id"], "priority": change["priority"]})
        )
