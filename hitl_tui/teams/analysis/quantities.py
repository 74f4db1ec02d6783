"""Quantities that texts, tables and questions state: how much, of what, per what, when, and whether it is a bound."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from hitl_tui.tables.words import hangul_forms, lexicon, words_of
from hitl_tui.teams.analysis.amounts import parse_amounts
from hitl_tui.teams.analysis.analysis_model import QUERY, Source
from hitl_tui.teams.analysis.calendar_dates import date_places
from hitl_tui.teams.analysis.units import Amount

_PER_AFTER = re.compile(
    r"\s?(?:(?:per|an?|each|for\s(?:one|an?|each|every))\s(?P<en>[a-z]+)|/\s?(?P<slash>[a-z가-힣]+)|(?P<each>each|apiece))",
    re.I,
)
_COUNTERS = "팀|명|개|장|권|대|병|잔|곳|채|건|박|번|회|달|시간|사람|마리|인|일|kg"
_PER_BEFORE = re.compile(
    rf"(?:(?P<ko>[가-힣]{{1,4}}?)\s?당|(?<!\d)1?\s?(?P<one>{_COUNTERS})에|(?<![가-힣\d])(?:한|1)\s?(?P<a>{_COUNTERS})|"
    r"(?P<month>매?월|달)|(?P<year>매년|연간|연)|(?P<day>하루|매일|일일))\s?(?:에\s?)?$|"
    r"\b(?P<each>monthly|month|yearly|annual|daily|hourly|weekly|nightly)\b[^.;\d]{0,40}$",
    re.I,
)
_UNIT_OF = re.compile(rf"\s?(?:{_COUNTERS})?(?:에|당)?\s?[$€£₩]?\s?\d|\S{{0,3}}(?:에|당)\s")
_NOUN = re.compile(r"\s?(?:[a-z]+ed\s)?(?P<noun>[a-z]{2,20})(?![a-z])", re.I)
_NO_NOUN = re.compile(
    r"of|in|on|at|for|to|and|or|with|from|as|it|is|are|was|were|the|an|each|per|than|a|by|not|until|more|less|out|off|up|"
    r"ha[sd]|have|will|may|can|must|should|which|that|who|if|before|after|since|times|their|our|my|your|his|her"
)
_NUMERALS = {
    "한": 1, "두": 2, "세": 3, "네": 4, "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8, "아홉": 9, "열": 10, "two": 2,
    "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12,
}  # fmt: skip
_SPOKEN = re.compile(
    rf"(?<![가-힣\da-z])(?P<n>{'|'.join(_NUMERALS)})\s?(?P<noun>(?:{_COUNTERS})(?![가-힣]*당)|(?<=\s)[a-z]{{3,20}}s\b)",
    re.I,
)
_THINGS = {
    "person": "명 인 사람 people person guest member employee participant attendee head visitor student adult child",
    "night": "박 night nightly", "day": "일 하루 day daily 매일 일일", "week": "주 week weekly",
    "month": "월 달 매월 개월 month monthly", "year": "년 연 매년 연간 year yearly annual",
    "hour": "시간 hour hourly", "time": "회 번 time session lesson visit", "item": "개 item piece unit",
    "kg": "kg kilo kilogram", "km": "km kilometre kilometer", "litre": "litre liter l 리터",
}  # fmt: skip
_THING = {word: thing for thing, words in _THINGS.items() for word in words.split()}
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_MONTH = re.compile(
    r"(?<![\d.])(?P<ko>\d{1,2})\s?월|\b(?P<en>(?:jan|febr)uary|march|april|june|july|august|(?:septem|octo|novem|decem)ber)\b|"
    r"\b(?P<may>(?-i:May))\b|\b(?:19|20)\d\d-(?P<iso>\d\d)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount as it is stated.

    Args:
        amount: how much.
        per: what it is for one of (`night`, `month`, a noun), or empty.
        noun: what is counted, or empty.
        own: words of its clause.
        near: words of its sentence or row.
        far: words of the headings and the file.
        before: words of the sentence before.
        when: year and month that it is of, 0 for what isn't said.
        turn: -1 for what was so, or was planned; 1 for what became of it; 0 where nothing says so.
        bound: `max`, `below`, `min`, or empty.
        source: where it stands.
        place: its file, and its sentence or row in it.
        said: the sentence.
        column: of a figure of a table its column.
        rows: how many rows it is the sum of; 0 for a figure as it stands.
        moves: the sentence says by how much something rises (1) or falls (-1), and this is it.
        paired: the sentence says that it becomes another, or that another became it.
        derived: it was computed of others, as `said` has it.
    """

    amount: Amount
    per: str = ""
    noun: str = ""
    own: frozenset[str] = frozenset()
    near: frozenset[str] = frozenset()
    far: frozenset[str] = frozenset()
    before: frozenset[str] = frozenset()
    when: tuple[int, int] = (0, 0)
    turn: int = 0
    bound: str = ""
    source: Source = QUERY
    place: tuple[str, int] = ("", 0)
    said: str = ""
    column: str = ""
    rows: int = 0
    moves: int = 0
    paired: bool = False
    derived: bool = False

    @property
    def value(self) -> Fraction:
        """The exact value."""
        return self.amount.value

    @property
    def of(self) -> tuple[str, str]:
        """What has to be the same where two are compared: the kind and unit, or what is counted."""
        return (self.amount.kind, self.amount.unit.strip())


