"""What the search weighs, fitted to question sets: the weights of `teams/search/ranking.py`.

    uv run --with numpy python benchmarks/search_weights.py FOLDER [--keep FILE] benchmarks/questions/a.json ...

FOLDER has the folders of each set below the set's name, as `question_sets.py` makes them. A question is asked in its
folder, among eight files with its answer, and among eight without. What is printed first is how often the answer is
first, and among the first three, where the set it comes from was left out of the fit; then the weights from all sets.

How sure an answer is where there are many windows is also fitted to the 600 questions of `questions/places.jsonl`, by
people who saw folders of the sets and nothing else; a hundred and twenty have no answer there.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import pickle
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.question_sets import Question, QuestionSet, Source
from hitl_tui.teams.search import ranking
from hitl_tui.teams.search.index import SearchIndex, named_in, open_store
from hitl_tui.teams.search.index_refresh import Allowed
from hitl_tui.teams.search.passage_search import asked_of

_FILES, _READ, _RANKED, _JUDGED = 8, 35, 25, 8
_TEXTS = (".md", ".rst", ".txt", ".html", ".page", ".py", ".yaml", ".xml", ".adoc", "")
_STRONG, _WEAK = 10.0, 3.0
"""How much the weights of an order and of a confidence are held down, in standard deviations."""
_STEPS = 600
_SAME = 1e-6
_PLACES = Path(__file__).with_name("questions") / "places.jsonl"
Rows = list[tuple[dict[str, float], bool]]


@dataclass
class Case:
    """A question in a folder, and what of each window is weighed, with whether the answer stands there."""

    set: str
    id: str
    answered: bool
    large: bool
    windows: int
    terms: int
    headings: Rows = field(default_factory=list)
    sentences: Rows = field(default_factory=list)
    answers: Rows = field(default_factory=list)
    absent: float = 0.0
    said: list[float] = field(default_factory=list)


def cases(name: str, folder: Path, questions: QuestionSet) -> Iterator[Case]:
    """Yield the questions about passages, and those without an answer, each in its folder and in small parts of it."""
    chance = random.Random(name)
    with tempfile.TemporaryDirectory() as made:
        for place in sorted({question.folder for question in questions.questions}):
            store = Path(made, f"{place}.db")
            with SearchIndex(store) as index:
                index.refresh(folder / place, allowed=Allowed(sketches=None))
            for question in questions.questions:
                if question.folder != place or question.kind not in ("passage", "none"):
                    continue
                if (case := _case(name, store, question, large=True)) is not None:
                    yield case
                if question.kind == "passage":
                    for with_answer in (True, False):
                        small = _small(folder / place, question, chance, with_answer=with_answer)
                        with _indexed(folder / place, small) as part:
                            case = _case(name, part, question, large=False, answered=with_answer)
                        if case is not None:
                            yield case


def places(folder: Path) -> Iterator[Case]:
    """Yield the questions about a place in the folders of several sets, each in its whole folder."""
    lines = [json.loads(line) for line in _PLACES.read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as made:
        for place in sorted({line["folder"] for line in lines}):
            store = Path(made, f"{place.replace('/', ' ')}.db")
            with SearchIndex(store) as index:
                index.refresh(folder / place, allowed=Allowed(sketches=None))
            for line in (one for one in lines if one["folder"] == place):
                kind, sources = "passage" if line["sources"] else "none", tuple(map(Source.of, line["sources"]))
                question = Question(line["id"], place, line["language"], kind, line["question"], sources=sources)
                if (case := _case(place.partition("/")[0], store, question, large=True)) is not None:
                    yield case


def _small(folder: Path, question: Question, chance: random.Random, *, with_answer: bool) -> list[str]:
    own = {source.path for source in question.sources}
    every = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.suffix in _TEXTS and p.is_file())
    others = [path for path in every if path not in own]
    chosen = chance.sample(others, min(_FILES, len(others)))
    return [*sorted(own)[:2], *chosen][:_FILES] if with_answer else chosen


@contextlib.contextmanager
def _indexed(folder: Path, files: Sequence[str]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as made:
        for path in files:
            target = Path(made, "files", path)
            target.parent.mkdir(parents=True, exist_ok=True)
            if (folder / path).is_file():
                shutil.copyfile(folder / path, target)
        store = Path(made, "index.db")
        with SearchIndex(store) as index:
            index.refresh(Path(made, "files"))
        yield store


def _case(name: str, store: Path, question: Question, *, large: bool, answered: bool = True) -> Case | None:
    db = open_store(store)
    try:
        named, rest = named_in(db, question.text)
        if named and not large:
            return None
        asked, _ = asked_of(db, rest, named)
        found = ranking.by_headings(asked, ranking.candidates(db, asked, named))
        if not found:
            return None
        sentences = ranking.by_sentences(asked, found[:_READ])
        read = ranking.by_answers(asked, sentences)
    finally:
        db.close()
    case = Case(name, question.id, answered and question.kind == "passage", large, asked.windows, len(asked.terms))
    case.absent = asked.absent(read[0].text)
    for window in found:
        case.headings.append((dict(window.features), _answers(window, question)))
    for window in sentences:
        case.sentences.append((_floats(window.features), _answers(window, question)))
    for window in read:
        case.answers.append((_floats(window.features), _answers(window, question)))
        case.said.append(window.said)
    return case


def _floats(features: Mapping[str, float]) -> dict[str, float]:
    return {name: float(value) for name, value in features.items()}


def _answers(window: ranking.Window, question: Question) -> bool:
    first, last = window.parts[0][0], window.parts[-1][1]
    return any(
        window.path == source.path and (not source.first or (first <= source.last and last >= source.first))
        for source in question.sources
    )


def fit_order(rows: Sequence[Rows], names: Sequence[str]) -> dict[str, float]:
    """Return the weights that put windows with an answer before the others."""
    known = [(_matrix(row, names), np.array([good for _, good in row])) for row in rows]
    known = [(x, good) for x, good in known if good.any() and not good.all()]
    spread = np.concatenate([x for x, _ in known]).std(0) + 1e-6
    scaled = [(x / spread, good) for x, good in known]

    def slope(weights: Any) -> Any:
        total = _STRONG * weights
        for x, good in scaled:
            odds = np.exp(x @ weights - (x @ weights).max())
            odds /= odds.sum()
            wanted = odds * good / (odds * good).sum()
            total = total - (wanted - odds) @ x
        return total / len(scaled)

    return dict(zip(names, (descend(slope, len(names)) / spread).tolist(), strict=True))


def fit_unjudged(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the weights that tell, from the other features, how the thorough encoder would judge a window."""
    names = [name for name in ranking.UNJUDGED if name]
    x = np.c_[_matrix([(row, False) for row in rows], names), np.ones(len(rows))]
    found = np.linalg.lstsq(x, np.array([row["answer"] for row in rows]), rcond=None)[0].tolist()
    return {"": found[-1], **dict(zip(names, found[:-1], strict=True))}


