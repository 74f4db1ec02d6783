"""Teams that people brought, planned by name, description and schema; what is missing is left to a form (D18, D20)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from own_teams import NUMBER, TEAMS, TEXT, own
from planning_support import agents

from hitl_tui.config.workspace import WorkspaceConfig
from hitl_tui.core.plan import AgentFacts
from hitl_tui.core.policy import Risk
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.planning.agent import PlanningAgent
from hitl_tui.planning.rule_planner.command_facts import CommandFacts, ParameterFacts, team_facts
from hitl_tui.planning.rule_planner.planner import RulePlanner
from hitl_tui.planning.rule_planner.values import PAIR
from hitl_tui.teams.contract import TeamContext
from hitl_tui.teams.function_team import FunctionTeam
from hitl_tui.teams.registry import TeamRegistry

AGENT = PlanningAgent({**agents(), **TEAMS}, RulePlanner(), now=lambda: "2026-03-01T09:00:00+00:00")


def planned(query: str) -> list[SupervisorTodo]:
    return AGENT.convert_with_strategy(asyncio.run(AGENT.create_execution_plan(query)).plan)


def said(todo: SupervisorTodo) -> tuple[str, Any]:
    return todo.agent_name, todo.arguments.get("input", todo.arguments.get("query"))


@pytest.mark.parametrize(
    ("query", "team", "given"),
    [
        ("Compute the VAT of 50000 won with the vat team", "vat", {"amount": 50000, "rate": 0.1}),
        ("부가세 12만 5천원에 대해 계산해줘", "vat", {"amount": 125000, "rate": 0.1}),
        ("15만원의 부가세는 얼마야?", "vat", {"amount": 150000, "rate": 0.1}),
        ("Calculate VAT on 80 thousand at 20%", "vat", {"amount": 80000, "rate": 0.2}),
        ("Ask the vat team about 30000 won", "vat", {"amount": 30000, "rate": 0.1}),
        ("Let vat work on 30000 won", "vat", {"amount": 30000, "rate": 0.1}),
        ("convert 120 USD to EUR", "currency", {"amount": 120, "source": "USD", "target": "EUR"}),
        ("100달러를 원으로 환전하면 얼마야?", "currency", {"amount": 100, "source": "USD", "target": "KRW"}),
        (
            "2026년 5월 4일부터 2026년 5월 15일까지 휴가 일수 계산해줘",
            "leave_days",
            {"start": "2026-05-04", "end": "2026-05-15"},
        ),
        (
            'open an urgent ticket "Login page broken" and notify',
            "open_ticket",
            {"title": "Login page broken", "severity": "urgent", "notify": True},
        ),
        (
            '"로그인 실패" 제목으로 긴급 티켓 열어줘',
            "open_ticket",
            {"title": "로그인 실패", "severity": "urgent", "notify": False},
        ),
        ("resize photo.png to a width of 800", "resize_image", {"path": "photo.png", "width": 800}),
        (
            'send an email to bob@example.com with the subject "Lunch"',
            "send_mail",
            {"to": "bob@example.com", "subject": "Lunch", "body": ""},
        ),
        ("shipping cost for 800 g to France", "shipping_cost", {"weight_kg": 0.8, "country": "France"}),
        ("weather in Seoul for 3 days", "weather", {"city": "Seoul", "days": 3}),
        (
            'Text "The office is closed" to 010-2222-3333 and 010-4444-5555',
            "sms",
            {"numbers": ["010-2222-3333", "010-4444-5555"], "message": "The office is closed"},
        ),
        (
            "010-1234-5678로 '회의가 10분 늦어집니다'라고 문자 보내줘",
            "sms",
            {"numbers": ["010-1234-5678"], "message": "회의가 10분 늦어집니다"},
        ),
        (
            "How long is the distance from Berlin to Munich by train?",
            "distance",
            {"origin": "Berlin", "destination": "Munich", "by": "train"},
        ),
        (
            "distance 팀으로 대전에서 광주까지 거리를 구해줘",
            "distance",
            {"origin": "대전", "destination": "광주", "by": "car"},
        ),
    ],
)
def test_a_team_is_chosen_and_its_arguments_filled_from_the_query(query: str, team: str, given: Any) -> None:
    [todo] = planned(query)
    assert (todo.agent_name, todo.arguments["input"]) == (team, given)
    assert "lacks" not in todo.metadata


async def _nothing(context: TeamContext) -> str:
    return ""


def of_program(risk: Risk, properties: dict[str, Any], required: list[str], text_argument: str = "") -> PlanningAgent:
    """Return planning with a team of the embedding program, whose arguments stand by themselves."""
    schema = {"type": "object", "properties": properties, "required": required}
    team = FunctionTeam(
        "checksum_team", "Checksum of a file or a sum", risk, _nothing, schema, text_argument=text_argument
    )
    facts = TeamRegistry.from_config(WorkspaceConfig(), [team]).agents()
    return PlanningAgent(facts, RulePlanner(), now=lambda: "2026-03-01T09:00:00+00:00")


@pytest.mark.parametrize(
    ("properties", "required", "words", "query", "given"),
    [
        ({"path": {"type": "string", "format": "path"}}, ["path"], "", "checksum of a.txt", {"path": "a.txt"}),
        ({"path": {"type": "string", "format": "path"}}, ["path"], "", "use the checksum team", {}),
        ({"amount": {"type": "number", "default": 1}}, [], "", "checksum 50000 with checksum_team", {"amount": 50000}),
        (
            {"what": {"type": "string"}, "times": {"type": "integer", "default": 1}},
            ["what"],
            "what",
            "let checksum_team work on a.txt",
            {"what": "a.txt", "times": 1},
        ),
    ],
)
def test_a_team_whose_arguments_stand_by_themselves_is_given_them(
    properties: Any, required: list[str], words: str, query: str, given: Any
) -> None:
    agent = of_program(Risk.HIGH, properties, required, words)
    [todo] = agent.convert_with_strategy(asyncio.run(agent.create_execution_plan(query)).plan)
    assert (todo.agent_name, todo.arguments) == ("checksum_team", given)
    assert todo.metadata.get("lacks", []) == [name for name in required if name not in given]


@pytest.mark.parametrize(
    "query",
    [
        "How do I use the vat team?",
        "don't run the vat team",
        "부가세 신고 기한이 언제야?",
        "What's the weather policy?",
        "How do I send a message to bob@example.com?",
        "prices.csv: which country has weight 720?",
    ],
)
def test_what_only_asks_about_something_is_searched_for(query: str) -> None:
    assert [t.agent_name for t in planned(query)] == ["search_team"]


def told(name: str, description: str) -> AgentFacts:
    """Return a team that takes what it is told."""

    def bind(text: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {"input": text, **arguments}

    return AgentFacts(name, name, description, True, 0, 60.0, bind, lambda _: Risk.LOW, takes_question=False)


TOLD = {
    "memo": told("memo", "Remembers a memo"),
    "hotels": told("hotels", "Books rooms"),
    "essays": told("essays", "Writes essays about animals"),
}


@pytest.mark.parametrize(
    ("query", "team", "words"),
    [
        ("memo hello", "memo", "hello"),
        ("memo q=hello", "memo", "q=hello"),
        ('memo {"q": "hello"}', "memo", '{"q": "hello"}'),
        ("hotels: book me a room in Seoul", "hotels", "book me a room in Seoul"),
        ("memo 팀에 안녕이라고 전해줘", "memo", "memo 팀에 안녕이라고 전해줘"),
        ("Write an essay about cats", "essays", "Write an essay about cats"),
    ],
)
def test_a_team_that_takes_words_is_told_what_follows_its_name(query: str, team: str, words: str) -> None:
    agent = PlanningAgent({**agents(), **TOLD}, RulePlanner(), now=lambda: "2026-03-01T09:00:00+00:00")
    planned = asyncio.run(agent.create_execution_plan(query))
    [todo] = agent.convert_with_strategy(planned.plan)
    assert (todo.agent_name, todo.arguments["input"]) == (team, words)
    assert not planned.notes


@pytest.mark.parametrize("query", ["What is a memo?", "Is there a memo about leave?"])
def test_a_question_that_only_names_a_team_that_takes_words_is_searched_for(query: str) -> None:
    agent = PlanningAgent({**agents(), **TOLD}, RulePlanner(), now=lambda: "2026-03-01T09:00:00+00:00")
    [todo] = agent.convert_with_strategy(asyncio.run(agent.create_execution_plan(query)).plan)
    assert todo.agent_name == "search_team"


def test_a_team_that_can_not_be_used_is_not_planned_and_the_plan_says_why() -> None:
    vat = replace(TEAMS["vat"], problem="The server of vat can't be reached.")
    agent = PlanningAgent({**agents(), "vat": vat}, RulePlanner(), now=lambda: "2026-03-01T09:00:00+00:00")
    planned = asyncio.run(agent.create_execution_plan("Compute the VAT of 50000 won with the vat team"))
    assert "vat" not in {step.agent for step in planned.plan.steps}
    assert planned.notes[-1] == planned.plan.notes[-1] == "The server of vat can't be reached."
    off = replace(vat, enabled=False)
    agent = PlanningAgent({**agents(), "vat": off}, RulePlanner(), now=lambda: "2026-03-01T09:00:00+00:00")
    assert not asyncio.run(agent.create_execution_plan("What does the lease say?")).notes


TRANSFER = own(
    "transfer",
    "Transfer money between accounts",
    {"account_from": TEXT, "account_to": TEXT, "amount": NUMBER},
    "account_from account_to amount",
)
SHIPMENT = own(
    "ship",
    "Ship goods from a depot to another one",
    {"source_depot": TEXT, "target_depot": TEXT},
    "source_depot target_depot",
)


@pytest.mark.parametrize(
    ("team", "query", "given"),
    [
        (TRANSFER, "transfer 500 to B-2", {"account_to": "B-2", "amount": 500}),
        (TRANSFER, "transfer 500 from A-1", {"account_from": "A-1", "amount": 500}),
        (
            TRANSFER,
            "transfer 500 to account B-2 from account A-1",
            {"account_from": "A-1", "account_to": "B-2", "amount": 500},
        ),
        (
            TRANSFER,
            "B-2 계좌로 A-1 계좌에서 500원 이체해줘",
            {"account_from": "A-1", "account_to": "B-2", "amount": 500},
        ),
        (TRANSFER, "B-2로 500원 이체해줘", {"account_to": "B-2", "amount": 500}),
        (SHIPMENT, "ship from depot D-7 to depot D-9", {"source_depot": "D-7", "target_depot": "D-9"}),
        (SHIPMENT, "ship to D-9", {"target_depot": "D-9"}),
    ],
)
def test_what_something_comes_from_and_goes_to_is_told_by_the_words_before_or_behind(
    team: AgentFacts, query: str, given: Any
) -> None:
    agent = PlanningAgent({**agents(), team.name: team}, RulePlanner(), now=lambda: "2026-03-01T09:00:00+00:00")
    [todo] = agent.convert_with_strategy(asyncio.run(agent.create_execution_plan(query)).plan)
    assert (todo.agent_name, todo.arguments["input"]) == (team.name, given)


@pytest.mark.parametrize(("query", "lacks"), [("vat 팀으로 부가세 계산해줘", ["amount"]), ("Open a ticket", ["title"])])
def test_what_is_missing_is_left_for_a_person_to_fill_in(query: str, lacks: list[str]) -> None:
    [todo] = planned(query)
    assert todo.metadata["lacks"] == lacks
    assert not set(lacks) & todo.arguments["input"].keys()


@pytest.mark.parametrize(
    ("query", "second"),
    [
        ("Deploy billing 2.3.1 to staging, then to production", {"service": "billing", "version": "2.3.1"}),
        ("Deploy billing 2.3.1 to staging and then deploy to production", {}),
        ("Deploy billing 2.3.1 to staging. Deploy to production.", {}),
        ("Deploy billing 2.3.1 to staging, then deploy search to production", {}),
        ("Deploy billing 2.3.1 to staging, then deploy version 2.4.0 to production", {"version": "2.4.0"}),
    ],
)
def test_only_what_a_sentence_leaves_out_comes_from_the_call_before(query: str, second: dict[str, str]) -> None:
    first, then = planned(query)
    assert first.arguments["input"] == {"service": "billing", "version": "2.3.1", "env": "staging"}
    assert then.arguments["input"] == {**second, "env": "production"}
    assert then.metadata.get("lacks", []) == [n for n in ("service", "version") if n not in second]


@pytest.mark.parametrize(
    ("query", "name", "each"),
    [
        ("resize a.png, b.png and c.png to a width of 100", "path", ["a.png", "b.png", "c.png"]),
        ('send a mail to ann@example.com and bob@example.com with the subject "Party"', "to", ["ann", "bob"]),
    ],
)
def test_a_list_for_one_parameter_makes_a_call_of_each(query: str, name: str, each: list[str]) -> None:
    todos = planned(query)
    assert [t.arguments["input"][name].removesuffix("@example.com") for t in todos] == each
    assert len({str({**t.arguments["input"], name: ""}) for t in todos}) == 1
    assert not any("lacks" in t.metadata for t in todos)


@pytest.mark.parametrize(
    ("query", "each"),
    [
        (
            "shipping cost of 3 kg to France, 5 kg to Spain and 2 kg to Italy",
            [(3, "France"), (5, "Spain"), (2, "Italy")],
        ),
        ("resize a.png to a width of 100 and b.png to a width of 200", [("a.png", 100), ("b.png", 200)]),
        ("shipping cost of 3 kg to France", [(3, "France")]),
        ("shipping_cost 팀으로 3 kg to France 및 5 kg to Spain 계산해줘", [(3, "France"), (5, "Spain")]),
        (
            'send a mail to ann@example.com with the subject "A, B" and to bob@example.com with the subject "B and C"',
            [("ann@example.com", "A, B"), ("bob@example.com", "B and C")],
        ),
    ],
)
def test_a_list_whose_parts_give_several_arguments_makes_a_call_of_each(
    query: str, each: list[tuple[Any, ...]]
) -> None:
    todos = planned(query)
    assert [tuple(v for v in t.arguments["input"].values() if v != "") for t in todos] == each
    assert not any({"lacks", "unplaced", "unread"} & t.metadata.keys() for t in todos)


def test_a_part_of_a_list_that_gives_less_is_no_call_of_its_own() -> None:
    [todo] = planned("shipping cost of 3 kg to France and 5 kg")
    assert todo.metadata["unplaced"] == ["5 kg"]


@pytest.mark.parametrize("written", ['["1", "22 3"]', '["1","22 3"]', '["1", "22 3"]으로'])
def test_a_list_by_its_name_is_read_whole(written: str) -> None:
    todo, search = planned(f'sms message="Back, at 5" numbers={written}. Then search the price list.')
    assert todo.arguments["input"] == {"numbers": ["1", "22 3"], "message": "Back, at 5"}
    assert search.agent_name == "search_team"
    assert [match["value"] for match in PAIR.finditer("dir=[0-9]*.txt days=3")] == ["[0-9]*.txt", "3"]


def test_two_dates_for_two_parameters_are_no_list() -> None:
    [todo] = planned("휴가 일수 계산해줘: 2026-05-04와 2026-05-15 사이")
    assert todo.arguments["input"] == {"start": "2026-05-04", "end": "2026-05-15"}


def test_what_a_schema_refers_to_is_followed() -> None:
    level = {"$defs": {"Level": {"type": "string", "enum": ["low", "high"]}}, "type": "object"}
    schema = {**level, "properties": {"level": {"$ref": "#/$defs/Level"}, "note": {"type": "string"}}}
    siren = replace(TEAMS["vat"], name="siren", description="Sounds the siren.", schema=lambda: schema)
    assert team_facts({"siren": siren})["siren"].parameters["level"].choices == ("low", "high")


def test_nothing_comes_from_the_call_of_another_team() -> None:
    first, then = planned("Resize photo.png to a width of 800, then send a mail to bob@example.com")
    assert [t.agent_name for t in (first, then)] == ["resize_image", "send_mail"]
    assert then.metadata["lacks"] == ["subject"]


def test_a_team_gets_the_results_of_what_was_to_be_done_before() -> None:
    search, vat = planned("search the price list, then let vat compute on it")
    assert said(search) == ("search_team", "search the price list")
    assert (vat.agent_name, vat.dependencies, vat.metadata["lacks"]) == ("vat", (search.id,), ["amount"])
    first, second = planned('compute the VAT of 20000 won, then open a ticket "VAT checked"')
    assert (second.agent_name, second.dependencies) == ("open_ticket", (first.id,))


def test_plain_text_in_a_session_adds_a_team() -> None:
    todos = planned("What is the cap on rent increases?")
    proposal = asyncio.run(AGENT.revise("vat 팀으로 부가세 계산 추가해줘", "q", todos))
    [change] = proposal.changes
    assert (change["todo"]["agent_name"], change["todo"]["metadata"]["lacks"]) == ("vat", ["amount"])


SEARCHES = {
    "find-big": CommandFacts(
        "find-big",
        "Find files larger than a size",
        {"days": ParameterFacts("integer", default=7)},
        runs=("find",),
    ),
    "find-large": CommandFacts(
        "find-large", "Count the large files", {"kb": ParameterFacts("integer", default=50)}, runs=("du",)
    ),
    "lint": CommandFacts("lint", "Checks the code style", runs=("ruff",)),
}


def with_commands(query: str) -> list[SupervisorTodo]:
    command = replace(agents()["command_team"], bind=lambda text, given: dict(given))
    agent = PlanningAgent({**agents(), "command_team": command}, RulePlanner(SEARCHES), now=lambda: "")
    return agent.convert_with_strategy(asyncio.run(agent.create_execution_plan(query)).plan)


def test_an_amount_that_no_parameter_takes_is_asked_about() -> None:
    [todo] = with_commands("run find-big for files larger than 100 kB")
    assert (todo.arguments["parameters"], todo.metadata["unplaced"]) == ({}, ["100 kB"])


def test_an_amount_is_counted_in_the_unit_of_its_parameter() -> None:
    [todo] = with_commands("run find-large for files larger than 2 MB")
    assert (todo.arguments["parameters"], "unplaced" in todo.metadata) == ({"kb": 2000}, False)


@pytest.mark.parametrize("query", ["run ruff", "ruff 돌려줘", "run lint", "check the code style"])
def test_a_command_is_found_by_what_it_runs_by_name_and_by_what_it_says_of_itself(query: str) -> None:
    assert [t.arguments["command"] for t in with_commands(query)] == ["lint"]


@pytest.mark.parametrize(
    ("query", "noted"),
    [
        ("Compute the VAT of 50,000 won with the vat team", True),
        ("Translate the letter into Korean", True),
        ("What does the handbook say about leave?", False),
    ],
)
def test_what_an_untrusted_folder_declares_is_named_where_it_is_meant(query: str, noted: bool) -> None:
    planned = asyncio.run(RulePlanner({}, ("vat", "fx")).plan(query, agents()))
    assert all(step.agent in agents() for step in planned.plan.steps)
    assert any("(vat, fx) is not used, because nobody trusts the folder yet" in note for note in planned.notes) is noted
