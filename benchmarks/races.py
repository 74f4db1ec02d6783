"""Random races between a person who types and questions that come and go: none may approve, none may lose a character.

A person types words with digits and letters that mean something in a question, Korean, pastes, Enter, Esc, Ctrl+D,
Shift+Tab, clicks, leaves the window and comes back; meanwhile questions open, change, are answered by somebody else,
expire, several at once. `inside` runs the real app on the real engine in this process, drawing into an emulator (pyte),
with a clock for the pause before a key decides; `terminal` runs the program in a pseudo-terminal, in real time, while
another process answers. An independent judge (`races_judge`) says which key may have decided what.

Of what is known to go wrong in such consoles, races meet: words and digits typed as a question opens, changes or goes;
the key before it is drawn; the hasty and the late key; a question that changed under the finger; another one in its
place; a text whose end is off the screen; one of several refused; comment fields with Shift+Tab; Esc, Ctrl+D, Enter,
pastes; clicks that only focus; a window that is left; other sizes. The end of input has tests of its own
(tests/terminal/test_end_of_input.py, tests/repl/test_line_pipe.py).

    python -m benchmarks.races [--races 1000] [--terminal 100] [--seed 1] [--only K]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterable
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
    """Print what came of races; return whether all went well."""
    bad = [one for one in outcomes if one.bad]
    for one in bad:
        for kind, found in (("wrong decision", one.wrong), ("lost", one.lost), ("focus", one.moved)):
            for said in found:
                print(f"  race {one.number}: {kind}: {said}")
        print(f"    again: python -m benchmarks.races --{what} --seed {seed} --only {one.number}")
    print(
        f"{what}: {len(outcomes)} races, {sum(o.keys for o in outcomes)} keys, "
        f"{sum(o.decisions for o in outcomes)} decisions of the person, "
        f"{sum(len(o.wrong) for o in outcomes)} wrong decisions, "
        f"{sum(len(o.lost) for o in outcomes)} with lost or doubled characters, "
        f"{sum(len(o.moved) for o in outcomes)} where the focus or the question moved by itself; "
        f"seed {seed}, {seconds:.0f} s",
        flush=True,
    )
    return not bad


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--races", type=int, default=1000, help="races in this process (1000)")
    parser.add_argument("--terminal", type=int, default=100, help="races in a pseudo-terminal (100)")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--from", type=int, default=0, dest="first", help="number of the first race")
    parser.add_argument("--only", type=int, help="one race, by its number")
    wanted = parser.parse_args()
    os.environ["HITL_LANG"] = "en"
    good = True
    began = time.monotonic()
    numbers = [wanted.only] if wanted.only is not None else list(range(wanted.first, wanted.first + wanted.races))
    found: list[Outcome] = []
    for start in range(0, len(numbers) if wanted.races else 0, BLOCK):
        fresh = asyncio.run(inside(wanted.seed, numbers[start : start + BLOCK]))
        found += fresh
        print(f"  {len(found)} of {len(numbers)} races", flush=True)
        for one in fresh:
            if one.bad:
                print(f"  race {one.number}: {[*one.wrong, *one.lost, *one.moved]}", flush=True)
    if found:
        good = tell("races", wanted.seed, found, time.monotonic() - began)
    if wanted.terminal:
        from benchmarks.races_terminal import through_terminal

        began = time.monotonic()
        count = [wanted.only] if wanted.only is not None else range(wanted.first, wanted.first + wanted.terminal)
        through = asyncio.run(through_terminal(wanted.seed, count))
        good = tell("terminal", wanted.seed, through, time.monotonic() - began) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
