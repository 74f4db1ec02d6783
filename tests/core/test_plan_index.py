"""`PlanIndex` says the same whether it followed a plan or was made from where the plan is now."""

from __future__ import annotations

import random
from typing import Any

import pytest
from board_support import Table, add, on, plan

from hitl_tui.core.board import Board
from hitl_tui.core.events import EventKind
from hitl_tui.core.json_types import TodoState
from hitl_tui.core.plan_index import APPROVED, MANUAL, RUNNING, PlanFollower, PlanIndex
from hitl_tui.core.policy import Mode
from hitl_tui.core.todos import SupervisorTodo

STATUSES = ("pending", "in_progress", "completed", "failed", "skipped", "blocked", "waiting_approval")


def same(found: PlanIndex, expected: PlanIndex) -> None:
    assert found.todos is expected.todos
    assert sorted(found.places, key=found.places.__getitem__) == list(found.todos)
    assert found.groups == expected.groups
    assert {todo_id: users for todo_id, users in found.users.items() if users} == expected.users
    assert [(*turn[:2], *turn[3:]) for turn in found.turns] == [(*turn[:2], *turn[3:]) for turn in expected.turns]
    assert found.line == expected.line
    assert found.asked == len(list(found.asking))


def any_todo(rng: random.Random, todo_id: str, ids: list[str]) -> Any:
    todo: dict[str, Any] = {
        "id": todo_id,
        "name": todo_id,
        "status": rng.choice(STATUSES),
        "rank": float(rng.randint(1, 5)),
    }
    if rng.random() < 0.5:
        todo["dependencies"] = rng.sample(ids, min(len(ids), rng.randint(1, 3)))
    if rng.random() < 0.3:
        todo["approval"] = {"by": "ann"}
    if rng.random() < 0.3:
        todo["metadata"] = {"manual": True, "inputs": ids[:2]}
    if rng.random() < 0.3:
        todo["priority"] = rng.choice(("critical", "high", "low"))
    if rng.random() < 0.3:
        todo["question"] = rng.choice(
            ({"kind": "failure"}, {"kind": "interrupt", "interrupts": [{"id": "a"}, {"id": "b", "answer": 1}]})
        )
    return todo


@pytest.mark.parametrize("seed", range(20))
def test_it_follows_whatever_happens_to_a_plan(seed: int) -> None:
    rng = random.Random(seed)
    todos: dict[str, TodoState] = {}
    for number in range(rng.randint(0, 40)):
        todos[f"todo_{number}"] = any_todo(rng, f"todo_{number}", list(todos))
    index, follower = PlanIndex.of(todos), PlanFollower()
    for step in range(60):
        todos = dict(todos)
        for todo_id in rng.sample(list(todos), min(len(todos), rng.choice((0, 1, 1, 2, 30)))):
            todos[todo_id] = any_todo(rng, todo_id, list(todos))
        if rng.random() < 0.3:
            todos[f"todo_new_{step}"] = any_todo(rng, f"todo_new_{step}", list(todos))
        for todo_id in rng.sample(list(todos), min(len(todos), rng.choice((0, 0, 0, 1, 3)))):
            removed = todos.pop(todo_id)
            if rng.random() < 0.2:
                todos[todo_id] = removed  # it comes back at the end
        before = PlanIndex.of(index.todos)
        moved = index.moved(todos)
        same(moved, PlanIndex.of(todos))
        same(index, before)  # the one before stays what it was
        parsed = sorted((SupervisorTodo.from_state(todo) for todo in todos.values()), key=lambda todo: todo.rank)
        assert follower.read(todos) == tuple(parsed)
        index = moved


def test_a_session_keeps_it_up() -> None:
    table = Table([*plan("a", "b:a", "c"), *plan()], mode=Mode.STEP)
    follower = table.board.follower
    table.approve("todo_001", "todo_003")
    assert table.board.index.groups[RUNNING] == {"todo_001", "todo_003"}
    table.finish("todo_001")
    table.take(add("d", manual=True))
    table.take(on(EventKind.REMOVE, "todo_003"))
    assert table.board.follower is follower
    assert table.board.index.groups[MANUAL] == {"todo_004"}
    assert table.board.index.groups[APPROVED] == set()
    same(table.board.index, PlanIndex.of(table.board.todos))
    fresh = Board(table.board.session, table.board.query, table.board.todos, table.board.control)
    assert fresh == table.board


def test_a_step_looks_at_what_changed_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table(plan(*(f"s{n}" for n in range(400))))
    assert table.board.index.places

    def made_anew(todos: object) -> PlanIndex:
        raise AssertionError("the whole plan was looked at")

    monkeypatch.setattr(PlanIndex, "of", made_anew)
    table.approve("todo_001", "todo_200")
    table.finish("todo_200")
    table.take(add("another"))
    assert len(table.board.index.places) == 401
    table.take(on(EventKind.REMOVE, "todo_100"))
    assert len(table.board.index.places) == 400
