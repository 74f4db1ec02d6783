"""Going back to a checkpoint (D11), and files that can't be used (D1)."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import struct
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from session_support import SCHEMA, Place, step, truthful

from hitl_tui.commands.handler import CommandHandler
from hitl_tui.core.board import run_digest
from hitl_tui.core.errors import HitlError, Refused, SessionBusy, StorageError
from hitl_tui.core.events import EventKind
from hitl_tui.core.policy import Mode, Risk
from hitl_tui.core.requests import Kind, Verdict
from hitl_tui.supervisor.checkpoint_saver import create_checkpointer
from hitl_tui.supervisor.graph import TeamSupervisor, config_of
from hitl_tui.supervisor.own_session import own_session
from hitl_tui.supervisor.session_follower import SessionFollower
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.teams.function_team import FunctionTeam
from hitl_tui.wording.text_lines import result_lines


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, step("low", "a"), step("low", "b", "a"))


async def test_a_restore_gives_the_same_todos_and_question_and_executes_nothing(place: Place) -> None:
    async with place.open() as op:
        first = await op.rest()
        await op.say("/todo approve 1")
        middle = await op.rest()
        await op.finish()
        runs = place.world.runs.total()
        history = len(await op.session.checkpoints(1000))
        for target in (middle, first, middle):
            answer = await op.say(f"/checkpoint restore {target.checkpoint_id}")
            assert answer["status"] == "restored"
            seen = await op.rest()
            assert {i: t["status"] for i, t in seen.raw.items()} == {i: t["status"] for i, t in target.raw.items()}
            assert [(q.kind, q.todo_id) for q in seen.questions] == [(q.kind, q.todo_id) for q in target.questions]
        assert place.world.runs.total() == runs
        assert len(await op.session.checkpoints(1000)) > history
        old = await op.session.checkpoints(1000)
        assert {first.checkpoint_id, middle.checkpoint_id} <= {c.checkpoint_id for c in old}
        with pytest.raises(Refused) as refused:
            await op.handler.decide(middle.questions[0], Verdict.APPROVE)
        assert refused.value.reason == "repeated"


async def test_every_checkpoint_of_a_session_can_be_restored(tmp_path: Path) -> None:
    """Whatever node comes next there: nothing runs, the session comes to rest and can be finished."""
    place = Place(tmp_path, step("low", "a"), step("low", "b", "a", retry_count=1))
    place.world.fail["todo_002"] = [OSError("once")]
    async with place.open() as op:
        await op.finish()
        points = await op.session.checkpoints(1000)
        through = {"coordinator", "planning", "approval", "execute_teams", "aggregate"}
        assert through <= {p.node for p in points} <= through | {"plan_review", "generate_response"}
        for point in reversed(points):
            before = place.world.runs.total()
            await op.say(f"/checkpoint restore {point.checkpoint_id}")
            seen = await op.rest()
            assert place.world.runs.total() == before, point
            assert seen.raw["todo_001"]["status"] in ("waiting_approval", "completed"), point
        met = await op.finish(truthful(place.world))
        assert met == []  # the last one was the finished session itself
        await op.say(f"/checkpoint restore {points[-1].checkpoint_id}")
        await op.finish(truthful(place.world))
    assert place.world.done() == {"todo_001": 1, "todo_002": 1}


async def test_a_restore_stops_what_runs(place: Place) -> None:
    place.world.hold("todo_001")
    async with place.open() as op:
        first = await op.rest()
        await op.say("/todo approve 1")
        await place.world.began("todo_001")
        await op.say(f"/checkpoint restore {first.checkpoint_id}")
        seen = await op.rest()
        assert not place.world.running
        assert seen.raw["todo_001"]["status"] == "waiting_approval"
        ran = seen.raw["todo_001"]["metadata"]["ran_before"]
        assert ran == {"status": "in_progress", "branch": 0, "subjects": {run_digest(seen.todos[0]): "in_progress"}}
        (question,) = seen.questions
        assert question.view.request.about["ran_before"] == {"status": "in_progress", "branch": 0}
        place.world.gates.clear()
        met = await op.finish()
        assert [q.kind for q in met] == [Kind.TODO, Kind.TODO]
    assert place.world.done() == {"todo_001": 1, "todo_002": 1}


async def test_marks_of_what_ran_stay_over_several_restores(place: Place) -> None:
    async with place.open() as op:
        first = await op.rest()
        await op.finish()
        for branch in (1, 2, 3):
            await op.say(f"/checkpoint restore {first.checkpoint_id}")
            seen = await op.rest()
            assert seen.branch == branch
            assert {t.id for t in seen.todos if t.metadata.get("ran_before")} == {"todo_001", "todo_002"}, branch
        met = await op.finish(truthful(place.world))
        assert [q.kind for q in met].count(Kind.EFFECT) == 2
    assert place.world.done() == {"todo_001": 1, "todo_002": 1}


async def test_ids_of_an_abandoned_branch_are_not_used_again(place: Place) -> None:
    async with place.open() as op:
        first = await op.rest()
        await op.say("/todo add low third", f"/checkpoint restore {first.checkpoint_id}")
        await op.rest()
        added = await op.say("/todo add low another")
        assert added["todo_id"] == "todo_004"


async def test_a_question_asked_again_is_answered_by_its_own_id_and_digest(place: Place) -> None:
    """Its digest is also that of the answered one; its id alone says which of both is meant."""
    async with place.open() as op:
        first = await op.rest()
        await op.say("/todo approve 1")
        await op.rest()
        await op.say(f"/checkpoint restore {first.checkpoint_id}")
        (question,) = (await op.rest()).questions
        by_number = await op.try_to(f"/todo approve 1 --digest {question.digest}")
        assert by_number["help"] == f"To answer the current question, name it: {question.id}."
        stale = await op.try_to(f"/todo approve {question.id} --digest {'0' * 64}")
        assert stale["reason"] == "stale" and op.now.questions == (question,)
        await op.say(f"/todo approve {question.id} --digest {question.digest}")
        (again,) = (await op.rest()).questions
        assert again.kind is Kind.EFFECT


async def test_a_plan_asked_again_is_refused_by_its_own_id_and_digest(place: Place) -> None:
    place.mode = Mode.PLAN
    async with place.open() as op:
        first = await op.rest()
        await op.say("/plan approve")
        await op.rest()
        await op.say(f"/checkpoint restore {first.checkpoint_id}")
        (question,) = (await op.rest()).questions
        assert question.kind is Kind.PLAN
        assert (await op.try_to(f"/plan reject --digest {question.digest}"))["error"]
        await op.say(f"/plan reject {question.id} --digest {question.digest}")


async def test_a_restore_names_what_ran_since_and_what_of_it_stays(place: Place) -> None:
    """(D11) Also what drops out of the plan; a script gets the same as a person."""
    async with place.open() as op:
        first = await op.rest()
        await op.finish()
        await op.say("/todo add low third --after 2")
        await op.finish()
        result = await op.handler.handle_command(f"/checkpoint restore {first.checkpoint_id}")
        ran = result.to_dict()["ran_since"]
        assert [(one["todo_id"], one["in_plan"]) for one in ran] == [
            ("todo_001", True),
            ("todo_002", True),
            ("todo_003", False),
        ]
        assert [(e["status"], e["subject"]) for one in ran for e in one["effects"]] == [
            ("done", {"what": "a"}),
            ("done", {"what": "b"}),
            ("done", {"what": "third"}),
        ]
        assert result_lines(result, op.now)[1:] == [
            "! Ran since: 001, 002, 003. Not undone by this:",
            "    001 (done): what a",
            "    002 (done): what b",
            "    003 (done): what third",
        ]
        here = (await op.rest()).checkpoint_id
        again = await op.handler.handle_command(f"/checkpoint restore {here}")
        assert again.to_dict()["ran_since"] == [] and len(result_lines(again, op.now)) == 1


async def test_restoring_what_isnt_there_changes_nothing(place: Place) -> None:
    async with place.open() as op:
        seen = await op.rest()
        answer = await op.try_to("/checkpoint restore nonsense")
        assert answer["error"] == 'No checkpoint "nonsense"; /checkpoint list shows them.'
        assert op.now.checkpoint_id == seen.checkpoint_id


async def test_a_finished_session_restored_to_a_question_finishes_again(place: Place) -> None:
    """S3: only what came after the restored moment runs."""
    async with place.open() as op:
        await op.say("/todo approve 1")
        waiting = await op.rest()
    async with place.open() as op:
        listed = await op.say("/checkpoint list")
        newest = listed["checkpoints"][0]
        assert newest["checkpoint_id"] == waiting.checkpoint_id
        assert (newest["node"], newest["todos_completed"]) == ("approval", 1)
        await op.say(f"/checkpoint restore {newest['checkpoint_id'][:-1]}")
        met = await op.finish()
        assert [q.todo_id for q in met] == ["todo_002"]
    assert place.world.done() == {"todo_001": 1, "todo_002": 1}
    assert place.world.runs == {"todo_001": 1, "todo_002": 1}


# Long histories ------------------------------------------------------------------------------------------------


@pytest.mark.long
async def test_an_old_database_opens_and_restores_over_many_deltas(tmp_path: Path) -> None:
    """The TODO map is kept as deltas with a snapshot every 50: both sides of one can be reached."""
    place = Place(tmp_path, *(step("low", f"n{n}") for n in range(5)))
    async with place.open() as op:
        points = [await op.rest()]
        for number in range(130):
            await op.say(f"/todo priority {number % 5 + 1} {('high', 'low', 'critical')[number % 3]}")
            points.append(op.now)
    for index in (129, 61, 49, 50, 51, 99, 1, 0, 130):
        async with place.open() as op:
            assert op.now.raw.keys() == points[0].raw.keys()
            await op.say(f"/checkpoint restore {points[index].checkpoint_id}")
            seen = await op.rest()
            was = {i: t.get("priority") for i, t in points[index].raw.items()}
            assert {i: t.get("priority") for i, t in seen.raw.items()} == was
    async with place.open() as op:
        await op.finish()


# The engine ----------------------------------------------------------------------------------------------------


async def supervisor(place: Place, saver: Any) -> TeamSupervisor:
    async with place.ledger() as ledger:
        setup = place.setup(ledger)
    return TeamSupervisor(setup.planner, lambda: setup.rules, setup.folder.artifacts(), saver, place.clock)


async def test_execute_runs_on_the_sessions_thread_with_the_documented_state(place: Place) -> None:
    async with create_checkpointer(place.root / "deep" / "er" / "c.db") as saver:
        graph = await supervisor(place, saver)
        state = await graph.execute("the query", "s9")
        assert state["session_id"] == "s9"
        assert state["query"] == "the query"
        assert state["current_phase"] == "plan_review"
        assert state["approval_status"] == "waiting"
        assert "todo_001" in state["approval_message"]
        assert {"request_id", "planning", "todos", "control", "results"} <= state.keys()
        assert await saver.aget({"configurable": {"thread_id": "session_s9"}}) is not None
        again = await graph.execute("another query", "s9")
        assert again["query"] == "the query"
        assert again["__interrupt__"][0].id == state["__interrupt__"][0].id
        assert isinstance(saver, AsyncSqliteSaver)
        mode = await (await saver.conn.execute("PRAGMA journal_mode")).fetchone()
        assert mode == ("wal",)


async def test_execute_runs_without_checkpoints_too(place: Place) -> None:
    path = place.root / "never.db"
    async with create_checkpointer(path, enable_checkpointing=False) as saver:
        state = await (await supervisor(place, saver)).execute("the query", "s9")
        assert state["approval_status"] == "waiting"
    assert not path.exists()


async def test_a_resume_by_an_unknown_id_is_an_error_and_answers_nothing(place: Place) -> None:
    """Strict resuming is private to LangGraph: this says when it is gone."""
    async with create_checkpointer(place.root / "c.db") as saver:
        graph = await supervisor(place, saver)
        state = await graph.execute("q", "s9")
        with pytest.raises(Exception, match="interrupt"):
            await graph.resume("s9", "0" * 32, [])
        after = await graph.graph.aget_state(config_of("s9"))
        assert [i.id for i in after.interrupts] == [state["__interrupt__"][0].id]


async def test_a_resume_that_was_taken_already_is_an_error(place: Place) -> None:
    async with create_checkpointer(place.root / "c.db") as saver:
        graph = await supervisor(place, saver)
        first = (await graph.execute("q", "s9"))["__interrupt__"][0].id
        await graph.resume("s9", first, [])
        with pytest.raises(Exception, match="interrupt"):
            await graph.resume("s9", first, [])


# Files that can't be used --------------------------------------------------------------------------------------


def damage(path: Path, how: str) -> None:
    for beside in ("-wal", "-shm"):
        Path(f"{path}{beside}").unlink(missing_ok=True)
    if how == "text":
        path.write_text("this is no database, " * 100)
    elif how == "cut":
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2 + 100])
    elif how == "newer":
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA user_version=99")
        connection.close()
    elif how == "header":
        data = path.read_bytes()
        path.write_bytes(data[:16] + struct.pack(">H", 3) + data[18:])
    else:
        connection = sqlite3.connect(path)
        connection.execute("UPDATE checkpoints SET checkpoint = x'C1FF00'")
        connection.commit()
        connection.close()


@pytest.mark.parametrize("how", ["text", "cut", "newer", "header", "content"])
async def test_a_checkpoint_file_that_cant_be_used_says_so_and_is_left_alone(tmp_path: Path, how: str) -> None:
    place = Place(tmp_path, step("low", "a"))
    for name in ("s1", "s2"):
        async with place.open(name) as op:
            await op.rest()
    path = place.data.session("s1").checkpoints
    damage(path, how)
    before = path.read_bytes()
    with pytest.raises(HitlError) as said:
        async with place.open("s1"):
            pass
    assert "checkpoints.db" in said.value.message or "s1" in said.value.message
    if how != "content":  # what can only be seen by reading checkpoints is found after the file was opened
        assert path.read_bytes() == before
    async with place.open("s2") as op:
        await op.finish()
    async with SessionRegistry.open(place.root / "data", {}) as bench:
        found = {s.id: s for s in await bench.admin.sessions()}
        assert found["s1"].status == "unreadable", found["s1"]
        assert found["s1"].message
        assert found["s2"].status == "finished"


async def test_a_missing_checkpoint_file_begins_the_session_anew(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"))
    async with place.open() as op:
        await op.rest()
    for file in place.data.session("s1").path.glob("checkpoints.db*"):
        file.unlink()
    async with place.open() as op:
        await op.finish()


async def test_a_session_without_its_description_hides_no_other(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"))
    for name in ("s1", "s2"):
        async with place.open(name) as op:
            await op.rest()
    (place.data.session("s1").path / "session.json").write_text("{")
    async with SessionRegistry.open(place.root / "data", {}) as bench:
        found = {s.id: s.status for s in await bench.admin.sessions()}
        assert found == {"s1": "unreadable", "s2": "waiting"}


# Two processes -------------------------------------------------------------------------------------------------


async def test_only_one_owns_a_session_and_others_follow(place: Place) -> None:
    async with place.open() as op, place.ledger() as other:
        await op.rest()
        setup = place.setup(other)
        with pytest.raises(SessionBusy):
            async with own_session(setup, "q"):
                pass
        async with SessionFollower.open(setup) as follower:
            assert not follower.owned
            assert follower.snapshot.raw == op.now.raw
            assert [q.id for q in follower.snapshot.questions] == [q.id for q in op.now.questions]
            handler = CommandHandler(follower, setup.planner, by="bob", channel="test", terminal=True)
            answer = (await handler.handle_command("/todo approve 1")).to_dict()
            assert (answer["status"], answer["intended"]) == ("recorded", "resumed")
            await op.until(lambda s: s.raw["todo_001"]["status"] == "completed")
            await op.rest()
            seen = await follower.refresh()
            assert [q.todo_id for q in seen.questions] == ["todo_002"]
            todo = seen.todo("todo_001")
            assert todo is not None
            assert todo.approval is not None
            assert todo.approval["by"] == "bob"
            result = await follower.artifact(todo.result["digest"]) if todo.result else {}
            assert result["text"] == "todo_001 did a"
            before = await follower.checkpoints(50)
            assert before[0].checkpoint_id == op.now.checkpoint_id
            restored = (await handler.handle_command(f"/checkpoint restore {before[-2].checkpoint_id}")).to_dict()
            assert restored["status"] == "recorded"
            await op.until(lambda s: s.branch == 1 and s.at_rest)


async def test_what_a_follower_says_while_nobody_owns_the_session_is_acted_on_later(place: Place) -> None:
    async with place.open() as op:
        await op.rest()
    async with place.ledger() as ledger:
        setup = place.setup(ledger)
        async with SessionFollower.open(setup) as follower:
            handler = CommandHandler(follower, setup.planner, by="bob", channel="test", terminal=True)
            assert (await handler.handle_command("/todo approve 1")).to_dict()["status"] == "recorded"
            assert (await handler.handle_command("/todo priority 2 high")).to_dict()["status"] == "recorded"
    async with place.open() as op:
        seen = await op.until(lambda s: s.raw["todo_001"]["status"] == "completed")
        assert seen.raw["todo_002"]["priority"] == "high"
    assert place.world.done() == {"todo_001": 1}


async def test_an_intended_restore_of_a_follower_is_carried_out_at_the_next_opening(place: Place) -> None:
    async with place.open() as op:
        first = await op.rest()
        await op.finish()
    async with place.ledger() as ledger, SessionFollower.open(place.setup(ledger)) as follower:
        await follower.writer.restore(first.checkpoint_id, "bob")
    async with place.open() as op:
        seen = await op.rest()
        assert seen.branch == 1
        assert [q.todo_id for q in seen.questions] == ["todo_001"]


async def test_a_copied_folder_under_another_name_is_another_session(place: Place) -> None:
    async with place.open() as op:
        await op.rest()
    source = place.data.session("s1").path
    copy = source.with_name("s2")
    shutil.copytree(source, copy)
    async with place.open() as op:
        await op.finish()


async def test_closing_while_things_go_on_leaves_nothing_behind(tmp_path: Path) -> None:
    place = Place(tmp_path, *(step("low", n) for n in "abc"))
    place.mode = Mode.RISK
    place.world.hold("todo_001", "todo_002", "todo_003")
    async with place.open():
        await asyncio.gather(*(place.world.began(f"todo_00{n}") for n in (1, 2, 3)))
    left = [t for t in asyncio.all_tasks() if t is not asyncio.current_task()]
    assert left == []
    assert not place.world.running


async def test_a_session_id_that_isnt_a_name_is_refused(place: Place) -> None:
    async with place.ledger() as ledger:
        with pytest.raises(HitlError, match="session id"):
            place.setup(ledger, "../x")


async def test_reading_only_never_makes_a_file(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"))
    async with place.ledger() as ledger:
        setup = place.setup(ledger)
        before = sorted(setup.folder.path.iterdir())
        async with SessionFollower.open(setup) as follower:
            assert (follower.snapshot.raw, follower.snapshot.checkpoint_id) == ({}, ""), "killed before its first one"
            await follower.writer.post(EventKind.MODE, {"mode": "risk"}, by="bob")
        async with SessionFollower.open(setup) as follower:
            assert follower.snapshot.raw == {}, "a command makes none"
    assert sorted(setup.folder.path.iterdir()) == before


@pytest.mark.parametrize("mode", [Mode.STEP, Mode.RISK])
async def test_lost_checkpoints_are_said_to_be_missing(tmp_path: Path, mode: Mode) -> None:
    """Whether anything was asked or everything ran unasked, it isn't taken for a session where nothing was planned."""
    place = Place(tmp_path, step("low", "a"))
    place.mode = mode
    async with place.open() as op:
        await (op.rest() if mode is Mode.STEP else op.finish())
    for file in place.data.session("s1").path.glob("checkpoints.db*"):
        file.unlink()
    async with place.ledger() as ledger:
        setup = place.setup(ledger)
        with pytest.raises(
            StorageError, match=r"checkpoints\.db is missing; put back a copy of it, or import an export"
        ):
            async with SessionFollower.open(setup):
                pass
    assert not list(setup.folder.path.glob("checkpoints.db*"))


async def test_nothing_begins_under_the_risk_that_a_restore_brings_back(tmp_path: Path) -> None:
    """What was planned as low, and has been declared high since, is asked about though the mode asked for nothing."""
    place = Place(tmp_path, step("low", "a"))
    place.mode = Mode.RISK
    async with place.open() as op:
        await op.finish()
        points = await op.session.checkpoints(1000)
        assert {"approval", "execute_teams"} <= {p.node for p in points}
    place.teams["low"] = FunctionTeam("low", "low", Risk.HIGH, place.world.act, SCHEMA, text_argument="what", timeout=0)
    async with place.open() as op:
        for point in reversed(points):
            await op.say(f"/checkpoint restore {point.checkpoint_id}")
            seen = await op.rest()
            assert place.world.runs["todo_001"] == 1, point
            assert seen.concluded or [(q.kind, q.todo_id) for q in seen.questions] == [(Kind.TODO, "todo_001")], point
