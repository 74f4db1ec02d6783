"""Small dialogs: a question to confirm, words to give."""

from __future__ import annotations

from pathlib import PurePath
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from hitl_tui.console.arming import Arming
from hitl_tui.console.keys import with_jamo


class Confirm(ModalScreen[bool]):
    """Asks before something that can't be taken back by a key. Enter and Esc mean no.

    Args:
        title: one line.
        content: what would happen, safe text.
        yes: label of the first choice.
        arming: when keys decide.
    """

    CSS_PATH: ClassVar[list[str | PurePath]] = ["dialogs.tcss", "../widgets/rows.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(with_jamo("1,y"), "yes", "Yes", id="confirm.yes"),
        Binding(with_jamo("escape,2,n,enter"), "no", "No", id="confirm.no"),
    ]
    AUTO_FOCUS = ""

    def __init__(self, title: str, content: Content, yes: str, arming: Arming) -> None:
        super().__init__()
        self._heading = title
        self._content = content
        self._yes = yes
        self._arming = arming

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog", id="confirm") as box:
            box.border_title = Content(self._heading)
            with VerticalScroll(classes="dialog-text", can_focus=False):
                yield Static(self._content, markup=False)
            with Horizontal(classes="dialog-row"):
                yield Button(Content(f"1 {self._yes}"), id="yes", compact=True)
                yield Button(Content("Esc No"), id="no", compact=True)

    def on_mount(self) -> None:
        self._arming.drawn()
        self._show_state()

    def _show_state(self) -> None:
        """Say whether a key decides yet."""
        remaining = self._arming.remaining
        self.query_one("#confirm").border_subtitle = Content("…" if remaining > 0 else "ready")
        if remaining > 0:
            self.set_timer(remaining + 0.02, self._show_state)

    def action_yes(self) -> None:
        if self._arming.decides:
            self.dismiss(True)
        else:
            self._show_state()

    def action_no(self) -> None:
        self.dismiss(False)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.dismiss(event.button.id == "yes")


class Words(ModalScreen[str | None]):
    """Asks for words: a reason, feedback, an answer. None when nothing is to happen.

    Args:
        title: one line.
        content: what the words are for, safe text.
        send: what Enter does.
        required: without words nothing is sent.
    """

    CSS_PATH: ClassVar[list[str | PurePath]] = ["dialogs.tcss", "../widgets/rows.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Cancel", id="words.cancel")]

    def __init__(self, title: str, content: Content, send: str, *, required: bool) -> None:
        super().__init__()
        self._heading = title
        self._content = content
        self._send = send
        self._required = required

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Content(self._heading)
            with VerticalScroll(classes="dialog-text", can_focus=False):
                yield Static(self._content, markup=False)
            yield Input(id="words", compact=True)
            yield Static(Content(f"Enter {self._send} · Esc back, nothing happens"), classes="dialog-keys")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        words = event.value.strip()
        if words or not self._required:
            self.dismiss(words)

    def action_cancel(self) -> None:
        self.dismiss(None)
