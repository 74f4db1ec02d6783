"""Kill -9 at every write to the checkpoint store and to the ledger while graphs of others run, then go on.

A dry run of each graph counts the points: before and after each write of the saver, before, within and after each
transaction of the ledger, before and after each thing that a node does. Then a process dies at each of them (or at
those that a seed chooses, or at random instants), another one goes on and answers what it is asked. Judged are the
world's own count of what was done, and the ledger's record of what was answered:

- nothing is done more often than without the death, unless a person was asked about it first;
- nothing that was answered on record is asked again, and every question is answered once;
- the session is finished.

    python benchmarks/crash_graphs.py                      all points
    python benchmarks/crash_graphs.py --points 60 --instants 20 --seed 7
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

GRAPHS = ("many", "nested", "called", "flow", "beside")
_TESTS = Path(__file__).resolve().parents[1] / "tests"
_STUCK = 60.0
"""Seconds after which a process surely makes no progress any more."""

Point = Callable[[str], None]


@dataclass
class Points:
    """Counts what a process meets, and ends it at one of them.

    Args:
        die: the point to die at, as `label#n`; empty for none.
        met: all of them, in order.
    """

    die: str = ""
    met: list[str] = field(default_factory=list)
    _counts: Counter[str] = field(default_factory=Counter)

    def __call__(self, label: str) -> None:
        self._counts[label] += 1
        name = f"{label}#{self._counts[label]}"
        self.met.append(name)
        if name == self.die:
            os.kill(os.getpid(), signal.SIGKILL)


def install(point: Point) -> None:
    """Put the points around everything that is written, for the rest of this process's life."""
    import attached_graphs

    from hitl_tui.ledger import sqlite_database
    from hitl_tui.supervisor.checkpoint_saver import SessionSaver

    once, act = sqlite_database._once, attached_graphs.act

    def spied_once(db: Any, begin: str, work: Callable[[Any], Any]) -> Any:
        if begin != "BEGIN IMMEDIATE":
            return once(db, begin, work)

        def within(inner: Any) -> Any:
            result = work(inner)
            point("ledger.within")
            return result

        point("ledger.before")
        result = once(db, begin, within)
        point("ledger.after")
        return result

    def spied_act(what: str) -> None:
        point("act.before")
        act(what)
        point("act.after")

    sqlite_database._once = spied_once  # type: ignore[assignment]
    attached_graphs.act = spied_act
    for name in ("aput", "aput_writes"):
        setattr(SessionSaver, name, _around(getattr(SessionSaver, name), name, point))


def _around(inner: Callable[..., Any], name: str, point: Point) -> Callable[..., Any]:
    async def spied(*args: Any, **more: Any) -> Any:
        point(f"{name}.before")
        result = await inner(*args, **more)
        point(f"{name}.after")
        return result

    return spied


def child(root: Path, graph: str, die: str, instant: float = 0.0) -> tuple[int, dict[str, Any]]:
    """Take a session on in a process of its own; return how that ended, and what it says it met.

    Args:
        root: the world's folder.
        graph: which of `attached_graphs`.
        die: the point to die at; empty for none.
        instant: seconds after which it is killed; 0 for never.
    """
    said, says = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(said)
        _child(root, graph, die, says)
    os.close(says)
    data = bytearray()
    ends = time.monotonic() + (instant or _STUCK)
    killed = False
    while True:
        ready, _, _ = select.select([said], [], [], max(0.0, ends - time.monotonic()) if not killed else _STUCK)
        if not ready and not killed:
            os.kill(pid, signal.SIGKILL)
            killed = True
            continue
        chunk = os.read(said, 65_536) if ready else b""
        if not chunk:
            break
        data += chunk
    os.close(said)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return code, json.loads(data) if data and code == 0 else {}


