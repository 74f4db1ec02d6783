"""A frame whose title counts on while what stands in it stays as it is."""

from __future__ import annotations

from typing import Self

from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Region


class Titled(Vertical):
    """Draws another title without drawing its content: a countdown would send all of that every second."""

    _titling = False
    _title = Content("")

    def entitle(self, title: Content) -> None:
        """Show a title in the frame; only another one is drawn."""
        if title == self._title:
            return
        self._title, self._titling = title, True
        try:
            self.border_title = title
        finally:
            self._titling = False

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        if self._titling and not regions and not layout:
            corner = self.content_offset
            regions = (Region(-corner.x, -corner.y, self.outer_size.width, 1),)
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)
