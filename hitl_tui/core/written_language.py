"""The language that a person writes in, Korean or English. Pure."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W\d_]+")
_HANGUL = re.compile(r"[가-힣\u1100-\u11ff]")  # syllables, and what they consist of where they are decomposed
_FUNCTION_WORDS = frozenset(
    ["the", "a", "an", "is", "are", "was", "of", "in", "for", "to", "what", "how", "why", "when", "where", "which",
     "who", "does", "do", "please", "and", "with", "by", "from", "can", "should", "this", "that", "find", "about"]
)  # fmt: skip


def language_of(text: str, otherwise: str = "") -> str:
    """Return `ko` or `en`: what a person writes in, whatever names and terms of the other stand between.

    Args:
        text: what they wrote.
        otherwise: what tells it where the text is nothing but Latin names.
    """
    words = _WORD.findall(text)
    korean = sum(_HANGUL.search(word) is not None for word in words)
    english = [word.lower() for word in words if word.isascii()]
    sentence = not _FUNCTION_WORDS.isdisjoint(english)
    if not korean:
        return language_of(otherwise) if otherwise and not sentence else "en"
    return "en" if korean <= len(english) and sentence else "ko"
