"""What an event costs in a real session, beside the same plan in a plain merged-dict channel.

Plans of 10 to 5,000 TODOs run through ledger, saver and dispatcher with a team that does nothing; they are approved
one by one, of those of more than 1,000 the first 200. An event's time goes from its being in the inbox to the snapshot
that contains it. Then TODOs are added by `/todo add`, each timed from the line to its answer. The peer is the smallest
LangGraph graph that keeps the same TODOs: one gate, one dict channel with a merging reducer; it gets the same changes,
in blocks between ours. It has no ledger, asks nothing and runs nothing.

    python benchmarks/engine.py [--sizes 10,100,1000,5000] [--shapes chains,layers,wide] [--events N] [--adds N]
        [--no-peer] [--data DIR]
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypedDict

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import common
from benchmarks.common import Figures, ms, show, size
from hitl_tui.commands.handler import CommandHandler
from hitl_tui.ledger.records import Closing
from hitl_tui.ledger.sqlite_ledger import SqliteLedger
from hitl_tui.supervisor.serializer import serializer
from hitl_tui.supervisor.session import Session
from hitl_tui.supervisor.snapshot import Snapshot
from hitl_tui.teams.contract import TeamContext, TeamResult

Change = dict[str, dict[str, Any] | None]

TARGET_MEDIAN, TARGET_RATIO = 0.006, 20.0
TARGET_SIZE, TARGET_SPREAD = 20_000_000, 2.0
"""Bytes of the checkpoint file after 2,000 events at 1,000 TODOs; an event at 5,000 TODOs against one at 100."""
_BLOCK = 25
_WHOLE, _PART = 1_000, 200
"""TODOs of the largest plan that is carried out to its end; approvals of a larger one."""


def chains(count: int) -> list[list[int]]:
    """Sparse: chains of ten."""
    return [[i - 1] if i % 10 else [] for i in range(count)]


def layers(count: int) -> list[list[int]]:
    """Dense: layers of ten, each TODO depends on the whole layer before."""
    return [list(range(i - i % 10 - 10, i - i % 10)) if i >= 10 else [] for i in range(count)]


def wide(count: int) -> list[list[int]]:
    """No dependencies: everything asks at once."""
    return [[] for _ in range(count)]


SHAPES: Mapping[str, Callable[[int], list[list[int]]]] = {"chains": chains, "layers": layers, "wide": wide}


class StampedLedger(SqliteLedger):
    """A ledger that notes when an event was in the inbox."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.posted: dict[int, tuple[str, float]] = {}

    async def post(
        self,
        session: str,
        branch: int,
        event_id: str,
        event: Mapping[str, Any],
        at: str,
        *,
        closing: Closing | None = None,
    ) -> int:
        seq = await super().post(session, branch, event_id, event, at, closing=closing)
        self.posted[seq] = str(event["kind"]), time.perf_counter()
        return seq


