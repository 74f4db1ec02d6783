"""Questions for all of something, or for how many there are: the lists of documents and folders that have it."""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from hitl_tui.extraction.lists import WHOLE_CHARS, Line, List, Row, folders_in, lists_in, sections_in
from hitl_tui.meaning.encoder import answering, likenesses
from hitl_tui.meaning.expressions import Expressions, word_file
from hitl_tui.tables.files import SUFFIXES
from hitl_tui.teams.search.counted_files import HOW_MANY
from hitl_tui.teams.search.index_refresh import paths_of
from hitl_tui.teams.search.ranking import Asked, Window, file_title
from hitl_tui.teams.search.tokens import padded_tokens

_WORDS = Expressions(word_file(__package__, "words.toml")["lists"])
ALL = _WORDS.all
"""Asks for all of something, and not only for how many there are."""
_TOLD, _FEWEST = 300, 2
"""Characters of what stands above a list, and items that are meant of one."""
_NEAR, _AROUND, _FILES, _COMPARED, _JUDGED = 8, 40, 3, 60, 10
"""Windows near which lists are looked for, how many around them, files that are looked through as a whole, and lists of
which the meaning is compared, and that are judged."""
_LABEL = re.compile(r"\W*(?:\[[ xX]?\]\s*)?([^\W\d][\w ]{0,30}?)\s?[:：]\s")
"""What an item begins with that says of which kind it is: `- TODO: …`."""
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
    if not (ALL.search(asked.text) or (HOW_MANY.search(asked.text) and not _WORDS.bound.search(asked.text))):
        return []
    found = _near(db, asked, windows, named)
    rated = sorted(found, key=lambda one: -_weight(one[1], WORDS))[:_COMPARED]
    likes = likenesses(asked.text, [_told(one) for one, _ in rated])
    leads = likenesses(asked.text, [one.lead[2][-_TOLD:] for one, _ in rated])
    meant = [
        (one, {**said, "like": like, "lead": lead * bool(one.lead[2])})
        for (one, said), like, lead in zip(rated, likes, leads, strict=True)
    ]
    meant.sort(key=lambda one: -_weight(one[1], MEANT))
    answers = answering(asked.text, [f"{_told(one)}\n{one.text}" for one, _ in meant[:_JUDGED]])
    judged = [
        replace(
            one, of=len(one.items), items=_those_meant(asked, one, but), odds=_weight(said, MEANT) + _ANSWER * answer
        )
        for (one, said), answer in zip(meant, answers or [_UNJUDGED] * len(meant), strict=False)
    ]
    inner = [one for one in judged if one.kind != "section"]
    above = [one for one in judged if one.kind == "section" and any(_is_rather(asked, below, one) for below in inner)]
    return sorted((one for one in judged if one not in above), key=lambda one: -one.odds)


def _is_rather(asked: Asked, below: List, sections: List) -> bool:
    """Whether a question names a list below headings, rather than these: it has a word of that which isn't above it."""
    within = (below.path, below.page) == (sections.path, sections.page) and below.heading != sections.heading
    if not (within and below.heading.startswith(sections.heading) and sections.first <= below.first <= sections.last):
        return False
    own, above = padded_tokens(_called(below)), padded_tokens(_told(sections))
    return any(asked.has(own, term) and not asked.has(above, term) for term in asked.terms)


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
        for one in (*lists_in(some), *sections_in(rows)):
            ranks = [
                rank
                for rank, window in near
                if window.path == path
                if _meet(one.page, one.first, one.last, (window.page, window.parts[0][0], window.parts[-1][1]))
                or one.heading == window.heading
            ]
            if ranks or path in paths or len(rows) <= _AROUND or asked.share(padded_tokens(_called(one))):
                one = replace(one, path=path)
                yield one, _words(asked, one, _called(one), ranks)
    for one in () if named else folders_in(paths_of(db)):
        name = one.heading.rpartition("/")[2]
        if asked.share(padded_tokens(name)):
            ranks = [rank for rank, window in near if window.path.startswith(f"{one.heading}/")]
            yield one, _words(asked, one, name, ranks)


def _called(one: List) -> str:
    """Return what a list is called: its heading, and what each of its items begins with, as TODOs do."""
    labels = {label[1].casefold() if (label := _LABEL.match(text)) else "" for *_, text in one.items}
    return " ".join([one.title, *(labels if len(labels) == 1 and len(one.items) >= _FEWEST else ())]).strip()


def _told(one: List) -> str:
    """Return what says of what something is a list."""
    if one.kind == "folder":
        return one.heading.replace("/", " ")
    return f"{file_title(one.path)} {_called(one)}: " + f"{one.above}\n{one.lead[2]}"[-_TOLD:].strip()


def _meet(page: int, first: int, last: int, place: tuple[int, int, int]) -> bool:
    return page == place[0] and first <= place[2] and place[1] <= last


def _words(asked: Asked, one: List, title: str, ranks: Sequence[int]) -> dict[str, float]:
    told = padded_tokens(_told(one))
    headings = [text for *_, text in one.items[:_SOME] if one.kind == "section"]
    return {
        "share": asked.share(told),
        "heading_share": asked.share(padded_tokens(title)),
        "all": asked.share(told + padded_tokens(one.text[:WHOLE_CHARS])),
        "rank": 1 / (1 + min(ranks)) if ranks else 0.0,
        "beside": max((asked.share(padded_tokens(heading)) for heading in headings), default=0.0),
        "many": math.log(min(len(one.items), _SOME)),
        one.kind: 1.0,
        "": 1.0,
    }


def _those_meant(asked: Asked, one: List, but: re.Pattern[str] | None) -> tuple[Line, ...]:
    """Return those items of a list that have what the question names as a name or value of theirs, if some have."""
    above, items = padded_tokens(_told(one)), one.items
    for term in asked.terms:
        if term.telling >= _NAMES and not asked.has(above, term):
            value = re.compile(
                rf"(?:^|[:=|'\"`(\[,*-])\s*['\"`*]*{re.escape(term.surface)}(?!\w)", re.IGNORECASE | re.MULTILINE
            )
            having = tuple(item for item in items if value.search(item[2]))
            items = having if len(having) >= _FEWEST else items
    return tuple(item for item in items if not (but and but.match(item[2]))) or items
