"""Full-screen text: details of a question, a TODO, a checkpoint, the help."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import PurePath
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget

from hitl_tui.console import keys
from hitl_tui.console.keymap import keymap_of
from hitl_tui.console.screens.once import Modal
from hitl_tui.console.widgets.readable import Readable
from hitl_tui.console.widgets.rows import Rows
from hitl_tui.language import _
from hitl_tui.wording.rows import Row


class ViewerText(Readable):
    """The text; reports when its end was on the screen."""

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        viewer = self.parent  # none any more when it was closed while it scrolled
        if isinstance(viewer, Viewer):
            viewer.look()


class Viewer(Modal[bool]):
    """Shows one text whole. Its result says whether the end was read.

    Args:
        title: one line, safe.
        rows: what is shown.
    """

    CSS_PATH: ClassVar[list[str | PurePath]] = ["dialogs.tcss", "../widgets/rows.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.VIEWER)]

    def __init__(self, title: str, rows: Sequence[Row]) -> None:
        super().__init__()
        self._heading = title
        self._shown = tuple(rows)
        self._end = False

    def compose(self) -> ComposeResult:
        with ViewerText(id="viewer-text") as region:
            region.border_title = Content(self._heading)
            region.border_subtitle = Content(
                keymap_of(self.app).named(_("{viewer.close} closes · {viewer.page_down} reads on"))
            )
            yield from self._parts()

    def _parts(self) -> Iterable[Widget]:
        """Yield the text: what is Markdown rendered, as the answer is."""
        for markdown, rows in groupby(self._shown, key=lambda row: row.markdown):
            if not markdown:
                yield Rows(tuple(rows))
                continue
            from hitl_tui.console.widgets.answer import rendered  # the help needs none of it

            yield from (rendered(row.text.plain) for row in rows)

    def on_mount(self) -> None:
        self.query_one(ViewerText).focus()
        self.call_after_refresh(self.look)

    def look(self) -> None:
        """See whether the end is on the screen."""
        if not self.query(ViewerText):  # it was left meanwhile
            return
        region = self.query_one(ViewerText)
        if region.laid_out and region.at_end:
            self._end = True

    def below(self, words: str) -> None:
        if self.query(ViewerText):
            self.query_one(ViewerText).border_subtitle = Content(words)

    def overtaken(self, words: str) -> None:
        """Say that what is read was decided elsewhere."""
        if not self.left:
            self.query_one(ViewerText).border_title = Content(f"{self._heading} · {words}")

    def action_move(self, by: int) -> None:
        self.query_one(ViewerText).line(by)

    def action_page(self, by: int) -> None:
        self.query_one(ViewerText).page(by)

    def action_end(self, last: bool) -> None:
        region = self.query_one(ViewerText)
        region.scroll_to(y=region.max_scroll_y if last else 0, animate=False)

    def action_close(self) -> None:
        self.dismiss(self._end)
