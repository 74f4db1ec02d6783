"""How quickly the console answers a key under load, what it costs at rest, and how soon it paints.

`keys`: a session of 10,000 TODOs and 10,000 checkpoints while four commands stream; from the byte written to the
pseudo-terminal to the frame in which an independent terminal emulator (pyte) shows it in the prompt. `rest`: memory
with the engine loaded, and the processor time of a minute with a deadline counting down. `paint`: the first painted
frame beside other programs, taking turns.

    python benchmarks/console.py [--parts keys rest paint] [--keys 1000] [--beside posting=PATH harlequin=PATH]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import select
import sqlite3
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import ptyprocess  # type: ignore[import-untyped]  # it comes with pexpect and has no stubs
import pyte

from benchmarks import common
from benchmarks.common import Figures, GivenPlan, ms, show, size
from hitl_tui.config.load import load_config
from hitl_tui.core.plan import ExecutionStep
from hitl_tui.core.policy import Mode
from hitl_tui.ledger.sqlite import SqliteLedger
from hitl_tui.planning.agent import PlanningAgent
from hitl_tui.supervisor.clock import utc_now
from hitl_tui.supervisor.session import Session, SessionSetup
from hitl_tui.supervisor.storage import DataFolder, SessionInfo
from hitl_tui.teams.registry import TeamRegistry

ROOT = Path(__file__).resolve().parent.parent
COLUMNS, ROWS = 120, 40
LIMIT = 120.0
STREAMS, LINES, PAUSE = 4, 25_000, 0.002
_TARGET_KEY, _TARGET_MEMORY, _TARGET_IDLE = 0.030, 120e6, 0.01

_CONFIG = f"""\
[teams.command_team.commands.stream]
run = ["{sys.executable}", "stream.py"]
risk = "low"
timeout = "10m"

[[policy]]
team = "command_team"
decision = "allow"
"""
_DEADLINE = """\
[[policy]]
decision = "ask"
deadline = "2h"
on_deadline = "reject"
"""
_STREAM = f"""\
import sys, time
for n in range({LINES}):
    print(f"line {{n}} of what this team has to say, long enough to be a line", flush=True)
    time.sleep({PAUSE})
