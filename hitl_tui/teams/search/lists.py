"""What documents and folders consist of, and which list of that has all of what a question asks for, or counts."""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import PurePosixPath
from typing import NamedTuple

from hitl_tui.meaning.encoder import answering, likenesses
from hitl_tui.meaning.expressions import Expressions, word_file
from hitl_tui.tables.files import SUFFIXES
from hitl_tui.teams.search.index_refresh import paths_of
from hitl_tui.teams.search.listing import HOW_MANY, lines_in
from hitl_tui.teams.search.ranking import Asked, Window, file_title
from hitl_tui.teams.search.tokens import index_tokens

_WORDS = Expressions(word_file(__package__, "words.toml")["lists"])
_SHAPES = dict(_WORDS.rows["shapes"])
"""How lines look that are items of a list by themselves; `named` and `block` have something set in below them."""
_LOOSE = ("option", "title", "named", "block")
"""Kinds whose items may go on in lines that look otherwise."""
_FEWEST, _MOST, _SHORT = 2, 1_000, 100
"""Items of a list, and characters of a line that is one."""
_TOLD, _BEFORE = 300, 4
"""Characters and lines of what stands above a list."""
WHOLE_CHARS = 3_000
"""What is told as a whole is no longer than that."""
_NEAR, _AROUND, _FILES, _COMPARED, _JUDGED = 8, 40, 3, 60, 10
"""Windows near which lists are looked for, how many around them, files that are looked through as a whole, and lists of
which the meaning is compared, and that are judged."""
_NAMES, _SOME = 0.6, 50
"""How much a word says at least by which some items of a list are meant; and items that are as good as more."""
WORDS: Mapping[str, float] = {
    "share": 0.4,
    "heading_share": 1.2,
    "all": 0.2,
    "rank": 1.2,
    "many": 0.65,
    "item": -0.6,
    "key": -0.3,
    "option": 1.2,
    "row": 1.1,
    "line": -1.2,
    "block": -0.3,
    "said": -0.2,
    "beside": -1.5,
    "": -26.0,
}
MEANT: Mapping[str, float] = {**WORDS, "like": 1.3, "lead": 0.8}
_ANSWER, _UNJUDGED = 25.0, 0.78
"""What each part of a list weighs: its words, what it means, and how well it answers; and what that is mostly."""
_NUMBER = re.compile(r"\d|$")
Line = tuple[int, int, str]
"""First and last line of what stands together, and its text."""
Row = tuple[int, str, list[Line]]
"""Page, headings and blocks of a window."""


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
    def told(self) -> str:
        """What says of what it is a list."""
        if self.kind == "folder":
            return self.heading.replace("/", " ")
        above = f"{self.above}\n{self.lead[2]}"[-_TOLD:].strip()
        return f"{file_title(self.path)} {self.title}: {above}"

    @property
    def title(self) -> str:
        """The headings next above it, of which one may be the head of a table."""
        return " ".join(self.heading.split(" > ")[-1 - (self.kind == "row") :])


def _begin(text: str) -> str:
    """Return the first line of an item that has a word."""
    return next((line for line in text.split("\n") if any(map(str.isalnum, line))), text)[:_SHORT]


def blocks_of(db: sqlite3.Connection, path: str) -> list[Row]:
    """Return the windows of a file: page, headings, and of each block its first and last line and its text."""
    rows = db.execute(
        "SELECT page, heading, parts FROM windows JOIN files ON files.id = file WHERE path = ? ORDER BY windows.id",
        (path,),
    )
    return [(page, heading, [tuple(part) for part in json.loads(parts)]) for page, heading, parts in rows]


