"""Which of the queries that a question may be read as is meant, and how likely its answer is right.

Order and sureness are those of logistic regressions over what is told of each query; `benchmarks/table_weights.py`
finds their weights on the questions of question sets, those about passages and those without an answer among them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from hitl_tui.tables.query_score import WORKED, Mapped

OF_TABLE = 6
"""Queries of one table that are compared with those of others."""
_STANDS_FOR_MORE = 0.6
"""How much less a word counts that every table has."""
_RIVALS = 5.0
"""Weight beyond which one query isn't said to be before the next by more."""
ORDER: Mapping[str, float] = {}
SURENESS: Mapping[str, float] = {"": 0.0}


def told(candidates: Sequence[Mapped]) -> list[dict[str, float]]:
    """Return what tells of each query whether it is meant, beside the others."""
    first: dict[str, Mapped] = {}
    for one in candidates:
        if one.table.name not in first or one.score > first[one.table.name].score:
            first[one.table.name] = one
    shared = Counter(n for one in first.values() for n, weight in one.weights.items() if weight > 0)
    return [_told(one, first[one.table.name], shared, candidates) for one in candidates]


def _told(one: Mapped, first: Mapped, shared: Mapping[int, int], others: Sequence[Mapped]) -> dict[str, float]:
    query = one.query
    common = sum(w * (1 - 1 / max(1, shared[n])) for n, w in one.weights.items() if w > 0)
    exact = any(
        one.near & o.exact and one.exact <= o.exact and o.share >= one.share for o in others if o is not one
    )
    listed = query.shape == "rows" and not query.order
    bare = query.shape == "figure" and query.aggregate == "count" and not query.filters
    return {
        "score": max(-4.0, min(5.0, one.score - 5.0 * one.named)),
        "share": one.share,
        "subject": min(2.0, one.subject),
        "common": _STANDS_FOR_MORE * common,
        "called_otherwise": float(exact),
        "missing": float(bool(one.missing)),
        "strange": one.strange,
        "left": min(4.0, one.left),
        "undone": float(len(one.undone)),
        "unworked": float(bool(one.undone.intersection(WORKED))),
        "assumes": max(-1.0, min(2.0, one.assumes)),
        "assumed": float(bool(one.assumed)),
        "guessed": min(3.0, float(len(one.guessed))),
        "doubted": min(4.0, one.doubted),
        "own": float(one.own),
        "behind": min(3.0, first.score - one.score),
        "bare": float(bare),
        "listed": float(listed),
        "looks_up": float(one.looks_up),
        "grouped": float(query.shape == "groups"),
        "first": float(bool(query.order)),
        "filters": min(3.0, float(len(query.filters))),
        "unlimited": float(not query.filters and not one.named),
    }


def ordered(candidates: Sequence[Mapped]) -> list[Mapped]:
    """Return queries with what they weigh, the heaviest first."""
    weighed = [replace(c, weight=_weigh(t, ORDER)) for c, t in zip(candidates, told(candidates), strict=True)]
    return sorted(weighed, key=lambda one: -one.weight)


def doubts(ranked: Sequence[Mapped]) -> dict[str, float]:
    """Return what tells whether the first of some queries is right."""
    best = ranked[0]
    features = told(ranked)[0]
    elsewhere = [one.weight for one in ranked[1:] if one.table.name != best.table.name]
    beside = [one.weight for one in ranked[1:] if one.table.name == best.table.name]
    return {
        "weight": best.weight,
        "before_others": min(_RIVALS, best.weight - max(elsewhere, default=-math.inf)),
        "before_next": min(_RIVALS, best.weight - max(beside, default=-math.inf)),
        "named": float(best.named),
        "counts": float(best.counts),
        **{name: features[name] for name in _OF_FIRST},
    }


_OF_FIRST = (
    "score", "share", "subject", "missing", "strange", "left", "undone", "assumes", "assumed", "guessed", "doubted",
    "own", "bare", "listed", "looks_up", "unlimited",
)  # fmt: skip


def sureness(ranked: Sequence[Mapped]) -> float:
    """Return how likely the first of some queries is right, 0 to 1."""
    return 1 / (1 + math.exp(-_weigh({"": 1.0, **doubts(ranked)}, SURENESS)))


def _weigh(features: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return sum(weight * features[name] for name, weight in weights.items())
