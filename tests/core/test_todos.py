"""TODOs, their transitions and the manager (D4, D5)."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_tui.core.errors import BadInput, IllegalTransition, UnknownName
from hitl_tui.core.manager import TodoManager
from hitl_tui.core.names import resolve_id
from hitl_tui.core.policy import Risk
from hitl_tui.core.todos import (
    OPERATOR,
    SETTLED,
    SYSTEM,
    Priority,
    Status,
    SupervisorTodo,
    check_transition,
    parse_priority,
    parse_status,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=5), v, max_size=3),
    max_leaves=6,
)
OBJECT = st.dictionaries(st.text(max_size=8), JSON, max_size=3)
IDS = st.integers(1, 20).map("todo_{:03d}".format)
SECONDS = st.floats(0, 1e6, allow_nan=False)
TODOS = st.builds(
    SupervisorTodo,
    id=IDS,
    name=st.text(max_size=20),
    description=st.text(max_size=20),
    agent_name=st.sampled_from(["", "search_team", "analysis_team"]),
    status=st.sampled_from(Status),
    priority=st.sampled_from(Priority),
    dependencies=st.lists(IDS, max_size=3).map(tuple),
    started_at=st.sampled_from(["", "2025-03-01T09:00:00+00:00"]),
    duration=st.none() | SECONDS,
    waited=SECONDS,
    waiting_since=st.sampled_from(["", "2025-03-01T09:01:00+00:00"]),
    metadata=OBJECT,
    error=st.text(max_size=8),
    retry_count=st.integers(0, 5),
    max_retries=st.integers(0, 5),
    arguments=OBJECT,
    risk=st.sampled_from(Risk),
    rank=SECONDS,
    optional=st.booleans(),
    timeout=SECONDS,
    attempt=st.integers(0, 5),
    approval=st.none() | OBJECT,
    result=st.none() | OBJECT,
    question=st.none() | OBJECT,
    asked=st.integers(0, 5),
    missing=st.lists(IDS, max_size=2).map(tuple),
)

PLACED = st.builds(
    SupervisorTodo,
    id=IDS,
    name=st.just("step"),
    status=st.sampled_from(Status),
    priority=st.sampled_from(Priority),
    dependencies=st.lists(IDS, max_size=3).map(tuple),
    rank=SECONDS,
)
"""What a plan as a whole goes by: made many times faster than TODOs with all there is to them."""


def todo(number: int, **changes: Any) -> SupervisorTodo:
    plain = SupervisorTodo(id=f"todo_{number:03d}", name=f"step {number}", rank=float(number))
    return replace(plain, **changes)


@given(TODOS)
def test_todos_round_trip_exactly_and_through_json(one: SupervisorTodo) -> None:
    assert SupervisorTodo.from_dict(one.to_dict()) == one
    assert SupervisorTodo.from_dict(json.loads(json.dumps(one.to_dict()))) == one


@given(TODOS)
def test_state_keeps_only_what_differs_and_loses_nothing(one: SupervisorTodo) -> None:
    state = one.to_state()
    assert SupervisorTodo.from_dict(state) == one
    plain = SupervisorTodo(id="", name="").to_dict()
    assert {key for key in state if state[key] == plain[key]} <= {"id", "name", "status"}


def test_a_todo_needs_an_id_and_a_name_and_has_the_rest_by_default() -> None:
    one = SupervisorTodo.from_dict({"id": "todo_001", "name": "look"})
    assert (one.status, one.priority, one.retry_count, one.max_retries) == (Status.PENDING, Priority.MEDIUM, 0, 3)
    assert one.to_state() == {"id": "todo_001", "name": "look", "status": "pending"}


def test_null_stands_for_the_default_of_every_optional_field() -> None:
    fields = SupervisorTodo(id="todo_001", name="search").to_dict()
    nulls = {name: None for name in fields if name not in ("id", "name")}
    assert SupervisorTodo.from_dict({**fields, **nulls}) == SupervisorTodo(id="todo_001", name="search")
    for name in ("id", "name"):
        with pytest.raises(BadInput):
            SupervisorTodo.from_dict({**fields, name: None})


@pytest.mark.parametrize(
    ("data", "word"),
    [
        ({"name": "x"}, "id"),
        ({"id": "x"}, "name"),
        ({"id": "x", "name": "y", "colour": "red"}, "colour"),
        ({"id": "x", "name": "y", "status": "half"}, "half"),
        ({"id": "x", "name": "y", "priority": "soon"}, "soon"),
        ({"id": "x", "name": "y", "risk": "none"}, "none"),
    ],
)
def test_what_is_no_todo_is_refused_by_name(data: dict[str, Any], word: str) -> None:
    with pytest.raises(BadInput, match=word):
        SupervisorTodo.from_dict(data)


# What an operator may do by hand, from D4 and D10: skip, put back, hold back, declare done or failed; never start.
BY_HAND = {
    "pending": {"skipped", "blocked", "completed"},
    "waiting_approval": {"pending", "skipped", "blocked", "failed", "completed"},
    "in_progress": set[str](),
    "completed": {"pending"},
    "failed": {"pending", "skipped", "completed"},
    "skipped": {"pending"},
    "blocked": {"pending", "skipped", "completed"},
}


@pytest.mark.parametrize(("start", "to"), list(product(Status, Status)))
def test_an_operator_may_make_these_transitions_and_no_others(start: Status, to: Status) -> None:
    one = todo(1, status=start)
    if to.value in BY_HAND[start.value]:
        assert one.with_status(to, OPERATOR, error="why") == replace(one, status=to, error="why")
    else:
        with pytest.raises(IllegalTransition) as refused:
            one.with_status(to, OPERATOR)
        assert f"is {start.value} and" in refused.value.message
        assert f"become {to.value};" in refused.value.message


@pytest.mark.parametrize("start", Status)
def test_only_an_approval_starts_a_todo_and_only_a_run_ends_one(start: Status) -> None:
    for who, to in ((OPERATOR, Status.IN_PROGRESS), ("somebody", Status.PENDING), (SYSTEM, start)):
        with pytest.raises(IllegalTransition):
            check_transition(todo(1, status=start), to, who)
    if start is not Status.IN_PROGRESS:
        with pytest.raises(IllegalTransition):
            check_transition(todo(1, status=start), Status.COMPLETED, SYSTEM)


def test_settled_is_what_moves_no_further_by_itself() -> None:
    assert {s.value for s in SETTLED} == {"completed", "failed", "skipped"}
    assert [s for s in Status if todo(1, status=s).settled] == [s for s in Status if s in SETTLED]


@given(st.lists(PLACED, max_size=6, unique_by=lambda t: t.id))
def test_next_executable_is_ready_and_nothing_ready_comes_before_it(todos: list[SupervisorTodo]) -> None:
    manager = TodoManager(todos)
    status = {one.id: one.status for one in todos}
    order = {"critical": 0, "high": 1, "medium": 2, "low": 3}
    ready = []
    for one in todos:
        waits_for = [d for d in one.dependencies if status.get(d) not in (None, Status.COMPLETED, Status.SKIPPED)]
        if one.status is Status.PENDING and not waits_for:
            ready.append((order[one.priority.value], one.rank))
    found = manager.find_next_executable()
    if found is None:
        assert ready == []
    else:
        assert (order[found.priority.value], found.rank) == min(ready)


@given(st.lists(PLACED, max_size=8, unique_by=lambda t: t.id))
def test_the_summary_counts_each_once_but_waiting_as_pending_too(todos: list[SupervisorTodo]) -> None:
    counts = TodoManager(todos).get_summary()
    waiting = sum(one.status is Status.WAITING_APPROVAL for one in todos)
    assert counts["total"] == len(todos)
    assert sum(counts[s.value] for s in Status) == len(todos) + waiting
    assert counts["waiting_approval"] == waiting
    assert counts["pending"] == waiting + sum(one.status is Status.PENDING for one in todos)


def test_added_todos_come_last_unless_they_bring_a_rank() -> None:
    manager = TodoManager([todo(2), todo(1)])
    manager.add(SupervisorTodo(id="todo_003", name="last", dependencies=("todo_001",)))
    manager.add(SupervisorTodo(id="todo_004", name="between", rank=1.5))
    assert [one.id for one in manager.todos] == ["todo_001", "todo_004", "todo_002", "todo_003"]
    with pytest.raises(BadInput, match="001"):
        manager.add(todo(1))
    with pytest.raises(UnknownName, match="009"):
        manager.add(SupervisorTodo(id="todo_005", name="x", dependencies=("todo_009",)))
    assert len(manager.todos) == 4


def test_the_manager_changes_what_it_holds_and_nothing_else() -> None:
    given_ = [todo(1), todo(2)]
    manager = TodoManager(given_)
    assert manager.update_status("todo_001", Status.SKIPPED, OPERATOR) == manager.get("todo_001")
    assert manager.get("todo_001").status is Status.SKIPPED
    assert given_[0].status is Status.PENDING
    with pytest.raises(IllegalTransition):
        manager.update_status("todo_002", Status.IN_PROGRESS, OPERATOR)
    for unknown in ("todo_009", ""):
        with pytest.raises(UnknownName):
            manager.update_status(unknown, Status.SKIPPED)


@pytest.mark.parametrize("text", ["waiting_approval", " Waiting-Approval ", "WAITING_APPROVAL"])
def test_statuses_are_read_as_people_write_them(text: str) -> None:
    assert parse_status(text) is Status.WAITING_APPROVAL


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="pending, in_progress"):
        parse_status("half")
    with pytest.raises(UnknownName, match="critical, high, medium, low"):
        parse_priority("soon")
    assert parse_priority(" HIGH") is Priority.HIGH


KNOWN = ["todo_001", "todo_002", "todo_010", "todo_100", "cp-ab12", "cp-ab34", "cp"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("todo_002", "todo_002"),
        ("2", "todo_002"),
        ("002", "todo_002"),
        ("10", "todo_010"),
        ("100", "todo_100"),
        ("todo_1", "todo_100"),
        ("cp-ab1", "cp-ab12"),
        ("cp", "cp"),
    ],
)
def test_ids_are_named_whole_by_prefix_or_number(text: str, found: str) -> None:
    assert resolve_id(text, KNOWN) == found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cp-", "cp-ab12, cp-ab34; write more"),
        ("todo_0", "todo_001, todo_002, todo_010"),
        ("3", "No step"),
        ("", "No step"),
        ("²", "No step"),
        ("x" * 999, "…"),
    ],
)
def test_what_names_none_or_several_is_refused(text: str, words: str) -> None:
    with pytest.raises(UnknownName, match=words) as refused:
        resolve_id(text, KNOWN)
    assert len(refused.value.message) < 300
    with pytest.raises(UnknownName, match="none exist yet"):
        resolve_id(text, [])


def test_numbers_name_todos_only() -> None:
    with pytest.raises(UnknownName, match="No checkpoint"):
        resolve_id("2", KNOWN, what="checkpoint")


@given(st.lists(st.text("ab1", min_size=1, max_size=4), min_size=1, max_size=6, unique=True), st.data())
def test_every_unique_prefix_names_its_id_and_no_other(ids: list[str], data: st.DataObject) -> None:
    wanted = data.draw(st.sampled_from(ids))
    text = wanted[: data.draw(st.integers(1, len(wanted)))]
    matching = [i for i in ids if i.startswith(text)]
    if text in ids or len(matching) == 1:
        assert resolve_id(text, ids, "checkpoint") == (text if text in ids else wanted)
    else:
        with pytest.raises(UnknownName):
            resolve_id(text, ids, "checkpoint")
