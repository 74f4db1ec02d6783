"""The analysis as a whole: a pure function of the question, the passages and the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from hitl_tui.teams.analysis.amount_changes import FALL, RISE, SUBJECTS, Change, concepts, find_changes, language_of
from hitl_tui.teams.analysis.amounts import parse_amounts
from hitl_tui.teams.analysis.analysis_model import MAX_QUERY, QUERY, Analysis, Finding, LimitUse, Passage, Source, Step
from hitl_tui.teams.analysis.computation_steps import change_steps, compare, say
from hitl_tui.teams.analysis.limits import find_limits, find_scope_notes
from hitl_tui.teams.analysis.operations import Stated, hold, operate, stated
from hitl_tui.teams.contract import Citation
from hitl_tui.teams.number_format import number

MAX_LIMITS = 20
MAX_NOTES = 4


def analyse(
    query: str,
    passages: Sequence[Passage | Mapping[str, Any]] = (),
    analysis_type: str = "comprehensive",
    language: str = "",
) -> Analysis:
    """Return what can be computed for a question.

    Args:
        query: the question; of a very long one the first 20,000 characters count.
        passages: passages found for it, as `Passage` or as the search team's dictionaries.
        analysis_type: `comprehensive`, or one part: `change`, `limits`, `tables`.
        language: `ko` or `en`; the question's own when empty.
    """
    read = [item if isinstance(item, Passage) else Passage.from_dict(item) for item in passages]
    return with_insights(compute(query, read, analysis_type, language), read)


def compute(
    query: str,
    passages: Sequence[Passage],
    analysis_type: str = "comprehensive",
    language: str = "",
    measured: Sequence[Step] = (),
) -> Analysis:
    """Return steps, limits and findings, without insights; arguments as in `analyse`.

    Args:
        query, passages, analysis_type, language: as in `analyse`.
        measured: what commands measured before and after, as steps.
    """
    query = query[:MAX_QUERY]
    language = language or language_of(query)
    wanted = {"comprehensive": {"change", "limits", "other"}, "limits": {"change", "limits"}}.get(
        analysis_type, {analysis_type, "other"}
    )
    amounts = parse_amounts(query)
    changes = find_changes(query, amounts) if "change" in wanted else ()
    steps: list[Step] = [step for change in changes for step in change_steps(change, language)]
    verdicts = []
    if "limits" in wanted:
        limits = find_limits(passages)
        verdicts = [compare(change, limits, query, language) for change in changes or (None,)]
        if not changes:
            verdicts.insert(0, hold(query, amounts, limits, language))
        steps.extend(step for verdict in verdicts for step in verdict.steps)
    if "other" in wanted and not changes:
        steps.extend(operate(query, amounts, language))
    given = Stated()
    if "change" in wanted and not steps:
        given = stated(query, amounts, passages, language)
        steps.extend(given.steps)
    if "other" in wanted:
        steps.extend(measured)
    analysis = Analysis(
        query=query,
        analysis_type=analysis_type,
        language=language,
        steps=tuple(steps),
        limits=_merged([verdict.limits for verdict in verdicts]),
        findings=(*given.findings, *(finding for verdict in verdicts for finding in verdict.findings)),
        change_percent=changes[0].percent if changes else None,
        unanswered=given.unanswered,
        documents=len({p.path for p in passages}),
    )
    summary = next((verdict.summary for verdict in verdicts if verdict.summary), "")
    summary = given.summary or summary or _summary(analysis, changes)
    reason = "" if analysis.found else _nothing(amounts=bool(amounts), analysis=analysis)
    if not analysis.found and analysis.unanswered:
        # That there was a table is known, and why it gave nothing.
        reason, analysis = analysis.unanswered[0], replace(analysis, unanswered=analysis.unanswered[1:])
    return replace(analysis, not_computed=reason, summary=summary or reason)


def _merged(groups: Sequence[Sequence[LimitUse]]) -> tuple[LimitUse, ...]:
    """Return the limits of all changes, one entry a place and value, applied ones first."""
    best: dict[tuple[str, str, str], LimitUse] = {}
    for limit in (limit for group in groups for limit in group):
        key = (limit.citation.label, limit.bound, limit.value)
        if key not in best or (limit.applied and not best[key].applied):
            best[key] = limit
    ordered = sorted(best.values(), key=lambda limit: not limit.applied)
    return tuple(ordered[:MAX_LIMITS])


def _summary(analysis: Analysis, changes: Sequence[Change]) -> str:
    if not analysis.steps:
        return ""
    language = analysis.language
    if changes:
        last = next((s for s in analysis.steps if s.exact == str(analysis.change_percent)), analysis.steps[-1])
        text = f"{last.what}: {last.value}"
        if not analysis.documents:
            text += say(language, "; 문서 없이 질문만으로 계산", "; from the question alone, no documents were given")
        elif analysis.analysis_type in ("comprehensive", "limits"):
            text += say(language, "; 비교할 상한을 문서에서 찾지 못함", "; no fitting limit found in the documents")
        return text
    first = analysis.steps[0]
    more = len(analysis.steps) - 1
    rest = say(language, f" (계산 {more}건 더)", f" (and {more} more)") if more else ""
    if analysis.unanswered:
        rest += say(language, "; 계산하지 못한 것 있음", "; not all of it could be computed")
    return f"{first.what}: {first.value}{rest}"


def _nothing(*, amounts: bool, analysis: Analysis) -> str:
    language = analysis.language
    if amounts:
        return say(
            language,
            "질문에 숫자는 있으나 무엇을 계산할지(변동, 합계, 차이, 비율, 기간)가 없어 계산하지 않았습니다.",
            "Nothing was computed: the question has figures but asks for no change, sum, difference, share or span.",
        )
    return say(
        language,
        "질문에 계산할 금액, 비율, 날짜가 없어 계산하지 않았습니다.",
        "Nothing was computed: the question has no amounts, rates or dates.",
    )


def with_insights(
    analysis: Analysis,
    passages: Sequence[Passage],
    unreadable: Sequence[str] = (),
) -> Analysis:
    """Return the analysis with what is worth noticing besides the figures.

    Args:
        analysis: what `compute` returned.
        passages: the same passages.
        unreadable: why documents couldn't be used, one sentence each.
    """
    language = analysis.language
    insights = [
        *_how_far_beyond(analysis),
        *_scope(analysis, passages),
        *_waiting(analysis),
        *_missing_limit(analysis),
    ]
    insights += [Finding(note) for note in unreadable]
    if not analysis.documents and all(source == QUERY for step in analysis.steps for source in step.sources):
        text = say(
            language,
            "주어진 문서가 없어 질문만으로 계산했습니다.",
            "No documents were given; this was computed from the question alone.",
        )
        insights.append(Finding(text, (QUERY,)))
    return replace(analysis, insights=tuple(insights))


def _how_far_beyond(analysis: Analysis) -> list[Finding]:
    percent = analysis.change_percent
    exceeded = [limit for limit in analysis.applied if limit.verdict == "exceeds"]
    if percent is None or not exceeded:
        return []
    limit = exceeded[0]
    value = Fraction(limit.value)
    if value <= 0:
        return []
    times = number(abs(percent) / value, 1)
    text = say(
        analysis.language,
        f"요구된 변동은 문서 상한의 {times}배입니다.",
        f"The change asked for is {times} times the limit.",
    )
    sources: tuple[Source, ...] = (QUERY, limit.citation)
    return [Finding(text, sources)]


def _scope(analysis: Analysis, passages: Sequence[Passage]) -> list[Finding]:
    """Quote where an applied limit holds and where it doesn't, from the files it stands in."""
    files = {limit.citation.path for limit in analysis.applied}
    found = []
    notes = [note for note in find_scope_notes(passages) if note[1].path in files]
    notes.sort(key=lambda note: language_of(note[1].quote) != analysis.language)
    for kind, citation in notes[:MAX_NOTES]:
        lead = (
            say(analysis.language, "상한이 적용되지 않는 경우", "Where the limit does not apply")
            if kind == "exception"
            else say(analysis.language, "상한이 적용되는 범위", "Where the limit applies")
        )
        found.append(Finding(f"{lead}: “{_quoted(citation)}”", (citation,)))
    return found


def _waiting(analysis: Analysis) -> list[Finding]:
    if analysis.change_percent is None:
        return []
    topics = concepts(analysis.query) & {RISE, FALL, *SUBJECTS}
    waits = [limit for limit in analysis.limits if limit.bound == "wait" and concepts(limit.citation.quote) & topics]
    waits.sort(key=lambda limit: language_of(limit.citation.quote) != analysis.language)
    lead = say(analysis.language, "시기에 대한 제한", "A limit in time")
    return [Finding(f"{lead}: “{_quoted(limit.citation)}”", (limit.citation,)) for limit in waits[:2]]


def _missing_limit(analysis: Analysis) -> list[Finding]:
    if analysis.change_percent is None or analysis.applied or not analysis.documents:
        return []
    if analysis.analysis_type not in ("comprehensive", "limits"):
        return []
    text = say(
        analysis.language,
        "이 변동에 대한 상한이나 하한을 찾은 구절에서 확인하지 못했습니다. 상한이 없다는 뜻은 아닙니다.",
        "The passages found state no limit for this change; that doesn't mean there is none.",
    )
    return [Finding(text)]


def _quoted(citation: Citation) -> str:
    return " ".join(citation.quote.split()).lstrip("-*#> ")