def lists_for(
    db: sqlite3.Connection,
    asked: Asked,
    windows: Sequence[Window],
    named: Sequence[int],
    but: re.Pattern[str] | None = None,
) -> list[List]:
    """Return the lists that may have all of what a question asks for, the likeliest first.

    Args:
        db: the store.
        asked: the question.
        windows: those that answer it, the best first: lists are looked for near them.
        named: ids of the files that it names, which are looked through.
        but: finds what isn't counted where an item begins.
    """
    if not (_WORDS.all.search(asked.text) or (HOW_MANY.search(asked.text) and not _WORDS.bound.search(asked.text))):
        return []
    found = _near(db, asked, windows, named)
    rated = sorted(found, key=lambda one: -_weight(one[1], WORDS))[:_COMPARED]
    likes = likenesses(asked.text, [one.told for one, _ in rated])
    leads = likenesses(asked.text, [one.lead[2][-_TOLD:] for one, _ in rated])
    meant = [
        (one, {**said, "like": like, "lead": lead * bool(one.lead[2])})
        for (one, said), like, lead in zip(rated, likes, leads, strict=True)
    ]
    meant.sort(key=lambda one: -_weight(one[1], MEANT))
    answers = answering(asked.text, [f"{one.told}\n{one.text}" for one, _ in meant[:_JUDGED]])
    judged = [
        replace(
            one, of=len(one.items), items=_those_meant(asked, one, but), odds=_weight(said, MEANT) + _ANSWER * answer
        )
        for (one, said), answer in zip(meant, answers or [_UNJUDGED] * len(meant), strict=False)
    ]
    return sorted(judged, key=lambda one: -one.odds)


