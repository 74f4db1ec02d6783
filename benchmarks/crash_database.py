"""Kill -9 of a worker at every place where something is written to a database; another worker goes on (X2).

A run in which nobody dies counts the points: before, within and after each transaction of the record, each checkpoint
and each writes of a step, before and after each other row (results, what each session is, the list of workers, jobs),
and around every effect. Then each point gets a run, in a database of its own, with the session of `crash_plan.py`, of
12 TODOs, whose effects a process outside counts. What became of it is judged as in `crash.py`; an effect may be asked
about only where it had begun and not ended when a worker died.

    uv run python benchmarks/crash_database.py
    uv run python benchmarks/crash_database.py --deaths 6        all points in a sixth of the runs
    uv run python benchmarks/crash_database.py --points 60 --seed 2
    uv run python benchmarks/crash_database.py --at saver.aput.plan.within 'effect.act.after#3'

Points are named by what is written, of which TODO where it is a checkpoint, and how often that was before, by workers
that died before, too: with `--deaths` the second worker dies at the second of a run's points, and so on. A point that
its run came past while it recovered from the death before gets a run of its own. A worker's signs of life and sweeps go
by the clock, so only their first three passings are points. They come four times as often here as they do for people,
and so does the moment at which a worker that died is given up: a run waits less.

It needs PostgreSQL's `initdb` on this machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

import psycopg
from crash_faults import Faults, around, wrap_effects, wrap_runs
from crash_judge import Verdicts, judge_session
from crash_workers import BenchRegistry, Run, SeenWorld, end_at_sigterm, steps_blamed, work
from crash_world import World, served
from postgres_server import PostgresServer, postgres_server
from procrastinate.manager import JobManager

from hitl_tui.channels import worker as worker_module
from hitl_tui.core.errors import HitlError
from hitl_tui.ledger import effect_tables
from hitl_tui.ledger.audit import verify
from hitl_tui.ledger.postgres_database import PostgresTables
from hitl_tui.ledger.sql_transaction import Transaction
from hitl_tui.supervisor import wake_queue
from hitl_tui.supervisor.postgres_checkpoints import DatabaseSaver
from hitl_tui.supervisor.postgres_sessions import DatabaseFolder
from hitl_tui.supervisor.session_tables import SessionTables
from hitl_tui.supervisor.wake_queue import WakeQueue

SESSION = "s1"
_BY_THE_CLOCK = ("ledger.expire", "table.workers", "job.defer_periodic_job", "job.upkeep")
_PASSINGS = 3
_TODO = re.compile(r"todo_\d+")
_STATEMENT = re.compile(r"\s*(?:INSERT INTO|UPDATE|DELETE FROM)\s+(\w+)")


# Where a worker may die ---------------------------------------------------------------------------------------------


def install(faults: Faults) -> None:
    """Put the wrappers around everything that a worker writes to the database, for the rest of this process's life."""
    _wrap_record(faults)
    _wrap_flying(faults)
    _wrap_tables(faults)
    _wrap_saver(faults)
    _wrap_jobs(faults)
    wrap_effects(faults)
    wrap_runs(faults)


def _wrap_record(faults: Faults) -> None:
    write = PostgresTables.write

    async def spied(self: PostgresTables, work: Callable[[Transaction], Any], then: Any = None) -> Any:
        label = f"ledger.{work.__qualname__.split('.')[1]}"

        def within(db: Transaction) -> Any:
            result = work(db)
            faults.point(f"{label}.within")
            return result

        faults.point(f"{label}.before")
        result = await write(self, within, then)
        faults.point(f"{label}.after")
        return result

    PostgresTables.write = spied  # type: ignore[method-assign]


