"""What can be done at a moment of the past, as words that a click chooses."""

from __future__ import annotations

from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import Static

from hitl_tui.console.keymap import keymap_of
from hitl_tui.core.safe_text import safe_text


class ReplayAction(Static):
    """One of the things to do; a click does it, too.

    Args:
        number: its key.
        label: one word.
    """

    class Clicked(Message):
        """It was clicked."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    def __init__(self, number: int, label: str) -> None:
        super().__init__(id=f"replay-{number}")
        self._number = number
        self._label = label
        self._why_not = ""

    def on_mount(self) -> None:
        self.show(self._why_not, chosen=self.has_class("-on"))

    def show(self, why_not: str, *, chosen: bool) -> None:
        """Draw it: in parentheses and dim when it isn't possible, with the reason under the pointer."""
        self._why_not = why_not
        said = f"{keymap_of(self.app).shown(f'replay.{self._number}')} {self._label}"
        self.update(Content(f"({said})" if why_not else said))
        self.tooltip = Content(safe_text(why_not)) if why_not else None
        self.set_class(bool(why_not), "-off")
        self.set_class(chosen, "-on")

    def on_click(self, event: Click) -> None:
        event.stop()
        self.post_message(self.Clicked(self._number))
