"""Documents that a question names: they are searched first, and their names are no words to look for."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass

_NAME = re.compile(r"(?<![\w./\\-])(?:\./)?(?P<name>[\w./-]{0,200}\w\.[A-Za-z0-9]{1,8})(?![A-Za-z0-9_/-])[가-힣]{0,4}")
_MOST = 8


@dataclass(frozen=True, slots=True)
class Named:
    """What a question names.

    Args:
        files: ids of the indexed files, in the order of the question.
        rest: the question without their names, at the same length.
    """

    files: tuple[int, ...]
    rest: str


def named_in(db: sqlite3.Connection, question: str) -> Named:
    """Return the indexed files that a question names by path or by file name, in upper or lower case.

    Args:
        db: the store; the caller holds a read transaction.
        question: the question, as written.
    """
    found: dict[int, None] = {}
    rest = question
    for match in _NAME.finditer(question):
        if len(found) >= _MOST:
            break
        name = match["name"].casefold()
        rows = db.execute(
            "SELECT id FROM files WHERE reason = '' AND (lower(path) = ? OR lower(path) LIKE ? ESCAPE '!') LIMIT ?",
            (name, "%/" + re.sub("([!%_])", r"!\1", name), _MOST),
        ).fetchall()
        if rows:
            found.update(dict.fromkeys(row[0] for row in rows))
            rest = rest[: match.start()] + " " * len(match.group()) + rest[match.end() :]
    return Named(tuple(found), rest)
