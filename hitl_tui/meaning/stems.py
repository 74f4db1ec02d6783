"""Stems of English words, from any thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module

_REMEMBERED = 65_536
_stemmers = threading.local()


@lru_cache(_REMEMBERED)
def english_stem(word: str) -> str:
    """Return the stem of an English word in lower case."""
    stem_word: Callable[[str], str] | None = getattr(_stemmers, "stem_word", None)
    if stem_word is None:  # a stemmer holds the word that it works on: two threads can't share one
        stem_word = _stemmers.stem_word = import_module("snowballstemmer").stemmer("english").stemWord
    return stem_word(word)
