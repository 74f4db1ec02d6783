"""How soon who asked goes on after a decision, how long a full inbox takes to list, and who wins when many decide.

Release: a script waits with `masc-checkpoint --wait`; the time is taken from when a decision is recorded to the end of
that process. Listing: requests wait in the files of as many tasks, and in the ledger of sessions; they are listed by a
process that hasn't listed them before, and again by the same one after somebody else asked for one more. Deciders:
forked processes decide one request at the same moment, half of them for and half against; exactly one may win, and
every other one has to be told its name. Where NEO4J_URI names an empty database they decide there, too.

    python benchmarks/approvals.py [--samples 50] [--pending 5000] [--deciders 200] [--rounds 50] [--data DIR]
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from multiprocessing.context import ForkContext
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import common
from benchmarks.common import Figures, ms, show
from hitl_tui.core.errors import HitlError
from hitl_tui.core.events import utc_now
from hitl_tui.core.identity import Identity
from hitl_tui.core.json_text import digest
from hitl_tui.core.json_types import Subject
from hitl_tui.core.requests import OPTIONS, Decision, Kind, Request, Verdict
from hitl_tui.ledger.entry_files import EntryFiles
from hitl_tui.ledger.neo4j_entries import Neo4jEntries
from hitl_tui.ledger.protocols import Requests
from hitl_tui.ledger.sqlite_ledger import SqliteLedger
from hitl_tui.task_checkpoints.folders import NAME, NEO4J, entries_folder, register, server_of, store_of
from hitl_tui.task_checkpoints.neo4j_views import CheckpointViews
from hitl_tui.task_checkpoints.service import TaskCheckpoints
from hitl_tui.task_checkpoints.task_inbox import TaskInbox

RELEASE, LISTED = 0.050, 0.050
LATER = 9
FILES = {"MASC_CHECKPOINT_BACKEND": "filesystem"}
PERSON = Identity("benchmark", "benchmark", "account", account="benchmark")
Place = Callable[[Path], AbstractAsyncContextManager[Requests]]
_T = TypeVar("_T")


@asynccontextmanager
async def files_place(root: Path) -> AsyncIterator[Requests]:
    async with EntryFiles.open(entries_folder(root / NAME)) as ledger:
        yield ledger


@asynccontextmanager
async def sqlite_place(root: Path) -> AsyncIterator[Requests]:
    async with SqliteLedger.open(root / "ledger.db") as ledger:
        yield ledger


@asynccontextmanager
async def neo4j_place(root: Path) -> AsyncIterator[Requests]:
    async with Neo4jEntries.open(server_of(os.environ), CheckpointViews()) as ledger:
        yield ledger


PLACES: dict[str, Place] = {"files": files_place, "SQLite": sqlite_place}


def request_of(number: int) -> Request:
    """Return a question of a task of its own."""
    task = f"task-{number:05d}"
    subject: Subject = {"task": task, "step": 1, "action": "DELETE", "agent": "cleaner", "message": "Delete?"}
    return Request(
        f"req-{task}", task, 0, Kind.EXTERNAL, "", "cleaner", subject, digest(dict(subject)), requester="cleaner",
        options=OPTIONS[Kind.EXTERNAL], about={"title": "Delete?"}, opened_at=utc_now(),
    )  # fmt: skip


def timed(work: Callable[[], _T]) -> tuple[float, _T]:
    began = time.perf_counter()
    found = work()
    return time.perf_counter() - began, found


# ------------------------------------------------------------------------------------------------------------ release


def releases(root: Path, samples: int) -> Iterator[float]:
    """Yield the seconds from a recorded decision to the end of the process that waited for it."""
    masc = root / NAME
    command = [
        str(Path(sys.executable).with_name("masc-checkpoint")),
        "--masc-dir",
        str(masc),
        "--data",
        str(root / "d"),
    ]
    tasks = TaskCheckpoints(store_of(masc, FILES))
    for number in range(samples):
        task = f"release-{number}"
        asking = ["--task-id", task, "--step", "1", "--action", "x", "--agent", "a", "--interrupt", "Go on?", "--wait"]
        script = subprocess.Popen([*command, *asking], env=os.environ | FILES, stdout=subprocess.PIPE, text=True)
        assert script.stdout is not None
        script.stdout.readline()  # it asks now
        time.sleep(0.1)

        async def decide(name: str = task) -> None:
            await tasks.decide(await tasks.the_waiting(name, None), Verdict.APPROVE, PERSON, "benchmark")

        asyncio.run(decide())
        seconds, code = timed(script.wait)
        assert code == 0, script.stdout.read()
        yield seconds


# ------------------------------------------------------------------------------------------------------------ listing


async def listings(root: Path, pending: int) -> Iterator[tuple[str, float, float, int]]:
    """Return for each place how long the first listing and a later one take (median), and how many were listed."""
    found = []
    masc, data = root / NAME, root / "data"
    tasks = TaskCheckpoints(store_of(masc, FILES))
    for number in range(pending):
        await tasks.record(f"task-{number:05d}", 1, "DELETE", "cleaner", "Delete?")
    register(data, masc)
    inbox = TaskInbox(data, FILES)
    first = await _took(inbox.waiting)
    later = []
    for number in range(pending, pending + LATER):
        await tasks.record(f"task-{number:05d}", 1, "DELETE", "cleaner", "Delete?")
        later.append(await _took(inbox.waiting))
    found.append(("files", first[0], sorted(later)[LATER // 2][0], later[-1][1]))
    async with sqlite_place(root) as ledger:
        await ledger.open_requests([request_of(number) for number in range(pending)])
    async with sqlite_place(root) as ledger, sqlite_place(root) as other:
        first = await _took(lambda: ledger.requests(utc_now(), limit=100_000))
        later = []
        for number in range(pending, pending + LATER):
            await other.open_requests([request_of(number)])
            later.append(await _took(lambda: ledger.requests(utc_now(), limit=100_000)))
    found.append(("SQLite", first[0], sorted(later)[LATER // 2][0], later[-1][1]))
    return iter(found)


async def _took(work: Callable[[], object]) -> tuple[float, int]:
    began = time.perf_counter()
    found = await work()  # type: ignore[misc]
    return time.perf_counter() - began, len(found)


# ----------------------------------------------------------------------------------------------------------- deciders


def _decider(
    place: Place, root: Path, request: Request, number: int, at_once: Barrier, told: SimpleQueue[tuple[int, str]]
) -> None:
    """Decide one request, and tell what came of it: nothing for who won, else the reason."""

    async def decide() -> str:
        name = f"person {number}"
        verdict = Verdict.APPROVE if number % 2 else Verdict.REJECT
        async with place(root) as ledger:
            await ledger.request(request.id, utc_now())
            at_once.wait()
            decision = Decision(
                request.id, verdict, name, request.digest, utc_now(), "benchmark", 0, "", None, "", name, "token"
            )
            try:
                await ledger.decide(decision, utc_now())
            except HitlError as error:
                return str(error.message)
            return ""

    told.put((number, asyncio.run(decide())))


def race(place: Place, root: Path, request: Request, deciders: int, forked: ForkContext) -> tuple[float, list[str]]:
    """Return how long it took until all had their answer, and what was wrong with it."""

    async def ask() -> None:
        async with place(root) as ledger:
            await ledger.open_requests([request])
            await ledger.mark_shown([request.id], "benchmark", "benchmark", utc_now())

    asyncio.run(ask())
    at_once, told = forked.Barrier(deciders + 1), forked.SimpleQueue()
    processes = [
        forked.Process(target=_decider, args=(place, root, request, n, at_once, told)) for n in range(deciders)
    ]
    for process in processes:
        process.start()
    at_once.wait(120)
    seconds, answers = timed(lambda: dict(told.get() for _ in range(deciders)))
    for process in processes:
        process.join()

    async def look() -> tuple[str, list[str]]:
        async with place(root) as ledger:
            view = await ledger.request(request.id, utc_now())
            assert view is not None
            return str(view.resolution.outcome), [decision.by for decision in view.resolution.decisions]

    outcome, by = asyncio.run(look())
    winners = [f"person {n}" for n, answer in answers.items() if not answer]
    wrong = [] if len(winners) == 1 and winners == by else [f"won: {winners}, recorded: {by} ({outcome})"]
    wrong += [f"person {n} was told: {answer}" for n, answer in answers.items() if answer and by[0] not in answer]
    return seconds, wrong


# --------------------------------------------------------------------------------------------------------------- all


def main() -> int:
    """Measure, print, and return 1 where more than one decided, or somebody wasn't told who did."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=50)
    parser.add_argument("--pending", type=int, default=5_000)
    parser.add_argument("--deciders", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--data", type=Path)
    given = parser.parse_args()
    print(common.machine())

    with common.scratch(given.data) as root:
        figures = Figures.of(list(releases(root, given.samples)))
    row = [str(figures.count), ms(figures.median), ms(figures.p95), ms(figures.worst), ms(RELEASE)]
    show(
        "From the recorded decision to the end of the waiting script, ms",
        ["", "runs", "median", "p95", "worst", "target"],
        [["files", *row]],
    )

    with common.scratch(given.data) as root:
        rows = [
            [name, f"{n:,}", ms(first), ms(later), ms(LISTED)]
            for name, first, later, n in asyncio.run(listings(root, given.pending))
        ]
    show("Listing what waits, ms", ["", "waiting", "first", "later", "target of later"], rows)

    forked, bad, rows = multiprocessing.get_context("fork"), 0, []
    places = PLACES | ({"Neo4j": neo4j_place} if os.environ.get(NEO4J) else {})
    for name, place in places.items():
        times, wrong = [], []
        for number in range(given.rounds):
            with common.scratch(given.data) as root:
                seconds, told = race(place, root, request_of(number), given.deciders, forked)
            times.append(seconds)
            wrong += told
        figures = Figures.of(times)
        bad += len(wrong)
        rows.append(
            [name, str(given.deciders), str(given.rounds), ms(figures.median), ms(figures.worst), str(len(wrong))]
        )
        with suppress(IndexError):
            print(f"\n{name}: {wrong[0]}")
    show(
        "Processes that decide one request at once", ["", "deciders", "rounds", "median ms", "worst ms", "wrong"], rows
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
