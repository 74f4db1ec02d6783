"""Amounts with units in Korean and English text, each with its place; exact, and linear in the text.

Numbers that are no amounts are passed over: articles (제7조의2), dates, telephone numbers, list numbers,
versions, times, addresses of pages and lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction

from hitl_tui.teams.analysis.calendar_dates import DATE
from hitl_tui.teams.analysis.units import (
    BIG,
    DIGITS,
    ENGLISH,
    PARTS,
    REACH,
    RUN,
    SMALL,
    Token,
    currency_after,
    currency_before,
    digits,
    korean,
    scale_after,
    unit_after,
)
from hitl_tui.teams.number_format import shown

_WORD = "|".join(ENGLISH)
_PART = "|".join(PARTS)
_KO = "일이삼사오육칠팔구십백천만억조"

_NOT_AMOUNT = (
    r"https?://\S++"
    r"|제\s?\d++(?:\s?[조항호장절편목관회차기권판])?(?:의\s?\d++)?"
    r"|(?<![\d.])\d{1,4}\s?조의\s?\d++"
    r"|(?<![a-z])(?:articles?|art\.|sections?|sec\.|paragraphs?|para\.|chapters?|no\.|steps?|versions?|v|"
    r"pages?|pp?\.|lines?|figures?|tables?|items?)\s?\d++(?:[-.]\d++)*+(?![%\d])"
    r"|[§#]\s?\d++(?:[-.]\d++)*+"
    r"|(?<![\d-])\d{2,4}-\d{3,4}-\d{4}(?![\d-])|(?<![\d-])1\d{3}-\d{4}(?![\d-])"
    r"|(?<!\d)\d{1,2}:\d{2}(?::\d{2})?(?!\d)"
    r"|(?<!\d)\d{1,2}\s?월\s?\d{1,2}\s?일"
    r"|(?m:^)[ \t]{0,8}\d{1,3}[.)](?=\s)"
    r"|(?<![\d.,])\d{2,5}[가-힣]\d{2,6}(?![\d억만])"
)
_TOKEN = re.compile(
    rf"(?P<skip>{_NOT_AMOUNT})"
    rf"|(?P<date>{DATE.pattern})"
    r"|(?P<number>\d)"
    rf"|(?P<hangul>(?<![가-힣\d])[{_KO}]{{2,16}}+)"
    rf"|(?<![a-z])(?P<many>{_WORD})[\s-](?P<part>{_PART})s?(?![a-z])"
    rf"|(?<![a-z])(?P<word>{_WORD})(?=[\s-](?:percent|per\scent|hundred|thousand|million|billion|trillion|"
    r"years?|months?|weeks?|days?|hours?|minutes?)(?![a-z]))",
    re.IGNORECASE | re.ASCII,
)
_OF_PARTS = re.compile(r"(\d{1,6})\s?분의\s?(\d{1,6})(?![\d.,]*\d)", re.ASCII)
_SLASH = re.compile(r"(\d{1,4})/(\d{1,4})(?![\d/.\-:]|\s?\d)", re.ASCII)
_PLACE = re.compile(r"\s?([천백십]{0,3}[조억만]|[천백십])")
_KO_TAIL = re.compile(r"\s?[일이삼사오육칠팔구십백천]{1,8}+만?(?=\s?원)")
_CALENDAR = re.compile(r"\s?년(?!간|\s?(?:이내|이상|이하|동안|후|뒤|전))")
_MONEY_WORDS = re.compile(
    r"전세|월세|보증금|차임|임대료|가격|매매|시세|금액|대금|연봉|예산|비용|매출|대출|집값|[만억]\s?원|급여|수수료|"
    r"deposit|rent|price|budget|salary|fee|cost|won(?![a-z])|krw",
    re.IGNORECASE,
)
_AFTER_BARE = re.compile(
    r"을|를|이|가|은|는|에|의|과|와|도|만|로|으로|보다|씩|부터|까지|초과|미만|정도|가량|쯤|짜리|인데|였|다|입|대"
)
_LETTERS = frozenset("mbt")
_NO_PLACE = re.compile(r"[들약족점화나료세일]|제\b")


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with its unit.

    Args:
        kind: `money`, `percent`, `points`, `area`, `duration`, `data` or `count`.
        value: the exact value in `unit`; percent as 5 for 5 %.
        unit: `KRW`, `USD`, …, `%`, `%p`, `m²`, `month`, `byte`, a Korean counter, or empty for a bare number.
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
    """Return an amount as `shown` writes it."""
    return shown(amount.value, amount.kind, amount.unit, language, places=amount.scale >= 10**4)


def parse_amounts(text: str) -> tuple[Amount, ...]:
    """Return the amounts of a text in order, never overlapping.

    A sum in 억 or 만 without a currency counts as KRW when words about money stand near, else as a bare number.
    """
    found: list[Amount] = []
    position = 0
    while match := _TOKEN.search(text, position):
        position = match.end()
        if match["skip"] or match["date"]:
            continue
        if match["number"]:
            run = RUN.match(text, match.start())
            position = run.end() if run else position
            amount = _digits_at(text, match.start())
        elif match["hangul"]:
            amount = _hangul(text, match)
        elif match["many"]:
            share = Fraction(100 * ENGLISH[match["many"].lower()], PARTS[match["part"].lower()])
            amount = Amount("percent", share, "%", match.group(), match.start(), match.end())
        else:
            amount = _with_unit(text, match.start(), match.end(), Fraction(ENGLISH[match["word"].lower()]))
        if amount is not None:
            found.append(amount)
            position = max(position, amount.end)
    return tuple(found)


def _digits_at(text: str, start: int) -> Amount | None:
    for pattern, whole, part in ((_OF_PARTS, 1, 2), (_SLASH, 2, 1)):
        match = pattern.match(text, start)
        if match and 0 < int(match[part]) < int(match[whole]) and not _joined_left(text, start):
            share = Fraction(100 * int(match[part]), int(match[whole]))
            return Amount("percent", share, "%", match.group(), start, match.end())
    run = RUN.match(text, start)
    if run is None:
        return None
    shown = run.group().rstrip(",.")
    value, end = digits(shown), start + len(shown)
    if value is None:
        return None
    if len(shown) == 4 and 1900 <= value <= 2100 and _CALENDAR.match(text, end):
        return None
    currency, begin = currency_before(text, start)
    if not currency and _joined_left(text, start):
        return None
    sign = _sign(text, begin)
    amount = _korean_places(text, begin, end, value) or _with_unit(text, begin, end, value, currency)
    if amount is None or not sign:
        return amount
    return replace(amount, value=-amount.value, start=begin - 1, text=text[begin - 1 : amount.end])


def _joined_left(text: str, start: int) -> bool:
    """Whether the digits go on from a word or number before them, as in abc12, a/5 or file:12."""
    if start == 0:
        return False
    before = text[start - 1]
    if before.isascii() and (before.isalnum() or before == "_"):
        return True
    if before in "/:.#,":
        return start > 1 and not text[start - 2].isspace() and text[start - 2] not in "([\"'→"
    return before in "-" and start > 1 and text[start - 2].isascii() and text[start - 2].isalnum()


def _sign(text: str, start: int) -> bool:
    if start == 0 or text[start - 1] not in "-\N{MINUS SIGN}":
        return False
    return start == 1 or text[start - 2] in " \t\n(→"


def _korean_places(text: str, start: int, end: int, value: Fraction) -> Amount | None:
    """Read 3억 5천만 원 from its first number on; None where no place letter follows."""
    tokens: list[Token] = [value]
    scale, stop = 1, end
    while match := _PLACE.match(text, stop, stop + REACH):
        letters = [letter for letter in match[1] if not letter.isspace()]
        spaced = match.group()[0].isspace()
        if spaced and _NO_PLACE.match(text, match.end()):
            break
        if spaced and letters[-1] in SMALL:
            break
        if korean([*tokens, *letters]) is None:
            break
        tokens, stop = [*tokens, *letters], match.end()
        scale = max(scale, *(BIG.get(letter, SMALL.get(letter, 1)) for letter in letters))
        step = _next_number(text, stop, tokens)
        if step is None:
            break
        number, stop = step
        tokens.append(number)
    if len(tokens) == 1:
        return None
    return _finish_korean(text, start, stop, tokens, scale)


def _next_number(text: str, stop: int, tokens: list[Token]) -> tuple[Fraction, int] | None:
    """Return the number that goes on an amount after a place letter, or None when another thing begins."""
    at = stop + 1 if text[stop : stop + 1] == " " else stop
    run = RUN.match(text, at, at + REACH)
    if run is None:
        return None
    shown = run.group().rstrip(",.")
    value, end = digits(shown), at + len(shown)
    if value is None:
        return None
    place = _PLACE.match(text, end, end + REACH)
    if place and not (place.group()[0].isspace() and _NO_PLACE.match(text, place.end())):
        letters = [letter for letter in place[1] if not letter.isspace()]
        return (value, end) if korean([*tokens, value, *letters]) is not None else None
    if currency_after(text, end)[0] == "KRW":
        return (value, end) if value < 10**4 or tokens[-1] not in BIG else None
    loose = tokens[-1] == "억" and 100 <= value < 10**4 and value.denominator == 1
    if loose and re.match(r"$|[\s)\]|;]|으로|을|를|에|로|이|은|는|의|까지", text[end : end + 4]):
        return (value * 10**4, end)
    return None


def _finish_korean(text: str, start: int, stop: int, tokens: list[Token], scale: int) -> Amount | None:
    tail = _KO_TAIL.match(text, stop, stop + REACH) if isinstance(tokens[-1], str) else None
    if tail:
        longer = korean([*tokens, *_hangul_tokens(tail.group().strip())])
        if longer is not None:
            tokens, stop = [*tokens, *_hangul_tokens(tail.group().strip())], tail.end()
    value = korean(tokens)
    if value is None:
        return None
    currency, end = currency_after(text, stop)
    if not currency and "억" in tokens and "만" not in tokens and tokens[-1] in SMALL:
        # 3억 5천 is how prices are spoken: the 천 counts 만.
        whole = korean(tokens[: tokens.index("억") + 1]) or Fraction(0)
        value = whole + (value - whole) * 10**4
    if tokens[-1] == "조" and not currency:
        return None
    if currency:
        return Amount("money", value, currency, text[start:end], start, end, scale)
    unit, end = unit_after(text, stop)
    if unit is not None:
        return Amount(unit.kind, value * unit.factor, unit.name, text[start:end], start, end, scale)
    follows = text[stop : stop + 2]
    if scale < 10**8 and re.match(r"[가-힣]", follows) and not _AFTER_BARE.match(follows):
        return None
    before = currency_before(text, start)[0] if start else ""
    near = text[max(0, start - 60) : stop + 30]
    name = before or ("KRW" if _MONEY_WORDS.search(near) else "")
    return Amount("money" if name else "count", value, name, text[start:stop], start, stop, scale)


def _hangul_tokens(word: str) -> list[Token]:
    return [Fraction(DIGITS[letter]) if letter in DIGITS else letter for letter in word if not letter.isspace()]


def _hangul(text: str, match: re.Match[str]) -> Amount | None:
    """Read 삼억 or 오천만 원; without 원 a sum must hold 억 and end like a noun does."""
    word, end = match.group(), match.end()
    while word and word[-1] not in BIG and word[-1] not in SMALL:
        word, end = word[:-1], end - 1
    tokens = _hangul_tokens(word)
    value = korean(tokens) if len(word) >= 2 else None
    if value is None or not (set(word) & set(BIG)):
        return None
    currency, stop = currency_after(text, end)
    scale = max(BIG.get(letter, 1) for letter in word)
    if currency and re.search(r"[일이삼사오육칠팔구십백천]", word):
        return Amount("money", value, currency, text[match.start() : stop], match.start(), stop, scale)
    if (
        "억" not in word
        or word[0] == "억"
        or not re.match(r"$|[\s.,)을를은는에의]|으로|로|까지|인데|이[^가-힣]", text[end : end + 2])
    ):
        return None
    near = text[max(0, match.start() - 60) : end + 30]
    name = "KRW" if _MONEY_WORDS.search(near) else ""
    return Amount("money" if name else "count", value, name, word, match.start(), end, scale)


def _with_unit(text: str, start: int, end: int, value: Fraction, currency: str = "") -> Amount | None:
    letter = text[end : end + 1] in _LETTERS
    scale, stop = scale_after(text, end, money=bool(currency or (letter and currency_after(text, end + 1)[0])))
    named, after = currency_after(text, stop)
    if named or currency:
        name = currency or named
        after = after if named in ("", name) else stop
        return Amount("money", value * scale, name, text[start:after], start, after, scale)
    unit, after = unit_after(text, stop)
    if unit is not None:
        return Amount(unit.kind, value * scale * unit.factor, unit.name, text[start:after], start, after, scale)
    following = text[stop : stop + 2]
    if following[:1].isascii() and (following[:1].isalpha() or following[:1] == "_"):
        return None
    if re.match(r"[가-힣]", following) and not _AFTER_BARE.match(text, stop):
        return None
    if following[:1] in ("-", "/", ":") and following[1:].isalnum():
        return None
    return Amount("count", value * scale, "", text[start:stop], start, stop, scale)
