"""Blocks: the citable pieces a document falls into, and the builder every extractor shares."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

MAX_BLOCK_CHARS = 1_000
MAX_BLOCK_LINES = 12
MAX_HEADING_CHARS = 240
MAX_BLOCKS = 100_000
EXPORTED = "<!-- exported by hitl-tui -->"
"""Last line of an answer that was written into a file: no evidence for another one."""

_SENTENCE_END = re.compile(r"[.!?。！？;]\s+|[.。！？](?=[가-힣①-⑳])")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Block:
    """One passage as it stands in its file.

    Args:
        line: first line, counted from 1 (in a PDF: within its page).
        end_line: last line, inclusive.
        page: page of a PDF, counted from 1; 0 for other files.
        text: the words, lines joined by newlines.
        heading: the headings above it, outermost first, joined by ` > `.
    """

    line: int
    end_line: int
    page: int
    text: str
    heading: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a file gave.

    Args:
        blocks: its passages, in order.
        note: a short remark when something was read differently than it should be; empty otherwise.
    """

    blocks: tuple[Block, ...]
    note: str = ""


class LeftOut(StrEnum):
    """Why something isn't searched."""

    BINARY = "binary"
    LARGE = "large"
    IGNORED = "ignored"
    UNREADABLE = "unreadable"


class Unreadable(Exception):
    """A file that gives no text.

    Args:
        reason: a short phrase.
        kind: what sort of reason that is.
    """

    def __init__(self, reason: object, kind: LeftOut = LeftOut.UNREADABLE) -> None:
        super().__init__(reason)
        self.kind = kind


def pieces(text: str) -> Iterator[str]:
    """Split an over-long line at sentence ends or white space, each piece at most as long as a block."""
    start = 0
    while len(text) - start > MAX_BLOCK_CHARS:
        cut = start + MAX_BLOCK_CHARS
        for pattern in (_SENTENCE_END, _SPACE):
            if ends := [match.end() for match in pattern.finditer(text, start + MAX_BLOCK_CHARS // 2, cut)]:
                cut = ends[-1]
                break
        yield text[start:cut]
        start = cut
    yield text[start:]


@dataclass(slots=True)
class BlockBuilder:
    """Collects lines into blocks; used by one extraction and thrown away."""

    page: int = 0
    blocks: list[Block] = field(default_factory=list)
    _levels: dict[int, str] = field(default_factory=dict)
    _suffix: str = ""
    _lines: list[str] = field(default_factory=list)
    _first: int = 0
    _chars: int = 0
    _lone: tuple[int, int, str] | None = None
    _lone_level: int = 0

    @property
    def full(self) -> bool:
        """True when the file has as many blocks as one file may have."""
        return len(self.blocks) >= MAX_BLOCKS

    @property
    def pending(self) -> list[str]:
        """The lines of the block being collected."""
        return self._lines

    def heading_path(self) -> str:
        """The headings in force, outermost first."""
        parts: list[str] = []
        for part in [*(self._levels[level] for level in sorted(self._levels)), self._suffix]:
            # A page's title and its first heading are often the same.
            if part and (not parts or part.casefold() != parts[-1].casefold()):
                parts.append(part)
        return " > ".join(parts)[:MAX_HEADING_CHARS]

    def heading(self, level: int, text: str, line: int, end_line: int | None = None) -> None:
        """Start a section; one with nothing in it, not even a section, becomes a block of its own."""
        self.flush()
        if self._lone is not None and level <= self._lone_level:
            self._emit_lone()
        self._lone_level = level
        self.end_section(level)
        self._levels[level] = " ".join(text.split())[:120]
        self._lone = (line, end_line or line, text)

    def end_section(self, level: int) -> None:
        """End the section of a level, and those within it."""
        self.flush()
        self._suffix = ""
        for deeper in [known for known in self._levels if known >= level]:
            del self._levels[deeper]

    def context(self, text: str) -> None:
        """Add words that hold for the coming blocks (a table's head) until the next heading; empty ends it."""
        self._suffix = " ".join(text.split())[:120]

    def add(self, line: int, text: str) -> None:
        """Take one line; closes the block when it grows too long."""
        if len(text) > MAX_BLOCK_CHARS:
            self.flush()
            for piece in pieces(text):
                if piece.strip():
                    self._emit(line, line, piece)
            return
        if self._lines and (len(self._lines) >= MAX_BLOCK_LINES or self._chars + len(text) > MAX_BLOCK_CHARS):
            self.flush()
        if not self._lines:
            self._first = line
        self._lines.append(text)
        self._chars += len(text)

    def flush(self) -> None:
        """Close the block being collected."""
        lines, first = self._lines, self._first
        self._lines, self._chars = [], 0
        while lines and not lines[-1].strip():
            lines.pop()
        while lines and not lines[0].strip():
            lines.pop(0)
            first += 1
        if lines:
            self._emit(first, first + len(lines) - 1, "\n".join(lines))

    def whole(self, line: int, end_line: int, text: str) -> None:
        """Add a finished block (a table row, an HTML paragraph), split when it is too long."""
        self.flush()
        for piece in pieces(text):
            if piece.strip():
                self._emit(line, end_line, piece)

    def finish(self) -> list[Block]:
        """Close everything and return the blocks."""
        self.flush()
        self._emit_lone()
        return self.blocks

    def _emit_lone(self) -> None:
        if self._lone is not None:
            line, end_line, text = self._lone
            self._lone = None
            if text.strip() and not self.full:
                self.blocks.append(Block(line, end_line, self.page, text.strip(), self.heading_path()))

    def _emit(self, line: int, end_line: int, text: str) -> None:
        self._lone = None
        if not self.full:
            self.blocks.append(Block(line, end_line, self.page, text, self.heading_path()))
