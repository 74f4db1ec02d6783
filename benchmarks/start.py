"""How soon the console takes keys and the engine is there, and what one-shot commands cost.

Through a pseudo-terminal: from the start of the process to the first frame in which a typed key stands in the
prompt, beside a Textual app composed of the same stock widgets (peer_app.py), taking turns; and to the frame that
lists the sessions there are, which needs the engine. One-shot commands are run on a session that nobody has open, and
on one that line mode in a pseudo-terminal has open, which takes no engine. On a machine that others use as well, read
the processor time.

    python benchmarks/start.py [--rounds 7] [--data DIR]
"""

from __future__ import annotations

import argparse
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import ptyprocess  # type: ignore[import-untyped]  # it comes with pexpect and has no stubs
import pyte

from benchmarks import common
from benchmarks.common import Figures, ms, show
from hitl_tui.supervisor.storage import DataFolder

ROOT = Path(__file__).resolve().parent.parent
COLUMNS, ROWS = 120, 40
LIMIT = 30.0
TARGET_FRAME, TARGET_READY, TARGET_VERSION, TARGET_FOLLOWED = 1.15, 1.2, 0.1, 0.3
_KEY = "~"
_EVERY = 0.005
_SCREEN_ON = b"\x1b[?1049h"
_LISTED = "waiting"


@dataclass(frozen=True, slots=True)
class Started:
    """One start of a terminal program.

    Args:
        frame: seconds to the first frame with a typed key in it.
        ready: seconds to the frame with the marker; 0 when none was waited for.
        frame_work: processor seconds to that frame, of all its threads; 0 where the system doesn't tell.
        ready_work: the same to the frame with the marker.
    """

    frame: float
    ready: float
    frame_work: float
    ready_work: float


def work_of(pid: int) -> float:
    """Return the processor seconds that the threads of a running process have taken; 0 where Linux isn't asked."""
    taken = 0
    for told in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with suppress(OSError):  # the thread has just ended
            taken += int(told.read_text(encoding="ascii").split()[0])
    return taken / 1e9


def start_in_terminal(command: Sequence[str], environ: Mapping[str, str], marker: str = "") -> Started:
    """Start a program on a new pseudo-terminal, type until a key is seen, wait for a marker, and kill it.

    Raises:
        TimeoutError: key or marker didn't come.
    """
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    seen = b""
    frame = ready = frame_work = ready_work = 0.0
    began = time.perf_counter()
    child = ptyprocess.PtyProcess.spawn(list(command), cwd=str(ROOT), env=dict(environ), dimensions=(ROWS, COLUMNS))
    try:
        while not frame or (marker and not ready):
            if time.perf_counter() - began > LIMIT:
                raise TimeoutError(f"{' '.join(command)} showed this only:\n" + "\n".join(screen.display))
            readable, _, _ = select.select([child.fd], [], [], _EVERY)
            if readable:
                data = os.read(child.fd, 65536)
                at, work = time.perf_counter() - began, work_of(child.pid)
                seen = (seen + data)[-1_000_000:]
                stream.feed(data)
                text = "\n".join(screen.display)
                if not frame and _KEY in text:
                    frame, frame_work = at, work
                if marker and not ready and marker in text:
                    ready, ready_work = at, work
            # Before the alternate screen is on, the terminal itself would echo what is typed.
            if not frame and _SCREEN_ON in seen:
                os.write(child.fd, _KEY.encode())
    finally:
        child.terminate(force=True)
    return Started(frame, ready, frame_work, ready_work)


def run_command(command: Sequence[str], environ: Mapping[str, str]) -> tuple[float, float]:
    """Run a command to its end; return its seconds and its processor seconds.

    Raises:
        RuntimeError: it failed.
    """
    began = time.perf_counter()
    process = subprocess.Popen(
        list(command), cwd=ROOT, env=dict(environ), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    _, status, used = os.wait4(process.pid, 0)
    took = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.stderr is not None
    with process.stderr:
        said = process.stderr.read().decode(errors="replace")
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}: {said}")
    return took, used.ru_utime + used.ru_stime


def report(name: str, seconds: Sequence[float], beside: Sequence[float] | None, note: str) -> list[str]:
    """Return a row: figures, and the ratio of medians."""
    figures = Figures.of(seconds)
    ratio = f"{figures.median / Figures.of(beside).median:.2f}" if beside else ""
    return [name, str(figures.count), ms(figures.median), ms(figures.p95), ratio, note]


def terminals(data: Path, environ: Mapping[str, str], rounds: int) -> None:
    """Measure and print what is seen in a terminal."""
    console = [sys.executable, "-m", "hitl_tui", "--data", str(data), "--workspace", str(ROOT / "examples" / "lease")]
    peer = [sys.executable, str(ROOT / "benchmarks" / "peer_app.py")]
    start_in_terminal(console, environ, _LISTED)
    start_in_terminal(peer, environ)
    ours: list[Started] = []
    theirs: list[Started] = []
    for _ in range(rounds):
        theirs.append(start_in_terminal(peer, environ))
        ours.append(start_in_terminal(console, environ, _LISTED))
    frames, works = [s.frame for s in theirs], [s.frame_work for s in theirs]
    first = report("console: a typed key is seen", [s.frame for s in ours], frames, f"≤ {TARGET_FRAME} of the peer")
    others = report("peer app: a typed key is seen", frames, None, "")
    listed = report("console: sessions are listed", [s.ready for s in ours], frames, f"≤ {TARGET_READY * 1000:,.0f} ms")
    rows = [
        with_work(first, [s.frame_work for s in ours], works),
        with_work(others, works, None),
        with_work(listed, [s.ready_work for s in ours], works),
    ]
    show("In a terminal (ms from the start of the process)", [*_HEADER[:5], "CPU", "ratio", *_HEADER[5:]], rows)


