"""Several people who answer one question have to give the same answer (M9, I2)."""

from __future__ import annotations

from typing import Any

from hitl_tui.core.json_text import digest
from hitl_tui.core.policy import Terms
from hitl_tui.core.requests import OPTIONS, Decision, Kind, Outcome, Request, Verdict, resolve

SUBJECT = {"value": "Pay?"}
REQUEST = Request(
    "req-1",
    "s1",
    0,
    Kind.INTERRUPT,
    "todo_001",
    "pay",
    SUBJECT,
    digest(SUBJECT),
    terms=Terms(quorum=2),
    options=OPTIONS[Kind.INTERRUPT],
)


def said(by: str, value: Any) -> Decision:
    return Decision("req-1", Verdict.RESPOND, by, digest(SUBJECT), "2026-01-01T00:00:01", value=value, person=by)


def test_different_answers_do_not_add_up() -> None:
    refusal, consent = {"type": "reject"}, {"type": "approve"}
    found = resolve(REQUEST, [said("kim", refusal), said("lee", consent)], "2026-01-01T00:00:02")
    assert found.outcome is Outcome.PENDING and found.needed == 1


def test_the_answer_that_enough_people_gave_stands() -> None:
    decisions = [said("kim", False), said("lee", True), said("pat", True)]
    found = resolve(REQUEST, decisions, "2026-01-01T00:00:02")
    assert found.verdict is Verdict.RESPOND
    assert [d.by for d in found.decisions] == ["lee", "pat"] and found.decisions[-1].value is True


def test_a_number_and_a_text_are_different_answers() -> None:
    found = resolve(REQUEST, [said("kim", 30), said("lee", "30")], "2026-01-01T00:00:02")
    assert not found.decided
