"""Dates in Korean and English text: days, months, quarters, years, the time between them, and rows that lie in them."""

from __future__ import annotations

import calendar
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from hitl_tui.core.messages import Message

_MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_MONTHS = tuple(name[:3] for name in _MONTH_NAMES)
_NAME = "|".join((*_MONTH_NAMES, "sept", *_MONTHS))
_YEAR = r"(?:19|20)\d\d"
_TO = r"\s?(?:부터|에서|~|–|-|to|through|until|till|and)\s?"
_CELL = re.compile(
    rf"(?P<year>{_YEAR})(?:[-./년]\s?(?P<month>\d{{1,2}})(?:[-./월]\s?(?P<day>\d{{1,2}})(?!\d))?)?\D*?"
    rf"(?:[T ]\d{{1,2}}:\d\d.*)?|(?P<only>\d{{1,2}})월|(?P<name>{_NAME})\.?(?:\s(?P<of>{_YEAR}))?",
    re.IGNORECASE,
)
_ASKED = re.compile(
    rf"(?P<y1>{_YEAR})\s?[-./]\s?(?P<m1>\d{{1,2}})(?:\s?[-./]\s?(?P<d1>\d{{1,2}}))?(?!\d)"
    rf"|(?:(?P<y2>{_YEAR})\s?년\s?)?(?<!\d)(?P<m2>\d{{1,2}})\s?월(?:\s?(?P<d2>\d{{1,2}})\s?일)?"
    rf"|(?:(?P<y10>{_YEAR})\s?년\s?)?(?<!\d)(?P<from>\d{{1,2}})\s?[~–-]\s?(?P<until>\d{{1,2}})\s?월(?!\s?\d{{1,2}}\s?일)"
    rf"|(?:(?P<y3>{_YEAR})\s?년\s?)?(?<!\d)(?P<q3>[1-4])\s?분기|(?:(?P<y4>{_YEAR})\s?년\s?)?(?P<half>상|하)반기"
    rf"|(?<![a-z])q(?P<q5>[1-4])(?:\s(?P<y5>{_YEAR}))?(?![a-z\d])"
    rf"|(?<![a-z])(?P<q6>first|second|third|fourth)\squarter(?:\sof)?(?:\s(?P<y6>{_YEAR}))?"
    rf"|(?<![a-z])(?P<name>{_NAME})\.?(?:\s(?P<d7>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:]))?(?:,?\s(?P<y7>{_YEAR}))?(?![a-z\d])"
    rf"|(?<!\d)(?P<y8>{_YEAR})\s?년(?!\s?\d)|(?<![a-z])(?:in|of|for|during|year)\s(?P<y9>{_YEAR})(?![\d.,]\d)",
    re.IGNORECASE,
)
_VERBS = re.compile(r"(?<![a-z])(?:may|march)(?![a-z])", re.IGNORECASE)
_RELATIVE = re.compile(
    r"(?:지난|이번|다음|저번)\s?(?:달|주|해|분기)|전월|당월|올해|작년|내년|재작년|어제|그제|"
    r"(?<![a-z])(?:(?:last|this|next|previous|current)\s(?:day|week|month|quarter|year)|yesterday)(?![a-z])",
    re.IGNORECASE,
)
_YEARS = re.compile(r"year|연도|년도|년|해", re.IGNORECASE)
_MONTHLY = re.compile(r"month|월|달", re.IGNORECASE)
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4}

Moment = tuple[int | None, int | None, int | None]
"""Year, month and day, None for what isn't said."""


@dataclass(frozen=True, slots=True)
class Period:
    """Part of the calendar that a question names.

    Args:
        said: the words that name it.
        year: None where any year may be meant.
        months: from 1 to 12, inclusive.
        day: None for all days.
        last: the last day of one that goes from a period to another; year 0 where any may be meant.
    """

    said: str
    year: int | None
    months: tuple[int, int] = (1, 12)
    day: int | None = None
    last: tuple[int, int, int] | None = None

    def holds(self, moment: Moment) -> bool:
        """Return whether a moment surely lies in it."""
        year, month, day = moment
        if self.last is not None:
            if month is None or (self.year is not None and year is None):
                return False
            begin, end = (year or 0 if self.year is not None else 0, month), self.year or 0
            days = (1, 31) if day is None else (day, day)
            return (end, self.months[0], self.day or 1) <= (*begin, days[0]) and (*begin, days[1]) <= self.last
        if self.year is not None and year != self.year:
            return False
        if self.months != (1, 12) and (month is None or not self.months[0] <= month <= self.months[1]):
            return False
        return self.day is None or day == self.day


