"""What quantities give for a question: each typed operation on those that fit, the one that accounts for most of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from functools import partial
from itertools import combinations

from hitl_tui.teams.analysis.analysis_model import Finding, LimitUse, Source, Step
from hitl_tui.teams.analysis.asked import BEFORE, Asked
from hitl_tui.teams.analysis.calendar_dates import days_between
from hitl_tui.teams.analysis.changes import Change
from hitl_tui.teams.analysis.quantities import Quantity
from hitl_tui.teams.analysis.units import Amount, shown_amount
from hitl_tui.teams.analysis.words import JOINED, PLANNED, USED, beyond, closed, negated, say, under
from hitl_tui.teams.contract import Citation
from hitl_tui.teams.number_format import exact, percent

ENOUGH = 0.62
"""Share of what a question says that the quantities of a computation have to be about."""
APART = 0.05
"""By how much a computation has to be ahead of another that gives something else."""
_COMPARED, _SHOWN, _LISTED, _NEARLY = 60, 4, 6, 0.4
VERDICTS = {
    "within": ("범위 안", "within the limit"),
    "exceeds": ("초과", "exceeds"),
    "below_minimum": ("하한 미달", "below the minimum"),
}

Rated = tuple[Quantity, list[float]]
"""A quantity with how well it is about each word of the question."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a computation gives: its steps, what they say first, the limits held to; or why there is none."""

    steps: tuple[Step, ...] = ()
    findings: tuple[Finding, ...] = ()
    limits: tuple[LimitUse, ...] = ()
    refused: str = ""
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Computed:
    """A computation that may be meant.

    Args:
        score: the share of the question that it accounts for.
        key: what it gives; two that give the same are one.
        operands: what it rests on.
        make: carries it out.
        ahead: what speaks for it beside others that account for as much.
    """

    score: float
    key: object
    operands: tuple[Quantity, ...]
    make: Callable[[], Outcome]
    ahead: float = 0.0

    @property
    def rank(self) -> float:
        """What it is compared with others by."""
        return self.score + self.ahead


def combine(question: str, stated: Sequence[Quantity], language: str) -> Outcome:
    """Return what quantities give for a question; where it isn't clear what is meant, those that come nearest.

    Args:
        question: the question.
        stated: the quantities that documents state.
        language: `ko` or `en`.
    """
    asked = Asked(question, language)
    if not asked.computes:
        return Outcome()
    combiner = _Combiner(asked, stated)
    made = sorted((one for one in combiner.every() if one.score >= ENOUGH), key=lambda one: -one.rank)
    if not made:
        return Outcome(refused=combiner.nearest())
    fitting = [one for one in made if one.rank > made[0].rank - APART]
    rivals = list({one.key: one for one in reversed(fitting)}.values())[::-1]
    if len(rivals) > 1:
        pairs = "; ".join(f"{_short(one.make())} ({_labels(one.operands)})" for one in rivals[:_LISTED])
        korean = f"계산하지 않음: 찾은 구절에 맞는 수치가 여러 개 있습니다. 어느 것인지 질문에 쓰세요: {pairs}."
        english = f"Not computed: several figures fit; say which one is meant: {pairs}."
        return Outcome(refused=say(language, korean, english))
    outcome = made[0].make()
    alike = [one for one in made if one.key == made[0].key and one.score > made[0].score - APART]
    also = [q.source for one in alike for q in one.operands]
    steps = (replace(step, sources=tuple(dict.fromkeys((*step.sources, *also)))) for step in outcome.steps)
    return replace(outcome, steps=tuple(steps))


