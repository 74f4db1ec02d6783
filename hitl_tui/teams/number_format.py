"""Formatting of numbers for people, in Korean and English; what is rounded says so."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction

_DATA = (("PB", 10**15), ("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3))
_DURATIONS = {
    "year": "년", "month": "개월", "week": "주", "day": "일", "night": "박", "hour": "시간",
    "minute": "분", "second": "초",
}  # fmt: skip
_KO_CURRENCY = {"USD": "달러", "EUR": "유로", "JPY": "엔", "GBP": "파운드", "CNY": "위안"}


def rounded(value: Fraction, places: int) -> Decimal:
    """Return the value rounded half up (away from zero) to so many decimal places."""
    with localcontext() as context:
        context.prec = 200
        exact = Decimal(value.numerator) / Decimal(value.denominator)
        return exact.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)


def number(value: Fraction, places: int = 2) -> str:
    """Return a number with thousands commas, at most `places` decimals, no trailing zeros: 1,234.5."""
    text = f"{rounded(value, places):,f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def is_exact(value: Fraction, places: int) -> bool:
    """Whether the value has no more than so many decimals."""
    return bool((value * 10**places).denominator == 1)


def percent(value: Fraction) -> str:
    """Return a percentage with one decimal where it needs one: 233.3%, 5%."""
    return f"{number(value, 1)}%" if is_exact(value, 1) or abs(value) >= Fraction(1, 2) else f"{number(value, 4)}%"


def korean_places(value: Fraction) -> str:
    """Return a number in 조, 억 and 만: 3억 1,500만; fractions of 1 keep two decimals."""
    sign, value = ("-", -value) if value < 0 else ("", value)
    if not is_exact(value, 2):
        value = Fraction(rounded(value, 2))
    whole, rest = divmod(value, 1)
    parts = []
    for letter, place in (("조", 10**12), ("억", 10**8), ("만", 10**4)):
        count, whole = divmod(whole, place)
        if count:
            parts.append(f"{count:,}{letter}")
    if whole or rest or not parts:
        parts.append(number(whole + rest))
    return sign + " ".join(parts)


def money(value: Fraction, unit: str, language: str) -> str:
    """Return a sum: 3억 1,500만 원, or KRW 315 million; USD and others with all their digits."""
    places = 0 if unit in ("KRW", "JPY") and not is_exact(value, 2) else 2
    about = "" if is_exact(value, places) else ("약 " if language == "ko" else "about ")
    value = Fraction(rounded(value, places))
    if language == "ko":
        digits = korean_places(value)
        gap = "" if unit == "KRW" and digits[-1].isdigit() else " "
        return f"{about}{digits}{gap}{'원' if unit == 'KRW' else _KO_CURRENCY.get(unit, unit)}"
    for word, scale in (("billion", 10**9), ("million", 10**6)):
        if abs(value) >= scale and is_exact(value / scale, 3):
            return f"{about}{unit} {number(value / scale, 3)} {word}"
    return f"{about}{unit} {number(value)}"


def duration(value: Fraction, unit: str, language: str) -> str:
    """Return a length of time: 6개월, or 6 months."""
    if language == "ko":
        return f"{number(value)}{_DURATIONS[unit]}"
    return f"{number(value)} {unit}{'' if value == 1 else 's'}"


def data_size(value: Fraction) -> str:
    """Return a size in the largest decimal unit that keeps it exact to three decimals: 1.5 GB."""
    for name, size in _DATA:
        if abs(value) >= size and is_exact(value / size, 3):
            return f"{number(value / size, 3)} {name}"
    return f"{number(value)} bytes"


def shown(value: Fraction, kind: str, unit: str, language: str, *, places: bool = False) -> str:
    """Return a figure of any kind with its unit.

    Args:
        value: in `unit`.
        kind: an `Amount` kind.
        unit: an `Amount` unit.
        language: `ko` or `en`.
        places: write a bare number in 억 and 만 where the language is Korean.
    """
    if kind == "money":
        return money(value, unit, language)
    if kind in ("percent", "points"):
        return percent(value) + ("p" if kind == "points" else "")
    if kind == "duration":
        return duration(value, unit, language)
    if kind == "data":
        return data_size(value)
    if kind == "area":
        return f"{number(value)} m²"
    if language == "ko" and places and abs(value) >= 10**4:
        return korean_places(value) + unit
    return number(value) + unit


def exact(value: Fraction) -> str:
    """Return the exact value as text: `315000000` or `700/3`."""
    return str(value)
