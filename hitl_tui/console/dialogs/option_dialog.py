"""One of several options: digits choose, once the list was drawn and the keyboard rested."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Button, OptionList, Static

from hitl_tui.console import keys
from hitl_tui.console.dialogs.form_dialog import NOTHING_SAID
from hitl_tui.console.dialogs.prompt_dialogs import KeyButton, Unhurried
from hitl_tui.console.dialogs.text_answer_dialog import Made
from hitl_tui.console.keyguard.guard import KeyGuard
from hitl_tui.console.keymap import keymap_of
from hitl_tui.console.widgets.dialog_frame import Dialog, Flow
from hitl_tui.console.widgets.lists import Choices
from hitl_tui.core.errors import HitlError
from hitl_tui.core.interrupts.shape import Option
from hitl_tui.core.safe_text import ELLIPSIS, safe_text
from hitl_tui.language import _, mark, translate
from hitl_tui.wording.interrupt_rows import said_whole

_DIGITS = 9


class OptionDialog(Unhurried[Any]):
    """Lists options; dismissed with the answer, or with `NOTHING_SAID`. Enter, Esc and a click decide nothing.

    Args:
        title: one line, safe.
        content: what is asked; safe.
        options: what there is to choose from.
        made: makes the answer of the option of a number, from 1.
        guard: when keys decide.
    """

    CSS_PATH: ClassVar[list[str | PurePath]] = ["dialogs.tcss", "answering.tcss", "../widgets/rows.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.CHOOSING)]
    AUTO_FOCUS = "#choosing-list"
    LEFT = NOTHING_SAID
    SEND: ClassVar[str] = mark("Send")
    DIGIT: ClassVar[str] = mark("a digit sends its option")
    ENTER: ClassVar[str] = mark("{list.choose} decides nothing: {choosing.send} sends it")

    def __init__(self, title: str, content: Content, options: tuple[Option, ...], made: Made, guard: KeyGuard) -> None:
        super().__init__()
        self._heading = title
        self._content = content
        self._options = options
        self._made = made
        self._guard = guard

    def compose(self) -> ComposeResult:
        with Dialog(classes="dialog", id="choosing") as box:
            box.border_title = Content(self._heading)
            yield Static(self._content, markup=False, classes="dialog-text")
            rows = [Content(f"{self._digit(n)} {option.text}") for n, option in enumerate(self._options, start=1)]
            yield Choices(*rows, id="choosing-list", compact=True)
            with VerticalScroll(id="choosing-whole"):
                yield Static(id="choosing-sends", markup=False)
            with Flow(classes="dialog-row"):
                keymap = keymap_of(self.app)
                yield KeyButton(keymap, "choosing.send", _(self.SEND), "send")
                yield KeyButton(keymap, "choosing.cancel", _("Back"), "cancel")

    def _digit(self, number: int) -> str:
        return keymap_of(self.app).shown(f"choosing.{number}") or str(number)

    def on_mount(self) -> None:
        self._guard.drawn()
        self.query_one(OptionList).highlighted = 0

    def _show_state(self) -> None:
        remaining = self._guard.remaining
        several = keymap_of(self.app).named(_("↑↓ choose, {choosing.send} sends"))
        ready = _(self.DIGIT) if len(self._options) <= _DIGITS else several
        self.below("…" if remaining > 0 else ready)
        if remaining > 0:
            self.set_timer(remaining + 0.02, self._show_state)

    def _rest_ends(self) -> None:
        if self._hurry:
            super()._rest_ends()
        else:
            self._show_state()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self.query_one("#choosing-sends", Static).update(_styled(self._sends(self._options[event.option_index])))
        self.query_one("#choosing-whole").scroll_home(animate=False, force=True, immediate=True)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._told(keymap_of(self.app).named(_(self.ENTER)))

    def _sends(self, option: Option) -> str:
        return _("Sends: {value}").format(value=said_whole(option.value))

    def _told(self, words: str) -> None:
        self.below(words)

    def action_digit(self, number: int) -> None:
        if number > len(self._options):
            return
        known = self.query_one(OptionList).highlighted == number - 1 or not _cut(self._options[number - 1])
        self.query_one(OptionList).highlighted = number - 1
        if len(self._options) > _DIGITS:
            return  # 1 may be the beginning of 12: a digit only shows it
        if not known:
            self._guard.drawn()
            self._told(keymap_of(self.app).named(_("shown whole below; {choosing.send} or the same digit sends it")))
        elif self._guard.decides:
            self._send(number)
        else:
            self._show_state()

    def action_send(self) -> None:
        highlighted = self.query_one(OptionList).highlighted
        if highlighted is not None and not self.hurried():
            self._send(highlighted + 1)

    def _send(self, number: int) -> None:
        try:
            value = self._made(str(number))
        except HitlError as error:
            self._told(safe_text(translate(error.message), multiline=False, limit=200))
            return
        self.dismiss(value)

    def action_cancel(self) -> None:
        self.dismiss(NOTHING_SAID)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        if event.button.id == "send":
            self.action_send()
        else:
            self.action_cancel()


class Picking(OptionDialog):
    """The same for a choice of the console's own, whose options say all there is to say."""

    SEND = mark("Take it")
    DIGIT = mark("a digit takes its option")
    ENTER = mark("{list.choose} decides nothing: {choosing.send} takes it")

    def _sends(self, option: Option) -> str:
        return ""


def _styled(text: str) -> Content:
    return Content.styled(text, "$text-success")


def _cut(option: Option) -> bool:
    """Return whether an option's line may not say all of what is sent, so that this has to be shown first."""
    return option.text.endswith(ELLIPSIS)
