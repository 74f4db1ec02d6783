"""What a text gives: numbers with their units, dates, times, files, addresses, codes and quoted texts.

Everything that planning reads of such things it reads here: the arguments of a call, the quantities of a computation,
and the places of a question that another one may stand for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hitl_tui.planning.rule_planner.words import Units

Span = tuple[int, int]
"""Where something stands in a text: its start, and its end."""

_DIGITS = r"[0-9][0-9,]{0,20}(?:\.[0-9]{1,12})?"
_SCALES = {"thousand": 1e3, "k": 1e3, "million": 1e6, "billion": 1e9, "bn": 1e9}
_POWERS = {"십": 10, "백": 100, "천": 1000, "만": 10_000, "억": 10**8, "조": 10**12}
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
PAIR = re.compile(
    r"""(?<![\w=-])(?:--)?(?P<name>[A-Za-z][\w-]{0,40})=(?P<value>"[^"\n]{0,400}"|'[^'\n]{0,400}'|\S{1,400})"""
)
"""An argument by its name: `days=30`, `--dir="my logs"`."""
PARTICLE = re.compile(r"(?<=[A-Za-z0-9])(?:으로|로|을|를|은|는|이|가|와|과|이랑|랑|하고|에서|에|만|도|의)$")


@dataclass(frozen=True, slots=True)
class Given:
    """Something that a text gives.

    Args:
        kind: `number`, `percent`, `text`, `path`, `date`, `period`, `clock`, `email`, `url` or `code`.
        unit: what it is counted in; empty for none.
        measure: what such a unit measures.
    """

    kind: str
    value: float | int | str
    place: Span
    unit: str = ""
    measure: str = ""


def overlaps(place: Span, others: Sequence[Span]) -> bool:
    """Whether a place has something in common with others."""
    return any(start < place[1] and place[0] < end for start, end in others)


def blanked(text: str, places: Sequence[Span]) -> str:
    """Return a text with spaces for what stands at these places."""
    for start, end in places:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def given_in(text: str, units: Units) -> list[Given]:
    """Return what a text gives, in order: nothing in it is given twice."""
    found: list[Given] = []
    for one in _all_given(text, units):
        if not overlaps(one.place, [g.place for g in found]):
            found.append(one)
    return sorted(found, key=lambda g: g.place)


def _all_given(text: str, units: Units) -> Iterator[Given]:
    for match in units.written.quoted.finditer(text):
        yield Given("text", next(part for part in match.groups() if part), match.span())
    for kind, expression in (("url", units.written.url), ("email", units.written.email)):
        for match in expression.finditer(text):
            yield Given(kind, match.group().rstrip(".,;"), match.span())
    for match in units.written.date.finditer(text):
        year = int(match["y"] or match["y2"] or match["y3"])
        month = int(match["m"] or 0) or _MONTHS.index((match["mon"] or match["mon3"])[:3].lower()) + 1
        day = int(match["d"] or match["d2"] or match["d3"])
        yield Given("date", f"{year:04d}-{month:02d}-{day:02d}", match.span())
    for match in units.written.period.finditer(text):
        yield Given("period", match.group(), match.span())
    for match in units.written.version.finditer(text):
        yield Given("code", match.group(), match.span())
    for match in units.written.clock.finditer(text):
        hour = int(match["h"] or match["h2"] or match["h3"])
        afternoon = match["half"] == "오후" or (match["half2"] or "").lower() == "p"
        hour = (hour % 12 + 12 * afternoon) if match["half"] or match["half2"] else hour
        yield Given("clock", f"{hour:02d}:{int(match['m'] or match['m2'] or match['m3'] or 0):02d}", match.span())
    for match in units.counted.finditer(text):
        unit = units.after(text, match.end())
        if unit is not None:
            place = (match.start(), match.end() + unit.length)
            yield Given("number", units.numerals[match.group().lower()], place, unit.name, unit.measure)
    for match in units.written.path.finditer(text):
        said = match.group()
        value = said if set(said) <= {"."} else PARTICLE.sub("", said).rstrip(".")
        if value and not value.replace(".", "").isdigit():
            yield Given("path", value.rstrip("/") or value, (match.start(), match.start() + len(value)))
    numbers = [_number(match, text, units) for match in units.written.number.finditer(text)]
    for match in units.written.code.finditer(text):
        # What is written in one with digits and is no number in its unit names something: "KA-4417", "010-1234".
        said = re.sub(r"(?<=[A-Za-z0-9])[가-힣]+$", "", match.group()).rstrip("-")
        place = (match.start(), match.start() + len(said))
        counted = any(n.place[0] <= place[0] and n.place[1] >= place[1] for n in numbers)
        if len(said) > 1 and not said.isdigit() and not counted:
            yield Given("code", said, place)
    yield from numbers


def _number(match: re.Match[str], text: str, units: Units) -> Given:
    value = _korean_number(match["korean"]) if match["korean"] else float(match["plain"].replace(",", "").rstrip("."))
    value *= _SCALES[match["scale"].lower()] if match["scale"] else 1
    sign = match["sign"] or ""
    if sign == "-":
        value = -value
    number = int(value) if value.is_integer() else value
    start, end = match.end() - len(match.group().lstrip()), match.end()
    unit = units.after(text, end) if sign in ("", "+", "-") else units.named(sign)
    if unit is None:
        return Given("number", number, (start, end))
    kind = "percent" if unit.measure == "percent" else "number"
    return Given(kind, number, (start, end + unit.length), unit.name, unit.measure)


def _korean_number(said: str) -> float:
    total = 0.0
    for digits, powers in re.findall(rf"({_DIGITS})\s?([십백천만억조]*)", said):
        part = float(digits.replace(",", ""))
        for power in powers:
            part *= _POWERS[power]
        total += part
    return total
