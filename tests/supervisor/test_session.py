"""A session with its real saver and ledger: running, asking, reopening, restoring (D2, D7 to D12, D14, D15, C6)."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from session_support import ListPlanner, Place, World, step, truthful

from hitl_tui.core.errors import HitlError, Refused, ServerAway, StorageError
from hitl_tui.core.json_text import digest
from hitl_tui.core.policy import Mode, Policy, Risk, Rule, Ruling, Terms
from hitl_tui.core.requests import Decision, Kind, Verdict
from hitl_tui.ledger import stream_tables
from hitl_tui.supervisor.own_session import own_session
from hitl_tui.supervisor.snapshot import Question, Snapshot
from hitl_tui.teams.contract import TeamContext, TeamFailure
from hitl_tui.teams.function_team import FunctionTeam


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, step("low", "a"), step("low", "b", "a"))


def _completed(todo_id: str, seen: Snapshot) -> bool:
    return bool(seen.raw[todo_id]["status"] == "completed")


def alone(tmp_path: Path, agent: str = "low", **more: Any) -> Place:
    return Place(tmp_path, step(agent, "a", **more))


# Running and reopening -----------------------------------------------------------------------------------------


async def test_each_todo_asks_runs_once_and_the_answer_comes(place: Place) -> None:
    async with place.open() as op:
        met = await op.finish()
        assert [(q.kind, q.todo_id) for q in met] == [(Kind.TODO, "todo_001"), (Kind.TODO, "todo_002")]
        assert op.now.status == "finished"
        assert op.now.response is not None
        assert "todo_002 did b" in op.now.response["text"]
    assert place.world.done() == {"todo_001": 1, "todo_002": 1}
    _, inputs = place.world.seen["todo_002"]
    assert inputs["todo_001"].text == "todo_001 did a"


async def test_a_session_goes_on_whenever_it_was_closed_at_rest(place: Place) -> None:
    for todo_id in ("todo_001", "todo_002"):
        for _ in range(2):  # opened twice without doing anything: the same question
            async with place.open() as op:
                seen = await op.rest()
                assert [q.todo_id for q in seen.questions] == [todo_id]
                asked = seen.questions[0].id
        async with place.open() as op:
            assert (await op.rest()).questions[0].id == asked
            await op.say("/todo approve")
            await op.until(partial(_completed, todo_id))
    async with place.open() as op:
        assert (await op.rest()).status == "finished"
    assert place.world.done() == {"todo_001": 1, "todo_002": 1}


async def test_a_running_todo_goes_on_when_the_session_is_opened_again(place: Place) -> None:
    place.world.hold("todo_001")
    async with place.open() as op:
        await op.say("/todo approve")
        await place.world.began("todo_001")
    assert place.world.done() == {}
    place.world.gates.clear()
    async with place.open() as op:
        met = await op.finish()
        assert [q.todo_id for q in met] == ["todo_002"]
    assert place.world.done() == {"todo_001": 1, "todo_002": 1}


@pytest.mark.parametrize("mode", [Mode.RISK, Mode.PLAN])
async def test_low_risk_passes_by_itself_in_the_other_modes(tmp_path: Path, mode: Mode) -> None:
    place = Place(tmp_path, step("low", "a"), step("high", "b", "a"))
    place.mode = mode
    async with place.open() as op:
        kinds = [q.kind for q in await op.finish()]
    assert kinds == ([Kind.PLAN, Kind.TODO] if mode is Mode.PLAN else [Kind.TODO])
    assert place.world.done() == {"todo_001": 1, "todo_002": 1}


async def test_the_bound_holds_from_the_first_start_on(tmp_path: Path) -> None:
    place = Place(tmp_path, *(step("low", name) for name in "abcdef"))
    place.mode, place.concurrency = Mode.RISK, 2
    held = ("todo_001", "todo_002")
    place.world.hold(*held)
    async with place.open() as op:
        for todo_id in held:
            await place.world.began(todo_id)
        for todo_id in held:
            place.world.release(todo_id)
        await op.finish()
    assert place.world.most == 2
    assert sum(place.world.done().values()) == 6


async def test_unrelated_work_never_waits(tmp_path: Path) -> None:
    """D9: a held sibling and an unanswered question hold nothing up."""
    place = Place(tmp_path, step("low", "a"), step("low", "b"), step("low", "c", "b"), step("high", "d"))
    place.world.hold("todo_001", "todo_002")
    async with place.open() as op:
        await op.say("/todo approve 1 2 3")
        await place.world.began("todo_001")
        place.world.release("todo_002")  # not before 003 was approved, which works from its result
        await op.until(lambda s: s.raw["todo_003"]["status"] == "completed")
        assert op.status("todo_001") == "in_progress"
        assert [q.todo_id for q in op.now.questions] == ["todo_004"]
        place.world.release("todo_001")


async def test_mode_changes_midway_are_obeyed_at_once(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"), step("low", "b", "a"), step("low", "c", "b"))
    place.world.hold("todo_002")
    async with place.open() as op:
        await op.say("/mode risk")
        await place.world.began("todo_002")
        assert place.world.done() == {"todo_001": 1}
        await op.say("/mode step")
        place.world.release("todo_002")
        seen = await op.rest()
        assert [q.todo_id for q in seen.questions] == ["todo_003"]


async def test_mode_risk_and_back_leaves_a_question_that_can_be_answered(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"), step("low", "b"))
    place.concurrency = 1
    place.world.hold("todo_001")
    async with place.open() as op:
        await op.say("/todo approve 1")
        await place.world.began("todo_001")
        await op.say("/mode risk", "/mode step", "/todo approve 2")
        place.world.release("todo_001")
        assert (await op.rest()).status == "finished"


async def test_doing_a_dependency_again_leaves_a_question_that_can_be_answered(place: Place) -> None:
    async with place.open() as op:
        await op.say("/todo approve 1")
        await op.rest()
        await op.say("/todo update 1 pending", "/todo approve 1")
        await op.until(lambda s: s.raw["todo_002"]["status"] == "waiting_approval")
        await op.rest()
        await op.say("/todo approve 2")
        assert (await op.rest()).status == "finished"


async def test_a_result_may_lead_to_a_proposal_that_asks(tmp_path: Path) -> None:
    planner = ListPlanner([step("low", "a")], follow={"todo_001": step("low", "follow", "todo_001")})
    place = Place(tmp_path, planner=planner)
    async with place.open() as op:
        await op.say("/todo approve")
        seen = await op.rest()
        assert [q.kind for q in seen.questions] == [Kind.PROPOSAL]
        assert not seen.concluded
        await op.say("/proposal accept")
        await op.rest()
        await op.say("/todo approve")
        assert (await op.rest()).status == "finished"
    assert place.world.done() == {"todo_001": 1, "todo_002": 1}


async def test_a_finished_session_can_be_taken_further(place: Place) -> None:
    async with place.open() as op:
        await op.finish()
        first = op.now.response
        await op.say("/todo add low more --after 2")
        seen = await op.rest()
        assert not seen.concluded
        await op.finish()
        assert op.now.response != first


async def test_priorities_and_order_are_obeyed_while_running(tmp_path: Path) -> None:
    place = Place(tmp_path, *(step("low", name) for name in "abcd"))
    place.concurrency = 1
    place.world.hold("todo_001", "todo_004")
    async with place.open() as op:
        await op.say("/todo approve 1 2 3 4")
        await place.world.began("todo_001")
        await op.say("/todo priority 4 critical", "/todo move 3 before 2")
        place.world.release("todo_001")
        await place.world.began("todo_004")
        assert place.world.done() == {"todo_001": 1}
        place.world.release("todo_004")
        await op.rest()
    lines = place.world.path.read_text().split()[::2]
    assert lines == ["todo_001", "todo_004", "todo_003", "todo_002"]


# What was shown is what runs -----------------------------------------------------------------------------------


async def test_what_was_displayed_is_what_was_executed(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"), step("medium", "b", "a"), step("high", "c", "b"))
    async with place.open() as op:
        met = await op.finish()
        for question in met:
            request = question.view.request
            assert request.digest == digest(request.subject)
            arguments, inputs = place.world.seen[question.todo_id]
            assert request.subject["arguments"] == arguments
            assert set(request.subject["inputs"]) == set(inputs)
            todo = op.now.todo(question.todo_id)
            assert todo is not None
            assert todo.approval is not None
            assert todo.approval["digest"] == request.digest
            for todo_id, reference in request.subject["inputs"].items():
                result = await op.session.artifact(reference)
                assert result == inputs[todo_id].to_dict()


async def test_an_edit_between_question_and_decision_makes_it_stale(tmp_path: Path) -> None:
    place = alone(tmp_path)
    async with place.open() as op:
        shown = (await op.rest()).questions[0]
        await op.say("/todo edit 1 what=other")
        with pytest.raises(Refused) as refused:
            await op.handler.decide(shown, Verdict.APPROVE)
        assert refused.value.reason == "superseded"
        assert place.world.done() == {}
        await op.say("/todo approve")
        await op.rest()
    assert place.world.path.read_text() == "todo_001 other\n"


async def test_a_decision_with_another_digest_is_refused(tmp_path: Path) -> None:
    async with alone(tmp_path).open() as op:
        shown = (await op.rest()).questions[0]
        forged = Decision(shown.id, Verdict.APPROVE, "eve", digest("something else"), op.place.clock())
        with pytest.raises(Refused) as refused:
            await op.session.writer.decide(forged)
        assert refused.value.reason == "stale"
        assert op.status("todo_001") == "waiting_approval"


async def test_an_approval_in_advance_holds_for_the_inputs_to_come(place: Place) -> None:
    async with place.open() as op:
        await op.say("/todo approve 2", "/todo approve 1")
        assert (await op.rest()).status == "finished"


async def test_high_risk_isnt_approved_in_advance(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"), step("high", "b", "a"))
    async with place.open() as op:
        answer = await op.try_to("/todo approve 2")
        assert "asks once its input is known" in answer["error"]


async def test_an_approval_in_advance_needs_its_quorum_and_survives_what_happens_meanwhile(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"), step("low", "b", "a"), step("low", "c"))
    place.policy = Policy([Rule(Ruling.ASK, risk="low", terms=Terms(quorum=2))])
    async with place.open() as op:
        assert (await op.say("/todo approve 2"))["status"] == "recorded"
        await op.say("/todo edit 3 what=other")
    async with place.open() as op:
        answer = (await op.person("bob").handle_command("/todo approve 2")).to_dict()
        assert answer["status"] == "resumed", answer


# Deadlines, quorum, policy -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("on_deadline", "ends"), [("reject", "failed"), ("approve", "completed")])
async def test_a_question_expires_by_its_terms(tmp_path: Path, on_deadline: str, ends: str) -> None:
    place = alone(tmp_path)
    place.policy = Policy([Rule(Ruling.ASK, terms=Terms(deadline=60, on_deadline=on_deadline))])
    async with place.open() as op:
        shown = (await op.rest()).questions[0]
        op.session.writer.showing.note([shown.id], "ann", "test")
        await op.session.writer.showing.settled()
        place.clock.forward(61)
        with pytest.raises(Refused) as refused:
            await op.handler.decide(shown, Verdict.APPROVE)
        assert refused.value.reason == "late"
        seen = await op.until(lambda s: s.concluded)
        assert seen.raw["todo_001"]["status"] == ends


async def test_no_silence_approves_a_question_before_it_was_shown(tmp_path: Path) -> None:
    """Its time begins when somebody is shown it, over restarts too, and its countdown with it (T3)."""
    place = alone(tmp_path)
    place.policy = Policy([Rule(Ruling.ASK, terms=Terms(deadline=60, on_deadline="approve"))])
    for _ in range(2):
        async with place.open() as op:
            asked = (await op.rest()).questions[0].to_dict()
            assert (asked["deadline"], asked["first_shown"]) == ("", "")
        place.clock.forward(1000)
    async with place.open() as op:
        question = (await op.rest()).questions[0]
        op.session.writer.showing.note([question.id], "ann", "test")
        seen = await op.until(lambda s: bool(s.questions and s.questions[0].view.request.first_shown))
        asked = seen.questions[0].to_dict()
        assert asked["deadline"] > asked["first_shown"] > asked["opened_at"]
    assert place.world.done() == {}
    place.clock.forward(61)
    async with place.open() as op:
        await op.until(lambda s: s.concluded)
    assert place.world.done() == {"todo_001": 1}


@pytest.mark.parametrize("shown", [False, True])
@pytest.mark.parametrize("mode", list(Mode))
async def test_what_is_of_high_risk_never_expires_into_an_approval(tmp_path: Path, mode: Mode, shown: bool) -> None:
    place = Place(tmp_path, step("high", "a"))
    place.mode, place.policy = mode, Policy([Rule(Ruling.ASK, terms=Terms(deadline=60, on_deadline="approve"))])
    async with place.open() as op:
        seen = await op.rest()
        if mode is Mode.PLAN:
            await op.say("/plan approve")
            seen = await op.until(lambda s: bool(s.question_of("todo_001")))
        question = seen.questions[0]
        assert question.view.request.terms.on_deadline == "reject"
        assert any("on_deadline" in note for note in question.view.request.about["notes"])
        if shown:
            op.session.writer.showing.note([question.id], "ann", "test")
    place.clock.forward(61)
    async with place.open() as op:
        seen = await op.until(lambda s: s.concluded)
        assert seen.raw["todo_001"]["status"] == "failed"
    assert place.world.done() == {}


async def test_an_older_programs_approval_by_deadline_lets_nothing_of_high_risk_run(tmp_path: Path) -> None:
    """In the inbox already when this program comes: it counts as a rejection."""
    place = Place(tmp_path, step("high", "a"))
    async with place.open() as op:
        request = (await op.rest()).questions[0].view.request
    async with place.ledger() as ledger:
        event = {
            "kind": "decided",
            "request_id": request.id,
            "asked": "todo",
            "todo_id": "todo_001",
            "digest": request.digest,
            "verdict": "approve",
            "outcome": "expired",
            "by": "deadline",
            "channel": "deadline",
            "at": place.clock(),
            "reason": "nobody decided",
            "value": None,
        }
        await ledger._database.write(
            lambda db: stream_tables.write_event(
                db, "s1", 0, f"decided:{request.id}", event, place.clock(), settles=request.id
            )
        )
    async with place.open() as op:
        seen = await op.until(lambda s: s.concluded)
        assert seen.raw["todo_001"]["status"] == "failed"
    assert place.world.done() == {}


async def test_a_deadline_that_passed_while_nobody_had_the_session_open_holds(tmp_path: Path) -> None:
    place = alone(tmp_path)
    place.policy = Policy([Rule(Ruling.ASK, terms=Terms(deadline=60))])
    async with place.open() as op:
        await op.rest()
    place.clock.forward(61)
    async with place.open() as op:
        seen = await op.until(lambda s: s.concluded)
        assert "expired" in seen.raw["todo_001"]["error"]
    assert place.world.done() == {}


async def test_two_people_make_a_quorum_and_one_person_doesnt(tmp_path: Path) -> None:
    place = alone(tmp_path)
    place.policy = Policy([Rule(Ruling.ASK, terms=Terms(quorum=2))])
    async with place.open() as op:
        await op.rest()
        first = await op.say("/todo approve 1")
        assert (first["status"], first["needed"]) == ("recorded", 1)
        again = await op.try_to("/todo approve 1")
        assert again["reason"] == "repeated"
        assert op.status("todo_001") == "waiting_approval"
        assert not place.world.done()
        second = (await op.person("bob").handle_command("/todo approve 1")).to_dict()
        assert second["status"] == "resumed"
        assert (await op.rest()).status == "finished"


async def test_an_edit_voids_the_votes_that_were_given(tmp_path: Path) -> None:
    place = alone(tmp_path)
    place.policy = Policy([Rule(Ruling.ASK, terms=Terms(quorum=2))])
    async with place.open() as op:
        before = (await op.rest()).questions[0].view.request
        assert (await op.say("/todo approve 1"))["needed"] == 1
        await op.say("/todo edit 1 what=other")
        (question,) = (await op.rest()).questions
        assert question.view.request.id != before.id and question.view.decisions == ()
        assert (await op.person("bob").handle_command("/todo approve 1")).to_dict()["needed"] == 1
        assert not place.world.done()
        assert (await op.say("/todo approve 1"))["status"] == "resumed"
        await op.rest()
    async with place.ledger() as ledger:  # the record alone says so
        views = await ledger.requests("2100-01-01T00:00:00+00:00", session="s1", pending=False)
    assert [(v.resolution.outcome.value, len(v.decisions)) for v in views] == [("superseded", 1), ("approved", 2)]


async def test_a_question_that_too_few_answered_in_time_says_how_many_did(tmp_path: Path) -> None:
    place = alone(tmp_path)
    place.policy = Policy([Rule(Ruling.ASK, terms=Terms(quorum=2, deadline=60))])
    async with place.open() as op:
        deadline = (await op.rest()).questions[0].view.request.deadline
        assert (await op.say("/todo approve 1"))["status"] == "recorded"
        place.clock.forward(61)
        seen = await op.until(lambda s: s.concluded)
        assert seen.raw["todo_001"]["error"] == f"expired: only 1 of 2 people had decided before {deadline}"


async def test_trying_again_takes_as_many_people_as_running_it(tmp_path: Path) -> None:
    place = alone(tmp_path)
    place.policy = Policy([Rule(Ruling.ASK, terms=Terms(quorum=2, deadline=60))])
    place.world.fail["todo_001"] = [TeamFailure("it broke"), None]
    async with place.open() as op:
        await op.rest()
        await op.say("/todo approve 1")
        await op.person("bob").handle_command("/todo approve 1")
        seen = await op.until(lambda s: any(q.kind is Kind.FAILURE for q in s.questions))
        place.clock.forward(3_600)  # nothing is decided because nobody came in time
        assert (await op.say("/todo retry 1"))["status"] == "recorded"
        assert op.now.questions[0].id == seen.questions[0].id and op.status("todo_001") == "failed"
        assert not place.world.done()
        assert (await op.person("bob").handle_command("/todo retry 1")).to_dict()["status"] == "resumed"
        assert (await op.rest()).status == "finished"
    assert place.world.done() == {"todo_001": 1}


async def test_what_is_denied_meanwhile_is_not_tried_again(tmp_path: Path) -> None:
    place = alone(tmp_path)
    place.world.fail["todo_001"] = [TeamFailure("it broke"), None]
    async with place.open() as op:
        await op.say("/todo approve 1")
        await op.until(lambda s: any(q.kind is Kind.FAILURE for q in s.questions))
    place.policy = Policy([Rule(Ruling.DENY)])
    async with place.open() as op:
        (question,) = (await op.rest()).questions
        assert question.view.request.options == (Verdict.SKIP, Verdict.STOP)
        assert "error" in await op.try_to("/todo retry 1")
        await op.say("/todo skip 1")
    assert not place.world.done()


async def test_a_level_is_required_of_approvers(tmp_path: Path) -> None:
    place = alone(tmp_path)
    place.policy = Policy([Rule(Ruling.ASK, terms=Terms(level=2))])
    async with place.open() as op:
        await op.rest()
        assert (await op.try_to("/todo approve 1"))["reason"] == "not_allowed"
        high = (await op.person("carol", 2).handle_command("/todo approve 1")).to_dict()
        assert high["status"] == "resumed"


async def test_another_policy_at_opening_supersedes_what_was_asked(place: Place) -> None:
    async with place.open() as op:
        old = (await op.rest()).questions[0]
    original, place.policy = place.policy, Policy([Rule(Ruling.ASK, terms=Terms(quorum=2))])
    async with place.open() as op:
        seen = await op.rest()
        assert [q.todo_id for q in seen.questions] == ["todo_001"]
        with pytest.raises(Refused) as refused:
            await op.handler.decide(old, Verdict.APPROVE)
        assert refused.value.reason == "superseded"
        waiting = await op.session.setup.ledger.requests(place.clock(), session="s1")
        assert [v.request.id for v in waiting] == [q.id for q in seen.questions]
    place.policy = original
    async with place.open() as op:  # and back: what is asked can be answered
        await op.finish()


async def test_another_policy_at_opening_withdraws_what_was_approved(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"), step("low", "b"))
    place.concurrency = 1
    place.world.hold("todo_001")
    async with place.open() as op:
        await op.say("/todo approve 1 2")
        await place.world.began("todo_001")
    place.world.gates.clear()
    place.policy = Policy([Rule(Ruling.ASK, team="nobody")])
    async with place.open() as op:
        met = await op.finish()
        assert [q.todo_id for q in met] == ["todo_002"]


async def test_a_policy_that_denies_is_stronger_than_any_approval(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"), step("medium", "b", "a"))
    place.policy = Policy([Rule(Ruling.DENY, risk="medium")])
    async with place.open() as op:
        answer = await op.try_to("/todo approve 2")
        assert "denied by the policy" in answer["error"]
        await op.finish()
        assert op.statuses == {"todo_001": "completed", "todo_002": "failed"}


# Failures ------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RuntimeError("broke"), "RuntimeError: broke"),
        (ValueError(), "ValueError"),
        (TeamFailure("The tool said no."), "The tool said no."),
        (TimeoutError("the database"), "TimeoutError: the database"),
        (asyncio.CancelledError(), "CancelledError"),
        (KeyError("k"), "KeyError: 'k'"),
        (RuntimeError("x" * 5000 + "\x1b[31m"), "RuntimeError: xxx"),
        (ExceptionGroup("several", [ValueError("a"), OSError("b")]), "ExceptionGroup: several"),
        (RecursionError("deep"), "RecursionError: deep"),
        (StopIteration("end"), "StopIteration"),
        (GeneratorExit(), "GeneratorExit"),
    ],
    ids=lambda v: type(v).__name__ if isinstance(v, BaseException) else "",
)
async def test_whatever_a_team_raises_is_a_failure_that_is_asked_about(
    tmp_path: Path, error: BaseException, said: str
) -> None:
    place = alone(tmp_path)
    place.world.fail["todo_001"] = [error]
    async with place.open() as op:
        await op.say("/todo approve")
        seen = await op.rest()
        assert [q.kind for q in seen.questions] == [Kind.FAILURE]
        assert said in seen.raw["todo_001"]["error"]
        assert len(seen.raw["todo_001"]["error"]) <= 500
        await op.say("/todo retry 1")
        assert (await op.rest()).status == "finished"
    assert place.world.done() == {"todo_001": 1}


async def test_a_failure_is_tried_again_without_asking(tmp_path: Path) -> None:
    place = alone(tmp_path, retry_count=2)
    place.world.fail["todo_001"] = [OSError("one"), OSError("two")]
    async with place.open() as op:
        await op.say("/todo approve")
        assert (await op.rest()).status == "finished"
        assert op.now.raw["todo_001"]["retry_count"] == 2
    assert place.world.runs == {"todo_001": 3}


async def test_a_timeout_counts_as_a_failure(tmp_path: Path) -> None:
    place = alone(tmp_path, timeout=1.0)
    place.world.hold("todo_001")
    async with place.open() as op:
        await op.say("/todo approve")
        seen = await op.rest()
        assert "longer than 1 s" in seen.raw["todo_001"]["error"]
        place.world.gates.clear()
        await op.say("/todo retry 1")
        assert (await op.rest()).status == "finished"


async def test_a_team_that_is_gone_fails_its_todo(tmp_path: Path) -> None:
    place = alone(tmp_path)
    async with place.open() as op:
        await op.rest()
    del place.teams["low"]
    async with place.open() as op:
        await op.say("/todo approve")
        seen = await op.rest()
        assert [q.kind for q in seen.questions] == [Kind.FAILURE]


async def test_cancel_then_retry(tmp_path: Path) -> None:
    place = alone(tmp_path)
    place.world.hold("todo_001")
    async with place.open() as op:
        await op.say("/todo approve")
        await place.world.began("todo_001")
        await op.say("/todo cancel 1")
        seen = await op.rest()
        assert "cancelled by ann" in seen.raw["todo_001"]["error"]
        assert not place.world.running
        place.world.gates.clear()
        await op.say("/todo retry 1")
        assert (await op.rest()).status == "finished"
    assert place.world.done() == {"todo_001": 1}


class Stubborn:
    """A team that doesn't stop when it is told to, and tries to act on the world afterwards."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.begun, self.free, self.over = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.outcome = ""

    async def __call__(self, context: TeamContext) -> str:
        self.begun.set()
        while not self.free.is_set():
            try:
                await self.free.wait()
            except asyncio.CancelledError:
                continue

        async def act() -> dict[str, Any]:
            self.world.path.write_text("too late")
            return {}

        try:
            await context.effects("late", {}, act)
        except HitlError as error:
            self.outcome = error.message
            raise
        finally:
            self.over.set()
        return "done"