def _wrap_flying(faults: Faults) -> None:
    """Know which effects have begun and not ended: an end counts once it is committed."""
    begin, end = effect_tables.begin, effect_tables.end
    attempt = PostgresTables._attempt
    ending: set[str] = set()

    def spied_begin(db: Any, effect: Any, *args: Any) -> Any:
        claim = begin(db, effect, *args)
        if claim.verdict == "go":
            faults.flying.add(effect.key)
        return claim

    def spied_end(db: Any, key: str, *args: Any) -> None:
        end(db, key, *args)
        ending.add(key)

    def spied_attempt(self: PostgresTables, *args: Any, **more: Any) -> Any:
        ending.clear()
        result = attempt(self, *args, **more)
        faults.flying.difference_update(ending)
        return result

    effect_tables.begin = spied_begin
    effect_tables.end = spied_end
    PostgresTables._attempt = spied_attempt  # type: ignore[method-assign]


def _wrap_tables(faults: Faults) -> None:
    rows, defer = SessionTables.rows, WakeQueue._defer

    def spied_rows(self: SessionTables, statement: str, values: Any = ()) -> Any:
        if (written := _STATEMENT.match(statement)) is None:
            return rows(self, statement, values)
        faults.point(f"table.{written[1]}.before")
        found = rows(self, statement, values)
        faults.point(f"table.{written[1]}.after")
        return found

    def spied_defer(self: WakeQueue, session: str) -> None:
        faults.point("job.wake.before")
        defer(self, session)
        faults.point("job.wake.after")

    SessionTables.rows = spied_rows  # type: ignore[method-assign]
    WakeQueue._defer = spied_defer  # type: ignore[method-assign]


_writing: ContextVar[str] = ContextVar("_writing", default="")


def _wrap_saver(faults: Faults) -> None:
    cursor = DatabaseSaver._cursor

    @asynccontextmanager
    async def spied_cursor(self: DatabaseSaver, *, pipeline: bool = False) -> AsyncIterator[Any]:
        async with cursor(self, pipeline=pipeline) as found:
            yield found
            if pipeline:  # what was sent isn't committed yet
                faults.point(f"{_writing.get()}.within")

    DatabaseSaver._cursor = spied_cursor  # type: ignore[method-assign]
    for name in ("aput", "aput_writes"):
        setattr(DatabaseSaver, name, _around_saving(faults, getattr(DatabaseSaver, name), name))


def _around_saving(faults: Faults, inner: Callable[..., Any], name: str) -> Callable[..., Any]:
    async def spied(self: DatabaseSaver, config: Any, *args: Any, **more: Any) -> Any:
        whose = _TODO.search(str(config["configurable"]["thread_id"]))
        label = f"saver.{name}.{whose[0] if whose else 'plan'}"
        _writing.set(label)
        faults.point(f"{label}.before")
        result = await inner(self, config, *args, **more)
        faults.point(f"{label}.after")
        return result

    return spied


def _wrap_jobs(faults: Faults) -> None:
    fetch, finish = JobManager.fetch_job, JobManager.finish_job
    kinds = {wake_queue.WAKE: "session", wake_queue.UPKEEP: "upkeep"}

    async def spied_fetch(self: JobManager, *args: Any, **more: Any) -> Any:
        job = await fetch(self, *args, **more)
        if job is not None:
            faults.point(f"job.{kinds[job.task_name]}.fetched")
        return job

    async def spied_finish(self: JobManager, job: Any, *args: Any, **more: Any) -> None:
        faults.point(f"job.{kinds[job.task_name]}.finish.before")
        await finish(self, job, *args, **more)
        faults.point(f"job.{kinds[job.task_name]}.finish.after")

    JobManager.fetch_job = spied_fetch  # type: ignore[method-assign]
    JobManager.finish_job = spied_finish  # type: ignore[method-assign]
    for name in ("retry_job", "defer_periodic_job"):
        setattr(JobManager, name, around(faults, getattr(JobManager, name), f"job.{name}"))


