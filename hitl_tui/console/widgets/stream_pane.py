"""The stream: what teams say and do, and what commands answered."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.binding import BindingType
from textual.content import Content
from textual.events import Resize
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from hitl_tui.console import keys
from hitl_tui.console.services import console_of
from hitl_tui.console.widgets.clipboard import copy_lines
from hitl_tui.console.widgets.text_search import SearchInput, SearchMatches, TextSearch
from hitl_tui.core.safe_text import cell_width, clip
from hitl_tui.core.text_comparison import lowered
from hitl_tui.language import translate
from hitl_tui.wording.status_words import number_of, progress_bar
from hitl_tui.wording.times import clock_words

if TYPE_CHECKING:
    from hitl_tui.supervisor.activity import Activity

KEPT = 100_000
"""Lines that are kept; what is older is dropped."""
AT_ONCE = 2_000
"""Lines that are broken to a new width at once; the older ones follow in slices, between keys."""
_DROPPED = 5_000
_GLYPHS = {"started": "▸ ", "finished": "✓ ", "failed": "✗ ", "asked": "? ", "note": "! "}
_TEAMS = "line"
"""What a team says, as it says it; all else is ours, or a title, which stays as it is where it isn't."""
_SPACES = re.compile(r"( +)")


@dataclass(frozen=True, slots=True)
class Line:
    """One line as it is shown: its TODO, what stands before it, its text (safe).

    `share` is progress from 0 to 1 for a line that only moves the TODO's bar, and -1 for all others; `ends` says that
    the TODO's bar is no longer of use.
    """

    todo_id: str
    head: str
    text: str
    share: float = -1.0
    ends: bool = False


def stream_line(activity: Activity) -> Line | None:
    """Return the line for an activity; progress on its way is one that only moves a bar.

    None for what a question says that follows at once: that a team stopped to ask, or that something is in doubt.
    """
    if activity.kind == "progress" and 0 <= activity.fraction < 1:
        return Line(activity.todo_id, "", translate(activity.text), activity.fraction)
    if activity.kind not in (_TEAMS, "progress", *_GLYPHS):
        return None
    number = number_of(activity.todo_id) if activity.todo_id else ""
    head = f"{clock_words(activity.at)} {number:<4}{_GLYPHS.get(activity.kind, '')}"
    ends = activity.kind in ("started", "finished", "failed") or activity.fraction >= 1
    text = activity.text if activity.kind == _TEAMS else translate(activity.text)
    return Line(activity.todo_id, head, text, ends=ends)


