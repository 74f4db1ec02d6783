"""Amounts with units in Korean and English text, each with its place; exact, and linear in the text.

Numbers that are no amounts are passed over: articles (제7조의2), dates, telephone numbers, list numbers,
versions, times, addresses of pages and lines.
"""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from hitl_tui.teams.analysis.units import (
    Amount,
    currency_after,
    currency_before,
    scale_after,
    unit_after,
)

_PLACES = {"십": 10, "백": 100, "천": 1000, "만": 10**4, "억": 10**8, "조": 10**12}
_DIGITS = {letter: value for value, letter in enumerate("일이삼사오육칠팔구", 1)}
_ENGLISH = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40,
    "fifty": 50, "sixty": 60, "ninety": 90, "hundred": 100,
}  # fmt: skip
_PARTS = {
    "half": 2, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10, "twelfth": 12,
    "twentieth": 20, "fiftieth": 50, "hundredth": 100,
}  # fmt: skip
_WORD = "|".join(_ENGLISH)
_NUMBER = r"\d[\d,.]*+"
_END = r"(?!\s?(?:들|약|족|점|화|나|료|세|일))"
_DIGIT = "[일이삼사오육칠팔구]"
_SECTION = rf"(?:(?:{_NUMBER}\s?|{_DIGIT})?[십백천]{_END}\s?){{0,3}}+(?:{_NUMBER}\s?|{_DIGIT}(?=[만억조]))?"
_BIG = (("jo", "조"), ("eok", "억"), ("man", "만"))
_KOREAN = re.compile(
    "".join(rf"(?:(?P<{name}>{_SECTION}){letter}{_END}\s?)?+" for name, letter in _BIG) + rf"(?P<one>{_SECTION})",
    re.ASCII,
)
_PIECE = re.compile(rf"({_NUMBER}|[일이삼사오육칠팔구])?\s?([십백천])?", re.ASCII)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|(?-i:May)|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DATE = (
    r"(?<![\w.,/-])\d{4}(?P<sep>[-/.])\d{1,2}(?P=sep)\d{1,2}(?!\d|[-/]\d)|(?<![\w.,/-])\d{4}\.\s\d{1,2}\.\s\d{1,2}(?!\d)"
    r"|(?:\d{4}\s?년\s?)?\d{1,2}\s?월\s?\d{1,2}\s?일|(?<!\d)\d{4}\s?년\s?\d{1,2}\s?월"
    rf"|(?<![\w.,/-])\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}(?![a-z])(?:,?\s\d{{4}}(?!\d))?"
    rf"|(?<![a-z]){_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?(?![\d:])(?:,?\s\d{{4}}(?!\d))?"
)
_NOT_AMOUNT = (
    r"https?://\S++"
    r"|제\s?\d++(?:\s?[조항호장절편목관회차기권판])?(?:의\s?\d++)?"
    r"|(?<![\d.])\d{1,4}\s?조의\s?\d++"
    r"|(?<![a-z])(?:articles?|art\.|sections?|sec\.|paragraphs?|para\.|chapters?|no\.|steps?|versions?|v|"
    r"pages?|pp?\.|lines?|figures?|tables?|items?)\s?\d++(?:[-.]\d++)*+(?![%\d])"
    r"|[§#]\s?\d++(?:[-.]\d++)*+"
    r"|(?<![\d-])\d{2,4}-\d{3,4}-\d{4}(?![\d-])|(?<![\d-])1\d{3}-\d{4}(?![\d-])"
    r"|(?<!\d)\d{1,2}:\d{2}(?::\d{2})?(?!\d)|(?<![\d.,])\d{1,2}(?::\d{2})?\s?(?:[ap]\.?m\b|o.clock|시(?!간))"
    r"|(?m:^)[ \t]{0,8}\d{1,3}[.)](?=\s)"
    rf"|(?<![\d.,])\d{{2,5}}[가-힣]\d{{2,6}}(?![\d억만])|{_DATE}"
)
_TOKEN = re.compile(
    rf"(?P<skip>{_NOT_AMOUNT})"
    r"|(?P<number>\d)"
    r"|(?P<hangul>(?<![가-힣\d])[일이삼사오육칠팔구십백천만억조](?=[십백천만억조원]))"
    rf"|(?<![a-z])(?P<many>{_WORD})[\s-](?P<part>{'|'.join(_PARTS)})s?(?![a-z])"
    rf"|(?<![a-z])(?P<word>{_WORD})(?=[\s-](?:per\s?cent|hundred|thousand|million|billion|trillion|"
    r"years?|months?|weeks?|days?|hours?|minutes?)(?![a-z]))",
    re.IGNORECASE | re.ASCII,
)
_SHARE = re.compile(
    r"(?P<all>\d{1,6})\s?분의\s?(?P<part>\d{1,6})(?![\d.,]*\d)|(?P<of>\d{1,4})/(?P<whole>\d{1,4})(?![\d/.\-:]|\s?\d)",
    re.ASCII,
)
_PLAIN = re.compile(r"\d{1,3}(?:,\d{3})++(?:\.\d++)?|\d++(?:\.\d++)?", re.ASCII)
_CALENDAR = re.compile(r"\s?년(?!간|\s?(?:이내|이상|이하|동안|후|뒤|전))")
_MONEY = re.compile(
    r"전세|월세|보증금|차임|임대료|가격|매매|시세|금액|대금|연봉|예산|비용|매출|대출|집값|[만억]\s?원|급여|수수료|"
    r"deposit|rent|price|budget|salary|fee|cost|won(?![a-z])|krw",
    re.IGNORECASE,
)
_PARTICLE = re.compile(r"[을를이가은는에의과와도로씩였다입대]|만(?!\w)|보다|부터|까지|초과|미만|정도|가량|쯤|짜리|인데")
_RANGE = re.compile(r"\s?(?:to|or|에서|부터|[-~–→])\s?", re.IGNORECASE)
_BETWEEN = re.compile(r"between\s[\d,.]+(?:\s[a-z]+)?\sand\s", re.IGNORECASE)
_LONGEST = 30