def merge(todos: dict[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """The reducer people write: the old dict and the changed TODOs."""
    return {**todos, **change}


class PlainState(TypedDict, total=False):
    """State of the peer."""

    todos: Annotated[dict[str, Any], merge]


class PlainGraph:
    """The peer: a gate and a merged dict.

    Args:
        graph: compiled with a saver of its own.
    """

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self._config = {"configurable": {"thread_id": common.SESSION}, "recursion_limit": 10_000}
        self._interrupt = ""

    @classmethod
    @asynccontextmanager
    async def open(cls, path: Path) -> AsyncIterator[PlainGraph]:
        """Open it on a checkpoint file in LangGraph's own saver, with the settings ours has."""
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
        from langgraph.graph import START, StateGraph
        from langgraph.types import Command, interrupt

        def gate(state: PlainState) -> Command[Any]:
            change = interrupt({"gate": "plain"})
            return Command(goto="gate", update={"todos": change})

        async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
            saver.serde = serializer()
            await saver.setup()
            await saver.conn.execute("PRAGMA synchronous=NORMAL")
            builder = StateGraph(PlainState)
            builder.add_node("gate", gate)
            builder.add_edge(START, "gate")
            yield cls(builder.compile(checkpointer=saver))

    async def begin(self, todos: Mapping[str, Any]) -> None:
        await self._invoke({"todos": dict(todos)})

    async def change(self, change: Change) -> None:
        from langgraph.types import Command

        await self._invoke(Command(resume={self._interrupt: change}))

    async def _invoke(self, value: Any) -> None:
        found = await self._graph.ainvoke(value, self._config, durability="sync")
        self._interrupt = found["__interrupt__"][0].id


@dataclass
class Run:
    """One plan's figures.

    Args:
        approve, finished: seconds per event.
        plain: seconds per event of the peer.
        added, plain_added: seconds per `/todo add`, and of the same changes of the peer.
        cpu, plain_cpu: processor seconds in all.
        events: how many.
        sizes, plain_sizes: bytes of the checkpoint file at the start and after each quarter.
    """

    approve: list[float] = field(default_factory=list)
    finished: list[float] = field(default_factory=list)
    plain: list[float] = field(default_factory=list)
    added: list[float] = field(default_factory=list)
    plain_added: list[float] = field(default_factory=list)
    cpu: float = 0.0
    plain_cpu: float = 0.0
    events: int = 0
    sizes: list[int] = field(default_factory=list)
    plain_sizes: list[int] = field(default_factory=list)
    at: list[int] = field(default_factory=list)

    @property
    def median(self) -> float:
        """Seconds of half of the events, at most."""
        return Figures.of([*self.approve, *self.finished]).median


async def nothing(context: TeamContext) -> TeamResult:
    """The trivial team."""
    return TeamResult(f"{context.task.todo_id} is done")


class Watch:
    """Notes when each snapshot came."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.seen: list[tuple[float, Snapshot]] = []
        self._noted = asyncio.Condition()

    async def run(self) -> None:
        snapshot = self._session.snapshot
        while True:
            snapshot = await self._session.changed(snapshot)
            self.seen.append((time.perf_counter(), snapshot))
            async with self._noted:
                self._noted.notify_all()

    async def until(self, snapshot: Snapshot) -> None:
        """Wait until this snapshot, or one after it, was noted."""
        async with self._noted:
            await self._noted.wait_for(lambda: any(seen.cursor >= snapshot.cursor for _, seen in self.seen))

    def applied(self, seq: int) -> float:
        """Return when the event with this number was first in a snapshot."""
        return next(at for at, snapshot in self.seen if snapshot.cursor >= seq)


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> Change:
    """Return the TODOs that changed."""
    return {key: value for key, value in after.items() if value is not before.get(key) and value != before.get(key)}


async def measure(
    root: Path, dependencies: Sequence[Sequence[int]], *, peer: bool, most: int = 0, adds: int = 0
) -> Run:
    """Run one plan and return its figures.

    Args:
        root: an empty folder.
        dependencies: of the plan; see `common.steps_of`.
        peer: beside the plain graph.
        most: so many TODOs are approved; 0 for all.
        adds: so many TODOs are added then.
    """
    run = Run()
    plain_file = root / "plain.db"
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(
            common.open_session(root, common.steps_of(dependencies), nothing, ledger_type=StampedLedger)
        )
        plain = await stack.enter_async_context(PlainGraph.open(plain_file)) if peer else None
        snapshot = await session.settled()
        if plain is not None:
            await plain.begin(snapshot.raw)
        file = session.setup.folder.checkpoints
        watch = Watch(session)
        watcher = asyncio.create_task(watch.run())
        changes: list[Change] = []

        async def note_sizes() -> None:
            await _replay(plain, changes, run)
            run.at.append(run.events)
            run.sizes.append(common.database_bytes(file))
            run.plain_sizes.append(common.database_bytes(plain_file) if peer else 0)

        await note_sizes()
        total = min(len(dependencies), most or len(dependencies))
        quarters = {max(1, total * part // 4) for part in range(1, 5)}
        for number in range(1, total + 1):
            watch.seen.clear()
            used = common.cpu_seconds()
            before = snapshot.raw
            await common.approve(session, snapshot.questions[0])
            decided = time.perf_counter()
            seq = await session.writer.last_seq()
            await session.applied(seq)
            snapshot = await session.settled()
            await watch.until(snapshot)
            run.cpu += common.cpu_seconds() - used
            _note(run, session, watch, seq, decided)
            for _, seen in watch.seen:
                if change := difference(before, seen.raw):
                    changes.append(change)
                before = seen.raw
            if number % _BLOCK == 0:
                await _replay(plain, changes, run)
            if number in quarters:
                await note_sizes()
        watcher.cancel()
        await _add(session, plain, run, adds)
    return run


async def _add(session: Session, plain: PlainGraph | None, run: Run, count: int) -> None:
    """Add TODOs as a person does."""
    person = CommandHandler(session, session.setup.planner, by="benchmark", channel="benchmark")
    for _ in range(count):
        before = (await session.settled()).raw
        began = time.perf_counter()
        result = await person.handle_command(f"/todo add {common.TEAM} Look at the deposit clauses again")
        run.added.append(time.perf_counter() - began)
        if result.failed:
            raise RuntimeError(result.message)
        if plain is not None:
            change = difference(before, (await session.settled()).raw)
            began = time.perf_counter()
            await plain.change(change)
            run.plain_added.append(time.perf_counter() - began)


def _note(run: Run, session: Session, watch: Watch, seq: int, decided: float) -> None:
    ledger = session.setup.ledger
    assert isinstance(ledger, StampedLedger)
    run.approve.append(watch.applied(seq) - decided)
    for number, (kind, at) in ledger.posted.items():
        if kind == "finished":
            run.finished.append(watch.applied(number) - at)
    run.events += 1 + len(ledger.posted)
    ledger.posted.clear()


async def _replay(plain: PlainGraph | None, changes: list[Change], run: Run) -> None:
    """Give the peer what changed since the last time."""
    if plain is not None:
        used = common.cpu_seconds()
        for change in changes:
            began = time.perf_counter()
            await plain.change(change)
            run.plain.append(time.perf_counter() - began)
        run.plain_cpu += common.cpu_seconds() - used
    changes.clear()


def _row(kind: str, seconds: Sequence[float], cpu: str) -> list[str]:
    figures = Figures.of(seconds)
    return [kind, str(figures.count), ms(figures.median), ms(figures.p95), ms(figures.worst), cpu]


def report(shape: str, count: int, run: Run) -> None:
    """Print one plan's figures."""
    rows = [
        _row("approve → in the snapshot", run.approve, ""),
        _row("finished → in the snapshot", run.finished, ""),
        _row("all events", [*run.approve, *run.finished], ms(run.cpu / run.events)),
    ]
    if run.plain:
        rows.append(_row("plain graph alone", run.plain, ms(run.plain_cpu / len(run.plain))))
    if run.added:
        rows.append(_row("/todo add → its answer", run.added, ""))
    if run.plain_added:
        rows.append(_row("plain graph, one more", run.plain_added, ""))
    header = ["ms per event", "events", "median", "p95", "worst", "CPU"]
    show(f"{count:,} TODOs, {shape}", header, rows)
    rows = [_sizes("session", run.at, run.sizes)]
    if run.plain:
        rows.append(_sizes("plain", run.at, run.plain_sizes))
    header = ["checkpoint file", "start", "25 %", "50 %", "75 %", "100 %", "per event, by quarter"]
    show("Growth", header, rows)
    print(f"  median {ms(run.median)} ms an event (target: at most {ms(TARGET_MEDIAN)} at 1,000)")
    print(f"  file {size(run.sizes[-1])} after {run.events:,} events (target: at most {size(TARGET_SIZE)} at 1,000)")
    if run.plain:
        ratio = run.plain_sizes[-1] / run.sizes[-1]
        print(f"  plain file {ratio:.1f} times as large (target: at least {TARGET_RATIO:.0f} at 1,000)", flush=True)


def _sizes(name: str, at: Sequence[int], sizes: Sequence[int]) -> list[str]:
    steps = range(1, len(at))
    growth = " ".join(size((sizes[i] - sizes[i - 1]) / max(1, at[i] - at[i - 1])) for i in steps)
    cells = [size(s) for s in sizes]
    return [name, *cells[:1], *[""] * (5 - len(cells)), *cells[1:], growth]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="What an event costs in a real session.")
    parser.add_argument("--sizes", default="10,100,1000,5000", help="plan sizes")
    parser.add_argument("--shapes", default="chains,layers,wide", help=f"of {', '.join(SHAPES)}")
    parser.add_argument("--events", type=int, default=0, metavar="N", help="approvals of a plan (all, or 200)")
    parser.add_argument("--adds", type=int, default=50, metavar="N", help="TODOs that are added afterwards")
    parser.add_argument("--no-peer", action="store_true", help="without the plain graph")
    parser.add_argument("--data", type=Path, help="folder on the disk to measure; a temporary one is made in it")
    chosen = parser.parse_args()
    print(common.machine())
    medians: dict[tuple[str, int], float] = {}
    for count in (int(s) for s in chosen.sizes.split(",")):
        for shape in chosen.shapes.split(","):
            most = chosen.events or (_PART if count > _WHOLE else 0)
            with common.scratch(chosen.data) as root:
                measuring = measure(
                    root, SHAPES[shape](count), peer=not chosen.no_peer, most=most, adds=max(0, chosen.adds)
                )
                run = asyncio.run(measuring)
            report(shape, count, run)
            medians[shape, count] = run.median
    for (shape, count), median in medians.items():
        if count > _WHOLE and (shape, 100) in medians:
            spread = median / medians[shape, 100]
            print(f"\n{shape}: an event at {count:,} takes {spread:.2f} times one at 100 (target: {TARGET_SPREAD:.0f})")


if __name__ == "__main__":
    main()
