"""What words of Korean are called in English, and the other way round.

A line of `glossary.tsv` has a Korean word and what it is called, the commonest first. A verb stands there in the forms
that are left of it without endings, and has the Korean nouns of what it is about as well: 죽었 has death and 사망.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources


@cache
def _english() -> Mapping[str, tuple[str, ...]]:
    """Return the English equivalents of Korean words, the commonest first."""
    written = resources.files("hitl_tui.meaning").joinpath("glossary.tsv").read_text(encoding="utf-8")
    lines = (line.split("\t") for line in written.splitlines())
    return {word: tuple(said.split("; ")) for word, said in lines}


@cache
def _korean() -> Mapping[str, tuple[str, ...]]:
    """Return the Korean equivalents of English words in lower case."""
    found: dict[str, list[str]] = {}
    for word, equivalents in _english().items():
        for one in equivalents:
            found.setdefault(one.casefold(), []).append(word)
    return {word: tuple(equivalents) for word, equivalents in found.items()}


def translations(word: str) -> tuple[str, ...]:
    """Return what a word, in lower case and the singular, is called in the other language."""
    return _korean().get(word, ()) if word.isascii() else _english().get(word, ())
