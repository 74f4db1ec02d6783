"""Gives a question from inside a team its answer in words or as a typed value, and shows what exactly is sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import PurePath
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import Key
from textual.widgets import Static, TextArea

from hitl_tui.console import keys
from hitl_tui.console.dialogs.form_dialog import EditArea, FormDialog
from hitl_tui.console.keymap import keymap_of
from hitl_tui.console.widgets.dialog_frame import Dialog, Flow
from hitl_tui.core.errors import HitlError
from hitl_tui.core.interrupts.answer_parser import declared_value
from hitl_tui.core.interrupts.shape import Form as Wanted
from hitl_tui.core.interrupts.shape import Shape
from hitl_tui.core.safe_text import safe_text, unsafe_text
from hitl_tui.language import _, translate
from hitl_tui.wording.interrupt_rows import said_words

_STYLES = {False: "$text-success", True: "bold $text-warning"}
"""Of what is said of the words, as it is or with a warning."""

Made = Callable[[str], Any]
"""What was written → what is sent; raises BadInput."""


def is_json(text: str) -> bool:
    """Return whether a text is JSON."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


class SayArea(EditArea):
    """Enter sends, Ctrl+J begins a new line; what is pasted is never sent by itself."""

    async def on_key(self, event: Key) -> None:
        wanted = keymap_of(self.app).at(keys.SAY, event.key)
        if wanted == "say.send":
            event.stop()
            event.prevent_default()
            await self.screen.run_action("send")
        elif wanted == "say.newline":
            event.stop()
            event.prevent_default()
            self.insert("\n")


def says(shape: Shape, name: str) -> Made:
    """Return what turns words into the answer of an action that takes words or a typed value."""

    def made(text: str) -> Any:
        action = shape.possible(name)
        if action.wants.form is Wanted.TEXT:
            return shape.answer(name, text)
        return shape.answer(name, declared_value(action, text))

    return made


class TextAnswerDialog(FormDialog[Any]):
    """Asks for words or a value; dismissed with the answer, or with `NOTHING_SAID`.

    Args:
        title: one line, safe.
        content: what is asked, and what the words are for; safe.
        made: makes the answer.
        text: what stands there at first.
        lines: Enter begins a new line and only Ctrl+S sends, for texts to edit.
    """

    CSS_PATH: ClassVar[list[str | PurePath]] = ["dialogs.tcss", "answering.tcss", "../widgets/rows.tcss"]

    def __init__(self, title: str, content: Content, made: Made, *, text: str = "", lines: bool = False) -> None:
        super().__init__()
        self._heading = title
        self._content = content
        self._made = made
        self._text = text
        self._lines = lines

    def compose(self) -> ComposeResult:
        with Dialog(classes="dialog -large" if self._lines else "dialog", id="saying") as box:
            box.border_title = Content(self._heading)
            with VerticalScroll(classes="dialog-text", can_focus=False):
                yield Static(self._content, markup=False)
            area = EditArea if self._lines else SayArea
            yield area(safe_text(self._text), id="say", compact=True, tab_behavior="focus", soft_wrap=True)
            yield Static(id="say-sends", markup=False)
            with Flow(classes="dialog-row"):
                yield self.button("form.send" if self._lines else "say.send", _("Send"))
                yield self.button("form.editor", _("Editor"))
                yield self.button("form.cancel", _("Back"))

    def on_mount(self) -> None:
        area = self.query_one("#say", TextArea)
        area.focus()
        area.move_cursor(area.document.end)
        self.look()

    @property
    def written(self) -> str:
        """What was written, exactly."""
        return unsafe_text(self.query_one("#say", TextArea).text)

    def look(self) -> None:
        """Say what would be sent, or why it can't be."""
        line = self.query_one("#say-sends", Static)
        try:
            shown = _("Sends: {value}").format(value=said_words(self._made(self.written)))
        except HitlError as error:
            empty = not self.written
            message = (
                safe_text(translate(error.message), multiline=False) if not empty else _("Write what is to be sent.")
            )
            line.update(Content.styled(message, "$text-muted" if empty else "bold $text-error"))
        else:
            broken = self._broken()
            line.update(Content.styled(f"{shown}\n{broken}" if broken else shown, _STYLES[bool(broken)]))

    def _broken(self) -> str:
        """Return what is said of a text that begins as JSON and isn't; empty for any other."""
        text = self.written.strip()
        if text[:1] not in ("{", "[") or (self._lines and not is_json(self._text)) or is_json(text):
            return ""
        return _("That begins as JSON and isn't valid JSON, so it would be sent as text.")

    def action_send(self) -> None:
        self.send(lambda: self._made(self.written))

    def editor_text(self) -> str:
        return self.written

    def take_editor_text(self, text: str) -> str:
        self.query_one("#say", TextArea).text = safe_text(text)
        return ""
