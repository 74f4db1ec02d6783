"""Every command's answer (D10): its keys, its errors, and that an error changes nothing."""

from __future__ import annotations

import json
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "supervisor"))

from session_support import ListPlanner, Place, step

from hitl_tui.cli.json_documents import session_part
from hitl_tui.commands.handler import CommandHandler
from hitl_tui.commands.spec import SPECS
from hitl_tui.core.events import utc_now
from hitl_tui.core.identity import Identity
from hitl_tui.core.policy import Mode
from hitl_tui.core.requests import Kind, Verdict
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.language import translate, using
from hitl_tui.task_checkpoints.checkpoint import Call
from hitl_tui.task_checkpoints.folders import register, store_of
from hitl_tui.task_checkpoints.service import TaskCheckpoints
from hitl_tui.task_checkpoints.task_inbox import TaskInbox
from hitl_tui.threads.checkpoint_causes import CheckpointCause
from hitl_tui.wording.history_rows import cause_words
from hitl_tui.wording.question_rows import term_rows
from hitl_tui.wording.text_lines import result_lines


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, step("low", "a"), step("low", "b", "a"), step("high", "c", "b"))


async def test_todos(place: Place) -> None:
    async with place.open() as op:
        await op.rest()
        answer = await op.say("/todos")
        assert answer.keys() >= {"todos", "summary", "current_todo_id", "checkpoint_id", "message"}
        assert [t["id"] for t in answer["todos"]] == ["todo_001", "todo_002", "todo_003"]
        assert answer["current_todo_id"] == "todo_001"
        assert answer["checkpoint_id"] == op.now.checkpoint_id
        summary = answer["summary"]
        assert (summary["total"], summary["pending"], summary["waiting_approval"]) == (3, 3, 1)
        statuses = ("in_progress", "completed", "failed", "skipped", "blocked")
        assert {summary[name] for name in statuses} == {0}


async def test_approve_means_the_current_todo_alone(place: Place) -> None:
    async with place.open() as op:
        await op.rest()
        answer = await op.say("/todo approve")
        assert (answer["status"], answer["todo_id"]) == ("resumed", "todo_001")
        assert answer["message"]
        await op.rest()
        assert op.statuses == {"todo_001": "completed", "todo_002": "waiting_approval", "todo_003": "pending"}


async def test_approve_several(place: Place) -> None:
    async with place.open() as op:
        await op.rest()
        answer = await op.say("/todo approve 1 todo_002 002")
        assert (answer["status"], answer["todo_ids"]) == ("resumed", ["todo_001", "todo_002"])


async def test_approving_several_says_what_became_of_each(place: Place) -> None:
    """One of them that is refused doesn't hide that another was approved, and one that can't be asked stops all."""
    async with place.open() as op:
        await op.rest()
        answer = await op.try_to("/todo approve 1 3")
        assert "error" in answer
        assert op.status("todo_001") == "waiting_approval"


async def test_approve_with_the_digest_that_was_shown(place: Place) -> None:
    async with place.open() as op:
        shown = (await op.rest()).questions[0].digest
        for wrong in ("0" * 64, shown[:7], "x"):
            answer = await op.try_to(f"/todo approve 1 --digest {wrong}")
            assert answer["reason"] == "stale"
            assert op.status("todo_001") == "waiting_approval"
        answer = await op.say(f"/todo approve 1 --digest {shown[:12]}")
        assert answer["status"] == "resumed"


@pytest.mark.parametrize("line", ["/todo approve", "/plan approve"])
async def test_a_digest_binds_the_approval_of_a_plan_too(tmp_path: Path, line: str) -> None:
    place = Place(tmp_path, step("low", "a"))
    place.mode = Mode.PLAN
    async with place.open() as op:
        question = (await op.rest()).questions[0]
        assert question.kind is Kind.PLAN
        answer = await op.try_to(f"{line} --digest {'0' * 64}")
        assert answer["reason"] == "stale" and op.now.questions[0].id == question.id
        await op.say(f"{line} --digest {question.digest[:12]}")
        await op.rest()
        assert not op.now.question_of("todo_001") and op.status("todo_001") == "completed"


