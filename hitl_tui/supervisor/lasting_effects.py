"""What was done to the world on branches that a restore left: it isn't undone by going back."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hitl_tui.core.board import Board
from hitl_tui.core.errors import StorageError
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.ledger.records import Effect
from hitl_tui.supervisor.ports import Artifacts
from hitl_tui.teams.printed_figures import Run, lines_of_cut


@dataclass(frozen=True, slots=True)
class LastingEffect:
    """An effect that a branch did which was left.

    Args:
        todo_id: of the TODO that did it.
        name: what that TODO is called; empty where it isn't in the plan any more.
        run: the command; None for what is no command.
    """

    todo_id: str
    name: str
    run: Run | None = None


async def lasting_effects(effects: Sequence[Effect], board: Board, artifacts: Artifacts) -> list[LastingEffect]:
    """Return what a session did on branches that it left, in the order in which it began.

    Args:
        effects: of the session.
        board: as it stands now.
        artifacts: keeps what came of them.
    """
    todos = {todo.id: todo for todo in board.all()}
    names = {tuple(argv): t.name.rpartition(": ")[2] for t in todos.values() if (argv := _argv(t.arguments))}
    found: list[LastingEffect] = []
    for effect in effects:
        todo = todos.get(effect.todo_id)
        if not _was_left(effect, todo, board.control.branch):
            continue
        name = todo.name if todo is not None else ""
        argv = _argv(effect.subject) if isinstance(effect.subject, Mapping) else ()
        if argv:
            outcome = await _outcome(effect, artifacts)
            command = names.get(argv) or shlex.join(argv)
            printed, cut = str(outcome.get("stdout") or ""), lines_of_cut(outcome)
            run = Run(effect.todo_id, command, argv, printed, all_lines=cut)
            found.append(LastingEffect(effect.todo_id, name, run))
        elif all(one.todo_id != effect.todo_id for one in found):  # a graph has one for each segment
            found.append(LastingEffect(effect.todo_id, name))
    return found


def run_place(run_id: str) -> tuple[int, int]:
    """Return branch and attempt of a run, `s1/todo_001/0.1`; zeros for none."""
    branch, _, attempt = run_id.rpartition("/")[2].partition(".")
    return (int(branch), int(attempt)) if branch.isdecimal() and attempt.isdecimal() else (0, 0)


def _was_left(effect: Effect, todo: SupervisorTodo | None, branch: int) -> bool:
    if effect.status != "done" or effect.branch >= branch or effect.changed_nothing:
        return False
    if todo is None or not todo.run_id or todo.metadata.get("rejected"):
        return True
    if todo.status not in (Status.COMPLETED, Status.FAILED):
        return True
    there, attempt = run_place(todo.run_id)
    return effect.branch != there or run_place(effect.run_id)[1] > attempt


async def _outcome(effect: Effect, artifacts: Artifacts) -> Mapping[str, Any]:
    """Return how a command ended and what it printed; empty where that isn't known."""
    reference = effect.outcome.get("artifact")
    if not reference:
        return {}
    try:
        return await artifacts.get(str(reference))
    except StorageError:
        return {}


def _argv(arguments: Mapping[str, object]) -> tuple[str, ...]:
    argv = arguments.get("argv")
    return tuple(map(str, argv)) if isinstance(argv, list) else ()
