"""What quantities give for a question: each operation on those that fit, the one that accounts for most of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from itertools import combinations, pairwise

from hitl_tui.teams.analysis.analysis_model import QUERY, Finding, LimitUse, Source, Step
from hitl_tui.teams.analysis.asked import BEFORE, Asked
from hitl_tui.teams.analysis.calendar_dates import days_between
from hitl_tui.teams.analysis.formula import formula, growth, raised, share
from hitl_tui.teams.analysis.quantities import Quantity
from hitl_tui.teams.analysis.units import Amount, shown_amount
from hitl_tui.teams.analysis.words import JOINED, PLANNED, USED, direction_of, say
from hitl_tui.teams.contract import Citation, language_of
from hitl_tui.teams.number_format import exact, percent, shown

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
_VERDICTS = {
    "within": ("범위 안", "within the limit"),
    "exceeds": ("초과", "exceeds"),
    "below_minimum": ("하한 미달", "below the minimum"),
}

Rated = tuple[Quantity, list[float]]
"""A quantity with how well it is about each word of the question."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a computation gives.

    Args:
        steps: the computation; none where there is no sure one.
        said: what follows, in a sentence; the first step where it is empty.
        limit: the limit that something was held against.
        change: by how many percent something changes, where that is what was asked.
        refused: why nothing was computed.
    """

    steps: tuple[Step, ...] = ()
    said: str = ""
    limit: LimitUse | None = None
    change: Fraction | None = None
    refused: str = ""

    @property
    def summary(self) -> str:
        """What is said, in a line; empty where the steps say it."""
        named = self.limit is None or self.limit.citation.label in self.said
        return self.said.replace("*", "") + ("" if named or self.limit is None else f" ({self.limit.citation.label})")

    @property
    def finding(self) -> Finding:
        """What is said first: what the computation gives, and the sentences it rests on."""
        first = self.steps[0]
        sources = first.sources if self.limit is None else (self.limit.citation, *first.sources)
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
    """Return what the quantities of a question and of documents give; where that isn't clear, those that come nearest.

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
        pairs = "; ".join(f"{_short(one.outcome)} ({_labels(one.operands)})" for one in rivals[:_LISTED])
        korean = f"계산하지 않음: 찾은 구절에 맞는 수치가 여러 개 있습니다. 어느 것인지 질문에 쓰세요: {pairs}."
        english = f"Not computed: several figures fit; say which one is meant: {pairs}."
        return Outcome(refused=say(asked.language, korean, english))
    also = [q.source for one in fitting for q in one.operands]
    outcome = made[0].outcome
    steps = (replace(step, sources=tuple(dict.fromkeys((*step.sources, *also)))) for step in outcome.steps)
    return replace(outcome, steps=tuple(steps))


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
        if asked.per and not asked.differs:
            for made, cover in self._derived():
                step = Step(self.say("하나당", "For each"), made.derived, self.show(made.amount), exact(made.value))
                yield from self._made(cover, made.value, (made,), [step])

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
        **also: object,
    ) -> Iterator[_Computed]:
        """Yield a computation that accounts for enough of the question."""
        score, sources = self.asked.score(cover), tuple(dict.fromkeys(q.source for q in operands))
        done = tuple(replace(step, sources=sources) for step in steps if step)
        if score >= ENOUGH and done:
            yield _Computed(score + ahead, key, tuple(operands), Outcome(done, **also))  # type: ignore[arg-type]

    # -------------------------------------------------------------------------------------------------------- bounds

    def _held(self) -> Iterator[_Computed]:
        """Yield each figure held against each bound of its kind: the question's one, or what is about the same."""
        own = [q for q in self.own if any(_same(q, bound) for bound, _ in self.bounds)]
        own = [q for q in own if q.value != 1] if len(own) > 1 else own  # one of something says what each is for
        nothing = [0.0] * len(self.asked.words)
        figures = [(q, nothing) for q in own] if self.own else [*self.near, *self._derived()]
        for bound, about in self.bounds:
            for figure, cover in figures if len(own) < 2 else ():
                if not _same(figure, bound) or (
                    figure.per != bound.per and not (self.own and not (figure.per and bound.per))
                ):
                    continue
                if self.own or (figure.place != bound.place and any(map(min, cover, about))):
                    steps, said, used = self._verdict(figure, bound)
                    key = (figure.value, bound.value, bound.bound)
                    ahead = 0.02 * (figure.per == bound.per)
                    yield from self._made(
                        _most(cover, about), key, (figure, bound), steps, ahead, said=said, limit=used
                    )

    def _derived(self) -> Iterator[Rated]:
        """Yield what sums are for one of what the same sentence counts."""
        for total, about in self.near:
            for count, cover in self.near:
                counted = total.place == count.place and count.amount.kind == "count" and count.noun and count.value > 0
                if counted and total.amount.kind == "money" and not total.per:
                    amount = replace(total.amount, value=total.value / count.value, text="", scale=1)
                    said = f"{self.show(total.amount)} ÷ {self.show(count.amount)} = {self.show(amount)}"
                    yield replace(total, amount=amount, per=frozenset({count.noun}), derived=said), _most(about, cover)

    def _verdict(self, figure: Quantity, bound: Quantity) -> tuple[list[Step], str, LimitUse]:
        here, there, over = self.show(figure.amount), self.show(bound.amount), figure.value - bound.value
        kind = self.say("하한", "minimum") if bound.bound == "min" else self.say("상한", "limit")
        verdict = verdict_of(bound, figure.value)
        what = self.say(f"문서의 {kind}과 비교", f"Compared with the {kind} in the documents")
        sign = ">" if over > 0 else "=" if not over else "<"
        steps = [Step(what, f"{here} {sign} {there}", self.say(*_VERDICTS[verdict]))]
        if figure.derived:
            steps.append(Step(self.say("하나당", "For each"), figure.derived, here, exact(figure.value)))
        said = self.say(f"{here}: 문서의 {kind} {there}과 같습니다", f"{here} equals the {kind} of {there}")
        if over:
            apart = replace(figure.amount, value=abs(over), kind=_apart(figure.amount))
            korean = f"{here}: 문서의 {kind} {there}보다 {self.show(apart)} {'많습니다' if over > 0 else '적습니다'}"
            english = f"{here} is {self.show(apart)} {'above' if over > 0 else 'below'} the {kind} of {there}"
            said = self.say(korean, english)
            what, pair = self.say(f"{kind}과의 차이", f"Distance from the {kind}"), (figure.amount, bound.amount)
            high, low = pair if over > 0 else pair[::-1]
            text = self.show(apart)
            steps.append(Step(what, f"{self.show(high)} − {self.show(low)} = {text}", text, exact(abs(over))))
        answer = self.whether(figure.value, bound)
        return steps, f"**{answer}.** {said}" if answer else said, limit_use(bound, verdict)

    def whether(self, value: Fraction, bound: Quantity) -> str:
        """Return yes or no where that is asked: whether a value is above or below a limit, or else whether it may be.

        Empty for an open question, and for a negated one, whose yes means different things to different people.
        """
        asked, verdict = self.asked, verdict_of(bound, value)
        if not asked.closed or asked.negated:
            return ""
        holds = verdict == ("below_minimum" if asked.under and bound.bound == "min" else "within")
        return self.say("예", "Yes") if (value > bound.value if asked.above else holds) else self.say("아니요", "No")

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
            plain = [(x, y) for x, y, w in zip(of_a, of_b, asked.words, strict=True) if not (w.role or w.time)]
            named = any(x and not y for x, y in plain) and any(y and not x for x, y in plain)
            planned, timed = self._roles(a, b), self._in_time(a, b)
            if not (named or planned or timed) or (asked.left and not planned):
                continue
            cover = [
                max(x, y) if (named and not (x and y)) or (planned and w.role) or (timed and w.time) else (x + y) / 2
                for x, y, w in zip(of_a, of_b, asked.words, strict=True)
            ]
            before, after = planned or timed or ((a, b) if b.value >= a.value else (b, a))
            ahead = 0.04 * bool(planned) + (self._lasts(a, b) if timed else 0.0)
            steps = self._difference(before, after, signed=bool(timed) and not planned)
            yield from self._made(cover, frozenset((a.value, b.value)), (before, after), steps, ahead)

    def _roles(self, a: Quantity, b: Quantity) -> tuple[Quantity, Quantity] | None:
        """Return what was planned and what came of it, where one of two is each; None where they aren't."""
        planned = [q for q in (a, b) if PLANNED.search(q.said)]
        used = [q for q in (a, b) if USED.search(q.said) and not PLANNED.search(q.said)]
        return (planned[0], used[0]) if len(planned) == 1 == len(used) else None

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
        years = [q.when[0] for q in (first, last) if q.when[0]]
        named = sorted(asked.years)
        meant = (
            named == years if len(named) == 2 else not named or named[0] in (years[:1] if asked.since else years[-1:])
        )
        return (first, last) if meant or not years else None

    def _lasts(self, a: Quantity, b: Quantity) -> float:
        """Return more for two that follow on one another in time than for two that others stand between."""
        low, high = sorted((a.when, b.when))
        between = any(low < q.when < high for q, _ in self.near if q.place[0] == a.place[0] and _same(q, a))
        later = any(q.when > high for q, _ in self.near if q.place[0] == a.place[0] and _same(q, a))
        return 2 * APART * (not between) + APART * (not later)

    def _difference(self, before: Quantity, after: Quantity, *, signed: bool) -> list[Step | None]:
        old, new = before.amount, after.amount
        if signed:
            steps = change_steps(old, new, self.language)
            return [*steps[::-1]] if self.asked.share and old.kind != "percent" else [*steps]
        what = self.say("남은 것", "Left") if self.asked.left else self.say("차이", "Difference")
        high, low = (old, new) if self.asked.left or old.value > new.value else (new, old)
        return [formula(what, (high, low), "−", self.language)]

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
            if days := days_between(first.amount, last.amount):
                step = length_step(first.amount, last.amount, self.language, moved=self.asked.differs)
                yield from self._made(cover, ("days", days), (first, last), [step], 2 * APART * together)

    def _shares(self) -> Iterator[_Computed]:
        """Yield which part one figure is of another of the same sentence."""
        for (a, of_a), (b, of_b) in combinations(self.near, 2):
            whole, part = (a, b) if a.value > b.value else (b, a)
            alike = _same(a, b) or a.amount.kind == b.amount.kind == "count"
            rate = a.amount.kind in ("percent", "date", "points") or a.per or b.per
            if alike and not rate and a.place == b.place and 0 < part.value < whole.value:
                step = share(self.say("비율", "Share"), part.amount, whole.amount, self.language)
                yield from self._made(_most(of_a, of_b), (part.value, whole.value), (part, whole), [step])

    def _products(self) -> Iterator[_Computed]:
        """Yield what something costs for each, or a rate of it, times a count or sum."""
        nothing = [0.0] * len(self.asked.words)
        own: list[Rated] = [(q, nothing) for q in self.own if not q.per and not q.by]
        what = self.say("합계", "Total")
        for rate, cover in self.near:
            if rate.amount.kind == "percent" and not rate.by and len(own) == 1 and own[0][0].amount.kind == "money":
                step = formula(self.say("해당 금액", "Amount"), (own[0][0].amount, rate.amount), "×", self.language)
                yield from self._made(cover, rate.value, (own[0][0], rate), [step])
            file = [one for one in self.near if one[0].place[0] == rate.place[0] and _counts(rate, one[0])]
            here = [one for one in file if one[0].place == rate.place]
            for count, also in own or (here or file if self.asked.total else ()):
                if not _counts(rate, count):
                    continue
                more = [q for q, _ in self.known if q.place == rate.place == count.place and _multiplies(q, count)]
                factors = (rate, count, *more[:1])
                step = formula(what, [q.amount for q in factors], "×" * (len(factors) - 1), self.language)
                past = -0.1 * (rate.turn < 0 and not self.asked.years)
                yield from self._made(_most(cover, also), step and step.exact, factors, [step], past)


