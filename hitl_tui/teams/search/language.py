"""What is known of words in general: which stand for one another, what Korean ones consist of, and how they sound."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources

from hitl_tui.meaning.frequencies import frequencies, telling
from hitl_tui.teams.search.tokens import stem

_INITIALS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
_VOWELS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
_FINALS = ("", *"ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ")
_FIRST, _SYLLABLES = 0xAC00, 11_172
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


_SOUND = dict(zip("ㄱㄲㅋㄴㄷㄸㅌㄹㅁㅂㅃㅍㅅㅆㅈㅉㅊㅎㅇ", (*"kkkntttlmpppssjjjh", ""), strict=True)) | {
    "ㅏ": "a", "ㅐ": "e", "ㅑ": "ya", "ㅒ": "ye", "ㅓ": "o", "ㅔ": "e", "ㅕ": "yo", "ㅖ": "ye", "ㅗ": "o", "ㅘ": "wa",
    "ㅙ": "we", "ㅚ": "we", "ㅛ": "yo", "ㅜ": "u", "ㅝ": "wo", "ㅞ": "we", "ㅟ": "wi", "ㅠ": "yu", "ㅡ": "", "ㅢ": "i",
    "ㅣ": "i",
}  # fmt: skip
_FINAL_SOUND = dict(zip("ㄱㅋㄴㄷㅅㅌㅆㅈㅊㄹㅁㅂㅍㅇ", (*"kknttttttlmpp", "ng"), strict=True))
_SPELT = [
    (re.compile(pattern), sound)
    for pattern, sound in (
        ("tion", "son"), ("sion", "jon"), ("ture", "jo"), ("ph", "p"), ("tch|ch", "j"), ("sch|sh", "s"),
        ("ck|cq|qu|q", "k"), ("th", "t"), ("wh", "w"), ("dg", "j"), ("gh(?=t|$)", ""), ("^kn", "n"), ("^wr", "r"),
        ("(?<=n)g$", ""), ("c(?=[eiy])", "s"), ("g(?=[ey])", "j"), ("c|g", "k"), ("x", "ks"), ("z|j", "j"),
        ("v|f|b", "p"), ("d", "t"), ("(?<=[aeiou])re?(?![aeiou])", ""), ("r", "l"), ("(?<=[^aeiou])e$", ""),
        ("e?ue$", "yu"), ("ee|ea|ie", "i"), ("oo|ou", "u"), ("ai|ay|ei|ey", "ei"), ("au|aw", "o"),
        ("(?<![aeiou])y", "i"), ("u(?=[nmpklt]+[^aeiou]|[nmpklt]$)", "o"),
    )
]  # fmt: skip
_TWICE = re.compile(r"(.)\1+")


def korean_sound(word: str) -> str:
    """Return how the whole syllables of a Korean word sound, in few letters."""
    said = []
    for number in (ord(char) - _FIRST for char in word):
        if not 0 <= number < _SYLLABLES:
            continue
        said.append(_SOUND[_INITIALS[number // 588]] + _SOUND[_VOWELS[number // 28 % 21]])
        said.append(_FINAL_SOUND.get(_FINALS[number % 28], ""))
    return _TWICE.sub(r"\1", "".join(said).replace("ing", "in"))


@lru_cache(maxsize=65_536)
def english_sound(word: str) -> str:
    """Return how an English word sounds to Korean ears, in the letters of `korean_sound`."""
    said = word.casefold()
    for pattern, sound in _SPELT:
        said = pattern.sub(sound, said)
    return _TWICE.sub(r"\1", said)


def skeleton(sound: str) -> str:
    """Return the consonants of a sound, by which foreign words are looked up."""
    return re.sub("(?<!^)h|[aeiouy]", "", sound)


def best_sounding(word: str, candidates: Sequence[str], most: int = 3, least: float = 55) -> list[tuple[str, float]]:
    """Return the English words that a Korean word sounds like, with how much, 0 to 1."""
    from rapidfuzz import fuzz

    sound = korean_sound(word)
    rated = [(one, fuzz.ratio(sound, english_sound(one))) for one in candidates if telling(one, "en") > _SAYS]
    return [(one, rate / 100) for one, rate in sorted(rated, key=lambda item: -item[1])[:most] if rate >= least]
