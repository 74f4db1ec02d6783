"""Panes get the room that they have something for, and the plan's cursor goes with the question."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import RISE, Console, command_workspace, console
from hypothesis import given
from hypothesis import strategies as st
from textual.geometry import Size

from hitl_tui.console.dialogs.edit_dialog import EditDialog
from hitl_tui.console.dialogs.text_viewer import HelpScreen, TextViewer
from hitl_tui.console.screens.session_screen import SessionScreen
from hitl_tui.console.widgets.answer_pane import AnswerPane
from hitl_tui.console.widgets.history_table import HistoryTable
from hitl_tui.console.widgets.layout import upper_rows
from hitl_tui.console.widgets.panes import Panes
from hitl_tui.console.widgets.plan_table import PlanTable
from hitl_tui.console.widgets.stream_pane import Line, StreamPane
from hitl_tui.core.todos import Status

pytestmark = pytest.mark.long


@given(st.integers(8, 90), st.integers(0, 10_000), st.integers(0, 10_000))
def test_each_pane_keeps_some_rows_and_a_stream_that_has_not_begun_few(rows: int, steps: int, lines: int) -> None:
    upper = upper_rows(rows, steps, lines)
    assert 1 <= upper < rows
    if lines <= 3 and rows >= 20:
        assert rows - upper <= 5
    if lines > 3 and rows >= 20:
        assert rows - upper >= min(rows // 2, lines + 2), "the answer has at least half, or room for its lines"


async def finished(c: Console) -> None:
    """Approve both steps; wait for the answer."""
    for todo_id in ("todo_001", "todo_002"):
        await c.until(lambda todo_id=todo_id: c.panel.select(todo_id), "it asks")
        await c.to_question()
        await c.read_on()
        await c.press("1")
        await c.until(lambda todo_id=todo_id: c.status(todo_id) == Status.COMPLETED, "it is done")
    await c.until(lambda: c.snapshot.concluded and c.session.query_one(AnswerPane).text, "the answer")


async def test_a_stream_that_has_not_begun_gives_its_room_and_an_answer_gets_it(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE, mode="step") as c:
        await c.asked()
        plan, stream = c.session.query_one(PlanTable), c.session.query_one(StreamPane)
        await c.until(lambda: stream.region.height == 5, "few rows for the stream")
        assert plan.region.height > stream.region.height
        await finished(c)
        answer = c.session.query_one(AnswerPane)
        await c.until(lambda: answer.region.height >= 2 * plan.region.height, "room for the answer")
        assert plan.size.height >= plan.steps


async def test_a_stream_at_its_end_stays_there_when_lines_come_while_the_screen_is_laid_out_anew(
    tmp_path: Path,
) -> None:
    async with console(tmp_path, query=RISE, mode="step") as c:
        await c.asked()
        stream = c.session.query_one(StreamPane)
        stream.add([Line("", "", f"line {n}") for n in range(300)])
        c.session.show_pane("stream", focus=True)
        await c.until(lambda: stream.is_vertical_scroll_end and stream.size.height > 10, "its end")
        height = stream.size.height
        c.session._refresh_layout(Size(120, 34))  # the pane is told so after the lines that come here
        assert stream.size.height < height and not stream.is_vertical_scroll_end
        stream.add([Line("", "", f"more {n}") for n in range(100)])
        await c.until(lambda: stream.is_vertical_scroll_end, "the end of what came")
        await c.press("k")
        place = stream.scroll_offset.y
        stream.add([Line("", "", f"still more {n}") for n in range(100)])
        await c.pilot.pause()
        assert stream.scroll_offset.y == place, "who reads an earlier line goes on reading it"


async def test_lines_that_come_move_nothing_once_the_stream_has_begun(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE, mode="step") as c:
        await c.asked()
        panes, stream = c.session.query_one(Panes), c.session.query_one(StreamPane)
        question = c.panel.region
        stream.add([Line("", "", f"line {n}") for n in range(4)])
        panes.share_room()
        await c.pilot.pause()
        place = stream.region
        assert place.height > 5 and c.panel.region == question
        for n in range(60):
            panes.note("09:41:07", f"note {n}")
        await c.pilot.pause()
        assert stream.region == place and c.panel.region == question


async def test_the_cursor_of_the_plan_follows_the_question_unless_it_was_moved(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE, mode="step") as c:
        await c.asked()
        plan = c.session.query_one(PlanTable)
        await c.to_question()
        await c.read_on()
        await c.press("1")
        await c.until(lambda: plan.selected == "todo_002", "the step that is asked about")
        plan.focus()
        await c.press("up")
        assert plan.selected == "todo_001"
        c.session._follow()
        assert plan.selected == "todo_001"
        await c.to_question()
        await c.until(lambda: plan.selected == "todo_002", "the step of the question that was gone to")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
@pytest.mark.parametrize("back", ["plus", "escape"])
async def test_one_key_gives_a_pane_all_the_room_and_takes_it_back(
    tmp_path: Path, size: tuple[int, int], back: str
) -> None:
    async with console(tmp_path, query=RISE, mode="step", size=size) as c:
        await c.asked()
        history = c.session.query_one(HistoryTable)
        c.session.show_pane("history", focus=True)
        await c.pilot.pause()
        place, question = history.region, c.panel.region
        await c.press("plus")
        assert history.region.size == (size[0], size[1] - 4), "all but header, tabs, message and keys"
        assert not c.panel.region.area or c.panel not in c.app.screen._compositor.visible_widgets
        await c.press("f6")
        stream = c.session.query_one(StreamPane)
        assert stream.has_focus and stream.region.width == size[0] and not history.display
        c.session.show_pane("history", focus=True)
        await c.press(back)
        assert history.has_focus
        await c.pilot.pause()
        assert (history.region, c.panel.region) == (place, question)


async def test_a_question_behind_a_pane_is_seen_anew_before_a_key_decides(tmp_path: Path) -> None:
    async with console(tmp_path / "d", command_workspace(tmp_path / "w"), query="The cap", mode="risk") as c:
        await c.until(lambda: c.shown() and c.snapshot.concluded, "the search")
        shown: list[str] = []
        c.session.show_pane("plan", focus=True)
        await c.press("plus")
        assert c.session.handle is not None
        showing = c.session.handle.session.writer.showing
        noted = showing.note
        showing.note = lambda ids, *where: (shown.extend(ids), noted(ids, *where))[1]  # type: ignore[method-assign]
        await c.session.handle.handler.handle_command("/todo add command_team keep file=one")
        await c.asked()
        assert not shown and "1 needs you" in c.session.query_one("#header").status
        c.clock.rest()
        await c.press("ctrl+g")
        assert c.panel.has_focus and c.session.maximized is None
        await c.until(lambda: shown, "the question on the screen")
        await c.press("1")
        assert c.status("todo_002") == Status.WAITING_APPROVAL, "it came to the screen just now"
        await c.read_on()
        await c.press("1")
        await c.until(lambda: c.status("todo_002") == Status.COMPLETED, "the step")


async def test_words_typed_at_a_pane_with_all_the_room_go_to_the_prompt(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE, mode="step", size=(80, 24)) as c:
        await c.asked()
        c.session.show_pane("history", focus=True)
        await c.press("plus")
        c.clock.rest()
        await c.press("slash", "t")
        assert c.prompt.has_focus and c.prompt.text.startswith("/") and c.session.maximized is None


async def test_at_80x24_the_output_before_the_question_is_one_key_away(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE, mode="step", size=(80, 24)) as c:
        await c.asked()
        await c.to_question()
        await c.press("f6")
        assert c.session.query_one(PlanTable).has_focus
        await c.to_question()
        await c.read_on()
        await c.press("1")
        await c.until(lambda: c.panel.question is not None and c.panel.question.todo_id == "todo_002", "the next one")
        await c.press("f6")
        stream = c.session.query_one(StreamPane)
        assert stream.has_focus and isinstance(c.app.screen, SessionScreen)
        await c.until(lambda: any("001 ✓" in line for line in stream.lines[-stream.size.height :]), "its result")


def drawn(c: Console) -> list[str]:
    return [strip.text for strip in c.app.screen._compositor.render_strips(c.app.size)]


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (80, 12)])
async def test_the_edit_dialog_leaves_what_lies_behind_it_where_it_is(tmp_path: Path, size: tuple[int, int]) -> None:
    async with console(tmp_path, query=RISE, mode="step", size=size) as c:
        await c.asked()
        await c.to_question()
        await c.read_on()
        before = [strip.text for strip in c.session._compositor.render_strips(c.app.size)]
        await c.press("2")
        await c.until(lambda: isinstance(c.app.screen, EditDialog) and c.app.screen.query("#edit"), "the dialog")
        await c.pilot.pause()
        dialog = c.app.screen.query_one("#edit").region
        assert dialog.bottom <= size[1], "its last row is on the screen"
        beside = [(row[: dialog.x], row[dialog.right :]) for row in drawn(c)]
        assert beside[0] == (before[0][: dialog.x], before[0][dialog.right :])
        assert sum(a[: dialog.x] != b for a, (b, __) in zip(before, beside, strict=True)) <= 3, "but for signs of focus"


async def test_what_comes_while_the_stream_is_hidden_is_broken_to_its_width(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE, size=(60, 30)) as c:
        await c.asked()
        panes, stream = c.session.query_one(Panes), c.session.query_one(StreamPane)
        panes.show("stream")
        await c.until(lambda: stream.size.width > 0, "the stream")
        panes.show("plan")
        await c.until(lambda: not stream.size.width, "that it is hidden")
        panes.note("09:41:07", "word " * 40)
        panes.show("stream")
        await c.until(lambda: stream.size.width > 0, "the stream again")
        await c.until(lambda: max(map(len, stream.lines)) < stream.size.width, "that all of it can be read")


async def test_next_and_previous_pane_pass_no_answer_that_is_not_there_and_move_nothing(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE, mode="step") as c:
        await c.asked()
        c.session.show_pane("plan", focus=True)
        await c.pilot.pause()
        places = [c.session.query_one(f"#{pane}").region for pane in ("plan", "history", "stream")]
        for key, panes in (("f6", ("history", "stream", "plan")), ("f18", ("stream", "history", "plan"))):
            for pane in panes:
                await c.press(key)
                await c.pilot.pause()
                assert c.session.focused is not None and c.session.focused.id == pane
                assert [c.session.query_one(f"#{pane}").region for pane in ("plan", "history", "stream")] == places
        await finished(c)
        for key, pane in (("f6", "answer"), ("f6", "plan"), ("shift+f6", "answer"), ("shift+f6", "stream")):
            await c.press(key)
            assert c.session.focused is not None and c.session.focused.id == pane


@pytest.mark.parametrize(("size", "line"), [((80, 24), "/help todo"), ((120, 40), "/help checkpoint")])
async def test_how_commands_are_used_is_read_on_the_screen_of_the_help(
    tmp_path: Path, size: tuple[int, int], line: str
) -> None:
    async with console(tmp_path, query=RISE, mode="step", size=size) as c:
        await c.asked()
        await c.send(line)
        await c.until(lambda: isinstance(c.app.screen, HelpScreen), "the help")
        assert line.replace("help ", "") in "\n".join(drawn(c))
        await c.press("escape")
        assert c.prompt.has_focus


async def test_an_answer_of_more_lines_than_the_stream_has_is_read_on_a_screen_of_its_own(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE, mode="step", size=(80, 16)) as c:
        await c.asked()
        stream = c.session.query_one(StreamPane)
        for _ in range(4):
            await c.send("/todo skip 2")
            await c.until(lambda: c.status("todo_002") == Status.SKIPPED, "the skip")
            await c.send("/todo update 2 pending")
            await c.until(lambda: c.status("todo_002") != Status.SKIPPED, "that it is undone")
        await c.send("/decisions")
        await c.until(lambda: isinstance(c.app.screen, TextViewer), "all of it")
        await c.press("escape")
        assert len(stream.lines) > stream.size.height, "the stream has it, too"
