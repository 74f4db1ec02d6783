"""Changes that a text states: from one amount to another, by an amount or a share, or from one time to the next."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from hitl_tui.teams.analysis.amounts import parse_amounts
from hitl_tui.teams.analysis.analysis_model import QUERY, Passage, Source, Step
from hitl_tui.teams.analysis.calendar_dates import days_between
from hitl_tui.teams.analysis.units import Amount, shown_amount
from hitl_tui.teams.analysis.words import FALL, MOVES, RISE, Subject, matters, say, sentences
from hitl_tui.teams.contract import Citation
from hitl_tui.teams.number_format import exact, number, percent, shown

_REACH = 40
_ARROW = re.compile(r"\s?(?:→|⇒|➔|-{1,3}>|={1,3}>)\s?")
_FROM_RIGHT = re.compile(
    r"\s?(?:에서|부터|이?던|이?었|였|인데|이고|짜리|[을를]|(?:is|was)\s(?:the\s)?(?:current|old|previous))"
)
_FROM_LEFT = re.compile(
    r"(?:\b(?:from|was|were|currently|current|now\spay(?:ing)?)|기존|현재|지금|원래|종전)[^.,\d]{0,25}$"
)
_TO_RIGHT = re.compile(r"\s?(?:으로|로(?![가-힣])|로(?=\s|[올내인증감바변뛰늘줄미연옮])|까지|이\s?[됐되])")
_TO_LEFT = re.compile(r"\b(?:to|becomes?|became|wants|asks\sfor|demands|is\snow)\s[^.,\d]{0,12}$")
_BY_LEFT = re.compile(r"\b(?:by\s(?:about\s|some\s|up\sto\s)?|[a-z]+(?:crease|aise|ise|ut|uction|count|op)\sof\s)$")
_BY_RIGHT = re.compile(r"\s?(?:만큼|정도|씩)?\s?[을를이가]?\s?(?:더\s)?(?:rent\s|price\s)?([가-힣a-z]+)")
_BOUNDED = re.compile(r"\s?(?:이내|이하|이상|초과|미만|상한|한도)")
_LIMITED = re.compile(r"(?:\b(?:most|than|up\sto|exceed|exceeding|within)|최대|최고)\s(?:about\s)?$", re.IGNORECASE)
_RANGE = re.compile(r"범위|사이|\b(?:rang(?:e|es|ed|ing)|var(?:y|ies)|between)\b", re.IGNORECASE)
_TIME = re.compile(
    r"(?:19|20)\d\d(?!\d)|(?:재작|작|전|올|금|내)[년해](?!\w*도\s)|지난해|(?:last|this|next)\s(?:year|month|week)|"
    r"\b(?:previously|formerly|now|today|currently|was|used\sto|before|after)\b|기존|현재|지금|이전|종전|원래",
    re.IGNORECASE,
)
_SINCE = re.compile(
    r"\b(?:from|since|than|compared\s(?:to|with))\s(?:in\s)?(?:19|20)\d\d|\d\s?년?(?:보다|에\s?비|\s?대비|부터)"
)
"""Names the year that a change begins with."""
_YEAR = re.compile(r"(?:19|20)\d\d(?!\d)")
_PER_LEFT = re.compile(r"(월|연|일|주|시간당|매월|매년|1인당|하루)\s?$")
_PER_RIGHT = re.compile(r"\s?(?:per|an?|each|/)\s?([a-z]+)", re.IGNORECASE)
_GOES_ON = re.compile(r"\b(?:it|this|that|they|which|these|both)\b", re.IGNORECASE)
_LENDS = ("money", "count", "percent")
"""Kinds whose unit is often written once for two amounts."""
_NEW_TOPIC = re.compile(r"[가-힣]{2,}[은는이가]\s")


@dataclass(frozen=True, slots=True)
class Change:
    """A change from one amount to another of the same kind.

    Args:
        before: the amount now; None when only a share is stated.
        after: the amount then; None when only a share is stated.
        by: the difference or share as stated; None when both amounts are.
        direction: 1 up, -1 down, 0 none.
    """

    before: Amount | None
    after: Amount | None
    by: Amount | None
    direction: int

    @property
    def percent(self) -> Fraction | None:
        """The change in percent of the amount before, exact; None when that is zero, a date, or not known."""
        if self.before is not None and self.after is not None:
            if not self.before.value or self.before.kind == "date":
                return None
            return (self.after.value - self.before.value) * 100 / self.before.value
        return abs(self.by.value) * self.direction if self.by and self.by.kind == "percent" else None

    def steps(self, language: str, sources: tuple[Source, ...] = (QUERY,)) -> list[Step]:
        """Return the amount after it where a share is stated, then difference, ratio and percentage."""
        before, after, ratio = self.before, self.after, self.percent
        if before is None or after is None:
            what = say(language, "말한 변동률", "The change as stated")
            told = self.by.text.strip() if self.by else ""
            return [Step(what, told, percent(abs(ratio)), exact(ratio), sources)] if ratio is not None else []
        old, new = shown_amount(before, language), shown_amount(after, language)
        if before.kind == "date":
            days = days_between(before, after)
            if not days:
                return []
            length = shown(Fraction(abs(days)), "duration", "day", language)
            side = say(language, "뒤", "later") if days > 0 else say(language, "앞", "earlier")
            what = say(language, f"{old}에서 {new}까지", f"From {old} to {new}")
            return [Step(what, f"{new} − {old} = {length}", f"{length} {side}", str(days), sources)]
        steps = []
        if self.by is not None:
            sign = "+" if self.direction > 0 else "−"
            share = f"{old} × (1 {sign} {number(self.by.value, 4)} ÷ 100) = {new}"
            formula = share if self.by.kind == "percent" else f"{old} {sign} {shown_amount(self.by, language)} = {new}"
            what = say(language, "바뀐 뒤의 금액", "The amount after the change")
            steps.append(Step(what, formula, new, exact(after.value), sources))
        kind = "points" if before.kind == "percent" else before.kind
        difference = replace(before, kind=kind, value=after.value - before.value)
        apart = shown_amount(difference, language)
        formula = f"{new} − {old} = {apart}"
        steps.append(Step(say(language, "차액", "Difference"), formula, apart, exact(difference.value), sources))
        if ratio is not None:
            times = after.value / before.value
            told = number(times) + say(language, "배", " times")
            formula = f"{new} ÷ {old} = {told}"
            steps.append(Step(say(language, "배율", "Ratio"), formula, told, exact(times), sources))
            formula = f"({new} − {old}) ÷ {old} × 100 = {percent(ratio)}"
            what = say(language, "변동률", "Change in percent")
            steps.append(Step(what, formula, percent(ratio), exact(ratio), sources))
        return steps


def find_changes(text: str, amounts: Sequence[Amount]) -> tuple[Change, ...]:
    """Return the changes that a text states, surest first.

    Args:
        text: the text.
        amounts: `parse_amounts(text)`.
    """
    found: list[Change] = []
    used: set[int] = set()
    moving = bool(matters(text) & {RISE, FALL}) or MOVES.search(text) is not None
    for sure in (True, False) if moving else (True,):
        for index, (left, right) in enumerate(pairwise(amounts)):
            pair = _pair(text, left, right, sure=sure)
            change = None if pair is None or used & {index, index + 1} else _between(*pair)
            if change is not None:
                found.append(change)
                used |= {index, index + 1}
    for index, amount in enumerate(amounts):
        if index not in used and _is_by(text, amount):
            free = [other for i, other in enumerate(amounts) if i not in used and other is not amount]
            change = _by(text, amount, free)
            found += [] if change is None else [change]
            used.add(index)
    return tuple(found)


def _pair(text: str, left: Amount, right: Amount, *, sure: bool) -> tuple[Amount, Amount] | None:
    """Return the two as from and to, where the words between and beside them say so."""
    between = text[left.end : right.start]
    if len(between) > _REACH:
        return None
    if sure:
        plain = between.strip() == "에서" and not _is_by(text, right)
        future = between.endswith("will be ") and text[: left.start].endswith("is ")
        if plain or future or _ARROW.fullmatch(between) or (_to(text, right) and _from(text, left)):
            return left, right
        return (right, left) if _to(text, left) and _from(text, right) else None
    likely = _to(text, right) or between.strip() == "to" or (_from(text, left) and not _is_by(text, right))
    return (left, right) if likely else None


def _left(text: str, amount: Amount) -> str:
    return text[max(0, amount.start - _REACH) : amount.start].lower()


def _right(text: str, amount: Amount) -> str:
    return text[amount.end : amount.end + _REACH].lower()


def _from(text: str, amount: Amount) -> bool:
    return bool(_FROM_RIGHT.match(_right(text, amount)) or _FROM_LEFT.search(_left(text, amount)))


def _to(text: str, amount: Amount) -> bool:
    return bool(_TO_RIGHT.match(_right(text, amount)) or _TO_LEFT.search(_left(text, amount)))


def _is_by(text: str, amount: Amount) -> bool:
    right = _right(text, amount)
    if _BOUNDED.match(right) or _TO_RIGHT.match(right):
        return False
    after = _BY_RIGHT.match(right)
    moved = after is not None and (matters(after[1]) & {RISE, FALL} or re.match(r"추가|(?:off|less|more)\b", after[1]))
    return bool(moved or _BY_LEFT.search(_left(text, amount)))


def _between(before: Amount, after: Amount) -> Change | None:
    pair = _alike(before, after)
    if pair is None or (before.year_like and after.year_like):
        return None
    direction = (pair[1].value > pair[0].value) - (pair[1].value < pair[0].value)
    return Change(*pair, None, direction)


def _alike(first: Amount, second: Amount) -> tuple[Amount, Amount] | None:
    """Return both with one kind and unit, what one leaves out taken from the other; None if they differ."""
    if not first.unit and second.kind in _LENDS and (first.scale == 1 or second.kind != "percent"):
        first = replace(first, kind=second.kind, unit=second.unit)
    elif not second.unit and first.kind in _LENDS and (second.scale == 1 or first.kind != "percent"):
        second = replace(second, kind=first.kind, unit=first.unit)
    if (first.kind, first.unit) != (second.kind, second.unit):
        return None
    if first.scale == 1 and second.scale >= 10**4 and 0 < first.value < 1000 and first.text.replace(".", "").isdigit():
        first = replace(first, value=first.value * second.scale, scale=second.scale)  # 3에서 5억 is 3억에서 5억
    return first, second


def _by(text: str, amount: Amount, others: Sequence[Amount]) -> Change | None:
    direction, share = _direction(text, amount), amount.kind == "percent"
    bases = [
        other
        for other in others
        if other.kind in ("money", "count") and not other.year_like
        and (share or (other.kind, other.unit) == (amount.kind, amount.unit))
        and abs(other.start - amount.start) <= 4 * _REACH
    ]  # fmt: skip
    if not direction or not (bases or share):
        return None
    if not bases:
        return Change(None, None, amount, direction)
    base = min(bases, key=lambda other: (not _from(text, other), abs(other.start - amount.start)))
    size = base.value * abs(amount.value) / 100 if share else abs(amount.value)
    after = replace(base, value=base.value + direction * size, text="", scale=max(base.scale, amount.scale))
    return Change(base, after, amount, direction)


def _direction(text: str, amount: Amount) -> int:
    """Return 1 for a rise and -1 for a fall; the words right after the amount count before those before it."""
    for part in (_right(text, amount)[:20], _left(text, amount), text.lower()):
        named = matters(part) & {RISE, FALL}
        if len(named) == 1:
            return 1 if RISE in named else -1
        if word := re.search(r"추가|더\s?[달내]|\b(?:more|off|less)\b", part):
            return -1 if word.group() in ("off", "less") else 1
    return 0


def stated_changes(question: str, passages: Sequence[Passage]) -> dict[str, tuple[Change, list[Citation]]]:
    """Return the changes in passages that are about what a question is about, with where they stand.

    A change stands in a sentence, or in two of which the second goes on about the same. It is told in words (from one
    to the other), or as amounts of one kind at different times. Everything that the question names has to stand there.
    """
    subject = Subject.of(question)
    years = re.findall(r"(?:19|20)\d\d(?!\d)", question)
    years += ["latest"] if len(years) == 1 and _SINCE.search(question) else []
    found: dict[str, tuple[Change, list[Citation]]] = {}
    for passage in passages:
        for start, end, said, second in _windows(passage.text, subject):
            if _RANGE.search(said) or not subject.whole(f"{passage.heading}\n{said}".lower()):
                continue
            for change in _of_sentence(said, years, second):
                pair = " → ".join(shown_amount(a, "ko") for a in (change.before, change.after, change.by) if a)
                found.setdefault(pair, (change, []))[1].append(passage.cite(start, end))
    return found


def changes_in_time(question: str, sections: Sequence[Passage]) -> dict[str, tuple[Change, list[Citation]]]:
    """Return how what a question is about changed, where sections state it apart, each figure for its time.

    Two figures are of the same thing where they have a unit and what it is per in common, and words of the question.
    A figure without a time is that of now. Where several pairs fit alike, none is meant.
    """
    subject = Subject.of(question)
    found: list[tuple[int, Change, list[Citation]]] = []
    for section in sections:
        stated = list(_stated_figures(section, subject))
        for n, one in enumerate(stated):
            for other in stated[n + 1 :]:
                common = one.words & other.words
                whole = subject.whole(f"{section.heading}\n{one.said}\n{other.said}".lower())
                if one.per != other.per or one.time == other.time or not common or not whole:
                    continue
                first, last = sorted((one, other), key=lambda figure: figure.time)
                change = _between(first.amount, last.amount)
                if change is not None and change.direction:
                    found.append((len(common), change, [first.cited, last.cited]))
    most = max((fit for fit, _, _ in found), default=0)
    kept: dict[str, tuple[Change, list[Citation]]] = {}
    for fit, change, cited in found:
        if fit == most:
            kept.setdefault(
                " → ".join(shown_amount(a, "ko") for a in (change.before, change.after) if a), (change, cited)
            )
    return kept


@dataclass(frozen=True, slots=True)
class _Figure:
    """An amount that a sentence states: per what, of which words of the question, and for which time."""

    amount: Amount
    per: str
    words: frozenset[str]
    time: int
    said: str
    cited: Citation


def _stated_figures(section: Passage, subject: Subject) -> Iterator[_Figure]:
    for start, end in sentences(section.text):
        said = section.text[start:end]
        marks = [int(mark.group()) for mark in _YEAR.finditer(said)]
        time = max(marks) if len(set(marks)) == 1 else 0
        if len(set(marks)) > 1 or _LIMITED.search(said):
            continue
        amounts = [a for a in parse_amounts(said) if not a.year_like and a.unit and not _BOUNDED.match(said, a.end)]
        for amount, before in zip(amounts, [None, *amounts], strict=False):
            clause = said[before.end if before else 0 : amount.start].lower()
            words = frozenset(word for word in subject.words if subject.has(word, clause))
            left, right = _PER_LEFT.search(said[: amount.start]), _PER_RIGHT.match(said, amount.end)
            per = (left[1] if left else right[1].lower() if right else "", amount.kind, amount.unit)
            yield _Figure(amount, "|".join(per), words, time, said, section.cite(start, end))


def _windows(text: str, subject: Subject) -> Iterator[tuple[int, int, str, int]]:
    """Yield start, end and text of each sentence, and of two that go together, with where the second begins in it."""
    spans = sentences(text)
    for start, end in spans:
        yield start, end, text[start:end], 0
    for (start, middle), (_, end) in pairwise(spans):
        second = text[middle:end]
        bare = _TIME.sub(" ", re.sub(r"\d[\d,.]*[가-힣]*", " ", second))
        korean = re.search("[가-힣]", second) is not None
        if subject.whole(second.lower()) or (not _NEW_TOPIC.search(bare) if korean else _GOES_ON.search(second)):
            yield start, end, text[start:end], middle - start


def _of_sentence(said: str, years: Sequence[str], second: int) -> Iterator[Change]:
    amounts = parse_amounts(said, dates=True)
    amounts = tuple(a for a in amounts if not a.year_like and not _BOUNDED.match(said, a.end))
    units = {a.start: a.unit for a in amounts}
    told = [] if second else [c for c in find_changes(said, amounts) if _is_stated(said, c, units)]
    for change in told:
        if change.direction and all(year in said for year in years if year != "latest"):
            yield change
    for kind, unit in dict.fromkeys((a.kind, a.unit) for a in amounts):
        alike = [a for a in amounts if (a.kind, a.unit) == (kind, unit)]
        if len(alike) < 2 or any(c.before in alike for c in told):
            continue
        if second and not (alike[0].start < second <= alike[1].start and len(alike) == 2):
            continue
        pairs = list(_in_time(said, alike, years))
        if not pairs and second and _to(said, alike[1]) and all(year in said for year in years if year != "latest"):
            pairs = [(alike[0], alike[1])]
        changes = (_between(*pair) for pair in pairs)
        yield from (change for change in changes if change is not None and change.direction)


def _is_stated(said: str, change: Change, units: Mapping[int, str]) -> bool:
    """Whether a change stands there whole: two amounts with their units, or a share that is no limit."""
    if change.before is not None and change.after is not None:
        return change.by is None and units[change.before.start] == units[change.after.start]
    return change.by is not None and not _LIMITED.search(said[: change.by.start])


def _in_time(said: str, amounts: Sequence[Amount], years: Sequence[str]) -> Iterator[tuple[Amount, Amount]]:
    """Yield pairs of amounts that stand for times, the earlier first: those of the question's years, or neighbours."""
    marks = [m for m in _TIME.finditer(said) if not any(a.start <= m.start() < a.end for a in amounts)]
    names = [mark.group().lower() for mark in marks]
    if len(marks) != len(amounts) or len(set(names)) != len(names):
        return
    at = sorted(zip(map(_rank, names), names, amounts, strict=True), key=lambda one: one[0])
    wanted = [at[-1][1] if year == "latest" else year for year in years]
    for (_, earlier, before), (_, later, after) in pairwise([one for one in at if len(years) < 2 or one[1] in wanted]):
        if not years or later == years[-1] or {earlier, later} == set(wanted):
            yield before, after


def _rank(name: str) -> int:
    if name.isdigit():
        return int(name)
    if re.match(r"재작", name):
        return -2
    return 1 if re.match(r"내|next|after", name) else 0 if re.match(r"올|금|현|지금|this|now|today|curr", name) else -1
