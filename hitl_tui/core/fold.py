"""`fold`: what events do to a board.

It is pure, total and idempotent: the same events on the same board give the same board, an event that is already
in it (by its number) changes nothing, and one that is late, malformed or impossible is recorded as refused and
never raised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hitl_tui.core.board import Board, Draft, Rules
from hitl_tui.core.errors import HitlError, Refused
from hitl_tui.core.events import Event, EventKind
from hitl_tui.core.reactions import decisions, operators, runs, session
from hitl_tui.core.reactions.asking import ask_closed_anew
from hitl_tui.core.settle import settle


@dataclass(frozen=True, slots=True)
class Folded:
    """What a batch of events came to.

    Args:
        board: the board after it.
        changes: TODOs that changed, as checkpoints keep them; None for removed.
        refused: `{"event", "kind", "message", "reason"}` for each event without effect.
    """

    board: Board
    changes: Mapping[str, Mapping[str, Any] | None]
    refused: tuple[Mapping[str, Any], ...]


def fold(board: Board, events: Sequence[Event], rules: Rules) -> Folded:
    """Apply events in order, then let the plan follow (who is blocked, who asks, who may run)."""
    draft = Draft(board, rules)
    refused: list[dict[str, Any]] = []
    last = ""
    for event in events:
        if event.seq and event.seq <= draft.control.cursor:
            continue
        before = dict(draft.changed), draft.control
        try:
            _HANDLERS[EventKind(event.kind)](draft, event)
            last = event.at or last
        except HitlError as error:
            draft.changed, draft.control = before
            refused.append(_refusal(event, error.message, getattr(error, "reason", "not_allowed")))
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError) as error:
            draft.changed, draft.control = before
            refused.append(_refusal(event, f"This event can't be understood: {error!r}.", "malformed"))
        closed = event.data.get("closed") if isinstance(event.data, Mapping) else None
        if isinstance(closed, Mapping):
            ask_closed_anew(draft, closed)
        draft.control = replace(draft.control, cursor=max(draft.control.cursor, event.seq))
    if refused:
        draft.control = draft.control.refuse(refused)
    settle(draft, last)
    changes = draft.changes()
    return Folded(draft.result(changes), changes, tuple(refused))


def check_event(draft: Draft, event: Event) -> None:
    """Check that an event would take effect on a board; the draft is changed by that.

    Raises:
        Refused: it wouldn't; the message says why.
    """
    try:
        _HANDLERS[EventKind(event.kind)](draft, event)
    except HitlError as error:
        raise Refused(error.message, reason=getattr(error, "reason", "not_allowed")) from error


def _refusal(event: Event, message: str, reason: str) -> dict[str, Any]:
    return {"event": event.id, "kind": str(event.kind)[:60], "message": message[:500], "reason": reason}


_HANDLERS: Mapping[EventKind, Callable[[Draft, Event], None]] = {
    EventKind.DECIDED: decisions.decided,
    EventKind.FINISHED: runs.finished,
    EventKind.FAILED: runs.failed,
    EventKind.INTERRUPTED: runs.interrupted,
    EventKind.DOUBT: runs.doubt,
    EventKind.SKIP: operators.skip,
    EventKind.ADD: operators.add,
    EventKind.REMOVE: operators.remove,
    EventKind.UPDATE: operators.update,
    EventKind.PRIORITY: operators.priority,
    EventKind.MOVE: operators.move,
    EventKind.EDIT: operators.edit,
    EventKind.CANCEL: operators.cancel,
    EventKind.REWIND: operators.rewind,
    EventKind.BREAK: operators.breaks,
    EventKind.MODE: session.mode,
    EventKind.STOP: operators.stop,
    EventKind.PROPOSED: session.proposed,
    EventKind.RESTORED: session.restored,
    EventKind.CONFIGURED: session.configured,
    EventKind.BOUND: operators.bound,
    EventKind.CHANGED: runs.changed,
}
