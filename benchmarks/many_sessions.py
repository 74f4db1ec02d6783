"""Lists of sessions, and the inbox, of a database with 10,000 sessions and 100,000 open requests (X1).

One session is begun as ever; the others are copies of it under other names, which COPY puts into the database, or
which lie in folders of a data folder beside it.

    uv run python benchmarks/many_sessions.py
    uv run python benchmarks/many_sessions.py --sessions 1000 --requests 10 --no-folder

It needs PostgreSQL's `initdb` on this machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

import psycopg
from postgres_server import postgres_server

from hitl_tui.core.json_text import digest
from hitl_tui.core.requests import Request
from hitl_tui.ledger.records import Head, normalised_json, seal
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.session_registry import SessionRegistry

if __package__:
    from benchmarks.common import machine
else:
    from common import machine

FIRST = "s1"
PAGE = 200


async def begun(data: Path, environ: dict[str, str], workspace: Path) -> list[Request]:
    """Begin the first session; return what it asks."""
    async with SessionRegistry.open(data, environ) as registry:
        setup = await registry.create("What is the deposit cap?", workspace, session_id=FIRST)
        async with open_session(registry.store, setup, setup.info.query) as session:
            await session.at_rest()
        return [view.request for view in await registry.ledger.requests(registry.now(), session=FIRST)]


def asked(first: Request, session: str, number: int) -> Request:
    """Return a request like the first one, of another session."""
    subject, _ = normalised_json({**first.subject, "number": number})
    deadline = "" if number % 4 else f"2099-01-{1 + number % 28:02}T00:00:00+00:00"
    return replace(
        first, id=f"{session}-{number}", session=session, subject=subject, digest=digest(subject), deadline=deadline
    )


def record_rows(first: Request, session: str, requests: int) -> tuple[list[Any], list[Any]]:
    """Return the rows of a session's stream, and those of the view of its requests; `entry` is a place in the first."""
    head, entries, views = Head(session, 0, "0" * 64), [], []
    for number in range(requests):
        request = asked(first, session, number)
        entry, raw = seal(head, "request_opened", {"request": request.to_dict()}, request.opened_at)
        entries.append((session, entry.n, entry.at, entry.kind, raw, entry.prev, entry.hash))
        views.append((number, request.id, session, request.todo_id, request.deadline))
        head = Head(session, entry.n, entry.hash)
    return entries, views


def fill_database(address: str, first: Request, names: list[str], requests: int) -> None:
    """Copy the first session under other names."""
    with psycopg.connect(address, options="-c search_path=hitl_tui") as db:
        last = 1_000_000
        entries, views = db.cursor(), []
        with entries.copy("COPY entries (id, stream, n, at, kind, data, prev, hash) FROM STDIN") as copy:
            for name in names:
                written, seen = record_rows(first, name, requests)
                for row in written:
                    last += 1
                    copy.write_row((last, *row))
                begin = last - len(written) + 1
                views.append((name, written[-1], [(begin + n, *row) for n, *row in seen]))
        with db.cursor().copy("COPY requests FROM STDIN") as copy:
            for _, _, rows in views:
                for row in rows:
                    copy.write_row((*row, "open", "", "", "", None, "", "", ""))
        with db.cursor().copy("COPY streams FROM STDIN") as copy:
            for name, written, _ in views:
                copy.write_row((name, written[1], written[-1]))
        db.execute("SELECT setval(pg_get_serial_sequence('entries', 'id'), %s)", (last,))
        (info,) = db.execute("SELECT info FROM session_records WHERE id = %s", (FIRST,)).fetchone()
        queue = db.execute("SELECT graphs, workspace, digest, queue FROM session_records").fetchone()
        columns = "id, info, graphs, workspace, digest, queue, rested"
        with db.cursor().copy(f"COPY session_records ({columns}) FROM STDIN") as copy:
            for name in names:
                copy.write_row((name, json.dumps({**json.loads(info), "id": name}), *queue, 0))
        for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
            columns = [
                row[0]
                for row in db.execute(
                    "SELECT column_name FROM information_schema.columns"
                    " WHERE table_name = %s AND table_schema = 'hitl_tui' ORDER BY ordinal_position",
                    (table,),
                )
                if row[0] != "thread_id"
            ]
            listed = ", ".join(columns)
            db.execute(
                f"INSERT INTO {table} (thread_id, {listed}) SELECT 'session_' || n, {listed} FROM {table},"
                " unnest(%s::text[]) AS n WHERE thread_id = %s",
                (names, f"session_{FIRST}"),
            )
    with psycopg.connect(address, autocommit=True, options="-c search_path=hitl_tui") as db:
        db.execute("VACUUM ANALYZE")


