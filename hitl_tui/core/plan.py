"""Intents, execution plans, the TODOs made of them, and proposals to change a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from heapq import heappop, heappush
from typing import Protocol, cast

from hitl_tui.core.errors import MissingInput, PlanError
from hitl_tui.core.json_types import (
    Json,
    JsonObject,
    JsonSchema,
    ProposalState,
    ProposedChange,
    Stored,
    TodoMetadata,
)
from hitl_tui.core.messages import Message, joined
from hitl_tui.core.names import in_runs, step_name
from hitl_tui.core.policy import Risk
from hitl_tui.core.todos import Priority, Status, SupervisorTodo


class Strategy(StrEnum):
    """`sequential` runs one TODO at a time in order; `parallel` and `pipeline` go by dependencies alone."""

    SEQUENTIAL = "sequential"
    PARALLEL = "parallel"
    PIPELINE = "pipeline"


@dataclass(frozen=True, slots=True)
class Intent:
    """What a query wants.

    Args:
        type: name of the kind of query, for example `search` or `comprehensive`.
        confidence: 0 to 1.
        keywords: words that decided it.
        entities: what it is about, by kind: `{"amount": ["3억"], "place": ["강남구"]}`.
        language: `ko` or `en`.
        notes: what a person should know of the plan, such as what of the query it leaves out.
    """

    type: str
    confidence: float = 0.0
    keywords: tuple[str, ...] = ()
    entities: JsonObject = field(default_factory=dict)
    language: str = "en"
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return all fields as JSON values; `from_dict` gives back an equal intent."""
        return {
            "type": self.type,
            "confidence": self.confidence,
            "keywords": list(self.keywords),
            "entities": dict(self.entities),
            "language": self.language,
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, data: Stored) -> Intent:
        """Return the intent these fields describe; what is missing gets its default."""
        return cls(
            type=str(data.get("type", "")),
            confidence=float(data.get("confidence", 0.0)),
            keywords=tuple(data.get("keywords", ())),
            entities=dict(data.get("entities", {})),
            language=str(data.get("language", "en")),
            notes=tuple(map(str, data.get("notes", ()))),
        )


@dataclass(frozen=True, slots=True)
class ExecutionStep:
    """One step of a plan.

    Args:
        agent: the agent that takes it; agents map to teams.
        task: what to do, in words.
        name: a short title; made from `task` when empty.
        id: needed when two steps use one agent, so that dependencies can name it.
        dependencies: agents or step ids that must be done first.
        priority: 0 high, 1 medium, 2 and more low.
        timeout: seconds; 0 takes the team's own.
        retry_count: how often a failure is tried again, the TODO's `max_retries`; None takes the team's own.
        optional: a failure skips it instead of blocking what depends on it.
        input_mapping: named parameters for the team.
        purpose: why this agent.
        expected_output: what should come out.
        unplaced: amounts that the query names for this step and that none of its parameters takes.
        conditions: what the query says that has to hold for this step, which nothing checks.
        unread: parts of the query about this step that nothing was made of.
    """

    agent: str
    task: str
    name: str = ""
    id: str = ""
    dependencies: tuple[str, ...] = ()
    priority: int = 1
    timeout: float = 0.0
    retry_count: int | None = None
    optional: bool = False
    input_mapping: JsonObject = field(default_factory=dict)
    purpose: str = ""
    expected_output: str = ""
    unplaced: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return all fields as JSON values."""
        return {
            "agent": self.agent,
            "task": self.task,
            "name": self.name,
            "id": self.id,
            "dependencies": list(self.dependencies),
            "priority": self.priority,
            "timeout": self.timeout,
            "retry_count": self.retry_count,
            "optional": self.optional,
            "input_mapping": dict(self.input_mapping),
            "purpose": self.purpose,
            "expected_output": self.expected_output,
            "unplaced": list(self.unplaced),
            "conditions": list(self.conditions),
            "unread": list(self.unread),
        }


@dataclass(frozen=True, slots=True)
class ExecutionPlan:
    """What a planner hands over.

    Args:
        steps: in order.
        strategy: how they run.
        parallel_groups: step ids or agents that may run together, for people to read.
        estimated_time: seconds.
        notes: what a person should know before a step of it runs; its TODOs keep them as metadata `notes`.
    """

    steps: tuple[ExecutionStep, ...]
    strategy: Strategy = Strategy.PIPELINE
    parallel_groups: tuple[tuple[str, ...], ...] = ()
    estimated_time: float = 0.0
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return all fields as JSON values."""
        return {
            "steps": [step.to_dict() for step in self.steps],
            "strategy": self.strategy.value,
            "parallel_groups": [list(group) for group in self.parallel_groups],
            "estimated_time": self.estimated_time,
            "notes": list(self.notes),
        }


