"""Marked TODOs acted on together, a result for each; and the own steps of a team (C3, D13, D15)."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import RISE, Console, command_workspace, console
from textual.widgets import DataTable

from hitl_tui.console.dialogs.prompt_dialogs import ConfirmDialog
from hitl_tui.console.dialogs.review_dialog import ReviewDialog
from hitl_tui.console.dialogs.text_viewer import TextViewer
from hitl_tui.console.row_layout import layout
from hitl_tui.console.screens.history_screen import HistoryScreen
from hitl_tui.console.screens.session_screen import SessionScreen
from hitl_tui.console.screens.steps_view import StepsScreen
from hitl_tui.console.widgets.action_bar import Place
from hitl_tui.console.widgets.bars import MessageLine
from hitl_tui.console.widgets.plan_table import PlanTable
from hitl_tui.console.widgets.state_tree import StateTree
from hitl_tui.console.widgets.virtual_rows import Rows
from hitl_tui.core.todos import Status

pytestmark = pytest.mark.long


def text_of(c: Console) -> str:
    return layout(c.app.screen.query_one(Rows).rows, 200).plain


async def marked(c: Console, *rows: int) -> PlanTable:
    """Mark rows of the plan, from 0."""
    table = c.session.query_one(PlanTable)
    table.focus()
    for row in rows:
        table.move_cursor(row=row)
        await c.press("x")
    c.clock.rest()
    return table


def step_of(c: Console) -> int:
    assert isinstance(c.app.screen, StepsScreen) and c.app.screen.place is not None
    return c.app.screen.place.info.step


async def added(c: Console, todo_id: str) -> None:
    await c.until(lambda: c.status(todo_id), todo_id)


async def confirmed(c: Console) -> None:
    await c.until(lambda: isinstance(c.app.screen, ConfirmDialog), "a confirmation")
    await c.press("enter")
    await c.until(lambda: not isinstance(c.app.screen, ConfirmDialog), "Enter means no")


async def yes(c: Console) -> None:
    await c.until(lambda: isinstance(c.app.screen, ConfirmDialog), "a confirmation")
    c.clock.rest()
    await c.press("1")


async def results(c: Console) -> str:
    await c.until(lambda: isinstance(c.app.screen, TextViewer), "the results")
    text = text_of(c)
    await c.press("escape")
    await c.until(lambda: isinstance(c.app.screen, SessionScreen), "the session")
    return text


@pytest.mark.long
async def test_marked_todos_are_skipped_removed_and_given_a_priority_with_a_result_for_each(tmp_path: Path) -> None:
    workspace = command_workspace(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="What is the cap?") as c:
        await c.asked()
        for number in range(2, 6):
            await c.send(f"/todo add command_team keep file=f{number} --after todo_001")
            await added(c, f"todo_00{number}")
        table = await marked(c, 1, 2)
        assert "2 marked" in str(table.border_subtitle)
        await c.press("p")
        await c.until(lambda: c.app.screen.query("#choosing-list"), "the levels")
        c.clock.rest()
        await c.press("1")
        await c.until(lambda: c.message == "2 steps are critical now.", "what was done")
        assert isinstance(c.app.screen, SessionScreen), "no box where nothing went wrong"
        assert [t.priority.value for t in c.snapshot.todos[1:4]] == ["critical", "critical", "medium"]
        await c.press("s")
        await confirmed(c)
        assert c.status("todo_002") == Status.PENDING
        await c.press("s")
        await yes(c)
        await c.until(lambda: c.message == "Skipped 2 steps.", "what was done")
        assert [c.status(f"todo_00{n}") for n in (2, 3, 4)] == [Status.SKIPPED, Status.SKIPPED, Status.PENDING]
        await c.press("escape")
        await marked(c, 1, 3, 4)
        await c.press("d")
        await yes(c)
        said = await results(c)
        assert said.count("✓") == 2 and "✗ 002" in said and "can't be removed" in said
        assert [t.id for t in c.snapshot.todos] == ["todo_001", "todo_002", "todo_003"]
        await c.press("c")
        assert c.message == "Only a running step can be cancelled."


async def test_approving_from_the_plan_goes_through_the_review_and_takes_only_what_asks(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await marked(c, 0, 1)
        await c.press("a")
        await c.until(lambda: isinstance(c.app.screen, ReviewDialog), "the review")
        assert "001" in text_of(c) and "◆ 002" not in text_of(c)
        assert "002: not asked yet. What is of low risk can be approved before its turn" in text_of(c) and not c.message
        await c.press("escape")
        await c.until(lambda: isinstance(c.app.screen, SessionScreen), "the session")
        assert c.status("todo_001") == Status.WAITING_APPROVAL


async def test_what_ran_keeps_its_place_by_key_and_by_command_and_says_so_alike(tmp_path: Path) -> None:
    workspace = command_workspace(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="What is the cap?", mode="risk") as c:
        await c.until(lambda: c.shown() and c.status("todo_001") == Status.COMPLETED, "the search")
        await c.send("/todo add command_team keep")
        await c.asked()
        await c.send("/todo move 1 after 2")
        await c.until(lambda: "can be moved" in c.message, "why not")
        by_command = c.message.split("  ")[0]
        c.session.query_one(PlanTable).focus()
        await c.press("home", "shift+down")
        await c.until(lambda: c.message == by_command, "the same sentence")
        assert by_command == "001 is completed; only steps that haven't run can be moved."
        assert [t.id for t in c.snapshot.todos] == ["todo_001", "todo_002"]


@pytest.mark.long
async def test_a_teams_own_steps_are_stepped_through_and_gone_back_to(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE, mode="risk") as c:
        await c.until(lambda: c.shown() and c.snapshot.status == "finished", "the end")
        await c.send("/mode step")
        table = c.session.query_one(PlanTable)
        table.focus()
        table.move_cursor(row=1)
        await c.press("f5")
        await c.until(lambda: isinstance(c.app.screen, HistoryScreen) and c.app.screen.place, "replay")
        c.app.screen.query_one(PlanTable).focus()
        c.app.screen.query_one(PlanTable).move_cursor(row=1)
        await c.press("t")
        await c.until(lambda: isinstance(c.app.screen, StepsScreen), "the steps")
        steps = c.app.screen.query_one("#steps-list", DataTable)
        await c.until(lambda: steps.row_count > 4, "the steps of the analysis")
        first = [str(steps.get_row_at(n)[0]).split()[1] for n in range(steps.row_count)]
        assert first[0] == "ended" and {"prepare", "preprocess", "finalise"} & set(first)
        states = c.app.screen.query_one(StateTree)
        await c.until(lambda: states.root.children, "its state")
        assert "→" in text_of(c)
        await c.press("down", "down")
        third = int(str(steps.get_row_at(2)[0]).split()[0])
        await c.until(lambda: step_of(c) == third, "its step")
        await c.pilot.press("down", "down", "up", "down", "up", "up")
        await c.until(lambda: isinstance(c.app.screen, StepsScreen) and c.app.screen.settled, "where a burst led")
        assert (steps.cursor_row, step_of(c)) == (2, third)
        await c.press("2", "m", "4")
        await confirmed(c)
        assert c.status("todo_002") == Status.COMPLETED
        await c.press("4")
        await yes(c)
        await c.until(lambda: isinstance(c.app.screen, SessionScreen), "the session")
        await c.until(lambda: c.status("todo_002") == Status.WAITING_APPROVAL, "that it is asked anew")


async def test_what_never_ran_has_no_steps(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        c.session.query_one(PlanTable).focus()
        await c.press("t")
        await c.until(lambda: "has not run" in c.message, "why not")
        assert isinstance(c.app.screen, SessionScreen)


async def test_what_is_marked_in_the_plan_is_reviewed_at_the_question_too_and_what_is_not_asked_is_named(
    tmp_path: Path,
) -> None:
    async with console(tmp_path / "d", command_workspace(tmp_path / "w"), query="The cap", mode="risk") as c:
        await c.until(lambda: c.shown() and c.snapshot.concluded, "the search")
        for name in ("one", "two", "three"):
            await c.send(f"/todo add command_team keep file={name}")
        await c.asked(3)
        await c.send("/todo add command_team keep file=four --after todo_004")
        await added(c, "todo_005")
        await marked(c, 1, 2, 4)
        c.panel.select("todo_002")
        await c.to_question()
        await c.read_on()
        assert "1 Review 2 marked" in str(c.panel.query_one("#place-1", Place).content)
        await c.press("1")
        await c.until(lambda: isinstance(c.app.screen, ReviewDialog), "the review")
        assert {c.status(f"todo_00{n}") for n in (2, 3, 4)} == {"waiting_approval"}
        await c.until(lambda: "◆ 003" in text_of(c), "the marked")
        assert "◆ 002" in text_of(c) and "◆ 004" not in text_of(c)
        assert "005: not asked yet" in text_of(c)
        assert not c.session.query_one(MessageLine).text
        while not c.app.screen.read:
            await c.press("pagedown")
        c.clock.rest()
        await c.press("1")
        await c.until(lambda: {c.status("todo_002"), c.status("todo_003")} == {"completed"}, "both are done")
        assert c.status("todo_004") == "waiting_approval"
        assert c.session.query_one(PlanTable).marked == ("todo_005",)


async def test_one_marked_question_is_decided_and_marks_go_from_both_places(tmp_path: Path) -> None:
    async with console(tmp_path / "d", command_workspace(tmp_path / "w"), query="The cap", mode="risk") as c:
        await c.until(lambda: c.shown() and c.snapshot.concluded, "the search")
        await c.send("/todo add command_team keep file=one")
        await c.asked()
        table = await marked(c, 1)
        assert [q.todo_id for q in c.panel.marked] == ["todo_002"]
        await c.to_question()
        await c.press("space")
        await c.pilot.pause()
        assert not c.panel.marked and not table.marked
        c.clock.rest()
        await c.press("space")
        c.clock.rest()
        await c.read_on()
        await c.press("1")
        await c.until(lambda: c.status("todo_002") == "completed", "it is done")
        assert not table.marked
