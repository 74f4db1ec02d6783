"""Texts to be read to their end: whole on the screen, or in a dialog whose keys decide only then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Generic

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Static

from hitl_tui.console import keys
from hitl_tui.console.dialogs.guarded_dialog import GuardedDialog, named_keys
from hitl_tui.console.keymap import keymap_of
from hitl_tui.console.modal_screen import Answered, Modal
from hitl_tui.console.widgets.dialog_frame import Dialog
from hitl_tui.console.widgets.virtual_rows import Readable, Rows
from hitl_tui.language import _
from hitl_tui.wording.rows import Row


class ReadingText(Readable):
    """The text; its dialog looks where its end is."""

    def on_resize(self) -> None:
        if self.is_attached and isinstance(self.screen, ReadToEnd):
            self.call_after_refresh(self.screen.look_for_end)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self.is_attached and isinstance(self.screen, ReadToEnd):  # else it was closed while it scrolled
            self.screen.look_for_end()


class ReadToEnd(Modal[Answered], Generic[Answered]):
    """A dialog that knows whether the end of its text was on the screen."""

    _end = False

    @property
    def read(self) -> bool:
        """The end was on the screen."""
        return self._end

    @property
    def whole(self) -> bool:
        """All of the text is there."""
        return True

    @property
    def text(self) -> ReadingText:
        """What is to be read."""
        return self.query_one(ReadingText)

    def look_for_end(self) -> None:
        """See whether the end is on the screen."""
        if not self.query(ReadingText):  # it was left meanwhile
            return
        if self.whole and not self._end and self.text.laid_out and self.text.at_end:
            self._end = True
            self.end_seen()
        self.show_state()

    def end_seen(self) -> None:
        """The end came to be on the screen just now."""

    def begin_anew(self) -> None:
        self._end = False
        self.call_after_refresh(self.look_for_end)

    def show_state(self) -> None:
        """Say whether it was read."""

    def action_move(self, by: int) -> None:
        self.text.line(by)

    def action_page(self, by: int) -> None:
        self.text.page(by)

    def action_edge(self, last: bool) -> None:
        self.text.edge(last)


class ReadingDialog(GuardedDialog[Answered], ReadToEnd[Answered], Generic[Answered]):
    """A dialog with a text: `1` counts once that was read to its end and the keyboard rested; Enter decides nothing.

    Args:
        title: one line, safe.
        rows: the text.
        said: what the keys do, one line; it may name them by id, see `Keymap.named`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.READING)]
    AUTO_FOCUS = "#reading-text"

    def __init__(self, title: str, rows: Sequence[Row], said: str) -> None:
        super().__init__(title)
        self._text = tuple(rows)
        self._keys = said
        self._told = ""

    def compose(self) -> ComposeResult:
        with Dialog(self._heading, large=True, id="reading"):
            with ReadingText(id="reading-text"):
                yield Rows(self._text)
            yield Static(self._key_line(), classes="dialog-keys", id="reading-keys")

    def on_mount(self) -> None:
        self.call_after_refresh(self.look_for_end)

    def _key_line(self) -> Content:
        return named_keys(keymap_of(self.app), self._keys)

    def redraw(self, rows: Sequence[Row], said: str) -> None:
        """Show another text: it has to be read, and the keyboard to rest, anew."""
        self._text, self._keys, self._end, self._told = tuple(rows), said, False, ""
        self.query_one(Rows).show(self._text)
        self.text.restart()
        self.query_one("#reading-keys", Static).update(self._key_line())
        self.guard.drawn()
        self.call_after_refresh(self.look_for_end)
        self.show_state()

    def end_seen(self) -> None:
        self._told = ""
        self.guard.drawn()  # a key that was pressed before the end could be seen decides nothing

    def state_words(self, remaining: float) -> str:
        more = keymap_of(self.app).named(_("read to the end first: {reading.page_down}, {reading.last}"))
        state = super().state_words(remaining) if self._end else more
        return f"{self._told} · {state}" if self._told else state

    def say(self, words: str) -> None:
        """Show a few safe words at the lower edge."""
        self._told = words
        self.show_state()

    def holds(self) -> str:
        """Return why a key decides nothing yet, or no more; empty when it does."""
        if self.over:
            return self.over
        if not self._end:
            return keymap_of(self.app).named(_("Read to the end first ({reading.page_down}); nothing was decided"))
        if not self.guard.decides:
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

    def at_once(self, answer: Answered) -> None:
        """Answer what needs no reading to the end, but a rested keyboard."""
        if self.over or not self.guard.decides:
            self.say(self.over or _("Too soon after the last key; nothing was decided"))
        else:
            self.dismiss(answer)

    def action_close(self) -> None:
        self.dismiss(self.LEFT)
