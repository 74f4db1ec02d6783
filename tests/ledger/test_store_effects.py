"""What every store keeps: effects."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from ledger_support import Store, ask, at, deed, kinds, say, word

from hitl_tui.core.errors import BadInput, Refused
from hitl_tui.core.requests import Kind, Verdict
from hitl_tui.ledger import audit
from hitl_tui.ledger.protocols import Branches, Effects, Inbox, Ledger, Requests, Streams


class TestEffects:
    needs = (Streams, Requests, Inbox, Branches, Effects)

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

    async def test_a_run_that_failed_has_failed_when_it_comes_again(self, ledger: Ledger) -> None:
        await ledger.begin_effect(deed(), at())
        await ledger.end_effect("eff-1", "run-1", "failed", {"error": "refused"}, at(1))
        claim = await ledger.begin_effect(deed(), at(2))
        assert claim.verdict == "failed"
        assert claim.effect == replace(deed(), status="failed", outcome={"error": "refused"})
        assert await kinds(ledger) == ["effect_started", "effect_ended"]

    async def test_what_was_done_in_part_before_it_failed_is_asked_about_elsewhere(self, ledger: Ledger) -> None:
        await ledger.begin_effect(deed(), at())
        await ledger.end_effect("eff-1", "run-1", "failed", {"error": "refused", "partial": True}, at(1))
        await ledger.begin_restore("s1", "cp-1", "ann", at(2))
        await ledger.finish_restore("s1", 1, at(3))
        wanted = deed(branch=1, run_id="run-2")
        assert (await ledger.begin_effect(wanted, at(4))).verdict == "doubt"
        answer = await word(ledger, wanted, seconds=5)
        claim = await ledger.begin_effect(wanted, at(5), resolution="do_again", answer_to=answer)
        assert claim.verdict == "go"

    async def test_do_again_answers_one_doubt_and_not_the_next(self, ledger: Ledger) -> None:
        again = deed(run_id="run-2")
        await ledger.begin_effect(deed(), at())
        first = {"resolution": "do_again", "answer_to": await word(ledger, deed())}
        claim = await ledger.begin_effect(again, at(1), **first)
        assert (claim.verdict, claim.effect) == ("go", again)
        assert (await ledger.begin_effect(again, at(2), **first)).verdict == "doubt"
        second = {"resolution": "do_again", "answer_to": await word(ledger, deed())}
        assert (await ledger.begin_effect(again, at(3), **second)).verdict == "go"
        await ledger.end_effect("eff-1", "run-2", "done", {}, at(4))
        for spent in (first, second):
            assert (await ledger.begin_effect(again, at(5), **spent)).verdict == "done"

    async def test_an_answer_stays_spent_when_what_it_started_failed_and_was_tried_again(self, ledger: Ledger) -> None:
        await ledger.begin_effect(deed(), at())
        spent = {"resolution": "do_again", "answer_to": await word(ledger, deed())}
        assert (await ledger.begin_effect(deed(), at(1), **spent)).verdict == "go"
        await ledger.end_effect("eff-1", "run-1", "failed", {"error": "exit code 3"}, at(2))
        retried = deed(run_id="run-2")
        assert (await ledger.begin_effect(retried, at(3), **spent)).verdict == "go"
        for run_id in ("run-2", "run-3"):
            assert (await ledger.begin_effect(deed(run_id=run_id), at(4), **spent)).verdict == "doubt"

    async def test_only_the_answer_to_this_doubt_of_this_effect_counts(self, ledger: Ledger) -> None:
        early = await word(ledger, deed())
        await ledger.begin_effect(deed(), at(2))
        other = await word(ledger, deed("eff-2"), seconds=3)
        elsewhere = await word(ledger, deed(session="s2"), seconds=3)
        stopped = await word(ledger, deed(), Verdict.STOP, seconds=3)
        done = await word(ledger, deed(), Verdict.USE_AS_DONE, seconds=3)
        open_one = ask(kind=Kind.EFFECT, subject={"effect": {"key": "eff-1"}})
        await ledger.open_requests([open_one])
        approved = ask(subject={"effect": {"key": "eff-1"}, "todo": "another"})
        await ledger.open_requests([approved])
        await ledger.decide(say(approved, seconds=3), at(3))
        for answer in (early, other, elsewhere, stopped, done, open_one.id, approved.id, "req-none", ""):
            claim = await ledger.begin_effect(deed(), at(4), resolution="do_again", answer_to=answer)
            assert claim.verdict == "doubt", answer
        for answer in (early, other, elsewhere, stopped, open_one.id, ""):
            claim = await ledger.begin_effect(deed(), at(4), resolution="use_as_done", answer_to=answer)
            assert claim.verdict == "doubt", answer

    async def test_an_answer_of_a_branch_that_was_left_does_not_count(self, ledger: Ledger) -> None:
        await ledger.begin_effect(deed(), at())
        answer = await word(ledger, deed())
        await ledger.begin_restore("s1", "cp-1", "ann", at(2))
        await ledger.finish_restore("s1", 1, at(3))
        wanted = deed(branch=1, run_id="run-2")
        for resolution in ("do_again", "use_as_done"):
            claim = await ledger.begin_effect(wanted, at(4), resolution=resolution, answer_to=answer)
            assert claim.verdict == "doubt"

    async def test_of_two_answers_given_at_once_each_allows_one_start(self, store: Store) -> None:
        async with store() as one, store() as two:
            await one.begin_effect(deed(), at())
            answers = [await word(one, deed()), await word(two, deed())]
            claims = await asyncio.gather(
                *(
                    ledger.begin_effect(deed(run_id=f"run-{n}"), at(2), resolution="do_again", answer_to=answers[n % 2])
                    for n, ledger in enumerate((one, two) * 5)
                )
            )
            # Both were asked about the first start: what either lets begin is another one.
            assert sorted(claim.verdict for claim in claims) == ["doubt"] * 9 + ["go"]

    async def test_what_changes_nothing_may_always_start(self, ledger: Ledger) -> None:
        for seconds in range(3):
            claim = await ledger.begin_effect(deed(), at(seconds), resolution="repeatable", answer_to="low risk")
            assert claim.verdict == "go"
        await ledger.end_effect("eff-1", "run-1", "done", {}, at(4))
        assert (await ledger.begin_effect(deed(), at(5), resolution="repeatable")).verdict == "go"
        await ledger.stop_run("s1", "run-1", at(6))
        assert (await ledger.begin_effect(deed(), at(7), resolution="repeatable")).verdict == "stale"

    async def test_use_as_done_declares_what_is_not_known(self, ledger: Ledger) -> None:
        await ledger.begin_effect(deed(), at())
        answer = await word(ledger, deed(), Verdict.USE_AS_DONE)
        claim = await ledger.begin_effect(deed(run_id="run-2"), at(1), resolution="use_as_done", answer_to=answer)
        assert claim.verdict == "done"
        assert claim.effect == replace(deed(run_id="run-2"), status="done", outcome={"declared_done": True})
        assert (await ledger.begin_effect(deed(run_id="run-3"), at(2))).verdict == "done"

    async def test_what_another_branch_did_is_asked_about_and_its_outcome_kept(self, ledger: Ledger) -> None:
        await ledger.begin_effect(deed(), at())
        await ledger.end_effect("eff-1", "run-1", "done", {"receipt": "r-9"}, at(1))
        await ledger.begin_restore("s1", "cp-1", "ann", at(2))
        await ledger.finish_restore("s1", 1, at(3))
        wanted = deed(branch=1, run_id="run-2")
        claim = await ledger.begin_effect(wanted, at(4))
        assert claim.verdict == "doubt"
        assert claim.effect is not None
        assert (claim.effect.branch, claim.effect.outcome) == (0, {"receipt": "r-9"})
        answer = await word(ledger, wanted, Verdict.USE_AS_DONE, seconds=5)
        claim = await ledger.begin_effect(wanted, at(5), resolution="use_as_done", answer_to=answer)
        assert claim.effect == replace(wanted, status="done", outcome={"receipt": "r-9"})
        assert (await ledger.begin_effect(wanted, at(6))).verdict == "done"

    async def test_what_an_ancestor_session_did_is_asked_about(self, ledger: Ledger) -> None:
        await ledger.begin_effect(deed(), at())
        await ledger.end_effect("eff-1", "run-1", "done", {}, at(1))
        fork = deed(session="s2", run_id="run-f")
        assert (await ledger.begin_effect(fork, at(2))).verdict == "doubt"
        answer = await word(ledger, fork)
        assert (await ledger.begin_effect(fork, at(3), resolution="do_again", answer_to=answer)).verdict == "go"
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
        await ledger.begin_restore("s1", "cp-1", "ann", at(2))
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
        answer = await word(ledger, deed())
        await ledger.begin_effect(deed(run_id="run-2"), at(1), resolution="do_again", answer_to=answer)
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
        effects = [kind for kind in await kinds(ledger) if kind.startswith("effect_")]
        assert effects == ["effect_started", "effect_started", "effect_ended"]

    async def test_effects_are_listed_in_the_order_they_were_first_started(self, ledger: Ledger) -> None:
        for key in ("eff-b", "eff-a", "eff-c"):
            await ledger.begin_effect(deed(key), at())
        await ledger.end_effect("eff-a", "run-1", "done", {}, at(1))
        answer = await word(ledger, deed("eff-b"))
        await ledger.begin_effect(deed("eff-b", run_id="run-2"), at(2), resolution="do_again", answer_to=answer)
        assert [e.key for e in await ledger.effects("s1")] == ["eff-b", "eff-a", "eff-c"]
        assert [e.key for e in await ledger.effects("s1", status="started")] == ["eff-b", "eff-c"]
        assert await ledger.effects("s2") == []

    async def test_an_unknown_answer_about_an_effect_is_refused(self, ledger: Ledger) -> None:
        with pytest.raises(BadInput, match="approve"):
            await ledger.begin_effect(deed(), at(), resolution="approve")
