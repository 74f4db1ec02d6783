"""What documents and folders list: lines that look alike, sections below a heading, names between commas, files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter
from typing import NamedTuple

_SHAPES = {
    "item": re.compile(r"\s*(?:[-*+•·]\s(\d{1,3}(?:\.\d{1,3})*\.\s)?|\d{1,3}[.)]\s)"),
    "row": re.compile(r"\s*\||.*\S \| \S"),
    "key": re.compile(r"\s*(?:- )?[\"']?[\w.$/@-]+[\"']?\s?(?::|=>?|\?=)(?=\s|$)"),
    "option": re.compile(r"\s*(?:-[\w?]\b|--\w[\w-]*|/[A-Z?]\b)"),
    "title": re.compile(r"\s*\[+[^\]]+\]+\s*$|BEGIN:V(?!CALENDAR)\w+"),
}
"""How lines look that are items of a list by themselves; others have something set in below them."""
_CLOSES = re.compile(r"\W*$|\s*(?:end|fi|done|esac)\b")
_COMMENT = re.compile(r"\s*(?:#(?![A-Za-z])|//|;|--\s|/?\*+(?:\s|/|$)|\"\s|<!--)")
_SENTENCE = re.compile(r"[\w)][.。:：]\s*$")
"""How a line looks that only closes something, says something of others, or is a sentence."""
_NAMES = {
    "typed": re.compile(r"\s*[^\W\d][\w-]*\s+[^\W\d][\w-]*"),
    "named": re.compile(r"\s*[\"<]?[^\W\d][\w-]*"),
}
"""With what lines begin that are alike in it: `object Lamp`, `class`."""
_CLAUSE = re.compile(r"(?:[^;:.!?()\[\]{}=。]|[.:](?=\S)|\([^()]{0,40}\))+")
_COMMA = re.compile(r"\s*(?:[,、·|]|(?<=\s)(?:and|or|및|또는|그리고)(?=\s)|(?<=\S)와(?=\s))\s*", re.IGNORECASE)
"""What names stand in, and what stands between them."""
_LOOSE = ("option", "title", "typed", "named", "block")
"""Kinds whose items may go on in lines that look otherwise."""
_FEWEST, _MOST, _SHORT = 2, 1_000, 100
"""Items of a list, and characters of a line that is one."""
_TOLD, _BEFORE = 300, 4
"""Characters and lines of what stands above a list."""
WHOLE_CHARS = 3_000
"""What is told as a whole is no longer than that."""
_NUMBER, _NO_WORD = re.compile(r"\d|$"), re.compile(r"[\s|]+")
Line = tuple[int, int, str]
"""First and last line of what stands together, and its text."""
Row = tuple[int, str, list[Line]]
"""Page and headings of blocks that follow one another, and these."""


@dataclass(frozen=True, slots=True)
class List:
    """The items of a list, the sections below a heading, or what is in a folder.

    Args:
        page, heading: where it stands.
        kind: how its items look: one of the shapes, `line`, `said` in a sentence, `section` or `folder`.
        items: first and last line of each, and its text.
        lead: what announces it.
        above: what stands above that below the same heading.
        of: how many items it has in all.
        odds: how likely it is meant, in log-odds.
        path: its file, or the first one of a folder.
    """

    page: int
    heading: str
    kind: str
    items: tuple[Line, ...]
    lead: Line = (0, 0, "")
    above: str = ""
    of: int = 0
    odds: float = 0.0
    path: str = ""

    @property
    def first(self) -> int:
        return self.lead[0] or self.items[0][0]

    @property
    def last(self) -> int:
        return self.items[-1][1]

    @property
    def text(self) -> str:
        """What announces it, and its items, each in a line; of long ones the beginnings."""
        if self.kind == "said":
            return self.lead[2]
        whole, begins = (
            "\n".join([self.lead[2].strip(), *(" ".join(one.split()) for one in items)]).strip()
            for items in ([text for *_, text in self.items], [_begin(text) for *_, text in self.items])
        )
        return whole if len(whole) <= WHOLE_CHARS else begins[:WHOLE_CHARS]

    @property
    def title(self) -> str:
        """The headings next above it, of which one may be the head of a table."""
        return " ".join(self.heading.split(" > ")[-1 - (self.kind == "row") :])


def _begin(text: str) -> str:
    """Return the first line of an item that has a word."""
    return next((line for line in text.split("\n") if any(map(str.isalnum, line))), text)[:_SHORT]


def lists_in(rows: Sequence[Row]) -> Iterator[List]:
    """Yield what windows list: lines that look alike and stand equally deep, and what sentences list with commas."""
    for (page, heading), some in groupby(rows, key=itemgetter(0, 1)):
        parts = [part for *_, parts in some for part in parts]
        read = [line for part in parts for line in _lines(part) if line[2].strip()]
        lines = [_Deep.of(line, last) for last, line in pairwise([*read[:1], *read])]
        plain = [line for line in lines if not line.comment]
        seen: set[tuple[Line, ...]] = set()
        for kind in (*_SHAPES, *_NAMES, "block", "line"):
            for found in (lines, plain) if len(plain) < len(lines) else (lines,):
                for one in _alike(page, heading, kind, found):
                    if one.items not in seen:
                        seen.add(one.items)
                        yield one
        for part in parts:
            yield from _said(page, heading, part)


def _lines(part: Line) -> list[Line]:
    """Return the lines of a block; one that doesn't keep them is a single one."""
    lines = part[2].split("\n")
    kept = part[1] > part[0] and len(lines) == part[1] - part[0] + 1
    return [(at, at, text) for at, text in enumerate(lines, part[0])] if kept else [part]


