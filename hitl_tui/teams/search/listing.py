"""Questions that count or list files: by where they are, how they are named or titled, and what stands in them."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from glob import escape
from pathlib import PurePosixPath

from hitl_tui.meaning.expressions import Expressions, word_file
from hitl_tui.teams.search.query_terms import whole_words
from hitl_tui.teams.search.tokens import normalise, phrase_tokens

_FILE = word_file(__package__, "words.toml")
HOW_MANY = Expressions(_FILE["counts"]).how_many
"""What asks how many there are, of anything."""
_WORDS = Expressions(_FILE["files"])
_ASKING = (_WORDS.files, _WORDS.mentions, HOW_MANY, _WORDS.lists, _WORDS.whole)
_WORD = re.compile(r"[\w./-]*\w", re.UNICODE)
_LONGEST_NAME, _SHORTEST_NAME = 3, 4
_SEVERAL = 2
_SAYS = 0.3
"""How much a word says at least that is more than to ask."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Which files a question wants counted or listed.

    Args:
        folder: what they are below; empty for anywhere.
        name: a pattern of their names; empty for any.
        parts: words that are all in their paths.
        title: how their titles begin; empty for any.
        word: what stands in them; empty for anything.
        about: it is what they are about, not only what they mention.
        lines: the lines that have the word are wanted, rather than files.
    """

    folder: str = ""
    name: str = ""
    title: str = ""
    word: str = ""
    about: bool = False
    lines: bool = False
    parts: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Where, as a pattern of paths; empty for any file."""
        place = "/".join(filter(None, (self.folder, self.name or ("**" if self.folder else ""))))
        return " ".join([place.removesuffix("*"), *self.parts]).strip() if self.parts else place


@dataclass(frozen=True, slots=True)
class Listed:
    """What a listing gave.

    Args:
        place, word, title: what was counted; see `Listing`.
        lines, files: how many lines have the word, and how many files there are.
        directly: how many of the files are in the folder itself, and not in one below it.
        entries: of which kind the entries of a document are that were counted; empty where it was something else.
        when: of which year, or year and month, they are.
    """

    place: str
    word: str
    title: str
    lines: int
    files: int
    directly: int = 0
    entries: str = ""
    when: str = ""


def listing_in(db: sqlite3.Connection, question: str) -> Listing | None:
    """Return which files a question wants counted or listed; None for other questions."""
    files = _WORDS.of_files.search(question)
    if not (HOW_MANY.search(question) or _WORDS.lists.search(question)):
        return None
    titled, begins = _WORDS.titles.search(question), _WORDS.begins.search(question)
    if begins and (files or titled or _WORDS.programs.search(question)):
        said = (begins["en"] or begins["ko"]).strip("\"“`'")
        folder = _folder(db, question, said)
        return Listing(folder, title=said) if titled else Listing(folder, name=f"{escape(said)}*")
    if files and (pattern := _WORDS.glob.search(question)):
        below, _, name = pattern[0].rpartition("/")
        return Listing(below or _folder(db, question, pattern[0]), name=name if "*" in name else f"*{name}")
    if literal := _WORDS.literal.search(question):
        word = literal[1] or literal[0]
    elif code := _WORDS.name_of_code.search(question):
        word = code[1] or code[2]
    elif files and (mention := _WORDS.mentions.search(question)):
        names = {w: t for w, t in whole_words(question).items() if not any(e.match(w) for e in _ASKING)}
        folder = _folder(db, question, "")
        within = {letters(part) for part in PurePosixPath(folder).parts}
        outside = [name for name in names if not any(letters(name) in part for part in within)]
        word = max(outside or names, key=lambda name: names[name], default="")
        if not word:
            return None
        return Listing(folder if outside else "", word=word, about=_WORDS.about.fullmatch(mention[0]) is not None)
    elif files and HOW_MANY.search(question):
        folder = _folder(db, question, "")
        left = whole_words(question.replace(folder, " ") if folder else question)
        said = [word for word, t in left.items() if t >= _SAYS or word[0].isdigit()]
        said = [word for word in said if not any(e.match(word) for e in _ASKING)]
        parts = _parts(db, folder)
        words = tuple(word for word in said if any(letters(word) in letters(path) for path in parts))
        # A Korean word may say what the files are for; another one names them, unless the folder has one kind alone.
        alike = bool(folder) and len({PurePosixPath(path).suffix for path in parts}) == 1
        strange = any(word.isascii() for word in said if word not in words) or (said and not words)
        if strange and not alike:
            return None
        made = Listing(folder, name="*", parts=words) if words or _WORDS.any_file.search(question) else None
        # A single file that only some of the words name is what something is counted in.
        if made and not folder and len(words) < len(said) and len(lines_of(db, made, ())) < _SEVERAL:
            return None
        return made
    else:
        return None
    of_lines = files is None or not (HOW_MANY.search(question) or _WORDS.mentions.search(question))
    listing = Listing(_folder(db, question, word), word=word, lines=of_lines)
    # A word of the question that is a folder's name, too, may mean something else; a path can't.
    path = "/" in listing.folder and listing.folder in question
    meant = path or not listing.folder or lines_of(db, listing, ())
    return listing if meant else replace(listing, folder="")


