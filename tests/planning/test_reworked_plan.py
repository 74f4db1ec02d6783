"""What a reviewer says of a plan is worked into it: the plan that is meant, or as it is and why (P1)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from feedback_cases import CASES, FULL, FULL_EN, KEPT, ONE, OPS, TWO
from feedback_judge import agent, is_meant, reviewed, right, shown
from planning_support import carried_out

from hitl_tui.core.errors import BadInput
from hitl_tui.core.plan import Strategy
from hitl_tui.core.todos import Priority
from hitl_tui.planning.proposals import CurrentPlan

NOT_YET = {
    "송파구 것으로 바꿔서 찾아줘",
}
"""Sentences whose plan isn't the one that is meant."""


@pytest.mark.parametrize(
    ("query", "said", "meant"), CASES, ids=[f"{said} ({n})" for n, (_, said, _) in enumerate(CASES)]
)
async def test_feedback_gives_the_plan_that_is_meant(query: str, said: str | tuple[str, ...], meant: str) -> None:
    plan = await reviewed(query, (said,) if isinstance(said, str) else said)
    assert right(plan, meant) is (said not in NOT_YET), shown(plan)


async def test_what_stays_keeps_its_id_and_what_was_changed_by_hand() -> None:
    planner = agent()
    todos = planner.convert_with_strategy((await planner.create_execution_plan(FULL)).plan)
    todos[0] = replace(todos[0], priority=Priority.CRITICAL, arguments={**todos[0].arguments, "query": "edited"})
    found = carried_out((await planner.rework(["보고서는 빼줘"], FULL, todos)).changes, todos)
    assert (found[0].id, found[0].arguments["query"]) == ("todo_001", "edited")
    assert found[0].priority is Priority.CRITICAL
    remarks = ["보고서는 빼줘", "보고서도 추가해줘"]
    again = carried_out((await planner.rework(remarks, FULL, found, ["todo_003"])).changes, found)
    assert [t.id for t in again] == ["todo_001", "todo_002", "todo_004"]
    assert again[-1].created_at


async def test_a_korean_ending_is_no_part_of_what_is_looked_for() -> None:
    plan = await reviewed(FULL, ["보고서는 빼고 서초구 시세도 검색해줘"])
    assert [t.arguments["query"] for t in plan if not isinstance(t, str) and t.id == "todo_004"] == ["서초구 시세"]


async def test_feedback_says_how_steps_run() -> None:
    planner = agent()
    todos = planner.convert_with_strategy((await planner.create_execution_plan(FULL)).plan)
    found = await planner.rework(["순서대로 하나씩 해줘."], FULL, todos)
    assert found.strategy is Strategy.SEQUENTIAL


async def test_what_of_it_isnt_taken_up_is_said_beside_what_is() -> None:
    planner = agent()
    todos = planner.convert_with_strategy((await planner.create_execution_plan(FULL_EN)).plan)
    found = await planner.rework(["Drop the report. Remove step 9. The weather is nice today."], FULL_EN, todos)
    assert [t.id for t in carried_out(found.changes, todos)] == ["todo_001", "todo_002"]
    assert found.notes == ("No step 009; known: 001, 002, 003.", "Not taken up: 'The weather is nice today.'")


@pytest.mark.parametrize(
    ("query", "said", "why"),
    [
        (ONE, "looks good", 'No change to the plan found in "looks good".'),
        (ONE, "remove everything", "This feedback leaves nothing of the plan; add a step or reject the plan."),
        (FULL, "분석을 검색보다 먼저 해줘", "002 works from what 001 finds, so it can't come before it."),
        (FULL_EN, "do the search last", "002 works from what 001 finds, so it can't come before it."),
        (TWO, "clean-logs before list-files", "The plan has 001 there already."),
        (OPS, "first backup-database, then list-files", "The plan has 001, 002 there already."),
        (ONE, "보고서는 빼줘", "The plan has no report step to remove."),
        (ONE, "", "The text is empty; say what is to change in the plan."),
    ],
)
async def test_what_cant_be_worked_in_says_why(query: str, said: str, why: str) -> None:
    assert await reviewed(query, [said]) == why


async def test_a_long_remark_is_read_up_to_a_bound() -> None:
    plan = await reviewed(ONE, ["분석 추가\n" * 5_000])
    assert not isinstance(plan, str) and is_meant(plan, "search > analysis")


async def test_a_graphs_plan_and_a_read_only_one_take_no_feedback() -> None:
    from hitl_tui.planning.attached_planner import AttachedPlanner

    with pytest.raises(BadInput, match="there is nothing else to plan"):
        await AttachedPlanner("agent").revise("add a search", CurrentPlan("x", (), {}, ["add a search"]))


def test_half_of_the_cases_are_korean() -> None:
    korean = [said for _, said, _ in CASES if any("가" <= letter <= "힣" for letter in str(said))]
    assert len(CASES) >= 90 and len(CASES) // 3 <= len(korean) <= 2 * len(CASES) // 3
    assert sum(meant == KEPT for _, _, meant in CASES) >= 5


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("clean-logs days=3, the others 40", 'clean-logs is planned without regard to "others 40".'),
        ("skip the backup, days=5", "Not taken up: 'days=5'"),
        ("swap 1 and 2 and the backup mode=delta", "Not taken up: 'mode=delta'"),
        ("skip the backup. dir=logs please", '"dir=logs please" is for one of 002, 003; say which.'),
        ("put the cleanup first with days=30", None),
        ("clean-logs with 2 weeks", None),
    ],
)
async def test_what_of_a_change_is_not_worked_in_is_named(said: str, left: str | None) -> None:
    """(P1)"""
    planner = agent()
    todos = planner.convert_with_strategy((await planner.create_execution_plan(OPS)).plan)
    found = await planner.rework([said], OPS, todos)
    assert found.changes
    assert [str(note) for note in found.notes] == ([left] if left else [])