# ---------------------------------------------------------------------------------------- the question's own figures


def of_question(asked: Asked, stated: Sequence[Quantity]) -> Outcome:
    """Return what the figures give that the question states: a change with the limit that documents set it, a sum, …"""
    language, own = asked.language, asked.own
    figures = [q for q in own if q.amount.kind != "date"]
    if changed := _changed(asked, figures):
        return _held_change(asked, *changed, stated)
    amounts, dates = [q.amount for q in figures], [q.amount for q in own if q.amount.kind == "date"]
    signs = [_SIGN.fullmatch(asked.text[a.end : b.start]) for a, b in pairwise(amounts)]
    alike = len({q.of for q in figures}) == 1
    high_first = sorted(amounts, key=lambda a: -a.value)
    if signs and all(signs):
        written = "".join(_SIGNS[sign[1].lower()] for sign in signs if sign)
        step = formula(say(language, "계산", "Result"), amounts, written, language)
    elif len(dates) == 2 and not figures and asked.long:
        step = length_step(dates[0], dates[1], language, moved=False)
    elif alike and asked.total and len(figures) > 1:
        step = formula(say(language, "합계", "Sum"), amounts, "+" * len(signs), language)
    elif alike and asked.differs and len(figures) == 2:
        step = formula(say(language, "차이", "Difference"), high_first, "−", language)
    elif len(figures) == 2 and _OF.search(asked.text[amounts[0].end : amounts[1].start]):
        step = formula(say(language, "해당 금액", "Amount"), amounts, "×", language)
    else:
        step = None
    return Outcome((step,)) if step else Outcome()


