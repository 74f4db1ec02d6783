"""Kill -9 before, within and after every durable write and every effect, then start again until all is done.

A dry run counts the points; then each point gets a run of its own whose first process dies there. Other rounds cut the
unsynced tail off the checkpoints' log after each death, and kill a second time while the session recovers. The round
`drawn` holds sequences of two or three deaths with what people say in between (see `crash_sequences`). What happened is
judged from the ledger, from the file of a process that counts the effects, and from the last checkpoint; what a person
has to have said before an effect starts again is in `crash_words`.

    python benchmarks/crash.py                     all points of all rounds, and 2,000 sequences
    python benchmarks/crash.py --points 40 --seed 7
    python benchmarks/crash.py --rounds drawn --sequences 500 --first 1001 --record FILE
    python benchmarks/crash.py --resume FOLDER     go on where a run that was interrupted stood

After each block of runs a line of JSON on standard error says what it came to; --record appends it to a file, and the
report gives the sums of that file by commit, so that several runs add up.
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
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from crash_driver import FINISHED, SESSION, Job, start
from crash_judge import Verdicts, judge
from crash_record import Record, commit
from crash_sequences import TARGETS, drawn, run_script
from crash_wal import cut_tail
from crash_world import World, served

ROUNDS = ("kill", "cut", "twice", "stop", "drawn")
_MOST_STARTS = 6
_SEQUENCES = 2000


@dataclass(frozen=True, slots=True)
class Case:
    """One run: where its processes die and what is cut off afterwards.

    Args:
        round: one of `ROUNDS`.
        kills: the point at which each process dies, in order; the one after the last lives. In the round `drawn`, the
            target and the seed of the sequence.
        cut: the part of the unsynced frames that stays after each death; None cuts nothing.
    """

    round: str
    kills: tuple[str, ...]
    cut: float | None = None

    @property
    def scenario(self) -> str:
        return "stop" if self.round == "stop" else "restore"

    @property
    def name(self) -> str:
        cut = "" if self.cut is None else f"-cut{self.cut:g}"
        return f"{self.round}-{'-'.join(self.kills) or 'none'}{cut}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a case came to.

    Args:
        case: which.
        killed: names of the points where processes died.
        cut: transactions that were cut off.
        verdicts: see `crash_judge`.
        folder: where its files are kept; empty when nothing was wrong.
    """

    case: Case
    killed: tuple[str, ...]
    cut: int
    verdicts: Verdicts
    folder: str = ""

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Outcome:
        """Return the outcome that `asdict` made this of."""
        case, found = data["case"], data["verdicts"]
        words = {name: tuple(found[name]) for name in ("lost", "repeated", "outside", "damaged")}
        return cls(
            Case(case["round"], tuple(case["kills"]), case["cut"]),
            tuple(data["killed"]),
            data["cut"],
            Verdicts(asked=int(found["asked"]), **words),
            data["folder"],
        )


def run_case(case: Case, base: Path, limit: int) -> Outcome:
    """Carry a case out from an empty folder to a finished session."""
    root = base / case.name
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    if case.round == "drawn":
        return _run_sequence(case, root, limit)
    world, lost, cut, code = World(root), [], 0, -1
    with served(world):
        for number in range(_MOST_STARTS):
            kill_at = case.kills[number] if number < len(case.kills) else ""
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
    killed = tuple(str(line["at"]) for line in _lines(root / "kills.jsonl") if line["what"] == "killed")
    if verdicts.ok:
        if case.kills:
            shutil.rmtree(root)
        return Outcome(case, killed, cut, verdicts)
    return Outcome(case, killed, cut, verdicts, str(root))


