"""The prompt: one line that grows to five, with history and completion."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from textual.binding import Binding
from textual.events import Key, Paste
from textual.message import Message
from textual.widgets import TextArea

from hitl_tui.console.keyguard.guard import Typed
from hitl_tui.console.keyguard.key_targets import PromptField
from hitl_tui.console.keymap import keymap_of
from hitl_tui.console.keys import PROMPT

if TYPE_CHECKING:
    from textual.widgets.text_area import Edit, EditResult

    from hitl_tui.commands.completion import Completion

LONGEST_TEXT = 10_000
LONGEST_COMMAND = 100_000
"""Characters that the prompt takes, of plain text and of a command; no more than those can be used."""
MOST_LINES = 5_000
"""Each is measured and drawn by itself, so that many of them take long whatever they hold."""

Completer = Callable[[str, int], "Sequence[Completion]"]
"""A line and the cursor's place in it → how it could go on."""


def typed_text(text: str) -> str:
    """Return pasted text without what can't be typed: control and reordering characters; tabs become spaces."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", "    ")
    return "".join(c for c in plain if c == "\n" or unicodedata.category(c) not in ("Cc", "Cs", "Co", "Cn", "Cf"))


def typed_line(text: str) -> str:
    """Return the same for a field of one line: nothing of it is lost, the ends of its lines become spaces."""
    typed = typed_text(text)
    return (typed.strip("\n") or typed[:1]).replace("\n", " ")


def common_start(texts: Sequence[str]) -> str:
    """Return what all texts begin with."""
    first, last = min(texts), max(texts)
    for index, character in enumerate(first):
        if index >= len(last) or last[index] != character:
            return first[:index]
    return first


def longest_of(text: str) -> int:
    """Return how many characters of a text can be used, by what it is: a command or plain text."""
    return LONGEST_COMMAND if text.lstrip().startswith("/") else LONGEST_TEXT


_STOCK = {
    key: binding.action
    for binding in Binding.make_bindings(TextArea.BINDINGS)
    if binding.action.startswith(("cursor_", "delete_"))
    for key in binding.key.split(",")
}
"""How keys move the text area's cursor, and delete."""


