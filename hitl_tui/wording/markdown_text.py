"""Markdown that others wrote, as text with styles: nothing of it is lost but its marks, and no link is hidden. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from hitl_tui.core.safe_text import cell_width
from hitl_tui.terminal.ascii_signs import signs
from hitl_tui.wording.rows import StyledText, assembled

_HEADING = re.compile(r" {0,3}#{1,6} +(?P<said>.*?)(?: +#+)? *$")
_FENCE = re.compile(r" {0,3}(?P<marks>`{3,}|~{3,})[^`]*$")
_ITEM = re.compile(r"(?P<indent> *)[-*+] +(?=\S)")
_RULE = re.compile(r" {0,3}\|?(?: *:?-+:? *\|)+(?: *:?-+:? *)?")
_CELLS = re.compile(r"(?<!\\)\|")
_EDGES = re.compile(r"^\||(?<!\\)\|$")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_INLINE = re.compile(
    r"\*\*(?P<bold>[^\s*](?:[^*\n]*[^\s*])?)\*\*|`(?P<code>[^`\n]+)`|(?<!!)\[(?P<link>[^\]\n]+)\]\((?P<to>[^\s()]+)\)"
    r"|(?<![\w*\\])\*(?P<italic>(?! )(?:\\.|[^*\n\\])+)(?<! )\*(?![\w*])"
)
_MARKS = re.compile(r"^ {0,3}#{1,6} +\S|^ {0,3}`{3}|\*\*[^\s*][^*\n]*\*\*|(?<!!)\[[^\]\n]+\]\([^\s()]+\)", re.MULTILINE)


def is_markdown(text: str) -> bool:
    """Return whether a text of several lines has headings, blocks of code, bold words or links."""
    return "\n" in text and bool(_MARKS.search(text))


def rendered_markdown(text: str) -> StyledText:
    """Return Markdown as people read it: headings and bold words bold, items with a point, links with where they go.

    The columns of a table stand below each other.

    Args:
        text: safe.
    """
    parts: list[tuple[str, str]] = []
    fence = ""
    lines, shown = text.split("\n"), 0
    for number, line in enumerate(lines):
        if number < shown:
            continue
        marks = _FENCE.match(line)
        if marks and (not fence or (line.strip().startswith(fence) and not line.strip(" `~"))):
            fence = "" if fence else marks["marks"]
            continue
        if parts:
            parts.append(("\n", ""))
        if fence:
            parts.append((line, "$text-primary"))
        elif size := _table_size(lines, number):
            parts += _table(lines[number : number + size])
            shown = number + size
        elif heading := _HEADING.match(line):
            parts += ((said, "bold") for said, _ in _inline(heading["said"]))
        else:
            item = _ITEM.match(line)
            parts += [(item["indent"] + signs("• "), "")] if item else []
            parts += _inline(line[item.end() :] if item else line)
    return assembled(*parts)


def _table_size(lines: Sequence[str], number: int) -> int:
    """Return how many lines a table has that begins at one of them; 0 where none does."""
    if "|" not in lines[number] or number + 1 == len(lines) or not _RULE.fullmatch(lines[number + 1]):
        return 0
    return next((n for n, line in enumerate(lines[number:]) if "|" not in line), len(lines) - number)


def _table(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    rows = [[list(_inline(cell.strip())) for cell in _CELLS.split(_EDGES.sub("", line.strip()))] for line in lines]
    del rows[1]
    sizes = [[sum(cell_width(said) for said, _ in cell) for cell in row] for row in rows]
    widths = [max(column) for column in zip_longest(*sizes, fillvalue=0)]
    for number, (row, size) in enumerate(zip(rows, sizes, strict=True)):
        if number:
            yield "\n", ""
        for n, cell in enumerate(row):
            yield from ((said, style or ("" if number else "bold")) for said, style in cell)
            if n + 1 < len(row):
                yield " " * (widths[n] - size[n] + 2), ""
        if not number:
            yield "\n" + signs("─") * (sum(widths) + 2 * (len(widths) - 1)), ""


def _inline(line: str) -> Iterator[tuple[str, str]]:
    begin = 0
    for found in _INLINE.finditer(line):
        yield _said(line[begin : found.start()]), ""
        if found["bold"]:
            yield _said(found["bold"]), "bold"
        elif found["italic"]:
            yield _said(found["italic"]), "italic"
        elif found["code"]:
            yield found["code"], "$text-primary"
        else:
            yield f"{_said(found['link'])} ({found['to']})", ""
        begin = found.end()
    yield _said(line[begin:]), ""


def _said(text: str) -> str:
    """Return text as it reads: a mark that a backslash makes a plain character is one."""
    return _ESCAPED.sub(r"\1", text)
