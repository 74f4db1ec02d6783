"""What team tests share: effects kept in memory, and running a team's graph as the supervisor does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hitl_tui.core.json_text import digest
from hitl_tui.teams.contract import PreviewContext, Team, TeamContext, TeamResult, TeamTask


@dataclass
class MemoryEffects:
    """The contract of effects without a ledger: what was done comes back, what failed may be done again."""

    done: dict[str, dict[str, Any]] = field(default_factory=dict)
    asked: list[tuple[str, Any]] = field(default_factory=list)
    acted: int = 0

    async def __call__(self, name: str, subject: Any, act: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        self.asked.append((name, subject))
        key = digest([name, subject])
        if key not in self.done:
            self.acted += 1
            value = await act()
            digest(value)  # it has to be JSON
            self.done[key] = value
        return self.done[key]


@dataclass
class DeclaredDone:
    """Effects where a person said of each that it was done."""

    async def __call__(self, name: str, subject: Any, act: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        return {"declared_done": True}


@dataclass
class Progress:
    lines: list[str] = field(default_factory=list)

    def __call__(self, line: str, *, fraction: float | None = None) -> None:
        self.lines.append(line)


def make_context(
    workspace: Path,
    arguments: Mapping[str, Any],
    *,
    effects: Any = None,
    query: str = "What is going on?",
    inputs: Mapping[str, TeamResult] | None = None,
    secrets: Mapping[str, str] | None = None,
    progress: Any = None,
    lock_fd: int = -1,
) -> TeamContext:
    return TeamContext(
        task=TeamTask(todo_id="todo_001", query=query, task="do it", arguments=arguments, inputs=dict(inputs or {})),
        workspace=workspace,
        cache=workspace / ".cache",
        key="key-1",
        effects=effects if effects is not None else MemoryEffects(),
        progress=progress if progress is not None else Progress(),
        secrets=dict(secrets or {}),
        lock_fd=lock_fd,
    )


def looking(workspace: Path, secrets: Mapping[str, str] | None = None) -> PreviewContext:
    """Return what a team may look at for a preview where no earlier step found anything."""

    async def inputs() -> dict[str, TeamResult]:
        return {}

    return PreviewContext(workspace, dict(secrets or {}), "What is going on?", inputs)


async def run_team(team: Team, context: TeamContext) -> TeamResult:
    """Run a team's graph to its end and return its result; its whole state has to survive strict storage."""
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    saver = InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=None))
    graph = team.build().compile(checkpointer=saver)
    config = {"configurable": {"thread_id": "t"}}
    await graph.ainvoke({"task": context.task.task}, config, context=context, durability="sync")
    state = (await graph.aget_state(config)).values
    digest(state)
    return TeamResult.from_dict(state["result"])


async def first(wanted: asyncio.Future[Any], task: asyncio.Task[Any]) -> Any:
    """Wait for a sign of life of a task; when the task ends without one its error is raised."""
    await asyncio.wait({wanted, task}, return_when=asyncio.FIRST_COMPLETED)
    if not wanted.done():
        task.result()
        raise AssertionError("the task ended and gave no sign of life")
    return wanted.result()
