"""What quantities give for a question: each operation on those that fit, the one that accounts for most of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from itertools import combinations, pairwise

from hitl_tui.teams.analysis.analysis_model import QUERY, Finding, Step
from hitl_tui.teams.analysis.asked import BEFORE, Asked
from hitl_tui.teams.analysis.calendar_dates import days_between
from hitl_tui.teams.analysis.formula import formula, part, step
from hitl_tui.teams.analysis.quantities import Quantity
from hitl_tui.teams.analysis.units import Amount, shown_amount
from hitl_tui.teams.analysis.words import JOINED, PLANNED, USED, direction_of, say
from hitl_tui.teams.contract import Citation, language_of
from hitl_tui.teams.number_format import number, shown

ENOUGH = 0.62
"""Share of what a question says that the quantities of a computation have to be about."""
APART = 0.05
"""By how much a computation has to be ahead of another that gives something else."""
_SIGN = re.compile(r"\s*([-+*×÷/−]|\bx\b|plus|minus|times|더하기|빼기|곱하기|나누기)\s*", re.IGNORECASE)
_SIGNS = {
    "+": "+", "plus": "+", "더하기": "+", "-": "−", "−": "−", "minus": "−", "빼기": "−", "*": "×", "×": "×", "x": "×",
    "times": "×", "곱하기": "×", "÷": "÷", "/": "÷", "나누기": "÷",
}  # fmt: skip
_OF = re.compile(r"^\s?(?:의|에\s?대한|of)\s")
_COMPARED, _SHOWN, _LISTED, _NEARLY = 60, 4, 6, 0.4

Rated = tuple[Quantity, list[float]]
"""A quantity with how well it is about each word of the question."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a computation gives.

    Args:
        steps: the computation; none where there is no sure one.
        said: what follows, in a sentence; the first step where it is empty.
        limit: the sentence of the limit that something was held against.
        change: by how many percent something changes, where the question says from what to what.
        refused: why nothing was computed.
    """

    steps: tuple[Step, ...] = ()
    said: str = ""
    limit: Citation | None = None
    change: Fraction | None = None
    refused: str = ""

    @property
    def finding(self) -> Finding:
        """What is said first: what the computation gives, and the sentences it rests on."""
        first = self.steps[0]
        sources = first.sources if self.limit is None else (self.limit, *first.sources)
        cited = tuple(dict.fromkeys(source for source in sources if isinstance(source, Citation)))
        said = self.said or f"{first.what}: **{first.value}** ({first.formula.rsplit(' = ', 1)[0]})"
        quotes = " ".join("“" + " ".join(one.quote.split()).lstrip("-*#> ") + "”" for one in cited[:2])
        return Finding(f"{said}. {quotes}".strip(), cited or first.sources)


@dataclass(frozen=True, slots=True)
class _Computed:
    """A computation that may be meant.

    Args:
        rank: the share of the question that it accounts for, and what else speaks for it.
        key: what it gives; two that give the same are one.
        operands: what it rests on.
        outcome: what it gives, with its steps.
    """

    rank: float
    key: object
    operands: tuple[Quantity, ...]
    outcome: Outcome


def combine(asked: Asked, stated: Sequence[Quantity]) -> Outcome:
    """Return what the quantities of documents give; where that isn't clear, those that come nearest.

    Args:
        asked: the question.
        stated: the quantities that documents state.
    """
    operations = _Operations(asked, stated)
    made = sorted(operations.every(), key=lambda one: -one.rank)
    if not made:
        return Outcome(refused=operations.nearest())
    fitting = [one for one in made if one.rank > made[0].rank - APART]
    rivals = list({one.key: one for one in reversed(fitting)}.values())[::-1]
    if len(rivals) > 1:
        short = (
            f"{one.outcome.steps[0].formula.split(' = ')[0]} ({_labels(one.operands)})" for one in rivals[:_LISTED]
        )
        pairs = "; ".join(short)
        korean = f"계산하지 않음: 찾은 구절에 맞는 수치가 여러 개 있습니다. 어느 것인지 질문에 쓰세요: {pairs}."
        english = f"Not computed: several figures fit; say which one is meant: {pairs}."
        return Outcome(refused=say(asked.language, korean, english))
    sources = tuple(dict.fromkeys(q.source for one in fitting for q in one.operands))
    outcome = made[0].outcome
    return replace(outcome, steps=tuple(replace(one, sources=sources) for one in outcome.steps))


class _Operations:
    """The operations on the quantities that a question is about."""

    def __init__(self, asked: Asked, stated: Sequence[Quantity]) -> None:
        self.asked, self.language = asked, asked.language
        rated = sorted(zip(stated, asked.covers(stated), strict=True), key=lambda one: -asked.weight(one[1]))
        self.known: list[Rated] = [one for one in rated if any(one[1])]
        self.near = [one for one in self.known if not one[0].bound][:_COMPARED]
        self.bounds = [one for one in self.known if one[0].bound][:_COMPARED]
        self.own = [q for q in asked.own if q.amount.kind != "date"]

    def every(self) -> Iterator[_Computed]:
        """Yield what can be computed."""
        asked = self.asked
        if asked.closed or (asked.how_much and (asked.above or asked.under)):
            yield from self._held()
        if asked.closed or not asked.how_much:
            return
        if asked.long or (asked.differs and not asked.left):
            yield from self._lengths()
        if asked.differs and not self.own and not (asked.may and not asked.left):
            yield from self._differences()
        elif asked.share and not self.own:
            yield from self._shares()
        if (asked.total or self.own) and not JOINED.search(asked.text):
            yield from self._products()

    def nearest(self) -> str:
        """Return what the documents state that comes nearest; empty where nothing is near."""
        whole = sum(word.weight for word in self.asked.words)
        near = [q for q, c in self.known if self.asked.weight(c) >= _NEARLY * whole and q.amount.kind != "date"]
        if not near or not (self.asked.how_much or self.asked.closed):
            return ""
        told = "; ".join(dict.fromkeys(f"{self.show(q.amount)} ({_labels([q])})" for q in near[:_SHOWN]))
        korean = f"계산하지 않음: 이 질문을 확실히 계산할 수 없습니다. 가장 가까운 수치: {told}."
        return self.say(korean, f"Not computed: it isn't clear how. The quantities that come nearest: {told}.")

    def say(self, korean: str, english: str) -> str:
        return say(self.language, korean, english)

    def show(self, amount: Amount) -> str:
        return shown_amount(amount, self.language)

    def _made(
        self,
        cover: Sequence[float],
        key: object,
        operands: Sequence[Quantity],
        steps: Sequence[Step | None],
        ahead: float = 0.0,
        said: str = "",
        limit: Quantity | None = None,
    ) -> Iterator[_Computed]:
        """Yield a computation that accounts for enough of the question."""
        score, done = self.asked.score(cover), tuple(filter(None, steps))
        if score >= ENOUGH and done:
            cited = limit.source if limit is not None and isinstance(limit.source, Citation) else None
            yield _Computed(score + ahead, key, tuple(operands), Outcome(done, said, cited))

    # -------------------------------------------------------------------------------------------------------- bounds

    def _held(self) -> Iterator[_Computed]:
        """Yield each figure held against each bound of its kind: the question's one, or what is about the same."""
        own = [q for q in self.own if any(_same(q, bound) for bound, _ in self.bounds)]
        own = [q for q in own if q.value != 1] if len(own) > 1 else own  # one of something says what each is for
        nothing = [0.0] * len(self.asked.words)
        figures = [(q, nothing) for q in own] if self.own else self.near
        for bound, about in self.bounds:
            for figure, cover in figures if len(own) < 2 else ():
                related = self.own or (figure.place != bound.place and any(map(min, cover, about)))
                each = figure.per == bound.per or (self.own and not (figure.per and bound.per))
                if related and each and _same(figure, bound):
                    steps, said = self._verdict(figure, bound)
                    key, ahead = (figure.value, bound.value), 0.02 * (figure.per == bound.per)
                    yield from self._made(_most(cover, about), key, (figure, bound), steps, ahead, said, bound)

    def _verdict(self, figure: Quantity, bound: Quantity) -> tuple[list[Step | None], str]:
        here, there, over = self.show(figure.amount), self.show(bound.amount), figure.value - bound.value
        kind = _kind(bound, self.language)
        said = self.say(f"{here}: 문서의 {kind} {there}과 같습니다", f"{here} equals the {kind} of {there}")
        steps: list[Step | None] = [compared(figure.amount, bound, self.language)]
        if over:
            high, low = (figure.amount, bound.amount) if over > 0 else (bound.amount, figure.amount)
            apart = formula(self.say(f"{kind}과의 차이", f"Distance from the {kind}"), (high, low), "−", self.language)
            far = apart.value if apart else ""
            korean = f"{here}: 문서의 {kind} {there}보다 {far} {'많습니다' if over > 0 else '적습니다'}"
            said = self.say(korean, f"{here} is {far} {'above' if over > 0 else 'below'} the {kind} of {there}")
            steps.append(apart)
        return steps, answered(self.asked, figure.value, bound) + said

    # --------------------------------------------------------------------------------------------------- differences

    def _differences(self) -> Iterator[_Computed]:
        """Yield how far two figures are apart: planned and used, then and now, or two that the question names."""
        asked = self.asked
        figures = [
            (q, [one if one > BEFORE else 0.0 for one in cover])
            for q, cover in self.near
            if not q.by and (q.amount.kind == "duration" if asked.long else q.amount.kind != "date")
        ]
        for (a, of_a), (b, of_b) in combinations(figures, 2):
            if not _same(a, b) or a.per != b.per or a.value == b.value or (asked.per and asked.per not in a.per):
                continue
            pairs = list(zip(of_a, of_b, asked.words, strict=True))
            plain = [(x, y) for x, y, word in pairs if not (word.role or word.time)]
            named = any(x and not y for x, y in plain) and any(y and not x for x, y in plain)
            planned, timed = _roles(a, b), self._in_time(a, b)
            if not (named or planned or timed) or (asked.left and not planned):
                continue
            cover = [
                max(x, y) if (named and not (x and y)) or (planned and w.role) or (timed and w.time) else (x + y) / 2
                for x, y, w in pairs
            ]
            before, after = planned or timed or ((a, b) if b.value >= a.value else (b, a))
            steps = self._difference(before.amount, after.amount, signed=bool(timed) and not planned)
            yield from self._made(cover, frozenset((a.value, b.value)), (before, after), steps, 0.04 * bool(planned))

    def _in_time(self, a: Quantity, b: Quantity) -> tuple[Quantity, Quantity] | None:
        """Return two figures of the same thing at different times, the earlier first; None where they aren't."""
        asked, here = self.asked, a.place[0] == b.place[0]
        if here and (a.turn * b.turn < 0 or (a.when == b.when and a.turn != b.turn)):
            first, last = (a, b) if a.turn < b.turn else (b, a)
        elif a.when != b.when and a.when[0] and b.when[0]:
            first, last = (a, b) if a.when < b.when else (b, a)
        elif a.when != b.when and here:  # the one without a time is that of now
            dated, bare = (a, b) if a.when[0] else (b, a)
            past = dated.turn < 0 or (not dated.turn and asked.since)
            first, last = (dated, bare) if past else (bare, dated)
        else:
            return None
        years, named = [q.when[0] for q in (first, last) if q.when[0]], sorted(asked.years)
        meant = not named or named[0] in (years[:1] if asked.since else years[-1:])
        return (first, last) if not years or (named == years if len(named) == 2 else meant) else None

    def _difference(self, before: Amount, after: Amount, *, signed: bool) -> Sequence[Step | None]:
        if signed:
            steps = change_steps(before, after, self.language)
            return steps[::-1] if self.asked.share and before.kind != "percent" else steps
        what = self.say("남은 것", "Left") if self.asked.left else self.say("차이", "Difference")
        pair = (before, after) if self.asked.left or before.value > after.value else (after, before)
        return [formula(what, pair, "−", self.language)]

    # --------------------------------------------------------------------------------------- lengths, shares, products

    def _lengths(self) -> Iterator[_Computed]:
        """Yield the days between two dates."""
        dates = [one for one in self.near if one[0].amount.kind == "date"]
        for (a, of_a), (b, of_b) in combinations(dates, 2):
            together = a.place == b.place
            cover = _most(of_a, of_b) if together else [(x + y) / 2 for x, y in zip(of_a, of_b, strict=True)]
            first, last = sorted(_of_one_year(a, b), key=lambda q: (q.turn, q.amount.start))
            if first.value > last.value and not self.asked.differs:
                first, last = last, first
            length = length_step(first.amount, last.amount, self.language, moved=self.asked.differs)
            key = length and length.exact
            yield from self._made(cover, key, (first, last), [length], 2 * APART * together)

    def _shares(self) -> Iterator[_Computed]:
        """Yield which part one figure is of another of the same sentence."""
        for (a, of_a), (b, of_b) in combinations(self.near, 2):
            whole, some = (a, b) if a.value > b.value else (b, a)
            alike = _same(a, b) or a.amount.kind == b.amount.kind == "count"
            rate = a.amount.kind in ("percent", "date", "points") or a.per or b.per
            if alike and not rate and a.place == b.place and 0 < some.value < whole.value:
                said = f"{self.show(some.amount)} ÷ {self.show(whole.amount)} × 100"
                made = step(self.say("비율", "Share"), said, part(some.value / whole.value), self.language)
                yield from self._made(_most(of_a, of_b), (some.value, whole.value), (some, whole), [made])

    def _products(self) -> Iterator[_Computed]:
        """Yield what something costs for each, or a rate of it, times a count or sum."""
        nothing = [0.0] * len(self.asked.words)
        own: list[Rated] = [(q, nothing) for q in self.own if not q.per and not q.by]
        for rate, cover in self.near:
            if rate.amount.kind == "percent" and not rate.by and len(own) == 1 and own[0][0].amount.kind == "money":
                made = formula(self.say("해당 금액", "Amount"), (own[0][0].amount, rate.amount), "×", self.language)
                yield from self._made(cover, rate.value, (own[0][0], rate), [made])
            file = [one for one in self.near if one[0].place[0] == rate.place[0] and _counts(rate, one[0])]
            here = [one for one in file if one[0].place == rate.place]
            for count, also in own or (here or file if self.asked.total else ()):
                if not _counts(rate, count):
                    continue
                more = [q for q, _ in self.known if q.place == rate.place == count.place and _multiplies(q, count)]
                factors = (rate, count, *more[:1])
                signs = "×" * (len(factors) - 1)
                made = formula(self.say("합계", "Total"), [q.amount for q in factors], signs, self.language)
                past = -0.1 * (rate.turn < 0 and not self.asked.years)
                yield from self._made(_most(cover, also), made and made.exact, factors, [made], past)


