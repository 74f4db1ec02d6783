"""Questions: their ids, what they say, and which there are (D7)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from board_support import DENY_HIGH, Table, add, decide, on, plan

from hitl_tui.core.board import Rules
from hitl_tui.core.events import Event, EventKind
from hitl_tui.core.json_text import digest
from hitl_tui.core.policy import Mode, Policy, Rule, Ruling, Terms
from hitl_tui.core.questions import asking, count_asked, question_keys, questions
from hitl_tui.core.requests import OPTIONS, Kind, Verdict


def test_the_same_state_asks_the_same_questions() -> None:
    one, other = Table(plan("a", "b", "c:a")), Table(plan("a", "b", "c:a"))
    assert [q.id for q in one.questions()] == [q.id for q in other.questions()]
    assert len(one.asked()) == 2


def test_every_question_carries_the_digest_of_its_subject_and_fitting_options() -> None:
    table = Table(plan("a", "b", "c", "d"))
    for todo_id in ("todo_001", "todo_002", "todo_003"):
        table.approve(todo_id)
    runs = {i: table.todo(i).run_id for i in table.board.todos}
    inside = {"id": "i", "path": ["n"], "index": 0, "value": {"x": 1}}
    table.take(on(EventKind.INTERRUPTED, "todo_001", run_id=runs["todo_001"], interrupts=[inside]))
    effect = {"key": "k", "name": "pay", "subject": {"amount": 1}, "why": "unknown"}
    table.take(on(EventKind.DOUBT, "todo_002", run_id=runs["todo_002"], effect=effect))
    table.fail("todo_003")
    data = {"id": "p", "reason": "r", "origin": "operator", "changes": [{"kind": "skip", "todo_id": "todo_004"}]}
    table.take(Event(EventKind.PROPOSED, {"proposal": data}))
    found = table.questions()
    assert [q.kind for q in found] == [Kind.INTERRUPT, Kind.EFFECT, Kind.FAILURE, Kind.TODO, Kind.PROPOSAL]
    for question in found:
        assert question.digest == digest(question.subject)
        assert question.options == OPTIONS[question.kind]
    assert found[0].subject["value"] == {"x": 1}
    assert found[1].subject["effect"] == effect
    assert list(asking(table.board)) == ["todo_001 i", "todo_002", "todo_003", "todo_004", "p"]
    assert count_asked(table.board) == 5


def test_what_was_left_out_of_a_step_is_said_where_that_is_asked_about_and_not_beside_others() -> None:
    first, second = plan("a", "b")
    table = Table([replace(first, metadata={**first.metadata, "unread": ["of Monday"]}), second])
    said = f'{first.name} is planned without regard to "of Monday".'
    assert [q.about["notes"] for q in table.questions()] == [[said], []]
    table.take(on(EventKind.EDIT, "todo_001", arguments={"what": "z"}, risk="low"))
    assert [q.about["notes"] for q in table.questions()] == [[], []]


@pytest.mark.parametrize(
    "event",
    [
        on(EventKind.EDIT, "todo_001", arguments={"what": "z"}, risk="low"),
        on(EventKind.UPDATE, "todo_001", status="pending"),
        Event(EventKind.RESTORED, {"branch": 1}),
        Event(EventKind.CONFIGURED, {"policy_version": "other", "concurrency": 1}),
    ],
    ids=["edit", "asked anew", "branch", "policy"],
)
def test_what_is_asked_anew_is_another_question(event: Event) -> None:
    table = Table(plan("a"))
    before = table.asked()
    table.take(event)
    assert len(table.asked()) == 1
    assert not table.asked() & before


@pytest.mark.parametrize(
    "event",
    [
        on(EventKind.PRIORITY, "todo_001", priority="low"),
        on(EventKind.MOVE, "todo_001", where="after", anchor="todo_002"),
        Event(EventKind.MODE, {"mode": "step"}),
        add("another"),
    ],
    ids=["priority", "move", "same mode", "add"],
)
def test_what_doesnt_touch_the_subject_leaves_the_question(event: Event) -> None:
    table = Table(plan("a", "b"))
    before = table.asked()
    table.take(event)
    assert before <= table.asked()


def notes(table: Table, todo_id: str) -> list[str]:
    return next(list(q.about["notes"]) for q in table.questions() if q.todo_id == todo_id)


def test_what_isnt_as_expected_is_said_at_every_question_that_comes_later() -> None:
    table = Table(plan("a", "b:a", "c:b", "d"))
    table.approve("todo_001")
    table.finish("todo_001", missed=["total 4.0 MB, NOT below 3.5 MB"])
    said = "001 isn't as expected: total 4.0 MB, NOT below 3.5 MB"
    after = next(q for q in table.questions() if q.todo_id == "todo_002")
    assert after.about["results"][0]["missed"] is True
    assert after.about["notes"] == [], "its result stands in the question itself"
    assert notes(table, "todo_004") == [said]
    table.approve("todo_002")
    table.finish("todo_002")
    assert notes(table, "todo_003") == [said]
    table.take(on(EventKind.UPDATE, "todo_001", status="pending"))
    assert notes(table, "todo_004") == []


def test_what_is_measured_again_counts_as_it_was_measured_last() -> None:
    table = Table(plan("a", "b:a", "c"))
    for todo_id in ("todo_001", "todo_002"):
        table.take(on(EventKind.EDIT, todo_id, arguments={"argv": ["du", "-c"]}, risk="low"))
    table.approve("todo_001")
    table.finish("todo_001", missed=["total 4.0 MB, NOT below 3.5 MB"])
    assert notes(table, "todo_003")
    table.approve("todo_002")
    table.finish("todo_002", missed=[])
    assert notes(table, "todo_003") == []


def test_questions_come_by_priority_and_order() -> None:
    table = Table(plan("a", "b", "c"))
    table.take(on(EventKind.PRIORITY, "todo_003", priority="critical"))
    table.take(on(EventKind.MOVE, "todo_002", where="before", anchor="todo_001"))
    assert [q.todo_id for q in table.questions()] == ["todo_003", "todo_002", "todo_001"]


def test_a_draft_of_a_plan_asks_about_the_plan_alone() -> None:
    table = Table(plan("a", "b:a"), accepted=False, mode=Mode.PLAN)
    (question,) = table.questions()
    assert question.kind is Kind.PLAN
    assert [s["todo"] for s in question.subject["steps"]] == ["todo_001", "todo_002"]
    decide(table, "", Verdict.REJECT, reason="two lines\nof words")
    assert (table.board.control.plan, table.board.control.feedback) == ("revise", "two lines; of words")


def test_a_plan_that_was_changed_since_it_was_shown_isnt_approved() -> None:
    table = Table(plan("a"), accepted=False, mode=Mode.PLAN)
    (shown,) = table.questions()
    table.take(on(EventKind.EDIT, "todo_001", arguments={"what": "z"}, risk="low"))
    (now,) = table.questions()
    assert now.id != shown.id


def test_approval_in_advance_is_for_what_isnt_high_risk_and_isnt_denied() -> None:
    table = Table(plan("a", "b:a", "c!:a"))
    ahead = table.ask_ahead("todo_002")
    assert ahead is not None
    assert ahead.about["ahead"] is True
    assert ahead.subject["inputs"] == {"todo_001": None}
    assert table.ask_ahead("todo_003") is None
    denied = Table(plan("a", "b:a"), Rules(Policy([Rule(Ruling.DENY, team="team"), *DENY_HIGH.rules])))
    assert denied.ask_ahead("todo_002") is None


def test_the_question_in_advance_and_the_question_are_two() -> None:
    table = Table(plan("a", "b:a"))
    ahead = table.ask_ahead("todo_002")
    table.approve("todo_001")
    table.finish("todo_001")
    assert ahead is not None
    assert ahead.id not in table.asked()


def test_terms_come_from_the_rule_that_matches() -> None:
    terms = Terms(quorum=2, level=1, deadline=60.0)
    table = Table(plan("a"), Rules(Policy([Rule(Ruling.ASK, team="team", terms=terms)])))
    (question,) = table.questions()
    assert question.terms == terms
    assert question.about["rule"] == 1


def test_a_failure_asks_with_its_error_and_each_attempt_is_another_question() -> None:
    table = Table([replace(plan("a")[0], max_retries=0)])
    table.approve("todo_001")
    seen = set()
    for _ in range(3):
        table.fail("todo_001")
        (question,) = questions(table.board, table.rules)
        assert question.subject["error"] == "broke"
        seen.add(question.id)
        decide(table, "todo_001", Verdict.RETRY)
    assert len(seen) == 3


@pytest.mark.parametrize(
    ("there", "back"),
    [
        (
            on(EventKind.MOVE, "todo_001", where="after", anchor="todo_002"),
            on(EventKind.MOVE, "todo_001", where="before", anchor="todo_002"),
        ),
        (add("more"), on(EventKind.REMOVE, "todo_003")),
        (
            on(EventKind.EDIT, "todo_001", arguments={"what": "z"}, risk="low"),
            on(EventKind.EDIT, "todo_001", arguments={"what": "a"}, risk="low"),
        ),
    ],
    ids=["move", "add and remove", "edit"],
)
def test_a_plan_that_is_changed_and_changed_back_is_asked_anew(there: Event, back: Event) -> None:
    table = Table(plan("a", "b"), accepted=False, mode=Mode.PLAN)
    seen = [table.questions()[0]]
    keys = [question_keys(table.board, "plan")]
    for event in (there, back):
        table.take(event)
        assert not table.board.control.refused
        seen.append(table.questions()[0])
        keys.append(question_keys(table.board, "plan"))
    assert seen[0].digest == seen[2].digest
    assert len({q.id for q in seen}) == 3
    assert keys[0] != keys[1] != keys[2]
    decide(table, "", Verdict.APPROVE)
    assert table.board.control.plan == "accepted"
