"""What a row of the history says of a moment: who asked, what was answered and about what (C1, C5)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "supervisor"))

from session_support import Driver, Place, step

from hitl_tui.commands.results import CommandResult
from hitl_tui.console.history_cursor import HistoryCursor
from hitl_tui.console.row_layout import layout
from hitl_tui.console.session_handle import SessionHandle
from hitl_tui.console.widgets.history_table import GraphRow, said_of
from hitl_tui.core.events import EventKind
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Mode
from hitl_tui.core.safe_text import cell_width
from hitl_tui.language import using
from hitl_tui.ledger.records import Posted
from hitl_tui.threads.checkpoint_causes import CheckpointCause, CheckpointCauses
from hitl_tui.threads.thread_model import Waiting
from hitl_tui.wording.history_rows import cause_words, event_rows
from hitl_tui.wording.text_lines import result_lines

LONG = "compare what the landlord asks for with the legal cap"


async def rows(op: Driver, room: int) -> list[str]:
    """Return the history's rows, newest first, as wide as a pane leaves room for."""
    handle = SessionHandle(op.session, op.handler)
    page = await op.session.checkpoints(50)
    led = await CheckpointCauses().of(handle.thread, page)
    told = [(info, led.get(info.checkpoint_id)) for info in page]
    said = [said_of(info, GraphRow("●", ours=True), room, cause) for info, cause in told if cause and not cause.quiet]
    assert all(cell_width(text) <= room for text in said)
    return said


async def answered(place: Place, op: Driver) -> None:
    await op.rest()
    await op.say("/todo approve 1")
    await op.rest()
    await op.say("more of it")
    await op.rest()
    await op.say("/proposal accept", "/todo reject 2 no")
    await op.rest()


async def test_a_row_says_what_was_answered_to_which_question_and_what_was_proposed(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "clean-logs"), step("high", LONG, "clean-logs"))
    async with place.open() as op:
        await answered(place, op)
        said = await rows(op, 46)
        narrow = await rows(op, 24)
        with using("ko"):
            korean = await rows(op, 46)
        reel = HistoryCursor(SessionHandle(op.session, op.handler).thread)
        await reel.open()
        here = await reel.look()
    assert here is not None
    assert said[-4:] == ["done 001 · asked 002", "approved 001 clean-logs by ann", "asked 001", "planned"]
    assert "proposed: More was asked for. by ann" in said
    assert any(row.startswith("approved a proposal by ann") for row in said)
    assert any(row.startswith("rejected 002 by ann") for row in said) and any("asked 003" in row for row in said)
    assert "approved 001 by ann" in narrow and any(row.startswith("rejected 002") for row in narrow)
    assert "승인: 001 clean-logs · ann" in korean
    whole = " ".join(layout(event_rows(here), 78).plain.split())
    assert f"002 {LONG}" in whole and "by ann (test)" in whole and "“no”" in whole