# ---------------------------------------------------------------------------------------- the question's own figures


def of_question(asked: Asked, stated: Sequence[Quantity]) -> Outcome:
    """Return what the figures give that the question states: a change with the limit that documents set it, a sum, …"""
    language, figures = asked.language, [q for q in asked.own if q.amount.kind != "date"]
    if changed := _changed(asked, figures):
        return _held_change(asked, *changed, stated)
    amounts, dates = [q.amount for q in figures], [q.amount for q in asked.own if q.amount.kind == "date"]
    signs = [_SIGN.fullmatch(asked.text[a.end : b.start]) for a, b in pairwise(amounts)]
    alike, made = len({q.of for q in figures}) == 1, None
    if signs and all(signs):
        written = "".join(_SIGNS[sign[1].lower()] for sign in signs if sign)
        made = formula(say(language, "계산", "Result"), amounts, written, language)
    elif len(dates) == 2 and not figures and asked.long:
        made = length_step(dates[0], dates[1], language, moved=False)
    elif alike and asked.total and len(figures) > 1:
        made = formula(say(language, "합계", "Sum"), amounts, "+" * len(signs), language)
    elif alike and asked.differs and len(figures) == 2:
        high_first = sorted(amounts, key=lambda a: -a.value)
        made = formula(say(language, "차이", "Difference"), high_first, "−", language)
    elif len(figures) == 2 and _OF.search(asked.text[amounts[0].end : amounts[1].start]):
        made = formula(say(language, "해당 금액", "Amount"), amounts, "×", language)
    return Outcome((made,)) if made else Outcome()


