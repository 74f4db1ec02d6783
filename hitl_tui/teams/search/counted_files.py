"""Questions that count or list files: by where they are, how they are named or titled, and what stands in them."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from glob import escape
from pathlib import PurePosixPath

from hitl_tui.meaning.expressions import Expressions, word_file
from hitl_tui.meaning.sounds import english_sound, korean_sound, skeleton, sound_likeness
from hitl_tui.teams.search.index_refresh import paths_of
from hitl_tui.teams.search.query_terms import alike, bare_words, whole_words
from hitl_tui.teams.search.tokens import has_korean, normalise, phrase_tokens

Line = tuple[str, int, str]
"""Path, number and text of a line."""
_FILE = word_file(__package__, "words.toml")
HOW_MANY, _BUT = Expressions(_FILE["counts"]).how_many, Expressions(_FILE["counts"]).but
"""What asks how many there are, of anything; and what says that something isn't counted."""
_WORDS = Expressions(_FILE["files"])
BEGINS = _WORDS.begins
"""What says how a name begins."""
_ASKING = (_WORDS.files, _WORDS.mentions, _WORDS.programs, HOW_MANY, _WORDS.lists, _WORDS.whole)
_QUOTES = "\"'`“”‘’「」"
_LONGEST_NAME, _SHORTEST_NAME = 8, 4
"""Words of a folder's path at most, and letters of its name at least, unless it is called a folder."""
_ENDING = 2
"""Letters that a word may have beyond a folder's name: Korean, korea."""
_PART = re.compile(r"[^\W\d_]+")
_SOUNDS_SO = 65
_LINES = 12
"""Lines of several files up to which each is shown, rather than one of each file."""
_SEVERAL, _MOSTLY = 2, 2
"""Files that are several, and how many times as many words name files as don't, where most do."""
SAYS, _LITTLE = 0.3, 0.12
"""How much a word says at least that is more than to ask, and where nothing names the files: "what files do I need"."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Which files a question wants counted or listed.

    Args:
        folder: what they are below; empty for anywhere.
        name: a pattern of their names; empty for any.
        kinds: how their names may end, without the dot; empty for any.
        parts: words that are all in their paths.
        title: how their titles begin; empty for any.
        word: what stands in them; empty for anything.
        about: it is what they are about, not only what they mention.
        lines: the lines that have the word are wanted, rather than files.
        times: how often the word stands there is wanted.
    """

    folder: str = ""
    name: str = ""
    kinds: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    title: str = ""
    word: str = ""
    about: bool = False
    lines: bool = False
    times: bool = False

    @property
    def place(self) -> str:
        """Where, as a pattern of paths; empty for any file."""
        kinds = f"*.{self.kinds[0]}" if len(self.kinds) == 1 else f"*.{{{','.join(self.kinds)}}}" if self.kinds else ""
        place = "/".join(filter(None, (self.folder, self.name or kinds or ("**" if self.folder else ""))))
        return " ".join([place.removesuffix("*"), *self.parts]).strip() if self.parts else place

    def takes(self, path: str) -> bool:
        """Return whether it means a file, by its path."""
        name = PurePosixPath(path).name.casefold()
        return (
            (not self.folder or path.startswith(f"{self.folder}/"))
            and (not self.name or any(fnmatchcase(one, self.name.casefold()) for one in (name, name.partition(".")[0])))
            and (not self.kinds or _ending(path) in self.kinds)
            and all(names(word, path) for word in self.parts)
        )


@dataclass(frozen=True, slots=True)
class Counted:
    """What was counted or listed.

    Args:
        place, word, title: what was meant; see `Listing`. Of entries, the document or folder that consists of them.
        lines, files: how many lines have the word, or entries there are, and in how many files.
        directly: how many of the files are in the folder itself, and not in one below it.
        entries: of which kind they are: `folder`, `release`, `question`, `function`, `class_definition`; empty for
            files.
        when: the year, year and month, or series of releases that was asked for; empty for any.
        times: how often the word stands there; 0 where that isn't asked for.
    """

    place: str
    word: str
    title: str
    lines: int
    files: int
    directly: int = 0
    entries: str = ""
    when: str = ""
    times: int = 0


