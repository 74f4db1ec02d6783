"""What a model fills in becomes a plan or changes of one, and what it is told where it can't (D6)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import pytest
from planning_support import agents

from hitl_tui.core.errors import BadInput, PlanError
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.plan import ExecutionPlanConverter
from hitl_tui.core.todos import Priority, Status, SupervisorTodo
from hitl_tui.planning.model_planner import ModelPlanner
from hitl_tui.planning.proposals import AddStep, CurrentPlan, Planned, Proposed
from hitl_tui.planning.rule_planner.planner import RulePlanner

AGENTS = agents()


@dataclass
class Fills:
    """A model that fills in what a test says; the last is filled in again for ever."""

    script: list[dict[str, Any] | None]
    told: list[str] = field(default_factory=list)
    schemas: list[JsonObject] = field(default_factory=list)
    memory: dict[str, Planned] = field(default_factory=dict)
    name: str = "openai:scripted"
    proposals: bool = True

    async def fill(
        self, told: Sequence[tuple[str, str]], name: str, description: str, schema: JsonObject, *, todo_id: str = ""
    ) -> tuple[dict[str, Any] | None, str]:
        self.told.append(told[-1][1])
        self.schemas.append(schema)
        return (self.script.pop(0) if len(self.script) > 1 else self.script[0]), ""


def step(id: str, *after: str, agent: str = "search_team", **more: Any) -> dict[str, Any]:
    return {"id": id, "agent": agent, "title": f"Step {id}", "task": f"Do {id}", "after": list(after), **more}


def planned(model: Fills) -> list[SupervisorTodo]:
    found = asyncio.run(ModelPlanner(model, RulePlanner()).plan("do it", AGENTS))
    return ExecutionPlanConverter(AGENTS, forms=True).convert_with_strategy(found.plan)


def plan_of(*steps: Mapping[str, Any], **more: Any) -> Fills:
    return Fills([{"steps": [*steps], **more}])


def in_turn(model: Fills) -> list[str]:
    return [str(todo.metadata["step"]) for todo in planned(model)]


# In turn ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "order"),
    [
        ((step("1", "2"), step("2")), ["2", "1"]),
        ((step("1"), step("2", "4"), step("3"), step("4")), ["1", "3", "4", "2"]),
        ((step("1", "analysis_team"), step("2", agent="analysis_team")), ["2", "1"]),
        ((step("1"), step("2"), step("3", "1")), ["1", "2", "3"]),
    ],
)
def test_steps_in_turn_follow_what_they_need_and_then_the_order_given(
    steps: Sequence[Mapping[str, Any]], order: list[str]
) -> None:
    model = plan_of(*steps, strategy="sequential")
    assert in_turn(model) == order
    assert len(model.told) == 1
    todos = planned(plan_of(*steps, strategy="sequential"))
    for before, after in pairwise(todos):
        assert before.id in after.dependencies and before.rank < after.rank


def test_other_strategies_keep_the_order_given() -> None:
    assert in_turn(plan_of(step("1", "2"), step("2"), strategy="pipeline")) == ["1", "2"]


@pytest.mark.parametrize("strategy", ["sequential", "pipeline"])
@pytest.mark.parametrize(
    ("steps", "cycle"),
    [
        ((step("1", "2"), step("2", "1")), "1 → 2 → 1"),
        ((step("", "2"), step("2", "search_team", agent="analysis_team")), "search_team → 2 → search_team"),
    ],
)
def test_a_cycle_is_told_in_the_names_that_the_model_used(
    steps: Sequence[Mapping[str, Any]], cycle: str, strategy: str
) -> None:
    model = plan_of(*steps, strategy=strategy)
    with pytest.raises(PlanError, match=cycle):
        planned(model)
    assert f"The plan has a cycle: {cycle}." in model.told[1]
    assert "todo_" not in model.told[1]


@pytest.mark.parametrize("strategy", ["sequential", "pipeline"])
@pytest.mark.parametrize("itself", ["1", "search_team"])
def test_a_step_that_waits_for_itself_waits_for_nothing(itself: str, strategy: str) -> None:
    model = plan_of(step("1", itself), strategy=strategy)
    (todo,) = planned(model)
    assert (todo.dependencies, len(model.told)) == ((), 1)


def test_a_step_that_waits_for_itself_waits_for_the_others_it_names() -> None:
    _, second = planned(plan_of(step("1"), step("2", "1", "2")))
    assert second.dependencies == ("todo_001",)


# Nothing ---------------------------------------------------------------------------------------------------------


def test_an_empty_plan_is_asked_for_again_once() -> None:
    model = Fills([{"steps": []}, {"steps": [step("1")]}])
    assert in_turn(model) == ["1"]
    assert "The plan has no step" in model.told[1]
    with pytest.raises(PlanError, match="asked again as well: The plan has no step"):
        planned(never := Fills([{"steps": []}]))
    assert len(never.told) == 2


def test_what_no_agent_can_do_is_not_asked_for_again() -> None:
    model = Fills([{"steps": [], "missing": "flying"}])
    with pytest.raises(PlanError, match="No agent can do this: flying"):
        planned(model)
    assert len(model.told) == 1


# Changes ---------------------------------------------------------------------------------------------------------


def current(*statuses: Status) -> CurrentPlan:
    """Return a plan whose first step waits for nothing, and each other one for the first."""
    todos = planned(plan_of(*(step(str(n), *(["1"] if n > 1 else [])) for n in range(1, len(statuses) + 1))))
    return CurrentPlan("do it", [replace(t, status=s) for t, s in zip(todos, statuses, strict=True)], AGENTS)


PENDING = (Status.PENDING, Status.PENDING)


def revised(model: Fills, plan: CurrentPlan) -> Proposed:
    return asyncio.run(ModelPlanner(model, RulePlanner()).revise("change it", plan))


def changes(*items: Mapping[str, Any], **more: Any) -> Fills:
    return Fills([{"changes": [*items], **more}])


WITHOUT_EFFECT: list[dict[str, Any]] = [
    {"kind": "after", "todo": "todo_001"},
    {"kind": "after", "todo": "todo_001", "after": []},
    {"kind": "after", "todo": "todo_001", "after": ["todo_001"]},
    {"kind": "after", "todo": "todo_002"},
    {"kind": "after", "todo": "todo_002", "after": ["todo_002"]},
    {"kind": "after", "todo": "todo_002", "after": ["todo_001", "todo_002"]},
    {"kind": "priority", "todo": "todo_001", "priority": "medium"},
    {"kind": "edit", "todo": "todo_001", "input": {"query": "Do 1"}},
]


@pytest.mark.parametrize("change", WITHOUT_EFFECT, ids=json.dumps)
def test_a_change_without_effect_is_none(change: Mapping[str, Any]) -> None:
    model = changes(change, reason="Order matters.")
    with pytest.raises(BadInput, match="openai:scripted changes nothing: it proposes no change"):
        revised(model, current(*PENDING))
    assert len(model.told) == 1
    skip = {"kind": "skip", "todo": "todo_002"}
    found = revised(changes(change, skip, reason="It is done."), current(*PENDING))
    assert (found.changes, found.reason) == (({"kind": "skip", "todo_id": "todo_002"},), "It is done.")


def test_a_step_may_come_to_wait_for_nothing() -> None:
    found = revised(changes({"kind": "after", "todo": "todo_002", "after": []}), current(*PENDING))
    assert found.changes == ({"kind": "after", "todo_id": "todo_002", "after": []},)


def test_a_cycle_of_changes_is_told_in_the_names_that_the_model_used() -> None:
    model = changes(
        {"kind": "add", "step": step("law", "todo_002")},
        {"kind": "after", "todo": "todo_001", "after": ["law"]},
    )
    with pytest.raises(PlanError):
        revised(model, current(*PENDING))
    assert "The plan has a cycle: todo_001 → law → todo_002 → todo_001." in model.told[1]
    model = changes({"kind": "add", "step": step("law", "tax")}, {"kind": "add", "step": step("tax", "law")})
    with pytest.raises(PlanError):
        revised(model, current(*PENDING))
    assert "The plan has a cycle: law → tax → law." in model.told[1]
    model = changes({"kind": "after", "todo": "todo_001", "after": ["todo_009"]})
    with pytest.raises(PlanError):
        revised(model, current(*PENDING))
    assert 'No step "todo_009".' in model.told[1]


def test_a_step_to_add_that_waits_for_itself_waits_for_nothing() -> None:
    (added,) = revised(changes({"kind": "add", "step": step("law", "law", "todo_001")}), current(*PENDING)).changes
    assert isinstance(added, AddStep)
    assert added.step.dependencies == ("todo_001",)


# After a step ----------------------------------------------------------------------------------------------------


def offered(model: Fills) -> tuple[list[str], list[str]]:
    """Return the steps and the kinds of change that the form of a model's last call allows."""
    schema: Any = model.schemas[-1]
    fields = schema["properties"]["changes"]["items"]["properties"]
    return fields["todo"]["enum"], fields["kind"]["enum"]


