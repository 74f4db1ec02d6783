"""Tables of the ledger in PostgreSQL: made once, by whoever comes first, and brought to this version."""

from __future__ import annotations

from hitl_tui.config.postgres_address import shown_address
from hitl_tui.core.errors import StorageError
from hitl_tui.core.messages import Message
from hitl_tui.ledger.postgres_connection import SCHEMA
from hitl_tui.ledger.sql_transaction import TableForm, Transaction
from hitl_tui.ledger.view_schema import VERSION, create_views
from hitl_tui.ledger.view_tables import rebuild

FORM = TableForm(
    "BIGINT",
    'TEXT COLLATE "C"',
    "BYTEA",
    "",
    "",
    "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = ?",
)

_MIGRATING = 0x6869746C
"""Number of the lock that whoever makes or changes tables holds."""

PROTECTION = ("entries_all_stay", "entries_stay")
"""Triggers that keep entries from being changed."""

_THERE = """SELECT 1 FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
    WHERE s.nspname = ? AND c.relname = 'ledger_version'"""

_ENTRIES = (
    f"""CREATE TABLE entries {
        FORM.columns('''(
        id NUMBER GENERATED ALWAYS AS IDENTITY (CACHE 1) PRIMARY KEY, stream TEXT NOT NULL, n NUMBER NOT NULL,
        at TEXT NOT NULL, kind TEXT NOT NULL, data DATA NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL,
        UNIQUE (stream, n)
    )''')
    }""",
    """CREATE FUNCTION entries_stay() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'entries are never changed or deleted'; END $$""",
    """CREATE TRIGGER entries_stay BEFORE UPDATE OR DELETE ON entries
        FOR EACH ROW EXECUTE FUNCTION entries_stay()""",
    """CREATE TRIGGER entries_all_stay BEFORE TRUNCATE ON entries
        FOR EACH STATEMENT EXECUTE FUNCTION entries_stay()""",
    "CREATE TABLE ledger_version (version BIGINT NOT NULL)",
)


def version_of(db: Transaction) -> int:
    """Return the version of the tables that are there; 0 for none."""
    if not db.execute(_THERE, (SCHEMA,)).fetchone():  # names that are resolved may be remembered from before
        return 0
    row = db.execute("SELECT max(version) FROM ledger_version").fetchone()
    return int(row[0] or 0)


def migrate(db: Transaction, address: str) -> None:
    """Make the tables, or bring them to this version, in the caller's transaction. Others wait for it.

    Raises:
        StorageError: they are of a newer version; nothing is changed.
    """
    db.execute("SELECT pg_advisory_xact_lock(?)", (_MIGRATING,))
    found = version_of(db)
    if found == VERSION:
        return
    check_version(found, address)
    if not found:
        # Who may use a schema that is there needs no right to make one.
        if not db.execute("SELECT 1 FROM pg_namespace WHERE nspname = ?", (SCHEMA,)).fetchone():
            db.execute(f"CREATE SCHEMA {SCHEMA}")
        for statement in _ENTRIES:
            db.execute(statement)
        create_views(db, FORM)
    else:
        rebuild(db, FORM)
    db.execute("DELETE FROM ledger_version")
    db.execute("INSERT INTO ledger_version VALUES (?)", (VERSION,))


def check_version(found: int, address: str) -> None:
    """Refuse tables of a newer version. Raises StorageError."""
    if found > VERSION:
        raise StorageError(
            Message(
                "The ledger {} has format {} and this program knows format {}, so it was left as it is; "
                "use a newer hitl-tui.",
                shown_address(address),
                found,
                VERSION,
            )
        )
