"""What every store keeps: inboxes and restores."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from ledger_support import Store, ask, at, events, kinds, say

from hitl_tui.core.errors import BadInput, Refused
from hitl_tui.core.requests import Outcome
from hitl_tui.ledger.protocols import Branches, Inbox, Ledger, Requests, Streams
from hitl_tui.ledger.records import Branch


async def heard(ledger: Ledger, cursors: Mapping[str, int]) -> frozenset[str]:
    """Return what is news, once it is: of a database that is told a moment later."""
    for _ in range(1_000):
        if found := await ledger.news(cursors):
            return found
        await asyncio.sleep(0.02)
    return frozenset()


class TestInbox:
    needs = (Streams, Requests, Inbox, Branches)

    async def test_posts_are_numbered_and_a_duplicate_changes_nothing(self, store: Store) -> None:
        async with store() as one, store() as two:
            assert await one.post("s1", 0, "a", {"kind": "skip", "todo_id": "todo_001"}, at()) == 1
            assert await two.post("s1", 0, "b", {"kind": "skip"}, at()) == 2
            assert await two.post("s1", 1, "a", {"kind": "other"}, at(9)) == 1
            assert await one.post("s2", 0, "a", {"kind": "skip"}, at()) == 1
            first, second = await one.after("s1", 0, 0)
            assert (first.seq, first.event_id, first.branch) == (1, "a", 0)
            assert first.event == {"kind": "skip", "todo_id": "todo_001"}
            assert [p.seq for p in await two.after("s1", 1, 0)] == [second.seq] == [2]
            assert await one.last_seq("s1") == 2
            assert (await one.head("s1")).n == 2

    async def test_a_session_that_does_not_exist_has_an_empty_inbox(self, ledger: Ledger) -> None:
        assert await ledger.last_seq("nowhere") == 0
        assert await ledger.branch("nowhere") == Branch(0)

    async def test_news_of_many_sessions_are_found_at_once(self, store: Store) -> None:
        async with store() as one, store() as two:
            for name in ("s1", "s2", "s3"):
                await one.post(name, 0, "a", {"kind": "note"}, at())
            cursors = {"s1": 1, "s2": 0, "s3": 1, "nowhere": 0}
            assert await one.news(cursors) == {"s2"}
            assert await one.news({**cursors, "s2": 1}) == frozenset()
            await two.post("s3", 0, "b", {"kind": "note"}, at())
            assert await heard(one, {**cursors, "s2": 1}) == {"s3"}
            await one.begin_restore("s1", "c1", "ann", at())
            assert await heard(one, {"s1": 1}) == {"s1"}, "a restore is to be finished"

    @pytest.mark.parametrize("value", [float("nan"), b"bytes", {1, 2}, object(), {1: "number as key"}])
    async def test_an_event_that_is_not_json_is_refused(self, ledger: Ledger, value: object) -> None:
        with pytest.raises(BadInput):
            await ledger.post("s1", 0, "e1", {"kind": "note", "value": value}, at())
        assert (await ledger.head("s1")).n == 0

    async def test_a_branch_sees_its_own_events_only(self, ledger: Ledger) -> None:
        for number, branch in enumerate((0, 1, 0, 2)):
            await ledger.post("s1", branch, f"e{number}", {"kind": "note"}, at())
        assert [p.seq for p in await ledger.after("s1", 0, 0)] == [1, 3]
        assert [p.seq for p in await ledger.after("s1", 1, 0)] == [3]
        assert [p.seq for p in await ledger.after("s1", 0, 1)] == [2]
        assert await ledger.last_seq("s1") == 3, "branch 0 is the one that counts"

    @pytest.mark.parametrize(
        ("event_id", "event"),
        [
            ("", {"kind": "skip"}),
            ("decided:req-1", {"kind": "decided"}),
            ("restored:1", {"kind": "restored"}),
            ("e", {}),
            ("e", {"kind": ""}),
            ("e", {"kind": 1}),
        ],
    )
    async def test_events_that_are_not_for_others_to_post_are_refused(
        self, ledger: Ledger, event_id: str, event: dict[str, Any]
    ) -> None:
        with pytest.raises(BadInput):
            await ledger.post("s1", 0, event_id, event, at())
        assert await ledger.last_seq("s1") == 0

    async def test_wait_returns_when_there_is_something_and_when_the_time_is_up(self, store: Store) -> None:
        async with store() as one, store() as two:
            assert not await one.wait("s1", 0, 0.02, 0.005)
            await two.post("s1", 0, "a", {"kind": "note"}, at())
            assert await one.wait("s1", 0, 0)
            assert not await one.wait("s1", 1, 0.02, 0.005)

    async def test_wait_is_woken_by_an_own_post_long_before_it_would_look(self, ledger: Ledger) -> None:
        waiting = asyncio.create_task(ledger.wait("s1", 1, None, 3600))
        await ledger.post("s1", 0, "a", {"kind": "note"}, at())
        await ledger.post("s2", 0, "a", {"kind": "note"}, at())
        assert not waiting.done()
        request = ask()
        await ledger.open_requests([request])
        await ledger.decide(say(request), at(1))
        async with asyncio.timeout(10):
            assert await waiting

    async def test_wait_notices_what_another_connection_posts(self, store: Store) -> None:
        async with store() as one, store() as two:
            waiting = asyncio.create_task(one.wait("s1", 0, None, 0.005))
            assert not await one.wait("s1", 0, 0)
            await two.post("s1", 0, "a", {"kind": "note"}, at())
            async with asyncio.timeout(10):
                assert await waiting

    async def test_wait_does_not_wake_for_what_was_posted_to_a_branch_that_was_left(self, ledger: Ledger) -> None:
        await ledger.begin_restore("s1", "cp-7", "ann", at())
        await ledger.finish_restore("s1", 1, at(1))
        cursor = await ledger.last_seq("s1")
        await ledger.post("s1", 0, "late", {"kind": "done"}, at(2))
        assert not await ledger.wait("s1", cursor, 0.02, 0.005)
        await ledger.post("s1", 1, "current", {"kind": "done"}, at(3))
        assert await ledger.wait("s1", cursor, 0)

    async def test_wait_is_woken_by_a_restore_that_is_to_be_finished(self, store: Store) -> None:
        async with store() as one, store() as two:
            own = asyncio.create_task(one.wait("s1", 0, None, 3600))
            polling = asyncio.create_task(two.wait("s1", 0, None, 0.005))
            assert not await one.wait("s1", 0, 0)
            await one.begin_restore("s1", "cp-7", "ann", at())
            async with asyncio.timeout(10):
                assert await own
                assert await polling

    async def test_a_restore_takes_the_next_branch_and_supersedes_what_was_asked(self, ledger: Ledger) -> None:
        open_one, decided = ask("todo_001"), ask("todo_002")
        await ledger.open_requests([open_one, decided])
        await ledger.decide(say(decided), at(1))
        assert await ledger.begin_restore("s1", "cp-7", "ann", at(2)) == Branch(1, "cp-7")
        assert await ledger.branch("s1") == Branch(1, "cp-7")
        view = await ledger.request(open_one.id, at(3))
        assert view is not None
        assert view.resolution.outcome is Outcome.SUPERSEDED
        with pytest.raises(Refused) as refused:
            await ledger.decide(say(open_one), at(3))
        assert refused.value.reason == "superseded"
        await ledger.finish_restore("s1", 1, at(4))
        assert await ledger.branch("s1") == Branch(1)
        (posted,) = await ledger.after("s1", 0, 1)
        assert posted.event_id == "restored:1"
        assert posted.event == {"kind": "restored", "branch": 1, "checkpoint_id": "cp-7", "by": "ann"}

    async def test_what_is_said_beside_a_finished_restore_cannot_change_it(self, ledger: Ledger) -> None:
        await ledger.begin_restore("s1", "cp-7", "ann", at())
        await ledger.finish_restore("s1", 1, at(1), {"ran": ["todo_001"], "kind": "decided", "branch": 9})
        (posted,) = await ledger.after("s1", 0, 1)
        assert posted.event == {
            "kind": "restored",
            "branch": 1,
            "checkpoint_id": "cp-7",
            "by": "ann",
            "ran": ["todo_001"],
        }

    async def test_finishing_a_restore_again_is_harmless(self, ledger: Ledger) -> None:
        await ledger.begin_restore("s1", "cp-7", "ann", at())
        for _ in range(3):
            await ledger.finish_restore("s1", 1, at(1))
        assert await events(ledger, 1) == ["restored:1"]
        assert await kinds(ledger) == ["restore_intended", "restore_finished", "event"]

    async def test_restored_comes_first_on_its_branch_whatever_is_posted_meanwhile(self, ledger: Ledger) -> None:
        await ledger.post("s1", 0, "old", {"kind": "note"}, at())
        await ledger.begin_restore("s1", "cp-7", "ann", at(1))
        assert await ledger.last_seq("s1") == 0, "nothing is on the new branch yet"
        await ledger.post("s1", 1, "early", {"kind": "skip"}, at(2))
        await ledger.finish_restore("s1", 1, at(3))
        await ledger.post("s1", 1, "after", {"kind": "skip"}, at(4))
        assert await events(ledger, 1) == ["restored:1", "early", "after"]
        assert await ledger.last_seq("s1") == (await ledger.after("s1", 0, 1))[-1].seq

    async def test_a_later_restore_takes_over_from_an_unfinished_one(self, ledger: Ledger) -> None:
        await ledger.begin_restore("s1", "cp-7", "ann", at())
        assert await ledger.begin_restore("s1", "cp-3", "bob", at(1)) == Branch(2, "cp-3")
        await ledger.finish_restore("s1", 1, at(2))
        assert await ledger.branch("s1") == Branch(2, "cp-3")
        assert await events(ledger, 1) == []
        await ledger.finish_restore("s1", 2, at(3))
        assert await events(ledger, 2) == ["restored:2"]

    async def test_a_restore_that_was_not_begun_cannot_be_finished(self, ledger: Ledger) -> None:
        for branch in (0, 1):
            with pytest.raises(Refused) as refused:
                await ledger.finish_restore("s1", branch, at())
            assert refused.value.reason == "unknown"
        with pytest.raises(BadInput):
            await ledger.begin_restore("s1", "", "ann", at())
        assert await ledger.branch("s1") == Branch(0)

    async def test_concurrent_restores_get_branches_of_their_own(self, store: Store) -> None:
        async with store() as one, store() as two:
            begun = await asyncio.gather(
                *(ledger.begin_restore("s1", f"cp-{n}", "ann", at()) for n, ledger in enumerate((one, two) * 4))
            )
            assert sorted(branch.number for branch in begun) == list(range(1, 9))

    async def test_a_question_of_a_branch_that_was_left_is_superseded_on_opening(self, ledger: Ledger) -> None:
        await ledger.begin_restore("s1", "cp-7", "ann", at())
        old, new = ask(branch=0), ask(branch=1)
        assert await ledger.open_requests([old, new]) == [old.id, new.id]
        assert [v.request.id for v in await ledger.requests(at(1))] == [new.id]
        assert (await ledger.decide(say(new), at(1))).resolution.decided
