"""Amounts with units in Korean and English text, each with its place; exact, and linear in the text.

Numbers that are no amounts are passed over: articles (제7조의2), dates, telephone numbers, list numbers, versions,
times, addresses of pages and lines, years.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from hitl_tui.meaning.expressions import Expressions, word_file
from hitl_tui.teams.number_format import is_exact, number, shown


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with its unit.

    Args:
        kind: `money`, `percent`, `points`, `area`, `duration`, `data`, `measure` or `count`.
        value: the exact value in `unit`; percent as 5 for 5 %.
        unit: `KRW`, `%`, `m²`, `month`, `byte`, `kg`, a Korean counter, or empty for a bare number.
        scale: the largest place or scale word written (10**8 for 3억), 1 for none.
    """

    kind: str
    value: Fraction
    unit: str
    text: str = ""
    start: int = 0
    end: int = 0
    scale: int = 1

    @property
    def of(self) -> tuple[str, str]:
        """What has to be the same where two are compared."""
        return (self.kind, self.unit)


def shown_amount(amount: Amount, language: str) -> str:
    """Return an amount for people with all its decimals, so that what is shown is what was computed with."""
    if not is_exact(amount.value, 2) and is_exact(amount.value, 6) and amount.kind in ("money", "percent", "points"):
        figure = number(amount.value, 6)
        unit = amount.unit if amount.kind == "money" else "%" if amount.kind == "percent" else "%p"
        return f"{unit} {figure}" if amount.kind == "money" else f"{figure}{unit}"
    if amount.kind == "measure":
        return f"{number(amount.value, 6)} {amount.unit}"
    return shown(amount.value, amount.kind, amount.unit, language, places=amount.scale >= 10**4)


