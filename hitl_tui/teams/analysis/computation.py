"""The analysis as a whole: a pure function of the question and the passages."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hitl_tui.teams.analysis.analysis_model import MAX_QUERY, QUERY, Analysis, Finding, Passage, Step
from hitl_tui.teams.analysis.asked import Asked
from hitl_tui.teams.analysis.bounds import EXCEPTION
from hitl_tui.teams.analysis.operations import held, of_question
from hitl_tui.teams.analysis.quantities import of_passages
from hitl_tui.teams.analysis.words import say, sentences
from hitl_tui.teams.contract import language_of
from hitl_tui.teams.number_format import exact
from hitl_tui.teams.printed_figures import Run, differences

MAX_TEXT = 200_000
"""Characters of passages that are read, the first ones."""
_MEASURED, _NOTES = 12, 4
_HEADING = re.compile(r"(#{1,6})\s")
_NOTHING = (
    "질문에 분명히 맞는 계산이 없어 계산하지 않았습니다.",
    "Nothing was computed: no computation clearly fits the question.",
)


def analyse(query: str, passages: Sequence[Passage | Mapping[str, Any]] = ()) -> Analysis:
    """Return what can be computed for a question and passages, as `Passage` or as the search team's dictionaries."""
    read = [item if isinstance(item, Passage) else Passage.from_dict(item) for item in passages]
    return with_insights(compute(query, read), read)


def compute(
    query: str,
    passages: Sequence[Passage],
    analysis_type: str = "comprehensive",
    language: str = "",
    measured: Sequence[Step] = (),
) -> Analysis:
    """Return what can be computed for a question, without insights.

    Args:
        query: the question; of a very long one the first 20,000 characters count.
        passages: passages found for it.
        analysis_type: `comprehensive`, or one part: `change`, `limits`.
        language: `ko` or `en`; the question's own when empty.
        measured: what commands measured before and after, as steps.
    """
    query = query[:MAX_QUERY]
    language = language or language_of(query)
    asked = Asked(query, language)
    stated = of_passages(_cut(passages)) if analysis_type != "change" else []
    outcome = of_question(asked, stated)
    if not outcome.steps:
        outcome = held(asked, stated)
    analysis = Analysis(
        language=language,
        steps=(*outcome.steps, *measured),
        limit=outcome.limit,
        findings=(outcome.finding,) if outcome.said or (outcome.steps and stated) else (),
        change_percent="" if outcome.change is None else str(outcome.change),
        not_computed="" if outcome.steps or measured else outcome.refused or say(language, *_NOTHING),
    )
    where = f" ({outcome.limit.label})" if outcome.limit else ""
    return replace(analysis, summary=outcome.said.replace("*", "") + where if outcome.said else _summary(analysis))


def _cut(passages: Sequence[Passage]) -> list[Passage]:
    lengths = itertools.accumulate(len(passage.text) for passage in passages)
    return [passage for passage, length in zip(passages, lengths, strict=True) if length <= MAX_TEXT]


def with_insights(analysis: Analysis, passages: Sequence[Passage]) -> Analysis:
    """Return the analysis with what is worth noticing besides: where a limit doesn't hold, what is missing."""
    language, insights = analysis.language, []
    limit = analysis.limit
    for passage in passages:
        if limit is None or passage.path != limit.path:
            continue
        first, last = _section(passage, limit.line)
        excepted = [span for span in sentences(passage.text) if EXCEPTION.search(passage.text[slice(*span)])]
        cited = [one for one in (passage.cite(*span) for span in excepted) if first <= one.line < last]
        lead = say(language, "상한이 적용되지 않는 경우", "Where the limit does not apply")
        insights += [Finding(f"{lead}: “{' '.join(one.quote.lstrip('-*+• ').split())}”", (one,)) for one in cited]
    insights = sorted(dict.fromkeys(insights), key=lambda note: language_of(note.text.split(":", 1)[1]) != language)[
        :_NOTES
    ]
    if analysis.found and not passages:
        korean = "주어진 문서가 없어 질문만으로 계산했습니다."
        english = "No documents were given; this is computed from the question alone."
        insights.append(Finding(say(language, korean, english), (QUERY,)))
    elif analysis.change_percent and not analysis.limit:
        korean = "이 변동에 대한 상한이나 하한을 찾은 구절에서 확인하지 못했습니다. 상한이 없다는 뜻은 아닙니다."
        english = "The passages found state no limit for this change; that doesn't mean there is none."
        insights.append(Finding(say(language, korean, english)))
    return replace(analysis, insights=tuple(insights))


def _section(passage: Passage, line: int) -> tuple[int, int]:
    """Return the first line of the section of a document that a line is in, and the first of the next one."""
    first, level, last = passage.line, 0, passage.end_line + 1
    for at, text in enumerate(passage.text.split("\n"), passage.line):
        heading = _HEADING.match(text)
        if heading and at <= line:
            first, level = at, len(heading[1])
        elif heading and len(heading[1]) <= level:
            return first, at
    return first, last


def _summary(analysis: Analysis) -> str:
    if not analysis.steps:
        return analysis.not_computed
    steps = analysis.steps
    first = next((step for step in steps if step.exact and step.exact == analysis.change_percent), steps[0])
    return f"{first.what}: {first.value}"


def measured_steps(runs: Sequence[Run], language: str) -> list[Step]:
    """Return one step for each figure that commands printed before and after, and that is another now.

    Args:
        runs: in the order of the plan.
        language: `ko` or `en`.
    """
    steps: list[Step] = []
    for found in [one for one in differences(runs) if one.changed][:_MEASURED]:
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
