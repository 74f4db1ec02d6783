"""Random races between a person who types and questions that come and go: none may approve, none may lose a character.

A person types words with digits and letters that mean something in a question, Korean, pastes, Enter, Esc, Ctrl+D,
Shift+Tab, clicks, leaves the window and comes back; meanwhile questions open, change, are answered by somebody else,
expire, several at once. `inside` runs the real app on the real engine in this process, drawing into an emulator (pyte),
with a clock for the pause before a key decides; `terminal` runs the program in a pseudo-terminal, in real time, while
another process answers. An independent judge (`races_judge`) says which key may have decided what.

Of what is known to go wrong in such consoles, races meet: words and digits typed as a question opens, changes or goes;
the key before it is drawn; the hasty and the late key; a question that changed under the finger; another one in its
place; a text whose end is off the screen; one of several refused; comment fields with Shift+Tab; Esc, Ctrl+D, Enter,
pastes; clicks that only focus; digits inside words ("10 days notice"); bursts without the marks of a paste, of one line
or several, split or whole; a syllable that an input method commits with Enter; what is typed while a session opens; a
window that is left; other sizes. The end of input has tests of its own
(tests/terminal/test_end_of_input.py, tests/repl/test_line_pipe.py).

After every block a verdict is printed, and the totals so far with the commit: a run may be stopped at any moment and
gone on with from another race, and totals of one commit add up, as do those of several with the same key guard.

    python -m benchmarks.races [--races 1000] [--terminal 100] [--seed 1] [--from 0] [--to 1000] [--only K]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.races_person import Race
from benchmarks.races_typed import Outcome
from benchmarks.races_world import world

BLOCK = 20
"""Races in one session of one console; then both are made anew."""


async def inside(seed: str, numbers: Iterable[int]) -> list[Outcome]:
    """Run races in this process, some in one console.

    Args:
        seed: with a race's number, decides what happens in it.
        numbers: the races.
    """
    with tempfile.TemporaryDirectory(prefix="races-") as folder, contextlib.chdir(folder):  # keys may export files
        async with world(Path(folder)) as there:
            return [await Race(there, random.Random(f"{seed}/{number}"), number).run() for number in numbers]


def tell(what: str, seed: str, outcomes: list[Outcome], seconds: float) -> bool:
    """Print what came of races so far; return whether all went well."""
    numbers = [one.number for one in outcomes]
    totals = {
        "races": len(outcomes),
        "keys": sum(o.keys for o in outcomes),
        "decisions": sum(o.decisions for o in outcomes),
        "openings": sum(o.opened for o in outcomes),
        "wrong": sum(len(o.wrong) for o in outcomes),
        "missed": sum(len(o.missed) for o in outcomes),
        "lost": sum(len(o.lost) for o in outcomes),
        "moved": sum(len(o.moved) for o in outcomes),
    }
    counted = ", ".join(f"{name} {count}" for name, count in totals.items())
    place = f"seed {seed}, races {min(numbers)} to {max(numbers)}, commit {commit()}, {seconds:.0f} s"
    print(f"{what}: {counted}; {place}", flush=True)
    return not any(one.bad for one in outcomes)


def tell_block(what: str, seed: str, fresh: list[Outcome]) -> None:
    """Print the verdict of one block, and each thing that went wrong in it."""
    for one in (one for one in fresh if one.bad):
        kinds = (("wrong decision", one.wrong), ("missed", one.missed), ("lost", one.lost), ("moved", one.moved))
        for kind, found in kinds:
            for said in found:
                print(f"  race {one.number}: {kind}: {said}")
        only = "--races 0 --terminal 1" if what == "terminal" else "--races 1 --terminal 0"
        print(f"    again: python -m benchmarks.races {only} --seed {seed} --only {one.number}")
    bad = sum(one.bad for one in fresh)
    print(f"  races {fresh[0].number} to {fresh[-1].number}: {f'{bad} BAD' if bad else 'good'}", flush=True)


@cache
def commit() -> str:
    """Return the commit that is run, with a mark where files differ from it."""
    root = Path(__file__).resolve().parent.parent
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=10", "--exclude=*"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--races", type=int, default=1000, help="races in this process (1000)")
    parser.add_argument("--terminal", type=int, default=100, help="races in a pseudo-terminal (100)")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--from", type=int, default=0, dest="first", help="number of the first race (0)")
    parser.add_argument("--to", type=int, help="number after the last race; --races and --terminal say only which")
    parser.add_argument("--only", type=int, help="one race, by its number")
    wanted = parser.parse_args()
    os.environ["HITL_LANG"] = "en"
    good = True
    for what, count in (("races", wanted.races), ("terminal", wanted.terminal)):
        last = wanted.first + count if wanted.to is None else wanted.to
        numbers = [wanted.only] if wanted.only is not None else list(range(wanted.first, last))
        if count:
            good = _all(what, wanted.seed, numbers) and good
    return 0 if good else 1


def _all(what: str, seed: str, numbers: list[int]) -> bool:
    """Run races block by block; return whether all went well."""
    from benchmarks.races_terminal import PER_PROGRAM, through_terminal

    block, work = (PER_PROGRAM, through_terminal) if what == "terminal" else (BLOCK, inside)
    found: list[Outcome] = []
    good, began = True, time.monotonic()
    for start in range(0, len(numbers), block):
        fresh = asyncio.run(work(seed, numbers[start : start + block]))
        found += fresh
        tell_block(what, seed, fresh)
        good = tell(what, seed, found, time.monotonic() - began)
    return good


if __name__ == "__main__":
    sys.exit(main())
