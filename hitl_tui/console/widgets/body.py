"""The part of a question that has to be read: rows that scroll."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.message import Message

from hitl_tui.console.widgets.readable import Readable
from hitl_tui.console.widgets.rows import Rows
from hitl_tui.wording.rows import Row


class Body(Readable, can_focus=False):
    """What has to be read."""

    class Moved(Message):
        """Other rows of it may be on the screen now: it was scrolled, or has another size."""

    def compose(self) -> ComposeResult:
        yield Rows(id="question-text")

    def on_resize(self) -> None:
        self.post_message(self.Moved())

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.post_message(self.Moved())

    def show(self, rows: Sequence[Row]) -> None:
        """Show other rows, from their beginning."""
        self.query_one(Rows).show(rows)
        self.restart()