async def test_no_row_shows_the_id_of_a_proposal_or_names_the_plan_in_english(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"), step("high", "b", "a"))
    place.mode = Mode.PLAN
    async with place.open() as op:
        await op.rest()
        first = await rows(op, 46)
        with using("ko"):
            korean = await rows(op, 46)
        await op.say("/plan approve")
        await op.rest()
        await op.say("more of it")
        await op.rest()
        said, ids = await rows(op, 46), [q.view.request.about.get("proposal_id", "") for q in op.now.questions]
    assert any(ids) and not any(name in row for name in map(str, filter(None, ids)) for row in said)
    assert first[0] == "planned" and not any("plan" in row for row in korean)
    assert any(row.startswith("approved the plan by ann") for row in said)
    assert said[0].startswith("proposed: More was asked for.")


async def test_what_was_refused_is_told_as_refused_and_what_only_the_engine_did_is_folded(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"), step("low", "b", "a"))
    async with place.open() as op:
        await op.rest()
        for _n in range(3):  # posted past the check of the command: another process may have been as late
            seq, __ = await op.session.writer.post(EventKind.REMOVE, {"todo_id": "todo_001"}, by="bob")
            await op.session.applied(seq)
        said = await rows(op, 60)
        handle, page = SessionHandle(op.session, op.handler), await op.session.checkpoints(50)
        causes = await CheckpointCauses().of(handle.thread, page)
        reel = HistoryCursor(handle.thread, 4, CheckpointCauses())
        await reel.open()
        seen = []
        while True:
            seen.append(reel.current)
            here = await reel.look()
            if len(seen) == 1:
                assert here is not None
                told = " ".join(layout(event_rows(here), 78).plain.split())
            if not await reel.step(-1):
                break
        await reel.first()
        oldest = reel.current
        nodes = [info.node for info in page]
    assert said == [*["refused: remove 001"] * 3, "asked 001", "planned"]
    assert told.startswith("refused remove 001 · by bob")
    assert [i.checkpoint_id for i in seen if i] == [i.checkpoint_id for i in page if not causes[i.checkpoint_id].quiet]
    assert oldest == seen[-1] and nodes.count("coordinator") == 2 and len(page) - len(seen) == 3


async def test_going_back_is_told_with_the_number_it_was_given(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"))
    async with place.open() as op:
        await op.finish()
        listed = (await op.say("/checkpoint list"))["checkpoints"]
        asked = next(row for row in listed if row["happened"] and "todo_001" in row["happened"]["asked"])
        number = asked["number"]
        answer = await op.say(f"/checkpoint restore {number}")
        await op.rest()
        said = await rows(op, 60)
        again = await op.say(f"/checkpoint restore {answer['number']}")
        after = (await op.say("/checkpoint list"))["checkpoints"]
        lines = result_lines(CommandResult("ok", "", {"checkpoints": after}), op.now)
    assert answer["number"] == again["number"] == number and str(number) in answer["message"]
    assert said[0] == f"restored to {number}" and said[-2:] == ["asked 001", "planned"]
    assert [row["left_behind"] for row in after if row["number"] > len(listed)] == [False, False, True, True]
    assert any("(left behind) · finished" in line for line in lines)
    assert not any(node in line for line in lines for node in ("coordinator", "execute_teams", "approval"))
    assert not any(row["checkpoint_id"] in line for line in lines for row in after)


@pytest.mark.parametrize("room", [12, 20, 30, 47])
async def test_a_row_keeps_to_its_room_in_either_language(tmp_path: Path, room: int) -> None:
    place = Place(tmp_path, step("low", "가" * 60), step("high", "b", "가" * 60))
    async with place.open() as op:
        await answered(place, op)
        await rows(op, room)
        with using("ko"):
            await rows(op, room)


async def test_a_row_counts_who_asks_besides_those_it_has_room_to_name(tmp_path: Path) -> None:
    place = Place(tmp_path, *(step("low", f"step {n}") for n in range(12)))
    async with place.open() as op:
        await op.rest()
        assert "asked 001 002 003 004 005 and 7 more" in await rows(op, 60)
        assert "asked 001 002 and 10 more" in await rows(op, 26)
        assert (await rows(op, 12))[0].startswith("asked")


def test_of_many_that_ask_those_are_counted_that_have_no_room_for_a_name() -> None:
    five = tuple(f"todo_{n:03}" for n in range(1, 6))
    assert Waiting(five, 13).since(Waiting(five, 12)) == Waiting((), 1)
    assert Waiting(five, 11).since(Waiting(five, 12)) == Waiting()
    assert cause_words(CheckpointCause(unnamed=1)) == "asked 1 more question"
    assert CheckpointCause.from_dict(CheckpointCause(asked=five, unnamed=7).to_dict()).unnamed == 7


def test_what_was_proposed_is_told_in_the_persons_language_where_the_checkpoints_are_listed_too() -> None:
    proposed = {"kind": "proposed", "data": {"proposal": {"reason": Message("Adds {}.", '"a"')}}}
    listed = CheckpointCause(events=(Posted(0, "", 0, proposed),)).to_dict()
    with using("ko"):
        assert cause_words(CheckpointCause.from_dict(listed)) == '제안: "a" 단계를 추가합니다.'


async def test_undoing_a_skip_says_alone_that_the_step_asks_again(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"), step("low", "b"))
    async with place.open() as op:
        await op.rest()
        await op.say("/todo skip 2", "/todo update 2 pending")
        await op.rest()
        assert (await rows(op, 60))[0] == "undid the skip of 002 by ann"
        assert (await rows(op, 24))[0] == "undid the skip of 002"
