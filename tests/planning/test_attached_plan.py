"""The plan for one attached graph: its input is what was asked, and it is answered in that language (I1, C11)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from hitl_tui.core.input_words import LONGEST
from hitl_tui.core.plan import AgentFacts
from hitl_tui.core.policy import Risk
from hitl_tui.core.safe_text import cell_width
from hitl_tui.planning.attached_planner import AttachedPlanner


def graph() -> AgentFacts:
    def bind(text: str, given: Mapping[str, Any]) -> dict[str, Any]:
        return {"input": text, **given}

    return AgentFacts("mail", "mail", "sends a mail", True, 0, 60.0, bind, lambda arguments: Risk.HIGH)


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("ann@example.com: 주문 1042는 금요일에 출발합니다", "ko"),
        ('{"request": "주문 1042는 금요일에 출발합니다"}', "ko"),
        ("ann@example.com: order 1042 leaves on Friday", "en"),
        ('{"amount": 82000}', "en"),
    ],
)
async def test_the_intent_has_the_language_of_the_input(query: str, language: str) -> None:
    planned = await AttachedPlanner("mail").plan(query, {"mail": graph()})
    assert planned.intent.language == language
    assert [step.input_mapping["input"] for step in planned.plan.steps] == [query]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("order 1042 leaves\non Friday", "order 1042 leaves on Friday"),
        ('{"request": "order 1042 leaves on Friday"}', "order 1042 leaves on Friday"),
        ('{"to": "ann@example.com"}', 'to="ann@example.com"'),
        ('{"to": "ann@example.com", "n": 3, "text": "Hi"}', 'to="ann@example.com", n=3, text="Hi"'),
        ('{"messages": [{"role": "user", "content": "Find the cap"}]}', "Find the cap"),
        ('{"messages": [["system", "Be short"], ["user", "Find\\nthe cap"]]}', "Find the cap"),
        ('{"messages": [{"type": "human", "content": [{"type": "text", "text": "Find it"}]}]}', "Find it"),
        ('{"messages": "Find it", "n": 1}', 'messages="Find it", n=1'),
        ('{"messages": [{"role": "user", "content": []}]}', 'messages=[{"role": "user", "content": []}]'),
        ("{}", "{}"),
        ("30", "30"),
        ('"just text"', "just text"),
        ("[1, 2]", "[1, 2]"),
    ],
)
async def test_a_step_is_called_by_what_its_input_says_and_keeps_the_input_as_it_is(given: str, name: str) -> None:
    step = (await AttachedPlanner("mail").plan(given, {"mail": graph()})).plan.steps[0]
    assert step.name == name
    assert (step.task, step.input_mapping["input"]) == (given, given)


async def test_a_name_is_short_and_harmless_whatever_the_input() -> None:
    for given in (json.dumps({"a": "x" * 1_000}), json.dumps({"text": "\x1b[2J" + "가" * 500}), "[" * 5_000):
        name = (await AttachedPlanner("mail").plan(given, {"mail": graph()})).plan.steps[0].name
        assert cell_width(name) <= LONGEST and "\x1b" not in name
