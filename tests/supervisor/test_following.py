"""Whoever follows a session sees what its owner does, and that the owner is gone (D12, C8)."""

from __future__ import annotations

import asyncio
import threading
from contextlib import closing
from pathlib import Path

import pytest
from session_support import Place, step

from hitl_tui.core.errors import OwnerGone
from hitl_tui.supervisor.activity import ActivityStream, ActivityTail
from hitl_tui.supervisor.session_follower import SessionFollower


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, step("low", "a"), step("low", "b", "a"))


@pytest.mark.long
async def test_a_session_without_an_owner_is_told_from_one_that_rests(place: Place) -> None:
    async with place.ledger() as ledger:
        async with place.open() as op:
            await op.rest()
            setup = place.setup(ledger)
            async with SessionFollower.open(setup) as follower:
                assert not follower.alone
                waiting = asyncio.create_task(follower.changed(follower.snapshot))
                done, __ = await asyncio.wait({waiting}, timeout=1.0)
                assert not done, "its owner is there, and does nothing"
        async with SessionFollower.open(setup) as orphan:
            assert orphan.alone
        with pytest.raises(OwnerGone):
            await waiting


async def test_what_the_owner_did_last_is_seen_before_it_is_gone(place: Place) -> None:
    async with place.ledger() as ledger:
        setup = place.setup(ledger)
        async with place.open() as op:
            await op.rest()
            async with SessionFollower.open(setup) as follower:
                before = follower.snapshot
                await op.finish()
        seen = await follower.changed(before)
        while not seen.concluded:
            seen = await follower.changed(seen)
        assert {todo["status"] for todo in seen.raw.values()} == {"completed"}
        with pytest.raises(OwnerGone):
            await follower.changed(seen)


async def test_it_is_read_anew_only_when_its_files_changed(place: Place) -> None:
    async with place.open() as op, place.ledger() as other:
        await op.rest()
        async with SessionFollower.open(place.setup(other)) as follower:
            seen = await follower.refresh()
            while await follower.refresh() is not seen:  # files that were written just now aren't relied on
                seen = follower.snapshot
            await op.finish()
            assert (await follower.refresh()) is not seen
            assert follower.snapshot.concluded


async def test_asking_whether_it_is_owned_keeps_nobody_from_owning_it(place: Place) -> None:
    async with place.open() as op:
        await op.rest()
    folder, over = place.data.session("s1"), threading.Event()

    def ask() -> None:
        while not over.is_set():
            folder.is_owned()

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        for __ in range(300):
            with folder.own():
                pass
    finally:
        over.set()
        asking.join()


async def test_what_was_said_before_is_there_when_it_is_opened_again(place: Place) -> None:
    async with place.open() as op:
        await op.finish()
        said = [(line.todo_id, line.kind, line.text) for line in op.session.activity.lines]
    assert said
    async with place.open() as op:
        lines = op.session.activity.lines
        assert [(line.todo_id, line.kind, line.text) for line in lines][: len(said)] == said
        op.session.activity.write("", "note", "more")
        assert op.session.activity.lines[-1].n > lines[-1].n


def test_a_tail_goes_on_where_it_ended(tmp_path: Path) -> None:
    path = tmp_path / "activity.log"
    tail, owner = ActivityTail(path), ActivityStream(path, lambda: "2026-01-01T00:00:00Z")
    assert tail.take() == []
    with closing(tail), closing(owner):
        owner.write("", "line", "\n".join(f"line {n}" for n in range(6_000)))
        assert [entry.text for entry in tail.lines] == [f"line {n}" for n in range(1_000, 6_000)]
        assert tail.take() == []
        owner.write("", "line", "one more")
        assert [entry.text for entry in tail.take()] == ["one more"], "though the oldest of those that are kept went"
        with path.open("ab") as file:
            file.write(b'["2026", "", "line", "beg')
            file.flush()
            assert tail.take() == []
            file.write(b'un", -1.0]\nno line\n')
        assert [entry.text for entry in tail.take()] == ["begun"]


def test_a_tail_follows_a_file_that_was_put_aside(tmp_path: Path) -> None:
    path = tmp_path / "activity.log"
    tail, owner = ActivityTail(path), ActivityStream(path, lambda: "2026-01-01T00:00:00Z")
    with closing(tail), closing(owner):
        owner.write("", "line", "first")
        assert [entry.text for entry in tail.take()] == ["first"]
        count = 0
        while not path.with_suffix(".log.1").exists():
            owner.write("", "line", f"{count} {'x' * 3_000}")
            count += 1
        assert [entry.text.split()[0] for entry in tail.take()] == [str(n) for n in range(count)]