def _changed(
    asked: Asked, figures: Sequence[Quantity]
) -> tuple[list[Step], Fraction | None, Amount | None, Amount] | None:
    """Return the change that a question states: its computation, its percentage, what was before, and after (or by)."""
    language, rest = asked.language, [q for q in figures if not q.by]
    for by in (q.amount for q in figures if q.by and asked.direction):
        share = by.kind == "percent"
        base = next(
            (q.amount for q in rest if q.of == (by.kind, by.unit) or (share and q.amount.kind == "money")), None
        )
        if base is not None:
            made, after = raised(say(language, "바뀐 뒤의 금액", "The amount after the change"), base, by, asked)
            return [made, *change_steps(base, after, language)], (after.value / base.value - 1) * 100, base, after
        if share:
            told = Step(
                say(language, "말한 변동률", "The change as stated"), by.text.strip(), shown_amount(by, language)
            )
            return [told], by.value * asked.direction, None, by
    for a, b in pairwise(rest):
        if a.of == b.of and (a.turn != b.turn or asked.direction):
            turned = a.turn - b.turn or asked.direction * (a.value > b.value) - asked.direction * (a.value < b.value)
            before, after = (b.amount, a.amount) if turned > 0 else (a.amount, b.amount)
            # Whether a limit means points or percent of a percentage, its sentence rarely says.
            ratio = (after.value / before.value - 1) * 100 if before.value and before.kind != "percent" else None
            return change_steps(before, after, language), ratio, before, after
    return None


