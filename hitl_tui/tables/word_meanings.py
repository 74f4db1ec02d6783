"""What words of a question may mean in a table that no letters link to it: its columns, its values or the table.

Two encoders say how alike a word and a name are. The weights are those of a logistic regression over the names of a
table and none of them; `benchmarks/table_weights.py` finds them on words of question sets.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hitl_tui.meaning.encoder import akin
from hitl_tui.meaning.frequencies import frequencies, telling
from hitl_tui.meaning.word_forms import ends_as_predicate
from hitl_tui.tables.profile import Table
from hitl_tui.tables.short_forms import senses_of
from hitl_tui.tables.words import Token, words_of

_NUMBERED = re.compile(r"^\W*\d{1,2}[.):]\s+")
"""The number that a value is ordered by."""
_HANGUL = re.compile("[가-힣]")
_COLUMNS, _NAMES = 60, 260
"""Columns and names of a table that words are compared with."""
_FEW_VALUES, _LONGEST = 60, 40
"""Different values of a column, and letters of one, that words may mean."""
_ESTIMATE = (0.705, -0.173)
"""What the thorough encoder would say by what the quick one does."""
WEIGHTS: Mapping[str, float] = {
    "": -7.55,
    "quick": 7.475,
    "thorough": 12.424,
    "both": -4.753,
    "part": -0.501,
    "value": -1.355,
    "table": -1.135,
    "same_script": -1.1,
    "predicate": -0.351,
    "telling": 0.881,
    "first": 0.795,
    "first_thorough": 0.341,
}


@dataclass(frozen=True, slots=True)
class Name:
    """What something of a table is called.

    Args:
        text: in words.
        kind: `table`, `column`, `part` (one word of a column's name) or `value`.
        column: the column, of a value the one it is in; the table has none.
    """

    text: str
    kind: str
    column: str

    @property
    def spoken(self) -> str:
        """What is said of it: a value without the number that it is ordered by, `5. Advanced Degree`."""
        bare = _NUMBERED.sub("", self.text).replace("_", " ").strip() if self.kind == "value" else ""
        return bare or self.text


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a word may mean, how likely, 0 to 1, beside the other names and none of them, and how alike the two are."""

    name: Name
    likely: float
    alike: float


def names_of(table: Table) -> list[Name]:
    """Return what a table, its columns and the values of those with few of them are called."""
    made = [Name(" ".join(words_of(table.stem)), "table", "")]
    for column in table.columns[:_COLUMNS]:
        words = words_of(column.name) if column.kind != "other" else ()
        made += [Name(" ".join(words), "column", column.name)] if words else []
        made += [Name(word, "part", column.name) for word in words if len(words) > 1 and len(word) > 2]
        made += [Name(" ".join(said), "column", column.name) for said in _in_full(words)]
        if column.kind == "text" and 1 < column.distinct <= _FEW_VALUES:
            values = (one for one in column.items or column.values if 1 < len(one) <= _LONGEST and not one.isdigit())
            made += [Name(one, "value", column.name) for one in sorted(values)]
    return [name for name in dict.fromkeys(made) if name.text][:_NAMES]


def _in_full(words: Sequence[str]) -> Iterator[list[str]]:
    """Yield a name with each of its short forms written out, in each English sense."""
    for n, word in enumerate(words):
        for sense in senses_of(word):
            if sense.isascii() and word not in sense.split():
                yield [*words[:n], sense, *words[n + 1 :]]


def meanings(tokens: Mapping[int, Token], table: Table) -> dict[int, list[Meaning]]:
    """Return what some tokens of a question may mean in a table, the likeliest first."""
    bare = {n: word for n, token in tokens.items() if (word := bare_form(token))}
    names = names_of(table)
    found = akin(list(bare.values()), [name.spoken for name in names])
    said = zip(bare.items(), found, strict=True)
    return {n: _weighed(told(tokens[n], word, names, near)) for (n, word), near in said}


def _weighed(found: Sequence[tuple[Name, Mapping[str, float]]]) -> list[Meaning]:
    odds = [math.exp(sum(WEIGHTS[part] * features[part] for part in WEIGHTS)) for _, features in found]
    every = 1 + sum(odds)
    made = [Meaning(name, odd / every, said["quick"]) for (name, said), odd in zip(found, odds, strict=True)]
    return sorted(made, key=lambda one: -one.likely)


def told(
    token: Token, word: str, names: Sequence[Name], near: Mapping[int, tuple[float, float | None]]
) -> list[tuple[Name, dict[str, float]]]:
    """Return what tells whether a word means each of some names, the best name of each column or value alone.

    Args:
        token, word: the word of a question, as it is and as it is compared.
        names: what the table has.
        near: how alike the nearest of them are, by their places; see `encoder.akin`.
    """
    best: dict[tuple[str, str], tuple[Name, float, float]] = {}
    for at, (quick, said) in near.items():
        name = names[at]
        thorough = _ESTIMATE[0] * quick + _ESTIMATE[1] if said is None else said
        key = (name.column, name.text if name.kind == "value" else "")
        if key not in best or quick + thorough > sum(best[key][1:]):
            best[key] = (name, quick, thorough)
    first = max((quick for _, quick, _ in best.values()), default=0.0)
    first_thorough = max((thorough for _, _, thorough in best.values()), default=0.0)
    korean = bool(_HANGUL.search(word))
    return [
        (
            name,
            {
                "": 1.0,
                "quick": quick,
                "thorough": thorough,
                "both": 2 * quick * thorough,
                "part": float(name.kind == "part"),
                "value": float(name.kind == "value"),
                "table": float(name.kind == "table"),
                "same_script": float(korean == bool(_HANGUL.search(name.text))),
                "predicate": float(korean and ends_as_predicate(token.text)),
                "telling": telling(word, "ko" if korean else "en"),
                "first": float(quick == first),
                "first_thorough": float(thorough == first_thorough),
            },
        )
        for name, quick, thorough in best.values()
    ]


def bare_form(token: Token) -> str:
    """Return a word as it is compared in meaning: a Korean one without particles; empty where it is too short."""
    if token.text.isascii():
        return token.forms[0] if len(token.text) > 2 else ""
    forms = [form for form in token.forms if len(form) > 1]
    return next((form for form in forms if form in frequencies("ko")), min(forms, key=len, default=""))
