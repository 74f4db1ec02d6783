"""How much the words of a question say: a rare word or a name more than one of every day, a verb's form little."""

from __future__ import annotations

import re

from hitl_tui.meaning.frequencies import frequencies, telling
from hitl_tui.meaning.word_forms import ends_as_predicate, is_past, noun_of_verb
from hitl_tui.tables.words import Token

PREDICATE = 0.25
"""How much a predicate says at most: what rows are about is said by nouns."""
_AUXILIARY = re.compile(r"\s(?:있|없|주|줘|줄|져|졌|보)")
"""What a Korean verb stands before that another one goes on: `나뉘어 있어`."""
_BEFORE_NOUN = 0.4
"""How much a Korean word says at most that ends as verbs before a noun do, and as some nouns."""
_SUBJECT = re.compile(
    r"(?:\b(?:we|you|they|i|he|she|people|everyone|anyone|who)|\b(?:did|do|does|got|get|gets|to)"
    r"(?:\s(?!(?:our|the|a|an|my|your|their|his|her|its|this|that|any|all|each)\s)\w+)?)"
    r"\s+(?:still\s|already\s|ever\s|all\s)?$",
    re.I,
)
_PASSIVE = re.compile(r"\b(?:is|are|was|were|been|be|has|have|had)\s+$", re.I)
"""What an English verb follows, and one in the passive or perfect."""
_DENIED = re.compile(r"(?<![가-힣])[안못]\s$")
"""What a Korean verb is denied by."""
_HANGUL = re.compile("[가-힣]")


def weight(token: Token, text: str) -> float:
    """Return how much a word says where it stands in a text: a verb little, for what rows are about nouns say."""
    says = rarity(token)
    if token.kind != "word" or re.search(r"\d", token.text):
        return says
    if not _HANGUL.search(token.text):
        subject = not _is_name(token) and _SUBJECT.search(text[: token.start])
        return min(says, PREDICATE) if subject else says
    if (
        is_past(token.text)
        or _DENIED.search(text[: token.start])
        or (token.text[-1] in "아어여해와워" and _AUXILIARY.match(text, token.end))
    ):
        return min(says, PREDICATE)
    return min(says, _BEFORE_NOUN) if ends_as_predicate(token.text) else says


def rarity(token: Token, text: str = "") -> float:
    """Return how rare a word is, or the noun that a Korean verb is made of; that of any other verb says little."""
    if _DENIED.search(text[: token.start]):
        return PREDICATE
    if token.kind != "word" or re.search(r"\d", token.text):
        return 1.0 if token.kind == "word" else 0.9
    if not _HANGUL.search(token.text):
        return max(0.9 * _is_name(token), min(telling(form, "en") for form in token.forms))
    rare = min(telling(form, "ko") for form in token.forms)
    topic = token.text[-1] == "은" and len(token.text) > 2 and token.text[:-1] in frequencies("ko")  # `시급은`
    noun = topic or noun_of_verb(token.text) or not ends_as_predicate(token.text)
    return rare if noun else min(rare, _BEFORE_NOUN)


def is_verb(token: Token, text: str) -> bool:
    """Whether a word is a verb: an English one by where it stands, a Korean one by its end."""
    if _HANGUL.search(token.text):
        return ends_as_predicate(token.text) or _DENIED.search(text[: token.start]) is not None
    before = text[: token.start]
    return not _is_name(token) and (_SUBJECT.search(before) or _PASSIVE.search(before)) is not None


def _is_name(token: Token) -> bool:
    return token.text[0].isupper() and token.start > 0
