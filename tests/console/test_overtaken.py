"""Somebody else decides while a dialog about it is open: it says so, sends nothing, and loses nothing (C3)."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import COMMANDS, Console, command_workspace, console
from textual.widgets import Input, Static

from hitl_tui.console.dialogs.decided_elsewhere import gone_words
from hitl_tui.console.dialogs.edit_dialog import EditDialog
from hitl_tui.console.dialogs.form_fields import FieldInput
from hitl_tui.console.dialogs.prompt_dialogs import ConfirmDialog, WordsDialog
from hitl_tui.console.dialogs.reading_dialog import ReadingDialog
from hitl_tui.console.dialogs.review_dialog import ReviewDialog
from hitl_tui.console.dialogs.text_viewer import TextViewer
from hitl_tui.console.dialogs.viewer_text import ViewerText
from hitl_tui.console.modal_screen import Modal
from hitl_tui.console.widgets.dialog_frame import Dialog
from hitl_tui.core.requests import Decision, Verdict
from hitl_tui.core.todos import Status
from hitl_tui.supervisor.snapshot import Question

pytestmark = pytest.mark.long


async def kim_decides(c: Console, question: Question, verdict: Verdict, reason: str = "") -> None:
    """Decide as somebody else does elsewhere: the session learns of it from the ledger."""
    handle, request = c.session.handle, question.view.request
    assert handle is not None
    now = handle.session.writer.now()
    said = Decision(request.id, verdict, "kim", request.digest, now, "cli", reason=reason)
    await handle.setup.ledger.decide(said, now)


def told(c: Console) -> str:
    found = c.app.screen.query(".dialog-over")
    return str(found.first(Static).content) if found else ""


def on(c: Console, kind: type) -> bool:
    return isinstance(c.app.screen, kind)


async def asked(c: Console, names: tuple[str, ...]) -> tuple[Question, ...]:
    await c.until(lambda: c.shown() and c.snapshot.concluded, "the search")
    for number, name in enumerate(names, start=1):
        await c.send(f"/todo add command_team keep file={name}")
        await c.asked(number)
    await c.until(lambda: all(q.view.evidence for q in c.snapshot.questions), "their previews")
    return c.snapshot.questions


async def open_dialog(c: Console, question: Question, key: str, kind: type[Modal]) -> None:  # type: ignore[type-arg]
    c.panel.select(question.id)
    await c.to_question()
    await c.press(key)
    await c.until(lambda: isinstance(c.app.screen, kind) and c.app.screen.is_mounted, "the dialog")
    c.clock.rest()


async def test_every_dialog_says_who_decided_and_keeps_what_was_typed(tmp_path: Path) -> None:
    async with console(tmp_path / "d", command_workspace(tmp_path / "w"), query="The cap", mode="risk") as c:
        first, second, third, fourth = await asked(c, ("one", "two", "three", "four"))

        await open_dialog(c, first, "3", WordsDialog)
        await c.press(*"too")
        await kim_decides(c, first, Verdict.SKIP, "not today")
        await c.until(lambda: told(c), "who decided")
        assert told(c) == "Decided meanwhile: skip by kim. Reason: not today"
        await c.press("space", *"late")
        c.clock.rest()
        await c.press("enter")
        assert on(c, WordsDialog), "nothing was sent, and the dialog stays"
        assert c.app.screen.query_one(Input).value == "too late"
        assert str(c.app.screen.query_one(Dialog).border_subtitle) == "can no longer be sent"
        await c.press("escape")
        await c.until(lambda: c.app.screen is c.session, "back")

        await open_dialog(c, second, "2", EditDialog)
        await c.press("end", *"ly")
        await kim_decides(c, second, Verdict.REJECT)
        await c.until(lambda: told(c), "who decided")
        c.clock.rest()
        await c.press("ctrl+s", "f9")
        assert on(c, EditDialog) and c.app.screen.query_one(FieldInput).value == "twoly"
        assert str(c.app.screen.query_one(Dialog).border_subtitle) == "can no longer be sent"
        await c.press("escape")
        todo = c.snapshot.todo(second.todo_id)
        assert todo is not None and todo.arguments["argv"] == ["touch", "two"]

        await open_dialog(c, third, "6", TextViewer)
        await kim_decides(c, third, Verdict.SKIP)
        await c.until(lambda: "skip by kim" in str(c.app.screen.query_one(ViewerText).border_title), "who decided")
        await c.press("escape")
        assert c.app.screen is c.session

        await c.to_question()
        assert c.panel.question == c.snapshot.question_of(fourth.todo_id)
        await c.press("3", "escape")  # a dialog of a question that is asked still says nothing of the kind
        assert not told(c)


async def test_a_review_drops_what_was_decided_elsewhere_and_takes_the_rest(tmp_path: Path) -> None:
    async with console(tmp_path / "d", command_workspace(tmp_path / "w"), query="The cap", mode="risk") as c:
        first, second = await asked(c, ("one", "two"))
        await c.to_question()
        await c.press("space", "j", "space")
        await c.until(lambda: len(c.panel.marked) == 2, "two marks")
        c.clock.rest()
        await c.press("9")
        await c.until(lambda: isinstance(c.app.screen, ReviewDialog) and c.app.screen.is_mounted, "the review")
        review = c.app.screen
        assert isinstance(review, ReviewDialog)
        await kim_decides(c, first, Verdict.SKIP)
        await c.until(lambda: first.id in review._outcomes, "it knows")
        assert not review.over and "exactly this one" in str(review.query_one("#reading-keys", Static).content)
        await kim_decides(c, second, Verdict.SKIP)
        await c.until(lambda: review.over, "none is left")
        c.clock.rest()
        await c.press("1")
        assert c.app.screen is review and isinstance(review, ReadingDialog)
        await c.press("escape")
        await c.until(lambda: c.app.screen is c.session, "back")
        assert {c.status(q.todo_id) for q in (first, second)} == {"skipped"}


async def test_a_question_that_was_edited_elsewhere_says_so(tmp_path: Path) -> None:
    async with console(tmp_path / "d", command_workspace(tmp_path / "w"), query="The cap", mode="risk") as c:
        (only,) = await asked(c, ("one",))
        await open_dialog(c, only, "3", WordsDialog)
        handle = c.session.handle
        assert handle is not None
        await handle.handler.handle_command(f"/todo edit {only.todo_id} file=other")
        await c.until(lambda: told(c), "why it isn't asked")
        assert told(c) == await gone_words(handle, only)
        assert told(c).startswith("This is no longer asked: ") and not told(c).endswith(": .")


async def test_a_step_that_ends_while_it_is_asked_whether_to_stop_it_says_so(tmp_path: Path) -> None:
    workspace = command_workspace(tmp_path / "w")
    (workspace / "wait.sh").write_text("while [ ! -e go ]; do sleep 0.05; done\n", encoding="utf-8")
    command = '[teams.command_team.commands.wait]\nrun = ["sh", "wait.sh"]\ndescription = "Wait."\nrisk = "high"\n'
    (workspace / "hitl.toml").write_text(COMMANDS + command, encoding="utf-8")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await c.until(lambda: c.shown() and c.snapshot.concluded, "the search")
        await c.send("/todo add command_team wait")
        await c.asked()
        await c.to_question()
        await c.read_on()
        await c.press("1")
        added = c.snapshot.todos[-1].id
        await c.until(lambda: c.status(added) == Status.IN_PROGRESS, "it runs")
        await c.press("f8")
        await c.until(lambda: on(c, ConfirmDialog), "whether to stop it")
        (workspace / "go").touch()
        await c.until(lambda: told(c), "that it has ended")
        assert told(c) == "002 has ended; there is nothing left to stop."
        c.clock.rest()
        await c.press("1", "escape")
        await c.until(lambda: not on(c, ConfirmDialog), "left")
        assert c.status(added) == Status.COMPLETED and "error" not in c.message
