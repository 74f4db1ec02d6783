"""Time to the first answer on a folder, of text or of tables, to a later one, and of a command to another process."""

from __future__ import annotations

import argparse
import asyncio
import csv
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks import common
from hitl_tui.commands.handler import CommandHandler
from hitl_tui.core.requests import Verdict
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.session_registry import SessionRegistry

TIMES, MORE, LATER, COMMAND = 3, 1.0, 1.0, 0.3
"""Targets: the first answer within so many times the peer and so many seconds more; a later one; a command."""
_WORDS = ("deposit", "rent", "lease", "tenant", "landlord", "notice", "repair", "month", "percent", "court", "claim")
_FOLDERS = 40


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds on the wall, and of processors: this process and those that it waited for."""

    wall: float
    work: float


def _work() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


async def timed(doing: Callable[[], Awaitable[object]]) -> Took:
    """Return how long something takes."""
    began, work = time.perf_counter(), _work()
    await doing()
    return Took(time.perf_counter() - began, _work() - work)


def make(root: Path, files: int) -> None:
    """Write prose and source, half and half, some 4 kB each."""
    drawn = random.Random(1)
    for number in range(files):
        folder = root / ("docs" if number % 2 else "src") / f"part{number % _FOLDERS}"
        folder.mkdir(parents=True, exist_ok=True)
        if number % 2:
            paragraphs = [" ".join(drawn.choices(_WORDS, k=40)).capitalize() + "." for _ in range(14)]
            (folder / f"note{number}.md").write_text(f"# Note {number}\n\n" + "\n\n".join(paragraphs) + "\n")
        else:
            parts = [
                f"def step_{n}(value):\n    # {' '.join(drawn.choices(_WORDS, k=8))}\n    return value + {n}\n"
                for n in range(40)
            ]
            (folder / f"module{number}.py").write_text(f'"""Module {number}."""\n\n' + "\n\n".join(parts))


def make_tables(root: Path, tables: int) -> None:
    """Write tables of 500 rows: days, texts of a few and of many kinds, amounts and numbers."""
    drawn = random.Random(1)
    root.mkdir(parents=True)
    for number in range(tables):
        word = _WORDS[number % len(_WORDS)]
        rows = [[*f"day,{word}_kind,name,pieces,weight,price,paid,late".split(","), *(f"a{n}" for n in range(4))]]
        for n in range(500):
            told = [f"{2015 + n % 10}-{1 + n % 12:02d}-{1 + n % 28:02d}", drawn.choice(_WORDS), f"{word} {n}"]
            figures = [str(drawn.randrange(90)), f"{drawn.uniform(1, 900):.2f}", f"{drawn.randrange(9_000):,}"]
            rows.append(
                [*told, *figures, *drawn.choices(("yes", "no"), k=2), *map(str, drawn.choices(range(999), k=4))]
            )
        with (root / f"{word}_{number}.csv").open("w", newline="") as opened:
            csv.writer(opened).writerows(rows)


def read_all(folder: Path) -> None:
    """Read every file, as somebody does who looks for a word in all of them."""
    listed = "rg --files -0" if shutil.which("rg") else "find . -type f -print0"
    subprocess.run(["sh", "-c", f"{listed} | xargs -0 cat > /dev/null"], cwd=folder, check=True)


async def ask(registry: SessionRegistry, folder: Path, question: str) -> Took:
    """Begin a session and approve its search; return how long it takes from the approval to the answer."""
    setup = await registry.create(question, folder)
    async with open_session(registry.store, setup) as session:
        handler = CommandHandler(session, setup.planner, by="benchmark", channel="console", terminal=True)
        asked = (await session.settled()).questions[0]

        async def answer() -> None:
            await handler.decide(asked, Verdict.APPROVE)
            found = await session.settled()
            if "completed" not in {todo.status.value for todo in found.todos}:
                raise RuntimeError(f"no answer: {[(t.id, t.status, t.error) for t in found.todos]}")

        return await timed(answer)


async def command(data: Path, registry: SessionRegistry, folder: Path, rounds: int) -> tuple[list[Took], list[Took]]:
    """Own a session and let another process give it commands; return those, and what starting Python takes."""
    setup = await registry.create("What does the lease say of the deposit?", folder)
    words = [sys.executable, "-m", "hitl_tui", "--data", str(data), "do", setup.info.id, "/todo priority 001 low"]

    async def run(argv: list[str]) -> None:
        process = await asyncio.create_subprocess_exec(*argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        _, said = await process.communicate()
        if process.returncode not in (0, 3):
            raise RuntimeError(f"{argv} ended with {process.returncode}: {said.decode(errors='replace')}")

    async with open_session(registry.store, setup) as session:
        await session.settled()
        await run(words)
        ours, python = [], []
        for _ in range(rounds):
            python.append(await timed(lambda: run([sys.executable, "-c", "pass"])))
            ours.append(await timed(lambda: run(words)))
    return ours, python


def row(name: str, took: list[Took], target: str, beside: list[Took] | None = None) -> list[str]:
    """Return a row: the medians, and their ratio to a peer's."""
    wall, work = (common.Figures.of([getattr(t, what) for t in took]).median for what in ("wall", "work"))
    ratio = f"{wall / common.Figures.of([t.wall for t in beside]).median:.1f}" if beside else ""
    return [name, str(len(took)), f"{wall:.2f}", f"{work:.2f}", ratio, target]


