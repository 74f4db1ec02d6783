"""`fold`: total, idempotent, and what never happens whatever comes (D4, D8, D9, D11, D15)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from board_support import ALLOW_LOW, DENY_HIGH, Table, add, decide, decision_of, on, pick, plan, run_all
from hypothesis import given, settings
from hypothesis import strategies as st

from hitl_tui.core.board import Board, Control, Draft, Rules, approval_binds, startable
from hitl_tui.core.events import Event, EventKind
from hitl_tui.core.fold import fold
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Mode, Policy, Risk, Rule, Ruling
from hitl_tui.core.questions import questions
from hitl_tui.core.requests import BY_RULE, Kind, Verdict
from hitl_tui.core.todos import TRANSITIONS, Priority, Status, SupervisorTodo
from hitl_tui.language import translate, using
from hitl_tui.wording.status_words import status_words

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=6), v, max_size=3),
    max_leaves=8,
)
KINDS = st.sampled_from([*EventKind, "nonsense", ""])
IDS = st.sampled_from(["todo_001", "todo_002", "todo_003", "todo_009", "x", ""])
FIELDS = st.sampled_from(
    [
        *("todo_id", "status", "priority", "where", "anchor", "todo", "branch", "ran", "proposal", "mode", "arguments"),
        *("risk", "asked", "verdict", "request_id", "run_id", "result", "error", "interrupt", "effect", "highest"),
        *("concurrency", "policy_version", "digest"),
    ]
)
VALUES = JSON | IDS | st.sampled_from([*Status, *Priority, *Verdict, *Mode, *Risk, "before", "after", "todo", "plan"])
TODO_FIELDS = st.sampled_from(list(SupervisorTodo("x", "y").to_dict()))
TODO_DATA = st.dictionaries(TODO_FIELDS, VALUES, max_size=6).map(lambda d: {"id": "todo_004", "name": "n", **d})
GARBAGE = st.builds(
    Event,
    kind=KINDS,
    data=st.dictionaries(FIELDS, VALUES | TODO_DATA, max_size=5) | JSON,
    id=st.text(max_size=5),
    seq=st.integers(0, 50),
    at=st.text(max_size=5) | st.just("2026-01-01T00:00:00+00:00"),
    by=st.text(max_size=5),
)
RULES = Rules()


def started() -> Board:
    """A board with something of everything: completed, running, waiting, failed, blocked."""
    table = Table(plan("a", "b", "c:a", "d:c"))
    table.approve("todo_001", "todo_002")
    table.finish("todo_001")
    table.fail("todo_002")
    table.approve("todo_003")
    return table.board


# Totality ------------------------------------------------------------------------------------------------------


@given(st.lists(GARBAGE, max_size=6))
@settings(max_examples=200)
def test_garbage_never_raises_and_the_board_stays_usable(events: list[Event]) -> None:
    folded = fold(started(), events, RULES)
    questions(folded.board, RULES)
    run_all(folded.board)
    assert len(folded.refused) <= len(events)
    folded.board.all()
    json.dumps(folded.board.control.to_dict())


@given(TODO_DATA)
@settings(max_examples=150)
def test_a_malformed_todo_is_refused_or_harmless(data: dict[str, Any]) -> None:
    board = started()
    folded = fold(board, [Event(EventKind.ADD, {"todo": data}, "e1", 99)], RULES)
    questions(folded.board, RULES)
    json.dumps([dict(t) for t in folded.board.todos.values()], allow_nan=False)
    added = folded.board.todos.keys() - board.todos.keys()
    assert bool(added) != bool(folded.refused)
    for todo_id in added:
        todo = SupervisorTodo.from_dict(folded.board.todos[todo_id])
        assert (todo.attempt, todo.approval, todo.result, todo.run_id) == (0, None, None, "")
        assert folded.board.control.highest < 2**31


@given(st.dictionaries(st.text(max_size=6), JSON, max_size=5) | st.fixed_dictionaries({"data": JSON, "seq": JSON}))
def test_any_json_object_becomes_an_event_that_can_be_written_again(data: dict[str, Any]) -> None:
    event = Event.from_dict(data)
    assert Event.from_dict(event.to_dict()) == event


@pytest.mark.long
@given(GARBAGE)
@settings(max_examples=150)
def test_a_refused_event_changes_nothing_but_the_record_of_it(event: Event) -> None:
    board = settled(started())
    folded = fold(board, [event], RULES)
    if folded.refused:
        assert folded.board.todos == board.todos
        assert folded.changes == {}
        kept = replace(folded.board.control, refused=board.control.refused, cursor=board.control.cursor)
        assert kept == board.control


def test_refusals_of_a_batch_are_all_kept() -> None:
    events = [Event("nonsense", {}, f"e{n}", n) for n in range(1, 41)]
    folded = fold(started(), [replace(e, seq=e.seq + 100) for e in events], RULES)
    assert len(folded.board.control.refused) == 40
    later = fold(folded.board, [Event("nonsense", {}, "last", 999)], RULES)
    assert len(later.board.control.refused) == 20
    assert later.board.control.refused[-1]["event"] == "last"


def settled(board: Board) -> Board:
    return fold(board, (), RULES).board


# Idempotence and batching --------------------------------------------------------------------------------------


NUMBERS = st.lists(st.integers(0, 10**6), min_size=1, max_size=16)


@given(NUMBERS)
@settings(max_examples=150)
def test_the_same_events_again_change_nothing(numbers: list[int]) -> None:
    table = Table(plan("a", "b:a", "c", "d:b,c"))
    events = [pick(table, number) for number in numbers]
    numbered = [replace(e, seq=table.board.control.cursor + n, id=f"x{n}") for n, e in enumerate(events, start=1)]
    once = fold(table.board, numbered, RULES).board
    again = fold(once, numbered, RULES)
    assert again.board.todos == once.todos
    assert again.changes == {}
    assert again.board.control == once.control


@pytest.mark.long
@given(NUMBERS)
@settings(max_examples=200)
def test_settling_again_changes_nothing(numbers: list[int]) -> None:
    """What an event reached was followed to its end: looking at everything finds nothing more."""
    table = Table(plan("a", "b:a", "c", "d:b,c"))
    for number in numbers:
        table.take(pick(table, number))
        assert fold(table.board, (), table.rules).changes == {}
        assert fold(table.board, (), table.rules).board.control == table.board.control


def test_independent_events_come_to_the_same_in_one_batch_or_several() -> None:
    apart, together = Table(plan("a", "b", "c:a")), Table(plan("a", "b", "c:a"))
    batch = [
        Event(EventKind.PRIORITY, {"todo_id": "todo_002", "priority": "high"}, "e1", 1),
        Event(EventKind.SKIP, {"todo_id": "todo_001", "reason": "no"}, "e2", 2),
        Event(EventKind.MOVE, {"todo_id": "todo_003", "where": "before", "anchor": "todo_002"}, "e3", 3),
    ]
    for event in batch:
        apart.board = fold(apart.board, [event], RULES).board
    together.board = fold(together.board, batch, RULES).board
    assert apart.board == together.board


# What never happens --------------------------------------------------------------------------------------------

PLANS = st.sampled_from(
    [("a", "b:a", "c", "d:b,c"), ("a", "b", "c"), ("a", "b:a", "c:b"), ("a!", "b:a", "c!:a,b", "d?:a")]
)
POLICIES = st.sampled_from([Policy(), DENY_HIGH, ALLOW_LOW])


TABLES = st.builds(
    lambda steps, policy, bound, mode: Table(plan(*steps), Rules(policy, bound), mode=mode),
    PLANS,
    POLICIES,
    st.integers(1, 3),
    st.sampled_from(Mode),
)


@pytest.mark.long
@given(TABLES, NUMBERS)
@settings(max_examples=200)
def test_invariants_hold_after_any_events(table: Table, numbers: list[int]) -> None:
    used = set(table.board.todos)
    for number in numbers:
        before = table.board
        event = pick(table, number)
        table.take(event)
        check(before, table, event)
        fresh = table.board.todos.keys() - before.todos.keys()
        if event.kind is EventKind.PUT_BACK and fresh:  # the same step, which begins now at the earliest
            (back,) = fresh
            todo = table.todo(back)
            assert before.control.removed[back]["name"] == todo.name
            assert todo.attempt == (todo.status is Status.IN_PROGRESS)
        else:
            assert not fresh & used, "an id came back"
        used |= fresh


def check(before: Board, table: Table, event: Event) -> None:
    draft = Draft(table.board, table.rules)
    todos = {t.id: t for t in table.board.all()}
    if any(t.attempt > before.todos.get(t.id, {}).get("attempt", 0) for t in todos.values()):
        assert sum(t.status is Status.IN_PROGRESS for t in todos.values()) <= table.board.control.concurrency
    for todo in todos.values():
        was = before.todos.get(todo.id, {"status": "pending"})["status"]
        states = [todos[d].status for d in todo.dependencies]
        stuck = Status.FAILED in states or Status.BLOCKED in states
        if todo.attempt > before.todos.get(todo.id, {}).get("attempt", 0):
            assert all(s in (Status.COMPLETED, Status.SKIPPED) for s in states)
            assert todo.approval is not None
            assert approval_binds(draft, todo)
            if table.board.control.mode is Mode.STEP:
                assert todo.approval["channel"] != "policy"
            assert table.rules.policy.judge(Mode.RISK, todo.agent_name, todo.risk).ruling != "deny"
        if todo.status is Status.BLOCKED:
            assert stuck or todo.metadata.get("held")
        if todo.status in (Status.PENDING, Status.WAITING_APPROVAL):
            assert not stuck
        if was == "failed" and before.todos[todo.id].get("metadata", {}).get("rejected"):
            by_operator = event.kind in (EventKind.UPDATE, EventKind.SKIP, EventKind.EDIT)
            assert todo.status is Status.FAILED or by_operator
        if todo.status.value != was:
            assert reachable(Status(was), todo.status), (was, todo.status)


def reachable(source: Status, target: Status) -> bool:
    """One event may take a TODO several steps: back to pending, then on to asking or starting."""
    steps = {source}
    for _ in range(4):
        steps |= {to for (at, to) in TRANSITIONS if at in steps}
    return target in steps


@pytest.mark.long
@given(TABLES, NUMBERS)
@settings(max_examples=200)
def test_a_question_that_was_taken_back_never_comes_again_under_its_id(table: Table, numbers: list[int]) -> None:
    """Its request is superseded for good: a question that came back with its id could never be answered."""
    gone: set[str] = set()
    open_before = table.asked()
    for number in numbers:
        table.take(pick(table, number))
        now = table.asked()
        assert not now & gone
        gone |= open_before - now
        open_before = now


def test_a_failure_is_asked_anew_when_what_it_gets_was_worked_out_again() -> None:
    table = Table(plan("a", "b:a"), mode=Mode.RISK)
    table.finish("todo_001")
    table.fail("todo_002")
    (first,) = table.asked()
    table.take(on(EventKind.UPDATE, "todo_001", status="pending"))
    (meanwhile,) = table.asked()
    table.finish("todo_001")  # with the result it had before
    (again,) = table.asked()
    assert len({first, meanwhile, again}) == 3
    decide(table, "todo_002", Verdict.RETRY)
    assert table.status("todo_002") == "in_progress"


@pytest.mark.long
@given(TABLES, NUMBERS)
@settings(max_examples=200)
def test_something_always_goes_on_until_everything_is_settled(table: Table, numbers: list[int]) -> None:
    """No sequence of events leaves a session in which nothing runs, nothing asks and something is left to do."""
    for number in numbers:
        table.take(pick(table, number))
        draft = Draft(table.board, table.rules)
        going = draft.with_status(Status.IN_PROGRESS) or startable(draft)
        assert going or table.asked() or draft.all_settled(), table.statuses


# D4, D8 --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", Status)
@pytest.mark.parametrize("target", Status)
def test_operators_make_exactly_the_transitions_of_the_table(source: Status, target: Status) -> None:
    todo = replace(plan("a")[0], status=source, metadata={"held": True} if source is Status.BLOCKED else {})
    board = Board("s1", "q", {todo.id: todo.to_state()}, Control(plan="accepted", highest=1))
    folded = fold(board, [Event(EventKind.UPDATE, {"todo_id": todo.id, "status": target.value}, "e1", 1)], RULES)
    if "operator" in TRANSITIONS.get((source, target), ()):
        asks = Status.WAITING_APPROVAL if target is Status.PENDING else target
        assert folded.board.todos[todo.id]["status"] == asks.value
        assert not folded.refused
    else:
        assert folded.board.todos == settled(board).todos
        message = folded.refused[0]["message"]
        assert str(source) in message
        assert str(target) in message


def test_a_failure_is_tried_again_up_to_its_retries_and_then_asked_about() -> None:
    table = Table([replace(plan("a")[0], max_retries=2)])
    table.approve("todo_001")
    for attempt in (1, 2, 3):
        assert table.todo("todo_001").attempt == attempt
        assert table.status("todo_001") == "in_progress"
        table.fail("todo_001")
    assert table.status("todo_001") == "failed"
    assert [q.kind for q in table.questions()] == ["failure"]
    decide(table, "todo_001", Verdict.RETRY)
    assert (table.status("todo_001"), table.todo("todo_001").attempt) == ("in_progress", 4)


def test_a_final_failure_is_not_tried_again() -> None:
    table = Table([replace(plan("a")[0], max_retries=2)])
    table.approve("todo_001")
    table.fail("todo_001", final=True)
    assert table.status("todo_001") == "failed"


def test_an_optional_failure_is_skipped_and_its_dependants_go_on_unmarked() -> None:
    table = Table(plan("a?", "b:a"))
    table.approve("todo_001")
    table.fail("todo_001")
    assert table.statuses == {"todo_001": "skipped", "todo_002": "waiting_approval"}
    assert table.todo("todo_002").missing == ()


def test_a_required_failure_blocks_its_dependants_until_it_is_settled() -> None:
    table = Table(plan("a", "b:a", "c:b"))
    table.approve("todo_001")
    table.fail("todo_001")
    assert table.statuses == {"todo_001": "failed", "todo_002": "blocked", "todo_003": "blocked"}
    decide(table, "todo_001", Verdict.RETRY)
    assert table.statuses == {"todo_001": "in_progress", "todo_002": "pending", "todo_003": "pending"}


def test_skipping_a_failure_makes_its_dependants_ask_marked_missing() -> None:
    table = Table(plan("a", "b:a"))
    table.approve("todo_001")
    table.fail("todo_001")
    decide(table, "todo_001", Verdict.SKIP)
    assert table.statuses == {"todo_001": "skipped", "todo_002": "waiting_approval"}
    assert table.todo("todo_002").missing == ("todo_001",)
    (question,) = table.questions()
    assert question.subject["missing"] == ["todo_001"]


def test_a_failure_asks_anew_with_the_result_once_a_skip_was_taken_back() -> None:
    table = Table(plan("a", "b:a"))
    table.take(on(EventKind.SKIP, "todo_001"))
    table.approve("todo_002")
    table.fail("todo_002", final=True)
    table.take(on(EventKind.UPDATE, "todo_001", status="pending"))
    table.approve("todo_001")
    table.finish("todo_001")
    (failure,) = table.questions()
    assert (failure.kind, failure.about["missing"], list(failure.subject["inputs"])) == ("failure", [], ["todo_001"])
    decide(table, "todo_002", Verdict.RETRY)
    assert (table.status("todo_002"), table.todo("todo_002").missing) == ("in_progress", ())


def test_the_error_of_a_failure_stays_a_message_that_can_be_translated() -> None:
    table = Table(plan("a"))
    table.approve("todo_001")
    error = Message('The command "{}" ended with exit code {}.', "make", 2)
    table.fail("todo_001", error=error)
    kept = SupervisorTodo.from_state(table.todo("todo_001").to_state()).error
    with using("ko"):
        assert translate(kept) == '명령 "make": 종료 코드 2.'


def test_stopping_at_a_failure_ends_everything() -> None:
    table = Table(plan("a", "b:a", "c"))
    table.approve("todo_001", "todo_003")
    table.fail("todo_001")
    decide(table, "todo_001", Verdict.STOP)
    assert table.statuses == {"todo_001": "failed", "todo_002": "skipped", "todo_003": "failed"}
    assert table.questions() == []


def test_an_approval_in_advance_is_withdrawn_when_input_goes_missing() -> None:
    table = Table(plan("a", "b:a"))
    decide(table, "todo_002", Verdict.APPROVE)
    assert table.todo("todo_002").approval is not None
    table.take(on(EventKind.SKIP, "todo_001"))
    assert table.status("todo_002") == "waiting_approval"
    assert table.todo("todo_002").approval is None


def test_a_skipped_optional_todo_by_an_operator_marks_its_dependants() -> None:
    table = Table(plan("a?", "b:a"))
    table.take(on(EventKind.SKIP, "todo_001"))
    assert table.todo("todo_002").missing == ("todo_001",)


def test_a_rejected_todo_stays_so_until_an_operator_sets_it_pending() -> None:
    table = Table(plan("a", "b:a"))
    decide(table, "todo_001", Verdict.REJECT)
    assert table.statuses == {"todo_001": "failed", "todo_002": "blocked"}
    assert table.questions() == []
    for event in (
        Event(EventKind.MODE, {"mode": "risk"}),
        Event(EventKind.CONFIGURED, {"policy_version": "other", "concurrency": 2}),
        on(EventKind.PRIORITY, "todo_001", priority="critical"),
    ):
        table.take(event)
        assert table.status("todo_001") == "failed"
    table.take(on(EventKind.UPDATE, "todo_001", status="pending"))
    assert table.status("todo_001") == "in_progress"  # mode risk lets low risk pass
    assert not table.todo("todo_001").metadata.get("rejected")


# Policy --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", Mode)
def test_what_is_denied_never_runs_also_when_approved_in_advance(mode: Mode) -> None:
    table = Table(plan("a", "b!:a"), Rules(DENY_HIGH), mode=mode)
    assert table.ask_ahead("todo_002") is None
    table.take(on(EventKind.EDIT, "todo_002", arguments={"what": "x"}, risk="low"))
    decide(table, "todo_002", Verdict.APPROVE)
    table.take(on(EventKind.EDIT, "todo_002", arguments={"what": "x"}, risk="high"))
    if mode is Mode.STEP:
        table.approve("todo_001")
    table.finish("todo_001")
    assert table.status("todo_002") == "failed"
    assert "denied by policy rule 1" in table.todo("todo_002").error


def test_a_policy_that_comes_to_deny_holds_for_what_was_approved() -> None:
    table = Table(plan("a", "b:a"))
    decide(table, "todo_002", Verdict.APPROVE)
    table.rules = Rules(Policy([replace(DENY_HIGH.rules[0], risk="")]))
    table.take(Event(EventKind.CONFIGURED, {"policy_version": table.rules.policy.version, "concurrency": 4}))
    assert table.statuses == {"todo_001": "failed", "todo_002": "blocked"}


def test_back_in_step_mode_a_retry_of_what_a_mode_let_pass_asks() -> None:
    table = Table([replace(plan("a")[0], max_retries=1)], mode=Mode.RISK)
    assert table.status("todo_001") == "in_progress"
    table.take(Event(EventKind.MODE, {"mode": "step"}))
    table.fail("todo_001")
    assert table.status("todo_001") == "waiting_approval"


def test_mode_risk_and_back_gives_a_question_that_can_be_answered() -> None:
    table = Table(plan("a", "b"), Rules(Policy(), 1))
    table.approve("todo_001")
    (first,) = table.asked()
    table.take(Event(EventKind.MODE, {"mode": "risk"}))
    assert table.asked() == set()
    table.take(Event(EventKind.MODE, {"mode": "step"}))
    (second,) = table.asked()
    assert first != second


def test_in_step_mode_what_a_standing_rule_approved_and_did_not_start_asks_anew() -> None:
    """C3, C4: in mode step everything asks; what a person approved stays approved."""
    risky = [replace(todo, risk=Risk.HIGH) for todo in plan("a", "b", "c")]
    table = Table(risky, Rules(Policy(), 1), mode=Mode.RISK)
    for request in table.questions():
        event = decision_of(request, Verdict.APPROVE, None, "")
        channel = BY_RULE if request.todo_id != "todo_003" else "console"
        table.take(replace(event, data={**event.data, "channel": channel}))
    before = set(table.asked())
    assert table.statuses == {"todo_001": "in_progress", "todo_002": "pending", "todo_003": "pending"}
    table.take(Event(EventKind.MODE, {"mode": "step"}))
    assert table.status("todo_002") == "waiting_approval" and table.asked() - before
    assert table.todo("todo_003").approval is not None
    table.take(Event(EventKind.MODE, {"mode": "risk"}))
    assert table.status("todo_002") == "waiting_approval", "the rule answers it again, on record"


def test_what_ran_has_no_other_place_in_the_order_and_what_is_to_come_has() -> None:
    """D15."""
    table = Table(plan("a", "b:a", "c"), Rules(Policy(), 1))
    table.approve("todo_001")
    order = sorted(table.board.todos, key=lambda i: table.todo(i).rank)
    table.take(on(EventKind.MOVE, "todo_001", where="after", anchor="todo_003"))
    assert sorted(table.board.todos, key=lambda i: table.todo(i).rank) == order
    table.take(on(EventKind.MOVE, "todo_003", where="before", anchor="todo_001"))
    assert sorted(table.board.todos, key=lambda i: table.todo(i).rank) == ["todo_003", "todo_001", "todo_002"]
    table.finish("todo_001")
    assert "is completed" in table.todo("todo_001").why_fixed and not table.todo("todo_002").why_fixed


# Order ---------------------------------------------------------------------------------------------------------


def test_a_manual_todo_asks_after_the_earlier_ones_in_step_mode() -> None:
    table = Table(plan("a", "b:a"))
    table.take(add("by hand", manual=True))
    assert table.status("todo_003") == "pending"
    table.approve("todo_001")
    table.finish("todo_001")
    assert table.status("todo_003") == "pending"
    table.approve("todo_002")
    assert table.status("todo_003") == "pending"
    table.finish("todo_002")
    assert table.status("todo_003") == "waiting_approval"
    assert table.todo("todo_003").metadata["inputs"] == ["todo_001", "todo_002"]


def test_a_manual_todo_asks_at_once_in_other_modes_and_with_dependencies() -> None:
    table = Table(plan("a!"), mode=Mode.RISK)
    table.take(add("by hand", manual=True, risk="medium"))
    assert table.statuses == {"todo_001": "waiting_approval", "todo_002": "waiting_approval"}


def test_a_manual_todo_doesnt_wait_for_what_is_blocked() -> None:
    table = Table(plan("a", "b:a"))
    decide(table, "todo_001", Verdict.REJECT)
    table.take(add("by hand", manual=True))
    assert table.statuses == {"todo_001": "failed", "todo_002": "blocked", "todo_003": "waiting_approval"}


def test_a_manual_todo_asks_when_the_one_before_it_is_denied() -> None:
    table = Table(plan("a"), Rules(DENY_HIGH))
    table.take(add("first", manual=True, risk="high"))
    table.take(add("second", manual=True))
    table.approve("todo_001")
    table.finish("todo_001")
    assert table.statuses == {"todo_001": "completed", "todo_002": "failed", "todo_003": "waiting_approval"}


def test_todos_start_by_priority_and_order_within_the_bound() -> None:
    table = Table(plan("a", "b", "c", "d"), Rules(Policy(), 1))
    table.approve("todo_001", "todo_002", "todo_003", "todo_004")
    table.take(on(EventKind.PRIORITY, "todo_004", priority="critical"))
    table.take(on(EventKind.MOVE, "todo_003", where="before", anchor="todo_002"))
    order = []
    while running := [t for t, s in table.statuses.items() if s == "in_progress"]:
        assert len(running) == 1
        order += running
        table.finish(running[0])
    assert order == ["todo_001", "todo_004", "todo_003", "todo_002"]


@pytest.mark.parametrize(
    ("todo_id", "where", "anchor", "why"),
    [
        ("todo_003", "before", "todo_002", "003 waits for 002"),
        ("todo_003", "before", "todo_001", "003 waits for 002"),
        ("todo_004", "before", "todo_002", "004 waits for 003"),
        ("todo_005", "before", "todo_003", ""),
        ("todo_002", "after", "todo_003", "003 waits for 002"),
        ("todo_002", "after", "todo_005", "003 waits for 002"),
        ("todo_002", "before", "todo_001", ""),
        ("todo_001", "after", "todo_005", ""),
    ],
)
def test_a_step_moves_past_nothing_that_it_waits_for(todo_id: str, where: str, anchor: str, why: str) -> None:
    """D15: it would run neither earlier nor later."""
    table = Table(plan("a", "b", "c:b", "d:c", "e"))
    before = [t.id for t in table.board.all()]
    table.take(on(EventKind.MOVE, todo_id, where=where, anchor=anchor))
    assert ([t.id for t in table.board.all()] == before) is bool(why)
    assert not why or why in table.refused()


def test_a_step_moves_past_what_it_waited_for() -> None:
    table = Table(plan("a", "b:a", "c:b"))
    table.approve("todo_001")
    table.finish("todo_001")
    table.take(on(EventKind.MOVE, "todo_002", where="before", anchor="todo_001"))
    assert [t.id for t in table.board.all()] == ["todo_002", "todo_001", "todo_003"]
    table.take(on(EventKind.SKIP, "todo_003", reason="no"))
    table.take(on(EventKind.MOVE, "todo_003", where="before", anchor="todo_002"))
    assert [t.id for t in table.board.all()] == ["todo_003", "todo_002", "todo_001"]


def test_moving_into_the_same_gap_for_ever_keeps_an_order() -> None:
    table = Table(plan("a", "b", "c"))
    for _ in range(120):
        table.take(on(EventKind.MOVE, "todo_003", where="after", anchor="todo_001"))
        table.take(on(EventKind.MOVE, "todo_002", where="after", anchor="todo_001"))
    ranks = [t.rank for t in table.board.all()]
    assert [t.id for t in table.board.all()] == ["todo_001", "todo_002", "todo_003"]
    assert len(set(ranks)) == 3


# Adding, removing, proposing -----------------------------------------------------------------------------------


def test_ids_are_never_used_again() -> None:
    table = Table(plan("a"))
    table.take(add("b"))
    table.take(on(EventKind.REMOVE, "todo_002"))
    table.take(add("c", todo_id="todo_002"))
    assert list(table.board.todos) == ["todo_001", "todo_003"]


@pytest.mark.parametrize(
    "todo_id", ["todo_" + "9" * 25, "todo_²", "todo_-1", "../../x", "", "todo_001", "todo_999999999"]
)
def test_a_strange_id_gives_way_to_the_next_number(todo_id: str) -> None:
    table = Table(plan("a"))
    table.take(add("b", todo_id=todo_id))
    assert list(table.board.todos) == ["todo_001", "todo_002"]
    assert table.board.control.highest == 2


def test_a_todo_that_others_need_or_that_began_is_not_removed() -> None:
    table = Table(plan("a", "b:a"))
    table.take(on(EventKind.REMOVE, "todo_001"))
    assert "002 depends on it" in table.refused()
    table.approve("todo_001")
    table.take(on(EventKind.REMOVE, "todo_001"))
    assert "never started" in table.refused()
    assert len(table.board.todos) == 2


def test_what_was_removed_is_put_back_at_its_place_and_asks_anew() -> None:
    table = Table(plan("a", "b:a", "c!", "d:b"))
    asked = table.asked()
    table.take(on(EventKind.REMOVE, "todo_003"))
    table.take(on(EventKind.REMOVE, "todo_004"))
    table.take(on(EventKind.REMOVE, "todo_002"))
    table.board = replace(table.board, control=Control.from_dict(table.board.control.to_dict()))
    table.take(on(EventKind.PUT_BACK, "todo_003"))
    table.take(on(EventKind.PUT_BACK, "todo_004"))
    assert "first: /todo putback 002" in table.refused()
    table.take(on(EventKind.PUT_BACK, "todo_002"))
    table.take(on(EventKind.PUT_BACK, "todo_004"))
    assert [todo.id for todo in table.board.all()] == ["todo_001", "todo_002", "todo_003", "todo_004"]
    assert table.status("todo_003") == "waiting_approval" and table.asked() - asked, "it is another question"
    assert table.todo("todo_002").dependencies == ("todo_001",)
    assert table.todo("todo_004").dependencies == ("todo_002",)
    assert not table.board.control.removed
    table.take(on(EventKind.PUT_BACK, "todo_003"))
    assert "isn't one of the steps that were removed" in table.refused()


def proposal(*changes: Mapping[str, Any]) -> Event:
    data = {"id": "p1", "reason": "because", "origin": "operator", "changes": list(changes), "text": ""}
    return Event(EventKind.PROPOSED, {"proposal": data})


def test_results_that_suggest_the_same_work_open_one_proposal() -> None:
    table = Table(plan("a", "b", "c"))
    for number, work in enumerate(("more", "more", "other"), start=1):
        todo_id = f"todo_{number:03d}"
        table.approve(todo_id)
        todo = add(work, todo_id=f"todo_{number + 3:03d}").data["todo"]
        changes = [{"kind": "add", "todo": {**todo, "agent_name": "find", "arguments": {"query": work}}}]
        suggested = {"id": f"p{number}", "reason": "because", "origin": todo_id, "changes": changes, "text": ""}
        ran = {"run_id": table.todo(todo_id).run_id, "result": {"digest": "d"}, "proposal": suggested}
        table.take(on(EventKind.FINISHED, todo_id, **ran))
    assert list(table.board.control.proposals) == ["p1", "p3"]


def test_additions_of_a_proposal_keep_depending_on_each_other() -> None:
    """Their ids may be taken when the proposal is accepted."""
    table = Table(plan("a"))
    first = add("p", todo_id="todo_002").data["todo"]
    second = {**add("q", todo_id="todo_003").data["todo"], "dependencies": ["todo_002"]}
    table.take(proposal({"kind": "add", "todo": first}, {"kind": "add", "todo": second}))
    table.take(add("meanwhile"))
    decide(table, "", Verdict.APPROVE)
    names = {t.name: t for t in table.board.all()}
    assert names["meanwhile"].id == "todo_002"
    assert names["q"].dependencies == (names["p"].id,)


@pytest.mark.parametrize(
    ("mode", "policy", "changes", "asks"),
    [
        (Mode.RISK, Policy(), [{"kind": "add", "todo": add("more").data["todo"]}], False),
        (Mode.STEP, Policy(), [{"kind": "add", "todo": add("more").data["todo"]}], True),
        (Mode.PLAN, Policy(), [{"kind": "add", "todo": add("more").data["todo"]}], True),
        (Mode.RISK, Policy(), [{"kind": "add", "todo": add("more", risk="medium").data["todo"]}], True),
        (Mode.RISK, Policy([Rule(Ruling.ASK)]), [{"kind": "add", "todo": add("more").data["todo"]}], True),
        (Mode.RISK, Policy(), [{"kind": "skip", "todo_id": "todo_001"}], True),
    ],
)
def test_only_steps_that_run_without_a_question_are_added_without_one(
    mode: Mode, policy: Policy, changes: list[dict[str, Any]], asks: bool
) -> None:
    table = Table(plan("a!"), Rules(policy), mode=mode)
    table.take(replace(event := proposal(*changes), data={**event.data, "unasked": True}))
    assert (bool(table.board.control.proposals), "todo_002" in table.statuses) == (asks, not asks)


def test_a_proposal_gives_steps_another_place() -> None:
    table = Table(plan("a", "b:a", "c:b"))
    last = {"kind": "after", "todo_id": "todo_002", "after": ["todo_003"], "where": "after", "anchor": "todo_003"}
    table.take(proposal({"kind": "after", "todo_id": "todo_003", "after": ["todo_001"]}, last))
    decide(table, "", Verdict.APPROVE)
    assert [t.id for t in table.board.all()] == ["todo_001", "todo_003", "todo_002"]
    assert [t.dependencies for t in table.board.all()] == [(), ("todo_001",), ("todo_003",)]


@pytest.mark.parametrize("feeds", [True, False])
def test_a_step_stands_after_the_added_one_that_it_comes_to_wait_for(feeds: bool) -> None:
    table = Table(plan("a", "b:a"))
    added = {**add("q", todo_id="todo_003").data["todo"], "dependencies": ["todo_001"]}
    later = {"kind": "after", "todo_id": "todo_002", "after": ["todo_003"]}
    fed = {**added, "metadata": {"feeds": ["todo_002"]}}
    table.take(proposal({"kind": "add", "todo": fed}) if feeds else proposal({"kind": "add", "todo": added}, later))
    decide(table, "", Verdict.APPROVE)
    assert [t.id for t in table.board.all()] == ["todo_001", "todo_003", "todo_002"]


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "after", "todo_id": "todo_001", "after": ["todo_002"]},
        {"kind": "after", "todo_id": "todo_002", "after": ["todo_777"]},
        {"kind": "skip", "todo_id": "todo_001"},
        {"kind": "remove", "todo_id": "todo_001"},
        {"kind": "priority", "todo_id": "todo_777", "priority": "high"},
        {"kind": "add", "todo": {"nonsense": 1}},
    ],
)
def test_a_proposal_that_can_no_longer_be_carried_out_is_closed_and_says_so(change: dict[str, Any]) -> None:
    table = Table(plan("a", "b"))
    table.take(proposal({"kind": "priority", "todo_id": "todo_002", "priority": "high"}, change))
    table.take(on(EventKind.UPDATE, "todo_001", status="completed"))
    decide(table, "", Verdict.APPROVE)
    assert not table.board.control.proposals
    assert table.todo("todo_002").priority is Priority.MEDIUM
    assert "can no longer change like this" in table.refused()


def test_a_rejected_proposal_changes_nothing() -> None:
    table = Table(plan("a"))
    table.take(proposal({"kind": "skip", "todo_id": "todo_001"}))
    decide(table, "", Verdict.REJECT)
    assert table.status("todo_001") == "waiting_approval"
    assert not table.board.control.proposals


# Holding, cancelling, restoring --------------------------------------------------------------------------------


def test_a_held_todo_waits_until_it_is_released() -> None:
    table = Table(plan("a", "b:a"))
    table.take(on(EventKind.UPDATE, "todo_001", status="blocked"))
    assert table.statuses == {"todo_001": "blocked", "todo_002": "blocked"}
    assert table.questions() == []
    table.take(on(EventKind.UPDATE, "todo_001", status="pending"))
    assert table.statuses == {"todo_001": "waiting_approval", "todo_002": "pending"}


def test_what_a_failure_blocks_is_not_set_pending_by_hand() -> None:
    table = Table(plan("a", "b:a"))
    decide(table, "todo_001", Verdict.REJECT)
    table.take(on(EventKind.UPDATE, "todo_002", status="pending"))
    assert "blocked by todo_001" in table.refused()
    assert table.status("todo_002") == "blocked"


def test_a_cancelled_todo_fails_and_its_late_result_is_refused() -> None:
    table = Table(plan("a"))
    table.approve("todo_001")
    run_id = table.todo("todo_001").run_id
    table.take(on(EventKind.CANCEL, "todo_001"))
    assert "cancelled by ann" in table.todo("todo_001").error
    table.take(on(EventKind.FINISHED, "todo_001", run_id=run_id, result={"digest": ""}))
    assert table.board.control.refused[-1]["reason"] == "late"
    assert table.status("todo_001") == "failed"


@pytest.mark.parametrize("kind", [EventKind.FINISHED, EventKind.FAILED, EventKind.INTERRUPTED, EventKind.DOUBT])
def test_only_the_current_run_is_listened_to(kind: EventKind) -> None:
    table = Table(plan("a"))
    table.approve("todo_001")
    before = table.board.todos
    extra = {"result": {}, "error": "x", "interrupts": [{"id": "i"}], "effect": {"key": "k"}}
    table.take(on(kind, "todo_001", run_id="s1/todo_001/0.7", **extra))
    assert table.board.todos == before
    assert table.board.control.refused[-1]["reason"] == "late"


def test_a_restore_asks_again_for_what_was_approved_or_ran() -> None:
    table = Table(plan("a", "b", "c:a", "d"), Rules(Policy(), 2))
    table.approve("todo_001", "todo_002", "todo_004")
    decide(table, "todo_003", Verdict.APPROVE)
    ran = {"todo_001": {"status": "completed", "branch": 0}, "todo_002": {"status": "in_progress", "branch": 0}}
    table.take(Event(EventKind.RESTORED, {"branch": 1, "ran": ran, "highest": 9}))
    assert set(table.statuses.values()) == {"waiting_approval", "pending"}
    assert all(t.approval is None for t in table.board.all())
    assert table.todo("todo_001").metadata["ran_before"] == ran["todo_001"]
    assert "ran_before" not in table.todo("todo_004").metadata
    assert table.board.control.highest == 9
    table.take(add("e"))
    assert "todo_010" in table.board.todos
    table.approve("todo_001")
    assert table.todo("todo_001").run_id == "s1/todo_001/1.1"


def test_an_older_restore_is_refused() -> None:
    table = Table(plan("a"))
    table.take(Event(EventKind.RESTORED, {"branch": 2}))
    table.take(Event(EventKind.RESTORED, {"branch": 1}))
    assert table.board.control.branch == 2
    assert table.board.control.refused[-1]["reason"] == "superseded"


def test_a_restore_takes_back_questions_from_inside_a_team() -> None:
    table = Table(plan("a"))
    table.approve("todo_001")
    run_id = table.todo("todo_001").run_id
    table.take(
        on(EventKind.INTERRUPTED, "todo_001", run_id=run_id, interrupts=[{"id": "i1", "path": ["n"], "value": 1}])
    )
    assert [q.kind for q in table.questions()] == ["interrupt"]
    table.take(Event(EventKind.RESTORED, {"branch": 1}))
    assert [q.kind for q in table.questions()] == ["todo"]


@pytest.mark.parametrize(("action", "declined"), [("reject", True), ("edit", False), ("", False)])
def test_a_run_that_ended_after_a_no_says_so(action: str, declined: bool) -> None:
    table = Table(plan("a"))
    table.approve("todo_001")
    run_id = table.todo("todo_001").run_id
    asked = [{"id": "i1", "path": ["n"], "value": 1}]
    table.take(on(EventKind.INTERRUPTED, "todo_001", run_id=run_id, interrupts=asked))
    (request,) = table.questions()
    said = decision_of(request, Verdict.RESPOND, "x")
    table.take(replace(said, data={**said.data, **({"action": action} if action else {})}))
    table.finish("todo_001")
    assert table.status("todo_001") == "completed"
    assert bool(table.todo("todo_001").metadata.get("declined")) is declined
    assert (status_words(table.todo("todo_001"))[1] == "declined") is declined


def test_rejected_questions_from_inside_end_the_todo(ids: Iterable[str] = ("i1", "i2")) -> None:
    table = Table(plan("a"))
    table.approve("todo_001")
    for interrupt in ids:
        run_id = table.todo("todo_001").run_id
        data = {"id": interrupt, "path": ["n"], "value": 1}
        table.take(on(EventKind.INTERRUPTED, "todo_001", run_id=run_id, interrupts=[data], delivered=["i1"]))
        if interrupt == "i1":
            decide(table, "todo_001", Verdict.RESPOND, value="yes")
            (asked,) = (table.todo("todo_001").question or {})["interrupts"]
            assert (asked["id"], asked["answer"]["value"]) == ("i1", "yes")
    decide(table, "todo_001", Verdict.REJECT)
    assert table.todo("todo_001").metadata["rejected"]


def test_a_duration_is_the_time_it_ran_without_what_it_waited_for_a_person() -> None:
    table = Table(plan("a", "b", "c"))
    table.approve("todo_001", "todo_002", "todo_003")

    def ask(todo_id: str, at: str) -> None:
        asked = on(
            EventKind.INTERRUPTED,
            todo_id,
            run_id=table.todo(todo_id).run_id,
            interrupts=[{"id": f"i{at}", "path": ["n"], "value": 1}],
        )
        table.take(replace(asked, at=at))

    def decided(todo_id: str, verdict: Verdict, at: str) -> None:
        (request,) = [q for q in table.questions() if q.todo_id == todo_id]
        table.take(replace(decision_of(request, verdict, value="yes"), at=at))

    # Started at 00:00:00: runs for 5 s, waits an hour, runs for 3 s, waits 30 s, runs for 2 s.
    ask("todo_001", "2026-01-01T00:00:05+00:00")
    assert table.todo("todo_001").ran("2026-01-01T00:30:00+00:00") == 5.0
    decided("todo_001", Verdict.RESPOND, "2026-01-01T01:00:05+00:00")
    ask("todo_001", "2026-01-01T01:00:08+00:00")
    decided("todo_001", Verdict.RESPOND, "2026-01-01T01:00:38+00:00")
    run_id = table.todo("todo_001").run_id
    ended = on(EventKind.FINISHED, "todo_001", run_id=run_id, result={"digest": "d", "summary": "done"})
    table.take(replace(ended, at="2026-01-01T01:00:40+00:00"))
    done = table.todo("todo_001")
    assert (done.duration, done.waited, done.waiting_since) == (10.0, 3630.0, "")

    # What is refused while it waits ran until it asked.
    ask("todo_002", "2026-01-01T00:00:04+00:00")
    decided("todo_002", Verdict.REJECT, "2026-01-01T08:00:00+00:00")
    refused = table.todo("todo_002")
    assert (refused.duration, refused.waited) == (4.0, 28796.0)

    # A doubt that a person settles is waiting, too.
    effect = {"key": "k", "name": "graph", "subject": {}, "why": "unknown"}
    doubt = on(EventKind.DOUBT, "todo_003", run_id=table.todo("todo_003").run_id, effect=effect)
    table.take(replace(doubt, at="2026-01-01T00:00:07+00:00"))
    decided("todo_003", Verdict.DO_AGAIN, "2026-01-01T02:00:00+00:00")
    cancelled = on(EventKind.CANCEL, "todo_003")
    table.take(replace(cancelled, at="2026-01-01T02:00:01+00:00"))
    assert table.todo("todo_003").duration == 8.0


def test_questions_from_inside_stay_and_can_be_answered_while_an_effect_is_in_doubt() -> None:
    table = Table(plan("a"))
    table.approve("todo_001")
    run_id = table.todo("todo_001").run_id
    inside = [{"id": i, "path": ["n"], "value": i} for i in ("i1", "i2", "i3")]
    table.take(on(EventKind.INTERRUPTED, "todo_001", run_id=run_id, interrupts=inside))
    before = {q.subject["value"]: q.id for q in table.questions()}
    answer(table, before["i1"])
    effect = {"key": "k", "name": "graph", "subject": {}, "why": "unknown"}
    table.take(on(EventKind.DOUBT, "todo_001", run_id=run_id, effect=effect))
    assert [q.kind for q in table.questions()] == [Kind.EFFECT, Kind.INTERRUPT, Kind.INTERRUPT]
    assert {q.id for q in table.questions()} >= {before["i2"], before["i3"]}
    answer(table, before["i2"])
    assert table.status("todo_001") == "waiting_approval"
    decide(table, "todo_001", Verdict.DO_AGAIN)
    assert table.status("todo_001") == "in_progress"
    assert [q.id for q in table.questions()] == [before["i3"]]
    kept = {i["id"]: "answer" in i for i in (table.todo("todo_001").question or {})["interrupts"]}
    assert kept == {"i1": True, "i2": True, "i3": False}


def answer(table: Table, request_id: str) -> None:
    (question,) = [q for q in table.questions() if q.id == request_id]
    data = {"asked": question.kind.value, "verdict": "respond", "request_id": question.id, "digest": question.digest}
    table.take(on(EventKind.DECIDED, "todo_001", **data, value="fine", by="ann"))


@pytest.mark.parametrize(
    ("metadata", "arguments", "given"),
    [
        ({}, {"what": "x"}, {"todo_001": "d"}),
        ({"alone": True}, {"what": "x"}, {}),
        ({}, {"command": "say", "argv": ["echo"]}, {}),
    ],
)
def test_a_manual_todo_gets_results_only_where_its_team_reads_them(
    metadata: dict[str, Any], arguments: dict[str, Any], given: dict[str, str]
) -> None:
    table = Table(plan("a"))
    table.approve("todo_001")
    table.finish("todo_001")
    event = add("by hand", manual=True)
    todo = event.data["todo"]
    more = {"metadata": {**todo["metadata"], **metadata}, "arguments": arguments}
    table.take(replace(event, data={"todo": {**todo, **more}}))
    (question,) = table.questions()
    assert question.subject["inputs"] == given
    table.approve("todo_002")
    assert table.status("todo_002") == "in_progress"


def test_a_command_keeps_its_name_when_it_is_edited() -> None:
    table = Table(plan("a"))
    given = {"command": "clean", "argv": ["rm", "b"], "parameters": {"what": "b"}}
    table.take(on(EventKind.EDIT, "todo_001", arguments=given, risk="high", description="clean what=b"))
    assert table.todo("todo_001").name == "clean"
    called = replace(table.todo("todo_001"), name="오래된 로그 삭제")
    table.board = replace(table.board, todos={**table.board.todos, "todo_001": called.to_state()})
    again = {**given, "argv": ["rm", "c"], "parameters": {"what": "c"}}
    table.take(on(EventKind.EDIT, "todo_001", arguments=again, risk="high", description="clean what=c"))
    assert table.todo("todo_001").name == "오래된 로그 삭제"
    table.take(on(EventKind.EDIT, "todo_001", arguments={"query": "x"}, risk="low", description="Find x instead"))
    assert table.todo("todo_001").name == "Find x instead"


@pytest.mark.parametrize(("name", "then"), [("Old words", "New"), ("Analyse: Old words", "Analyse: New"), ("x", "x")])
def test_a_name_that_says_what_was_asked_says_what_is_asked_since(name: str, then: str) -> None:
    table = Table(plan("a"))
    asked = replace(table.todo("todo_001"), name=name, arguments={"query": "Old words"})
    table.board = replace(table.board, todos={"todo_001": asked.to_state()})
    table.take(on(EventKind.EDIT, "todo_001", arguments={"query": "New"}, risk="low"))
    assert table.todo("todo_001").name == then


def test_an_edit_keeps_what_was_planned_until_it_is_that_again() -> None:
    table = Table(plan("a"))
    first = {"query": "x", "limit": 8, "documents": ["."]}
    table.board = replace(table.board, todos={"todo_001": replace(table.todo("todo_001"), arguments=first).to_state()})
    for limit, planned in (({"limit": 5}, {"limit": 8}), ({"limit": 4}, {"limit": 8}), ({"limit": 8}, {})):
        arguments = {"query": "x", "documents": ["."], **limit}
        table.take(on(EventKind.EDIT, "todo_001", arguments=arguments, risk="low"))
        assert table.todo("todo_001").metadata["planned"] == planned
    arguments = {"query": "x", "documents": ["a.md", "b.md"], "limit": 8}
    table.take(on(EventKind.EDIT, "todo_001", arguments=arguments, risk="low"))
    assert table.todo("todo_001").metadata["planned"] == {"documents": ["."]}


@pytest.mark.parametrize(
    ("was", "now"),
    [
        (
            {"command": "clean", "parameters": {"days": 14, "of": "nginx"}, "argv": ["find", "14"], "timeout": 9.0},
            {"command": "clean", "parameters": {"days": 20, "of": "nginx"}, "argv": ["find", "20"], "timeout": 9.0},
        ),
        ({"calls": "m:f", "input": {"days": 14, "of": "x"}}, {"calls": "m:f", "input": {"days": 20, "of": "x"}}),
        ({"input": {"days": 14}, "programs": {"a": "1"}}, {"input": {"days": 20}, "programs": {"a": "2"}}),
    ],
    ids=["command", "call", "graph"],
)
def test_an_edit_keeps_the_values_that_a_person_may_set(was: dict[str, Any], now: dict[str, Any]) -> None:
    table = Table(plan("a"))
    table.board = replace(table.board, todos={"todo_001": replace(table.todo("todo_001"), arguments=was).to_state()})
    table.take(on(EventKind.EDIT, "todo_001", arguments=now, risk="low"))
    assert table.todo("todo_001").metadata["planned"] == {"days": 14}


def test_a_name_that_says_with_what_a_command_runs_says_so_after_an_edit() -> None:
    table = Table(plan("a"))
    given = {"command": "keep", "argv": ["cp", "one"], "parameters": {"file": "one"}}
    named = replace(table.todo("todo_001"), name="keep file=one", arguments=given)
    table.board = replace(table.board, todos={**table.board.todos, "todo_001": named.to_state()})
    again = {**given, "argv": ["cp", "two"], "parameters": {"file": "two"}}
    table.take(on(EventKind.EDIT, "todo_001", arguments=again, risk="high", description="keep file=two"))
    assert table.todo("todo_001").name == "keep file=two"
