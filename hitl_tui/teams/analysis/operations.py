"""What the figures of a question give, by themselves and held against the limits that documents set."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from hitl_tui.teams.analysis.analysis_model import QUERY, Finding, Step
from hitl_tui.teams.analysis.asked import Asked
from hitl_tui.teams.analysis.formula import formula, part, step
from hitl_tui.teams.analysis.quantities import Quantity
from hitl_tui.teams.analysis.units import Amount, shown_amount
from hitl_tui.teams.analysis.words import direction_of, say
from hitl_tui.teams.contract import Citation, language_of
from hitl_tui.teams.number_format import number

ENOUGH = 0.62
"""Share of what a question says that a limit has to be about."""
APART = 0.05
"""By how much a limit has to be ahead of another one."""
_SIGN = re.compile(r"\s*([-+*×÷/−]|\bx\b|plus|minus|times|더하기|빼기|곱하기|나누기)\s*", re.IGNORECASE)
_SIGNS = {
    "+": "+", "plus": "+", "더하기": "+", "-": "−", "−": "−", "minus": "−", "빼기": "−", "*": "×", "×": "×", "x": "×",
    "times": "×", "곱하기": "×", "÷": "÷", "/": "÷", "나누기": "÷",
}  # fmt: skip
_OF = re.compile(r"^\s?(?:의|에\s?대한|of)\s")
_SAME_RATE = 0.02
"""How much speaks for a limit that is for one of the same as the figure."""


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


def held(asked: Asked, stated: Sequence[Quantity]) -> Outcome:
    """Return the figure of a question held against the limit that documents set to what it is about.

    Args:
        asked: the question; it has to ask whether something may be, or by how much it is above or below.
        stated: the quantities that documents state.
    """
    if not (asked.closed or (asked.how_much and asked.differs and not asked.direction)):
        return Outcome()
    bounds = [q for q in stated if q.bound]
    own = [q for q in asked.own if any(_same(q, bound) for bound in bounds)]
    own = [q for q in own if q.value != 1] if len(own) > 1 else own  # one of something says what each is for
    if len(own) != 1:
        return Outcome()
    [figure] = own
    rated = [
        (asked.score(cover) + _SAME_RATE * (figure.per == bound.per), bound)
        for bound, cover in zip(bounds, asked.covers(bounds), strict=True)
        if _same(figure, bound) and (figure.per == bound.per or not (figure.per and bound.per))
    ]
    best = max((score for score, _ in rated), default=0.0)
    fitting = list({bound.value: bound for score, bound in reversed(rated) if score > best - APART}.values())[::-1]
    if best < ENOUGH:
        return Outcome()
    if len(fitting) > 1:
        limits = "; ".join(f"{shown_amount(bound.amount, asked.language)} ({_label(bound)})" for bound in fitting)
        korean = f"계산하지 않음: 문서에 맞는 한도가 여러 개 있습니다. 어느 것인지 질문에 쓰세요: {limits}."
        return Outcome(refused=say(asked.language, korean, f"Not computed: several limits fit; say which: {limits}."))
    return _verdict(asked, figure, fitting[0])


def _verdict(asked: Asked, figure: Quantity, bound: Quantity) -> Outcome:
    language, over = asked.language, figure.value - bound.value
    here, there = shown_amount(figure.amount, language), shown_amount(bound.amount, language)
    kind = _kind(bound, language)
    said = say(language, f"{here}: 문서의 {kind} {there}과 같습니다", f"{here} equals the {kind} of {there}")
    steps = [compared(figure.amount, bound, language)]
    if over:
        high, low = (figure.amount, bound.amount) if over > 0 else (bound.amount, figure.amount)
        apart = formula(say(language, f"{kind}과의 차이", f"Distance from the {kind}"), (high, low), "−", language)
        far = apart.value if apart else ""
        korean = f"{here}: 문서의 {kind} {there}보다 {far} {'많습니다' if over > 0 else '적습니다'}"
        said = say(language, korean, f"{here} is {far} {'above' if over > 0 else 'below'} the {kind} of {there}")
        steps += [apart] if apart else []
    done = tuple(replace(one, sources=(QUERY, bound.source)) for one in steps)
    cited = bound.source if isinstance(bound.source, Citation) else None
    return Outcome(done, answered(asked, figure.value, bound) + said, cited)


# ---------------------------------------------------------------------------------------- the question's own figures


def of_question(asked: Asked, stated: Sequence[Quantity]) -> Outcome:
    """Return what the figures give that the question states: a change with the limit that documents set it, a sum, …"""
    language, figures = asked.language, asked.own
    if changed := _changed(asked, figures):
        return _held_change(asked, *changed, stated)
    amounts = [q.amount for q in figures]
    signs = [_SIGN.fullmatch(asked.text[a.end : b.start]) for a, b in pairwise(amounts)]
    alike, made = len({q.of for q in figures}) == 1, None
    if signs and all(signs):
        written = "".join(_SIGNS[sign[1].lower()] for sign in signs if sign)
        made = formula(say(language, "계산", "Result"), amounts, written, language)
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


def _label(bound: Quantity) -> str:
    return bound.source.label if isinstance(bound.source, Citation) else bound.source


def _same(a: Quantity, b: Quantity) -> bool:
    """Whether two are of the same kind and unit."""
    if a.amount.kind == b.amount.kind == "count":
        return a.noun == b.noun or not (a.noun and b.noun)
    return a.of == b.of
