"""The search team's graph: refresh the index, find passages, report them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypedDict, TypeVar

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from hitl_tui.core.json_text import short_id
from hitl_tui.teams.contract import TeamContext
from hitl_tui.teams.search.index import SearchIndex
from hitl_tui.teams.search.passage_search import SearchHits
from hitl_tui.teams.search.search_report import Found, counted, indexed, make_report, words_for

_T = TypeVar("_T")
_KEPT_SKIPPED = 50
_STEPS = 20


class SearchState(TypedDict, total=False):
    """What the search graph keeps, plain JSON."""

    task: str
    searched: int
    skipped: list[dict[str, str]]
    skipped_count: int
    notes: list[dict[str, str]]
    passages: list[dict[str, Any]]
    missing: list[str]
    weak: bool
    result: dict[str, Any]


def search_graph() -> StateGraph[SearchState, TeamContext, SearchState, SearchState]:
    """Return the graph, not compiled: refresh → find → report."""
    graph = StateGraph(SearchState, context_schema=TeamContext)
    graph.add_node("refresh", refresh)
    graph.add_node("find", find)
    graph.add_node("report", report)
    graph.add_edge(START, "refresh")
    graph.add_edge("refresh", "find")
    graph.add_edge("find", "report")
    graph.add_edge("report", END)
    return graph


async def refresh(state: SearchState, runtime: Runtime[TeamContext]) -> SearchState:
    """Bring the index up to date with the workspace."""
    context = runtime.context
    loop = asyncio.get_running_loop()
    query, _, documents = _arguments(context)
    words = words_for(query, context.task.query)

    def show(done: int, total: int) -> None:
        step = max(1, total // _STEPS)
        if total and (done % step == 0 or done == total):
            line = words["indexing"].format(done=done, total=total)
            loop.call_soon_threadsafe(lambda: context.progress(line, fraction=done / total))

    def work(stop: Callable[[], bool]) -> SearchState:
        with SearchIndex(cache_file(context, documents), secrets=context.secrets) as index:
            done = index.refresh(context.workspace, documents, show, stop)
        loop.call_soon_threadsafe(context.progress, indexed(words, done.indexed, done.unchanged, done.removed))
        return {
            "searched": done.searched,
            "skipped": [item.to_dict() for item in done.skipped[:_KEPT_SKIPPED]],
            "skipped_count": len(done.skipped),
            "notes": [item.to_dict() for item in done.notes[:_KEPT_SKIPPED]],
        }

    return await _in_thread(work)


async def find(state: SearchState, runtime: Runtime[TeamContext]) -> SearchState:
    """Ask the index."""
    context = runtime.context
    query, limit, documents = _arguments(context)

    def work(stop: Callable[[], bool]) -> SearchHits:
        with SearchIndex(cache_file(context, documents), secrets=context.secrets) as index:
            if not index.covers(context.workspace, documents):
                # The cache may have been deleted since the step before.
                index.refresh(context.workspace, documents, stop=stop)
            return index.query(query, limit)

    hits = await _in_thread(work)
    files = len({passage.path for passage in hits.passages})
    context.progress(counted(words_for(query, context.task.query), len(hits.passages), files))
    passages = [asdict(passage) for passage in hits.passages]
    return {"passages": passages, "missing": list(hits.missing), "weak": hits.weak}


async def report(state: SearchState, runtime: Runtime[TeamContext]) -> SearchState:
    """Say what was found, where it stands, and what wasn't searched."""
    query, _, _ = _arguments(runtime.context)
    result = make_report(
        Found(
            query=query,
            passages=state["passages"],
            missing=state["missing"],
            searched=state["searched"],
            skipped=state["skipped"],
            skipped_count=state["skipped_count"],
            notes=state["notes"],
            asked=runtime.context.task.query,
            weak=state.get("weak", False),
        )
    )
    return {"result": result.to_dict()}


def cache_file(context: TeamContext, documents: Sequence[str]) -> Path:
    """Return the index's file: one for each workspace and choice of documents."""
    key = short_id("search", str(context.workspace), sorted(documents))
    return context.cache / f"search-{key}.db"


def _arguments(context: TeamContext) -> tuple[str, int, list[str]]:
    arguments = context.task.arguments
    return str(arguments["query"]), int(arguments["limit"]), [str(item) for item in arguments["documents"]]


async def _in_thread(work: Callable[[Callable[[], bool]], _T]) -> _T:
    """Run blocking work; when it is cancelled, ask it to stop at the next file."""
    stop = threading.Event()
    try:
        return await asyncio.to_thread(work, stop.is_set)
    except asyncio.CancelledError:
        stop.set()
        raise
