"""Whatever is written: a plan that converts, or one sentence for the person."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from planning_support import COMMANDS, agents, carried_out

from hitl_tui.core.errors import HitlError
from hitl_tui.core.json_text import canonical
from hitl_tui.core.plan import Proposal, refuse_cycles
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.planning.agent import PlanningAgent
from hitl_tui.planning.rule_planner.plan_steps import MOST_QUERY
from hitl_tui.planning.rule_planner.planner import RulePlanner

AGENT = PlanningAgent(agents(), RulePlanner(COMMANDS), now=lambda: "2026-03-01T09:00:00+00:00")

VOCABULARY = """
검색 조회 분석 분석도 보고서 보고서는 추가해줘 빼줘 빼고 건너뛰어줘 먼저 나중에 끝나면
해줘 강남구와 서초구 시세 비교 차이 3억을 10억으로 5% 올려달래 하고 그리고 말고 하지 마
전부 2번 1번은 search for analysis the report add skip remove and then first last high
priority after compare with Gangnam Seocho todo_001 todo_003 step 2 run clean-logs
dir=logs days=3 deploy stage=live backup-database target=x delete old logs everything
please don't keep another in order ? . , 로그 지워줘
"""
WORDS = st.sampled_from([*VOCABULARY.split(), "\n"])
TALK = st.lists(WORDS, max_size=14).map(" ".join)
ANYTHING = st.text(alphabet=st.characters(), max_size=200)
TEXTS = TALK | ANYTHING


def check_plan(query: str) -> list[SupervisorTodo]:
    planned = asyncio.run(AGENT.create_execution_plan(query))
    todos = AGENT.convert_with_strategy(planned.plan)
    assert todos
    refuse_cycles({t.id: t.dependencies for t in todos})
    canonical([planned.plan.to_dict(), planned.intent.to_dict(), [t.to_dict() for t in todos]])
    assert 0 <= planned.intent.confidence <= 1
    for index, todo in enumerate(todos):
        assert set(todo.dependencies) <= {t.id for t in todos[:index]}, "steps stand after what they depend on"
    return todos


def check_proposal(proposal: Proposal, todos: list[SupervisorTodo]) -> None:
    canonical(proposal.to_dict())
    assert proposal.changes
    known = {t.id: t for t in todos}
    for change in proposal.changes:
        if change["kind"] == "add":
            todo = SupervisorTodo.from_dict(change["todo"])
            assert todo.id not in known
            assert set(todo.dependencies) <= known.keys()
            known[todo.id] = todo
        elif change["kind"] == "after":
            assert {*change["after"]} <= known.keys()
            known[change["todo_id"]] = replace(known[change["todo_id"]], dependencies=tuple(change["after"]))
        else:
            assert change["todo_id"] in known
            if change["kind"] == "remove":
                assert not [t for t in known.values() if change["todo_id"] in t.dependencies]
                del known[change["todo_id"]]
    refuse_cycles({t.id: t.dependencies for t in known.values()})


@pytest.mark.long
@given(TEXTS)
@settings(max_examples=300)
def test_a_query_is_planned_or_refused(query: str) -> None:
    try:
        check_plan(query)
    except HitlError as error:
        assert error.message


@pytest.mark.long
@given(TALK, TEXTS)
@example("검색", "검색 끝나면 delete 검색")
@settings(max_examples=200)
def test_feedback_is_worked_in_or_refused(query: str, feedback: str) -> None:
    try:
        todos = check_plan(query)
        found = carried_out(asyncio.run(AGENT.rework([feedback], query, todos)).changes, todos)
    except HitlError as error:
        assert error.message
        return
    assert found and len({todo.id for todo in found}) == len(found)
    for index, todo in enumerate(found):
        assert index == 0 or found[index - 1].rank < todo.rank
        assert {*todo.dependencies} <= {t.id for t in found[:index]}, "steps stand after what they depend on"


@pytest.mark.long
@given(TEXTS)
@example("분석 after 검색 전부 빼줘")
@example("remove ? 먼저 remove")
@settings(max_examples=300)
def test_text_is_a_proposal_or_refused(text: str) -> None:
    query = "강남구와 서초구 시세를 비교해서 보고서 작성해줘"
    todos = check_plan(query)
    try:
        proposal = asyncio.run(AGENT.revise(text, query, todos))
    except HitlError as error:
        assert error.message
    else:
        check_proposal(proposal, todos)


@pytest.mark.long
@given(TEXTS)
@settings(max_examples=100)
def test_any_query_may_be_followed_up(query: str) -> None:
    todos = check_plan("강남구 아파트 시세 조회")
    asked = SupervisorTodo.from_dict({**todos[0].to_dict(), "arguments": {"query": query}})
    proposal = asyncio.run(AGENT.follow_up(query, asked, {"data": {"hits": 0}}, [asked]))
    if proposal is not None:
        check_proposal(proposal, [asked])


HOSTILE = [
    "가",
    " ",
    "1",
    "1,",
    "\n",
    '"',
    "a vs ",
    "compare a and ",
    "3억을 10억으로 ",
    "run x-y a=b ",
    "로그 지워줘. ",
    "분석 추가 ",
    "add search for x and ",
    "todo_1 ",
    "\ud800",
    "\ufdfa",
]


@pytest.mark.sampled(2)
@pytest.mark.long
@pytest.mark.parametrize(("unit", "what"), list(product(HOSTILE, ["plan", "revise"])))
def test_a_megabyte_is_read_in_part_and_kept_bounded(unit: str, what: str) -> None:
    text = unit * (1_000_000 // len(unit))
    try:
        if what == "plan":
            todos = check_plan(text)
        else:
            proposal = asyncio.run(AGENT.revise(text, "시세", check_plan("시세 조회")))
            todos = [SupervisorTodo.from_dict(c["todo"]) for c in proposal.changes if c["kind"] == "add"]
            assert len(proposal.text) < 10_000
    except HitlError as error:
        assert len(error.message) < 500
    else:
        for todo in todos:
            assert len(todo.name) < 100
            assert len(todo.description) < 1_000
            assert len(str(todo.arguments)) < 40_000


@pytest.mark.long
def test_the_request_at_either_end_of_a_long_text_counts() -> None:
    filler = "Lorem ipsum dolor sit amet. " * 40_000
    for query in (f"Analyse this and write a report: {filler}", f"{filler}\nAnalyse this and write a report"):
        assert [t.agent_name for t in check_plan(query)] == ["search_team", "analysis_team", "document_team"]


def test_search_gets_the_whole_query_up_to_a_bound() -> None:
    short = "강남구 시세 조회 " + "아파트 " * 500
    long = "강남구 시세 조회 " + "아파트 " * 50_000
    assert check_plan(short)[0].arguments["query"] == short.strip()
    assert check_plan(long)[0].arguments["query"] == long[:MOST_QUERY].strip()
