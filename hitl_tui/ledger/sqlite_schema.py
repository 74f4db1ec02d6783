"""Tables of the SQLite ledger: entries, and the views that are built from them."""

from __future__ import annotations

import sqlite3

APPLICATION_ID = 0x6869746C
"""Marks an SQLite file as a ledger."""

VERSION = 2
"""Version of the tables, kept in the file as `user_version`."""

OLDEST = 1
"""The oldest version that can be used: its entries are the same, only its views are built anew."""

_ENTRIES = (
    """CREATE TABLE entries (
        id INTEGER PRIMARY KEY, stream TEXT NOT NULL, n INTEGER NOT NULL, at TEXT NOT NULL, kind TEXT NOT NULL,
        data BLOB NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL, UNIQUE (stream, n)
    ) STRICT""",
    """CREATE TRIGGER entries_stay BEFORE UPDATE ON entries
        BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END""",
    """CREATE TRIGGER entries_last BEFORE DELETE ON entries
        BEGIN SELECT RAISE(ABORT, 'entries are never deleted'); END""",
)

# Views hold what is searched by and where the entry with the rest is; `entry`, `evidence`, … are entries.id.
VIEWS = {
    "streams": "(stream TEXT PRIMARY KEY, n INTEGER NOT NULL, hash TEXT NOT NULL) STRICT, WITHOUT ROWID",
    "sessions": """(
        session TEXT PRIMARY KEY, taken INTEGER NOT NULL, last_seq INTEGER NOT NULL, branch INTEGER NOT NULL,
        restoring INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID""",
    "requests": """(
        entry INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, session TEXT NOT NULL, deadline TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('open', 'settled', 'superseded')), settled_at TEXT NOT NULL,
        superseded TEXT NOT NULL, evidence INTEGER, first_shown TEXT NOT NULL,
        verdict TEXT NOT NULL, outcome TEXT NOT NULL
    ) STRICT""",
    "decisions": "(entry INTEGER PRIMARY KEY, request TEXT NOT NULL) STRICT",
    "inbox": """(
        entry INTEGER PRIMARY KEY, session TEXT NOT NULL, seq INTEGER NOT NULL, branch INTEGER NOT NULL,
        event_id TEXT NOT NULL, UNIQUE (session, seq), UNIQUE (session, event_id)
    ) STRICT""",
    "effects": """(
        key TEXT PRIMARY KEY, first INTEGER NOT NULL, started INTEGER NOT NULL, ended INTEGER,
        session TEXT NOT NULL, todo_id TEXT NOT NULL, branch INTEGER NOT NULL, run_id TEXT NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('started', 'done', 'failed')), answer_to TEXT NOT NULL
    ) STRICT, WITHOUT ROWID""",
    "stopped_runs": """(
        session TEXT NOT NULL, run_id TEXT NOT NULL, PRIMARY KEY (session, run_id)
    ) STRICT, WITHOUT ROWID""",
}

_INDEXES = {
    "requests_of_session": "requests (session, entry)",
    "requests_open": "requests (entry) WHERE state = 'open'",
    "requests_open_of_session": "requests (session, entry) WHERE state = 'open'",
    "requests_with_deadline": "requests (session, deadline) WHERE state = 'open' AND deadline <> ''",
    "decisions_of_request": "decisions (request, entry)",
    "inbox_of_branch": "inbox (session, branch, seq)",
    "effects_of_session": "effects (session, first)",
}


def create_all(db: sqlite3.Connection) -> None:
    """Create every table in an empty database, inside the caller's transaction."""
    for statement in _ENTRIES:
        db.execute(statement)
    create_views(db)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {VERSION}")


def create_views(db: sqlite3.Connection, schema: str = "main") -> None:
    """Create the tables of the views.

    Args:
        schema: `main`, or `temp` to build them a second time beside the first: there they are what unqualified
            names mean.
    """
    for name, columns in VIEWS.items():
        db.execute(f"CREATE TABLE {schema}.{name} {columns}")
    for name, columns in _INDEXES.items():
        db.execute(f"CREATE INDEX {schema}.{name} ON {columns}")


def drop_views(db: sqlite3.Connection) -> None:
    """Drop the views' tables where they exist."""
    for name in VIEWS:
        db.execute(f"DROP TABLE IF EXISTS main.{name}")
