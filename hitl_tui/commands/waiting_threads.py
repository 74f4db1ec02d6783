"""Threads of LangGraph servers that wait for somebody: each becomes a session here, which asks what it asks (I11)."""

from __future__ import annotations

import asyncio
from collections.abc import Container
from dataclasses import dataclass, replace
from pathlib import Path

from hitl_tui.commands.handler import CommandHandler, approve_given
from hitl_tui.config.declared_graphs import GraphDeclaration
from hitl_tui.core.errors import HitlError, SessionBusy
from hitl_tui.core.events import utc_now
from hitl_tui.core.json_text import short_id
from hitl_tui.core.messages import Message
from hitl_tui.core.names import step_name
from hitl_tui.graphs.langgraph_server import WaitingThread, thread_now, waiting_threads
from hitl_tui.policy.operator_identity import Operator
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.teams.contract import GO_ON

MOST_THREADS = 50
"""Threads of one assistant that are looked at; those that have waited longest come first."""
_MOST_REQUESTS = 10_000


@dataclass(frozen=True, slots=True)
class ThreadsFound:
    """What a look at the threads that wait led to.

    Args:
        sessions: that were begun for some.
        waiting: how many wait on their server that a session here asks about.
        problems: why a server can't be asked now, or a thread can't be taken over, a sentence each.
    """

    sessions: tuple[str, ...] = ()
    waiting: int = 0
    problems: tuple[str, ...] = ()


async def take_over_declared(
    registry: SessionRegistry, workspace: Path, operator: Operator, held: Container[str] = ()
) -> ThreadsFound:
    """Take over the threads that wait of each team that a trusted folder declares with `inbox = true`."""
    graphs = [graph for graph in (await registry.trust.of(workspace)).config.graphs.values() if graph.inbox]
    found = await asyncio.gather(*(take_over(registry, graph, workspace, operator, held) for graph in graphs))
    return ThreadsFound(
        tuple(session for one in found for session in one.sessions),
        sum(one.waiting for one in found),
        tuple(problem for one in found for problem in one.problems),
    )


async def take_over(
    registry: SessionRegistry, graph: GraphDeclaration, workspace: Path, operator: Operator, held: Container[str] = ()
) -> ThreadsFound:
    """Begin a session for each thread of an assistant that waits and has none; end those whose thread went on.

    A thread that a session of ours let come where it stands is that session's.

    Args:
        registry: the sessions.
        graph: the assistant.
        workspace: where its sessions work.
        operator: whoever looks: nothing of the thread runs before somebody answers it.
        held: sessions that are left alone, as this process has them open.
    """
    try:
        graph, there = await asyncio.to_thread(waiting_threads, graph, MOST_THREADS)
    except HitlError as error:
        return ThreadsFound(problems=(error.message,))
    known = {*registry.data.ids(), *(head.stream for head in await registry.ledger.streams())}
    wanted = {session_of(graph, thread): thread for thread in there if not thread.run}
    begun, problems = list[str](), list[str]()
    for session_id, thread in wanted.items():
        if session_id in known:
            continue
        try:
            await _begin(registry, replace(graph, thread=thread.id), workspace, operator, session_id)
            begun.append(session_id)
        except HitlError as error:
            problems.append(Message("The thread {} can't be taken over: {}", thread.id, error.message))
    for session_id in await _asking(registry, graph):
        if session_id not in wanted and session_id not in held:
            await _let_go(registry, session_id, operator)
    return ThreadsFound(tuple(begun), len(there), tuple(problems))


def session_of(graph: GraphDeclaration, thread: WaitingThread) -> str:
    """Return the id of the session for a thread where it stands: whoever looks, it is one."""
    return f"{_prefix(graph)}{thread.id[-8:]}-{short_id('thread', graph.target, thread.id, thread.checkpoint)[:6]}"


def _prefix(graph: GraphDeclaration) -> str:
    return f"{graph.name}-"


async def _begin(
    registry: SessionRegistry, graph: GraphDeclaration, workspace: Path, operator: Operator, session_id: str
) -> None:
    setup = await registry.create(GO_ON, workspace, session_id=session_id, graph=graph)
    async with open_session(registry.store, setup, GO_ON) as session:
        await session.carried_on()
        if session.snapshot.questions:
            await approve_given(session, setup.planner, operator.name, operator)
        await session.carried_on()


async def _asking(registry: SessionRegistry, graph: GraphDeclaration) -> list[str]:
    """Return the sessions for threads of an assistant that ask something."""
    views = await registry.ledger.urgent(utc_now(), _MOST_REQUESTS)
    return sorted({v.request.session for v in views if v.request.session.startswith(_prefix(graph))})


async def _let_go(registry: SessionRegistry, session_id: str, operator: Operator) -> None:
    """End what a session asks whose thread somebody else let go on; one that is open elsewhere is left alone."""
    graphs = await asyncio.to_thread(registry.data.session(session_id).graphs)
    taken = next((graph for graph in graphs if graph.thread and graph.is_served), None)
    if taken is None:
        return
    now = await asyncio.to_thread(thread_now, taken)
    if now is not None and (now.run or session_of(taken, now) == session_id):
        return
    setup = await registry.setup(session_id)
    try:
        async with open_session(registry.store, setup) as session:
            for question in session.snapshot.questions:
                handler = CommandHandler(session, setup.planner, by=operator.name, channel="cli", acting=operator)
                said = Message("somebody else answered it on its server")
                await handler.handle_command(f"/todo skip {step_name(question.todo_id)} {said}")
            await session.carried_on()
    except SessionBusy:
        return
