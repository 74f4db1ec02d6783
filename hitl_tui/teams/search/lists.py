"""Questions that ask for all of something, or how many there are: the list in a document that has it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from hitl_tui.meaning.encoder import likenesses
from hitl_tui.meaning.expressions import Expressions, word_file
from hitl_tui.teams.search.listing import HOW_MANY, lines_in
from hitl_tui.teams.search.ranking import Asked, Window, file_title
from hitl_tui.teams.search.tokens import index_tokens

_WORDS = Expressions(word_file(__package__, "words.toml")["lists"])
_FEWEST, _MOST, _SHORT = 2, 200, 100
"""Items of a list, and characters of a line that is one."""
_TOLD = 300
"""Characters of what stands above a list."""
WHOLE_CHARS = 3_000
"""What is told as a whole is no longer than that."""
_ANSWERS, _IN_THE_BEST = 0.75, 0.25
"""How like a question that is at least, and which part of the question it says, together; and what it counts that the
list is in the best window."""
Row = tuple[int, str, list[tuple[int, int, str]]]
"""Page, headings and blocks of a window."""


@dataclass(frozen=True, slots=True)
class List:
    """The items of a list, or the sections below a heading.

    Args:
        page, heading: where it stands.
        lead: what announces it.
        items: first and last line of each, and its text.
        above: what stands above that below the same heading.
    """

    page: int
    heading: str
    lead: tuple[int, int, str]
    items: tuple[tuple[int, int, str], ...]
    above: str = ""

    @property
    def first(self) -> int:
        return self.lead[0]

    @property
    def last(self) -> int:
        return self.items[-1][1]

    @property
    def text(self) -> str:
        """What announces it, and its items, each in a line; of long ones the beginnings."""
        whole, begins = (
            "\n".join([self.lead[2].strip(), *(" ".join(one.split()) for one in items)]).strip()
            for items in ([text for *_, text in self.items], [text.split("\n")[0] for *_, text in self.items])
        )
        return whole if len(whole) <= WHOLE_CHARS else begins


def blocks_of(db: sqlite3.Connection, path: str) -> list[Row]:
    """Return the windows of a file: page, headings, and of each block its first and last line and its text."""
    rows = db.execute(
        "SELECT page, heading, parts FROM windows JOIN files ON files.id = file WHERE path = ? ORDER BY windows.id",
        (path,),
    )
    return [(page, heading, [tuple(part) for part in json.loads(parts)]) for page, heading, parts in rows]


def list_for(db: sqlite3.Connection, asked: Asked, windows: Sequence[Window]) -> tuple[Window, List] | None:
    """Return the list that has all of what a question asks for, in one of some windows, the best first."""
    counts = HOW_MANY.search(asked.text) and not _WORDS.bound.search(asked.text)
    if not (counts or _WORDS.all.search(asked.text)):
        return None
    found: list[tuple[Window, List, str]] = []
    for window in windows:
        rows = blocks_of(db, window.path)
        begins, ends = window.parts[0][0], window.parts[-1][1]
        near = [one for one in _bulleted(rows) if one.first <= ends and begins <= one.last]
        if window is windows[0]:
            near += [one for one in _sections(rows) if one.heading == window.heading]
            near += _lines(rows) if HOW_MANY.search(asked.text) else ()
        found += [(window, one, _told(window, one)) for one in near if one.page == window.page]
    likes = likenesses(asked.text, [told for _, _, told in found])
    rated = [
        (like + asked.share(f" {index_tokens(told)} ") + (window is windows[0]) * _IN_THE_BEST, -at)
        for at, (like, (window, _, told)) in enumerate(zip(likes, found, strict=True))
    ]
    rate, at = max(rated, default=(0.0, 0))
    return found[-at][:2] if rate >= _ANSWERS else None


def _told(window: Window, one: List) -> str:
    heading = f"{file_title(window.path)} {one.heading.rpartition(' > ')[2]}: "
    return heading + f"{one.above}\n{one.lead[2]}"[-_TOLD:].strip()


def _bulleted(rows: Sequence[Row]) -> Iterator[List]:
    """Yield the lists of a file: items of one indentation with what is set in below them, and lists within an item."""
    for (page, heading), some in groupby(rows, key=itemgetter(0, 1)):
        lead: tuple[int, int, str] = (0, 0, "")
        items: list[tuple[int, int, str]] = []
        inner: list[tuple[int, int, str]] = []
        above, indent, deeper = "", 0, 0
        last = lead
        for part in (part for *_, parts in some for part in parts):
            item = _WORDS.item.match(part[2])
            depth = len(part[2]) - len(part[2].lstrip()) + (_dots(item[1]) if item and item[1] else 0)
            if items and depth > indent:
                items[-1] = (items[-1][0], part[1], f"{items[-1][2]}\n{part[2]}")
                if item and (not inner or depth == deeper):
                    inner.append(part)
                    deeper = depth
                continue
            yield from _long_enough(page, heading, last, inner)
            inner, last = [], part
            if item and (not items or depth == indent):
                items.append(part)
                indent = depth
                continue
            yield from _long_enough(page, heading, lead, items, above)
            above = "" if items else f"{above}\n{lead[2]}"[-_TOLD:]
            lead, items = part, []
            if item:
                lead, items, indent = (0, 0, ""), [part], depth
        yield from _long_enough(page, heading, last, inner)
        yield from _long_enough(page, heading, lead, items, above)


def _dots(number: str) -> int:
    """Return how deep a numbered heading stands: 4.2. below 4."""
    return number.strip().rstrip(".").count(".")


def _long_enough(
    page: int, heading: str, lead: tuple[int, int, str], items: Sequence[tuple[int, int, str]], above: str = ""
) -> Iterator[List]:
    if _FEWEST <= len(items) <= _MOST:
        first = items[0][0]
        yield List(page, heading, lead if lead[2] else (first, first, ""), tuple(items), above)


def _sections(rows: Sequence[Row]) -> Iterator[List]:
    """Yield the headings that stand next below another one, as items."""
    below: dict[tuple[int, str], dict[str, tuple[int, int]]] = {}
    for page, heading, parts in rows:
        names = heading.split(" > ")
        for depth in range(1, len(names)):
            children = below.setdefault((page, " > ".join(names[:depth])), {})
            first, _ = children.get(names[depth], (parts[0][0], 0))
            children[names[depth]] = (first, parts[-1][1])
    for (page, heading), children in below.items():
        items = [(first, last, f"- {name}") for name, (first, last) in children.items()]
        yield from _long_enough(page, heading, (items[0][0], items[0][0], ""), items)


def _lines(rows: Sequence[Row]) -> Iterator[List]:
    """Yield the lines of a file that has nothing but short lines, hardly one of them a sentence."""
    page, heading, _ = rows[0]
    lines = [(at, at, line) for *_, parts in rows for block in parts for at, line in lines_in(block)]
    told = sum(len(line) > _SHORT or line.rstrip().endswith((".", ":")) for _, _, line in lines)
    if 4 * told < len(lines) and not any(heading for _, heading, _ in rows):
        yield from _long_enough(page, heading, (lines[0][0], lines[0][0], ""), lines)