def fit_confidence(rows: Sequence[dict[str, float]], good: Sequence[bool], worth: Sequence[float]) -> dict[str, float]:
    """Return the weights, and under an empty name the constant, that tell answered questions from others."""
    names = list(rows[0])
    x = np.array([[row[name] for name in names] for row in rows])
    mean, spread = x.mean(0), x.std(0)
    spread[spread < _SAME] = np.inf  # what is the same everywhere tells nothing
    scaled, share = np.c_[(x - mean) / spread, np.ones(len(x))], np.array(worth) / sum(worth)
    held = np.r_[np.full(len(names), _WEAK), 0.0] / len(x)

    def slope(weights: Any) -> Any:
        return scaled.T @ ((1 / (1 + np.exp(-scaled @ weights)) - np.array(good)) * share) + held * weights

    found = descend(slope, len(names) + 1)
    weights = found[:-1] / spread
    told = {name: weight for name, weight in zip(names, weights.tolist(), strict=True) if weight}
    return {**told, "": float(found[-1] - weights @ mean)}


def descend(slope: Callable[[Any], Any], size: int) -> Any:
    """Return where a function that has this slope is least, from zeros on."""
    weights, first, second = np.zeros(size), np.zeros(size), np.zeros(size)
    for step in range(1, _STEPS + 1):
        down = slope(weights)
        first, second = 0.9 * first + 0.1 * down, 0.99 * second + 0.01 * down * down
        weights = weights - 0.05 * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    return weights