def _child(root: Path, graph: str, die: str, says: int) -> None:
    code = 1
    try:
        os.environ["WORLD"] = str(root / "world.txt")
        (root / "world.mended").touch()
        silent = os.open(root / "output.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        points = Points(die)
        install(points)
        found = asyncio.run(_go_on(root, graph))
        os.write(says, json.dumps({**found, "points": points.met}).encode())
        code = 0
    except BaseException:  # noqa: BLE001 - this is a process of its own: nothing may return into its parent
        traceback.print_exc()
    finally:
        os._exit(code)


async def _go_on(root: Path, graph: str) -> dict[str, Any]:
    from attached_worker import finish

    before = await answers(root)
    met = await finish(root, graph)
    return {"before": before, "met": met, "after": await answers(root)}


@dataclass(frozen=True)
class Verdict:
    """What became of one death.

    Args:
        died: it did die there.
        doubts: how often a person was asked whether something may have happened.
        wrong: what should not be; empty when all is well.
    """

    died: bool
    doubts: int
    wrong: str = ""


def judge(root: Path, graph: str, calm: Mapping[str, int], die: str, instant: float = 0.0) -> Verdict:
    """Let a process die, another one go on; return what became of it."""
    code, _ = child(root, graph, die, instant)
    if code not in (0, -signal.SIGKILL):
        return Verdict(False, 0, f"the first process ended with {code}")
    again, found = child(root, graph, "")
    if again != 0:
        return Verdict(True, 0, f"the second process ended with {again}: {_last_line(root)}")
    met: list[list[Any]] = found["met"]
    doubts = sum(kind == "effect" for kind, _ in met)
    return Verdict(code != 0, doubts, _wrong(met, doubts, world(root), calm, found["before"], found["after"]))


def _wrong(
    met: list[list[Any]],
    doubts: int,
    done: Mapping[str, int],
    calm: Mapping[str, int],
    before: Mapping[str, int],
    after: Mapping[str, int],
) -> str:
    if met[-1] != ["status", "finished"]:
        return f"it ended {met[-1]}"
    for what in {*done, *calm}:
        # Answers that are delivered together run what waits beside them less often.
        if not min(1, calm.get(what, 0)) <= done.get(what, 0) <= calm.get(what, 0) + doubts:
            return f"{what}: {done.get(what, 0)} times, {calm.get(what, 0)} without a death, {doubts} doubts"
    asked = [json.dumps(value, sort_keys=True) for kind, value in met if kind == "interrupt"]
    again = [value for value in asked if before.get(value)]
    if again:
        return f"asked again though it was answered on record: {again}"
    several = [value for value, times in after.items() if times != 1]
    return f"answered more than once: {several}" if several else ""


def world(root: Path) -> Counter[str]:
    """How often each thing was done."""
    path = root / "world.txt"
    return Counter(path.read_text(encoding="utf-8").splitlines() if path.exists() else [])


async def answers(root: Path) -> Counter[str]:
    """What was answered on record, by what was asked."""
    from hitl_tui.core.events import utc_now
    from hitl_tui.core.requests import Kind
    from hitl_tui.ledger.sqlite_ledger import SqliteLedger

    path = root / "data" / "ledger.db"
    if not path.is_file():
        return Counter()
    async with SqliteLedger.open(path) as ledger:
        found = await ledger.requests(utc_now(), session="s1", pending=False, limit=1000)
    told = [v.request.subject for v in found if v.request.kind is Kind.INTERRUPT and v.decisions]
    return Counter(json.dumps(subject.get("value"), sort_keys=True) for subject in told)


def _last_line(root: Path) -> str:
    lines = (root / "output.txt").read_text(encoding="utf-8", errors="replace").splitlines()
    return lines[-1][:300] if lines else ""


def main() -> int:
    """Run what was asked for; print a line for each graph and for everything that is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=0, help="so many of each graph's points (all)")
    parser.add_argument("--instants", type=int, default=0, help="besides, so many deaths at random instants of each")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--graphs", nargs="*", default=GRAPHS)
    parser.add_argument("--keep", action="store_true", help="keep the folders of what is wrong")
    given = parser.parse_args()
    chance, wrong = random.Random(given.seed), 0
    base = Path(tempfile.mkdtemp(prefix="crash-graphs-"))
    for graph in given.graphs:
        wrong += _of_graph(base / graph, graph, given, chance)
    if not given.keep:
        shutil.rmtree(base)
    return 1 if wrong else 0


def _of_graph(base: Path, graph: str, given: argparse.Namespace, chance: random.Random) -> int:
    began = time.monotonic()
    dry = base / "calm"
    dry.mkdir(parents=True)
    code, found = child(dry, graph, "")
    assert code == 0, _last_line(dry)
    took = time.monotonic() - began
    calm, points = world(dry), found["points"]
    chosen = points if not given.points else chance.sample(points, min(given.points, len(points)))
    deaths = [(name, 0.0) for name in chosen]
    deaths += [("", chance.uniform(0.02, took)) for _ in range(given.instants)]
    died = doubts = wrong = 0
    for number, (die, instant) in enumerate(deaths):
        root = base / str(number)
        root.mkdir()
        verdict = judge(root, graph, calm, die, instant)
        died, doubts = died + verdict.died, doubts + verdict.doubts
        if verdict.wrong:
            wrong += 1
            print(f"{graph} {die or f'after {instant:.3f} s'}: {verdict.wrong}  {root}", flush=True)
        elif root.exists():
            shutil.rmtree(root)
    seconds = time.monotonic() - began
    print(
        f"{graph}: {len(points)} points, {len(deaths)} runs, {died} deaths, {doubts} times asked about, "
        f"{wrong} wrong, {seconds:.0f} s",
        flush=True,
    )
    return wrong


def prepare() -> None:
    """Load everything once: each process of a run is a copy of this one."""
    sys.path[:0] = [str(_TESTS / "supervisor"), str(_TESTS / "support"), str(_TESTS)]
    import attached_support  # noqa: F401
    import attached_worker  # noqa: F401
    import jsonschema  # noqa: F401
    from langgraph.graph import StateGraph  # noqa: F401

    import hitl_tui.supervisor.session_registry  # noqa: F401


if __name__ == "__main__":
    prepare()
    sys.exit(main())
