"""Which steps of a plan that is written down need which, by the names that its writer used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hitl_tui.core.plan import ExecutionStep, refuse_cycles


def settled(steps: Sequence[ExecutionStep]) -> tuple[ExecutionStep, ...]:
    """Return steps none of which names itself among what it needs, as that says nothing.

    Raises:
        PlanError: they need each other in a circle; the message walks it in the names of the steps.
    """
    found = list(steps)
    for place, step in enumerate(steps):
        kept = [name for name in step.dependencies if _place(name, steps) != place]
        found[place] = replace(step, dependencies=tuple(kept))
    needs = _needs(found)
    names = [step.id or step.agent for step in found]
    refuse_cycles({names[place]: [names[n] for n in needed] for place, needed in enumerate(needs)})
    return tuple(found)


def in_turn(steps: Sequence[ExecutionStep]) -> tuple[ExecutionStep, ...]:
    """Return settled steps so that each stands after those that it needs, otherwise in the order given."""
    needs, left, done = _needs(steps), list(range(len(steps))), list[int]()
    while left:
        first = next(place for place in left if all(n in done for n in needs[place]))
        left.remove(first)
        done.append(first)
    return tuple(steps[place] for place in done)


def _needs(steps: Sequence[ExecutionStep]) -> list[list[int]]:
    """Return the places of the steps that each one names; a name for none or several is refused elsewhere."""
    found = ([_place(name, steps) for name in step.dependencies] for step in steps)
    return [[place for place in places if place is not None] for places in found]


def _place(name: str, steps: Sequence[ExecutionStep]) -> int | None:
    by_id = [place for place, step in enumerate(steps) if step.id == name]
    found = by_id or [place for place, step in enumerate(steps) if step.agent == name]
    return found[0] if len(found) == 1 else None
