"""A question that waits while the rules change: what people were asked only they answer (T1, T3, M8)."""

from __future__ import annotations

from pathlib import Path

from session_support import Place, step

from hitl_tui.core.policy import Mode, Policy, Rule, Ruling, Terms
from hitl_tui.core.supersession import Cause

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