def with_work(row: Sequence[str], seconds: Sequence[float], beside: Sequence[float] | None) -> list[str]:
    """Return a row with the processor time and its ratio before the last column; empty where nothing is known."""
    if not all(seconds):
        return [*row[:-1], "", "", row[-1]]
    ratio = f"{Figures.of(seconds).median / Figures.of(beside).median:.2f}" if beside else ""
    return [*row[:-1], ms(Figures.of(seconds).median), ratio, row[-1]]


_HEADER = ["", "rounds", "median", "p95", "ratio", "target"]


def commands(data: Path, environ: Mapping[str, str], session: str, rounds: int) -> None:
    """Measure and print one-shot commands, each beside what it can't be faster than."""
    python = sys.executable
    calls = {
        "python -c pass": [python, "-c", "pass"],
        "hitl-tui --version": [python, "-m", "hitl_tui", "--version"],
        'python -c "import langgraph.graph"': [python, "-c", "import langgraph.graph"],
        "hitl-tui do (/todos)": [python, "-m", "hitl_tui", "--data", str(data), "do", session, "/todos", "--json"],
    }
    found = _in_turns(calls, environ, rounds)
    pairs = {"hitl-tui --version": "python -c pass", "hitl-tui do (/todos)": 'python -c "import langgraph.graph"'}
    notes = {"hitl-tui --version": f"≤ {TARGET_VERSION * 1000:.0f} ms"}
    _show_commands("One-shot commands (ms)", found, pairs, notes)


def followed(data: Path, environ: Mapping[str, str], session: str, rounds: int) -> None:
    """Measure and print commands on a session that line mode has open, beside what they can't do without.

    Raises:
        TimeoutError: line mode didn't open it.
    """
    python = sys.executable
    hitl = [python, "-m", "hitl_tui", "--data", str(data)]
    (question,) = json.loads(subprocess.run(
        [*hitl, "show", session, "--json"], cwd=ROOT, env=dict(environ), capture_output=True, check=True
    ).stdout)["questions"]  # fmt: skip
    peer = 'python -c "import sqlite3, asyncio"'
    calls = {
        peer: [python, "-c", "import sqlite3, asyncio"],
        "hitl-tui do (/todos)": [*hitl, "do", session, "/todos"],
        "hitl-tui do (/todos), --json": [*hitl, "do", session, "/todos", "--json"],
        "hitl-tui do (/todo priority)": [*hitl, "do", session, "/todo priority 1 high"],
        "hitl-tui show": [*hitl, "show", session],
        "hitl-tui sessions": [*hitl, "sessions"],
    }
    approve = [*hitl, "do", session, f"/todo approve {question['id']}"]
    folder = DataFolder(data).session(session)
    owner = ptyprocess.PtyProcess.spawn(
        [*hitl, "--line", "--session", session], cwd=str(ROOT), env=dict(environ), dimensions=(ROWS, COLUMNS)
    )
    try:
        began = time.perf_counter()
        while not folder.is_owned():
            if time.perf_counter() - began > LIMIT:
                raise TimeoutError(f"line mode didn't open {session}")
            time.sleep(_EVERY)
        found = _in_turns(calls, environ, rounds)
        found["hitl-tui do (/todo approve)"] = [run_command(approve, environ)]
    finally:
        owner.terminate(force=True)
    target = f"≤ {TARGET_FOLLOWED * 1000:.0f} ms"
    ours = [name for name in found if name != peer]
    title = "Commands on a session that another process has open (ms)"
    _show_commands(title, found, dict.fromkeys(ours, peer), {name: target for name in ours if " do " in name})


def _in_turns(
    calls: Mapping[str, Sequence[str]], environ: Mapping[str, str], rounds: int
) -> dict[str, list[tuple[float, float]]]:
    """Run each command once unmeasured, then all of them in turns; return seconds and processor seconds of each."""
    for command in calls.values():
        run_command(command, environ)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, command in calls.items():
            found[name].append(run_command(command, environ))
    return found


def _show_commands(
    title: str,
    found: Mapping[str, Sequence[tuple[float, float]]],
    pairs: Mapping[str, str],
    notes: Mapping[str, str],
) -> None:
    rows = []
    for name, samples in found.items():
        beside = found.get(pairs.get(name, ""), [])
        row = report(name, [took for took, _ in samples], [took for took, _ in beside] or None, notes.get(name, ""))
        rows.append([*row[:4], ms(Figures.of([used for _, used in samples]).median), *row[4:]])
    show(title, [*_HEADER[:4], "CPU", *_HEADER[4:]], rows)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="Start of the console and of one-shot commands.")
    parser.add_argument("--rounds", type=int, default=7, help="repetitions")
    parser.add_argument("--data", type=Path, help="folder on the disk to measure; a temporary one is made in it")
    chosen = parser.parse_args()
    print(common.machine())
    # As people run it: with compiled modules kept, which the first, unmeasured start of each command makes.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environ = {**kept, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    with common.scratch(chosen.data) as root:
        data = root / "data"
        begin = [sys.executable, "-m", "hitl_tui", "--data", str(data), "run", "--session", "bench"]
        begin += ["--workspace", str(ROOT / "examples" / "lease"), "How much deposit is protected?"]
        asked = subprocess.run(begin, cwd=ROOT, env=environ, capture_output=True, check=False)
        if asked.returncode != 3:
            raise RuntimeError(f"the session can't be begun: {asked.stderr.decode(errors='replace')}")
        terminals(data, environ, chosen.rounds)
        commands(data, environ, "bench", chosen.rounds)
        followed(data, environ, "bench", chosen.rounds)


if __name__ == "__main__":
    main()
