"""How words sound: Korean ones and English ones in the same few letters, so that 펭귄 is penguin."""

from __future__ import annotations

import re
from functools import lru_cache

_INITIALS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
_VOWELS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
_FINALS = ("", *"ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ")
_FIRST, _SYLLABLES = 0xAC00, 11_172
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


def sound_likeness(korean: str, english: str) -> float:
    """Return how much alike a Korean and an English word sound, 0 to 100."""
    from rapidfuzz import fuzz

    return float(fuzz.ratio(korean_sound(korean), english_sound(english)))
