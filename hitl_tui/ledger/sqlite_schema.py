"""Tables of the SQLite ledger: entries, and the views that are built from them."""

from __future__ import annotations

import sqlite3

from hitl_tui.ledger.sql_transaction import TableForm
from hitl_tui.ledger.view_schema import VERSION, create_views

APPLICATION_ID = 0x6869746C
"""Marks an SQLite file as a ledger."""

OLDEST = 1
"""The oldest version that can be used: its entries are the same, only its views are built anew."""

FORM = TableForm(
    "INTEGER",
    "TEXT",
    "BLOB",
    " STRICT",
    " STRICT, WITHOUT ROWID",
    "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?",
)

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


def create_all(db: sqlite3.Connection) -> None:
    """Create every table in an empty database, inside the caller's transaction."""
    for statement in _ENTRIES:
        db.execute(statement)
    create_views(db, FORM)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {VERSION}")