def thing(word: str) -> str:
    """Return what a word counts, one name for its ways to be said."""
    lower = word.strip().lower()
    return _THING.get(lower) or _THING.get(lower.removesuffix("s")) or lower.removesuffix("s")


def words_in(text: str) -> frozenset[str]:
    """Return the words of a text in the forms that they may be looked for in."""
    found: set[str] = set()
    for word in re.findall(r"[가-힣]+|[A-Za-z][A-Za-z'’]*|\d+월|(?<!\d)(?:19|20)\d\d(?!\d)", text):
        found |= set(forms_of(word))
    for match in _MONTH.finditer(text):
        found.add(f"month{month_of(match)}")
    return frozenset(found)


@lru_cache(65536)
def forms_of(word: str) -> tuple[str, ...]:
    if "가" <= word[0] <= "힣":
        return tuple(form for form in hangul_forms(word) if len(form) > 1 or form in lexicon().alike)
    return words_of(word) or (word.lower(),)


def month_of(match: re.Match[str]) -> int:
    """Return the month that is named."""
    if match["ko"] or match["iso"]:
        return int(match["ko"] or match["iso"])
    return lexicon().months[(match["en"] or match["may"]).lower()]


def when_of(text: str) -> tuple[int, int]:
    """Return the year and month that a text names; 0 for none, or for several."""
    years = {int(m.group()) for m in _YEAR.finditer(text)}
    months = {month_of(m) for m in _MONTH.finditer(text)}
    return (years.pop() if len(years) == 1 else 0, months.pop() if len(months) == 1 else 0)


def in_text(text: str, *, dates: bool = True) -> list[tuple[Amount, str]]:
    """Return the amounts of a text with what each counts, dates too where they are wanted."""
    amounts = list(parse_amounts(text, dates=dates))
    for match in _SPOKEN.finditer(text):
        start, end = match.span("n")
        if not any(a.start < end and start < a.end for a in amounts):
            value = Fraction(_NUMERALS[match["n"].lower()])
            unit = match["noun"] if "가" <= match["noun"][0] <= "힣" else ""
            amounts.append(Amount("count", value, unit, match["n"], start, match.end() if unit else end))
    return [_counted(text, amount) for amount in sorted(amounts, key=lambda a: a.start) if not amount.year_like]


def _counted(text: str, amount: Amount) -> tuple[Amount, str]:
    """Return an amount with what it counts: its unit, or the noun after a bare number, which becomes its unit."""
    if amount.kind not in ("count", "duration", "measure"):
        return amount, ""
    follows = _NOUN.match(text, amount.end) if not amount.unit else None
    if follows is None:
        return amount, thing(amount.unit) if amount.unit else ""
    if _NO_NOUN.fullmatch(follows["noun"].lower()) or follows["noun"].lower() in lexicon().months:
        return amount, ""
    return replace(amount, unit=f" {follows['noun']}", end=follows.end()), thing(follows["noun"])


def is_unit(text: str, amount: Amount) -> bool:
    """Whether one of something says what another amount is for: `한 팀 40,000원`, `1박에`."""
    if amount.kind == "date" or amount.value != 1 or amount.text.strip().lower() == "one":
        return False
    return _UNIT_OF.match(text[amount.end :]) is not None


def per_of(text: str, amount: Amount, before: int, after: int) -> str:
    """Return what an amount is for one of, by the words beside it."""
    right = _PER_AFTER.match(text[amount.end : after])
    if right:
        return "each" if right["each"] else thing(right["en"] or right["slash"])
    left = _PER_BEFORE.search(text[max(before, amount.start - 60) : amount.start])
    if not left:
        return ""
    if left["month"] or left["year"] or left["day"]:
        return "month" if left["month"] else "year" if left["year"] else "day"
    return thing(left["ko"] or left["one"] or left["a"] or left["each"])


def of_question(question: str) -> list[Quantity]:
    """Return what a question states."""
    stated = [(a, noun) for a, noun in in_text(question, dates=False) if not is_unit(question, a)]
    made = []
    for n, (amount, noun) in enumerate(stated):
        left = stated[n - 1][0].end if n else 0
        right = stated[n + 1][0].start if n + 1 < len(stated) else len(question)
        made.append(Quantity(amount, per_of(question, amount, left, right), noun, said=question))
    return made


def spans(text: str) -> list[tuple[int, int]]:
    """Return the places of a text's amounts and dates."""
    return [(a.start, a.start + len(a.text)) for a, _ in in_text(text)] + [m.span() for m in date_places(text)]
