"""What the sender knows: how far it has read the record, what waits, and what has to be told to whom.

One SQLite file in the data folder. What was read and what follows from it are one transaction, so nothing is told twice
or forgotten, whenever the process ends; only a message that was sent and not yet marked so is sent again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from hitl_tui.core.messages import Message, counted_message, messages_restored, with_messages
from hitl_tui.core.safe_text import one_line
from hitl_tui.notifications.moments import Told
from hitl_tui.notifications.wake import FOLDER, OUTBOX

LONGEST = timedelta(hours=24)
"""How long a message is tried."""
_KEPT = timedelta(days=7)
"""How long what was told, or given up, is remembered."""
_TEXT = "text"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS begun (at TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS cursors (place TEXT, stream TEXT, n INTEGER NOT NULL, PRIMARY KEY (place, stream)) STRICT;
CREATE TABLE IF NOT EXISTS waiting (
    id TEXT PRIMARY KEY, place TEXT NOT NULL, told TEXT NOT NULL, half_time TEXT NOT NULL, deadline TEXT NOT NULL,
    fresh INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS messages (
    id INTEGER PRIMARY KEY, request TEXT NOT NULL, moment TEXT NOT NULL, target TEXT NOT NULL, name TEXT NOT NULL,
    workspace TEXT NOT NULL, told TEXT NOT NULL, at TEXT NOT NULL, next TEXT NOT NULL, tries INTEGER NOT NULL,
    problem TEXT NOT NULL, state TEXT NOT NULL, UNIQUE (request, moment, target)) STRICT;
"""


@dataclass(frozen=True, slots=True)
class Queued:
    """A message that isn't sent yet.

    Args:
        id: its number.
        target: digest of the address as it is written, without secrets.
        workspace: the folder whose settings name it; empty for the person's own.
        told: what it tells.
        tries: how often it was tried.
        at: since when, ISO 8601, UTC.
    """

    id: int
    target: str
    workspace: str
    told: Told
    tries: int
    at: str


