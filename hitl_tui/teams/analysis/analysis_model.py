"""What an analysis consists of; plain data that turns into JSON and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from hitl_tui.teams.contract import Citation

QUERY: Final = "query"
MAX_QUERY = 20_000
"""Characters of a question that are looked at."""
QUOTE_LIMIT = 300
TEXT_LIMIT = 20_000

Source = Citation | str
"""Where a figure comes from: a citation, the question itself (`QUERY`), or the TODOs whose output it is."""

ANALYSIS_TYPES = ("comprehensive", "change", "limits", "tables")


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document, as the search team hands it over.

    Args:
        path: the file, relative to the workspace.
        line: first line, counted from 1.
        end_line: last line, inclusive.
        text: the words.
        page: page of a PDF, counted from 1; 0 for other files.
        heading: the nearest heading above, or empty.
        score: how well it matches the question; larger is better.
    """

    path: str
    line: int
    end_line: int
    text: str
    page: int = 0
    heading: str = ""
    score: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "line": self.line,
            "end_line": self.end_line,
            "text": self.text,
            "page": self.page,
            "heading": self.heading,
            "score": self.score,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Passage:
        """Read a passage, its text cut at 20,000 characters; `heading` may be a list of texts, outermost first."""
        heading = data.get("heading") or ""
        if not isinstance(heading, str):
            heading = " > ".join(str(part) for part in heading)
        line = int(data.get("line", 1))
        return cls(
            path=str(data["path"]),
            line=line,
            end_line=int(data.get("end_line", line)),
            text=str(data.get("text", ""))[:TEXT_LIMIT],
            page=int(data.get("page") or 0),
            heading=heading,
            score=float(data.get("score") or 0.0),
        )

    def cite(self, start: int, end: int) -> Citation:
        """Return the citation of `text[start:end]`, down to the line where the passage keeps its lines."""
        breaks = self.text.count("\n")
        quote = self.text[start:end].strip()
        if breaks != self.end_line - self.line:
            return Citation(self.path, self.line, self.end_line, quote[:QUOTE_LIMIT], self.page)
        first = self.line + self.text.count("\n", 0, start)
        last = first + self.text[start:end].rstrip().count("\n")
        return Citation(self.path, first, last, quote[:QUOTE_LIMIT], self.page)


