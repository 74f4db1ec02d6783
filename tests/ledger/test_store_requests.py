"""What every store keeps: requests and decisions."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from ledger_support import Store, ask, at, events, kinds, say

from hitl_tui.core.errors import BadInput, Refused
from hitl_tui.core.policy import Terms
from hitl_tui.core.requests import Outcome, Verdict
from hitl_tui.core.supersession import Cause, Supersession
from hitl_tui.ledger.protocols import Inbox, Ledger, Requests, Streams, Waiting
from hitl_tui.ledger.records import decided_event


class TestRequests:
    needs = (Streams, Requests)

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

    async def test_what_was_decided_or_superseded_since_a_time_is_found(self, ledger: Ledger) -> None:
        early, late, ended, still_open = (ask(f"todo_00{n}") for n in range(1, 5))
        await ledger.open_requests([early, late, ended, still_open])
        await ledger.decide(say(early, seconds=1), at(1))
        await ledger.decide(say(late, seconds=20), at(20))
        await ledger.supersede("s1", [early.id, late.id, still_open.id], Cause.EDITED, at(30), "ann")
        assert [v.request.id for v in await ledger.decided_since(at(10), at(40))] == [late.id, ended.id]
        assert await ledger.decided_since(at(31), at(40)) == []

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

    async def test_what_waits_is_listed_as_it_is_whoever_wrote_last(self, store: Store) -> None:
        async with store() as ledger, store() as other:
            expected: list[str] = []
            for number in range(6):
                request = ask(f"todo_{number:03d}", deadline=10 + 10 * number)
                await (ledger if number % 2 else other).open_requests([request])
                expected.append(request.id)
                assert [view.request.id for view in await ledger.requests(at())] == expected
                assert [view.request.id for view in await ledger.requests(at())] == expected
            late = await ledger.requests(at(25))
            assert [view.request.id for view in late] == expected[2:], "some expired, nobody wrote"
            assert len(await ledger.requests(at())) == 6, "a clock that goes back"
            await other.decide(say(ask("todo_000", deadline=10)), at(1))
            assert [view.request.id for view in await ledger.requests(at(1))] == expected[1:]

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

    async def test_one_rejection_refuses_unless_the_terms_say_otherwise(self, ledger: Ledger) -> None:
        veto, no_veto = ask("todo_001", terms=Terms(quorum=2)), ask("todo_002", terms=Terms(quorum=2, veto=False))
        await ledger.open_requests([veto, no_veto])
        assert (await ledger.decide(say(veto, Verdict.REJECT), at(1))).resolution.outcome is Outcome.REJECTED
        assert not (await ledger.decide(say(no_veto, Verdict.REJECT), at(1))).resolution.decided
        await ledger.decide(say(no_veto, by="bob"), at(2))
        assert (await ledger.decide(say(no_veto, by="cid"), at(2))).resolution.outcome is Outcome.APPROVED

    async def test_a_request_is_shown_first_once(self, store: Store) -> None:
        request, other = ask("todo_001"), ask("todo_002")
        async with store() as one, store() as two:
            await one.open_requests([replace(request, first_shown=at(0)), other])
            view = await one.request(request.id, at(1))
            assert view is not None and view.request.first_shown == ""
            ids = [request.id, request.id, "req-unknown"]
            found = await asyncio.gather(
                *(ledger.mark_shown(ids, who, "console", at(5)) for ledger, who in ((one, "ann"), (two, "bob")) * 2)
            )
            assert sorted(found) == [[], [], [], [request.id]]
            for ledger in (one, two):
                view = await ledger.request(request.id, at(9))
                assert view is not None and view.request.first_shown == at(5)
            (entry,) = [e for e in await one.entries("s1") if e.kind == "request_shown"]
            assert (entry.data["request_id"], entry.data["channel"]) == (request.id, "console")
            assert entry.data["by"] in ("ann", "bob")
            await one.decide(say(other), at(6))
            assert await one.mark_shown([other.id], "ann", "console", at(7)) == []

    async def test_what_is_of_high_risk_is_decided_once_somebody_was_shown_it(self, ledger: Ledger) -> None:
        for number, risk in enumerate(("high", "", "harmless")):
            request = ask(f"todo_{number}", risk=risk)
            await ledger.open_requests([request])
            with pytest.raises(Refused) as refused:
                await ledger.decide(say(request), at(1))
            assert refused.value.reason == "unshown"
            await ledger.mark_shown([request.id], "ann", "cli", at(2))
            assert (await ledger.decide(say(request, seconds=3), at(3))).resolution.decided
        refusing = ask("todo_009", risk="high")
        await ledger.open_requests([refusing])
        assert (await ledger.decide(say(refusing, Verdict.REJECT), at(1))).resolution.outcome is Outcome.REJECTED

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

    async def test_what_is_overdue_in_all_sessions_is_settled_at_once(self, ledger: Ledger) -> None:
        mine, other, later = ask(deadline=10), ask(deadline=10, session="s2"), ask("todo_9", deadline=99)
        await ledger.open_requests([mine, other, later])
        assert sorted(await ledger.expire(at(10))) == sorted([mine.id, other.id])
        assert await ledger.expire(at(11)) == []

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
        assert await ledger.supersede("s1", [kept.id], Cause.ADVANCED, at(2)) == [gone.id, half.id]
        assert await ledger.supersede("s1", [kept.id], Cause.ADVANCED, at(2)) == []
        assert [v.request.id for v in await ledger.requests(at(3))] == [kept.id, elsewhere.id]
        view = await ledger.request(gone.id, at(3))
        assert view is not None
        assert view.resolution.outcome is Outcome.SUPERSEDED
        assert view.request.superseded == Supersession(Cause.ADVANCED, "", at(2))
        with pytest.raises(Refused) as refused:
            await ledger.decide(say(half, by="bob"), at(3))
        assert refused.value.reason == "superseded"

    async def test_evidence_is_replaced_and_no_part_of_what_is_decided(self, ledger: Ledger) -> None:
        request = ask()
        await ledger.open_requests([request])
        await ledger.attach_evidence(request.id, {"preview": "10,000 rows"}, at(1))
        await ledger.attach_evidence(request.id, {"preview": "10,001 rows"}, at(2))
        view = await ledger.decide(say(request), at(3))
        assert dict(view.evidence) == {"preview": "10,001 rows"}
        assert view.request == request
        with pytest.raises(Refused) as refused:
            await ledger.attach_evidence("req-unknown", {}, at(4))
        assert refused.value.reason == "unknown"


class TestDecidedEvents:
    needs = (Streams, Requests, Inbox)

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

    async def test_deadlines_expire_exactly_once(self, store: Store) -> None:
        short, approving = (
            ask("todo_001", deadline=10),
            ask("todo_002", terms=Terms(deadline=20, on_deadline="approve")),
        )
        async with store() as one, store() as two:
            await one.open_requests([short, approving, ask("todo_003")])
            assert await one.expire(at(9), "s1") == []
            found = await asyncio.gather(*(ledger.expire(at(10), "s1") for ledger in (one, two) * 3))
            assert sorted(found) == [[]] * 5 + [[short.id]]
            assert await one.expire(at(99), "other") == []
            assert await one.expire(at(99), "s1") == []
            assert await two.mark_shown([approving.id], "ann", "cli", at(100)) == [approving.id]
            assert await one.expire(at(119), "s1") == []
            assert await one.expire(at(121), "s1") == [approving.id]
            first, second = await two.after("s1", 0, 0)
            assert (first.event_id, first.event["outcome"]) == (f"decided:{short.id}", "expired")
            assert [p.event["verdict"] for p in (first, second)] == ["reject", "approve"]
            assert {p.event["by"] for p in (first, second)} == {"deadline"}

    async def test_silence_never_approves_what_is_of_high_risk(self, ledger: Ledger) -> None:
        terms = Terms(deadline=10, on_deadline="approve")
        unseen, seen = (ask(f"todo_{n}", risk="high", deadline=10, terms=terms) for n in range(2))
        await ledger.open_requests([unseen, seen])
        await ledger.mark_shown([seen.id], "ann", "cli", at(9))
        assert sorted(await ledger.expire(at(10), "s1")) == sorted([unseen.id, seen.id])
        assert {p.event["verdict"] for p in await ledger.after("s1", 0, 0)} == {"reject"}


class TestWaiting:
    needs = (Waiting,)

    async def test_what_is_urgent_comes_first_and_all_is_counted(self, ledger: Ledger) -> None:
        later, soon, first, other = ask("todo_001"), ask("todo_002", opened=-5), ask("todo_003"), ask("todo_004")
        soon = replace(soon, deadline=at(50), id="soon")
        first = replace(first, deadline=at(20), id="first")
        other = replace(other, id="other", session="s2")
        for request in (later, soon, first):
            await ledger.open_requests([request])
        await ledger.open_requests([other])
        assert [view.request.id for view in await ledger.urgent(at(1), 9)] == ["first", "soon", later.id, "other"]
        assert [view.request.id for view in await ledger.urgent(at(1), 2)] == ["first", "soon"]
        assert [view.request.id for view in await ledger.urgent(at(30), 2)] == ["soon", later.id]
        assert await ledger.urgent(at(1), 0) == []
        assert await ledger.waiting_counts(at(1)) == {"s1": 3, "s2": 1}
        assert await ledger.waiting_counts(at(30)) == {"s1": 2, "s2": 1}

    async def test_open_ones_are_neither_decided_nor_superseded(self, ledger: Ledger) -> None:
        kept, gone, decided, half = (ask(f"todo_{n}", terms=Terms(quorum=q)) for n, q in enumerate((1, 1, 1, 2)))
        late = replace(ask("todo_009"), deadline=at(1), id="late")
        await ledger.open_requests([kept, gone, late, decided, half, ask(session="s2")])
        await ledger.decide(say(decided), at(1))
        await ledger.decide(say(half), at(1))
        assert await ledger.open_ids("s1") == [kept.id, gone.id, "late", half.id]
        await ledger.supersede("s1", [kept.id, half.id, "late"], Cause.ADVANCED, at(2))
        await ledger.expire(at(3), "s1")
        assert await ledger.open_ids("s1") == [kept.id, half.id]
