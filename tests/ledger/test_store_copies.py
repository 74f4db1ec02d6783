"""What every store keeps: sessions that are copies of others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ledger_support import Store, ask, at, deed, events, kinds, word

from hitl_tui.core.errors import Refused
from hitl_tui.core.requests import Verdict
from hitl_tui.ledger.protocols import Branches, Conflict, Effects, Inbox, Ledger, Requests, Streams
from hitl_tui.ledger.records import Branch, Effect, SessionCopy


def copied(*effects: Effect, **changes: Any) -> SessionCopy:
    """Return a copy of s1 called s2, whose checkpoints got to branch 3 and event 40."""
    copy = SessionCopy("s2", {"kind": "fork", "session": "s1"}, 4, 41, "cp-9", effects, "ann")
    return replace(copy, **changes)


class TestCopies:
    needs = (Streams, Requests, Inbox, Branches, Effects)

    async def test_a_copy_opens_with_a_restore_above_everything_its_checkpoints_hold(self, store: Store) -> None:
        async with store() as ledger:
            await ledger.begin_copy(copied(), at())
        async with store() as ledger:
            assert await ledger.branch("s2") == Branch(4, "cp-9")
            assert await ledger.post("s2", 4, "early", {"kind": "mode"}, at(1)) == 42
            await ledger.finish_restore("s2", 4, at(2))
            assert await events(ledger, 4, "s2") == ["restored:4", "early"]
            assert [p.seq for p in await ledger.after("s2", 40, 4)] == [41, 42]
            first = (await ledger.entries("s2"))[0]
            assert (first.kind, first.data) == (
                "session_copied",
                {"origin": {"kind": "fork", "session": "s1", "branch": 4}, "by": "ann"},
            )

    async def test_questions_of_a_copy_are_asked_on_its_branch(self, ledger: Ledger) -> None:
        await ledger.begin_copy(copied(), at())
        await ledger.finish_restore("s2", 4, at(1))
        await ledger.open_requests([ask(session="s2", branch=4)])
        assert [v.request.branch for v in await ledger.requests(at(2), session="s2")] == [4]

    async def test_a_copy_that_has_not_begun_has_nothing_to_restore(self, ledger: Ledger) -> None:
        await ledger.begin_copy(copied(checkpoint_id=""), at())
        assert await ledger.branch("s2") == Branch(0)
        assert await kinds(ledger, "s2") == ["session_copied"]

    async def test_a_stream_that_exists_is_never_begun_again(self, ledger: Ledger) -> None:
        await ledger.record("s2", "session_created", {}, at())
        with pytest.raises(Conflict, match="s2"):
            await ledger.begin_copy(copied(deed()), at(1))
        assert await kinds(ledger, "s2") == ["session_created"]

    @pytest.mark.parametrize("branch", [0, 4, -1])
    async def test_what_an_ancestor_did_elsewhere_is_asked_about_on_every_branch(
        self, ledger: Ledger, branch: int
    ) -> None:
        done = replace(deed(), session="s1", status="done", outcome={"receipt": "r-9"}, branch=branch)
        await ledger.begin_copy(copied(done), at())
        await ledger.finish_restore("s2", 4, at(1))
        wanted = deed(session="s2", branch=4, run_id="run-2")
        claim = await ledger.begin_effect(wanted, at(2))
        assert claim.verdict == "doubt"
        assert claim.effect is not None
        assert (claim.effect.session, claim.effect.branch, claim.effect.status) == ("s1", branch, "done")
        answer = await word(ledger, wanted, Verdict.USE_AS_DONE, seconds=3)
        claim = await ledger.begin_effect(wanted, at(3), resolution="use_as_done", answer_to=answer)
        assert claim.verdict == "done"
        assert claim.effect == replace(wanted, status="done", outcome={"receipt": "r-9"})
        assert (await ledger.begin_effect(wanted, at(4))).verdict == "done"

    async def test_what_an_ancestor_began_is_in_doubt_and_what_it_failed_to_do_is_free(self, ledger: Ledger) -> None:
        began, failed = replace(deed("eff-1"), status="started"), replace(deed("eff-2"), status="failed")
        await ledger.begin_copy(copied(began, failed), at())
        await ledger.finish_restore("s2", 4, at(1))
        verdicts = [
            (await ledger.begin_effect(deed(key, session="s2", branch=4), at(2))).verdict for key in ("eff-1", "eff-2")
        ]
        assert verdicts == ["doubt", "go"]
        wanted = deed("eff-1", session="s2", branch=4, run_id="run-3")
        answer = await word(ledger, wanted, seconds=3)
        again = await ledger.begin_effect(wanted, at(3), resolution="do_again", answer_to=answer)
        assert again.verdict == "go"

    async def test_what_the_ledger_knows_itself_stays_as_it_is(self, ledger: Ledger) -> None:
        await ledger.begin_effect(deed(), at())
        await ledger.end_effect("eff-1", "run-1", "done", {"rows": 1}, at(1))
        await ledger.begin_copy(copied(replace(deed(), status="started", run_id="other")), at(2))
        assert await kinds(ledger, "s2") == ["session_copied", "restore_intended"]
        (known,) = await ledger.effects("s1")
        assert (known.status, known.run_id, known.outcome) == ("done", "run-1", {"rows": 1})

    async def test_a_restore_of_a_copy_that_was_never_begun_is_refused(self, ledger: Ledger) -> None:
        await ledger.begin_copy(copied(), at())
        with pytest.raises(Refused):
            await ledger.finish_restore("s2", 5, at(1))
