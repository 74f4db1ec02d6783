"""Strategy `sequential` is enforced by the scheduler, whatever was added or moved (D21)."""

from __future__ import annotations

import pytest

from hitl_tui.core.board import PLAN_ACCEPTED, Board, Control, Draft, Rules, startable
from hitl_tui.core.todos import Priority, Status, SupervisorTodo


def started(sequential: bool, *statuses: Status) -> list[str]:
    todos = [
        SupervisorTodo(
            id=f"todo_{n:03d}",
            name=f"step {n}",
            agent_name="search_team",
            status=status,
            approval={"by": "ann"} if status is Status.PENDING else None,
            priority=Priority.LOW if n == 1 else Priority.HIGH,
            rank=float(n),
        )
        for n, status in enumerate(statuses, start=1)
    ]
    control = Control(plan=PLAN_ACCEPTED, sequential=sequential)
    board = Board("s1", "q", {todo.id: todo.to_state() for todo in todos}, control)
    return [todo.id for todo in startable(Draft(board, Rules()))]


P, DONE, RUNS, ASKS, FAILED = (
    Status.PENDING,
    Status.COMPLETED,
    Status.IN_PROGRESS,
    Status.WAITING_APPROVAL,
    Status.FAILED,
)


@pytest.mark.parametrize(
    ("statuses", "starts"),
    [
        ((P, P, P), ["todo_001"]),
        ((DONE, P, P), ["todo_002"]),
        ((RUNS, P), []),
        ((ASKS, P), []),
        ((FAILED, P), []),
        ((Status.SKIPPED, P), ["todo_002"]),
    ],
)
def test_one_step_runs_at_a_time_in_the_order_of_the_plan(statuses: tuple[Status, ...], starts: list[str]) -> None:
    assert started(True, *statuses) == starts


def test_otherwise_they_go_by_their_priority() -> None:
    assert started(False, P, P, P) == ["todo_002", "todo_003", "todo_001"]
