"""Rows of actions that a click chooses: those under a question, and those at a moment of the past."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import Static

from hitl_tui.console.answer_actions import NO_KEY, Answer, spots
from hitl_tui.console.keymap import keymap_of
from hitl_tui.core.safe_text import safe_text


class ActionClicked(Message):
    """An action was clicked, which has this number."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class ReplayAction(Static):
    """One of the things to do; a click does it, too.

    Args:
        number: its key.
        label: one word.
    """

    def __init__(self, number: int, label: str) -> None:
        super().__init__(id=f"replay-{number}")
        self._number = number
        self._label = label
        self._why_not = ""

    def on_mount(self) -> None:
        self.show(self._why_not, chosen=self.has_class("-on"))

    def show(self, why_not: str, *, chosen: bool) -> None:
        """Draw it: dim and without its key when it isn't possible, with the reason under the pointer."""
        self._why_not = why_not
        key = NO_KEY if why_not else keymap_of(self.app).shown(f"replay.{self._number}")
        self.update(Content(f"{key} {self._label}"))
        self.tooltip = Content(safe_text(why_not)) if why_not else None
        self.set_class(bool(why_not), "-off")
        self.set_class(chosen, "-on")

    def on_click(self, event: Click) -> None:
        event.stop()
        self.post_message(ActionClicked(self._number))


MOST_ROWS = 3
_TALL, _FEW_ROWS = 20, 2
"""Rows of a tall terminal, where the actions may take the most rows, and how many they may take elsewhere."""


class Place(Static):
    """One place; a click is like its key."""

    def __init__(self, number: int) -> None:
        super().__init__("", id=f"place-{number}")
        self.number = number
        self._label = ""

    def show(self, label: str) -> None:
        """Show a label; only another one costs a new layout of the screen."""
        if label != self._label:
            self._label = label
            self.update(Content(label))

    def on_click(self, event: Click) -> None:
        event.stop()
        self.post_message(ActionClicked(self.number))


class Actions(Container):
    """All of them, in as many rows as they need."""

    def compose(self) -> ComposeResult:
        for number in range(1, 8):
            yield Place(number)

    def show(self, found: Sequence[Answer], *, read: bool) -> int:
        """Draw the answers, those dimmed that can't be given; return the rows that it takes.

        Args:
            found: one for each place.
            read: the question was read to its end; before, what binds can't be chosen.
        """
        keymap = keymap_of(self.app)
        named = [replace(a, key=keymap.shown(f"question.{a.number}")) for a in found]
        laid = spots(named, self.size.width, MOST_ROWS if self.app.size.height >= _TALL else _FEW_ROWS)
        for answer, spot in zip(found, laid, strict=True):
            place = self.query_one(f"#place-{answer.number}", Place)
            place.show(spot.label)
            place.styles.offset = (spot.x, spot.y)
            place.set_class(bool(answer.why_not) or (answer.binds and not read), "-off")
        rows = 1 + max(spot.y for spot in laid)
        self.styles.height = rows
        return rows
