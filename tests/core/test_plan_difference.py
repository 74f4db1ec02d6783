"""What a revised plan has that the one before hadn't, by the ids of its steps (P1)."""

from __future__ import annotations

from dataclasses import replace

from hitl_tui.core.plan_difference import MOST_LISTED, plan_difference
from hitl_tui.core.todos import Priority, SupervisorTodo


def todo(number: int, *after: int, **more: object) -> SupervisorTodo:
    made = SupervisorTodo(f"todo_{number:03d}", f"step {number}", "task", "team", dependencies=ids(*after))
    return replace(made, **more)


def ids(*numbers: int) -> tuple[str, ...]:
    return tuple(f"todo_{number:03d}" for number in numbers)


def test_steps_that_come_go_move_and_change() -> None:
    before = [todo(1), todo(2, 1), todo(3, 2), todo(4, 3)]
    after = [todo(2), todo(1, 2), todo(3, 1, priority=Priority.HIGH), todo(5, 3)]
    found = plan_difference(before, after, "do 2 first", ["Not taken up: 'x'"])
    assert [s["id"] for s in found["added"]] == ["todo_005"] and [s["id"] for s in found["removed"]] == ["todo_004"]
    assert [s["id"] for s in found["changed"]] == ["todo_003"] and found["kept"] == 3
    assert {s["id"]: tuple(s["after"]) for s in found["moved"]} == {
        "todo_002": (),
        "todo_001": ids(2),
        "todo_003": ids(1),
    }
    assert (found["remark"], found["notes"], found["more"]) == ("do 2 first", ["Not taken up: 'x'"], 0)


def test_a_step_whose_predecessor_goes_or_comes_isnt_moved_by_that() -> None:
    found = plan_difference([todo(1), todo(2), todo(3, 1, 2)], [todo(1), todo(4), todo(3, 1, 4)], "x", [])
    assert found["moved"] == found["changed"] == [] and found["kept"] == 2


def test_the_same_plan_differs_in_nothing() -> None:
    same = [todo(1), todo(2, 1)]
    found = plan_difference(same, same, "hm?", ["It stays as it is."])
    assert not any(found[name] for name in ("added", "removed", "moved", "changed")) and found["kept"] == 2


def test_a_long_difference_is_bounded() -> None:
    found = plan_difference([], [todo(number) for number in range(1, 101)], "x" * 9_000, [])
    assert (len(found["added"]), found["more"], len(found["remark"])) == (MOST_LISTED, 100 - MOST_LISTED, 2000)
