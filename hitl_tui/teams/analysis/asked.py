"""A question: what it asks for, the words that say what it is about, and how well a quantity is about those."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hitl_tui.meaning.frequencies import telling
from hitl_tui.tables.words import likeness, tokens
from hitl_tui.teams.analysis.quantities import Quantity, of_question, spans, thing
from hitl_tui.teams.analysis.words import (
    ASKS_HOW_MUCH,
    ASKS_WHAT_MAY_BE,
    EACH,
    FALL,
    HOW_LONG,
    LEFT,
    MOVES,
    OPERATORS,
    PLANNED,
    RISE,
    SHARE,
    TOTAL,
    USED,
    beyond,
    closed,
    matters,
    under,
)

OWN, NEAR, FAR, BEFORE = 1.0, 0.95, 0.7, 0.5
"""How well a quantity is about a word that its clause, its sentence, its headings, or the sentence before has."""
_SINCE = re.compile(
    r"\b(?:since|from|than|compared\s(?:to|with))\s(?:in\s)?(?:19|20)\d\d|\d\s?년?(?:보다|에\s?비|\s?대비|부터)", re.I
)
_VERB = re.compile(r"(?:[아어여해]|[아어해]도|하면|으면|[나까]요|는데)$")
_PREDICATE = 0.3
"""How much a Korean verb says at most."""
_NOW = re.compile(r"\bnow\b|지금|현재|올해", re.I)
_PER = re.compile(
    r"\b(?:per|an?|each|every)\s(?P<en>person|head|hour|day|night|week|month|year|kg|kwh|litre|km|piece)\b|"
    r"(?P<ko>1인|시간|회|월|개|팀)\s?당",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a question.

    Args:
        forms: what it may be looked for as.
        weight: how much it says.
        role: it says that something was planned, or what came of it.
        time: it names a year or month.
    """

    forms: tuple[str, ...]
    weight: float
    role: bool = False
    time: bool = False


class Asked:
    """A question, read.

    Args:
        question: the question.
        language: `ko` or `en`.
    """

    def __init__(self, question: str, language: str) -> None:
        self.text, self.language = question, language
        self.per = next((thing(m["ko"] or m["en"]) for m in _PER.finditer(question)), "")
        stated = of_question(question)
        self.own = [replace(q, per=q.per or self.per) if q.amount.kind == "money" else q for q in stated]
        self.closed = closed(question)
        self.how_much, self.long = _has(ASKS_HOW_MUCH, question), _has(HOW_LONG, question)
        self.share, self.total, self.each = _has(SHARE, question), _has(TOTAL, question), _has(EACH, question)
        self.left, self.may = _has(LEFT, question), _has(ASKS_WHAT_MAY_BE, question)
        self.beyond = beyond(question) or under(question)
        self.moves = bool(matters(question) & {RISE, FALL})
        self.differs = self.moves or _has(MOVES, question) or self.beyond or self.left
        self.years = [int(year) for year in re.findall(r"(?<!\d)(?:19|20)\d\d(?!\d)", question)]
        self.since, self.now = _has(_SINCE, question), _has(_NOW, question)
        self.words = self._words()

    @property
    def computes(self) -> bool:
        """Whether something has to be computed, not only looked up."""
        asked = self.differs or self.share or self.total or self.each or self.long or self.own
        return bool(asked and (self.how_much or self.share or self.long or self.total or self.closed))

    def _words(self) -> list[Word]:
        stated = spans(self.text)
        operators = [
            m.span()
            for e in (_PER, TOTAL, EACH, LEFT, HOW_LONG, OPERATORS, ASKS_WHAT_MAY_BE)
            for m in e.finditer(self.text)
        ]
        made: dict[str, Word] = {}
        for token in tokens(self.text):
            number = int(token.number or 0)
            if token.kind == "year" and token.text[:1].isdigit():
                made[token.text] = Word((str(number),), 0.5, time=True)
            elif token.kind == "month" and number:
                made[token.text] = Word((f"month{number}",), 0.4, time=True)
            elif token.kind == "number" and number and re.match(r"\s?일(?!간)", self.text[token.end :]):
                made[token.text] = Word((f"day{number}",), 0.4)
            ends = any(token.start == end and not token.text.isascii() for _, end in stated)
            if token.kind != "word" or token.filler or len(token.text) < 2 or ends:
                continue
            if matters(token.text) & {RISE, FALL} or any(
                _covers(one, token.start, token.end) for one in (*stated, *operators)
            ):
                continue
            language = "en" if token.text.isascii() else "ko"
            weight = max(0.15, min(telling(form, language) for form in token.forms))
            weight = min(weight, _PREDICATE) if language == "ko" and _VERB.search(token.text) else weight
            role = any(one.match(form) for one in (PLANNED, USED) for form in token.forms)
            made.setdefault(token.forms[-1], Word(token.forms, weight, role))
        return list(made.values())

    def covers(self, quantities: Sequence[Quantity]) -> list[list[float]]:
        """Return how well each quantity is about each word."""
        every = frozenset[str]().union(*(q.own | q.near | q.far | q.before | {q.per, q.noun} for q in quantities))
        hits = [frozenset(word for word in every if word and _alike(asked.forms, word)) for asked in self.words]
        return [[_cover(q, hit) for hit in hits] for q in quantities]

    def score(self, covers: Sequence[float]) -> float:
        """Return the share of what the question says that is accounted for; or of what it is about besides the time."""
        pairs = list(zip(self.words, covers, strict=True))
        parts = [pairs, [(word, one) for word, one in pairs if not word.time]]
        return min(
            (sum(w.weight * one for w, one in part) / sum(w.weight for w, _ in part) for part in parts if part),
            default=0.0,
        )


def _has(expression: re.Pattern[str], text: str) -> bool:
    return expression.search(text) is not None


def _covers(span: tuple[int, int], start: int, end: int) -> bool:
    return 5 * (min(span[1], end) - max(span[0], start)) >= 2 * (end - start)


def _cover(q: Quantity, hit: frozenset[str]) -> float:
    if hit & q.own or q.per in hit or q.noun in hit:
        return OWN
    return NEAR if hit & q.near else FAR if hit & q.far else BEFORE if hit & q.before else 0.0


def _alike(forms: Sequence[str], word: str) -> bool:
    """Whether a word of a question and one of a document stand for the same."""
    for form in forms:
        if likeness(form, word) >= 0.75 or matters(form) & matters(word):
            return True
        if form.isascii() and word.isascii():
            if len(form) >= 6 and len(word) >= 6 and form[:6] == word[:6]:
                return True
        elif (len(form) >= 3 and not word.isascii() and (form in word or word.startswith(form[:-1]))) or (
            len(form) == 2 and len(word) >= 4 and not form.isascii() and word.endswith(form)
        ):
            return True
    return False
