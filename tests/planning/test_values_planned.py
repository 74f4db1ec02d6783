"""What a sentence says for each argument, however it is said, and nothing else: what isn't sure is missing (D20)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from own_teams import INTEGER, NUMBER, TEAMS, TEXT, own
from planning_support import agents

from hitl_tui.core.errors import MissingInput
from hitl_tui.core.messages import Message
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.planning.agent import PlanningAgent
from hitl_tui.planning.rule_planner.command_facts import CommandFacts, ParameterFacts
from hitl_tui.planning.rule_planner.planner import RulePlanner

SHOP = {
    team.name: team
    for team in (
        own("order", "Orders items from the shop.", {"item": TEXT, "count": INTEGER}, "item count"),
        own(
            "won",
            "Converts an amount of a currency to won.",
            {"amount": NUMBER, "unit": {"type": "string", "enum": ["EUR", "USD"]}},
            "amount unit",
        ),
        own("price", "Price of an item in the shop.", {"item": TEXT, "count": {**INTEGER, "default": 1}}, "item"),
    )
}
CLEAN = CommandFacts(
    "clean-logs",
    "Delete old compressed logs",
    {"dir": ParameterFacts("path"), "days": ParameterFacts("integer", 14)},
    runs=("find",),
)
DISK = CommandFacts("disk", "Measure how large the logs are", runs=("du",))


def _bound(text: str, given: Mapping[str, Any]) -> dict[str, Any]:
    if given["command"] == CLEAN.name and "dir" not in given["parameters"]:
        raise MissingInput(Message("No folder."), missing=("dir",), given=dict(given))
    return dict(given)


_BUILT_IN = {**agents(), "command_team": replace(agents()["command_team"], bind=_bound)}
_OWN = {**TEAMS, **SHOP}
for other in ("shipping_cost", "currency"):  # these could be meant as well
    _OWN.pop(other)
AGENT = PlanningAgent({**_BUILT_IN, **_OWN}, RulePlanner({c.name: c for c in (CLEAN, DISK)}), now=lambda: "")
NOTES = ("lacks", "unplaced", "unread", "remarks")


def planned(query: str) -> list[SupervisorTodo]:
    return AGENT.convert_with_strategy(asyncio.run(AGENT.create_execution_plan(query)).plan)


def given(todo: SupervisorTodo) -> dict[str, Any]:
    """Return what was said for the arguments of a step, without defaults."""
    arguments = todo.arguments.get("input", todo.arguments.get("parameters"))
    return {name: value for name, value in arguments.items() if value not in ("", False)}


def noted(todo: SupervisorTodo) -> dict[str, Any]:
    return {name: value for name, value in todo.metadata.items() if name in NOTES and value}


ANN, BOB, CHO = (f"{name}@example.com" for name in ("ann", "bob", "cho"))


@pytest.mark.parametrize(
    ("query", "arguments"),
    [
        (f'{ANN}에게 제목 "안녕"으로 메일을 보내줘', {"to": ANN, "subject": "안녕"}),
        (f'{ANN}에게 제목 "회의"로 메일을 보내줘', {"to": ANN, "subject": "회의"}),
        (f"{ANN}에게 제목 '신청'으로 메일을 보내줘", {"to": ANN, "subject": "신청"}),
        (f'제목을 "휴가 신청"으로 해서 {BOB}에게 메일을 보내줘', {"to": BOB, "subject": "휴가 신청"}),
        (f'{BOB}에게 "안녕하세요"라는 제목으로 메일을 보내줘', {"to": BOB, "subject": "안녕하세요"}),
        (f"“안녕”이라는 제목으로 {ANN}한테 메일 보내줘", {"to": ANN, "subject": "안녕"}),
        (
            f"제목 '공지'와 본문 '내일 쉽니다'로 {BOB}에게 메일 보내줘",
            {"to": BOB, "subject": "공지", "body": "내일 쉽니다"},
        ),
        (f'{BOB}에게 제목은 "A"이고 본문은 "B"인 메일을 보내줘', {"to": BOB, "subject": "A", "body": "B"}),
        (f'{ANN}에게 제목 "서울에서 부산까지"로 메일 보내줘', {"to": ANN, "subject": "서울에서 부산까지"}),
        (f'send a mail with the subject "A to B" to {BOB}', {"to": BOB, "subject": "A to B"}),
        ('"서울역"에서 "부산역"까지 거리를 알려줘', {"origin": "서울역", "destination": "부산역", "by": "car"}),
    ],
)
def test_a_quoted_value_ends_at_its_sign_and_its_particle_is_no_value(query: str, arguments: dict[str, Any]) -> None:
    [todo] = planned(query)
    assert (given(todo), noted(todo)) == (arguments, {})


def test_an_adverb_that_ends_like_a_particle_says_where_nothing_goes() -> None:
    [todo] = planned(f'바로 {ANN}에게 제목 "안녕"으로 메일 보내줘')
    assert (given(todo), noted(todo)) == ({"to": ANN, "subject": "안녕"}, {"unread": ["바로"]})
    [todo] = planned('바로 제목 "안녕"으로 메일 보내줘')
    assert (given(todo), todo.metadata["lacks"]) == ({"subject": "안녕"}, ["to"])


@pytest.mark.parametrize(
    ("query", "recipients"),
    [
        (f'send a mail to {BOB} and to {CHO} with subject "Hello"', [BOB, CHO]),
        (f'send a mail to {BOB} and also to {CHO} with subject "Hello"', [BOB, CHO]),
        (f'send a mail to {BOB}, and one to {CHO}, with subject "Hello"', [BOB, CHO]),
        (f'send mails with subject "Hello" to {ANN}, {BOB} and to {CHO}', [ANN, BOB, CHO]),
        (f'{ANN}에게, {BOB}에게도 제목 "Hello"로 메일을 보내줘', [ANN, BOB]),
        (f'{ANN}과 {BOB}에게 제목 "Hello"로 메일을 보내줘', [ANN, BOB]),
        (f'제목을 "Hello"로 해서 {ANN}이랑 {BOB}에게 메일을 보내줘', [ANN, BOB]),
    ],
)
def test_each_of_several_values_for_one_parameter_has_a_step_that_is_titled_with_its_own(
    query: str, recipients: list[str]
) -> None:
    todos = planned(query)
    assert [(given(todo), noted(todo)) for todo in todos] == [
        ({"to": one, "subject": "Hello"}, {}) for one in recipients
    ]
    for todo, own_one in zip(todos, recipients, strict=True):
        assert own_one in todo.name
        assert not any(other in f"{todo.name} {todo.description}" for other in recipients if other != own_one)


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        (
            f'send a mail to {ANN}, {BOB} with subject "X"',
            [f'send a mail to {one} with subject "X"' for one in (ANN, BOB)],
        ),
        (
            "resize a.png to a width of 100 and b.png to a width of 200",
            ["resize a.png to a width of 100", "resize b.png to a width of 200"],
        ),
        (
            f'send a mail to {ANN} with the subject "A" and to {BOB} with the subject "B"',
            [f'send a mail to {ANN} with the subject "A"', f'send a mail to {BOB} with the subject "B"'],
        ),
        (
            f'{ANN}에게는 제목 "A"으로, {BOB}에게는 제목 "B"로 메일 보내줘',
            [f'{ANN}에게는 제목 "A"로 메일 보내줘', f'{BOB}에게는 제목 "B"로 메일 보내줘'],
        ),
        (
            f'mail "X" to both {ANN} and {BOB}, subject "Y"',
            [f'mail "X" to {one}, subject "Y"' for one in (ANN, BOB)],
        ),
        ("order pens and apples", ["order pens", "order apples"]),
        ("order 5 pens and apples", ["order 5 pens", "order apples"]),
        ("order apples (3) and pens (5)", ["order apples (3)", "order pens (5)"]),
        ("pen 5개와 pencil 3개를 주문해줘", ["pen 5개를 주문해줘", "pencil 3개를 주문해줘"]),
    ],
)
def test_a_step_of_a_list_is_titled_with_its_own_part(query: str, titles: list[str]) -> None:
    assert [todo.name for todo in planned(query)] == titles


def test_a_value_of_a_kind_that_another_parameter_is_for_is_left_over_and_said() -> None:
    [todo] = planned(f'send a mail to {BOB} for {CHO} with subject "Hello"')
    assert given(todo) == {"to": BOB, "subject": "Hello"}
    assert noted(todo) == {"unread": [CHO]}


@pytest.mark.parametrize(
    ("query", "arguments"),
    [
        ("delete old compressed logs in the folder logs older than 20 days", {"dir": "logs", "days": 20}),
        ("delete old compressed logs in the directory logs older than 20 days", {"dir": "logs", "days": 20}),
        ("delete old compressed logs from the directory logs older than 20 days", {"dir": "logs", "days": 20}),
        ("delete old compressed logs older than 20 days in the folder logs", {"dir": "logs", "days": 20}),
        ("delete old compressed logs in ./logs older than 20 days", {"dir": "./logs", "days": 20}),
        ("delete old compressed logs in the logs folder older than 20 days", {"dir": "logs", "days": 20}),
        ("delete compressed logs older than 30 days from the folder called archive", {"dir": "archive", "days": 30}),
        ('delete old compressed logs in the folder "my logs"', {"dir": "my logs", "days": 14}),
        ("delete old compressed logs in the directory /var/log", {"dir": "/var/log", "days": 14}),
        ("logs 폴더에서 20일보다 오래된 압축 로그를 삭제해줘", {"dir": "logs", "days": 20}),
        ("압축 로그를 폴더 logs에서 지워줘", {"dir": "logs", "days": 14}),
        ('"my logs" 디렉터리의 오래된 압축 로그를 삭제해줘', {"dir": "my logs", "days": 14}),
        ("archive라는 폴더에서 오래된 압축 로그를 지워줘", {"dir": "archive", "days": 14}),
        ("/var/log에서 30일 지난 압축 로그를 삭제해줘", {"dir": "/var/log", "days": 30}),
    ],
)
def test_a_folder_is_named_beside_the_word_for_it_which_is_read_with_it(query: str, arguments: dict[str, Any]) -> None:
    [todo] = planned(query)
    assert {"days": 14, **given(todo)} == arguments
    assert noted(todo) == {}


@pytest.mark.parametrize(
    "query",
    [
        "delete old compressed logs in a folder",
        "delete old compressed logs in the folder",
        "delete old compressed logs in a folder older than 20 days",
        "delete old compressed logs from every folder",
        "이 폴더에서 오래된 압축 로그를 삭제해줘",
        "압축 로그를 폴더에서 지워줘",
    ],
)
def test_a_word_for_a_folder_without_a_name_leaves_it_missing(query: str) -> None:
    [todo] = planned(query)
    assert "dir" not in given(todo)
    assert todo.metadata["lacks"] == ["dir"]


@pytest.mark.parametrize(
    ("query", "folders"),
    [
        ("delete old compressed logs in ./logs and ./archive older than 20 days", ["./logs", "./archive"]),
        ("delete old compressed logs in logs/ and archive/ older than 20 days", ["logs", "archive"]),
        (
            "delete old compressed logs older than 20 days in the folder logs and in the folder archive",
            ["logs", "archive"],
        ),
        (
            "delete old compressed logs older than 20 days in the folder logs and the folder archive",
            ["logs", "archive"],
        ),
        ("logs 폴더와 archive 폴더에서 20일 지난 압축 로그를 삭제해줘", ["logs", "archive"]),
    ],
)
def test_what_is_said_of_a_list_of_folders_holds_for_each(query: str, folders: list[str]) -> None:
    todos = planned(query)
    assert [(given(todo), noted(todo)) for todo in todos] == [({"dir": one, "days": 20}, {}) for one in folders]
    assert [todo.name.rstrip("/") for todo in todos] == [f"clean-logs: {one}" for one in folders]


@pytest.mark.parametrize(
    "query",
    [
        "Measure how large the logs are",
        "measure how large logs are",
        "Please measure how large the logs are.",
        "could you measure how large our logs are?",
    ],
)
def test_a_sentence_that_a_command_is_described_with_means_it(query: str) -> None:
    [todo] = planned(query)
    assert (todo.agent_name, todo.arguments["command"], noted(todo)) == ("command_team", "disk", {})


def test_a_clause_that_a_command_is_described_with_means_it() -> None:
    clean, disk = planned("delete old compressed logs in ./logs, then measure how large the logs are")
    assert (clean.arguments["command"], disk.arguments["command"]) == ("clean-logs", "disk")
    assert not (noted(clean) or noted(disk))


@pytest.mark.parametrize(
    ("query", "team", "lacks"),
    [
        ("Price of an item in the shop", "price", ["item"]),
        ("send an email to somebody", "send_mail", ["to", "subject"]),
    ],
)
def test_a_sentence_that_a_team_is_described_with_means_it(query: str, team: str, lacks: list[str]) -> None:
    [todo] = planned(query)
    assert (todo.agent_name, todo.metadata["lacks"]) == (team, lacks)


@pytest.mark.parametrize(
    "query",
    [
        "How do I measure how large the logs are?",
        "Don't measure how large the logs are",
        "How large are the logs of the server?",
        "Who measures how large the logs are?",
        "What does 'measure how large the logs are' mean?",
    ],
)
def test_what_asks_about_the_description_of_a_command_does_not_run_it(query: str) -> None:
    assert all(todo.agent_name != "command_team" for todo in planned(query))


@pytest.mark.parametrize(
    ("query", "team", "each"),
    [
        ("order 5 pens and 3 apples", "order", [("pens", 5), ("apples", 3)]),
        ("order 5 pens, 3 apples and 2 books", "order", [("pens", 5), ("apples", 3), ("books", 2)]),
        ("order five pens and three apples", "order", [("pens", 5), ("apples", 3)]),
        ("order apples (3) and pens (5)", "order", [("apples", 3), ("pens", 5)]),
        ("pen 5개와 pencil 3개를 주문해줘", "order", [("pen", 5), ("pencil", 3)]),
        ("볼펜 5개, 지우개 2개, 자 1개를 주문해줘", "order", [("볼펜", 5), ("지우개", 2), ("자", 1)]),
        ("사과 3개랑 배 2개 주문해줘", "order", [("사과", 3), ("배", 2)]),
        ("pen과 pencil을 3개씩 주문해줘", "order", [("pen", 3), ("pencil", 3)]),
        ("order pens and apples, 5 of each", "order", [("pens", 5), ("apples", 5)]),
        ("order 2 books", "order", [("books", 2)]),
        ("What's the price of 3 pens and 2 notebooks?", "price", [("pens", 3), ("notebooks", 2)]),
        ("사과를 3개, 배를 2개 주문해줘", "order", [("사과", 3), ("배", 2)]),
        ("연필 3개와 공책 2권의 가격을 알려줘", "price", [("연필", 3), ("공책", 2)]),
        ("What's the vat of 1000 won and 2000 won?", "vat", [(1000, 0.1), (2000, 0.1)]),
        ("100유로와 50달러를 원으로 환산해줘", "won", [(100, "EUR"), (50, "USD")]),
        ("1000원과 2000원의 부가세를 계산해줘", "vat", [(1000, 0.1), (2000, 0.1)]),
        ("1000원, 2000원, 3000원의 부가세는 얼마야?", "vat", [(1000, 0.1), (2000, 0.1), (3000, 0.1)]),
    ],
)
def test_each_object_of_a_list_has_a_step_with_its_own_number(query: str, team: str, each: list[Any]) -> None:
    todos = planned(query)
    assert [todo.agent_name for todo in todos] == [team] * len(each)
    assert [tuple(given(todo).values()) for todo in todos] == each
    assert not any(noted(todo) for todo in todos)


@pytest.mark.parametrize(
    ("query", "each", "notes"),
    [
        ("order 5 pens and apples", [{"item": "pens", "count": 5}, {"item": "apples"}], [{}, {"lacks": ["count"]}]),
        (
            "볼펜과 지우개 2개를 주문해줘",
            [{"item": "볼펜"}, {"item": "지우개", "count": 2}],
            [{"lacks": ["count"]}, {}],
        ),
        (
            "order 5 pens 3 apples",
            [{}],
            [{"lacks": ["item", "count"], "unread": ["pens", "apples"], "unplaced": ["5", "3"]}],
        ),
        (
            "order 4 pens, 2 of them red",
            [{}],
            [{"lacks": ["item", "count"], "unread": ["pens", "red"], "unplaced": ["4", "2"]}],
        ),
        (
            "order 10 kg of rice and 2 kg of beans",
            [{}],
            [{"lacks": ["item", "count"], "unread": ["rice", "beans"], "unplaced": ["10 kg", "2 kg"]}],
        ),
        ("order 5 pens and 30", [{"item": "pens"}], [{"lacks": ["count"], "unplaced": ["5", "30"]}]),
    ],
)
def test_a_number_is_given_to_no_object_that_it_was_not_said_of(
    query: str, each: list[dict[str, Any]], notes: list[dict[str, Any]]
) -> None:
    todos = planned(query)
    assert [given(todo) for todo in todos] == each
    assert [noted(todo) for todo in todos] == notes


@pytest.mark.parametrize(
    "query",
    [
        f'send a mail to {ANN} and {BOB}. The subject is "Hi".',
        f'{ANN}과 {BOB}에게 메일을 보내줘. 제목은 "Hi"로 해줘',
    ],
)
def test_what_goes_on_from_a_list_holds_for_each_of_it(query: str) -> None:
    todos = planned(query)
    assert [given(todo) for todo in todos] == [{"to": one, "subject": "Hi"} for one in (ANN, BOB)]
    assert not any("lacks" in todo.metadata for todo in todos)
    assert [ANN in todo.description for todo in todos] == [True, False]


@pytest.mark.parametrize(
    "query",
    [
        "Who ordered 5 pens and 3 apples?",
        "Who ordered 5 pens?",
        "Did Ann order 5 pens and 3 apples?",
        "did you order 5 pens?",
        "누가 볼펜 5개와 지우개 3개를 주문했어?",
        "볼펜 5개를 주문했나요?",
        "How do I order 5 pens and 3 apples?",
    ],
)
def test_a_question_about_what_was_done_does_it_not_again(query: str) -> None:
    assert [todo.agent_name for todo in planned(query)] == ["search_team"]
