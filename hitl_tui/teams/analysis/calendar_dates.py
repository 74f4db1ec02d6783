"""Whole dates in Korean and English text, and the time between them."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date

from hitl_tui.core.messages import Message

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
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
        month = _MONTHS.index(match[f"n{form}"].casefold()[:3]) + 1 if form in "45" else int(match[f"m{form}"])
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