def files_in(
    db: sqlite3.Connection, question: str, named: Sequence[int], but: re.Pattern[str] | None
) -> tuple[Counted | None, list[Line]] | None:
    """Return the files or lines that a question counts or lists, with the line of each; None for other questions.

    Of files that it names, by id, these alone are looked through; `but` finds what isn't counted (see `all_but`).
    """
    listing = listing_in(db, question)
    lines = lines_of(db, listing, named) if listing else []
    if listing is None or not (lines or named):
        return None
    lines = [line for line in lines if not (but and but.match(PurePosixPath(line[0]).name))]
    if not lines:
        return None, lines
    first = {line[0]: line for line in reversed(lines)}
    directly = sum(listing.folder == str(PurePosixPath(path).parent) for path in first)
    word = word_pattern(listing.word) if listing.times else None
    times = sum(len(word.findall(text)) for _, _, text in lines) if word else 0
    counted = Counted(listing.place, listing.word, listing.title, len(lines), len(first), directly, times=times)
    each = listing.lines and (len(first) == 1 or len(lines) <= _LINES)
    return counted, lines if each else list(first.values())[::-1]


def listing_in(db: sqlite3.Connection, question: str) -> Listing | None:
    """Return which files a question wants counted or listed; None for other questions."""
    question = normalise(question)
    times = _WORDS.times.search(question) is not None
    has = _WORDS.has_in_name.search(question)
    if not (times or has or HOW_MANY.search(question) or _WORDS.lists.search(question)):
        return None
    paths = paths_of(db)
    titled, begins = _WORDS.titles.search(question), BEGINS.search(question)
    glob = _WORDS.glob.search(question)
    told = next((one[0] for one in (begins, glob) if one), "")
    kinds, said = _kinds(" ".join("".join(question.split(told) if told else question).split()), paths)
    folder, rest = folder_in(said, paths)
    programs = _WORDS.programs.search(question)
    named = _WORDS.programs.sub(_noun(question), said) if folder or kinds else said  # scripts of a folder are files
    files = _WORDS.of_files.search(named)
    if begins and (files or titled or programs or _WORDS.any_file.search(question)):
        start = (begins["en"] or begins["ko"]).strip(_QUOTES)
        return Listing(folder, title=start) if titled else Listing(folder, f"{escape(start)}*", kinds)
    if glob and (files or programs or PurePosixPath(glob[0]).suffix):
        below, _, name = glob[0].rpartition("/")
        return Listing(below or folder, name=name if "*" in name else f"*{name}")
    if files and has:
        return Listing(folder, f"*{escape(has['en'] or has['ko'])}*", kinds)
    word = _word(question)
    if not word and files and (mention := _WORDS.mentions.search(question)):
        in_folder, anywhere = telling_words(rest), telling_words(said)
        word = max(in_folder or anywhere, key=(in_folder or anywhere).__getitem__, default="")
        about = _WORDS.about.fullmatch(mention[0]) is not None
        return Listing(folder if in_folder else "", kinds=kinds, word=word, about=about) if word else None
    if not word:
        return _placed(question, paths, Listing(folder, kinds=kinds), telling_words(rest)) if files else None
    of_lines = files is None or not (HOW_MANY.search(question) or _WORDS.mentions.search(question))
    listing = Listing(folder, kinds=kinds, word=word, lines=of_lines or times, times=times)
    # A word of the question that is a folder's name, too, may mean something else; a path can't.
    path = "/" in folder and folder in question
    meant = path or not folder or lines_of(db, listing, ())
    return listing if meant else replace(listing, folder="")


def _word(question: str) -> str:
    """Return the word that a question counts or lists where it stands as it is written; empty for none."""
    if literal := _WORDS.literal.search(question):
        return literal[0]
    quoted = _WORDS.quoted.search(question)
    word = quoted[quoted.lastindex or 0] if quoted else ""
    if word and _WORDS.occurs.search(question.replace(word, " ")):
        return word
    if counted := _WORDS.counted_name.search(question):
        return (counted["en"] or counted["ko"]).strip(_QUOTES)
    code = _WORDS.name_of_code.search(question)
    return (code[1] or code[2]) if code else ""


def telling_words(text: str) -> dict[str, float]:
    """Return the words of a question that aren't there to ask for files, with how much each says."""
    return {word: says for word, says in whole_words(text).items() if not any(one.match(word) for one in _ASKING)}


