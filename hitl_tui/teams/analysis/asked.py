"""A question: what it asks for, the words that say what it is about, and how well a quantity is about those."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hitl_tui.meaning.frequencies import telling
from hitl_tui.tables.words import likeness, tokens
from hitl_tui.teams.analysis import words
from hitl_tui.teams.analysis.quantities import Quantity, quantities_of, spans

NEAR, FAR = 1.0, 0.6
"""How well a quantity is about a word that its sentence has, or what is around it."""
_VERB = re.compile(r"(?:[아어여해]|[아어해]도|하면|으면|[나까]요|는데|달래)$")
_PREDICATE, _SUBJECT = 0.3, 0.5
"""How much a Korean verb says at most, and a word at least without which a question is about something else."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a question.

    Args:
        forms: what it may be looked for as.
        weight: how much it says.
    """

    forms: tuple[str, ...]
    weight: float


class Asked:
    """A question, read.

    Args:
        question: the question.
        language: `ko` or `en`.
    """

    def __init__(self, question: str, language: str) -> None:
        self.text, self.language = question, language
        self.own = quantities_of(question)
        self.closed = words.closed(question)
        self.total = _has(words.TOTAL, question)
        self.direction = words.direction_of(question)
        self.above, self.under = _has(words.ABOVE, question), _has(words.UNDER, question)
        self.negated = _has(words.NEGATED, question)
        self.differs = bool(
            self.direction or self.above or self.under or _has(words.MOVES, question) or words.asks(question, "change")
        )
        self.how_much = self.total or _has(words.HOW_MUCH, question)
        self.words = self._words()

    def _words(self) -> list[Word]:
        passed = [*spans(self.text), *words.operators(self.text)]
        made: dict[str, Word] = {}
        for token in tokens(self.text):
            glued = any(token.start == end and not token.text.isascii() for _, end in passed)
            if token.kind != "word" or token.filler or len(token.text) < 2 or glued:
                continue
            if any(5 * (min(end, token.end) - max(start, token.start)) >= 2 * len(token.text) for start, end in passed):
                continue
            language = "en" if token.text.isascii() else "ko"
            weight = max(0.15, min(telling(form, language) for form in token.forms))
            weight = min(weight, _PREDICATE) if language == "ko" and _VERB.search(token.text) else weight
            made.setdefault(token.forms[-1], Word(token.forms, weight))
        return list(made.values())

    def covers(self, quantities: Sequence[Quantity]) -> list[list[float]]:
        """Return how well each quantity is about each word."""
        every = frozenset[str]().union(*(q.near | q.far | q.per | {q.noun} for q in quantities)) - {""}
        hits = [frozenset(word for word in every if _alike(asked.forms, word)) for asked in self.words]
        return [[_cover(q, hit) for hit in hits] for q in quantities]

    def weight(self, covers: Sequence[float]) -> float:
        """Return how much of what the question says is accounted for."""
        return sum(word.weight * one for word, one in zip(self.words, covers, strict=True))

    def score(self, covers: Sequence[float]) -> float:
        """Return the share of what the question says that is accounted for.

        It is none where something that says what is meant isn't accounted for at all.
        """
        pairs = list(zip(self.words, covers, strict=True))
        if not pairs or any(not one and word.weight >= _SUBJECT for word, one in pairs):
            return 0.0
        return self.weight(covers) / sum(word.weight for word in self.words)


def _has(expression: re.Pattern[str], text: str) -> bool:
    return expression.search(text) is not None


def _cover(q: Quantity, hit: frozenset[str]) -> float:
    return NEAR if hit & (q.near | q.per | {q.noun}) else FAR if hit & q.far else 0.0


def _alike(forms: Sequence[str], word: str) -> bool:
    """Whether a word of a question and one of a document stand for the same."""
    for form in forms:
        if likeness(form, word) >= 0.75:
            return True
        if form.isascii() and word.isascii():
            if len(form) >= 6 and len(word) >= 6 and form[:6] == word[:6]:
                return True
        elif (len(form) >= 3 and not word.isascii() and (form in word or word.startswith(form[:-1]))) or (
            len(form) == 2 and len(word) >= 4 and not form.isascii() and word.endswith(form)
        ):
            return True
    return False
