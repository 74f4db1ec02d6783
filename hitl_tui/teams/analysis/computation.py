"""The analysis as a whole: a pure function of the question and the passages."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hitl_tui.teams.analysis.amounts import parse_amounts
from hitl_tui.teams.analysis.analysis_model import MAX_QUERY, QUERY, Analysis, Finding, Passage, Step
from hitl_tui.teams.analysis.arithmetic import question_steps, written_steps
from hitl_tui.teams.analysis.changes import find_changes
from hitl_tui.teams.analysis.combine import Outcome, combine
from hitl_tui.teams.analysis.limits import Held, hold_change, notes_on
from hitl_tui.teams.analysis.passage_quantities import of_passages
from hitl_tui.teams.analysis.words import say
from hitl_tui.teams.contract import language_of

MAX_TEXT = 200_000
"""Characters of passages that are read, the first ones."""
_NOTHING = (
    "질문에도 찾은 구절에도 이 질문에 맞게 계산하거나 견줄 수치가 없어 계산하지 않았습니다.",
    "Nothing was computed: neither the question nor the passages found have figures that fit what is asked.",
)


def analyse(query: str, passages: Sequence[Passage | Mapping[str, Any]] = ()) -> Analysis:
    """Return what can be computed for a question and passages, as `Passage` or as the search team's dictionaries."""
    read = [item if isinstance(item, Passage) else Passage.from_dict(item) for item in passages]
    return with_insights(compute(query, read), query, read)


def compute(
    query: str,
    passages: Sequence[Passage],
    analysis_type: str = "comprehensive",
    language: str = "",
    measured: Sequence[Step] = (),
    sections: Sequence[Passage] = (),
) -> Analysis:
    """Return what can be computed for a question, without insights.

    Args:
        query: the question; of a very long one the first 20,000 characters count.
        passages: passages found for it.
        analysis_type: `comprehensive`, or one part: `change`, `limits`.
        language: `ko` or `en`; the question's own when empty.
        measured: what commands measured before and after, as steps.
        sections: what stands around the passages.
    """
    query = query[:MAX_QUERY]
    language = language or language_of(query)
    amounts = parse_amounts(query)
    changes = find_changes(query, amounts)
    steps = [step for change in changes for step in change.steps(language)]
    outcome = Outcome()
    held: list[Held] = []
    stated = of_passages([*_cut(sections), *_cut(passages)]) if analysis_type != "change" else []
    if changes and stated:
        held = [hold_change(change, stated, query, language) for change in changes]
        steps += [step for one in held for step in one.steps]
    if not steps:
        steps += written_steps(query, amounts, language)
    if not steps and analysis_type != "change":
        outcome = combine(query, stated, language)
        steps += outcome.steps
    if not steps:
        steps += question_steps(query, amounts, language)
    steps += measured
    ratio = changes[0].percent if changes else None
    analysis = Analysis(
        language=language,
        steps=tuple(steps),
        limits=(*(limit for one in held for limit in one.limits), *outcome.limits),
        findings=(*(finding for one in held for finding in one.findings), *outcome.findings),
        change_percent="" if ratio is None else str(ratio),
        not_computed="" if steps else outcome.refused or say(language, *_NOTHING),
    )
    summary = next((one.summary for one in held if one.summary), "") or outcome.summary
    return replace(analysis, summary=summary or _summary(analysis))


def _cut(passages: Sequence[Passage]) -> list[Passage]:
    lengths = itertools.accumulate(len(passage.text) for passage in passages)
    return [passage for passage, length in zip(passages, lengths, strict=True) if length <= MAX_TEXT]


def with_insights(analysis: Analysis, query: str, passages: Sequence[Passage]) -> Analysis:
    """Return the analysis with what is worth noticing besides the figures; the arguments are those of `compute`."""
    language = analysis.language
    insights = notes_on(analysis.limits, query, passages, language)
    if analysis.found and not passages:
        korean = "주어진 문서가 없어 질문만으로 계산했습니다."
        english = "No documents were given; this is computed from the question alone."
        insights.append(Finding(say(language, korean, english), (QUERY,)))
    elif analysis.change_percent and not analysis.limits:
        korean = "이 변동에 대한 상한이나 하한을 찾은 구절에서 확인하지 못했습니다. 상한이 없다는 뜻은 아닙니다."
        english = "The passages found state no limit for this change; that doesn't mean there is none."
        insights.append(Finding(say(language, korean, english)))
    return replace(analysis, insights=tuple(insights))


def _summary(analysis: Analysis) -> str:
    if not analysis.steps:
        return analysis.not_computed
    steps = analysis.steps
    first = next((step for step in steps if step.exact and step.exact == analysis.change_percent), steps[0])
    return f"{first.what}: {first.value}"
