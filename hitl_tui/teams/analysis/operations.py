"""Arithmetic that a question asks for, over the quantities that it states or that a sentence of a passage does.

A sum, a difference, a share, a change, the time between two dates and a date moved by a period: each takes quantities
of certain kinds, so that what is computed follows from what stands there. Where the question lacks one, the sentence
that fits it best gives it, and is cited; where several fit alike none is chosen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from fractions import Fraction
from itertools import pairwise

from hitl_tui.teams.analysis.amount_changes import FALL, RISE, concepts, content_words, find_changes
from hitl_tui.teams.analysis.amounts import Amount, parse_amounts, shown_amount
from hitl_tui.teams.analysis.analysis_model import QUERY, Finding, LimitUse, Passage, Source, Step
from hitl_tui.teams.analysis.calendar_dates import FoundDate, add_months, parse_dates, span
from hitl_tui.teams.analysis.computation_steps import Verdict, change_steps, say
from hitl_tui.teams.analysis.limits import Limit, sentences
from hitl_tui.teams.contract import Citation
from hitl_tui.teams.number_format import exact, number, shown

_SUM = re.compile(
    r"합계|총합|총액|합산|합치|합하|더하|(?<![a-z])(?:sum|total|add(?:ed)?\s(?:up|together))(?![a-z])", re.I
)
_BEYOND = re.compile(
    r"(?:얼마나|얼마|몇\s?\S{0,8})\s{0,3}(?:더\s{0,3})?(?:초과|넘|웃돌|밑돌|미달|모자라|부족|벗어|높|낮|남)"
    r"|(?:초과|부족|미달)\S{0,2}\s?(?:금액|액|양)"
    r"|by\show\s(?:much|many)|how\s(?:far|much|many)[^.?!\n]{0,40}\s(?:over|above|below|under|beyond|past|short|exceed|excess)",
    re.I,
)
_DIFFERENCE = re.compile(
    rf"차이|차액|얼마나\s?(?:더|많|적|비싸|싸)|difference|how\smuch\s(?:more|less)|{_BEYOND.pattern}", re.I
)
_OF_KO = re.compile(r"\s?(?:의|에\s?대한)\s?(?:약\s)?")
_OF_EN = re.compile(r"\sof\s(?:the\s)?(?:[a-z]{0,12}\s)?")
_AFTER = re.compile(r"\s?(?:후|뒤|지나|이후|later|after|from)", re.I)
_BEFORE = re.compile(r"\s?(?:전|앞|before|earlier)", re.I)
_DAYS = {"day": 1, "week": 7}
_MONTHS = {"month": 1, "year": 12}
_COUNTERPART = {"max": "exceeds", "below": "exceeds", "min": "below_minimum"}
_HOW_LARGE = re.compile(
    r"얼마|몇|며칠|차이|차액|퍼센트|[률율폭액]|%|how\s(?:much|many|far)|percent|difference|ratio", re.I
)
_MOVES = re.compile(
    r"변경|변동|변화|변했|바뀌|바뀐|바꾸|조정|뛰|늘|줄|옮|미뤄|미룬|연기|앞당|늦|→|⇒|(?<![a-z])(?:chang|adjust|mov|go(?:es)?\s|"
    r"went|grew|grown|grow|fell|fallen|shr[aiu]nk|climb|jump|differ|postpon|delay|shift|reschedul|later|earlier|brought|put\s)",
    re.I,
)
_RANGE = re.compile(r"범위|사이|(?<![a-z])(?:rang(?:e|es|ed|ing)(?![a-z])|var(?:y|ies)|between)", re.I)
_MAY = re.compile(
    r"수\s?있|가능|상한|한도|해도|까지\s?올|(?<![a-z])(?:may|can|could|should|must|would|allow\w*|limit\w*|cap)(?![a-z])",
    re.I,
)
"""Asks what a change may be, which no change that was made tells."""
_PERCENT = re.compile(r"%|퍼센트|프로|percent|[률율](?![가-힣])", re.I)
_ASKING = frozenset(["much", "many", "percen", "amount", "size", "rate", "days", "later", "얼마나", "퍼센트", "며칠"])
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DAY = (
    rf"\d{{1,2}}(?:st|nd|rd|th)?\s{_MONTH}(?:,?\s\d{{4}})?|{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s\d{{4}})?"
    r"|\d{4}-\d{2}-\d{2}|(?:\d{4}\s?년\s?)?\d{1,2}\s?월\s?\d{1,2}\s?일"
)
_FROM_TO = re.compile(
    rf"(?<![a-z])from\s(?:the\s)?({_DAY})\s(?:to|until)\s(?:the\s)?({_DAY})(?!\w)|(?<!\d)({_DAY})(?:에서|부터)\s?({_DAY})(?:로|으로)",
    re.I,
)
_TIME = re.compile(
    rf"(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}(?![a-z])|\s?(?:a\.?m|p\.?m|o.clock)(?![a-z])|\s?(?:시(?!간)|월|:)", re.I
)
_SENTENCE = 600
_LISTED = 6


def operate(query: str, amounts: Sequence[Amount], language: str) -> tuple[Step, ...]:
    """Return what the question's own quantities give for what it asks.

    Args:
        query: the question.
        amounts: its amounts.
        language: `ko` or `en`.
    """
    dates = parse_dates(query)
    made = (_shares(query, amounts, language), _of_alike(query, amounts, language), _spans(dates, language))
    return (*(step for steps in made for step in steps), *_moved_dates(query, dates, amounts, language))


def _shares(query: str, amounts: Sequence[Amount], language: str) -> Iterator[Step]:
    for first, second in pairwise(amounts):
        base, rate = (first, second) if second.kind == "percent" else (second, first)
        joint = _OF_KO if rate is second else _OF_EN
        if rate.kind == "percent" != base.kind and joint.fullmatch(query[first.end : second.start].lower()):
            yield _share(base, rate, language)


def _share(base: Amount, rate: Amount, language: str, sources: tuple[Source, ...] = (QUERY,)) -> Step:
    value = base.value * rate.value / 100
    result = shown(value, base.kind, base.unit, language, places=base.scale >= 10**4)
    formula = f"{shown_amount(base, language)} × {number(rate.value, 4)} ÷ 100 = {result}"
    named = base.text.strip(), rate.text.strip()
    return Step(say(language, "{}의 {}", "{1} of {0}").format(*named), formula, result, exact(value), sources)


def _of_alike(query: str, amounts: Sequence[Amount], language: str) -> list[Step]:
    """Return the sum, or the difference of two, of the amounts of the commonest unit."""
    with_unit = [a for a in amounts if a.unit] or [a for a in amounts if not a.year_like]
    kinds = [(a.kind, a.unit) for a in with_unit]
    alike = [a for a in with_unit if (a.kind, a.unit) == max(kinds, key=kinds.count)]
    if len(alike) > 1 and _SUM.search(query):
        total = sum((a.value for a in alike), Fraction(0))
        return [_step(say(language, "합계", "Sum"), total, alike, " + ", language)]
    if len(alike) == 2 and _DIFFERENCE.search(query):
        high, low = sorted(alike, key=lambda a: a.value, reverse=True)
        return [_step(say(language, "차이", "Difference"), high.value - low.value, [high, low], " − ", language)]
    return []


def _step(
    what: str, value: Fraction, of: Sequence[Amount], sign: str, language: str, sources: tuple[Source, ...] = (QUERY,)
) -> Step:
    kind, unit = ("points", "%p") if of[0].kind == "percent" and sign == " − " else (of[0].kind, of[0].unit)
    result = shown(value, kind, unit, language, places=any(a.scale >= 10**4 for a in of))
    formula = sign.join(shown_amount(a, language) for a in of) + f" = {result}"
    return Step(what, formula, result, exact(value), sources)


def _spans(dates: Sequence[FoundDate], language: str) -> Iterator[Step]:
    for first, second in zip(dates[::2], dates[1::2], strict=False):
        start, end = sorted((first.value, second.value))
        length = span(start, end)
        value = say(
            language,
            f"{length.total_days:,}일({length.years}년 {length.months}개월 {length.days}일), "
            f"첫날을 넣으면 {length.total_days + 1:,}일",
            f"{length.total_days:,} days ({length.years} years, {length.months} months, {length.days} days); "
            f"{length.total_days + 1:,} with the first day counted",
        )
        what = say(language, f"{start}부터 {end}까지의 기간", f"Time from {start} to {end}")
        yield Step(what, f"{end} − {start} = {value}", value, str(length.total_days))


def _moved_dates(query: str, dates: Sequence[FoundDate], amounts: Sequence[Amount], language: str) -> Iterator[Step]:
    for amount in amounts if len(dates) == 1 else ():
        right = query[amount.end : amount.end + 8]
        sign = 1 if _AFTER.match(right) else -1 if _BEFORE.match(right) else 0
        near = amount.kind == "duration" and abs(amount.start - dates[0].end) <= 40
        moved = _moved(dates[0].value, sign * amount.value, amount.unit) if sign and near else None
        if moved is not None:
            found, length = dates[0].value, amount.text.strip()
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


def hold(query: str, amounts: Sequence[Amount], limits: Sequence[Limit], language: str) -> Verdict:
    """Return how far the one amount of a question is from the limit of its unit that fits the question best.

    Args:
        query: the question.
        amounts: its amounts.
        limits: what the passages state, best passage first.
        language: `ko` or `en`.
    """
    figures = [a for a in amounts if a.unit and a.kind not in ("percent", "points")]
    if len(figures) != 1 or not _BEYOND.search(query):
        return Verdict()
    amount, subject = figures[0], Subject.of(query)
    fitting = [
        one
        for one in limits
        if one.bound in _COUNTERPART and (one.amount.kind, one.amount.unit) == (amount.kind, amount.unit)
    ]
    limit = max(fitting, key=lambda one: subject.fits(one.context), default=None)
    if limit is None or not subject.fits(limit.context):
        return Verdict()
    other, minimum = limit.amount, limit.bound == "min"
    high, low = sorted((amount, other), key=lambda a: a.value, reverse=True)
    name = say(language, "하한", "minimum") if minimum else say(language, "상한", "limit")
    here, there = shown_amount(amount, language), shown_amount(other, language)
    sources: tuple[Source, ...] = (QUERY, limit.citation)
    what = say(language, f"문서의 {name}과의 차이", f"Distance from the {name} in the documents")
    step = _step(what, high.value - low.value, [high, low], " − ", language, sources)
    side = say(language, "많습니다", "above") if amount is high else say(language, "적습니다", "below")
    said = say(
        language,
        f"{here}: 문서의 {name} {there}보다 {step.value} {side}.",
        f"{here} is {step.value} {side} the {name} of {there}.",
    )
    if amount.value == other.value:
        said = say(language, f"{here}: 문서의 {name}({there})과 같습니다.", f"{here} equals the {name} of {there}.")
    over = amount.value > other.value or (limit.bound == "below" and amount.value == other.value)
    verdict = _COUNTERPART[limit.bound] if (amount.value < other.value if minimum else over) else "within"
    used = LimitUse(other.text.strip(), limit.bound, exact(other.value), other.unit, limit.citation, True, verdict)
    return Verdict((step,), (Finding(said, (limit.citation,)),), (used,), f"{said} ({limit.citation.label})")


@dataclass(frozen=True, slots=True)
class Subject:
    """What a question is about, besides that something changes.

    Args:
        words: the words of it that say something.
        topics: the concepts they stand for.
        years: the years it names, one of which a sentence has to name, too.
    """

    words: frozenset[str]
    topics: frozenset[str]
    years: frozenset[str]

    @classmethod
    def of(cls, query: str) -> Subject:
        words = (w for w in content_words(query) - _ASKING if not (_MOVES.match(w) or _HOW_LARGE.match(w)))
        told = frozenset(word for word in words if not concepts(word) & {RISE, FALL})
        return cls(told, concepts(query) - {RISE, FALL}, frozenset(_YEAR.findall(query)))

    def fits(self, said: str) -> int:
        """Return how many of the things that the question names a sentence is about."""
        if self.years and self.years.isdisjoint(_YEAR.findall(said)):
            return 0
        return len(self.words & content_words(said)) + 2 * len(self.topics & concepts(said))


@dataclass(frozen=True, slots=True)
class Stated:
    """What the passages state for a question that lacks a quantity.

    Args:
        steps: what they give.
        findings: the outcome, and what was assumed.
        unanswered: where several fit alike, a sentence that lists them.
        summary: the outcome in one line.
    """

    steps: tuple[Step, ...] = ()
    findings: tuple[Finding, ...] = ()
    unanswered: tuple[str, ...] = ()
    summary: str = ""


def stated(query: str, amounts: Sequence[Amount], passages: Iterable[Passage], language: str) -> Stated:
    """Return what the sentence that fits a question best gives for it: the change or the dates that it states.

    A question with an amount of its own takes the rate that the sentence states.

    Args:
        query: the question.
        amounts: its amounts.
        passages: what was found for it.
        language: `ko` or `en`.
    """
    own = [amount for amount in amounts if not amount.year_like]
    moving = bool(concepts(query) & {RISE, FALL}) or _MOVES.search(query) is not None
    if _MAY.search(query) or not _HOW_LARGE.search(query) or parse_dates(query) or (not own and not moving):
        return Stated()
    subject = Subject.of(query)
    found: dict[str, tuple[tuple[Step, ...], list[Citation]]] = {}
    most = 1
    for passage in passages:
        for start, end in sentences(passage.text):
            said = passage.text[start : min(end, start + _SENTENCE)]
            fit = subject.fits(f"{passage.heading} {said}")
            for pair, steps in _of_sentence(said, own, language) if fit >= most else ():
                found = found if fit == most else {}
                most = fit
                found.setdefault(pair, (steps, []))[1].append(passage.cite(start, end))
    if not found:
        return Stated()
    if len(found) > 1:
        pairs = "; ".join(f"{pair} ({cited[0].label})" for pair, (_, cited) in list(found.items())[:_LISTED])
        return Stated(
            unanswered=(
                say(
                    language,
                    f"계산하지 않음: 찾은 구절에 맞는 수치가 여러 개 있습니다. 어느 것인지 질문에 쓰세요: {pairs}.",
                    f"Not computed: the passages found state several changes; say which one is meant: {pairs}.",
                ),
            )
        )
    [(pair, (made, cited))] = found.items()
    sources = (*((QUERY,) if own else ()), *dict.fromkeys(cited))
    steps = tuple(replace(step, sources=sources) for step in made)
    first = steps[-1] if _PERCENT.search(query) else steps[0]
    told = f"{first.what}: {first.value}" + (f" ({pair})" if pair != first.what else "")
    why = say(
        language,
        "찾은 구절 가운데 질문에 가장 잘 맞는 것이 이것 하나여서, 질문이 이것을 뜻한다고 보고 계산했습니다.",
        "This is taken for the change that is meant, since no other in the passages found fits the question as well.",
    )
    return Stated(steps, (Finding(f"{told}. {why}", sources),), (), told)


def _of_sentence(said: str, own: Sequence[Amount], language: str) -> Iterator[tuple[str, tuple[Step, ...]]]:
    """Yield what a sentence gives, with its quantities in words: a share of the question's amount, a change, days."""
    amounts = parse_amounts(said)
    if own:
        rates = {a.value: a for a in amounts if a.kind == "percent"}
        if len(own) == 1 == len(rates) and own[0].kind == "money":
            rate = next(iter(rates.values()))
            yield rate.text.strip(), (_share(own[0], rate, language),)
        return
    if _RANGE.search(said) or not (_MOVES.search(said) or concepts(said) & {RISE, FALL}):
        return
    for match in _FROM_TO.finditer(said):
        old, new = (part.rstrip(".") for part in match.groups() if part)
        days = _days(old, new)
        if days:
            length = shown(Fraction(abs(days)), "duration", "day", language)
            side = say(language, "뒤", "later") if days > 0 else say(language, "앞", "earlier")
            what = say(language, f"{old}에서 {new}까지", f"From {old} to {new}")
            yield what, (Step(what, f"{new} − {old} = {length}", f"{length} {side}", str(days)),)
    for change in find_changes(said, amounts):
        before, after = change.before, change.after
        if before is None or after is None or change.by or change.inherited or not change.direction:
            continue
        if not any(not a.unit and _TIME.match(said, a.end) for a in (before, after)):
            pair = f"{shown_amount(before, language)} → {shown_amount(after, language)}"
            yield pair, tuple(change_steps(change, language))


def _days(old: str, new: str) -> int:
    """Return the days from one date to the other; 0 where a year that isn't written would have to be guessed."""
    years = [match.group() for text in (old, new) if (match := re.search(r"\d{4}", text))]
    lengths = set()
    for year in years[:1] or ["2001", "2004"]:  # one of them a leap year
        whole = (t if re.search(r"\d{4}", t) else f"{year}년 {t}" if "월" in t else f"{t} {year}" for t in (old, new))
        dates = [found.value for text in whole for found in parse_dates(text)]
        lengths.add((dates[1] - dates[0]).days if len(dates) == 2 else 0)
    return lengths.pop() if len(lengths) == 1 else 0
