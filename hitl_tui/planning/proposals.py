"""What planners return: plans, and changes of a plan that become a `Proposal`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hitl_tui.core.errors import BadInput, PlanError, UnknownName
from hitl_tui.core.json_text import short_id
from hitl_tui.core.json_types import Json, JsonObject, ProposedChange, TodoMetadata
from hitl_tui.core.messages import Message
from hitl_tui.core.names import step_name
from hitl_tui.core.plan import (
    AgentFacts,
    Change,
    ExecutionPlan,
    ExecutionPlanConverter,
    ExecutionStep,
    Intent,
    Proposal,
    Strategy,
    in_order,
    refuse_cycles,
)
from hitl_tui.core.todos import Priority, SupervisorTodo, without


class NoChange(BadInput):
    """A text asks for no change of the plan that could be recognised."""


@dataclass(frozen=True, slots=True)
class Planned:
    """What a planner makes of a query.

    Args:
        intent: what the query wants.
        plan: how it is met.
        notes: what a person should know, for example that an agent is disabled and planned without.
    """

    intent: Intent
    plan: ExecutionPlan
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CurrentPlan:
    """A plan that may change.

    Args:
        query: the session's query.
        todos: its steps, in order.
        agents: every agent there is, by name; disabled ones are never planned.
        remarks: under review, all that the reviewer said so far, the one to work in last; then nothing has begun.
    """

    query: str
    todos: Sequence[SupervisorTodo]
    agents: Mapping[str, AgentFacts]
    remarks: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class AddStep:
    """Add a TODO.

    Args:
        step: what it does. Its dependencies name TODOs there are, or steps added in the same proposal (by step id,
            or by agent where only one of them uses it).
        feeds: TODOs there are that had better wait for it; kept as metadata `feeds`, nothing is changed on them.
        metadata: more to keep with the TODO.
    """

    step: ExecutionStep
    feeds: tuple[str, ...] = ()
    metadata: TodoMetadata = field(default_factory=lambda: TodoMetadata())


@dataclass(frozen=True, slots=True)
class SkipTodo:
    """Skip a TODO."""

    todo_id: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RemoveTodo:
    """Take a TODO that never started out of the plan."""

    todo_id: str


@dataclass(frozen=True, slots=True)
class SetPriority:
    """Give a TODO another priority."""

    todo_id: str
    priority: Priority


@dataclass(frozen=True, slots=True)
class SetArguments:
    """Give a TODO that hasn't begun another input, as `ExecutionStep.input_mapping` has it."""

    todo_id: str
    inputs: JsonObject


@dataclass(frozen=True, slots=True)
class SetAfter:
    """Let a TODO that hasn't begun wait for exactly these TODOs, or steps that are added with it.

    Args:
        todo_id: the TODO.
        after: what it waits for.
        where: on which side of `anchor` it stands, `before` or `after`.
        anchor: the TODO or step beside it; empty where it stays in its place.
    """

    todo_id: str
    after: tuple[str, ...]
    where: str = ""
    anchor: str = ""


PlanChange = AddStep | SkipTodo | RemoveTodo | SetPriority | SetArguments | SetAfter


@dataclass(frozen=True, slots=True)
class Proposed:
    """What a planner proposes.

    Args:
        reason: why, in one sentence.
        changes: in the order they are to be made.
        strategy: of a plan under review: how its steps run; None for as before.
        notes: what of the words wasn't worked in, a sentence each.
    """

    reason: str
    changes: tuple[PlanChange, ...]
    strategy: Strategy | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reworked:
    """A plan that was asked about, with what was said of it worked in.

    Args:
        todos: in order; those that stay have their ids.
        strategy: how they run; None for as before.
        notes: what of it wasn't worked in, a sentence each.
    """

    todos: tuple[SupervisorTodo, ...]
    strategy: Strategy | None = None
    notes: tuple[str, ...] = ()


def carried_out(
    changes: Sequence[PlanChange],
    todos: Sequence[SupervisorTodo],
    converter: ExecutionPlanConverter,
    taken: Iterable[str] = (),
) -> list[SupervisorTodo]:
    """Return a plan of which nothing has begun with changes made; what needed a step that goes needs what that needed.

    Args:
        changes: in order.
        todos: the plan as it is.
        converter: turns steps into TODOs.
        taken: ids used before by TODOs that are not in the plan any more.

    Raises:
        UnknownName: a change names a TODO that doesn't exist.
        PlanError: steps that can't be planned.
        BadInput: a team can't use a step's input.
    """
    plan = {todo.id: todo for todo in todos}
    added, names = _added(changes, plan, converter, [*plan, *taken])
    fresh, places = iter(added), list[SetAfter]()
    for change in changes:
        if isinstance(change, AddStep):
            todo = next(fresh)
            plan[todo.id] = replace(todo, metadata=without(todo.metadata, "feeds"))
            for fed in change.feeds:
                plan[fed] = replace(plan[fed], dependencies=(*plan[fed].dependencies, todo.id))
        elif isinstance(change, SetArguments):
            plan[change.todo_id] = converter.rebound(plan[change.todo_id], change.inputs)
        elif isinstance(change, SetPriority):
            plan[change.todo_id] = replace(plan[change.todo_id], priority=change.priority)
        elif isinstance(change, SetAfter):
            plan[change.todo_id] = replace(plan[change.todo_id], dependencies=_named(change.after, names))
            places += [change] if change.anchor else []
        else:
            gone = plan.pop(change.todo_id)
            plan = {key: _without(todo, gone) for key, todo in plan.items()}
    order = list(plan)
    for place in places:
        order.remove(place.todo_id)
        order.insert(order.index(names.get(place.anchor, place.anchor)) + (place.where == "after"), place.todo_id)
    return [replace(t, rank=float(n)) for n, t in enumerate(in_order([plan[key] for key in order]), start=1)]