async def test_skip_and_its_default_reason(place: Place) -> None:
    async with place.open() as op:
        await op.rest()
        answer = await op.say("/todo skip 1")
        assert (answer["status"], answer["todo_id"]) == ("skipped", "todo_001")
        assert op.now.raw["todo_001"]["metadata"]["skip_reason"] == "User skipped"
        await op.say("/todo skip 3 not needed any more")
        assert op.now.raw["todo_003"]["metadata"]["skip_reason"] == "not needed any more"
        assert op.now.raw["todo_002"]["missing"] == ["todo_001"]


async def test_reject(place: Place) -> None:
    async with place.open() as op:
        await op.rest()
        answer = await op.say("/todo reject 1 too dear")
        assert (answer["status"], answer["todo_id"]) == ("rejected", "todo_001")
        assert op.now.raw["todo_001"]["error"] == "rejected by ann: too dear"
        assert op.statuses == {"todo_001": "failed", "todo_002": "blocked", "todo_003": "blocked"}


async def test_add(place: Place) -> None:
    async with place.open() as op:
        await op.rest()
        answer = await op.say("/todo add low look into it --after 1 2 --priority high")
        todo = answer["todo"]
        assert answer["status"] == "added"
        assert (todo["id"], todo["description"], todo["priority"]) == ("todo_004", "look into it", "high")
        assert todo["dependencies"] == ["todo_001", "todo_002"]
        assert (todo["metadata"]["added_by"], todo["metadata"]["manual"]) == ("user", True)
        other = await op.say("/todo add low")
        assert other["todo"]["description"] == "the query"
        assert other["todo"]["dependencies"] == []
        assert op.status(other["todo_id"]) == "pending", "in step mode it is asked after the earlier ones"


async def test_update(place: Place) -> None:
    async with place.open() as op:
        await op.rest()
        answer = await op.say("/todo update 1 completed")
        expected = ("updated", "todo_001", "completed")
        assert (answer["status"], answer["todo_id"], answer["new_status"]) == expected
        assert op.status("todo_001") == "completed"


async def test_remove_priority_move_edit(place: Place) -> None:
    async with place.open() as op:
        await op.rest()
        assert (await op.say("/todo priority 2 critical"))["priority"] == "critical"
        refused = (await op.try_to("/todo move 2 before 1"))["error"]
        assert "002 waits for 001" in refused
        with using("ko"):
            assert translate(refused).startswith("002: 001의 결과를 기다리므로")
        await op.say("/todo add low more", "/todo move 4 before 1")
        assert [t.id for t in op.now.todos] == ["todo_004", "todo_001", "todo_002", "todo_003"]
        assert (await op.say("/todo remove 3"))["todo_id"] == "todo_003"
        assert "todo_003" not in op.now.raw
        assert (await op.say("/todo putback 3"))["todo_id"] == "todo_003"
        assert [t.id for t in op.now.todos] == ["todo_004", "todo_001", "todo_002", "todo_003"] and not op.now.removed
        assert (await op.try_to("/todo putback 3"))["error"]
        await op.say("/todo remove 3")
        answer = await op.say("/todo edit 1 other words")
        assert answer["arguments"] == {"what": "other words"}


async def test_every_command_about_a_step_takes_the_id_of_its_request(place: Place) -> None:
    async with place.open() as op:
        await op.rest()
        asked = op.now.questions[0].id
        assert (await op.say(f"/todo show {asked}"))["todo_id"] == "todo_001"
        assert (await op.say(f"/todo priority {asked} critical"))["todo_id"] == "todo_001"
        added = await op.say(f"/todo add low more --after {asked}")
        assert added["todo"]["dependencies"] == ["todo_001"]
        other = await op.say("/todo add low else")
        assert (await op.say(f"/todo move {other['todo_id']} before {asked}"))["anchor"] == "todo_001"
        assert (await op.say(f"/todo edit {asked} other words"))["arguments"] == {"what": "other words"}
        late = await op.try_to(f"/todo edit {asked} more words")
        assert late["reason"] == "superseded", "that question is asked no longer"
        asked = next(q.id for q in op.now.questions if q.todo_id == "todo_001")
        assert "001 can't be removed" in (await op.try_to(f"/todo remove {asked}"))["error"], "004 waits for it"


