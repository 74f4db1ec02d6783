"""What words of a question may mean in a table that no letters link to it: its columns, its values or the table.

Two encoders say how alike a word and a name are. The weights are those of a logistic regression over the names of a
table and none of them; `benchmarks/table_weights.py` finds them on words of question sets.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hitl_tui.meaning.encoder import akin
from hitl_tui.meaning.frequencies import frequencies, telling
from hitl_tui.tables.profile import Table
from hitl_tui.tables.words import Token, ends_as_predicate, words_of

_HANGUL = re.compile("[가-힣]")
_COLUMNS, _NAMES = 60, 260
"""Columns and names of a table that words are compared with."""
_FEW_VALUES, _LONGEST = 60, 40
"""Different values of a column, and letters of one, that words may mean."""
_ESTIMATE = (0.705, -0.173)
"""What the thorough encoder would say by what the quick one does."""
WEIGHTS: Mapping[str, float] = {
    "": -8.079,
    "quick": 8.886,
    "thorough": 11.139,
    "both": -4.322,
    "part": -0.309,
    "value": -1.402,
    "table": -1.097,
    "same_script": -1.298,
    "predicate": -0.506,
    "telling": 1.084,
    "first": 0.538,
    "first_thorough": 0.526,
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


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a word may mean, and how likely, 0 to 1, beside the other names and none of them."""

    name: Name
    likely: float


def names_of(table: Table) -> list[Name]:
    """Return what a table, its columns and the values of those with few of them are called."""
    made = [Name(" ".join(words_of(table.stem)), "table", "")]
    for column in table.columns[:_COLUMNS]:
        words = words_of(column.name) if column.kind != "other" else ()
        made += [Name(" ".join(words), "column", column.name)] if words else []
        made += [Name(word, "part", column.name) for word in words if len(words) > 1 and len(word) > 2]
        if column.kind == "text" and 1 < column.distinct <= _FEW_VALUES:
            values = (one for one in column.items or column.values if 1 < len(one) <= _LONGEST and not one.isdigit())
            made += [Name(one, "value", column.name) for one in sorted(values)]
    return [name for name in dict.fromkeys(made) if name.text][:_NAMES]


def meanings(tokens: Mapping[int, Token], table: Table) -> dict[int, list[Meaning]]:
    """Return what some tokens of a question may mean in a table, the likeliest first."""
    bare = {n: word for n, token in tokens.items() if (word := bare_form(token))}
    names = names_of(table)
    found = akin(list(bare.values()), [name.text for name in names])
    return {n: _weighed(tokens[n], word, names, near) for (n, word), near in zip(bare.items(), found, strict=True)}


def _weighed(
    token: Token, word: str, names: Sequence[Name], near: Mapping[int, tuple[float, float | None]]
) -> list[Meaning]:
    best: dict[tuple[str, str], tuple[float, Name, float, float]] = {}
    for at, (quick, said) in near.items():
        name = names[at]
        thorough = _ESTIMATE[0] * quick + _ESTIMATE[1] if said is None else said
        both = quick + thorough
        key = (name.column, name.text if name.kind == "value" else "")
        if key not in best or both > best[key][0]:
            best[key] = (both, name, quick, thorough)
    kept = sorted(best.values(), key=lambda one: -one[0])
    most = [max((one[at] for one in kept), default=0.0) for at in (2, 3)]  # type: ignore
    odds = []
    for _, name, quick, thorough in kept:
        features = features_of(token, word, name, quick, thorough)
        features |= {"first": float(quick == most[0]), "first_thorough": float(thorough == most[1])}
        odds.append(math.exp(sum(WEIGHTS[part] * value for part, value in features.items())))
    every = 1 + sum(odds)
    made = [Meaning(one[1], odd / every) for one, odd in zip(kept, odds, strict=True)]
    return sorted(made, key=lambda one: -one.likely)


def features_of(token: Token, word: str, name: Name, quick: float, thorough: float) -> dict[str, float]:
    """Return what tells whether a word means what is called so."""
    korean = _HANGUL.search(word) is not None
    return {
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
    }


def bare_form(token: Token) -> str:
    """Return a word as it is compared in meaning: a Korean one without particles."""
    if token.text.isascii():
        return token.forms[0]
    forms = [form for form in token.forms if len(form) > 1]
    return next((form for form in forms if form in frequencies("ko")), min(forms, key=len, default=""))