# One run ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to.

    Args:
        points: where workers were to die, one after the other.
        died: where they did.
        verdicts: see `crash_judge`.
        met: the points that the worker met, where none died.
    """

    points: tuple[str, ...]
    died: tuple[str, ...]
    verdicts: Verdicts
    met: tuple[str, ...] = ()


def _worker(root: Path, number: int, at: str, begin: int) -> int:
    """Fork a worker that begins once something can be read from a descriptor; return its process id."""
    child = os.fork()
    if child:
        return child
    try:
        log = os.open(root / f"worker-{number}.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)
        if os.read(begin, 1):
            faults = Faults(at, root / "kills.jsonl")
            counts = root / "counts.json"
            if counts.exists():
                faults.counts.update(json.loads(counts.read_text()))
            faults.dying = lambda: counts.write_text(json.dumps(faults.counts))
            if at or number == 0:
                install(faults)
            end_at_sigterm(lambda: (root / "met.json").write_text(json.dumps(faults.met)))
            asyncio.run(work(root, number, 4, 0))
    except BaseException:  # noqa: BLE001 - this process ends here; what it met is in its log
        traceback.print_exc()
    finally:
        os._exit(0)


def _often() -> None:
    """Let signs of life and sweeps come four times as often, in this process and those that it forks."""
    worker_module.HEARTBEAT, worker_module.STALLED = wake_queue.HEARTBEAT / 4, wake_queue.STALLED / 4
    wake_queue.STALLED = worker_module.STALLED
    worker_module._UPKEEP = "* * * * * */1"


class Workers:
    """Workers of which each begins once the one before it died.

    Args:
        root: folder of the run.
        points: where they die; the last one doesn't.
    """

    def __init__(self, root: Path, points: Sequence[str]) -> None:
        self._begin = [os.pipe() for _ in range(len(points) + 1)]
        kills = (*points, "")
        self._pids = [_worker(root, number, kills[number], begin) for number, (begin, _) in enumerate(self._begin)]
        self._now = -1
        self._next()

    def _next(self) -> None:
        self._now += 1
        os.write(self._begin[self._now][1], b"!")

    def look(self) -> None:
        """Let the next one begin where one is gone."""
        if os.waitpid(self._pids[self._now], os.WNOHANG)[0]:
            self._next()

    def end(self) -> None:
        """End all; the one that works tells which points it met."""
        for pid in self._pids[self._now :]:
            os.kill(pid, signal.SIGTERM)
            os.waitpid(pid, 0)
        self._pids = []


async def _play(root: Path, workers: Workers, limit: float) -> Verdicts:
    people = Run(root, None, None)  # type: ignore[arg-type] - they only decide
    ends, problem = time.monotonic() + limit, ""
    async with BenchRegistry.open(root / "data") as registry:
        await people.begin(registry)
        while True:
            workers.look()
            try:
                await people.decide(registry)
                if not await people.live(registry):
                    break
            except HitlError as error:
                problem = error.message
            if time.monotonic() > ends:
                return Verdicts(lost=(f"it stands still: {problem}",))
            await asyncio.sleep(0.05)
        workers.end()
        lines = [{**line, "todo": line["todo"].partition("/")[2]} for line in World(root).lines()]
        flying = {key for death in _deaths(root) for key in death["flying"]}
        found = await judge_session(
            registry, SESSION, SeenWorld(root, tuple(lines)), lambda key, _entries: key in flying
        )
        blamed = steps_blamed(await registry.ledger.entries(SESSION, limit=100_000))
        problems = (await verify(registry.ledger)).problems
    return replace(found, blamed=blamed, damaged=(*map(str, problems), *found.damaged))


def _deaths(root: Path) -> list[dict[str, Any]]:
    told = root / "kills.jsonl"
    return [json.loads(line) for line in told.read_text().splitlines()] if told.exists() else []


def run(root: Path, points: Sequence[str], limit: float) -> Outcome:
    """Carry a session to its end; workers die at some points, one after the other."""
    (root / "workspace").mkdir(parents=True)
    BenchRegistry.root = root
    with served(World(root), lingering=False):
        workers = Workers(root, points)
        try:
            verdicts = asyncio.run(_play(root, workers, limit))
        finally:
            workers.end()
    met = root / "met.json"
    died = tuple(death["at"] for death in _deaths(root) if death["what"] == "killed")
    return Outcome(tuple(points), died, verdicts, tuple(json.loads(met.read_text()) if met.exists() else ()))


# All runs -----------------------------------------------------------------------------------------------------------


class Bench:
    """Runs, some at a time, each in a process and a database of its own.

    Args:
        base: folder for them.
        server: the server.
        limit: seconds after which a run counts as stuck.
    """

    def __init__(self, base: Path, server: PostgresServer, limit: float) -> None:
        self._base, self._server, self._limit = base, server, limit
        self._template = ""

    @contextmanager
    def prepared(self) -> Iterator[None]:
        """Make the database that others are copies of, with all tables."""
        with self._server.database() as address:
            os.environ.update(HITL_DATABASE=address, HITL_AUDIT_KEY="")

            async def make() -> None:
                async with BenchRegistry.open(self._base / "tables") as registry:
                    assert isinstance(registry.data, DatabaseFolder)
                    registry.data.queue.make()
                    await (await registry.data.reader()).prepare()

            child = os.fork()
            if child == 0:
                try:
                    asyncio.run(make())
                except BaseException:  # noqa: BLE001 - this process ends here
                    traceback.print_exc()
                    os._exit(1)
                os._exit(0)
            if os.waitpid(child, 0)[1]:
                raise SystemExit("The tables can't be made.")
            self._template = address.rsplit("/", 1)[1]
            yield

    def start(self, number: int, points: Sequence[str]) -> int:
        """Begin a run in a process of its own; return its process id."""
        child = os.fork()
        if child:
            return child
        root = self._base / f"run-{number}"
        outcome = Outcome(tuple(points), (), Verdicts(damaged=("the run broke off",)))
        try:
            root.mkdir()
            log = os.open(root / "run.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            os.dup2(log, 1)
            os.dup2(log, 2)
            name = f"run{number}"
            with psycopg.connect(self._server.uri, autocommit=True) as owner:
                owner.execute(f"CREATE DATABASE {name} TEMPLATE {self._template} STRATEGY file_copy")
            os.environ["HITL_DATABASE"] = self._server.at(name)
            outcome = run(root, points, self._limit * (1 + len(points)))
            if outcome.verdicts.ok:
                with psycopg.connect(self._server.uri, autocommit=True) as owner:
                    owner.execute(f"DROP DATABASE {name} WITH (FORCE)")
        except BaseException:  # noqa: BLE001 - this process ends here; what it met is in its log
            traceback.print_exc()
        finally:
            text = json.dumps([outcome.points, outcome.died, _words(outcome.verdicts), outcome.met])
            (root / "outcome.json").write_text(text)
            os._exit(0)

    def outcome(self, number: int) -> Outcome:
        """Return what a run came to that ended; its folder stays where something was wrong."""
        root = self._base / f"run-{number}"
        points, died, found, met = json.loads((root / "outcome.json").read_text())
        verdicts = Verdicts(**{key: value if key == "asked" else tuple(value) for key, value in found.items()})
        if verdicts.ok:
            shutil.rmtree(root)
        return Outcome(tuple(points), tuple(died), verdicts, tuple(met))

    def all(self, runs: Sequence[Sequence[str]], at_once: int, until: float) -> Iterator[Outcome]:
        """Yield what the runs come to; none is begun after a moment."""
        running: dict[int, int] = {}
        waiting, number = list(runs), 0
        while running or (waiting and time.monotonic() < until):
            while waiting and len(running) < at_once and time.monotonic() < until:
                number += 1
                running[self.start(number, waiting.pop(0))] = number
            ended, _ = os.wait()
            if ended in running:
                outcome = self.outcome(running.pop(ended))
                if len(outcome.points) > 1:
                    waiting += [(point,) for point in outcome.points if point not in outcome.died]
                yield outcome


def _words(verdicts: Verdicts) -> dict[str, Any]:
    return {name: getattr(verdicts, name) for name in ("lost", "repeated", "asked", "outside", "damaged", "blamed")}


def chosen(met: Sequence[str], at: Sequence[str], most: int, seed: int) -> list[str]:
    """Return the points that are taken, in their order: those of some names, or all; some of them by chance."""
    kept = [
        point
        for point in met
        if int(point.partition("#")[2]) <= _PASSINGS or not point.startswith(_BY_THE_CLOCK)
        if not at or point in at or point.partition("#")[0] in at
    ]
    if most and most < len(kept):
        kept = [kept[place] for place in sorted(random.Random(seed).sample(range(len(kept)), most))]
    return kept


def runs_of(points: Sequence[str], deaths: int, seed: int) -> list[tuple[str, ...]]:
    """Return the points of each run, far from each other, and the runs in an order by chance."""
    count = -(-len(points) // deaths)
    runs = [tuple(points[first::count]) for first in range(count)]
    random.Random(seed).shuffle(runs)
    return runs


def _report(points: Sequence[str], outcomes: Sequence[Outcome], seconds: float) -> Mapping[str, Any]:
    found = [outcome.verdicts for outcome in outcomes]
    died = [point for outcome in outcomes for point in outcome.died]
    return {
        "points": len(points),
        "points_died_at": len({*died} & {*points}),
        "runs": len(outcomes),
        "deaths": len(died),
        "lost": sum(len(v.lost) for v in found),
        "repeated": sum(len(v.repeated) for v in found),
        "asked": sum(v.asked for v in found),
        "asked_outside": sum(len(v.outside) for v in found),
        "damaged": sum(len(v.damaged) for v in found),
        "blamed": sum(len(v.blamed) for v in found),
        "seconds": round(seconds, 1),
        "died_at": dict(sorted(Counter(_TODO.sub("todo", point.partition("#")[0]) for point in died).items())),
        "never_met": sorted({p for o in outcomes if len(o.points) == 1 for p in o.points} - {*died}),
    }


def main() -> int:
    """Run the benchmark; return 0 when nothing was lost, repeated, asked without need or damaged."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=0, help="so many, drawn at random (all)")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--at", nargs="+", default=[], metavar="POINT", help="only these points, or labels of points")
    parser.add_argument("--deaths", type=int, default=1, help="of a run")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin runs for so long")
    parser.add_argument("--at-once", type=int, default=3, help="runs at the same time")
    parser.add_argument(
        "--limit", type=float, default=60.0, help="seconds, for each worker, after which a run counts as stuck"
    )
    given = parser.parse_args()
    base = Path(tempfile.mkdtemp(prefix="crash-database-"))
    print(f"Runs are in {base}.", file=sys.stderr, flush=True)
    began, outcomes = time.monotonic(), list[Outcome]()
    _often()
    with postgres_server() as server:
        bench = Bench(base, server, given.limit)
        with bench.prepared():
            bench.start(0, ())
            os.wait()
            dry = bench.outcome(0)
            if not (dry.verdicts.ok and dry.met):
                raise SystemExit(f"The run in which nobody died went wrong: {dry} (see {base}).")
            points = chosen(dry.met, given.at, given.points, given.seed)
            runs = runs_of(points, given.deaths, given.seed)
            print(f"{len(points)} points, {len(runs)} runs.", file=sys.stderr, flush=True)
            for outcome in bench.all(runs, given.at_once, began + 60 * given.minutes):
                outcomes.append(outcome)
                if not outcome.verdicts.ok:
                    wrong = {"points": outcome.points, "died": outcome.died, **_words(outcome.verdicts)}
                    print(json.dumps(wrong), file=sys.stderr, flush=True)
                if len(outcomes) % 10 == 0:
                    line = _report(points, outcomes, time.monotonic() - began)
                    print(json.dumps({**line, "died_at": None}), file=sys.stderr, flush=True)
    print(json.dumps(_report(points, outcomes, time.monotonic() - began), indent=1))
    if any(not outcome.verdicts.ok for outcome in outcomes):
        print(f"kept: {base}")
        return 1
    shutil.rmtree(base)
    return 0


if __name__ == "__main__":
    sys.exit(main())
