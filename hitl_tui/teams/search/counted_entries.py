"""Questions that count or list what something consists of: the folders of a folder, releases, questions, classes."""

from __future__ import annotations

import re
import sqlite3
from calendar import month_abbr, month_name
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hitl_tui.meaning.expressions import Expressions, word_file
from hitl_tui.teams.search.counted_files import (
    BEGINS,
    HOW_MANY,
    SAYS,
    Counted,
    Line,
    folder_in,
    letters,
    lines_in,
    names,
    says_more,
    telling_words,
)
from hitl_tui.teams.search.index_refresh import paths_of
from hitl_tui.teams.search.query_terms import whole_words
from hitl_tui.teams.search.whole_lists import blocks_of

_WORDS = Expressions(word_file(__package__, "words.toml")["entries"])
_NOUNS, _LINES = _WORDS.rows["nouns"], dict(_WORDS.rows["lines"])
_CODE = ("function", "class_definition")
"""What any line of code may begin."""
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_MONTHS = [f"{name[:3]}(?:{name[3:]})?" for name in month_name[1:]]
_FEWEST, _RULED = 2, 2
"""Entries that a document has at least, and lines of one that may stand below a rule."""


def entries_in(
    db: sqlite3.Connection, question: str, named: Sequence[int], but: re.Pattern[str] | None
) -> tuple[Counted, list[Line]] | None:
    """Return the entries that a question counts or lists, with the line of each; see `files_in`.

    A folder has the line of the first file in it, and its name. None where there are no entries.
    """
    if not named and _WORDS.folders.search(question) and not _WORDS.files_in_all.search(question):
        folders = _folders(paths_of(db), question)
        return _counted("folder", "", *folders, but) if folders else None
    noun = next((noun for noun, words in _NOUNS if words.search(question)), "")
    listed = named and noun in _CODE and _WORDS.all_code.search(question)
    if not noun or not (listed or HOW_MANY.search(question)):
        return None
    year, month = _WORDS.year.search(question), _WORDS.month.search(question)
    series = _WORDS.series.search(question) if noun == "release" else None
    when = _When(year[0] if year else "", _number(month) if year and month else 0, _version(series))
    best: list[Line] = []
    for path in _files(db, question, named, changes=noun == "release"):
        found = [(path, line, text) for line, text, dated in _entries(db, path, noun) if when.fits(f"{text} {dated}")]
        if begins := BEGINS.search(question):
            starts = re.compile(rf"[^(:=]*(?<!\w){re.escape(begins['en'] or begins['ko'])}")
            found = [one for one in found if starts.match(one[2])]
        elif noun == "function" and _WORDS.tests.search(question):
            found = [one for one in found if "test" in one[2]] or found
        best = max(best, found, key=len)
    if len(best) < (1 if named else _FEWEST):
        return None
    return _counted(noun, str(when), best[0][0], best, but)


def _counted(
    noun: str, when: str, place: str, lines: Sequence[Line], but: re.Pattern[str] | None
) -> tuple[Counted, list[Line]]:
    kept = [line for line in lines if not (but and but.match(line[2]))]
    return Counted(place, "", "", len(kept), 1, entries=noun, when=when), kept


def _folders(paths: Sequence[str], question: str) -> tuple[str, list[Line]] | None:
    """Return the folder that a question names by words of its path, and the folders directly in it."""
    below: dict[str, dict[str, str]] = {}
    for path in sorted(paths):
        parts = path.split("/")
        for depth in range(1, len(parts)):
            below.setdefault("/".join(parts[: depth - 1]), {}).setdefault(parts[depth - 1], path)
    called, rest = folder_in(_WORDS.folders.sub(" ", question), paths)
    words = {word: says for word, says in telling_words(rest).items() if says >= SAYS}
    named = {
        folder: sum(says for word, says in words.items() if names(word, folder))
        for folder in below
        if f"{folder}/".startswith(f"{called}/" if called else "")
    }
    if not named:
        return None
    folder = min(named, key=lambda one: (-named[one], one.count("/")))
    others = [word for word in words if not names(word, folder)]
    more = says_more(others, len(words) - len(others) + bool(called)) and not _WORDS.subfolders.search(question)
    if more or not (called or named[folder] or not words):
        return None
    return folder or ".", [(path, 1, f"{name}/") for name, path in below[folder].items()]


@dataclass(frozen=True, slots=True)
class _When:
    year: str
    month: int
    series: str = ""

    def __str__(self) -> str:
        day = f"{self.year}-{self.month:02}" if self.month else self.year
        return ", ".join(filter(None, (day, f"{self.series}.x" if self.series else "")))

    def fits(self, text: str) -> bool:
        version = _VERSION.search(text)
        if self.year not in text or (self.series and not (version and f"{version[0]}.".startswith(f"{self.series}."))):
            return False
        name = _MONTHS[self.month - 1]
        written = rf"{self.year}\W?0?{self.month}(?!\d)|\b{name}\b|(?<!\d){self.month}월"
        return not self.month or re.search(written, text, re.IGNORECASE) is not None


def _version(series: re.Match[str] | None) -> str:
    return (series[1] or series[2]) if series else ""


def _number(month: re.Match[str]) -> int:
    return month_abbr[:].index(month[1][:3].capitalize()) if month[1] else int(month[2])


def _files(db: sqlite3.Connection, question: str, named: Sequence[int], *, changes: bool) -> list[str]:
    """Return the files that a question means: those it names, whose paths have most of its words, or of changes."""
    every = db.execute("SELECT id, path FROM files WHERE reason = ''").fetchall()
    if named:
        return [path for file, path in every if file in named]
    paths = [path for _, path in every if not changes or _WORDS.changes.search(path)]
    words = [letters(word) for word in whole_words(question) if len(word) > 1 and not word.isdigit()]
    have = {path: sum(word in letters(path) for word in words) for path in paths}
    most = max(have.values(), default=0)
    return [path for path, count in have.items() if count == most and (most or changes)]


def _entries(db: sqlite3.Connection, path: str, noun: str) -> Iterator[tuple[int, str, str]]:
    """Yield of each entry its line, what it is headed, and the text that begins it, where dates may stand."""
    begins, any_line = _LINES[noun], noun in _CODE
    read = [(heading.split(" > "), parts) for _, heading, parts in blocks_of(db, path)]
    headed: dict[tuple[str, ...], tuple[int, str, str]] = {}
    for heading, parts in read:
        for depth, title in enumerate(heading, 1):
            if begins.match(title) and not any_line:
                entry = (parts[0][0], title, parts[0][2][:80] if depth == len(heading) else "")
                headed.setdefault(tuple(heading[:depth]), entry)
    if len(headed) >= _FEWEST:
        yield from headed.values()
        return
    for _, parts in read:
        for lines in map(lines_in, parts):
            if any_line or (len(lines) <= _RULED and not any(heading[0] for heading, _ in read)):
                yield from ((at, line.strip(), "") for at, line in lines if begins.match(line))
