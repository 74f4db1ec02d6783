"""What planners return: plans, and changes of a plan that become a `Proposal`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hitl_tui.core.errors import BadInput, PlanError, UnknownName
from hitl_tui.core.json_text import short_id
from hitl_tui.core.json_types import Json, ProposedChange, TodoMetadata
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
    refuse_cycles,
)
from hitl_tui.core.todos import SupervisorTodo


class NoChange(BadInput):
    """A text asks for no change of the plan that could be recognised."""


class UnknownTask(NoChange):
    """A text tells to do what neither a step of the plan nor anything that is declared does."""


@dataclass(frozen=True, slots=True)
class Planned:
    """What a planner makes of a query.

    Args:
        notes: what a person should know, for example that an agent is disabled and planned without.
    """

    intent: Intent
    plan: ExecutionPlan
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CurrentPlan:
    """A plan that may change.

    Args:
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
        step: what it does. Its dependencies name steps added in the same proposal (by step id, or by agent where
            only one of them uses it), or else TODOs there are.
        feeds: TODOs there are that had better wait for it; kept as metadata `feeds`, nothing is changed on them.
    """

    step: ExecutionStep
    feeds: tuple[str, ...] = ()
    metadata: TodoMetadata = field(default_factory=lambda: TodoMetadata())


PlanChange = AddStep | ProposedChange
"""A step to add, or a change as a `Proposal` has it; the arguments of an edit are as in `ExecutionStep.input_mapping`,
and what a TODO is to wait for may name steps that are added with it."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """What a planner proposes.

    Args:
        strategy: of a plan under review: how its steps run; None for as before.
        notes: what of the words wasn't worked in, a sentence each.
    """

    reason: str
    changes: tuple[PlanChange, ...]
    strategy: Strategy | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reworked:
    """What a reviewer's words change of a plan that is asked about; see `Proposed`."""

    changes: tuple[ProposedChange, ...]
    strategy: Strategy | None = None
    notes: tuple[str, ...] = ()


def leaves_nothing(changes: Sequence[ProposedChange], todos: Sequence[SupervisorTodo]) -> bool:
    """Whether changes take out every step of a plan of which nothing has begun, and add none."""
    gone = {change["todo_id"] for change in changes if change["kind"] in (Change.SKIP, Change.REMOVE)}
    return gone.issuperset(todo.id for todo in todos) and all(change["kind"] != Change.ADD for change in changes)


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
        origin: `operator`, or the id of the TODO whose result led to it.
        occasion: what tells this proposal from another one with the same content.

    Raises:
        PlanError: nothing changes; for others see `resolved`.
    """
    if not proposed.changes:
        raise PlanError(Message("This proposal changes nothing."))
    by: TodoMetadata = {"added_by": "user", "manual": True} if origin == "operator" else {"added_by": "planner"}
    changes = resolved(proposed.changes, todos, converter, taken, by)
    lasting = [{**c, "todo": {**c["todo"], "created_at": ""}} if "todo" in c else c for c in changes]
    made_from = ["proposal", origin, text, lasting, len(todos), list(occasion)]
    return Proposal("proposal_" + short_id(*made_from), proposed.reason, origin, tuple(changes), text)


def resolved(
    changes: Sequence[PlanChange],
    todos: Sequence[SupervisorTodo],
    converter: ExecutionPlanConverter,
    taken: Iterable[str] = (),
    by: TodoMetadata | None = None,
    *,
    own_names: bool = False,
) -> list[ProposedChange]:
    """Return changes with the ids, the inputs and the TODOs that come of them.

    Args:
        taken: ids used before by TODOs that are not in the plan any more.
        by: who adds what is added, as metadata.
        own_names: an error says names as whoever proposes the changes wrote them, not as operators say them.

    Raises:
        UnknownName, PlanError, BadInput: a TODO doesn't exist, a step can't be planned, or its input can't be used.
    """
    known = {todo.id: todo for todo in todos}
    additions = [change for change in changes if isinstance(change, AddStep)]
    outer = known.keys() - {a.step.id for a in additions}
    inner = [replace(a.step, dependencies=tuple(d for d in a.step.dependencies if d not in outer)) for a in additions]
    added = converter.convert_with_strategy(ExecutionPlan(tuple(inner)), taken=[*known, *taken])
    names = {a.step.id: todo.id for a, todo in zip(additions, added, strict=True) if a.step.id}

    def named(name: str) -> str:
        if name not in known and name not in names:
            raise UnknownName(Message('No step "{}".', name if own_names else step_name(name)))
        return names.get(name, name)

    edges, found = {todo.id: list(todo.dependencies) for todo in todos}, list[ProposedChange]()
    last, fresh = max((t.rank for t in todos), default=0.0), iter(added)
    for change in changes:
        if not isinstance(change, AddStep):
            todo_id = named(change["todo_id"])
            if change["kind"] == Change.EDIT:
                bound = converter.rebound(known[todo_id], change["arguments"])
                change = {**change, "arguments": dict(bound.arguments), "risk": bound.risk.value}
            elif change["kind"] == Change.AFTER:
                edges[todo_id] = list(dict.fromkeys(map(named, change["after"])))
                anchor = change.get("anchor", "")
                change = {**change, "after": edges[todo_id], "anchor": anchor and named(anchor)}
            found.append(change)
            continue
        todo, last = next(fresh), last + 1
        metadata: TodoMetadata = {**todo.metadata, **change.metadata, **(by or {})}
        if not converter.agents[todo.agent_name].reads_results:
            metadata["alone"] = True
        if change.feeds:
            metadata["feeds"] = list(change.feeds)
        earlier = (d for d in change.step.dependencies if d in outer)
        edges[todo.id] = list(dict.fromkeys([*earlier, *todo.dependencies]))
        for fed in change.feeds:
            edges[named(fed)].append(todo.id)
        todo = replace(todo, dependencies=tuple(edges[todo.id]), metadata=metadata, rank=last)
        found.append({"kind": Change.ADD, "todo": todo.to_dict()})
    said = {todo_id: name for name, todo_id in names.items()} if own_names else {}
    refuse_cycles({said.get(i, i): [said.get(d, d) for d in needed] for i, needed in edges.items()})
    return found
