"""The plan for one attached graph: its input is what was asked, and it is answered in that language (I1, C11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from hitl_tui.core.plan import AgentFacts
from hitl_tui.core.policy import Risk
from hitl_tui.planning.attached import AttachedPlanner


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
