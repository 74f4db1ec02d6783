"""The six stages of the analysis graph; imported when a graph is built, since LangGraph is heavy.

Of the analysis only this module touches files: the documents that it rests on.
"""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import Any, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import interrupt
from pydantic import TypeAdapter

from hitl_tui.core.names import clip
from hitl_tui.core.safe_markdown import first_words
from hitl_tui.core.written_language import language_of
from hitl_tui.tables.ask import Answer, again, ask
from hitl_tui.tables.engine import in_thread
from hitl_tui.tables.files import SUFFIXES, table_files
from hitl_tui.tables.profile import plain
from hitl_tui.tables.query import TableQuery
from hitl_tui.teams.analysis.analysis_model import MAX_QUERY, Analysis, citations, render, say
from hitl_tui.teams.analysis.analysis_model import brief as analysis_brief
from hitl_tui.teams.analysis.computation import compute, measured_steps, with_insights
from hitl_tui.teams.analysis.limits import Limit
from hitl_tui.teams.analysis.table_answer import brief, cited, in_a_line, nearest, which
from hitl_tui.teams.analysis.table_limits import held
from hitl_tui.teams.analysis.table_preview import day_asked, earlier_query
from hitl_tui.teams.contract import (
    BRIEF,
    Brief,
    Citation,
    TeamContext,
    TeamGraph,
    TeamResult,
    TeamTask,
    brief_of,
)
from hitl_tui.teams.passages import Passage
from hitl_tui.teams.printed_figures import run_of
from hitl_tui.teams.secret_mask import SecretMask

MAX_BYTES = 100_000
MAX_FILES, MAX_PASSAGES = 12, 60
_SUMMARY = 200
_LINE = "line"
"""Where what came of several rows of a table is kept in one line."""
_TEXT = (".md", ".txt", ".rst")
_ANALYSIS = TypeAdapter(Analysis)
_SEARCHING = re.compile("조회|검색|search for|look up", re.IGNORECASE)
"""Words for the search that came before; a table isn't asked for them."""


def whole(workspace: Path, passages: Sequence[Passage], secrets: SecretMask) -> list[Passage]:
    """Return the documents that passages were cut from, whole, the best first; what can't be read so as it is."""
    made: dict[str, list[Passage]] = {}
    for passage in passages:
        known = made.setdefault(passage.path, [])
        if len(made) <= MAX_FILES and not known and (text := secrets.lines(_text(workspace, passage.path))):
            known.append(Passage(passage.path, 1, text.count("\n") + 1, text))
        elif not known or known[0].line != 1:
            known.append(passage)
    return list(itertools.chain.from_iterable(made.values()))


def _text(workspace: Path, path: str) -> str:
    try:
        root = workspace.resolve()
        target = (root / path).resolve()
        if not path.lower().endswith(_TEXT) or not target.is_relative_to(root) or target.stat().st_size > MAX_BYTES:
            return ""
        return target.read_bytes().decode("utf-8-sig")
    except (OSError, ValueError, RuntimeError):  # what no program can open, or wrote in another encoding
        return ""


class AnalysisState(TypedDict, total=False):
    """What passes between the stages; plain JSON.

    `task` is the input and `result` a `TeamResult.to_dict()`; the rest belongs to the stages.
    """

    task: str
    query: str
    analysis_type: str
    language: str
    passages: list[dict[str, Any]]
    analysis: dict[str, Any]
    report: str
    table: dict[str, Any]
    result: dict[str, Any]


def graph() -> TeamGraph:
    """Return the graph, not compiled."""
    built: TeamGraph = StateGraph(AnalysisState, context_schema=TeamContext)
    built.add_sequence([prepare, preprocess, analyse, generate_insights, create_report, finalise])
    return built.add_edge(START, "prepare")


def collect(task: TeamTask) -> list[Passage]:
    """Return the passages of earlier results, in plan order, each place once; a malformed one is left out."""
    found: dict[tuple[str, int, int, int], Passage] = {}
    for result in task.inputs.values():
        items = result.data.get("passages")
        for item in items if isinstance(items, list) else ():
            try:
                passage = Passage.from_dict(item)
            except (KeyError, TypeError, ValueError, AttributeError):
                continue
            found.setdefault((passage.path, passage.page, passage.line, passage.end_line), passage)
    return list(found.values())[:MAX_PASSAGES]


async def prepare(state: AnalysisState, runtime: Runtime[TeamContext]) -> dict[str, Any]:
    """Collect the question and the passages of earlier results."""
    task = runtime.context.task
    # The query as it was approved; the session's question where the step has none.
    query = (str(task.arguments.get("query", "")).strip() or task.query.strip() or task.task.strip())[:MAX_QUERY]
    passages = collect(task)
    language = language_of(query)
    if passages:
        korean = f"앞선 결과의 구절 {len(passages)}개"
        runtime.context.progress(say(language, korean, f"passages from earlier results: {len(passages)}"))
    return {
        "query": query,
        "analysis_type": str(task.arguments.get("analysis_type", "comprehensive")),
        "language": language,
        "passages": [asdict(passage) for passage in passages],
    }


