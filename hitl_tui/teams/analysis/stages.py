"""The six stages of the analysis graph (D13); imported when a graph is built, since LangGraph is heavy."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from hitl_tui.teams.analysis.analyse import compute, with_insights
from hitl_tui.teams.analysis.figures import measured_steps
from hitl_tui.teams.analysis.files import limit_lines, read_tables
from hitl_tui.teams.analysis.forms import rounded
from hitl_tui.teams.analysis.measured import Run, run_of
from hitl_tui.teams.analysis.model import MAX_QUERY, Analysis, Passage, Step
from hitl_tui.teams.analysis.report import brief, citations, render, summary
from hitl_tui.teams.analysis.steps import say
from hitl_tui.teams.analysis.tablemodel import TableSummary
from hitl_tui.teams.analysis.tables import summarise
from hitl_tui.teams.brief import BRIEF, language_of
from hitl_tui.teams.contract import TeamContext, TeamResult, TeamTask

MAX_PASSAGES = 60


class AnalysisState(TypedDict, total=False):
    """What passes between the stages; plain JSON.

    `task` is the input and `result` a `TeamResult.to_dict()`; the rest belongs to the stages.
    """

    task: str
    query: str
    analysis_type: str
    language: str
    passages: list[dict[str, Any]]
    measured: list[dict[str, Any]]
    nearby: list[dict[str, Any]]
    tables: list[dict[str, Any]]
    notes: list[str]
    analysis: dict[str, Any]
    report: str
    result: dict[str, Any]


def graph() -> StateGraph[Any, Any, Any, Any]:
    """Return the graph, not compiled."""
    built: StateGraph[Any, Any, Any, Any] = StateGraph(AnalysisState, context_schema=TeamContext)
    built.add_node("prepare", prepare)
    built.add_node("preprocess", preprocess)
    built.add_node("analyse", analyse)
    built.add_node("generate_insights", generate_insights)
    built.add_node("create_report", create_report)
    built.add_node("finalise", finalise)
    order = (START, "prepare", "preprocess", "analyse", "generate_insights", "create_report", "finalise", END)
    for before, after in itertools.pairwise(order):
        built.add_edge(before, after)
    return built


def question(task: TeamTask) -> str:
    """Return what to compute on: the approved query, and the session's question where it says something else."""
    query = str(task.arguments.get("query", "")).strip()
    whole = task.query.strip()
    if not query or query in whole:
        return whole or query or task.task.strip()
    return query if whole in query else f"{query}\n{whole}"


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


def _runs(task: TeamTask) -> list[Run]:
    """Return the commands among earlier results, in plan order."""
    found = (run_of(todo_id, result.to_dict()) for todo_id, result in task.inputs.items())
    return [run for run in found if run is not None]


def _count(n: int, thing: str) -> str:
    """Return `1 table`, `2 tables`."""
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


async def prepare(state: AnalysisState, runtime: Runtime[TeamContext]) -> dict[str, Any]:
    """Collect the question and the passages of earlier results."""
    task = runtime.context.task
    query = question(task)[:MAX_QUERY]
    passages = collect(task)
    language = language_of(task.query or query)
    runtime.context.progress(
        say(
            language,
            f"앞선 결과 {len(task.inputs)}건의 구절 {len(passages)}개",
            f"{_count(len(passages), 'passage')} from {_count(len(task.inputs), 'earlier result')}",
        )
    )
    return {
        "query": query,
        "analysis_type": str(task.arguments.get("analysis_type", "comprehensive")),
        "language": language,
        "passages": [passage.to_dict() for passage in passages],
        "measured": [step.to_dict() for step in measured_steps(_runs(task), language)],
    }


async def preprocess(state: AnalysisState, runtime: Runtime[TeamContext]) -> dict[str, Any]:
    """Read the tables that passages name, and the lines near them that state limits."""
    passages = [Passage.from_dict(item) for item in state["passages"]]
    nearby, tables, notes = await asyncio.to_thread(_read, runtime.context.workspace, passages, state["query"])
    runtime.context.progress(
        say(
            state["language"],
            f"표 {len(tables)}개, 제한을 말하는 줄 {len(nearby)}개 더",
            f"{_count(len(tables), 'table')}, {_count(len(nearby), 'further line')} near a limit",
        )
    )
    return {
        "nearby": [passage.to_dict() for passage in nearby],
        "tables": [table.to_dict() for table in tables],
        "notes": list(notes),
    }


def _read(
    workspace: Path, passages: list[Passage], query: str
) -> tuple[tuple[Passage, ...], list[TableSummary], tuple[str, ...]]:
    tables, notes = read_tables(workspace, (passage.path for passage in passages))
    return limit_lines(workspace, passages), [summarise(table, query) for table in tables], notes


def _passages(state: AnalysisState) -> list[Passage]:
    return [Passage.from_dict(item) for item in (*state["passages"], *state["nearby"])]


def _tables(state: AnalysisState) -> list[TableSummary]:
    return [TableSummary.from_dict(item) for item in state["tables"]]


async def analyse(state: AnalysisState, runtime: Runtime[TeamContext]) -> dict[str, Any]:
    """Do the arithmetic."""
    analysis = await asyncio.to_thread(
        compute,
        state["query"],
        _passages(state),
        _tables(state),
        state["analysis_type"],
        state["language"],
        [Step.from_dict(item) for item in state.get("measured", ())],
    )
    runtime.context.progress(
        say(
            state["language"],
            f"계산 {len(analysis.steps)}건, 적용한 제한 {len(analysis.applied)}개",
            f"{_count(len(analysis.steps), 'computation')}, {_count(len(analysis.applied), 'limit')} applied",
        )
    )
    return {"analysis": analysis.to_dict()}


async def generate_insights(state: AnalysisState, runtime: Runtime[TeamContext]) -> dict[str, Any]:
    """Add what is worth noticing besides the figures."""
    analysis = Analysis.from_dict(state["analysis"])
    noticed = await asyncio.to_thread(with_insights, analysis, _passages(state), _tables(state), state["notes"])
    count = len(noticed.insights)
    runtime.context.progress(say(state["language"], f"참고할 점 {count}개", f"{_count(count, 'point')} worth noticing"))
    return {"analysis": noticed.to_dict()}


async def create_report(state: AnalysisState, runtime: Runtime[TeamContext]) -> dict[str, Any]:
    """Write the report."""
    passages = [Passage.from_dict(item) for item in state["passages"]]
    return {"report": render(Analysis.from_dict(state["analysis"]), passages)}


async def finalise(state: AnalysisState, runtime: Runtime[TeamContext]) -> dict[str, Any]:
    """Hand the result back."""
    analysis = Analysis.from_dict(state["analysis"])
    data = analysis.to_dict()
    percent = analysis.change_percent
    data["change_percent"] = None if percent is None else float(rounded(percent, 1))
    data["change_percent_exact"] = None if percent is None else str(percent)
    data["tables"] = state["tables"]
    data[BRIEF] = brief(analysis).to_dict()
    result = TeamResult(
        text=state["report"],
        data=data,
        citations=citations(analysis),
        summary=summary(analysis),
        found=analysis.found,
    )
    runtime.context.progress(result.summary, fraction=1.0)
    return {"result": result.to_dict()}
