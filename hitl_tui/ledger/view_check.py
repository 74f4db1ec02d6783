"""Building an SQLite ledger's views a second time: to replace them, or to see whether they agree."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from hitl_tui.core.errors import HitlError
from hitl_tui.core.json_text import canonical
from hitl_tui.core.messages import Message
from hitl_tui.ledger.records import Problem
from hitl_tui.ledger.sqlite_database import connect, explain, text_of
from hitl_tui.ledger.sqlite_schema import FORM, create_all
from hitl_tui.ledger.view_schema import VIEWS, create_views
from hitl_tui.ledger.view_tables import data_of, project_all

MOST_PER_VIEW = 20
"""Rows of one view that are named when they differ."""

_NAMES = {  # how a row of a view names its stream, and what it is about
    "streams": "stream, stream",
    "sessions": "session, session",
    "requests": "session, id",
    "decisions": "(SELECT stream FROM entries WHERE id = entry), request",
    "inbox": "session, event_id",
    "effects": "session, key",
    "stopped_runs": "session, run_id",
}

OF_STREAM = {  # which rows of a view are a stream's
    **dict.fromkeys(VIEWS, "session = :stream"),
    "streams": "stream = :stream",
    "decisions": "entry IN (SELECT id FROM entries WHERE stream = :stream)",
}

# An effect may pass from one session to another (a fork, an import); a single stream can only answer for its own.
_OWN_EFFECTS = """session = :stream AND NOT EXISTS (
    SELECT 1 FROM main.effects passed WHERE passed.key = effects.key AND (passed.session <> :stream
    OR EXISTS (SELECT 1 FROM entries WHERE id = passed.first AND stream <> :stream)))"""


def view_problems(path: Path, stream: str | None) -> list[Problem]:
    """Compare views and entries over a connection of its own, on one state of the file; nothing is written to it.

    Each entry must also have the very bytes that were written: JSON with a name said twice or with white space may mean
    the same here, and something else to whoever reads the file with another program.

    Args:
        path: the ledger.
        stream: which stream; None for all.

    Raises:
        StorageError: the file can't be read.
    """
    db = connect(path, read_only=True)
    db.text_factory = text_of
    try:
        db.execute("BEGIN")
        create_views(db, FORM, "temp")
        problems = list(_damage(db)) if stream is None else []
        problems += [Problem(stream or "", 0, error.message) for error in project_all(db, stream)]
        for view in VIEWS:
            problems += _differences(db, view, stream)
        problems += _rewritten(db, stream)
        problems += _triggers(db)
    except sqlite3.Error as error:
        raise explain(path, error) from error
    finally:
        db.close()
    return problems


def _damage(db: sqlite3.Connection) -> Iterator[Problem]:
    """Yield what is wrong with the file; all of it is read for that."""
    found = str(db.execute("PRAGMA main.integrity_check(1)").fetchone()[0])
    if found != "ok":
        yield Problem("", 0, Message("The file is damaged: {}.", found[:200]))


def _triggers(db: sqlite3.Connection) -> Iterator[Problem]:
    """Yield what says of triggers that they were dropped, changed or added: they keep entries from being changed."""
    query = "SELECT name, sql FROM main.sqlite_master WHERE type IN ('trigger', 'view')"
    with closing(sqlite3.connect(":memory:")) as fresh:
        create_all(fresh)
        expected = dict(fresh.execute(query).fetchall())
    found = dict(db.execute(query).fetchall())
    for name in sorted(expected.keys() | found.keys()):
        if name not in found:
            yield Problem("", 0, Message("The trigger {}, which protects entries, is gone.", name))
        elif name not in expected:
            yield Problem("", 0, Message("The trigger {} was added by another program.", name))
        elif found[name] != expected[name]:
            yield Problem("", 0, Message("The trigger {}, which protects entries, was changed.", name))


def _rewritten(db: sqlite3.Connection, stream: str | None) -> Iterator[Problem]:
    """Yield what says of entries that they mean what they meant and aren't written as they were."""
    rows = db.execute("SELECT stream, n, data FROM entries WHERE ?1 IS NULL OR stream = ?1 ORDER BY id", (stream,))
    for name, n, raw in rows:
        try:
            as_written = canonical(data_of(raw, name, n)) == raw
        except HitlError:  # one that can't be read is named elsewhere
            continue
        if not as_written:
            yield Problem(_name(name), n, Message("Entry {} was changed: it isn't written as a ledger writes it.", n))


def _differences(db: sqlite3.Connection, view: str, stream: str | None) -> Iterator[Problem]:
    own = _OWN_EFFECTS if view == "effects" else OF_STREAM[view]
    where = "" if stream is None else f" WHERE {own}"
    for first, second, what in (
        ("main", "temp", Message("says what no entry says")),
        ("temp", "main", Message("doesn't say what an entry says")),
    ):
        rows = db.execute(
            f"SELECT {_NAMES[view]} FROM (SELECT * FROM {first}.{view}{where}"  # noqa: S608 - constants
            f" EXCEPT SELECT * FROM {second}.{view}{where}) LIMIT :most",
            {"stream": stream, "most": MOST_PER_VIEW},
        )
        for name, what_about in rows:
            yield Problem(_name(name), 0, Message("The view {} {}, about {}.", view, what, _name(what_about)))


def _name(value: object) -> str:
    """Return what a row calls its stream, or what it is about; in a file that was edited it may be of any type."""
    return value if isinstance(value, str) else "" if value is None else repr(value)