async def test_a_run_that_cant_be_stopped_is_named_and_does_nothing_more(tmp_path: Path) -> None:
    place = alone(tmp_path)
    team = Stubborn(place.world)
    place.teams["low"] = FunctionTeam("low", "stubborn", Risk.LOW, team, {}, timeout=0.0)
    async with place.open() as op:
        op.session._dispatcher._grace = 0.01
        await op.say("/todo approve")
        await team.begun.wait()
        await op.say("/todo cancel 1")
        seen = await op.rest()
        assert seen.raw["todo_001"]["status"] == "failed"
        lines = [line.text for line in op.session.activity.lines if line.kind == "note"]
        assert lines == ["s1/todo_001/0.1 can't be stopped and still runs"]
        await op.say("/mode risk", "/mode step")  # it is said once, and everything else goes on
        assert [line.text for line in op.session.activity.lines if line.kind == "note"] == lines
        team.free.set()
        await team.over.wait()
        assert "stopped" in team.outcome
    assert not place.world.path.exists()


# Plans ---------------------------------------------------------------------------------------------------------


async def test_a_plan_goes_back_with_feedback_and_comes_again(tmp_path: Path) -> None:
    planner = ListPlanner([step("low", "a")])
    place = Place(tmp_path, planner=planner)
    place.mode = Mode.PLAN
    async with place.open() as op:
        await op.rest()
        await op.say("/plan reject first remark")
        seen = await op.rest()
        assert [t.description for t in seen.todos] == ["a", "heed first remark"]
        await op.say("/plan reject second remark")
        seen = await op.rest()
        assert [t.description for t in seen.todos] == ["a", "heed second remark"]
        assert planner.remarks[-1] == ["first remark", "second remark"]
        assert list(seen.raw) == ["todo_001", "todo_003"]  # what stays keeps its id, and none is used again
        await op.say("/plan approve")
        assert (await op.rest()).status == "finished"