_WORDS = Expressions(word_file(__package__, "words.toml")["amounts"])
_DIGITS = {letter: value for value, letter in enumerate("일이삼사오육칠팔구", 1)}
_PLACES = {"십": 10, "백": 100, "천": 1000, "만": 10**4, "억": 10**8, "조": 10**12}
_SCALES = {
    "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12, "mn": 10**6, "bn": 10**9, "tn": 10**12,
    "k": 10**3, "m": 10**6, "b": 10**9,
}  # fmt: skip
_ENGLISH = {
    word: value
    for value, word in enumerate(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], 1
    )
} | {"fifteen": 15, "twenty": 20, "thirty": 30, "fifty": 50}
_PARTS = {"half": 2, "third": 3, "quarter": 4, "fifth": 5, "tenth": 10, "twentieth": 20, "hundredth": 100}
_NUMBER = r"(?:\d{1,3}(?:,\d{3})++(?:\.\d++)?|\d++(?:\.\d++)?)(?![,.]?\d)"
_KOREAN = rf"(?:(?:{_NUMBER}\s?|[일이삼사오육칠팔구])?+(?:[십백천][만억조]?|[만억조])\s?){{1,8}}+(?:{_NUMBER})?"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|(?-i:May)|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_NO_AMOUNT = (
    r"https?://\S++"
    r"|제\s?\d++(?:\s?[조항호장절편목관회차기권판])?(?:의\s?\d++)?|\d{1,4}\s?조의\s?\d++"
    r"|(?<![a-z])(?:articles?|art\.|sections?|sec\.|paragraphs?|para\.|chapters?|no\.|steps?|phase|versions?|v|"
    r"pages?|pp?\.|lines?|figures?|tables?|items?)\s?\d++(?:[-.]\d++)*+[a-z]?(?![%\d])"
    r"|[§#]\s?\d++(?:[-.]\d++)*+|\d++(?:st|nd|rd|th)\b|\d{1,4}\.\d{1,4}(?:\.\d++)++|(?m:^)\d{1,3}[.)](?=\s)"
    r"|\d{2,4}-\d{3,4}-\d{4}|\d{1,2}:\d{2}(?::\d{2})?|\d{1,2}\s?(?:[ap]\.?m\b|o.clock|시(?!간))"
    r"|\d{2,5}[가-힣]\d{2,6}(?![\d억만])"
    r"|\d{4}(?P<sep>[-/.])\s?\d{1,2}(?P=sep)\s?\d{1,2}\.?|(?:\d{4}\s?년\s?)?\d{1,2}\s?월(?:\s?\d{1,2}\s?일)?"
    rf"|(?:19|20)\d\d\s?년|\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}(?![a-z])(?:,?\s\d{{4}})?"
    rf"|(?<![a-z]){_MONTH}\s\d{{1,2}}(?![\d:])(?:,?\s\d{{4}})?"
)
_TOKEN = re.compile(
    rf"(?<![\w./:,#-])(?:{_NO_AMOUNT})|제\s?\d++\S*"
    r"|(?P<all>\d{1,6})\s?분의\s?(?P<part>\d{1,6})|(?<![\w/])(?P<of>\d{1,4})/(?P<whole>\d{1,4})(?![/\d])"
    rf"|(?<![a-z])(?P<many>{'|'.join(_ENGLISH)})[\s-](?P<share>{'|'.join(_PARTS)})s?(?![a-z])"
    rf"|(?<![a-z])(?P<word>{'|'.join(_ENGLISH)})(?=[\s-](?:per\s?cent|hundred|thousand|million|billion|"
    r"years?|months?|weeks?|days?|hours?|minutes?)(?![a-z]))"
    r"|(?:(?P<before>(?<![a-z])(?:krw|usd|eur|jpy|gbp|cny|us\$)|[$₩￦€¥£])\s?)?(?P<minus>(?:(?<=[\s(→])|(?<!.))[-−])?"
    rf"(?:(?P<korean>{_KOREAN})|(?P<number>{_NUMBER}))|\d[\d.,]*+",
    re.IGNORECASE | re.ASCII,
)
_PLACE = re.compile(rf"({_NUMBER}|[일이삼사오육칠팔구])?\s?([십백천])?\s?([만억조])?", re.ASCII)
_SCALE = re.compile(r"[\s-]?(thousand|million|billion|trillion|mn|bn|tn)(?![a-z])|([kmb])(?![a-z0-9²])", re.IGNORECASE)
_SIGNS = {"us$": "USD", "$": "USD", "₩": "KRW", "￦": "KRW", "€": "EUR", "¥": "JPY", "£": "GBP"}
_COUNTED = [(f"count {word} 1", word + _WORDS.after.pattern) for word in _WORDS.counters.pattern.split("|")]
_UNITS = [*((row, written.pattern) for row, written in _WORDS.rows["units"]), *_COUNTED]
"""Kind, unit and how much of it, and how it is written."""
_UNIT = re.compile(
    rf"\s?(?:{'|'.join(f'(?P<u{n}>{written})' for n, (_, written) in enumerate(_UNITS))})",
    re.IGNORECASE,
)
_JOINED = re.compile(r"[a-z0-9_]$|\w[-/:.#,]$", re.IGNORECASE | re.ASCII)
"""What a number goes on from, as in abc12, a/5 or file:12."""
_LONGEST = 30
_NEAR = 60
"""Characters around a bare number within which words say that it is money."""


def parse_amounts(text: str) -> tuple[Amount, ...]:
    """Return the amounts of a text in order, never overlapping.

    A sum in 억 or 만 without a currency counts as KRW when words about money stand near, else as a bare number.
    """
    found = [amount for match in _TOKEN.finditer(text) if (amount := _amount(text, match)) is not None]
    return (*(_of_range(text, *pair) for pair in pairwise(found)), *found[-1:])


def _of_range(text: str, bare: Amount, other: Amount) -> Amount:
    """Return a number of a range with the unit that is only said of its end: 300 million to 1 billion won."""
    joined = bare.of == ("count", "") and bare.scale > 1 and _WORDS.range.fullmatch(text, bare.end, other.start)
    return replace(bare, kind=other.kind, unit=other.unit) if joined else bare


