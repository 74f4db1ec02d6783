"""Requests, decisions and effects for ledger tests, and a clock that is a number."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hitl_tui.core.json_text import digest
from hitl_tui.core.policy import Terms
from hitl_tui.core.requests import OPTIONS, Decision, Kind, Request, Verdict, request_id
from hitl_tui.ledger import view_tables
from hitl_tui.ledger.protocols import Inbox, Ledger, Streams
from hitl_tui.ledger.records import Effect
from hitl_tui.ledger.table_ledger import TableLedger
from hitl_tui.ledger.view_schema import VIEWS

Store = Callable[[], AbstractAsyncContextManager[Ledger]]
"""Opens the same ledger, each time over a connection of its own."""

START = datetime(2025, 3, 1, 9, tzinfo=UTC)


def at(seconds: float = 0) -> str:
    """Return the time this many seconds after the start of every test, ISO 8601."""
    return (START + timedelta(seconds=seconds)).isoformat()


def ask(
    todo_id: str = "todo_001",
    *,
    session: str = "s1",
    branch: int = 0,
    kind: Kind = Kind.TODO,
    terms: Terms | None = None,
    deadline: float | None = None,
    requester: str = "",
    subject: Mapping[str, Any] | None = None,
    opened: float = 0,
    risk: str = "low",
) -> Request:
    """Return a request; `deadline` and `opened` are seconds after the start."""
    wanted = {"team": "search_team", "task": todo_id} if subject is None else subject
    sealed = digest(wanted)
    return Request(
        request_id(session, branch, todo_id, 0, (), sealed),
        session,
        branch,
        kind,
        todo_id,
        "search_team",
        wanted,
        sealed,
        requester=requester,
        terms=terms or Terms(),
        options=OPTIONS[kind],
        about={"title": f"작업 {todo_id}"},
        opened_at=at(opened),
        deadline="" if deadline is None else at(deadline),
        risk=risk,
    )


def say(
    request: Request,
    verdict: Verdict = Verdict.APPROVE,
    by: str = "ann",
    *,
    level: int = 0,
    seconds: float = 1,
    seen: str | None = None,
    value: Any = None,
    reason: str = "",
) -> Decision:
    """Return what somebody says of a request, `seconds` after the start, having seen the digest `seen`."""
    return Decision(
        request.id,
        verdict,
        by,
        request.digest if seen is None else seen,
        at(seconds),
        "cli",
        level,
        reason,
        value,
        person=by,
        proof="token",
    )


def deed(key: str = "eff-1", *, session: str = "s1", branch: int = 0, run_id: str = "run-1") -> Effect:
    """Return an effect that a run wants to begin."""
    return Effect(key, session, "todo_001", branch, run_id, "delete", {"rows": 10_000}, "started", {})


async def kinds(ledger: Streams, stream: str = "s1") -> list[str]:
    """Return the kinds of a stream's entries."""
    return [entry.kind for entry in await ledger.entries(stream)]


async def events(ledger: Inbox, branch: int = 0, session: str = "s1") -> list[str]:
    """Return the ids of a branch's events."""
    return [posted.event_id for posted in await ledger.after(session, 0, branch)]


def make_older(path: Path) -> None:
    """Give an SQLite ledger the views of version 1."""
    with closing(sqlite3.connect(path)) as db:
        for column in ("first_shown", "verdict", "outcome"):
            db.execute(f"ALTER TABLE requests DROP COLUMN {column}")
        db.execute("PRAGMA user_version = 1")


async def rebuild(ledger: TableLedger) -> None:
    """Drop the views of a ledger and build them anew from its entries."""
    form = ledger._database.form
    await ledger._database.write(lambda db: view_tables.rebuild(db, form))


def dump(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of all views of an SQLite ledger."""
    with closing(sqlite3.connect(path)) as db:
        return {view: sorted(db.execute(f"SELECT * FROM {view}").fetchall(), key=repr) for view in VIEWS}


async def word(ledger: Ledger, effect: Effect, verdict: Verdict = Verdict.DO_AGAIN, *, seconds: float = 1) -> str:
    """Ask about an effect as it stands and let a person say something; return the request's id."""
    said = len(await ledger.requests(at(seconds), session=effect.session, pending=False, limit=1000))
    subject = {"session": effect.session, "effect": {"key": effect.key, "name": effect.name}, "asked": said}
    request = ask(session=effect.session, branch=effect.branch, kind=Kind.EFFECT, subject=subject, opened=seconds)
    await ledger.open_requests([request])
    await ledger.decide(say(request, verdict, seconds=seconds), at(seconds))
    return request.id
