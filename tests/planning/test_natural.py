"""Plain questions as people ask them: what is planned for them, and what is said of what isn't done."""

from __future__ import annotations

import asyncio

import pytest
from planning_support import agent

from hitl_tui.planning.proposals import Planned
from hitl_tui.planning.rule_planner.calls import by_deed
from hitl_tui.planning.rule_planner.command_facts import CommandFacts, ParameterFacts
from hitl_tui.planning.rule_planner.planner import RulePlanner

TEAMS = {name: agent(name) for name in ("search_team", "analysis_team", "document_team", "command_team")}
CLEAN = {"clean": CommandFacts("clean", "Remove what is old", {"folder": ParameterFacts("path")})}


def planned(query: str, commands: dict[str, CommandFacts] | None = None) -> Planned:
    return asyncio.run(RulePlanner(commands or {}).plan(query, TEAMS))


def steps(query: str) -> list[str]:
    return [str(step.agent) for step in planned(query).plan.steps]


@pytest.mark.parametrize("query", ["What is 15% of 2400?", "15.5 percent of EUR 2,400", "2400의 15%는 얼마야?"])
def test_a_share_of_a_given_figure_is_computed_and_nothing_is_searched(query: str) -> None:
    assert steps(query) == ["analysis_team"]


@pytest.mark.parametrize("query", ["2024년의 5% 상한은?", "the 5% rule of 2024"])
def test_a_year_is_no_figure_to_take_a_share_of(query: str) -> None:
    assert steps(query) == ["search_team"]


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("Delete all log files older than 30 days", 'No command of this folder does "Delete all log files older'),
        ("Restart the web server.", 'No command of this folder does "Restart the web server"'),
        (
            "Please send the invoice to Bob and restart the server",
            'No command of this folder does "Please send the invoice to Bob", "restart the server"',
        ),
        ("delete the two poster drafts", 'No command of this folder does "delete the two poster drafts"'),
        ("delete the last archive", 'No command of this folder does "delete the last archive"'),
        ("rename minutes.md to old.md", 'No command of this folder does "rename minutes.md to old.md"'),
        ("단원명부.csv를 백업해줘", '"단원명부.csv를 백업해줘"에 맞는 명령이 이 폴더에 없어'),
        ("30일 지난 로그 파일을 모두 삭제해줘", '"30일 지난 로그 파일을 모두 삭제해줘"에 맞는 명령이 이 폴더에 없어'),
    ],
)
def test_what_nothing_here_does_is_said_with_where_to_declare_it(query: str, told: str) -> None:
    [note] = planned(query).notes
    assert note.startswith(told) and "hitl.toml" in note


@pytest.mark.parametrize(
    "query",
    [
        *("How many days of leave do I get?", "How do I delete log files?", "How many?"),
        *("직원 안내서에서 환불 규정 찾아줘", "로그 삭제 규정 알려줘", "결제한 금액을 보여줘", "결제한 금액을 더해줘"),
        *("Payment terms of the hall?", "지출을 항목별로 정리해서 보고서로 써줘"),
        *("보도자료 제목은 무슨 글꼴에 몇 포인트로 써?", "어느 서버를 재시작해?"),
        "트리거 노드를 기본 그대로 쓰면 첫 메시지 나가고 얼마 있다가 0을 보내?",
        "Piet booked the planer and cancels his booking 10 hours before it begins. What does he have to pay?",
        *("Cancel policy for late guests", "Backup schedule of the server", "Refund rules for members"),
    ],
)
def test_a_plain_question_has_no_remark(query: str) -> None:
    assert planned(query).notes == ()


@pytest.mark.parametrize(
    "query", ["clean 실행해줘 folder=.", "run clean folder=.", "clean folder=. 실행해줘", "run clean folder=. please"]
)
def test_a_folder_named_by_dots_is_a_value_and_no_end_of_a_sentence(query: str) -> None:
    [step] = planned(query, CLEAN).plan.steps
    assert step.input_mapping["parameters"] == {"folder": "."}


@pytest.mark.parametrize(
    ("folder", "query"), [("..", "run clean folder=.."), ("logs", "run clean folder=logs. Thanks.")]
)
def test_a_stop_after_a_value_still_ends_the_sentence(folder: str, query: str) -> None:
    [step] = planned(query, CLEAN).plan.steps
    assert step.input_mapping["parameters"] == {"folder": folder}


STAMP = {"stamp": CommandFacts("stamp", "Write a stamp file")}


@pytest.mark.parametrize("query", ["write a stamp file", "write a stamp", "Please write the stamp file now"])
def test_a_command_is_found_by_the_verb_that_says_what_it_does_however_common(query: str) -> None:
    assert by_deed(query, STAMP) == "stamp"


@pytest.mark.parametrize(
    "query", ["write a report about the stamps", "write a summary of the stamp", "write the stamp rules down as a memo"]
)
def test_what_else_is_to_be_written_is_no_such_command(query: str) -> None:
    assert by_deed(query, STAMP) == ""
