"""Dialogs: a question to confirm, words to give, and a text to be read to its end before a key decides."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, ClassVar, Generic

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import Key, Paste
from textual.widgets import Button, Input, Static
from textual.widgets.input import Selection

from hitl_tui.console import keys
from hitl_tui.console.keyguard.guard import KeyGuard, guard_of
from hitl_tui.console.keymap import Keymap, keymap_of
from hitl_tui.console.keys import JAMO
from hitl_tui.console.modal_screen import Answered, Modal
from hitl_tui.console.widgets.dialog_frame import Dialog, Flow
from hitl_tui.console.widgets.prompt_line import typed_line
from hitl_tui.console.widgets.virtual_rows import Readable, Rows
from hitl_tui.language import _
from hitl_tui.wording.rows import Row

if TYPE_CHECKING:
    from hitl_tui.console.services import Console

_NAMED = re.compile(r"(\{[a-z_]+\.[a-z0-9_]+\})")


class KeyButton(Button):
    """A button that says its key, then what it does; both safe.

    Args:
        keymap: the keys as they are mapped now.
        binding: id of the key that does the same.
        label: what it does.
        name: the button's id.
    """

    def __init__(self, keymap: Keymap, binding: str, label: str, name: str) -> None:
        said = Content.assemble((keymap.shown(binding), "bold $text-primary"), " ", label)
        super().__init__(said, id=name, compact=True)


def named_keys(keymap: Keymap, text: str) -> Content:
    """Return a line that says what keys do, with those that it names by id (`Keymap.named`) standing out."""
    parts = _NAMED.split(text)
    return Content.assemble(
        *((keymap.named(part), "bold $text-primary" if n % 2 else "$text-muted") for n, part in enumerate(parts))
    )


class ConfirmDialog(Modal[bool]):
    """Asks before something that can't be taken back by a key. Enter and Esc mean no.

    Args:
        title: one line.
        content: what would happen, safe text.
        yes: label of the first choice.
        guard: when keys decide.
    """

    CSS_PATH: ClassVar[list[str | PurePath]] = ["dialogs.tcss", "../widgets/rows.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.CONFIRM)]
    AUTO_FOCUS = ""
    LEFT = False

    def __init__(self, title: str, content: Content, yes: str, guard: KeyGuard) -> None:
        super().__init__()
        self._heading = title
        self._content = content
        self._yes = yes
        self._guard = guard

    def compose(self) -> ComposeResult:
        with Dialog(classes="dialog", id="confirm") as box:
            box.border_title = Content(self._heading)
            with VerticalScroll(classes="dialog-text", can_focus=False):
                yield Static(self._content, markup=False)
            with Flow(classes="dialog-row"):
                keymap = keymap_of(self.app)
                for name, label in (("yes", self._yes), ("no", _("No"))):
                    button = KeyButton(keymap, f"confirm.{name}", label, name)
                    button.can_focus = False  # else Enter on it would say yes
                    yield button

    def on_mount(self) -> None:
        self._guard.drawn()
        self._show_state()

    def _show_state(self) -> None:
        """Say whether a key decides yet."""
        remaining = self._guard.remaining
        self.below("…" if remaining > 0 else _("ready"))
        if remaining > 0:
            self.set_timer(remaining + 0.02, self._show_state)

    def action_yes(self) -> None:
        if self._guard.decides:
            self.dismiss(True)
        else:
            self._show_state()

    def action_no(self) -> None:
        self.dismiss(False)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        if event.button.id != "yes":
            self.dismiss(False)
        elif self._guard.click_decides:
            self.dismiss(True)


async def confirm(app: Console, title: str, said: str, yes: str) -> bool:
    """Ask before something that can't be taken back by a key, and return whether it is wanted; see `ConfirmDialog`."""
    dialog: ConfirmDialog = ConfirmDialog(title, Content(said), yes, app.guard)
    return await app.push_screen_wait(dialog)


