"""Tables of word files: the regular expressions by which texts are read, in TOML."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

_NAME = re.compile(r"\{([a-z_]+)\}")


def compiled(raw: str | Mapping[str, str]) -> re.Pattern[str]:
    """Return a text as an expression; a table of `ko` and `en` is one for both, English words with a boundary."""
    if isinstance(raw, Mapping):
        english = [rf"(?<![a-z0-9_])(?:{raw['en']})(?![a-z0-9_])"] if "en" in raw else []
        raw = "|".join(f"(?:{part})" for part in [*filter(None, [raw.get("ko")]), *english])
    return re.compile(raw, re.IGNORECASE)


@cache
def word_file(package: str, name: str) -> Mapping[str, Any]:
    """Return the tables of a TOML file that a package ships (read once, never changed)."""
    return tomllib.loads(resources.files(package).joinpath(name).read_text(encoding="utf-8"))


class Expressions:
    """A table of a word file: its expressions by their names, and in `rows` the lists of a name and an expression.

    `{name}` in one of them stands for the text of another one of the table.
    """

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.rows: dict[str, list[tuple[str, re.Pattern[str]]]] = {
            name: [(row, _whole(one, table)) for row, one in raw] for name, raw in table.items() if type(raw) is list
        }
        self.__dict__.update({name: _whole(raw, table) for name, raw in table.items() if name not in self.rows})

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> re.Pattern[str]: ...


def _whole(raw: str | Mapping[str, str], table: Mapping[str, Any]) -> re.Pattern[str]:
    while isinstance(raw, str) and _NAME.search(raw):
        raw = _NAME.sub(lambda name: table[name[1]], raw)
    return compiled(raw)
