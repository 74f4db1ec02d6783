"""The computations of an analysis, each as a `Step` with its figures and sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from hitl_tui.teams.analysis.amount_changes import Change, language_of
from hitl_tui.teams.analysis.amounts import Amount, shown_amount
from hitl_tui.teams.analysis.analysis_model import QUERY, Finding, LimitUse, Source, Step
from hitl_tui.teams.analysis.limits import APPLIES_FROM, Limit, relevance
from hitl_tui.teams.number_format import exact, number, percent, shown
from hitl_tui.teams.printed_figures import Run, differences


def say(language: str, korean: str, english: str) -> str:
    """Return the sentence in the question's language."""
    return korean if language == "ko" else english


def direction_word(change: Change, language: str) -> str:
    """Return what a change of this direction is called."""
    if change.direction < 0:
        return say(language, "인하율", "Fall")
    return say(language, "인상률", "Rise")


def change_steps(change: Change, language: str) -> list[Step]:
    """Return difference, ratio and percentage of a change; the new amount first where a share is stated."""
    before, after, ratio = change.before, change.after, change.percent
    if before is None or after is None:
        if ratio is None or change.by is None:
            return []
        what = say(language, "질문이 말하는 변동률", "The change as the question states it")
        return [Step(what, change.by.text.strip(), percent(abs(ratio)), exact(ratio))]
    old, new = shown_amount(before, language), shown_amount(after, language)
    steps = []
    if change.by is not None:
        steps.append(_new_amount_step(change.by, change.direction, before, after, language))
    difference = after.value - before.value
    kind = "points" if before.kind == "percent" else before.kind
    apart = shown(difference, kind, before.unit, language, places=before.scale >= 10**4)
    what = say(language, "차액", "Difference")
    steps.append(Step(what, f"{new} − {old} = {apart}", apart, exact(difference)))
    if ratio is None:
        return steps
    times = after.value / before.value
    shown_times = number(times) + say(language, "배", " times")
    what = say(language, "배율", "Ratio")
    steps.append(Step(what, f"{new} ÷ {old} = {shown_times}", shown_times, exact(times)))
    what = say(language, "변동률", "Change in percent")
    formula = f"({new} − {old}) ÷ {old} × 100 = {percent(ratio)}"
    steps.append(Step(what, formula, percent(ratio), exact(ratio)))
    return steps


def _new_amount_step(by: Amount, direction: int, before: Amount, after: Amount, language: str) -> Step:
    new, old = shown_amount(after, language), shown_amount(before, language)
    sign = "+" if direction > 0 else "−"
    if by.kind == "percent":
        formula = f"{old} × (1 {sign} {number(by.value, 4)} ÷ 100) = {new}"
    else:
        formula = f"{old} {sign} {shown_amount(by, language)} = {new}"
    return Step(say(language, "바뀐 뒤의 금액", "The amount after the change"), formula, new, exact(after.value))


_HELD_KO = {
    ("exceeds", False): "를 초과합니다.",
    ("within", False): "를 넘지 않습니다.",
    ("within", True): " 이상입니다.",
    ("below_minimum", True): "에 미치지 못합니다.",
}
"""How a change stands to a limit: by verdict, and whether the limit is a minimum."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What holding a change against limits gave: steps, findings, and every limit with its use."""

    steps: tuple[Step, ...] = ()
    findings: tuple[Finding, ...] = ()
    limits: tuple[LimitUse, ...] = ()
    summary: str = ""


def compare(change: Change | None, limits: Sequence[Limit], query: str, language: str) -> Verdict:
    """Hold a change against the limits that fit it; the others are listed with the reason."""
    scored = [(0 if change is None else relevance(limit, change, query), limit) for limit in limits]
    ratio = None if change is None else change.percent
    fitting = [pair for pair in scored if pair[0] >= APPLIES_FROM] if ratio is not None else []
    fitting.sort(key=lambda pair: -pair[0] - (language_of(pair[1].citation.quote) == language))
    groups: dict[tuple[str, Fraction], list[Limit]] = {}
    for _, limit in fitting:
        groups.setdefault((limit.bound, limit.amount.value), []).append(limit)
    steps: list[Step] = []
    findings: list[Finding] = []
    used: list[LimitUse] = []
    summary = ""
    if change is not None and ratio is not None:
        for group in groups.values():
            made = _held_against(change, abs(ratio), group, language)
            steps.extend(made.steps)
            findings.extend(made.findings)
            used.extend(made.limits)
            summary = summary or made.summary
    applied = {id(limit) for _, limit in fitting}
    rest = [_unused(limit, change, language) for limit in limits if id(limit) not in applied]
    return Verdict(tuple(steps), tuple(findings), (*used, *rest), summary)


_VERBS: Mapping[str, tuple[str, str]] = {
    "within": ("범위 안", "within the limit"),
    "exceeds": ("초과", "exceeds"),
    "below_minimum": ("하한 미달", "below the minimum"),
}
"""What is said of a change against a limit, in Korean and English."""


