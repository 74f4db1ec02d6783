"""What has to hold for a step and nothing checks; and lists, orders and questions beside calls."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from own_teams import DATE, INTEGER, TEXT, own
from planning_support import agents

from hitl_tui.core.errors import BadInput
from hitl_tui.core.plan import AgentFacts
from hitl_tui.core.todos import GAPS, Status, SupervisorTodo
from hitl_tui.planning.agent import PlanningAgent
from hitl_tui.planning.plan_templates import TemplateFile, template_of
from hitl_tui.planning.rule_planner.command_facts import CommandFacts, ParameterFacts
from hitl_tui.planning.rule_planner.planner import RulePlanner

_SENT = {"enum": ["mail", "sms"]}
_NAMES = {"type": "array", "items": TEXT}
SHOP = [
    own("stock", "Looks up the stock of an item.", {"item": TEXT}, "item"),
    own("price", "Looks up the price of an item.", {"item": TEXT}, "item"),
    own("order", "Orders pieces of an item.", {"item": TEXT, "pieces": {**INTEGER, "default": 1}}, "item"),
    own("notify", "Notifies the owner.", {"by": _SENT, "message": TEXT}, "by message"),
    own("invite", "Invites people to a meeting.", {"names": _NAMES, "subject": TEXT, "day": DATE}, "names subject"),
    own("greet", "Greets people.", {"names": _NAMES}, "names"),
]
COMMANDS = {
    "list-logs": CommandFacts("list-logs", "Lists the logs"),
    "delete-logs": CommandFacts(
        "delete-logs", "Deletes logs older than some days", {"days": ParameterFacts("integer", description="in days")}
    ),
}


def _command(text: str, given: Mapping[str, Any]) -> dict[str, Any]:
    return dict(given)


AGENTS: dict[str, AgentFacts] = {
    **agents(),
    "command_team": replace(agents()["command_team"], bind=_command),
    **{team.name: team for team in SHOP},
}
AGENT = PlanningAgent(AGENTS, RulePlanner(COMMANDS), now=lambda: "2026-03-01T09:00:00+00:00")
QUERY = (
    "First list the logs, then delete logs older than 30 days, then look up the price of tea, "
    'finally notify by sms "ok"'
)


def planned(query: str) -> list[SupervisorTodo]:
    return AGENT.convert_with_strategy(asyncio.run(AGENT.create_execution_plan(query)).plan)


def revised(text: str, *, done: bool = False) -> list[dict[str, Any]]:
    todos = planned(QUERY)
    if done:
        todos = [replace(todo, status=Status.COMPLETED, attempt=1) for todo in todos]
    return [dict(change) for change in asyncio.run(AGENT.revise(text, QUERY, todos)).changes]


def given(todo: SupervisorTodo) -> tuple[str, Any]:
    return str(todo.arguments.get("command", todo.agent_name)), todo.arguments.get(
        "input", todo.arguments.get("parameters", todo.arguments)
    )


@pytest.mark.parametrize(
    ("query", "calls", "condition"),
    [
        (
            "If the stock of tea is below 10, order 5 pieces of tea",
            [("order", {"item": "tea", "pieces": 5})],
            "If the stock of tea is below 10",
        ),
        (
            "When the stock of tea is below 10, order 5 pieces of tea",
            [("order", {"item": "tea", "pieces": 5})],
            "When the stock of tea is below 10",
        ),
        (
            "delete logs older than 30 days unless the price of tea is above 1000",
            [("delete-logs", {"days": 30})],
            "unless the price of tea is above 1000",
        ),
        (
            'If the price of tea is above 1000, notify by mail "expensive"',
            [("notify", {"by": "mail", "message": "expensive"})],
            "If the price of tea is above 1000",
        ),
        ("if any tea is left: greet Ann", [("greet", {"names": ["Ann"]})], "if any tea is left"),
        ("Should the stock be low, greet Ann", [("greet", {"names": ["Ann"]})], "Should the stock be low"),
        ("greet Ann as soon as it rains", [("greet", {"names": ["Ann"]})], "as soon as it rains"),
        ("Otherwise, order 3 pieces of tea", [("order", {"item": "tea", "pieces": 3})], "Otherwise"),
        ("로그가 많아지면 30일 지난 로그를 삭제해줘", [("delete-logs", {"days": 30})], "로그가 많아지면"),
        ("로그가 10개 넘을 때만 30일 지난 로그를 삭제해줘", [("delete-logs", {"days": 30})], "로그가 10개 넘을 때만"),
        ("로그가 10개 넘으면 30일 지난 로그를 삭제해줘", [("delete-logs", {"days": 30})], "로그가 10개 넘으면"),
    ],
)
def test_what_has_to_hold_for_a_step_is_asked_about_with_it(
    query: str, calls: list[tuple[str, Any]], condition: str
) -> None:
    todos = planned(query)
    assert [given(todo) for todo in todos] == calls
    assert [todo.metadata.get("conditions") for todo in todos] == [[condition]]
    assert all(GAPS & todo.metadata.keys() for todo in todos)


def test_a_condition_is_of_the_step_that_it_is_said_of() -> None:
    listed, deleted, notified = planned(
        'list the logs, then delete logs older than 30 days only if there are more than 10, then notify by sms "ok"'
    )
    assert deleted.metadata["conditions"] == ["only if there are more than 10"]
    assert "conditions" not in {*listed.metadata, *notified.metadata}


@pytest.mark.parametrize(
    "query",
    [
        "when the backup is done, delete logs older than 30 days",
        "delete logs older than 30 days if needed",
        "delete logs older than 30 days once more",
        "check if the logs are there, then delete logs older than 30 days",
        "로그 목록이 끝나면 30일 지난 로그를 삭제해줘",
        "화면 로그 가운데 30일 지난 로그를 삭제해줘",
    ],
)
def test_what_only_says_when_or_is_what_a_step_finds_is_no_condition(query: str) -> None:
    assert not any("conditions" in todo.metadata for todo in planned(query))


def test_a_condition_behind_steps_that_are_said_together_is_of_each() -> None:
    ordered, greeted = planned("order 5 pieces of tea and greet Ann if the stock is low")
    assert ordered.metadata["conditions"] == greeted.metadata["conditions"] == ["if the stock is low"]


def test_a_template_keeps_what_has_to_hold_for_a_step() -> None:
    text = template_of("tea", "q", planned("if the stock is low, order 5 pieces of tea"), {})
    [step] = TemplateFile.model_validate(tomllib.loads(text)).steps
    assert step.step().conditions == ("if the stock is low",)


@pytest.mark.parametrize("query", ["If a tenant moves out early, who pays the fee?", "보증금을 일찍 빼면 누가 내?"])
def test_a_condition_of_a_question_is_looked_for(query: str) -> None:
    assert [todo.arguments["query"] for todo in planned(query)] == [query]


@pytest.mark.parametrize(
    "text",
    [
        "delete logs only if there are more than 10",
        "삭제는 로그가 10개 넘을 때만 해줘",
        "notify only if the price is above 1000",
    ],
)
def test_no_step_of_the_plan_gets_a_condition(text: str) -> None:
    with pytest.raises(BadInput, match="Nothing checks"):
        revised(text)


@pytest.mark.parametrize(
    "query",
    [
        "delete logs older than 30 days, but first list the logs",
        "30일 지난 로그를 삭제하는데, 먼저 로그 목록을 보여줘",
    ],
)
def test_what_is_to_be_done_first_comes_first(query: str) -> None:
    listed, deleted = planned(query)
    assert (given(listed)[0], given(deleted)[0]) == ("list-logs", "delete-logs")
    assert deleted.dependencies == (listed.id,)


@pytest.mark.parametrize(
    ("query", "calls"),
    [
        ("greet Ann, Bob and Chris", [("greet", {"names": ["Ann", "Bob", "Chris"]})]),
        (
            'invite Kim Minsu, Lee Jiwoo to "Sprint review" on 2026-12-10',
            [("invite", {"names": ["Kim Minsu", "Lee Jiwoo"], "subject": "Sprint review", "day": "2026-12-10"})],
        ),
        (
            "look up the price of tea, coffee and sugar",
            [("price", {"item": "tea"}), ("price", {"item": "coffee"}), ("price", {"item": "sugar"})],
        ),
    ],
)
def test_words_in_a_list_are_a_list_or_a_call_each(query: str, calls: list[tuple[str, Any]]) -> None:
    assert [given(todo) for todo in planned(query)] == calls


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("make it 60 days", ("todo_002", {"days": 60})),
        ("change days to 60", ("todo_002", {"days": 60})),
        ("notify by mail instead of sms", ("todo_004", {"by": "mail", "message": "ok"})),
    ],
)
def test_a_step_that_waits_gets_what_is_said_of_its_input(text: str, changed: tuple[str, dict[str, Any]]) -> None:
    [change] = revised(text)
    arguments = change["arguments"]
    assert (change["todo_id"], arguments.get("input", arguments.get("parameters"))) == changed


def test_steps_that_are_named_run_at_the_same_time_and_the_others_stay() -> None:
    [moved, last] = revised("run the price at the same time as the list")
    assert (moved["todo_id"], moved["after"]) == ("todo_003", [])
    assert (last["todo_id"], {*last["after"]}) == ("todo_004", {"todo_002", "todo_003"})


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Tell me what the lease cap is, and then delete logs older than 5 days", "Tell me what the lease cap is"),
        ("임대료 상한이 얼마인지 알려줘, 그리고 5일 지난 로그 삭제해줘", "임대료 상한이 얼마인지 알려줘"),
    ],
)
def test_a_question_beside_a_call_is_answered_too(text: str, query: str) -> None:
    added = [change["todo"] for change in revised(text, done=True)]
    assert [one["arguments"].get("query") for one in added if one["agent_name"] == "search_team"] == [query]
    assert [one["arguments"]["parameters"] for one in added if one["agent_name"] == "command_team"] == [{"days": 5}]


def test_a_step_that_stays_as_it_is_is_not_said_to_be_there_already() -> None:
    with pytest.raises(BadInput, match="004 stays as it is"):
        revised("notify by sms")
