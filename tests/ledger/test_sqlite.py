"""The SQLite ledger keeps the contract, whatever happens to its file."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import stat
import time
from collections.abc import Callable
from contextlib import AsyncExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from ledger_support import ask, at, deed, dump, make_older, rebuild, say

from hitl_tui.core.errors import HitlError, Refused, StorageError
from hitl_tui.core.policy import Terms
from hitl_tui.core.requests import Outcome, Verdict
from hitl_tui.core.supersession import Cause, Supersession
from hitl_tui.ledger import audit, sqlite_database, stream_tables
from hitl_tui.ledger.protocols import Ledger
from hitl_tui.ledger.records import Closing
from hitl_tui.ledger.sqlite_ledger import SqliteLedger
from hitl_tui.ledger.view_schema import VIEWS

POST = {"kind": "note"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


def files_in(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def log_size(path: Path) -> int:
    """Return the bytes in the write-ahead log, 0 where there is none."""
    log = Path(f"{path}-wal")
    return log.stat().st_size if log.exists() else 0


def ask_pragma(db: sqlite3.Connection, pragma: str) -> Any:
    return db.execute(f"PRAGMA {pragma}").fetchone()[0]


def fingerprint(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


async def live_a_little(ledger: Ledger) -> None:
    """Write entries of every kind."""
    first, second, third = (ask(f"todo_00{n}", deadline=50 if n == 3 else None) for n in (1, 2, 3))
    await ledger.open_requests([first, second, third])
    await ledger.attach_evidence(second.id, {"preview": "10,000 rows"}, at(1))
    await ledger.mark_shown([first.id], "ann", "cli", at(1))
    await ledger.decide(say(first), at(2))
    await ledger.expire(at(60), "s1")
    await ledger.supersede("s1", [], Cause.ADVANCED, at(61))
    await ledger.post("s1", 0, "e1", POST, at(62))
    await ledger.begin_effect(deed("eff-1"), at(63))
    await ledger.end_effect("eff-1", "run-1", "done", {"rows": 3}, at(64))
    await ledger.begin_effect(deed("eff-2"), at(65))
    await ledger.stop_run("s1", "run-1", at(66))
    await ledger.begin_restore("s1", "cp-1", "ann", at(67))
    await ledger.finish_restore("s1", 1, at(68))
    await ledger.begin_restore("s1", "cp-2", "ann", at(69))
    await ledger.record("other", "note", {}, at(70))


# Opening


async def test_a_missing_folder_is_made_for_this_account_alone(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "ledger.db"
    async with SqliteLedger.open(path) as ledger:
        await ledger.post("s1", 0, "e1", POST, at())
        files = [entry for entry in path.parent.iterdir() if entry.is_file()]
        assert {stat.S_IMODE(entry.stat().st_mode) for entry in files} == {0o600}
    assert [stat.S_IMODE(p.stat().st_mode) for p in (path.parent, path.parent.parent)] == [0o700, 0o700]
    assert [entry.name for entry in path.parent.iterdir()] == ["ledger.db"]


@pytest.mark.parametrize("name", ["what?mode=ro#x", "100%20.db", "장부 1.db", "'; DROP"])
async def test_any_file_name_will_do(tmp_path: Path, name: str) -> None:
    async with SqliteLedger.open(tmp_path / name) as ledger:
        await ledger.post("s1", 0, "e1", POST, at())
        assert (await audit.verify(ledger)).ok
    assert files_in(tmp_path) == [name]


async def test_many_may_make_the_ledger_at_once(path: Path) -> None:
    async def use(number: int) -> int:
        async with SqliteLedger.open(path) as ledger:
            return await ledger.post("s1", 0, f"e{number}", POST, at())

    assert sorted(await asyncio.gather(*map(use, range(8)))) == list(range(1, 9))
    assert [entry.name for entry in path.parent.iterdir()] == ["ledger.db"]


async def test_commits_are_synchronous_in_a_write_ahead_log(path: Path) -> None:
    async with SqliteLedger.open(path) as ledger:
        for pragma, value in (("journal_mode", "wal"), ("synchronous", 2), ("busy_timeout", 10_000)):
            assert await ledger._database.peek(partial(ask_pragma, pragma=pragma)) == value


def newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")


def another_database(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE streams (x)")


def cut(path: Path, share: float) -> None:
    with path.open("r+b") as file:
        file.truncate(int(path.stat().st_size * share))


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (newer, "format 99"),
        (another_database, "isn't a ledger"),
        (lambda path: path.write_text("just a text, and a long one" * 500), "isn't a ledger"),
        (lambda path: path.write_bytes(b"x"), "isn't a ledger"),
        (partial(cut, share=0.5), "cut short"),
        (partial(cut, share=0.02), "ledger"),
        (partial(cut, share=0), "cut short"),
    ],
)
async def test_what_is_no_usable_ledger_is_named_and_left_as_it_was(
    path: Path, spoil: Callable[[Path], Any], words: str, read_only: bool
) -> None:
    async with SqliteLedger.open(path) as ledger:
        await live_a_little(ledger)
    spoil(path)
    before = fingerprint(path)
    with pytest.raises(StorageError, match=words) as error:
        async with SqliteLedger.open(path, read_only=read_only):
            pass
    assert "\n" not in error.value.message
    assert fingerprint(path) == before
    assert log_size(path) == 0


async def test_a_newer_ledger_is_left_alone_with_what_its_log_still_holds(path: Path) -> None:
    async with SqliteLedger.open(path):
        pass
    newer(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE of_tomorrow (x)")
        log = Path(f"{path}-wal")
        before = fingerprint(path), fingerprint(log)
        with pytest.raises(StorageError):
            async with SqliteLedger.open(path):
                pass
        assert (fingerprint(path), fingerprint(log)) == before


async def test_a_folder_cannot_be_a_ledger(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="isn't a file"):
        async with SqliteLedger.open(tmp_path):
            pass


async def test_a_folder_that_cannot_be_made_is_an_error_of_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError) as error:
        async with SqliteLedger.open(tmp_path / "file" / "ledger.db"):
            pass
    assert "\n" not in error.value.message


# Reading only


async def test_a_follower_sees_what_the_owner_writes_and_writes_nothing(path: Path) -> None:
    async with SqliteLedger.open(path) as owner, SqliteLedger.open(path, read_only=True) as follower:
        waiting = asyncio.create_task(follower.wait("s1", 0, None, 0.005))
        await live_a_little(owner)
        async with asyncio.timeout(10):
            assert await waiting
        assert await follower.after("s1", 0, 0) == await owner.after("s1", 0, 0)
        assert await follower.requests(at(), pending=False) == await owner.requests(at(), pending=False)
        assert (await audit.verify(follower)).ok
        head = await owner.head("s1")
        for attempt in (
            follower.record("s1", "note", {}, at()),
            follower.post("s1", 0, "e9", POST, at()),
            rebuild(follower),
        ):
            with pytest.raises(StorageError, match="only be read"):
                await attempt
        assert await owner.head("s1") == head


async def test_following_what_is_not_there_makes_nothing(path: Path) -> None:
    async with SqliteLedger.open(path, read_only=True) as ledger:
        assert await ledger.streams() == []
        assert list(path.parent.iterdir()) == []
        async with SqliteLedger.open(path) as made:
            await made.post("s1", 0, "e1", POST, at())
        assert [head.stream for head in await ledger.streams()] == ["s1"]


# Transactions


async def test_a_cancelled_caller_leaves_a_whole_transaction(path: Path) -> None:
    async with SqliteLedger.open(path) as ledger:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            posting = asyncio.create_task(ledger.post("s1", 0, "e1", POST, at()))
            next_one = asyncio.create_task(ledger.post("s1", 0, "e2", POST, at()))
            await asyncio.sleep(0)
            for task in (posting, next_one):
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            other.execute("ROLLBACK")
        assert [p.event_id for p in await ledger.after("s1", 0, 0)] == ["e1", "e2"]
        assert (await audit.verify(ledger)).ok


async def test_what_was_begun_when_the_ledger_closes_is_still_done(path: Path) -> None:
    async with SqliteLedger.open(path) as ledger:
        tasks = [asyncio.create_task(ledger.post("s1", 0, f"e{n}", POST, at())) for n in range(20)]
        await asyncio.sleep(0)
    assert sorted(await asyncio.gather(*tasks)) == list(range(1, 21))
    with pytest.raises(StorageError, match="closed"):
        await ledger.last_seq("s1")
    await ledger.close()


async def test_a_subscriber_is_woken_even_when_the_poster_was_cancelled(path: Path) -> None:
    async with SqliteLedger.open(path) as ledger:
        with ledger._signals.listen("s1") as posted, ledger._signals.listen("s2") as elsewhere:
            task = asyncio.create_task(ledger.post("s1", 0, "e1", POST, at()))
            await asyncio.sleep(0)
            task.cancel()
            async with asyncio.timeout(10):
                await posted.wait()
            assert not elsewhere.is_set()
            posted.clear()
        await ledger.post("s1", 0, "e2", POST, at())
        assert not posted.is_set()


async def test_a_lock_that_is_not_released_is_an_error_and_nothing_is_written(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_database, "BUSY_TIMEOUT", 0.02)
    monkeypatch.setattr(sqlite_database, "PATIENCE", 0.1)
    async with SqliteLedger.open(path) as ledger:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StorageError, match="locked"):
                await ledger.post("s1", 0, "e1", POST, at())
            assert await ledger.last_seq("s1") == 0
            other.execute("ROLLBACK")
        assert await ledger.post("s1", 0, "e1", POST, at()) == 1


async def test_a_lock_that_outlasts_the_busy_timeout_is_waited_for(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_database, "BUSY_TIMEOUT", 0.0)
    async with SqliteLedger.open(path) as ledger:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            retried = asyncio.Event()
            loop = asyncio.get_running_loop()
            wait = time.sleep

            def sleep(seconds: float) -> None:
                loop.call_soon_threadsafe(retried.set)
                wait(seconds)

            monkeypatch.setattr(time, "sleep", sleep)
            posting = asyncio.create_task(ledger.post("s1", 0, "e1", POST, at()))
            async with asyncio.timeout(10):
                await retried.wait()
            other.execute("ROLLBACK")
        assert await posting == 1


async def test_a_full_file_is_one_sentence_and_nothing_half_written(path: Path) -> None:
    async with SqliteLedger.open(path) as ledger:
        await live_a_little(ledger)
        pages = await ledger._database.peek(lambda db: db.execute("PRAGMA page_count").fetchone()[0])
        await ledger._database.peek(lambda db: db.execute(f"PRAGMA max_page_count = {pages}").fetchall())
        before, views = await ledger.streams(), dump(path)
        requests = [ask(f"todo_1{n:02d}", branch=2, subject={"text": "x" * 3000, "n": n}) for n in range(20)]
        with pytest.raises(StorageError, match="Disk full") as error:
            await ledger.open_requests(requests)
        assert "\n" not in error.value.message
        assert (await ledger.streams(), dump(path)) == (before, views)
        await ledger._database.peek(lambda db: db.execute(f"PRAGMA max_page_count = {pages + 999}").fetchall())
        assert len(await ledger.open_requests(requests)) == 20
        assert (await audit.verify(ledger)).ok


@pytest.mark.parametrize("name", ["half \ud800 a name", ""])
async def test_names_that_cannot_be_kept_are_refused(path: Path, name: str) -> None:
    async with SqliteLedger.open(path) as ledger:
        with pytest.raises(HitlError):
            await ledger.record(name, "note", {}, at())
        with pytest.raises(HitlError):
            await ledger.post("s1", 0, name, POST, at())
        with pytest.raises(HitlError):
            await ledger.post("s1", 2**70, "e1", POST, at())
        assert await ledger.streams() == []


async def test_entries_cannot_be_changed_by_mistake(path: Path) -> None:
    async with SqliteLedger.open(path) as ledger:
        await live_a_little(ledger)
    with closing(sqlite3.connect(path)) as db:
        for statement in ("UPDATE entries SET at = ''", "DELETE FROM entries"):
            with pytest.raises(sqlite3.IntegrityError, match="never"):
                db.execute(statement)


# Views


async def test_views_are_rebuilt_from_entries(path: Path) -> None:
    async with SqliteLedger.open(path) as ledger:
        await live_a_little(ledger)
        before = dump(path)
        assert all(before.values())
        with closing(sqlite3.connect(path)) as db:
            for view in VIEWS:
                db.execute(f"DELETE FROM {view}")
            db.commit()
        assert not any(dump(path).values())
        await rebuild(ledger)
        assert dump(path) == before
        with closing(sqlite3.connect(path)) as db:
            for view in VIEWS:
                db.execute(f"DROP TABLE {view}")
        await rebuild(ledger)
        assert dump(path) == before
        assert (await audit.verify(ledger)).ok


async def an_older_ledger(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Make a ledger of version 1 at a path; return what its views have to be in this version."""
    async with SqliteLedger.open(path) as ledger:
        await live_a_little(ledger)
        await ledger.open_requests([ask("todo_007", branch=2, terms=Terms(deadline=9, on_deadline="approve"))])
    found = dump(path)
    make_older(path)
    return found