def _changed(
    asked: Asked, figures: Sequence[Quantity]
) -> tuple[Amount | None, Amount | None, Step | None, Amount, int] | None:
    """Return the change that a question states: before, after, how that came about, and by what in which direction."""
    language, by = asked.language, [q for q in figures if q.by and asked.direction]
    rest = [q for q in figures if not q.by]
    if by:
        share = by[0].amount.kind == "percent"
        base = [q for q in rest if q.of == by[0].of or (share and q.amount.kind in ("money", "count"))]
        if not base:
            return (None, None, None, by[0].amount, asked.direction) if share else None
        what = say(language, "바뀐 뒤의 금액", "The amount after the change")
        step, after = raised(what, base[0].amount, by[0].amount, asked.direction, language)
        return base[0].amount, after, step, by[0].amount, asked.direction
    for a, b in pairwise(rest):
        if a.of == b.of and (a.turn < b.turn or b.turn < a.turn or asked.direction):
            turned = a.turn - b.turn or asked.direction * (a.value > b.value) - asked.direction * (a.value < b.value)
            before, after = (b.amount, a.amount) if turned > 0 else (a.amount, b.amount)
            return before, after, None, after, 1 if after.value >= before.value else -1
    return None


def _held_change(
    asked: Asked,
    before: Amount | None,
    after: Amount | None,
    came: Step | None,
    by: Amount,
    direction: int,
    stated: Sequence[Quantity],
) -> Outcome:
    """Return a change of the question, held against the limit in percent that documents state for it."""
    language = asked.language
    steps = [came] if came else []
    if before is None or after is None:
        ratio: Fraction | None = by.value * direction
        steps.append(
            Step(
                say(language, "말한 변동률", "The change as stated"),
                by.text.strip(),
                percent(by.value),
                exact(by.value),
            )
        )
    else:
        steps += change_steps(before, after, language)
        rate = before.kind in ("percent", "points")  # whether a limit means points or percent of it, is rarely said
        ratio = (after.value - before.value) * 100 / before.value if before.value and not rate else None
    bounds = [q for q in stated if q.bound and q.amount.kind == "percent" and direction_of(q.said) == direction]
    rated = zip(map(asked.weight, asked.covers(bounds)), bounds, strict=True)
    fitting = [(score, language_of(q.said) == language, q) for score, q in rated if score]
    if ratio is None or not fitting:
        return Outcome(tuple(steps), change=ratio)
    limit = max(fitting, key=lambda one: one[:2])[2]
    sources: tuple[Source, ...] = (QUERY, limit.source)
    verdict, kind = (
        verdict_of(limit, abs(ratio)),
        say(language, "하한", "minimum") if limit.bound == "min" else say(language, "상한", "limit"),
    )
    here, there, sign = percent(abs(ratio)), percent(limit.value), ">" if abs(ratio) > limit.value else "≤"
    what = say(language, f"문서의 {kind}과 비교", f"Compared with the {kind} in the documents")
    steps.append(Step(what, f"{here} {sign} {there}", say(language, *_VERDICTS[verdict]), "", sources))
    name = say(language, "인하율" if direction < 0 else "인상률", "Fall" if direction < 0 else "Rise")
    where = say(language, f"문서의 {kind}", f"{kind} in the documents")
    said = f"{name} {here}, {where} {there}: {steps[-1].value}"
    if before and after:
        step, allowed = raised(
            say(language, f"{kind}에 따른 금액", f"The sum at the {kind}"),
            before,
            limit.amount,
            direction,
            language,
            sources,
        )
        steps.append(step)
        said += say(language, f"; {kind}액 {step.value}", f"; the {kind} allows {step.value}")
        if verdict == "exceeds":
            what, pair = (
                say(language, "상한을 넘는 금액", "Beyond the limit by"),
                sorted((after, allowed), key=lambda a: -a.value),
            )
            steps += filter(None, [formula(what, pair, "−", language, sources)])
    answer = _Operations(asked, ()).whether(abs(ratio), limit)
    said = f"**{answer}.** {said}" if answer else said
    return Outcome(tuple(steps), said, limit_use(limit, verdict), ratio)


