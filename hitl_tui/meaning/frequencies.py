"""How common words are in general language, from the data files of wordfreq; its code isn't imported."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_COMMON, _TELLING = 6.6, 3.6
"""Frequencies (Zipf's scale) from which a word says nothing, and below which it says all it can."""


def _data(name: str) -> bytes:
    spec = find_spec("wordfreq")
    places = spec.submodule_search_locations if spec is not None else None
    return Path(next(iter(places)), name).read_bytes() if places else b""


@cache
def frequencies(language: str) -> Mapping[str, float]:
    """Return how common the words of a language (`en`, `ko`) are, on Zipf's scale: 7 is `the`, 3 one in a million."""
    import ormsgpack

    packed = _data(f"data/small_{language}.msgpack.gz")
    bins = ormsgpack.unpackb(gzip.decompress(packed))[1:]
    return {word: 9 - at / 100 for at, words in enumerate(bins) for word in words}


def telling(word: str, language: str) -> float:
    """Return how much a word says, 0 to 1: an ending or a question word next to nothing, a rare name all."""
    common = frequencies(language).get(word, 0.0)
    return min(1.0, max(0.02, (_COMMON - common) / (_COMMON - _TELLING)))
