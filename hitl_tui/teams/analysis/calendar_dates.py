"""Dates in Korean and English text, and the time between them."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction

from hitl_tui.core.messages import Message
from hitl_tui.teams.analysis.units import Amount

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_NAME = (
    r"(?P<n>[Jj]an(?:uary)?|[Ff]eb(?:ruary)?|[Mm]ar(?:ch)?|[Aa]pr(?:il)?|May|[Jj]une?|[Jj]uly?|[Aa]ug(?:ust)?|"
    r"[Ss]ept?(?:ember)?|[Oo]ct(?:ober)?|[Nn]ov(?:ember)?|[Dd]ec(?:ember)?)\.?"
)
_DAY = r"(?P<d>\d{1,2})"
_LEFT = r"(?<![\w.,\-/])"
_FORMS = [
    re.compile(pattern)
    for pattern in (
        rf"{_LEFT}(?P<y>\d{{4}})(?P<sep>[-/.])(?P<m>\d{{1,2}})(?P=sep){_DAY}(?!\d|[-/]\d)",
        rf"{_LEFT}(?P<y>\d{{4}})\.\s(?P<m>\d{{1,2}})\.\s{_DAY}(?!\d)",
        rf"{_LEFT}(?:(?P<y>\d{{4}})\s?년\s?)?(?P<m>\d{{1,2}})\s?월\s?{_DAY}\s?일",
        r"(?<!\d)(?P<y>\d{4})\s?년\s?(?P<m>\d{1,2})\s?월(?P<d>)",
        rf"{_LEFT}{_DAY}(?:st|nd|rd|th)?\s(?:of\s)?{_NAME}(?![a-z])(?:,?\s(?P<y>\d{{4}})(?!\d))?",
        rf"(?<![A-Za-z]){_NAME}\s{_DAY}(?:st|nd|rd|th)?(?![\d:])(?:,?\s(?P<y>\d{{4}})(?!\d))?",
    )
]
_NO_YEAR, _LEAP = 2001, 2004


def date_places(text: str) -> list[re.Match[str]]:
    """Return where dates stand in a text, possible or not, in order and never overlapping."""
    found: list[re.Match[str]] = []
    for match in sorted((m for form in _FORMS for m in form.finditer(text)), key=lambda m: (m.start(), -m.end())):
        if not found or match.start() >= found[-1].end():
            found.append(match)
    return found


def parse_dates(text: str, *, whole: bool = True) -> tuple[Amount, ...]:
    """Return the dates of a text in order; impossible ones (2026-02-30) are left out.

    Args:
        text: the text.
        whole: leave out those without a year; one that the next date gives is taken over.
    """
    found = list(_dates(text))
    for index in range(len(found) - 1, 0, -1):
        first, second = found[index - 1], found[index]
        if first.unit != "date" == second.unit and second.start - first.end < 30:
            day, year = date.fromordinal(int(first.value)), date.fromordinal(int(second.value)).year
            found[index - 1] = replace(first, value=Fraction(day.replace(year=year).toordinal()), unit="date")
    return tuple(one for one in found if one.unit == "date" or not whole)


def _dates(text: str) -> Iterator[Amount]:
    for match in date_places(text):
        parts = match.groupdict()
        month = _MONTHS.index(parts["n"].lower()[:3]) + 1 if parts.get("n") else int(parts["m"])
        year, day = int(parts["y"] or _NO_YEAR), int(parts["d"] or 0)
        if year and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]:
            value = Fraction(date(year, month, day).toordinal())
            unit = "date" if parts["y"] else "day of the year"
            yield Amount("date", value, unit, match.group(), match.start(), match.end())


def days_between(before: Amount, after: Amount) -> int:
    """Return the days from one date to the other; 0 where a year that isn't written would have to be guessed."""
    days = int(after.value - before.value)
    if before.unit != "date":
        leap = [date.fromordinal(int(one.value)).replace(year=_LEAP).toordinal() for one in (before, after)]
        return days if leap[1] - leap[0] == days else 0
    return days


def add_months(start: date, months: int) -> date:
    """Return the same day `months` later (earlier when negative); a day the month lacks becomes its last.

    Raises:
        ValueError: the outcome lies outside the years 1 to 9999.
    """
    year, month = divmod(start.year * 12 + start.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise ValueError(Message("no date {} months from {}", months, start))
    return date(year, month + 1, min(start.day, calendar.monthrange(year, month + 1)[1]))
