"""Plain text during a session becomes a proposal (D10, S2)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from feedback_judge import before
from planning_support import COMMANDS, agents, carried_out

from hitl_tui.core.errors import BadInput, PlanError
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.manager import TodoManager
from hitl_tui.core.plan import ExecutionPlanConverter, Proposal
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.planning.agent import PlanningAgent
from hitl_tui.planning.proposals import AddStep, CurrentPlan, UnknownTask, resolved
from hitl_tui.planning.rule_planner.command_facts import CommandFacts
from hitl_tui.planning.rule_planner.planner import RulePlanner

SEARCH_QUERY = "강남구 아파트 시세 조회"
FULL_QUERY = "전세 시세를 조사하고 분석해서 보고서 작성해줘"


def agent(*disabled: str, at: str = "2026-03-01T09:00:00+00:00") -> PlanningAgent:
    return PlanningAgent(agents(*disabled), RulePlanner(COMMANDS), now=lambda: at)


async def plan_of(query: str) -> list[SupervisorTodo]:
    return agent().convert_with_strategy((await agent().create_execution_plan(query)).plan)


async def revised(text: str, query: str = SEARCH_QUERY) -> Proposal:
    return await agent().revise(text, query, await plan_of(query))


def brief(proposal: Proposal) -> list[tuple[str, ...]]:
    """`("add", team, *dependencies)`, `("skip", id)`."""
    found: list[tuple[str, ...]] = []
    for change in proposal.changes:
        if change["kind"] == "add":
            found.append(("add", change["todo"]["agent_name"], *change["todo"]["dependencies"]))
        else:
            found.append(tuple(str(change[k]) for k in ("kind", "todo_id") if k in change))
    return found


def added(proposal: Proposal) -> list[dict[str, Any]]:
    return [change["todo"] for change in proposal.changes if change["kind"] == "add"]


ANALYSIS = ("add", "analysis_team", "todo_001")

ON_A_SEARCH = [
    ("검색만으로 부족할 것 같아. 분석도 추가해줘.", [ANALYSIS]),
    ("Searching alone won't be enough. Please add analysis too.", [ANALYSIS]),
    ("검색만으로 부족할 것 같으니 분석도 추가해줘", [ANALYSIS]),
    ("Searching alone won't be enough, so add analysis", [ANALYSIS]),
    ("분석", [ANALYSIS]),
    ("analysis_team 추가", [ANALYSIS]),
    ("Can you add an analysis?", [ANALYSIS]),
    ("we need an analysis", [ANALYSIS]),
    ("서초구와 비교 분석 추가해줘", [ANALYSIS]),
    ("compare with Seocho", [ANALYSIS]),
    ("보고서 만들지 말고 분석만 해줘", [ANALYSIS]),
    ("분석이랑 보고서 추가해줘", [ANALYSIS, ("add", "document_team", "todo_001", "todo_002")]),
    ("분석하고 보고서도 작성해줘", [ANALYSIS, ("add", "document_team", "todo_001", "todo_002")]),
    ("add analysis and a report", [ANALYSIS, ("add", "document_team", "todo_001", "todo_002")]),
    ("보고서 추가해줘. 분석도 추가해줘.", [ANALYSIS, ("add", "document_team", "todo_001", "todo_002")]),
    ("report", [("add", "document_team", "todo_001")]),
    ("보고서 작성해줘", [("add", "document_team", "todo_001")]),
    ("정리해서 문서로 만들어줘", [("add", "document_team", "todo_001")]),
    ("검색 끝나면 보고서 추가해줘", [("add", "document_team", "todo_001")]),
    ("I want a report at the end", [("add", "document_team", "todo_001")]),
    ("서초구 시세도 검색해줘", [("add", "search_team")]),
    ("add a search for Seocho prices", [("add", "search_team")]),
    ("look up the lease law too", [("add", "search_team")]),
    (
        "also search for the Songpa jeonse prices in 2024 and then add an analysis",
        [("add", "search_team"), ("add", "analysis_team", "todo_001", "todo_002")],
    ),
    ("clean-logs 실행해줘", [("add", "command_team")]),
    ("add clean-logs dir=logs", [("add", "command_team")]),
    ("오래된 로그 지워줘", [("add", "command_team")]),
    ("run clean-logs after the search", [("add", "command_team", "todo_001")]),
    ("검색 끝나면 clean-logs 실행해줘", [("add", "command_team", "todo_001")]),
    ("run clean-logs and add an analysis", [("add", "command_team"), ANALYSIS]),
    ("remove todo_001", [("remove", "todo_001")]),
    ("1번은 건너뛰어줘", [("skip", "todo_001")]),
    ("could you drop the search?", [("remove", "todo_001")]),
]

ON_A_FULL_PLAN = [
    ("분석은 빼줘", [("skip", "todo_002")]),
    ("분석이랑 보고서 둘 다 빼줘", [("remove", "todo_003"), ("remove", "todo_002")]),
    ("remove everything", [("remove", "todo_003"), ("remove", "todo_002"), ("remove", "todo_001")]),
    ("skip the report", [("skip", "todo_003")]),
    ("skip todo_002 and todo_003", [("skip", "todo_002"), ("skip", "todo_003")]),
    ("2번 3번 빼줘", [("remove", "todo_003"), ("remove", "todo_002")]),
    ("remove step 3", [("remove", "todo_003")]),
    ("보고서는 필요 없어", [("remove", "todo_003")]),
    ("No report please", [("remove", "todo_003")]),
    ("the report is not needed", [("remove", "todo_003")]),
    ("don't write the report", [("remove", "todo_003")]),
    ("keep the report but skip the analysis", [("skip", "todo_002")]),
    ("검색 말고 분석 해줘", [("skip", "todo_001")]),
    ("add another analysis", [ANALYSIS]),
    ("전세가율 분석도 추가해줘", [ANALYSIS]),
    (
        "replace nothing, but skip the search and add a search for Seocho",
        [("skip", "todo_001"), ("add", "search_team")],
    ),
]


@pytest.mark.parametrize(("text", "changes"), ON_A_SEARCH, ids=[t for t, _ in ON_A_SEARCH])
async def test_text_changes_a_plan_of_one_search(text: str, changes: list[tuple[str, ...]]) -> None:
    assert brief(await revised(text)) == changes


@pytest.mark.parametrize(("text", "changes"), ON_A_FULL_PLAN, ids=[t for t, _ in ON_A_FULL_PLAN])
async def test_text_changes_a_plan_of_three(text: str, changes: list[tuple[str, ...]]) -> None:
    assert brief(await revised(text, FULL_QUERY)) == changes


async def test_scenario_2_proposal_holds_the_whole_todo() -> None:
    proposal = await revised("검색만으로 부족할 것 같아. 분석도 추가해줘.")
    (todo,) = added(proposal)
    read = SupervisorTodo.from_dict(todo)
    assert (read.id, read.status, read.dependencies) == ("todo_002", Status.PENDING, ("todo_001",))
    assert read.arguments == {"query": SEARCH_QUERY, "analysis_type": "comprehensive"}
    assert (read.metadata["added_by"], read.metadata["manual"]) == ("user", True)
    assert (read.risk, read.created_at) == ("low", "2026-03-01T09:00:00+00:00")
    assert proposal.origin == "operator"
    assert proposal.text == "검색만으로 부족할 것 같아. 분석도 추가해줘."
    assert proposal.reason == 'Adds "분석".'
    manager = TodoManager(await plan_of(SEARCH_QUERY))
    manager.add(read)
    assert [t.id for t in manager.todos] == ["todo_001", "todo_002"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("서초구 시세도 검색해줘", "서초구 시세"),
        ("보고서 양식 검색 추가해줘", "보고서 양식"),
        ("add a search for Seocho prices", "Seocho prices"),
        ("look up the lease law too", "lease law"),
        ("search for rent and deposit, then skip nothing", "rent and deposit"),
    ],
)
async def test_added_search_looks_for_what_was_said(text: str, query: str) -> None:
    assert added(await revised(text))[0]["arguments"]["query"] == query


RUNS = "run backup-database target=db, then run list-files, then run clean-logs"


@pytest.mark.parametrize(
    ("text", "then"),
    [
        ("move list-files to the end", {"todo_003": ["todo_001"], "todo_002": ["todo_003"]}),
        ("list-files는 맨 뒤로 옮겨줘", {"todo_003": ["todo_001"], "todo_002": ["todo_003"]}),
        ("list-files after clean-logs", {"todo_003": ["todo_001"], "todo_002": ["todo_003"]}),
        ("clean-logs before list-files", {"todo_003": ["todo_001"], "todo_002": ["todo_003"]}),
        ("3번을 2번 앞으로 옮겨줘", {"todo_003": ["todo_001"], "todo_002": ["todo_003"]}),
    ],
)
async def test_a_session_that_runs_gets_another_order_of_what_is_to_come(text: str, then: dict[str, list[str]]) -> None:
    todos = ended(await plan_of(RUNS), todo_001=Status.COMPLETED)
    changes = (await agent().revise(text, RUNS, todos)).changes
    assert {c["todo_id"]: list(c["after"]) for c in changes if c["kind"] == "after"} == then


@pytest.mark.parametrize(
    "text", ["copy the files first", "verify the database first", "파일 개수 세는 건 마지막에", "로그 확인을 먼저 해줘"]
)
async def test_a_step_isnt_named_by_what_something_else_is_to_be_done_with(text: str) -> None:
    with pytest.raises(BadInput, match="No change to the plan"):
        await agent().rework([text], RUNS, await plan_of(RUNS))


@pytest.mark.parametrize("text", ["Delete all log files older than 30 days", "30일 지난 로그 파일을 모두 삭제해줘"])
async def test_what_gives_a_step_its_input_takes_no_other_step_out(text: str) -> None:
    proposal = await agent().revise(text, RUNS, await plan_of(RUNS))
    assert brief(proposal) == [("edit", "todo_003")]
    assert proposal.changes[0]["arguments"]["parameters"]["days"] == 30


async def test_what_has_run_keeps_its_place() -> None:
    todos = ended(await plan_of(RUNS), todo_001=Status.COMPLETED, todo_002=Status.IN_PROGRESS)
    with pytest.raises(BadInput, match="002 is in_progress; only steps that haven't run can be moved"):
        await agent().revise("clean-logs before list-files", RUNS, todos)


async def test_what_runs_stays_where_it_is_when_the_rest_is_to_run_at_once() -> None:
    todos = ended(await plan_of(RUNS), todo_001=Status.COMPLETED, todo_002=Status.IN_PROGRESS)
    assert brief(await agent().revise("run all of them in parallel", RUNS, todos)) == [("after", "todo_003")]


async def test_what_a_sentence_adds_and_cant_place_isnt_added_and_is_said() -> None:
    proposal = await revised("보고서는 빼고 분석 먼저 해줘", FULL_QUERY)
    assert brief(proposal) == [("remove", "todo_003")]
    assert proposal.reason == "Removes 003. 002 works from what 001 finds, so it can't come before it."


@pytest.mark.parametrize("text", ["검색 한 번 더 해줘", "add another search"])
async def test_the_same_search_again_is_asked_what_else_to_look_for(text: str) -> None:
    with pytest.raises(BadInput, match="say what else to search for"):
        await revised(text)


async def test_added_analysis_keeps_the_question_and_the_new_subject() -> None:
    (todo,) = added(await revised("전세가율 분석도 추가해줘", FULL_QUERY))
    assert todo["arguments"]["query"] == f"{FULL_QUERY}\n전세가율"
    assert todo["name"] == "분석: 전세가율"


OPS = "Find in the runbook which logs may go, then run clean-logs dir=logs, then run list-files."


@pytest.mark.parametrize(
    ("text", "name", "dependencies"),
    [
        (
            "also compute how much space was freed",
            "Analyse: how much space was freed",
            ["todo_001", "todo_002", "todo_003"],
        ),
        (
            "calculate how many files were deleted",
            "Analyse: how many files were deleted",
            ["todo_001", "todo_002", "todo_003"],
        ),
        ("용량이 얼마나 확보됐는지도 계산해줘", "분석: 용량이 얼마나 확보됐는지", ["todo_001", "todo_002", "todo_003"]),
        ("also compute the penalty", "Analyse: penalty", ["todo_001"]),
    ],
)
async def test_an_analysis_of_what_commands_change_draws_on_them(text: str, name: str, dependencies: list[str]) -> None:
    (todo,) = added(await revised(text, OPS))
    assert (todo["name"], todo["dependencies"]) == (name, dependencies)


async def test_an_analysis_draws_on_commands_that_ran() -> None:
    todos = ended(await plan_of(OPS), todo_001=Status.COMPLETED, todo_002=Status.COMPLETED)
    (todo,) = added(await agent().revise("add an analysis", OPS, todos))
    assert todo["dependencies"] == ["todo_001", "todo_002"]


async def test_new_steps_say_what_had_better_wait_for_them() -> None:
    (search,) = added(await revised("서초구 시세도 검색해줘", FULL_QUERY))
    (analysis,) = added(await revised("add another analysis", FULL_QUERY))
    assert search["metadata"]["feeds"] == ["todo_002"]
    assert analysis["metadata"]["feeds"] == ["todo_003"]


@pytest.mark.parametrize(
    ("query", "text", "todo", "arguments"),
    [
        ("run clean-logs dir=logs", "change the days of clean-logs to 30", "todo_001", {"dir": "logs", "days": 30}),
        ("run clean-logs dir=logs", "1번은 days=7로 바꿔줘", "todo_001", {"dir": "logs", "days": 7}),
        ("run list-files, then run clean-logs", "set dir=var in step 2", "todo_002", {"dir": "var", "days": 14}),
    ],
)
async def test_a_step_that_waits_gets_other_arguments(query: str, text: str, todo: str, arguments: JsonObject) -> None:
    (change,) = (await revised(text, query)).changes
    assert (change["kind"], change["todo_id"], change["risk"]) == ("edit", todo, "high")
    assert change["arguments"]["parameters"] == arguments


async def test_another_place_in_a_search_is_put_in_the_place_of_the_last() -> None:
    (change,) = (await revised("1번은 서초구로 바꿔줘")).changes
    assert change["arguments"]["query"] == "서초구 아파트 시세 조회"


async def test_a_team_that_calls_its_question_otherwise_gets_it_under_that_name() -> None:
    known = agents()
    schema = {"properties": {"task": {"type": "string"}}, "required": ["task"]}
    known["search_team"] = replace(
        known["search_team"], input_schema=lambda: schema, bind=lambda text, given: {"task": given.get("task", text)}
    )
    planner = PlanningAgent(known, RulePlanner(COMMANDS))
    todos = planner.convert_with_strategy((await planner.create_execution_plan(SEARCH_QUERY)).plan)
    asked = [replace(todo, arguments={"task": SEARCH_QUERY}) for todo in todos]
    (change,) = (await planner.revise("1번은 서초구로 바꿔줘", SEARCH_QUERY, asked)).changes
    assert change["arguments"] == {"task": SEARCH_QUERY.replace("강남구", "서초구")}


async def test_skip_says_why() -> None:
    proposal = await revised("skip the report", FULL_QUERY)
    assert proposal.changes[0]["reason"] == "skip the report"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "!!!",
        "asdf",
        "좋아",
        "부산 해운대 시세는 얼마야?",
        "What about Busan?",
        "What does the analysis do?",
        "don't skip the search",
    ],
)
async def test_text_that_asks_for_no_change_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(BadInput) as caught:
        await revised(text)
    examples = caught.value.help.split('"')[1::2]
    assert examples == ["add an analysis", "skip the report"], "English, and the catalogue has Korean ones"


@pytest.mark.parametrize("text", ["add an analysis", "skip the report", "분석도 추가해줘", "보고서는 건너뛰어"])
async def test_the_examples_are_understood(text: str) -> None:
    assert brief(await revised(text, "전세금 인상 상한을 찾아 보고서로 작성해줘"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("분석도 추가해줘", "002 already plans this analysis"),
        ("remove todo_009", "No step 009; known: 001, 002, 003"),
        ("skip clean-logs", 'no "clean-logs" step'),
        ("분석 먼저", "002 works from what 001 finds"),
        ("search last", "002 works from what 001 finds"),
        ("make analysis high priority", "A priority is set by a command: /todo priority 002 LEVEL"),
        ("보고서 우선순위를 높여줘", "/todo priority 003 LEVEL"),
    ],
)
async def test_impossible_change_says_why(text: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        await revised(text, FULL_QUERY)


async def test_disabled_agent_is_not_added() -> None:
    with pytest.raises(PlanError, match="analysis_team is disabled"):
        await agent("analysis_team").revise("분석도 추가해줘", SEARCH_QUERY, await plan_of(SEARCH_QUERY))


def ended(todos: Sequence[SupervisorTodo], **status: Status) -> list[SupervisorTodo]:
    return [replace(t, status=status.get(t.id, t.status), attempt=int(t.id in status)) for t in todos]


async def test_a_place_beside_a_step_that_has_ended_is_none() -> None:
    todos = ended(await plan_of(SEARCH_QUERY), todo_001=Status.COMPLETED)
    found = await agent().revise("put the report before the search", SEARCH_QUERY, todos)
    assert {change["kind"] for change in found.changes} == {"add"}


async def test_what_started_is_not_removed() -> None:
    todos = ended(await plan_of(FULL_QUERY), todo_001=Status.COMPLETED, todo_002=Status.IN_PROGRESS)
    with pytest.raises(BadInput, match="002 is in_progress"):
        await agent().revise("remove the analysis", FULL_QUERY, todos)
    failed = ended(todos, todo_003=Status.FAILED)
    assert brief(await agent().revise("remove the report", FULL_QUERY, failed)) == [("skip", "todo_003")]


async def test_nothing_depends_on_what_was_lost() -> None:
    todos = ended(await plan_of(FULL_QUERY), todo_001=Status.COMPLETED, todo_002=Status.FAILED)
    proposal = await agent().revise("add another report", FULL_QUERY, todos)
    assert brief(proposal) == [("add", "document_team", "todo_001")]


async def test_new_ids_follow_the_highest_ever_used() -> None:
    todos = await plan_of(SEARCH_QUERY)
    proposal = await agent().revise("분석 추가", SEARCH_QUERY, todos, taken=["todo_007"])
    assert added(proposal)[0]["id"] == "todo_008"


async def test_same_words_again_are_another_proposal() -> None:
    todos = await plan_of(SEARCH_QUERY)
    first = await agent().revise("분석 추가", SEARCH_QUERY, todos)
    same = await agent().revise("분석 추가", SEARCH_QUERY, todos)
    later = await agent(at="2026-03-01T09:00:01+00:00").revise("분석 추가", SEARCH_QUERY, todos)
    other = await agent().revise("보고서 추가", SEARCH_QUERY, todos)
    assert first == same
    assert len({first.id, later.id, other.id}) == 3


async def test_words_are_understood_beside_what_else_goes_on() -> None:
    """A plan of ten thousand takes a while, and whoever asked has keys to answer meanwhile."""
    asked = asyncio.ensure_future(PlanningAgent(agents()).revise("skip everything", "q", many(50)))
    before: list[bool] = []
    asyncio.get_running_loop().call_soon(lambda: before.append(not asked.done()))
    assert len((await asked).changes) == 50
    assert before == [True]


def many(number: int) -> list[SupervisorTodo]:
    """A plan of searches and analyses by turns, each of which depends on the one before, in a mixed order."""
    order = sorted(range(1, number + 1), key=lambda n: n * 7 % 11)
    return [
        SupervisorTodo(
            id=f"todo_{n:03d}",
            name=f"step {n}",
            agent_name="analysis_team" if n % 2 else "search_team",
            dependencies=(f"todo_{n - 1:03d}",) if n > 1 else (),
            rank=place,
        )
        for place, n in enumerate(order, start=1)
    ]


@pytest.mark.parametrize(
    ("text", "removed", "kept"),
    [("remove everything", 60, 0), ("remove the searches", 1, 29), ("remove todo_007 and todo_008", 0, 2)],
)
async def test_what_is_removed_leaves_nothing_that_depends_on_it(text: str, removed: int, kept: int) -> None:
    left = {t.id: t for t in many(60)}
    changes = (await PlanningAgent(agents()).revise(text, "q", tuple(left.values()))).changes
    for change in changes:
        if change["kind"] == "remove":
            assert not [t.id for t in left.values() if change["todo_id"] in t.dependencies]
            del left[change["todo_id"]]
    skipped = [c["todo_id"] for c in changes if c["kind"] == "skip"]
    assert (60 - len(left), len(skipped)) == (removed, kept)
    assert all(any(todo_id in t.dependencies for t in left.values()) for todo_id in skipped)


CONVERTER = ExecutionPlanConverter(agents(), forms=True)
DEEDS = {
    "count": CommandFacts("count", "Counts the old logs"),
    "backup": CommandFacts("backup", "Backs up the logs"),
    "delete": CommandFacts("delete", "Deletes the old logs"),
    "verify": CommandFacts("verify", "Checks that the logs are gone"),
}


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("also list the biggest folders before anything is deleted", "search_team"),
        ("please find out how large the logs are before the deletion", "search_team"),
        ("백업부터 다시 해줘", "backup"),
        ("삭제하기 전에 백업부터 다시 해줘", "backup"),
        ("back up again before the deletion", "backup"),
        ("do the backup first", "backup"),
        ("add backup before 003", "backup"),
    ],
)
@pytest.mark.parametrize("ended", [Status.PENDING, Status.FAILED])
async def test_what_is_to_come_before_a_step_does_also_before_one_that_failed(
    monkeypatch: pytest.MonkeyPatch, text: str, added: str, ended: Status
) -> None:
    monkeypatch.setattr("planning_support.COMMANDS", DEEDS)
    query, planner = "count, back up, delete, verify", PlanningAgent(agents(), RulePlanner(DEEDS))
    todos = planner.convert_with_strategy((await planner.create_execution_plan(query)).plan)
    statuses = (Status.COMPLETED, Status.SKIPPED, ended, Status.PENDING)
    todos = [replace(todo, status=status) for todo, status in zip(todos, statuses, strict=True)]
    changes = (await RulePlanner(DEEDS).revise(text, CurrentPlan(query, todos, agents()))).changes
    plan = {t.id: t for t in carried_out(resolved(changes, todos, CONVERTER), todos)}
    assert plan["todo_005"].arguments.get("command", plan["todo_005"].agent_name) == added
    assert "todo_005" in before("todo_003", plan)
    assert "todo_003" not in before("todo_005", plan)


@pytest.mark.parametrize(
    ("query", "text", "order"),
    [
        ("count, back up and verify", "delete the old logs too", "count backup delete verify"),
        ("count, back up and verify", "오래된 로그 삭제도 추가해줘", "count backup delete verify"),
        ("count, verify, delete", "verify after delete", "count delete verify"),
        ("count, verify, delete", "delete before verify", "count delete verify"),
        ("count, verify, delete", "확인은 삭제 뒤로 옮겨줘", "count delete verify"),
        ("count, verify, delete", "삭제를 확인보다 먼저 해줘", "count delete verify"),
        ("count, back up and verify", "백업을 확인보다 나중에 해줘", "count verify backup"),
        ("count, back up, delete, verify", "verify before deleting, too", "count backup verify delete verify"),
        ("count, back up, delete, verify", "삭제 전에 확인도 한번 해줘", "count backup verify delete verify"),
        (
            "count, back up, delete, verify",
            "count the logs once more before the deletion",
            "count backup count delete verify",
        ),
    ],
)
async def test_a_check_comes_after_what_it_checks(
    monkeypatch: pytest.MonkeyPatch, query: str, text: str, order: str
) -> None:
    monkeypatch.setattr("planning_support.COMMANDS", DEEDS)
    planner = PlanningAgent(agents(), RulePlanner(DEEDS))
    todos = planner.convert_with_strategy((await planner.create_execution_plan(query)).plan)
    changes = (await RulePlanner(DEEDS).revise(text, CurrentPlan(query, todos, agents()))).changes
    found = carried_out(resolved(changes, todos, CONVERTER), todos)
    assert [todo.arguments["command"] for todo in found] == order.split()


@pytest.mark.parametrize(
    "text",
    [
        "다 끝나면 지운 로그 목록을 보고서로 남겨 줘",
        "끝나면 무엇을 지웠는지 보고서로 써 줘",
        "write a report of what was deleted at the end",
        "when it's done, also write a report on the deleted logs",
    ],
)
async def test_a_report_on_what_the_plan_does_comes_after_it_and_moves_nothing(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr("planning_support.COMMANDS", DEEDS)
    query, planner = "count, back up, delete, verify", PlanningAgent(agents(), RulePlanner(DEEDS))
    todos = planner.convert_with_strategy((await planner.create_execution_plan(query)).plan)
    [added] = (await RulePlanner(DEEDS).revise(text, CurrentPlan(query, todos, agents()))).changes
    assert isinstance(added, AddStep)
    assert (added.step.agent, [*added.step.dependencies]) == ("document_team", [todo.id for todo in todos])


@pytest.mark.parametrize("text", ["move 001 before 001", "move the backup after the backup"])
async def test_a_step_is_never_moved_before_or_after_itself(text: str) -> None:
    query = "run backup-database target=db, then run list-files"
    with pytest.raises(BadInput, match="The plan has 001 there already"):
        await revised(text, query)


DUPLICATES = {
    name: CommandFacts(name, description)
    for name, description in {
        "count-duplicates": "Count the duplicate records. (중복 레코드 세기)",
        "delete-duplicates": "Delete the duplicate records. (중복 레코드 삭제)",
        "verify-what-is-left": "Show the records left, checked. (남은 레코드 확인)",
    }.items()
}


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("now delete the duplicate records and verify what is left", ["add", "add"]),
        ("이제 중복 레코드를 삭제하고 남은 레코드를 확인해줘", ["add", "add"]),
        ("delete the duplicates now", ["add"]),
    ],
)
async def test_a_verb_with_the_object_of_a_command_calls_it_and_removes_no_step(
    monkeypatch: pytest.MonkeyPatch, text: str, kinds: list[str]
) -> None:
    monkeypatch.setattr("planning_support.COMMANDS", DUPLICATES)
    query, planner = "count the duplicates, delete the duplicates, verify what is left", RulePlanner(DUPLICATES)
    first = PlanningAgent(agents(), planner)
    todos = first.convert_with_strategy((await first.create_execution_plan(query)).plan)
    statuses = (Status.COMPLETED, Status.SKIPPED, Status.SKIPPED)
    todos = [replace(todo, status=status) for todo, status in zip(todos, statuses, strict=True)]
    proposed = await planner.revise(text, CurrentPlan(query, todos, agents()))
    assert ["add" if isinstance(change, AddStep) else change["kind"] for change in proposed.changes] == kinds
    assert "skipped" not in proposed.reason
    assert [bool(change.step.dependencies) for change in proposed.changes if isinstance(change, AddStep)][1:] == [
        True for _ in kinds[1:]
    ], "one command comes after the other, as it is said"


CLEANUP = {
    name: CommandFacts(name, description)
    for name, description in {
        "count-duplicates": "Count the duplicate records of the database. (중복 레코드 세기, 개수)",
        "backup-database": "Back up the database, never over an earlier copy. (데이터베이스 백업)",
        "delete-duplicates": "Delete the duplicate records, all of them or none. (중복 레코드 삭제)",
        "verify-what-is-left": "Show the records left, checked against the copy. (남은 레코드 확인, 보여주기)",
    }.items()
}
CLEANED = (
    "Count the duplicate records, then back up the database, then delete the duplicates, then verify what is left."
)


async def cleaned(monkeypatch: pytest.MonkeyPatch, text: str, **status: Status) -> list[str]:
    """Return what is called in which order after a text changes a plan that counts, backs up, deletes and verifies."""
    monkeypatch.setattr("planning_support.COMMANDS", CLEANUP)
    planner, first = RulePlanner(CLEANUP), PlanningAgent(agents(), RulePlanner(CLEANUP))
    todos = ended(first.convert_with_strategy((await first.create_execution_plan(CLEANED)).plan), **status)
    changes = (await planner.revise(text, CurrentPlan(CLEANED, todos, agents()))).changes
    found = carried_out(resolved(changes, todos, CONVERTER), todos)
    return [str(todo.arguments.get("command", todo.agent_name)).partition("-")[0] for todo in found]


@pytest.mark.parametrize(
    "text",
    [
        *("move the verification before the deletion", "move verify before delete", "move 004 before 003"),
        *("move the inspection ahead of the cleanup", "move the check before step 3"),
        *(
            "검증을 삭제 앞으로 옮겨줘",
            "확인을 지우기 앞으로 옮겨줘",
            "점검을 지우기 전으로 옮겨줘",
            "4번을 삭제 앞으로 이동해줘",
        ),
    ],
)
async def test_a_step_is_named_by_noun_verb_or_number(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    assert await cleaned(monkeypatch, text) == ["count", "backup", "verify", "delete"]


@pytest.mark.parametrize("text", ["run the verification first", "verify first", "검증을 먼저 실행해줘", "확인 먼저"])
async def test_a_step_named_by_its_noun_comes_first(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    assert await cleaned(monkeypatch, text) == ["verify", "count", "backup", "delete"]


@pytest.mark.parametrize("text", ["remove the counting", "drop the count", "세는 건 빼줘", "개수 세기를 삭제해줘"])
async def test_the_verb_that_takes_a_step_out_names_no_other_one(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    planner, first = RulePlanner(CLEANUP), PlanningAgent(agents(), RulePlanner(CLEANUP))
    monkeypatch.setattr("planning_support.COMMANDS", CLEANUP)
    todos = first.convert_with_strategy((await first.create_execution_plan(CLEANED)).plan)
    proposed = await planner.revise(text, CurrentPlan(CLEANED, todos, agents()))
    assert [(c["kind"], c["todo_id"]) for c in proposed.changes if not isinstance(c, AddStep)] == [("skip", "todo_001")]
    assert len(proposed.changes) == 1


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("please make a second backup after the deletion", "count backup delete verify backup"),
        ("삭제가 끝나면 두 번째 백업을 만들어줘", "count backup delete verify backup"),
        ("make another backup at the end", "count backup delete verify backup"),
        ("repeat the count at the end", "count backup delete verify count"),
        ("do the verification before the backup", "count verify backup delete verify"),
    ],
)
async def test_one_more_of_a_step_comes_where_it_is_told(
    monkeypatch: pytest.MonkeyPatch, text: str, order: str
) -> None:
    assert await cleaned(monkeypatch, text) == order.split()


DONE = {f"todo_00{number}": Status.COMPLETED for number in range(1, 5)}


@pytest.mark.parametrize(
    ("text", "done", "why"),
    [
        ("move the archiving before the deletion", {}, "no step and no declared command does that"),
        ("run the frobnication first", {}, "no step and no declared command does that"),
        ("please restart the server after the deletion", DONE, "no step and no declared command does that"),
        ("send me an email after the deletion", {}, "no step and no declared command does that"),
        ("압축을 삭제 앞으로 옮겨줘", {}, "no step and no declared command does that"),
        ("삭제 후에 서버를 재시작해줘", DONE, "no step and no declared command does that"),
        (
            "move the verification before the deletion",
            DONE,
            "004 is completed; only steps that haven't run can be moved",
        ),
        ("백업을 삭제보다 나중에", DONE, "002 is completed; only steps that haven't run can be moved"),
    ],
)
async def test_what_is_told_to_be_done_is_never_looked_for(
    monkeypatch: pytest.MonkeyPatch, text: str, done: dict[str, Status], why: str
) -> None:
    with pytest.raises(UnknownTask, match=why):
        await cleaned(monkeypatch, text, **done)


@pytest.mark.parametrize(
    "text",
    [
        *("how many rows are left after the deletion?", "compare the count before the deletion and after it"),
        *("tell me first what the cap is", "보관 기간을 먼저 알려줘", "the rules before the deletion"),
    ],
)
async def test_what_is_asked_of_a_plan_that_has_ended_is_looked_for(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    assert "search_team" in await cleaned(monkeypatch, text, **DONE)