class Concern(StrEnum):
    """How far a question that names no team is one team's business."""

    NONE = "none"
    BESIDE = "beside"  # it works on what is found for the question
    ALONE = "alone"  # the question holds all that it needs


@dataclass(frozen=True, slots=True)
class AgentFacts:
    """What planning and the supervisor must know of an agent and its team.

    Args:
        name: the agent; plans name it.
        team: the team that carries its TODOs out.
        description: one line.
        enabled: a disabled agent is never planned.
        max_retries: the team's own number of retries.
        timeout: the team's own limit in seconds.
        bind: task text and parameters → exact arguments (raises BadInput).
        risk_of: exact arguments → risk class.
        reads_results: the team looks at what earlier TODOs found.
        needs_results: the team has nothing to do where they found nothing.
        programs: exact arguments → the digests of what they may execute, as it is now (raises BadInput); None where
            arguments hold none.
        changed: the `programs` that were asked about and those of now → names of the files that differ; None where
            its arguments hold none.
        optional: a failure skips its steps instead of blocking what depends on them.
        takes_question: the session's question is its task where a person gives it no other.
        concern: a question → how far it is the team's business, named or not.
        parameters: what `name=value` may name, and what each is, for a person who writes it.
        schema: the JSON Schema of the arguments that are filled in from what a person says; empty for a team that
            takes the words themselves.
        call_argument: the argument that holds those; empty where they stand by themselves.
        problem: why nothing can be planned for it now; empty for nothing.
        input_schema: the JSON Schema of all of its arguments, as they are approved.
        retries_of: exact arguments → how often they are tried again; None for the team's own number.
        optional_for: exact arguments → a failure skips the step; None for the team's own.
        guide: what whoever writes its input has to know besides: who isn't told plans no such step. None for
            nothing.
    """

    name: str
    team: str
    description: str
    enabled: bool
    max_retries: int
    timeout: float
    bind: Callable[[str, JsonObject], dict[str, Json]]
    risk_of: Callable[[JsonObject], Risk]
    reads_results: bool = True
    needs_results: bool = False
    programs: Callable[[JsonObject], Mapping[str, str]] | None = None
    changed: Callable[[Mapping[str, str], Mapping[str, str]], list[str]] | None = None
    optional: bool = False
    takes_question: bool = True
    concern: Callable[[str], Concern] = lambda question: Concern.NONE
    parameters: Callable[[], Mapping[str, str]] = dict
    schema: Callable[[], JsonSchema] = dict
    call_argument: str = ""
    problem: str = ""
    input_schema: Callable[[], JsonSchema] = dict
    retries_of: Callable[[JsonObject], int] | None = None
    optional_for: Callable[[JsonObject], bool] | None = None
    guide: Guide | None = None


class Guide(Protocol):
    """What whoever writes a team's input has to know; it may take a while to find out."""

    def told(self) -> str:
        """Return it, in lines of text; empty where the team can do nothing here."""
        ...

    def check(self, arguments: JsonObject) -> None:
        """Check exact arguments against what is there now.

        Raises:
            BadInput: they can't be carried out; the message says why.
        """
        ...


def current_todo_id(todos: Iterable[SupervisorTodo]) -> str:
    """Return the TODO that asks first (priority, then order), else the first that runs, else an empty text."""
    for status in (Status.WAITING_APPROVAL, Status.IN_PROGRESS):
        found = [t for t in todos if t.status is status]
        if found:
            return min(found, key=lambda t: (t.priority.weight, t.rank)).id
    return ""


class Change(StrEnum):
    """What a proposal may do to a plan."""

    ADD = "add"
    SKIP = "skip"
    REMOVE = "remove"
    PRIORITY = "priority"
    EDIT = "edit"
    AFTER = "after"


_CHANGED: Mapping[str, Message] = {
    Change.ADD: Message("{} added"),
    Change.SKIP: Message("{} skipped"),
    Change.REMOVE: Message("{} removed"),
    Change.PRIORITY: Message("{} with another priority"),
    Change.EDIT: Message("{} with another input"),
    Change.AFTER: Message("{} in another place"),
}


