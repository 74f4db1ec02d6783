"""How a session ended: every step counted once, in words that fit whatever became of it."""

from __future__ import annotations

import pytest

from hitl_tui.core.tally import all_done, read_tally, tally, tally_message, why_not_run
from hitl_tui.core.todos import Status, SupervisorTodo


def todo(number: int, status: Status, *after: int, rejected: bool = False, error: str = "") -> SupervisorTodo:
    return SupervisorTodo(
        f"todo_{number:03d}",
        f"Step {number}",
        status=status,
        dependencies=tuple(f"todo_{n:03d}" for n in after),
        metadata={"rejected": True} if rejected else {},
        error=error,
    )


REJECTED = todo(3, Status.FAILED, 2, rejected=True, error="rejected by ann: no")


@pytest.mark.parametrize(
    ("todos", "said"),
    [
        ([todo(1, Status.COMPLETED), todo(2, Status.COMPLETED)], "2 done"),
        (
            [todo(1, Status.COMPLETED), todo(2, Status.COMPLETED), REJECTED, todo(4, Status.BLOCKED, 3)],
            "2 done, 1 rejected, 1 not run",
        ),
        ([todo(1, Status.FAILED, rejected=True, error="expired: too late")], "1 expired"),
        (
            [todo(1, Status.FAILED, error="disk full"), todo(2, Status.SKIPPED), todo(3, Status.BLOCKED, 1)],
            "1 skipped, 1 failed, 1 not run",
        ),
        ([], ""),
    ],
)
def test_every_step_is_counted_once(todos: list[SupervisorTodo], said: str) -> None:
    counts = tally(t.to_state() for t in todos)
    assert sum(counts.values()) == len(todos)
    assert tally_message(counts) == said
    assert all_done(counts) is ("," not in said and said.endswith("done")) or not todos


def test_an_answer_without_anything_in_it_is_told_as_such() -> None:
    done = [todo(1, Status.COMPLETED).to_state()]
    counts = tally(done, found=False)
    assert (tally_message(counts), all_done(counts)) == ("nothing found", False)
    assert tally_message(tally([*done, todo(2, Status.SKIPPED).to_state()], found=False)) == (
        "1 done, 1 skipped, nothing found"
    )
    assert read_tally(counts, 0) == counts


def test_what_an_older_session_kept_is_told_as_far_as_it_goes() -> None:
    assert tally_message(read_tally(None, 2, partly=True)) == "2 done, not everything"
    assert tally_message(read_tally(None, 0, partly=True)) == "nothing done"
    assert read_tally(None, 4) == {"done": 4}
    strange = {"done": "2", "rejected": True, "failed": -1, "x": 3, "skipped": 1}
    assert read_tally(strange, 0) == {"skipped": 1}


def test_what_was_not_run_names_the_step_that_stood_in_its_way() -> None:
    far = todo(5, Status.BLOCKED, 4)
    todos = {t.id: t for t in (todo(1, Status.COMPLETED), REJECTED, todo(4, Status.BLOCKED, 1, 3), far)}
    assert why_not_run(far, todos) == "003 was rejected"
    assert why_not_run(far, {**todos, REJECTED.id: todo(3, Status.FAILED)}) == "003 failed"
    assert why_not_run(todo(6, Status.BLOCKED), todos) == "", "somebody holds it"