async def test_feedback_that_cant_be_worked_in_leaves_the_plan_and_asks_again(tmp_path: Path) -> None:
    planner = ListPlanner([step("low", "a")])
    place = Place(tmp_path, planner=planner)
    place.mode = Mode.PLAN
    async with place.open() as op:
        await op.rest()
        await op.say("/plan reject first remark")
        before = await op.rest()
        result = await op.handler.handle_command("/plan reject what?")
        assert result.failed and "'what?' can't be worked in. This asks for nothing that is known." in result.message
        seen = await op.rest()
        assert not seen.concluded and seen.raw == before.raw
        assert seen.questions[0].kind is Kind.PLAN and seen.questions[0].id != before.questions[0].id
        await op.say("/plan reject second remark")
        await op.rest()
        assert planner.remarks[-1] == ["first remark", "second remark"]
        await op.say("/plan approve")
        assert (await op.rest()).status == "finished"


async def test_the_limit_of_revisions_is_no_persons_approval(tmp_path: Path) -> None:
    """The last feedback says what happens, the record says the limit, and what is of high risk asks all the same."""
    place = Place(tmp_path, step("low", "a"), step("high", "b"))
    place.mode, place.policy = Mode.PLAN, Policy([Rule(Ruling.ALLOW, risk="high")])
    async with place.open() as op:
        for number in range(1, 10):
            await op.rest()
            answer = await op.say(f"/plan reject remark {number}")
            assert answer["status"] == "rejected"
        assert "One revision is left" in answer["message"]
        await op.rest()
        answer = await op.say("/plan reject remark 10")
        assert (answer["status"], answer["revisions_left"]) == ("limit_reached", 0)
        assert "the plan goes ahead, each risky step still asks" in answer["message"]
        seen = await op.rest()
        asked = {q.todo_id for q in seen.questions}
        risky = {todo.id for todo in seen.todos if todo.risk is Risk.HIGH}
        assert asked == risky and len(risky) == 1
        assert not risky & place.world.done().keys()
    async with place.open() as op:
        await op.rest()
        entries = [e for e in await op.session.setup.ledger.entries("s1") if e.kind == "plan_accepted"]
        assert [(e.data["by"], e.data["revisions"]) for e in entries] == [("limit", 10)]


