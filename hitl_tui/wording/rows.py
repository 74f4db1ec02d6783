"""Rows: the lines that interfaces show, of a label and safe text, with names of styles. An interface lays them out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from hitl_tui.core.safe_text import cell_width, one_line, safe_text
from hitl_tui.terminal.ascii_signs import signs

BAR = "  │ "
"""What text that is quoted begins with, in each line that it takes."""
HEADING = "── "
"""What a heading begins with; it goes on behind that."""

SHORT = 300
"""Cells of a value in a line."""


@dataclass(frozen=True, slots=True)
class Span:
    """Characters that have a style: a name of the theme's such as `$text-muted`, with `bold` before it where wanted."""

    start: int
    end: int
    style: str


@dataclass(frozen=True, slots=True)
class StyledText:
    """Safe text, parts of which have a style."""

    plain: str
    spans: tuple[Span, ...] = ()

    @property
    def cell_length(self) -> int:
        return cell_width(self.plain)

    def __getitem__(self, part: slice) -> StyledText:
        """Return the text between two characters."""
        begin, end, _ = part.indices(len(self.plain))
        kept = (Span(max(s.start, begin) - begin, min(s.end, end) - begin, s.style) for s in self.spans)
        return StyledText(self.plain[begin:end], tuple(span for span in kept if span.start < span.end))


def styled(text: str, style: str = "") -> StyledText:
    """Return text of one style."""
    return StyledText(text, (Span(0, len(text), style),) if style and text else ())


def assembled(*parts: StyledText | tuple[str, str]) -> StyledText:
    """Return texts, or pairs of a text and its style, as one."""
    plain, spans = "", list[Span]()
    for part in parts:
        text = part if isinstance(part, StyledText) else styled(*part)
        spans += (Span(len(plain) + s.start, len(plain) + s.end, s.style) for s in text.spans)
        plain += text.plain
    return StyledText(plain, tuple(spans))


@dataclass(frozen=True, slots=True)
class Row:
    """One line of what is shown: a label (empty for text that stands alone) and safe text.

    `exact` text keeps every space where it is broken; other text loses those at the end of a line. A viewer renders
    what is `markdown`.
    """

    label: str
    text: StyledText
    exact: bool = False
    markdown: bool = False


def text_row(text: str, style: str = "") -> Row:
    """Return a line without a label; `text` has to be safe."""
    return Row("", styled(text, style))


def quoted_row(text: str, style: str = "") -> Row:
    """Return what somebody says, with a bar before each line: no line of it can pass for a row of ours.

    Args:
        text: safe, of any number of lines.
        style: of it.
    """
    return Row("", assembled((BAR, "$text-muted"), (text, style)), exact=True)


def markdown_row(text: str) -> Row:
    """Return a text that is rendered where there is room for that; it has to be safe."""
    return Row("", styled(text), markdown=True)


def labelled(label: str, text: str, style: str = "", *, exact: bool = False) -> Row:
    """Return a line with a label; both have to be safe."""
    return Row(label, styled(text, style), exact)


def joined(*parts: str) -> str:
    """Return safe parts of a line with a point between them; empty ones are left out."""
    return signs(" · ").join(filter(None, parts))


def in_line(text: str) -> str:
    """Return somebody's text as one safe line of whatever length."""
    return safe_text(text, multiline=False)


def short(value: Any) -> str:
    """Return a JSON value in one safe line of at most 300 cells; a text without letters in quotation marks."""
    return shortened(written(value))


def written(value: Any) -> str:
    """Return a JSON value as text, not safe yet; a text without letters in quotation marks."""
    return value if isinstance(value, str) and value.strip() else json.dumps(value, ensure_ascii=False)


def shortened(text: str) -> str:
    """Return a text in one safe line of at most 300 cells."""
    return one_line(in_line(text[: 4 * SHORT]), SHORT)