def _placed(question: str, paths: Sequence[str], listing: Listing, words: Mapping[str, float]) -> Listing | None:
    """Return the files that a question wants by where they are and of which kind; None where it says more than that."""
    said = [word for word, says in words.items() if says >= SAYS or word[0].isdigit()]
    within = [path for path in paths if listing.takes(path)]
    parts = tuple(word for word in said if any(names(word, path) for path in within))
    # What scripts of one kind in a folder are for needn't stand in their paths.
    if within and listing.folder and listing.kinds and len(parts) < len(said) and _WORDS.programs.search(question):
        return listing
    # A Korean word may say what the files are for; another one names them, unless the folder has one kind alone, or
    # most of the words name them.
    one_kind = bool(listing.folder) and HOW_MANY.search(question) and len({_ending(path) for path in within}) == 1
    others = [word for word in said if word not in parts]
    in_folder = listing.folder and _WORDS.folder.search(question)
    strange = says_more(others, len(parts) + bool(listing.folder)) or (said and not (parts or in_folder))
    if strange and not one_kind:
        return None
    named = bool(parts or listing.kinds or listing.folder)
    elsewhere = _WORDS.folder.search(question) and not (listing.folder or _WORDS.this_folder.search(question))
    any_file = _WORDS.any_file.search(question) or _WORDS.folder.search(question)
    if not within or elsewhere or not (named or (any_file and all(says < _LITTLE for says in words.values()))):
        return None
    made = replace(listing, name="" if listing.kinds else "*", parts=parts)
    # A single file that only some of the words name is what something is counted in.
    if parts and not listing.folder and len(parts) < len(said) and sum(map(made.takes, within)) < _SEVERAL:
        return None
    return made


def says_more(others: Sequence[str], naming: int) -> bool:
    """Return whether a question says more than which files it means, by its other words: in Korean some may."""
    if any(map(str.isascii, others)):
        return naming < _MOSTLY * len(others)
    return len(others) > _MOSTLY * naming