def _matrix(rows: Rows, names: Sequence[str]) -> Any:
    return np.array([[float(features[name]) for name in names] for features, _ in rows])


def few(case: Case, chance: random.Random) -> Iterator[Case]:
    """Yield two cases with a few of one's windows, as of a folder with a note or two."""
    good = [at for at, (_, answers) in enumerate(case.answers) if answers]
    others = [at for at, (_, answers) in enumerate(case.answers) if not answers]
    for number in chance.choices((0, 1, 2, 3, 5, 8), k=2):
        chosen = chance.sample(good, 1) if case.answered and good else others[:1]
        chosen = sorted({*chosen, *chance.sample(others, min(number, len(others)))})
        most = max((case.said[at] for at in chosen), default=0.0) or 1.0
        rows = [({**case.answers[at][0], "words": case.said[at] / most}, case.answers[at][1]) for at in chosen]
        if rows:
            said = [case.said[at] for at in chosen]
            yield replace(
                case, answered=case.answered and bool(good), headings=[], sentences=[], answers=rows, said=said
            )


def usual(known: Sequence[Case], weights: dict[str, float]) -> float:
    """Return what windows weigh that don't answer."""
    ranked = [sorted((_weigh(row, weights) for row, _ in case.answers), reverse=True) for case in known]
    others = [weight for row in ranked for weight in row[3:_RANKED]]
    return sum(others) / len(others)


def _weigh(features: dict[str, float], weights: dict[str, float]) -> float:
    return sum(weights[name] * features[name] for name in weights)


def _odds(row: dict[str, float], weights: dict[str, float]) -> float:
    return _weigh({**row, "": 1.0}, weights)


def confidence(case: Case, weights: dict[str, float], other: float) -> tuple[dict[str, float], bool, bool]:
    """Return what tells whether the first three answer, and whether the first, and one of the three, does."""
    order = [_weigh(features, weights) for features, _ in case.answers]
    ranked = sorted(range(len(order)), key=lambda at: -order[at])[:_RANKED]
    best, size = ranked[:3], math.log(1 + case.windows)
    found = {
        "weight": order[ranked[0]],
        "stands_out": order[ranked[0]] - (sum(order[at] for at in ranked) + (_RANKED - len(ranked)) * other) / _RANKED,
        "ahead": order[ranked[0]] - (order[ranked[1]] if len(ranked) > 1 else other),
        "words": max(case.said[at] for at in best) / size,
        "answer": max(case.answers[at][0]["answer"] for at in best),
        "sentence": max(case.answers[at][0]["sentence"] for at in best),
        "match": max(case.answers[at][0]["match"] for at in best),
        "share": max(case.answers[at][0]["share"] for at in best),
        "terms": float(case.terms),
        "windows": size,
        "absent": case.absent,
        "foreign": case.answers[ranked[0]][0]["foreign"],
    }
    return found, case.answers[ranked[0]][1], any(case.answers[at][1] for at in best)


