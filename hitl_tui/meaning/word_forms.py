"""What the form of a word tells, in English and Korean: its singular, its root, whether it asks, tells or denies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from hitl_tui.meaning.frequencies import frequencies

_DENIED_NOUN = re.compile("미(납|입금|결제|지급|정산|완료|제출|반납|수금)")
_VERB_OF_NOUN = re.compile("([가-힣]{2,}?)(?:[하한할함합해했되된될됨됩돼됐받]|시[키킨켰])[가-힣]*")
"""A verb that Korean makes of a noun: `입사했어`, `납품하는`."""
_QUESTION_WORD = re.compile("뭐|뭔|뭘|무엇|무슨|어디|어느|어떤|어떻|누구|누가|언제|얼마|몇|며칠|왜(?![가-힣])|왜요")
_PAST, _BEFORE_NOUN = 20, (4, 8)
"""Finals of a verb of the past, and of verbs that stand before a noun: `낸`, `낼`."""
_ENDINGS = ("e", "ed", "er", "or", "ing", "ion", "ation", "ment")
_ROOT = 5
"""Letters that words of one root have in common."""


# English ------------------------------------------------------------------------------------------------------------


@lru_cache(65536)
def lemma(word: str) -> str:
    """Return the singular of an English word in lower case, or the word."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if word.endswith("s") and len(word) > 3 and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def same_root(word: str, other: str) -> bool:
    """Whether two English words begin alike for most of the longer one, as a surgeon does surgery."""
    common = len(common_start((word, other)))
    return common >= _ROOT and (common > 0.7 * max(len(word), len(other)) or not stems(word).isdisjoint(stems(other)))


@lru_cache(4096)
def stems(word: str) -> frozenset[str]:
    """Return an English word without each ending that makes a verb or noun of another: `commuted`, `commutations`."""
    bare = (word[: -len(ending)] for ending in _ENDINGS if word.endswith(ending))
    return frozenset(stem for stem in bare if len(stem) >= _ROOT)


def common_start(texts: Sequence[str]) -> str:
    """Return what texts begin with alike."""
    first, last = min(texts), max(texts)
    return first[: next((n for n, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))]


# Korean -------------------------------------------------------------------------------------------------------------


def is_question_word(word: str) -> bool:
    """Whether a word asks: `어디`, `얼마예요`."""
    return _QUESTION_WORD.match(word) is not None


def is_past(word: str) -> bool:
    """Whether a word is a verb of the past: a syllable ends as only those do."""
    return any(_final(letter) == _PAST for letter in word)


def stands_before_noun(word: str) -> bool:
    """Whether a word ends as verbs do that stand before a noun."""
    return _final(word[-1]) in _BEFORE_NOUN


def ends_as_predicate(word: str) -> bool:
    """Whether a word is a verb or adjective: of the past, or as those before a noun end that no list has."""
    return is_past(word) or (stands_before_noun(word) and len(word) > 1 and word not in frequencies("ko"))


def noun_of_verb(word: str) -> str:
    """Return the noun that a verb is made of; empty for another word: `결석` of `결석했나`."""
    found = _VERB_OF_NOUN.fullmatch(word)
    return found[1] if found else ""


def noun_denied(word: str) -> str:
    """Return what a noun denies; empty for another word: `납` of `미납`."""
    found = _DENIED_NOUN.match(word)
    return found[1] if found else ""


def _final(letter: str) -> int:
    return (ord(letter) - 0xAC00) % 28 if "가" <= letter <= "힣" else 0