def parse_amounts(text: str) -> tuple[Amount, ...]:
    """Return the amounts of a text in order, never overlapping.

    A sum in 억 or 만 without a currency counts as KRW when words about money stand near, else as a bare number.
    """
    found: list[Amount] = []
    position = 0
    while match := _TOKEN.search(text, position):
        position = match.end()
        amount = None
        if match["number"] or match["hangul"]:
            amount = _number_at(text, match.start())
            run = re.compile(_NUMBER).match(text, match.start())
            position = max(position, run.end() if run else 0)
        elif match["many"]:
            share = Fraction(100 * _ENGLISH[match["many"].lower()], _PARTS[match["part"].lower()])
            amount = Amount("percent", share, "%", match.group(), match.start(), match.end())
        elif match["word"]:
            amount = _with_unit(text, match.start(), match.end(), Fraction(_ENGLISH[match["word"].lower()]))
        if amount is not None:
            found.append(amount)
            position = max(position, amount.end)
    return (*(_of_range(text, *pair) for pair in pairwise(found)), *found[-1:])


def _of_range(text: str, bare: Amount, other: Amount) -> Amount:
    """Return an amount with the unit that is only said of the next one: 300 million to 1 billion won, 3 to 5 weeks."""
    if (bare.kind, bare.unit) != ("count", "") or other.kind == "count":
        return bare
    joined = _RANGE.fullmatch(text, bare.end, other.start)
    if not joined and not _BETWEEN.fullmatch(text, max(0, bare.start - len("between ")), other.start):
        return bare
    if bare.scale > 1:
        return replace(bare, kind=other.kind, unit=other.unit)
    said, numbers = re.subn(_NUMBER, bare.text, other.text, flags=re.ASCII)
    alike = parse_amounts(said) if numbers == 1 else ()
    return (
        replace(alike[0], kind=other.kind, unit=other.unit, text=bare.text, start=bare.start, end=bare.end)
        if len(alike) == 1
        else bare
    )


def _number_at(text: str, start: int) -> Amount | None:
    """Return the amount that begins with the figure or Korean numeral at a position."""
    share = _SHARE.match(text, start)
    if share:
        part, whole = int(share["part"] or share["of"]), int(share["all"] or share["whole"])
        if 0 < part < whole and not _joined_left(text, start):
            return Amount("percent", Fraction(100 * part, whole), "%", share.group(), start, share.end())
    currency, begin = currency_before(text, start)
    if not currency and _joined_left(text, start):
        return None
    amount = _korean(text, begin, start)
    run = re.compile(_NUMBER).match(text, start) if amount is None else None
    if run is not None:
        written = run.group().rstrip(",.")
        value, end = _value(written), start + len(written)
        if value is None or (len(written) == 4 and 1900 <= value <= 2100 and _CALENDAR.match(text, end)):
            return None
        amount = _with_unit(text, begin, end, value, currency)
    negative = begin > 0 and text[begin - 1] in "-\N{MINUS SIGN}" and (begin == 1 or text[begin - 2] in " \t\n(→")
    if amount is None or not negative:
        return amount
    return replace(amount, value=-amount.value, start=begin - 1, text=text[begin - 1 : amount.end])


