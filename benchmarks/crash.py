"""Kill -9 before, within and after every durable write and every effect, then start again until all is done (D12).

A dry run counts the points; then each point gets a run of its own whose first process dies there. Other rounds cut the
unsynced tail off the checkpoints' log after each death, and kill a second time while the session recovers. What
happened is judged from the ledger, from the file of a process that counts the effects, and from the last checkpoint.

    python benchmarks/crash.py                     all points, all rounds
    python benchmarks/crash.py --points 40 --seed 7
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from crash_driver import FINISHED, SESSION, Job, start
from crash_judge import Verdicts, judge
from crash_wal import cut_tail
from crash_world import World, served

ROUNDS = ("kill", "cut", "twice", "stop")
_MOST_STARTS = 6


@dataclass(frozen=True, slots=True)
class Case:
    """One run: where its processes die and what is cut off afterwards.

    Args:
        round: one of `ROUNDS`.
        kills: the point at which each process dies, in order; the one after the last lives.
        cut: the part of the unsynced frames that stays after each death; None cuts nothing.
    """

    round: str
    kills: tuple[int, ...]
    cut: float | None = None

    @property
    def scenario(self) -> str:
        return "stop" if self.round == "stop" else "restore"

    @property
    def name(self) -> str:
        cut = "" if self.cut is None else f"-cut{self.cut:g}"
        return f"{self.round}-{'-'.join(map(str, self.kills)) or 'none'}{cut}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a case came to.

    Args:
        case: which.
        killed: labels of the points where processes died.
        cut: transactions that were cut off.
        verdicts: see `crash_judge`.
        folder: where its files are kept; empty when nothing was wrong.
    """

    case: Case
    killed: tuple[str, ...]
    cut: int
    verdicts: Verdicts
    folder: str = ""


def run_case(case: Case, base: Path, limit: int) -> Outcome:
    """Carry a case out from an empty folder to a finished session."""
    root = base / case.name
    root.mkdir()
    world, lost, cut, code = World(root), [], 0, -1
    with served(world):
        for number in range(_MOST_STARTS):
            kill_at = case.kills[number] if number < len(case.kills) else 0
            child = start(Job(root, kill_at, case.scenario, limit))
            _, status = os.waitpid(child, 0)
            code = os.waitstatus_to_exitcode(status)
            if code != -9:
                break
            if case.cut is not None:
                cut += cut_tail(root / "data" / "sessions" / SESSION / "checkpoints.db", case.cut, torn=case.cut > 0)
    if code != FINISHED:
        lost.append(f"the session can't be finished: its process ended with {code}")
        verdicts = Verdicts(lost=tuple(lost))
    else:
        verdicts = judge(root)
    killed = tuple(line["label"] for line in _lines(root / "kills.jsonl") if line["what"] == "killed")
    if verdicts.ok:
        if case.kills:
            shutil.rmtree(root)
        return Outcome(case, killed, cut, verdicts)
    return Outcome(case, killed, cut, verdicts, str(root))


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def dry_run(round_name: str, base: Path, limit: int) -> list[str]:
    """Return the labels of all points, in order, of a run in which nothing dies.

    Raises:
        SystemExit: even that run went wrong.
    """
    outcome = run_case(Case(round_name, ()), base, limit)
    if not outcome.verdicts.ok:
        raise SystemExit(f"The run without a crash went wrong: {outcome.verdicts} (see {outcome.folder}).")
    labels: list[str] = json.loads((base / outcome.case.name / "labels.json").read_text(encoding="utf-8"))
    return labels


def cases_of(round_name: str, labels: Sequence[str]) -> Iterator[Case]:
    """Yield the cases of a round."""
    opening = labels.index("driver.opened") + 1
    points = range(1, len(labels) + 1)
    if round_name in ("kill", "stop"):
        yield from (Case(round_name, (point,)) for point in points)
    elif round_name == "cut":
        for number, point in enumerate(points):
            yield Case("cut", (point,), 0.0)
            yield Case("cut", (point,), (0.25, 0.5, 0.75, 0.99)[number % 4])
    else:
        # The second process dies at every point of its own opening, in turn over all first points.
        for number, point in enumerate(points):
            yield Case("twice", (point, 1 + number % (opening + 12)))


def _work(case: Case, base: Path, limit: int) -> Outcome:
    try:
        return run_case(case, base, limit)
    except Exception as error:  # noqa: BLE001 - one case must not end the others
        verdicts = Verdicts(damaged=(f"{type(error).__name__}: {error}",))
        return Outcome(case, (), 0, verdicts, str(base / case.name))


