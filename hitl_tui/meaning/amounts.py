"""Amounts with units in Korean and English text, each with its place; exact, and linear in the text.

Numbers that are no amounts are passed over: articles (제7조의2), dates, telephone numbers, list numbers, versions,
times, addresses of pages and lines, years. How amounts are written is in amounts.toml.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import pairwise

from hitl_tui.meaning.expressions import Expressions, word_file


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit.

    Args:
        kind: what it measures: `money`, `percent`, `points`, `area`, `data`, `duration`, `mass` and others, or `count`.
        size: how much of the first unit of its kind it is.
    """

    name: str
    kind: str
    size: Fraction


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with its unit.

    Args:
        kind: what its unit measures; `count` without one.
        value: the exact value in `unit`; percent as 5 for 5 %.
        unit: `KRW`, `%`, `m²`, `month`, `byte`, `kg`, a Korean counter, or empty for a bare number.
        scale: the largest place or scale word written (10**8 for 3억), 1 for none.
        stop: where the number ends, before its unit.
    """

    kind: str
    value: Fraction
    unit: str
    text: str = ""
    start: int = 0
    end: int = 0
    scale: int = 1
    stop: int = 0

    @property
    def of(self) -> tuple[str, str]:
        """What has to be the same where two are compared."""
        return (self.kind, self.unit)


_FILE = word_file(__package__, "amounts.toml")
NUMERALS: Mapping[str, int] = _FILE["numerals"]
"""Numbers that are written as words."""
_PARTS, _SCALES = _FILE["parts"], _FILE["scales"]
_DIGITS = {letter: value for value, letter in enumerate("일이삼사오육칠팔구", 1)}
_PLACES = {"십": 10, "백": 100, "천": 1000, "만": 10**4, "억": 10**8, "조": 10**12}
_SIGNS = {"us$": "USD", "$": "USD", "₩": "KRW", "￦": "KRW", "€": "EUR", "¥": "JPY", "£": "GBP"}
_COUNTED = {counter: [1, f"{counter}{{after}}"] for counter in _FILE["counters"].split()}
_WRITTEN = {
    Unit(name, kind, Fraction(size)): written
    for kind, units in {**_FILE["units"], "count": _FILE["units"]["count"] | _COUNTED}.items()
    for name, (size, written) in units.items()
}
"""How each unit is written."""
_UNITS = [*_WRITTEN]
UNITS = {unit.name: unit for unit in _UNITS}
_IN_FIRST = {"percent": "%", "area": "m²", "data": "byte"}
"""What is always counted in the first unit of its kind."""
_JOINED = re.compile(r"[a-z0-9_]$|\w[-/:.#,]$|몇\s?$", re.IGNORECASE | re.ASCII)
"""What a number goes on from, as in abc12, a/5 or file:12, or asks for it: 몇 백만."""
_LONGEST = 30
_NEAR = 60
"""Characters around a bare number within which words say that it is money."""


@cache
def _words() -> Expressions:
    return Expressions(
        {**_FILE["written"], **{name: "|".join(_FILE[name]) for name in ("numerals", "parts", "scales")}}
    )


@cache
def _unit_expression() -> re.Pattern[str]:
    after = _words().after.pattern
    written = (f"(?P<u{n}>{one.replace('{after}', after)})" for n, one in enumerate(_WRITTEN.values()))
    return re.compile(rf"\s?(?:{'|'.join(written)})", re.IGNORECASE)


def unit_named(word: str) -> Unit | None:
    """Return the unit that a word names."""
    found = _unit_expression().fullmatch(word)
    return _unit(found) if found else None


def _unit(found: re.Match[str]) -> Unit:
    return _UNITS[int(str(found.lastgroup)[1:])]


def parse_amounts(text: str) -> tuple[Amount, ...]:
    """Return the amounts of a text in order, never overlapping.

    A sum in 억 or 만 without a currency counts as KRW when words about money stand near, else as a bare number.
    """
    found = [amount for match in _words().token.finditer(text) if (amount := _amount(text, match)) is not None]
    return (*(_of_range(text, *pair) for pair in pairwise(found)), *found[-1:])


def _of_range(text: str, bare: Amount, other: Amount) -> Amount:
    """Return a number of a range with the unit that is only said of its end: 300 million to 1 billion won."""
    joined = bare.of == ("count", "") and bare.scale > 1 and _words().range.fullmatch(text, bare.end, other.start)
    return replace(bare, kind=other.kind, unit=other.unit) if joined else bare


def _amount(text: str, match: re.Match[str]) -> Amount | None:
    start, end = match.span()
    part, whole = match["part"] or match["of"], match["all"] or match["whole"]
    if part and whole:
        share = Fraction(100 * int(part), int(whole) or 1)
        return Amount("percent", share, "%", match.group(), start, end) if 0 < share < 100 else None
    if match["many"]:
        share = Fraction(100 * NUMERALS[match["many"].lower()], _PARTS[match["share"].lower()])
        return Amount("percent", share, "%", match.group(), start, end)
    said = match["word"] or match["number"] or match["korean"]
    if not said or len(said) > _LONGEST or _JOINED.search(text, max(0, start - 2), start):
        return None
    if match["korean"]:
        said = said.rstrip()
        return _with_unit(text, match, match.start("korean") + len(said), _places(said), largest=_largest(said))
    value = Fraction(NUMERALS[said.lower()]) if match["word"] else Fraction(said.replace(",", ""))
    money = match["before"] is not None
    scale = _words().scale.match(text, end)
    if scale and scale[2] and not money and scale[2] not in "kKMB":
        scale = scale if (unit := _unit_expression().match(text, scale.end())) and _unit(unit).kind == "money" else None
    factor = _SCALES[(scale[1] or scale[2]).lower()] if scale else 1
    return _with_unit(text, match, scale.end() if scale else end, value * factor, largest=factor)


def _places(said: str) -> Fraction:
    """Return the value of a number in Korean places: `3억 5천만`, `1천5백`, `삼억`."""
    total = section = Fraction()
    for digits, small, big in _words().place.findall(said):
        if not (digits or small or big):
            continue
        value = Fraction(_DIGITS.get(digits) or digits.replace(",", "") or (1 if small or not section else 0))
        section += value * _PLACES.get(small, 1)
        if big:
            total, section = total + section * _PLACES[big], Fraction()
    return total + section


def _largest(said: str) -> int:
    return max(_PLACES.get(letter, 1) for letter in said)


def _with_unit(text: str, match: re.Match[str], end: int, value: Fraction, largest: int) -> Amount | None:
    """Return a number with the unit before or after it; None where a word goes on from it."""
    start, said = match.start(), text[match.start() : end]
    value = -value if match["minus"] else value
    before = (match["before"] or "").lower()
    currency = _SIGNS.get(before, before.upper())
    found = _unit_expression().match(text, end)
    unit = _unit(found) if found else None
    kind = unit.kind if unit else ""
    if currency:
        stop = found.end() if found and unit and unit.name == currency else end
        return Amount("money", value, currency, text[start:stop], start, stop, largest, end)
    spoken = match["korean"] is not None
    digits = any(letter.isdecimal() for letter in said)
    if spoken and not (digits or (kind == "money" and largest > 1)):
        return None
    if spoken and kind != "money" and said.rstrip()[-1] == "조":  # 7조 is an article
        return None
    if spoken and kind != "money" and "억" in said and "만" not in said and 100 <= value % 10**8 < 10**4:
        value = value + (value % 10**8) * (10**4 - 1)  # 3억 5천, 21억 5000 is how prices are spoken
    if unit and found:
        name = _IN_FIRST.get(kind, unit.name)
        value *= unit.size if kind in _IN_FIRST else 1
        return Amount(kind, value, name, text[start : found.end()], start, found.end(), largest, end)
    if match["word"] and largest == 1:  # "one" says little by itself
        return None
    if re.fullmatch(r"(?:19|20)\d\d", said):  # a year
        return None
    follows = text[end : end + 2]
    word = re.match(r"[A-Za-z_]|[-/:]\w|[가-힣]", follows)
    if word and not (_words().particle.match(text, end) or (spoken and largest >= 10**8)):
        return None
    near = spoken and _words().money.search(text[max(0, start - _NEAR) : end + _NEAR // 2])
    return Amount("money" if near else "count", value, "KRW" if near else "", said, start, end, largest, end)
