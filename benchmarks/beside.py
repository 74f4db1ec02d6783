"""The console beside other terminal programs, in one run and taking turns: first frame, memory, processor at rest.

A first frame is there when the screen shows the words of the program's main screen: for each its own, such as stand
where one begins to type. Each has an empty home folder of its own that is kept from one start to the next, and has
been started once before; none needs a network or a key for that screen.

    python benchmarks/beside.py --peers DIR [--rounds 7] [--seconds 60]

`DIR` has a folder for each program, a virtual environment with the package of that name (benchmarks/README.md).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import common
from benchmarks.common import Figures, ms, show, size
from benchmarks.console import ROOT, at_rest, console, family, load, processor, resident, terminal, terminal_environ

LIMIT = 120.0
_TARGET_FRAME, _TARGET_MEMORY = 1.15, 120e6
_OURS, _STOCK = "hitl-tui", "stock widgets"
_SETTLES = 12.0


@dataclass(frozen=True, slots=True)
class Program:
    """A program to start.

    Args:
        command: how.
        words: what its main screen says.
        environ: what it needs to show that screen with nothing set up.
    """

    command: tuple[str, ...]
    words: str
    environ: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Peer:
    """A program of somebody else: its package's executable, and what `Program` says of it."""

    executable: str
    words: str
    environ: Mapping[str, str] = field(default_factory=dict)


_PEERS: Mapping[str, Peer] = {
    "posting": Peer("posting", "Enter a URL"),
    "harlequin": Peer("harlequin", "Run Query"),
    # With any key it opens its main screen instead of asking for one; nothing is sent.
    "mistral-vibe": Peer("vibe", "Type /help", {"MISTRAL_API_KEY": "none"}),
}


def programs(root: Path, peers: Path | None) -> dict[str, Program]:
    """Return the programs there are, by name: ours, an app of the same stock widgets, and the peers in a folder."""
    ours = console(root / "data", ROOT / "examples" / "lease")
    stock = (sys.executable, str(ROOT / "benchmarks" / "peer_app.py"))
    found = {_OURS: Program(tuple(ours), "your question or job"), _STOCK: Program(stock, "your words")}
    for name, peer in _PEERS.items() if peers is not None else ():
        executable = peers.resolve() / name / "bin" / peer.executable if peers is not None else Path()
        if executable.exists():
            found[name] = Program((str(executable),), peer.words, peer.environ)
        else:
            print(f"{name} isn't there: {executable}")
    return found


def environ_of(root: Path, name: str, program: Program) -> dict[str, str]:
    """Return a program's environment, with a home folder of its own."""
    home = root / "homes" / name.replace(" ", "-")
    home.mkdir(parents=True, exist_ok=True)
    kept = {key: value for key, value in terminal_environ().items() if not key.startswith("XDG_")}
    return {**kept, "HOME": str(home), **program.environ}


def first_frame(program: Program, environ: Mapping[str, str]) -> tuple[float, float]:
    """Start a program; return the seconds to its first frame, and the processor seconds of it and its children.

    Raises:
        TimeoutError: its words never came.
    """
    with terminal(program.command, environ) as seen:
        at = seen.until(program.words, LIMIT)
        return at - seen.began, processor(family(seen.child.pid))


def frames(found: Mapping[str, Program], environs: Mapping[str, Mapping[str, str]], rounds: int) -> None:
    """Measure and print first frames, taking turns."""
    for name, program in found.items():
        first_frame(program, environs[name])
    samples: dict[str, list[tuple[float, float]]] = {name: [] for name in found}
    for _ in range(rounds):
        for name, program in found.items():
            samples[name].append(first_frame(program, environs[name]))
    ours = Figures.of([took for took, _ in samples[_OURS]]).median
    rows = []
    for name, pairs in samples.items():
        took, work = Figures.of([t for t, _ in pairs]), Figures.of([w for _, w in pairs])
        least, ratio = min(t for t, _ in pairs), f"{took.median / ours:.2f}"
        rows.append([name, str(took.count), ms(least), ms(took.median), ms(took.worst), ms(work.median), ratio])
    show("First frame (ms)", ["", "rounds", "least", "median", "worst", "CPU", "÷ ours"], rows)
    print(f"  target: hitl-tui at most {_TARGET_FRAME} of the stock widgets, and ahead of the others; {load()}")


def quiet(found: Mapping[str, Program], environs: Mapping[str, Mapping[str, str]], seconds: float) -> None:
    """Measure and print what each program takes once it is there and nobody types."""
    rows = []
    for name, program in found.items():
        with terminal(program.command, environs[name]) as seen:
            seen.until(program.words, LIMIT)
            seen.drain(_SETTLES)
            used, sent = at_rest(seen, seconds)
            pids = family(seen.child.pid)
            rows.append([name, str(len(pids)), size(resident(pids)), f"{used:.2%}", size(sent)])
    show(f"At rest for {seconds:.0f} s", ["", "processes", "memory", "processor", "to the terminal a second"], rows)
    print(f"  target for memory: {size(_TARGET_MEMORY)}; {load()}")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="The console beside other terminal programs.")
    parser.add_argument("--peers", type=Path, help="folder with a virtual environment for each program")
    parser.add_argument("--rounds", type=int, default=7, help="first frames of each program")
    parser.add_argument("--seconds", type=float, default=60.0, help="of rest; 0 leaves that out")
    parser.add_argument("--data", type=Path, help="folder on the disk to measure; a temporary one is made in it")
    chosen = parser.parse_args()
    print(common.machine())
    with common.scratch(chosen.data) as root:
        found = programs(root, chosen.peers)
        environs = {name: environ_of(root, name, program) for name, program in found.items()}
        frames(found, environs, chosen.rounds)
        if chosen.seconds:
            quiet(found, environs, chosen.seconds)


if __name__ == "__main__":
    main()