def _held_change(
    asked: Asked,
    steps: Sequence[Step],
    ratio: Fraction | None,
    before: Amount | None,
    after: Amount,
    stated: Sequence[Quantity],
) -> Outcome:
    """Return a change of the question, held against the limit in percent that documents state for it."""
    language, way = asked.language, 0 if ratio is None else 1 if ratio > 0 else -1
    bounds = [q for q in stated if q.bound and q.amount.kind == "percent" and direction_of(q.said) == way]
    rated = zip(map(asked.weight, asked.covers(bounds)), bounds, strict=True)
    fitting = [(score, language_of(q.said) == language, q) for score, q in rated if score]
    if ratio is None or not fitting:
        return Outcome(tuple(steps), change=ratio)
    limit = max(fitting, key=lambda one: one[:2])[2]
    rate, kind = part(abs(ratio) / 100), _kind(limit, language)
    held = compared(rate, limit, language)
    here, there = shown_amount(rate, language), shown_amount(limit.amount, language)
    name = say(language, "인하율" if way < 0 else "인상률", "Fall" if way < 0 else "Rise")
    said = f"{name} {here}, {say(language, f'문서의 {kind}', f'{kind} in the documents')} {there}: {held.value}"
    more = [held]
    if before:
        made, allowed = raised(
            say(language, f"{kind}에 따른 금액", f"The sum at the {kind}"), before, limit.amount, asked, way
        )
        said += say(language, f"; {kind}액 {made.value}", f"; the {kind} allows {made.value}")
        high, low = sorted((after, allowed), key=lambda a: -a.value)
        apart = formula(say(language, "허용액과의 차이", "Apart from what is allowed"), (high, low), "−", language)
        more += [made, *([apart] if apart else [])]
    done = (*steps, *(replace(one, sources=(QUERY, limit.source)) for one in more))
    cited = limit.source if isinstance(limit.source, Citation) else None
    return Outcome(done, answered(asked, abs(ratio), limit) + said, cited, ratio)