class Unhurried(Modal[Answered], Generic[Answered]):
    """A dialog that a key of the question opens: what is typed on and on, unawares, sends nothing in it.

    What sends counts once the keyboard rested at some moment since the dialog was there.
    """

    _opened = float("inf")
    _hurry = ""
    """What was said when something was sent too soon."""

    def on_mount(self) -> None:
        guard = guard_of(self.app)
        self._opened = guard.now
        guard.drawn()
        self._say_below("…")
        self._rest_ends()

    def hurried(self) -> bool:
        """Return whether nothing may be sent yet; then that is said, and what was typed stays."""
        if self.over:
            return True
        if guard_of(self.app).rested_since(self._opened):
            return False
        self._hurry = _("Too soon after the last key; nothing was decided")
        self._say_below(self._hurry)
        self._rest_ends()
        return True

    def _say_below(self, words: str) -> None:
        self.below(words)

    @property
    def remaining(self) -> float:
        """Seconds until what sends counts; 0 when it does."""
        return guard_of(self.app).rest_remaining(self._opened)

    def _rest_ends(self) -> None:
        remaining = self.remaining
        if remaining > 0:
            self.set_timer(remaining + 0.02, self._rest_ends)
        else:
            self._say_below(_("ready now: press it again") if self._hurry else _("ready"))


class WordsInput(Input):
    """The field; its dialog's keys act when they arrive, in the order of what is typed."""

    async def on_key(self, event: Key) -> None:
        wanted = keymap_of(self.app).at(keys.WORDS, event.key)
        if wanted or event.key == "enter":  # which sends only while it is mapped to that
            event.stop()
            event.prevent_default()
        if wanted:
            await self.screen.run_action(wanted.rpartition(".")[2])

    def on_paste(self, event: Paste) -> None:
        """What is pasted is kept whole, in one line."""
        event.stop()
        event.prevent_default()
        self.replace(typed_line(event.text), *sorted(self.selection))


class WordsDialog(Unhurried[str | None]):
    """Asks for words: a reason, feedback, an answer. None when nothing is to happen.

    Args:
        title: one line.
        content: what the words are for, safe text.
        send: what Enter does.
        required: without words nothing is sent.
    """

    CSS_PATH: ClassVar[list[str | PurePath]] = ["dialogs.tcss", "../widgets/rows.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.WORDS)]

    def __init__(self, title: str, content: Content, send: str, *, required: bool) -> None:
        super().__init__()
        self._heading = title
        self._content = content
        self._send = send
        self._required = required

    def compose(self) -> ComposeResult:
        with Dialog(classes="dialog") as box:
            box.border_title = Content(self._heading)
            with VerticalScroll(classes="dialog-text", can_focus=False):
                yield Static(self._content, markup=False)
            yield WordsInput(id="words", compact=True)
            said = _("{words.send} {send} · {words.cancel} back, nothing happens").replace("{send}", self._send)
            yield Static(named_keys(keymap_of(self.app), said), classes="dialog-keys")

    def action_send(self) -> None:
        words = self.query_one(WordsInput).value.strip()
        if (words or not self._required) and not self.hurried():
            self.dismiss(words)

    def action_cancel(self) -> None:
        self.dismiss(None)


class ReadingText(Readable):
    """The text; its dialog looks where its end is."""

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        dialog = next((a for a in self.ancestors if isinstance(a, ReadingDialog)), None)
        if dialog is not None:  # else it was closed while it scrolled
            dialog.look()


class ReadingDialog(Modal[Answered], Generic[Answered]):
    """A dialog with a text: `1` counts once that was read to its end and the keyboard rested; Enter decides nothing.

    Args:
        title: one line, safe.
        rows: the text.
        said: what the keys do, one line; it may name them by id, see `Keymap.named`.
        guard: when keys decide.
    """

    CSS_PATH: ClassVar[list[str | PurePath]] = ["dialogs.tcss", "../widgets/rows.tcss"]
    DEFAULT_CSS = "ReadingDialog { align: center middle; background: $background 60%; } #reading-text { height: auto; }"
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.READING)]
    AUTO_FOCUS = "#reading-text"

    def __init__(self, title: str, rows: Sequence[Row], said: str, guard: KeyGuard) -> None:
        super().__init__()
        self._heading = title
        self._text = tuple(rows)
        self._keys = said
        self._guard = guard
        self._end = False
        self._told = ""

    def compose(self) -> ComposeResult:
        with Dialog(classes="dialog -large", id="reading") as box:
            box.border_title = Content(self._heading)
            with ReadingText(id="reading-text"):
                yield Rows(self._text)
            yield Static(self._key_line(), classes="dialog-keys", id="reading-keys")

    def on_mount(self) -> None:
        self._guard.drawn()
        self.call_after_refresh(self.look)
        self._show_state()

    def _key_line(self) -> Content:
        return named_keys(keymap_of(self.app), self._keys)

    @property
    def read(self) -> bool:
        """The end was on the screen."""
        return self._end

    def redraw(self, rows: Sequence[Row], said: str) -> None:
        """Show another text: it has to be read, and the keyboard to rest, anew."""
        self._text, self._keys, self._end, self._told = tuple(rows), said, False, ""
        self.query_one(Rows).show(self._text)
        self.query_one(ReadingText).restart()
        self.query_one("#reading-keys", Static).update(self._key_line())
        self._guard.drawn()
        self.call_after_refresh(self.look)
        self._show_state()

    def look(self) -> None:
        """See whether the end is on the screen."""
        if not self.query(ReadingText):  # it was left meanwhile
            return
        region = self.query_one(ReadingText)
        if region.laid_out and region.at_end and not self._end:
            self._end = True
            self._guard.drawn()  # a key that was pressed before the end could be seen decides nothing
        self._show_state()

    def _show_state(self) -> None:
        remaining = self._guard.remaining
        more = keymap_of(self.app).named(_("more below: {reading.page_down}"))
        state = more if not self._end else "…" if remaining > 0 else _("ready")
        words = f"{self._told} · {state}" if self._told else state
        self.below(words)
        if remaining > 0 and self._end:
            self.set_timer(remaining + 0.02, self._show_state)

    def say(self, words: str) -> None:
        """Show a few safe words at the lower edge."""
        self._told = words
        self._show_state()

    def holds(self) -> str:
        """Return why a key decides nothing yet, or no more; empty when it does."""
        if self.over:
            return self.over
        if not self._end:
            return keymap_of(self.app).named(_("Read to the end first ({reading.page_down}); nothing was decided"))
        if not self._guard.decides:
            return _("Too soon after the last key; nothing was decided")
        return ""

    def action_yes(self) -> None:
        why = self.holds()
        if why:
            self.say(why)
        else:
            self.confirmed()

    def confirmed(self) -> None:
        """`1` was pressed and counts."""

    def action_move(self, by: int) -> None:
        self.query_one(ReadingText).line(by)

    def action_page(self, by: int) -> None:
        self.query_one(ReadingText).page(by)

    def action_close(self) -> None:
        self.dismiss(None)