def followed(model: Fills, plan: CurrentPlan) -> Proposed | None:
    planner = ModelPlanner(model, RulePlanner())
    return asyncio.run(planner.follow_up(plan.todos[0], {"text": "found"}, plan))


def test_only_steps_that_can_be_changed_are_offered_to_be() -> None:
    model = changes()
    plan = current(
        Status.IN_PROGRESS,
        Status.COMPLETED,
        Status.PENDING,
        Status.WAITING_APPROVAL,
        Status.IN_PROGRESS,
        Status.BLOCKED,
    )
    assert followed(model, plan) is None
    todos, kinds = offered(model)
    assert [name for name in todos if name] == ["todo_003", "todo_004", "todo_006"]
    assert "skip" in kinds
    assert "These steps can be changed: todo_003, todo_004, todo_006." in model.told[-1]
    first = json.loads(next(line for line in model.told[-1].splitlines() if '"todo_001"' in line))
    assert first["status"] == "completed"


def test_where_no_step_can_be_changed_only_some_can_be_added() -> None:
    model = changes({"kind": "add", "step": step("more", "todo_001")})
    found = followed(model, current(Status.IN_PROGRESS))
    assert found is not None and len(found.changes) == 1
    assert offered(model) == ([""], ["add"])
    assert "No step of it can be changed any more" in model.told[-1]


def test_all_steps_of_a_plan_under_review_are_offered() -> None:
    model = changes({"kind": "priority", "todo": "todo_001", "priority": Priority.HIGH.value})
    revised(model, replace(current(*PENDING), remarks=["change it"]))
    assert offered(model)[0] == ["", "todo_001", "todo_002"]
