"""Questions that count or list: how many documents mention a name, and which lines have a mark such as TODO."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Sequence

from hitl_tui.teams.search.query_terms import Term
from hitl_tui.teams.search.tokens import normalise, phrase_tokens

_COUNTS = re.compile(r"\b(?:how many|number of|count)\b|몇\s?(?:개|건|곳|군데|편|장)|개수|세어", re.IGNORECASE)
_LISTS = re.compile(r"\b(?:list|which)\b|목록|나열|모두|전부|모든", re.IGNORECASE)
_FILES = re.compile(
    r"\b(?:docs?|documents?|files?|pages?|runbooks?|guides?|manuals?|notes?)\b|문서|파일|런북|페이지|가이드|안내서",
    re.IGNORECASE,
)
_MENTION = re.compile(
    r"\b(?:mention|about|contain|cover|describe|refer|deal with)|언급|관한|대한|다루|나오는", re.IGNORECASE
)
_LITERAL = re.compile(r"\b(?:TODO|FIXME|XXX|HACK|[A-Z]+_[A-Z_]+)\b|[\"“`「]([^\"”`」\n]{2,60})[\"”`」]")


def counted_word(question: str, terms: Sequence[Term]) -> str:
    """Return the word of which a question wants a count or a list of where it stands; empty for other questions."""
    if not (_COUNTS.search(question) or _LISTS.search(question)):
        return ""
    if literal := _LITERAL.search(question):
        return literal[1] or literal[0]
    if not (_FILES.search(question) and _MENTION.search(question)):
        return ""
    names = [t for t in terms if not _FILES.fullmatch(t.surface) and not _MENTION.match(t.surface)]
    return max(names, key=lambda term: term.telling).surface if names else ""


def asks_for_lines(question: str) -> bool:
    """Return whether lines are wanted rather than the files they are in."""
    return _FILES.search(question) is None or _MENTION.search(question) is None


def lines_with(db: sqlite3.Connection, literal: str, named: Sequence[int]) -> Iterator[tuple[str, int, str]]:
    """Yield path, number and text of the lines that have a word; in capitals only as it is written.

    Args:
        db: the store.
        literal: the word, or words side by side.
        named: files to look in; all where there are none.
    """
    how = re.IGNORECASE if literal != literal.upper() else 0
    wanted = re.compile(rf"(?<!\w){re.escape(literal)}" + (r"(?!\w)" if literal == literal.upper() else ""), how)
    rows = db.execute(
        "SELECT path, parts FROM words JOIN windows ON windows.id = words.rowid JOIN files ON files.id = windows.file"
        " WHERE words MATCH ? AND (? OR file IN (SELECT value FROM json_each(?))) ORDER BY path, windows.id",
        (f'"{phrase_tokens(normalise(literal))}"', not named, json.dumps(list(named))),
    )
    for path, parts in rows:
        seen = False
        for first, last, text in json.loads(parts):
            lines = text.split("\n") if text.count("\n") == last - first else [text]
            for number, line in enumerate(lines, start=first):
                if wanted.search(line):
                    seen = True
                    yield path, number, line.strip()
        if not seen and how and json.loads(parts):
            # It stands in a heading, or in the file's name.
            first, _, text = json.loads(parts)[0]
            yield path, first, text.split("\n")[0].strip()
