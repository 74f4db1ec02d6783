"""What the terminal shows: only what differs from that is written, so that nothing flickers over a slow link."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import Any

from rich.console import Console
from rich.control import Control
from rich.segment import Segment
from textual import events
from textual._cells import cell_len
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.app import App
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip

_UNSURE = re.compile("[\u200b-\u200f\u20d0-\u20ff\u2600-\u27bf\ufe00-\ufe0f\U0001f000-\U000fffff]")
"""Terminals differ on how wide these are: where one stands, what comes after it is written anew, too."""


class TerminalPainter:
    """The rows of the terminal, as they were written last."""

    def __init__(self) -> None:
        self._rows: dict[int, Strip] = {}

    def forget(self) -> None:
        """Write everything anew: something else may have written to the terminal, or it has another size."""
        self._rows.clear()

    def shows(self, strips: Sequence[Strip], region: Region) -> bool | None:
        """Return whether a region of the terminal has this text; None where it isn't known what a row has.

        Args:
            strips: all rows, as they would be drawn now.
            region: the part that counts.
        """
        for y in range(region.y, min(region.bottom, len(strips))):
            if (row := self._rows.get(y)) is None:
                return None
            if row.crop(region.x, region.right).text != strips[y].crop(region.x, region.right).text:
                return False
        return True

    def changes(self, update: CompositorUpdate, console: Console) -> str:
        """Return what has to be written for an update, and take it for written.

        Args:
            update: what Textual would write.
            console: knows the terminal's colours.
        """
        if isinstance(update, LayoutUpdate):
            x, top = update.region.offset
            pieces = [(y, x, Strip.join(line)) for y, line in enumerate(update.strips, top)]
            if x == 0:
                return "".join(self._row(y, strip, console) for y, __, strip in pieces)
        elif isinstance(update, ChopsUpdate):
            pieces = list(_pieces(update))
        else:
            self.forget()
            return update.render_segments(console)
        return "".join(self._piece(y, x, strip, console) for y, x, strip in pieces)

    def _row(self, y: int, strip: Strip, console: Console) -> str:
        before, self._rows[y] = self._rows.get(y), strip
        if before is None or before.cell_length != strip.cell_length:
            return _at(0, y) + strip.render(console)
        return _differing(y, 0, before, strip, console)

    def _piece(self, y: int, x: int, strip: Strip, console: Console) -> str:
        row, end = self._rows.get(y), x + strip.cell_length
        if row is None or row.cell_length < end:
            self._rows.pop(y, None)
            return _at(x, y) + strip.render(console)
        before, left, right = row.crop(x, end), row.crop(0, x), row.crop(end, row.cell_length)
        if not (row.text.startswith(left.text) and row.text.endswith(right.text)):
            # It goes through the middle of a wide character: terminals differ on what is left of that.
            del self._rows[y]
            return _at(x, y) + strip.render(console)
        if before == strip:
            return ""
        self._rows[y] = Strip.join([left, strip, right])
        return _differing(y, x, before, strip, console)


def _pieces(update: ChopsUpdate) -> Iterator[tuple[int, int, Strip]]:
    """Yield row, column and content of all that a partial update writes."""
    for y, x1, x2 in update.spans:
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is not None and x <= x2 and end > x1:
                yield y, x, strip if x1 <= x < x2 and end <= x2 else strip.crop(0, min(end, x2) - x)


def _differing(y: int, x: int, before: Strip, strip: Strip, console: Console) -> str:
    """Return what writes a piece of a row over another of the same width, without the ends that they share."""
    old, new = list(before), list(strip)
    head = sum(1 for __ in takewhile(_same, zip(old, new, strict=False)))
    tail = sum(1 for __ in takewhile(_same, zip(reversed(old[head:]), reversed(new[head:]), strict=False)))
    fresh = new[head : len(new) - tail]
    if not any(segment.text for segment in fresh):
        return ""
    if _UNSURE.search(before.text) or _UNSURE.search(strip.text):
        return _at(x, y) + strip.render(console)
    x += sum(cell_len(segment.text) for segment in new[:head])
    return _at(x, y) + Strip(fresh).render(console)


def _same(pair: tuple[Segment, Segment]) -> bool:
    return pair[0] == pair[1]


def _at(x: int, y: int) -> str:
    return Control.move_to(x, y).segment.text


class Changes(CompositorUpdate):
    """An update of which only the changes are written, once it is.

    Args:
        update: what Textual would write.
        painting: what is there.
    """

    def __init__(self, update: CompositorUpdate, painting: TerminalPainter) -> None:
        self._update = update
        self._painting = painting

    def render_segments(self, console: Console) -> str:
        try:
            return self._painting.changes(self._update, console)
        except Exception:
            self._painting.forget()
            raise


class PaintedApp(App[int]):
    """An app that writes only what changes, and knows what the terminal shows.

    Each comment says which internal of Textual is relied on, as of Textual 8.2.8, and what would make it unnecessary.
    """

    def __init__(self) -> None:
        super().__init__()
        self._painting = TerminalPainter()
        self._when_shown: tuple[Callable[[], None], Callable[[], Region | None]] | None = None

    def on_mount(self) -> None:
        self.app_resume_signal.subscribe(self, lambda __: self.action_redraw())

    # Relies on `App._display(screen, renderable)` being given a `CompositorUpdate` for every frame, and on the contents
    # of `LayoutUpdate` (strips, region) and `ChopsUpdate` (chops, spans, chop_ends), which `render_segments` writes.
    # Upstream: updates that leave out what the terminal shows already; a hook for each update before it is written.
    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        if not self.watched:
            return
        if isinstance(renderable, CompositorUpdate):
            renderable = Changes(renderable, self._painting)
        super()._display(screen, renderable)

    # Relies on `App.post_display_hook()` being called after each frame was written; it is there for tests.
    # Upstream: a documented callback after a frame was written.
    def post_display_hook(self) -> None:
        """A frame was written."""
        self._look_whether_shown()

    def when_shown(self, callback: Callable[[], None], region: Callable[[], Region | None]) -> None:
        """Call something once the terminal shows what is drawn as it is now; it takes the place of one that waits.

        Args:
            callback: is called.
            region: returns the part of the screen that counts, empty while it isn't there yet; None for no part.
        """
        self._when_shown = callback, region
        self.call_later(self._look_whether_shown)

    # Relies on `App._batch_count`, and on `Screen._compositor.render_strips()` giving what would be drawn now.
    # Upstream: a method that says whether a widget stands on the terminal as it is now.
    def _look_whether_shown(self) -> None:
        if self._when_shown is None or not self.screen_stack or self._batch_count or not self.watched:
            return
        callback, where = self._when_shown
        region = where()
        if region is not None:
            if not region.area:
                return
            # Without a terminal there are no rows to compare with.
            shown = self.is_headless or self._painting.shows(self.screen._compositor.render_strips(), region)
            if shown is None:
                self.refresh(layout=True)  # all rows are written anew, and known then
            if not shown:
                return
        self._when_shown = None
        callback()

    # Relies on `App._driver`. Upstream: a public way to write a control sequence that draws nothing, to ask whether the
    # app can be suspended, and to give the terminal back when the process ends at once.
    def write_sequence(self, sequence: str) -> None:
        """Write a control sequence to the terminal; nothing where there is none."""
        if self._driver is not None and not self.is_web:
            self._driver.write(sequence)

    @property
    def watched(self) -> bool:
        """What is drawn is shown somewhere: not while the console is without its page."""
        return bool(getattr(self._driver, "watched", True))

    @property
    def unseen(self) -> bool:
        """No page has shown it for a while: it shall end once nothing goes on in it."""
        return bool(getattr(self._driver, "unseen", False))

    @property
    def can_suspend(self) -> bool:
        """The terminal can be given back for a while."""
        return self._driver is not None and self._driver.can_suspend

    def release_terminal(self) -> None:
        """Give the terminal back: the process ends."""
        if self._driver is not None:
            self._driver.stop_application_mode()

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Resize):
            self._painting.forget()
        await super().on_event(event)

    def action_begin_anew(self) -> None:
        """Draw all of it on a page that has shown nothing of it yet."""
        self.action_redraw()

    def action_redraw(self) -> None:
        """Draw the whole screen anew: something else wrote to the terminal."""
        self._painting.forget()
        self.refresh(layout=True)