async def test_what_changes_the_plan_names_the_command_that_takes_it_back(place: Place) -> None:
    async with place.open() as op:
        await op.rest()
        await op.say("/todo add low more", "/todo add low still more")
        before = op.now.todos
        for command in (
            "/todo move 5 before 1",
            "/todo move 4 after 5",
            "/todo priority 2 critical",
            "/todo remove 4",
        ):
            undo = (await op.say(command))["undo"]
            assert [*op.now.todos] != [*before]
            assert "undo" not in op.now.to_dict()
            await op.say(undo)
            assert [(t.id, t.priority) for t in op.now.todos] == [(t.id, t.priority) for t in before]


async def test_a_todo_has_one_document_and_its_text_is_drawn_of_itself(place: Place) -> None:
    async with place.open() as op:
        await op.rest()
        await op.say("/todo approve 1")
        await op.rest()
        shown = await op.handler.handle_command("/todo show 1")
        listed, session = (await op.say("/todos"))["todos"], session_part(op.now)["todos"]
        assert listed == session == op.now.to_dict()["todos"]
        assert shown.data["todo"] == listed[0] and listed[0].keys() == {field.name for field in fields(SupervisorTodo)}
        derived = replace(shown, data={**shown.data, "todo": {**listed[0], "ready": True}})
        assert result_lines(derived, op.now) == result_lines(shown, op.now)
        assert any("done" in line for line in result_lines(shown, op.now))


async def test_checkpoint_list_and_restore(place: Place) -> None:
    async with place.open() as op:
        first = await op.rest()
        await op.say("/todo approve")
        await op.rest()
        answer = await op.say("/checkpoint list")
        for point in answer["checkpoints"]:
            assert point.keys() >= {"checkpoint_id", "timestamp", "node", "todos_completed"}
            assert point["node"] in ("coordinator", "planning", "plan_review", "approval", "execute_teams", "aggregate")
        assert answer["checkpoints"][0]["todos_completed"] == 1
        numbers = {point["checkpoint_id"]: point["number"] for point in answer["checkpoints"]}
        assert list(numbers.values()) == list(range(len(numbers), 0, -1))
        page = await op.say("/checkpoint list --limit 2")
        assert len(page["checkpoints"]) == 2
        older = await op.say(f"/checkpoint list --limit 2 --before {page['checkpoints'][1]['checkpoint_id']}")
        assert older["checkpoints"] == answer["checkpoints"][2:4]
        restored = await op.say(f"/checkpoint restore {first.checkpoint_id[:-2]}")
        assert (restored["status"], restored["checkpoint_id"]) == ("restored", first.checkpoint_id)
        assert restored["number"] == numbers[first.checkpoint_id]


async def test_a_checkpoint_is_named_by_the_number_that_the_list_and_a_restore_give(place: Place) -> None:
    async with place.open() as op:
        await op.rest()
        await op.say("/todo approve 1")
        await op.rest()
        page = await op.say("/checkpoint list --limit 2")
        whole = await op.say("/checkpoint list --limit 1000")
        assert page["total"] == whole["total"] == len(whole["checkpoints"]) > 2
        newest, last = (point["number"] for point in page["checkpoints"])
        assert (newest, last) == (whole["total"], whole["total"] - 1)
        shown = f"{last} to {newest} shown; older: /checkpoint list --before {last}"
        assert page["message"].startswith(f"{newest} checkpoints") and page["message"].endswith(shown)
        older = await op.say(f"/checkpoint list --limit 1000 --before {last}")
        assert older["checkpoints"] == whole["checkpoints"][2:]
        assert "older" not in older["message"]
        waiting = next(point for point in reversed(whole["checkpoints"]) if point["node"] == "approval")
        restored = await op.say(f"/checkpoint restore {waiting['number']}")
        assert (restored["checkpoint_id"], restored["number"]) == (waiting["checkpoint_id"], waiting["number"])


