"""Who gets which rows of a session's screen, and that together they are never more than there are."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import RISE, Console, command_workspace, console
from hypothesis import given
from hypothesis import strategies as st
from textual.geometry import Size

from hitl_tui.console.widgets.bars import HeaderBar, KeyLine
from hitl_tui.console.widgets.layout import Places, ScreenRows, Shown, divided, lines_room, places, question_room
from hitl_tui.console.widgets.panes import Panes
from hitl_tui.console.widgets.plan_table import PlanTable
from hitl_tui.console.widgets.stream_pane import Line, StreamPane

USUAL = 9


def room(size: tuple[int, int], steps: int, *, plan: bool = True, looking: bool = False) -> int:
    """Return what a question gets beside header, one message, a prompt of one line and the keys."""
    around = 6 if places(Size(*size)) in (Places.BELOW, Places.BESIDE) else 4
    return question_room(size[1] - around, Size(*size), Shown(steps, plan, looking))


@pytest.mark.parametrize(
    ("size", "steps", "rows"),
    [
        ((80, 24), 4, 13),
        ((80, 24), 1, 16),
        ((80, 30), 4, 19),
        ((80, 24), 50, USUAL),
        ((60, 20), 12, USUAL),
        ((80, 50), 8, 35),
    ],
)
def test_a_plan_keeps_up_to_eight_rows_and_the_question_gets_the_rest(
    size: tuple[int, int], steps: int, rows: int
) -> None:
    assert room(size, steps) == rows
    assert room(size, steps, looking=True) == USUAL


def test_another_pane_than_the_plan_keeps_a_few_lines_however_long_the_plan_is() -> None:
    assert room((80, 24), 50, plan=False) == room((80, 24), 1, plan=False) == 14
    assert room((80, 30), 4, plan=False) == 20


def test_where_all_panes_are_seen_they_keep_some_rows() -> None:
    assert room((120, 40), 2) == 20  # a preview of a dozen lines finds room in one piece
    assert room((120, 40), 4) == 19
    assert (room((120, 40), 9), room((120, 30), 2)) == (18, 13)
    assert room((120, 48), 2) == 28
    assert room((100, 30), 5) == 11, "five steps and a few lines are seen beside it"


@given(
    st.builds(Size, st.integers(20, 300), st.integers(1, 80)),
    st.tuples(st.integers(0, 40), st.integers(1, 3), st.integers(1, 5)),
    st.builds(Shown, st.integers(0, 100), st.booleans(), st.booleans()),
)
def test_what_is_given_out_is_what_there_is_and_the_prompt_keeps_a_line(
    size: Size, wants: tuple[int, int, int], shown: Shown
) -> None:
    question, message, prompt = wants
    found = divided(max(0, size.height - 2), ScreenRows(0, question, message, prompt), size, shown)
    assert sum(found) == max(0, size.height - 2) and min(found) >= 0
    assert found.prompt >= (size.height > 2)
    if size.height >= 9:
        assert found.question >= min(question, 5), "its frame, a line and its actions"
    if size.height >= 24:
        assert found.prompt == prompt and found.message == message
        assert found.panes + message - 1 >= 4, "a step is seen"
    longer = divided(max(0, size.height - 2), ScreenRows(0, question, 3, prompt), size, shown)
    assert longer.question == found.question, "no message makes it lower"


def test_the_room_for_lines_doubles() -> None:
    assert [lines_room(n) for n in (0, 3, 4, 6, 7, 13)] == [3, 3, 6, 6, 12, 24]


# On the screen -----------------------------------------------------------------------------------------------------


def drawn(c: Console) -> list[str]:
    return [strip.text for strip in c.app.screen._compositor.render_strips(c.app.size)]


@pytest.mark.long
@pytest.mark.parametrize("size", [(80, 24), (80, 20), (40, 10), (60, 8), (120, 30)])
async def test_a_draft_of_many_lines_leaves_header_question_and_keys_on_the_screen(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    query = f"What is the {'very ' * 60}low cap?"
    async with console(tmp_path / "d", command_workspace(tmp_path / "w"), query=query, mode="step", size=size) as c:
        await c.asked()
        for draft in ("", "a" + "\n" * 5, "line\n" * 14):
            c.prompt.text = draft
            await c.pilot.pause()
            if draft:
                c.prompt.move_cursor(c.prompt.document.end)
            places = {type(w): w.region for w in c.session.query("HeaderBar, KeyLine, #prompt-row, QuestionPanel")}
            assert places[HeaderBar].y == 0 and places[KeyLine].bottom == size[1]
            assert c.prompt.region.height == c.prompt.size.height >= 1
            assert c.prompt.region.bottom <= places[KeyLine].y
            assert c.panel.region.bottom <= c.prompt.region.y
            body = c.session.query_one("#question-body")
            assert body.region.height >= 1 and "1" in drawn(c)[body.region.bottom], "its actions follow its text"
            assert not c.session.show_vertical_scrollbar


def steps_of(c: Console) -> list[str]:
    """Return the lines of the plan that are seen."""
    plan = c.session.query_one(PlanTable)
    return ["".join(s.text for s in plan.render_line(y)).rstrip() for y in range(plan.size.height)]


@pytest.mark.long
@pytest.mark.parametrize("size", [(100, 30), (80, 24), (250, 20), (160, 30)])
async def test_the_step_that_is_asked_about_is_seen_in_the_plan(tmp_path: Path, size: tuple[int, int]) -> None:
    workspace = command_workspace(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk", size=size) as c:
        await c.until(lambda: c.shown() and c.snapshot.concluded, "the search")
        assert c.session.handle is not None
        for n in range(8):
            await c.session.handle.handler.handle_command(f"/todo add command_team keep file=f{n}")
        c.session.query_one(StreamPane).add([Line("", "", f"line {n}") for n in range(60)])
        c.session.show_pane("plan")
        await c.asked(8)
        for n in (4, 9, 2):
            assert c.panel.select(f"todo_{n:03}")
            await c.until(lambda n=n: any(f" {n:03} " in line for line in steps_of(c)), f"step {n}")  # type: ignore[misc]
        c.prompt.text = "a\n\n\n\n\n"
        await c.until(lambda: any(" 002 " in line for line in steps_of(c)), "step 2 above a long draft")


@pytest.mark.long
async def test_blank_rows_of_the_stream_are_the_plans(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE, mode="step") as c:
        await c.asked()
        assert c.session.handle is not None
        for n in range(30):
            await c.session.handle.handler.handle_command(f"/todo add search_team what is {n}")
        plan, stream = c.session.query_one(PlanTable), c.session.query_one(StreamPane)
        stream.reset()
        stream.add([Line("", "", f"line {n}") for n in range(6)])
        c.session.query_one(Panes).share_room()
        await c.until(lambda: stream.size.height == 6, "as many rows as lines")
        height = plan.size.height
        stream.add([Line("", "", f"line {n}") for n in range(60)])
        c.session.query_one(Panes).share_room()
        await c.until(lambda: plan.size.height < height and stream.size.height > 6, "more of them")


@pytest.mark.long
async def test_a_low_and_wide_terminal_shows_all_panes_in_a_row(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE, mode="step", size=(250, 20)) as c:
        await c.asked()
        plan, history, stream = (c.session.query_one(f"#{name}").region for name in ("plan", "history", "stream"))
        assert plan.y == history.y == stream.y - 1 and plan.right == history.x and history.right == stream.x
        assert min(plan.width, history.width, stream.width) >= 50 and stream.right == 250
