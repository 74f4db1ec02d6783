"""The sentences of documents that set a limit: each amount that is one, and which limit a question is about."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from hitl_tui.core.written_language import language_of
from hitl_tui.meaning.amounts import Amount, parse_amounts
from hitl_tui.meaning.encoder import likenesses
from hitl_tui.meaning.expressions import Expressions, word_file
from hitl_tui.tables.words import likeness, tokens
from hitl_tui.teams.analysis.analysis_model import shown_amount
from hitl_tui.teams.contract import Citation
from hitl_tui.teams.passages import Passage

MAX_TEXT, MAX_LIMITS, _RATED = 200_000, 2_000, 50
"""Characters of passages that are read, the first ones; limits that are found in them, and that are rated."""
_ALIKE, _TURNED, _WORDED, _APART = 0.45, 0.35, 0.25, 0.05
"""How alike a question and a limit are at least, of a rise or a fall, and where they share a word; by how much the best
is ahead."""
_SAME = 0.75
_WORDS = Expressions(word_file(__package__, "words.toml")["limits"])
_MAX, _BELOW, _MIN = "max", "below", "min"
_EACH = [(words, called.split()) for called, words in _WORDS.rows["periods"]]
"""What says that a limit is for a period, and what columns that tell such periods apart are called."""
_HEADING = re.compile(r"^#{1,6}\s", re.MULTILINE)


def direction_of(text: str) -> int:
    """Return 1 where a text speaks of a rise, -1 of a fall, 0 of neither or both."""
    return (_WORDS.rise.search(text) is not None) - (_WORDS.fall.search(text) is not None)


@dataclass(frozen=True, slots=True)
class Limit:
    """An amount that a document sets as a limit.

    Args:
        bound: `max`, `below` or `min`.
        source: the sentence; without a path where the question states the limit.
        said: it, with the heading above.
        section: all that stands under that heading.
    """

    amount: Amount
    bound: str
    source: Citation
    said: str
    section: str = ""

    def line(self, passages: Sequence[Passage] = ()) -> str:
        """Return the line that sets it, whole where a passage has it, for what is said beside it may restrict it."""
        place, quote = self.source, self.source.quote
        for passage in passages:
            lines, at = passage.text.split("\n"), place.line - passage.line
            if (passage.path, passage.page) == (place.path, place.page) and 0 <= at < len(lines):
                quote = lines[at]
                break
        return in_one_line(quote)

    def quoted(self, language: str, passages: Sequence[Passage] = ()) -> str:
        """Return it for people, with the line that sets it, and where."""
        return f"{shown_amount(self.amount, language)} (“{self.line(passages)}” [`{self.source.label}`])"

    def beside(self, other: Limit) -> bool:
        """Whether another limit of the same kind stands in the same section."""
        here, there = self.source, other.source
        return (here.path, self.section, self.amount.of) == (there.path, other.section, other.amount.of)

    def keeps(self, amount: Amount) -> bool:
        """Whether an amount is within the limit."""
        if self.bound == _MIN:
            return amount.value >= self.amount.value
        return amount.value < self.amount.value or (amount.value == self.amount.value and self.bound != _BELOW)


def in_one_line(quote: str) -> str:
    """Return what is quoted without line breaks, and without the sign of an item or heading that it begins with."""
    return " ".join(quote.split()).lstrip("-*+•#> ")


def sentences(passage: Passage) -> Iterator[tuple[int, int]]:
    """Yield start and end of the sentences, items and rows of a passage; a wrapped line goes on."""
    start = 0
    for end in (*(match.end() for match in _WORDS.sentence_end.finditer(passage.text)), len(passage.text)):
        if passage.text[start:end].strip():
            yield start, end
        start = end


def limits_in(passages: Sequence[Passage]) -> list[Limit]:
    """Return the limits that passages set, in their order, each sentence with each amount once."""
    found: dict[tuple[object, ...], Limit] = {}
    read = 0
    for passage in passages:
        read += len(passage.text)
        if read > MAX_TEXT or len(found) > MAX_LIMITS:
            break
        borders = [0, *(match.start() for match in _HEADING.finditer(passage.text)), len(passage.text)]
        sections = [passage.text[start:end] for start, end in pairwise(borders)]
        for start, end in sentences(passage):
            said, section = passage.text[start:end], sections[bisect(borders, start, 1, len(sections)) - 1]
            heading = section.split("\n", 1)[0].strip("# ") if section[:1] == "#" else passage.heading
            whole, source = f"{heading}: {said.strip()}".lstrip(": "), passage.cite(start, end)
            for amount in () if is_exception(said) else parse_amounts(said):
                if bound := bound_of(said, amount):
                    limit = Limit(amount, bound, source, whole, section)
                    found.setdefault((source.label, *amount.of, amount.value), limit)
    return list(found.values())


def is_exception(said: str) -> bool:
    """Whether a sentence says where a limit doesn't hold."""
    return _WORDS.exception.search(said) is not None


def bound_of(said: str, amount: Amount) -> str:
    """Return how a sentence bounds an amount: `max`, `below`, `min`, or not at all."""
    left = said[max(0, amount.start - 60) : amount.start].lower()
    right = said[amount.end : amount.end + 70].lower()
    after = (bound for bound, pattern in _WORDS.rows["after"] if pattern.match(right))
    before = (
        bound
        for bound, pattern in _WORDS.rows["before"]
        if (match := pattern.search(left)) and not _WORDS.not_capped.search(left[max(0, match.start() - 12) :])
    )
    if (since := _WORDS.since.search(left)) and amount.text.endswith(since[1]):  # a range of dates
        return ""
    # What may be done up to 14 days before something has to be at least so long before it.
    ahead = left.endswith(("up to ", "later than ")) and _WORDS.ahead.match(right)
    return _MIN if ahead else next(after, "") or next(before, "")