def _verdict(bound: str, ratio: Fraction, value: Fraction) -> str:
    """Return how a ratio stands to a limit: one of `_VERBS`. A limit to stay below is exceeded where it is met."""
    if bound == "min":
        return "within" if ratio >= value else "below_minimum"
    held = ratio <= value if bound == "max" else ratio < value
    return "within" if held else "exceeds"


def _held_against(change: Change, ratio: Fraction, group: Sequence[Limit], language: str) -> Verdict:
    limit = group[0]
    bound, value = limit.bound, limit.amount.value
    cited: tuple[Source, ...] = tuple(item.citation for item in group)
    sources: tuple[Source, ...] = (QUERY, *cited)
    verdict = _verdict(bound, ratio, value)
    verb = say(language, *_VERBS[verdict])
    sign = ">" if ratio > value else "=" if ratio == value else "<"
    name = say(language, "하한", "minimum") if bound == "min" else say(language, "상한", "limit")
    formula = f"{percent(ratio)} {sign} {percent(value)}"
    what = say(language, f"변동률과 문서의 {name} 비교", f"The change against the {name} in the documents")
    steps = [Step(what, formula, verb, "", sources)]
    word = direction_word(change, language)
    label = limit.citation.label
    equal = verdict == "exceeds" and ratio == value
    held = "와 같지만 그보다 낮아야 합니다." if equal else _HELD_KO[verdict, bound == "min"]
    findings = [
        Finding(
            say(
                language,
                f"{word} {percent(ratio)}는 문서의 {name} {percent(value)}{held}",
                f"{word} {percent(ratio)}, {name} in the documents {percent(value)}: {verb}.",
            ),
            cited,
        )
    ]
    summary = f"{word} {percent(ratio)}, {name} {percent(value)} ({label}): {verb}"
    allowed = _allowed(change, value, verdict == "within", sources, name, language)
    if allowed:
        steps.extend(allowed)
        text = say(
            language,
            f"{name}에 따른 금액은 {allowed[0].value}입니다.",
            f"The {name} allows {allowed[0].value}.",
        )
        findings.append(Finding(text, sources))
        summary += say(language, f"; {name}액 {allowed[0].value}", f"; the {name} allows {allowed[0].value}")
    used = tuple(
        LimitUse(item.amount.text.strip(), item.bound, exact(item.amount.value), "%", item.citation, True, verdict)
        for item in group
    )
    return Verdict(tuple(steps), tuple(findings), used, summary)


def _allowed(
    change: Change, value: Fraction, ok: bool, sources: tuple[Source, ...], name: str, language: str
) -> list[Step]:
    before, after = change.before, change.after
    if before is None or after is None:
        return []
    falling = change.direction < 0
    sum_ = before.value * (100 - value if falling else 100 + value) / 100
    places = before.scale >= 10**4
    old, result = (
        shown_amount(before, language),
        shown(sum_, before.kind, before.unit, language, places=places),
    )
    sign = "−" if falling else "+"
    what = say(language, f"{name}에 따른 금액", f"The sum at the {name}")
    formula = f"{old} × (1 {sign} {number(value, 4)} ÷ 100) = {result}"
    steps = [Step(what, formula, result, exact(sum_), sources)]
    if not ok and name in ("상한", "limit"):
        over = abs(after.value - sum_)
        text = shown(over, before.kind, before.unit, language, places=places)
        formula = f"|{shown_amount(after, language)} − {result}| = {text}"
        steps.append(
            Step(say(language, "상한을 넘는 금액", "Beyond the limit by"), formula, text, exact(over), sources)
        )
    return steps


def _unused(limit: Limit, change: Change | None, language: str) -> LimitUse:
    if change is None:
        reason = say(language, "질문에 비교할 변동이 없음", "the question states no change to compare")
    elif limit.bound == "wait":
        reason = say(language, "금액이 아니라 기간에 대한 제한", "about time, not about the amount")
    elif limit.amount.kind != "percent":
        reason = say(language, "변동률이 아닌 다른 것에 대한 제한", "about something other than a rate of change")
    else:
        reason = say(language, "질문과 다른 대상에 대한 비율", "a rate about another matter than the question's")
    amount = limit.amount
    return LimitUse(
        amount.text.strip(), limit.bound, exact(amount.value), amount.unit, limit.citation, False, "", reason
    )


_MEASURED = 12
"""Figures measured before and after that an analysis shows."""


def measured_steps(runs: Sequence[Run], language: str) -> list[Step]:
    """Return one step for each figure that commands printed before and after, and that is another now.

    Args:
        runs: in the order of the plan.
        language: `ko` or `en`.
    """
    steps: list[Step] = []
    for found in differences(runs):
        if not found.changed or len(steps) == _MEASURED:
            continue
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
