"""Whoever follows a session sees what its owner does, and that the owner is gone (D12, C8)."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
from session_support import Place, step

from hitl_tui.core.errors import OwnerGone
from hitl_tui.supervisor.follower import Follower


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, step("low", "a"), step("low", "b", "a"))


async def test_a_session_without_an_owner_is_told_from_one_that_rests(place: Place) -> None:
    async with place.ledger() as ledger:
        async with place.open() as op:
            await op.rest()
            setup = place.setup(ledger)
            async with Follower.open(setup) as follower:
                assert not follower.alone
                waiting = asyncio.create_task(follower.changed(follower.snapshot))
                done, __ = await asyncio.wait({waiting}, timeout=1.0)
                assert not done, "its owner is there, and does nothing"
        async with Follower.open(setup) as orphan:
            assert orphan.alone
        with pytest.raises(OwnerGone):
            await waiting


async def test_what_the_owner_did_last_is_seen_before_it_is_gone(place: Place) -> None:
    async with place.ledger() as ledger:
        setup = place.setup(ledger)
        async with place.open() as op:
            await op.rest()
            async with Follower.open(setup) as follower:
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
        async with Follower.open(place.setup(other)) as follower:
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
