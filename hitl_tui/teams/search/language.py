"""What is known of words in general: which stand for one another, what Korean ones consist of, and how they sound."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources

from hitl_tui.meaning.frequencies import frequencies, telling
from hitl_tui.meaning.sounds import sound_likeness
from hitl_tui.teams.search.tokens import stem

_UNKNOWN = 3.5
_LISTED = 5.5
_SPLIT = 2.2
_LONE, _PARTICLE = 1.0, 6.0
_MOST_SYLLABLES = 8
_SAYS = 0.3


@lru_cache(maxsize=4096)
def segments(run: str) -> tuple[str, ...]:
    """Return the words, particles and endings that a run of Korean syllables most likely consists of."""
    common, known = frequencies("ko"), _groups()
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, len(run) + 1):
        choices = []
        for start in range(max(0, end - _MOST_SYLLABLES), end):
            word = run[start:end]
            size = end - start
            if word in common:
                cost = 8 - common[word] + (_LONE if size == 1 and common[word] < _PARTICLE else 0)
            elif size > 1 and word in known:
                cost = _LISTED
            else:
                cost = _UNKNOWN + 3.2 * size
            choices.append((best[start][0] + cost + _SPLIT, start))
        best.append(min(choices))
    cuts, at = [], len(run)
    while at:
        cuts.append((best[at][1], at))
        at = best[at][1]
    return tuple(run[start:end] for start, end in reversed(cuts))


@cache
def _groups() -> Mapping[str, tuple[str, ...]]:
    written = resources.files("hitl_tui.teams.search").joinpath("synonyms.toml").read_text(encoding="utf-8")
    found: dict[str, list[str]] = defaultdict(list)
    for group in tomllib.loads(written)["groups"].values():
        for word in group:
            found[stem(word)] += [other for other in group if other != word]
    return {word: tuple(dict.fromkeys(others)) for word, others in found.items()}


def alike(word: str) -> tuple[str, ...]:
    """Return words that stand for a word, in either language, by a list of words of law, offices and computing."""
    return _groups().get(stem(word.casefold()), ())


def best_sounding(word: str, candidates: Sequence[str], most: int = 3, least: float = 55) -> list[tuple[str, float]]:
    """Return the English words that a Korean word sounds like, with how much, 0 to 1."""
    rated = [(one, sound_likeness(word, one)) for one in candidates if telling(one, "en") > _SAYS]
    return [(one, rate / 100) for one, rate in sorted(rated, key=lambda item: -item[1])[:most] if rate >= least]
