"""Limits of figures that a declared command prints: `expect = { total = "< 3.5M" }`. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from hitl_tui.config.problems import described
from hitl_tui.core.messages import Message

PERCENT = "%"
DIGITS, UNIT = r"\d[\d,]{0,20}(?:\.\d{1,6})?", r"[KMGTP]i?B?|B|%"
"""What a figure and its unit are written as."""

_LIMIT = re.compile(rf"\s*(<=|>=|<|>|=)\s*({DIGITS})\s?({UNIT})?\s*")
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class FigureLimit:
    """What a printed figure is expected to be.

    Args:
        sign: `<`, `<=`, `>`, `>=` or `=`.
        amount: the number as it was written, `3.5`.
        unit: of data (`M`, `MB`, `MiB`), `%`, or empty for none.
    """

    sign: str
    amount: str
    unit: str = ""


def parse_limit(given: object) -> FigureLimit:
    """Return the limit that a text states.

    Raises:
        ValueError: it states none; the message completes a sentence.
    """
    match = _LIMIT.fullmatch(given) if isinstance(given, str) else None
    if match is None:
        raise ValueError(Message('must be a limit such as "< 3.5M", ">= 10" or "= 0%", but it is {}', described(given)))
    return FigureLimit(match[1], match[2], match[3] or "")


def figure_names(name: str) -> tuple[str, ...]:
    """Return what a figure may be called in the output, `total|합계` for a program that speaks two languages."""
    return tuple(" ".join(part.split()) for part in name.split("|"))


def figure_name_problem(name: str) -> str:
    """Return why nothing that is printed can be called this, or nothing; it completes a sentence."""
    if len(name) > _LONGEST_NAME or not all(figure_names(name)):
        return Message('isn\'t the name of a printed figure; write it as printed, or several with "|" between them')
    return ""


def figure_value(digits: str, unit: str) -> Fraction:
    """Return a figure as a number; in bytes where it has a unit of data: `M`, `MB` and `MiB` are 1024 × 1024."""
    return Fraction(digits.replace(",", "")) * (1 << 10 * max(0, "BKMGTP".find(unit[:1])))