def _run_sequence(case: Case, root: Path, limit: int) -> Outcome:
    target, seed = case.kills
    became = run_script(drawn(target, int(seed)), root, limit)
    verdicts = Verdicts(became.lost, became.repeated, became.asked, (), became.damaged)
    if verdicts.ok:
        shutil.rmtree(root)
    return Outcome(case, became.killed, became.cut, verdicts, "" if verdicts.ok else str(root))


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def dry_run(round_name: str, base: Path, limit: int) -> list[str]:
    """Return the names of all points, in order, of a run in which nothing dies.

    Raises:
        SystemExit: even that run went wrong.
    """
    outcome = run_case(Case(round_name, ()), base, limit)
    if not outcome.verdicts.ok:
        raise SystemExit(f"The run without a crash went wrong: {outcome.verdicts} (see {outcome.folder}).")
    points: list[str] = json.loads((base / outcome.case.name / "points.json").read_text(encoding="utf-8"))
    return points


def cases_of(round_name: str, points: Sequence[str]) -> Iterator[Case]:
    """Yield the cases of a round: one a point, two where the tail is cut off."""
    opening = points.index("driver.opened#1") + 12
    for number, point in enumerate(points):
        if round_name in ("kill", "stop"):
            yield Case(round_name, (point,))
        elif round_name == "cut":
            yield Case("cut", (point,), 0.0)
            yield Case("cut", (point,), (0.25, 0.5, 0.75, 0.99)[number % 4])
        else:
            # The second process dies at every point of an opening, in turn over all first points.
            yield Case("twice", (point, points[number % opening]), 0.0 if number % 3 == 0 else None)


def _work(case: Case, base: Path, limit: int) -> Outcome:
    try:
        return run_case(case, base, limit)
    except Exception as error:  # noqa: BLE001 - one case must not end the others
        verdicts = Verdicts(damaged=(f"{type(error).__name__}: {error}",))
        return Outcome(case, (), 0, verdicts, str(base / case.name))


@dataclass(frozen=True, slots=True)
class Draw:
    """Which cases are run.

    Args:
        rounds: some of `ROUNDS`.
        points: cases a round at most, drawn at random; 0 for all.
        seed: of the draw.
        at: labels of the (first) points that are taken, without their numbers; empty for all.
        sequences: how many are drawn.
        first: seed of the first of them.
    """

    rounds: Sequence[str]
    points: int = 0
    seed: int = 1
    at: Sequence[str] = ()
    sequences: int = _SEQUENCES
    first: int = 1

    def cases(self, round_name: str, points: Sequence[str]) -> list[Case]:
        """Return the cases of a round that this draw takes."""
        if round_name == "drawn":
            places = [divmod(n, len(TARGETS)) for n in range(self.sequences)]
            return [Case("drawn", (TARGETS[target], str(self.first + seed))) for seed, target in places]
        cases = [c for c in cases_of(round_name, points) if not self.at or c.kills[0].split("#")[0] in self.at]
        if self.points and self.points < len(cases):
            return random.Random(f"{self.seed} {round_name}").sample(cases, self.points)
        return cases


def measure(
    draw: Draw, base: Path, workers: int, limit: int, block: int, record: Record | None
) -> tuple[dict[str, Any], list[Outcome]]:
    """Run what was drawn; return the figures of each round, and every outcome.

    What was done before in `base` isn't done again.

    Args:
        draw: which cases.
        base: folder for the runs.
        workers: cases at the same time.
        limit: seconds after which a process counts as stuck.
        block: runs after which their verdict is printed.
        record: where it is kept, too.
    """
    done = {o.case.name: o for o in (Outcome.from_dict(line) for line in _lines(base / "results.jsonl"))}
    figures: dict[str, Any] = {}
    everything: list[Outcome] = []
    with ProcessPoolExecutor(workers, mp_context=get_context("fork")) as pool:
        for name in draw.rounds:
            points = [] if name == "drawn" else _points("stop" if name == "stop" else "kill", base, limit)
            cases = draw.cases(name, points)
            began = time.monotonic()
            futures = {pool.submit(_work, case, base, limit) for case in cases if case.name not in done}
            with (base / "results.jsonl").open("a", encoding="utf-8") as results:
                fresh, since = list[Outcome](), began
                for number, future in enumerate(as_completed(futures), start=1):
                    outcome = future.result()
                    done[outcome.case.name] = outcome
                    results.write(json.dumps(asdict(outcome)) + "\n")
                    results.flush()
                    fresh.append(outcome)
                    if len(fresh) == block or number == len(futures):
                        now = time.monotonic()
                        _tell(name, number, len(futures), _figures(len(points), fresh, now - since), record)
                        fresh, since = [], now
            outcomes = [done[case.name] for case in cases]
            everything += outcomes
            figures[name] = _figures(len(points), outcomes, time.monotonic() - began)
    return figures, everything