def _amount(text: str, match: re.Match[str]) -> Amount | None:
    start, end = match.span()
    part, whole = match["part"] or match["of"], match["all"] or match["whole"]
    if part and whole:
        share = Fraction(100 * int(part), int(whole) or 1)
        return Amount("percent", share, "%", match.group(), start, end) if 0 < share < 100 else None
    if match["many"]:
        share = Fraction(100 * _ENGLISH[match["many"].lower()], _PARTS[match["share"].lower()])
        return Amount("percent", share, "%", match.group(), start, end)
    said = match["word"] or match["number"] or match["korean"]
    if not said or len(said) > _LONGEST or _JOINED.search(text, max(0, start - 2), start):
        return None
    if match["korean"]:
        said = said.rstrip()
        return _with_unit(text, match, match.start("korean") + len(said), _places(said), largest=_largest(said))
    value = Fraction(_ENGLISH[said.lower()]) if match["word"] else Fraction(said.replace(",", ""))
    money = match["before"] is not None
    scale = _SCALE.match(text, end)
    if scale and scale[2] and not money and scale[2] not in "kKMB":
        scale = scale if (unit := _UNIT.match(text, scale.end())) and _row(unit)[0] == "money" else None
    factor = _SCALES[(scale[1] or scale[2]).lower()] if scale else 1
    return _with_unit(text, match, scale.end() if scale else end, value * factor, largest=factor)


def _places(said: str) -> Fraction:
    """Return the value of a number in Korean places: `3억 5천만`, `1천5백`, `삼억`."""
    total = section = Fraction()
    for digits, small, big in _PLACE.findall(said):
        if not (digits or small or big):
            continue
        value = Fraction(_DIGITS.get(digits) or digits.replace(",", "") or (1 if small or not section else 0))
        section += value * _PLACES.get(small, 1)
        if big:
            total, section = total + section * _PLACES[big], Fraction()
    return total + section


def _largest(said: str) -> int:
    return max(_PLACES.get(letter, 1) for letter in said)


def _row(unit: re.Match[str]) -> list[str]:
    return _UNITS[int(str(unit.lastgroup)[1:])][0].split()


def _with_unit(text: str, match: re.Match[str], end: int, value: Fraction, largest: int) -> Amount | None:
    """Return a number with the unit before or after it; None where a word goes on from it."""
    start, said = match.start(), text[match.start() : end]
    value = -value if match["minus"] else value
    before = (match["before"] or "").lower()
    currency = _SIGNS.get(before, before.upper())
    unit = _UNIT.match(text, end)
    kind, name, factor = _row(unit) if unit else ("", "", "1")
    if currency:
        stop = unit.end() if unit and name == currency else end
        return Amount("money", value, currency, text[start:stop], start, stop, largest)
    spoken = match["korean"] is not None
    digits = any(letter.isdecimal() for letter in said)
    if spoken and not (digits or (kind == "money" and largest > 1)):
        return None
    if spoken and kind != "money" and said.rstrip()[-1] == "조":  # 7조 is an article
        return None
    if spoken and kind != "money" and "억" in said and "만" not in said and 100 <= value % 10**8 < 10**4:
        value = value + (value % 10**8) * (10**4 - 1)  # 3억 5천, 21억 5000 is how prices are spoken
    if unit:
        return Amount(kind, value * Fraction(factor), name, text[start : unit.end()], start, unit.end(), largest)
    if re.fullmatch(r"(?:19|20)\d\d", said):  # a year
        return None
    follows = text[end : end + 2]
    word = re.match(r"[A-Za-z_]|[-/:]\w|[가-힣]", follows)
    if word and not (_WORDS.particle.match(text, end) or (spoken and largest >= 10**8)):
        return None
    near = spoken and _WORDS.money.search(text[max(0, start - _NEAR) : end + _NEAR // 2])
    return Amount("money" if near else "count", value, "KRW" if near else "", said, start, end, largest)
