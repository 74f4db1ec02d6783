"""Units and currencies after numbers, in Korean and English, and the amount that a number with its unit is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from hitl_tui.teams.number_format import is_exact, number, shown

REACH = 24
"""Characters after a number within which its unit must stand."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with its unit.

    Args:
        kind: `money`, `percent`, `points`, `area`, `duration`, `data`, `measure` or `count`.
        value: the exact value in `unit`; percent as 5 for 5 %.
        unit: `KRW`, `%`, `m²`, `month`, `byte`, `kg`, a Korean counter, or empty for a bare number.
        text: as written.
        start: first character in the text.
        end: one past the last character.
        scale: the largest place or scale word written (10**8 for 3억), 1 for none.
    """

    kind: str
    value: Fraction
    unit: str
    text: str
    start: int
    end: int
    scale: int = 1

    @property
    def year_like(self) -> bool:
        """Whether it could as well be a year: a bare number 1900 to 2100."""
        return not self.unit and self.scale == 1 and len(self.text) == 4 and 1900 <= self.value <= 2100


def shown_amount(amount: Amount, language: str) -> str:
    """Return an amount for people with all its decimals, so that what is shown is what was computed with."""
    if not is_exact(amount.value, 2) and is_exact(amount.value, 6) and amount.kind in ("money", "percent", "points"):
        figure = number(amount.value, 6)
        unit = amount.unit if amount.kind == "money" else "%" if amount.kind == "percent" else "%p"
        return f"{unit} {figure}" if amount.kind == "money" else f"{figure}{unit}"
    if amount.kind == "measure":
        return f"{number(amount.value, 6)} {amount.unit}"
    return shown(amount.value, amount.kind, amount.unit, language, places=amount.scale >= 10**4)


# Compiled without regard to case, a set that spans the syllables costs a look at each of its 11,172 letters.
_NOT_IN_WORD = r"(?=$|(?-i:[^가-힣]))"
_CURRENCIES = {
    "KRW": r"원|(?:korean\s)?won(?![a-z])|krw(?![a-z])",
    "USD": rf"(?:미국\s?)?달러|불{_NOT_IN_WORD}|(?:us\s)?dollars?(?![a-z])|usd(?![a-z])",
    "EUR": r"유로|euros?(?![a-z])|eur(?![a-z])|€",
    "JPY": rf"엔{_NOT_IN_WORD}|yen(?![a-z])|jpy(?![a-z])",
    "GBP": r"파운드|pounds?(?:\ssterling)?(?![a-z])|gbp(?![a-z])",
    "CNY": r"위안|yuan(?![a-z])|cny(?![a-z])|rmb(?![a-z])",
}
_SUFFIX = re.compile(r"\s?(?:" + "|".join(f"(?P<{k}>{v})" for k, v in _CURRENCIES.items()) + ")", re.IGNORECASE)
_PREFIX = re.compile(r"((?<![a-z])(?:krw|usd|eur|jpy|gbp|cny|rmb)|us\$|[$₩￦€¥£])\s?$", re.IGNORECASE)
_SIGNS = {"us$": "USD", "$": "USD", "₩": "KRW", "￦": "KRW", "€": "EUR", "¥": "JPY", "£": "GBP", "rmb": "CNY"}
_SCALE = re.compile(r"[\s-]?(thousand|million|billion|trillion|mn|bn|tn)(?![a-z])", re.IGNORECASE)
_SCALE_LETTER = re.compile(r"([kKMB])(?![A-Za-z0-9²])")
_SCALE_LETTER_MONEY = re.compile(r"([kKmMbBtT])(?![A-Za-z0-9²])")
_SCALES = {
    "k": 10**3, "thousand": 10**3, "m": 10**6, "mn": 10**6, "million": 10**6,
    "b": 10**9, "bn": 10**9, "billion": 10**9, "t": 10**12, "tn": 10**12, "trillion": 10**12,
}  # fmt: skip
_COUNTER = (
    r"(?=$|(?-i:[^가-힣])|[을를이가은는의에도만로씩후전간안면]|까지|부터|으로|마다|보다|정도|이상|이하|미만|초과|이내)"
)
COUNTERS = [
    "건", "명", "개", "회", "행", "줄", "대", "배", "권", "채", "가구", "세대", "마리", "톤", "점", "팀", "박", "인",
    "장", "병", "잔", "번", "곳", "편", "벌", "상자", "캔", "통", "쪽", "부",
]  # fmt: skip
_DATA = {"k": "킬로", "m": "메가", "g": "기가", "t": "테라", "p": "페타"}


def _korean(word: str, english: str) -> str:
    return rf"\s?(?:{word}){_COUNTER}|[\s-]?(?:{english})(?![a-z])"


_OTHERS: tuple[tuple[str, str, str, int | Fraction], ...] = (
    (r"\s?(?:%p(?![a-z])|(?:%|퍼센트)\s?포인트|(?:%|percent(?:age)?)[\s-]points?(?![a-z]))", "points", "%p", 1),
    (r"\s?(?:%|％|퍼센트|per[\s-]?cent(?![a-z])|pct(?![a-z]))", "percent", "%", 1),
    (r"\s?프로(?=$|[\s.,!?)]|[를은는가이의로])", "percent", "%", 1),
    (r"할(?=$|[\s.,)]|[을를이은의로])", "percent", "%", 10),
    (r"\s?(?:㎡|m²|m\^2|m2(?![a-z0-9])|제곱미터|sqm(?![a-z])|sq\.?\s?m(?![a-z])|square\smet(?:er|re)s?(?![a-z]))",
     "area", "m²", 1),
    (r"\s?평(?![가균범일형])", "area", "m²", Fraction(400, 121)),
    (r"\s?(?:sq\.?\s?ft(?![a-z])|sqft(?![a-z])|square\sfeet(?![a-z]))", "area", "m²", Fraction(9290304, 10**8)),
    *((rf"\s?(?:{letter}b(?![a-z0-9])|{ko}바이트)", "data", "byte", 1000**n)
      for n, (letter, ko) in enumerate(_DATA.items(), 1)),
    *((rf"\s?{letter}ib(?![a-z0-9])", "data", "byte", 1024**n) for n, letter in enumerate(_DATA, 1)),
    (r"\s?(?:바이트|bytes?(?![a-z]))", "data", "byte", 1),
    (_korean("개월|달", "months?"), "duration", "month", 1),
    (r"\s?년(?!월|\s?\d{1,2}\s?월)|[\s-]?(?:years?|yrs?)(?![a-z])", "duration", "year", 1),
    (_korean("주|주일|주간", "weeks?"), "duration", "week", 1),
    (_korean("시간", "hours?|hrs?"), "duration", "hour", 1),
    (_korean("분", "minutes?|mins?"), "duration", "minute", 1),
    (_korean("초", "seconds?|secs?"), "duration", "second", 1),
    (_korean("일", "days?"), "duration", "day", 1),
    (_korean("킬로그램", "kg|kilograms?|kilos?"), "measure", "kg", 1),
    (_korean("킬로미터", "km|kilomet(?:er|re)s?"), "measure", "km", 1),
    (_korean("미터", "m|met(?:er|re)s?"), "measure", "m", 1),
    (rf"\s?도{_COUNTER}|\s?°\s?c?(?![a-z])|\s(?:degrees?)(?![a-z])(?:\scelsius)?", "measure", "°C", 1),
    *((rf"\s?{word}{_COUNTER}", "count", word, 1) for word in COUNTERS),
)  # fmt: skip
_OTHER = re.compile("|".join(f"(?P<u{n}>{row[0]})" for n, row in enumerate(_OTHERS)), re.IGNORECASE)
_NO_UNIT = frozenset(",.;:()[]/'\"\n\r\t")


def currency_before(text: str, start: int) -> tuple[str, int]:
    """Return the currency written before position `start` and where it begins; ("", start) for none."""
    left = text[max(0, start - 6) : start]
    match = _PREFIX.search(left)
    if match is None:
        return "", start
    return _SIGNS.get(match[1].lower(), match[1].upper()), start - len(left) + match.start()


def currency_after(text: str, end: int) -> tuple[str, int]:
    """Return the currency written from position `end` on and where it stops; ("", end) for none."""
    match = None if text[end : end + 1] in _NO_UNIT else _SUFFIX.match(text, end, end + REACH)
    return ("", end) if match is None else (str(match.lastgroup), match.end())


def unit_after(text: str, end: int) -> tuple[str, str, Fraction, int] | None:
    """Return kind, name and factor of the unit at position `end`, no currency, and where it stops; None for none."""
    match = None if text[end : end + 1] in _NO_UNIT else _OTHER.match(text, end, end + REACH)
    if match is None or match.lastgroup is None:
        return None
    _, kind, name, factor = _OTHERS[int(match.lastgroup[1:])]
    return kind, name, Fraction(factor), match.end()


def scale_after(text: str, end: int, *, money: bool) -> tuple[int, int]:
    """Return the English scale (million, bn, k) at position `end` and where it stops; (1, end) for none.

    Args:
        text: the text.
        end: where the number ends.
        money: a currency is known, so that a lone small `m` or `b` is a scale, too.
    """
    letter = _SCALE_LETTER_MONEY if money else _SCALE_LETTER
    match = _SCALE.match(text, end, end + REACH) or letter.match(text, end, end + REACH)
    return (1, end) if match is None else (_SCALES[match[1].lower()], match.end())
