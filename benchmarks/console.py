"""How quickly the console answers a key under load, and what it costs at rest.

`keys`: a session of 10,000 TODOs and 10,000 checkpoints while four commands stream; from the byte written to the
pseudo-terminal until the screen of an independent terminal emulator (pyte) shows it in the prompt. `rest`: memory
with the engine loaded, the processor time of a minute with a deadline counting down, and what goes to the terminal
meanwhile.

    python benchmarks/console.py [--parts keys rest] [--keys 1000]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import select
import sqlite3
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import ptyprocess  # type: ignore[import-untyped]  # it comes with pexpect and has no stubs
import pyte

from benchmarks import common
from benchmarks.common import Figures, FixedPolicy, GivenPlan, ms, show, size, trusted
from hitl_tui.config.loader import load_config
from hitl_tui.core.board import Rules
from hitl_tui.core.events import utc_now
from hitl_tui.core.plan import ExecutionStep
from hitl_tui.core.policy import Mode
from hitl_tui.planning.agent import PlanningAgent
from hitl_tui.supervisor.own_session import own_session
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.session_setup import SessionSetup
from hitl_tui.supervisor.session_staging import SessionStaging
from hitl_tui.supervisor.storage import SessionInfo
from hitl_tui.teams.registry import TeamRegistry
from hitl_tui.threads.row_checksums import CHECKPOINT_COLUMNS, checksum

ROOT = Path(__file__).resolve().parent.parent
COLUMNS, ROWS = 120, 40
LIMIT = 120.0
STREAMS, LINES, PAUSE = 4, 25_000, 0.002
_SAID = "of what this team has to say"
_NUMBERED = re.compile(rf"line (\d+) {_SAID}")
_LETTERS, _LINE, _LONGEST = "abcdefghijklmnopqrstuvwxyz", 50, 5.0
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
        self.received = 0
        """Bytes so far."""
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
        """Feed what is there to the emulator; return when it had done so, 0 when nothing came."""
        readable, _, _ = select.select([self.child.fd], [], [], wait)
        if not readable:
            return 0.0
        try:
            data = os.read(self.child.fd, 65536)
        except OSError as error:  # Linux's word for a program that has ended
            raise RuntimeError(f"{' '.join(self.child.argv or ())} ended:\n{self.text}") from error
        self.received += len(data)
        self._stream.feed(data)
        return time.perf_counter()

    def shows(self, wanted: str) -> bool:
        """Return whether a line that changed since the last call shows a text; the others are as they were."""
        changed, self.screen.dirty = self.screen.dirty, set()
        rows = ([self.screen.buffer[y][x].data for x in range(COLUMNS)] for y in changed)
        return any(wanted in "".join(row) for row in rows)

    def until(self, wanted: str, limit: float = LIMIT) -> float:
        """Read until a text is on the screen; return when that arrived.

        Raises:
            TimeoutError: it never came.
        """
        end = time.perf_counter() + limit
        while time.perf_counter() < end:
            at = self.read(0.05)
            if at and self.shows(wanted):
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


def terminal_environ() -> dict[str, str]:
    """Return the environment of a program on a terminal, as people run it: with compiled modules kept."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "TERM": "xterm-256color", "COLORTERM": "truecolor"}


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
    await trusted(root / "data", workspace)
    async with SessionRegistry.open(root / "data", {}) as there:
        data, ledger = there.data, there.ledger
        SessionStaging(data.sessions).begin(info)
        await ledger.record("bench", "session_created", {"workspace": str(workspace), "title": "benchmark"}, utc_now())
        rules = Rules(config.policy, STREAMS)
        setup = SessionSetup(
            info, data.session("bench"), ledger, agent, registry.get, FixedPolicy(rules), Mode.PLAN, secrets={}
        )
        async with own_session(setup, "benchmark") as session:
            await session.settled()
    lengthen(data.session("bench").checkpoints, checkpoints)
    return root / "data", workspace


def lengthen(path: Path, count: int) -> None:
    """Put checkpoints before the first one of a session: a long history costs what it costs, whatever is in it."""
    with closing(sqlite3.connect(path)) as connection, connection:
        first = f"SELECT rowid, {CHECKPOINT_COLUMNS} FROM checkpoints ORDER BY rowid LIMIT 1"
        number, thread, ns, oldest, _parent, *values = connection.execute(first).fetchone()
        ids = [f"1e{n:06x}-0000-6000-8000-000000000000" for n in range(count)]
        rows = [(thread, ns, one, before, *values) for one, before in zip(ids, [None, *ids], strict=False)]
        connection.executemany(
            f"INSERT INTO checkpoints (rowid, {CHECKPOINT_COLUMNS}, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(number - count + n, *row, checksum(row)) for n, row in enumerate(rows)],
        )
        row = (thread, ns, oldest, ids[-1], *values)
        connection.execute(
            "UPDATE checkpoints SET parent_checkpoint_id = ?, checksum = ? WHERE rowid = ?",
            (ids[-1], checksum(row), number),
        )