async def test_an_older_ledger_gets_the_views_of_this_version(path: Path) -> None:
    """What it had asked counts as not shown, so no silence approves it."""
    views = await an_older_ledger(path)
    ledgers = [SqliteLedger.open(path) for _ in range(4)]
    async with AsyncExitStack() as stack:
        opened = await asyncio.gather(*(stack.enter_async_context(ledger) for ledger in ledgers))
        assert dump(path) == views
        assert (await audit.verify(opened[0])).ok
        assert await opened[1].expire(at(9999), "s1") == []
        pending = await opened[2].requests(at(9999), session="s1")
        assert [v.request.first_shown for v in pending] == [""] * len(pending) and pending
        last = pending[-1].request.id
        assert await opened[3].mark_shown([last], "ann", "cli", at(10_000)) == [last]
        assert await opened[1].expire(at(10_010), "s1") == [last]


async def test_an_older_ledger_that_is_only_read_stays_as_it_is(path: Path) -> None:
    await an_older_ledger(path)
    before = fingerprint(path)
    async with SqliteLedger.open(path, read_only=True) as reader:
        (view,) = await reader.requests(at(), session="s1")
        assert view.request.first_shown == ""
        assert (await audit.verify(reader)).ok
        with pytest.raises(StorageError, match="only be read"):
            await reader.mark_shown([view.request.id], "ann", "cli", at())
        assert fingerprint(path) == before
        async with SqliteLedger.open(path) as writer:  # the reader follows what a newer program makes of it
            await writer.record("s9", "note", {}, at())
            assert (await reader.head("s9")).n == 1


