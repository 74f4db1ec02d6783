"""The search team's graph: find passages in an index that is up to date, and report them."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any, TypedDict, TypeVar

from langgraph.runtime import Runtime

from hitl_tui.extraction.blocks import LeftOut
from hitl_tui.meaning import encoder
from hitl_tui.teams.contract import TeamContext, TeamGraph, in_steps
from hitl_tui.teams.search.index import POLL, SearchIndex, without_named
from hitl_tui.teams.search.index_build import HERE, IndexPlace, build
from hitl_tui.teams.search.index_refresh import Allowed, Busy, Refreshed, TooMuch
from hitl_tui.teams.search.passage_search import SearchHits
from hitl_tui.teams.search.search_report import NOTHING, Looked, indexed, make_report, words_for

_T = TypeVar("_T")
_KEPT_SKIPPED, _KEPT_NAMED = 50, 5
_STEPS = 20
_NEAR = 3
"""Places of an answer near which is looked for what goes on from it."""


class SearchState(TypedDict, total=False):
    """What the search graph keeps, plain JSON."""

    task: str
    looked: Looked
    hits: dict[str, Any]
    result: dict[str, Any]


def search_graph() -> TeamGraph:
    """Return the graph, not compiled: find → report."""
    return in_steps(SearchState, ("find", find), ("report", report))


async def find(state: SearchState, runtime: Runtime[TeamContext]) -> SearchState:
    """Bring the index up to date with the workspace, and ask it."""
    context = runtime.context
    loop = asyncio.get_running_loop()
    query, limit, documents = _arguments(context)
    words = words_for(query, context.task.query)
    said, whole = query.split(), context.task.query
    part = len(said) < len(whole.split()) and all(word in whole for word in said) and not query.rstrip().endswith("?")
    shown = -1

    def show(done: int, total: int) -> None:
        nonlocal shown
        step = done * _STEPS // total if total else -1
        if step > shown:
            shown = step
            line = words["indexing"].format(done=done, total=total)
            loop.call_soon_threadsafe(lambda: context.progress(line, fraction=done / total))

    answers = [one.citations for one in context.task.inputs.values()]
    near = [(cited[at].path, cited[at].line) for at in range(_NEAR) for cited in answers if at < len(cited)]
    place = IndexPlace(context.workspace, documents, context.cache, context.secrets)

    def work(allowed: Allowed, stop: Callable[[], bool]) -> tuple[Refreshed, SearchHits]:
        encoder.load()
        with SearchIndex(place.file, secrets=context.secrets) as index:
            done = index.refresh(context.workspace, documents, show, stop, allowed)
            asked = query
            for item in done.skipped:
                asked = without_named(asked, item.path)
            return done, index.query(asked if asked.strip() else query, limit, part=part, near=near)

    async def found(allowed: Allowed) -> tuple[Refreshed, SearchHits]:
        while True:
            try:
                return await _in_thread(partial(work, allowed))
            except Busy as busy:  # many may wait for one: not in the threads that others need
                show(busy.done, busy.total)
                await asyncio.sleep(POLL)

    built = 0
    try:
        done, hits = await found(HERE)
    except TooMuch:
        built = (await build(place, show)).indexed
        done, hits = await found(Allowed(sketches=0, wait=False))
    context.progress(indexed(words, done.indexed + built, done.unchanged - built, done.removed))
    met = [item for item in done.skipped if item.kind is not LeftOut.IGNORED]
    looked: Looked = {
        "searched": done.searched,
        "skipped": [item.to_dict() for item in met[:_KEPT_SKIPPED]],
        "skipped_count": len(met),
        "left_out": dict(Counter(str(item.kind) for item in done.skipped)),
        "unread": [item.to_dict() for item in done.skipped if without_named(query, item.path) != query][:_KEPT_NAMED],
        "notes": [item.to_dict() for item in done.notes[:_KEPT_SKIPPED]],
    }
    return {"looked": looked, "hits": asdict(hits)}


async def report(state: SearchState, runtime: Runtime[TeamContext]) -> SearchState:
    """Say what was found, where it stands, and what wasn't searched."""
    query, _, _ = _arguments(runtime.context)
    hits = SearchHits.from_dict(state["hits"])
    return {"result": make_report(query, hits, state.get("looked", NOTHING), runtime.context.task.query).to_dict()}


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
