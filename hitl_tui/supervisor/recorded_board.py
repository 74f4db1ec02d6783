"""What a session will stand at once it is opened: its checkpoint, with what is on record and isn't in it yet."""

from __future__ import annotations

from hitl_tui.core.board import Board, Draft, Rules
from hitl_tui.core.fold import fold
from hitl_tui.ledger.protocols import Ledger
from hitl_tui.supervisor.ledger_writer import event_of


async def recorded_board(ledger: Ledger, board: Board, rules: Rules) -> Board:
    """Return the plan of a session that nobody has open, with what was decided since, by people or a deadline.

    Nothing is written. A session that goes back to an earlier checkpoint stands where it stood.

    Args:
        ledger: the record.
        board: as the newest checkpoint has it.
        rules: what holds now.
    """
    branch = await ledger.branch(board.session)
    if not board.session or branch.checkpoint_id or branch.number != board.control.branch:
        return board
    posted = await ledger.after(board.session, board.control.cursor, branch.number)
    return fold(board, [event_of(p) for p in posted], rules).board if posted else board


def is_over(board: Board) -> bool:
    """Return whether nothing of a plan goes on or is asked about any more: only its answer has still to be made."""
    idle = not (board.index.asked or board.control.proposals)
    return bool(board.todos) and idle and Draft(board, Rules()).all_settled()