class _Combiner:
    """The operations on the quantities that a question is about."""

    def __init__(self, asked: Asked, stated: Sequence[Quantity]) -> None:
        self.asked = asked
        self.show: Callable[[Amount], str] = partial(shown_amount, language=asked.language)
        rated = sorted(zip(stated, asked.covers(stated), strict=True), key=lambda one: -asked.score(one[1]))
        self.known: list[Rated] = [one for one in rated if any(one[1])]
        self.near = [one for one in self.known if not one[0].bound][:_COMPARED]
        self.bounds = [one for one in self.known if one[0].bound][:_COMPARED]
        if asked.left:  # what is left of something is seldom said of what was used
            self.near += [(q, c) for q, c in rated if q.rows and not any(c) and _is(USED, q)]

    def every(self) -> Iterator[Computed]:
        """Yield what can be computed."""
        asked = self.asked
        if asked.closed or (asked.beyond and asked.how_much):
            yield from self._held()
        if asked.closed:
            return
        if asked.long or (asked.differs and asked.how_much):
            yield from self._lengths()
        if asked.differs and not asked.own and not (asked.may and not asked.left):
            yield from self._differences()
            yield from self._moves()
        elif asked.share and not asked.own:
            yield from self._shares()
        if asked.how_much or asked.total:
            yield from self._products()
            yield from self._rates()
        if asked.each and not asked.differs:
            for made, cover in self._derived():
                what = self.say("하나당", "For each")
                yield self._computed(cover, made.value, (made,), partial(self._stated, what, made.said, made.amount))

    def nearest(self) -> str:
        """Return what the documents state that comes nearest; empty where nothing is near."""
        near = [q for q, c in self.known if self.asked.score(c) >= _NEARLY and q.amount.kind != "date"]
        if not near:
            return ""
        told = "; ".join(dict.fromkeys(f"{self.show(q.amount)} ({_labels([q])})" for q in near[:_SHOWN]))
        korean = f"계산하지 않음: 이 질문을 확실히 계산할 수 없습니다. 가장 가까운 수치: {told}."
        return self.say(korean, f"Not computed: it isn't clear how. The quantities that come nearest: {told}.")

    def say(self, korean: str, english: str) -> str:
        return say(self.asked.language, korean, english)

    def _computed(
        self,
        cover: Sequence[float],
        key: object,
        operands: Sequence[Quantity],
        make: Callable[..., Outcome],
        ahead: float = 0.0,
    ) -> Computed:
        sources = tuple(dict.fromkeys(q.source for q in operands))
        return Computed(self.asked.score(cover), key, tuple(operands), partial(make, sources=sources), ahead)

    # -------------------------------------------------------------------------------------------------------- bounds

    def _held(self) -> Iterator[Computed]:
        """Yield each figure held against each bound of its kind: the question's one, or what is about the same."""
        asked = self.asked
        own = [q for q in asked.own if any(_same(q, bound) for bound, _ in self.bounds)]
        own = [q for q in own if q.value != 1] if len(own) > 1 else own  # one of something says what each is for
        nothing = [0.0] * len(asked.words)
        figures = (
            [*self.near, *self._derived()] if not asked.own else [(q, nothing) for q in own] if len(own) == 1 else []
        )
        for bound, about in self.bounds:
            for figure, cover in figures:
                if not _same(figure, bound):
                    continue
                if asked.own:
                    if figure.per and bound.per and figure.per != bound.per:
                        continue
                elif figure.per != bound.per or figure.place == bound.place or not any(map(min, cover, about)):
                    continue
                key = (figure.value, bound.value, bound.bound)
                make = partial(self._verdict, figure, bound)
                yield self._computed(_most(cover, about), key, (figure, bound), make, 0.02 * (figure.per == bound.per))

    def _derived(self) -> Iterator[Rated]:
        """Yield what sums are for one of what the same sentence counts."""
        for total, about in self.near:
            for count, cover in self.near:
                counted = total.place == count.place and count.amount.kind == "count" and count.noun and count.value > 0
                if counted and total.amount.kind == "money" and not total.per and not total.column:
                    amount = replace(total.amount, value=total.value / count.value, text="", scale=1)
                    said = f"{self.show(total.amount)} ÷ {self.show(count.amount)}"
                    yield replace(total, amount=amount, per=count.noun, said=said, derived=True), _most(about, cover)

    def _verdict(self, figure: Quantity, bound: Quantity, sources: tuple[Source, ...]) -> Outcome:
        here, there, over = self.show(figure.amount), self.show(bound.amount), figure.value - bound.value
        steps = []
        if figure.derived:
            what = self.say("하나당 금액", "For each")
            steps.append(Step(what, f"{figure.said} = {here}", here, exact(figure.value), (figure.source,)))
        kind = self.say("하한", "minimum") if bound.bound == "min" else self.say("상한", "limit")
        verdict = verdict_of(bound.bound, figure.value, bound.value)
        sign = ">" if over > 0 else "=" if not over else "<"
        what = self.say(f"문서의 {kind}과 비교", f"Compared with the {kind} in the documents")
        steps.append(Step(what, f"{here} {sign} {there}", self.say(*VERDICTS[verdict]), "", sources))
        said = self.say(f"{here}: 문서의 {kind} {there}과 같습니다", f"{here} equals the {kind} of {there}")
        if over:
            apart = self.show(replace(figure.amount, value=abs(over), kind=_apart(figure.amount)))
            korean = f"{here}: 문서의 {kind} {there}보다 {apart} {'많습니다' if over > 0 else '적습니다'}"
            said = self.say(korean, f"{here} is {apart} {'above' if over > 0 else 'below'} the {kind} of {there}")
            high, low = (here, there) if over > 0 else (there, here)
            what = self.say(f"{kind}과의 차이", f"Distance from the {kind}")
            steps.append(Step(what, f"{high} − {low} = {apart}", apart, exact(abs(over)), sources))
        answer = whether(self.asked.text, figure.value, bound.bound, bound.value, self.asked.language)
        cited = tuple(source for source in sources if isinstance(source, Citation))
        told = f"**{answer}.** {said}" if answer else said
        finding = Finding(f"{told}. {' '.join(map(quoted, cited))}", cited)
        used = LimitUse(
            bound.amount.text.strip(), bound.bound, exact(bound.value), bound.amount.unit, cited[-1], verdict
        )
        summary = f"{said} ({_labels([bound])})"
        return Outcome(tuple(steps), (finding,), (used,), summary=f"{answer}. {summary}" if answer else summary)

    # --------------------------------------------------------------------------------------------------- differences

    def _differences(self) -> Iterator[Computed]:
        """Yield how far two figures are apart: planned and used, then and now, or two that the question names."""
        asked = self.asked
        figures = [
            (q, [one if one > BEFORE else 0.0 for one in c])
            for q, c in self.near
            if q.amount.kind != "date" and not q.moves
        ]
        for (a, of_a), (b, of_b) in combinations(figures, 2):
            unlike = not _same(a, b) or (a.per and b.per and a.per != b.per) or a.value == b.value
            apart = (a.paired or b.paired) and a.place != b.place
            apart = apart or bool(asked.per and {a.per, b.per} - {asked.per, ""})
            if unlike or apart or (bool(a.rows) != bool(b.rows) and not (asked.left and not (a.column and b.column))):
                continue
            plain = [(x, y) for x, y, w in zip(of_a, of_b, asked.words, strict=True) if not (w.role or w.time)]
            named = any(x and not y for x, y in plain) and any(y and not x for x, y in plain)
            planned, timed, rows = self._roles(a, b), self._in_time(a, b), a.column and b.column
            if not (named or planned or timed) or (asked.left and not planned):
                continue
            cover = [
                max(x, y)
                if (asked.left and not rows) or (named and not (x and y)) or (planned and w.role) or (timed and w.time)
                else (x + y) / 2
                for x, y, w in zip(of_a, of_b, asked.words, strict=True)
            ]
            ahead = 0.02 * (a.per == b.per) + 0.04 * bool(planned) + (self._lasts(a, b) if timed else 0.0)
            pair = planned or timed or ((a, b) if b.value >= a.value else (b, a))
            make = partial(self._difference, *pair, signed=bool(timed) and not planned)
            yield self._computed(cover, frozenset((a.value, b.value)), pair, make, ahead)

    def _roles(self, a: Quantity, b: Quantity) -> tuple[Quantity, Quantity] | None:
        """Return what was planned and what came of it, where one of two is each; None where they aren't."""
        planned = [q for q in (a, b) if _is(PLANNED, q)]
        used = [q for q in (a, b) if _is(USED, q) and not _is(PLANNED, q)]
        if len(planned) == 1 == len(used) and a.place[0] != b.place[0]:
            return planned[0], used[0]
        if self.asked.left and len(used) == 1:
            return (b if used[0] is a else a), used[0]
        return None

    def _in_time(self, a: Quantity, b: Quantity) -> tuple[Quantity, Quantity] | None:
        """Return two figures of the same thing at different times, the earlier first; None where they aren't."""
        asked, here = self.asked, a.place[0] == b.place[0]
        if a.turn * b.turn < 0 or (a.when == b.when and here and a.turn != b.turn):
            first, last = (a, b) if a.turn < b.turn else (b, a)
        elif a.when != b.when and a.when[0] and b.when[0]:
            first, last = (a, b) if a.when < b.when else (b, a)
        elif a.when != b.when and here:  # the one without a time is that of now
            dated, bare = (a, b) if a.when[0] else (b, a)
            past = dated.turn < 0 or (not dated.turn and asked.since)
            first, last = (dated, bare) if past else (bare, dated)
        else:
            return None
        meant = first if asked.since or asked.now else last
        if len(asked.years) == 1 and meant.when[0] and meant.when[0] != asked.years[0]:
            return None
        both = [q.when[0] for q in (first, last)]
        return None if len(asked.years) == 2 and all(both) and both != sorted(asked.years) else (first, last)

    def _lasts(self, a: Quantity, b: Quantity) -> float:
        """Return more for two that follow on one another, and for the last that are stated."""
        times = sorted({q.when for q, _ in self.near if q.place[0] == a.place[0] and _same(q, a)})
        if not (a.when in times and b.when in times):
            return 0.0
        one, other = times.index(a.when), times.index(b.when)
        next_to = abs(one - other) == 1 and not (len(self.asked.years) == 2 or self.asked.since)
        return 0.1 * next_to + 0.06 * (max(one, other) == len(times) - 1)

    def _difference(self, before: Quantity, after: Quantity, *, signed: bool, sources: tuple[Source, ...]) -> Outcome:
        pair = _lend(before, after)
        steps = Change(*pair, None, 1).steps(self.asked.language, sources)
        if not signed:
            what = self.say("남은 것", "Left") if self.asked.left else steps[0].what
            high, low = pair if self.asked.left else sorted(pair, key=lambda amount: -amount.value)
            steps[0] = self._step(what, high, "−", low, sources)
        shown = next((step for step in steps if self.asked.share and step.value.endswith("%")), steps[0])
        side = ""
        if not signed and not self.asked.left and shown is steps[0] and self._roles(before, after):
            side = self.say(" 초과", " over") if pair[1].value > pair[0].value else self.say(" 미달", " under")
        return self._told(shown, shown.value + side, steps)

    def _step(self, what: str, high: Amount, sign: str, low: Amount, sources: tuple[Source, ...]) -> Step:
        apart = replace(high, kind=_apart(high), value=high.value - low.value)
        told = self.show(apart)
        return Step(what, f"{self.show(high)} {sign} {self.show(low)} = {told}", told, exact(apart.value), sources)

    def _moves(self) -> Iterator[Computed]:
        """Yield by how much the documents say that something rises or falls."""
        for q, cover in self.near:
            if q.moves:
                change = Change(None, None, q.amount, q.moves)
                yield self._computed(cover, ("by", q.value), (q,), partial(self._change, change))

    def _change(self, change: Change, sources: tuple[Source, ...]) -> Outcome:
        steps = change.steps(self.asked.language, sources)
        return self._told(steps[0], steps[0].value, steps) if steps else Outcome()

    # ---------------------------------------------------------------------------------------- lengths, shares, products

    def _lengths(self) -> Iterator[Computed]:
        """Yield the days between two dates."""
        dates = [one for one in self.near if one[0].amount.kind == "date"]
        for (a, of_a), (b, of_b) in combinations(dates, 2):
            one, other = _of_one_year(a, b)
            cover = _most(of_a, of_b) if a.place == b.place else [(x + y) / 2 for x, y in zip(of_a, of_b, strict=True)]
            first, last = sorted((one, other), key=lambda q: (q.turn, q.amount.start))
            if first.value > last.value and not self.asked.differs:
                first, last = last, first
            if days := days_between(first.amount, last.amount):
                together = 2 * APART * (a.place == b.place)
                yield self._computed(cover, ("days", days), (first, last), partial(self._length, first, last), together)

    def _length(self, first: Quantity, last: Quantity, sources: tuple[Source, ...]) -> Outcome:
        (step,) = Change(first.amount, last.amount, None, 1).steps(self.asked.language, sources)
        return self._told(step, step.value if self.asked.differs else step.formula.rsplit(" = ", 1)[1], [step])

    def _shares(self) -> Iterator[Computed]:
        """Yield which part one figure is of another of the same sentence, or of the sum of its column."""
        for (a, of_a), (b, of_b) in combinations(self.near, 2):
            whole, part = (a, b) if a.value > b.value else (b, a)
            within = a.place == b.place and not a.column
            summed = whole.rows and not part.rows and (whole.column, whole.place[0]) == (part.column, part.place[0])
            alike = _same(a, b) or (within and a.amount.kind == b.amount.kind == "count")
            rate = a.amount.kind in ("percent", "date", "points") or a.per or b.per
            if alike and not rate and (within or summed) and 0 < part.value < whole.value:
                key = ("share", part.value, whole.value)
                yield self._computed(_most(of_a, of_b), key, (part, whole), partial(self._share, part, whole))

    def _share(self, part: Quantity, whole: Quantity, sources: tuple[Source, ...]) -> Outcome:
        ratio = part.value * 100 / whole.value
        formula = f"{self.show(part.amount)} ÷ {self.show(whole.amount)} × 100 = {percent(ratio)}"
        step = Step(self.say("비율", "Share"), formula, percent(ratio), exact(ratio), sources)
        return self._told(step, step.value, [step])

    def _products(self) -> Iterator[Computed]:
        """Yield what something costs for each times how many there are: as the question says, or the documents."""
        asked = self.asked
        nothing = [0.0] * len(asked.words)
        own: list[Rated] = [(q, nothing) for q in asked.own if q.noun and not q.per]
        rates = [one for one in self.near if one[0].per and one[0].amount.kind in ("money", "count", "measure")]
        for rate, cover in rates:
            counts = [one for one in own if _counts(rate, one[0])]
            if not asked.own and asked.total:
                beside = [one for one in self.near if one[0].place[0] == rate.place[0] and _counts(rate, one[0])]
                counts = [one for one in beside if one[0].place == rate.place] or beside
            for count, also in counts:
                here = [
                    q for q, _ in self.known if q.place == rate.place == count.place and not q.per and q is not count
                ]
                more = [q for q in here if q.amount.kind == "count" and q.noun and q.noun != count.noun]
                factors = (count, *more[:1])
                formula = [self.show(rate.amount), *(self.show(q.amount) for q in factors)]
                value = rate.value * _product(factors)
                make = partial(
                    self._stated, self.say("합계", "Total"), " × ".join(formula), replace(rate.amount, value=value)
                )
                past = -0.1 * (rate.turn < 0 and not asked.years)
                yield self._computed(_most(cover, also), ("product", value), (rate, *factors), make, past)
                if JOINED.search(asked.text) and asked.own:
                    yield from self._joined((rate, cover), count, rates)

    def _joined(self, one: Rated, count: Quantity, rates: Sequence[Rated]) -> Iterator[Computed]:
        """Yield what two rates come to that the question names together: `7 windows with fitting`."""
        rate, cover = one
        for other, also in rates:
            alike = other.of == rate.of and other.place[0] == rate.place[0] and _counts(other, count)
            if alike and other.value != rate.value and any(y - x > BEFORE for x, y in zip(cover, also, strict=True)):
                whole = (rate.value + other.value) * count.value
                said = f"({self.show(rate.amount)} + {self.show(other.amount)}) × {self.show(count.amount)}"
                make = partial(self._stated, self.say("합계", "Total"), said, replace(rate.amount, value=whole))
                yield self._computed(_most(cover, also), ("product", whole), (rate, other, count), make, 2 * APART)

    def _rates(self) -> Iterator[Computed]:
        """Yield the share of the question's one sum that the documents state for what it asks about."""
        own = self.asked.own
        for rate, cover in self.near if len(own) == 1 and own[0].amount.kind == "money" else ():
            if rate.amount.kind == "percent" and not rate.moves:
                base = own[0].amount
                value = replace(base, value=base.value * rate.value / 100)
                what = self.say("{}의 {}", "{1} of {0}").format(base.text.strip(), rate.amount.text.strip())
                make = partial(self._stated, what, f"{self.show(base)} × {self.show(rate.amount)}", value)
                yield self._computed(cover, ("rate", rate.value), (own[0], rate), make)

    def _stated(self, what: str, formula: str, amount: Amount, sources: tuple[Source, ...]) -> Outcome:
        told = self.show(replace(amount, text=""))
        step = Step(what, f"{formula} = {told}", told, exact(amount.value), sources)
        return self._told(step, told, [step])

    def _told(self, first: Step, value: str, steps: Sequence[Step]) -> Outcome:
        """Return an outcome that begins with a step's value, then has its computation and the sentences it rests on."""
        cited = tuple(source for source in first.sources if isinstance(source, Citation))
        quotes = " ".join(map(quoted, cited[:2]))
        text = f"{first.what}: **{value}** ({first.formula.rsplit(' = ', 1)[0]}). {quotes}"
        return Outcome(tuple(steps), (Finding(text.strip(), first.sources),))


