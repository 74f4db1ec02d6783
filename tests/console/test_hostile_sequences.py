"""Sequences of keys that an attacker, or bad luck, could make of a console with several sessions (C3, C8)."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import RISE, console
from test_review import begun, place, review
from test_side_by_side import choose, two_sessions

from hitl_tui.commands.handler import CommandHandler
from hitl_tui.console.widgets.stream_pane import StreamPane
from hitl_tui.supervisor.activity import ActivityStream

pytestmark = pytest.mark.long


async def broken(data: Path) -> str:
    """Leave a session that can't be opened; return its id."""
    async with console(data, query="What is the legal cap?") as c:
        await c.asked()
        name = c.snapshot.session_id
    folder = data / "sessions" / name
    for file in folder.glob("checkpoints.db*"):
        file.unlink()
    (folder / "checkpoints.db").write_bytes(b"no database" * 1000)
    return name


async def test_what_was_sent_to_a_session_that_cannot_be_opened_acts_on_no_other(tmp_path: Path) -> None:
    bad = await broken(tmp_path)
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        async with c.app.engine._opening:  # another opening that takes a while
            await c.send(f"/open {bad}")
            await c.until(lambda: not c.session.pending.is_set(), "the opening")
            await c.send("/todo approve")
        await c.until(lambda: c.session.handle is not None, "the first one again")
        for _ in range(20):
            await c.pilot.pause(0.02)
        assert c.status("todo_001") == "waiting_approval"


async def test_undo_takes_back_nothing_of_another_session(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        first, second = await two_sessions(c)
        await c.to_question()
        await c.press("4")  # 001 of the second is skipped by a key here
        await c.until(lambda: c.status("todo_001") == "skipped", "the skip in the second")
        await choose(c, first)
        await c.asked()
        c.prompt.text = ""
        handle = c.session.handle
        assert handle is not None
        other = CommandHandler(handle.session, handle.setup.planner, by="ann", channel="cli", terminal=True)
        assert not (await other.handle_command("/todo skip 1 somebody else decided this")).failed
        await c.until(lambda: c.status("todo_001") == "skipped", "the skip in the first")
        await c.asked()
        await c.to_question()
        await c.press("0")
        for _ in range(20):
            await c.pilot.pause(0.02)
        assert c.status("todo_001") == "skipped", second


async def test_undo_takes_back_nothing_that_somebody_else_decided(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.to_question()
        await c.press("3")  # the reason is asked for
        await c.pilot.pause()
        handle = c.session.handle
        assert handle is not None
        other = CommandHandler(handle.session, handle.setup.planner, by="ann", channel="cli", terminal=True)
        result = await other.handle_command("/todo skip 1 not needed")
        assert not result.failed
        c.clock.rest()
        await c.press("n", "o")
        c.clock.rest()
        await c.press("enter", "escape")
        await c.until(lambda: c.app.screen is c.session, "the dialog's end")
        for _ in range(20):
            await c.pilot.pause(0.02)
        assert c.status("todo_001") == "skipped"
        await c.asked()
        await c.to_question()
        await c.press("0")
        for _ in range(20):
            await c.pilot.pause(0.02)
        assert c.status("todo_001") == "skipped"


async def test_a_draft_outlives_a_session_that_cannot_be_opened(tmp_path: Path) -> None:
    bad = await broken(tmp_path)
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        c.prompt.text = "a long draft about the cap"
        async with c.app.engine._opening:
            c.app.sessions.open(bad)
            await c.until(lambda: not c.session.pending.is_set(), "the opening")
            c.prompt.focus()
            await c.press("x", "y")
        await c.until(lambda: c.session.handle is not None, "the first one again")
        assert "a long draft about the cap" in c.prompt.text
        assert "xy" in c.prompt.text


async def test_what_one_session_says_is_not_shown_under_another(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        first, _ = await two_sessions(c)
        handle = c.session.handle
        assert handle is not None and isinstance(handle.session.activity, ActivityStream)
        async with c.app.engine._opening:  # another opening that takes a while
            c.app.sessions.open(first)
            await c.until(lambda: not c.session.pending.is_set(), "the opening")
            handle.session.activity.write("todo_001", "line", "said by the second")
            for _n in range(20):
                await c.pilot.pause(0.02)
        await c.until(lambda: c.shown() and c.snapshot.session_id == first, "the first")
        await c.asked()
        assert not [row for row in c.session.query_one(StreamPane).lines if "said by the second" in row]


async def test_what_the_review_approved_is_told_though_it_was_left_meanwhile(tmp_path: Path) -> None:
    workspace = place(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await begun(c, *(f"note file=n{n}" for n in range(1, 7)))
        await c.to_question()
        for _ in range(6):
            await c.press("space", "down")
        await review(c)
        await c.pilot.press("1", "escape")
        await c.until(lambda: c.app.screen is c.session, "the session")
        await c.until(lambda: not c.snapshot.running and not c.snapshot.busy, "its rest")
        for _ in range(20):
            await c.pilot.pause(0.02)
        said = "\n".join(c.session.query_one(StreamPane).lines)
        began = [todo.id for todo in c.snapshot.todos if todo.attempt and todo.id != "todo_001"]
        assert [todo for todo in began if f"Approved {todo[5:]}." not in said] == []
