"""The review of a plan: its deadline, its revisions, and who or what ends it (P1, T3, M8, M9)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from people import verified
from session_support import Driver, Place, step
from trusting import trust_workspace

from hitl_tui.commands.handler import CommandHandler
from hitl_tui.core.errors import BadInput
from hitl_tui.core.plan_review import ReviewOptions
from hitl_tui.core.policy import Mode, Policy, Risk, Rule, Ruling, Terms
from hitl_tui.core.requests import Kind
from hitl_tui.ledger.approval_log import logged_decisions
from hitl_tui.ledger.records import DecidedEvent, RequestView, decided_event
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.session import Session
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.storage import SessionInfo
from hitl_tui.wording.question_rows import heading, whole

RISKY = Policy([Rule(Ruling.ALLOW, risk="high")])


def reviewed(op: Driver) -> dict[str, Any]:
    return dict(op.session._board().control.reviewed)


async def pass_deadline(op: Driver, seconds: float, *, shown: bool = True) -> None:
    """Let time pass that the plan's deadline begins with its showing."""
    seen = await op.rest()
    (question,) = seen.questions
    if shown:
        await op.session.setup.mark_shown([question.id], "runtime", "events")
    op.place.clock.forward(seconds)
    await op.session.setup.ledger.expire(op.place.clock(), "s1")
    await op.rest()


@pytest.mark.parametrize("ends", ["approve", "reject"])
async def test_nobody_answers_a_plan_in_time(tmp_path: Path, ends: str) -> None:
    """Silence approves the plan alone: what is of high risk asks, though a rule would let it run."""
    place = Place(tmp_path, step("low", "a"), step("high", "b"))
    place.mode, place.policy, place.review = Mode.PLAN, RISKY, ReviewOptions(300, ends)
    async with place.open() as op:
        await pass_deadline(op, 299)
        assert [q.kind for q in (await op.rest()).questions] == [Kind.PLAN]
    async with place.open() as op:  # kept where a restart finds it
        await pass_deadline(op, 2)
        seen = await op.until(lambda s: all(q.kind is not Kind.PLAN for q in s.questions) and not s.busy)
        assert {k: reviewed(op)[k] for k in ("ended_by", "verdict", "by", "channel", "revisions")} == {
            "ended_by": "timeout",
            "verdict": ends,
            "by": "deadline",
            "channel": "deadline",
            "revisions": 0,
        }
        risky = {todo.id for todo in seen.todos if todo.risk is Risk.HIGH}
        if ends == "approve":
            assert {q.todo_id for q in seen.questions} == risky
        else:
            assert set(op.statuses.values()) == {"skipped"} and place.world.done() == {}