async def test_a_question_says_the_priority_that_its_todo_has_now(place: Place) -> None:
    async with place.open() as op:
        (question,) = (await op.rest()).questions
        assert (question.priority, question.to_dict()["about"]["priority"]) == ("medium", "medium")
        await op.say("/todo priority 1 critical")
        await op.rest()
        (again,) = op.now.questions
        assert (again.priority, again.to_dict()["about"]["priority"]) == ("critical", "critical")
        assert again.digest == question.digest
        assert any("critical" in row.text.plain for row in term_rows(again))


async def test_an_ambiguous_checkpoint_is_named(place: Place) -> None:
    async with place.open() as op:
        await op.rest()
        answer = await op.try_to("/checkpoint restore 1f")
        assert "could be" in answer["error"]
        assert op.now.branch == 0


async def test_help_lists_every_command_and_one(place: Place) -> None:
    async with place.open() as op:
        await op.rest()
        answer = await op.say("/help")
        assert len(answer["commands"]) == len(SPECS)
        assert [c["usage"].split()[:2] for c in (await op.say("/help todo move"))["commands"]] == [["/todo", "move"]]


async def test_plain_text_is_a_proposal_that_is_shown_first(place: Place) -> None:
    async with place.open() as op:
        await op.rest()
        answer = await op.say("more detail")
        assert answer["status"] == "proposed"
        assert answer["proposal"]["changes"][0]["todo"]["description"] == "more detail"
        assert len(op.now.raw) == 3
        await op.say(f"/proposal accept {answer['proposal_id'][:12]}")
        assert len(op.now.raw) == 4


async def test_plain_text_that_adds_only_what_asks_nobody_is_taken_at_once_where_risky_steps_alone_ask(
    place: Place,
) -> None:
    place.mode = Mode.RISK
    async with place.open() as op:
        before = len((await op.rest()).raw)
        answer = await op.say("more detail")
        assert answer["status"] == "added"
        seen = await op.rest()
        assert len(seen.raw) == before + 1 and not any(q.kind is Kind.PROPOSAL for q in seen.questions)
        added = next(t for t in seen.todos if t.description == "more detail")
        assert added.status is Status.COMPLETED and added.metadata["added_by"] == "user"


