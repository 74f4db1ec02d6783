"""The starters' questions are planned into the right steps, without a model."""

from __future__ import annotations

from pathlib import Path

import pytest
from starter_support import starter

from hitl_tui.config.loader import load_config
from hitl_tui.planning.agent import PlanningAgent
from hitl_tui.planning.proposals import Planned
from hitl_tui.planning.rule_planner.command_facts import command_facts
from hitl_tui.planning.rule_planner.planner import RulePlanner
from hitl_tui.teams.registry import TeamRegistry

OPS = ["search_team", "measure", "clean-logs", "verify"]
CLEANUP = ["count-duplicates", "backup-database", "delete-duplicates", "verify-what-is-left"]
LEASE = ["search_team", "analysis_team"]


async def planned_in(folder: Path, question: str) -> Planned:
    config = load_config(folder)
    agent = PlanningAgent(TeamRegistry.from_config(config).agents(), RulePlanner(command_facts(config.commands)))
    return await agent.create_execution_plan(question)


def in_row(planned: Planned) -> list[str]:
    """What the steps of a plan call, each of which waits for the one before."""
    steps = planned.plan.steps
    assert [list(step.dependencies) for step in steps] == [[], *([step.id] for step in steps[:-1])]
    return [str(step.input_mapping.get("command", step.agent)) for step in steps]


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize(("key", "steps"), [("lease", LEASE), ("ops", OPS), ("cleanup", CLEANUP)])
async def test_each_step_waits_for_the_one_before(key: str, steps: list[str], language: str) -> None:
    asked = starter(key, language)
    planned = await planned_in(asked.folder, asked.question)
    assert in_row(planned) == steps
    assert planned.intent.language == language


async def test_what_only_announces_a_list_of_things_to_do_is_none_of_them() -> None:
    said = "Clean up the duplicates: count them, back up the database, delete the duplicates and verify what is left"
    assert in_row(await planned_in(starter("cleanup", "en").folder, said)) == CLEANUP
