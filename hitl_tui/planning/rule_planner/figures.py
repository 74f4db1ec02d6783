"""Whether a question asks for something that has to be computed: an amount, a limit that is kept or not, a difference.

A quantity that the asker states ("120 km", "18만원") has to be set against what the documents say, whether the question
is how much comes of it or whether it is allowed. A question that states none is a computation where it compares, asks
how far something moved, or asks for a share.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hitl_tui.planning.rule_planner.rule_file import Expression, Rules

_NUMBER = re.compile(
    r"(?<![\w.,/:#-])(?<!제\s)[$€£₩]?\d[\d,]{0,20}(?:\.\d{1,6})?(?:\s?[십백천만억]{1,3}(?:\s?\d[\d,]{0,10})?){0,4}"
)
_COUNTED = re.compile(r"(?:[a-z]{1,20} )?[a-z]{2,20}s(?![a-z])", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)\d\d")
_DAY = re.compile(r"\d{1,4}\D+\d{1,2}\D+\d{1,4}|[a-z].*\d", re.IGNORECASE)

Span = tuple[int, int]


def figure_cues(text: str, dates: Sequence[Span], stated: bool, rules: Rules) -> list[Span]:
    """Return the words by which a question asks for something that has to be computed; empty where it doesn't.

    Args:
        text: the question.
        dates: places of dates, whose numbers state no quantity.
        stated: the question states an amount or a percentage.
        rules: how figures are asked for.
    """
    asked = rules.figures
    how_much, share = _places(asked.how_much, text), _places(asked.share, text)
    if not share and not how_much and not asks_whether(text, rules):
        return []
    moved, compared = _places(asked.moved, text), _places(asked.compared, text)
    stated = stated or any(quantities(text, dates, rules)) or len(days(text, dates)) > 1
    if share or stated or compared or (how_much and moved):
        return [*how_much, *share, *moved, *compared] or [(0, 0)]
    return []


def asks_whether(text: str, rules: Rules) -> bool:
    """Whether a text asks a question that yes or no answers."""
    asked = rules.figures
    if rules.commands.request.search(text) or asked.what.search(text):
        return False
    return asked.whether.search(text) is not None


def quantities(text: str, dates: Sequence[Span], rules: Rules) -> Iterator[Span]:
    """Yield where a text states how much or how many: numbers before a unit or before what is counted."""
    for expression in (_NUMBER, rules.units.counted):
        for match in expression.finditer(text):
            if _within(match.start(), dates):
                continue
            counted = _COUNTED.match(text, match.end() + 1) and not _YEAR.fullmatch(match.group())
            if counted or rules.units.after(text, match.end()) is not None:
                yield match.span()


def figures_in(text: str, dates: Sequence[Span]) -> int:
    """Return how many numbers and days a text holds that can be computed with; a year alone is none."""
    numbers = [m for m in _NUMBER.finditer(text) if not _within(m.start(), dates)]
    return len(numbers) + len(days(text, dates))


def days(text: str, dates: Sequence[Span]) -> list[Span]:
    """Return the dates that name a day."""
    return [(start, end) for start, end in dates if _DAY.search(text[start:end])]


def _places(expression: Expression, text: str) -> list[Span]:
    return [match.span() for match in expression.finditer(text)]


def _within(at: int, places: Sequence[Span]) -> bool:
    return any(start <= at < end for start, end in places)
