"""Dialogs: a question to confirm, words to give, and a line, a token or a name to type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.events import Key, Paste
from textual.widgets import Button, Input, Static
from textual.widgets.input import Selection

from hitl_tui.console import keys
from hitl_tui.console.dialogs.guarded_dialog import CSS, GuardedDialog, KeyButton, UnhurriedDialog, named_keys
from hitl_tui.console.keymap import keymap_of
from hitl_tui.console.modal_screen import Modal
from hitl_tui.console.widgets.dialog_frame import Dialog, DialogText, Flow
from hitl_tui.console.widgets.prompt_line import typed_line
from hitl_tui.core.jamo import JAMO
from hitl_tui.language import _, mark
from hitl_tui.terminal.textual_widgets import bound_action

if TYPE_CHECKING:
    from hitl_tui.console.services import Console

_LETTERS = str.maketrans({jamo: letter for letter, jamo in JAMO.items()})


class ConfirmDialog(GuardedDialog[bool]):
    """Asks before something that can't be taken back by a key. Enter and Esc mean no.

    Args:
        title: one line.
        content: what would happen, safe text.
        yes: label of the first choice.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.CONFIRM)]
    AUTO_FOCUS = ""
    LEFT = False
    PART = keys.CONFIRM
    """The part of the map that its keys are in."""
    NO = mark("No")
    """Label of the second choice."""

    def __init__(self, title: str, content: Content, yes: str) -> None:
        super().__init__(title)
        self._content = content
        self._yes = yes

    def compose(self) -> ComposeResult:
        keymap, choices = keymap_of(self.app), (("yes", self._yes), ("no", _(self.NO)))
        with Dialog(self._heading, id="confirm"):
            yield DialogText(self._content)
            # Enter on a button with the focus would say yes.
            yield Flow(*(KeyButton(keymap, f"{self.PART}.{name}", label, focusable=False) for name, label in choices))

    def key_specs(self) -> Sequence[keys.KeySpec]:
        """Call the first choice on the key line what its button calls it."""
        named = self._yes[:1].lower() + self._yes[1:]
        specs = [spec for spec in super().key_specs() if spec.where in (self.PART, keys.ANYWHERE)]
        return [spec._replace(label=named) if spec.id == f"{self.PART}.yes" else spec for spec in specs]

    def action_yes(self) -> None:
        if self.guard.decides:
            self.dismiss(True)
        else:
            self.show_state()

    def action_no(self) -> None:
        self.dismiss(False)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        if event.button.id != "yes":
            self.dismiss(False)
        elif self.guard.click_decides:
            self.dismiss(True)


class QuitDialog(ConfirmDialog, inherit_bindings=False):
    """Asks before the console is left while steps run. Enter, and the key that leaves, mean yes."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.QUITTING)]
    PART = keys.QUITTING
    NO = mark("Stay")


async def confirm(app: Console, title: str, said: str, yes: str) -> bool:
    """Ask before something that can't be taken back by a key, and return whether it is wanted; see `ConfirmDialog`."""
    dialog: ConfirmDialog = ConfirmDialog(title, Content(said), yes)
    return await app.push_screen_wait(dialog)


class WordsInput(Input):
    """The field; its own keys and its dialog's act when they arrive, in the order of what is typed."""

    async def on_key(self, event: Key) -> None:
        wanted = keymap_of(self.app).at(keys.WORDS, event.key)
        if wanted:
            await self.screen.run_action(wanted.rpartition(".")[2])
        elif event.key != "enter":  # which sends only while it is mapped to that
            bound = bound_action(self, event.key)
            if not bound:
                return
            await self.run_action(bound)
        event.stop()
        event.prevent_default()

    def on_paste(self, event: Paste) -> None:
        """What is pasted is kept whole, in one line."""
        event.stop()
        event.prevent_default()
        self.replace(typed_line(event.text), *sorted(self.selection))


class LineDialog(Modal[str | None]):
    """Asks for a line. None when nothing is to happen.

    Args:
        title: one line, safe.
        content: what the line is for, safe text.
        send: what Enter does.
        value: what stands there to begin with.
        required: without words nothing is sent.
        hidden: what is typed isn't shown.
    """

    CSS_PATH = CSS
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.WORDS)]

    def __init__(
        self, title: str, content: Content, send: str, value: str = "", *, required: bool = True, hidden: bool = False
    ) -> None:
        super().__init__(title)
        self._content = content
        self._send = send
        self._value = value
        self._required = required
        self._hidden = hidden

    def compose(self) -> ComposeResult:
        with Dialog(self._heading):
            yield DialogText(self._content)
            yield WordsInput(self._value, id="words", compact=True, password=self._hidden)
            said = _("{words.send} {send} · {words.cancel} Cancel").replace("{send}", self._send)
            yield Static(named_keys(keymap_of(self.app), said), classes="dialog-keys")

    def on_mount(self) -> None:
        field = self.query_one(WordsInput)
        field.selection = Selection(0, len(self._value))  # what is typed takes its place

    def hurried(self) -> bool:
        """Return whether nothing may be sent yet."""
        return False

    def action_send(self) -> None:
        words = self.query_one(WordsInput).value.strip()
        if (words or not self._required) and not self.hurried():
            self.dismiss(words)

    def action_cancel(self) -> None:
        self.dismiss(None)


class WordsDialog(UnhurriedDialog[str | None], LineDialog):
    """Asks for words that go with a decision: a reason, feedback. They are sent once the keyboard rested."""


class TypedConfirmation(LineDialog):
    """Does something that can't be taken back, once its name was typed; Enter alone does nothing.

    Args:
        title: one line, safe.
        content: what would happen, safe text.
        send: what Enter does then.
        name: what has to be typed.
    """

    def __init__(self, title: str, content: Content, send: str, name: str) -> None:
        super().__init__(title, content, send)
        self._must = name

    def action_send(self) -> None:
        said = self.query_one(WordsInput).value
        if said_is(said, self._must):
            self.dismiss(self._must)
        elif said.strip():
            self.below(_("that isn't the name; nothing was done"))


def said_is(said: str, name: str) -> bool:
    """Return whether a name was typed, also with a Korean input method on: there letters arrive as jamo."""
    return name in (said.strip(), said.strip().translate(_LETTERS))
