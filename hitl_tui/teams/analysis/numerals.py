"""Numbers as people write them: digits with commas, and Korean places (천, 만, 억, 조)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

RUN = re.compile(r"\d[\d,.]*+", re.ASCII)
_PLAIN = re.compile(r"\d{1,3}(?:,\d{3})++(?:\.\d++)?|\d++(?:\.\d++)?", re.ASCII)
_LONGEST = 30

SMALL = {"십": 10, "백": 100, "천": 1000}
BIG = {"만": 10**4, "억": 10**8, "조": 10**12}
DIGITS = {"일": 1, "이": 2, "삼": 3, "사": 4, "오": 5, "육": 6, "칠": 7, "팔": 8, "구": 9}

ENGLISH = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40,
    "fifty": 50, "sixty": 60, "ninety": 90, "hundred": 100,
}  # fmt: skip
PARTS = {
    "half": 2, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10, "twelfth": 12,
    "twentieth": 20, "fiftieth": 50, "hundredth": 100,
}  # fmt: skip

Token = Fraction | str


def digits(run: str) -> Fraction | None:
    """Return the value of a run of digits, commas and a point; None when it is no number (1.2.3, 12,34)."""
    if len(run) > _LONGEST or not _PLAIN.fullmatch(run):
        return None
    return Fraction(run.replace(",", ""))


def korean(tokens: Sequence[Token]) -> Fraction | None:
    """Return the value of numbers and place letters in order: 3 억 5 천 만 is 350,000,000.

    Args:
        tokens: fractions and the letters 십 백 천 만 억 조.

    Returns None when the places don't descend (3만 2억) or two numbers follow one another.
    """
    total: int | Fraction = 0
    section: int | Fraction = 0
    number: int | Fraction | None = None
    last_big, last_small = 10**16, 10**4
    for token in tokens:
        if isinstance(token, Fraction):
            if number is not None:
                return None
            # whole numbers stay int: fractions are slow, and long texts hold many
            number = token.numerator if token.denominator == 1 else token
        elif token in SMALL:
            place = SMALL[token]
            if place >= last_small:
                return None
            section += (1 if number is None else number) * place
            number, last_small = None, place
        else:
            place = BIG[token]
            if place >= last_big:
                return None
            bare = number is None and not section
            total += place if bare else (section + (number or 0)) * place
            section, number, last_big, last_small = 0, None, place, 10**4
    return Fraction(total + section + (number or 0))
