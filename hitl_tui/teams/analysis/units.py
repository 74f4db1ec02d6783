"""Numbers and the units that follow them, in Korean and English: digits with commas, places (천, 만, 억, 조)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

REACH = 24
"""Characters after a number within which its unit must stand."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What a unit does to a number.

    Args:
        kind: `money`, `percent`, `points`, `area`, `duration`, `data` or `count`.
        name: `KRW`, `%`, `m²`, `month`, `byte`, …
        factor: multiplies the number.
    """

    kind: str
    name: str
    factor: Fraction = Fraction(1)


# Compiled without regard to case, a set that spans the syllables costs a look at each of its 11,172 letters.
_SYLLABLE, _NO_SYLLABLE = "(?-i:[가-힣])", "(?-i:[^가-힣])"

_CURRENCIES = (
    ("KRW", r"원|(?:korean\s)?won(?![a-z])|krw(?![a-z])"),
    ("USD", rf"(?:미국\s?)?달러|불(?!{_SYLLABLE})|(?:us\s)?dollars?(?![a-z])|usd(?![a-z])"),
    ("EUR", r"유로|euros?(?![a-z])|eur(?![a-z])"),
    ("JPY", rf"엔(?!{_SYLLABLE}{{2}})|yen(?![a-z])|jpy(?![a-z])"),
    ("GBP", r"파운드|pounds?(?:\ssterling)?(?![a-z])|gbp(?![a-z])"),
    ("CNY", r"위안|yuan(?![a-z])|cny(?![a-z])|rmb(?![a-z])"),
)
_SUFFIX = re.compile(r"\s?(?:" + "|".join(f"(?P<{name}>{form})" for name, form in _CURRENCIES) + ")", re.IGNORECASE)
_PREFIX = re.compile(r"(?:(?<![a-z])(?P<word>krw|usd|eur|jpy|gbp|cny|rmb)|(?P<sign>us\$|[$₩￦€¥£]))\s?$", re.IGNORECASE)
_SIGNS = {"us$": "USD", "$": "USD", "₩": "KRW", "￦": "KRW", "€": "EUR", "¥": "JPY", "£": "GBP"}

_SCALE_WORD = re.compile(r"[\s-]?(thousand|million|billion|trillion|mn|bn|tn)(?![a-z])", re.IGNORECASE)
_SCALE_LETTER = re.compile(r"([kKMB])(?![A-Za-z0-9²])")
_SCALE_LETTER_MONEY = re.compile(r"([kKmMbBtT])(?![A-Za-z0-9²])")
_SCALES = {
    "k": 10**3, "thousand": 10**3, "m": 10**6, "mn": 10**6, "million": 10**6,
    "b": 10**9, "bn": 10**9, "billion": 10**9, "t": 10**12, "tn": 10**12, "trillion": 10**12,
}  # fmt: skip

_PYEONG = Fraction(400, 121)
_FEET = Fraction(9290304, 100000000)


def _unit(pattern: str, kind: str, name: str, factor: int | Fraction = 1) -> tuple[str, Unit]:
    return pattern, Unit(kind, name, Fraction(factor))


_OTHERS = (
    _unit(r"\s?(?:%p(?![a-z])|%\s?포인트|퍼센트\s?포인트|"
          r"(?:%|percent(?:age)?|per\scent)[\s-]points?(?![a-z]))", "points", "%p"),
    _unit(r"\s?(?:%|％|퍼센트|per[\s-]?cent(?![a-z])|pct(?![a-z]))", "percent", "%"),
    _unit(r"\s?프로(?=$|[\s.,!?)]|[를은는가이의로])", "percent", "%"),
    _unit(r"할(?=$|[\s.,)]|[을를이은의로])", "percent", "%", 10),
    _unit(r"\s?(?:㎡|m²|m\^2|m2(?![a-z0-9])|제곱미터|"
          r"sqm(?![a-z])|sq\.?\s?m(?![a-z])|square\smet(?:er|re)s?(?![a-z]))", "area", "m²"),
    _unit(r"\s?평(?![가균범일형])", "area", "m²", _PYEONG),
    _unit(r"\s?(?:sq\.?\s?ft(?![a-z])|sqft(?![a-z])|square\sfeet(?![a-z]))", "area", "m²", _FEET),
    *(_unit(rf"\s?{letter}b(?![a-z0-9])", "data", "byte", 1000**power) for power, letter in enumerate("kmgtp", 1)),
    *(_unit(rf"\s?{letter}ib(?![a-z0-9])", "data", "byte", 1024**power) for power, letter in enumerate("kmgtp", 1)),
    _unit(r"\s?킬로바이트", "data", "byte", 10**3),
    _unit(r"\s?메가바이트", "data", "byte", 10**6),
    _unit(r"\s?기가바이트", "data", "byte", 10**9),
    _unit(r"\s?테라바이트", "data", "byte", 10**12),
    _unit(r"\s?(?:바이트|bytes?(?![a-z]))", "data", "byte"),
    _unit(rf"\s?개월|\s?달(?!{_SYLLABLE})|\s?달(?=[을이은간])|[\s-]?months?(?![a-z])", "duration", "month"),
    _unit(r"\s?년(?!월|\s?\d{1,2}\s?월)|[\s-]?(?:years?|yrs?)(?![a-z])", "duration", "year"),
    _unit(rf"\s?주(?:일|간)?(?=$|{_NO_SYLLABLE}|[을를이은는의에후전])|[\s-]?weeks?(?![a-z])", "duration", "week"),
    _unit(r"\s?시간|[\s-]?(?:hours?|hrs?)(?![a-z])", "duration", "hour"),
    _unit(rf"\s?분(?=$|{_NO_SYLLABLE}|[을이은간만에후전])|[\s-]?(?:minutes?|mins?)(?![a-z])", "duration", "minute"),
    _unit(rf"\s?초(?=$|{_NO_SYLLABLE}|[를가는간만에후전의])|[\s-]?(?:seconds?|secs?)(?![a-z])", "duration", "second"),
    _unit(rf"\s?일(?=$|{_NO_SYLLABLE}|[을이은간만에의후전로]|부터|까지|정도)|[\s-]?days?(?![a-z])", "duration", "day"),
    *(
        _unit(rf"\s?{word}(?=$|{_NO_SYLLABLE}|[을를이가은는의에도만로씩]|까지|정도|이상|이하|미만|초과|이내)",
              "count", word)
        for word in ("건", "명", "개", "회", "행", "줄", "대", "배", "권", "채", "가구", "세대", "마리", "톤", "점")
    ),
)  # fmt: skip
_OTHER = re.compile("|".join(f"(?P<u{number}>{pattern})" for number, (pattern, _) in enumerate(_OTHERS)), re.IGNORECASE)
_NO_UNIT = frozenset(",.;:()[]/'\"\n\r\t")


def currency_before(text: str, start: int) -> tuple[str, int]:
    """Return the currency written before position `start` and where it begins; ("", start) for none."""
    left = text[max(0, start - 6) : start]
    match = _PREFIX.search(left)
    if match is None:
        return "", start
    name = _SIGNS[match["sign"].lower()] if match["sign"] else match["word"].upper().replace("RMB", "CNY")
    return name, start - len(left) + match.start()


def currency_after(text: str, end: int) -> tuple[str, int]:
    """Return the currency written from position `end` on and where it stops; ("", end) for none."""
    if text[end : end + 1] in _NO_UNIT:
        return "", end
    match = _SUFFIX.match(text, end, end + REACH)
    return ("", end) if match is None else (str(match.lastgroup), match.end())


def scale_after(text: str, end: int, *, money: bool) -> tuple[int, int]:
    """Return the English scale (million, bn, k) at position `end` and where it stops; (1, end) for none.

    Args:
        text: the text.
        end: where the number ends.
        money: a currency is known, so that a lone small `m` or `b` is a scale too.
    """
    letters = _SCALE_LETTER_MONEY if money else _SCALE_LETTER
    match = _SCALE_WORD.match(text, end, end + REACH) or letters.match(text, end, end + REACH)
    if match is None:
        return 1, end
    return _SCALES[match[1].lower()], match.end()


def unit_after(text: str, end: int) -> tuple[Unit | None, int]:
    """Return the unit other than a currency at position `end` and where it stops; (None, end) for none."""
    if text[end : end + 1] in _NO_UNIT:
        return None, end
    match = _OTHER.match(text, end, end + REACH)
    if match is None or match.lastgroup is None:
        return None, end
    return _OTHERS[int(match.lastgroup[1:])][1], match.end()


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
