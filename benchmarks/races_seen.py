"""What a person sees of the console while races go on: read from an independent terminal emulator, nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import pyte
from textual.content import Content

from hitl_tui.console.widgets import question_panel

# The emulator doesn't know the requests of the keyboard protocol and of terminal modes, and would print them.
_UNKNOWN = re.compile(r"\x1b\[[<>=][\d;]*u|\x1b\[\?u|\x1b\[\?\d+\$p|\x1b\[>[\d;]*[a-zA-Z]")
_DIGEST = re.compile(r"digest ([0-9a-f]{8}) ")
_PLACE = re.compile(r"(?<![\w:])([1-7]) [A-Z]\w+")
_TITLE = re.compile(r"\s*[╭┏][─━] (Approve|Answer|Change|Did|\S+ failed:)[^·]*\?")
_BOTTOM = "╰┗"
_DRAWN = re.compile(r"[\s\u2500-\u259f]")


@contextmanager
def digests_shown() -> Iterator[None]:
    """Let the console show the digest of a question: the judge takes nothing but what was on the screen."""
    usual = question_panel.state_words

    def with_digest(question: question_panel.Question, *args: Any, **more: Any) -> Content:
        return Content(f"digest {question.digest[:8]} · ") + usual(question, *args, **more)

    with patch.object(question_panel, "state_words", with_digest):
        yield


@dataclass(frozen=True)
class Sight:
    """The question on the screen.

    Args:
        digest: the first eight digits of its digest; empty when none is on the screen.
        focused: its frame is the heavy one of the focus.
        more: its end wasn't on the screen yet.
        rows: what stands in its frame.
        places: number of an action → its first cell, as column and row from 1.
        box: column and row of its first cell.
        over: the first line of a dialog that lies over everything; empty for none.
    """

    digest: str = ""
    focused: bool = False
    more: bool = False
    rows: tuple[str, ...] = ()
    places: tuple[tuple[int, int, int], ...] = ()
    box: tuple[int, int] = (0, 0)
    over: str = ""


class Emulator:
    """A terminal of a size that shows what is written to it."""

    def __init__(self, columns: int, rows: int) -> None:
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.Stream(self.screen)
        self._rest = ""

    def feed(self, data: str) -> None:
        """Take in what a program writes; half a sequence waits for its other half."""
        data = self._rest + data
        cut = data.rfind("\x1b")
        if cut >= 0 and len(data) - cut < 12 and not re.search(r"\x1b\[[\d;?<>=$]*[A-Za-z~]|\x1b[^\[\]P]", data[cut:]):
            data, self._rest = data[:cut], data[cut:]
        else:
            self._rest = ""
        self._stream.feed(_UNKNOWN.sub("", data))

    def resize(self, columns: int, rows: int) -> None:
        self.screen.resize(rows, columns)

    @property
    def rows(self) -> list[str]:
        """All rows as they read."""
        return [str(row) for row in self.screen.display]

    def look(self) -> Sight:
        """Return what is on the screen."""
        rows = self.rows
        top = next((y for y, row in enumerate(rows) if _TITLE.match(row)), None)
        if top is None:
            return Sight(over=_dialog(rows))
        bottom = next((y for y in range(top + 1, len(rows)) if rows[y].lstrip()[:1] in _BOTTOM), len(rows) - 1)
        found = _DIGEST.search(rows[bottom])
        left = len(rows[top]) - len(rows[top].lstrip())
        inner = [row.strip().strip("│┃█▁▂▃▄▅▆▇ ") for row in rows[top + 1 : bottom]]
        places = [
            (int(m[1]), _column(self.screen, y, m[0]), y + 1)
            for y in range(top + 1, bottom)
            for m in _PLACE.finditer(rows[y])
            if y >= bottom - 3
        ]
        return Sight(
            found[1] if found else "",
            rows[top].lstrip()[:1] == "┏",
            "to the end" in rows[bottom] or "waits for its preview" in rows[bottom],
            tuple(inner),
            tuple(places),
            (left + 2, top + 1),
            _dialog(rows[:top] + rows[bottom:]),
        )


@dataclass(frozen=True)
class Text:
    """What a question says, without spaces and signs of drawing.

    Args:
        digest: the first eight digits of its digest.
        whole: all of it.
        end: its last line.
        elsewhere: a screen of details, which shows all of it, lies over the question.
    """

    digest: str = ""
    whole: str = ""
    end: str = ""
    elsewhere: bool = False


class Ends:
    """Which texts were on the screen to their end: the console's own word for that isn't taken."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, str]] = set()

    def saw(self, sight: Sight, text: Text) -> None:
        """A frame was drawn, while the question said this."""
        shown = sight.digest == text.digest and text.end in squeezed(sight.rows)
        if text.digest and (shown or text.elsewhere):
            self._seen.add((text.digest, text.whole))

    def has(self, text: Text) -> bool:
        return (text.digest, text.whole) in self._seen


def squeezed(rows: Iterable[str]) -> str:
    """Return rows without spaces and what frames and scrollbars are drawn with."""
    return _DRAWN.sub("", "".join(rows))


def _column(screen: pyte.Screen, y: int, text: str) -> int:
    """Return the column, from 1, of a text in a row: wide characters take two cells and one place in the text."""
    cells = [screen.buffer[y][x].data for x in range(screen.columns)]
    for x in range(screen.columns):
        if "".join(cells[x : x + len(text)]) == text:
            return x + 1
    return 1


def _dialog(rows: list[str]) -> str:
    """Return the head of a dialog: the only frame that begins away from the left edge."""
    return next((row.strip() for row in rows if row[:2].isspace() and row.lstrip()[:1] in "╭┏┌" and row.strip()), "")
