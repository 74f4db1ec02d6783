"""The starters' questions are planned into the right steps, without a model."""

from __future__ import annotations

import pytest
from starter_support import starter

from hitl_tui.config.loader import load_config
from hitl_tui.planning.agent import PlanningAgent
from hitl_tui.planning.rule_planner.command_facts import command_facts
from hitl_tui.planning.rule_planner.planner import RulePlanner
from hitl_tui.teams.registry import TeamRegistry

OPS = ["search_team", "measure", "clean-logs", "verify"]
CLEANUP = ["count-duplicates", "backup-database", "delete-duplicates", "verify-what-is-left"]
LEASE = ["search_team", "analysis_team"]


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize(("key", "steps"), [("lease", LEASE), ("ops", OPS), ("cleanup", CLEANUP)])
async def test_each_step_waits_for_the_one_before(key: str, steps: list[str], language: str) -> None:
    asked = starter(key, language)
    config = load_config(asked.folder)
    agent = PlanningAgent(TeamRegistry.from_config(config).agents(), RulePlanner(command_facts(config.commands)))
    planned = await agent.create_execution_plan(asked.question)
    todos = agent.convert_with_strategy(planned.plan)
    assert [str(t.arguments.get("command", t.agent_name)) for t in todos] == steps
    assert [list(t.dependencies) for t in todos] == [[], *([t.id] for t in todos[:-1])]
    assert planned.intent.language == language
