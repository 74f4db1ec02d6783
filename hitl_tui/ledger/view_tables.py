"""What each kind of entry means for the views: the one place that writes their tables.

A live transaction, a rebuild and the audit all go through `project`, so views can't say other than entries do.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any

from hitl_tui.core.errors import StorageError
from hitl_tui.core.json_text import canonical
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.messages import Message, messages_restored
from hitl_tui.core.requests import Request
from hitl_tui.core.supersession import Cause, Supersession
from hitl_tui.ledger.records import Entry
from hitl_tui.ledger.sql_transaction import Row, TableForm, Transaction
from hitl_tui.ledger.view_schema import create_views, drop_views

_Projector = Callable[[Transaction, int, Entry], None]

_EARLIER = re.compile(r"(.+) by (.+) at (\d{4}-\d\d-\d\dT\S+)", re.DOTALL)
"""What earlier versions wrote instead of a cause where somebody ended a TODO: `skipped by ann at 2025-…`."""

_MISFITS = sqlite3.IntegrityError, sqlite3.InterfaceError
"""What SQLite raises for a row that a table can't have; other databases raise ValueError for it."""

COLUMNS = "id, stream, n, at, kind, data, prev, hash"


def entry_of(row: Row) -> Entry:
    """Return the entry in a row of `COLUMNS`.

    Raises:
        StorageError: its data isn't a JSON object, or another field is none that a ledger writes.
    """
    _, stream, n, at, kind, data, prev, sealed = row
    if not (isinstance(n, int) and isinstance(data, bytes)):
        raise _unreadable(stream, n)
    if not all(isinstance(text, str) for text in (stream, at, kind, prev, sealed)):
        raise _unreadable(stream, n)
    return Entry(stream, n, at, kind, data_of(data, stream, n), prev, sealed)


