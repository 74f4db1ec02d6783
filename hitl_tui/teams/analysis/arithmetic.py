"""Arithmetic that a question asks for over its own quantities, or over its own sum and a rate that a passage states."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from fractions import Fraction
from itertools import pairwise

from hitl_tui.teams.analysis.analysis_model import QUERY, Source, Step
from hitl_tui.teams.analysis.calendar_dates import add_months, parse_dates
from hitl_tui.teams.analysis.changes import Change
from hitl_tui.teams.analysis.units import Amount, shown_amount
from hitl_tui.teams.analysis.words import say
from hitl_tui.teams.number_format import exact
from hitl_tui.teams.printed_figures import Run, differences

_SUM = re.compile(r"합계|총합|총액|합산|합치|합하|더하|\b(?:sum|total|add(?:ed)?\s(?:up|together))\b", re.IGNORECASE)
_DIFFERENCE = re.compile(
    r"차이|차액|얼마나\s?(?:더|많|적|비싸|싸|초과|넘)|difference|how\smuch\s(?:more|less)|by\show\s(?:much|many)",
    re.IGNORECASE,
)
_OF_KO = re.compile(r"\s?(?:의|에\s?대한)\s?(?:약\s)?")
_OF_EN = re.compile(r"\sof\s(?:the\s)?(?:[a-z]{0,12}\s)?")
_SIGN = re.compile(
    r"\s*([-+*×÷/−]|\bx\b|\b(?:plus|minus|times|divided\sby)\b|더하기|빼기|곱하기|나누기)\s*", re.IGNORECASE
)
_SIGNS = {
    "+": "+", "plus": "+", "더하기": "+", "-": "−", "−": "−", "minus": "−", "빼기": "−", "*": "×", "×": "×", "x": "×",
    "times": "×", "곱하기": "×", "÷": "÷", "/": "÷", "divided by": "÷", "나누기": "÷",
}  # fmt: skip
_AFTER = re.compile(r"\s?(?:후|뒤|지나|이후|later|after|from)", re.IGNORECASE)
_BEFORE = re.compile(r"\s?(?:전|앞|before|earlier)", re.IGNORECASE)
_DAYS, _MONTHS = {"day": 1, "week": 7}, {"month": 1, "year": 12}
_LIMITED = re.compile(
    r"이내|이하|이상|초과|미만|상한|한도|최대|at\s(?:most|least)|more\sthan|less\sthan|up\sto|limit", re.IGNORECASE
)
_MEASURED = 12
"""Figures measured before and after that an analysis shows."""


def question_steps(query: str, amounts: Sequence[Amount], language: str) -> tuple[Step, ...]:
    """Return what the question's own quantities give for what it asks.

    Args:
        query: the question.
        amounts: its amounts.
        language: `ko` or `en`.
    """
    dates = parse_dates(query)
    made = (_shares(query, amounts, language), _of_alike(query, amounts, language), _spans(dates, language))
    return (*(step for steps in made for step in steps if step), *_moved_dates(query, dates, amounts, language))


def written_steps(query: str, amounts: Sequence[Amount], language: str) -> list[Step]:
    """Return what a computation gives that is written in signs: `3 × 45,000 won + 20,000 won`."""
    signs = [_SIGN.fullmatch(query[a.end : b.start]) for a, b in pairwise(amounts)]
    if not signs or not all(signs):
        return []
    names = [_SIGNS[" ".join(sign[1].lower().split())] for sign in signs if sign]
    made = _computed(say(language, "계산", "Result"), amounts, names, language)
    return [made] if made else []


def _computed(
    what: str, amounts: Sequence[Amount], signs: Sequence[str], language: str, sources: tuple[Source, ...] = (QUERY,)
) -> Step | None:
    """Return what amounts with signs between them give, products first; None where their units don't go together."""
    terms, names = list(amounts), list(signs)
    formula = shown_amount(terms[0], language)
    formula += "".join(f" {n} {shown_amount(a, language)}" for n, a in zip(names, terms[1:], strict=True))
    for level in ("×÷", "+−"):
        index = 0
        while index < len(names):
            if names[index] not in level:
                index += 1
                continue
            joined = _joined(terms[index], names[index], terms[index + 1])
            if joined is None:
                return None
            terms[index : index + 2] = [joined]
            del names[index]
    result = shown_amount(terms[0], language)
    return Step(what, f"{formula} = {result}", result, exact(terms[0].value), sources)


