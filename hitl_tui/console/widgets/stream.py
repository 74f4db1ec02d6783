"""The stream: what teams say and do, and what commands answered."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.events import Resize
from textual.widgets import Log

from hitl_tui.console.terms import clock_words
from hitl_tui.console.words import number_of
from hitl_tui.core.safe_text import cell_width, clip

if TYPE_CHECKING:
    from hitl_tui.supervisor.activity import Activity

_KEPT = 5_000
_GLYPHS = {"started": "▸ ", "finished": "✓ ", "failed": "✗ ", "asked": "? ", "note": "! "}
_SPACES = re.compile(r"( +)")


@dataclass(frozen=True, slots=True)
class Line:
    """One line as it is shown: its TODO, what stands before it, its text (safe)."""

    todo_id: str
    head: str
    text: str


def stream_line(activity: Activity) -> Line | None:
    """Return the line for an activity; None for progress on its way, which the title shows."""
    if activity.kind == "progress" and 0 <= activity.fraction < 1:
        return None
    number = number_of(activity.todo_id) if activity.todo_id else ""
    head = f"{clock_words(activity.at)} {number:<4}{_GLYPHS.get(activity.kind, '')}"
    return Line(activity.todo_id, head, activity.text)


def wrapped(line: Line, width: int) -> list[str]:
    """Return a line broken to a width in cells, what goes on indented; a word is broken only when it is too long."""
    indent = " " * min(14, cell_width(line.head))
    rows: list[str] = []
    current, used = line.head, cell_width(line.head)
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


class Stream(Log):
    """The stream of one session, of all TODOs or of one."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id, max_lines=_KEPT * 4, highlight=False)
        self._said: deque[Line] = deque(maxlen=_KEPT)
        self._only = ""
        self._fitted = 0

    @property
    def only(self) -> str:
        """Id of the TODO it is limited to; empty for all."""
        return self._only

    def limit(self, todo_id: str) -> None:
        """Show one TODO's lines; all with an empty id."""
        self._only = todo_id
        self._again()

    def reset(self) -> None:
        """Forget everything: another session comes."""
        self._said.clear()
        self._only = ""
        self._again()

    def add(self, lines: Iterable[Line]) -> None:
        """Add lines at the end."""
        rows: list[str] = []
        for line in lines:
            self._said.append(line)
            if not self._only or line.todo_id in ("", self._only):
                rows += wrapped(line, self._room)
        if rows:
            self.write_lines(rows)

    @property
    def _room(self) -> int:
        return max(20, (self.size.width or 80) - 2)

    def on_resize(self, event: Resize) -> None:
        if event.size.width != self._fitted:
            self._fitted = event.size.width
            self._again()
        if not self.has_focus:
            self.call_after_refresh(self.scroll_end, animate=False)

    def _again(self) -> None:
        self.clear()
        rows: list[str] = []
        for line in self._said:
            if not self._only or line.todo_id in ("", self._only):
                rows += wrapped(line, self._room)
        self.write_lines(rows)