def measure(rounds: Sequence[str], points: int, seed: int, base: Path, workers: int, limit: int) -> dict[str, Any]:
    """Run the rounds; return the figures.

    Args:
        rounds: some of `ROUNDS`.
        points: cases a round at most, drawn at random; 0 for all.
        seed: of the draw.
        base: an empty folder for the runs.
        workers: cases at the same time.
        limit: seconds after which a process counts as stuck.
    """
    draw = random.Random(seed)
    report: dict[str, Any] = {"seed": seed, "rounds": {}, "violations": []}
    dry = {"restore": dry_run("kill", base, limit)} if set(rounds) - {"stop"} else {}
    if "stop" in rounds:
        dry["stop"] = dry_run("stop", base, limit)
    report["labels"] = {name: dict(Counter(labels)) for name, labels in dry.items()}
    with ProcessPoolExecutor(workers, mp_context=get_context("fork")) as pool:
        for name in rounds:
            labels = dry["stop" if name == "stop" else "restore"]
            cases = list(cases_of(name, labels))
            if points and points < len(cases):
                cases = draw.sample(cases, points)
            began = time.monotonic()
            futures = [pool.submit(_work, case, base, limit) for case in cases]
            outcomes = [future.result() for future in futures]
            report["rounds"][name] = _figures(len(labels), outcomes, time.monotonic() - began)
            report["violations"] += [_violation(o) for o in outcomes if not o.verdicts.ok]
    return report


def _figures(points: int, outcomes: Sequence[Outcome], seconds: float) -> dict[str, Any]:
    return {
        "points": points,
        "runs": len(outcomes),
        "kills": sum(len(o.killed) for o in outcomes),
        "cut": sum(o.cut for o in outcomes),
        "lost": sum(len(o.verdicts.lost) for o in outcomes),
        "repeated": sum(len(o.verdicts.repeated) for o in outcomes),
        "asked": sum(o.verdicts.asked for o in outcomes),
        "asked_outside": sum(len(o.verdicts.outside) for o in outcomes),
        "damaged": sum(len(o.verdicts.damaged) for o in outcomes),
        "seconds": round(seconds, 1),
    }


def _violation(outcome: Outcome) -> dict[str, Any]:
    return {
        "case": outcome.case.name,
        "killed": list(outcome.killed),
        **{k: v for k, v in asdict(outcome.verdicts).items() if v},
        "folder": outcome.folder,
    }


def _shown(report: dict[str, Any]) -> str:
    heads = ("points", "runs", "kills", "cut", "lost", "repeated", "asked", "asked_outside", "damaged", "seconds")
    lines = ["round " + "".join(f"{head:>14}" for head in heads)]
    for name, figures in report["rounds"].items():
        lines.append(f"{name:<6}" + "".join(f"{figures[head]:>14}" for head in heads))
    for violation in report["violations"]:
        lines.append(json.dumps(violation, ensure_ascii=False))
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0 when nothing was lost, repeated, asked without need or damaged."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=0, help="cases a round, drawn at random (all)")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--rounds", nargs="+", choices=ROUNDS, default=list(ROUNDS))
    parser.add_argument("--root", type=Path, default=None, help="folder for the runs; a new one below it is used")
    parser.add_argument("--workers", type=int, default=2, help="runs at the same time")
    parser.add_argument("--limit", type=int, default=40, help="seconds after which a process counts as stuck")
    parser.add_argument("--case", default="", help="one case again: ROUND POINT[-POINT…] [CUT], as in kill-17")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    given = parser.parse_args(arguments)
    base = Path(tempfile.mkdtemp(prefix="crash-", dir=given.root))
    if given.case:
        outcome = run_case(_case(given.case), base, given.limit)
        print(json.dumps(_violation(outcome), ensure_ascii=False))
        return 0 if outcome.verdicts.ok else 1
    report = measure(given.rounds, given.points, given.seed, base, given.workers, given.limit)
    print(json.dumps(report, ensure_ascii=False) if given.json else _shown(report))
    if not report["violations"]:
        shutil.rmtree(base)
    return 1 if report["violations"] else 0


def _case(text: str) -> Case:
    name, _, cut = text.partition("-cut")
    parts = name.split("-")
    return Case(parts[0], tuple(int(p) for p in parts[1:]), float(cut) if cut else None)


if __name__ == "__main__":
    sys.exit(main())
