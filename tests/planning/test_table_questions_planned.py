"""Which questions about a folder go to its tables, and which are searched for (D19, D20)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from planning_support import agents

from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.planning.agent import PlanningAgent
from hitl_tui.planning.rule_planner.planner import RulePlanner

PAID = "How much did Tom pay into the fund since September 2026?"


@pytest.fixture
def agent(tmp_path: Path) -> PlanningAgent:
    (tmp_path / "house.md").write_text(
        "# Heating\n\nThe boiler is serviced every October.\n\n"
        "# Electricity\n\nWe pay 0.3187 euros per kWh in 2026. In 2027 it will be 0.3452 euros per kWh.\n"
    )
    (tmp_path / "fund.csv").write_text("date,who,amount\n2026-08-02,Tom,40\n2026-09-03,Ann,55\n2026-10-01,Tom,25\n")
    return PlanningAgent(agents(), RulePlanner(workspace=tmp_path), now=lambda: "2026-11-01T09:00:00+00:00")


def kinds(steps: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(step["agent_name"], step["arguments"].get("analysis_type", "")) for step in steps]


@pytest.mark.long
def test_what_only_seems_to_be_in_a_table_is_searched_for(agent: PlanningAgent) -> None:
    asked = "By how many percent does our electricity price rise in 2027?"
    plan = asyncio.run(agent.create_execution_plan(asked)).plan
    assert not any(step.input_mapping.get("analysis_type") == "tables" for step in plan.steps)


@pytest.mark.parametrize(
    ("text", "planned"),
    [
        ("When is the boiler serviced?", ("search_team", "")),
        ("and Ann?", ("analysis_team", "tables")),
        ("which of them is the highest?", ("analysis_team", "tables")),
    ],
)
def test_after_a_table_a_question_is_planned_by_what_it_asks(
    agent: PlanningAgent, text: str, planned: tuple[str, str]
) -> None:
    plan = asyncio.run(agent.create_execution_plan(PAID)).plan
    todos = [replace(todo, status=Status.COMPLETED, attempt=1) for todo in agent.convert_with_strategy(plan)]
    proposed = asyncio.run(agent.revise(text, PAID, todos))
    assert kinds([dict(change["todo"]) for change in proposed.changes]) == [planned]


def test_after_a_passage_a_sum_is_planned_as_a_first_question_is(agent: PlanningAgent) -> None:
    fact, asked = "When is the boiler serviced?", "How much did Ann pay?"
    first = asyncio.run(agent.create_execution_plan(fact)).plan
    todos = [replace(todo, status=Status.COMPLETED, attempt=1) for todo in agent.convert_with_strategy(first)]
    assert not any(todo.arguments.get("analysis_type") == "tables" for todo in todos)
    alone = agent.convert_with_strategy(asyncio.run(agent.create_execution_plan(asked)).plan)
    proposed = asyncio.run(agent.revise(asked, fact, todos))
    assert ("analysis_team", "tables") in kinds([todo.to_dict() for todo in alone])
    assert kinds([dict(change["todo"]) for change in proposed.changes]) == kinds([todo.to_dict() for todo in alone])


def test_a_question_goes_on_from_the_one_asked_last_and_not_from_an_earlier_table(agent: PlanningAgent) -> None:
    plan = asyncio.run(agent.create_execution_plan(PAID)).plan
    todos = [replace(todo, status=Status.COMPLETED, attempt=1) for todo in agent.convert_with_strategy(plan)]
    for text in ("When is the boiler of Tom serviced?", "and Ann?"):
        [step] = [dict(one["todo"]) for one in asyncio.run(agent.revise(text, PAID, todos)).changes]
        assert kinds([step]) == [("search_team", "")]
        todos.append(replace(SupervisorTodo.from_dict(step), status=Status.COMPLETED, attempt=1))
    assert todos[-1].arguments["query"] == "When is the boiler of Ann serviced?"


def test_rows_beyond_a_limit_of_a_document_are_asked_for_after_the_search_for_it(agent: PlanningAgent) -> None:
    asked = "Who paid amounts over the allowance?"
    todos = agent.convert_with_strategy(asyncio.run(agent.create_execution_plan(asked)).plan)
    assert kinds([todo.to_dict() for todo in todos]) == [("search_team", ""), ("analysis_team", "tables")]
    assert todos[1].dependencies == (todos[0].id,)
    proposed = asyncio.run(agent.revise(asked, PAID, [replace(one, status=Status.COMPLETED) for one in todos[:1]]))
    added = [dict(change["todo"]) for change in proposed.changes]
    assert kinds(added) == [("search_team", ""), ("analysis_team", "tables")]
    assert added[0]["id"] in added[1]["dependencies"]


def test_a_report_on_a_question_to_a_table_asks_that(agent: PlanningAgent) -> None:
    fact = "When is the boiler serviced?"
    first = asyncio.run(agent.create_execution_plan(fact)).plan
    todos = [replace(todo, status=Status.COMPLETED, attempt=1) for todo in agent.convert_with_strategy(first)]
    proposed = asyncio.run(agent.revise("How much did Ann pay? And write a report", fact, todos))
    *asked, report = [dict(change["todo"]) for change in proposed.changes]
    assert ("analysis_team", "tables") in kinds(asked)
    assert (report["agent_name"], report["dependencies"]) == ("document_team", [step["id"] for step in asked])


def test_a_question_to_a_table_works_from_no_result_that_it_does_not_go_on_from(agent: PlanningAgent) -> None:
    fact = "When is the boiler serviced?"
    first = asyncio.run(agent.create_execution_plan(fact)).plan
    todos = [replace(todo, status=Status.COMPLETED, attempt=1) for todo in agent.convert_with_strategy(first)]
    for asked, goes_on in (("How much did Ann pay?", False), ("and Tom?", True)):
        added = [dict(one["todo"]) for one in asyncio.run(agent.revise(asked, fact, todos)).changes]
        for step in (one for one in added if one["arguments"].get("analysis_type") == "tables"):
            assert (bool(step["dependencies"]), step["metadata"].get("alone", False)) == (goes_on, not goes_on)
        assert ("analysis_team", "tables") in kinds(added)
        todos += [replace(SupervisorTodo.from_dict(step), status=Status.COMPLETED, attempt=1) for step in added]


@pytest.mark.parametrize(
    "text",
    [
        "Write a report on the total amount by who",
        "who별 amount 합계를 구하고 보고서로 써 줘",
        "who별 amount 합계를 보고서로 정리해 주세요",
    ],
)
def test_a_first_question_that_calls_for_a_report_on_a_table_asks_the_table(agent: PlanningAgent, text: str) -> None:
    *asked, report = asyncio.run(agent.create_execution_plan(text)).plan.steps
    assert "tables" in {step.input_mapping.get("analysis_type") for step in asked}
    assert report.agent == "document_team"


def test_the_file_that_a_report_is_to_be_is_not_asked_for(agent: PlanningAgent) -> None:
    plan = asyncio.run(agent.create_execution_plan("How much did Ann pay? Write it up as a report in ann.md")).plan
    *asked, report = plan.steps
    assert "tables" in {step.input_mapping.get("analysis_type") for step in asked}
    assert not any("ann.md" in str(step.input_mapping) for step in asked)
    assert report.input_mapping["path"] == "ann.md"


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        (
            "How much did Ann pay, and when is the boiler serviced?",
            {"How much did Ann pay?": True, "when is the boiler serviced?": False},
        ),
        (
            "How much did Tom pay and how much did Ann pay?",
            {"How much did Tom pay?": True, "how much did Ann pay?": True},
        ),
        ("How much did Ann pay, and how much altogether?", {"How much did Ann pay, and how much altogether?": True}),
        ("Who serviced the boiler and what did it cost?", {"Who serviced the boiler and what did it cost?": False}),
    ],
)
def test_each_of_two_questions_in_one_sentence_is_asked_where_it_stands_for_itself(
    agent: PlanningAgent, text: str, asked: dict[str, bool]
) -> None:
    found = dict[str, bool]()
    for step in (step.input_mapping for step in asyncio.run(agent.create_execution_plan(text)).plan.steps):
        found[step["query"]] = found.get(step["query"], False) or step.get("analysis_type") == "tables"
    assert found == asked


@pytest.mark.parametrize(("settled", "proposes"), [(True, False), (False, True)])
def test_what_a_named_table_does_not_have_is_looked_for_nowhere_else(
    agent: PlanningAgent, settled: bool, proposes: bool
) -> None:
    asked = "what is the amount of Bob in fund.csv?"
    plan = asyncio.run(agent.create_execution_plan(asked)).plan
    todos = [replace(todo, status=Status.COMPLETED, attempt=1) for todo in agent.convert_with_strategy(plan)]
    assert [(todo.agent_name, todo.arguments.get("analysis_type")) for todo in todos] == [("analysis_team", "tables")]
    result = {"text": "", "found": False, "data": {"table": {"settled": settled}}}
    assert bool(asyncio.run(agent.follow_up(asked, todos[0], result, todos))) is proposes


@pytest.mark.parametrize("first", ["When is the boiler serviced?", PAID])
@pytest.mark.parametrize(
    "text",
    [
        "Who paid the most in fund.csv, and when is the boiler serviced?",
        "How much did Tom pay and how much did Ann pay?",
        "How much did Tom pay? How much did Ann pay?",
        "How much did Ann pay, and how much altogether?",
    ],
)
def test_several_questions_are_parted_in_a_session_as_in_a_first_query(
    agent: PlanningAgent, first: str, text: str
) -> None:
    begun = asyncio.run(agent.create_execution_plan(first)).plan
    todos = [replace(todo, status=Status.COMPLETED, attempt=1) for todo in agent.convert_with_strategy(begun)]
    new = agent.convert_with_strategy(asyncio.run(agent.create_execution_plan(text)).plan)
    added = [dict(one["todo"]) for one in asyncio.run(agent.revise(text, first, todos)).changes]
    wanted = [todo.arguments for todo in new if todo.agent_name != "document_team"]
    assert [one["arguments"] for one in added if one["agent_name"] != "document_team"] == wanted


def test_a_report_on_two_questions_asks_the_table_each(agent: PlanningAgent) -> None:
    fact = "When is the boiler serviced?"
    begun = asyncio.run(agent.create_execution_plan(fact)).plan
    todos = [replace(todo, status=Status.COMPLETED, attempt=1) for todo in agent.convert_with_strategy(begun)]
    text = "How much did Tom pay and how much did Ann pay? Write a report."
    proposed = asyncio.run(agent.revise(text, fact, todos))
    added = [dict(one["todo"]) for one in proposed.changes]
    assert all(f'"{one["name"]}"' in str(proposed.reason) for one in added), "it tells of the steps that it adds"
    asked = [one for one in added if one["arguments"].get("analysis_type") == "tables"]
    assert [one["arguments"]["query"] for one in asked] == ["How much did Tom pay?", "how much did Ann pay?"]
    assert {one["id"] for one in asked} <= {*added[-1]["dependencies"]}


def test_the_step_of_a_table_is_called_in_the_language_of_its_question(agent: PlanningAgent) -> None:
    begun = asyncio.run(agent.create_execution_plan("When is the boiler serviced?")).plan
    todos = [replace(todo, status=Status.COMPLETED, attempt=1) for todo in agent.convert_with_strategy(begun)]
    for text, head in [
        ("What is the total amount in fund.csv for 김밥?", "Ask the table: "),
        ("Ann이 낸 amount 합계는?", "표 조회: "),
    ]:
        [step] = [dict(one["todo"]) for one in asyncio.run(agent.revise(text, PAID, todos)).changes]
        assert step["name"].startswith(head)


def test_a_question_to_a_table_waits_for_no_search_that_is_added(agent: PlanningAgent) -> None:
    todos = agent.convert_with_strategy(
        asyncio.run(agent.create_execution_plan("What is the total amount by who?")).plan
    )
    assert kinds([todo.to_dict() for todo in todos]) == [("analysis_team", "tables")]
    proposed = asyncio.run(agent.revise("also search for the electricity price", PAID, todos))
    [added] = [dict(change["todo"]) for change in proposed.changes]
    assert "feeds" not in added["metadata"]


def test_a_question_about_a_table_beside_a_plan_that_waits_is_asked_as_a_first_one(agent: PlanningAgent) -> None:
    text = "Who paid the most in fund.csv, and when is the boiler serviced?"
    todos = agent.convert_with_strategy(asyncio.run(agent.create_execution_plan(PAID)).plan)
    proposed = asyncio.run(agent.revise(text, PAID, todos))
    alone = agent.convert_with_strategy(asyncio.run(agent.create_execution_plan(text)).plan)
    assert kinds([dict(one["todo"]) for one in proposed.changes]) == kinds([todo.to_dict() for todo in alone])