def stated_in(question: str, amounts: Sequence[Amount]) -> list[Limit]:
    """Return the amounts of a question that it calls the limit."""
    found = []
    for amount in amounts:
        before = _WORDS.stated_before.search(question[max(0, amount.start - 60) : amount.start])
        after = _WORDS.stated_after.match(question, amount.end)
        if said := " ".join(match[0] for match in (before, after) if match):
            bound = bound_of(question, amount) or (_MIN if _WORDS.least.search(said) else _MAX)
            found.append(Limit(amount, bound, Citation("", 0, 0, said), question))
    return found


def fitting(
    question: str, kind: tuple[str, str], limits: Sequence[Limit], direction: int = 0, *, timed: bool = True
) -> list[Limit]:
    """Return the limits that a question is about, each value once: none, one, or several that can't be told apart.

    Args:
        kind: what has to be limited; see `Amount.of`.
        direction: 1 where it has to be the limit of a rise, -1 of a fall.
        timed: it has to be one for the period that the question names.
    """
    held = [
        limit for limit in limits
        if limit.amount.of == kind
        and (not direction or direction_of(limit.said) == direction)
        and (not timed or _rates(question) <= (_rates(limit.said) or _rates(limit.section)))
    ]  # fmt: skip
    rated = [
        (like, _shared(question, one.source.quote, direction), one) for like, one in _likely(question, held, _RATED)
    ]
    # A change is told by its direction; that it is one of the same thing, by a word or by the meaning.
    alike, least = (_TURNED, -1) if direction else (_ALIKE, _WORDED)
    sure = [row for row in rated if row[0] >= alike or (row[0] >= least and _shared(question, row[2].said, direction))]
    if not direction and (called := _called(question, kind)):
        sure = [row for row in sure if _shared(called, row[2].said, 0)]
    best = max(sure, key=lambda row: row[0], default=None)
    if best is None:
        return []
    # What is as likely, has all words in common that the best has, or others in the same section, may be meant, too.
    near = [
        row for row in rated
        if (row in sure and (row[0] > best[0] - _APART or row[1] >= best[1] > set()))
        or (row[1] and best[2].beside(row[2]))
    ]  # fmt: skip
    near = [row for row in near if row is best or not any(row[1] < other[1] for other in near)]
    if any(best[1] < row[1] and row[0] > best[0] - _APART for row in near):
        near.remove(best)
    values = {(one.amount.value, one.bound) for *_, one in near}
    # Of sentences that set the same limit, the one in the question's language that is most like it is quoted.
    same: dict[Fraction, list[tuple[bool, float, Limit]]] = {}
    for like, _, one in rated:
        if (one.amount.value, one.bound) in values:
            same.setdefault(one.amount.value, []).append((language_of(one.said) == language_of(question), like, one))
    return [max(ones, key=lambda rating: rating[:2])[2] for ones in same.values()]


def nearest(question: str, kind: tuple[str, str], limits: Sequence[Limit], most: int) -> list[Limit]:
    """Return the limits of a kind that are most like a question, each value once."""
    held = {one.amount.value: one for one in limits if one.amount.of == kind}
    return [one for _, one in _likely(question, list(held.values()), most)]


def _likely(question: str, limits: Sequence[Limit], most: int) -> list[tuple[float, Limit]]:
    alike = likenesses(question, [one.said for one in limits]) if limits else []
    return sorted(zip(alike, limits, strict=True), key=lambda row: -row[0])[:most]


@lru_cache(maxsize=256)
def _rates(text: str) -> set[int]:
    return {at for at, (words, _) in enumerate(_EACH) if words.search(text)}


def periods_of(text: str) -> list[tuple[str, ...]]:
    """Return the periods that a limit is for, each as what columns of them are called."""
    return [tuple(_EACH[at][1]) for at in sorted(_rates(text))]


def _called(question: str, kind: tuple[str, str]) -> str:
    """Return what a question calls its figures of a kind, as in "a deposit of 20%"; empty where that says nothing."""
    before = (question[: amount.start] for amount in parse_amounts(question) if amount.of == kind)
    called = " ".join(match[0] for text in before if (match := _WORDS.called.search(text)))
    return called if _shared(called, called, 0) else ""


def _shared(question: str, said: str, direction: int) -> frozenset[str]:
    """Return the words of a question that say what it is about and that a sentence has, too, or ones like them.

    Where something rises or falls, the words for that say nothing of what it is.
    """
    for amount in reversed(parse_amounts(question)):
        question = f"{question[: amount.start]} {question[amount.end :]}"
    texts = (_WORDS.about_limits.sub(" ", text) for text in (question, said))
    asked, told = ([t for t in tokens(text) if t.kind == "word" and not t.filler] for text in texts)
    words = [word for one in told for word in one.forms if len(word) > 1]
    pairs = ((one.text, form, word) for one in asked for form in one.forms for word in words)
    return frozenset(
        t for t, form, word in pairs if likeness(form, word) >= _SAME and not (direction and direction_of(form))
    )
