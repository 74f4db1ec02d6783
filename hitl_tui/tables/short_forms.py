"""Short forms in names of columns and in codes, and what they stand for in English and Korean."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources


@cache
def _senses() -> Mapping[str, tuple[str, ...]]:
    written = resources.files("hitl_tui.tables").joinpath("short_forms.tsv").read_text(encoding="utf-8")
    lines = (line.split("\t") for line in written.splitlines())
    return {short: tuple(f"{english}; {korean}".split("; ")) for short, english, korean in lines}


@cache
def _short() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for short, senses in _senses().items():
        for sense in senses:
            found.setdefault(sense, []).append(short)
    return {sense: tuple(forms) for sense, forms in found.items()}


def senses_of(short: str) -> tuple[str, ...]:
    """Return what a short form in lower case may stand for, English words before Korean ones; nothing for a word."""
    return _senses().get(short, ())


def short_forms_of(words: str) -> tuple[str, ...]:
    """Return the short forms of some words in lower case."""
    return _short().get(words, ())
