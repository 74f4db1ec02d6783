"""What every store of the ledger has to keep; a store's tests derive from `LedgerContract` and give `store`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

import pytest
from ledger_support import ask, at, deed, say

from hitl_tui.core.digest import digest
from hitl_tui.core.errors import BadInput, Refused
from hitl_tui.core.policy import Terms
from hitl_tui.core.requests import Outcome, Verdict
from hitl_tui.ledger import audit
from hitl_tui.ledger.chain import GENESIS, entry_hash
from hitl_tui.ledger.contract import OWN_KINDS, Branch, Conflict, Ledger, Problem, decided_event

Store = Callable[[], AbstractAsyncContextManager[Ledger]]


async def kinds(ledger: Ledger, stream: str = "s1") -> list[str]:
    """Return the kinds of a stream's entries."""
    return [entry.kind for entry in await ledger.entries(stream)]


async def events(ledger: Ledger, branch: int = 0, session: str = "s1") -> list[str]:
    """Return the ids of a branch's events."""
    return [posted.event_id for posted in await ledger.after(session, 0, branch)]


class LedgerContract:
    """Tests that any store must pass."""

    @pytest.fixture
    def store(self) -> Store:
        """Return what opens the same ledger, each time over a connection of its own."""
        raise NotImplementedError

    @pytest.fixture
    async def ledger(self, store: Store) -> AsyncIterator[Ledger]:
        async with store() as ledger:
            yield ledger
            assert (await audit.verify(ledger)).problems == ()

    # Streams

    async def test_entries_are_numbered_and_chained(self, ledger: Ledger) -> None:
        first = await ledger.append("s1", 0, "note", {"text": "하나"}, at())
        second = await ledger.append("s1", 1, "note", {"text": "둘"}, at(1))
        assert (first.n, first.prev, second.n, second.prev) == (1, GENESIS, 2, first.hash)
        assert await ledger.entries("s1") == [first, second]
        for entry in (first, second):
            sealed = {name: value for name, value in entry.to_dict().items() if name != "hash"}
            assert entry.hash == digest(sealed) == entry_hash(entry)

    async def test_append_at_another_length_is_a_conflict_and_writes_nothing(self, ledger: Ledger) -> None:
        await ledger.record("s1", "note", {}, at())
        before = await ledger.head("s1")
        for expected in (0, 2):
            with pytest.raises(Conflict):
                await ledger.append("s1", expected, "note", {}, at())
        assert await ledger.head("s1") == before

    async def test_of_many_appends_at_one_length_exactly_one_succeeds(self, store: Store) -> None:
        async with store() as one, store() as two:
            tries = [ledger.append("s1", 0, "note", {}, at()) for ledger in (one, two) * 5]
            results = await asyncio.gather(*tries, return_exceptions=True)
            assert sum(isinstance(r, Conflict) for r in results) == 9
            assert (await two.head("s1")).n == 1

    async def test_streams_are_apart_and_listed_by_name(self, ledger: Ledger) -> None:
        assert await ledger.streams() == []
        for stream in ("나", "b", "a", "b"):
            await ledger.record(stream, "note", {}, at())
        heads = await ledger.streams()
        assert [(h.stream, h.n) for h in heads] == [("a", 1), ("b", 2), ("나", 1)]
        assert heads[1] == await ledger.head("b")
        assert heads[1].hash == (await ledger.entries("b"))[-1].hash

    async def test_a_stream_that_does_not_exist_is_empty(self, ledger: Ledger) -> None:
        head = await ledger.head("nowhere")
        assert (head.n, head.hash) == (0, GENESIS)
        assert await ledger.entries("nowhere") == []
        assert await ledger.last_seq("nowhere") == 0
        assert await ledger.branch("nowhere") == Branch(0)

    async def test_entries_can_be_paged(self, ledger: Ledger) -> None:
        for number in range(7):
            await ledger.record("s1", "note", {"number": number}, at(number))
        assert [e.n for e in await ledger.entries("s1", after=2, limit=3)] == [3, 4, 5]
        assert [e.n for e in await ledger.entries("s1", after=6)] == [7]
        assert await ledger.entries("s1", after=7) == []

    @pytest.mark.parametrize(
        "data",
        [
            {"text": "집주인이 전세금 3억을 10억으로 올려달래"},
            {"half": "\ud83d", "both": "\ud83d\ude00", "nul": "a\x00b", "escape": "\x1b[2J"},
            {"pair": ("tuple", 1), "numbers": [1, 1.0, -0.0, 1e300, 2**70], "none": None},
            {1: "number as key", 10: "another", 2: "sorts otherwise as text"},
        ],
    )
    async def test_what_is_returned_is_what_is_read_again(self, store: Store, data: dict[Any, Any]) -> None:
        async with store() as ledger:
            written = await ledger.record("s1", "note", data, at())
        async with store() as ledger:
            assert await ledger.entries("s1") == [written]
            assert (await audit.verify(ledger)).ok

    @pytest.mark.parametrize("value", [float("nan"), b"bytes", {1, 2}, object()])
    async def test_what_is_not_json_is_refused(self, ledger: Ledger, value: Any) -> None:
        with pytest.raises(BadInput):
            await ledger.record("s1", "note", {"value": value}, at())
        with pytest.raises(BadInput):
            await ledger.post("s1", 0, "e1", {"kind": "note", "value": value}, at())
        assert (await ledger.head("s1")).n == 0

    async def test_nesting_has_a_limit_that_can_be_read_again(self, ledger: Ledger) -> None:
        deep: Any = "bottom"
        for _ in range(190):
            deep = [deep]
        await ledger.record("s1", "note", {"deep": deep, "wide": [[]] * 1000}, at())
        for _ in range(20):
            deep = {"deeper": deep}
        with pytest.raises(BadInput, match="levels"):
            await ledger.record("s1", "note", {"deep": deep}, at())
        assert (await ledger.head("s1")).n == 1

    @pytest.mark.parametrize("kind", sorted(OWN_KINDS))
    async def test_kinds_that_make_views_cannot_be_appended(self, ledger: Ledger, kind: str) -> None:
        with pytest.raises(BadInput, match=kind):
            await ledger.record("s1", kind, {}, at())
        with pytest.raises(BadInput, match=kind):
            await ledger.append("s1", 0, kind, {}, at())

    # Requests and decisions

    async def test_a_request_is_opened_once_and_stays_as_it_was(self, store: Store) -> None:
        request = ask(deadline=60)
        async with store() as ledger:
            assert await ledger.open_requests([request, request]) == [request.id]
        async with store() as ledger:
            again = replace(request, opened_at=at(30), deadline=at(90))
            other = ask("todo_002")
            assert await ledger.open_requests([again, other]) == [other.id]
            view = await ledger.request(request.id, at(1))
            assert view is not None
            assert view.request == request
            assert (view.decisions, view.resolution.outcome, dict(view.evidence)) == ((), Outcome.PENDING, {})
            assert await ledger.request("req-unknown", at()) is None

    async def test_a_request_whose_digest_is_not_its_subjects_is_refused_with_its_batch(self, ledger: Ledger) -> None:
        good, bad = ask("todo_001"), replace(ask("todo_002"), subject={"task": "another"})
        with pytest.raises(BadInput, match="digest"):
            await ledger.open_requests([good, bad])
        assert await ledger.requests(at()) == []
        assert (await ledger.head("s1")).n == 0

    async def test_requests_are_listed_in_order_by_session_and_by_what_is_pending(self, ledger: Ledger) -> None:
        first, second = ask("todo_002"), ask("todo_001")
        other, brief = ask(session="s2"), ask("todo_003", deadline=5)
        await ledger.open_requests([first, second, other, brief])
        await ledger.decide(say(first), at(1))

        async def ids(now: str, **choice: Any) -> list[str]:
            return [view.request.id for view in await ledger.requests(now, **choice)]

        assert await ids(at(1)) == [second.id, other.id, brief.id]
        assert await ids(at(5)) == [second.id, other.id]
        assert await ids(at(5), session="s1") == [second.id]
        assert await ids(at(1), limit=1) == [second.id]
        assert await ids(at(1), session="s1", pending=False) == [first.id, second.id, brief.id]
        assert await ids(at(1), pending=False) == [first.id, second.id, other.id, brief.id]

    async def test_a_decision_settles_and_posts_its_event_in_one(self, ledger: Ledger) -> None:
        request = ask()
        await ledger.open_requests([request])
        decision = say(request, value={"금액": [3, 10]}, reason="확인함")
        view = await ledger.decide(decision, at(1))
        assert view.resolution.outcome is Outcome.APPROVED
        assert view.decisions == (decision,)
        assert view == await ledger.request(request.id, at(2))
        assert await kinds(ledger) == ["request_opened", "decision", "event"]
        (posted,) = await ledger.after("s1", 0, 0)
        assert posted.event_id == f"decided:{request.id}"
        assert posted.event == decided_event(view)
        assert (posted.event["verdict"], posted.event["value"]) == ("approve", {"금액": [3, 10]})

    @pytest.mark.parametrize(
        ("verdict", "changes", "reason"),
        [
            (Verdict.APPROVE, {"seen": "0" * 64}, "stale"),
            (Verdict.RETRY, {}, "not_allowed"),
            (Verdict.APPROVE, {"by": "bot"}, "not_allowed"),
            (Verdict.APPROVE, {"level": 1}, "not_allowed"),
            (Verdict.APPROVE, {"seconds": 60}, "late"),
        ],
    )
    async def test_a_decision_that_cannot_count_writes_nothing(
        self, ledger: Ledger, verdict: Verdict, changes: dict[str, Any], reason: str
    ) -> None:
        request = ask(requester="bot", terms=Terms(level=2), deadline=60)
        await ledger.open_requests([request])
        before = await ledger.head("s1")
        with pytest.raises(Refused) as refused:
            await ledger.decide(say(request, verdict, **{"level": 2, **changes}), at(1))
        assert refused.value.reason == reason
        assert await ledger.head("s1") == before
        assert (await ledger.decide(say(request, level=2), at(2))).resolution.decided

    async def test_an_unknown_request_cannot_be_decided(self, ledger: Ledger) -> None:
        with pytest.raises(Refused) as refused:
            await ledger.decide(say(ask()), at(1))
        assert refused.value.reason == "unknown"

    async def test_first_decision_wins_and_the_others_are_told(self, ledger: Ledger) -> None:
        request = ask()
        await ledger.open_requests([request])
        await ledger.decide(say(request), at(1))
        for verdict, by, reason in (
            (Verdict.REJECT, "bob", "late"),
            (Verdict.REJECT, "ann", "late"),
            (Verdict.APPROVE, "ann", "repeated"),
        ):
            with pytest.raises(Refused) as refused:
                await ledger.decide(say(request, verdict, by), at(2))
            assert refused.value.reason == reason
        assert await events(ledger) == [f"decided:{request.id}"]

    async def test_two_deciders_racing_over_connections_of_their_own(self, store: Store) -> None:
        async with store() as one, store() as two:
            requests = [ask(f"todo_{number:03d}") for number in range(10)]
            await one.open_requests(requests)
            for request in requests:
                results = await asyncio.gather(
                    one.decide(say(request, Verdict.APPROVE, "ann"), at(1)),
                    two.decide(say(request, Verdict.REJECT, "bob"), at(1)),
                    return_exceptions=True,
                )
                (refused,) = [r for r in results if isinstance(r, BaseException)]
                assert isinstance(refused, Refused)
                assert refused.reason == "late"
            assert await events(one) == [f"decided:{request.id}" for request in requests]

    async def test_quorum_takes_distinct_people_and_settles_once(self, store: Store) -> None:
        request = ask(terms=Terms(quorum=2))
        async with store() as one, store() as two:
            await one.open_requests([request])
            view = await one.decide(say(request, by="ann"), at(1))
            assert (view.resolution.outcome, view.resolution.needed) == (Outcome.PENDING, 1)
            assert await events(two) == []
            with pytest.raises(Refused) as refused:
                await two.decide(say(request, by="ann"), at(2))
            assert refused.value.reason == "repeated"
            view = await two.decide(say(request, by="bob"), at(3))
            assert (view.resolution.outcome, len(view.resolution.decisions)) == (Outcome.APPROVED, 2)
            with pytest.raises(Refused):
                await one.decide(say(request, by="cid"), at(4))
            (posted,) = await one.after("s1", 0, 0)
            assert posted.event["by"] == "ann, bob"

    async def test_one_rejection_refuses_unless_the_terms_say_otherwise(self, ledger: Ledger) -> None:
        veto, no_veto = ask("todo_001", terms=Terms(quorum=2)), ask("todo_002", terms=Terms(quorum=2, veto=False))
        await ledger.open_requests([veto, no_veto])
        assert (await ledger.decide(say(veto, Verdict.REJECT), at(1))).resolution.outcome is Outcome.REJECTED
        assert not (await ledger.decide(say(no_veto, Verdict.REJECT), at(1))).resolution.decided
        await ledger.decide(say(no_veto, by="bob"), at(2))
        assert (await ledger.decide(say(no_veto, by="cid"), at(2))).resolution.outcome is Outcome.APPROVED

    async def test_deadlines_expire_exactly_once(self, store: Store) -> None:
        short, approving = (
            ask("todo_001", deadline=10),
            ask("todo_002", deadline=20, terms=Terms(on_deadline="approve")),
        )
        async with store() as one, store() as two:
            await one.open_requests([short, approving, ask("todo_003")])
            assert await one.expire(at(9), "s1") == []
            found = await asyncio.gather(*(ledger.expire(at(10), "s1") for ledger in (one, two) * 3))
            assert sorted(found) == [[]] * 5 + [[short.id]]
            assert await one.expire(at(99), "other") == []
            assert await one.expire(at(99), "s1") == [approving.id]
            first, second = await two.after("s1", 0, 0)
            assert (first.event_id, first.event["outcome"]) == (f"decided:{short.id}", "expired")
            assert [p.event["verdict"] for p in (first, second)] == ["reject", "approve"]
            assert {p.event["by"] for p in (first, second)} == {"deadline"}

    async def test_after_the_deadline_nobody_decides_even_before_it_was_noticed(self, ledger: Ledger) -> None:
        request = ask(deadline=10)
        await ledger.open_requests([request])
        with pytest.raises(Refused) as refused:
            await ledger.decide(say(request, seconds=9), at(10))
        assert refused.value.reason == "late"
        view = await ledger.request(request.id, at(10))
        assert view is not None
        assert view.resolution.outcome is Outcome.EXPIRED

    async def test_what_expired_stays_so_for_a_clock_that_is_behind(self, ledger: Ledger) -> None:
        request = ask(deadline=10)
        await ledger.open_requests([request])
        assert await ledger.expire(at(10), "s1") == [request.id]
        with pytest.raises(Refused):
            await ledger.decide(say(request, seconds=5), at(5))
        view = await ledger.request(request.id, at(5))
        assert view is not None
        assert view.resolution.outcome is Outcome.EXPIRED
        assert await ledger.requests(at(5)) == []

    async def test_a_decision_in_time_leaves_nothing_to_expire(self, ledger: Ledger) -> None:
        request = ask(deadline=10)
        await ledger.open_requests([request])
        await ledger.decide(say(request, seconds=9), at(9))
        assert await ledger.expire(at(10), "s1") == []

    async def test_supersede_spares_what_is_kept_or_decided(self, ledger: Ledger) -> None:
        kept, gone, decided, half = (ask(f"todo_{n}", terms=Terms(quorum=q)) for n, q in enumerate((1, 1, 1, 2)))
        elsewhere = ask(session="s2")
        await ledger.open_requests([kept, gone, decided, half, elsewhere])
        await ledger.decide(say(decided), at(1))
        await ledger.decide(say(half), at(1))
        assert await ledger.supersede("s1", [kept.id], "the plan changed", at(2)) == [gone.id, half.id]
        assert await ledger.supersede("s1", [kept.id], "the plan changed", at(2)) == []
        assert [v.request.id for v in await ledger.requests(at(3))] == [kept.id, elsewhere.id]
        view = await ledger.request(gone.id, at(3))
        assert view is not None
        assert (view.request.superseded, view.resolution.outcome) == ("the plan changed", Outcome.SUPERSEDED)
        with pytest.raises(Refused) as refused:
            await ledger.decide(say(half, by="bob"), at(3))
        assert refused.value.reason == "superseded"
        with pytest.raises(BadInput):
            await ledger.supersede("s1", [], "", at(4))

    async def test_evidence_is_replaced_and_no_part_of_what_is_decided(self, ledger: Ledger) -> None:
        request = ask()
        await ledger.open_requests([request])
        await ledger.attach(request.id, {"preview": "10,000 rows"}, at(1))
        await ledger.attach(request.id, {"preview": "10,001 rows"}, at(2))
        view = await ledger.decide(say(request), at(3))
        assert dict(view.evidence) == {"preview": "10,001 rows"}
        assert view.request == request
        with pytest.raises(Refused) as refused:
            await ledger.attach("req-unknown", {}, at(4))
        assert refused.value.reason == "unknown"

    # Inbox

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

    async def test_a_branch_sees_its_own_events_only(self, ledger: Ledger) -> None:
        for number, branch in enumerate((0, 1, 0, 2)):
            await ledger.post("s1", branch, f"e{number}", {"kind": "note"}, at())
        assert [p.seq for p in await ledger.after("s1", 0, 0)] == [1, 3]
        assert [p.seq for p in await ledger.after("s1", 1, 0)] == [3]
        assert [p.seq for p in await ledger.after("s1", 0, 1)] == [2]
        assert await ledger.last_seq("s1") == 4

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
        await ledger.intend_restore("s1", "cp-7", "ann", at())
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
            await one.intend_restore("s1", "cp-7", "ann", at())
            async with asyncio.timeout(10):
                assert await own
                assert await polling

    # Restore

    async def test_a_restore_takes_the_next_branch_and_supersedes_what_was_asked(self, ledger: Ledger) -> None:
        open_one, decided = ask("todo_001"), ask("todo_002")
        await ledger.open_requests([open_one, decided])
        await ledger.decide(say(decided), at(1))
        assert await ledger.intend_restore("s1", "cp-7", "ann", at(2)) == Branch(1, "cp-7")
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
        await ledger.intend_restore("s1", "cp-7", "ann", at())
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
        await ledger.intend_restore("s1", "cp-7", "ann", at())
        for _ in range(3):
            await ledger.finish_restore("s1", 1, at(1))
        assert await events(ledger, 1) == ["restored:1"]
        assert await kinds(ledger) == ["restore_intended", "restore_finished", "event"]

    async def test_restored_comes_first_on_its_branch_whatever_is_posted_meanwhile(self, ledger: Ledger) -> None:
        await ledger.post("s1", 0, "old", {"kind": "note"}, at())
        await ledger.intend_restore("s1", "cp-7", "ann", at(1))
        assert await ledger.last_seq("s1") == 1
        await ledger.post("s1", 1, "early", {"kind": "skip"}, at(2))
        await ledger.finish_restore("s1", 1, at(3))
        await ledger.post("s1", 1, "after", {"kind": "skip"}, at(4))
        assert await events(ledger, 1) == ["restored:1", "early", "after"]
        assert await ledger.last_seq("s1") == (await ledger.after("s1", 0, 1))[-1].seq

    async def test_a_later_restore_takes_over_from_an_unfinished_one(self, ledger: Ledger) -> None:
        await ledger.intend_restore("s1", "cp-7", "ann", at())
        assert await ledger.intend_restore("s1", "cp-3", "bob", at(1)) == Branch(2, "cp-3")
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
            await ledger.intend_restore("s1", "", "ann", at())
        assert await ledger.branch("s1") == Branch(0)

    async def test_concurrent_restores_get_branches_of_their_own(self, store: Store) -> None:
        async with store() as one, store() as two:
            begun = await asyncio.gather(
                *(ledger.intend_restore("s1", f"cp-{n}", "ann", at()) for n, ledger in enumerate((one, two) * 4))
            )
            assert sorted(branch.number for branch in begun) == list(range(1, 9))

    async def test_a_question_of_a_branch_that_was_left_is_superseded_on_opening(self, ledger: Ledger) -> None:
        await ledger.intend_restore("s1", "cp-7", "ann", at())
        old, new = ask(branch=0), ask(branch=1)
        assert await ledger.open_requests([old, new]) == [old.id, new.id]
        assert [v.request.id for v in await ledger.requests(at(1))] == [new.id]
        assert (await ledger.decide(say(new), at(1))).resolution.decided

    # Effects

    async def test_an_effect_goes_once_and_is_done_after(self, store: Store) -> None:
        async with store() as ledger:
            claim = await ledger.begin_effect(deed(), at())
            assert (claim.verdict, claim.effect) == ("go", deed())
            await ledger.end_effect("eff-1", "run-1", "done", {"rows": 10_000}, at(1))
        async with store() as ledger:
            claim = await ledger.begin_effect(deed(run_id="run-2"), at(2))
            assert claim.verdict == "done"
            assert claim.effect == replace(deed(), status="done", outcome={"rows": 10_000})
            assert await ledger.effects("s1") == [claim.effect]
            assert await kinds(ledger) == ["effect_started", "effect_ended"]

    async def test_an_effect_that_was_started_and_never_ended_is_in_doubt(self, ledger: Ledger) -> None:
        await ledger.begin_effect(deed(), at())
        for run_id in ("run-1", "run-2"):
            claim = await ledger.begin_effect(deed(run_id=run_id), at(1))
            assert (claim.verdict, claim.effect) == ("doubt", deed())

    async def test_of_many_claims_exactly_one_may_act(self, store: Store) -> None:
        async with store() as one, store() as two:
            claims = await asyncio.gather(*(ledger.begin_effect(deed(), at()) for ledger in (one, two) * 5))
            assert sorted(claim.verdict for claim in claims) == ["doubt"] * 9 + ["go"]

    async def test_a_failed_effect_may_be_tried_again(self, ledger: Ledger) -> None:
        await ledger.begin_effect(deed(), at())
        await ledger.end_effect("eff-1", "run-1", "failed", {"error": "refused"}, at(1))
        assert [e.status for e in await ledger.effects("s1")] == ["failed"]
        claim = await ledger.begin_effect(deed(run_id="run-2"), at(2))
        assert (claim.verdict, claim.effect) == ("go", deed(run_id="run-2"))

    async def test_do_again_answers_one_doubt_and_not_the_next(self, ledger: Ledger) -> None:
        await ledger.begin_effect(deed(), at())
        again = {"resolution": "do_again", "answer_to": "req-1"}
        claim = await ledger.begin_effect(deed(run_id="run-2"), at(1), **again)
        assert (claim.verdict, claim.effect) == ("go", deed(run_id="run-2"))
        assert (await ledger.begin_effect(deed(run_id="run-2"), at(2), **again)).verdict == "doubt"
        claim = await ledger.begin_effect(deed(run_id="run-2"), at(3), resolution="do_again", answer_to="req-2")
        assert claim.verdict == "go"
        await ledger.end_effect("eff-1", "run-2", "done", {}, at(4))
        claim = await ledger.begin_effect(deed(run_id="run-2"), at(5), resolution="do_again", answer_to="req-3")
        assert claim.verdict == "done"

    async def test_use_as_done_declares_what_is_not_known(self, ledger: Ledger) -> None:
        await ledger.begin_effect(deed(), at())
        claim = await ledger.begin_effect(deed(run_id="run-2"), at(1), resolution="use_as_done")
        assert claim.verdict == "done"
        assert claim.effect == replace(deed(run_id="run-2"), status="done", outcome={"declared_done": True})
        assert (await ledger.begin_effect(deed(run_id="run-3"), at(2))).verdict == "done"

    async def test_what_another_branch_did_is_asked_about_and_its_outcome_kept(self, ledger: Ledger) -> None:
        await ledger.begin_effect(deed(), at())
        await ledger.end_effect("eff-1", "run-1", "done", {"receipt": "r-9"}, at(1))
        await ledger.intend_restore("s1", "cp-1", "ann", at(2))
        await ledger.finish_restore("s1", 1, at(3))
        wanted = deed(branch=1, run_id="run-2")
        claim = await ledger.begin_effect(wanted, at(4))
        assert claim.verdict == "doubt"
        assert claim.effect is not None
        assert (claim.effect.branch, claim.effect.outcome) == (0, {"receipt": "r-9"})
        claim = await ledger.begin_effect(wanted, at(5), resolution="use_as_done")
        assert claim.effect == replace(wanted, status="done", outcome={"receipt": "r-9"})
        assert (await ledger.begin_effect(wanted, at(6))).verdict == "done"

    async def test_what_an_ancestor_session_did_is_asked_about(self, ledger: Ledger) -> None:
        await ledger.begin_effect(deed(), at())
        await ledger.end_effect("eff-1", "run-1", "done", {}, at(1))
        fork = deed(session="s2", run_id="run-f")
        assert (await ledger.begin_effect(fork, at(2))).verdict == "doubt"
        assert (await ledger.begin_effect(fork, at(3), resolution="do_again")).verdict == "go"
        assert [e.session for e in await ledger.effects("s2")] == ["s2"]
        assert (await audit.verify(ledger, "s1")).problems == ()
        assert (await audit.verify(ledger, "s2")).problems == ()

    async def test_a_run_that_is_not_current_does_nothing(self, ledger: Ledger) -> None:
        await ledger.stop_run("s1", "run-1", at())
        await ledger.stop_run("s1", "run-1", at())
        assert await kinds(ledger) == ["run_stopped"]
        for resolution in ("", "do_again", "use_as_done"):
            assert (await ledger.begin_effect(deed(), at(1), resolution=resolution)).verdict == "stale"
        assert (await ledger.begin_effect(deed(session="s2"), at(1))).verdict == "go"
        await ledger.intend_restore("s1", "cp-1", "ann", at(2))
        for branch in (0, 1):
            assert (await ledger.begin_effect(deed("eff-2", branch=branch, run_id="run-2"), at(3))).verdict == "stale"
        await ledger.finish_restore("s1", 1, at(4))
        assert (await ledger.begin_effect(deed("eff-2", branch=0, run_id="run-2"), at(5))).verdict == "stale"
        assert (await ledger.begin_effect(deed("eff-2", branch=1, run_id="run-2"), at(5))).verdict == "go"
        assert [e.key for e in await ledger.effects("s1")] == ["eff-2"]

    async def test_an_effect_ends_once_and_by_the_run_that_has_it(self, ledger: Ledger) -> None:
        with pytest.raises(Refused, match="No effect"):
            await ledger.end_effect("eff-1", "run-1", "done", {}, at())
        await ledger.begin_effect(deed(), at())
        with pytest.raises(BadInput):
            await ledger.end_effect("eff-1", "run-1", "perhaps", {}, at(1))
        await ledger.begin_effect(deed(run_id="run-2"), at(1), resolution="do_again")
        for run_id, status, outcome, reason in (
            ("run-1", "done", {}, "stale"),
            ("run-2", "done", {"pair": (1, 2)}, ""),
            ("run-2", "done", {"pair": (1, 2)}, ""),
            ("run-2", "failed", {}, "late"),
            ("run-2", "done", {"other": 1}, "late"),
        ):
            if reason:
                with pytest.raises(Refused) as refused:
                    await ledger.end_effect("eff-1", run_id, status, outcome, at(2))
                assert refused.value.reason == reason
            else:
                await ledger.end_effect("eff-1", run_id, status, outcome, at(2))
        assert await kinds(ledger) == ["effect_started", "effect_started", "effect_ended"]

    async def test_effects_are_listed_in_the_order_they_were_first_started(self, ledger: Ledger) -> None:
        for key in ("eff-b", "eff-a", "eff-c"):
            await ledger.begin_effect(deed(key), at())
        await ledger.end_effect("eff-a", "run-1", "done", {}, at(1))
        await ledger.begin_effect(deed("eff-b", run_id="run-2"), at(2), resolution="do_again")
        assert [e.key for e in await ledger.effects("s1")] == ["eff-b", "eff-a", "eff-c"]
        assert [e.key for e in await ledger.effects("s1", status="started")] == ["eff-b", "eff-c"]
        assert await ledger.effects("s2") == []

    async def test_an_unknown_answer_about_an_effect_is_refused(self, ledger: Ledger) -> None:
        with pytest.raises(BadInput, match="approve"):
            await ledger.begin_effect(deed(), at(), resolution="approve")

    # Audit

    async def test_anchors_hold_while_a_stream_grows_and_name_what_was_lost(self, ledger: Ledger) -> None:
        for number in range(3):
            await ledger.record("a stream with spaces", "note", {"number": number}, at())
        (anchor,) = await audit.head(ledger)
        await ledger.record("a stream with spaces", "note", {}, at())
        assert audit.Anchor.parse(f"{anchor}\n") == anchor
        assert (await audit.check_anchor(ledger, str(anchor))).ok
        assert not (await audit.check_anchor(ledger, replace(anchor, n=9))).ok
        assert not (await audit.check_anchor(ledger, replace(anchor, hash="f" * 64))).ok
        with pytest.raises(BadInput):
            await audit.check_anchor(ledger, "not an anchor")

    async def test_verification_counts_what_it_walked(self, ledger: Ledger) -> None:
        await ledger.record("s1", "note", {}, at())
        await ledger.post("s2", 0, "a", {"kind": "note"}, at())
        whole, one = await audit.verify(ledger), await audit.verify(ledger, "s1")
        assert (whole.streams, whole.entries, whole.ok) == (2, 2, True)
        assert one.to_dict() == {"ok": True, "streams": 1, "entries": 1, "problems": [], "unlisted": 0}
        assert await ledger.view_problems("s1") == list[Problem]()
