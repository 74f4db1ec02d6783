"""The list of sessions: moved through by key, and where it was once it is drawn anew."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from textual.app import App, ComposeResult

from hitl_tui.console.widgets.session_table import SessionTable
from hitl_tui.supervisor.session_summary import SessionSummary


def listed(numbers: Iterable[int]) -> list[SessionSummary]:
    time = "2026-01-01T09:00:00+00:00"
    return [SessionSummary(f"s{n}", f"Question {n}", "/w", time, "finished", 0, False, time) for n in numbers]


class _Listing(App[None]):
    def compose(self) -> ComposeResult:
        yield SessionTable()


async def test_first_and_last_session_are_a_key_away() -> None:
    app = _Listing()
    async with app.run_test(size=(100, 20)) as pilot:
        table = app.query_one(SessionTable)
        table.show(listed(range(100, 0, -1)))
        table.focus()
        selected = []
        for key in ("end", "home", "pagedown", "pageup", "G", "g"):
            await pilot.press(key)
            selected.append(table.selected)
        assert selected[:2] == ["s1", "s100"] and selected[3:] == ["s100", "s1", "s100"]
        assert selected[2] not in ("s1", "s100")


@pytest.mark.parametrize("row", [50, 99])
async def test_a_list_that_is_drawn_anew_stays_where_it_is(row: int) -> None:
    app = _Listing()
    async with app.run_test(size=(100, 20)) as pilot:
        table = app.query_one(SessionTable)
        table.show(listed(range(100, 0, -1)))
        table.focus()
        table.move_cursor(row=row)
        await pilot.pause()
        await pilot.press("up", "up", "up")
        chosen, above = table.selected, table.cursor_row - table.scroll_offset.y
        assert above < 17, "the cursor isn't at the edge"
        table.show(listed(range(103, 0, -1)))
        await pilot.pause()
        assert table.selected == chosen
        assert table.cursor_row - table.scroll_offset.y == above


async def test_a_question_keeps_room_beside_a_long_status() -> None:
    app = _Listing()
    async with app.run_test(size=(80, 24)):
        table = app.query_one(SessionTable)
        table.show([replace(one, tally={"done": 2, "rejected": 1, "not_run": 3}) for one in listed([1, 2])])
        assert list(table.columns.values())[-1].width >= 30
