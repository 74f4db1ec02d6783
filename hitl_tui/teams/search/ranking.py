"""Which passages answer a question best, and whether any does."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from hitl_tui.teams.search.query_terms import Form, Term, Weight, pairs
from hitl_tui.teams.search.tokens import index_tokens

MAX_PASSAGE_CHARS = 600
_FACTORS = {Weight.STRONG: 1.0, Weight.ROLE: 0.5, Weight.WEAK: 0.15, Weight.NUMBER: 0.5, Weight.AMOUNT: 0.1}
_RARITY = 0.75  # below 1, a rare word that isn't the point (kept, wants) weighs less against the others
_PAIR = 0.3
_OTHER_SCRIPT = 0.3  # an absent word in a script the documents don't use says little about them
_IN_TITLE = 0.95
_IN_NAME = 0.6
_NEARBY = 0.3
_NEAR_CHARS = 48
_ENOUGH = 0.52  # share of a question that a passage must cover when it has the rarest word of it
_ENOUGH_BESIDE = 0.6  # and when it hasn't
_FEW = 2
_FEW_LESS = 0.1  # of two words one is half the question
_MANY = 6
_MANY_LESS = 0.1  # nobody's passage has every word of a long question
_HAS = 0.5
_COLLOCATION = 0.35
_RELATIVE = 0.45
_SAME_FILE = 0.93
_LONG_LINES = 6
_RECORD = re.compile(
    r" (?:chang ?log|chang|histori|whatsnew|what new|releas note|archiv|minut|meet note|변경 경이 이력|회의 의록) "
    r"| new(?:s|slett)? $"
)
_OF_RECORD = 0.8
_SENTENCE_END = (".", "!", "?", ":", "。", "|", "}", ";")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A block that has some of the words.

    Args:
        id: its row; blocks of a file follow one another.
        body, title, name: index tokens of its text, its headings and its file's path.
        bm25: SQLite's score, lower is better.
    """

    id: int
    body: str
    title: str
    name: str
    bm25: float


