"""Tables of the ledger's views, in any database: what is searched by, and where the entry with the rest is."""

from __future__ import annotations

from hitl_tui.ledger.sql_transaction import TableForm, Transaction

VERSION = 3
"""Version of the tables; with another one the views are built anew."""

# `entry`, `evidence`, `started`, … are entries.id.
VIEWS = {
    "streams": "(stream TEXT PRIMARY KEY, n NUMBER NOT NULL, hash TEXT NOT NULL)",
    "sessions": """(
        session TEXT PRIMARY KEY, taken NUMBER NOT NULL, last_seq NUMBER NOT NULL, branch NUMBER NOT NULL,
        restoring NUMBER NOT NULL
    )""",
    "requests": """(
        entry NUMBER PRIMARY KEY, id TEXT NOT NULL UNIQUE, session TEXT NOT NULL, todo_id TEXT NOT NULL,
        deadline TEXT NOT NULL, state TEXT NOT NULL CHECK (state IN ('open', 'settled', 'superseded')),
        settled_at TEXT NOT NULL, superseded TEXT NOT NULL, ended_at TEXT NOT NULL, evidence NUMBER,
        first_shown TEXT NOT NULL, verdict TEXT NOT NULL, outcome TEXT NOT NULL
    )""",
    "decisions": "(entry NUMBER PRIMARY KEY, request TEXT NOT NULL)",
    "inbox": """(
        entry NUMBER PRIMARY KEY, session TEXT NOT NULL, seq NUMBER NOT NULL, branch NUMBER NOT NULL,
        event_id TEXT NOT NULL, UNIQUE (session, seq), UNIQUE (session, event_id)
    )""",
    "effects": """(
        key TEXT PRIMARY KEY, first NUMBER NOT NULL, started NUMBER NOT NULL, ended NUMBER,
        session TEXT NOT NULL, todo_id TEXT NOT NULL, branch NUMBER NOT NULL, run_id TEXT NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('started', 'done', 'failed')), answer_to TEXT NOT NULL
    )""",
    "stopped_runs": "(session TEXT NOT NULL, run_id TEXT NOT NULL, PRIMARY KEY (session, run_id))",
}

_KEYED = frozenset({"streams", "sessions", "effects", "stopped_runs"})

_INDEXES = {
    "requests_of_session": "requests (session, entry)",
    "requests_open": "requests (entry) WHERE state = 'open'",
    "requests_open_of_session": "requests (session, entry) WHERE state = 'open'",
    "requests_with_deadline": "requests (session, deadline) WHERE state = 'open' AND deadline <> ''",
    "decisions_of_request": "decisions (request, entry)",
    "inbox_of_branch": "inbox (session, branch, seq)",
    "effects_of_session": "effects (session, first)",
}


def create_views(db: Transaction, form: TableForm, schema: str = "") -> None:
    """Create the tables of the views.

    Args:
        schema: where; empty for where names without one are looked up. In SQLite's `temp` they are a second set beside
            the first, and what names without a schema mean.
    """
    before = f"{schema}." if schema else ""
    for name, columns in VIEWS.items():
        db.execute(f"CREATE TABLE {before}{name} {form.columns(columns)}{form.keyed if name in _KEYED else form.plain}")
    for name, columns in _INDEXES.items():
        db.execute(f"CREATE INDEX {before}{name} ON {columns}" if schema else f"CREATE INDEX {name} ON {columns}")


def drop_views(db: Transaction) -> None:
    """Drop the views' tables where they exist."""
    for name in VIEWS:
        db.execute(f"DROP TABLE IF EXISTS {name}")
