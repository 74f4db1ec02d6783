"""Feedback on a plan that nobody accepted yet (P1): the same words as during a session, applied to its steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from hitl_tui.core.errors import BadInput, PlanError
from hitl_tui.core.plan import AgentFacts, ExecutionPlan, ExecutionPlanConverter, ExecutionStep
from hitl_tui.core.todos import Priority
from hitl_tui.planning.commands import CommandFacts
from hitl_tui.planning.proposals import AddStep, Proposed, SetPriority
from hitl_tui.planning.reading import shown
from hitl_tui.planning.revising import revise_text
from hitl_tui.planning.ruleset import Rules
from hitl_tui.planning.scene import Scene
from hitl_tui.planning.steps import finished, reference

_NUMBERS = {Priority.CRITICAL: 0, Priority.HIGH: 0, Priority.MEDIUM: 1, Priority.LOW: 2}


@dataclass(frozen=True, slots=True)
class _Entry:
    """A step under a key of its own; dependencies are keys."""

    key: str
    step: ExecutionStep
    dependencies: tuple[str, ...]


def apply_feedback(
    plan: ExecutionPlan,
    feedback: str,
    query: str,
    agents: Mapping[str, AgentFacts],
    commands: Mapping[str, CommandFacts],
    rules: Rules,
) -> ExecutionPlan:
    """Return the plan with every line of feedback worked in, one after the other.

    Raises:
        BadInput: a line asks for no change of the plan.
        PlanError: nothing of the plan is left, or a change isn't possible.
    """
    lines = [line for line in shown(feedback, rules.limits).splitlines() if line.strip()]
    if len(lines) > rules.limits.clauses:
        raise BadInput(f"The feedback has {len(lines)} lines; at most {rules.limits.clauses} are worked in.")
    for line in lines:
        plan = _apply_line(plan, line, query, agents, commands, rules)
    return plan


def _apply_line(
    plan: ExecutionPlan,
    line: str,
    query: str,
    agents: Mapping[str, AgentFacts],
    commands: Mapping[str, CommandFacts],
    rules: Rules,
) -> ExecutionPlan:
    ordered = next((s for s, e in rules.strategy.items() if e.search(line)), "")
    if ordered:
        line = rules.strategy[ordered].sub(" ", line)
        plan = finished(plan.steps, type(plan.strategy)(ordered), rules)
    # Plain dependencies are what the steps say; one at a time is the strategy's business.
    todos = ExecutionPlanConverter(agents).convert(replace(plan, strategy=type(plan.strategy).PIPELINE))
    try:
        proposed = revise_text(Scene(line, query, todos, agents, commands, rules))
    except PlanError:
        raise
    except BadInput:
        if ordered:
            return plan
        raise
    entries = [_Entry(todo.id, step, todo.dependencies) for todo, step in zip(todos, plan.steps, strict=True)]
    entries = _changed(entries, proposed)
    if not entries:
        raise PlanError("This feedback leaves nothing of the plan; add a step or reject the plan.")
    return finished(_steps(_sorted(entries)), plan.strategy, rules)


def _changed(entries: list[_Entry], proposed: Proposed) -> list[_Entry]:
    keys = {entry.key: entry.key for entry in entries}
    for number, change in enumerate(proposed.changes):
        if isinstance(change, AddStep):
            key = f"new_{number}"
            known = tuple(keys[d] for d in change.step.dependencies if d in keys)
            keys[reference(change.step)] = key
            entries = [replace(e, dependencies=(*e.dependencies, key)) if e.key in change.feeds else e for e in entries]
            entries.append(_Entry(key, replace(change.step, id=""), known))
        elif isinstance(change, SetPriority):
            priority = _NUMBERS[change.priority]
            entries = [
                replace(e, step=replace(e.step, priority=priority)) if e.key == change.todo_id else e for e in entries
            ]
        else:
            entries = _without(entries, change.todo_id)
    return entries


def _without(entries: Sequence[_Entry], key: str) -> list[_Entry]:
    """Take a step out; what depended on it depends on what it depended on."""
    inherited = next((e.dependencies for e in entries if e.key == key), ())
    kept = []
    for entry in entries:
        if entry.key != key:
            dependencies = [i for d in entry.dependencies for i in (inherited if d == key else (d,))]
            kept.append(replace(entry, dependencies=tuple(dict.fromkeys(dependencies))))
    return kept


def _sorted(entries: Iterable[_Entry]) -> list[_Entry]:
    """Return the entries so that each stands after what it depends on, otherwise in the order they have."""
    waiting = list(entries)
    done: list[_Entry] = []
    while waiting:
        names = {e.key for e in done}
        ready = next((e for e in waiting if names.issuperset(e.dependencies)), waiting[0])
        done.append(ready)
        waiting.remove(ready)
    return done


def _steps(entries: Sequence[_Entry]) -> list[ExecutionStep]:
    agents = [e.step.agent for e in entries]
    names: dict[str, str] = {}
    counts: dict[str, int] = {}
    for entry in entries:
        agent = entry.step.agent
        counts[agent] = counts.get(agent, 0) + 1
        several = agents.count(agent) > 1
        names[entry.key] = f"{agent.removesuffix('_team')}_{counts[agent]}" if several else ""
    agent_of = {e.key: e.step.agent for e in entries}
    return [
        replace(
            e.step,
            id=names[e.key],
            dependencies=tuple(names[d] or agent_of[d] for d in e.dependencies),
        )
        for e in entries
    ]
