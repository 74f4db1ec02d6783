"""Lines that are longer than the terminal is wide, broken between words (C9).

A line that goes on is indented deeper than it began, so that nothing in it passes for a line of its own. Within
quotes nothing but a single space is broken at: there every space counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TextIO

from hitl_tui.core.safe_text import cell_width

_DEEPER = 2
_NARROWEST = 20
"""Cells; in fewer, the terminal breaks lines as well as we do."""
_NOT_FIRST = frozenset("、。，．：；！？）」』】〉》〕｝ーゝゞ々ぁぃぅぇぉっゃゅょァィゥェォッャュョ" + "🏻🏼🏽🏾🏿")
"""Wide characters that no line begins with."""


class Whole(str):
    """A line that is copied as it is, such as a command: the terminal breaks it, and copying gives it whole."""

    __slots__ = ()


def is_terminal(*streams: TextIO | None) -> bool:
    """Return whether all of these are a terminal's."""
    try:
        return all(stream is not None and stream.isatty() for stream in streams)
    except ValueError:  # it was closed
        return False


def terminal_width(stream: TextIO | None) -> int:
    """Return how many cells a line of a terminal has; 0 where that isn't known, and where there is none."""
    try:
        return os.get_terminal_size(stream.fileno()).columns if stream is not None else 0
    except (OSError, ValueError):
        return 0


def wrapped(lines: Iterable[str], width: int) -> list[str]:
    """Return lines of safe text, those that are too long broken between words, or between two wide letters.

    Args:
        lines: one each; a `Whole` one stays.
        width: cells of a line; 0 breaks nothing.
    """
    if width < _NARROWEST:
        return list(lines)
    return [part for line in lines for part in ([line] if isinstance(line, Whole) else _parts(line, width))]


class _Break(NamedTuple):
    end: int
    """Where a part ends."""
    next: int
    """Where the next one begins."""
    used: int
    """Cells of the part; what it is indented by isn't counted."""
    quoted: bool
    """The next part begins within quotes."""


def _parts(lines: str, width: int) -> Iterator[str]:
    for line in lines.split("\n"):
        if cell_width(line) <= width:
            yield line
        else:
            yield from _broken(line, width)


def _broken(line: str, width: int) -> Iterator[str]:
    text = line.lstrip(" ")
    begin = min(len(line) - len(text), width // 2)
    indent, start, quoted = " " * begin, 0, False
    while start < len(text):
        found = _break(text, start, width - len(indent), quoted)
        yield indent + text[start : found.end]
        indent, start, quoted = " " * (begin + _DEEPER), found.next, found.quoted


def _break(text: str, start: int, room: int, quoted: bool) -> _Break:
    """Return where to break: at the last space that has room, where it lies in the first half between wide letters.

    A word that is longer than a line stays whole, for the terminal to break.
    """
    spaced = unspaced = None
    used, at = 0, start
    while at < len(text):
        after = at + 1
        if text[at] == " ":
            while text[after : after + 1] == " ":
                after += 1
            if at > start and (after == at + 1 or not quoted):
                spaced = _Break(at, after, used, quoted)
        elif at > start and _between_wide(text, at):
            unspaced = _Break(at, at, used, quoted)
        elif text[at] == '"':
            quoted = not quoted
        elif text[at] == "\\" and quoted:
            after += 1
        cells = cell_width(text[at:after])
        if used + cells > room:
            if spaced and (unspaced is None or spaced.used > room // 2):
                return spaced
            if unspaced:
                return unspaced
        used, at = used + cells, after
    return _Break(len(text), len(text), used, quoted)


def _between_wide(text: str, at: int) -> bool:
    return (
        not (text[at].isascii() or text[at - 1].isascii())
        and cell_width(text[at]) == 2 == cell_width(text[at - 1])
        and text[at] not in _NOT_FIRST
    )
