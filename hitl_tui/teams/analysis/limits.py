"""A change held against the limit in percent that documents state for it, and what they say of limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from hitl_tui.teams.analysis.analysis_model import QUERY, Finding, LimitUse, Passage, Source, Step
from hitl_tui.teams.analysis.asked import Asked
from hitl_tui.teams.analysis.bounds import is_capped, scope_of
from hitl_tui.teams.analysis.changes import Change
from hitl_tui.teams.analysis.combine import VERDICTS, quoted, verdict_of, whether
from hitl_tui.teams.analysis.quantities import Quantity
from hitl_tui.teams.analysis.units import Amount, shown_amount
from hitl_tui.teams.analysis.words import FALL, RISE, matters, say, sentences
from hitl_tui.teams.contract import Citation, language_of
from hitl_tui.teams.number_format import exact, number


@dataclass(frozen=True, slots=True)
class Held:
    """What holding a change against limits gave."""

    steps: tuple[Step, ...] = ()
    findings: tuple[Finding, ...] = ()
    limits: tuple[LimitUse, ...] = ()
    summary: str = ""


def hold_change(change: Change, stated: Sequence[Quantity], question: str, language: str) -> Held:
    """Hold a change against the limit in percent that is about a move of this direction and of this subject."""
    ratio = change.percent
    if ratio is None or (change.before is not None and change.before.kind in ("percent", "points")):
        return Held()  # whether a limit on a rate means points or percent of the rate, its sentence rarely says
    direction = RISE if ratio >= 0 else FALL
    bounds = [q for q in stated if q.bound and q.amount.kind == "percent" and direction in matters(q.said)]
    asked = Asked(question, language)
    scores = [asked.score(cover) for cover in asked.covers(bounds)]
    if not any(scores):
        return Held()
    rated = [(score, language_of(q.said) == language, q) for score, q in zip(scores, bounds, strict=True)]
    best = max(rated, key=lambda one: one[:2])[2]
    same = [q for score, _, q in rated if score and (q.bound, q.value) == (best.bound, best.value)]
    same.sort(key=lambda q: q is not best)
    cited = tuple(dict.fromkeys(q.source for q in same if isinstance(q.source, Citation)))
    sources: tuple[Source, ...] = (QUERY, *cited)
    figure = Amount("percent", abs(ratio), "%", "", 0, 0)
    verdict = verdict_of(best.bound, figure.value, best.value)
    verb = say(language, *VERDICTS[verdict])
    name = say(language, "인하율" if ratio < 0 else "인상률", "Fall" if ratio < 0 else "Rise")
    kind = say(language, "하한", "minimum") if best.bound == "min" else say(language, "상한", "limit")
    here, there = shown_amount(figure, language), shown_amount(best.amount, language)
    sign = ">" if figure.value > best.value else "=" if figure.value == best.value else "<"
    what = say(language, f"문서의 {kind}과 비교", f"Compared with the {kind} in the documents")
    steps = [Step(what, f"{here} {sign} {there}", verb, "", sources)]
    documents = say(language, f"문서의 {kind}", f"{kind} in the documents")
    said = f"{name} {here}, {documents} {there}: {verb}"
    summary = f"{name} {here}, {kind} {there} ({cited[0].label}): {verb}"
    if allowed := _allowed(change, best, verdict, sources, kind, language):
        allows = say(language, f"{kind}액 {allowed[0].value}", f"the {kind} allows {allowed[0].value}")
        said, summary, steps = f"{said}; {allows}", f"{summary}; {allows}", [*steps, *allowed]
    answer = whether(question, figure.value, best.bound, best.value, language)
    finding = Finding(f"**{answer}.** {said}. {quoted(cited[0])}" if answer else f"{said}. {quoted(cited[0])}", cited)
    used = tuple(
        LimitUse(best.amount.text.strip(), best.bound, exact(best.value), best.amount.unit, one, verdict)
        for one in cited
    )
    return Held(tuple(steps), (finding,), used, f"{answer}. {summary}" if answer else summary)


def notes_on(limits: Iterable[LimitUse], question: str, passages: Iterable[Passage], language: str) -> list[Finding]:
    """Return sentences of the files of applied limits that say where these hold, where they don't, and how soon."""
    files = {limit.citation.path for limit in limits}
    named = matters(question)
    found: dict[str, Finding] = {}
    for passage in (p for p in passages if p.path in files):
        for start, end in sentences(passage.text):
            said = passage.text[start:end]
            lead = say(language, *scope_of(said))
            if lead and (is_capped(said) or matters(said) & named):
                cited = passage.cite(start, end)
                found.setdefault(cited.label, Finding(f"{lead}: {quoted(cited)}", (cited,)))
    return sorted(found.values(), key=lambda note: language_of(note.text.split(":", 1)[1]) != language)[:4]


def _allowed(
    change: Change, limit: Quantity, verdict: str, sources: tuple[Source, ...], kind: str, language: str
) -> list[Step]:
    """Return the sum that a limit in percent allows, and how far the change goes beyond it."""
    before, after = change.before, change.after
    if before is None or after is None:
        return []
    sign, share = ("−", -limit.amount.value) if change.direction < 0 else ("+", limit.amount.value)
    allowed = replace(before, value=before.value * (100 + share) / 100)
    old, result = shown_amount(before, language), shown_amount(allowed, language)
    what = say(language, f"{kind}에 따른 금액", f"The sum at the {kind}")
    formula = f"{old} × (1 {sign} {number(limit.amount.value, 4)} ÷ 100) = {result}"
    steps = [Step(what, formula, result, exact(allowed.value), sources)]
    if verdict == "exceeds":
        over = replace(before, value=abs(after.value - allowed.value))
        text = shown_amount(over, language)
        formula = f"|{shown_amount(after, language)} − {result}| = {text}"
        what = say(language, "상한을 넘는 금액", "Beyond the limit by")
        steps.append(Step(what, formula, text, exact(over.value), sources))
    return steps
