"""What a row of the history says of a moment: who asked, what was answered and about what (C1, C5)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "supervisor"))

from session_support import Driver, Place, step

from hitl_tui.console.history_cursor import HistoryCursor
from hitl_tui.console.row_layout import layout
from hitl_tui.console.session_handle import SessionHandle
from hitl_tui.console.widgets.history_table import GraphRow, said_of
from hitl_tui.core.policy import Mode
from hitl_tui.core.safe_text import cell_width
from hitl_tui.language import using
from hitl_tui.wording.history_rows import CheckpointCauses, event_rows

LONG = "compare what the landlord asks for with the legal cap"


async def rows(op: Driver, room: int) -> list[str]:
    """Return the history's rows, newest first, as wide as a pane leaves room for."""
    handle = SessionHandle(op.session, op.handler)
    page = await op.session.checkpoints(50)
    led = await CheckpointCauses().of(handle.thread, page)
    said = [said_of(info, GraphRow("●", ours=True), room, led.get(info.checkpoint_id)) for info in page]
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
    assert "approved 001 clean-logs" in said
    assert "proposed: More was asked for. · 1 done" in said
    assert any(row.startswith("approved a proposal: More was asked for.") for row in said)
    assert any("rejected 002 compare what" in row for row in said)
    assert "approved 001 clean-logs" in narrow and any("rejected 002" in row for row in narrow)
    assert "승인: 001 clean-logs" in korean
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
    assert first[0] == "plan made" and not any("plan" in row for row in korean)
    assert any(row.startswith("approved the plan") for row in said)
    assert said[0].startswith("proposed: More was asked for.")


@pytest.mark.parametrize("room", [12, 20, 30, 47])
async def test_a_row_keeps_to_its_room_in_either_language(tmp_path: Path, room: int) -> None:
    place = Place(tmp_path, step("low", "가" * 60), step("high", "b", "가" * 60))
    async with place.open() as op:
        await answered(place, op)
        await rows(op, room)
        with using("ko"):
            await rows(op, room)