def _folder(db: sqlite3.Connection, question: str, apart: str) -> str:
    """Return the folder that a question names by its path, or by its name written in any way; empty if none."""
    known = {
        str(parent): letters(parent.name)
        for (path,) in db.execute("SELECT path FROM files")
        for parent in PurePosixPath(path).parents
        if parent.name
    }
    words: list[str] = _WORD.findall(question.replace(apart, " ") if apart else question)
    for word in words:
        if "/" in word and word.strip("/") in known:
            return word.strip("/")
    said = {letters("".join(words[at : at + n])) for n in range(1, _LONGEST_NAME + 1) for at in range(len(words))}
    named = [folder for folder, name in known.items() if len(name) >= _SHORTEST_NAME and name in said]
    return min(named, key=lambda folder: (folder.count("/"), folder), default="")


def _parts(db: sqlite3.Connection, folder: str) -> list[str]:
    """Return the paths of the files below a folder."""
    paths = (path for (path,) in db.execute("SELECT path FROM files"))
    return [path for path in paths if not folder or path.startswith(f"{folder}/")]


def lines_in(block: tuple[int, int, str]) -> list[tuple[int, str]]:
    """Return the lines of a block with their numbers; one that doesn't keep its lines is a single one."""
    first, last, text = block
    return list(enumerate(text.split("\n") if text.count("\n") == last - first else [text], first))


def letters(text: str) -> str:
    """Return the letters and digits of a text, by which a name is known however it is written."""
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def lines_of(db: sqlite3.Connection, listing: Listing, named: Sequence[int]) -> list[tuple[str, int, str]]:
    """Return path, number and text of the lines that a listing means, in order; of some files, if any are named."""
    if listing.word:
        found = list(_within(_lines_with(db, listing.word, named), listing))
        if not listing.about:
            return found
        about = {path for path, _, title, _ in _titles(db) if letters(listing.word) in letters(path + title)}
        return [line for line in found if line[0] in about] or found
    lines = [
        (path, line, title if listing.title else text)
        for path, line, title, text in _titles(db)
        if title.casefold().startswith(listing.title.casefold())
    ]
    return list(_within(lines, listing))


def _titles(db: sqlite3.Connection) -> Iterator[tuple[str, int, str, str]]:
    """Yield of each file its path, the line that it begins in, its title, and its first line."""
    first = db.execute(
        "SELECT path, coalesce(heading, ''), coalesce(parts, '[[1, 1, \"\"]]') FROM files LEFT JOIN windows"
        " ON windows.id = (SELECT min(id) FROM windows WHERE file = files.id) ORDER BY path"
    )
    for path, heading, parts in first:
        line, _, text = json.loads(parts)[0]
        begins = text.split("\n")[0].strip()
        title = written[1] if (written := _WORDS.title.search(text)) else heading.partition(" > ")[0] or begins
        yield path, line, title, begins


def _within(lines: Iterable[tuple[str, int, str]], listing: Listing) -> Iterator[tuple[str, int, str]]:
    for path, line, text in lines:
        name = PurePosixPath(path).name
        if listing.folder and not path.startswith(f"{listing.folder}/"):
            continue
        if not all(letters(word) in letters(path) for word in listing.parts):
            continue
        if not listing.name or fnmatchcase(name.casefold(), listing.name.casefold()):
            yield path, line, text


def _lines_with(db: sqlite3.Connection, word: str, named: Sequence[int]) -> Iterator[tuple[str, int, str]]:
    """Yield the lines that have a word; in capitals only as it is written."""
    how, end = (0, r"(?!\w)") if word.isupper() else (re.IGNORECASE, "")
    wanted = re.compile(rf"(?<!\w){re.escape(word)}{end}", how)
    rows = db.execute(
        "SELECT path, heading, parts FROM words JOIN windows ON windows.id = words.rowid"
        " JOIN files ON files.id = windows.file"
        " WHERE words MATCH ? AND (? OR file IN (SELECT value FROM json_each(?))) ORDER BY path, windows.id",
        (f'"{phrase_tokens(normalise(word))}"', not named, json.dumps(list(named))),
    )
    for path, heading, parts in rows:
        seen = False
        for number, line in (line for block in json.loads(parts) for line in lines_in(block)):
            if wanted.search(line):
                seen = True
                yield path, number, line.strip()
        if not seen and (wanted.search(heading) or wanted.search(path)):
            first, _, text = json.loads(parts)[0]
            yield path, first, text.split("\n")[0].strip()