class _Deep(NamedTuple):
    """A line of a text, how deep it stands, and whether it is a comment, only closes something, or follows a gap."""

    line: Line
    depth: int
    comment: bool
    closes: bool
    apart: bool

    @classmethod
    def of(cls, line: Line, last: Line) -> _Deep:
        text = line[2].expandtabs()
        item = _SHAPES["item"].match(text)
        dots = item[1].strip().rstrip(".").count(".") if item and item[1] else 0  # 4.2. stands below 4
        comment = not item and _COMMENT.match(text) is not None
        depth, closes = len(text) - len(text.lstrip()) + dots, _CLOSES.match(text) is not None
        return cls(line, depth, comment, closes, line[0] - last[1] > 1)


def _look(kind: str, lines: Sequence[_Deep], at: int) -> str:
    """Return by what a line is an item of a kind: its lines have the same; empty where it is none."""
    (_, _, text), depth, comment, closes, _ = lines[at]
    if kind in _SHAPES:
        return kind if _SHAPES[kind].match(text) else ""
    if comment or closes:
        return ""
    if kind == "line":
        return kind if len(text) <= _SHORT and not (_SENTENCE.search(text) or _SHAPES["item"].match(text)) else ""
    below = at + 1 < len(lines) and lines[at + 1].depth > depth
    if not below or kind == "block":
        return kind * below
    return name[0].strip() if (name := _NAMES[kind].match(text)) else ""


def _alike(page: int, heading: str, kind: str, lines: Sequence[_Deep]) -> Iterator[List]:
    """Yield the lines of one kind that follow one another equally deep, each with what is set in below it."""
    opened: list[tuple[int, str, list[int], int]] = []
    outer: list[int] = []

    def close(end: int) -> Iterator[List]:
        _, _, starts, parent = opened.pop()
        items = [
            (lines[a].line[0], lines[b - 1].line[1], "\n".join(one.line[2] for one in lines[a:b]))
            for a, b in pairwise([*starts, end])
        ]
        if kind == "row" and _NO_WORD.sub(" ", items[0][2]).strip()[:_SHORT] in heading:
            items = items[1:]  # the head of a table
        before = starts[0] - 1
        lead = before if before >= max(parent, 0) and not lines[before].closes else parent
        above = {parent, *range(max(parent, starts[0] - _BEFORE, 0), starts[0])} - {lead, -1}
        if _FEWEST <= len(items) <= _MOST:
            told = "\n".join(lines[n].line[2] for n in sorted(above))[-_TOLD:]
            yield List(page, heading, kind, tuple(items), lines[lead].line if lead >= 0 else (0, 0, ""), told)

    for at, (_, depth, comment, closes, apart) in enumerate(lines):
        look = _look(kind, lines, at)
        while opened and opened[-1][0] > depth:
            yield from close(at)
        while outer and lines[outer[-1]].depth >= depth:
            outer.pop()
        gap = kind == "line" and apart
        if opened and opened[-1][0] == depth:
            if look == opened[-1][1] and not gap:
                opened[-1][2].append(at)
            elif comment or gap or not (kind in _LOOSE or closes):
                yield from close(at)
        if look and not (opened and opened[-1][0] == depth):
            opened.append((depth, look, [at], outer[-1] if outer else -1))
        outer.append(at)
    while opened:
        yield from close(len(lines))


def _said(page: int, heading: str, part: Line) -> Iterator[List]:
    """Yield what clauses list with commas."""
    text = " ".join(part[2].split())
    for clause in () if _SHAPES["row"].match(text) else _CLAUSE.finditer(text):
        names = [name for name in _COMMA.split(clause[0]) if name.strip()]
        if len(names) > _FEWEST and all(len(name) < _SHORT for name in names[1:-1]):
            begin = max(text.rfind(mark, 0, clause.start()) + 1 for mark in (". ", "。", "? ", "! "))
            lead = (*part[:2], text[begin : clause.end() + _SHORT].strip())
            items = tuple((*part[:2], name) for name in names)
            yield List(page, heading, "said", items, lead, text[:begin][-_TOLD:])


def sections_in(rows: Sequence[Row]) -> Iterator[List]:
    """Yield the headings that stand next below another one, or at the top, as items."""
    below: dict[tuple[int, str], dict[str, Line]] = {}
    for page, heading, parts in rows:
        names = heading.split(" > ") if heading else []
        for depth, name in enumerate(names):
            children = below.setdefault((page, " > ".join(names[:depth])), {})
            children[name] = (children.get(name, parts[0])[0], parts[-1][1], f"- {name}")
    for (page, heading), children in below.items():
        alike: dict[str, list[Line]] = {}
        for name, child in children.items():
            alike.setdefault(_NUMBER.split(name)[0].strip(), []).append(child)
        for items in (children.values(), *(alike.values() if len(alike) > 1 else ())):
            if _FEWEST <= len(items) <= _MOST:
                yield List(page, heading, "section", tuple(items))


def folders_in(paths: Sequence[str]) -> Iterator[List]:
    """Yield folders as lists of the files and folders that stand in them."""
    below: dict[str, dict[str, str]] = {}
    for path in paths:
        parts = path.split("/")
        for depth in range(1, len(parts)):
            name = parts[depth] + "/" * (depth + 1 < len(parts))
            below.setdefault("/".join(parts[:depth]), {}).setdefault(name, path)
    for folder, names in below.items():
        if _FEWEST <= len(names) <= _MOST:
            items = tuple((1, 1, f"- {name}") for name in names)
            yield List(0, folder, "folder", items, path=next(iter(names.values())))
