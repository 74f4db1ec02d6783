"""What planners return: plans, and changes of a plan that become a `Proposal`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hitl_tui.core.errors import BadInput, PlanError, UnknownName
from hitl_tui.core.json_text import short_id
from hitl_tui.core.json_types import Json, JsonObject, ProposedChange, TodoMetadata
from hitl_tui.core.messages import Message
from hitl_tui.core.names import step_name
from hitl_tui.core.plan import (
    Change,
    ExecutionPlan,
    ExecutionPlanConverter,
    ExecutionStep,
    Intent,
    Proposal,
    Strategy,
    refuse_cycles,
)
from hitl_tui.core.todos import Priority, SupervisorTodo


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


PlanChange = AddStep | SkipTodo | RemoveTodo | SetPriority | SetArguments


@dataclass(frozen=True, slots=True)
class SetAfter:
    """Let a TODO of a plan that hasn't begun come after exactly these TODOs, or steps that are added with it."""

    todo_id: str
    after: tuple[str, ...]


ReviewChange = PlanChange | SetAfter


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
    changes: Iterable[ReviewChange],
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
    wanted, plan = tuple(changes), {todo.id: todo for todo in todos}
    additions = tuple(change for change in wanted if isinstance(change, AddStep))
    converted = _added(Proposed("", additions), plan, converter, [*plan, *taken], user=False)
    names = {change.step.id: todo.id for change, todo in zip(additions, converted, strict=True) if change.step.id}
    added = iter(converted)
    for change in wanted:
        if isinstance(change, AddStep):
            todo = next(added)
            metadata = todo.metadata.copy()
            for fed in metadata.pop("feeds", ()):
                plan[fed] = replace(plan[fed], dependencies=(*plan[fed].dependencies, todo.id))
            metadata.pop("added_by", None)
            plan[todo.id] = replace(todo, metadata=metadata)
        elif change.todo_id not in plan:
            raise UnknownName(Message('No step "{}".', step_name(change.todo_id)))
        elif isinstance(change, SetArguments):
            plan[change.todo_id] = converter.rebound(plan[change.todo_id], change.inputs)
        elif isinstance(change, SetPriority):
            plan[change.todo_id] = replace(plan[change.todo_id], priority=change.priority)
        elif isinstance(change, SetAfter):
            after = tuple(dict.fromkeys(names.get(name, name) for name in change.after))
            if unknown := next((name for name in after if name not in {*plan, *names.values()}), ""):
                raise UnknownName(Message('No step "{}".', step_name(unknown)))
            plan[change.todo_id] = replace(plan[change.todo_id], dependencies=after)
        else:
            gone = plan.pop(change.todo_id)
            plan = {key: _without(todo, gone) for key, todo in plan.items()}
    return in_order(list(plan.values()))


def _without(todo: SupervisorTodo, gone: SupervisorTodo) -> SupervisorTodo:
    if gone.id not in todo.dependencies:
        return todo
    heirs = (i for d in todo.dependencies for i in (gone.dependencies if d == gone.id else (d,)))
    return replace(todo, dependencies=tuple(dict.fromkeys(heirs)))


def in_order(todos: Sequence[SupervisorTodo]) -> list[SupervisorTodo]:
    """Return TODOs so that each stands after what it depends on, otherwise in the order they have, and ranked so.

    Raises:
        PlanError: they depend on each other in a circle.
    """
    refuse_cycles({todo.id: todo.dependencies for todo in todos})
    waiting, done = list(todos), dict[str, SupervisorTodo]()
    while waiting:
        todo = next(t for t in waiting if done.keys() >= {*t.dependencies})
        waiting.remove(todo)
        done[todo.id] = replace(todo, rank=float(len(done) + 1))
    return list(done.values())


@dataclass(frozen=True, slots=True)
class Proposed:
    """What a planner proposes.

    Args:
        reason: why, in one sentence.
        changes: in the order they are to be made.
    """

    reason: str
    changes: tuple[PlanChange, ...]


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
    for change in proposed.changes:
        if not isinstance(change, AddStep) and change.todo_id not in known:
            raise UnknownName(
                Message('The proposal changes the step "{}", which doesn\'t exist.', step_name(change.todo_id))
            )
    added = _added(proposed, known, converter, [*known, *taken], user=origin == "operator")
    fresh = iter(added)
    changes = tuple(
        _edit(converter.rebound(known[change.todo_id], change.inputs))
        if isinstance(change, SetArguments)
        else _change(change, fresh)
        for change in proposed.changes
    )
    lasting = [{**c, "todo": {**c["todo"], "created_at": ""}} if "todo" in c else c for c in changes]
    return Proposal(
        id="proposal_" + short_id("proposal", origin, text, lasting, len(known), list(occasion)),
        reason=proposed.reason,
        origin=origin,
        changes=changes,
        text=text,
    )


def _added(
    proposed: Proposed,
    known: Mapping[str, SupervisorTodo],
    converter: ExecutionPlanConverter,
    taken: Sequence[str],
    *,
    user: bool,
) -> list[SupervisorTodo]:
    additions = [c for c in proposed.changes if isinstance(c, AddStep)]
    inner = [replace(a.step, dependencies=tuple(d for d in a.step.dependencies if d not in known)) for a in additions]
    converted = converter.convert_with_strategy(ExecutionPlan(tuple(inner)), taken=taken)
    last = max((t.rank for t in known.values()), default=0.0)
    added = []
    for number, (addition, todo) in enumerate(zip(additions, converted, strict=True), start=1):
        outer = tuple(d for d in addition.step.dependencies if d in known)
        unknown = [f for f in addition.feeds if f not in known]
        if unknown:
            raise UnknownName(Message('The proposal feeds the step "{}", which doesn\'t exist.', unknown[0]))
        metadata: TodoMetadata = {**todo.metadata, **addition.metadata, "added_by": "user" if user else "planner"}
        if user:
            metadata["manual"] = True
        if not converter.agents[todo.agent_name].reads_results:
            metadata["alone"] = True
        if addition.feeds:
            metadata["feeds"] = list(addition.feeds)
        dependencies = tuple(dict.fromkeys([*outer, *todo.dependencies]))
        added.append(replace(todo, dependencies=dependencies, metadata=metadata, rank=last + number))
    _refuse_circular(known, added)
    return added


def _refuse_circular(known: Mapping[str, SupervisorTodo], added: Sequence[SupervisorTodo]) -> None:
    edges = {todo.id: list(todo.dependencies) for todo in [*known.values(), *added]}
    for todo in added:
        for fed in todo.metadata.get("feeds", ()):
            edges[fed].append(todo.id)
    refuse_cycles(edges)


def _edit(todo: SupervisorTodo) -> ProposedChange:
    kind = Change.EDIT.value
    return {"kind": kind, "todo_id": todo.id, "arguments": dict(todo.arguments), "risk": todo.risk.value}


def _change(change: AddStep | SkipTodo | RemoveTodo | SetPriority, fresh: Iterator[SupervisorTodo]) -> ProposedChange:
    if isinstance(change, AddStep):
        return {"kind": Change.ADD.value, "todo": next(fresh).to_dict()}
    if isinstance(change, SkipTodo):
        skipped: ProposedChange = {"kind": Change.SKIP.value, "todo_id": change.todo_id}
        if change.reason:
            skipped["reason"] = change.reason
        return skipped
    if isinstance(change, RemoveTodo):
        return {"kind": Change.REMOVE.value, "todo_id": change.todo_id}
    return {"kind": Change.PRIORITY.value, "todo_id": change.todo_id, "priority": change.priority.value}