def main() -> None:
    """Fit, print, and say how well it does on what was left out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--keep", type=Path, help="where what was measured is kept, and taken from if it is there")
    given = parser.parse_args()
    if given.keep and given.keep.exists():
        known, more = pickle.loads(given.keep.read_bytes())
    else:
        known = [c for path in given.sets for c in cases(path.stem, given.folder / path.stem, QuestionSet.read(path))]
        more = list(places(given.folder))
        if given.keep:
            given.keep.write_bytes(pickle.dumps((known, more)))
    for left_out in sorted({case.set for case in known}):
        others = ([case for case in some if case.set != left_out] for some in (known, more))
        fitted = _fit(*others)
        _tell(left_out, fitted, [case for case in known if case.set == left_out])
    fitted = _fit(known, more)
    for name, weights in (
        ("HEADINGS", fitted.headings),
        ("SENTENCES", fitted.sentences),
        ("ANSWERS", fitted.answers),
        ("UNJUDGED", fitted.unjudged),
        ("CONFIDENCE_IN_MANY", fitted.sure[True]),
        ("CONFIDENCE_IN_FEW", fitted.sure[False]),
    ):
        print(name, {key: round(value, 3) for key, value in weights.items()})
    print("USUAL", round(fitted.usual, 1))


@dataclass(frozen=True)
class Fitted:
    """The weights that were found."""

    headings: dict[str, float]
    sentences: dict[str, float]
    answers: dict[str, float]
    unjudged: dict[str, float]
    sure: dict[bool, dict[str, float]]
    usual: float


def _fit(known: Sequence[Case], more: Sequence[Case]) -> Fitted:
    """Return the weights; how sure an answer is among many windows is learnt from whole folders, and from more of them.

    Parts of folders would say that there is nothing in more cases than people ask about.
    """
    headings = fit_order([case.headings for case in known if case.answered], list(ranking.HEADINGS))
    sentences = fit_order([case.sentences for case in known if case.answered], list(ranking.SENTENCES))
    answers = fit_order([case.answers for case in known if case.answered], list(ranking.ANSWERS))
    unjudged = fit_unjudged([features for case in known for features, _ in case.answers[:_JUDGED]])
    other, chance = usual(known, answers), random.Random(0)
    parts = [part for case in known if not case.large for part in few(case, chance)]
    whole = [case for case in (*known, *more) if case.large and case.windows > ranking.FEW]
    sure = {}
    for many, asked in ((True, whole), (False, [*known, *parts])):
        some = [(case, *confidence(case, answers, other)) for case in asked if (case.windows > ranking.FEW) == many]
        # Few windows are read quickly: something else than the answer is half as bad there as one where there is none.
        worth = [1.0 if many or good or not case.answered else 0.5 for case, _, _, good in some]
        sure[many] = fit_confidence([row for _, row, _, _ in some], [good for *_, good in some], worth)
    return Fitted(headings, sentences, answers, unjudged, sure, other)


def _tell(left_out: str, fitted: Fitted, known: Sequence[Case]) -> None:
    chance = random.Random(0)
    groups = {
        "whole folders": [case for case in known if case.large],
        "eight files": [case for case in known if not case.large],
        "a few windows": [part for case in known if not case.large for part in few(case, chance)],
    }
    for name, group in groups.items():
        some = [(case, *confidence(case, fitted.answers, fitted.usual)) for case in group]
        asked = [(first, three) for case, _, first, three in some if case.answered]
        print(
            f"{left_out}, {name}: {len(asked)} answers,"
            f" {sum(first for first, _ in asked)} first, {sum(three for _, three in asked)} among three"
        )
        for least in (-1.0, -0.5, 0.0, 0.5, 1.0):
            odds = [(c, _odds(row, fitted.sure[c.windows > ranking.FEW]), good) for c, row, _, good in some]
            print(
                f"   from {least:4.1f}: {sum(good and o > least for _, o, good in odds):3} right,"
                f" {sum(c.answered and not good and o > least for c, o, good in odds):3} something else,"
                f" {sum(c.answered and o <= least for c, o, _ in odds):3} not found;"
                f" of {sum(not c.answered for c, _, _ in odds)} without an answer"
                f" {sum(not c.answered and o <= least for c, o, _ in odds)} not found"
            )


if __name__ == "__main__":
    main()
