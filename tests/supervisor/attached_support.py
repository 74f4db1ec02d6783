"""A session of an attached graph, as tests drive it."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from people import verified, write_approvers
from trusting import trust_workspace

from hitl_tui.commands.handler import CommandHandler
from hitl_tui.commands.results import CommandResult
from hitl_tui.config.declared_graphs import GraphDeclaration
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.session import Session
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.snapshot import Question, Snapshot

GRAPHS = Path(__file__).parent / "attached_graphs.py"


@dataclass
class Attached:
    """An open session of one graph.

    Args:
        session: it.
        handler: gives commands to it.
    """

    session: Session
    handler: CommandHandler

    async def say(self, line: str) -> CommandResult:
        """Give a command and wait until nothing goes on by itself."""
        result = await self.handler.handle_command(line)
        await self.session.settled()
        return result

    async def ok(self, line: str) -> CommandResult:
        result = await self.say(line)
        assert not result.failed, result.message
        return result

    @property
    def now(self) -> Snapshot:
        return self.session.snapshot

    @property
    def asked(self) -> list[Any]:
        """What the graph's interrupts ask, in order."""
        return [q.view.request.subject.get("value") for q in self.questions]

    @property
    def questions(self) -> list[Question]:
        return list(self.now.questions)

    def values(self) -> Any:
        """The state the graph ended with."""
        assert self.now.status == "finished", self.now.todos[0].error
        return self.now


def world(root: Path) -> Counter[str]:
    """How often each thing was done to the world."""
    path = root / "world.txt"
    return Counter(path.read_text(encoding="utf-8").splitlines() if path.exists() else [])


@asynccontextmanager
async def attached(
    root: Path,
    attribute: str,
    given: str = "",
    *,
    name: str = "s1",
    environ: Mapping[str, str] | None = None,
    by: str = "ann",
    file: Path = GRAPHS,
    **more: Any,
) -> AsyncIterator[Attached]:
    """Open a session of one of the graphs, begun with an input unless it is there already."""
    workspace = root / "workspace"
    workspace.mkdir(exist_ok=True)
    graph = GraphDeclaration("graph", f"{file}:{attribute}", str(file.parent), **more)
    write_approvers(root / "data", "ann", "ben")
    if (workspace / "hitl.toml").exists():
        trust_workspace(root / "data", workspace)
    async with SessionRegistry.open(root / "data", environ or {}) as bench:
        if name not in bench.data.ids():
            setup = await bench.create(given, workspace, session_id=name, graph=graph)
        else:
            setup = await bench.setup(name)
        async with open_session(bench.store, setup) as opened:
            session = opened.view
            assert isinstance(session, Session)
            handler = CommandHandler(session, setup.planner, by=by, channel="test", acting=verified(by), terminal=True)
            found = Attached(session, handler)
            await session.settled()
            yield found