def change_steps(before: Amount, after: Amount, language: str) -> list[Step]:
    """Return by how much an amount became another, and by how many percent."""
    steps = [formula(say(language, "차액", "Difference"), (after, before), "−", language)]
    if before.value:
        steps.append(growth(say(language, "변동률", "Change in percent"), before, after, language))
    return [step for step in steps if step]


def length_step(first: Amount, last: Amount, language: str, *, moved: bool) -> Step | None:
    """Return the days from a date to another; where one was moved to the other, which way."""
    days = days_between(first, last)
    length, old, new = (
        shown(Fraction(abs(days)), "duration", "day", language),
        *(shown_amount(a, language) for a in (first, last)),
    )
    side = (say(language, " 뒤", " later") if days > 0 else say(language, " 앞", " earlier")) if moved else ""
    what = say(language, f"{old}에서 {new}까지", f"From {old} to {new}")
    return Step(what, f"{new} − {old} = {length}", length + side, str(days)) if days else None


def verdict_of(bound: Quantity, value: Fraction) -> str:
    """Return `within`, `exceeds` (where it is met, too, if a value has to stay below it) or `below_minimum`."""
    if bound.bound == "min":
        return "within" if value >= bound.value else "below_minimum"
    return "within" if value < bound.value or (value == bound.value and bound.bound != "below") else "exceeds"


def limit_use(bound: Quantity, verdict: str) -> LimitUse:
    """Return the limit that something was held against."""
    assert isinstance(bound.source, Citation)
    return LimitUse(
        bound.amount.text.strip(), bound.bound, exact(bound.value), bound.amount.unit, bound.source, verdict
    )


def _labels(operands: Sequence[Quantity]) -> str:
    return ", ".join(dict.fromkeys(q.source.label for q in operands if isinstance(q.source, Citation)))


def _short(outcome: Outcome) -> str:
    return outcome.steps[0].formula.split(" = ")[0]


def _most(one: Sequence[float], other: Sequence[float]) -> list[float]:
    return list(map(max, one, other))


def _apart(amount: Amount) -> str:
    return "points" if amount.kind == "percent" else amount.kind


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
