"""A plan never stands still: whatever order it is given, and whatever comes to wait for what (D10, D21)."""

from __future__ import annotations

from pathlib import Path

import pytest
from session_support import ListPlanner, Place, step

from hitl_tui.core.plan import ExecutionStep, Strategy
from hitl_tui.planning.proposals import AddStep, CurrentPlan, Proposed

STEPS = (step("low", "a"), step("medium", "b", "a"), step("high", "c", "b"), step("low", "d", "c"))


class FeedingPlanner(ListPlanner):
    """What is added feeds a step of the plan, which comes to wait for it."""

    async def revise(self, text: str, plan: CurrentPlan) -> Proposed:
        return Proposed("More.", (AddStep(ExecutionStep(agent="low", task=text, id=text), feeds=("todo_004",)),))


@pytest.mark.parametrize("strategy", [Strategy.SEQUENTIAL, Strategy.PIPELINE])
@pytest.mark.parametrize("move", ["4 before 3", "4 before 1", "3 before 2", "1 after 4"])
async def test_a_step_is_never_put_before_what_it_waits_for(tmp_path: Path, strategy: Strategy, move: str) -> None:
    place = Place(tmp_path, planner=ListPlanner(STEPS, strategy))
    async with place.open() as op:
        await op.rest()
        assert "To turn that round, write: move 00" in (await op.try_to(f"/todo move {move}"))["error"]
        assert [question.todo_id for question in await op.finish()] == [f"todo_00{n}" for n in (1, 2, 3, 4)]


@pytest.mark.parametrize("strategy", [Strategy.SEQUENTIAL, Strategy.PIPELINE])
@pytest.mark.parametrize("after", range(4))
async def test_what_is_added_for_a_step_is_asked_before_it(tmp_path: Path, strategy: Strategy, after: int) -> None:
    place = Place(tmp_path, planner=FeedingPlanner(STEPS, strategy))
    async with place.open() as op:
        await op.rest()
        for number in range(1, after + 1):
            await op.say(f"/todo approve {number} --digest {op.now.questions[0].digest}")
            await op.rest()
        await op.say("more", "/proposal accept")
        await op.try_to("/todo move 5 after 4")
        met = [question.todo_id for question in await op.finish()]
        assert set(met) >= {"todo_004", "todo_005"} and met.index("todo_005") < met.index("todo_004")
