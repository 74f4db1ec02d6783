"""The analysis as a whole: a pure function of the question and the passages."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hitl_tui.teams.analysis.amounts import parse_amounts
from hitl_tui.teams.analysis.analysis_model import MAX_QUERY, QUERY, Analysis, Finding, Passage, Source, Step
from hitl_tui.teams.analysis.arithmetic import question_steps, stated_rates, without
from hitl_tui.teams.analysis.calendar_dates import parse_dates
from hitl_tui.teams.analysis.changes import changes_in_time, find_changes, stated_changes
from hitl_tui.teams.analysis.limits import (
    ASKS_WHAT_MAY_BE,
    Held,
    find_limits,
    hold_amount,
    hold_change,
    notes_on,
    quoted,
)
from hitl_tui.teams.analysis.units import Amount
from hitl_tui.teams.analysis.words import ASKS_HOW_MUCH, FALL, MOVES, RISE, Subject, matters, say
from hitl_tui.teams.contract import Citation, language_of

MAX_TEXT = 200_000
"""Characters of passages that are read, the first ones."""
_LISTED = 6
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
    lengths = itertools.accumulate(len(passage.text) for passage in passages)
    passages = [passage for passage, length in zip(passages, lengths, strict=True) if length <= MAX_TEXT]
    amounts = parse_amounts(query)
    changes = find_changes(query, amounts)
    subject = Subject.of(without(query, amounts))
    steps = [step for change in changes for step in change.steps(language)]
    held: list[Held] = []
    if analysis_type != "change":
        limits = find_limits(passages)
        held = [hold_change(change, limits, query, subject, language) for change in changes]
        held = held or [hold_amount(amounts, limits, query, subject, language)]
        steps += [step for one in held for step in one.steps]
    if not steps:
        steps += question_steps(query, amounts, language)
    findings = [finding for one in held for finding in one.findings]
    refused = ""
    if not steps:
        steps, told, refused = _stated(query, amounts, passages, sections, language)
        findings += told
    steps += measured
    ratio = changes[0].percent if changes else None
    analysis = Analysis(
        language=language,
        steps=tuple(steps),
        limits=tuple(limit for one in held for limit in one.limits),
        findings=tuple(findings),
        change_percent="" if ratio is None else str(ratio),
        not_computed="" if steps else refused or say(language, *_NOTHING),
    )
    summary = next((one.summary for one in held if one.summary), "")
    return replace(analysis, summary=summary or _summary(analysis))


def _stated(
    query: str, amounts: Sequence[Amount], passages: Sequence[Passage], sections: Sequence[Passage], language: str
) -> tuple[list[Step], list[Finding], str]:
    """Return what the passages state for a question that lacks a quantity; why not, where several fit alike."""
    if ASKS_WHAT_MAY_BE.search(query) or not ASKS_HOW_MUCH.search(query) or parse_dates(query):
        return [], [], ""
    steps: list[list[Step]] = []
    if [a for a in amounts if not a.year_like]:
        steps = [[step] for step in stated_rates(query, amounts, passages, language)]
    elif matters(query) & {RISE, FALL} or MOVES.search(query):
        stated = stated_changes(query, passages) or changes_in_time(query, sections)
        for change, cited in stated.values():
            sources: tuple[Source, ...] = tuple(dict.fromkeys(cited))
            steps.append(change.steps(language, sources))
    steps = [made for made in steps if made]
    if len(steps) > 1:
        pairs = "; ".join(f"{_formula(made)} ({_cited(made)[0].label})" for made in steps[:_LISTED])
        korean = f"계산하지 않음: 찾은 구절에 맞는 수치가 여러 개 있습니다. 어느 것인지 질문에 쓰세요: {pairs}."
        return [], [], say(language, korean, f"Not computed: several figures fit; say which one is meant: {pairs}.")
    if not steps:
        return [], [], ""
    (made,) = steps
    percent = re.search(r"%|퍼센트|프로|percent|[률율]", query.lower())
    first = next((step for step in made if percent and step.value.endswith("%")), made[0])
    quotes = " ".join(quoted(cited) for cited in _cited(made)[:2])
    return made, [Finding(f"{first.what}: **{first.value}** ({_formula([first])}). {quotes}", first.sources)], ""


def _formula(made: Sequence[Step]) -> str:
    return made[0].formula.split(" = ")[0]


def _cited(made: Sequence[Step]) -> list[Citation]:
    return [source for source in made[0].sources if isinstance(source, Citation)]


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
