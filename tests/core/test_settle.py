"""What follows by itself (`settle`): asking, passing, blocking, and only where changes reach (D8, D9)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from board_support import AT, DENY_HIGH, Table, add, decide, on, plan

from hitl_tui.core.board import Board, Control, Draft, Rules, approval_binds
from hitl_tui.core.events import EventKind
from hitl_tui.core.fold import fold
from hitl_tui.core.fold_consequences import settle, withdraw_unbound
from hitl_tui.core.policy import Mode, Policy, Rule, Ruling
from hitl_tui.core.requests import Verdict
from hitl_tui.core.todos import Status, SupervisorTodo


def test_nothing_asks_before_the_plan_is_accepted() -> None:
    table = Table(plan("a", "b:a"), accepted=False)
    assert set(table.statuses.values()) == {"pending"}


def test_what_a_policy_allows_carries_its_rule_and_what_it_let_run() -> None:
    rules = Rules(Policy([Rule(Ruling.DENY, team="other"), Rule(Ruling.ALLOW, risk="low")]))
    table = Table(plan("a"), rules, mode=Mode.RISK)
    todo = table.todo("todo_001")
    assert todo.approval is not None
    assert (todo.approval["by"], todo.approval["channel"]) == ("policy rule 2", "policy")
    assert approval_binds(Draft(table.board, rules), todo)


def test_missing_input_asks_whatever_the_mode_lets_pass() -> None:
    table = Table(plan("a!", "b:a"), mode=Mode.RISK)
    decide(table, "todo_001", Verdict.SKIP)
    assert table.status("todo_002") == "waiting_approval"


def test_blocking_runs_along_the_whole_chain_and_back() -> None:
    table = Table(plan("a", *(f"{chr(98 + n)}:{chr(97 + n)}" for n in range(20))))
    decide(table, "todo_001", Verdict.REJECT)
    assert set(list(table.statuses.values())[1:]) == {"blocked"}
    table.take(on(EventKind.UPDATE, "todo_001", status="pending"))
    assert set(list(table.statuses.values())[1:]) == {"pending"}


def test_one_of_two_failed_dependencies_is_enough_to_stay_blocked() -> None:
    table = Table(plan("a", "b", "c:a,b"))
    decide(table, "todo_001", Verdict.REJECT)
    decide(table, "todo_002", Verdict.REJECT)
    table.take(on(EventKind.UPDATE, "todo_001", status="pending"))
    assert table.status("todo_003") == "blocked"


def test_a_denied_todo_blocks_what_depends_on_it_at_once() -> None:
    table = Table(plan("a!", "b:a", "c:b"), Rules(DENY_HIGH))
    assert table.statuses == {"todo_001": "failed", "todo_002": "blocked", "todo_003": "blocked"}


@pytest.mark.parametrize("change", ["arguments", "description", "timeout", "missing"])
def test_an_approval_stands_for_exactly_what_was_seen(change: str) -> None:
    table = Table(plan("a", "b:a"))
    decide(table, "todo_002", Verdict.APPROVE)
    todo = table.todo("todo_002")
    draft = Draft(table.board, table.rules)
    assert not withdraw_unbound(draft, todo)
    other = {"arguments": {"what": "z"}, "description": "z", "timeout": 9.0, "missing": ("todo_001",)}[change]
    changed = SupervisorTodo.from_dict({**todo.to_dict(), change: other})
    assert withdraw_unbound(draft, changed)
    assert draft.get("todo_002").approval is None
    assert draft.get("todo_002").asked == todo.asked + 1


def test_an_approval_given_with_the_result_doesnt_hold_for_another_result() -> None:
    table = Table(plan("a", "b", "c:a"), Rules(Policy(), 1))
    table.approve("todo_001")
    table.finish("todo_001", digest="one")
    table.approve("todo_002", "todo_003")
    assert table.statuses["todo_003"] == "pending"
    table.take(on(EventKind.UPDATE, "todo_001", status="pending"))
    table.take(on(EventKind.UPDATE, "todo_001", status="completed"))
    table.finish("todo_002")
    assert table.status("todo_003") == "waiting_approval"


def test_completed_counts_follow() -> None:
    table = Table(plan("a", "b"))
    table.take(on(EventKind.UPDATE, "todo_001", status="completed"))
    assert table.board.control.completed == 1
    table.take(on(EventKind.UPDATE, "todo_001", status="pending"))
    assert table.board.control.completed == 0


def test_a_conclusion_ends_with_the_next_change_and_not_before() -> None:
    table = Table(plan("a"))
    table.board = replace(table.board, control=replace(table.board.control, concluded=True))
    assert fold(table.board, (), table.rules).board.control.concluded
    table.take(add("b"))
    assert not table.board.control.concluded


def test_frozen_inputs_of_a_manual_todo_are_asked_about_anew_when_one_is_done_again() -> None:
    table = Table(plan("a"))
    table.take(add("hand", manual=True))
    table.approve("todo_001")
    table.finish("todo_001", digest="one")
    (first,) = table.asked()
    table.take(on(EventKind.UPDATE, "todo_001", status="pending"))
    assert first not in table.asked()
    table.approve("todo_001")
    table.finish("todo_001", digest="one")
    (second,) = table.asked()
    assert second != first


def test_settling_a_settled_board_touches_nothing() -> None:
    board = Board("s1", "q", {t.id: t.to_state() for t in plan("a", "b:a")}, Control(plan="accepted", highest=2))
    draft = Draft(board, Rules())
    settle(draft, AT)
    again = Draft(draft.result(), Rules())
    settle(again, AT)
    assert again.changes() == {}
    assert Status(again.status("todo_001")) is Status.WAITING_APPROVAL