class Prompt(PromptField):
    """Where commands and words are typed."""

    class Left(Message):
        """Down was pressed and nothing is there to go down to."""

    class TooLong(Message):
        """A text is longer than can be used; it was neither taken nor sent.

        Args:
            length: characters it has; lines, when those are too many.
            most: how many it may have.
            lines: it has too many lines.
            pasted: it came by a paste, and what stood in the prompt stands there still.
        """

        def __init__(self, length: int, most: int, *, lines: bool, pasted: bool) -> None:
            super().__init__()
            self.length = length
            self.most = most
            self.lines = lines
            self.pasted = pasted

    class Sent(Message):
        """A line was sent.

        Args:
            text: the line.
            known: ids of the questions that were shown when it was begun.
        """

        def __init__(self, text: str, known: Collection[str] = ()) -> None:
            super().__init__()
            self.text = text
            self.known = known

    class Choices(Message):
        """Tab found several ways to go on."""

        def __init__(self, found: Sequence[Completion]) -> None:
            super().__init__()
            self.found = found

    def __init__(self, placeholder: str, id: str | None = None) -> None:
        super().__init__(
            id=id,
            placeholder=placeholder,
            compact=True,
            highlight_cursor_line=False,
            soft_wrap=True,
            tab_behavior="focus",
        )
        self.cursor_blink = False  # it would draw twice a second, over a slow link too, while nothing happens
        self.completer: Completer | None = None
        self.shown: Callable[[], Collection[str]] = tuple
        """Tells which questions are shown now."""
        self._known: Collection[str] = ()
        self.past: list[str] = []
        self._place = -1
        self._draft = ""

    async def on_key(self, event: Key) -> None:
        """Enter, Tab and the arrows (or what they are mapped to) are the prompt's before they are the text area's.

        Those of the text area act when they arrive, too: looked up later, as bindings are, they would be lost to a key
        that came right after them and gave the focus away.
        """
        keymap = keymap_of(self.app)
        wanted = keymap.at(PROMPT, event.key)
        if wanted == "prompt.send":
            self.action_send()
        elif wanted == "prompt.complete":
            self.action_complete()
        elif wanted == "prompt.newline":
            self.action_newline()
        elif wanted == "prompt.older" and self.cursor_at_first_line:
            self.action_older()
        elif wanted == "prompt.newer" and self.cursor_at_last_line and self._place >= 0:
            self.action_newer()
        elif wanted == "prompt.newer" and not self.text:
            self.post_message(self.Left())
        elif event.key in _STOCK:
            await self.run_action(_STOCK[event.key])
        else:
            return
        event.stop()
        event.prevent_default()

    async def on_paste(self, event: Paste) -> None:
        """What is pasted becomes text and is never sent by itself; more than can be used is not taken at all."""
        event.stop()
        event.prevent_default()
        if not self.text and not event.text.strip("\r\n"):  # the end of a line of which nothing is there
            return
        length = len(self.text) - len(self.selected_text) + len(event.text)
        lines = self.text.count("\n") - self.selected_text.count("\n") + len(event.text.splitlines())
        most = longest_of(self.text or event.text[:100])
        if length > most:  # before anything else is done with it
            self.post_message(self.TooLong(length, most, lines=False, pasted=True))
        elif lines > MOST_LINES:
            self.post_message(self.TooLong(lines, MOST_LINES, lines=True, pasted=True))
        else:
            self.insert(typed_text(event.text))

    async def take(self, event: Typed) -> None:
        if isinstance(event, Paste):
            await self.on_paste(event)
        else:
            await super().take(event)

    def on_resize(self) -> None:
        """Draw it anew: as many lines as before may be broken elsewhere, and Textual would keep the old ones."""
        self.refresh()

    def action_send(self) -> None:
        text = self.text.strip()
        most = longest_of(text)
        if len(text) > most:
            self.post_message(self.TooLong(len(text), most, lines=False, pasted=False))
        elif text:
            self.text = ""  # at once: what is typed before somebody took the line is the next one
            self.post_message(self.Sent(text, self._known))

    def edit(self, edit: Edit) -> EditResult:
        self._begin()
        return super().edit(edit)

    def load_text(self, text: str) -> None:
        self._begin()
        super().load_text(text)

    def _begin(self) -> None:
        """Remember, when a line is begun, what is asked then."""
        if self.is_mounted and not self.text:
            self._known = self.shown()

    def sent(self, text: str) -> None:
        """Take a line that was accepted into the history."""
        if not self.past or self.past[-1] != text:
            self.past.append(text)
        self._place = -1
        self._draft = ""

    def action_newline(self) -> None:
        self.insert("\n")

    def action_older(self) -> None:
        if not self.past:
            return
        if self._place < 0:
            self._draft, self._place = self.text, len(self.past)
        self._place = max(0, self._place - 1)
        self._replace(self.past[self._place])

    def action_newer(self) -> None:
        self._place += 1
        if self._place >= len(self.past):
            self._place = -1
            self._replace(self._draft)
        else:
            self._replace(self.past[self._place])

    def _replace(self, text: str) -> None:
        self.text = text
        self.move_cursor(self.document.end)

    def action_complete(self) -> None:
        if self.completer is None or "\n" in self.text:
            return
        line, cursor = self.text, self.cursor_location[1]
        found = self.completer(line, cursor)
        if not found:
            return
        start = found[0].start
        going = common_start([c.text for c in found])
        whole = going + " " if len(found) == 1 else going
        if len(whole) > cursor - start or len(found) == 1:
            self.text = line[:start] + whole + line[cursor:]
            self.move_cursor((0, start + len(whole)))
        if len(found) > 1:
            self.post_message(self.Choices(found))
