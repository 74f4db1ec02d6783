"""Kill -9 of workers, of connections and of the server, while workers carry sessions of a database (X2).

Each session is the plan of `crash_plan.py`, 12 TODOs, whose effects a process outside counts; what it came to is judged
as in `crash.py`. Somebody elsewhere decides, by the record alone. An effect may be asked about only where a death fell
into it.

    uv run python benchmarks/crash_workers.py --minutes 2
    uv run python benchmarks/crash_workers.py --workers 4 --minutes 20 --every 8 --seed 1 --proxy --skew 3600

`--proxy` puts a proxy between workers and server that cuts connections, delays them, and lets one direction of them
die. `--skew 3600` lets every second worker's clock be an hour ahead; what is asked about is then judged by both clocks.

Sessions are begun until the minutes are over, `--live` of them at a time, and then finished. It needs PostgreSQL's
`initdb` on this machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

import psycopg
from crash_judge import Verdicts, judge_session
from crash_plan import COMMAND, FAILING, QUERY, Teams, planned
from crash_proxy import FAULTS, Proxy, proxy_to
from crash_world import World, served
from langgraph.checkpoint.base import id as ids
from postgres_server import PostgresServer, postgres_server

from hitl_tui.channels.worker import SessionWorker
from hitl_tui.config.declared_commands import CommandDeclaration
from hitl_tui.config.workspace_copy import workspace_copy
from hitl_tui.core.errors import HitlError, Refused
from hitl_tui.core.events import utc_now
from hitl_tui.core.requests import Decision, Kind, Verdict
from hitl_tui.ledger.audit import verify
from hitl_tui.ledger.records import Entry, RequestView
from hitl_tui.supervisor.open_session import GRACE
from hitl_tui.supervisor.postgres_sessions import DatabaseFolder
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.session_setup import SessionSetup
from hitl_tui.teams.command.team import CommandTeam
from hitl_tui.teams.contract import TeamContext, TeamResult

NEAR = 1.0
"""Seconds around a death in which what happened may have come before or after it."""
_LASTS = 20.0
"""Seconds after which a direction that died may still be found out."""
STUCK = 300.0
"""Seconds without any progress after which what is left counts as lost."""


@dataclass(frozen=True, slots=True)
class SharedWorld(World):
    """What one session does to a world that many act on.

    Args:
        session: the session.
    """

    session: str = ""

    async def act(self, todo: str, effect: str) -> int:
        return await World.act(self, f"{self.session}/{todo}", effect)


@dataclass(frozen=True, slots=True)
class SeenWorld(World):
    """What one session did, as it was read before.

    Args:
        seen: the lines.
    """

    seen: tuple[dict[str, Any], ...] = ()

    def lines(self) -> list[dict[str, Any]]:
        return list(self.seen)


class SharedTeams(Teams):
    """The teams of the plan, in a world that many sessions act on; nobody has to cancel one."""

    def all(self) -> dict[str, Any]:
        assert isinstance(self.world, SharedWorld)
        teams = super().all()
        script = Path(__file__).with_name("crash_command.py")
        named = f"{self.world.session}/{COMMAND}"
        argv = (sys.executable, "-S", "-E", str(script), str(self.world.socket), named, "run")
        teams["command_team"] = CommandTeam({"linger": CommandDeclaration("linger", argv)})
        return teams

    async def _holds(self, context: TeamContext) -> TeamResult:
        await self.act(context, "act")
        return TeamResult(text="it held nothing")


class BenchRegistry(SessionRegistry):
    """Sessions with the plan and the teams of the benchmark."""

    root = Path()
    ahead = 0

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **{**named, "now": self._ahead_now})

    def _ahead_now(self) -> str:
        return (datetime.fromisoformat(utc_now()) + timedelta(seconds=self.ahead)).isoformat(timespec="microseconds")

    async def setup(self, session_id: str, *, teams: bool = True) -> SessionSetup:
        found = await super().setup(session_id, teams=teams)
        return planned(found, SharedTeams(SharedWorld(self.root, session_id)).all())


# A worker ----------------------------------------------------------------------------------------------------------


async def work(root: Path, number: int, concurrency: int, ahead: int) -> None:
    """Carry sessions until somebody ends this process."""
    BenchRegistry.root, BenchRegistry.ahead = root, ahead
    ids.time = SimpleNamespace(time_ns=lambda: time.time_ns() + ahead * 10**9)
    async with BenchRegistry.open(root / f"data-{number}") as registry:
        copies = [workspace_copy(root / "workspace")]
        worker = SessionWorker(
            registry, copies, name=f"w{number}", concurrency=concurrency, tell=print, hide=lambda _: None
        )
        await worker.run()


def end_at_sigterm(last: Callable[[], object], within: float = 0.0) -> None:
    """Let SIGTERM end this process for sure: an exception of a handler may be swallowed wherever it is raised.

    Args:
        last: is done first.
        within: seconds after that in which the process may end by itself.
    """

    def end(*_: object) -> None:
        last()
        if not within:
            os._exit(0)
        signal.setitimer(signal.ITIMER_REAL, within)  # SIGALRM ends it

    signal.signal(signal.SIGTERM, end)


async def work_until_stopped(options: argparse.Namespace) -> None:
    """Carry sessions; at SIGTERM let them come to rest, as `hitl-tui worker` does."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    end_at_sigterm(lambda: loop.call_soon_threadsafe(task.cancel), within=GRACE + 10.0)
    await work(options.work, options.number, options.concurrency, options.skew)


