"""How a revised plan differs from the one before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

from hitl_tui.core.json_types import PlanDifference, StepMoved, StepNamed
from hitl_tui.core.names import clip
from hitl_tui.core.todos import SupervisorTodo

MOST_LISTED = 40
"""Steps of each kind that are listed; `more` says how many there are besides."""


def plan_difference(
    before: Sequence[SupervisorTodo], after: Sequence[SupervisorTodo], remark: str, notes: Sequence[str]
) -> PlanDifference:
    """Return how a plan differs from the one before, by the ids of its steps.

    Args:
        before, after: the plans, in order.
        remark: what was said of the one before.
        notes: what of it wasn't worked in, a sentence each.
    """
    old, new = {todo.id: todo for todo in before}, {todo.id: todo for todo in after}
    both = [todo.id for todo in after if todo.id in old]
    moved = _out_of_order([todo.id for todo in before if todo.id in new], both)
    waits = [i for i in both if i in moved or _waits(old[i], new) != _waits(new[i], old)]
    added = [_named(todo) for todo in after if todo.id not in old]
    removed = [_named(todo) for todo in before if todo.id not in new]
    changed = [_named(new[i]) for i in both if _what(old[i]) != _what(new[i])]
    found: list[StepMoved] = [{**_named(new[i]), "after": list(new[i].dependencies)} for i in waits]
    return {
        "remark": remark[:2000],
        "added": added[:MOST_LISTED],
        "removed": removed[:MOST_LISTED],
        "moved": found[:MOST_LISTED],
        "changed": changed[:MOST_LISTED],
        "kept": len(both),
        "more": sum(max(0, len(steps) - MOST_LISTED) for steps in (added, removed, found, changed)),
        "notes": [clip(note, 500) for note in notes[:MOST_LISTED]],
    }


def _named(todo: SupervisorTodo) -> StepNamed:
    return {"id": todo.id, "title": todo.name}


def _waits(todo: SupervisorTodo, others: Mapping[str, SupervisorTodo]) -> frozenset[str]:
    """Return what a step waits for of those that are in both plans."""
    return frozenset(d for d in todo.dependencies if d in others)


def _what(todo: SupervisorTodo) -> tuple[object, ...]:
    return todo.name, todo.description, dict(todo.arguments), todo.priority, todo.agent_name


def _out_of_order(before: Sequence[str], after: Sequence[str]) -> set[str]:
    """Return the fewest steps that stand somewhere else among the others."""
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    kept = {i for block in blocks for i in before[block.a : block.a + block.size]}
    return {i for i in after if i not in kept}
