"""Computations a question asks for besides changes: sums, shares, conversions, spans of time, how far over a limit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from fractions import Fraction
from itertools import pairwise

from hitl_tui.teams.analysis.amount_changes import concepts, content_words
from hitl_tui.teams.analysis.amounts import Amount, shown_amount
from hitl_tui.teams.analysis.analysis_model import QUERY, Finding, LimitUse, Passage, Source, Step
from hitl_tui.teams.analysis.calendar_dates import FoundDate, add_months, parse_dates, span
from hitl_tui.teams.analysis.computation_steps import Verdict, say
from hitl_tui.teams.analysis.limits import Limit
from hitl_tui.teams.number_format import exact, korean_places, money, number, shown

BEYOND = re.compile(
    r"(?:얼마나|얼마|몇\s?[^\s]{0,8})\s{0,3}(?:더\s{0,3})?(?:초과|넘|웃돌|상회|밑돌|하회|미달|모자라|모자란|부족|벗어|높|낮|남)"
    r"|(?:초과|부족|미달)(?:한|하는|된|되는)?\s?(?:금액|액|양|분)"
    r"|by\show\s(?:much|many)|how\s(?:far|much|many)[^.?!\n]{0,40}\s(?:over|above|below|under|beyond|past|short|exceed|excess)",
    re.IGNORECASE,
)
_COUNTERPART = {"max": "exceeds", "below": "exceeds", "min": "below_minimum"}


def hold(query: str, amounts: Sequence[Amount], limits: Sequence[Limit], language: str) -> Verdict:
    """Hold the one amount of a question against the limit that fits it best.

    Nothing is computed where the question doesn't ask how far, has no or several amounts, or no limit has the amount's
    unit and a word of the question.

    Args:
        query: the question.
        amounts: its amounts.
        limits: what the passages state, best passage first.
        language: `ko` or `en`.
    """
    figures = [amount for amount in amounts if amount.unit and amount.kind not in ("percent", "points")]
    if len(figures) != 1 or not BEYOND.search(query):
        return Verdict()
    amount = figures[0]
    fitting = [
        limit
        for limit in limits
        if limit.bound in _COUNTERPART and (limit.amount.kind, limit.amount.unit) == (amount.kind, amount.unit)
    ]
    best = max(fitting, key=lambda limit: _likeness(query, limit), default=None)
    if best is None or not _likeness(query, best):
        return Verdict()
    return _held(amount, best, language)


def _likeness(query: str, limit: Limit) -> int:
    words = content_words(query) & content_words(limit.context)
    return len(words) + 2 * len(concepts(query) & concepts(limit.context))


def _held(amount: Amount, limit: Limit, language: str) -> Verdict:
    bound, other = limit.bound, limit.amount
    minimum = bound == "min"
    name = say(language, "하한", "minimum") if minimum else say(language, "상한", "limit")
    here, there = shown_amount(amount, language), shown_amount(other, language)
    apart = abs(amount.value - other.value)
    far = shown(apart, amount.kind, amount.unit, language, places=max(amount.scale, other.scale) >= 10**4)
    over = amount.value > other.value or (bound == "below" and amount.value == other.value)
    broken = amount.value < other.value if minimum else over
    high, low = (here, there) if amount.value >= other.value else (there, here)
    side = say(language, "많습니다", "above") if amount.value > other.value else say(language, "적습니다", "below")
    if amount.value == other.value:
        said = say(language, f"{here}: 문서의 {name}({there})과 같습니다.", f"{here} equals the {name} of {there}.")
    else:
        said = say(
            language,
            f"{here}: 문서의 {name} {there}보다 {far} {side}.",
            f"{here} is {far} {side} the {name} of {there}.",
        )
    sources: tuple[Source, ...] = (QUERY, limit.citation)
    what = say(language, f"문서의 {name}과의 차이", f"Distance from the {name} in the documents")
    verdict = _COUNTERPART[bound] if broken else "within"
    used = LimitUse(other.text.strip(), bound, exact(other.value), other.unit, limit.citation, True, verdict)
    return Verdict(
        steps=(Step(what, f"{high} − {low} = {far}", far, exact(apart), sources),),
        findings=(Finding(said, (limit.citation,)),),
        limits=(used,),
        summary=f"{said} ({limit.citation.label})",
    )


_SUM = re.compile(
    r"합계|총합|총액|합산|합치|합하|더하|모두\s?얼마|(?<![a-z])(?:sum|total|add(?:ed)?\s(?:up|together))(?![a-z])",
    re.IGNORECASE,
)
_DIFFERENCE = re.compile(
    rf"차이|차액|얼마나\s?(?:더|많|적|비싸|싸)|difference|how\smuch\s(?:more|less)|{BEYOND.pattern}", re.IGNORECASE
)
_CONVERT = re.compile(
    r"환산|변환|바꾸면|단위로|몇\s?(?:만|억|원|평|제곱|개월|일|주|백만|기가|메가|m|g)|convert|in\s(?:words|won|million|billion|"
    r"square|months|days|weeks|years|mb|gb|bytes)|how\smany",
    re.IGNORECASE,
)
_SHARE_KO = re.compile(r"\s?(?:의|에\s?대한)\s?(?:약\s)?")
_SHARE_EN = re.compile(r"\sof\s(?:the\s)?(?:[a-z]{0,12}\s)?")
_AFTER = re.compile(r"\s?(?:후|뒤|지나|이후|later|after|from)", re.IGNORECASE)
_BEFORE = re.compile(r"\s?(?:전|앞|before|earlier)", re.IGNORECASE)
_END = re.compile(
    r"만료|만기|종료|끝나|끝난|(?<![a-z])(?:ends?|expires?|expiry|expiration|runs\sout)(?![a-z])",
    re.IGNORECASE,
)
_WINDOW = re.compile(
    r"(\d{1,2})\s?개월\s전부터\s(?:만료\s)?(\d{1,2})\s?개월\s전(?:까지|\s사이)|between\s(\d{1,2})\sand\s(\d{1,2})\smonths\sbefore",
    re.IGNORECASE,
)
_DAYS = {"day": 1, "week": 7}
_MONTHS = {"month": 1, "year": 12}

_WHAT = {
    "sum": ("합계", "Sum"),
    "difference": ("차이", "Difference"),
    "share": ("{0}의 {1}", "{1} of {0}"),
    "convert": ("{0} 환산", "{0} in other units"),
    "span": ("{0}부터 {1}까지의 기간", "Time from {0} to {1}"),
    "shift": ("{0} 기준 {1} {2}", "{1} {2} {0}"),
    "window": ("문서가 말하는 기간을 {0}에 맞춘 것", "The period the document states, for an end on {0}"),
}


def _what(key: str, language: str, *parts: str) -> str:
    return _WHAT[key][0 if language == "ko" else 1].format(*parts)


def answer(query: str, amounts: Sequence[Amount], passages: Iterable[Passage], language: str) -> tuple[Step, ...]:
    """Return the steps of everything the question asks for in so many words; empty when it asks for none."""
    dates = parse_dates(query)
    return (
        *_shares(query, amounts, language),
        *_sums(query, amounts, language),
        *_differences(query, amounts, language),
        *_conversions(query, amounts, language),
        *_spans(dates, language),
        *_shifts(query, dates, amounts, language),
        *_windows(query, dates, passages, language),
    )


def _alike(amounts: Sequence[Amount]) -> list[Amount]:
    """Return the amounts of the commonest kind and unit, bare numbers and years left out where others exist."""
    with_unit = [a for a in amounts if a.unit] or [a for a in amounts if not a.year_like]
    kinds = [(a.kind, a.unit) for a in with_unit]
    best = max(kinds, key=kinds.count, default=None)
    return [a for a in with_unit if (a.kind, a.unit) == best]


def _shares(query: str, amounts: Sequence[Amount], language: str) -> list[Step]:
    steps = []
    for first, second in pairwise(amounts):
        between = query[first.end : second.start].lower()
        base, share = (first, second) if second.kind == "percent" else (second, first)
        joint = _SHARE_KO if share is second else _SHARE_EN
        if share.kind != "percent" or base.kind in ("percent", "points") or not joint.fullmatch(between):
            continue
        value = base.value * share.value / 100
        result = shown(value, base.kind, base.unit, language, places=base.scale >= 10**4)
        formula = f"{shown_amount(base, language)} × {number(share.value, 4)} ÷ 100 = {result}"
        what = _what("share", language, base.text, share.text)
        steps.append(Step(what, formula, result, exact(value)))
    return steps


def _sums(query: str, amounts: Sequence[Amount], language: str) -> list[Step]:
    plus = re.search(r"[\d만억원%]\s?\+\s?[\d$₩]", query)
    alike = _alike(amounts)
    if len(alike) < 2 or not (_SUM.search(query) or plus):
        return []
    value = sum((a.value for a in alike), Fraction(0))
    big = any(a.scale >= 10**4 for a in alike)
    result = shown(value, alike[0].kind, alike[0].unit, language, places=big)
    formula = " + ".join(shown_amount(a, language) for a in alike) + f" = {result}"
    return [Step(_what("sum", language), formula, result, exact(value))]


def _differences(query: str, amounts: Sequence[Amount], language: str) -> list[Step]:
    alike = _alike(amounts)
    if len(alike) != 2 or not _DIFFERENCE.search(query):
        return []
    high, low = sorted(alike, key=lambda a: a.value, reverse=True)
    value = high.value - low.value
    kind, unit = ("points", "%p") if high.kind == "percent" else (high.kind, high.unit)
    result = shown(value, kind, unit, language, places=high.scale >= 10**4)
    formula = f"{shown_amount(high, language)} − {shown_amount(low, language)} = {result}"
    return [Step(_what("difference", language), formula, result, exact(value))]


def _conversions(query: str, amounts: Sequence[Amount], language: str) -> list[Step]:
    if not _CONVERT.search(query):
        return []
    steps = []
    for amount in amounts:
        forms = [form for form in _forms(amount, language) if form]
        if len(forms) > 1:
            what = _what("convert", language, amount.text.strip())
            steps.append(Step(what, f"{amount.text.strip()} = {' = '.join(forms)}", forms[0], exact(amount.value)))
    return steps


def _forms(amount: Amount, language: str) -> tuple[str, ...]:
    value, unit = amount.value, amount.unit
    if amount.kind == "money":
        other = money(value, unit, "en" if language == "ko" else "ko")
        return (f"{number(value)} {unit}", money(value, unit, language), other)
    if amount.kind == "count" and amount.scale >= 1000:
        return (number(value), korean_places(value), f"{number(value / 10**6, 6)} million")
    if amount.kind == "area":
        return (
            f"{number(value)} m²",
            f"{number(value * 121 / 400)} {'평' if language == 'ko' else 'pyeong'}",
        )
    if amount.kind == "data":
        return (
            f"{number(value)} bytes",
            f"{number(value / 10**6, 6)} MB",
            f"{number(value / 10**9, 6)} GB",
            f"{number(value / 2**30, 6)} GiB",
        )
    if amount.kind == "duration" and unit in _MONTHS:
        months = value * _MONTHS[unit]
        return (
            shown(months, "duration", "month", language),
            shown(months / 12, "duration", "year", language),
        )
    if amount.kind == "duration" and unit in _DAYS:
        days = value * _DAYS[unit]
        return (shown(days, "duration", "day", language), shown(days / 7, "duration", "week", language))
    return ()


def _spans(dates: Sequence[FoundDate], language: str) -> list[Step]:
    steps = []
    for first, second in zip(dates[::2], dates[1::2], strict=False):
        start, end = sorted((first.value, second.value))
        length = span(start, end)
        if language == "ko":
            value = (
                f"{length.total_days:,}일({length.years}년 {length.months}개월 {length.days}일), "
                f"첫날을 넣으면 {length.total_days + 1:,}일"
            )
        else:
            value = (
                f"{length.total_days:,} days ({length.years} years, {length.months} months, {length.days} days); "
                f"{length.total_days + 1:,} with the first day counted"
            )
        what = _what("span", language, str(start), str(end))
        steps.append(Step(what, f"{end} − {start} = {value}", value, str(length.total_days)))
    return steps


def _shifts(query: str, dates: Sequence[FoundDate], amounts: Sequence[Amount], language: str) -> list[Step]:
    if len(dates) != 1:
        return []
    found = dates[0]
    steps = []
    for amount in amounts:
        if amount.kind != "duration" or amount.value.denominator != 1 or abs(amount.start - found.end) > 40:
            continue
        right = query[amount.end : amount.end + 8]
        sign = 1 if _AFTER.match(right) else -1 if _BEFORE.match(right) else 0
        moved = _moved(found.value, sign * int(amount.value), amount.unit) if sign else None
        if moved is None:
            continue
        word = ("후" if sign > 0 else "전") if language == "ko" else ("after" if sign > 0 else "before")
        what = _what("shift", language, str(found.value), amount.text.strip(), word)
        formula = f"{found.value} {'+' if sign > 0 else '−'} {shown_amount(amount, language)} = {moved}"
        steps.append(Step(what, formula, str(moved)))
    return steps


def _moved(start: date, count: int, unit: str) -> date | None:
    try:
        if unit in _MONTHS:
            return add_months(start, count * _MONTHS[unit])
        if unit in _DAYS:
            return start + timedelta(days=count * _DAYS[unit])
    except (ValueError, OverflowError):
        return None
    return None


def _windows(query: str, dates: Sequence[FoundDate], passages: Iterable[Passage], language: str) -> list[Step]:
    """Turn `6 to 2 months before the end`, as a passage states it, into dates."""
    if len(dates) != 1 or not _END.search(query):
        return []
    end = dates[0].value
    for passage in passages:
        match = _WINDOW.search(passage.text)
        if match is None:
            continue
        early, late = int(match[1] or match[3]), int(match[2] or match[4])
        opens, closes = _moved(end, -early, "month"), _moved(end, -late, "month")
        if opens is None or closes is None:
            continue
        begin = passage.text.rfind("\n", 0, match.start()) + 1
        stop = passage.text.find("\n", match.end())
        citation = passage.cite(begin, stop if stop >= 0 else len(passage.text))
        lead, lag = (shown(Fraction(count), "duration", "month", language) for count in (early, late))
        formula = f"{end} − {lead} = {opens}; {end} − {lag} = {closes}"
        return [Step(_what("window", language, str(end)), formula, f"{opens} – {closes}", "", (QUERY, citation))]
    return []