def _joined(left: Amount, sign: str, right: Amount) -> Amount | None:
    """Return two amounts computed with; None where their units don't go together."""
    scale = max(left.scale, right.scale)
    if sign in "+−":
        if (left.kind, left.unit) != (right.kind, right.unit):
            return None
        value = left.value + right.value if sign == "+" else left.value - right.value
        kind = "points" if left.kind == "percent" and sign == "−" else left.kind
        return Amount(kind, value, left.unit, "", 0, 0, scale)
    rates = [Amount("count", a.value / 100, "", "", 0, 0) if a.kind == "percent" else a for a in (left, right)]
    a, b = rates
    if sign == "×" and not (a.unit and b.unit):
        whole = a if a.unit else b
        return Amount(whole.kind, a.value * b.value, whole.unit, "", 0, 0, scale)
    if sign == "÷" and b.value and (not b.unit or (a.kind, a.unit) == (b.kind, b.unit)):
        return Amount(
            *(("count", a.value / b.value, "") if b.unit else (a.kind, a.value / b.value, a.unit)), "", 0, 0, scale
        )
    return None


def _shares(query: str, amounts: Sequence[Amount], language: str) -> Iterator[Step | None]:
    for first, second in pairwise(amounts):
        base, rate = (first, second) if second.kind == "percent" else (second, first)
        joint = _OF_KO if rate is second else _OF_EN
        if rate.kind == "percent" != base.kind and joint.fullmatch(query[first.end : second.start].lower()):
            yield _share(base, rate, language)


def _share(base: Amount, rate: Amount, language: str, sources: tuple[Source, ...] = (QUERY,)) -> Step | None:
    what = say(language, "{}의 {}", "{1} of {0}").format(base.text.strip(), rate.text.strip())
    return _computed(what, (base, rate), "×", language, sources)


def _of_alike(query: str, amounts: Sequence[Amount], language: str) -> list[Step | None]:
    """Return the sum, or the difference of two, of the amounts of the commonest unit."""
    with_unit = [a for a in amounts if a.unit] or [a for a in amounts if not a.year_like]
    kinds = [(a.kind, a.unit) for a in with_unit]
    alike = [a for a in with_unit if (a.kind, a.unit) == max(kinds, key=kinds.count)]
    if len(alike) > 1 and _SUM.search(query):
        return [_computed(say(language, "합계", "Sum"), alike, "+" * (len(alike) - 1), language)]
    if len(alike) == 2 and _DIFFERENCE.search(query):
        largest_first = sorted(alike, key=lambda a: a.value, reverse=True)
        return [_computed(say(language, "차이", "Difference"), largest_first, "−", language)]
    return []


def _spans(dates: Sequence[Amount], language: str) -> Iterator[Step]:
    for first, second in zip(dates[::2], dates[1::2], strict=False):
        yield from Change(first, second, None, 0).steps(language)


def _moved_dates(query: str, dates: Sequence[Amount], amounts: Sequence[Amount], language: str) -> Iterator[Step]:
    for amount in amounts if len(dates) == 1 else ():
        right = query[amount.end : amount.end + 8]
        sign = 1 if _AFTER.match(right) else -1 if _BEFORE.match(right) else 0
        near = amount.kind == "duration" and abs(amount.start - dates[0].end) <= 40
        found = date.fromordinal(int(dates[0].value))
        moved = _moved(found, sign * amount.value, amount.unit) if sign and near else None
        if moved is not None:
            length = amount.text.strip()
            side = say(language, "후" if sign > 0 else "전", "after" if sign > 0 else "before")
            what = say(language, f"{found} 기준 {length} {side}", f"{length} {side} {found}")
            formula = f"{found} {'+' if sign > 0 else '−'} {shown_amount(amount, language)} = {moved}"
            yield Step(what, formula, str(moved))


def _moved(start: date, count: Fraction, unit: str) -> date | None:
    try:
        if unit in _MONTHS and count.denominator == 1:
            return add_months(start, int(count) * _MONTHS[unit])
        return start + timedelta(days=int(count) * _DAYS[unit]) if unit in _DAYS and count.denominator == 1 else None
    except (ValueError, OverflowError):
        return None


def measured_steps(runs: Sequence[Run], language: str) -> list[Step]:
    """Return one step for each figure that commands printed before and after, and that is another now.

    Args:
        runs: in the order of the plan.
        language: `ko` or `en`.
    """
    steps: list[Step] = []
    for found in [one for one in differences(runs) if one.changed][:_MEASURED]:
        low, high = sorted((found.before, found.after), key=lambda figure: figure.value)
        about = say(language, "약 ", "about ") if found.before.sized else ""
        less = found.after.value < found.before.value
        side = say(language, "감소", "less") if less else say(language, "증가", "more")
        what = say(language, f"{found.after.label}, 전후 차이", f"{found.after.label}, before and after")
        formula = f"{high.text} − {low.text} = {about}{found.apart}"
        value = f"{about}{found.apart} {side} ({found.before.text} → {found.after.text})"
        sources = (found.earlier, found.later)
        steps.append(Step(what, formula, value, exact(found.after.value - found.before.value), sources))
    return steps
