"""The first entries of a session that is a copy of another, in SQLite: runs inside one transaction (C8)."""

from __future__ import annotations

import sqlite3

from hitl_tui.ledger.contract import Conflict
from hitl_tui.ledger.records import Effect, SessionCopy
from hitl_tui.ledger.sqlite_streams import head, write


def begin(db: sqlite3.Connection, copy: SessionCopy, now: str) -> None:
    """Begin a copy's stream; see `Ledger.begin_copy`."""
    if head(db, copy.session).n:
        raise Conflict(f"There is a record of a session {copy.session} already.")
    write(db, copy.session, "session_copied", {"origin": copy.origin, "by": copy.by}, now)
    for effect in copy.effects:
        if not db.execute("SELECT 1 FROM effects WHERE key = ?", (effect.key,)).fetchone():
            write(db, copy.session, "effect_known", _known(effect), now)
    if copy.checkpoint_id:
        intent = {"branch": copy.branch, "checkpoint_id": copy.checkpoint_id, "by": copy.by, "seq": copy.seq}
        write(db, copy.session, "restore_intended", intent, now)


def _known(effect: Effect) -> dict[str, object]:
    return {
        "key": effect.key,
        "session": effect.session,
        "todo_id": effect.todo_id,
        "branch": effect.branch,
        "run_id": effect.run_id,
        "name": effect.name,
        "subject": effect.subject,
        "status": effect.status,
        "outcome": dict(effect.outcome),
    }
