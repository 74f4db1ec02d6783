"""A data folder with the cleanup starter, and a person who gives commands in it."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import zipfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from hitl_tui.commands.handler import CommandHandler
from hitl_tui.config.starters import new_copy, starters
from hitl_tui.core.requests import Kind
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.serializer import serializer
from hitl_tui.supervisor.session import Session
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.snapshot import Snapshot

LIMIT = 60
QUERY = (
    "Count the duplicate records, then back up the database, then delete the duplicate records, "
    "then verify what is left."
)
COUNT, BACK_UP, DELETE, VERIFY = "todo_001", "todo_002", "todo_003", "todo_004"


def cleanup(data: Path) -> Path:
    """Return a workspace whose third step deletes records."""
    return new_copy(next(s for s in starters("en") if s.key == "cleanup"), data)


class Person:
    """Somebody with a session registry."""

    def __init__(self, bench: SessionRegistry) -> None:
        self.bench = bench

    @asynccontextmanager
    async def at(self, session_id: str) -> AsyncIterator[Session]:
        """Open a session."""
        async with asyncio.timeout(LIMIT), open_session(self.bench.store, await self.bench.setup(session_id)) as opened:
            session = opened.view
            assert isinstance(session, Session)
            await session.settled()
            yield session

    async def say(self, session_id: str, *lines: str) -> Snapshot:
        """Open a session, give commands that have to succeed, wait until it rests; return how it stands."""
        async with self.at(session_id) as session:
            handler = CommandHandler(session, session.setup.planner, by="ann", channel="test", terminal=True)
            for line in lines:
                result = (await handler.handle_command(line)).to_dict()
                assert not result.get("error"), (line, result)
                await session.settled()
            return session.snapshot

    async def approve(self, session_id: str, todo_id: str) -> None:
        """Approve a TODO, once more where files changed since it was asked: it is asked anew then."""
        async with self.at(session_id) as session:
            handler = CommandHandler(session, session.setup.planner, by="ann", channel="test", terminal=True)
            result = await handler.handle_command(f"/todo approve {todo_id}")
            await session.settled()
            if result.to_dict().get("reason") == "stale":
                result = await handler.handle_command(f"/todo approve {todo_id}")
                await session.settled()
            assert not result.failed, result.message

    async def finish(self, session_id: str) -> list[str]:
        """Approve everything, and say of effects in doubt that they have happened; return what was asked, by kind."""
        met: list[str] = []
        for _ in range(20):
            seen = await self.say(session_id)
            if not seen.questions:
                assert seen.status == "finished", seen.status
                return met
            first = seen.questions[0]
            met.append(f"{first.kind.value} {first.todo_id}")
            if first.kind is Kind.EFFECT:
                await self.say(session_id, f"/todo done {first.todo_id}")
            else:
                await self.approve(session_id, first.todo_id)
        raise AssertionError(f"{session_id} doesn't come to an end: {met}")


@asynccontextmanager
async def person_at(data: Path, environ: Mapping[str, str] | None = None) -> AsyncIterator[Person]:
    """Open a data folder."""
    async with SessionRegistry.open(data, environ or {}) as bench:
        yield Person(bench)


def records(workspace: Path) -> int:
    """Return how many records the database of the cleanup starter has."""
    with closing(sqlite3.connect(workspace / "shop.db")) as db:
        (table,) = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name LIMIT 1").fetchone()
        return int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def statuses(snapshot: Snapshot) -> list[str]:
    return [todo.status.value for todo in snapshot.todos]


def left_over(data: Path) -> list[str]:
    """Return what lies beside the sessions."""
    return sorted(p.name for p in (data / "sessions").iterdir() if p.name[0] == "." and p.name != ".staging")


def states(data: Path, session_id: str) -> list[dict[str, Any]]:
    """Return the channel values of every checkpoint of a session's own thread, oldest first."""
    path = data / "sessions" / session_id / "checkpoints.db"
    serde = serializer()
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        rows = db.execute(
            "SELECT type, checkpoint FROM checkpoints WHERE thread_id = ? ORDER BY checkpoint_id",
            (f"session_{session_id}",),
        ).fetchall()
    return [serde.loads_typed(row)["channel_values"] for row in rows]


def threads(data: Path, session_id: str) -> set[str]:
    path = data / "sessions" / session_id / "checkpoints.db"
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        found = db.execute("SELECT thread_id FROM checkpoints UNION SELECT thread_id FROM writes").fetchall()
    return {str(row[0]) for row in found}


def contents(archive: Path) -> dict[str, bytes]:
    """Return the members of an export."""
    with zipfile.ZipFile(archive) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def pack(target: Path, members: Mapping[str, bytes]) -> Path:
    """Write members into a zip as they are."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    return target


def resealed(members: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the members with a manifest that says what they are now."""
    from hashlib import sha256

    manifest = json.loads(members["manifest.json"])
    manifest["files"] = {
        name: {"size": len(content), "sha256": sha256(content).hexdigest()}
        for name, content in members.items()
        if name != "manifest.json"
    }
    return {**members, "manifest.json": json.dumps(manifest).encode()}
