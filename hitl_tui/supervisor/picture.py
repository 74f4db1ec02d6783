"""A session's state as faces see it, whoever owns the session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hitl_tui.core.board import Board
from hitl_tui.supervisor.setup import SessionSetup
from hitl_tui.supervisor.snapshot import Question, Snapshot


def picture(
    setup: SessionSetup,
    values: Mapping[str, Any],
    *,
    head: str,
    questions: Sequence[Question],
    response: Mapping[str, Any] | None,
    owned: bool,
    busy: bool = False,
) -> Snapshot:
    """Return how a session stands.

    Args:
        setup: of the session.
        values: the supervisor's state.
        head: id of its checkpoint.
        questions: what is asked.
        response: the answer that `values` refers to, None before it is there.
        owned: this process owns the session.
        busy: something is on its way.
    """
    board, planning = Board.from_state(values), values.get("planning") or {}
    return Snapshot(
        session_id=setup.info.id,
        query=board.query or setup.info.title,
        workspace=setup.info.workspace,
        mode=board.control.mode.value,
        phase=str(values.get("current_phase", "")),
        branch=board.control.branch,
        cursor=board.control.cursor,
        checkpoint_id=head,
        raw=board.todos,
        questions=tuple(questions),
        proposals=board.control.proposals,
        response=response,
        concluded=board.control.concluded,
        errors=tuple(planning.get("errors", ())),
        intent=planning.get("intent") or {},
        refused=board.control.refused,
        owned=owned,
        busy=busy,
        highest=board.control.highest,
        lineage=board.control.lineage,
        problem=setup.law.problem,
    )
