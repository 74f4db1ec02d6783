"""How an execution plan becomes TODOs (D6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hitl_tui.core.errors import PlanError
from hitl_tui.core.plan import AgentFacts, ExecutionPlan, ExecutionStep, Strategy
from hitl_tui.core.todos import Priority, SupervisorTodo


@dataclass(frozen=True, slots=True)
class ExecutionPlanConverter:
    """Turns plans into TODOs (D6).

    Args:
        agents: every agent there is, by name.
        now: time of creation, ISO 8601 in UTC.
    """

    agents: Mapping[str, AgentFacts]
    now: str = ""

    def convert(self, plan: ExecutionPlan, *, taken: Iterable[str] = ()) -> list[SupervisorTodo]:
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
        noted = {"notes": list(plan.notes)} if plan.notes else {}
        todos = []
        for index, (step, todo_id) in enumerate(zip(steps, ids, strict=True)):
            facts = self._facts(step)
            dependencies = [self._dependency(step, name, names) for name in step.dependencies]
            if plan.strategy is Strategy.SEQUENTIAL and index:
                dependencies.append(ids[index - 1])
            todos.append(self._todo(step, todo_id, facts, tuple(dict.fromkeys(dependencies)), noted))
        refuse_cycles({todo.id: todo.dependencies for todo in todos})
        return [replace(todo, rank=float(index)) for index, todo in enumerate(todos, start=1)]

    def _facts(self, step: ExecutionStep) -> AgentFacts:
        facts = self.agents.get(step.agent)
        if facts is None:
            known = ", ".join(sorted(self.agents)) or "none"
            raise PlanError(f'The plan uses the agent "{step.agent}", which doesn\'t exist; there are {known}.')
        if not facts.enabled:
            raise PlanError(f'The plan uses the agent "{step.agent}", which is disabled.')
        return facts

    @staticmethod
    def _names(steps: Sequence[ExecutionStep], ids: Sequence[str]) -> dict[str, list[str]]:
        names: dict[str, list[str]] = {}
        for step, todo_id in zip(steps, ids, strict=True):
            if step.id:
                if step.id in names:
                    raise PlanError(f'Two steps of the plan have the id "{step.id}".')
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
            raise PlanError(f'The step "{step.name or step.agent}" depends on "{name}", which the plan doesn\'t have.')
        if len(found) > 1:
            raise PlanError(
                f'The step "{step.name or step.agent}" depends on "{name}", which several steps use; '
                "name the step's id."
            )
        return found[0]

    def _todo(
        self,
        step: ExecutionStep,
        todo_id: str,
        facts: AgentFacts,
        dependencies: tuple[str, ...],
        noted: Mapping[str, Any],
    ) -> SupervisorTodo:
        arguments = facts.bind(step.task, step.input_mapping)
        retries = facts.max_retries if step.retry_count is None else step.retry_count
        metadata: dict[str, Any] = {"agent": step.agent, **noted}
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
            max_retries=retries,
            arguments=arguments,
            risk=facts.risk_of(arguments),
            optional=step.optional,
            timeout=step.timeout or facts.timeout,
        )


def priority_of(number: int) -> Priority:
    """0 → high, 1 → medium, everything else → low (D6)."""
    return {0: Priority.HIGH, 1: Priority.MEDIUM}.get(number, Priority.LOW)


def next_ids(taken: Iterable[str], count: int) -> list[str]:
    """Return `count` fresh TODO ids: numbers go on after the highest that was ever used."""
    highest = 0
    for todo_id in taken:
        number = todo_id.removeprefix("todo_")
        if number.isascii() and number.isdigit() and len(number) < 19:
            highest = max(highest, int(number))
    return [f"todo_{highest + i:03d}" for i in range(1, count + 1)]


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
                    raise PlanError(f"The plan has a cycle: {cycle}.")
                if not state.get(child) and child in dependencies:
                    stack.append((child, 0))
            else:
                state[node] = 2
                path.pop()
