"""A session that can't go on: the screen keeps saying so, and the way back."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import EXAMPLE, RISE, command_workspace, console

from hitl_tui.console.widgets.bars import HeaderBar
from hitl_tui.console.widgets.plan_table import PlanTable
from hitl_tui.core.todos import Status
from hitl_tui.supervisor.snapshot import Snapshot

WHY = "The disk is full."
SAID = f"This session stopped: {WHY} Once that is fixed, /open s1 continues it."


@pytest.mark.long
async def test_a_session_that_stopped_is_called_so_until_it_is_opened_again(tmp_path: Path) -> None:
    async with console(tmp_path, EXAMPLE, query=RISE) as c:
        await c.asked()
        header = c.session.query_one(HeaderBar)
        c.app.engine._held["s1"]._stop(WHY)
        await c.until(lambda: header.status == "✗ stopped", "that it stopped")
        c.session.seen(c.snapshot)  # what was on its way when it stopped
        c.session.inbox(7)
        await c.pilot.pause()
        assert header.status == "✗ stopped"
        assert c.message == SAID
        await c.press("ctrl+o")
        await c.until(lambda: c.app.screen is c.app.home, "the first screen")
        await c.press("ctrl+o")
        await c.until(lambda: c.app.screen is c.app.session, "the session")
        assert (header.status, c.message) == ("✗ stopped", SAID)
        await c.send("/open s1")
        await c.until(lambda: header.status and "stopped" not in header.status and c.shown(), "that it goes on")
        await c.asked()
        assert c.session.handle is not None and not c.session.handle.stopped
        assert SAID not in c.message


WAITS = """
[teams.command_team.commands.wait]
run = ["sh", "-c", "while [ ! -e gate ]; do sleep 0.05; done"]
description = "Wait for a file."
risk = "low"
"""


@pytest.mark.long
async def test_no_time_goes_on_in_a_session_that_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = command_workspace(tmp_path / "w")
    (folder / "hitl.toml").write_text(WAITS, encoding="utf-8")
    async with console(tmp_path / "d", folder, query="The cap", mode="risk") as c:
        await c.until(lambda: c.shown() and c.snapshot.concluded, "the end")
        await c.send("/todo add command_team wait")
        await c.until(lambda: c.status("todo_002") == Status.IN_PROGRESS, "that it runs")
        drawn: list[Snapshot] = []
        monkeypatch.setattr(PlanTable, "update_some", lambda _, rows: drawn.append(rows))
        await c.session._tick()
        assert drawn
        drawn.clear()
        c.app.engine._held[c.snapshot.session_id]._stop(WHY)
        await c.session._tick()
        assert not drawn
        (folder / "gate").touch()