async def test_what_an_older_program_let_expire_stays_as_it_was(path: Path) -> None:
    """A settled question never opens again, whatever today's rules say of it."""
    old = ask("todo_001", risk="high", deadline=10, terms=Terms(deadline=10, on_deadline="approve"))
    async with SqliteLedger.open(path) as ledger:
        await ledger.open_requests([old])
        event = {"kind": "decided", "request_id": old.id, "verdict": "approve", "outcome": "expired"}
        await ledger._database.write(
            lambda db: stream_tables.write_event(db, "s1", 0, f"decided:{old.id}", event, at(10), settles=old.id)
        )
    make_older(path)
    async with SqliteLedger.open(path) as ledger:
        view = await ledger.request(old.id, at(5))
        assert view is not None
        assert (view.resolution.outcome, view.resolution.verdict) == (Outcome.EXPIRED, Verdict.APPROVE)
        with pytest.raises(Refused) as refused:
            await ledger.decide(say(old), at(6))
        assert refused.value.reason == "late"


async def test_hot_statements_never_scan_a_table(path: Path) -> None:
    async with SqliteLedger.open(path) as ledger:
        await live_a_little(ledger)
        seen: set[str] = set()
        await ledger._database.peek(lambda db: db.set_trace_callback(seen.add))
        request = ask(branch=2, deadline=900)
        await ledger.open_requests([request])
        await ledger.mark_shown([request.id], "ann", "cli", at(3))
        await ledger.decide(say(request), at(3))
        await ledger.post("s1", 2, "e9", POST, at(4))
        await ledger.after("s1", 1, 2)
        await ledger.last_seq("s1")
        await ledger.wait("s1", 0, 0)
        await ledger.branch("s1")
        await ledger.request(request.id, at(5))
        await ledger.requests(at(5), session="s1")
        await ledger.expire(at(5), "s1")
        await ledger.entries("s1", 5, 5)
        await ledger.begin_effect(deed(branch=2), at(6))
        await ledger.effects("s1")
        await ledger._database.peek(lambda db: db.set_trace_callback(None))
    with closing(sqlite3.connect(path)) as db:
        words = ("SELECT", "INSERT", "UPDATE")
        statements = [s for s in seen if s.startswith(words)]
        assert len(statements) > 20
        plans = {s: [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {s}")] for s in statements}
    assert {s: p for s, p in plans.items() if any(line.startswith("SCAN") for line in p)} == {}
    sorts = {s: p for s, p in plans.items() if any("TEMP B-TREE" in line for line in p)}
    assert all("expire" in s or "deadline <=" in s for s in sorts)


@pytest.mark.parametrize(
    ("why", "found", "said"),
    [
        (
            f"set to failed by оps (U+043E) at {at(-9)}",
            Supersession(Cause.EARLIER, "оps (U+043E)", at(-9), "set to failed"),
            "Answered already: 001 was set to failed by оps (U+043E) at ",
        ),
        (
            "the plan went on",
            Supersession(Cause.EARLIER, detail="the plan went on"),
            "This question was replaced (the plan went on); look at the new one.",
        ),
    ],
)
async def test_what_an_older_program_wrote_of_why_is_read(path: Path, why: str, found: Supersession, said: str) -> None:
    async with SqliteLedger.open(path) as ledger:
        await ledger.open_requests([ask(opened=-10)])
        data = {"request_id": ask().id, "why": why}
        await ledger._database.write(lambda db: stream_tables.write_entry(db, "s1", "request_superseded", data, at(-9)))
        before = await ledger.request(ask().id, at())
        await rebuild(ledger)
        view = await ledger.request(ask().id, at())
        assert view is not None and view == before
        assert view.request.superseded == found
        with pytest.raises(Refused) as refused:
            await ledger.decide(say(ask()), at(1))
        assert refused.value.reason == "superseded" and refused.value.message.startswith(said)
        assert (await audit.verify(ledger)).problems == ()


async def test_who_ended_a_question_and_when_is_kept_as_data(path: Path) -> None:
    """No name can be taken for another part of a sentence."""
    by = "ann at home by bob at 2025-01-01T00:00:00+00:00"
    async with SqliteLedger.open(path) as ledger:
        await ledger.open_requests([ask()])
        event = {"kind": "skip", "data": {"todo_id": "todo_001"}}
        await ledger.post("s1", 0, "e1", event, at(1), closing=Closing(Cause.SKIPPED, by, ("todo_001",)))
        (entry,) = [e for e in await ledger.entries("s1") if e.kind == "request_superseded"]
        assert entry.data["reason"] == {"cause": "skipped", "by": by, "at": at(1)}
        view = await ledger.request(ask().id, at(2))
        assert view is not None and view.request.ended_at == at(1)
        assert view.request.superseded == Supersession(Cause.SKIPPED, by, at(1))