def _value(written: str) -> Fraction | None:
    """Return the value of digits, commas and a point; None when they are no number (1.2.3, 12,34)."""
    plain = len(written) <= _LONGEST and _PLAIN.fullmatch(written)
    return Fraction(written.replace(",", "")) if plain else None


def _joined_left(text: str, start: int) -> bool:
    """Whether the digits go on from a word or number before them, as in abc12, a/5 or file:12."""
    before, two = text[start - 1 : start], text[max(0, start - 2) : max(0, start - 1)]
    if before and before in "/:.#,":
        return bool(two) and not two.isspace() and two not in "([\"'→"
    if before == "-":
        return two.isascii() and two.isalnum()
    return before.isascii() and (before.isalnum() or before == "_")


def _korean(text: str, begin: int, start: int) -> Amount | None:
    """Read 3억 5천만 원, 삼억 or 백만 원; None where no place letter stands or the word goes on."""
    found = _KOREAN.match(text, start, start + _LONGEST)
    written = found.group().rstrip(" ,.") if found else ""
    if found is None or not set(written) & set(_PLACES):
        return None
    end, digits = start + len(written), any(letter.isdecimal() for letter in written)
    sections = {name: _section(said) for name, said in found.groupdict().items() if said is not None}
    if None in sections.values():
        return None
    named = currency_after(text, end)[0] or currency_before(text, begin)[0]
    rest = sections["one"] or 0
    if "eok" in sections and "man" not in sections and 100 <= rest < 10**4 and not named:
        rest *= 10**4  # 3억 5천, 21억 5000 is how prices are spoken: what follows counts 만
    value = Fraction(sum((sections[name] or 1) * _PLACES[letter] for name, letter in _BIG if name in sections) + rest)
    scale = max(_PLACES.get(letter, 1) for letter in written)
    stop = currency_after(text, end)[1]
    if named and (digits or scale >= 10**4):
        return Amount("money", value, named, text[begin:stop], begin, stop, scale)
    if written[-1] == "조" or (not digits and ("eok" not in sections or written[0] == "억")):
        return None
    unit = unit_after(text, end) if digits else None
    if unit is not None:
        kind, name, factor, stop = unit
        return Amount(kind, value * factor, name, text[begin:stop], begin, stop, scale)
    if (scale < 10**8 or not digits) and re.match(r"[가-힣]", text[end : end + 1]) and not _PARTICLE.match(text, end):
        return None
    name = "KRW" if _MONEY.search(text[max(0, begin - 60) : end + 30]) else ""
    return Amount("money" if name else "count", value, name, text[begin:end], begin, end, scale)


def _section(said: str) -> Fraction | int | None:
    """Return the value of what stands before a place of four: `5천`, `1천5백`, `오`; None where that is no number."""
    total: Fraction | int = 0
    last = 10**4
    for number, place in _PIECE.findall(said):
        value = _DIGITS.get(number) or (_value(number.rstrip(",.")) if number else 1 if place else 0)
        size = _PLACES.get(place, 1)
        if value is None or (number and size >= last):
            return None
        total += value * size
        last = size
    return total


def _with_unit(text: str, start: int, end: int, value: Fraction, currency: str = "") -> Amount | None:
    letter = text[end : end + 1] in ("m", "b", "t") and bool(currency_after(text, end + 1)[0])
    scale, stop = scale_after(text, end, money=bool(currency) or letter)
    named, after = currency_after(text, stop)
    if named or currency:
        after = after if not currency or named == currency else stop
        return Amount("money", value * scale, currency or named, text[start:after], start, after, scale)
    unit = unit_after(text, stop)
    if unit is not None:
        kind, name, factor, after = unit
        return Amount(kind, value * scale * factor, name, text[start:after], start, after, scale)
    follows = text[stop : stop + 2]
    joined = follows[:1].isascii() and (follows[:1].isalpha() or follows[:1] == "_")
    if joined or (follows[:1] in tuple("-/:") and follows[1:].isalnum()):
        return None
    if re.match(r"[가-힣]", follows) and not _PARTICLE.match(text, stop):
        return None
    return Amount("count", value * scale, "", text[start:stop], start, stop, scale)
