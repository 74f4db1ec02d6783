"""Questions with figures of their own to compute with, and those that only have to be looked up (D6)."""

from __future__ import annotations

import asyncio

import pytest
from planning_support import agents

from hitl_tui.planning.agent import PlanningAgent

COMPUTED = [
    # whether something is allowed, of a quantity that is stated
    "Can I spend 180 euros on a hotel night?",
    "Are two weeks of sick leave without a note allowed?",
    "숙박비로 18만원 써도 돼?",
    "소회의실에 10명이 들어갈 수 있어?",
    # what figures of the question come to
    "전세금 3억을 10억으로 올리면 몇 퍼센트야?",
    "What is the sum of 1,200 dollars rent and 800 dollars utilities?",
]
LOOKED_UP = [
    "How much would 15 licences cost?",
    "기본급이 2026년에 몇 퍼센트 올랐어?",
    "How many days of leave do new employees get?",
    "What is the maximum weight of a parcel?",
    "Who was in charge in 2025?",
    "What does error 404 mean?",
    "How do I raise a limit?",
    "Can I change my password myself?",
    "신입사원 연차는 며칠이에요?",
    "반품은 며칠 안에 해야 돼?",
    "배송비는 얼마야?",
    "2025년에 누가 대표였어?",
    "비밀번호 직접 바꿀 수 있나요?",
    "3층 회의실은 누가 관리해?",
    "계산기에서 고를 수 있는 모드가 어떤 게 있나요?",
    "세금계산서는 어디서 발행해?",
]


def plan(text: str) -> list[tuple[str, tuple[str, ...]]]:
    steps = asyncio.run(PlanningAgent(agents()).create_execution_plan(text)).plan.steps
    return [(step.agent, step.dependencies) for step in steps]


@pytest.mark.parametrize("text", COMPUTED)
def test_what_has_to_be_computed_is_searched_for_and_then_analysed(text: str) -> None:
    assert plan(text) == [("search_team", ()), ("analysis_team", ("search_1",))]


@pytest.mark.parametrize("text", LOOKED_UP)
def test_what_the_documents_say_is_only_searched_for(text: str) -> None:
    assert plan(text) == [("search_team", ())]