_LETTERS = str.maketrans({jamo: letter for letter, jamo in JAMO.items()})


class Plain(WordsDialog):
    """Asks for words from a list or the prompt: they decide nothing about a question, so nothing has to rest."""

    def hurried(self) -> bool:
        return False

    def _say_below(self, words: str) -> None:
        pass

    def _rest_ends(self) -> None:
        pass


class LineDialog(Plain):
    """Asks for a line. None when nothing is to happen.

    Args:
        title: one line, safe.
        content: what the line is for, safe text.
        send: what Enter does.
        value: what stands there to begin with.
    """

    def __init__(self, title: str, content: Content, send: str, value: str = "") -> None:
        super().__init__(title, content, send, required=True)
        self._value = value

    def on_mount(self) -> None:
        field = self.query_one(Input)
        field.value = self._value
        field.selection = Selection(0, len(self._value))  # what is typed takes its place


class TokenDialog(Plain):
    """Asks for an approver's token, which isn't shown. None when nothing is to happen."""

    def __init__(self, title: str, content: Content, send: str) -> None:
        super().__init__(title, content, send, required=True)

    def on_mount(self) -> None:
        self.query_one(Input).password = True


class TypedConfirmation(Plain):
    """Does something that can't be taken back, once its name was typed; Enter alone does nothing.

    Args:
        title: one line, safe.
        content: what would happen, safe text.
        send: what Enter does then.
        name: what has to be typed.
    """

    def __init__(self, title: str, content: Content, send: str, name: str) -> None:
        super().__init__(title, content, send, required=True)
        self._must = name

    def action_send(self) -> None:
        said = self.query_one(Input).value
        if said_is(said, self._must):
            self.dismiss(self._must)
        elif said.strip():
            self.query(".dialog").first().border_subtitle = Content(_("that is another name; nothing happened"))


def said_is(said: str, name: str) -> bool:
    """Return whether a name was typed, also with a Korean input method on: there letters arrive as jamo."""
    return name in (said.strip(), said.strip().translate(_LETTERS))