def data_of(raw: bytes, stream: str, n: int) -> dict[str, Any]:
    """Return an entry's data.

    Raises:
        StorageError: it isn't a JSON object.
    """
    try:
        data = json.loads(raw)
    except (TypeError, ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise _unreadable(stream, n)
    return messages_restored(data)


def _unreadable(stream: str, n: int) -> StorageError:
    return StorageError(Message('Entry {} of "{}" can\'t be read; look at the ledger with "audit verify".', n, stream))


def project(db: Transaction, row_id: int, entry: Entry) -> None:
    """Bring the views up to an entry that was just written as row `row_id`.

    Raises:
        StorageError: the entry's data isn't what its kind promises.
    """
    db.execute(
        "INSERT INTO streams VALUES (?, ?, ?) ON CONFLICT (stream) DO UPDATE SET n = excluded.n, hash = excluded.hash",
        (entry.stream, entry.n, entry.hash),
    )
    projector = _PROJECTORS.get(entry.kind)
    if projector is None:
        return
    try:
        projector(db, row_id, entry)
    except (KeyError, TypeError, ValueError, *_MISFITS) as error:
        raise StorageError(
            Message(
                'Entry {} of "{}" isn\'t a proper {} ({}); look at the ledger with "audit verify".',
                entry.n,
                entry.stream,
                entry.kind,
                error,
            )
        ) from error


def project_all(db: Transaction, stream: str | None = None) -> Generator[StorageError, None, None]:
    """Build empty views from all entries, or those of one stream, in the order they were written.

    Yields:
        what can't be applied; it is left out.
    """
    where = "" if stream is None else " WHERE stream = ?"
    values = () if stream is None else (stream,)
    order = "id" if stream is None else "n"
    for row in db.execute(f"SELECT {COLUMNS} FROM entries{where} ORDER BY {order}", values):  # noqa: S608 - constants
        try:
            project(db, row[0], entry_of(row))
        except StorageError as error:
            yield error


def rebuild(db: Transaction, form: TableForm) -> None:
    """Replace the views by what the entries say, inside the caller's transaction.

    Raises:
        StorageError: an entry isn't what its kind promises.
    """
    drop_views(db)
    create_views(db, form)
    with closing(project_all(db)) as errors:
        for error in errors:
            raise error


def _request_opened(db: Transaction, row_id: int, entry: Entry) -> None:
    request = entry.data["request"]
    superseded = _stored_supersession(request["superseded"])
    ended = supersession_of(superseded)
    state = "superseded" if superseded else "open"
    # Nobody was shown it yet, whatever it says itself.
    deadline = replace(Request.from_dict(request), first_shown="").expires_at
    db.execute(
        "INSERT INTO requests VALUES (?, ?, ?, ?, ?, ?, '', ?, ?, NULL, '', '', '')",
        (row_id, request["id"], entry.stream, request["todo_id"], deadline, state, superseded, _when(ended)),
    )


def _request_shown(db: Transaction, _row_id: int, entry: Entry) -> None:
    data = entry.data
    db.execute(
        "UPDATE requests SET first_shown = ?1, deadline = CASE ?2 WHEN '' THEN deadline ELSE ?2 END"
        " WHERE id = ?3 AND session = ?4 AND first_shown = '' AND state = 'open'",
        (entry.at, data["deadline"], data["request_id"], entry.stream),
    )


def _decision(db: Transaction, row_id: int, entry: Entry) -> None:
    db.execute("INSERT INTO decisions VALUES (?, ?)", (row_id, entry.data["decision"]["request_id"]))


def _event(db: Transaction, row_id: int, entry: Entry) -> None:
    data = entry.data
    seq = data["seq"]
    if not isinstance(data["event"], dict):
        raise TypeError(Message("its event isn't an object"))
    db.execute(
        "INSERT INTO inbox VALUES (?, ?, ?, ?, ?)",
        (row_id, entry.stream, seq, data["branch"], data["event_id"]),
    )
    db.execute(
        "INSERT INTO sessions VALUES (?1, ?2, ?2, 0, 0) ON CONFLICT (session) DO UPDATE"
        " SET taken = CASE WHEN excluded.taken > sessions.taken THEN excluded.taken ELSE sessions.taken END,"
        " last_seq = CASE WHEN excluded.last_seq > sessions.last_seq THEN excluded.last_seq ELSE sessions.last_seq END",
        (entry.stream, seq),
    )
    if "settles" in data:
        db.execute(
            "UPDATE requests SET state = 'settled', settled_at = ?, verdict = ?, outcome = ?"
            " WHERE id = ? AND state = 'open'",
            (entry.at, data["event"].get("verdict", ""), data["event"].get("outcome", ""), data["settles"]),
        )


def _request_superseded(db: Transaction, _row_id: int, entry: Entry) -> None:
    data = entry.data
    superseded = _stored_supersession(data["reason"] if "reason" in data else data["why"])
    db.execute(
        "UPDATE requests SET state = 'superseded', superseded = ?, ended_at = ? WHERE id = ? AND state = 'open'",
        (superseded, _when(supersession_of(superseded)), data["request_id"]),
    )


def _when(ended: Supersession | None) -> str:
    return ended.at if ended is not None else ""


def _stored_supersession(given: str | JsonObject) -> str:
    """Return what the view of requests keeps of an entry's reason: canonical JSON, or an earlier version's sentence."""
    if isinstance(given, str):
        return given
    return canonical(Supersession.from_dict(given).to_dict()).decode()


def supersession_of(stored: str) -> Supersession | None:
    """Return why a request was superseded, from what the view keeps; None where it wasn't.

    Raises:
        KeyError, TypeError, ValueError: it is none.
    """
    if not stored:
        return None
    if stored.startswith("{"):
        return Supersession.from_dict(json.loads(stored))
    ended = _EARLIER.fullmatch(stored)
    return (
        Supersession(Cause.EARLIER, detail=stored)
        if ended is None
        else Supersession(Cause.EARLIER, ended[2], ended[3], ended[1])
    )


def _evidence(db: Transaction, row_id: int, entry: Entry) -> None:
    db.execute("UPDATE requests SET evidence = ? WHERE id = ?", (row_id, entry.data["request_id"]))


def _restore_intended(db: Transaction, row_id: int, entry: Entry) -> None:
    data = entry.data
    db.execute(
        "INSERT INTO sessions VALUES (?, ?, 0, ?, ?) ON CONFLICT (session) DO UPDATE"
        " SET taken = CASE WHEN excluded.taken > sessions.taken THEN excluded.taken ELSE sessions.taken END,"
        " branch = excluded.branch, restoring = excluded.restoring",
        (entry.stream, data["seq"], data["branch"], row_id),
    )


def _restore_finished(db: Transaction, _row_id: int, entry: Entry) -> None:
    db.execute(
        "UPDATE sessions SET restoring = 0 WHERE session = ? AND branch = ?",
        (entry.stream, entry.data["branch"]),
    )


def _effect_known(db: Transaction, row_id: int, entry: Entry) -> None:
    # It counts as the copy's own, but on no branch of it, whatever number it had: whoever comes to it is asked.
    data = entry.data
    ended = None if data["status"] == "started" else row_id
    db.execute(
        "INSERT INTO effects VALUES (?, ?, ?, ?, ?, ?, -1, ?, ?, '')",
        (data["key"], row_id, row_id, ended, entry.stream, data["todo_id"], data["run_id"], data["status"]),
    )


def _effect_started(db: Transaction, row_id: int, entry: Entry) -> None:
    data = entry.data
    db.execute(
        "INSERT INTO effects VALUES (?, ?, ?, NULL, ?, ?, ?, ?, 'started', ?) ON CONFLICT (key) DO UPDATE"
        " SET started = excluded.started, ended = NULL, session = excluded.session, todo_id = excluded.todo_id,"
        " branch = excluded.branch, run_id = excluded.run_id, status = 'started', answer_to = excluded.answer_to",
        (
            data["key"],
            row_id,
            row_id,
            entry.stream,
            data["todo_id"],
            data["branch"],
            data["run_id"],
            data["answer_to"],
        ),
    )


def _effect_ended(db: Transaction, row_id: int, entry: Entry) -> None:
    data = entry.data
    db.execute(
        "UPDATE effects SET ended = ?, session = ?, todo_id = ?, branch = ?, run_id = ?, status = ? WHERE key = ?",
        (row_id, entry.stream, data["todo_id"], data["branch"], data["run_id"], data["status"], data["key"]),
    )


def _run_stopped(db: Transaction, _row_id: int, entry: Entry) -> None:
    db.execute("INSERT INTO stopped_runs VALUES (?, ?) ON CONFLICT DO NOTHING", (entry.stream, entry.data["run_id"]))


_PROJECTORS: Mapping[str, _Projector] = {
    "request_opened": _request_opened,
    "request_shown": _request_shown,
    "decision": _decision,
    "event": _event,
    "request_superseded": _request_superseded,
    "evidence": _evidence,
    "restore_intended": _restore_intended,
    "restore_finished": _restore_finished,
    "effect_started": _effect_started,
    "effect_ended": _effect_ended,
    "run_stopped": _run_stopped,
    "effect_known": _effect_known,
}
