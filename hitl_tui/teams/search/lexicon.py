"""The word lists behind a question: stop words, weak words, Korean endings, units of amounts, words alike."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from hitl_tui.teams.search.tokens import normalise, phrase_tokens, stem


@dataclass(frozen=True, slots=True)
class Alike:
    """A word (or a few side by side) of a group of words that stand for one another.

    Args:
        text: as in the list, composed form.
        phrase: its index tokens, joined by spaces.
        korean: written in Hangul.
    """

    text: str
    phrase: str
    korean: bool


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What is known about words; made once from the two data files.

    Args:
        stop: words dropped from a question, lower case.
        weak: words that count little.
        weak_stems: their stems, for other forms of them.
        stop_tokens: index tokens of the stop words.
        endings: Korean particles and verb endings, longest first.
        verbal: Korean verb endings that make a weak word of a single syllable before them.
        units: what after a number makes it an amount.
        groups: words alike.
        roles: the index tokens of words that say who rather than what.
        same_language, other_language: weights of a match by a word alike, 0 to 1.
    """

    stop: frozenset[str]
    weak: frozenset[str]
    weak_stems: frozenset[str]
    stop_tokens: frozenset[str]
    endings: tuple[str, ...]
    verbal: tuple[str, ...]
    units: frozenset[str]
    groups: tuple[tuple[Alike, ...], ...]
    roles: frozenset[str]
    same_language: float
    other_language: float


@cache
def load_lexicon() -> Lexicon:
    """Return the packaged word lists (read once, never changed)."""
    folder = resources.files("hitl_tui.teams.search")
    words = tomllib.loads(folder.joinpath("stopwords.toml").read_text(encoding="utf-8"))
    alike = tomllib.loads(folder.joinpath("synonyms.toml").read_text(encoding="utf-8"))
    weak = frozenset(f"{words['english']['weak']} {words['korean']['weak']}".split())
    stop = frozenset(f"{words['english']['stop']} {words['korean']['stop']}".split())
    return Lexicon(
        stop=stop,
        weak=weak,
        stop_tokens=frozenset(phrase_tokens(normalise(word)) for word in stop),
        weak_stems=frozenset(stem(word) for word in weak),
        endings=tuple(sorted(set(words["korean"]["endings"].split()), key=lambda ending: (-len(ending), ending))),
        verbal=tuple(words["korean"]["verbal"].split()),
        units=frozenset(words["amounts"]["units"].split()),
        groups=_groups(alike["groups"]),
        roles=frozenset(
            phrase_tokens(normalise(word)) for name in alike["roles"]["groups"] for word in alike["groups"][name]
        ),
        same_language=float(alike["weights"]["same_language"]),
        other_language=float(alike["weights"]["other_language"]),
    )


def _groups(groups: Mapping[str, list[str]]) -> tuple[tuple[Alike, ...], ...]:
    return tuple(
        tuple(Alike(text, phrase_tokens(normalise(text)), not text.isascii()) for text in members)
        for members in groups.values()
    )
