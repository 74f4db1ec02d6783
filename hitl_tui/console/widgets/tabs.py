"""The row of tabs where one pane is shown at a time."""

from __future__ import annotations

from collections.abc import Sequence

from textual.containers import Horizontal
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import Static

from hitl_tui.language import _


class Tab(Static):
    """One tab; a click shows its pane."""

    class Chosen(Message):
        """A tab was clicked."""

        def __init__(self, pane: str) -> None:
            super().__init__()
            self.pane = pane

    def __init__(self, pane: str, label: str) -> None:
        super().__init__(Content(f" {label} "), id=f"tab-{pane}")
        self.pane = pane

    def on_click(self, event: Click) -> None:
        event.stop()
        self.post_message(self.Chosen(self.pane))


class TabStrip(Horizontal):
    """The tabs of the panes."""

    def __init__(self, panes: Sequence[tuple[str, str]], id: str | None = None) -> None:
        super().__init__(*(Tab(pane, _(label)) for pane, label in panes), id=id)

    def mark(self, pane: str) -> None:
        """Show which pane is seen."""
        for tab in self.query(Tab):
            tab.set_class(tab.pane == pane, "-seen")
