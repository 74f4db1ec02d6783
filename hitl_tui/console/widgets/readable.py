"""A text that has to be read before something is decided: it knows whether its last line is to be seen (C3)."""

from __future__ import annotations

from textual.containers import VerticalScroll

from hitl_tui.console.widgets.rows import Rows


class Readable(VerticalScroll):
    """What has to be read; it scrolls, and has nothing beside its text."""

    @property
    def laid_out(self) -> bool:
        """It has a place on the screen, and so has all that stands in it."""
        parts = self.children
        return self.size.height > 0 and bool(parts) and all(part.size.width > 0 for part in parts)

    @property
    def at_end(self) -> bool:
        """The last line is within what is shown. Of rows that count as they are now: older ones may still be drawn."""
        below = self.scroll_offset.y + self.scrollable_content_region.height
        return below >= sum(part.needed if isinstance(part, Rows) else part.size.height for part in self.children)

    def restart(self) -> None:
        """Go to the beginning at once."""
        self.scroll_home(animate=False, force=True, immediate=True)

    def line(self, by: int) -> None:
        """Scroll by so many lines."""
        self.scroll_relative(y=by, animate=False)

    def page(self, by: int) -> None:
        """Scroll by so many pages, of which a line stays in sight."""
        self.line(by * max(1, self.size.height - 1))
