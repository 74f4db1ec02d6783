"""Which teams a workspace has, and what planning learns of them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hitl_tui.config.loader import parse_config
from hitl_tui.core.errors import BadInput, UnknownName
from hitl_tui.core.plan import ExecutionPlan, ExecutionPlanConverter, ExecutionStep
from hitl_tui.core.policy import Risk
from hitl_tui.teams.contract import Team, TeamContext
from hitl_tui.teams.function_team import FunctionTeam
from hitl_tui.teams.registry import TeamRegistry

TOML = """
[teams.analysis_team]
enabled = false

[teams.document_team]
folder = "out"

[teams.command_team.commands.clean-logs]
run = ["find", "{dir}", "-mtime", "+{days}", "-delete"]
preview = ["find", "{dir}", "-mtime", "+{days}"]
description = "deletes old logs"
parameters.dir = { type = "path" }
parameters.days = { type = "integer", default = 14 }
"""
BUILT_IN = ["search_team", "analysis_team", "document_team", "command_team", "table_team"]


async def ping(context: TeamContext) -> str:
    return "pong"


def registry(*extra: Team) -> TeamRegistry:
    return TeamRegistry.from_config(parse_config(TOML, "hitl.toml"), extra)


def test_the_built_in_teams_are_there() -> None:
    teams = registry().teams
    assert list(teams) == BUILT_IN
    for name, team in teams.items():
        assert isinstance(team, Team)
        assert team.name == name
    assert teams["document_team"].bind("x", {})["path"] == "out/x.md"


def test_every_agent_is_its_team_and_a_disabled_one_is_known_as_such() -> None:
    agents = registry().agents()
    assert list(agents) == BUILT_IN
    assert {name for name, facts in agents.items() if not facts.enabled} == {"analysis_team"}
    facts = agents["command_team"]
    arguments = facts.bind("clean-logs dir=logs", {})
    assert (facts.team, facts.max_retries, facts.risk_of(arguments)) == ("command_team", 0, Risk.HIGH)
    assert agents["search_team"].risk_of(agents["search_team"].bind("words", {})) is Risk.LOW


def test_agents_fit_the_converter_of_plans() -> None:
    steps = (ExecutionStep("command_team", "clean-logs dir=logs"), ExecutionStep("document_team", "Report"))
    todos = ExecutionPlanConverter(registry().agents()).convert_with_strategy(ExecutionPlan(steps))
    assert todos[0].arguments["argv"] == ["find", "logs", "-mtime", "+14", "-delete"]
    assert todos[1].arguments["path"] == "out/report.md"
    assert [todo.max_retries for todo in todos] == [0, 0]


def test_further_teams_join_and_may_not_take_a_name() -> None:
    team = FunctionTeam("ping_team", "pings", Risk.LOW, ping, {})
    made = registry(team)
    assert made.get("ping_team") is team
    assert made.enabled("ping_team")
    clash = FunctionTeam("search_team", "pings", Risk.LOW, ping, {})
    with pytest.raises(BadInput, match='Two teams are named "search_team"'):
        registry(clash)


def test_an_unknown_team_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match='did you mean "search_team"'):
        registry().get("serch_team")
    assert not registry().enabled("serch_team")


def test_the_registry_does_not_import_the_engine() -> None:
    script = (
        "import sys, hitl_tui.teams.registry\n"
        "early = [m for m in ('langgraph', 'langchain_core', 'pypdf', 'textual') if m in sys.modules]\n"
        "from hitl_tui.config.loader import parse_config\n"
        "hitl_tui.teams.registry.TeamRegistry.from_config(parse_config('', 'hitl.toml')).agents()\n"
        "late = [m for m in ('langgraph', 'langchain_core', 'pypdf', 'textual') if m in sys.modules]\n"
        "print(early, late)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] []"
