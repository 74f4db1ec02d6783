"""Tables in an answer: one rule, under the head, and columns that have the room they need."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.content import Content

from hitl_tui.console.widgets.answer_pane import AnswerPane
from hitl_tui.console.widgets.answer_table import drawn, widths_of

HEADS = [Content(head) for head in ("id", "title", "budget")]
ROWS = [
    [Content(cell) for cell in ("P017", "예약 사이트", "23,500,000")],
    [Content(cell) for cell in ("P019", "a title of several words", "−5")],
]


def test_a_table_has_one_rule_and_its_figures_stand_below_each_other() -> None:
    assert drawn(HEADS, ROWS, 80).plain.split("\n") == [
        "id    title                         budget",
        "─" * 42,
        "P017  예약 사이트               23,500,000",
        "P019  a title of several words          −5",
    ]


def test_a_cell_without_room_goes_on_in_its_column() -> None:
    lines = drawn(HEADS, ROWS, 30).plain.split("\n")
    assert lines[3:] == ["P019  a title of            −5", "      several", "      words"]
    assert all(Content(line).cell_length <= 30 for line in lines)


@pytest.mark.parametrize("room", [1, 5, 12, 19, 20, 24, 80])
def test_no_column_vanishes(room: int) -> None:
    columns = [[Content("x" * n)] for n in (1, 9, 30)]
    widths = widths_of(columns, room)
    assert sum(widths) + 4 <= max(room, 4 * 3 + 4)
    assert all(0 < width <= n for width, n in zip(widths, (1, 9, 30), strict=True))


class _Answered(App[None]):
    CSS_PATH = Path(__file__).resolve().parents[2] / "hitl_tui" / "console" / "widgets" / "panes.tcss"

    def compose(self) -> ComposeResult:
        yield AnswerPane()


async def test_an_answer_draws_its_tables_so() -> None:
    app = _Answered()
    async with app.run_test(size=(60, 20)) as pilot:
        pane = app.query_one(AnswerPane)
        pane.add_class("-seen")
        await pane.show({"text": "Rows:\n\n| name | tier |\n| --- | --- |\n| one | A |\n| two |\n\nEnd.\n"})
        await pilot.pause()
        lines = ["".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips()]
    shown = [line.strip("┃│ ") for line in lines if line.strip("┃│ ")]
    assert shown[1:-1] == ["Rows:", "name  tier", "──────────", "one   A", "two", "End."]