async def measure(folder: Path, root: Path, rounds: int) -> None:
    """Measure one folder, and print it."""
    read, built, first, unprepared, later = [], [], [], [], []
    for number in range(rounds):
        data = root / f"data{number}"
        read.append(await timed(lambda: asyncio.to_thread(read_all, folder)))
        async with SessionRegistry.open(data, {}) as registry:
            unprepared.append(await ask(registry, folder, "What does the lease say of the deposit?"))
        shutil.rmtree(data)
        async with SessionRegistry.open(data, {}) as registry:
            built.append(await timed(lambda: registry.prepare(folder, lambda _: None, large=True)))
            first.append(await ask(registry, folder, "What does the lease say of the deposit?"))
            later.append(await ask(registry, folder, "Which notice must the landlord give?"))
    async with SessionRegistry.open(data, {}) as registry:
        ours, python = await command(data, registry, folder, rounds)
    files = sum(len(names) for _, _, names in os.walk(folder))
    common.show(
        f"{folder.name}: {files:,} files (seconds)",
        ["", "rounds", "wall", "CPU", "ratio", "target"],
        [
            row("read: list | xargs cat", read, ""),
            row("index ahead, while nobody waits", built, "", read),
            row("approval to first answer, indexed ahead", first, f"{TIMES} × read + {MORE:.0f} s", read),
            row("approval to first answer, not indexed", unprepared, "", read),
            row("approval to a later answer", later, f"{LATER:.0f} s", read),
            row("python -c pass", python, ""),
            row("hitl-tui do, owned elsewhere", ours, f"{COMMAND} s", python),
        ],
    )


async def measure_tables(folder: Path, root: Path, rounds: int) -> None:
    """Measure questions to the tables of a folder, from the question to the answer, and print them."""
    read, looked, first, unprepared, later = [], [], [], [], []
    tables = await asyncio.to_thread(lambda: sorted(folder.iterdir()))
    async with SessionRegistry.open(root, {}) as registry:

        async def answered(question: str) -> Took:
            return await timed(lambda: ask(registry, folder, question))

        for number in range(rounds):
            read.append(await timed(lambda: asyncio.to_thread(read_all, folder)))
            for kept in (unprepared, first):
                for table in tables:
                    os.utime(table)  # what is known of it from before isn't believed
                if kept is first:
                    looked.append(await timed(lambda: registry.prepare(folder, lambda _: None)))
                kept.append(await answered("What is the average price of the court cases?"))
            later.append(await answered(f"average price in {tables[number].name}"))
    common.show(
        f"{len(tables):,} tables of 500 rows (seconds)",
        ["", "rounds", "wall", "CPU", "ratio", "target"],
        [
            row("read: list | xargs cat", read, ""),
            row("look at them ahead, while nobody waits", looked, "", read),
            row("question to first answer, looked at ahead", first, "", read),
            row("question to first answer, not looked at", unprepared, "", read),
            row("question to a later answer", later, f"{LATER:.0f} s", read),
        ],
    )


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, nargs="*", default=[2_000, 20_001], help="files of the folders made")
    parser.add_argument("--tables", type=int, nargs="*", default=[80], help="tables of the folders made")
    parser.add_argument("--folder", type=Path, nargs="*", default=[], help="folders of yours, only read")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", type=Path, help="folder on the disk to measure; a temporary one is made in it")
    given = parser.parse_args()
    print(common.machine())
    with common.scratch(given.data) as root:
        folders = [path.resolve() for path in given.folder]
        for files in given.files:
            folders.append(root / f"made{files}")
            make(folders[-1], files)
        for folder in folders:
            asyncio.run(measure(folder, root / f"of-{folder.name}", given.rounds))
        for tables in given.tables:
            make_tables(root / f"tables{tables}", tables)
            asyncio.run(measure_tables(root / f"tables{tables}", root / f"of-tables{tables}", given.rounds))


if __name__ == "__main__":
    main()