def fill_folder(data: Path, first: Request, names: list[str], requests: int) -> None:
    """Copy the first session under other names, each a folder of its own."""
    with closing(sqlite3.connect(data / "ledger.db")) as db:
        last = 1_000_000
        for name in names:
            written, seen = record_rows(first, name, requests)
            db.executemany(
                "INSERT INTO entries (id, stream, n, at, kind, data, prev, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [(last + n, *row) for n, row in enumerate(written, 1)],
            )
            db.executemany(
                "INSERT INTO requests VALUES (?, ?, ?, ?, ?, 'open', '', '', '', NULL, '', '', '')",
                [(last + 1 + n, *row) for n, *row in seen],
            )
            last += len(written)
            db.execute("INSERT INTO streams VALUES (?, ?, ?)", (name, written[-1][1], written[-1][-1]))
        db.commit()
        db.execute("ANALYZE")
    sessions = data / "sessions"
    info = json.loads((sessions / FIRST / "session.json").read_text())
    with closing(sqlite3.connect(sessions / FIRST / "checkpoints.db")) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.execute("PRAGMA journal_mode=DELETE")
        tables = [
            row[0]
            for row in db.execute("SELECT name FROM sqlite_master WHERE sql LIKE '%thread_id%' AND type = 'table'")
        ]
    for name in names:
        folder = sessions / name
        folder.mkdir()
        (folder / "session.json").write_text(json.dumps({**info, "id": name}))
        shutil.copy(sessions / FIRST / "checkpoints.db", folder / "checkpoints.db")
        with closing(sqlite3.connect(folder / "checkpoints.db")) as db:
            db.execute("PRAGMA synchronous=OFF")
            for table in tables:
                db.execute(
                    f"UPDATE {table} SET thread_id = ? WHERE thread_id = ?", (f"session_{name}", f"session_{FIRST}")
                )
            db.commit()


async def timed(name: str, work: Callable[[], Awaitable[Any]], times: int = 3) -> None:
    """Print how long something takes, the first time and then."""
    took = []
    for _ in range(times):
        began = time.perf_counter()
        found = await work()
        took.append((time.perf_counter() - began) * 1000)
    size = len(found) if hasattr(found, "__len__") else found
    print(f"  {name:<42} {took[0]:8.1f} ms, then {min(took[1:]):8.1f} ms   ({size})")


async def measure(data: Path, environ: dict[str, str]) -> None:
    """Print what lists and the inbox cost."""
    async with SessionRegistry.open(data, environ) as registry:
        now = registry.now
        await timed("inbox, first page", lambda: registry.ledger.urgent(now(), PAGE))
        await timed("inbox, how many wait", lambda: registry.ledger.waiting_counts(now()))
        await timed("sessions, the newest", lambda: registry.admin.sessions(newest=100))
        await timed("sessions", lambda: registry.admin.sessions())
        found, texts = await registry.admin.sessions(), registry.admin.texts

        async def read() -> int:
            return sum([1 async for _left in texts.refresh(found)])

        async def looked_through() -> dict[str, str]:
            return (await texts.having("deposit"))["deposit"]

        await timed("texts of all sessions, read", read)
        await timed("sessions with a word in their text", looked_through)
        await timed("everything that waits", lambda: registry.ledger.requests(now(), limit=1_000_000))


def main() -> None:
    """Print the figures, and the machine they were taken on."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sessions", type=int, default=10_000)
    options.add_argument("--requests", type=int, default=10, help="open requests of each")
    options.add_argument("--no-folder", action="store_true", help="leave the data folder with SQLite out")
    options.add_argument("--data", type=Path, help="a folder on the disk to measure")
    options.add_argument("--keep", action="store_true", help="keep server and folders until Enter is pressed")
    given = options.parse_args()
    names = [f"t{number:05}" for number in range(given.sessions - 1)]
    with tempfile.TemporaryDirectory(dir=given.data) as root, postgres_server() as server, server.database() as address:
        work = Path(root, "work")
        work.mkdir()
        (work / "deposit.md").write_text("# Deposits\n\nThe deposit cap is 5 percent of the price.\n")
        there = {**os.environ, "HITL_DATABASE": address, "HITL_AUDIT_KEY": ""}
        (first, *_) = asyncio.run(begun(Path(root, "there"), there, work))
        began = time.perf_counter()
        fill_database(address, first, names, given.requests)
        print(f"PostgreSQL, {given.sessions:,} sessions, {given.requests * len(names):,} open requests "
              f"(filled in {time.perf_counter() - began:.0f} s)")  # fmt: skip
        asyncio.run(measure(Path(root, "there"), there))
        if not given.no_folder:
            here = {**os.environ, "HITL_AUDIT_KEY": ""}
            (first, *_) = asyncio.run(begun(Path(root, "here"), here, work))
            fill_folder(Path(root, "here"), first, names, given.requests)
            print("a data folder with as many")
            asyncio.run(measure(Path(root, "here"), here))
        if given.keep:
            print(f"HITL_DATABASE={address} --data {root}/there")
            sys.stdin.readline()
    print(machine())


if __name__ == "__main__":
    main()