async def test_silence_about_a_plan_that_nobody_was_shown_says_nothing(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"))
    place.mode, place.review = Mode.PLAN, ReviewOptions(300, "approve")
    async with place.open() as op:
        await pass_deadline(op, 10_000, shown=False)
        assert [q.kind for q in (await op.rest()).questions] == [Kind.PLAN]
        assert reviewed(op) == {} and place.world.done() == {}


async def test_each_revision_has_the_whole_time(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"))
    place.mode, place.review = Mode.PLAN, ReviewOptions(300, "approve")
    async with place.open() as op:
        await pass_deadline(op, 200)
        await op.say("/plan reject first remark")
        await pass_deadline(op, 200)
        assert [q.kind for q in (await op.rest()).questions] == [Kind.PLAN]
        await pass_deadline(op, 101)
        await op.until(lambda s: s.status == "finished")
        assert (reviewed(op)["ended_by"], reviewed(op)["revisions"]) == ("timeout", 1)


async def test_a_person_ends_the_review(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"))
    place.mode, place.review = Mode.PLAN, ReviewOptions(300, "approve", 3)
    async with place.open() as op:
        (question,) = (await op.rest()).questions
        await op.say("/plan approve")
        await op.rest()
        ended = reviewed(op)
        assert (ended["ended_by"], ended["by"], ended["channel"]) == ("person", "ann", "test")
        assert ended["request_id"] == question.id and ended["people"][0]["person"] == "ann"
        assert (ended["revisions"], ended["max_revisions"]) == (0, 3)


async def test_the_sessions_own_limit_of_revisions_counts(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"), step("high", "b"))
    place.mode, place.policy, place.review = Mode.PLAN, RISKY, ReviewOptions(max_revisions=2)
    async with place.open() as op:
        await op.rest()
        assert "One revision is left" in (await op.say("/plan reject first remark"))["message"]
        await op.rest()
        assert "limit of 2 revisions is reached" in (await op.say("/plan reject second remark"))["message"]
        seen = await op.rest()
        assert [q.kind for q in seen.questions] == [Kind.TODO]
        assert (reviewed(op)["ended_by"], reviewed(op)["by"], reviewed(op)["revisions"]) == ("limit", "limit", 2)
    async with place.open() as op:
        await op.rest()
        entries = [e for e in await op.session.setup.ledger.entries("s1") if e.kind == "plan_accepted"]
        assert [(e.data["by"], e.data["revisions"], e.data["max_revisions"]) for e in entries] == [("limit", 2, 2)]


async def test_rules_say_how_many_people_and_by_when_a_plan_is_decided(tmp_path: Path) -> None:
    """A rule's quorum holds beside the session's deadline, and then silence never stands for it (M9, M10)."""
    place = Place(tmp_path, step("low", "a"))
    rule = Rule(Ruling.ASK, request="plan", terms=Terms(quorum=2))
    place.mode, place.policy, place.review = Mode.PLAN, Policy([rule]), ReviewOptions(300, "approve")
    async with place.open() as op:
        (question,) = (await op.rest()).questions
        terms = question.view.request.terms
        assert (terms.quorum, terms.deadline, terms.on_deadline) == (2, 300, "reject")
        await op.say("/plan approve")
        assert [q.kind for q in (await op.rest()).questions] == [Kind.PLAN]
        result = await op.person("bob").handle_command("/plan approve")
        assert not result.failed
        await op.until(lambda s: s.status == "finished")
        assert [person["person"] for person in reviewed(op)["people"]] == ["ann", "bob"]


async def test_a_rule_lets_a_plan_begin_that_nobody_is_asked_about(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"))
    place.mode = Mode.PLAN
    place.policy = Policy([Rule(Ruling.ALLOW, request="plan", risk="low", name="plans of low risk")])
    async with place.open() as op:
        await op.until(lambda s: s.status == "finished")
        ended = reviewed(op)
        assert (ended["ended_by"], ended["by"], ended["channel"]) == (
            "rule",
            'policy rule 1 "plans of low risk"',
            "policy",
        )
        entries = [e for e in await op.session.setup.ledger.entries("s1") if e.kind == "plan_accepted"]
        assert [e.data["by"] for e in entries] == ['policy rule 1 "plans of low risk"']


async def test_rules_say_how_many_people_and_by_when_a_proposal_is_decided(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"))
    place.policy = Policy([Rule(Ruling.ASK, request="proposal", terms=Terms(quorum=2, deadline=60))])
    async with place.open() as op:
        seen = await op.rest()
        assert [q.view.request.terms.quorum for q in seen.questions] == [1]
        await op.say("more of it")
        seen = await op.until(lambda s: len(s.questions) == 2)
        terms = next(q.view.request.terms for q in seen.questions if q.kind is Kind.PROPOSAL)
        assert (terms.quorum, terms.deadline, terms.on_deadline) == (2, 60, "reject")
        place.clock.forward(61)
        await op.session.setup.ledger.expire(place.clock(), "s1")
        seen = await op.until(lambda s: len(s.questions) == 1)
        assert len(seen.todos) == 1


def test_a_session_of_before_has_the_usual_options() -> None:
    info = SessionInfo("s1", "/w", "t", "2026-01-01T00:00:00+00:00", "s1", review=ReviewOptions(5, "approve", 4))
    assert SessionInfo.from_dict(info.to_dict()) == info
    older = {key: value for key, value in info.to_dict().items() if key != "review"}
    assert SessionInfo.from_dict(older).review == ReviewOptions()


@pytest.mark.parametrize(
    "wrong",
    [{"deadline": -1}, {"deadline": float("nan")}, {"on_deadline": "later"}, {"max_revisions": 0}],
    ids=str,
)
def test_options_that_cant_be_used_are_refused_in_a_sentence(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=r"\."):
        ReviewOptions(**wrong)


async def test_who_or_what_ended_it_is_in_the_stream_the_history_and_the_json(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"))
    place.mode, place.review = Mode.PLAN, ReviewOptions(max_revisions=1)
    async with place.open() as op:
        assert op.now.plan_review == {
            "revisions": 0,
            "ended_by": None,
            "deadline": 0.0,
            "on_deadline": "reject",
            "max_revisions": 1,
        }
        await op.rest()
        await op.say("/plan reject first remark")
        seen = await op.until(lambda s: s.status == "finished")
        assert (seen.plan_review["ended_by"], seen.plan_review["revisions"]) == ("limit", 1)
        said = "The limit of revisions (1) let the plan begin, not a person; each risky step asks."
        assert said in [line.text for line in op.session.activity.lines]
        listed = await op.say("/checkpoint list")
        causes = [row["happened"] for row in listed["checkpoints"] if row.get("happened")]
        assert [cause["unasked"]["ended_by"] for cause in causes if cause["unasked"]] == ["limit"]
        decided = await logged_decisions(op.session.setup.ledger, "s1")
        assert [(d.asked, d.verdict, d.channel) for d in decided if d.asked == "plan"] == [
            ("plan", "reject", "test"),
            ("plan", "approve", "limit"),
        ]


async def test_a_revision_says_how_it_differs_and_what_wasnt_worked_in(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"))
    place.mode = Mode.PLAN
    async with place.open() as op:
        (first,) = (await op.rest()).questions
        assert "difference" not in first.view.request.about
        await op.say("/plan reject first remark")
        (second,) = (await op.rest()).questions
        difference = second.view.request.about["difference"]
        assert [s["id"] for s in difference["added"]] == ["todo_002"] and difference["kept"] == 1
        rows = "\n".join(f"{row.label} {row.text.plain}" for row in whole(second))
        assert "feedback first remark" in rows and "+ 002 heed first remark  (added)" in rows
        assert "revision 1 of at most 10" in heading(second, "", None).plain
        await op.handler.handle_command("/plan reject what?")
        (third,) = (await op.rest()).questions
        rows = "\n".join(f"{row.label} {row.text.plain}" for row in whole(third))
        assert "'what?' can't be worked in. This asks for nothing that is known." in rows
        assert "No step differs from the plan before." in rows
        assert len({first.id, second.id, third.id}) == 3
        await op.say("/plan approve")
        assert (await op.rest()).plan_review["ended_by"] == "person"


async def test_feedback_that_cant_be_worked_in_uses_up_no_revision(tmp_path: Path) -> None:
    """Whatever is said of the plan and not understood, the plan asks again; no limit lets it begin (P1)."""
    place = Place(tmp_path, step("low", "a"))
    place.mode, place.review = Mode.PLAN, ReviewOptions(max_revisions=2)
    async with place.open() as op:
        asked = list[str]()
        for number in range(4):
            (question,) = (await op.rest()).questions
            asked.append(question.id)
            refused = await op.handler.handle_command(f"/plan reject what {number}?")
            assert refused.failed and "limit" not in refused.message
        await op.rest()
        await op.say("/plan reject first remark")
        await op.rest()
        assert (await op.handler.handle_command("/plan reject and what?")).failed
    async with place.open() as op:
        (question,) = (await op.rest()).questions
        assert question.id not in asked and len({*asked}) == 4
        assert "'and what?' can't be worked in." in "\n".join(row.text.plain for row in whole(question))
        assert "revision 1 of at most 2" in heading(question, "", None).plain
        answer = await op.say("/plan reject second remark")
        assert (answer["status"], answer["revisions_left"]) == ("limit_reached", 0)
        seen = await op.until(lambda s: s.status == "finished")
        assert (seen.plan_review["ended_by"], seen.plan_review["revisions"]) == ("limit", 2)


async def test_feedback_of_an_earlier_record_uses_up_a_revision_as_it_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came of a plan is never another thing because a later version reads the record."""

    def older(view: RequestView) -> DecidedEvent:
        event = decided_event(view)
        del event["spares"]
        return event

    monkeypatch.setattr("hitl_tui.ledger.request_tables.decided_event", older)
    place = Place(tmp_path, step("low", "a"))
    place.mode, place.review = Mode.PLAN, ReviewOptions(max_revisions=2)
    async with place.open() as op:
        await op.rest()
        await op.say("/plan reject first remark")
        await op.rest()
        await op.handler.handle_command("/plan reject what?")
        seen = await op.until(lambda s: s.status == "finished")
        assert (seen.plan_review["ended_by"], seen.plan_review["revisions"]) == ("limit", 2)


async def test_a_deadline_that_passed_while_nothing_ran_is_carried_out_once(tmp_path: Path) -> None:
    """The ledger settles it; whatever process finds that next carries it out, and says it once (D12)."""
    place = Place(tmp_path, step("low", "a"))
    place.mode, place.review = Mode.PLAN, ReviewOptions(300, "approve")
    async with place.open() as op:
        (question,) = (await op.rest()).questions
        await op.session.setup.mark_shown([question.id], "runtime", "events")
    place.clock.forward(301)
    async with place.ledger() as ledger:  # settled, and its process killed before the session heard of it
        assert await ledger.expire(place.clock(), "s1") == [question.id]
        assert await ledger.expire(place.clock(), "s1") == []
    for _ in range(2):
        async with place.open() as op:
            await op.until(lambda s: s.status == "finished")
            decided = await logged_decisions(op.session.setup.ledger, "s1")
            assert [(d.asked, d.verdict, d.channel) for d in decided if d.asked == "plan"] == [
                ("plan", "approve", "deadline")
            ]
            result = await op.handler.handle_command("/plan reject too late")
            assert result.failed
    assert place.world.done() == {"todo_001": 1}


NOTE = """
[teams.command_team.commands.note]
description = "Notes how many days are left"
run = ["touch", "--", "{days}"]
parameters.days = { type = "integer" }
risk = "low"
"""


async def test_what_a_reviewer_fills_in_is_not_missing_any_more(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    workspace.mkdir()
    (workspace / "hitl.toml").write_text(NOTE, encoding="utf-8")
    trust_workspace(tmp_path / "d", workspace)
    async with SessionRegistry.open(tmp_path / "d") as registry:
        setup = await registry.create("run note", workspace, mode=Mode.PLAN)
        async with open_session(registry.store, setup) as opened:
            session = opened.view
            assert isinstance(session, Session)
            handler = CommandHandler(session, setup.planner, by="ann", channel="test", acting=verified("ann"))
            await session.settled()
            assert session.snapshot.todos[0].metadata["lacks"] == ["days"]
            for line in ("/plan reject days=30", "/plan approve"):
                result = await handler.handle_command(line)
                assert not result.failed, result.message
                await session.settled()
            assert (session.snapshot.status, (workspace / "30").exists()) == ("finished", True)