@dataclass(frozen=True, slots=True)
class Step:
    """One computation, so that a person can do it again.

    Args:
        what: what is computed, in words.
        formula: the computation with its figures.
        value: the outcome as shown.
        exact: the outcome as an exact fraction (`700/3`), or empty where there is none.
        sources: where the figures come from.
    """

    what: str
    formula: str
    value: str
    exact: str = ""
    sources: tuple[Source, ...] = (QUERY,)

    def to_dict(self) -> dict[str, Any]:
        return {
            "what": self.what,
            "formula": self.formula,
            "value": self.value,
            "exact": self.exact,
            "sources": sources_to_list(self.sources),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Step:
        return cls(
            what=str(data["what"]),
            formula=str(data["formula"]),
            value=str(data["value"]),
            exact=str(data.get("exact", "")),
            sources=sources_from_list(data.get("sources", ())),
        )


@dataclass(frozen=True, slots=True)
class Finding:
    """One statement that follows from steps and passages, with where it stands."""

    text: str
    sources: tuple[Source, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {"text": self.text, "sources": sources_to_list(self.sources)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Finding:
        return cls(text=str(data["text"]), sources=sources_from_list(data.get("sources", ())))


@dataclass(frozen=True, slots=True)
class LimitUse:
    """A limit that a passage states, and what came of holding the figures against it.

    Args:
        text: the limit as written, for example `5%`.
        bound: `max`, `below`, `min`, `above`, `wait` (nothing within that time) or `exception`.
        value: the exact value as a fraction, in `unit`.
        unit: `%`, `KRW`, `month`, …
        citation: the sentence that states it.
        applied: it was compared with a figure of the question.
        verdict: `exceeds`, `within`, `below_minimum` or empty when not applied.
        reason: why it was not applied, empty when it was.
    """

    text: str
    bound: str
    value: str
    unit: str
    citation: Citation
    applied: bool = False
    verdict: str = ""
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "bound": self.bound,
            "value": self.value,
            "unit": self.unit,
            "citation": self.citation.to_dict(),
            "applied": self.applied,
            "verdict": self.verdict,
            "reason": self.reason,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> LimitUse:
        return cls(
            text=str(data["text"]),
            bound=str(data["bound"]),
            value=str(data["value"]),
            unit=str(data["unit"]),
            citation=Citation.from_dict(data["citation"]),
            applied=bool(data.get("applied", False)),
            verdict=str(data.get("verdict", "")),
            reason=str(data.get("reason", "")),
        )


@dataclass(frozen=True, slots=True)
class Analysis:
    """Everything that was computed for one question.

    Args:
        query: the question.
        analysis_type: one of `ANALYSIS_TYPES`.
        language: `ko` or `en`, the question's language.
        steps: the computations in order.
        limits: limits found in passages, applied ones first.
        findings: what follows from the steps.
        insights: what is worth noticing besides: exceptions, time limits, sample data.
        change_percent: the question's change in percent, exact; None without one.
        not_computed: why nothing was computed; empty when something was.
        documents: number of distinct files that the passages and tables come from.
        summary: it all in one line.
        unanswered: what else was asked and could not be computed, one sentence each.
    """

    query: str
    analysis_type: str
    language: str
    steps: tuple[Step, ...] = ()
    limits: tuple[LimitUse, ...] = ()
    findings: tuple[Finding, ...] = ()
    insights: tuple[Finding, ...] = ()
    change_percent: Fraction | None = None
    not_computed: str = ""
    documents: int = 0
    summary: str = ""
    unanswered: tuple[str, ...] = ()

    @property
    def found(self) -> bool:
        """Whether anything was computed."""
        return bool(self.steps)

    @property
    def applied(self) -> tuple[LimitUse, ...]:
        """The limits that were compared with the question's figures."""
        return tuple(limit for limit in self.limits if limit.applied)

    def to_dict(self) -> dict[str, Any]:
        return {
            "query": self.query,
            "analysis_type": self.analysis_type,
            "language": self.language,
            "steps": [step.to_dict() for step in self.steps],
            "limits": [limit.to_dict() for limit in self.limits],
            "findings": [finding.to_dict() for finding in self.findings],
            "insights": [insight.to_dict() for insight in self.insights],
            "change_percent": None if self.change_percent is None else str(self.change_percent),
            "not_computed": self.not_computed,
            "documents": self.documents,
            "summary": self.summary,
            "unanswered": list(self.unanswered),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Analysis:
        percent = data.get("change_percent")
        return cls(
            query=str(data["query"]),
            analysis_type=str(data["analysis_type"]),
            language=str(data["language"]),
            steps=tuple(Step.from_dict(item) for item in data.get("steps", ())),
            limits=tuple(LimitUse.from_dict(item) for item in data.get("limits", ())),
            findings=tuple(Finding.from_dict(item) for item in data.get("findings", ())),
            insights=tuple(Finding.from_dict(item) for item in data.get("insights", ())),
            change_percent=None if percent is None else Fraction(str(percent)),
            not_computed=str(data.get("not_computed", "")),
            documents=int(data.get("documents", 0)),
            summary=str(data.get("summary", "")),
            unanswered=tuple(map(str, data.get("unanswered", ()))),
        )


def sources_to_list(sources: tuple[Source, ...]) -> list[Any]:
    """Return sources as JSON: a text as it is, or a citation's dictionary."""
    return [source if isinstance(source, str) else source.to_dict() for source in sources]


def sources_from_list(items: Any) -> tuple[Source, ...]:
    """Read what `sources_to_list` wrote."""
    sources: list[Source] = [item if isinstance(item, str) else Citation.from_dict(item) for item in items]
    return tuple(sources)