# The run -----------------------------------------------------------------------------------------------------------


@dataclass
class Run:
    """Sessions, the workers that carry them, and who kills those.

    Args:
        root: folder of the run.
        server: the server.
        options: what was asked for.
    """

    root: Path
    server: PostgresServer
    options: argparse.Namespace
    proxy: Proxy | None = None
    workers: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)
    deaths: list[tuple[str, str]] = field(default_factory=list)
    begun: list[str] = field(default_factory=list)
    decided: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    @contextmanager
    def worked(self) -> Iterator[None]:
        for number in range(self.options.workers):
            self._start(number)
        try:
            yield
        finally:
            for process in self.workers.values():
                process.kill()
                process.wait()

    def _start(self, number: int) -> None:
        with (self.root / f"worker-{number}.log").open("ab") as log:
            words = ["--work", str(self.root), "--number", str(number), "--concurrency", str(self.options.concurrency)]
            words += ["--skew", str(self.options.skew)] if number % 2 else []
            self.workers[number] = subprocess.Popen(
                [sys.executable, __file__, *words], stdout=log, stderr=log, env={**os.environ, **self._environ(number)}
            )

    def _environ(self, number: int) -> dict[str, str]:
        found = {}
        if self.proxy is not None:
            port, address = self.server.port, os.environ["HITL_DATABASE"]
            found["HITL_DATABASE"] = address.replace(f"127.0.0.1:{port}", f"127.0.0.1:{self.proxy.port}")
        return found

    async def kill(self) -> None:
        """Let something die, again and again."""
        chance = random.Random(self.options.seed)
        while True:
            await asyncio.sleep(chance.expovariate(1 / self.options.every))
            what = chance.choices(("worker", "connection", "server", "stop"), (6, 3, 1, 1))[0]
            if self.proxy is not None and chance.random() < 0.5:
                what = chance.choice(FAULTS)
            number = chance.randrange(self.options.workers)
            now = datetime.now().astimezone().isoformat()
            if what == "worker":
                self.workers[number].kill()
            elif what == "stop":
                self.workers[number].terminate()
            elif what in FAULTS:
                assert self.proxy is not None
                await asyncio.to_thread(self.proxy.fault, what)
            elif what == "connection":
                await asyncio.to_thread(self._cut, chance)
            else:
                await asyncio.to_thread(self.server.stop)
                await asyncio.to_thread(self.server.start)
            self.deaths.append((what, now))
            for other, process in self.workers.items():
                if process.poll() is not None:
                    self._start(other)

    def _cut(self, chance: random.Random) -> None:
        with suppress(psycopg.Error), psycopg.connect(self.server.uri, autocommit=True) as db:
            rows = db.execute(
                "SELECT pid FROM pg_stat_activity WHERE starts_with(application_name, 'hitl-tui')"
            ).fetchall()
            if rows:
                db.execute("SELECT pg_terminate_backend(%s)", chance.choice(rows))

    async def play(self) -> None:
        """Begin sessions and decide what they ask until all are finished."""
        async with BenchRegistry.open(self.root / "data") as registry:
            ends = time.monotonic() + 60 * self.options.minutes
            killing = asyncio.create_task(self.kill())
            last, stands = time.monotonic(), (0, 0)
            try:
                while True:
                    try:
                        await self.decide(registry)
                        live = await self.live(registry)
                        if time.monotonic() < ends and len(self.begun) < self.options.sessions:
                            for _ in range(min(4, self.options.live - live)):
                                await self.begin(registry)
                        elif not live:
                            return
                        if (now := (sum(self.decided.values()), live)) != stands:
                            last, stands = time.monotonic(), now
                        elif time.monotonic() - last > STUCK:
                            self.problems.append(f"{live} sessions stand still")
                            return
                    except HitlError as error:  # the server is away
                        print(error.message, file=sys.stderr)
                    await asyncio.sleep(0.2)
            finally:
                killing.cancel()

    async def begin(self, registry: SessionRegistry) -> None:
        """Begin another session."""
        name = f"s{len(self.begun) + 1}"
        if not await asyncio.to_thread(registry.data.has, name):
            await registry.create(QUERY, self.root / "workspace", session_id=name)
        self.begun.append(name)

    async def live(self, registry: SessionRegistry) -> int:
        """Return how many sessions aren't finished: finished ones were at rest and ask nothing."""
        assert isinstance(registry.data, DatabaseFolder)
        rows = await asyncio.to_thread(
            registry.data.tables.rows,
            "SELECT count(*) FROM session_records r LEFT JOIN sessions s ON s.session = r.id WHERE r.rested IS NULL"
            " OR EXISTS (SELECT 1 FROM inbox i WHERE i.session = r.id AND i.seq > r.rested)"
            " OR EXISTS (SELECT 1 FROM requests q WHERE q.session = r.id AND q.state = 'open')",
        )
        return int(rows[0][0])

    async def decide(self, registry: SessionRegistry) -> None:
        """Decide all that is asked, an effect whose end is unknown by whether it happened."""
        for view in await registry.ledger.requests(registry.now(), limit=400):
            request, now = view.request, registry.now()
            verdict, value = await self._verdict(view)
            await registry.ledger.mark_shown([request.id], "ann", "crash", now)
            decision = Decision(request.id, verdict, "ann", request.digest, registry.now(), "crash", value=value)
            try:
                await registry.ledger.decide(decision, registry.now())
            except Refused as error:
                self.decided[f"refused {error.reason}"] += 1
            else:
                self.decided[f"{request.kind.value} {verdict.value}"] += 1

    async def _verdict(self, view: RequestView) -> tuple[Verdict, Any]:
        request = view.request
        if request.kind is Kind.EFFECT:
            world = World(self.root)
            await world.settle()
            name = str(request.subject["effect"]["name"])
            happened = world.done()[f"{request.session}/{request.todo_id}", name] > 0
            return (Verdict.USE_AS_DONE if happened else Verdict.DO_AGAIN), None
        if request.kind is Kind.INTERRUPT:
            return Verdict.RESPOND, "go on"
        if request.kind is Kind.FAILURE:
            return Verdict.RETRY, None
        return Verdict.APPROVE, None

    def size(self) -> dict[str, Any]:
        """Return rows and bytes of each table for one session."""
        with psycopg.connect(os.environ["HITL_DATABASE"], options="-c search_path=hitl_tui") as db:
            sizes = db.execute(
                "SELECT relname, pg_total_relation_size(oid) FROM pg_class"
                " WHERE relnamespace = CAST('hitl_tui' AS regnamespace) AND relkind = 'r'"
            ).fetchall()
            named = ("entries", "inbox", "requests", "effects", "checkpoints", "checkpoint_blobs", "checkpoint_writes")
            rows = {}
            for name in (*named, "results"):
                (count,) = db.execute(f"SELECT count(*) FROM {name}").fetchone() or (0,)
                rows[name] = round(count / len(self.begun), 1)
        return {"rows": rows, "kilobytes": round(sum(size for _, size in sizes) / 1000 / len(self.begun))}

    async def judged(self) -> dict[str, Verdicts]:
        """Return what each session came to, and under the empty name what the record as a whole did."""
        lines: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for line in World(self.root).lines():
            session, _, todo = line["todo"].partition("/")
            lines[session].append({**line, "todo": todo})
        lasts = _LASTS if self.options.proxy else 0.0
        times = [datetime.fromisoformat(at).timestamp() for _, at in self.deaths]

        def cut_off(key: str, entries: list[Entry]) -> bool:
            """Tell whether a death fell between a start of an effect and its end, or near one of them."""
            # Who began it and who said that it ended may have had other clocks.
            clocks = {0, self.options.skew}
            return any(cut_off_by(key, entries, began, ended) for began in clocks for ended in clocks)

        def cut_off_by(key: str, entries: list[Entry], began: float, ended: float) -> bool:
            start = 0.0
            for entry in entries:
                at = datetime.fromisoformat(entry.at).timestamp()
                at -= began if entry.kind == "effect_started" else ended
                if entry.data.get("key") != key:
                    continue
                if entry.kind == "effect_started":
                    start = at
                elif entry.kind == "effect_ended" and start:
                    if any(start - NEAR - lasts <= death <= at + NEAR for death in times):
                        return True
                    start = 0.0
            return bool(start) and any(death >= start - NEAR - lasts for death in times)

        found: dict[str, Verdicts] = {}
        async with BenchRegistry.open(self.root / "data") as registry:
            found[""] = Verdicts(damaged=tuple(map(str, (await verify(registry.ledger)).problems)))
            for session in self.begun:
                world = SeenWorld(self.root, tuple(lines[session]))
                verdicts = await judge_session(registry, session, world, cut_off)
                blamed = steps_blamed(await registry.ledger.entries(session, limit=100_000))
                found[session] = replace(verdicts, blamed=blamed)
        return found