@dataclass(frozen=True, slots=True)
class Weighed:
    """A term with its weight among these documents.

    Args:
        term: what is looked for.
        weight: rarity times how much such a term counts.
        known: the term or a word alike stands in the documents.
        forms: those of its forms that stand in the documents, as (weight, phrases with a space at either end),
            the heaviest first.
    """

    term: Term
    weight: float
    known: bool
    forms: tuple[tuple[float, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate's standing: share of the question it covers (0 to 1) and its score."""

    candidate: Candidate
    coverage: float
    score: float


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a document that answers.

    Args:
        path: file relative to the folder, forward slashes.
        line, end_line: counted from 1, inclusive (in a PDF: within the page).
        page: page of a PDF; 0 for other files.
        heading: the headings above it.
        text: the words, at most `MAX_PASSAGE_CHARS` characters.
        score: higher is better; comparable within one question.
    """

    path: str
    line: int
    end_line: int
    page: int
    heading: str
    text: str
    score: float


def weigh(terms: Sequence[Term], counts: Mapping[str, int], blocks: int, hangul_share: float) -> tuple[Weighed, ...]:
    """Weigh terms by rarity.

    Args:
        terms: what is looked for.
        counts: in how many blocks each phrase stands.
        blocks: how many blocks there are.
        hangul_share: share of the documents written in Korean, 0 to 1.
    """
    result = []
    size = max(blocks, 50)
    for term in terms:
        seen = max((_form_count(form, counts) for form in term.forms if form.weight >= 0.5), default=0)
        weight = math.log(1 + size / (seen + 1)) ** _RARITY * _FACTORS[term.weight]
        script = hangul_share if term.korean else 1 - hangul_share
        if not seen and script < 0.05:
            weight *= _OTHER_SCRIPT
        result.append(Weighed(term, weight, seen > 0, _present(term, counts)))
    for term, phrase in zip(terms, pairs(terms), strict=True):
        if seen := counts.get(phrase, 0):
            # Words that stand side by side in the question and in the documents mean more together (first issue).
            weight = math.log(1 + size / (seen + 1)) ** _RARITY * _PAIR
            result.append(Weighed(replace(term, weight=Weight.WEAK), weight, True, ((1.0, (f" {phrase} ",)),)))
    return tuple(result)


def _present(term: Term, counts: Mapping[str, int]) -> tuple[tuple[float, tuple[str, ...]], ...]:
    forms = sorted(term.forms, key=lambda form: -form.weight)
    return tuple(
        (form.weight, tuple(f" {phrase} " for phrase in form.phrases))
        for form in forms
        if any(counts.get(phrase) for phrase in form.phrases)
    )


def _form_count(form: Form, counts: Mapping[str, int]) -> int:
    return min((counts.get(phrase, 0) for phrase in form.phrases), default=0)


def score(candidates: Sequence[Candidate], weighed: Sequence[Weighed]) -> list[Scored]:
    """Return candidates with their scores, best first."""
    total = sum(item.weight for item in weighed) or 1.0
    best = min((candidate.bm25 for candidate in candidates), default=0.0) or -1.0
    scored = [_score_one(candidate, weighed, total, candidate.bm25 / best) for candidate in candidates]
    return sorted(scored, key=lambda item: (-item.score, item.candidate.id))


def _score_one(candidate: Candidate, weighed: Sequence[Weighed], total: float, bm25: float) -> Scored:
    body, title, name = f" {candidate.body} ", f" {candidate.title} ", f" {candidate.name} "
    covered = titled = named = 0.0
    places: list[tuple[int, ...]] = []
    for item in weighed:
        in_body = _match(item, body)
        in_title = _match(item, title)
        in_name = _match(item, name)
        covered += item.weight * max(in_body, in_title * _IN_TITLE, in_name * _IN_NAME)
        titled += item.weight * in_title
        named += item.weight * in_name
        places.append(_places(item, body) if in_body else ())
    coverage = covered / total
    words = candidate.body.count(" ") + 1
    value = coverage * (1 + 0.3 * _nearness(places)) * (0.8 + 0.2 * bm25)
    value *= 1 + 0.2 * titled / total + 0.1 * named / total
    if words < 6:
        value *= 0.8
    if not named and _RECORD.search(name):
        # What once changed is seldom what holds now, unless the question names that record.
        value *= _OF_RECORD
    return Scored(candidate, coverage, value)


def _match(item: Weighed, text: str) -> float:
    """How well a term stands in some tokens (with a space at either end), 0 to 1."""
    best = 0.0
    for weight, phrases in item.forms:
        if weight <= best:
            break
        if len(phrases) == 1:
            if phrases[0] in text:
                return max(best, weight)
            continue
        share = sum(phrase in text for phrase in phrases) / len(phrases)
        best = max(best, weight * (share if share == 1 else share * 0.5))
    return best


def _places(item: Weighed, body: str) -> tuple[int, ...]:
    found: list[int] = []
    for _, phrases in item.forms:
        at = body.find(phrases[0])
        while at >= 0 and len(found) < 8:
            found.append(at)
            at = body.find(phrases[0], at + 1)
    return tuple(found)


def _nearness(places: Sequence[tuple[int, ...]]) -> float:
    """How close neighbours of the question stand to one another, 0 to 1."""
    pairs = max(len(places) - 1, 1)
    value = 0.0
    for first, second in pairwise(places):
        if first and second:
            gap = min(abs(a - b) for a in first for b in second)
            value += 1.0 if gap <= _NEAR_CHARS // 3 else 0.5 if gap <= _NEAR_CHARS else 0.15
    return value / pairs


def with_neighbours(scored: Sequence[Scored], weighed: Sequence[Weighed], around: Mapping[int, str]) -> list[Scored]:
    """Credit words that stand just before or after a passage, in the same file.

    Args:
        scored: what to credit.
        weighed: the terms.
        around: by candidate id, the tokens of its neighbours.
    """
    total = sum(item.weight for item in weighed) or 1.0
    result = []
    for item in scored:
        own = _whole(item.candidate)
        near = f" {around.get(item.candidate.id, '')} "
        extra = sum(other.weight * max(0.0, _match(other, near) - _match(other, own)) for other in weighed)
        result.append(replace(item, score=item.score + _NEARBY * extra / total))
    return sorted(result, key=lambda item: (-item.score, item.candidate.id))


def answers(scored: Sequence[Scored], weighed: Sequence[Weighed]) -> bool:
    """True when the best passages really speak of what was asked: much of it, not only common words."""
    if not scored:
        return False
    strong = [item for item in weighed if item.term.weight in (Weight.STRONG, Weight.ROLE)]
    if strong and not any(item.known for item in strong):
        return False
    rarest = max(strong or weighed, key=lambda item: item.weight)
    less = _MANY_LESS if len(strong) >= _MANY else 0.0
    enough = _ENOUGH - (_FEW_LESS if len(strong) <= _FEW else less)
    beside = _ENOUGH_BESIDE - less
    return any(
        item.coverage >= (enough if _match(rarest, _whole(item.candidate)) >= _HAS else beside) for item in scored
    )


def _whole(candidate: Candidate) -> str:
    return f" {candidate.body} {candidate.title} {candidate.name} "


def choose(scored: Sequence[Scored], files: Mapping[int, int], limit: int) -> list[Scored]:
    """Return the passages to show: good ones, no near-duplicates, not all of one file when others are as good.

    Args:
        scored: best first.
        files: by candidate id, its file.
        limit: how many at most.
    """
    if not scored:
        return []
    floor = scored[0].score * _RELATIVE
    chosen: list[Scored] = []
    bags: list[frozenset[str]] = []
    taken: dict[int, int] = {}
    rest = [item for item in scored if item.score >= floor]
    while rest and len(chosen) < limit:
        item = max(rest, key=lambda one: one.score * _SAME_FILE ** taken.get(files[one.candidate.id], 0))
        rest.remove(item)
        bag = frozenset(item.candidate.body.split())
        if any(_alike(bag, other) for other in bags):
            continue
        chosen.append(item)
        bags.append(bag)
        taken[files[item.candidate.id]] = taken.get(files[item.candidate.id], 0) + 1
    return chosen


def _alike(first: frozenset[str], second: frozenset[str]) -> bool:
    return len(first & second) >= 0.85 * len(first | second)


def focus(text: str, line: int, end_line: int, weighed: Sequence[Weighed]) -> tuple[int, int, str]:
    """Return the lines of a block to cite: all of a short one, of a long one from the sentence that has the words.

    Returns:
        first line, last line, text of at most `MAX_PASSAGE_CHARS` characters.
    """
    lines = text.split("\n")
    if len(lines) != end_line - line + 1 or (len(lines) <= _LONG_LINES and len(text) <= MAX_PASSAGE_CHARS):
        return line, end_line, _cut(text, weighed)
    values = [_line_value(part, weighed) for part in lines]
    best = max(range(len(lines)), key=lambda at: (values[at], -at))
    first = best
    while first > max(0, best - 3) and not lines[first - 1].rstrip().endswith(_SENTENCE_END):
        first -= 1
    last = first
    size = len(lines[first])
    while last + 1 < len(lines) and (last < best or size + len(lines[last + 1]) < MAX_PASSAGE_CHARS):
        last += 1
        size += len(lines[last]) + 1
    return line + first, line + last, _cut("\n".join(lines[first : last + 1]), weighed)


def _line_value(text: str, weighed: Sequence[Weighed]) -> float:
    tokens = f" {index_tokens(text)} "
    return sum(item.weight * _match(item, tokens) for item in weighed)


def _cut(text: str, weighed: Sequence[Weighed]) -> str:
    """Cut an over-long passage to the window that has most of the words."""
    if len(text) <= MAX_PASSAGE_CHARS:
        return text
    size = MAX_PASSAGE_CHARS - 2
    starts = range(0, len(text) - size + 100, 100)
    best = max(starts, key=lambda at: (_line_value(text[at : at + size], weighed), -at))
    start = text.find(" ", best, best + 60) + 1 or best if best else 0
    piece = text[start : start + size]
    return f"{'…' if start else ''}{piece}{'…' if start + size < len(text) else ''}"
