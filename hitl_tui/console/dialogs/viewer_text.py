"""The text on the whole screen: words are looked for in it as it is drawn, and what is seen of it can be copied."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

from textual.binding import BindingType
from textual.content import Content
from textual.events import Key
from textual.geometry import Region
from textual.widget import Widget
from textual.widgets import Static

from hitl_tui.console import keys
from hitl_tui.console.dialogs.reading_dialog import ReadingText
from hitl_tui.console.keymap import keymap_of
from hitl_tui.console.widgets.clipboard import copy_lines
from hitl_tui.console.widgets.text_search import SearchInput, SearchMatches, TextSearch
from hitl_tui.console.widgets.virtual_rows import Rows
from hitl_tui.core.safe_text import cell_width
from hitl_tui.core.text_comparison import lowered
from hitl_tui.language import _


class ViewerText(ReadingText, SearchInput):
    """A text that takes the whole screen, with what is looked for in its frame."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.finding = TextSearch()

    def seek(self) -> None:
        self.show_foot()

    def found_words(self) -> str:
        """Return how much was found, in a few safe words."""
        return ""

    def key_words(self) -> str:
        """Return what its keys do, in a line."""
        return ""

    def on_key(self, event: Key) -> None:
        """Forget the words that were kept; only then does the same key close."""
        forgets = keymap_of(self.app).at(keys.FINDING, event.key) == "finding.forget"
        if forgets and not self.finding.typing and self.stop_finding():
            event.stop()
            event.prevent_default()

    def show_foot(self) -> None:
        """Say what is looked for, or else what the keys do."""
        if self.finding.active:
            self.border_subtitle = self.finding.shown(self.found_words() if self.finding.text else "")
        else:
            self.border_subtitle = Content(self.key_words())


class DrawnLine(NamedTuple):
    """A line as it is drawn: where it stands in the whole text, in cells, and its characters."""

    x: int
    y: int
    text: str


class FoundLine(Static):
    """The line that was found, drawn over itself with the words marked."""

    def mark(self, line: DrawnLine, needle: str) -> None:
        """Stand over a line."""
        said, text = Content(line.text), lowered(line.text)
        start = text.find(needle)
        while start >= 0:
            said = said.stylize("reverse bold", start, start + len(needle))
            start = text.find(needle, start + len(needle))
        self.update(said)
        self.styles.width, self.styles.offset = cell_width(line.text), (line.x, line.y)
        self.display = True


class SearchedText(ViewerText):
    """A text whose lines are looked through: the words may begin on one line and go on in the next."""

    PART = keys.TEXT
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.TEXT)]

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._drawn: list[DrawnLine] | None = None
        self._matches = SearchMatches()

    @property
    def parts(self) -> Sequence[Widget]:
        return [part for part in self.children if not isinstance(part, FoundLine)]

    @property
    def lines(self) -> list[DrawnLine]:
        """All lines as they are drawn, from the first to the last."""
        if self._drawn is None:
            found = (line for part in self.parts for leaf in _leaves(part) for line in self._lines_of(leaf))
            self._drawn = sorted(found, key=lambda line: (line.y, line.x))
        return self._drawn

    def _lines_of(self, part: Widget) -> Iterator[DrawnLine]:
        place = part.region.offset - self.scrollable_content_region.offset + self.scroll_offset
        if isinstance(part, Rows):
            drawn: Sequence[str] = part.texts
        else:
            drawn = [strip.text for strip in part.render_lines(Region(0, 0, *part.region.size))]
        for y, line in enumerate(drawn, start=place.y):
            if text := line.strip():
                yield DrawnLine(place.x + len(line) - len(line.lstrip()), y, text)

    def on_resize(self) -> None:
        self._drawn = None
        if self.finding.text:
            self.call_after_refresh(self.seek)

    # Looking for words -----------------------------------------------------------------------------------------

    def seek(self) -> None:
        """Find all lines that have the words, and go to the first one at or below the first that is seen."""
        needle = self.finding.needle
        self._matches.set(_lines_with(needle, [line.text for line in self.lines]) if needle.strip() else ())
        if places := self._matches.places:
            seen = bisect_left([self.lines[n].y for n in places], self.scroll_offset.y)
            self._go_to(places[seen % len(places)])
        else:
            self.query(FoundLine).set(display=False)
        super().seek()

    def action_match(self, by: int) -> None:
        if self._matches.places:
            self._go_to(self._matches.beside(by))

    def _go_to(self, number: int) -> None:
        self._matches.current, line = number, self.lines[number]
        if not self.query(FoundLine):
            self.mount(FoundLine())
        self.query_one(FoundLine).mark(line, self.finding.needle)
        height = self.scrollable_content_region.height
        if not self.scroll_offset.y <= line.y < self.scroll_offset.y + height:
            self.scroll_to(y=max(0, line.y - height // 2), animate=False, immediate=True, force=True)
        self.show_foot()

    def found_words(self) -> str:
        return self._matches.words

    def key_words(self) -> str:
        said = _("{viewer.close} Close · {text.find} Find · {text.copy} Copy · {viewer.page_down} Read on")
        return keymap_of(self.app).named(said)

    # Copying ---------------------------------------------------------------------------------------------------

    def action_copy(self) -> None:
        top, rows = self.scroll_offset.y, dict[int, str]()
        for line in self.lines:
            if top <= line.y < top + self.scrollable_content_region.height:
                before = rows.get(line.y, "")
                rows[line.y] = before + " " * (line.x - cell_width(before)) + line.text
        seen = [rows.get(y, "") for y in range(min(rows, default=0), max(rows, default=-1) + 1)]
        self.border_subtitle = Content(f"{copy_lines(self, seen)} · {self.key_words()}")


def _leaves(part: Widget) -> Iterator[Widget]:
    """Yield what draws the text of a part."""
    if not part.children:
        yield part
    for child in part.children:
        yield from _leaves(child)


def _lines_with(needle: str, lines: Sequence[str]) -> Iterator[int]:
    """Yield the numbers of the lines in which the words begin.

    Args:
        needle: the words, as `lowered` gives them.
        lines: what is looked through, each without spaces at its ends.
    """
    starts, length = list[int](), 0
    for line in lines:
        starts.append(length)
        length += len(line) + 1
    text = lowered(" ".join(lines))
    place, last = text.find(needle), -1
    while place >= 0:
        number = bisect_right(starts, place) - 1
        if number != last:
            yield number
            last = number
        place = text.find(needle, place + 1)