def raised(what: str, before: Amount, by: Amount, asked: Asked, direction: int = 0) -> tuple[Step, Amount]:
    """Return what an amount becomes when it rises (1) or falls (-1) by a share or by another amount."""
    way, share = direction or asked.direction, by.kind == "percent"
    sign = "+" if way > 0 else "−"
    size = before.value * by.value / 100 if share else by.value
    after = replace(before, value=before.value + way * size, scale=max(before.scale, by.scale), text="")
    said = f"× (1 {sign} {number(by.value, 4)} ÷ 100)" if share else f"{sign} {shown_amount(by, asked.language)}"
    return step(what, f"{shown_amount(before, asked.language)} {said}", after, asked.language), after


def change_steps(before: Amount, after: Amount, language: str) -> list[Step]:
    """Return by how much an amount became another, and by how many percent."""
    apart = formula(say(language, "차액", "Difference"), (after, before), "−", language)
    if not before.value or apart is None:
        return [apart] if apart else []
    old, new = shown_amount(before, language), shown_amount(after, language)
    ratio = part(after.value / before.value - 1)
    return [
        apart,
        step(say(language, "변동률", "Change in percent"), f"({new} − {old}) ÷ {old} × 100", ratio, language),
    ]


def length_step(first: Amount, last: Amount, language: str, *, moved: bool) -> Step | None:
    """Return the days from a date to another; where one was moved to the other, which way."""
    days = days_between(first, last)
    length = shown(Fraction(abs(days)), "duration", "day", language)
    old, new = shown_amount(first, language), shown_amount(last, language)
    side = (say(language, " 뒤", " later") if days > 0 else say(language, " 앞", " earlier")) if moved else ""
    what = say(language, f"{old}에서 {new}까지", f"From {old} to {new}")
    return Step(what, f"{new} − {old} = {length}", length + side, str(days)) if days else None


