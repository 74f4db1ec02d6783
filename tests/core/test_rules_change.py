"""Other rules while something waits for an answer, or for its turn (M9)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from board_support import Table, decide, decision_of, on, plan

from hitl_tui.core.board import Draft, Rules, startable
from hitl_tui.core.events import Event, EventKind
from hitl_tui.core.policy import Mode, Policy, Risk, Rule, Ruling, Terms
from hitl_tui.core.requests import Kind, Request, Verdict


def answer(table: Table, question: Request) -> None:
    data = {"asked": question.kind.value, "verdict": "respond", "request_id": question.id, "digest": question.digest}
    table.take(on(EventKind.DECIDED, "todo_001", **data, value="fine", by="ann"))


def configured(table: Table, quorum: int) -> None:
    table.rules = Rules(Policy([Rule(Ruling.ASK, terms=Terms(quorum=quorum))]))
    table.take(Event(EventKind.CONFIGURED, {"policy_version": table.rules.policy.version, "concurrency": 4}))


@pytest.mark.parametrize("answered", [0, 1], ids=["all wait", "it goes on with one answer"])
def test_what_is_asked_from_inside_is_asked_anew_and_never_as_it_was(answered: int) -> None:
    table = Table(plan("a"))
    table.approve("todo_001")
    inside = [{"id": i, "path": ["n"], "value": i} for i in ("i1", "i2")]
    table.take(on(EventKind.INTERRUPTED, "todo_001", run_id=table.todo("todo_001").run_id, interrupts=inside))
    for question in table.questions()[:answered]:
        answer(table, question)
    asked, seen = table.todo("todo_001").asked, {q.id for q in table.questions()}
    for quorum in (2, 3, 2):
        configured(table, quorum)
        found = table.questions()
        assert [q.terms.quorum for q in found] == [quorum] * (2 - answered)
        assert seen.isdisjoint(q.id for q in found)
        seen |= {q.id for q in found}
    assert not answered or table.todo("todo_001").asked == asked, "its run is what it was"
    for question in table.questions():
        answer(table, question)
    assert (table.status("todo_001"), table.questions()) == ("in_progress", [])


def test_what_is_held_begins_once_the_rules_are_known() -> None:
    table = Table(plan("a"))
    held = table.board.control.from_dict({**table.board.control.to_dict(), "held": True})
    approved = {"by": "ann", "channel": "test", "digest": ""}
    draft = Draft(table.board, table.rules)
    draft.control = held
    draft.put(draft.get("todo_001").with_status(draft.get("todo_001").status.PENDING, approval=approved))
    assert startable(draft) == []
    draft.control = held.from_dict({**held.to_dict(), "held": False})
    assert [todo.id for todo in startable(draft)] == ["todo_001"]


ASKS, ALLOWS = Rule(Ruling.ASK, risk="high"), Rule(Ruling.ALLOW, risk="high")


def under(table: Table, *rules: Rule, risks: dict[str, str] | None = None) -> None:
    table.rules = Rules(Policy(rules))
    version = table.rules.policy.version
    table.take(Event(EventKind.CONFIGURED, {"policy_version": version, "concurrency": 4, "risks": risks or {}}))


def test_a_rule_that_comes_to_allow_answers_nothing_that_people_were_asked() -> None:
    table = Table(plan("a!", "b!:a"), Rules(Policy([ASKS])), mode=Mode.RISK)
    asked = table.asked()
    under(table, ALLOWS)
    assert table.statuses == {"todo_001": "waiting_approval", "todo_002": "pending"}
    assert len(table.questions()) == 1 and table.asked().isdisjoint(asked)
    under(table, ALLOWS, Rule(Ruling.ASK))
    assert table.status("todo_001") == "waiting_approval", "nor does the next change"
    decide(table, "todo_001", Verdict.APPROVE)
    table.finish("todo_001")
    assert table.status("todo_002") == "in_progress", "what nobody was asked about follows the rules"


def test_a_risk_that_is_declared_lower_answers_nothing_that_people_were_asked() -> None:
    table = Table(plan("a!"), mode=Mode.RISK)
    under(table, risks={"todo_001": "low"})
    assert (table.status("todo_001"), table.todo("todo_001").risk) == ("waiting_approval", Risk.LOW)


def test_who_sets_a_mode_lets_run_what_the_rules_allow() -> None:
    table = Table(plan("a!"), Rules(Policy([ASKS])), mode=Mode.RISK)
    under(table, ALLOWS)
    table.take(Event(EventKind.MODE, {"mode": "plan"}))
    assert table.status("todo_001") == "in_progress"


def test_a_restored_question_is_asked_whatever_the_rules_have_come_to_allow() -> None:
    table = Table(plan("a!"), Rules(Policy([ASKS])), mode=Mode.RISK)
    table.rules = Rules(Policy([ALLOWS]))
    table.take(Event(EventKind.RESTORED, {"branch": 1}))
    assert table.status("todo_001") == "waiting_approval"
    under(table, Rule(Ruling.DENY))
    assert table.status("todo_001") == "failed", "a stricter rule holds at once"


@pytest.mark.parametrize("first", ["the refusal", "the rules"])
@pytest.mark.parametrize("outcome", ["rejected", "expired"])
def test_a_refusal_on_record_counts_whatever_rules_hold_when_it_arrives(first: str, outcome: str) -> None:
    table = Table(plan("a!", "b:a"), Rules(Policy([ASKS])), mode=Mode.RISK)
    event = decision_of(table.questions()[0], Verdict.REJECT)
    event = replace(event, data={**event.data, "outcome": outcome})
    table.rules = Rules(Policy([ALLOWS]))
    if first == "the rules":
        under(table, ALLOWS)
    table.take(event)
    if first == "the refusal":
        under(table, ALLOWS)
    assert table.statuses == {"todo_001": "failed", "todo_002": "blocked"}
    assert (table.board.control.refused, table.questions()) == ((), [])


def test_an_approval_on_record_counts_for_no_question_under_other_rules() -> None:
    table = Table(plan("a!"), Rules(Policy([ASKS])), mode=Mode.RISK)
    event = decision_of(table.questions()[0], Verdict.APPROVE)
    under(table, ALLOWS)
    table.take(event)
    assert (table.status("todo_001"), table.board.control.refused[-1]["reason"]) == ("waiting_approval", "stale")


def test_a_refusal_of_what_a_run_asks_counts_when_it_is_asked_anew_meanwhile() -> None:
    table = Table(plan("a"))
    table.approve("todo_001")
    inside = [{"id": i, "path": ["n"], "value": i} for i in ("i1", "i2")]
    table.take(on(EventKind.INTERRUPTED, "todo_001", run_id=table.todo("todo_001").run_id, interrupts=inside))
    event = decision_of(table.questions()[0], Verdict.REJECT)
    configured(table, 2)
    table.take(event)
    assert (table.status("todo_001"), table.board.control.refused) == ("failed", ())


def test_a_refusal_of_the_plan_counts_under_other_rules() -> None:
    table = Table(plan("a!"), Rules(Policy([Rule(Ruling.ASK, request="plan")])), mode=Mode.PLAN, accepted=False)
    event = decision_of(table.questions()[0], Verdict.REJECT)
    under(table, ALLOWS)
    table.take(event)
    assert (table.board.control.plan, table.questions()) == ("rejected", [])


def test_a_refusal_of_a_proposal_counts_under_other_rules() -> None:
    table = Table(plan("a"), Rules(Policy([Rule(Ruling.ASK, request="proposal")])))
    changes = [{"kind": "skip", "todo_id": "todo_001", "reason": "no"}]
    table.take(Event(EventKind.PROPOSED, {"proposal": {"id": "proposal_1", "changes": changes}}))
    request = next(q for q in table.questions() if q.kind is Kind.PROPOSAL)
    event = decision_of(request, Verdict.REJECT)
    configured(table, 1)
    table.take(replace(event, data={**event.data, "proposal_id": "proposal_1"}))
    assert (table.board.control.proposals, table.board.control.refused) == ({}, ())
