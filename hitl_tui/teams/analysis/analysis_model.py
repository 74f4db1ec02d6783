"""What an analysis consists of, plain data that pydantic turns into JSON and back, and what is told of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hitl_tui.meaning.amounts import Amount
from hitl_tui.teams.contract import Block, Brief, Citation
from hitl_tui.teams.number_format import is_exact, number, shown

QUERY: Final = "query"
MAX_QUERY = 20_000
"""Characters of a question that are looked at."""

Source = Citation | str
"""Where a figure comes from: a citation, the question itself (`QUERY`), or the TODOs whose output it is."""

ANALYSIS_TYPES = ("comprehensive", "change", "limits", "tables")


def say(language: str, korean: str, english: str) -> str:
    """Return the sentence in the question's language."""
    return korean if language == "ko" else english


def shown_amount(amount: Amount, language: str) -> str:
    """Return an amount for people with all its decimals, so that what is shown is what was computed with."""
    if not is_exact(amount.value, 2) and is_exact(amount.value, 6) and amount.kind in ("money", "percent", "points"):
        figure = number(amount.value, 6)
        unit = amount.unit if amount.kind == "money" else "%" if amount.kind == "percent" else "%p"
        return f"{unit} {figure}" if amount.kind == "money" else f"{figure}{unit}"
    if amount.kind in ("mass", "distance", "degrees", "pixels"):
        return f"{number(amount.value, 6)} {amount.unit}"
    return shown(amount.value, amount.kind, amount.unit, language, places=amount.scale >= 10**4)


@dataclass(frozen=True, slots=True)
class Step:
    """One computation, so that a person can do it again, and where its figures come from.

    Args:
        value: the outcome as shown.
        exact: the outcome as an exact fraction (`700/3`), or empty where there is none.
    """

    what: str
    formula: str
    value: str
    exact: str = ""
    sources: tuple[Source, ...] = (QUERY,)


@dataclass(frozen=True, slots=True)
class Finding:
    """One statement that follows from steps and passages, with where it stands."""

    text: str
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class Analysis:
    """Everything that was computed for one question.

    Args:
        limit: where the limit stands that a figure was held against.
        findings: what follows from the steps, the outcome first.
        insights: what is worth noticing besides.
        change_percent: the question's change in percent, an exact fraction; empty without one.
        not_computed: why nothing was computed; empty when something was.
        summary: it all in one line.
        partial: the question asks for something besides figures.
    """

    language: str
    steps: tuple[Step, ...] = ()
    limit: Citation | None = None
    findings: tuple[Finding, ...] = ()
    insights: tuple[Finding, ...] = ()
    change_percent: str = ""
    not_computed: str = ""
    summary: str = ""
    partial: bool = False

    @property
    def found(self) -> bool:
        return bool(self.steps)


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
