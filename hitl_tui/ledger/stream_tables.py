"""Streams and inboxes in tables, and the first entries of a copy: functions that run inside one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hitl_tui.core.errors import BadInput, Refused, StorageError
from hitl_tui.core.messages import Message
from hitl_tui.ledger.protocols import OWN_EVENTS, OWN_KINDS, Conflict
from hitl_tui.ledger.records import GENESIS, Branch, Entry, Head, Posted, SessionCopy, seal, stored_hash
from hitl_tui.ledger.sql_transaction import Transaction
from hitl_tui.ledger.view_tables import COLUMNS, data_of, entry_of, project


def head(db: Transaction, stream: str) -> Head:
    """Return a stream's length and last hash.

    Raises:
        StorageError: the row of the stream isn't one that a ledger writes.
    """
    row = db.execute("SELECT n, hash FROM streams WHERE stream = ?", (stream,)).fetchone()
    found = Head(stream, *row) if row else Head(stream, 0, GENESIS)
    if not _is_head(found):
        raise StorageError(
            Message('The length of "{}" can\'t be read; look at the ledger with "audit verify".', stream)
        )
    return found


def heads(db: Transaction) -> list[Head]:
    """Return all heads by name; what isn't one is left to `Streams.view_problems`."""
    rows = db.execute("SELECT stream, n, hash FROM streams ORDER BY stream")
    return [found for row in rows if _is_head(found := Head(*row))]


def _is_head(found: Head) -> bool:
    """Return whether a row has the types of a head: in a file that was edited it may have any."""
    return isinstance(found.stream, str) and isinstance(found.n, int) and isinstance(found.hash, str)


def entries(db: Transaction, stream: str, after: int, limit: int) -> list[Entry]:
    """Return up to `limit` entries with n > `after`."""
    rows = db.execute(
        f"SELECT {COLUMNS} FROM entries WHERE stream = ? AND n > ? ORDER BY n LIMIT ?",  # noqa: S608 - constants
        (stream, after, max(0, limit)),
    ).fetchall()
    return [entry_of(row) for row in rows]


def chain_problem(db: Transaction, stream: str) -> str:
    """Return what of a stream's chain isn't as it was written; see `TableLedger.chain_problem`."""
    prev, expected = GENESIS, 0
    rows = db.execute("SELECT n, at, kind, data, prev, hash FROM entries WHERE stream = ? ORDER BY n", (stream,))
    for n, at, kind, raw, before, hashed in rows:
        expected += 1
        if n != expected:
            return Message("Entry {} is missing.", expected)
        if before != prev or stored_hash(stream, n, at, kind, raw, before) != hashed:
            return Message("Entry {} ({}) was changed: its hash isn't that of its content.", n, kind)
        prev = hashed
    end = head(db, stream)
    return "" if (end.n, end.hash) == (expected, prev) else Message("Entry {} is missing.", end.n)


def write_entry(db: Transaction, stream: str, kind: str, data: Mapping[str, object], at: str) -> Entry:
    """Append an entry of any kind and bring the views up to it."""
    if not stream:
        raise BadInput(Message("A stream needs a name."))
    entry, raw = seal(head(db, stream), kind, data, at)
    (row,) = db.execute(
        "INSERT INTO entries (stream, n, at, kind, data, prev, hash) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id",
        (stream, entry.n, at, kind, raw, entry.prev, entry.hash),
    ).fetchone()
    project(db, row, entry)
    return entry


def append(
    db: Transaction, stream: str, expected_n: int | None, kind: str, data: Mapping[str, object], at: str
) -> Entry:
    """Append an entry that no view is built from.

    Raises:
        BadInput: views are built from this kind.
        Conflict: `expected_n` isn't the stream's length.
    """
    if kind in OWN_KINDS:
        raise BadInput(Message('An entry of kind "{}" is written by the ledger itself, never appended.', kind))
    found = head(db, stream).n
    if expected_n is not None and found != expected_n:
        raise Conflict(
            Message('The stream "{}" has {} entries, not {}; read them, then decide again.', stream, found, expected_n)
        )
    return write_entry(db, stream, kind, data, at)


def post_event(db: Transaction, session: str, branch: int, event_id: str, event: Mapping[str, object], at: str) -> int:
    """Put somebody's event into the inbox, once."""
    if not event_id:
        raise BadInput(Message("An event needs an id."))
    if event_id.startswith(OWN_EVENTS):
        raise BadInput(Message('The event id "{}" is one that only the ledger gives.', event_id))
    kind = event.get("kind")
    if not isinstance(kind, str) or not kind:
        raise BadInput(Message('An event needs a "kind".'))
    return write_event(db, session, branch, event_id, event, at)


def write_event(
    db: Transaction,
    session: str,
    branch: int,
    event_id: str,
    event: Mapping[str, object],
    at: str,
    *,
    settles: str = "",
    seq: int = 0,
) -> int:
    """Write an event into the inbox unless its id is there; return its number.

    Args:
        settles: id of the request that this event settles.
        seq: a number kept free for it; 0 takes the next.
    """
    there = db.execute("SELECT seq FROM inbox WHERE session = ? AND event_id = ?", (session, event_id)).fetchone()
    if there:
        return int(there[0])
    if not seq:
        seq = highest_seq(db, session) + 1
    data: dict[str, object] = {"seq": seq, "event_id": event_id, "branch": branch, "event": event}
    if settles:
        data["settles"] = settles
    write_entry(db, session, "event", data, at)
    return seq


