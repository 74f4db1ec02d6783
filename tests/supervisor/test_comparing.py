"""Differences between two moments, and what going back from one to the other means (C5, D11)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.threads.session_diff import MOST_LINES, Given, changed_lines, compare, consequences, decided_in, last_two
from hitl_tui.threads.state_diff import ABSENT, ValueChange, values_that_differ

RUN = "s1/todo_001/0.1"
RESULT = {"digest": "d1", "summary": "found 2"}


def todo(number: int, status: str = "pending", **more: Any) -> SupervisorTodo:
    return SupervisorTodo(id=f"todo_{number:03d}", name=f"step {number}", status=Status(status), rank=number, **more)


def state(*todos: SupervisorTodo, **more: Any) -> dict[str, Any]:
    return {"query": "q", "todos": {t.id: t.to_state() for t in todos}, "control": {"mode": "step"}, **more}


def test_a_moment_does_not_differ_from_itself() -> None:
    moment = state(todo(1, "completed", result=RESULT), todo(2), response={"digest": "r"})
    assert not compare(moment, moment)


def test_a_todo_that_is_the_same_in_both_plans_is_not_looked_into() -> None:
    strange = {"id": "todo_009", "status": "from another version", "rank": 9.0}
    before, after = state(todo(1), todo(2)), state(todo(1), todo(2, "completed"))
    for moment in (before, after):
        moment["todos"]["todo_009"] = dict(strange)
    (change,) = compare(before, after).todos
    assert change.before is not None
    assert (change.todo.id, change.before.status, change.todo.status) == ("todo_002", "pending", "completed")


def test_added_removed_and_changed_todos_are_told_apart() -> None:
    found = compare(state(todo(1, "waiting_approval"), todo(2)), state(todo(1, "completed"), todo(3)))
    said = [(c.todo.id, *(todo and todo.status for todo in (c.before, c.after))) for c in found.todos]
    assert said == [
        ("todo_001", Status.WAITING_APPROVAL, Status.COMPLETED),
        ("todo_003", None, Status.PENDING),
        ("todo_002", Status.PENDING, None),
    ]


def test_an_edited_input_names_the_argument_that_changed() -> None:
    before = state(todo(1, arguments={"days": 14, "dir": "logs"}, description="clean"))
    after = state(todo(1, arguments={"days": 30, "dir": "logs"}, description="clean up"))
    (change,) = compare(before, after).todos
    assert change.edited == (
        ValueChange(("description",), "clean", "clean up"),
        ValueChange(("arguments", "days"), 14, 30),
    )
    assert all(todo is not None and todo.status is Status.PENDING for todo in (change.before, change.after))


def test_order_and_approval_are_no_edits() -> None:
    before, after = todo(1), replace(todo(1), rank=1.5, approval={"by": "ops"})
    (change,) = compare(state(before), state(after)).todos
    assert [v.name for v in change.moved] == ["rank"]
    assert change.approved == ValueChange(("approval",), None, {"by": "ops"})
    assert not change.edited


def test_results_come_go_and_change_and_the_answer_is_last() -> None:
    before = state(todo(1, result=RESULT), todo(2, result=RESULT), todo(3))
    after = state(
        todo(1, result={"digest": "d2", "summary": "found 3"}),
        todo(2),
        todo(3, result=RESULT),
        response={"digest": "r", "summary": "because"},
    )
    found = compare(before, after).results
    assert [(r.todo_id, r.before is None, r.after is None) for r in found] == [
        ("todo_001", False, False),
        ("todo_002", False, True),
        ("todo_003", True, False),
        ("", True, False),
    ]
    assert compare(before, after).state == ()


def test_the_rest_of_the_state_is_compared_key_by_key() -> None:
    before = state(control={"mode": "step", "proposals": {"p1": {"text": "more"}}}, old=None)
    after = state(control={"mode": "risk", "proposals": {}})
    assert compare(before, after).state == (
        ValueChange(("control", "mode"), "step", "risk"),
        ValueChange(("control", "proposals", "p1"), {"text": "more"}, ABSENT),
        ValueChange(("old",), None, ABSENT),
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2),
    lambda inner: st.dictionaries(st.text("xyz", min_size=1, max_size=1), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text("xyz", min_size=1, max_size=1), JSON, max_size=3)


@given(OBJECTS, OBJECTS)
def test_a_difference_leads_from_one_object_to_the_other(before: dict[str, Any], after: dict[str, Any]) -> None:
    built = _copied(before)
    for change in values_that_differ(before, after):
        place = built
        for key in change.path[:-1]:
            place = place[key]
        if change.after is ABSENT:
            del place[change.path[-1]]
        else:
            place[change.path[-1]] = _copied(change.after)
    assert built == after


def _copied(value: Any) -> Any:
    return {k: _copied(v) for k, v in value.items()} if isinstance(value, dict) else value


def test_changed_lines_show_what_stands_around() -> None:
    text = "\n".join(f"line {n}" for n in range(20))
    assert changed_lines(text, text) == []
    found = changed_lines(text, text.replace("line 3\n", "line three\n").replace("line 15\n", ""))
    assert found == ["  line 2", "- line 3", "+ line three", "  line 4", "…", "  line 14", "- line 15", "  line 16"]
    assert changed_lines("a\n" * (MOST_LINES + 1), "b") == []


def test_going_back_says_what_ran_what_is_asked_and_what_leaves() -> None:
    then = state(
        todo(1, "waiting_approval", arguments={"days": 14}),
        todo(2),
        todo(5, "pending", approval={"by": "ops"}),
        control={"proposals": {"p1": {}}},
    )
    now = state(
        todo(1, "completed", arguments={"days": 30}, attempt=1, run_id=RUN, result=RESULT),
        todo(2, "in_progress", attempt=1, run_id="s1/todo_002/0.1"),
        todo(4),
        response={"digest": "r"},
    )
    found = consequences(then, now)
    assert [t.id for t in found.asked] == ["todo_001", "todo_005"]
    assert [t.id for t in found.ran] == ["todo_001", "todo_002"]
    assert [t.id for t in found.stopped] == ["todo_002"]
    assert [t.id for t in found.gone] == ["todo_004"]
    assert [t.id for t in found.back] == ["todo_005"]
    assert [(a.status, b.status) for a, b in found.statuses] == [
        (Status.COMPLETED, Status.WAITING_APPROVAL),
        (Status.IN_PROGRESS, Status.PENDING),
    ]
    assert [a.id for a, _ in found.edits] == ["todo_001"]
    assert (found.proposals, found.answer) == (1, True)


def test_a_program_that_is_another_one_now_is_no_edit() -> None:
    then = state(todo(1, "waiting_approval", arguments={"argv": ["run"], "programs": {"run": "d1"}}))
    now = state(todo(1, "waiting_approval", arguments={"argv": ["run"], "programs": {"run": "d2"}}))
    assert consequences(then, now).edits == ()


RAN_ELSEWHERE = {"ran_before": {"status": "completed", "branch": 0}}


@pytest.mark.parametrize(
    ("then", "now", "ran"),
    [
        (todo(1), todo(1), False),
        (None, todo(1), False),
        (None, todo(1, "completed", attempt=1, run_id=RUN), True),
        (todo(1, "completed", attempt=1, run_id=RUN), todo(1, "completed", attempt=1, run_id=RUN), False),
        (todo(1, "completed", attempt=1, run_id=RUN), todo(1, "completed", attempt=2, run_id="s1/todo_001/0.2"), True),
        (todo(1, "in_progress", attempt=1, run_id=RUN), todo(1, "completed", attempt=1, run_id=RUN), True),
        (todo(1, "failed", attempt=1, run_id=RUN), todo(1, "skipped", attempt=1, run_id=RUN), False),
        (todo(1), todo(1, "waiting_approval", metadata=RAN_ELSEWHERE), True),
        (todo(1, metadata=RAN_ELSEWHERE), todo(1, "waiting_approval", metadata=RAN_ELSEWHERE), False),
        (todo(1, "completed", attempt=1, run_id=RUN), todo(1, "pending", metadata=RAN_ELSEWHERE), False),
        (
            todo(1, "waiting_approval", attempt=1, run_id=RUN, question={"kind": "interrupt"}),
            todo(1, "completed", attempt=1, run_id=RUN),
            True,
        ),
    ],
)
def test_what_ran_since(then: SupervisorTodo | None, now: SupervisorTodo, ran: bool) -> None:
    found = consequences(state(then) if then is not None else state(), state(now))
    assert [t.id for t in found.ran] == (["todo_001"] if ran else [])


def test_a_difference_tells_who_decided() -> None:
    approval = {"by": "ops", "channel": "console", "at": "t1", "digest": "d"}
    before = state(todo(1), todo(2), todo(3, "waiting_approval"), todo(4, approval=approval))
    after = state(
        todo(1, approval=approval),
        todo(2, "skipped", metadata={"skipped_by": "ops", "skip_reason": "no"}, completed_at="t2"),
        todo(3, "failed", metadata={"rejected": True}, error="rejected by ops: no", completed_at="t3"),
        todo(4, "in_progress", approval=approval),
    )
    assert decided_in(compare(before, after)) == [
        Given("todo_001", "approve", "ops", "console", "t1"),
        Given("todo_002", "skip", "ops", "", "t2", "no"),
        Given("todo_003", "reject", "", "", "t3", "rejected by ops: no"),
    ]
    assert decided_in(compare(after, after)) == []


def test_two_marks_at_most_and_a_mark_is_taken_away_by_itself() -> None:
    assert last_two((), "a") == ("a",)
    assert last_two(("a",), "b") == ("a", "b")
    assert last_two(("a", "b"), "c") == ("b", "c")
    assert last_two(("a", "b"), "a") == ("b",)
