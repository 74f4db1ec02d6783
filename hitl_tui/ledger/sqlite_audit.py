"""Building an SQLite ledger's views a second time: to replace them, or to see whether they agree."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from hitl_tui.ledger.records import Problem
from hitl_tui.ledger.sqlite_database import connect, explain
from hitl_tui.ledger.sqlite_schema import VIEWS, create_views, drop_views
from hitl_tui.ledger.sqlite_views import project_all

MOST_PER_VIEW = 20
"""Rows of one view that are named when they differ."""

_STREAM_OF = {  # how a row of a view names its stream
    "streams": "stream",
    "sessions": "session",
    "requests": "session",
    "decisions": "(SELECT stream FROM entries WHERE id = entry)",
    "inbox": "session",
    "effects": "session",
    "stopped_runs": "session",
}
_NAME_OF = {  # and what it is about
    "streams": "stream",
    "sessions": "session",
    "requests": "id",
    "decisions": "request",
    "inbox": "event_id",
    "effects": "key",
    "stopped_runs": "run_id",
}

# An effect may pass from one session to another (a fork, an import); a single stream can only answer for its own.
_OWN_EFFECTS = """key NOT IN (
    SELECT f.key FROM main.effects f JOIN entries e ON e.id = f.first
    WHERE f.session <> :stream OR e.stream <> :stream)"""


def rebuild(db: sqlite3.Connection) -> None:
    """Replace the views by what the entries say, inside the caller's transaction."""
    drop_views(db)
    create_views(db)
    with closing(project_all(db)) as errors:
        for error in errors:
            raise error


def view_problems(path: Path, stream: str | None) -> list[Problem]:
    """Compare views and entries over a connection of its own, on one state of the file; nothing is written to it.

    Args:
        path: the ledger.
        stream: which stream; None for all.

    Raises:
        StorageError: the file can't be read.
    """
    db = connect(path, read_only=True)
    try:
        db.execute("BEGIN")
        create_views(db, "temp")
        problems = [Problem(stream or "", 0, error.message) for error in project_all(db, stream)]
        for view in VIEWS:
            problems += _differences(db, view, stream)
    except sqlite3.Error as error:
        raise explain(path, error) from error
    finally:
        db.close()
    return problems


def _differences(db: sqlite3.Connection, view: str, stream: str | None) -> Iterator[Problem]:
    of, about = _STREAM_OF[view], _NAME_OF[view]
    own = _OWN_EFFECTS if view == "effects" else "=".join((of, ":stream"))
    for first, second, what in (
        ("main", "temp", "says what no entry says"),
        ("temp", "main", "doesn't say what an entry says"),
    ):
        rows = db.execute(
            f"SELECT {of}, {about} FROM (SELECT * FROM {first}.{view} WHERE :stream IS NULL OR {own}"  # noqa: S608 - constants
            f" EXCEPT SELECT * FROM {second}.{view} WHERE :stream IS NULL OR {own}) LIMIT :most",
            {"stream": stream, "most": MOST_PER_VIEW},
        )
        for name, what_about in rows:
            yield Problem(name or "", 0, f"The view {view} {what}, about {what_about}.")
