"""Going back to an earlier checkpoint: what a restore does to the checkpoints and says to the ledger (D11)."""

from __future__ import annotations

import asyncio
from typing import Any

from hitl_tui.core.board import Board
from hitl_tui.core.errors import Refused
from hitl_tui.core.interrupts.numbers import highest_number
from hitl_tui.ledger.records import Branch
from hitl_tui.supervisor.checkpointer import make_durable
from hitl_tui.supervisor.graph import TeamSupervisor, config_of
from hitl_tui.supervisor.history import History
from hitl_tui.supervisor.setup import SessionSetup


async def go_back(setup: SessionSetup, supervisor: TeamSupervisor, branch: Branch, left: Board) -> bool:
    """Make the checkpoint that a restore goes to the head; all of it may be repeated after a crash.

    Args:
        setup: of the session.
        supervisor: its graph.
        branch: the branch that begins there.
        left: what stood on the branch that is left.

    Returns:
        False when there is no such checkpoint any more: the session stays where it is, on the new branch.
    """
    target = config_of(setup.info.id)
    # LangGraph copies a thread's first checkpoint only when the namespace is named.
    target["configurable"] |= {"checkpoint_id": branch.checkpoint_id, "checkpoint_ns": ""}
    there = (await supervisor.graph.aget_state(target)).created_at is not None
    if there:
        await supervisor.graph.aupdate_state(target, None, as_node="__copy__")
    # Once the ledger says that it is done, nobody does it again: the copy has to be on disk by then.
    await asyncio.to_thread(make_durable, setup.folder.checkpoints)
    numbers = {todo_id: number for todo_id, raw in left.todos.items() if (number := highest_number(raw))}
    extra = {"ran": _what_ran(left), "highest": left.control.highest, "numbers": numbers}
    await setup.ledger.finish_restore(setup.info.id, branch.number, setup.now(), extra)
    return there


async def left_head(history: History, session: str) -> str:
    """Return the newest checkpoint that isn't a copy: where the branch that is left stood.

    Raises:
        Refused: there is none.
    """
    before = ""
    while page := await history.page(20, before):
        for info in page:
            if info.source != "fork":
                return info.checkpoint_id
        before = page[-1].checkpoint_id
    raise Refused(f"Session {session} has no checkpoint to leave.", reason="unknown")


def _what_ran(board: Board) -> dict[str, dict[str, Any]]:
    """Return which TODOs had begun on the branch that is left, or before it: what they did to the world stays."""
    ran = {todo.id: dict(todo.metadata["ran_before"]) for todo in board.all() if "ran_before" in todo.metadata}
    now = {
        todo.id: {"status": todo.status.value, "branch": board.control.branch} for todo in board.all() if todo.attempt
    }
    return {**ran, **now}