def steps_blamed(entries: Sequence[Entry]) -> tuple[str, ...]:
    """Return the steps that people were told had failed, but for the one that fails once."""
    requests = [entry.data["request"] for entry in entries if entry.kind == "request_opened"]
    failed = Counter(request["todo_id"] for request in requests if request["kind"] == Kind.FAILURE)
    failed[FAILING] -= 1
    return tuple(f"{todo} was said to have failed" for todo, count in sorted(failed.items()) if count > 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--concurrency", type=int, default=4, help="sessions that a worker has open at once")
    parser.add_argument("--live", type=int, default=24, help="sessions that aren't finished at a time")
    parser.add_argument("--sessions", type=int, default=1_000_000, help="begin so many at most")
    parser.add_argument("--minutes", type=float, default=2.0, help="begin sessions for so long")
    parser.add_argument("--every", type=float, default=8.0, help="mean seconds between deaths")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--proxy", action="store_true", help="cut, delay and halve connections of workers, too")
    parser.add_argument("--skew", type=int, default=0, help="seconds that every second worker's clock is ahead")
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--number", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work is not None:
        with suppress(asyncio.CancelledError):
            asyncio.run(work_until_stopped(options))
        return 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was started is ended with it
    root = Path(tempfile.mkdtemp(prefix="crash-workers-"))
    (root / "workspace").mkdir()
    began = time.monotonic()
    with ExitStack() as stack:
        server = stack.enter_context(postgres_server())
        os.environ["HITL_DATABASE"] = stack.enter_context(server.database())
        os.environ["HITL_AUDIT_KEY"] = ""
        BenchRegistry.root = root
        stack.enter_context(served(World(root), lingering=False))
        proxy = stack.enter_context(proxy_to(server.port)) if options.proxy else None
        run = Run(root, server, options, proxy)
        with run.worked():
            asyncio.run(run.play())
        seconds = time.monotonic() - began
        size = run.size()
        found = asyncio.run(run.judged())
    wrong = {name: verdicts for name, verdicts in found.items() if not verdicts.ok}
    report = {
        "sessions": len(run.begun),
        "workers": options.workers,
        "seconds": round(seconds, 1),
        "of_a_session": size,
        "deaths": dict(Counter(what for what, _ in run.deaths)),
        "decisions": dict(run.decided),
        "lost": sum(len(v.lost) for v in found.values()),
        "repeated": sum(len(v.repeated) for v in found.values()),
        "asked": sum(v.asked for v in found.values()),
        "asked_outside": sum(len(v.outside) for v in found.values()),
        "damaged": sum(len(v.damaged) for v in found.values()),
        "blamed": sum(len(v.blamed) for v in found.values()),
        "problems": run.problems,
    }
    print(json.dumps(report, indent=1))
    for name, verdicts in list(wrong.items())[:20]:
        print(name or "record", verdicts)
    if wrong or run.problems:
        print(f"kept: {root}")
        return 1
    shutil.rmtree(root)
    return 0


if __name__ == "__main__":
    sys.exit(main())
