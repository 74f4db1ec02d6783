"""What the benchmarks share: a real session with a given plan, figures, and the machine they are taken on."""

from __future__ import annotations

import os
import platform
import resource
import sqlite3
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from fixed_policy import FixedPolicy

from hitl_tui.core.board import Rules
from hitl_tui.core.events import utc_now
from hitl_tui.core.plan import AgentFacts, ExecutionPlan, ExecutionStep, Intent
from hitl_tui.core.policy import Mode, Policy, Risk
from hitl_tui.core.requests import Decision, Verdict
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.ledger.records import RequestView
from hitl_tui.ledger.sqlite_ledger import SqliteLedger
from hitl_tui.planning.agent import PlanningAgent
from hitl_tui.planning.proposals import CurrentPlan, Planned, Proposed
from hitl_tui.supervisor.own_session import own_session
from hitl_tui.supervisor.session import Session
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.session_setup import SessionSetup
from hitl_tui.supervisor.session_staging import SessionStaging
from hitl_tui.supervisor.snapshot import Question
from hitl_tui.supervisor.storage import DataFolder, SessionInfo
from hitl_tui.teams.function_team import Function, FunctionTeam
from hitl_tui.teams.registry import TeamRegistry

SESSION = "bench"
TEAM = "work"
_SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}


class GivenPlan:
    """A planner that answers every query with one plan and proposes nothing.

    Args:
        steps: the plan's steps.
    """

    def __init__(self, steps: Sequence[ExecutionStep]) -> None:
        self._plan = ExecutionPlan(tuple(steps))

    async def plan(self, query: str, agents: Mapping[str, AgentFacts], feedback: str = "") -> Planned:
        return Planned(Intent("benchmark", 1.0), self._plan)

    async def follow_up(self, todo: SupervisorTodo, result: Mapping[str, Any], plan: CurrentPlan) -> Proposed | None:
        return None

    async def revise(self, text: str, plan: CurrentPlan) -> Proposed:
        return Proposed("nothing", ())


def steps_of(dependencies: Sequence[Sequence[int]]) -> list[ExecutionStep]:
    """Return a plan's steps: step `i` depends on the steps with the numbers `dependencies[i]`."""
    return [
        ExecutionStep(
            TEAM,
            f"Look through the lease documents, part {number}, and note what is said about the deposit",
            name=f"Deposit clauses, part {number}",
            id=f"s{number}",
            dependencies=tuple(f"s{d}" for d in needed),
            purpose="reads documents and notes what they say",
            expected_output="passages with their source",
        )
        for number, needed in enumerate(dependencies)
    ]


def planning_agent(steps: Sequence[ExecutionStep], function: Function) -> tuple[PlanningAgent, TeamRegistry]:
    """Return a planning agent with this plan, and the team that carries it out."""
    team = FunctionTeam(TEAM, "benchmark work", Risk.LOW, function, _SCHEMA, text_argument="text")
    registry = TeamRegistry({TEAM: team})
    return PlanningAgent(registry.agents(), GivenPlan(steps)), registry


@asynccontextmanager
async def open_session(
    root: Path,
    steps: Sequence[ExecutionStep],
    function: Function,
    *,
    ledger_type: type[SqliteLedger] = SqliteLedger,
    mode: Mode = Mode.STEP,
    concurrency: int = 4,
) -> AsyncIterator[Session]:
    """Open a new session on a real ledger, saver and dispatcher.

    Args:
        root: an empty folder for its data.
        steps: the plan.
        function: what its one team does.
        ledger_type: a subclass that measures.
        mode: when it asks.
        concurrency: TODOs that may run at once.
    """
    data = DataFolder(root / "data")
    data.prepare()
    workspace = root / "workspace"
    workspace.mkdir()
    agent, registry = planning_agent(steps, function)
    info = SessionInfo(SESSION, str(workspace), "benchmark", utc_now(), lineage=SESSION)
    SessionStaging(data.sessions).begin(info)
    async with ledger_type.open(data.ledger) as ledger:
        rules = Rules(Policy(), concurrency)
        setup = SessionSetup(
            info, data.session(SESSION), ledger, agent, registry.get, FixedPolicy(rules), mode, secrets={}
        )
        async with own_session(setup, "Which clauses deal with the deposit?") as session:
            yield session


async def approve(session: Session, question: Question) -> RequestView:
    """Approve a question as a face does: with the digest of what was shown."""
    desk = session.writer
    return await desk.decide(
        Decision(question.id, Verdict.APPROVE, "benchmark", question.digest, desk.now(), "benchmark")
    )


@contextmanager
def scratch(base: Path | None) -> Iterator[Path]:
    """Give an empty folder on a real disk and remove it at the end."""
    with tempfile.TemporaryDirectory(prefix="hitl-bench-", dir=base) as name:
        yield Path(name)


def database_bytes(path: Path) -> int:
    """Return the size of a SQLite file as its pages count, those still in the log included.

    It is asked through SQLite: closing a descriptor of our own would drop the locks of the connection that owns it.
    """
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    try:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    finally:
        connection.close()
    return int(pages) * int(size)


def cpu_seconds() -> float:
    """Return the processor time of this process so far, all threads, user and system."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def trusted(data: Path, workspace: Path) -> Path:
    """Trust a workspace as it is now, and return it: a dialog about that isn't what is measured."""
    async with SessionRegistry.open(data, {}) as registry:
        await registry.trust.grant(workspace, (await registry.trust.of(workspace)).digest, by="benchmark", how="digest")
    return workspace


@dataclass(frozen=True, slots=True)
class Figures:
    """What many samples came to, in the unit of the samples.

    Args:
        count: how many.
        median, p95, worst: of them.
    """

    count: int
    median: float
    p95: float
    worst: float

    @classmethod
    def of(cls, samples: Sequence[float]) -> Figures:
        """Return the figures of at least one sample."""
        ordered = sorted(samples)
        return cls(len(ordered), statistics.median(ordered), ordered[int(0.95 * (len(ordered) - 1))], ordered[-1])


def machine() -> str:
    """Return the machine in one line: processor, cores, Python, SQLite, LangGraph, load."""
    from importlib.metadata import version

    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    return (
        f"{_processor()}, {os.cpu_count()} cores (load {load}), {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, langgraph {version('langgraph')}, "
        f"textual {version('textual')}"
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown processor"
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def show(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: the first column to the left, figures to the right."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    print(f"\n{title}")
    for row in [header, ["-" * w for w in widths], *rows]:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))]
        print("  " + "  ".join(cells).rstrip(), flush=True)


def ms(seconds: float) -> str:
    """Return a time in milliseconds with a sensible number of digits."""
    return f"{seconds * 1000:.1f}" if seconds < 1 else f"{seconds * 1000:,.0f}"


def size(count: float) -> str:
    """Return a number of bytes for people."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if abs(count) >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count:.0f} B"
