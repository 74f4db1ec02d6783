"""Gives a question from inside a team its answer in words or as a typed value, and shows what exactly is sent."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import PurePath
from typing import Any, ClassVar

from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Key
from textual.screen import ModalScreen
from textual.widgets import Button, Static, TextArea

from hitl_tui.console.inner import said_words
from hitl_tui.console.screens.edit import EditArea, text_from_editor
from hitl_tui.core.errors import HitlError
from hitl_tui.core.safe_text import safe_text, unsafe_text
from hitl_tui.core.shapes.model import Form, Shape
from hitl_tui.core.shapes.reading import declared_value
from hitl_tui.language import _, render

Made = Callable[[str], Any]
"""What was written → what is sent; raises BadInput."""


class NothingSaid:
    """Stands for a dialog that was left: null may be an answer."""


NOTHING_SAID = NothingSaid()


async def edited(text: str) -> str:
    """Let a person edit a text in their editor, which wants a line feed at its end.

    Raises:
        BadInput: there is no editor, or it failed; the text wasn't changed.
    """
    ended = text.endswith("\n")
    found = await text_from_editor(text if ended or not text else text + "\n", os.environ)
    return found if ended else found.removesuffix("\n")


class SayArea(EditArea):
    """Enter sends, Ctrl+J begins a new line; what is pasted is never sent by itself."""

    async def on_key(self, event: Key) -> None:
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            await self.screen.run_action("send")
        elif event.key == "ctrl+j":
            event.stop()
            event.prevent_default()
            self.insert("\n")


def says(shape: Shape, name: str) -> Made:
    """Return what turns words into the answer of an action that takes words or a typed value."""

    def made(text: str) -> Any:
        action = shape.possible(name)
        if action.wants.form is Form.TEXT:
            return shape.answer(name, text)
        return shape.answer(name, declared_value(action, text))

    return made


class Saying(ModalScreen[Any]):
    """Asks for words or a value; dismissed with the answer, or with `NOTHING_SAID`.

    Args:
        title: one line, safe.
        content: what is asked, and what the words are for; safe.
        made: makes the answer.
        text: what stands there at first.
        lines: Enter begins a new line and only Ctrl+S sends, for texts to edit.
    """

    CSS_PATH: ClassVar[list[str | PurePath]] = ["dialogs.tcss", "answering.tcss", "../widgets/rows.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel", id="saying.cancel"),
        Binding("ctrl+s", "send", "Send", id="saying.send"),
        Binding("ctrl+e", "editor", "Editor", id="saying.editor", priority=True),
    ]

    def __init__(self, title: str, content: Content, made: Made, *, text: str = "", lines: bool = False) -> None:
        super().__init__()
        self._heading = title
        self._content = content
        self._made = made
        self._text = text
        self._lines = lines

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -large" if self._lines else "dialog", id="saying") as box:
            box.border_title = Content(self._heading)
            with VerticalScroll(classes="dialog-text", can_focus=False):
                yield Static(self._content, markup=False)
            area = EditArea if self._lines else SayArea
            yield area(safe_text(self._text), id="say", compact=True, tab_behavior="focus", soft_wrap=True)
            yield Static(id="say-sends", markup=False)
            with Horizontal(classes="dialog-row"):
                yield Button(Content(_("Ctrl+S Send") if self._lines else _("Enter Send")), id="send", compact=True)
                yield Button(Content(_("Ctrl+E Editor")), id="editor", compact=True)
                yield Button(Content(_("Esc Back")), id="cancel", compact=True)

    def on_mount(self) -> None:
        area = self.query_one("#say", TextArea)
        area.focus()
        area.move_cursor(area.document.end)
        self._show()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._show()

    @property
    def written(self) -> str:
        """What was written, exactly."""
        return unsafe_text(self.query_one("#say", TextArea).text)

    def _show(self) -> None:
        """Say what would be sent, or why it can't be."""
        line = self.query_one("#say-sends", Static)
        try:
            shown = _("Sends: {value}").format(value=said_words(self._made(self.written)))
        except HitlError as error:
            empty = not self.written
            message = safe_text(render(error.message), multiline=False)
            line.update(Content.styled(message, "$text-muted" if empty else "bold $text-error"))
        else:
            line.update(Content.styled(shown, "$text-success"))

    def action_send(self) -> None:
        try:
            value = self._made(self.written)
        except HitlError:
            self._show()
            return
        self.dismiss(value)

    def action_cancel(self) -> None:
        self.dismiss(NOTHING_SAID)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        if event.button.id == "cancel":
            self.action_cancel()
        elif event.button.id == "editor":
            self.action_editor()
        else:
            self.action_send()

    def action_editor(self) -> None:
        self.run_worker(self._edit_outside(), group="editor", exclusive=True)

    async def _edit_outside(self) -> None:
        box = self.query_one("#saying")
        box.border_subtitle = Content("")
        try:
            with self.app.suspend(), self.app.batch_update():
                text = await edited(self.written)
        except SuspendNotSupported:
            box.border_subtitle = Content(_("This terminal can't lend itself to an editor."))
        except HitlError as error:
            box.border_subtitle = Content(safe_text(render(error.message), multiline=False, limit=200))
        else:
            self.query_one("#say", TextArea).text = safe_text(text)
        self.app.refresh(layout=True)