def periods(query: str) -> tuple[Period, ...]:
    """Return the periods that a question names, each once; from one month to another is one period."""
    found: list[tuple[re.Match[str], Period]] = [
        (match, period) for match in _ASKED.finditer(query) if (period := _period(match, query))
    ]
    found = [(match, _with_year(period, [p for _, p in found])) for match, period in found]
    merged: list[tuple[int, Period]] = []
    for match, period in found:
        if merged and _runs_on(query, merged[-1], match, period):
            end, before = merged.pop()
            said = query[end - len(before.said) : match.end()].strip()
            last = (period.year or 0, period.months[1], period.day or 31)
            period = replace(before, said=said, last=last)
        merged.append((match.end(), period))
    return tuple(dict.fromkeys(period for _, period in merged))


def relative(query: str) -> str:
    """Return the words of a question that name a period by the day they are said on; empty where none do."""
    match = _RELATIVE.search(query)
    return match.group() if match else ""


def moment_of(cell: str) -> Moment | None:
    """Return the date in a table's cell, as far as it goes; None where the cell is none."""
    match = _CELL.fullmatch(cell.strip())
    if match is None:
        return None
    if match["name"]:
        return (int(match["of"]) if match["of"] else None, _number(match["name"]), None)
    year = int(match["year"]) if match["year"] else None
    month = match["month"] or match["only"]
    if month is not None and not 1 <= int(month) <= 12:
        return None
    return year, int(month) if month else None, int(match["day"]) if match["day"] else None


@dataclass(frozen=True, slots=True)
class Calendar:
    """When the rows of a table are.

    Args:
        column: name of the column that says so.
        moments: one for each row; None where it isn't said.
    """

    column: str
    moments: tuple[Moment | None, ...]


