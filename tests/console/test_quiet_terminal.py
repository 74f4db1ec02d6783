"""What goes to the terminal: a countdown draws its line, and lines that come fast come together."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

import pytest
from console_support import Console, console
from textual.containers import Vertical
from textual.geometry import Region

from hitl_tui.console.screens.session_screen import SessionScreen
from hitl_tui.console.widgets.stream_pane import StreamPane

DEADLINE = """
[[policy]]
decision = "ask"
deadline = "2h"
on_deadline = "reject"
"""


def with_deadlines(folder: Path) -> Path:
    folder.mkdir()
    (folder / "cap.md").write_text("# Cap\n\nThe cap is 5 percent.\n", encoding="utf-8")
    (folder / "hitl.toml").write_text(DEADLINE, encoding="utf-8")
    return folder


class Later:
    """A clock that is ahead."""

    @staticmethod
    def now(zone: tzinfo) -> datetime:
        return datetime.now(zone) + timedelta(minutes=7)


async def test_a_countdown_draws_only_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with console(tmp_path / "data", with_deadlines(tmp_path / "w"), query="Find the cap.") as c:
        await c.asked()
        before = c.panel.border_title
        drawn: list[tuple[Region, ...]] = []
        draw = Vertical.refresh

        def noted(widget: Any, *regions: Region, **more: Any) -> Any:
            if widget is c.panel:
                drawn.append(regions)
            return draw(widget, *regions, **more)

        monkeypatch.setattr(Vertical, "refresh", noted)
        monkeypatch.setattr("hitl_tui.console.widgets.question_panel.datetime", Later)
        c.panel._tick()
        assert c.panel.border_title != before
        c.panel._tick()
        top = Region(-c.panel.content_offset.x, -c.panel.content_offset.y, c.panel.outer_size.width, 1)
        assert set(drawn) == {(top,)}


async def said(c: Console, word: str, count: int) -> list[int]:
    """Let a team say lines one after the other; return how many the screen took at once, each time."""
    together: list[int] = []
    take = SessionScreen.said

    def noted(screen: SessionScreen, session: str, lines: Any) -> None:
        together.append(len(lines))
        take(screen, session, lines)

    handle = c.session.handle
    assert handle is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SessionScreen, "said", noted)
        for number in range(count):
            handle.session.activity.write("todo_001", "line", f"{word} {number}")  # type: ignore[union-attr]
            await asyncio.sleep(0)
        stream = c.session.query_one(StreamPane)
        await c.until(lambda: any(f"{word} {count - 1}" in row for row in stream.lines), "the last line")
    return together


async def test_lines_that_come_fast_are_shown_together_and_none_is_lost(tmp_path: Path) -> None:
    async with console(tmp_path / "data", with_deadlines(tmp_path / "w"), query="Find the cap.") as c:
        await c.asked()
        together = await said(c, "fast", 500)
        assert sum(together) == 500 and len(together) < 50
        rows = [row for row in c.session.query_one(StreamPane).lines if "fast " in row]
        assert [row.rsplit(" ", 1)[1] for row in rows] == [str(n) for n in range(500)]
        assert await said(c, "alone", 1) == [1], "one alone comes, too"
