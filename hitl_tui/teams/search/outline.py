"""The outline of a section: where a question asks for all that it says, and not for one passage of it."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hitl_tui.meaning.encoder import likenesses

_BELOW = " > "
_BEST, _MOST_OF_THEM = 5, 3
"""Passages that are looked at, and how many of them are parts of the section."""
_AS_LIKE = 0.9
"""How much its heading is like the question, beside that of its parts which is most."""
_ONE_THING = re.compile(
    r"\b(?:when|who(?:m|se)?|where|which|how (?!to|do|does|did|can|could|should|would|is|are|was|were)\w+)\b"
    r"|몇|언제|누[구가]|얼마|어디",
    re.IGNORECASE,
)
"""Asks for one thing that a passage says: nothing has to be read as a whole for that."""
_FEWEST, _MOST = 3, 12
"""Parts that a section has which is worth an outline."""


@dataclass(frozen=True, slots=True)
class Outline:
    """A section of a document with the headings of its parts.

    Args:
        path: file relative to the folder, forward slashes.
        heading: its own.
        parts: line and heading of each part, in the document's order.
    """

    path: str
    heading: str
    parts: tuple[tuple[int, str], ...]

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> Outline:
        """Return what `asdict` made JSON of."""
        return cls(**{**kept, "parts": tuple((line, heading) for line, heading in kept["parts"])})


def outline_of(db: sqlite3.Connection, question: str, places: Sequence[tuple[str, str]]) -> Outline | None:
    """Return the outline of the section that most of the best passages are parts of, and whose heading is the answer's.

    Args:
        db: the store; the caller holds a read transaction.
        question: the question, as written.
        places: file and headings of what was found, best first.
    """
    if _ONE_THING.search(question):
        return None
    sections = Counter((path, below.rpartition(_BELOW)[0]) for path, below in places[:_BEST] if _BELOW in below)
    (path, heading), count = max(sections.items(), key=lambda item: item[1], default=(("", ""), 0))
    parts = _parts(db, path, heading) if count >= _MOST_OF_THEM else {}
    if not _FEWEST <= len(parts) <= _MOST:
        return None
    own = heading.rpartition(_BELOW)[2]
    like, *others = likenesses(question, [own, *parts])
    if like < _AS_LIKE * max(others):
        return None
    return Outline(path, own, tuple((line, part) for part, line in parts.items()))


def _parts(db: sqlite3.Connection, path: str, heading: str) -> dict[str, int]:
    """Return the headings right below a heading, each with its first line."""
    found: dict[str, int] = {}
    rows = db.execute(
        "SELECT heading, parts FROM windows JOIN files ON files.id = windows.file WHERE path = ? ORDER BY windows.id",
        (path,),
    )
    for below, parts in rows:
        if below.startswith(heading + _BELOW):
            found.setdefault(below[len(heading + _BELOW) :].partition(_BELOW)[0], json.loads(parts)[0][0])
    return found