def wrapped(line: Line, width: int) -> list[str]:
    """Return a line broken to a width in cells, what goes on indented; a word is broken only when it is too long."""
    used = cell_width(line.head)
    if used + cell_width(line.text) <= width:
        return [(line.head + line.text).rstrip()]
    indent = " " * min(14, used, max(0, width // 4))
    rows: list[str] = []
    current = line.head
    fresh = True
    for word in (w for w in _SPACES.split(line.text) if w):
        size = cell_width(word)
        if used + size > width and not fresh:
            rows.append(current.rstrip())
            current, used, fresh = indent, len(indent), True
            if word.isspace():
                continue
        while used + size > width:
            part = clip(word, max(2, width - used) + 1).removesuffix("…")
            if not part:
                break
            rows.append(current + part)
            word = word[len(part) :]
            current, used, size = indent, len(indent), cell_width(word)
        current, used, fresh = current + word, used + size, False
    return [*rows, current.rstrip()]


class StreamPane(ScrollView, SearchInput, can_focus=True):
    """The stream of one session, of all TODOs or of one."""

    PART = keys.STREAM
    ALLOW_SELECT = True
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.MOVE, keys.STREAM)]
    COMPONENT_CLASSES: ClassVar[set[str]] = {"stream--head", "stream--found", "stream--here"}

    class Left(Message):
        """Back to the prompt."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._said: list[Line] = []
        self._base = 0  # number of the first line in _said; lines are counted from the session's first
        self._rows: list[str] = []
        self._owners: list[int] = []  # for each row the number of its line, rising
        self._broken_from = 0  # lines before this one wait to be broken to the width
        self._only = ""
        self._fitted = 0
        self._follows = True  # until somebody scrolls away from the end; a pane that grows or shrinks changes nothing
        self._bars: dict[str, float] = {}
        self._at_work: frozenset[str] = frozenset()
        self.finding = TextSearch()
        self._matches = SearchMatches()

    # What is in it ---------------------------------------------------------------------------------------------

    @property
    def only(self) -> str:
        """Id of the TODO it is limited to; empty for all."""
        return self._only

    @property
    def lines(self) -> Sequence[str]:
        """The rows as they are shown, oldest first; at once after a resize only the last ones."""
        return self._rows

    @property
    def bars(self) -> dict[str, float]:
        """How far each TODO that runs and tells so has come, from 0 to 1."""
        return {todo_id: share for todo_id, share in self._bars.items() if todo_id in self._at_work}

    def follow(self, running: Iterable[str]) -> None:
        """Show how far these TODOs have come, and no others."""
        self._at_work = frozenset(running)
        self._foot()

    def limit(self, todo_id: str) -> None:
        """Show one TODO's lines; all with an empty id."""
        self._only = todo_id
        self._again()
        self.seek()

    def reset(self) -> None:
        """Forget everything: another session comes."""
        self._base += len(self._said)
        self._said.clear()
        self._bars.clear()
        self._only = ""
        self.finding.forget()
        self._again()
        self.seek()

    def add(self, lines: Iterable[Line]) -> None:
        """Add lines at the end."""
        before, bars = len(self._rows), dict(self._bars)
        for line in lines:
            if line.share >= 0:
                self._bars[line.todo_id] = line.share
                continue
            if line.ends:
                self._bars.pop(line.todo_id, None)
            number = self._base + len(self._said)
            self._said.append(line)
            if self._shows(line):
                rows = wrapped(line, self._room)
                self._rows += rows
                self._owners += [number] * len(rows)
                if self.finding.text and self.finding.needle in lowered(line.head + line.text):
                    self._matches.places.append(number)
        dropped = self._drop()
        if len(self._rows) != before or dropped:
            self._measure(self._follows, -dropped)
        if self._bars != bars or self.finding.active:
            self._foot()

    def fits(self, lines: Iterable[Line]) -> bool:
        """Return whether all of some lines can be seen at once."""
        return sum(len(wrapped(line, self._room)) for line in lines) <= self.size.height

    def _shows(self, line: Line) -> bool:
        return not self._only or line.todo_id in ("", self._only)

    def _drop(self) -> int:
        """Drop the oldest lines beyond what is kept; return how many rows went."""
        if len(self._said) <= KEPT + _DROPPED:
            return 0
        surplus = len(self._said) - KEPT
        del self._said[:surplus]
        self._base += surplus
        rows = bisect_left(self._owners, self._base)
        del self._rows[:rows], self._owners[:rows]
        del self._matches.places[: bisect_left(self._matches.places, self._base)]
        self._broken_from = max(self._broken_from, self._base)
        return rows

    def _measure(self, at_end: bool, moved: int = 0) -> None:
        """Take over the number of rows; keep the end in sight, or else what is seen where it is."""
        place = self.scroll_offset.y + moved
        self.virtual_size = Size(max(1, self.size.width - 1), len(self._rows))
        if at_end and not self.is_vertical_scrollbar_grabbed:
            self.scroll_end(animate=False, immediate=True, x_axis=False, force=True)
        elif moved:
            self.scroll_to(y=max(0, place), animate=False, immediate=True, force=True)
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._follows = self.is_vertical_scroll_end

    # Its width -------------------------------------------------------------------------------------------------

    @property
    def _room(self) -> int:
        return max(12, (self.size.width or self._fitted or 80) - 1)  # while it is hidden it has no width

    def on_resize(self, event: Resize) -> None:
        if self.size.width != self._fitted:
            self._fitted = self.size.width
            self._again()
        elif self._follows:
            self.scroll_end(animate=False, immediate=True, x_axis=False, force=True)
        self._foot()

    def _again(self) -> None:
        """Break everything anew: the last lines at once, the older ones in slices."""
        at_end = self._follows or not self.has_focus
        self._rows.clear()
        self._owners.clear()
        self._broken_from = self._base + len(self._said)
        self._break_older()
        self._measure(at_end)
        if at_end:
            self.call_after_refresh(self.scroll_end, animate=False, x_axis=False, force=True)

    def _break_older(self) -> int:
        """Break the slice before what is broken already; return how many rows it made."""
        end = self._broken_from - self._base
        start = max(0, end - AT_ONCE)
        rows: list[str] = []
        owners: list[int] = []
        for number, line in enumerate(self._said[start:end], start=self._base + start):
            if self._shows(line):
                fresh = wrapped(line, self._room)
                rows += fresh
                owners += [number] * len(fresh)
        self._rows[:0], self._owners[:0] = rows, owners
        self._broken_from = self._base + start
        if start and self.is_attached:
            self.call_later(self._go_on, self._room)
        return len(rows)

    def _go_on(self, room: int) -> None:
        if room == self._room and self._broken_from > self._base:
            self._measure(self._follows, self._break_older())

    # Looking for words -----------------------------------------------------------------------------------------

    def seek(self) -> None:
        """Find all lines that have the words, and go to the last one at or before what is seen."""
        needle = self.finding.needle
        self._matches.set(
            number
            for number, line in enumerate(self._said, start=self._base)
            if needle and self._shows(line) and needle in lowered(line.head + line.text)
        )
        if places := self._matches.places:
            last = self._owner_at(self.scroll_offset.y + self.size.height - 1)
            self._go_to(places[max(0, bisect_right(places, last) - 1)])
        self._foot()
        self.refresh()

    def _owner_at(self, row: int) -> int:
        return self._owners[min(row, len(self._owners) - 1)] if self._owners else self._base

    def action_cursor_down(self) -> None:
        self.action_scroll_down()

    def action_cursor_up(self) -> None:
        self.action_scroll_up()

    def action_match(self, by: int) -> None:
        if self._matches.places:
            self._go_to(self._matches.beside(by))

    def _go_to(self, number: int) -> None:
        while number < self._broken_from and self._broken_from > self._base:
            self._measure(False, self._break_older())
        self._matches.current = number
        row = bisect_left(self._owners, number)
        top, height = self.scroll_offset.y, self.size.height
        if not top <= row < top + height - (not self._framed):
            self.scroll_to(y=max(0, row - height // 2), animate=False, immediate=True, force=True)
        self._foot()
        self.refresh()

    def action_leave(self) -> None:
        if not self.stop_finding():
            self.post_message(self.Left())

    # Its frame -------------------------------------------------------------------------------------------------

    def _foot(self) -> None:
        said = self._foot_words()
        self.border_subtitle = said
        if not self._framed:
            self.refresh()

    @property
    def _framed(self) -> bool:
        return self.styles.border_bottom[0] not in ("", "none", "hidden")

    def _foot_words(self) -> Content:
        if self.finding.active:
            return self.finding.shown(self._matches.words if self.finding.text else "")
        parts: list[Content] = []
        room = self.size.width - 4
        bars = self.bars
        for todo_id, share in bars.items():
            part = Content(f"{number_of(todo_id)} {progress_bar(share)} {share:.0%}")
            room -= part.cell_length + 3
            if room < 0:
                break
            parts.append(part)
        left = len(bars) - len(parts)
        return Content(" · ").join([*parts, *([Content(f"+{left}")] if left and parts else [])])

    # Selecting and copying -------------------------------------------------------------------------------------

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return selection.extract("\n".join(self._rows)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    def action_copy(self) -> None:
        top = self.scroll_offset.y
        console_of(self.app).say(copy_lines(self, self._rows[top : top + self.size.height]))

    # Drawing ---------------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        width, base = self.size.width, self.rich_style
        foot = self._foot_words() if y == self.size.height - 1 and not self._framed else None
        if foot is not None and foot.plain:
            bar = Segment(f" {foot.plain} ", base + Style(reverse=True))
            return Strip([bar], cell_width(foot.plain) + 2).crop_extend(0, width, base)
        row = self.scroll_offset.y + y
        if row >= len(self._rows):
            return Strip.blank(width, base)
        shown = self._styled(row, base)
        strip = Strip(shown.render(self.app.console), cell_width(shown.plain))
        return strip.crop_extend(0, width, base).apply_offsets(0, row)

    def _styled(self, row: int, base: Style) -> Text:
        text = self._rows[row]
        shown = Text(text, no_wrap=True, end="")
        shown.stylize(base)
        number = self._owners[row]
        line = self._said[number - self._base]
        if line.head and (row == 0 or self._owners[row - 1] != number):
            shown.stylize(self.get_component_rich_style("stream--head"), 0, len(line.head))
        if self.finding.text and number in self._matches:
            self._mark(shown, number)
        if (selection := self.text_selection) is not None and (span := selection.get_span(row)) is not None:
            start, end = span
            style = self.screen.get_component_rich_style("screen--selection")
            shown.stylize(style, start, len(text) if end == -1 else end)
        return shown

    def _mark(self, shown: Text, number: int) -> None:
        style = self.get_component_rich_style("stream--here" if number == self._matches.current else "stream--found")
        text, needle = lowered(shown.plain), self.finding.needle
        start = text.find(needle)
        while start >= 0:
            shown.stylize(style, start, start + len(needle))
            start = text.find(needle, start + len(needle))