def _weight(said: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return sum(value * weights.get(name, 0.0) for name, value in said.items())


def _near(
    db: sqlite3.Connection, asked: Asked, windows: Sequence[Window], named: Sequence[int]
) -> Iterator[tuple[List, dict[str, float]]]:
    """Yield the lists in the files that a question names and near some windows, with what their words say."""
    ids = json.dumps(list(named[:_FILES]))
    paths = [
        path for (path,) in db.execute("SELECT path FROM files WHERE id IN (SELECT value FROM json_each(?))", (ids,))
    ]
    near = list(enumerate(windows[:_NEAR]))
    for path in dict.fromkeys([*paths, *(window.path for _, window in near)]):
        if SUFFIXES.get(PurePosixPath(path).suffix.lower()) == "csv":  # a table is asked another way
            continue
        rows = blocks_of(db, path)
        places = [(window.page, window.parts[0][0], window.parts[-1][1]) for _, window in near if window.path == path]
        at = [
            n
            for n, (page, _, parts) in enumerate(rows)
            if any(_meet(page, parts[0][0], parts[-1][1], p) for p in places)
        ]
        some = rows if path in paths or not at else rows[max(0, at[0] - _AROUND) : at[-1] + _AROUND]
        for one in (*lists_in(some), *_sections(rows)):
            ranks = [
                rank
                for rank, window in near
                if window.path == path
                if _meet(one.page, one.first, one.last, (window.page, window.parts[0][0], window.parts[-1][1]))
                or one.heading == window.heading
            ]
            if ranks or path in paths or len(rows) <= _AROUND or asked.share(f" {index_tokens(one.title)} "):
                one = replace(one, path=path)
                yield one, _words(asked, one, one.title, ranks)
    for one in () if named else folders_in(paths_of(db)):
        name = one.heading.rpartition("/")[2]
        if asked.share(f" {index_tokens(name)} "):
            ranks = [rank for rank, window in near if window.path.startswith(f"{one.heading}/")]
            yield one, _words(asked, one, name, ranks)


def _meet(page: int, first: int, last: int, place: tuple[int, int, int]) -> bool:
    return page == place[0] and first <= place[2] and place[1] <= last


def _words(asked: Asked, one: List, title: str, ranks: Sequence[int]) -> dict[str, float]:
    told = f" {index_tokens(one.told)} "
    headings = [text for *_, text in one.items[:_SOME] if one.kind == "section"]
    return {
        "share": asked.share(told),
        "heading_share": asked.share(f" {index_tokens(title)} "),
        "all": asked.share(told + f" {index_tokens(one.text[:WHOLE_CHARS])} "),
        "rank": 1 / (1 + min(ranks)) if ranks else 0.0,
        "beside": max((asked.share(f" {index_tokens(heading)} ") for heading in headings), default=0.0),
        "many": math.log(min(len(one.items), _SOME)),
        one.kind: 1.0,
        "": 1.0,
    }


def _those_meant(asked: Asked, one: List, but: re.Pattern[str] | None) -> tuple[Line, ...]:
    """Return those items of a list that have what the question names as a name or value of theirs, if some have."""
    above, items = f" {index_tokens(one.told)} ", one.items
    for term in asked.terms:
        if term.telling >= _NAMES and not asked.has(above, term):
            value = re.compile(
                rf"(?:^|[:=|'\"`(\[,*-])\s*['\"`*]*{re.escape(term.surface)}(?!\w)", re.IGNORECASE | re.MULTILINE
            )
            having = tuple(item for item in items if value.search(item[2]))
            items = having if len(having) >= _FEWEST else items
    return tuple(item for item in items if not (but and but.match(item[2]))) or items


def lists_in(rows: Sequence[Row]) -> Iterator[List]:
    """Yield what windows list: lines that look alike and stand equally deep, and what sentences list with commas."""
    for (page, heading), some in groupby(rows, key=itemgetter(0, 1)):
        parts = [part for *_, parts in some for part in parts]
        lines = [_Deep.of(line) for part in parts for line in _lines(part) if line[2].strip()]
        plain = [line for line in lines if not line.comment]
        seen: set[tuple[Line, ...]] = set()
        for kind in (*_SHAPES, "named", "block", "line"):
            for found in (lines, plain) if len(plain) < len(lines) else (lines,):
                for one in _alike(page, heading, kind, found):
                    if one.items not in seen:
                        seen.add(one.items)
                        yield one
        for part in parts:
            yield from _said(page, heading, part)


def _lines(part: Line) -> list[Line]:
    lines = lines_in(part)
    return [part] if len(lines) == 1 else [(at, at, text) for at, text in lines]


class _Deep(NamedTuple):
    """A line of a text, how deep it stands, and whether it is a comment, or only closes something."""

    line: Line
    depth: int
    comment: bool
    closes: bool

    @classmethod
    def of(cls, line: Line) -> _Deep:
        text = line[2].expandtabs()
        item = _SHAPES["item"].match(text)
        dots = item[1].strip().rstrip(".").count(".") if item and item[1] else 0  # 4.2. stands below 4
        comment = not item and _WORDS.comment.match(text) is not None
        return cls(line, len(text) - len(text.lstrip()) + dots, comment, _WORDS.closes.match(text) is not None)


def _look(kind: str, lines: Sequence[_Deep], at: int) -> str:
    """Return by what a line is an item of a kind: its lines have the same; empty where it is none."""
    (_, _, text), depth, comment, closes = lines[at]
    if kind in _SHAPES:
        return kind if _SHAPES[kind].match(text) else ""
    if comment or closes:
        return ""
    if kind == "line":
        return kind if len(text) <= _SHORT and not (_WORDS.sentence.search(text) or _SHAPES["item"].match(text)) else ""
    below = at + 1 < len(lines) and lines[at + 1].depth > depth
    word = _WORDS.word.match(text) if below and kind == "named" else None
    return (word[0].strip() if word else "") if kind == "named" else kind * below


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
        if kind == "row" and index_tokens(items[0][2]) in index_tokens(heading):
            items = items[1:]  # the head of a table
        before = starts[0] - 1
        lead = before if before >= max(parent, 0) and not lines[before].closes else parent
        above = {parent, *range(max(parent, starts[0] - _BEFORE, 0), starts[0])} - {lead, -1}
        if _FEWEST <= len(items) <= _MOST:
            told = "\n".join(lines[n].line[2] for n in sorted(above))[-_TOLD:]
            yield List(page, heading, kind, tuple(items), lines[lead].line if lead >= 0 else (0, 0, ""), told)

    for at, (line, depth, comment, closes) in enumerate(lines):
        look = _look(kind, lines, at)
        while opened and opened[-1][0] > depth:
            yield from close(at)
        while outer and lines[outer[-1]].depth >= depth:
            outer.pop()
        gap = kind == "line" and at and line[0] - lines[at - 1].line[1] > 1
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
    for clause in () if _SHAPES["row"].match(text) else _WORDS.clause.finditer(text):
        names = [name for name in _WORDS.comma.split(clause[0]) if name.strip()]
        if len(names) > _FEWEST and all(len(name) < _SHORT for name in names[1:-1]):
            begin = max(text.rfind(mark, 0, clause.start()) + 1 for mark in (". ", "。", "? ", "! "))
            lead = (*part[:2], text[begin : clause.end() + _SHORT].strip())
            items = tuple((*part[:2], name) for name in names)
            yield List(page, heading, "said", items, lead, text[:begin][-_TOLD:])


def _sections(rows: Sequence[Row]) -> Iterator[List]:
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