def _told(answer: Answer, language: str, note: str = "", limit: Limit | None = None) -> dict[str, Any]:
    """Return what is kept of an answer, and of the limit in a document that its rows were held against."""
    told = brief(answer, language, note)
    found = bool(told.answer)
    kept: dict[str, Any] = {"found": found, BRIEF: told.to_dict(), "sql": answer.sql, "why": answer.why}
    kept["settled"] = answer.settled
    kept[_LINE] = in_a_line(answer, language)
    kept["choices"] = {words: query.to_dict() for words, query in nearest(answer, language).items()}
    if answer.mapped is not None:
        kept["source"] = cited(answer.mapped.table, answer.sql).to_dict()
        kept["limit"] = limit.source.to_dict() if limit else None
        if found:
            kept["query"] = answer.mapped.query.to_dict()
            kept["columns"] = list(answer.result.names) if answer.result else []
            kept["rows"] = _cells(answer)
    return kept


def _cells(answer: Answer) -> list[list[str]]:
    """Return the rows of an answer as texts."""
    if answer.mapped is None or answer.result is None:
        return []
    columns = [answer.mapped.table.column(name) for name in answer.result.names]
    return [[plain(value, column) for value, column in zip(row, columns, strict=True)] for row in answer.result.rows]


async def preprocess(state: AnalysisState, runtime: Runtime[TeamContext]) -> dict[str, Any]:
    """Read the files that passages were cut from; or ask the tables of the workspace."""
    workspace, passages = runtime.context.workspace, _passages(state)
    secrets = SecretMask(runtime.context.secrets)
    if state["analysis_type"] == "tables":
        task = runtime.context.task
        before, today = earlier_query(task.inputs), day_asked(task.arguments)
        answer = await in_thread(lambda: ask(state["query"], table_files(workspace), before, today))
        if answer.why != "limit":
            return {"table": _told(answer, state["language"])}
        read = await asyncio.to_thread(whole, workspace, passages, secrets)
        limited = await in_thread(lambda: held(answer, state["query"], read, state["language"]))
        return {"table": _told(limited[0], state["language"], *limited[1:])}
    told: dict[str, Any] = {}
    paths = {passage.path for passage in passages if PurePosixPath(passage.path).suffix.lower() in SUFFIXES}
    if paths:
        said = _SEARCHING.sub(" ", state["query"].split("\n")[0])
        answer = await in_thread(lambda: ask(said, [file for file in table_files(workspace) if file.path in paths]))
        told = _told(answer, state["language"])
    read = await asyncio.to_thread(whole, workspace, passages, secrets)
    return {"passages": [asdict(passage) for passage in read], "table": told if told.get("found") else {}}


async def analyse(state: AnalysisState, runtime: Runtime[TeamContext]) -> dict[str, Any]:
    """Do the arithmetic; where a table wasn't asked, let a person choose among the nearest queries."""
    context, language = runtime.context, state["language"]
    if state["analysis_type"] == "tables":
        near = state["table"]["choices"]
        chosen = interrupt(which(list(near), state["query"], language)) if near else ""
        if chosen not in near:
            return {}
        query = TableQuery.from_dict(near[chosen])
        answer = await in_thread(lambda: again(query, table_files(context.workspace)))
        return {"table": _told(answer, language)}
    runs = [run_of(todo_id, result.to_dict()) for todo_id, result in context.task.inputs.items()]
    measured = measured_steps([run for run in runs if run], language)
    asked = (state["query"], _passages(state), state["analysis_type"], language, measured)
    return {"analysis": _ANALYSIS.dump_python(await asyncio.to_thread(compute, *asked), mode="json")}


async def generate_insights(state: AnalysisState, runtime: Runtime[TeamContext]) -> dict[str, Any]:
    """Add what is worth noticing besides the figures: where a limit holds, where it doesn't, what is missing."""
    if "analysis" not in state:
        return {}
    analysis = _ANALYSIS.validate_python(state["analysis"])
    noticed = await asyncio.to_thread(with_insights, analysis, _passages(state))
    return {"analysis": _ANALYSIS.dump_python(noticed, mode="json")}


def _passages(state: AnalysisState) -> list[Passage]:
    return [Passage.from_dict(item) for item in state["passages"]]


def _computed(state: AnalysisState) -> Analysis | None:
    """Return what was computed; None where a table answers and nothing else was."""
    analysis = _ANALYSIS.validate_python(state["analysis"]) if "analysis" in state else None
    return None if state.get("table") and not (analysis and analysis.found) else analysis


def _brief(state: AnalysisState) -> Brief:
    analysis = _computed(state)
    told = analysis_brief(analysis) if analysis else brief_of({"data": state["table"]})
    assert told is not None
    return told


async def create_report(state: AnalysisState, runtime: Runtime[TeamContext]) -> dict[str, Any]:
    """Write the report."""
    return {"report": render(_brief(state))}


async def finalise(state: AnalysisState, runtime: Runtime[TeamContext]) -> dict[str, Any]:
    """Hand the result back."""
    analysis, told = _computed(state), _brief(state)
    if analysis is not None:
        data = _ANALYSIS.dump_python(analysis, mode="json")
        places, said, found = citations(analysis), analysis.summary, analysis.found
    else:
        table = {name: value for name, value in state["table"].items() if name not in (BRIEF, _LINE)}
        data, found = {"table": table}, bool(table["found"])
        cited_in = [table["source"], *filter(None, [table["limit"]])] if found else []
        places = tuple(Citation.from_dict(place) for place in cited_in)
        said = state["table"].get(_LINE) or first_words(told.answer or " ".join(told.absent))
    data |= {"query": state["query"], BRIEF: told.to_dict()}
    result = TeamResult(state["report"], data, places, summary=clip(said, _SUMMARY), found=found)
    return {"result": result.to_dict()}