def verdict_of(bound: str, value: Fraction, limit: Fraction) -> str:
    """Return `within`, `exceeds` (where it is met, too, if a value has to stay below it) or `below_minimum`."""
    if bound == "min":
        return "within" if value >= limit else "below_minimum"
    return "within" if value < limit or (value == limit and bound != "below") else "exceeds"


def whether(question: str, value: Fraction, bound: str, limit: Fraction, language: str) -> str:
    """Return yes or no where that is asked: whether a value is above or below a limit, or else whether it may be.

    Empty for an open question, and for a negated one, whose yes means different things to different people.
    """
    if not closed(question) or negated(question):
        return ""
    verdict = verdict_of(bound, value, limit)
    if beyond(question):
        holds = value > limit
    else:
        holds = verdict == ("below_minimum" if under(question) and bound == "min" else "within")
    return say(language, "예", "Yes") if holds else say(language, "아니요", "No")


def quoted(citation: Citation) -> str:
    """Return a sentence in quotation marks, on one line."""
    return "“" + " ".join(citation.quote.split()).lstrip("-*#> ") + "”"


def _labels(operands: Sequence[Quantity]) -> str:
    return ", ".join(dict.fromkeys(q.source.label for q in operands if isinstance(q.source, Citation)))


def _short(outcome: Outcome) -> str:
    return outcome.steps[0].formula.split(" = ")[0] if outcome.steps else ""