def after(db: Transaction, session: str, cursor: int, branch: int) -> list[Posted]:
    """Return a branch's events with numbers above the cursor."""
    rows = db.execute(
        "SELECT i.seq, i.event_id, e.data, e.n FROM inbox i JOIN entries e ON e.id = i.entry"
        " WHERE i.session = ? AND i.branch = ? AND i.seq > ? ORDER BY i.seq",
        (session, branch, cursor),
    ).fetchall()
    return [Posted(seq, event_id, branch, data_of(raw, session, n)["event"]) for seq, event_id, raw, n in rows]


def highest_seq(db: Transaction, session: str) -> int:
    """Return the highest number given away, to an event or to a restore that will post one."""
    row = db.execute("SELECT taken FROM sessions WHERE session = ?", (session,)).fetchone()
    return int(row[0]) if row else 0


def last_seq(db: Transaction, session: str) -> int:
    """Return the highest number in the inbox that is meant for the branch that counts."""
    row = db.execute(
        "SELECT max(i.seq) FROM sessions s JOIN inbox i ON i.session = s.session AND i.branch = s.branch"
        " WHERE s.session = ?",
        (session,),
    ).fetchone()
    return int(row[0] or 0)


def has_waiting_event(db: Transaction, session: str, cursor: int) -> bool:
    """Tell whether the current branch has an event above the cursor, or a restore is to be finished."""
    row = db.execute(
        "SELECT restoring <> 0 OR EXISTS (SELECT 1 FROM inbox i"
        " WHERE i.session = s.session AND i.branch = s.branch AND i.seq > ?) FROM sessions s WHERE s.session = ?",
        (cursor, session),
    ).fetchone()
    return bool(row and row[0])


def with_waiting_events(db: Transaction, cursors: Iterable[tuple[str, int]]) -> frozenset[str]:
    """Return the sessions that have a waiting event; see `has_waiting_event`."""
    return frozenset(session for session, cursor in cursors if has_waiting_event(db, session, cursor))


def branch_number(db: Transaction, session: str) -> int:
    """Return the number of the branch that counts."""
    row = db.execute("SELECT branch FROM sessions WHERE session = ?", (session,)).fetchone()
    return int(row[0]) if row else 0


def branch(db: Transaction, session: str) -> Branch:
    """Return the branch that counts, with the restore that isn't finished."""
    number, intent = restoring(db, session)
    return Branch(number, intent["checkpoint_id"] if intent else "")


def restoring(db: Transaction, session: str) -> tuple[int, dict[str, Any] | None]:
    """Return the current branch and the data of its `restore_intended`, None when it isn't being restored."""
    row = db.execute(
        "SELECT s.branch, e.data, e.n FROM sessions s LEFT JOIN entries e ON e.id = s.restoring WHERE s.session = ?",
        (session,),
    ).fetchone()
    if row is None:
        return 0, None
    return row[0], None if row[1] is None else data_of(row[1], session, row[2])


def finish_restore(db: Transaction, session: str, number: int, now: str, extra: Mapping[str, object]) -> bool:
    """End a restore; return False when there was nothing (left) to end."""
    current, intent = restoring(db, session)
    if number > current or number < 1:
        raise Refused(Message("No restore to branch {} of {} was begun.", number, session), reason="unknown")
    if intent is None or number != current:
        return False
    write_entry(db, session, "restore_finished", {"branch": number}, now)
    event = {
        **extra,
        **({"origin": intent["origin"]} if "origin" in intent else {}),
        "kind": "restored",
        "branch": number,
        "checkpoint_id": intent["checkpoint_id"],
        "by": intent["by"],
    }
    write_event(db, session, number, f"restored:{number}", event, now, seq=intent["seq"])
    return True


def stop_run(db: Transaction, session: str, run_id: str, now: str) -> None:
    """Write that a run may begin no more effects, once."""
    if not is_stopped(db, session, run_id):
        write_entry(db, session, "run_stopped", {"run_id": run_id}, now)


def is_stopped(db: Transaction, session: str, run_id: str) -> bool:
    """Tell whether a run was stopped."""
    row = db.execute("SELECT 1 FROM stopped_runs WHERE session = ? AND run_id = ?", (session, run_id)).fetchone()
    return row is not None


def begin_copy(db: Transaction, copy: SessionCopy, now: str) -> None:
    """Begin a copy's stream; see `Branches.begin_copy`."""
    if head(db, copy.session).n:
        raise Conflict(Message("A record of session {} already exists.", copy.session))
    origin = {**copy.origin, "branch": copy.branch}
    write_entry(db, copy.session, "session_copied", {"origin": origin, "by": copy.by}, now)
    for effect in copy.effects:
        if not db.execute("SELECT 1 FROM effects WHERE key = ?", (effect.key,)).fetchone():
            write_entry(db, copy.session, "effect_known", effect.to_dict(), now)
    if copy.checkpoint_id:
        intent = {"branch": copy.branch, "checkpoint_id": copy.checkpoint_id, "by": copy.by, "seq": copy.seq}
        write_entry(db, copy.session, "restore_intended", {**intent, "origin": origin}, now)