def changed_words(changes: Sequence[ProposedChange]) -> str:
    """Return what changes do to a plan, in a few words: `003, 004 added; 002 removed`."""
    steps: dict[str, list[str]] = {}
    for change in changes:
        todo_id = str(change.get("todo_id") or (change.get("todo") or {}).get("id", ""))
        steps.setdefault(change["kind"], []).append(step_name(todo_id))
    return joined(
        [said.filled(in_runs(dict.fromkeys(steps[kind]))) for kind, said in _CHANGED.items() if kind in steps], "; "
    )


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change to the plan that a person has to accept.

    Args:
        id: stable id.
        reason: why, in one sentence.
        origin: `operator`, or the id of the TODO whose result led to it.
        changes: in order, each `{"kind": "add", "todo": {...}}`, `{"kind": "skip", "todo_id": …}`,
            `{"kind": "remove", "todo_id": …}`, `{"kind": "priority", "todo_id": …, "priority": …}`,
            `{"kind": "edit", "todo_id": …, "arguments": …, "risk": …}` or `{"kind": "after", "todo_id": …, "after":
            [ids of all steps that it waits for], "where": "before" or "after", "anchor": the step beside which it is}`.
        text: the words it came from.
    """

    id: str
    reason: str
    origin: str
    changes: tuple[ProposedChange, ...]
    text: str = ""

    def to_dict(self) -> ProposalState:
        """Return all fields as JSON values."""
        return {
            "id": self.id,
            "reason": self.reason,
            "origin": self.origin,
            "changes": [{**c} for c in self.changes],
            "text": self.text,
        }


@dataclass(frozen=True, slots=True)
class ExecutionPlanConverter:
    """Turns plans into TODOs.

    Args:
        agents: every agent there is, by name.
        now: time of creation, ISO 8601 in UTC.
        forms: a step may lack arguments, which a person fills in before it can be approved.
    """

    agents: Mapping[str, AgentFacts]
    now: str = ""
    forms: bool = False

    def convert_with_strategy(self, plan: ExecutionPlan, *, taken: Iterable[str] = ()) -> list[SupervisorTodo]:
        """Return the TODOs of a plan: ids `todo_001`…, dependencies as ids, the rest of a step as metadata.

        Args:
            plan: the plan.
            taken: ids that exist already; new numbers begin after the highest.

        Raises:
            PlanError: a cycle, an unknown or disabled agent, an unknown dependency or a duplicate step id.
            BadInput: a team can't use a step's input.
        """
        steps = plan.steps
        ids = next_ids(taken, len(steps))
        names = self._names(steps, ids)
        noted: TodoMetadata = {"notes": list(plan.notes)} if plan.notes else {}
        todos = []
        for index, (step, todo_id) in enumerate(zip(steps, ids, strict=True)):
            facts = self._facts(step)
            dependencies = [self._dependency(step, name, names) for name in step.dependencies]
            if plan.strategy is Strategy.SEQUENTIAL and index:
                dependencies.append(ids[index - 1])
            todos.append(self._todo(step, todo_id, facts, tuple(dict.fromkeys(dependencies)), noted))
        refuse_cycles({todo.id: todo.dependencies for todo in todos})
        return [replace(todo, rank=float(index)) for index, todo in enumerate(todos, start=1)]

    def rebound(self, todo: SupervisorTodo, inputs: JsonObject) -> SupervisorTodo:
        """Return a TODO with another input, and the risk of that.

        Raises:
            PlanError: its team doesn't exist any more.
            BadInput: its team can't use the input.
        """
        facts = self.agents.get(str(todo.metadata.get("agent", todo.agent_name)))
        if facts is None:
            raise PlanError(Message("{} has no team any more.", todo.id))
        arguments = facts.bind(todo.description, inputs)
        return replace(todo, arguments=arguments, risk=facts.risk_of(arguments))

    def _facts(self, step: ExecutionStep) -> AgentFacts:
        facts = self.agents.get(step.agent)
        if facts is None:
            known = ", ".join(sorted(self.agents)) or "none"
            raise PlanError(
                Message('The plan uses the agent "{}", which doesn\'t exist; known: {}.', step.agent, known)
            )
        if not facts.enabled:
            raise PlanError(Message('The plan uses the agent "{}", which is disabled.', step.agent))
        return facts

    @staticmethod
    def _names(steps: Sequence[ExecutionStep], ids: Sequence[str]) -> dict[str, list[str]]:
        names: dict[str, list[str]] = {}
        for step, todo_id in zip(steps, ids, strict=True):
            if step.id:
                if step.id in names:
                    raise PlanError(Message('Two steps of the plan have the id "{}".', step.id))
                names[step.id] = [todo_id]
        by_id = frozenset(names)
        for step, todo_id in zip(steps, ids, strict=True):
            if step.agent not in by_id:
                names.setdefault(step.agent, []).append(todo_id)
        return names

    @staticmethod
    def _dependency(step: ExecutionStep, name: str, names: Mapping[str, list[str]]) -> str:
        found = names.get(name)
        if not found:
            raise PlanError(
                Message('The step "{}" depends on "{}", which the plan doesn\'t have.', step.name or step.agent, name)
            )
        if len(found) > 1:
            raise PlanError(
                Message(
                    'The step "{}" depends on "{}", which several steps use; name the step\'s id.',
                    step.name or step.agent,
                    name,
                )
            )
        return found[0]

    def _todo(
        self,
        step: ExecutionStep,
        todo_id: str,
        facts: AgentFacts,
        dependencies: tuple[str, ...],
        noted: TodoMetadata,
    ) -> SupervisorTodo:
        metadata: TodoMetadata = {"agent": step.agent, **noted}
        try:
            arguments = facts.bind(step.task, step.input_mapping)
        except MissingInput as lacking:
            if not self.forms:
                raise
            arguments = cast(dict[str, Json], lacking.given)
            metadata["lacks"] = list(lacking.missing)
        if facts.needs_results:
            metadata["needs_results"] = True
        if step.unplaced:
            metadata["unplaced"] = list(step.unplaced)
        if step.conditions:
            metadata["conditions"] = list(step.conditions)
        if step.unread:
            metadata["unread"] = list(step.unread)
        own = facts.max_retries if facts.retries_of is None else facts.retries_of(arguments)
        optional = facts.optional if facts.optional_for is None else facts.optional_for(arguments)
        if step.id:
            metadata["step"] = step.id
        if step.input_mapping:
            metadata["input_mapping"] = dict(step.input_mapping)
        return SupervisorTodo(
            id=todo_id,
            name=step.name or step.task.strip().split("\n")[0][:60],
            description=step.task,
            agent_name=facts.team,
            agent_purpose=step.purpose or facts.description,
            expected_output=step.expected_output,
            priority=priority_of(step.priority),
            dependencies=dependencies,
            created_at=self.now,
            metadata=metadata,
            max_retries=own if step.retry_count is None else step.retry_count,
            arguments=arguments,
            risk=facts.risk_of(arguments),
            optional=step.optional or optional,
            timeout=step.timeout or facts.timeout,
        )


def priority_of(number: int) -> Priority:
    """0 → high, 1 → medium, everything else → low."""
    return {0: Priority.HIGH, 1: Priority.MEDIUM}.get(number, Priority.LOW)


def next_ids(taken: Iterable[str], count: int) -> list[str]:
    """Return `count` fresh TODO ids: numbers go on after the highest that was ever used."""
    highest = 0
    for todo_id in taken:
        number = todo_id.removeprefix("todo_")
        if number.isascii() and number.isdigit() and len(number) < 19:
            highest = max(highest, int(number))
    return [f"todo_{highest + i:03d}" for i in range(1, count + 1)]


def in_order(todos: Sequence[SupervisorTodo]) -> list[SupervisorTodo]:
    """Return TODOs so that each stands after what it depends on, otherwise in the order they have.

    Raises:
        PlanError: they depend on each other in a circle.
    """
    refuse_cycles({todo.id: todo.dependencies for todo in todos})
    place = {todo.id: n for n, todo in enumerate(todos)}
    waits = {todo.id: {d for d in todo.dependencies if d in place} for todo in todos}
    users: dict[str, list[str]] = {}
    for todo_id, needed in waits.items():
        for dependency in needed:
            users.setdefault(dependency, []).append(todo_id)
    ready, found = [place[todo_id] for todo_id, needed in waits.items() if not needed], list[SupervisorTodo]()
    while ready:
        todo = todos[heappop(ready)]
        found.append(todo)
        for user in users.get(todo.id, ()):
            waits[user].discard(todo.id)
            if not waits[user]:
                heappush(ready, place[user])
    return found


def inherited(waits: Iterable[str], gone: str, heirs: Sequence[str]) -> tuple[str, ...]:
    """Return what a step waits for, with what a step that goes waited for in the place of that."""
    return tuple(dict.fromkeys(i for d in waits for i in (heirs if d == gone else (d,))))


def refuse_cycles(dependencies: Mapping[str, Sequence[str]]) -> None:
    """Check that dependencies have an order.

    Raises:
        PlanError: they don't; the message walks the cycle.
    """
    state: dict[str, int] = {}
    for start in dependencies:
        if state.get(start):
            continue
        path: list[str] = []
        stack: list[tuple[str, int]] = [(start, 0)]
        while stack:
            node, index = stack.pop()
            if index == 0:
                state[node] = 1
                path.append(node)
            children = dependencies.get(node, ())
            if index < len(children):
                stack.append((node, index + 1))
                child = children[index]
                if state.get(child) == 1:
                    cycle = " → ".join([*path[path.index(child) :], child])
                    raise PlanError(Message("The plan has a cycle: {}.", cycle))
                if not state.get(child) and child in dependencies:
                    stack.append((child, 0))
            else:
                state[node] = 2
                path.pop()
