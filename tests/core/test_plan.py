"""How plans become TODOs, and what makes a plan unusable (D3, D6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_tui.core.errors import BadInput, PlanError
from hitl_tui.core.plan import (
    AgentFacts,
    ExecutionPlan,
    ExecutionPlanConverter,
    ExecutionStep,
    Intent,
    Strategy,
    current_todo_id,
    next_ids,
    priority_of,
    refuse_cycles,
)
from hitl_tui.core.policy import Risk
from hitl_tui.core.todos import Priority, Status, SupervisorTodo


def bind(task: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    if not task:
        raise BadInput("A task is needed.")
    return {"task": task, **parameters}


def facts(name: str, **changes: Any) -> AgentFacts:
    plain = AgentFacts(
        name=name,
        team=f"{name}_team",
        description=f"does {name}",
        enabled=True,
        max_retries=2,
        timeout=30.0,
        bind=bind,
        risk_of=lambda arguments: Risk.HIGH if "delete" in arguments else Risk.LOW,
    )
    return replace(plain, **changes)


AGENTS = {name: facts(name) for name in ("search", "analysis", "document")} | {"old": facts("old", enabled=False)}
CONVERTER = ExecutionPlanConverter(AGENTS, now="2025-03-01T09:00:00+00:00")


def step(agent: str, *dependencies: str, **changes: Any) -> ExecutionStep:
    return replace(ExecutionStep(agent, f"{agent} it", dependencies=dependencies), **changes)


def convert(*steps: ExecutionStep, strategy: Strategy = Strategy.PIPELINE, **options: Any) -> list[SupervisorTodo]:
    return CONVERTER.convert_with_strategy(ExecutionPlan(steps, strategy), **options)


def test_steps_become_todos_with_ids_and_mapped_dependencies() -> None:
    search, analysis = convert(step("search", priority=0), step("analysis", "search"))
    assert (search.id, analysis.id) == ("todo_001", "todo_002")
    assert (search.dependencies, analysis.dependencies) == ((), ("todo_001",))
    assert (search.agent_name, search.agent_purpose) == ("search_team", "does search")
    assert (search.status, search.priority, search.rank) == (Status.PENDING, Priority.HIGH, 1.0)
    assert search.created_at == "2025-03-01T09:00:00+00:00"
    assert search.arguments == {"task": "search it"}
    assert search.metadata == {"agent": "search"}


def test_a_step_overrides_what_its_team_does_by_default() -> None:
    plain, own = convert(
        step("search"),
        step(
            "search",
            id="again",
            name="Look again",
            task="first line\nsecond line",
            retry_count=0,
            timeout=5.0,
            optional=True,
            purpose="to be sure",
            expected_output="hits",
            input_mapping={"delete": True},
        ),
    )
    assert (plain.max_retries, plain.timeout, plain.optional, plain.risk) == (2, 30.0, False, Risk.LOW)
    assert (own.max_retries, own.timeout, own.optional, own.risk) == (0, 5.0, True, Risk.HIGH)
    assert (own.name, own.agent_purpose, own.expected_output) == ("Look again", "to be sure", "hits")
    assert own.metadata == {"agent": "search", "step": "again", "input_mapping": {"delete": True}}
    assert own.arguments == {"task": "first line\nsecond line", "delete": True}


@pytest.mark.parametrize(("number", "priority"), [(0, "high"), (1, "medium"), (2, "low"), (99, "low"), (-1, "low")])
def test_priorities_are_mapped(number: int, priority: str) -> None:
    assert priority_of(number) == priority


def test_two_steps_of_one_agent_are_named_by_their_ids() -> None:
    todos = convert(step("search", id="a"), step("search", id="b"), step("analysis", "b", "a", "b"))
    assert todos[2].dependencies == ("todo_002", "todo_001")
    with pytest.raises(PlanError, match='"search", which several steps use'):
        convert(step("search", id="a"), step("search", id="b"), step("analysis", "search"))


def test_a_step_id_wins_over_an_agent_of_the_same_name() -> None:
    todos = convert(step("search"), step("analysis", id="search"), step("document", "search"))
    assert todos[2].dependencies == ("todo_002",)


def test_sequential_plans_run_one_after_the_other() -> None:
    todos = convert(step("search"), step("analysis"), step("document", "search"), strategy=Strategy.SEQUENTIAL)
    assert [t.dependencies for t in todos] == [(), ("todo_001",), ("todo_001", "todo_002")]
    todos = convert(step("search"), step("analysis"), strategy=Strategy.PARALLEL)
    assert [t.dependencies for t in todos] == [(), ()]


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([step("cook")], '"cook", which doesn\'t exist; known: analysis, document'),
        ([step("old")], '"old", which is disabled'),
        ([step("search", id="a"), step("analysis", id="a")], 'the id "a"'),
        ([step("search", "nobody")], '"nobody", which the plan doesn\'t have'),
        ([step("search", "search")], "todo_001 → todo_001"),
        ([step("search", "analysis"), step("analysis", "search")], "todo_001 → todo_002 → todo_001"),
    ],
)
def test_an_unusable_plan_is_refused_by_what_is_wrong(steps: list[ExecutionStep], words: str) -> None:
    with pytest.raises(PlanError, match=words):
        convert(*steps)


def test_a_sequence_that_waits_for_its_own_end_is_a_cycle() -> None:
    with pytest.raises(PlanError, match="cycle"):
        convert(step("search", "analysis"), step("analysis"), strategy=Strategy.SEQUENTIAL)


def test_input_that_a_team_cannot_use_is_its_own_error() -> None:
    with pytest.raises(BadInput, match="A task is needed"):
        convert(step("search", task="", name="empty"))


def test_an_empty_plan_has_no_todos() -> None:
    assert convert() == []


@given(st.lists(st.integers(1, 5000).map("todo_{:03d}".format) | st.text(max_size=8)), st.integers(0, 5))
def test_new_ids_follow_the_highest_ever_used(taken: list[str], count: int) -> None:
    fresh = next_ids(taken, count)
    assert len(fresh) == count
    assert not set(fresh) & set(taken)
    numbers = [int(i.removeprefix("todo_")) for i in fresh]
    assert numbers == list(range(numbers[0], numbers[0] + count)) if numbers else count == 0
    assert all(
        int(t[5:]) < min(numbers) for t in taken if t[:5] == "todo_" and t[5:].isascii() and t[5:].isdigit() and numbers
    )


GRAPHS = st.integers(1, 7).flatmap(
    lambda size: st.lists(st.lists(st.integers(0, size - 1), max_size=3, unique=True), min_size=size, max_size=size)
)


def ends(graph: Mapping[str, list[str]]) -> bool:
    """Take away what depends on nothing that is left, as long as there is some: a cycle never goes."""
    left = set(graph)
    while free := {node for node in left if not left & set(graph[node])}:
        left -= free
    return not left


@given(GRAPHS)
def test_a_cycle_is_found_exactly_when_there_is_one_and_walked(edges: list[list[int]]) -> None:
    graph = {f"n{node}": [f"n{child}" for child in children] for node, children in enumerate(edges)}
    if ends(graph):
        refuse_cycles(graph)
        return
    with pytest.raises(PlanError) as refused:
        refuse_cycles(graph)
    walk = refused.value.message.removeprefix("The plan has a cycle: ").removesuffix(".").split(" → ")
    assert walk[0] == walk[-1]
    assert len(set(walk)) == len(walk) - 1
    assert all(after in graph[before] for before, after in pairwise(walk))


def test_a_long_chain_is_no_cycle_and_no_recursion() -> None:
    refuse_cycles({str(n): [str(n + 1)] for n in range(20_000)})


@given(GRAPHS)
def test_plans_keep_their_shape(edges: list[list[int]]) -> None:
    steps = [step("search", *(f"s{c}" for c in children if c < n), id=f"s{n}") for n, children in enumerate(edges)]
    todos = convert(*steps, taken=["todo_041"])
    assert [t.id for t in todos] == [f"todo_{42 + n:03d}" for n in range(len(edges))]
    for n, children in enumerate(edges):
        assert set(todos[n].dependencies) == {f"todo_{42 + c:03d}" for c in children if c < n}
    assert [t.rank for t in todos] == [float(n + 1) for n in range(len(edges))]


def test_the_current_todo_is_the_first_that_asks_else_the_first_that_runs() -> None:
    def todo(number: int, status: Status, priority: Priority = Priority.MEDIUM) -> SupervisorTodo:
        return SupervisorTodo(f"todo_{number:03d}", "x", status=status, priority=priority, rank=float(number))

    todos = (
        *(todo(n, status) for n, status in enumerate((Status.COMPLETED, Status.FAILED, Status.SKIPPED), 1)),
        todo(4, Status.IN_PROGRESS),
        todo(5, Status.WAITING_APPROVAL),
        todo(6, Status.WAITING_APPROVAL, Priority.CRITICAL),
    )
    assert current_todo_id(todos) == "todo_006"
    assert current_todo_id(todos[:5]) == "todo_005"
    assert current_todo_id(todos[:4]) == "todo_004"
    assert current_todo_id(todos[:3]) == ""


TEXTS = st.text(max_size=10)


@given(
    st.builds(
        Intent,
        TEXTS,
        confidence=st.floats(0, 1),
        keywords=st.lists(TEXTS, max_size=3).map(tuple),
        entities=st.dictionaries(TEXTS, st.lists(TEXTS, max_size=2), max_size=2),
        language=st.sampled_from(["ko", "en"]),
    )
)
def test_intents_round_trip(intent: Intent) -> None:
    assert Intent.from_dict(intent.to_dict()) == intent