def keys(root: Path, environ: Mapping[str, str], count: int, todos: int, checkpoints: int) -> None:
    """Measure and print the time from a key to the screen, and what the keys and the streams cost meanwhile."""
    data, workspace = asyncio.run(prepare(root, todos, checkpoints))
    with terminal(console(data, workspace, "--session", "bench"), environ) as seen:
        seen.until("Approve the plan?")
        seen.write("/plan approve")
        seen.drain(1.0)
        seen.write("\r")
        seen.until(_SAID)
        seen.drain(3.0)
        pid = seen.child.pid
        received, lines, work, began = seen.received, _lines_said(seen.text), processor([pid]), time.perf_counter()
        took, undisturbed = _typed(seen, count)
        seconds = time.perf_counter() - began
        work, received, lines = processor([pid]) - work, seen.received - received, _lines_said(seen.text) - lines
        streamed = _SAID in seen.text
    rows = []
    for name, samples in ((f"key → screen, {todos:,} TODOs", took), ("less waiting for a processor", undisturbed)):
        f = Figures.of(samples)
        rows.append([name, str(f.count), ms(f.median), ms(f.p95), ms(f.worst), "≤ 30" if samples is took else ""])
    show("Keys while four commands stream (ms)", ["", "keys", "median", "p95", "worst", "target p95"], rows)
    lost = count - len(took)
    print(f"  not seen within 5 s: {lost}; still streaming at the end: {'yes' if streamed else 'no'}")
    print(f"  meanwhile {work / seconds:.0%} of a processor, {size(received / seconds)} a second to the terminal")
    if streamed and lines > 0:
        print(f"  and {lines / seconds:,.0f} lines a second said: {received / lines:.0f} bytes a line")
    print(f"  {load()}")


def _typed(seen: Terminal, count: int) -> tuple[list[float], list[float]]:
    """Type so many letters, each once the one before is seen; return their times, and those on a machine for us alone.

    The latter leave out what the program's main thread waited for a processor that others had.
    """
    took: list[float] = []
    undisturbed: list[float] = []
    for number in range(count):
        if number % _LINE == 0:
            seen.write("\x15" if number else "")  # Ctrl+U: the line is empty again
            seen.drain(0.2)
        letters = "".join(_LETTERS[n % len(_LETTERS)] for n in range(number // _LINE * _LINE, number + 1))
        waited = queued(seen.child.pid)
        at = seen.write(letters[-1])
        while time.perf_counter() - at < _LONGEST:
            came = seen.read(0.05)
            if came and seen.shows(f"› {letters}"):
                took.append(came - at)
                undisturbed.append(max(0.0, came - at - (queued(seen.child.pid) - waited)))
                break
    return took, undisturbed


def _lines_said(text: str) -> int:
    """Return how many lines the teams have said so far, as the screen tells: they keep pace with each other."""
    return STREAMS * max((int(found) for found in _NUMBERED.findall(text)), default=0)


def rest(root: Path, environ: Mapping[str, str], seconds: float) -> None:
    """Measure and print memory and processor time at rest, with one countdown on the screen."""
    workspace = root / "quiet"
    workspace.mkdir()
    (workspace / "hitl.toml").write_text(_DEADLINE, encoding="utf-8")
    (workspace / "notes.md").write_text("The cap is 5 percent a year.\n", encoding="utf-8")
    command = console(root / "quiet-data", workspace, "Find the cap.")
    with terminal(command, environ) as seen:
        seen.until("expires in")
        seen.drain(12.0)  # what follows an event is over
        used, sent = at_rest(seen, seconds)
        memory = resident([seen.child.pid])
    rows = [
        ["memory with the engine loaded", size(memory), f"≤ {size(_TARGET_MEMORY)}"],
        [f"processor over {seconds:.0f} s", f"{used:.2%}", f"< {_TARGET_IDLE:.0%}"],
        ["to the terminal, a second", size(sent), ""],
    ]
    show("At rest, one countdown visible", ["", "", "target"], rows)
    print(f"  {load()}")


def at_rest(seen: Terminal, seconds: float) -> tuple[float, float]:
    """Let a program be; return the share of a processor that it and its children took, and its bytes a second."""
    before, received = processor(family(seen.child.pid)), seen.received
    began = time.perf_counter()
    seen.drain(seconds)
    took = time.perf_counter() - began
    return (processor(family(seen.child.pid)) - before) / took, (seen.received - received) / took


def family(pid: int) -> list[int]:
    """Return a process and all that descend from it."""
    found = [pid]
    for parent in found:  # it grows while we look
        for told in Path(f"/proc/{parent}/task").glob("*/children"):
            with suppress(OSError):
                found += [int(child) for child in told.read_text(encoding="ascii").split()]
    return found


def resident(pids: Sequence[int]) -> float:
    """Return the memory of processes in bytes, what they share counted for each."""
    found = 0.0
    for pid in pids:
        with suppress(OSError, StopIteration):
            lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
            found += next(float(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))
    return found


def processor(pids: Sequence[int]) -> float:
    """Return the processor seconds that the threads of processes have taken."""
    found = 0
    for pid in pids:
        for told in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            with suppress(OSError):  # the thread has just ended
                found += int(told.read_text(encoding="ascii").split()[0])
    return found / 1e9


def queued(pid: int) -> float:
    """Return the seconds that the main thread of a process has waited for a processor; 0 where Linux isn't asked."""
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    return 0.0


def load() -> str:
    """Return the load of the machine now, in words."""
    return f"load average {', '.join(f'{x:.1f}' for x in os.getloadavg())} on {os.cpu_count()} processors"


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="The console under load, and at rest.")
    parser.add_argument("--parts", nargs="+", choices=("keys", "rest"), default=["keys", "rest"])
    parser.add_argument("--keys", type=int, default=1_000, help="keys to type")
    parser.add_argument("--todos", type=int, default=10_000)
    parser.add_argument("--checkpoints", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=60.0, help="of rest")
    parser.add_argument("--data", type=Path, help="folder on the disk to measure; a temporary one is made in it")
    chosen = parser.parse_args()
    print(common.machine())
    environ = terminal_environ()
    with common.scratch(chosen.data) as root:
        if "keys" in chosen.parts:
            keys(root, environ, chosen.keys, chosen.todos, chosen.checkpoints)
        if "rest" in chosen.parts:
            rest(root, environ, chosen.seconds)


if __name__ == "__main__":
    main()
