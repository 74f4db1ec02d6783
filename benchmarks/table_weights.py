"""What the choice between queries of tables weighs, fitted to question sets: the weights of `tables/choice.py`.

    uv run --with numpy python benchmarks/table_weights.py FOLDER [--keep FILE] benchmarks/questions/a.json ...

FOLDER has the folders of each set below the set's name, as `question_sets.py` makes them. Of each question about a
table every candidate is run and is right if its headline says what is expected; of those about passages, and those
without an answer, none is. What is printed first is how often the right one is first, and what the sureness is worth,
where the set it comes from was left out of the fit; then the weights from all sets.
"""

from __future__ import annotations

import argparse
import pickle
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.answers import headline
from benchmarks.question_sets import Question, QuestionSet, holds
from hitl_tui.tables import choice
from hitl_tui.tables.ask import Answer, candidates, named_file, read, run
from hitl_tui.tables.engine import TableError
from hitl_tui.tables.files import table_files
from hitl_tui.tables.profile import profiles
from hitl_tui.tables.query_score import Mapped
from hitl_tui.teams.analysis.table_answer import brief

_MOST, _RUN, _OTHER = 200, 24, 6
"""Tables of a folder, candidates that are run, and of how many questions about no table one is taken."""
_LONG = 5
"""Rows from which on a list only happens to have the answer, where another query gives it."""
_STRONG, _WEAK, _STEPS = 8.0, 4.0, 600


@dataclass
class Case:
    """A question, its candidates, and which of them are right; what is answered today, and whether that is right."""

    set: str
    id: str
    kind: str
    text: str
    candidates: list[Mapped]
    right: list[bool]
    told: list[str]
    today: str
    today_right: bool


def case(name: str, folder: Path, question: Question) -> Case | None:
    """Return what a question may be read as; None where its folder has no table."""
    files = table_files(folder / question.folder)
    file, absent = named_file(question.text, files)
    if not files or absent:
        return None
    known = profiles([file] if file else files).tables[:_MOST]
    if not known:
        return None
    found = candidates(question.text, known, named=file is not None)
    found = sorted(found, key=lambda one: -one.score)[:_RUN]
    about_table = question.kind in ("table", "count")
    texts = [_headline(one, question) if about_table else "" for one in found]
    right = [bool(text) and all(holds(text, group) for group in question.any) for text in texts]
    short = [good and not _is_long(text) for good, text in zip(right, texts, strict=True)]
    right = short if any(short) else right
    answer = read(question.text, files)
    said = answer.mapped if answer.mapped and (not answer.why or answer.likely) else None
    text = _headline(said, question) if said and about_table else ""
    good = bool(text) and all(holds(text, group) for group in question.any)
    today = "likely" if answer.likely else answer.why or "sure"
    return Case(name, question.id, question.kind, question.text, found, right, texts, today, good)


def _headline(one: Mapped, question: Question) -> str:
    try:
        return headline(brief(run(Answer(one)), question.language).answer or "")
    except (TableError, AssertionError, KeyError, ArithmeticError):
        return ""


def _is_long(text: str) -> bool:
    return text.count("\n| ") > _LONG


def fit_order(cases: Sequence[Case], names: Sequence[str]) -> dict[str, float]:
    """Return the weights that put right queries before others."""
    known = [(_matrix(choice.told(c.candidates), names), np.array(c.right), _worth(c)) for c in cases]
    known = [(x, good, worth) for x, good, worth in known if good.any() and not good.all()]
    spread = np.concatenate([x for x, _, _ in known]).std(0) + 1e-6
    scaled = [(x / spread, good, worth) for x, good, worth in known]

    def slope(weights: Any) -> Any:
        total = _STRONG * weights
        for x, good, worth in scaled:
            odds = np.exp(x @ weights - (x @ weights).max())
            odds /= odds.sum()
            wanted = odds * good / (odds * good).sum()
            total = total - worth * ((wanted - odds) @ x)
        return total / len(scaled)

    return dict(zip(names, (_descend(slope, len(names)) / spread).tolist(), strict=True))


