"""What is wrong in a settings file, the line it stands on, and the sentence that says so.

The standard library's parser of TOML tells values, not places. The one here tells places, of a text that the other has
accepted; it doesn't judge.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hitl_tui.core.messages import Message
from hitl_tui.core.names import nearest
from hitl_tui.core.safe_text import safe_text

LARGE = 10**18
"""Whole numbers from here on (of either sign) are refused, and not written out."""


def quoted(text: str) -> str:
    """Return text in quotation marks, cut where it is long."""
    return f'"{safe_text(text, multiline=False, limit=60)}"'


def described(value: object) -> str:
    """Return a value as a message may show it, in the words of TOML and JSON."""
    if isinstance(value, str):
        return quoted(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) >= LARGE:
        return Message("a very large number")
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list | tuple):
        return Message("a list")
    if isinstance(value, dict):
        return Message("a table")
    return Message("a date or time") if type(value).__module__ == "datetime" else Message("something else")


Path = tuple[str | int, ...]
"""Keys, and positions (from 0) in arrays, from the top."""

Place = tuple[int, int]
"""Line and column, both counted from 1."""

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_BLANK_OR_COMMA = re.compile(r"(?:[ \t\r\n,]+|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")
_STRING = re.compile(
    r'''"""(?:[^\\]|\\.)*?"""(?:"{0,2})|\'\'\'.*?\'\'\'(?:'{0,2})|"(?:[^"\\\n]|\\.)*"|'[^'\n]*\'''', re.DOTALL
)
_BARE_VALUE = re.compile(r"[^,\]}#\n]+")


def key_places(text: str) -> dict[Path, Place]:
    """Return the place of every key, table and array element of a valid TOML text.

    A table has the place of its own header, or where it has none of the first key that mentions it.
    """
    return _Scanner(text).scan()


def place_of(places: Mapping[Path, Place], path: Sequence[str | int]) -> Place:
    """Return the place of a path, or of the nearest table around it that has one."""
    for length in range(len(path), 0, -1):
        place = places.get(tuple(path[:length]))
        if place:
            return place
    return (1, 1)


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line = 1
        self._line_start = 0
        self._counted = 0
        self._places: dict[Path, Place] = {}
        self._lengths: dict[Path, int] = {}

    def scan(self) -> dict[Path, Place]:
        table: Path = ()
        self._skip(_BLANK)
        while self._at < len(self._text):
            if self._text[self._at] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip(_BLANK)
        return self._places

    def _header(self) -> Path:
        place = self._place()
        is_array = self._text.startswith("[[", self._at)
        self._at += 2 if is_array else 1
        keys = self._keys()
        self._at += 2 if is_array else 1
        path: Path = ()
        for number, (key, _) in enumerate(keys, start=1):
            path = (*path, key)
            self._places.setdefault(path, place)
            if is_array and number == len(keys):
                self._lengths[path] = self._lengths.get(path, 0) + 1
            if path in self._lengths:
                path = (*path, self._lengths[path] - 1)
        self._places[path] = place
        return path

    def _pair(self, table: Path) -> None:
        path = table
        for key, place in self._keys():
            path = (*path, key)
            self._places.setdefault(path, place)
        self._at += 1  # the equals sign
        self._skip(_SPACE)
        self._value(path)

    def _keys(self) -> list[tuple[str, Place]]:
        keys: list[tuple[str, Place]] = []
        while True:
            self._skip(_SPACE)
            place = self._place()
            keys.append((_plain(self._take(_KEY)), place))
            self._skip(_SPACE)
            if not self._text.startswith(".", self._at):
                return keys
            self._at += 1

    def _value(self, path: Path) -> None:
        first = self._text[self._at]
        if first == "[":
            self._at += 1
            self._array(path)
        elif first == "{":
            self._at += 1
            self._inline_table(path)
        elif first in "\"'":
            self._take(_STRING)
        else:
            self._take(_BARE_VALUE)

    def _array(self, path: Path) -> None:
        number = 0
        self._skip(_BLANK_OR_COMMA)
        while self._text[self._at] != "]":
            self._places[(*path, number)] = self._place()
            self._value((*path, number))
            number += 1
            self._skip(_BLANK_OR_COMMA)
        self._at += 1

    def _inline_table(self, path: Path) -> None:
        self._skip(_BLANK_OR_COMMA)
        while self._text[self._at] != "}":
            self._pair(path)
            self._skip(_BLANK_OR_COMMA)
        self._at += 1

    def _skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self._text, self._at)
        if match:
            self._at = match.end()

    def _take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._at)
        if not match:
            raise ValueError(Message("not a valid TOML text at offset {}", self._at))
        self._at = match.end()
        return match[0]

    def _place(self) -> Place:
        breaks = self._text.count("\n", self._counted, self._at)
        if breaks:
            self._line += breaks
            self._line_start = self._text.rindex("\n", self._counted, self._at) + 1
        self._counted = self._at
        return (self._line, self._at - self._line_start + 1)


def _plain(key: str) -> str:
    if key[0] == "'":
        return key[1:-1]
    return str(tomllib.loads(f"k = {key}")["k"]) if key[0] == '"' else key


_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong.

    Args:
        path: the key it concerns, from the top; positions in arrays count from 0.
        says: what is wrong, completing a sentence that begins with the key.
        unknown_among: for a key that doesn't exist the ones that do; `says` is empty then.
    """

    path: Path
    says: str
    unknown_among: tuple[str, ...] = ()


def first_problem(problems: Sequence[Problem], places: Mapping[Path, Place]) -> tuple[int, str]:
    """Return the line and the sentence of the problem that stands first in the file."""
    problem = min(problems, key=lambda one: place_of(places, one.path))
    sentence = Message("{subject} {problem}", subject=_subject(problem.path), problem=problem.says)
    if problem.unknown_among:
        sentence = _unknown_key(problem)
    return place_of(places, problem.path)[0], sentence if sentence.endswith("?") else Message("{}.", sentence)


def _unknown_key(problem: Problem) -> Message:
    key = str(problem.path[-1])
    where = _table(problem.path[:-1])
    hint = nearest(key, problem.unknown_among)
    rest = (
        Message("did you mean {}?", quoted(hint)) if hint else Message("known are {}", ", ".join(problem.unknown_among))
    )
    return Message("unknown key {} {}; {}", quoted(key), where, rest)


def _subject(path: Path) -> str:
    if not path:
        return Message("the file")
    last = path[-1]
    if isinstance(last, str):
        return Message("{key} {where}", key=quoted(last), where=_table(path[:-1]))
    if len(path) == 2:
        return _table(path, name_only=True)
    return Message("item {} of {}", last + 1, _subject(path[:-1]))


def _table(path: Path, *, name_only: bool = False) -> str:
    keys = [step if _BARE_KEY.fullmatch(step) else quoted(step) for step in path if isinstance(step, str)]
    if not keys:
        return Message("at the top")
    name = safe_text(".".join(keys), multiline=False, limit=160)
    shown = f"[[{name}]]" if isinstance(path[-1], int) else f"[{name}]"
    return shown if name_only else Message("in {}", shown)