def _kinds(question: str, paths: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Return how the names of files end that a question asks for, and the question with plain files instead."""
    endings = {ending for path in paths if (ending := _ending(path))[:1].isalpha()}
    noun = _noun(question)
    found: set[str] = set()
    for names, kind in _WORDS.rows["kinds"]:
        ends = endings & set(names.split())
        if ends and kind.search(question):
            found |= ends
            question = kind.sub(noun, question)
    one = "|".join(map(re.escape, sorted(endings, key=len, reverse=True))) or "(?!)"
    written = re.compile(rf"\(?\.({one})\b\)?|\b({one})(?=s?\s?(?:{_WORDS.counted.pattern}))", re.IGNORECASE)
    found.update(end.casefold() for match in written.finditer(question) for end in match.groups("") if end)
    return tuple(sorted(found)), written.sub(noun, question)


def _noun(question: str) -> str:
    return "파일" if has_korean(question) else "files"


def names(word: str, path: str) -> bool:
    """Return whether a word, or one that stands for it or sounds like it in either language, is in a path."""
    others, written = (letters(one) for one in alike(word)), letters(path)
    if any(one in written for one in (letters(word), *(one for one in others if len(one) >= _SHORTEST_NAME))):
        return True
    if not has_korean(word):
        folded = word.casefold()
        bare = [folded[:-n] for n in range(1, _ENDING + 1) if len(folded) - n >= _SHORTEST_NAME]
        return any(one in written for one in bare) and any(part in bare for part in _PART.findall(path.casefold()))
    every = _PART.findall(path.casefold())
    parts = {part: [part] for part in every if len(part) >= _SHORTEST_NAME and part.isascii()}
    return len(word) > 1 and (word[:-1] in every or bool(_sounding(word, parts)))


def _ending(path: str) -> str:
    return PurePosixPath(path).suffix[1:].casefold()


def folder_in(question: str, paths: Sequence[str]) -> tuple[str, str]:
    """Return the folder that a question names, by its path or its name written in any way, and the rest of it."""
    folders = {str(parent) for path in paths for parent in PurePosixPath(path).parents if parent.name}
    called: dict[str, list[str]] = defaultdict(list)
    for folder in sorted(folders, key=lambda one: (one.count("/"), one)):
        called[letters(folder.rpartition("/")[2])].append(folder)
        called[folder.casefold()].append(folder)
    words = [unit for unit, _ in bare_words(question)]
    best: tuple[int, str, str] = (0, "", question)
    for first, unit in enumerate(words):
        for last in words[first : first + _LONGEST_NAME]:
            text = question[unit.start : last.end]
            is_called = _WORDS.folder.match(question[last.end :].lstrip(" /")) is not None
            if len(text) <= best[0] or (len(letters(text)) < _SHORTEST_NAME and not is_called):
                continue
            named = called.get(text.casefold() if "/" in text else letters(text)) or _sounding(text, called)
            if named:
                best = len(text), named[0], f"{question[: unit.start]} {question[last.end :]}"
    return best[1:]


def _sounding(text: str, called: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """Return the folders whose name a Korean word sounds like, whether or not the name is a plural."""
    sound = skeleton(korean_sound(text))
    for name in called if sound else ():
        for one in (name, name.removesuffix("s")):
            if _sound_of(one) == sound and sound_likeness(text, one) >= _SOUNDS_SO:
                return called[name]
    return ()


@lru_cache(4096)
def _sound_of(name: str) -> str:
    return skeleton(english_sound(name))


def all_but(question: str) -> tuple[str, re.Pattern[str] | None]:
    """Return a question without what it doesn't count, and what finds that where an item begins; None for nothing."""
    if not (but := _BUT.search(question)):
        return question, None
    word = re.escape(but["en"] or but["ko"])
    return question.replace(but[0], " "), re.compile(rf"[\W_]*[^(:=|]*(?<!\w){word}(?!\w)", re.IGNORECASE)


def lines_in(block: tuple[int, int, str]) -> list[tuple[int, str]]:
    """Return the lines of a block with their numbers; one that doesn't keep its lines is a single one."""
    first, last, text = block
    return list(enumerate(text.split("\n") if text.count("\n") == last - first else [text], first))


def letters(text: str) -> str:
    """Return the letters and digits of a text, by which a name is known however it is written."""
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def lines_of(db: sqlite3.Connection, listing: Listing, named: Sequence[int]) -> list[Line]:
    """Return the lines that a listing means, in order; of some files, if any are named."""
    if listing.word:
        found = [line for line in _lines_with(db, listing.word, named) if listing.takes(line[0])]
        if not listing.about:
            return found
        about = {path for path, _, title in _titles(db) if names(listing.word, path + title)}
        return [line for line in found if line[0] in about] or found
    titles = {path: (line, title) for path, line, title in _titles(db)}
    begins = listing.title.casefold()
    lines = [(path, *titles.get(path, (0, ""))) for path in paths_of(db) if listing.takes(path)]
    return [line for line in lines if line[2].casefold().startswith(begins)]


def _titles(db: sqlite3.Connection) -> Iterator[Line]:
    """Yield of each searched file its path, the line it begins in, and its title, or the first line of one without."""
    first = db.execute(
        "SELECT path, coalesce(heading, ''), coalesce(parts, '[[1, 1, \"\"]]') FROM files LEFT JOIN windows"
        " ON windows.id = (SELECT min(id) FROM windows WHERE file = files.id) ORDER BY path"
    )
    for path, heading, parts in first:
        line, _, text = json.loads(parts)[0]
        begins = text.split("\n")[0].strip()
        title = written[1] if (written := _WORDS.title.search(text)) else heading.partition(" > ")[0] or begins
        yield path, line, title


def word_pattern(word: str) -> re.Pattern[str]:
    """Return what finds a word in a line; in capitals only as it is written."""
    how, end = (0, r"(?!\w)") if word.isupper() else (re.IGNORECASE, "")
    return re.compile(rf"(?<!\w){re.escape(word)}{end}", how)


def _lines_with(db: sqlite3.Connection, word: str, named: Sequence[int]) -> Iterator[Line]:
    """Yield the lines that have a word."""
    found = word_pattern(word)
    rows = db.execute(
        "SELECT path, heading, parts FROM words JOIN windows ON windows.id = words.rowid"
        " JOIN files ON files.id = windows.file"
        " WHERE words MATCH ? AND (? OR file IN (SELECT value FROM json_each(?))) ORDER BY path, windows.id",
        (f'"{phrase_tokens(normalise(word))}"', not named, json.dumps(list(named))),
    )
    for path, heading, parts in rows:
        seen = False
        for number, line in (line for block in json.loads(parts) for line in lines_in(block)):
            if found.search(line):
                seen = True
                yield path, number, line.strip()
        if not seen and (found.search(heading) or found.search(path)):
            first, _, text = json.loads(parts)[0]
            yield path, first, text.split("\n")[0].strip()
