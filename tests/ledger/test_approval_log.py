"""Who decided what, as the record tells it: with what was answered, and what an acceptance lets run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from ledger_support import ask, at, say

from hitl_tui.core.json_types import Json
from hitl_tui.core.requests import Kind, Verdict
from hitl_tui.ledger.approval_log import input_values, logged_decisions
from hitl_tui.ledger.sqlite_ledger import SqliteLedger

MAIL = {"action": "send_mail", "to": "ann@example.com", "text": "See you on Friday"}


@pytest.mark.parametrize(
    ("asked", "verdict", "given", "answer"),
    [
        (
            MAIL,
            Verdict.APPROVE,
            {**MAIL, "action": "approve", "text": "On Monday"},
            "text: See you on Friday → On Monday",
        ),
        (MAIL, Verdict.APPROVE, {**MAIL, "action": "approve"}, ""),
        (MAIL, Verdict.RESPOND, {"action": "hold it"}, "action: send_mail → hold it"),
        (MAIL, Verdict.REJECT, {"action": "reject", "reason": "Too late"}, "reason: Too late"),
        ("Which day?", Verdict.RESPOND, "Monday", "Monday"),
        ("Which days?", Verdict.RESPOND, ["Monday"], '["Monday"]'),
    ],
)
async def test_what_was_answered_is_told(
    tmp_path: Path, asked: Json, verdict: Verdict, given: Json, answer: str
) -> None:
    async with SqliteLedger.open(tmp_path / "ledger.db") as ledger:
        subject = {"todo": "todo_001", "path": ["send"], "index": 0, "value": asked}
        request = replace(ask(kind=Kind.INTERRUPT, subject=subject), options=(verdict,))
        await ledger.open_requests([request])
        await ledger.decide(say(request, verdict, value=given), at(1))
        (told,) = await logged_decisions(ledger, "s1")
    assert (told.asked, told.answer, told.runs) == ("interrupt", answer, False)


@pytest.mark.parametrize(("value", "runs"), [({"run": True}, True), (None, False)])
async def test_what_an_accepted_proposal_lets_run_is_told(tmp_path: Path, value: Json, runs: bool) -> None:
    async with SqliteLedger.open(tmp_path / "ledger.db") as ledger:
        request = ask("", kind=Kind.PROPOSAL, subject={"proposal": {"id": "p1", "changes": []}})
        await ledger.open_requests([request])
        await ledger.decide(say(request, Verdict.APPROVE, value=value), at(1))
        (told,) = await logged_decisions(ledger, "s1")
    assert (told.asked, told.runs) == ("proposal", runs)


def test_what_a_person_sets_is_told_whatever_its_name() -> None:
    given = {"timeout": 3, "preview": {"calls": "x"}}
    arguments = {"calls": "my.py:f", "programs": {"my.py": "d1"}, "timeout": 5.0, "input": given}
    assert input_values(arguments, "f") == {"task": "f", "timeout": "3", "calls": "x"}
