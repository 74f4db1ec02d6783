"""A question that waits while the rules change: what people were asked only they answer (T1, T3, M8)."""

from __future__ import annotations

from pathlib import Path

import pytest
from people import approvers
from session_support import Place, step

from hitl_tui.core.errors import Refused
from hitl_tui.core.identity import Proof
from hitl_tui.core.policy import Mode, Policy, Rule, Ruling, Terms
from hitl_tui.core.requests import Decision, Outcome, Verdict
from hitl_tui.core.supersession import Cause
from hitl_tui.ledger.approval_log import logged_decisions
from hitl_tui.wording.decision_rows import decision_cells

ALLOWS = Policy([Rule(Ruling.ALLOW, risk="high")])


def asking(root: Path, **terms: float) -> Place:
    place = Place(root, step("high", "pay"))
    place.mode = Mode.RISK
    place.policy = Policy([Rule(Ruling.ASK, risk="high", terms=Terms(**terms))])
    return place


async def test_a_rule_that_comes_to_allow_runs_nothing_that_waits(tmp_path: Path) -> None:
    place = asking(tmp_path)
    async with place.open() as op:
        question = (await op.rest()).questions[0]
    place.policy = ALLOWS
    async with place.open() as op:
        assert (await op.try_to(f"/todo reject {question.id} no"))["error"]
        asked = (await op.rest()).questions
        assert [q.todo_id for q in asked] == ["todo_001"] and asked[0].id != question.id
        view = await op.session.writer.request(question.id)
        assert view is not None and view.request.superseded is not None
        assert view.request.superseded.cause is Cause.POLICY
        await op.say("/todo reject 001 no")
        assert op.status("todo_001") == "failed"
    assert not place.world.done()


async def test_a_mode_names_what_rules_have_come_to_allow_and_lets_it_run(tmp_path: Path) -> None:
    place = asking(tmp_path)
    async with place.open() as op:
        await op.rest()
    place.policy = ALLOWS
    async with place.open() as op:
        await op.rest()
        assert (await op.say("/mode plan"))["freed"] == ["todo_001"]
        await op.rest()
        assert op.status("todo_001") == "completed"


@pytest.mark.parametrize("settled", [True, False], ids=["by another process", "at the opening"])
async def test_what_expired_as_rejected_stays_so_under_other_rules(tmp_path: Path, settled: bool) -> None:
    place = asking(tmp_path, deadline=8.0)
    async with place.open() as op:
        question = (await op.rest()).questions[0]
    place.clock.forward(60)
    if settled:
        async with place.ledger() as ledger:
            assert await ledger.expire(place.clock()) == [question.id]
    place.policy = ALLOWS
    async with place.open() as op:
        seen = await op.rest()
        assert (op.status("todo_001"), seen.questions, seen.refused) == ("failed", (), ())
        view = await op.session.writer.request(question.id)
        assert view is not None
        assert (view.resolution.outcome, view.resolution.verdict) == (Outcome.EXPIRED, Verdict.REJECT)
    assert not place.world.done()


async def test_a_refusal_that_another_process_recorded_counts_under_other_rules(tmp_path: Path) -> None:
    place = asking(tmp_path, quorum=2)
    async with place.open() as op:
        question = (await op.rest()).questions[0]
    async with place.ledger() as ledger:
        await ledger.mark_shown([question.id], "ann", "test", place.clock())
        who = {"person": "ann", "proof": Proof.TOKEN.value}
        await ledger.decide(
            Decision(question.id, Verdict.REJECT, "ann", question.digest, place.clock(), **who), place.clock()
        )
    place.policy = ALLOWS
    async with place.open() as op:
        seen = await op.rest()
        assert (op.status("todo_001"), seen.questions, seen.refused) == ("failed", (), ())
    assert not place.world.done()


async def test_a_vote_under_earlier_rules_is_told_from_one_that_counts(tmp_path: Path) -> None:
    place = asking(tmp_path, quorum=2)
    async with place.open() as op:
        question = (await op.rest()).questions[0]
        await op.say("/todo approve 001")
    place.policy = Policy([Rule(Ruling.ASK, risk="high", terms=Terms(quorum=2), name="two people")])
    async with place.open() as op:
        asked = (await op.rest()).questions[0]
        assert asked.id != question.id and asked.view.resolution.needed == 2
        assert "don't count for it (ann)" in str(asked.view.request.about["notes"][-1])
        with pytest.raises(Refused, match="the rules changed"):
            await op.person("bob").decide(question, Verdict.APPROVE)
        await op.say("/todo approve 001")
        said = await logged_decisions(op.session.writer.ledger, op.session.id)
        assert [(one.vote, one.takes, one.void) for one in said] == [(1, 2, "the rules changed"), (1, 2, "")]
        await op.person("bob").decide(op.now.questions[0], Verdict.APPROVE)
        await op.rest()
        said = await logged_decisions(op.session.writer.ledger, op.session.id)
        assert [(one.vote, one.void) for one in said] == [(1, "the rules changed"), (1, ""), (2, "")]
        assert "vote 1 of 2 · doesn't count: the rules changed" in " ".join(decision_cells(said[0].to_dict()))


async def test_what_a_rule_denies_after_people_were_asked_claims_nothing_else(tmp_path: Path) -> None:
    place = asking(tmp_path, quorum=2)
    async with place.open() as op:
        await op.rest()
        await op.say("/todo approve 001")
    place.policy = Policy([Rule(Ruling.DENY, risk="high", name="no payments")])
    async with place.open() as op:
        await op.until(lambda s: s.raw["todo_001"]["status"] == "failed")
        said = await logged_decisions(op.session.writer.ledger, op.session.id)
        cells = decision_cells(said[-1].to_dict())
        assert cells[1] == "(decided by a rule)" and 'policy rule 1 "no payments"' in cells[2]


async def test_a_vote_of_who_is_no_approver_any_more_counts_no_more(tmp_path: Path) -> None:
    place = asking(tmp_path, quorum=2)
    async with place.open() as op:
        await op.rest()
        await op.person("bob").decide(op.now.questions[0], Verdict.APPROVE)
    both, place.people = place.people, approvers("ann", carol=2)
    async with place.open() as op:
        question = (await op.rest()).questions[0]
        assert question.view.resolution.needed == 2, "what is shown counts only who is an approver now"
        await op.say("/todo approve 001")
        assert op.status("todo_001") == "waiting_approval" and not place.world.done()
    place.people = both
    async with place.open() as op:
        await op.rest()
        await op.person("bob").decide(op.now.questions[0], Verdict.APPROVE)
        await op.rest()
        assert op.status("todo_001") == "completed", "who is one again votes again"
        said = await logged_decisions(op.session.writer.ledger, op.session.id)
        assert [(one.vote, one.void) for one in said] == [(1, "no approver any more"), (1, ""), (2, "")]