def _named(ids: Iterable[str], names: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names.get(one, one) for one in ids))


def _without(todo: SupervisorTodo, gone: SupervisorTodo) -> SupervisorTodo:
    if gone.id not in todo.dependencies:
        return todo
    heirs = (i for d in todo.dependencies for i in (gone.dependencies if d == gone.id else (d,)))
    return replace(todo, dependencies=tuple(dict.fromkeys(heirs)))


def build_proposal(
    proposed: Proposed,
    todos: Sequence[SupervisorTodo],
    converter: ExecutionPlanConverter,
    *,
    origin: str,
    text: str,
    taken: Iterable[str] = (),
    occasion: Sequence[Json] = (),
) -> Proposal:
    """Return the proposal: added TODOs complete, with ids after the highest there is.

    Args:
        proposed: what a planner proposes.
        todos: the plan as it is.
        converter: turns steps into TODOs.
        origin: `operator`, or the id of the TODO whose result led to it.
        text: the words it came from.
        taken: ids used before by TODOs that are not in the plan any more.
        occasion: what tells this proposal from another one with the same content.

    Raises:
        UnknownName: a change names a TODO that doesn't exist.
        PlanError: steps that can't be planned, or nothing to change.
        BadInput: a team can't use a step's input.
    """
    if not proposed.changes:
        raise PlanError(Message("This proposal changes nothing."))
    known = {todo.id: todo for todo in todos}
    added, names = _added(proposed.changes, known, converter, [*known, *taken])
    by: TodoMetadata = {"added_by": "user", "manual": True} if origin == "operator" else {"added_by": "planner"}
    fresh = iter(added)
    changes: list[ProposedChange] = []
    for change in proposed.changes:
        if isinstance(change, AddStep):
            todo = next(fresh)
            changes.append({"kind": Change.ADD, "todo": replace(todo, metadata={**todo.metadata, **by}).to_dict()})
        elif isinstance(change, SetArguments):
            bound = converter.rebound(known[change.todo_id], change.inputs)
            given: ProposedChange = {"kind": Change.EDIT, "todo_id": bound.id, "arguments": dict(bound.arguments)}
            changes.append({**given, "risk": bound.risk.value})
        elif isinstance(change, SetPriority):
            level = change.priority.value
            changes.append({"kind": Change.PRIORITY, "todo_id": change.todo_id, "priority": level})
        elif isinstance(change, SetAfter):
            after, anchor = _named(change.after, names), names.get(change.anchor, change.anchor)
            moved: ProposedChange = {"kind": Change.AFTER, "todo_id": change.todo_id, "after": list(after)}
            changes.append({**moved, "where": change.where, "anchor": anchor})
        elif isinstance(change, SkipTodo) and change.reason:
            changes.append({"kind": Change.SKIP, "todo_id": change.todo_id, "reason": change.reason})
        else:
            kind = Change.SKIP if isinstance(change, SkipTodo) else Change.REMOVE
            changes.append({"kind": kind, "todo_id": change.todo_id})
    lasting = [{**c, "todo": {**c["todo"], "created_at": ""}} if "todo" in c else c for c in changes]
    return Proposal(
        id="proposal_" + short_id("proposal", origin, text, lasting, len(known), list(occasion)),
        reason=proposed.reason,
        origin=origin,
        changes=tuple(changes),
        text=text,
    )


def _added(
    changes: Sequence[PlanChange],
    known: Mapping[str, SupervisorTodo],
    converter: ExecutionPlanConverter,
    taken: Sequence[str],
) -> tuple[list[SupervisorTodo], dict[str, str]]:
    """Return the TODOs of the steps that are added, and the ids that these got; what changes name has to exist."""
    additions = [change for change in changes if isinstance(change, AddStep)]
    inner = [replace(a.step, dependencies=tuple(d for d in a.step.dependencies if d not in known)) for a in additions]
    converted = converter.convert_with_strategy(ExecutionPlan(tuple(inner)), taken=taken)
    names = {a.step.id: todo.id for a, todo in zip(additions, converted, strict=True) if a.step.id}
    said = [*(c.todo_id for c in changes if not isinstance(c, AddStep)), *(f for a in additions for f in a.feeds)]
    said += [d for c in changes if isinstance(c, SetAfter) for d in (*c.after, *filter(None, [c.anchor]))]
    if unknown := next((name for name in said if name not in known and name not in names), ""):
        raise UnknownName(Message('No step "{}".', step_name(unknown)))
    edges = {todo.id: list(todo.dependencies) for todo in known.values()}
    edges |= {change.todo_id: list(_named(change.after, names)) for change in changes if isinstance(change, SetAfter)}
    last = max((t.rank for t in known.values()), default=0.0)
    added = []
    for number, (addition, todo) in enumerate(zip(additions, converted, strict=True), start=1):
        outer = (d for d in addition.step.dependencies if d in known)
        metadata: TodoMetadata = {**todo.metadata, **addition.metadata}
        if not converter.agents[todo.agent_name].reads_results:
            metadata["alone"] = True
        if addition.feeds:
            metadata["feeds"] = list(addition.feeds)
        edges[todo.id] = list(dict.fromkeys([*outer, *todo.dependencies]))
        for fed in addition.feeds:
            edges[fed].append(todo.id)
        added.append(replace(todo, dependencies=tuple(edges[todo.id]), metadata=metadata, rank=last + number))
    refuse_cycles(edges)
    return added, names
