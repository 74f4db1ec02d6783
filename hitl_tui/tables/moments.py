"""Years, months and days of a question, alone, from one to another, since or until one, as filters of a column."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from hitl_tui.tables.profile import Column
from hitl_tui.tables.query import Filter
from hitl_tui.tables.words import Token, lexicon

_RANGE = re.compile(
    r"^\s?(?:~|-|–|에서|부터|and|to|up to|through|until|till|사이)(?:\s?the)?(?:\s?end of)?(?:\s?the)?(?:\s?year)?$",
    re.I,
)
QUARTER = re.compile(
    r"\b(?P<en>first|second|third|fourth|last|1st|2nd|3rd|4th)\s(?P<of>quarter|half)\b|\bQ(?P<q>[1-4])\b|(?P<ko>[1-4])\s?분기|"
    r"(?P<half>[상하])반기",
    re.I,
)
"""A quarter or half of a year."""
_NTH = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 0, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
_SAME = re.compile(r"^(?:of|in|,|에|의)?$", re.I)
_BEFORE = 14
_LEAP = 8
"""Years of which one has a 29 February."""
_SIGNS = {"since": "ge", "until": "le", "gt": "gt", "lt": "lt", "ge": "ge", "le": "le"}


@dataclass(frozen=True, slots=True)
class Moment:
    """A year, a month, a month of a year, or a day, as a question names it; 0 for what it doesn't say."""

    year: int = 0
    month: int = 0
    day: int = 0
    last_year: int = 0

    @classmethod
    def of(cls, token: Token) -> Moment:
        if token.kind == "day":  # one that the calendar doesn't have is none
            year, month, day = map(int, token.forms[0].split("-"))
            if not day:
                return cls(year, month)
            return cls(year, month, day) if 0 < month < 13 and 0 < day <= monthrange(year, month)[1] else cls()
        number = int(token.number or 0)
        if token.kind == "decade":
            return cls(year=number, last_year=number + 9)
        return cls(year=number) if token.kind == "year" else cls(month=number)

    def joined(self, other: Moment) -> Moment | None:
        """Return a month and a year as one; None where they are something else."""
        if bool(self.year) == bool(other.year) or bool(self.month) == bool(other.month):
            return None
        return Moment(self.year or other.year, self.month or other.month, self.day or other.day)

    def is_in(self, year: int) -> bool:
        """Whether a year has such a day: few have a 29 February."""
        return not self.day or self.day <= monthrange(self.year or year, self.month)[1]

    def first_day(self, year: int) -> date:
        return date(self.year or year, self.month or 1, self.day or 1)

    def last_day(self, year: int) -> date:
        ends, month = self.last_year or self.year or year, self.month or 12
        return date(ends, month, self.day or monthrange(ends, month)[1])


@dataclass(frozen=True, slots=True)
class Period:
    """What a question says of time: a moment, or from one to another, and how it is compared (empty: within it)."""

    first: Moment
    last: Moment
    sign: str
    tokens: frozenset[int]
    said: str

    def parts(self, calendar: Mapping[str, str]) -> tuple[Filter, ...]:
        """Return the filters of the columns that hold years, months and days; empty where they can't tell the period.

        Args:
            calendar: `year`, `month` and `day` with the column of each.
        """
        one = self.first
        named = {part: number for part in ("year", "month", "day") if (number := getattr(one, part))}
        if self.sign or one != self.last or one.last_year or not named.keys() <= calendar.keys():
            return ()
        return tuple(Filter(calendar[part], "is", (float(number),), self.said) for part, number in named.items())

    def filter(self, column: Column) -> Filter | None:
        """Return the rows of a column of dates or years that are meant; None where it can't tell them."""
        one, end = self.first, self.last
        years = (one.year or end.year, end.last_year or end.year or one.year)
        if not (one.year or one.month) or not (end.year or end.month):
            return None
        if column.kind != "date":
            if not all(years) or one.month or end.month:
                return None
            years = (years[0] - column.century, years[1] - column.century)
            if self.sign:
                return Filter(column.name, self.sign, (float(years[0]),), self.said)
            if years[0] == years[1]:
                return Filter(column.name, "is", (float(years[0]),), self.said)
            return Filter(column.name, "between", (float(years[0]), float(years[1])), self.said)
        of_day = bool(one.day or end.day)
        if (self.sign or of_day) and not any(years):  # the last one there is, as who asks stands behind the rows
            newest = int(column.high) - (one.month > column.last_month)
            found = (year for year in range(newest, newest - _LEAP, -1) if one.is_in(year) and end.is_in(year))
            years = (next(found, newest),) * 2
        if not any(years):
            months = (float(one.month), float(end.month))
            if months[0] == months[1]:
                return Filter(column.name, "month", months[:1], self.said)
            return Filter(column.name, "months", months, self.said)
        if not (one.is_in(years[0]) and end.is_in(years[1])):
            return None
        if self.sign:
            day = end.last_day(years[1]) if self.sign in ("gt", "le") else one.first_day(years[0])
            return Filter(column.name, f"date_{self.sign}", (day.isoformat(),), self.said)
        if not one.month and not end.month:
            op, values = ("year", years[:1]) if years[0] == years[1] else ("years", years)
            return Filter(column.name, op, tuple(map(float, values)), self.said)
        days = (one.first_day(years[0]).isoformat(), end.last_day(years[1]).isoformat())
        return Filter(column.name, "dates", days, self.said)