def fit_sureness(cases: Sequence[Case], order: dict[str, float]) -> dict[str, float]:
    """Return the weights, and under an empty name the constant, that tell right answers from others."""
    rows = [first_of(c, order) for c in cases]
    names = list(rows[0][0])
    x, good = _matrix([row for row, _ in rows], names), np.array([one for _, one in rows])
    mean, spread = x.mean(0), x.std(0) + 1e-6
    scaled = np.c_[(x - mean) / spread, np.ones(len(x))]
    share = np.array([_worth(c) for c in cases])
    share = share / share.sum()
    held = np.r_[np.full(len(names), _WEAK), 0.0] / len(x)

    def slope(weights: Any) -> Any:
        return scaled.T @ ((1 / (1 + np.exp(-scaled @ weights)) - good) * share) + held * weights

    found = _descend(slope, len(names) + 1)
    weights = found[:-1] / spread
    return {"": float(found[-1] - weights @ mean), **dict(zip(names, weights.tolist(), strict=True))}


def first_of(one: Case, order: dict[str, float]) -> tuple[dict[str, float], bool]:
    """Return what tells whether the first candidate is right, and whether it is."""
    features = choice.told(one.candidates)
    weighed = [sum(order[n] * f[n] for n in order) for f in features]
    at = sorted(range(len(weighed)), key=lambda n: -weighed[n])
    ranked = [replace(one.candidates[n], weight=weighed[n]) for n in at]
    return choice.doubts(ranked), one.right[at[0]]


def _worth(one: Case) -> float:
    """Return how much a question counts: the rules of the first sets were made for them."""
    return 1.0 if one.set[0] in "abcde" else 2.0


def _descend(slope: Callable[[Any], Any], size: int) -> Any:
    weights, first, second = np.zeros(size), np.zeros(size), np.zeros(size)
    for step in range(1, _STEPS + 1):
        down = slope(weights)
        first, second = 0.9 * first + 0.1 * down, 0.99 * second + 0.01 * down * down
        weights = weights - 0.05 * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    return weights


def _matrix(rows: Sequence[dict[str, float]], names: Sequence[str]) -> Any:
    return np.array([[float(features[name]) for name in names] for features in rows])


def tell(name: str, cases: Sequence[Case], order: dict[str, float], sure: dict[str, float]) -> None:
    """Print what an order and a sureness are worth on some questions, beside what is done today."""
    rows = [(c, *first_of(c, order)) for c in cases]
    odds = [1 / (1 + np.exp(-(sure[""] + sum(sure[n] * f[n] for n in f)))) for _, f, _ in rows]
    tables = [c for c in cases if c.kind in ("table", "count")]
    print(
        f"{name}: {len(tables)} of tables, {sum(any(c.right) for c in tables)} among the candidates,"
        f" {sum(good for c, _, good in rows)} first, {sum(c.right[0] for c in tables)} by score;"
        f" today {sum(c.today_right for c in tables)} right,"
        f" {sum(c.today in ('sure', 'likely') and not c.today_right for c in tables)} wrong,"
        f" {sum(c.today in ('sure', 'likely') for c in cases if c not in tables)} of {len(cases) - len(tables)} others"
    )
    for least in (0.3, 0.4, 0.5, 0.6, 0.7):
        said = [(c, good) for (c, _, good), p in zip(rows, odds, strict=True) if p >= least]
        print(
            f"   from {least}: {sum(good for _, good in said)} right,"
            f" {sum(not good and c.kind in ('table', 'count') for c, good in said)} wrong,"
            f" {sum(c.kind not in ('table', 'count') for c, _ in said)} others"
        )


def main() -> None:
    """Fit, print, and say how well it does on what was left out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--keep", type=Path, help="where what was measured is kept, and taken from if it is there")
    given = parser.parse_args()
    known: list[Case] = []
    if given.keep and given.keep.exists():
        known = pickle.loads(given.keep.read_bytes())
    for path in () if known else given.sets:
        asked = [q for q in QuestionSet.read(path).questions if not q.after]
        others = [q for q in asked if q.kind not in ("table", "count")][::_OTHER]
        wanted = [q for q in asked if q.kind in ("table", "count")] + others
        with Pool(2) as pool:
            known += filter(None, pool.imap(partial(case, path.stem, given.folder / path.stem), wanted, chunksize=4))
        print(f"{path.stem}: {len(wanted)} questions", flush=True)
    if given.keep:
        given.keep.write_bytes(pickle.dumps(known))
    names = list(choice.told(known[0].candidates)[0])
    for left_out in sorted({one.set for one in known}):
        rest = [one for one in known if one.set != left_out]
        order = fit_order(rest, names)
        tell(left_out, [one for one in known if one.set == left_out], order, fit_sureness(rest, order))
    order = fit_order(known, names)
    sure = fit_sureness(known, order)
    tell("all", known, order, sure)
    for name, weights in (("ORDER", order), ("SURENESS", sure)):
        print(name, {key: round(value, 3) for key, value in weights.items()})


if __name__ == "__main__":
    main()
