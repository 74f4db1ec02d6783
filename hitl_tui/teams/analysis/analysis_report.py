"""The analysis as Markdown, in the question's language."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hitl_tui.teams.analysis.analysis_model import QUERY, Analysis, Finding, LimitUse, Passage, Source, Step
from hitl_tui.teams.analysis.computation_steps import say
from hitl_tui.teams.contract import Block, Brief, Citation

SUMMARY_LIMIT = 200
_OTHER_LIMITS = 6
_PASSAGES = 5
_QUOTE = 180
_FIGURES = 6


def render(analysis: Analysis, passages: Sequence[Passage] = ()) -> str:
    """Return the report; every figure carries its source."""
    language = analysis.language
    lines = [f"## {say(language, '분석', 'Analysis')}", ""]
    lines.append(_statement(language))
    lines += _section(say(language, "결과", "Outcome"), (_finding(f, language) for f in analysis.findings))
    lines += _section(say(language, "계산", "Computation"), _numbered(analysis.steps, language))
    lines += _section(say(language, "참고할 점", "Worth noticing"), (_finding(f, language) for f in analysis.insights))
    cited = {citation.label for citation in citations(analysis)}
    others = [limit for limit in analysis.limits if not limit.applied and limit.citation.label not in cited]
    title = say(language, "찾았으나 적용하지 않은 다른 제한", "Other limits found, not applied")
    lines += _section(title, (_limit(limit) for limit in others[:_OTHER_LIMITS]))
    counted = {c.path for step in analysis.steps for c in step.sources if isinstance(c, Citation)}
    tables = {path for path in counted if path.lower().endswith(".csv")}
    rest = [p for p in passages if p.path not in tables and _label(p) not in cited]
    title = say(language, "그 밖에 찾은 구절", "Other passages found")
    lines += _section(title, (_passage(passage) for passage in rest[:_PASSAGES]))
    for sentence in filter(None, (analysis.not_computed, *analysis.unanswered)):
        lines += ["", sentence]
    return "\n".join(lines) + "\n"


def brief(analysis: Analysis) -> Brief:
    """Return what the final answer needs: the outcome or the figures, the computation, what is worth noticing."""
    language = analysis.language
    if not analysis.found:
        return Brief(absent=tuple(filter(None, (analysis.not_computed, *analysis.unanswered))))
    told = [_finding(finding, language) for finding in analysis.findings]
    told = told or _figures(analysis)
    told += [f"- {sentence}" for sentence in analysis.unanswered]
    blocks = []
    for title, lines in (
        (say(language, "계산", "Computation"), _numbered(analysis.steps, language)),
        (say(language, "참고할 점", "Worth noticing"), [_finding(f, language) for f in analysis.insights]),
    ):
        if lines:
            blocks.append(Block(f"**{title}**\n\n" + "\n".join(lines)))
    answer = "\n".join([*told, "", f"*{_statement(language)}*"])
    return Brief(answer=answer, evidence=tuple(blocks))


def _statement(language: str) -> str:
    return say(
        language,
        "찾은 구절과 계산이며 의견이나 자문이 아닙니다.",
        "Passages found and arithmetic done; this is not an opinion or advice.",
    )


def _figures(analysis: Analysis) -> list[str]:
    """Return the figures themselves, where no limit was there to hold them against."""
    language = analysis.language
    ratio = analysis.change_percent
    steps = [step for step in analysis.steps if ratio is not None and step.exact == str(ratio)]
    steps += [step for step in analysis.steps if step not in steps]
    lines = [f"- {step.what}: {step.value} [{_sources(step.sources, language)}]" for step in steps[:_FIGURES]]
    if len(steps) > _FIGURES:
        more = len(steps) - _FIGURES
        lines.append(
            say(language, f"- 그 밖의 계산 {more}건은 아래에 있습니다.", f"- {more} more figures stand below.")
        )
    return lines


def citations(analysis: Analysis) -> tuple[Citation, ...]:
    """Return the citations the figures rest on, each once: findings first, then steps, then insights."""
    sources: list[Source] = [s for finding in analysis.findings for s in finding.sources]
    sources += [s for step in analysis.steps for s in step.sources]
    sources += [s for insight in analysis.insights for s in insight.sources]
    unique: dict[str, Citation] = {}
    for source in sources:
        if isinstance(source, Citation):
            unique.setdefault(source.label, source)
    return tuple(unique.values())


def summary(analysis: Analysis) -> str:
    """Return one line of at most 200 characters."""
    text = " ".join((analysis.summary or analysis.not_computed).split())
    return text if len(text) <= SUMMARY_LIMIT else text[: SUMMARY_LIMIT - 1] + "…"


def _section(title: str, lines: Iterable[str]) -> list[str]:
    kept = list(lines)
    return ["", f"### {title}", "", *kept] if kept else []


def _numbered(steps: Sequence[Step], language: str) -> list[str]:
    lines = []
    for position, step in enumerate(steps, start=1):
        lines.append(
            f"{position}. **{step.what}**: {step.formula}{_outcome(step)} [{_sources(step.sources, language)}]"
        )
    return lines


def _outcome(step: Step) -> str:
    return "" if step.formula.endswith(step.value) else f" → {step.value}"


def _finding(finding: Finding, language: str) -> str:
    where = f" [{_sources(finding.sources, language)}]" if finding.sources else ""
    return f"- {finding.text}{where}"


def _sources(sources: Sequence[Source], language: str) -> str:
    names = [_source(s, language) for s in sources]
    return ", ".join(dict.fromkeys(names))


def _source(source: Source, language: str) -> str:
    if isinstance(source, Citation):
        return f"`{source.label}`"
    return say(language, "질문", "question") if source == QUERY else source


def _limit(limit: LimitUse) -> str:
    return f"- {limit.text}: “{_cut(limit.citation.quote)}” [`{limit.citation.label}`] ({limit.reason})"


def _passage(passage: Passage) -> str:
    return f"- “{_cut(passage.text)}” [`{_label(passage)}`]"


def _label(passage: Passage) -> str:
    return Citation(passage.path, passage.line, passage.end_line, "", passage.page).label


def _cut(text: str) -> str:
    text = " ".join(text.split()).lstrip("-*#> ")
    return text if len(text) <= _QUOTE else text[: _QUOTE - 1] + "…"
