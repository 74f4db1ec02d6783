"""Edit then approve, undo, restore, modes, and plans changed in words."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from console_support import EXAMPLE, RISE, TWO, Console, command_workspace, console
from textual.widgets import OptionList, Static

from hitl_tui.commands.results import CommandResult
from hitl_tui.config.starters import starters
from hitl_tui.console.dialogs.answer_dialog import OptionAnswer
from hitl_tui.console.dialogs.edit_dialog import EditDialog
from hitl_tui.console.dialogs.form_fields import FieldInput
from hitl_tui.console.dialogs.inbox_dialog import InboxDialog
from hitl_tui.console.dialogs.interrupt_answer import Gathered
from hitl_tui.console.dialogs.mode_dialog import ModeDialog
from hitl_tui.console.dialogs.prompt_dialogs import ConfirmDialog
from hitl_tui.console.dialogs.proposal_parts import ChangePart, Unfit
from hitl_tui.console.dialogs.reading_dialog import ReadingDialog
from hitl_tui.console.palette import Palette
from hitl_tui.console.widgets.answer_pane import AnswerPane
from hitl_tui.console.widgets.bars import HeaderBar
from hitl_tui.console.widgets.history_table import HistoryTable
from hitl_tui.console.widgets.plan_table import PlanTable
from hitl_tui.console.widgets.virtual_rows import Rows
from hitl_tui.core.requests import Kind
from hitl_tui.core.todos import Status


async def test_edit_and_approve_runs_exactly_what_the_dialog_showed(tmp_path: Path) -> None:
    workspace = command_workspace(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await c.until(lambda: c.shown() and c.status("todo_001") == Status.COMPLETED, "the search")
        await c.send("/todo add command_team keep file=before")
        await c.asked()
        await c.to_question()
        await c.press("2")
        await c.until(lambda: isinstance(c.app.screen, EditDialog), "the dialog")
        assert isinstance(c.app.screen, EditDialog)
        assert json.loads(c.app.screen.editor_text()) == {"file": "before"}
        assert c.app.screen.query_one(FieldInput).has_focus
        await c.press(*["backspace"] * 6, *"after", "space", *"words")
        shown = [row.text.plain for row in c.app.screen.query_one("#edit-result").rows]  # type: ignore[attr-defined]
        assert shown[0] == "touch 'after words'"
        await previewed(c)
        await c.press("f9")
        await c.until(lambda: c.status("todo_002") == Status.COMPLETED, "the edited command")
        assert (workspace / "after words").exists()
        edited = c.snapshot.todo("todo_002")
        assert edited is not None
        assert edited.description == "keep 'file=after words'", "no word of what it was before"
        assert edited.name == "keep 'file=after words'"
        assert not (workspace / "before").exists()


async def previewed(c: Console) -> None:
    """Wait for the preview of what was typed, read it to its end and let the keyboard rest."""
    screen = c.app.screen
    assert isinstance(screen, EditDialog)
    result = screen.query_one("#edit-result", Rows)
    await c.until(lambda: [r for r in result.rows if r.label == "preview" and r.text.plain != "…"], "the preview")
    while not screen.read:
        await c.press("pagedown")
    c.clock.rest()


@pytest.mark.long
async def test_the_edited_input_is_approved_with_its_own_preview_only(tmp_path: Path) -> None:
    workspace = command_workspace(tmp_path / "w")
    text = (
        (workspace / "hitl.toml")
        .read_text(encoding="utf-8")
        .replace('"ls", "-a", "."', '"find", ".", "-name", "{file}*"')
    )
    (workspace / "hitl.toml").write_text(text, encoding="utf-8")
    for number in range(60):
        (workspace / f"many{number}").touch()
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk", size=(80, 24)) as c:
        await c.until(lambda: c.shown() and c.status("todo_001") == Status.COMPLETED, "the search")
        await c.send("/todo add command_team keep file=cap1")
        await c.asked()
        await c.to_question()
        await c.press("2")
        await c.until(lambda: isinstance(c.app.screen, EditDialog), "the dialog")
        await previewed(c)
        result = c.app.screen.query_one("#edit-result", Rows)
        shown = lambda: "\n".join(r.text.plain for r in result.rows)  # noqa: E731
        assert "./cap1.md" in shown() and "many" not in shown()
        await c.press(*["backspace"] * 4, *"many")
        await c.until(lambda: "./many59" in shown(), "what the edited input would touch")
        c.clock.rest()
        await c.press("f9")
        dialog = c.app.screen.query(".dialog").first()
        assert "Read to the end first (PgDn); nothing was decided" in str(dialog.border_subtitle)
        await previewed(c)
        await c.press("x", "backspace", "f9")
        assert isinstance(c.app.screen, EditDialog) and not (workspace / "many").exists(), "nothing rested"
        await c.until(lambda: "./many59" in shown(), "its preview again")
        await previewed(c)
        assert not c.app.screen.query_one("#approve").can_focus, "no button approves on Enter"
        await c.pilot.click("#approve")
        await c.until(lambda: (workspace / "many").exists(), "the edited command")


@pytest.mark.long
async def test_what_cant_be_previewed_isnt_approved_in_the_dialog(tmp_path: Path) -> None:
    workspace = command_workspace(tmp_path / "w")
    text = (workspace / "hitl.toml").read_text(encoding="utf-8").replace('"ls", "-a", "."', '"./look", "{file}"')
    (workspace / "hitl.toml").write_text(text, encoding="utf-8")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await c.until(lambda: c.shown() and c.status("todo_001") == Status.COMPLETED, "the search")
        await c.send("/todo add command_team keep file=one")
        await c.asked()
        await c.to_question()
        await c.read_on()
        old = c.panel.question
        await c.press("2")
        await c.until(lambda: isinstance(c.app.screen, EditDialog), "the dialog")
        await previewed(c)
        await c.press("f9")
        said = str(c.app.screen.query(".dialog").first().border_subtitle)
        assert "Can't be approved here because its preview can't be made; Ctrl+S asks again" in said
        await c.press("!", "ctrl+s")
        await c.until(lambda: old and c.panel.question and c.panel.question.id != old.id, "asked anew")
        assert not (workspace / "one").exists() and not (workspace / "one!").exists()


@pytest.mark.long
async def test_what_was_sent_too_soon_is_said_until_it_is_sent_again(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        old = c.panel.question
        await c.to_question()
        await c.press("2")
        await c.until(lambda: isinstance(c.app.screen, EditDialog), "the dialog")
        said = lambda: str(c.app.screen.query(".dialog").first().border_subtitle)  # noqa: E731
        await c.press("tab", "backspace", "5", "ctrl+s")
        assert "Too soon after the last key" in said()
        c.clock.rest()
        await c.until(lambda: "press it again" in said(), "that it counts now")
        await c.press("ctrl+s")
        await c.until(lambda: old and c.panel.question and c.panel.question.id != old.id, "asked anew")


@pytest.mark.long
async def test_an_edit_alone_is_asked_anew(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        old = c.panel.question
        await c.to_question()
        await c.press("2")
        await c.until(lambda: isinstance(c.app.screen, EditDialog), "the dialog")
        assert isinstance(c.app.screen, EditDialog)
        c.clock.rest()
        await c.press("ctrl+s")
        await c.until(lambda: "Nothing was changed" in c.message, "what was saved")
        assert c.panel.question is not None and old is not None and c.panel.question.id == old.id
        c.clock.rest()
        await c.press("2")
        await c.until(lambda: isinstance(c.app.screen, EditDialog), "the dialog again")
        fields = {box.field.name: box for box in c.app.screen.query(FieldInput)}
        fields["limit"].value = "many"
        await c.press("ctrl+s")
        assert isinstance(c.app.screen, EditDialog), "what the team can't use doesn't leave the dialog"
        assert fields["limit"].has_class("-wrong")
        fields["query"].value, fields["limit"].value = "증액 상한", "3"
        c.clock.rest()
        await c.press("ctrl+s")
        await c.until(
            lambda: old and c.panel.question and c.panel.question.digest != old.digest, "the question asked anew"
        )
        assert c.status("todo_001") == Status.WAITING_APPROVAL
        assert c.snapshot.todos[0].arguments["query"] == "증액 상한"


async def test_undo_takes_a_skip_back(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.to_question()
        await c.press("4")
        await c.until(lambda: c.status("todo_001") == Status.SKIPPED, "skipped")
        await c.asked()
        await c.to_question()
        await c.press("0")
        await c.until(lambda: c.status("todo_001") == Status.WAITING_APPROVAL, "asked again")


@pytest.mark.parametrize("undo", ["f8", "0"])
async def test_undo_puts_a_removed_step_back(tmp_path: Path, undo: str) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        c.session.query_one(PlanTable).focus()
        await c.press("end", "d")
        await c.until(lambda: c.app.screen is not c.session, "the dialog")
        c.clock.rest()
        await c.press("1")
        await c.until(lambda: not c.status("todo_002") and c.app.screen is c.session, "removed")
        await c.press("u")
        assert "F8 undoes your last decision." in c.message, "that of another row"
        c.clock.rest()
        await c.press(undo)
        await c.until(lambda: c.status("todo_002") == Status.PENDING, "in the plan again")
        assert c.message == "Undone: 002 is in the plan again."
        c.clock.rest()
        await c.press(undo)
        await c.until(lambda: c.message == "No decision of yours to undo.", "nothing more")


async def test_undo_passes_over_a_proposal_that_was_rejected(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.send("/todo skip 1")
        await c.until(lambda: c.status("todo_001") == Status.SKIPPED, "skipped")
        await c.asked(1)
        await c.send("also write a report")
        await c.asked(2)
        await c.send("/proposal reject")
        await c.asked(1)
        c.clock.rest()
        await c.press("f8")
        await c.until(lambda: c.status("todo_001") == Status.WAITING_APPROVAL, "the skip is undone")


async def test_undo_takes_back_an_approval_that_has_not_started(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.send("/todo approve 2")
        await c.until(lambda: c.snapshot.todos[1].approval is not None, "approved ahead")
        c.session.query_one(PlanTable).focus()
        await c.press("down", "u")
        await c.until(lambda: c.snapshot.todos[1].approval is None, "taken back")
        assert c.message == "002 isn't approved any more; it asks again."
        await c.press("escape")
        await c.send("/todo approve 2")
        await c.until(lambda: c.snapshot.todos[1].approval is not None, "approved ahead")
        c.clock.rest()
        await c.press("f8")
        await c.until(lambda: c.snapshot.todos[1].approval is None, "what was typed is taken back by the key, too")
        assert c.status("todo_002") == Status.PENDING


async def test_undo_speaks_of_the_decision_before_it_however_long_that_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.send("/todo approve 2")
        await c.until(lambda: c.snapshot.todos[1].approval is not None, "approved ahead")
        assert c.session.handle is not None
        handler, reached = c.session.handle.handler, asyncio.Event()
        decide = handler.decide

        async def late(*given: Any, **more: Any) -> CommandResult:
            await reached.wait()
            return await decide(*given, **more)

        monkeypatch.setattr(handler, "decide", late)
        await c.to_question()
        await c.press("4")
        c.clock.rest()
        await c.press("f8")
        reached.set()
        await c.until(lambda: c.message == "001: the skip is undone.", "what was decided last is taken back")


@pytest.mark.long
async def test_undo_after_going_back_speaks_of_nothing_that_was_decided_before(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        there = c.snapshot.checkpoint_id
        await c.to_question()
        await c.press("4")
        await c.until(lambda: c.status("todo_001") == Status.SKIPPED, "skipped")
        await c.press("escape")
        await c.send(f"/checkpoint restore {there}")
        await c.until(lambda: isinstance(c.app.screen, ConfirmDialog), "the preview")
        c.clock.rest()
        await c.press("1")
        await c.until(lambda: c.snapshot.branch == 1, "restored")
        await c.asked()
        c.clock.rest()
        await c.press("f8")
        await c.until(lambda: c.message == "No decision of yours to undo.", "nothing to undo")
        assert c.status("todo_001") == Status.WAITING_APPROVAL


@pytest.mark.long
async def test_restore_says_what_happens_and_asks_again(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        for todo_id in ("todo_001", "todo_002"):
            await c.until(lambda t=todo_id: c.shown() and c.panel.select(t), f"{todo_id} asks")
            await c.to_question()
            await c.press("1")
            await c.until(lambda t=todo_id: c.status(t) == Status.COMPLETED, f"{todo_id} done")
        await c.until(lambda: c.snapshot.concluded and c.session.query_one(AnswerPane).text, "the answer")
        assert "233.3%" in c.session.query_one(AnswerPane).text
        history = c.session.query_one(HistoryTable)
        await c.until(lambda: any(i.outcome for i in history.checkpoints), "history")
        history.focus()
        target = next(n for n, i in enumerate(history.checkpoints) if i.waiting and i.todos_completed == 1)
        history.move_cursor(row=target)
        await c.press("r")
        await c.until(lambda: isinstance(c.app.screen, ConfirmDialog), "the preview")
        await c.press("enter")
        await c.until(lambda: c.app.screen is c.session, "enter means no")
        assert c.snapshot.branch == 0
        await c.press("r")
        await c.until(lambda: isinstance(c.app.screen, ConfirmDialog), "the preview")
        c.clock.rest()
        await c.press("1")
        await c.until(lambda: c.snapshot.branch == 1, "restored")
        await c.asked()
        assert c.status("todo_001") == Status.COMPLETED
        assert c.status("todo_002") == Status.WAITING_APPROVAL
        question = c.panel.question
        assert question is not None and question.view.request.about["ran_before"]["status"] == "completed"


async def test_words_become_a_proposal(tmp_path: Path) -> None:
    async with console(tmp_path, EXAMPLE, query="강남구 아파트 시세 조회") as c:
        await c.asked()
        await c.send("검색만으로 부족할 것 같아. 분석도 추가해줘.")
        await c.asked(2)
        assert c.panel.question is not None and c.panel.question.todo_id == "todo_001", "what is read stays"
        await c.until(lambda: ". It comes after the question on the screen: Ctrl+G, then" in c.message, "where it is")
        await c.to_question()
        await c.press("down")
        assert " · 2 of 2" in str(c.panel.border_title)
        c.clock.rest()
        await c.press("1")
        await c.until(lambda: len(c.snapshot.todos) == 2, "the added step")
        assert c.snapshot.todos[1].agent_name == "analysis_team"


async def test_a_proposal_behind_several_questions_says_its_place(tmp_path: Path) -> None:
    async with console(tmp_path, EXAMPLE, query=TWO) as c:
        await c.asked(2)
        await c.send("also write a report")
        await c.until(lambda: "It is question 3 of 3: Ctrl+G, then ↓ 2 times" in c.message.replace(" j", ""), "where")
        await c.asked(3)
        await c.to_question()
        await c.press("down", "down")
        assert c.panel.question is not None and c.panel.question.view.request.kind is Kind.PROPOSAL


async def test_undo_works_from_the_palette(tmp_path: Path) -> None:
    async with console(tmp_path, EXAMPLE, query=TWO) as c:
        await c.asked(2)
        await c.send("/todo skip todo_001")
        await c.until(lambda: c.status("todo_001") == Status.SKIPPED, "that it is skipped")
        await c.press("ctrl+p")
        await c.until(lambda: isinstance(c.app.screen, Palette), "the palette")
        await c.press(*"undo")
        await c.until(lambda: c.app.screen.query_one(OptionList).option_count, "what fits")
        await c.press("enter")
        await c.until(lambda: c.status("todo_001") == Status.WAITING_APPROVAL, "that it waits again")


@pytest.mark.long
async def test_a_proposal_is_accepted_change_by_change(tmp_path: Path) -> None:
    async with console(tmp_path, EXAMPLE, query="The cap") as c:
        await c.asked()
        await c.send("/template run documents topic=deposit")
        await c.asked(2)
        await c.to_question()
        await c.press("down")
        c.clock.rest()
        await c.press("2")
        await answered(c, "131", Unfit)  # the third needs the second
        await c.press("1")
        assert isinstance(c.app.screen, Unfit) and len(c.snapshot.todos) == 1
        for _ in range(2):
            await back(c)
        await answered(c, "13", Gathered)
        await c.press("1")
        await c.until(lambda: len(c.snapshot.todos) == 3, "two of the steps")
        assert [todo.agent_name for todo in c.snapshot.todos[1:]] == ["search_team", "analysis_team"]
        assert len(c.snapshot.questions) == 1


async def answered(c: Console, keys: str, review: type[Gathered]) -> None:
    """Answer a change with each key, and read the review that comes then."""
    for key in keys:
        await c.until(lambda: isinstance(c.app.screen, ChangePart), "a change")
        shown = await read(c)
        await c.press(key)
        await c.until(lambda shown=shown: c.app.screen is not shown, "the next")  # type: ignore[misc]
    await c.until(lambda: type(c.app.screen) is review, "the review")
    await read(c)


async def back(c: Console) -> None:
    shown = c.app.screen
    await c.press("left")
    await c.until(lambda: isinstance(c.app.screen, ChangePart) and c.app.screen is not shown, "the change before")


async def read(c: Console) -> ReadingDialog[str | None]:
    """Read a dialog to its end, and let the keyboard rest."""
    screen = c.app.screen
    assert isinstance(screen, ReadingDialog)
    while not screen.read:
        await c.press("pagedown")
    c.clock.rest()
    return screen


@pytest.mark.long
async def test_f4_asks_before_steps_run_that_nobody_said_yes_to(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        header = c.session.query_one(HeaderBar)
        assert header.mode == "ASK EVERY STEP"
        await c.press("f4")
        for key in ("enter", "escape"):
            await c.until(lambda: isinstance(c.app.screen, OptionAnswer), "what would run")
            said = c.app.screen.query_one(".dialog-text", Static).content
            assert "001" in str(said) and "002" in str(said)
            c.clock.rest()
            await c.press(key)
            await c.pilot.pause()
            assert (header.mode, c.status("todo_001")) == ("ASK EVERY STEP", Status.WAITING_APPROVAL)
        await c.until(lambda: c.app.screen is c.session, "the session")
        await c.press("f4")
        await c.until(lambda: isinstance(c.app.screen, OptionAnswer), "what would run")
        c.clock.rest()
        await c.press("3")
        await c.until(lambda: header.mode == "ASK RISKY STEPS ONLY", "the mode")
        await c.until(lambda: c.status("todo_002") == Status.COMPLETED, "both steps")


@pytest.mark.long
async def test_f4_opens_the_same_list_whether_anything_waits_or_not(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE, mode="risk") as c:
        await c.until(lambda: c.shown() and c.snapshot.concluded, "the answer")
        header = c.session.query_one(HeaderBar)
        await c.press("f4")
        await c.until(lambda: isinstance(c.app.screen, ModeDialog), "the list")
        rows = c.app.screen.query_one(OptionList)
        assert rows.highlighted == 2 and "ASK RISKY STEPS ONLY · now" in str(rows.get_option_at_index(2).prompt)
        await c.press("f4")
        await c.until(lambda: c.app.screen is c.session, "it is closed by the key that opened it")
        assert header.mode == "ASK RISKY STEPS ONLY"
        await c.press("f4")
        await c.until(lambda: isinstance(c.app.screen, ModeDialog), "the list")
        c.clock.rest()
        await c.press("1")
        await c.until(lambda: header.mode == "ASK EVERY STEP", "the mode")


async def test_the_inbox_leads_to_a_question_and_decides_nothing(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.press("f3")
        await c.until(lambda: isinstance(c.app.screen, InboxDialog), "the inbox")
        await c.press("enter")
        await c.until(lambda: c.app.screen is c.session and c.panel.has_focus, "the question")
        assert c.status("todo_001") == Status.WAITING_APPROVAL


async def test_errors_of_commands_say_error_and_change_nothing(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.send("/todo approove 1")
        await c.until(lambda: "Unknown command" in c.message, "the error")
        assert c.status("todo_001") == Status.WAITING_APPROVAL


@pytest.mark.long
async def test_a_new_session_that_cannot_begin_leaves_the_open_one(tmp_path: Path) -> None:
    workspace = command_workspace(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap") as c:
        await c.asked()
        sound = (workspace / "hitl.toml").read_text()
        (workspace / "hitl.toml").write_text("nonsense = 1\n")
        await c.send("/new What else?")
        await c.until(lambda: "nonsense" in c.message, "the error")
        assert c.app.screen is c.session
        (workspace / "hitl.toml").write_text(sound)
        await c.until(lambda: not c.snapshot.problem, "it can be read again")
        await c.asked()
        await c.send("/todo approve")
        await c.until(lambda: c.status("todo_001") == Status.COMPLETED, "the search")


async def test_new_leaves_one_session_and_begins_another(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.send("/new 강남구 아파트 시세 조회")
        await c.until(lambda: c.shown() and c.snapshot.session_id == "s2", "the other session")
        await c.asked()
        assert len(c.snapshot.todos) == 1


@pytest.mark.long
async def test_new_begins_in_the_folder_of_the_session_on_the_screen(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "cap.md").write_text("# Cap\n\nThe cap is five percent.\n", encoding="utf-8")
    async with console(tmp_path / "d", other, query="The cap") as c:
        await c.asked()
    async with console(tmp_path / "d", command_workspace(tmp_path / "w"), session="s1") as c:
        await c.asked()
        await c.send("/new What is the cap?")
        await c.until(lambda: c.shown() and c.snapshot.session_id == "s2", "the other session")
        assert c.snapshot.workspace == str(other)


@pytest.mark.long
async def test_new_in_the_session_of_a_starter_begins_in_the_folder_of_the_console(tmp_path: Path) -> None:
    work = command_workspace(tmp_path / "w")
    async with console(tmp_path / "d", work) as c:
        c.app.sessions.begin_starter(starters("en")[0])
        await c.asked()
        assert c.snapshot.workspace != str(work)
        await c.send("/new What is the cap?")
        await c.until(lambda: c.shown() and c.snapshot.session_id == "s2", "the other session")
        assert c.snapshot.workspace == str(work)


async def test_the_palette_offers_keys_and_commands(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        offered = {command.title for command in c.app.get_system_commands(c.session)}
        assert {"/todo approve", "Theme", "Inbox (F3)"} <= offered
        await c.press("ctrl+p")
        await c.press(*"/stop", "enter")
        await c.until(lambda: c.app.screen is c.session and c.prompt.text == "/stop ", "the command in the prompt")
        assert c.status("todo_001") == Status.WAITING_APPROVAL


@pytest.mark.long
async def test_what_failed_is_retried_with_a_preview_of_what_it_would_do_now(tmp_path: Path) -> None:
    workspace = command_workspace(tmp_path / "w")
    text = (
        (workspace / "hitl.toml")
        .read_text(encoding="utf-8")
        .replace('run = ["touch", "{file}"]', 'run = ["mkdir", "{file}"]')
    )
    (workspace / "hitl.toml").write_text(text, encoding="utf-8")
    (workspace / "one").touch()
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await c.until(lambda: c.shown() and c.snapshot.concluded, "the search")
        await c.send("/todo add command_team keep file=one")
        await c.asked(1)
        await c.to_question()
        await c.read_on()
        await c.press("1")
        await c.until(lambda: c.panel.question and c.panel.question.kind is Kind.FAILURE, "that it failed")
        (workspace / "one").unlink()
        await c.to_question()
        await c.until(lambda: c.panel.question and c.panel.question.view.evidence, "its preview")
        await c.read_on()
        await c.press("1")
        await c.until(lambda: (workspace / "one").is_dir(), "the second attempt")


@pytest.mark.long
async def test_what_failed_is_edited_and_approved_in_the_dialog(tmp_path: Path) -> None:
    workspace = command_workspace(tmp_path / "w")
    text = (workspace / "hitl.toml").read_text(encoding="utf-8").replace('run = ["touch"', 'run = ["mkdir"')
    (workspace / "hitl.toml").write_text(text, encoding="utf-8")
    (workspace / "one").touch()
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await c.until(lambda: c.shown() and c.snapshot.concluded, "the search")
        await c.send("/todo add command_team keep file=one")
        await c.asked(1)
        await c.to_question()
        await c.read_on()
        await c.press("1")
        await c.until(lambda: c.panel.question and c.panel.question.kind is Kind.FAILURE, "that it failed")
        await c.until(lambda: c.panel.question and c.panel.question.view.evidence, "its preview")
        await c.to_question()
        await c.press("2")
        await c.until(lambda: isinstance(c.app.screen, EditDialog), "the dialog")
        await c.press(*["backspace"] * 3, *"two")
        await previewed(c)
        await c.press("f9")
        await c.until(lambda: (workspace / "two").is_dir(), "the edited command, without another question")


@pytest.mark.long
async def test_steps_that_go_on_with_the_same_question_get_the_edited_one(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        first, second = c.snapshot.todos[:2]
        assert first.id in second.dependencies and first.arguments["query"] == second.arguments["query"]
        await c.send('/todo edit 1 query="May the deposit rise from 300 million won to 310 million won?"')
        await c.until(lambda: "001" in c.message and "002 with the same question" in c.message, "what was edited")
        edited = [todo.arguments["query"] for todo in c.snapshot.todos[:2]]
        assert len(set(edited)) == 1 and "310 million" in edited[0]
        assert [todo.metadata.get("edited_by") for todo in c.snapshot.todos[:2]] == ["ops", None]
        thread = c.session.handle.thread
        for info in await thread.older(100):  # no point of the history has half of the edit
            todos = (await thread.state_at(info.checkpoint_id)).get("todos") or {}
            asked = {todo["arguments"]["query"] for name, todo in todos.items() if name in (first.id, second.id)}
            assert len(asked) <= 1, asked
        await c.send('/todo edit 2 query="What is the cap?"')
        await c.until(lambda: c.message.startswith("Edited 002;"), "that 002 alone was")
        assert "310 million" in c.snapshot.todos[0].arguments["query"]


@pytest.mark.long
async def test_undo_takes_a_move_and_a_priority_back(tmp_path: Path) -> None:
    """(D15)"""
    workspace = command_workspace(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="What is the cap?") as c:
        await c.asked()
        for number in (2, 3, 4):
            await c.send(f"/todo add command_team keep file=f{number}")
            await c.until(partial(c.status, f"todo_00{number}"), "the TODO")

        def order() -> list[str]:
            return [todo.id[-1] for todo in c.snapshot.todos]

        async def undone(key: str, said: str) -> None:
            c.clock.rest()
            await c.press(key)
            await c.until(lambda: c.message == said, said)
            assert order() == ["1", "2", "3", "4"]

        c.session.operator.order.move(["todo_004"], "before", "todo_002")
        await c.until(lambda: order() == ["1", "4", "2", "3"], "moved as by the mouse")
        await undone("f8", "Undone: 004 is after 003 now.")
        c.session.operator.order.move(["todo_003", "todo_004"], "before", "todo_002")
        await c.until(lambda: order() == ["1", "3", "4", "2"], "several moved")
        await undone("f8", "Undone for 2 steps.")
        c.session.set_focus(table := c.session.query_one(PlanTable))
        await c.press("G", "K")
        await c.until(lambda: order() == ["1", "2", "4", "3"], "moved by its key")
        assert table.selected == "todo_004"
        await undone("u", "Undone: 004 is after 003 now.")
        await c.send("/todo priority 2 critical")
        await c.until(lambda: c.snapshot.todos[1].priority == "critical", "another priority")
        await undone("f8", "Undone: 002 is medium now.")
        assert c.snapshot.todos[1].priority == "medium"
        await c.send("/todo move 2 before 1")
        await c.until(lambda: order()[0] == "2", "moved by a command")
        await undone("f8", "Undone: 002 is after 001 now.")
        c.clock.rest()
        await c.press("f8")
        await c.until(lambda: c.message == "No decision of yours to undo.", "nothing more")


@pytest.mark.long
async def test_stopping_says_what_it_ends_and_asks(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        for key in ("escape", "1"):
            await c.send("/stop")
            await c.until(lambda: isinstance(c.app.screen, ConfirmDialog), "what would end")
            assert "Skips 2 steps that haven't run." in str(
                c.app.screen.query_one(".dialog-text Static", Static).content
            )
            assert not c.snapshot.concluded
            c.clock.rest()
            await c.press(key)
            await c.until(lambda: c.app.screen is c.session, "the session")
        await c.until(lambda: c.snapshot.concluded, "the end")
        assert {todo.status for todo in c.snapshot.todos} == {Status.SKIPPED}