def _tell(name: str, number: int, of: int, figures: Mapping[str, Any], record: Record | None) -> None:
    """Say what a block came to, and keep it."""
    a_minute = round(60 * figures["runs"] / max(figures["seconds"], 0.1), 1)
    line = {"round": name, "block_until": number, "of": of, **figures, "runs_a_minute": a_minute}
    print(json.dumps(line), file=sys.stderr, flush=True)
    if record is not None:
        record.add(name, figures)


def _points(round_name: str, base: Path, limit: int) -> list[str]:
    path = base / f"points-{round_name}.json"
    if not path.exists():
        path.write_text(json.dumps(dry_run(round_name, base, limit)), encoding="utf-8")
    points: list[str] = json.loads(path.read_text(encoding="utf-8"))
    return points


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


def _shown(figures: dict[str, Any]) -> str:
    heads = list(next(iter(figures.values())))
    rows = [("round", *heads), *((name, *row.values()) for name, row in figures.items())]
    return "\n".join("".join(f"{value:>14}" for value in row) for row in rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0 when nothing was lost, repeated, asked without need or damaged."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=0, help="cases a round, drawn at random (all)")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--rounds", nargs="+", choices=ROUNDS, default=list(ROUNDS))
    parser.add_argument("--sequences", type=int, default=None, help="of the round drawn (--points, else 2000)")
    parser.add_argument("--first", type=int, default=1, help="seed of the first of them")
    parser.add_argument("--block", type=int, default=100, help="runs after which their verdict is printed")
    parser.add_argument("--record", type=Path, default=None, help="file that blocks are added to")
    parser.add_argument("--at", nargs="+", default=[], metavar="LABEL", help="only points of these labels (all)")
    parser.add_argument("--root", type=Path, default=None, help="folder for the runs; a new one below it is used")
    parser.add_argument("--resume", type=Path, default=None, help="folder of a run to go on with")
    parser.add_argument("--workers", type=int, default=2, help="runs at the same time")
    parser.add_argument("--limit", type=int, default=40, help="seconds after which a process counts as stuck")
    parser.add_argument("--case", default="", help="one case again, by the name it has in the report")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    given = parser.parse_args(arguments)
    record = Record(given.record, commit()) if given.record else None
    base = given.resume or Path(tempfile.mkdtemp(prefix="crash-", dir=given.root))
    print(f"Runs are in {base}.", file=sys.stderr, flush=True)
    if given.case:
        outcomes = [run_case(_case(given.case), base, given.limit)]
        figures = {"case": _figures(0, outcomes, 0.0)}
    else:
        sequences = given.sequences if given.sequences is not None else given.points or _SEQUENCES
        draw = Draw(given.rounds, given.points, given.seed, given.at, sequences, given.first)
        figures, outcomes = measure(draw, base, given.workers, given.limit, given.block, record)
    violations = [_violation(outcome) for outcome in outcomes if not outcome.verdicts.ok]
    if given.json:
        where = Counter(point.split("#")[0] for outcome in outcomes for point in outcome.killed)
        report = {"commit": commit(), "seed": given.seed, "rounds": figures, "killed_at": dict(where)}
        report |= {"violations": violations, "totals": record.totals() if record else {}}
        print(json.dumps(report, ensure_ascii=False))
    else:
        totals = [json.dumps({"totals": record.totals()})] if record else []
        print(_shown(figures), *totals, *(json.dumps(v, ensure_ascii=False) for v in violations), sep="\n")
    if violations:
        return 1
    shutil.rmtree(base)
    return 0


def _case(text: str) -> Case:
    name, _, cut = text.partition("-cut")
    parts = name.split("-")
    return Case(parts[0], tuple(parts[1:]), float(cut) if cut else None)


if __name__ == "__main__":
    sys.exit(main())
