"""Clocks go back between two openings, and machines aren't at the same time: sessions go on as if they did not (T7)."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from clock_support import SECONDS, Jumps, jumps
from portable_support import cleanup, person_at
from session_support import LIMIT, Place, step

from hitl_tui.commands.handler import CommandHandler
from hitl_tui.supervisor.session_follower import SessionFollower
from hitl_tui.threads.session_history import SessionHistory

__all__ = ["jumps"]


async def lineage(history: SessionHistory) -> list[tuple[str, str]]:
    """Return id and parent of all checkpoints, oldest first."""
    found = await history.page(10_000)
    return [(info.checkpoint_id, info.parent_id) for info in reversed(found)]


@SECONDS
async def test_a_session_made_ahead_of_time_goes_on(tmp_path: Path, jumps: Jumps, seconds: float) -> None:
    place = Place(tmp_path, step("low", "a"), step("low", "b", "a"), step("high", "c", "b"))
    jumps.to(seconds, place)
    async with place.open() as op:
        await op.rest()
        await op.say("/todo approve 1")
        await op.rest()
    jumps.to(0, place)
    async with place.open() as op:
        before = await op.session.history.head()
        assert op.status("todo_001") == "completed"
        await op.finish()
        chain = await lineage(op.session.history)
        assert [parent for _, parent in chain] == ["", *(ident for ident, _ in chain[:-1])]
        assert before != chain[-1][0] == await op.session.history.head() == op.now.checkpoint_id
        assert [await op.session.history.place(ident) for ident, _ in chain] == list(range(1, len(chain) + 1))
    assert place.world.done() == {"todo_001": 1, "todo_002": 1, "todo_003": 1}


@SECONDS
async def test_who_follows_sees_what_was_written_last(tmp_path: Path, jumps: Jumps, seconds: float) -> None:
    place = Place(tmp_path, step("low", "a"), step("low", "b", "a"))
    jumps.to(seconds, place)
    async with place.open() as op:
        await op.rest()
    jumps.to(0, place)
    async with place.open() as op:
        await op.say("/todo approve 1")
        seen = await op.rest()
        async with place.ledger() as ledger, SessionFollower.open(place.setup(ledger)) as follower:
            assert follower.snapshot.checkpoint_id == seen.checkpoint_id
            assert [t.status for t in follower.snapshot.todos] == [t.status for t in seen.todos]


@SECONDS
async def test_a_run_that_was_cut_off_goes_on_where_it_stood(tmp_path: Path, jumps: Jumps, seconds: float) -> None:
    place = Place(tmp_path, step("low", "a"), step("low", "b", "a"))
    place.world.hold("todo_001")
    jumps.to(seconds, place)
    async with place.open() as op:
        await op.rest()
        await op.say("/todo approve 1")
        await place.world.began("todo_001")
    jumps.to(0, place)
    place.world.release("todo_001")
    async with place.open() as op:
        await op.finish()
        steps = await op.session.steps("todo_001", 100)
        assert [info.parent_id for info in steps] == [*(info.checkpoint_id for info in steps[1:]), ""]
    assert place.world.done() == {"todo_001": 1, "todo_002": 1}


@SECONDS
async def test_a_restore_goes_back_over_a_jump_of_the_clock(tmp_path: Path, jumps: Jumps, seconds: float) -> None:
    place = Place(tmp_path, step("low", "a"), step("low", "b", "a"))
    jumps.to(seconds, place)
    async with place.open() as op:
        await op.rest()
        start = op.now.checkpoint_id
        parents = dict(await lineage(op.session.history))
        await op.say("/todo approve 1")
        await op.rest()
    jumps.to(0, place)
    async with place.open() as op:
        await op.say("/todo approve 2")
        await op.rest()
        await op.say(f"/checkpoint restore {start}")
        async with asyncio.timeout(LIMIT):
            await op.session.on_branch(1)
        assert op.statuses == {"todo_001": "waiting_approval", "todo_002": "pending"}
        newest = (await op.session.history.page(1))[0]
        assert newest.checkpoint_id == op.now.checkpoint_id
        turned = await op.session.history.turns()
        assert [parent for _, parent in turned] == [parents[start]]
    jumps.to(-seconds, place)
    async with place.open() as op:
        assert op.statuses == {"todo_001": "waiting_approval", "todo_002": "pending"}
        await op.say("/todo skip 1", "/todo skip 2")
        await op.rest()


@SECONDS
async def test_an_export_from_a_machine_that_is_ahead_goes_on_here(
    tmp_path: Path, jumps: Jumps, seconds: float
) -> None:
    jumps.to(seconds)
    there, here = tmp_path / "there", tmp_path / "here"
    folder = cleanup(there)
    async with person_at(there) as ann:
        setup = await ann.bench.create("count the duplicate records, then back up the database", folder)
        await ann.say(setup.info.id, "/todo approve todo_001")
        archive = (await ann.bench.admin.export(setup.info.id, tmp_path / "s.hitl")).file
    jumps.to(0)
    async with person_at(here) as ben:
        info = (await ben.bench.admin.import_(archive, workspace=cleanup(here))).session
        forked = (await ben.bench.admin.fork(info.id)).session
        for name in (info.id, forked.id):
            await ben.finish(name)
            async with ben.at(name) as session:
                assert (await session.history.page(1))[0].outcome == "finished"


async def test_a_file_from_before_keeps_its_order_and_gets_checksums(tmp_path: Path, jumps: Jumps) -> None:
    place = Place(tmp_path, step("low", "a"), step("low", "b", "a"))
    jumps.to(3600, place)
    async with place.open() as op:
        await op.rest()
    jumps.to(0, place)
    async with place.open() as op:
        await op.say("/todo approve 1")
        await op.rest()
        expected = await lineage(op.session.history)
        statuses = op.statuses
    path = place.data.session("s1").checkpoints
    with closing(sqlite3.connect(path)) as db:  # as a version made it that knew neither
        db.executescript(
            "DROP INDEX checkpoints_in_order; ALTER TABLE checkpoints DROP COLUMN checksum;"
            "ALTER TABLE writes DROP COLUMN checksum; PRAGMA user_version = 1"
        )
    async with place.ledger() as ledger, SessionFollower.open(place.setup(ledger)) as follower:
        assert {t.id: t.status.value for t in follower.snapshot.todos} == statuses
        async with follower.reading() as history:
            assert await lineage(history) == expected
    async with place.open() as op:
        assert await lineage(op.session.history) == expected
        await op.finish()
    with closing(sqlite3.connect(path)) as db:
        bare = "SELECT (SELECT count(*) FROM checkpoints WHERE checksum IS NULL), (SELECT count(*) FROM writes"
        assert db.execute(f"{bare} WHERE checksum IS NULL)").fetchone() == (0, 0)


@pytest.mark.long
def test_copies_by_sqlite_keep_the_order(tmp_path: Path) -> None:
    """`VACUUM INTO` numbers the rows of such a table anew; an export rests on their order."""
    path, copy = tmp_path / "a.db", tmp_path / "b.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("CREATE TABLE t (a TEXT NOT NULL, b BLOB, PRIMARY KEY (a))")
        db.execute("CREATE INDEX i ON t (a)")
        db.executemany("INSERT INTO t VALUES (?, zeroblob(300))", [(f"{(n * 7919) % 1000:04}",) for n in range(1000)])
        db.execute("DELETE FROM t WHERE rowid % 3 = 0")
        expected = [row[0] for row in db.execute("SELECT a FROM t ORDER BY rowid")]
        db.execute("VACUUM INTO ?", (str(copy),))
        db.execute("VACUUM")
        assert [row[0] for row in db.execute("SELECT a FROM t ORDER BY rowid")] == expected
    with closing(sqlite3.connect(copy)) as db:
        assert [row[0] for row in db.execute("SELECT a FROM t ORDER BY rowid")] == expected


async def test_an_undo_and_a_proposal_are_heard_after_a_jump(tmp_path: Path, jumps: Jumps) -> None:
    place = Place(tmp_path, step("low", "a"), step("low", "b", "a"))
    jumps.to(3600, place)
    async with place.open() as op:
        await op.rest()
        await op.say("more work")
    jumps.to(0, place)
    async with place.open() as op:
        person: CommandHandler = op.person("ann")
        answer: dict[str, Any] = (await person.handle_command("/proposal accept")).to_dict()
        assert not answer.get("error"), answer
        await op.finish()
        assert len(op.statuses) == 3
