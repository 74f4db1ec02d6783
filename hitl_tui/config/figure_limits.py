"""Limits of figures that a declared command prints: `expect = { total = "< 3.5M" }`. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from hitl_tui.config.problems import described
from hitl_tui.core.messages import Message

DATA_POWERS: Mapping[str, int] = {"": 0, "B": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
"""Powers of 1024 by the letter of a unit of data."""
PERCENT = "%"

_LIMIT = re.compile(r"\s*(<=|>=|<|>|=)\s*(\d[\d,]{0,20}(?:\.\d{1,6})?)\s?([KMGTP]i?B?|B|%)?\s*")
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


def unit_letter(unit: str) -> str:
    """Return what of a unit of data says its size: `M` of `M`, `MB` and `MiB`."""
    return unit.removesuffix("B").removesuffix("i") or unit
