"""How long it takes to bind a workspace to an approval: the first time, and again when little or nothing changed."""

from __future__ import annotations

import argparse
import asyncio
import gc
import hashlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.common import trusted
from hitl_tui.commands.handler import CommandHandler
from hitl_tui.console.idle_collector import delay_full_collections
from hitl_tui.core.errors import Refused
from hitl_tui.core.requests import Verdict
from hitl_tui.policy.executable_files import Bindings, Surroundings
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.session import Session
from hitl_tui.supervisor.session_registry import SessionRegistry

FOLDERS = 200
SETTLED = 2.5
"""Seconds until files count as settled, so that what they hold is remembered."""


def make(root: Path, files: int) -> None:
    """Write a workspace of source files of 1 to 4 kB."""
    for number in range(files):
        path = root / f"package_{number % FOLDERS}" / f"module_{number}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# {number}\n" + "value = 1\n" * (100 + number % 300), encoding="utf-8")


def seconds(work: Callable[[], object]) -> float:
    """Return how long something takes on the wall clock."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def hash_anew(root: Path) -> None:
    for path in root.rglob("*.py"):
        hashlib.sha256(path.read_bytes()).hexdigest()


SETTINGS = """
[teams.command_team.commands.mark]
description = "Leave a mark"
run = ["sh", "-c", "true"]
risk = "high"
"""


async def longest_stall(root: Path, data: Path) -> dict[str, float]:
    """Plan, ask about, approve and run a high-risk step; return for how long the event loop stood still, in seconds.

    What is typed in the console waits that long; garbage is looked for as it does that.
    """
    gc.freeze()
    delay_full_collections()
    found: dict[str, float] = {}
    loop, doing = asyncio.get_running_loop(), "opened"

    async def beat() -> None:
        while True:
            began = loop.time()
            await asyncio.sleep(0.002)
            found[doing] = max(found.get(doing, 0.0), loop.time() - began - 0.002)

    await trusted(data, root)
    async with SessionRegistry.open(data, {}) as bench:
        beating = asyncio.create_task(beat())
        doing = "planned and asked"
        setup = await bench.create("mark", root)
        async with open_session(bench.store, setup) as session:
            assert isinstance(session, Session)
            handler = CommandHandler(session, setup.planner, by="benchmark", channel="console", terminal=True)
            seen = await session.settled()
            doing = "approved and run"
            await handler.decide(seen.questions[0], Verdict.APPROVE)
            await session.settled()
            doing = "added by a command"
            await handler.handle_command("/todo add command_team mark")
            seen = await session.settled()
            await asyncio.to_thread(Path(root, "package_0", "module_0.py").write_text, "# other\n", encoding="utf-8")
            doing = "refused, as a file changed"
            with suppress(Refused):
                await handler.decide(seen.questions[0], Verdict.APPROVE)
            await session.settled()
        beating.cancel()
    return found


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--data", type=Path, help="where the workspace is made")
    given = parser.parse_args()
    git = shutil.which("git")
    with tempfile.TemporaryDirectory(dir=given.data) as folder:
        root = Path(folder, "workspace")
        root.mkdir()
        make(root, given.files)
        time.sleep(SETTLED)
        bindings = Bindings(Path(folder, "manifests"))

        def bind() -> None:
            bindings.whole(str(root), (), Surroundings())

        def git_status() -> None:
            subprocess.run([str(git), "-C", str(root), "status", "--short"], check=True, capture_output=True)

        first = seconds(bind)
        if git:
            for words in (["init", "-q"], ["add", "-A"]):
                subprocess.run([git, "-C", str(root), *words], check=True)
            bind()  # its configuration is bound, too
        rows: dict[str, list[float]] = {"bound again": [], "one file changed": [], "hashed anew": [], "git status": []}
        for number in range(given.rounds):
            rows["bound again"].append(seconds(bind))
            Path(root, "package_0", "module_0.py").write_text(f"# {number}\n", encoding="utf-8")
            rows["one file changed"].append(seconds(bind))
            rows["hashed anew"].append(seconds(lambda: hash_anew(root)))
            if git:
                rows["git status"].append(seconds(git_status))
        (root / "hitl.toml").write_text(SETTINGS, encoding="utf-8")
        stalls = asyncio.run(longest_stall(root, Path(folder, "data")))
    print(f"{given.files:,} files, {given.rounds} rounds, median (longest) in ms; target: bound again in 300 ms")
    print(f"  {'the first time':18} {first * 1000:7.0f}")
    for name, found in rows.items():
        if found:
            print(f"  {name:18} {statistics.median(found) * 1000:7.0f} ({max(found) * 1000:.0f})")
    print("the longest that the event loop stood still while a step was …, in ms; target: 50")
    for name, longest in stalls.items():
        print(f"  {name:26} {longest * 1000:7.0f}")


if __name__ == "__main__":
    main()