async def test_a_proposal_is_accepted_with_the_steps_of_low_risk_that_it_adds(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"))
    async with place.open() as op:
        await op.say("/todo approve")
        await op.rest()
        proposal = (await op.say("more detail"))["proposal_id"]
        (question,) = op.now.questions
        answer = await op.say("/proposal run")
        assert (answer["status"], answer["run"]) == ("resumed", True)
        assert answer["message"] == "Plan changed: 002 added. What it adds runs without another question."
        seen = await op.rest()
        assert not seen.questions and op.statuses == {"todo_001": "completed", "todo_002": "completed"}
        approval = seen.raw["todo_002"]["approval"]
        assert (approval["request_id"], question.name) == (question.id, proposal), "who let it run is on record"
        assert seen.raw["todo_002"]["metadata"]["inputs"] == ["todo_001"], "it got what was there"


async def test_what_is_still_to_get_results_asks_when_its_turn_comes(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"))
    async with place.open() as op:
        await op.rest()
        await op.say("more detail")
        said = (await op.say("/proposal run"))["message"]
        assert said == "Plan changed: 002 added. You will still be asked about 002."
        assert [q.todo_id for q in (await op.rest()).questions] == ["todo_001"]
        await op.say("/todo approve")
        (question,) = (await op.rest()).questions
        assert (question.kind, question.todo_id) == (Kind.TODO, "todo_002")


async def test_a_proposal_of_a_risky_step_lets_nothing_run(tmp_path: Path) -> None:
    planner = ListPlanner((step("low", "a"),), follow={"todo_001": step("high", "risky")})
    place = Place(tmp_path, planner=planner)
    async with place.open() as op:
        await op.say("/todo approve")
        (question,) = (await op.rest()).questions
        assert not question.adds_low_risk_only
        assert "low risk" in (await op.try_to("/proposal run"))["error"]
        person = CommandHandler(op.session, place.agent, by="ops", channel="test")
        assert not (await person.decide(question, Verdict.APPROVE, value={"run": True})).failed
        (asked,) = (await op.rest()).questions
        assert (asked.kind, asked.todo_id, place.world.runs["todo_002"]) == (Kind.TODO, "todo_002", 0)


async def test_mode_and_stop(place: Place) -> None:
    async with place.open() as op:
        await op.rest()
        assert (await op.say("/mode"))["mode"] == "step"
        assert (await op.say("/mode RISK"))["mode"] == "risk"
        await op.say("/stop")
        seen = await op.rest()
        assert seen.concluded


async def test_show_gives_question_and_result(place: Place) -> None:
    async with place.open() as op:
        await op.rest()
        shown = await op.say("/todo show 1")
        assert shown["question"]["commands"]["approve"] == f"/todo approve {shown['question']['id']}"
        await op.say("/todo approve")
        await op.rest()
        assert (await op.say("/todo show 1"))["result"]["text"] == "todo_001 did a"


async def test_every_answer_is_json(place: Place) -> None:
    async with place.open() as op:
        await op.rest()
        for line in ("/todos", "/help", "/todo show 1", "/checkpoint list", "/nonsense", "/todo approve", "/mode"):
            answer = await op.try_to(line)
            assert json.loads(json.dumps(answer)) == answer
            assert answer["message"]


WRONG = [
    "/",
    "/nonsense",
    "/todo",
    "/todo nonsense 1",
    "/todo approve 9",
    "/todo approve todo_",
    "/todo approve 3",
    "/todo reject",
    "/todo skip",
    "/todo skip nothing",
    "/todo add",
    "/todo add nobody do it",
    "/todo add low x --after 77",
    "/todo add low x --priority urgent",
    "/todo add low x --nonsense y",
    "/todo add low x --after",
    "/todo edit 1",
    "/todo edit 1 {broken",
    '/todo edit 1 {"what": 3}',
    "/todo update 1",
    "/todo update 1 dancing",
    "/todo update 1 in_progress",
    "/todo update 1 waiting_approval",
    "/todo update 2 failed",
    "/todo remove 1",
    "/todo remove 99",
    "/todo priority 1 urgent",
    "/todo move 1 beside 2",
    "/todo move 1 before 1",
    "/todo move 1 before",
    "/todo retry 1",
    "/todo cancel 1",
    "/todo done 1",
    "/todo again 1",
    "/answer 1 yes",
    "/plan approve",
    "/plan reject no",
    "/proposal accept",
    "/proposal run",
    "/proposal reject p",
    "/checkpoint",
    "/checkpoint list --limit 0",
    "/checkpoint list --limit many",
    "/checkpoint list --before nowhere",
    "/checkpoint restore",
    "/checkpoint restore nowhere",
    "/mode fast",
    "/stop now",
    "/help nonsense",
    "/new something",
    "",
    "   ",
    "words that ask for nothing",
    "/todo approve 1 --digest",
    "/todo edit 1 {" + "[" * 3000,
    "/todo show \ud800",
]


@pytest.mark.parametrize("line", WRONG, ids=lambda line: repr(line[:30]))
async def test_what_is_wrong_changes_nothing_and_says_what_was_expected(place: Place, line: str) -> None:
    async with place.open() as op:
        before = await op.rest()
        entries = await op.session.setup.ledger.head("s1")
        answer = await op.try_to(line)
        assert answer["status"] == "error", answer
        assert answer["error"] == answer["message"] != ""
        seen = await op.rest()
        assert seen.raw == before.raw
        assert [q.id for q in seen.questions] == [q.id for q in before.questions]
        assert seen.branch == 0
        if "reason" not in answer:
            added = await op.session.setup.ledger.entries("s1", after=entries.n)
            assert all(e.kind in ("event", "refused") for e in added)


async def test_an_ambiguous_prefix_names_the_choices(place: Place) -> None:
    async with place.open() as op:
        await op.rest()
        answer = await op.try_to("/todo approve todo_00")
        assert "todo_001, todo_002, todo_003" in answer["error"]


async def test_incomplete_commands_show_their_usage(place: Place) -> None:
    async with place.open() as op:
        await op.rest()
        answer = await op.try_to("/todo priority 1")
        assert answer["help"].startswith("/todo priority <id> <level>")


async def test_plan_commands(place: Place) -> None:
    place.mode = Mode.PLAN
    async with place.open() as op:
        await op.rest()
        assert (await op.say("/todo approve"))["verdict"] == "approve"
        assert (await op.rest()).questions


@pytest.mark.long
@given(st.text(max_size=40) | st.sampled_from(WRONG).flatmap(lambda w: st.text(max_size=6).map(lambda t: f"{w} {t}")))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_line_ever_raises(tmp_path_factory: pytest.TempPathFactory, line: str) -> None:
    import asyncio

    async def go() -> dict[str, Any]:
        place = Place(tmp_path_factory.mktemp("line"), step("low", "a"))
        async with place.open() as op:
            await op.rest()
            answer = await op.try_to(line)
            await op.rest()
            return answer

    answer = asyncio.run(go())
    assert answer["message"]


async def test_away_from_a_terminal_only_what_was_shown_before_is_decided_and_high_risk_by_its_digest(
    tmp_path: Path,
) -> None:
    """As `do` gives commands: what it meets first is shown, and no name is enough for what is of high risk (T2)."""
    place = Place(tmp_path, step("high", "a"))
    async with place.open() as op:
        question = (await op.rest()).questions[0]
        away = CommandHandler(op.session, op.session.setup.planner, by="ann", channel="cli")
        seen: list[str] = []
        lines = ("/todo approve 1", "/todo approve", f"/todo approve {question.id}", "/todo reject 1 no")
        for line in (*lines, f"/todo approve 1 --digest {question.digest}"):
            met = await away.handle_command(line, seen)
            assert (met.status, met.failed, met.data["request_ids"]) == ("asked", False, [question.id]), line
        seen.append(question.id)
        for line in ("/todo approve 1", "/todo approve"):
            refused = await away.handle_command(line, seen)
            assert (refused.exit_code, refused.data["reason"]) == (2, "digest"), line
            assert refused.data["give"] == [f"/todo approve {question.id}"]
        unrecorded = await away.handle_command(f"/todo approve {question.id}", seen)
        assert unrecorded.data["reason"] == "unshown", "the record knows of no showing"
        assert op.status("todo_001") == "waiting_approval" and place.world.done() == {}
        op.session.writer.showing.note([question.id], "ann", "cli")
        assert (await away.handle_command(f"/todo approve {question.id}", seen)).status == "resumed"
        await op.rest()
    assert place.world.done() == {"todo_001": 1}


@pytest.mark.parametrize("terminal", [False, True])
async def test_what_is_not_of_low_risk_is_approved_only_once_it_was_shown(tmp_path: Path, terminal: bool) -> None:
    place = Place(tmp_path, step("low", "a"), step("medium", "b", "a"), step("medium", "c", "a"))
    async with place.open() as op:
        known = [q.id for q in (await op.rest()).questions]
        handler = CommandHandler(op.session, op.session.setup.planner, by="ann", channel="cli", terminal=terminal)
        ahead = await handler.handle_command("/todo approve 2", ())
        assert ahead.failed and "hasn't asked yet" in ahead.message
        assert (await handler.handle_command("/todo reject 3 not now", ())).status == "rejected"
        assert (await handler.handle_command("/todo approve 1", known)).status == "resumed"
        asked = (await op.rest()).questions
        assert [q.todo_id for q in asked] == ["todo_002"] and place.world.done() == {"todo_001": 1}
        unseen = await handler.handle_command("/todo approve 2", ())
        assert unseen.status == "asked" or unseen.failed
        assert (await handler.handle_command("/todo approve 2", [q.id for q in asked])).status == "resumed"


async def test_low_risk_is_approved_in_advance_by_its_name_anywhere(place: Place) -> None:
    async with place.open() as op:
        await op.rest()
        away = CommandHandler(op.session, op.session.setup.planner, by="ann", channel="cli")
        assert (await away.handle_command("/todo approve", ())).status == "asked", "which one, nobody was shown"
        assert (await away.handle_command("/todo approve 1 2", ())).status == "resumed"
        ahead = await away.handle_command("/todo approve 3", ())
        assert ahead.failed and "high risk" in ahead.message


@pytest.mark.parametrize("terminal", [False, True])
async def test_different_risks_are_never_approved_together(tmp_path: Path, terminal: bool) -> None:
    place = Place(tmp_path, step("low", "a"), step("medium", "b"), step("high", "c"))
    async with place.open() as op:
        asked = (await op.rest()).questions
        planner, known = op.session.setup.planner, [q.id for q in asked]
        handler = CommandHandler(op.session, planner, by="ann", channel="cli", terminal=terminal)
        assert len(asked) == 3
        for line in ("/todo approve 1 2", "/todo approve 3 1", "/todo approve 1 1 2 3", f"/todo approve {known[2]} 1"):
            refused = await handler.handle_command(line, known)
            assert refused.exit_code == 2 and "Steps of different risk" in refused.message, line
        assert set(op.statuses.values()) == {"waiting_approval"}


async def test_a_line_about_a_task_answers_nothing_that_it_was_edited_to_meanwhile(place: Place) -> None:
    async with place.open() as op:
        masc, ann = place.root / "elsewhere" / ".masc", Identity("ann", "ann", "token")
        tasks = TaskCheckpoints(store_of(masc, {}))
        asked = await tasks.ask("bot", Call("bot", "Bash", {"command": "ls"}), "Look?")
        register(place.root / "data", masc)
        inbox, began = TaskInbox(place.root / "data", {}), utc_now()
        handler = CommandHandler(op.session, op.session.setup.planner, by="kim", channel="repl", tasks=inbox)
        assert asked.view is not None
        await tasks.edit(asked, {"command": "rm -r /"}, ann, asked.view.request.digest)
        refused = await handler.handle_command("/approve bot", None, began)
        assert refused.failed and "asks only since you began that line" in refused.message
        bad = await handler.handle_command('/approve bot {"a": ', None, utc_now())
        assert bad.failed and bad.message.startswith("The value isn't valid JSON")
        assert (await handler.handle_command("/approve bot", None, utc_now())).status == "approved"


async def test_a_line_typed_at_a_terminal_answers_nothing_that_came_while_it_was_typed(place: Place) -> None:
    async with place.open() as op:
        first = (await op.rest()).questions[0].id
        handler = CommandHandler(op.session, op.session.setup.planner, by="ann", channel="repl", terminal=True)
        assert (await handler.handle_command("/todo approve 1", [first])).status == "resumed"
        await op.rest()
        for line in ("/todo approve", "/todo approve 2", "/todo skip 2", "/todo reject 2 no"):
            refused = await handler.handle_command(line, [first])
            assert refused.failed and "002 was asked after you began that line" in refused.message, line
        assert (op.status("todo_002"), place.world.done()) == ("waiting_approval", {"todo_001": 1})
        assert not (await handler.handle_command("/todos", [first])).failed
        second = op.now.questions[0].id
        assert (await handler.handle_command("/todo approve", [first, second])).status == "resumed"


async def test_history_tells_what_a_person_did_and_nothing_else(place: Place) -> None:
    async with place.open() as op:
        await op.rest()
        await op.say("/todo skip 2 too slow")
        await op.say("/todo update 2 pending")
        await op.say("/todo edit 1 other words")
        await op.rest()
        listed = (await op.say("/checkpoint list"))["checkpoints"]
    told = [cause_words(CheckpointCause.from_dict(row["happened"])) for row in listed if row["happened"]]
    history = " · ".join(reversed(told))
    assert "skipped 002 by ann “too slow”" in history
    assert "undid the skip of 002 by ann" in history
    assert "edited 001: what" in history and "→ other words by ann" in history
