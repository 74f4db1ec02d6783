"""The analysis as Markdown, in the question's language."""

from __future__ import annotations

from collections.abc import Sequence

from hitl_tui.teams.analysis.analysis_model import QUERY, Analysis, Finding, Source, Step, say
from hitl_tui.teams.contract import Block, Brief, Citation


def render(told: Brief) -> str:
    """Return a report: what the final answer says of it, whole."""
    return "\n\n".join(filter(None, [told.answer, *(block.text for block in told.evidence), *told.absent])) + "\n"


def brief(analysis: Analysis) -> Brief:
    """Return what the final answer needs: the outcome, or the figures with their computation."""
    language = analysis.language
    if not analysis.found:
        return Brief(absent=(analysis.not_computed,))
    told = [_finding(finding, language) for finding in analysis.findings]
    numbered = _numbered(analysis.steps, language)
    if not told:  # no limit was there to hold the figures against: they are the outcome
        told, numbered = numbered, []
    english = "Passages found and arithmetic done; this is not an opinion or advice."
    statement = say(language, "찾은 구절과 계산이며 의견이나 자문이 아닙니다.", english)
    told += [_finding(insight, language) for insight in analysis.insights]  # such as a condition of the limit
    title = say(language, "계산", "Computation")
    blocks = (Block(f"**{title}**\n\n" + "\n".join(numbered)),) if numbered else ()
    return Brief(answer="\n".join([*told, "", f"*{statement}*"]), evidence=blocks, partial=analysis.partial)


def citations(analysis: Analysis) -> tuple[Citation, ...]:
    """Return the citations the figures rest on, each once: findings first, then steps, then insights."""
    told: list[Finding | Step] = [*analysis.findings, *analysis.steps, *analysis.insights]
    unique: dict[str, Citation] = {}
    for source in (source for one in told for source in one.sources if isinstance(source, Citation)):
        unique.setdefault(source.label, source)
    return tuple(unique.values())


def _numbered(steps: Sequence[Step], language: str) -> list[str]:
    lines = []
    for position, step in enumerate(steps, start=1):
        outcome = "" if step.formula.endswith(step.value) else f" → {step.value}"
        lines.append(f"{position}. **{step.what}**: {step.formula}{outcome} [{_sources(step.sources, language)}]")
    return lines


def _finding(finding: Finding, language: str) -> str:
    return f"- {finding.text}" + (f" [{_sources(finding.sources, language)}]" if finding.sources else "")


def _sources(sources: Sequence[Source], language: str) -> str:
    names = (f"`{s.label}`" if isinstance(s, Citation) else s for s in sources)
    return ", ".join(dict.fromkeys(say(language, "질문", "question") if name == QUERY else name for name in names))