def periods(
    tokens: Sequence[Token], text: str, skipped: frozenset[int], comparisons: Sequence[str]
) -> Iterator[Period]:
    """Yield what a question says of time, in order.

    Args:
        tokens: of the question.
        text: the question.
        skipped: tokens that stand for something else.
        comparisons: the comparisons the question has.
    """
    found: list[tuple[list[int], Moment]] = []
    if (part := QUARTER.search(text)) and (of := _part_of_year(part)):
        spoken = [n for n, t in enumerate(tokens) if part.start() <= t.start < part.end() and n not in skipped]
        years = [n for n, t in enumerate(tokens) if t.kind == "year" and n not in skipped]
        if spoken and len(years) < 2:
            year = int(tokens[years[0]].number or 0) if years else 0
            first, last = (Moment(year, month) for month in of)
            yield Period(first, last, "", frozenset((*spoken, *years)), part.group())
            skipped |= {*spoken, *years}
    for n, token in enumerate(tokens):
        if n in skipped or token.kind not in ("year", "month", "day", "decade"):
            continue
        said = Moment.of(token)
        joined = found[-1][1].joined(said) if found and found[-1][0][-1] == n - 1 else None
        if joined and _SAME.match(text[tokens[n - 1].end : token.start].strip()):
            found[-1] = ([*found[-1][0], n], joined)
            continue
        found.append(([n], said))
    while found:
        places, one = found.pop(0)
        start, end = tokens[places[0]].start, tokens[places[-1]].end
        words = text[start:end]
        if found:
            after, other = found[0]
            between = text[end : tokens[after[0]].start].strip()
            pair = between == "and" and "between" not in comparisons
            if _RANGE.match(between) and not pair:
                found.pop(0)
                yield Period(one, other, "", frozenset([*places, *after]), f"{words}–{tokens[after[-1]].text}")
                continue
        yield Period(one, one, _sign(text, start, end), frozenset(places), words)


def _part_of_year(said: re.Match[str]) -> tuple[int, int] | None:
    """Return the first and last month of a quarter or half of a year."""
    months = 6 if said["half"] or (said["of"] or "").lower() == "half" else 3
    count = 12 // months
    nth = int(said["q"] or said["ko"] or 0) or (1 if said["half"] == "상" else 2 if said["half"] else 0)
    nth = nth or _NTH[(said["en"] or "last").lower()] or count
    return ((nth - 1) * months + 1, nth * months) if nth <= count else None


def _sign(text: str, start: int, end: int) -> str:
    """Return how a moment is compared, by the words right before it in English and right after it in Korean."""
    before = re.split(r"[,;?]|\d", text[max(0, start - _BEFORE) : start])[-1].strip().casefold()
    after = text[end : end + 5].lstrip()
    for name, expression in lexicon().times.items():
        for match in expression.finditer(before):
            if not re.sub(r"\bthe\b|\bend of\b|\bstart of\b|\byear\b", "", before[match.end() :]).strip():
                return _SIGNS[name]
        following = expression.match(after)
        if following and re.search("[가-힣]", following.group()):
            return _SIGNS[name]
    return ""


def are_months(days: Sequence[str | float]) -> bool:
    """Whether a time goes from the first day of a month to the last one of a month."""
    first, last = (date.fromisoformat(str(day)) for day in days)
    return first.day == 1 and last.day == monthrange(last.year, last.month)[1]
