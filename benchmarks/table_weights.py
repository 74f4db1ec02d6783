"""By what a word of a question means a column, a value or a table: `tables/word_meanings.py` weighs it so.

    uv run --with numpy python benchmarks/table_weights.py

`table_words.json` has words of question sets, and others that mean nothing there: what is said, the nearest names of a
table, and the right ones. What is printed first is how often the likeliest meaning is right, where every fifth word was
left out of the fit; then the weights from all words.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.search_weights import descend
from hitl_tui.meaning.encoder import akin
from hitl_tui.tables.word_meanings import WEIGHTS, Name, bare_form, told
from hitl_tui.tables.words import tokens

_WORDS = Path(__file__).with_name("table_words.json")
_PARTS = 5
Case = tuple[Any, Any, float]
"""What tells of each name whether a word means it, which are right, and how much the word counts."""


def cases(path: Path) -> list[Case]:
    """Return the words of a file."""
    known = []
    for one in json.loads(path.read_text(encoding="utf-8")):
        said = tokens(one["said"])[0]
        word, called = (
            bare_form(said),
            [Name(text, kind, of) for text, kind, of in one["names"]],
        )
        rows = told(said, word, called, akin([word], [name.text for name in called])[0])
        good = np.array([name.column in one["right"] for name, _ in rows])
        x = np.array([[features[part] for part in WEIGHTS] for _, features in rows])
        known.append((x, good, float(one["weight"])))
    return known


def fit(known: Sequence[Case]) -> Any:
    """Return the weights that tell what a word means among the names of a table, or that it means none of them."""
    every = np.concatenate([x for x, _, _ in known])
    mean, spread = every.mean(0), every.std(0) + 1e-6
    mean[0], spread[0] = 0.0, 1.0
    scaled = [((x - mean) / spread, good, worth) for x, good, worth in known]

    def slope(weights: Any) -> Any:
        total = np.r_[0.0, weights[1:]]
        for x, good, worth in scaled:
            odds = np.exp(x @ weights)
            wanted = odds * good / (odds * good).sum() if good.any() else np.zeros(len(odds))
            total = total - worth * ((wanted - odds / (1 + odds.sum())) @ x)
        return total / sum(worth for _, _, worth in scaled)

    found = descend(slope, len(mean)) / spread
    found[0] -= found[1:] @ mean[1:]
    return found


def tell(known: Sequence[Case], weights: Any, least: float) -> tuple[int, int]:
    """Return how many words have a meaning that is likely enough and right, and one that is wrong."""
    right = wrong = 0
    for x, good, _ in known:
        odds = np.exp(x @ weights)
        first = int(odds.argmax())
        likely = odds[first] / (1 + odds.sum()) >= least
        right += bool(likely and good[first])
        wrong += bool(likely and not good[first])
    return right, wrong


def main() -> None:
    """Fit, print, and say how well it does on what was left out."""
    known = cases(_WORDS)
    parts = [(known[at::_PARTS], [c for n, c in enumerate(known) if n % _PARTS != at]) for at in range(_PARTS)]
    fitted = [(left_out, fit(rest)) for left_out, rest in parts]
    print(f"{len(known)} words, {sum(bool(good.any()) for _, good, _ in known)} of which mean something")
    for least in (0.15, 0.4, 0.6):
        told = [tell(left_out, weights, least) for left_out, weights in fitted]
        print(f"   from {least}: {sum(right for right, _ in told)} right, {sum(wrong for _, wrong in told)} wrong")
    print({name: round(float(value), 3) for name, value in zip(WEIGHTS, fit(known), strict=True)})


if __name__ == "__main__":
    main()
