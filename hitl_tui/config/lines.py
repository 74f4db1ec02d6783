"""Where the keys of a TOML text stand.

The standard library's parser tells values, not places. This one tells places, of a text that the other
has accepted; it doesn't judge.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence

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
            raise ValueError(f"not a valid TOML text at offset {self._at}")
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
