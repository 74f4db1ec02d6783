"""What asks for a figure to be held against a stated limit is searched for and then analysed (D6, D20)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from planning_support import agents

from hitl_tui.core.plan import Proposal
from hitl_tui.core.todos import Status
from hitl_tui.planning.agent import PlanningAgent

AGENT = PlanningAgent(agents(), now=lambda: "2026-03-01T09:00:00+00:00")
BOTH = ["search_team", "analysis_team"]
HELD = [
    "The greenhouse is at 34 °C. Is that allowed?",
    "Overheads of 22%: do the grant rules permit that?",
    "A guest wants to stay 12 weeks. Do our house rules allow that?",
    "Is a mailbox of 62 GB within the limit?",
    "The courier wants a surcharge of 9%. Does the contract allow this?",
    "Compare a parcel of 24 kg with the maximum in the shipping guide",
    "Would a tip of 20% break the gift policy?",
    "위탁 수하물 26kg은 규정 한도 안이야?",
    "연체 이자율 15%는 지침에 맞아?",
    "동아리 지원금 40만 원이 상한을 넘는지 알려줘",
    "중도상환 수수료 2%를 받겠대. 허용되는 거야?",
    "연장근로 15시간은 규칙 위반이야?",
    "수온 31도는 양식장 기준 이내인가요?",
]
NOT_HELD = [
    "Does the 5% cap apply to new contracts?",
    "What is the limit of a mailbox after 30 days?",
    "The 12% rule of 2019",
    "5% 상한은 새 계약에도 적용돼?",
    "Who allowed the 2026 budget?",
    "How long is the warranty of the 600 W heater?",
]


def plan(text: str) -> list[tuple[str, tuple[str, ...]]]:
    steps = asyncio.run(AGENT.create_execution_plan(text)).plan.steps
    return [(step.agent, step.dependencies) for step in steps]


def proposed(query: str, text: str) -> Proposal:
    made = asyncio.run(AGENT.create_execution_plan(query)).plan
    todos = [replace(t, status=Status.COMPLETED, attempt=1) for t in AGENT.convert_with_strategy(made)]
    return asyncio.run(AGENT.revise(text, query, todos))


def added(query: str, text: str) -> list[dict[str, Any]]:
    return [dict(change["todo"]) for change in proposed(query, text).changes if change["kind"] == "add"]


@pytest.mark.parametrize("text", HELD)
def test_a_figure_and_a_limit_are_searched_for_and_analysed(text: str) -> None:
    assert plan(text) == [("search_team", ()), ("analysis_team", ("search_1",))]


@pytest.mark.parametrize("text", HELD)
def test_asked_on_they_are_too(text: str) -> None:
    todos = added("When does the reception open?", text)
    assert todos[-1]["agent_name"] == "analysis_team" and todos[-1]["dependencies"]


@pytest.mark.parametrize("text", NOT_HELD)
def test_a_question_about_the_limit_itself_is_only_searched_for(text: str) -> None:
    assert plan(text) == [("search_team", ())]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("What does a trip cost?", "How much for 2 days: 1 canoe 4x2, 12 life vests and 3 tents?"),
        ("What does a trip cost?", "What do 5 canoes, 40 paddles and 30 helmets weigh?"),
        ("What does the kitchen need?", "And what would 100 plates and 20 pans cost after Friday?"),
        ("What does the kitchen need?", "Does the supplier keep 90 pans in stock?"),
        ("강당 예약 규칙 알려줘", "강당은 하루에 7번까지 예약할 수 있어?"),
        ("강당 예약 규칙 알려줘", "의자 50개, 마이크 12개를 먼저 빌리면 얼마야?"),
        ("강당 예약 규칙 알려줘", "그럼 한 달에 9번만 빌려도 할인돼?"),
    ],
)
def test_a_quantity_is_no_number_of_a_step(query: str, text: str) -> None:
    assert [todo["agent_name"] for todo in added(query, text)][:1] == ["search_team"]


@pytest.mark.parametrize(
    ("text", "number"),
    [("skip 9", "009"), ("skip 1 and 9", "009"), ("drop step 9", "009"), ("remove 1, 8", "008"), ("9번 빼줘", "009"),
     ("skip 020", "020"), ("7번은 건너뛰어", "007")],
)  # fmt: skip
def test_a_number_with_a_verb_that_changes_the_plan_names_a_step(text: str, number: str) -> None:
    with pytest.raises(Exception, match=f"No step {number}"):
        proposed("What does a trip cost?", text)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("also compare USD 450 with the cap in the cloud rules", "compare USD 450 with the cap in the cloud rules"),
        ("26kg을 화물 규정의 수하물 한도와 비교해서 초과 무게를 계산해줘", "26kg을 화물 규정의 수하물 한도와 비교해서"),
        ("그리고 15시간을 규칙의 연장근로 한도와 비교해줘", "15시간을 규칙의 연장근로 한도와 비교"),
        ("The cap is 20 kg. Compare 23.5 kg with it.", "The cap is 20 kg. Compare 23.5 kg with it"),
        ("한도는 회식비 30만 원이야. 280,000원과 비교해줘", "한도는 회식비 30만 원이야. 280,000원과 비교"),
    ],
)
def test_a_comparison_that_is_added_keeps_both_sides_of_it(text: str, whole: str) -> None:
    *_, todo = added("What do the rules say about costs?", text)
    assert todo["agent_name"] == "analysis_team"
    assert whole in todo["arguments"]["query"]
    assert "Not taken up" not in str(proposed("What do the rules say about costs?", text))


@pytest.mark.parametrize(
    ("query", "text", "alone"),
    [
        ("How long before a trip may one cancel, 9 days?", "also compare overheads of 22% with the cap", True),
        ("How long before a trip may one cancel, 9 days?", "also compare 22% with the cap in the rules", False),
        ("Overheads are 22%. Is that allowed?", "also compare the 22% with the cap of overheads", False),
        ("반납 기한 9일은 괜찮아?", "26kg을 수하물 한도와 비교해줘", True),
        ("수하물 26kg은 괜찮아?", "26kg을 수하물 한도와 비교해줘", False),
        ("수하물 26kg은 괜찮아?", "30kg도 한도와 비교해줘", False),
    ],
)
def test_a_comparison_of_something_else_is_searched_for_by_itself(query: str, text: str, alone: bool) -> None:
    todos = added(query, text)
    assert [todo["agent_name"] for todo in todos] == (BOTH if alone else ["analysis_team"])
    assert (query in todos[-1]["arguments"]["query"]) is not alone
    assert not alone or todos[-1]["dependencies"] == [todos[0]["id"]]