def calendar_of(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Calendar | None:
    """Return when a table's rows are: from a column of dates, or columns of years and months; None where none says."""
    columns = [[row[index] for row in rows] for index in range(len(header))]
    for name, cells in zip(header, columns, strict=True):
        found = tuple(moment_of(cell) for cell in cells)
        if _mostly(cells, sum(moment is not None and moment[1] is not None for moment in found)):
            return Calendar(name, found)
    years = _whole(header, columns, _YEARS, range(1900, 2100))
    months = _whole(header, columns, _MONTHLY, range(1, 13))
    if years is None and months is None:
        return None
    nothing: list[int | None] = [None] * len(rows)
    both = zip(years[1] if years else nothing, months[1] if months else nothing, strict=True)
    moments = tuple((year, month, None) if (year, month) != (None, None) else None for year, month in both)
    return Calendar(" ".join(found[0] for found in (years, months) if found), moments)


def _whole(
    header: Sequence[str], columns: Sequence[Sequence[str]], named: re.Pattern[str], allowed: range
) -> tuple[str, list[int | None]] | None:
    """Return the first column of such a name whose cells are whole numbers of a range."""
    for name, cells in zip(header, columns, strict=True):
        if named.fullmatch(name):
            found = [int(cell) if cell.isdecimal() and int(cell) in allowed else None for cell in cells]
            if _mostly(cells, sum(value is not None for value in found)):
                return name, found
    return None


def _mostly(cells: Sequence[str], count: int) -> bool:
    filled = sum(1 for cell in cells if cell)
    return bool(filled) and count * 5 >= filled * 4


def _period(match: re.Match[str], query: str) -> Period | None:
    year = next((int(match[f"y{n}"]) for n in range(1, 11) if match[f"y{n}"]), None)
    said = match.group().strip()
    quarter = match["q3"] or match["q5"] or (_ORDINALS[match["q6"].casefold()] if match["q6"] else None)
    if quarter is not None:
        return Period(said, year, (int(quarter) * 3 - 2, int(quarter) * 3))
    if match["from"]:
        first, last = int(match["from"]), int(match["until"])
        return Period(said, year, (first, last)) if 1 <= first < last <= 12 else None
    if match["half"]:
        return Period(said, year, (1, 6) if match["half"] == "상" else (7, 12))
    if match["name"]:
        # "may" and "march" are verbs, too: a month only with a capital and a year, a day or a word of time beside it.
        beside = re.search(r"(?:in|of|for|during|from|to|and|between|since|until)\s$", query[: match.start()], re.I)
        if _VERBS.fullmatch(match["name"]) and not (match["name"][0].isupper() and (beside or year or match["d7"])):
            return None
        month = _number(match["name"])
    else:
        written = match["m1"] or match["m2"]
        if written is None:
            return Period(said, year)
        month = int(written)
    if not 1 <= month <= 12:
        return None
    day = match["d1"] or match["d2"] or match["d7"]
    return Period(said, year, (month, month), int(day) if day else None)


def _with_year(period: Period, others: Sequence[Period]) -> Period:
    """Return a period with the only year that the question names: `January and February 2026`."""
    years = {other.year for other in others if other.year is not None}
    if period.year is None and len(years) == 1:
        return Period(period.said, years.pop(), period.months, period.day)
    return period


def _runs_on(query: str, before: tuple[int, Period], match: re.Match[str], period: Period) -> bool:
    end, first = before
    between = query[end : match.start()]
    if not re.fullmatch(_TO, between, re.IGNORECASE):
        return False
    spanning = between.strip().casefold() != "and" or re.search(r"between\s$", query[: end - len(first.said)], re.I)
    ordered = (first.year or 0, first.months[0], first.day or 1) < (
        period.year or 0,
        period.months[1],
        period.day or 31,
    )
    return bool(spanning) and first.last is None and (first.year is None) is (period.year is None) and ordered


def _number(name: str) -> int:
    return _MONTHS.index(name.casefold()[:3]) + 1


_MONTH_NAME = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
DATE = re.compile(
    r"(?<![\d.,\-/])(?:"
    r"(?P<y1>\d{4})(?P<sep>[-/.])(?P<m1>\d{1,2})(?P=sep)(?P<d1>\d{1,2})(?![\d]|[-/]\d)"
    r"|(?P<y2>\d{4})\s?년\s?(?P<m2>\d{1,2})\s?월(?:\s?(?P<d2>\d{1,2})\s?일)?"
    r"|(?P<y3>\d{4})\.\s(?P<m3>\d{1,2})\.\s(?P<d3>\d{1,2})(?!\d)"
    rf"|(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?\s(?P<n4>{_MONTH_NAME}),?\s(?P<y4>\d{{4}})(?!\d)"
    r")"
    rf"|(?<![a-z])(?P<n5>{_MONTH_NAME})\s(?P<d5>\d{{1,2}})(?:st|nd|rd|th)?,?\s(?P<y5>\d{{4}})(?!\d)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date with where it stands in the text; `end` is exclusive."""

    value: date
    text: str
    start: int
    end: int


def parse_dates(text: str) -> tuple[FoundDate, ...]:
    """Return the complete dates of a text in order; impossible ones (2026-02-30) are left out.

    A Korean year and month without a day is no complete date.
    """
    found = []
    for match in DATE.finditer(text):
        value = _value(match)
        if value is not None:
            found.append(FoundDate(value, match.group(), match.start(), match.end()))
    return tuple(found)


def _value(match: re.Match[str]) -> date | None:
    for form in "12345":
        year = match[f"y{form}"]
        if year is None:
            continue
        month = _number(match[f"n{form}"]) if form in "45" else int(match[f"m{form}"])
        day = match[f"d{form}"]
        if day is None or not 1 <= month <= 12 or int(year) < 1:
            return None
        if not 1 <= int(day) <= calendar.monthrange(int(year), month)[1]:
            return None
        return date(int(year), month, int(day))
    return None


def add_months(start: date, months: int) -> date:
    """Return the same day `months` later (earlier when negative); a day the month lacks becomes its last.

    Raises:
        ValueError: the outcome lies outside the years 1 to 9999.
    """
    index = start.year * 12 + start.month - 1 + months
    year, month = divmod(index, 12)
    if not 1 <= year <= 9999:
        raise ValueError(Message("no date {} months from {}", months, start))
    return date(year, month + 1, min(start.day, calendar.monthrange(year, month + 1)[1]))


@dataclass(frozen=True, slots=True)
class Span:
    """The time from one date to a later one: whole years, months and days, and all days."""

    years: int
    months: int
    days: int
    total_days: int


def span(start: date, end: date) -> Span:
    """Return the time between two dates, in either order, the first day not counted."""
    start, end = min(start, end), max(start, end)
    months = (end.year - start.year) * 12 + end.month - start.month
    if add_months(start, months) > end:
        months -= 1
    rest = (end - add_months(start, months)).days
    return Span(months // 12, months % 12, rest, (end - start).days)