def compared(figure: Amount, bound: Quantity, language: str) -> Step:
    """Return whether a figure keeps to a bound; one that it has to stay below is exceeded where it is met."""
    kind, value, limit = _kind(bound, language), figure.value, bound.value
    what = say(language, f"문서의 {kind}과 비교", f"Compared with the {kind} in the documents")
    sign = ">" if value > limit else "=" if value == limit else "<"
    broken = (
        say(language, "하한 미달", "below the minimum") if bound.bound == "min" else say(language, "초과", "exceeds")
    )
    verdict = say(language, "범위 안", "within the limit") if _keeps(bound, value) else broken
    return Step(what, f"{shown_amount(figure, language)} {sign} {shown_amount(bound.amount, language)}", verdict)


def answered(asked: Asked, value: Fraction, bound: Quantity) -> str:
    """Return yes or no where that is asked: whether a value is above or below a limit, or else whether it may be.

    Empty for an open question, and for a negated one, whose yes means different things to different people.
    """
    if not asked.closed or asked.negated:
        return ""
    holds = value > bound.value if asked.above else _keeps(bound, value) != (asked.under and bound.bound == "min")
    return say(asked.language, "**예.** " if holds else "**아니요.** ", "**Yes.** " if holds else "**No.** ")


def _keeps(bound: Quantity, value: Fraction) -> bool:
    if bound.bound == "min":
        return value >= bound.value
    return value < bound.value or (value == bound.value and bound.bound != "below")


def _kind(bound: Quantity, language: str) -> str:
    return say(language, "하한", "minimum") if bound.bound == "min" else say(language, "상한", "limit")


def _labels(operands: Sequence[Quantity]) -> str:
    return ", ".join(dict.fromkeys(q.source.label for q in operands if isinstance(q.source, Citation)))


def _most(one: Sequence[float], other: Sequence[float]) -> list[float]:
    return list(map(max, one, other))


def _roles(a: Quantity, b: Quantity) -> tuple[Quantity, Quantity] | None:
    """Return what was planned and what came of it, where one of two is each; None where they aren't."""
    planned = [q for q in (a, b) if PLANNED.search(q.said)]
    used = [q for q in (a, b) if USED.search(q.said) and not PLANNED.search(q.said)]
    return (planned[0], used[0]) if len(planned) == 1 == len(used) else None


def _same(a: Quantity, b: Quantity) -> bool:
    """Whether two are of the same kind and unit."""
    if a.amount.kind == b.amount.kind == "count":
        return a.noun == b.noun or not (a.noun and b.noun)
    return a.of == b.of


def _counts(rate: Quantity, count: Quantity) -> bool:
    """Whether one counts what the other is for one of."""
    if count is rate or count.per or count.amount.kind not in ("count", "duration", "measure") or not count.noun:
        return False
    if "each" in rate.per:
        return count.place == rate.place or count.noun in rate.own | rate.near
    return count.noun in rate.per


def _multiplies(q: Quantity, count: Quantity) -> bool:
    """Whether something is counted beside a count: two rooms for three nights."""
    return not q.per and q is not count and q.amount.kind == "count" and bool(q.noun) and q.noun != count.noun


def _of_one_year(a: Quantity, b: Quantity) -> tuple[Quantity, Quantity]:
    """Return two dates, the year of one lent to the other that has none."""
    if (a.amount.unit == "date") == (b.amount.unit == "date"):
        return a, b
    bare, dated = (b, a) if a.amount.unit == "date" else (a, b)
    day, year = date.fromordinal(int(bare.value)), date.fromordinal(int(dated.value)).year
    lent = replace(bare, amount=replace(bare.amount, value=Fraction(day.replace(year=year).toordinal()), unit="date"))
    return (a, lent) if bare is b else (lent, b)
