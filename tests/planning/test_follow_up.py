"""Results feed planning (D14): a search that found too little leads to a broader one, once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from planning_support import agents

from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.planning.agent import PlanningAgent

QUERY = "집주인이 전세금 3억을 10억으로 올려달래. 법적으로 해결방법 알려줘"


def agent(*disabled: str, at: str = "2026-03-01T09:00:00+00:00") -> PlanningAgent:
    return PlanningAgent(agents(*disabled), now=lambda: at)


async def plan_of(query: str = QUERY) -> list[SupervisorTodo]:
    todos = agent().convert_with_strategy((await agent().create_execution_plan(query)).plan)
    return [replace(todos[0], status=Status.COMPLETED, attempt=1), *todos[1:]]


def result(hits: int, **data: Any) -> dict[str, Any]:
    return {"text": "", "found": hits > 0, "data": {"hits": hits, "searched": 7, **data}}


@pytest.mark.parametrize(("hits", "said"), [(0, "found no passage"), (1, "found only one passage")])
async def test_too_few_hits_propose_a_broader_search(hits: int, said: str) -> None:
    todos = await plan_of()
    proposal = await agent().follow_up(QUERY, todos[0], result(hits), todos)
    assert proposal is not None
    assert proposal.origin == "todo_001"
    assert said in proposal.reason
    (change,) = proposal.changes
    todo = change["todo"]
    assert (change["kind"], todo["id"], todo["agent_name"]) == ("add", "todo_003", "search_team")
    assert todo["arguments"]["query"] == "집주인 전세금"
    assert todo["metadata"]["added_by"] == "planner"
    assert "manual" not in todo["metadata"]
    assert todo["metadata"]["follow_up_of"] == "todo_001"
    assert todo["metadata"]["feeds"] == ["todo_002"]


async def test_words_that_are_there_but_not_together_are_searched_more_broadly() -> None:
    query = "What is the retry policy of the payment gateway?"
    todos = await plan_of(query)
    proposal = await agent().follow_up(query, todos[0], result(0, missing=[]), todos)
    assert proposal is not None
    assert proposal.changes[0]["todo"]["arguments"]["query"] == "retry payment gateway"


@pytest.mark.parametrize(
    ("query", "hits", "broader", "said"),
    [
        (
            "What did the oven repair of 3 May 2026 cost us?",
            1,
            "oven repair cost",
            "001 found only one passage, so another search with broader terms is proposed.",
        ),
        (
            "How long may the oven repair take until the warranty ends?",
            0,
            "oven repair warranty",
            "001 found no passage, so another search with broader terms is proposed.",
        ),
    ],
)
async def test_a_broader_search_says_what_documents_say_and_counts_in_words(
    query: str, hits: int, broader: str, said: str
) -> None:
    todos = await plan_of(query)
    proposal = await agent().follow_up(query, todos[0], result(hits, missing=[]), todos)
    assert proposal is not None
    assert proposal.changes[0]["todo"]["arguments"]["query"] == broader
    assert proposal.reason == said


async def test_a_passage_that_is_surely_the_answer_is_enough() -> None:
    query = "How high is the penalty per day?"
    todos = await plan_of(query)
    assert await agent().follow_up(query, todos[0], result(1, missing=["high"], weak=False), todos) is None


@pytest.mark.parametrize("hits", [0, 1])
@pytest.mark.parametrize(
    ("query", "missing"),
    [
        ("What is the retry policy of the frobnicator?", ["frobnicator"]),
        ("How do I configure Kerberos authentication?", ["Kerberos"]),
        ("강남구 아파트의 재산세는 얼마야?", ["재산세"]),
        ("주차장 이용 규정 알려줘", ["주차장"]),
    ],
)
async def test_nothing_broader_is_proposed_where_the_point_of_the_question_is_absent(
    query: str, missing: list[str], hits: int
) -> None:
    todos = await plan_of(query)
    assert await agent().follow_up(query, todos[0], result(hits, missing=missing), todos) is None


@pytest.mark.parametrize(
    "found",
    [
        result(2),
        result(9),
        {"found": True, "data": {}},
        {},
        {"data": {"hits": 0, "searched": 0}},
        {"data": {"hits": True}},
    ],
)
async def test_enough_or_unknown_hits_propose_nothing(found: dict[str, Any]) -> None:
    todos = await plan_of()
    assert await agent().follow_up(QUERY, todos[0], found, todos) is None


async def test_a_search_is_broadened_once() -> None:
    todos = await plan_of()
    proposal = await agent().follow_up(QUERY, todos[0], result(0), todos)
    assert proposal is not None
    broader = SupervisorTodo.from_dict(proposal.changes[0]["todo"])
    todos.append(broader)
    assert await agent().follow_up(QUERY, broader, result(0), todos) is None
    assert await agent().follow_up(QUERY, todos[0], result(0), todos) is None


async def test_words_that_a_step_searches_already_are_not_proposed_again() -> None:
    todos = await plan_of()
    proposal = await agent().follow_up(QUERY, todos[0], result(0), todos)
    assert proposal is not None
    broader = SupervisorTodo.from_dict(proposal.changes[0]["todo"])
    two = [todos[0], other := replace(todos[0], id="todo_002")]
    assert await agent().follow_up(QUERY, other, result(0), two) is not None
    assert await agent().follow_up(QUERY, other, result(0), [*two, broader]) is None


async def test_other_teams_lead_to_nothing() -> None:
    todos = await plan_of()
    assert await agent().follow_up(QUERY, todos[1], result(0), todos) is None


async def test_disabled_search_leads_to_nothing() -> None:
    todos = await plan_of()
    assert await agent("search_team").follow_up(QUERY, todos[0], result(0), todos) is None


@pytest.mark.parametrize("query", ["zygote", "What is a zygote?", "How big is the zygote?"])
async def test_query_that_can_t_be_broader_leads_to_nothing(query: str) -> None:
    todos = await plan_of(query)
    assert await agent().follow_up(query, todos[0], result(0), todos) is None


async def test_asking_again_gives_the_same_proposal_and_another_attempt_another() -> None:
    todos = await plan_of()
    first = await agent().follow_up(QUERY, todos[0], result(0), todos)
    again = await agent(at="2026-03-02T00:00:00+00:00").follow_up(QUERY, todos[0], result(0), todos)
    retried = await agent().follow_up(QUERY, replace(todos[0], attempt=2), result(0), todos)
    assert first and again and retried
    assert first.id == again.id != retried.id


@pytest.mark.parametrize(
    ("query", "searches"),
    [("billing job stuck with an old lock, what do I do", True), ("How much did the outage in December cost?", False)],
)
async def test_what_no_table_answers_is_looked_for_in_the_documents(query: str, searches: bool) -> None:
    (search, *_) = await plan_of(query)
    arguments = {"query": query, "analysis_type": "tables"}
    asked = replace(search, agent_name="analysis_team", arguments=arguments, metadata={})
    proposal = await agent().follow_up(query, asked, {"text": "", "found": False, "data": {}}, [asked])
    found = [change["todo"] for change in proposal.changes] if proposal else []
    assert [(todo["agent_name"], todo["arguments"]["query"]) for todo in found] == [("search_team", query)] * searches


@pytest.mark.parametrize(
    ("status", "found", "proposes"),
    [
        (Status.COMPLETED, True, False),
        (Status.IN_PROGRESS, None, False),
        (Status.COMPLETED, False, True),
        (Status.FAILED, None, True),
    ],
)
async def test_a_search_is_not_broadened_where_a_table_answers_or_may_still(
    status: Status, found: bool | None, proposes: bool
) -> None:
    (search, *_) = await plan_of()
    arguments = {"query": search.arguments["query"], "analysis_type": "tables"}
    told: Any = None if found is None else {"digest": "0", "summary": "", "found": found}
    table = replace(search, id="todo_002", agent_name="analysis_team", arguments=arguments, metadata={})
    table = replace(table, status=status, result=told)
    proposal = await agent().follow_up(QUERY, search, result(0), [search, table])
    assert (proposal is not None) is proposes


@pytest.mark.parametrize(("found", "broadens"), [(False, True), (True, False)])
async def test_the_table_that_ends_last_without_an_answer_lets_the_search_be_broadened(
    found: bool, broadens: bool
) -> None:
    (search, *_) = await plan_of()
    search = replace(search, result={"digest": "0", "summary": "", "found": found, "files": []})
    arguments = {"query": search.arguments["query"], "analysis_type": "tables"}
    table = replace(search, id="todo_002", agent_name="analysis_team", arguments=arguments, metadata={})
    proposal = await agent().follow_up(QUERY, table, {"text": "", "found": False, "data": {}}, [search, table])
    added = [change["todo"]["arguments"]["query"] for change in proposal.changes] if proposal else []
    assert added == ["집주인 전세금"] * broadens