async def test_a_rejection_without_feedback_drops_the_plan_also_at_the_last_revision(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"))
    place.mode = Mode.PLAN
    async with place.open() as op:
        for number in range(1, 10):
            await op.rest()
            await op.say(f"/plan reject remark {number}")
        await op.rest()
        assert (await op.say("/plan reject"))["status"] == "rejected"
        await op.until(lambda s: s.concluded)
    assert place.world.done() == {}


async def test_a_plan_that_is_rejected_without_words_ends_the_session(place: Place) -> None:
    place.mode = Mode.PLAN
    async with place.open() as op:
        await op.rest()
        await op.say("/plan reject")
        seen = await op.rest()
        assert seen.concluded
        assert set(op.statuses.values()) == {"skipped"}
    assert place.world.done() == {}


async def test_a_plan_that_was_moved_about_can_still_be_approved(place: Place) -> None:
    place.mode = Mode.PLAN
    async with place.open() as op:
        await op.rest()
        await op.say("/todo add low more", "/todo move 3 before 1", "/todo move 3 after 2", "/todo remove 3")
        await op.rest()
        await op.say("/plan approve")
        assert (await op.rest()).status == "finished"


# Storage that fails --------------------------------------------------------------------------------------------


async def test_a_result_tampered_with_on_disk_is_noticed(place: Place) -> None:
    async with place.open() as op:
        await op.say("/todo approve 1")
        seen = await op.rest()
        reference = seen.raw["todo_001"]["result"]["digest"]
        path = place.data.session("s1").path / "artifacts" / reference[:2] / reference
        path.write_text('{"text": "forged"}')
        with pytest.raises(StorageError):
            await op.session.artifact(reference)
        await op.say("/todo approve 2")
        seen = await op.rest()
        assert "was changed on disk" in seen.raw["todo_002"]["error"]
        assert [q.kind for q in seen.questions] == [Kind.FAILURE]
    assert place.world.done() == {"todo_001": 1}


async def test_a_value_that_checkpoints_cant_hold_doesnt_end_the_session(tmp_path: Path) -> None:
    place = alone(tmp_path)
    schema = {"type": "object", "properties": {"what": {}}}
    place.teams["low"] = FunctionTeam("low", "d", Risk.LOW, place.world.act, schema, text_argument="what", timeout=0.0)
    async with place.open() as op:
        await op.rest()
        for odd in ('{"what": 1%s}' % ("0" * 30), '{"what": "\\ud800"}', '{"what": -9223372036854775809}'):
            await op.try_to(f"/todo edit 1 {odd}")
            await op.say("/todo priority 1 high", "/todo priority 1 low")
    async with place.open() as op:
        await op.rest()


async def test_an_event_nobody_can_read_doesnt_end_the_session(tmp_path: Path) -> None:
    place = alone(tmp_path)
    odd: list[dict[str, Any]] = [
        {"kind": "skip", "data": [1], "seq": "x"},
        {"kind": "skip", "data": None, "seq": None},
        {"kind": "nonsense"},
        {"kind": "add", "data": {"todo": {"id": "todo_" + "9" * 30, "name": "n", "max_retries": 10**30}}},
        {"kind": "decided", "asked": "todo", "verdict": "approve", "todo_id": "todo_001", "request_id": "req-x"},
        {"kind": "move", "data": {"todo_id": "todo_001", "where": "before", "anchor": {"x": 1}}},
        {"kind": "proposed", "data": {"proposal": {"id": "p", "changes": [{"kind": "add"}], "reason": 10**30}}},
        {"kind": "configured", "data": {"policy_version": "", "concurrency": 10**30}},
    ]
    async with place.open() as op:
        await op.rest()
        ledger = op.session.setup.ledger
        seq = 0
        for number, event in enumerate(odd):
            seq = await ledger.post("s1", 0, f"odd{number}", event, place.clock())
        await op.session.applied(seq)
        assert op.status("todo_001") == "waiting_approval"
    async with place.open() as op:
        await op.rest()
        question: Question = next(q for q in op.now.questions if q.kind is Kind.TODO)
        await op.handler.decide(question, Verdict.APPROVE)
        await op.until(lambda s: s.raw["todo_001"]["status"] == "completed")


async def test_without_a_saver_that_works_the_session_says_so(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    async with place.open() as op:
        await op.rest()

        async def full(*_: Any, **__: Any) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(type(op.session.history._saver), "aput", full)
        answer = await op.try_to("/todo approve 1")
        assert "No space left" in answer["error"]
        monkeypatch.undo()
    async with place.open() as op:
        met = await op.finish(truthful(place.world))
        assert [q.todo_id for q in met] == ["todo_002"], "the approval isn't lost"


async def test_two_sessions_dont_touch_each_other(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"))
    async with place.ledger() as ledger:
        first, second = place.setup(ledger, "s1"), place.setup(ledger, "s2")
        async with own_session(first, "q") as one, own_session(second, "q") as two:
            await one.settled()
            question = (await two.settled()).questions[0]
            say = Decision(question.id, Verdict.REJECT, "ann", question.digest, place.clock())
            await two.writer.decide(say)
            await two.settled()
            assert one.snapshot.raw["todo_001"]["status"] == "waiting_approval"


async def test_a_server_that_is_away_is_no_failure_of_a_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Place(tmp_path, step("low", "a", optional=True))
    async with place.open() as op:
        ledger = op.session.setup.ledger

        async def away(*_: object, **_named: object) -> None:
            raise ServerAway("The server can't be reached.")

        monkeypatch.setattr(ledger, "begin_effect", away)
        with pytest.raises(ServerAway):
            await op.finish()
    async with place.open() as op:
        assert await op.finish() == []
        assert op.statuses == {"todo_001": "completed"}
    assert place.world.done() == {"todo_001": 1}
