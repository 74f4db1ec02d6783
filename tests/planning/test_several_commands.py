"""Several declared commands in one sentence: each is planned in its place, and what isn't planned is said."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planning_support import agents, carried_out

from hitl_tui.core.errors import HitlError
from hitl_tui.core.plan import ExecutionPlanConverter
from hitl_tui.planning.agent import PlanningAgent
from hitl_tui.planning.proposals import CurrentPlan, Planned, resolved
from hitl_tui.planning.rule_planner.command_facts import CommandFacts, ParameterFacts
from hitl_tui.planning.rule_planner.planner import RulePlanner
from hitl_tui.planning.rule_planner.query_reader import unread

COMMANDS = {
    "list-logs": CommandFacts("list-logs", "List the logs."),
    "slow-job": CommandFacts("slow-job", "A slow job with progress.", {"n": ParameterFacts("integer", default=20)}),
    "delete-log": CommandFacts("delete-log", "Delete one log.", {"name": ParameterFacts(default="l1.log")}),
    "archive": CommandFacts("archive", "Archive the logs."),
    "backup_db": CommandFacts(
        "backup_db", "데이터베이스를 백업한다", {"dir": ParameterFacts("path", default="backup")}
    ),
}


def bind_command(text: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return dict(parameters)


COMMAND_TEAM = replace(agents()["command_team"], bind=bind_command)
AGENT = PlanningAgent(
    {**agents(), "command_team": COMMAND_TEAM}, RulePlanner(COMMANDS), now=lambda: "2026-03-01T09:00:00+00:00"
)


def planned(query: str) -> Planned:
    return asyncio.run(AGENT.create_execution_plan(query))


def calls(plan: Planned) -> list[str]:
    found = []
    for step in plan.plan.steps:
        if step.agent == "command_team":
            parameters = step.input_mapping["parameters"].items()
            found.append(" ".join([step.input_mapping["command"], *(f"{k}={v}" for k, v in parameters)]))
    return found


SENTENCES = [
    (
        "list logs, slow job with n=5, delete log l2.log, then archive",
        ["list-logs", "slow-job n=5", "delete-log name=l2.log", "archive"],
    ),
    ("delete log l1.log", ["delete-log name=l1.log"]),
    ("delete log l1.log then archive the logs", ["delete-log name=l1.log", "archive"]),
    ("run the slow job and list the logs", ["slow-job", "list-logs"]),
    ("list the logs, then run the slow job, then delete one log", ["list-logs", "slow-job", "delete-log"]),
    ("1. list-logs 2. slow job 7 3. archive", ["list-logs", "slow-job n=7", "archive"]),
    ("list-logs -> slow-job with n of 9 -> archive", ["list-logs", "slow-job n=9", "archive"]),
    ("delete log l1.log and l2.log, then archive", ["delete-log name=l1.log", "delete-log name=l2.log", "archive"]),
    ("list-logs와 archive를 실행해줘", ["list-logs", "archive"]),
    ("list-logs, slow-job n=5, archive 실행해줘", ["list-logs", "slow-job n=5", "archive"]),
    (
        "list-logs 실행하고 slow-job을 n=5로 실행한 다음 delete-log l2.log 돌리고 archive 실행해줘",
        ["list-logs", "slow-job n=5", "delete-log name=l2.log", "archive"],
    ),
    ("l2.log를 delete-log로 지워줘", ["delete-log name=l2.log"]),
    ("로그 목록 보여주고 압축해줘", ["list-logs", "archive"]),
    ("로그를 지우고 압축해줘", ["delete-log", "archive"]),
    # not all that is named is wanted
    ("list-logs 말고 archive 실행해줘", ["archive"]),
    ("list-logs 빼고 archive 돌려줘", ["archive"]),
    ("do not archive, but list logs", ["list-logs"]),
    ("never delete log l1.log, archive instead", ["archive"]),
    ("don't run list-logs and archive", []),
    ("list-logs와 archive는 실행하지 마", []),
    ("list-logs와 archive가 뭐야?", []),
    ("how do I run list-logs and archive?", []),
    ("archive policy of the company", []),
]


@pytest.mark.parametrize(("query", "wanted"), SENTENCES, ids=[q for q, _ in SENTENCES])
def test_commands_of_a_sentence(query: str, wanted: list[str]) -> None:
    plan = planned(query)
    assert (calls(plan), plan.notes) == (wanted, ())
    todos = AGENT.convert_with_strategy(plan.plan)
    ran = [t for t in todos if t.agent_name == "command_team"]
    assert [t.dependencies for t in ran] == [(), *((t.id,) for t in ran[:-1])][: len(ran)]


SAID = {
    "list-logs": ["list-logs", "list logs", "run list-logs"],
    "slow-job n=5": ["slow-job n=5", "slow job with n=5", "run slow-job n=5", "slow job 5"],
    "delete-log name=l2.log": ["delete-log l2.log", "delete log l2.log", "delete-log name=l2.log"],
    "archive": ["archive", "run archive", "archive the logs"],
    "backup_db dir=var/db": ["backup_db var/db", "run backup_db dir=var/db"],
}
JOINTS = [", ", " and ", " then ", ", then ", ", and ", " and then ", "; ", " 그리고 ", " 한 다음 ", ", 그다음 ", "\n"]


@given(st.lists(st.sampled_from(sorted(SAID)), min_size=1, max_size=6), st.data())
@settings(max_examples=60)
def test_any_commands_in_any_order_are_planned_in_it(wanted: list[str], data: st.DataObject) -> None:
    text = ""
    for call in wanted:
        text += (data.draw(st.sampled_from(JOINTS)) if text else "") + data.draw(st.sampled_from(SAID[call]))
    plan = planned(text)
    assert calls(plan) == wanted, text
    assert plan.notes == (), text
    steps = plan.plan.steps
    assert [len(s.dependencies) for s in steps] == [0] + [1] * (len(steps) - 1)


OTHER = ["water the plants", "paint twelve fences", "화분에 물 주기", "the printer smokes", "polish silver spoons"]


@given(st.permutations([*sorted(SAID)[:3], *OTHER[:2]]), st.sampled_from(OTHER), st.data())
@settings(max_examples=50)
def test_what_is_not_planned_is_said_or_searched_for(parts: list[str], other: str, data: st.DataObject) -> None:
    parts = [*parts, other]
    text = ""
    for part in parts:
        joint = data.draw(st.sampled_from(JOINTS)) if text else ""
        text += joint + (data.draw(st.sampled_from(SAID[part])) if part in SAID else part)
    plan = planned(text)
    told = "\n".join([*plan.notes, *(f"{s.input_mapping} {s.unread}" for s in plan.plan.steps)])
    for part in parts:
        known = part.split()[0] if part in SAID else part.split()[-1]
        assert known in told, (text, part, told)


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("The disk is full. Run archive.", 'Nothing was planned for "The disk is full".'),
        ("list logs, then delete user records", 'Nothing was planned for "delete user records".'),
        (
            "delete log of yesterday",
            '"delete log of yesterday" calls no declared command; write "run delete-log name=…" if that one is meant.',
        ),
        ("로그를 지우고 느린 작업을 돌려줘", '"느린 작업을 돌려줘"에 대한 단계는 계획에 없습니다.'),
    ],
)
def test_a_part_that_nothing_was_made_of_is_said_to_whoever_is_asked(query: str, note: str) -> None:
    plan = planned(query)
    assert plan.notes == (note,)
    assert plan.intent.to_dict()["notes"] == [note]
    assert all(t.metadata["notes"] == [note] for t in AGENT.convert_with_strategy(plan.plan))


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("run slow-job n 7 and water the plants, then archive", ["water the plants"]),
        ("list-logs, then run delete-log of yesterday, then archive", ["yesterday"]),
        ("run list-logs or archive", ["archive"]),
        ("run slow-job containing 7", ["containing"]),
        # what says what an argument is given
        ("run the slow job taking 7, then archive", []),
        ("delete the old log keeping the last 50 lines, then compress it", []),
        ("delete the old log retaining 50 lines", []),
        ("오래된 로그 줄을 지우고 50줄만 남겨줘", []),
    ],
)
def test_a_part_of_a_call_that_nothing_was_made_of_is_said_of_its_step_alone(query: str, left: list[str]) -> None:
    rotate = CommandFacts("rotate-log", "Delete old log lines", {"lines": ParameterFacts("integer")})
    known = {rotate.name: rotate, "archive": COMMANDS["archive"]} if "50" in query else COMMANDS
    agent = PlanningAgent({**agents(), "command_team": COMMAND_TEAM}, RulePlanner(known))
    plan = asyncio.run(agent.create_execution_plan(query))
    assert plan.notes == plan.intent.notes == ()
    unread = [t.metadata.get("unread", []) for t in agent.convert_with_strategy(plan.plan)]
    assert [parts for parts in unread if parts] == ([left] if left else [])


@pytest.mark.parametrize("query", ["back up the database", "Before you archive, back up the database"])
def test_a_verb_with_its_particle_is_no_part_that_was_left_out(query: str) -> None:
    assert planned(query).notes == () and calls(planned(query))[0] == "backup_db"


def test_a_proposal_says_what_it_leaves_out() -> None:
    todos = AGENT.convert_with_strategy(planned("list-logs").plan)
    proposal = asyncio.run(AGENT.revise("run archive and water the plants", "list-logs", todos))
    assert [c["kind"] for c in proposal.changes] == ["add"]
    assert proposal.reason.endswith('archive is planned without regard to "water the plants".')


AROUND = ["run", "n=5", "5", "l2.log", "x/y", ",", "then", "말고", "한 다음", "?", '"']


@given(st.lists(st.sampled_from([*COMMANDS, *OTHER, *AROUND]), max_size=12))
@settings(max_examples=60)
def test_any_words_around_names_are_read(words: list[str]) -> None:
    try:
        plan = planned(" ".join(words))
    except HitlError as error:
        assert error.message
    else:
        assert all(call.split()[0] in COMMANDS for call in calls(plan))


@pytest.mark.parametrize(
    ("query", "name"),
    [("디스크를 measure 해줘", "디스크 사용량 보기"), ("run measure", "measure"), ("measure", "measure")],
)
async def test_a_step_is_called_as_its_command_says_in_the_language_of_the_question(query: str, name: str) -> None:
    commands = {"measure": CommandFacts("measure", "Measure the disk.", titles={"ko": "디스크 사용량 보기"})}
    agent = PlanningAgent({**agents(), "command_team": COMMAND_TEAM}, RulePlanner(commands), now=lambda: "")
    planned = await agent.create_execution_plan(query)
    assert [todo.name for todo in agent.convert_with_strategy(planned.plan)] == [name]


def test_a_korean_syllable_by_itself_is_no_part_that_was_left_out() -> None:
    assert unread("건", ()) == () and unread("포스터 건", ()) == ("포스터 건",)


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        ("delete log l1.log and l2.log", ["l1.log", "l2.log"]),
        ("delete log l2.log", ["l2.log"]),
        ("delete log l3.log, then archive the logs", ["l3.log"]),
    ],
)
def test_a_step_that_waits_takes_one_call_and_a_further_one_is_a_new_step(text: str, inputs: list[str]) -> None:
    todos = AGENT.convert_with_strategy(planned("delete log l9.log").plan)
    changes = asyncio.run(RulePlanner(COMMANDS).revise(text, CurrentPlan("delete log l9.log", todos, agents()))).changes
    converter = ExecutionPlanConverter({**agents(), "command_team": COMMAND_TEAM}, forms=True)
    plan = carried_out(resolved(changes, todos, converter), todos)
    named = [t.arguments["parameters"]["name"] for t in plan if t.arguments.get("command") == "delete-log"]
    assert named == inputs


TITLED = {
    "slow": CommandFacts("slow", "Slow backup", titles={"ko": "느린 백업"}),
    "check": CommandFacts("check", "Check the backup", titles={"ko": "백업 검사", "en": "Look at the backup"}),
    "remove": CommandFacts("remove", "Remove the customer's file", titles={"ko": "고객 파일 삭제"}),
}


@pytest.mark.parametrize(
    "query",
    [
        "느린 백업을 실행하고, 백업 검사를 하고, 고객 파일을 삭제해줘",
        "느린 백업을 실행하고 백업 검사를 한 다음 고객 파일을 삭제해줘",
        "느린 백업, 백업 검사, 고객 파일 삭제 순서로 해줘",
        "느린 백업을 하고 나서 백업을 검사하고 고객 파일을 삭제해줘",
        "느린 백업 후 백업 검사, 그다음 고객 파일 삭제를 해줘",
        "Run slow, look at the backup, then remove the customer's file",
    ],
)
def test_commands_are_named_by_what_their_steps_are_called(query: str) -> None:
    plan = asyncio.run(RulePlanner(TITLED).plan(query, agents()))
    assert [s.input_mapping["command"] for s in plan.plan.steps] == ["slow", "check", "remove"]
    assert plan.notes == ()


@pytest.mark.parametrize(
    "query", ["느린 백업은 왜 느려?", "고객 파일 삭제 규정을 알려줘", "백업 검사소는 어디에 있어?"]
)
def test_a_question_about_what_a_step_is_called_after_calls_nothing(query: str) -> None:
    plan = asyncio.run(RulePlanner(TITLED).plan(query, agents()))
    assert [s.agent for s in plan.plan.steps] == ["search_team"]


@pytest.mark.parametrize("query", ["list-logs를 실행하면서 archive도 실행해줘", "run list-logs while you run archive"])
def test_each_call_of_one_clause_is_planned(query: str) -> None:
    assert [s.input_mapping["command"] for s in planned(query).plan.steps] == ["list-logs", "archive"]