class Outbox:
    """The file; use `Outbox.open`. Only the sender writes it.

    Args:
        db: a connection.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    @classmethod
    @contextmanager
    def open(cls, data: Path, now: str) -> Iterator[Outbox]:
        """Open that of a data folder; it is made where there is none.

        Raises:
            sqlite3.Error: it can't be used.
        """
        with closing(sqlite3.connect(data / FOLDER / OUTBOX, isolation_level=None, timeout=10)) as db:
            db.execute("PRAGMA synchronous = FULL")
            db.executescript(_SCHEMA)
            if not db.execute("SELECT 1 FROM begun").fetchone():
                db.execute("INSERT INTO begun VALUES (?)", (now,))
            (data / FOLDER / OUTBOX).chmod(0o600)
            yield cls(db)

    @property
    def begun(self) -> str:
        """When it was made, ISO 8601, UTC: what was decided long before isn't told."""
        return str(self._db.execute("SELECT at FROM begun").fetchone()[0])

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Let all that is written within be there whole, or not at all."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    # What was read ---------------------------------------------------------------------------------------------

    def cursor(self, place: str, stream: str) -> int:
        """Return the number of the last entry of a stream that was read."""
        row = self._db.execute("SELECT n FROM cursors WHERE place = ? AND stream = ?", (place, stream)).fetchone()
        return int(row[0]) if row else 0

    def move_cursor(self, place: str, stream: str, n: int) -> None:
        """Note that a stream was read up to an entry."""
        self._db.execute("INSERT OR REPLACE INTO cursors VALUES (?, ?, ?)", (place, stream, n))

    def waits(self, request_id: str) -> Told | None:
        """Return a request that waits, with what was said of it; None where it doesn't."""
        row = self._db.execute("SELECT told FROM waiting WHERE id = ?", (request_id,)).fetchone()
        return Told.from_dict(json.loads(row[0])) if row else None

    def put_waiting(self, place: str, told: Told, half_time: str, *, fresh: bool) -> None:
        """Note that a request waits, and how; `fresh` until it is told that it was opened."""
        request = told.request
        values = (request.id, place, json.dumps(told.to_dict()), half_time, request.expires_at, int(fresh))
        self._db.execute(
            "INSERT INTO waiting VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET"
            " told = excluded.told, half_time = excluded.half_time, deadline = excluded.deadline",
            values,
        )

    def end(self, request_id: str) -> None:
        """Note that a request waits no more: what wasn't told of its waiting yet isn't told any more."""
        self._db.execute("DELETE FROM waiting WHERE id = ?", (request_id,))
        self._db.execute("DELETE FROM messages WHERE request = ? AND state = 'queued'", (request_id,))

    def fresh(self) -> list[tuple[str, Told]]:
        """Return what waits and wasn't told of yet, with its place; from now on it is."""
        rows = self._db.execute("SELECT place, told FROM waiting WHERE fresh = 1").fetchall()
        self._db.execute("UPDATE waiting SET fresh = 0 WHERE fresh = 1")
        return [(place, Told.from_dict(json.loads(told))) for place, told in rows]

    def overdue(self, column: str, now: str) -> list[tuple[str, Told]]:
        """Return what waits and whose half time, or deadline, has come, with its place; it is returned once."""
        assert column in ("half_time", "deadline"), "a column"
        come = f"{column} != '' AND {column} <= ?"
        rows = self._db.execute(f"SELECT place, told FROM waiting WHERE {come}", (now,)).fetchall()  # noqa: S608
        self._db.execute(f"UPDATE waiting SET {column} = '' WHERE {come}", (now,))  # noqa: S608
        return [(place, Told.from_dict(json.loads(told))) for place, told in rows]

    def next_time(self) -> str:
        """Return when a half time or deadline comes next, ISO 8601, UTC; empty for none."""
        found = self._db.execute(
            "SELECT min(at) FROM (SELECT half_time AS at FROM waiting UNION SELECT deadline FROM waiting)"
            " WHERE at != ''"
        ).fetchone()
        return str(found[0] or "")

    # What is told ----------------------------------------------------------------------------------------------

    def queue(self, told: Told, target: str, name: str, workspace: str, now: str) -> None:
        """Let something be told to a target, once."""
        self._db.execute(
            "INSERT OR IGNORE INTO messages VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, 0, '', 'queued')",
            (told.request.id, told.moment, target, name, workspace, json.dumps(told.to_dict()), now, now),
        )

    def due(self, now: str) -> list[Queued]:
        """Return what is to be sent now, in order."""
        rows = self._db.execute(
            "SELECT id, target, workspace, told, tries, at FROM messages"
            " WHERE state = 'queued' AND next <= ? ORDER BY id",
            (now,),
        ).fetchall()
        return [
            Queued(number, target, workspace, Told.from_dict(json.loads(told)), tries, at)
            for number, target, workspace, told, tries, at in rows
        ]

    def workspaces(self) -> list[str]:
        """Return the folders whose settings named targets of what wasn't sent; empty for the person's own."""
        rows = self._db.execute("SELECT DISTINCT workspace FROM messages WHERE state != 'sent'")
        return [str(workspace) for (workspace,) in rows.fetchall()]

    def drop_others(self, workspace: str, targets: Sequence[str]) -> None:
        """Drop what wasn't sent to targets that a folder's settings no longer name.

        Args:
            workspace: the folder; empty for the person's own settings.
            targets: those that they name, see `Queued.target`.
        """
        self._db.execute(
            "DELETE FROM messages WHERE workspace = ? AND state != 'sent'"
            " AND target NOT IN (SELECT value FROM json_each(?))",
            (workspace, json.dumps(targets)),
        )

    def next_try(self) -> str:
        """Return when something is to be tried next, ISO 8601, UTC; empty where nothing is queued."""
        found = self._db.execute("SELECT min(next) FROM messages WHERE state = 'queued'").fetchone()
        return str(found[0] or "")

    def sent(self, messages: Sequence[Queued]) -> None:
        """Note that messages were sent, and with them that their target works."""
        with self.at_once():
            for one in messages:
                self._db.execute("UPDATE messages SET state = 'sent', problem = '' WHERE id = ?", (one.id,))
                self._db.execute(
                    "DELETE FROM messages WHERE target = ? AND workspace = ? AND state = 'given up'",
                    (one.target, one.workspace),
                )

    def failed(self, messages: Sequence[Queued], problem: str, now: str, wait: float) -> None:
        """Note why messages couldn't be sent, and when they are tried again; after `LONGEST` they aren't.

        Args:
            wait: seconds.
        """
        at = datetime.fromisoformat(now)
        again = (at + timedelta(seconds=wait)).isoformat()
        kept = json.dumps(with_messages({_TEXT: problem}))
        with self.at_once():
            for one in messages:
                given_up = datetime.fromisoformat(one.at) + LONGEST <= at
                self._db.execute(
                    "UPDATE messages SET tries = tries + 1, problem = ?, next = ?, state = ? WHERE id = ?",
                    (kept, again, "given up" if given_up else "queued", one.id),
                )

    def forget(self, now: str) -> None:
        """Drop what was told, or given up, long ago."""
        before = (datetime.fromisoformat(now) - _KEPT).isoformat()
        self._db.execute("DELETE FROM messages WHERE state != 'queued' AND at < ?", (before,))


def delivery_problems(data: Path) -> list[str]:
    """Return a sentence for each target that messages couldn't be sent to yet; it never fails."""
    path = data / FOLDER / OUTBOX
    if not path.exists():
        return []
    statement = (
        "SELECT name, count(*), max(problem), sum(state = 'given up') FROM messages"
        " WHERE problem != '' AND state != 'sent' GROUP BY target, name ORDER BY name"
    )
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=1)) as db:
            rows = db.execute(statement).fetchall()
    except sqlite3.Error as error:
        return [Message("Notifications can't be looked at: {}.", one_line(str(error), 100))]
    found: list[str] = []
    for name, count, kept, given_up in rows:
        problem = messages_restored(json.loads(kept))[_TEXT]
        said = counted_message(
            "{1}: {0} notification couldn't be sent yet: {2}",
            "{1}: {0} notifications couldn't be sent yet: {2}",
            int(count) - int(given_up),
            name,
            problem,
        )
        lost = counted_message(
            "{1}: {0} notification couldn't be sent for a day: {2}",
            "{1}: {0} notifications couldn't be sent for a day: {2}",
            int(given_up),
            name,
            problem,
        )
        found += [lost] if int(given_up) else []
        found += [said] if int(count) > int(given_up) else []
    return found