def _most(one: Sequence[float], other: Sequence[float]) -> list[float]:
    return list(map(max, one, other))


def _product(factors: Sequence[Quantity]) -> Fraction:
    value = Fraction(1)
    for factor in factors:
        value *= factor.value
    return value


def _is(role: re.Pattern[str], q: Quantity) -> bool:
    return any(role.match(word) for word in q.own | q.far) or (not q.column and role.search(q.said) is not None)


def _apart(amount: Amount) -> str:
    return "points" if amount.kind == "percent" else amount.kind


def _same(a: Quantity, b: Quantity) -> bool:
    """Whether two are of the same kind and unit; a figure of a table may lack its unit."""
    if a.of == b.of:
        return a.of != ("count", "") or bool(a.column) == bool(b.column)
    if a.amount.kind == b.amount.kind == "count":
        return a.noun == b.noun or not (a.noun and b.noun)
    bare = [q for q in (a, b) if q.column and q.of == ("count", "")]
    return len(bare) == 1 and (b if bare[0] is a else a).amount.kind == "money"


def _counts(rate: Quantity, count: Quantity) -> bool:
    """Whether one counts what the other is for one of."""
    if count is rate or count.per or count.amount.kind not in ("count", "duration", "measure") or not count.noun:
        return False
    if rate.per == "each":
        return count.place == rate.place or count.noun in rate.own | rate.near
    return rate.per == count.noun


def _lend(a: Quantity, b: Quantity) -> tuple[Amount, Amount]:
    """Return the amounts of two, the unit of one lent to the other that has none."""
    one, other = a.amount, b.amount
    if one.kind == "count" and not one.unit:
        one = replace(one, kind=other.kind, unit=other.unit)
    elif other.kind == "count" and not other.unit:
        other = replace(other, kind=one.kind, unit=one.unit)
    return one, other


def _of_one_year(a: Quantity, b: Quantity) -> tuple[Quantity, Quantity]:
    """Return two dates, the year of one lent to the other that has none."""
    if (a.amount.unit == "date") == (b.amount.unit == "date"):
        return a, b
    bare, dated = (b, a) if a.amount.unit == "date" else (a, b)
    day, year = date.fromordinal(int(bare.value)), date.fromordinal(int(dated.value)).year
    lent = replace(bare, amount=replace(bare.amount, value=Fraction(day.replace(year=year).toordinal()), unit="date"))
    return (a, lent) if bare is b else (lent, b)
