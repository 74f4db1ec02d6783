"""How many rows a question gets: what the panes leave, and never fewer than usual."""

from __future__ import annotations

import pytest
from textual.geometry import Size

from hitl_tui.console.widgets.layout import question_room

USUAL = 9


@pytest.mark.parametrize(
    ("size", "steps", "rows"),
    [
        ((80, 24), 4, 13),
        ((80, 24), 1, 16),
        ((80, 30), 4, 19),
        ((80, 24), 50, 0),
        ((60, 20), 12, 0),
        ((80, 50), 8, 35),
    ],
)
def test_a_plan_keeps_up_to_eight_rows_and_the_question_gets_the_rest(
    size: tuple[int, int], steps: int, rows: int
) -> None:
    assert question_room(Size(*size), steps) == rows


def test_another_pane_than_the_plan_keeps_a_few_lines_however_long_the_plan_is() -> None:
    assert question_room(Size(80, 24), 50, plan=False) == question_room(Size(80, 24), 1, plan=False) == 14
    assert question_room(Size(80, 30), 4, plan=False) == 20


def test_a_question_never_gets_fewer_rows_than_usual() -> None:
    for columns in (40, 80, 99):
        for height in range(1, 80):
            for steps in range(20):
                assert (
                    question_room(Size(columns, height), steps) == 0
                    or question_room(Size(columns, height), steps) > USUAL
                )


def test_where_all_panes_are_seen_they_keep_some_rows() -> None:
    assert question_room(Size(120, 40), 2) == 19  # a preview of a dozen lines finds room in one piece
    assert question_room(Size(120, 40), 4) == 18
    assert (question_room(Size(120, 40), 9), question_room(Size(120, 30), 2)) == (17, 0)
    assert question_room(Size(120, 48), 2) == 27