"""


class Terminal:
    """A program on a pseudo-terminal, seen through an emulator.

    Args:
        command: the program.
        environ: its environment.
    """

    def __init__(self, command: Sequence[str], environ: Mapping[str, str]) -> None:
        self.screen = pyte.Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self.screen)
        self.began = time.perf_counter()
        self.child = ptyprocess.PtyProcess.spawn(
            list(command), cwd=str(ROOT), env=dict(environ), dimensions=(ROWS, COLUMNS)
        )

    @property
    def text(self) -> str:
        return "\n".join(self.screen.display)

    def write(self, text: str) -> float:
        """Type; return when."""
        at = time.perf_counter()
        os.write(self.child.fd, text.encode())
        return at

    def read(self, wait: float) -> float:
        """Feed what is there to the emulator; return when it arrived, 0 when nothing did."""
        readable, _, _ = select.select([self.child.fd], [], [], wait)
        if not readable:
            return 0.0
        try:
            data = os.read(self.child.fd, 65536)
        except OSError as error:  # Linux's word for a program that has ended
            raise RuntimeError(f"{' '.join(self.child.argv or ())} ended:\n{self.text}") from error
        at = time.perf_counter()
        self._stream.feed(data)
        return at

    def until(self, wanted: str, limit: float = LIMIT) -> float:
        """Read until a text is on the screen; return when that arrived.

        Raises:
            TimeoutError: it never came.
        """
        end = time.perf_counter() + limit
        while time.perf_counter() < end:
            at = self.read(0.05)
            if at and wanted in self.text:
                return at
        raise TimeoutError(f"{wanted!r} never came; the screen shows:\n{self.text}")

    def drain(self, seconds: float) -> None:
        """Read for a while."""
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            self.read(0.02)


@contextmanager
def terminal(command: Sequence[str], environ: Mapping[str, str]) -> Iterator[Terminal]:
    """Start a program on a pseudo-terminal; it is killed at the end."""
    found = Terminal(command, environ)
    try:
        yield found
    finally:
        found.child.terminate(force=True)


def console(data: Path, workspace: Path, *more: str) -> list[str]:
    """Return the command of the console."""
    return [sys.executable, "-m", "hitl_tui", "--data", str(data), "--workspace", str(workspace), *more]


async def prepare(root: Path, todos: int, checkpoints: int) -> tuple[Path, Path]:
    """Make a session that waits for its plan to be approved; return data folder and workspace."""
    workspace = root / "workspace"
    workspace.mkdir()
    (workspace / "hitl.toml").write_text(_CONFIG, encoding="utf-8")
    (workspace / "stream.py").write_text(_STREAM, encoding="utf-8")
    (workspace / "notes.md").write_text("The cap is 5 percent a year.\n", encoding="utf-8")
    data = DataFolder(root / "data")
    data.prepare()
    config = load_config(workspace)
    registry = TeamRegistry.from_config(config)
    streams = [
        ExecutionStep("command_team", "stream", id=f"c{n}", input_mapping={"command": "stream"}) for n in range(STREAMS)
    ]
    waiting = tuple(f"c{n}" for n in range(STREAMS))
    rest = [
        ExecutionStep("search_team", f"Find the cap of part {n}", id=f"s{n}", dependencies=waiting)
        for n in range(todos - STREAMS)
    ]
    agent = PlanningAgent(registry.agents(), GivenPlan([*streams, *rest]))
    info = SessionInfo("bench", str(workspace), "benchmark", utc_now(), "bench", "benchmark", Mode.PLAN.value)
    data.create(info)
    async with SqliteLedger.open(data.ledger) as ledger:
        await ledger.record("bench", "session_created", {"workspace": str(workspace), "title": "benchmark"}, utc_now())
        setup = SessionSetup(
            info, data.session("bench"), ledger, agent, registry.get, config.policy, STREAMS, Mode.PLAN, secrets={}
        )
        async with Session.open(setup, "benchmark") as session:
            await session.settled()
    lengthen(data.session("bench").checkpoints, checkpoints)
    return root / "data", workspace


def lengthen(path: Path, count: int) -> None:
    """Put checkpoints before the first one of a session: a long history costs what it costs, whatever is in it."""
    connection = sqlite3.connect(path)
    with connection:
        first = "SELECT min(checkpoint_id) FROM checkpoints WHERE thread_id = 'session_bench' AND checkpoint_ns = ''"
        (oldest,) = connection.execute(first).fetchone()
        row = (
            "SELECT type, checkpoint, metadata FROM checkpoints WHERE thread_id = 'session_bench' AND checkpoint_id = ?"
        )
        kind, blob, metadata = connection.execute(row, (oldest,)).fetchone()
        ids = [f"1e{n:06x}-0000-6000-8000-000000000000" for n in range(count)]
        rows = [
            ("session_bench", "", one, before, kind, blob, metadata)
            for one, before in zip(ids, [None, *ids], strict=False)
        ]
        connection.executemany(
            "INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint,"
            " metadata) VALUES (?, ?, ?, ?, ?, ?, ?)",
            rows,
        )
        connection.execute("UPDATE checkpoints SET parent_checkpoint_id = ? WHERE checkpoint_id = ?", (ids[-1], oldest))
    connection.close()


def keys(root: Path, environ: Mapping[str, str], count: int, todos: int, checkpoints: int) -> None:
    """Measure and print the time from a key to the screen."""
    data, workspace = asyncio.run(prepare(root, todos, checkpoints))
    with terminal(console(data, workspace, "--session", "bench"), environ) as seen:
        seen.until("QUESTION")
        seen.write("/plan approve\r")
        seen.until("of what this team has to say")
        seen.drain(3.0)
        took: list[float] = []
        lost = 0
        for number in range(count):
            if number % 50 == 0:
                seen.write("\x15" if number else "")  # Ctrl+U: the line is empty again
                seen.drain(0.2)
            letter = "abcdefghijklmnopqrstuvwxyz"[number % 26]
            typed = "".join("abcdefghijklmnopqrstuvwxyz"[n % 26] for n in range(number // 50 * 50, number + 1))
            at = seen.write(letter)
            wanted, end = f"› {typed}", time.perf_counter() + 5
            while time.perf_counter() < end:
                came = seen.read(0.05)
                if came and wanted in seen.text:
                    took.append(came - at)
                    break
            else:
                lost += 1
        streamed = "of what this team has to say" in seen.text
    figures = Figures.of(took)
    row = [f"key → screen, {todos:,} TODOs", str(len(took)), ms(figures.median), ms(figures.p95), ms(figures.worst)]
    show("Keys while four commands stream (ms)", ["", "keys", "median", "p95", "worst", "target p95"], [[*row, "≤ 30"]])
    print(f"  not seen within 5 s: {lost}; still streaming at the end: {'yes' if streamed else 'no'}")


def rest(root: Path, environ: Mapping[str, str], seconds: float) -> None:
    """Measure and print memory and processor time at rest, with one countdown on the screen."""
    workspace = root / "quiet"
    workspace.mkdir()
    (workspace / "hitl.toml").write_text(_DEADLINE, encoding="utf-8")
    (workspace / "notes.md").write_text("The cap is 5 percent a year.\n", encoding="utf-8")
    command = console(root / "quiet-data", workspace, "Find the cap.")
    with terminal(command, environ) as seen:
        seen.until("expires in")
        seen.drain(5.0)
        memory, before = _memory(seen.child.pid), _processor(seen.child.pid)
        seen.drain(seconds)
        used = (_processor(seen.child.pid) - before) / seconds
    rows = [
        ["memory with the engine loaded", size(memory), f"≤ {size(_TARGET_MEMORY)}"],
        [f"processor over {seconds:.0f} s", f"{used:.2%}", f"< {_TARGET_IDLE:.0%}"],
    ]
    show("At rest, one countdown visible", ["", "", "target"], rows)


def _memory(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(float(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))


def _processor(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def painted(command: Sequence[str], environ: Mapping[str, str]) -> float:
    """Return the seconds from the start of a program to its first frame with something in it."""
    with terminal(command, environ) as seen:
        while time.perf_counter() - seen.began < LIMIT:
            at = seen.read(0.02)
            if at and sum(1 for c in seen.text if not c.isspace()) > 60:
                return at - seen.began
    raise TimeoutError(f"{command[0]} painted nothing.")


def paint(root: Path, environ: Mapping[str, str], beside: Mapping[str, str], rounds: int) -> None:
    """Measure and print first frames, taking turns."""
    peer = [sys.executable, str(ROOT / "benchmarks" / "peer_app.py")]
    programs: dict[str, list[str]] = {"hitl-tui": console(root / "paint", ROOT / "examples" / "lease"), "peer": peer}
    programs |= {name: command.split() for name, command in beside.items()}
    found: dict[str, list[float]] = {name: [] for name in programs}
    for command in programs.values():
        painted(command, environ)
    for _ in range(rounds):
        for name, command in programs.items():
            found[name].append(painted(command, environ))
    ours = Figures.of(found["hitl-tui"]).median
    rows = [
        [n, ms(Figures.of(s).median), ms(Figures.of(s).p95), f"{Figures.of(s).median / ours:.2f}"]
        for n, s in found.items()
    ]
    show("First painted frame (ms)", ["", "median", "p95", "÷ ours"], rows)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="The console under load, at rest, and its first frame.")
    parser.add_argument("--parts", nargs="+", choices=("keys", "rest", "paint"), default=["keys", "rest", "paint"])
    parser.add_argument("--keys", type=int, default=1_000, help="keys to type")
    parser.add_argument("--todos", type=int, default=10_000)
    parser.add_argument("--checkpoints", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=60.0, help="of rest")
    parser.add_argument("--rounds", type=int, default=7, help="first frames of each program")
    parser.add_argument("--beside", nargs="*", default=[], metavar="NAME=COMMAND", help="other programs to start")
    parser.add_argument("--data", type=Path, help="folder on the disk to measure; a temporary one is made in it")
    chosen = parser.parse_args()
    print(common.machine())
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environ = {**kept, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    with common.scratch(chosen.data) as root:
        if "keys" in chosen.parts:
            keys(root, environ, chosen.keys, chosen.todos, chosen.checkpoints)
        if "rest" in chosen.parts:
            rest(root, environ, chosen.seconds)
        if "paint" in chosen.parts:
            paint(root, environ, dict(one.split("=", 1) for one in chosen.beside), chosen.rounds)


if __name__ == "__main__":
    main()
