"""How long the first page of a long history takes, beside LangGraph's own listing.

A session of 10,000 checkpoints is made by the real supervising graph: events that change a TODO's priority, one
checkpoint each. Then `SessionHistory.page(20)` and `aget_state_history(limit=20)` take turns.

    python benchmarks/history.py [--checkpoints 10000] [--todos 30] [--rounds 15] [--data DIR]
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import common
from benchmarks.common import Figures, show
from hitl_tui.core.board import Rules
from hitl_tui.core.events import Event, EventKind, utc_now
from hitl_tui.supervisor.checkpoint_saver import create_checkpointer
from hitl_tui.supervisor.graph import TeamSupervisor, config_of
from hitl_tui.supervisor.storage import ArtifactStore
from hitl_tui.teams.contract import TeamContext, TeamResult
from hitl_tui.threads.session_history import SessionHistory

PAGE = 20
TARGET_RATIO = 20.0


async def nothing(context: TeamContext) -> TeamResult:
    """A team that is never asked to run."""
    return TeamResult("done")


async def build(supervisor: TeamSupervisor, history: SessionHistory, checkpoints: int, todos: int) -> None:
    """Let the graph take events until it has so many checkpoints."""
    state = await supervisor.execute("Which clauses deal with the deposit?", common.SESSION)
    seq = 0
    missing = checkpoints - await history.count()
    while missing > 0:
        for _ in range(missing):
            seq += 1
            data = {"todo_id": f"todo_{seq % todos + 1:03d}", "priority": ("high", "low")[seq // todos % 2]}
            event = Event(kind=EventKind.PRIORITY, data=data, id=f"e{seq}", seq=seq, at=utc_now(), by="benchmark")
            state = await supervisor.resume(common.SESSION, state["__interrupt__"][0].id, [event])
        missing = checkpoints - await history.count()


async def measure(
    root: Path, checkpoints: int, todos: int, rounds: int
) -> tuple[list[float], list[float], list[float]]:
    """Return seconds of our first page, of LangGraph's, and of our last page."""
    agent, _ = common.planning_agent(common.steps_of([[i - 1] if i % 10 else [] for i in range(todos)]), nothing)
    ours: list[float] = []
    theirs: list[float] = []
    deep: list[float] = []
    async with create_checkpointer(root / "checkpoints.db") as saver:
        history = SessionHistory(saver, common.SESSION)  # type: ignore[arg-type]
        supervisor = TeamSupervisor(agent, Rules, ArtifactStore(root / "artifacts"), saver, utc_now)
        began = time.perf_counter()
        await build(supervisor, history, checkpoints, todos)
        took = time.perf_counter() - began
        file = common.size(common.database_bytes(root / "checkpoints.db"))
        print(f"{await history.count():,} checkpoints of {todos} TODOs, {file}, made in {took:.0f} s")
        config = config_of(common.SESSION)
        oldest = (await history.page(checkpoints))[-PAGE - 1].checkpoint_id
        for _ in range(rounds):
            began = time.perf_counter()
            page = await history.page(PAGE)
            ours.append(time.perf_counter() - began)
            began = time.perf_counter()
            states = [state async for state in supervisor.graph.aget_state_history(config, limit=PAGE)]
            theirs.append(time.perf_counter() - began)
            began = time.perf_counter()
            await history.page(PAGE, oldest)
            deep.append(time.perf_counter() - began)
            listed = [state.config["configurable"]["checkpoint_id"] for state in states]
            if [info.checkpoint_id for info in page] != listed:
                raise RuntimeError("the two lists differ")
    return ours, theirs, deep


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="The first page of a long history.")
    parser.add_argument("--checkpoints", type=int, default=10_000, help="length of the history")
    parser.add_argument("--todos", type=int, default=30, help="size of the plan")
    parser.add_argument("--rounds", type=int, default=15, help="repetitions")
    parser.add_argument("--data", type=Path, help="folder on the disk to measure; a temporary one is made in it")
    chosen = parser.parse_args()
    print(common.machine())
    with common.scratch(chosen.data) as root:
        ours, theirs, deep = asyncio.run(measure(root, chosen.checkpoints, chosen.todos, chosen.rounds))
    rows = []
    names = ("History.page(20)", "aget_state_history(limit=20)", "History.page(20), the oldest")
    for name, seconds in zip(names, (ours, theirs, deep), strict=True):
        figures = Figures.of(seconds)
        rows.append([name, str(figures.count), f"{figures.median * 1000:.2f}", f"{figures.p95 * 1000:.2f}"])
    show("One page (ms)", ["", "rounds", "median", "p95"], rows)
    ratio = Figures.of(theirs).median / Figures.of(ours).median
    print(f"  {ratio:.0f} times faster (target: at least {TARGET_RATIO:.0f})")


if __name__ == "__main__":
    main()
