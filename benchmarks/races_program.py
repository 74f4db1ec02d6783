"""The program itself in a pseudo-terminal, seen through an emulator and typed at."""

from __future__ import annotations

import asyncio
import fcntl
import os
import struct
import sys
import termios
import time
from codecs import getincrementaldecoder
from collections.abc import Callable
from pathlib import Path

import ptyprocess  # type: ignore[import-untyped]  # it comes with pexpect and has no stubs

from benchmarks.races_judge import Pressed, Stood, place_of
from benchmarks.races_seen import Emulator
from benchmarks.races_world import PERSON

ROOT = Path(__file__).resolve().parent.parent
COLUMNS, ROWS = 80, 24
PATIENCE = 60.0
PROMPT = " › "
_CONSOLE = """
import sys
from benchmarks.races_seen import digests_shown
from hitl_tui.cli import main
with digests_shown():
    sys.exit(main())
"""
EMPTY = ("Describe a change, or / for commands", "Ask on, or /new to begin something else")
IDLE_LOOKS = 4
"""How often in a row a program has to be seen waiting."""


class Program:
    """The console in a pseudo-terminal, seen through an emulator."""

    def __init__(self, data: Path, work: Path) -> None:
        environ = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR")}
        environ |= {"TERM": "xterm-256color", "COLORTERM": "truecolor", "HITL_USER": PERSON, "HITL_LANG": "en"}
        environ["PYTHONPATH"] = str(ROOT)
        command = [sys.executable, "-c", _CONSOLE, "--data", str(data), "--workspace", str(work), "--mode", "risk"]
        self.child = ptyprocess.PtyProcess.spawn(
            [*command, "The cap"], cwd=str(work), env=environ, dimensions=(ROWS, COLUMNS)
        )
        self.emulator = Emulator(COLUMNS, ROWS)
        self.stood = Stood()
        self.pressed: list[Pressed] = []
        self.last = float("-inf")
        self.arrived = time.monotonic()
        self._decode = getincrementaldecoder("utf-8")(errors="replace").decode
        os.set_blocking(self.child.fd, False)
        asyncio.get_running_loop().add_reader(self.child.fd, self.read)

    def read(self) -> None:
        """Take in what was written."""
        while True:
            try:
                data = os.read(self.child.fd, 65_536)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                asyncio.get_running_loop().remove_reader(self.child.fd)
                return
            self.emulator.feed(self._decode(data))
            self.arrived = time.monotonic()
            self.stood.saw(self.emulator.look(), self.arrived)

    def write(self, data: str) -> None:
        os.write(self.child.fd, data.encode())

    def press(self, data: str, key: str = "", *, text: bool = False) -> None:
        """Type one key; `text` when it is part of one."""
        self.read()
        now = time.monotonic()
        sight, since = self.stood.sight, self.stood.since
        self.pressed.append(Pressed(key or data, place_of(data), now, self.last, sight, since, text=text))
        self.last = now
        self.write(data)

    def click(self, column: int, row: int, place: int) -> None:
        self.read()
        now = time.monotonic()
        self.pressed.append(Pressed("click", place, now, self.last, self.stood.sight, self.stood.since))
        self.write(f"\x1b[<0;{column};{row}M\x1b[<0;{column};{row}m")

    def resize(self, columns: int, rows: int) -> None:
        self.emulator.resize(columns, rows)
        fcntl.ioctl(self.child.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    async def until(self, condition: Callable[[], object], what: str) -> None:
        """Wait for something to be seen."""
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(f"never seen: {what}\n" + "\n".join(self.emulator.rows))
            await asyncio.sleep(0.01)

    async def still(self, seconds: float = 0.25) -> None:
        """Wait until nothing was drawn for a while, but for the clock, and the program waits for something, too."""
        left, idle = seconds, 0
        while left > 0 or idle < IDLE_LOOKS:
            await asyncio.sleep(max(left, 0.015))
            left = seconds - (time.monotonic() - self.arrived)
            idle = 0 if left > 0 or self._works() else idle + 1

    def _works(self) -> bool:
        """A thread of the program runs, or would if the machine had time for it; False where that can't be seen."""
        for stat in Path(f"/proc/{self.child.pid}/task").glob("*/stat"):
            try:
                state = stat.read_text(encoding="ascii", errors="replace").rpartition(") ")[2][:1]
            except OSError:  # the thread ended
                continue
            if state not in "SIZX":
                return True
        return False

    @property
    def written(self) -> str:
        """What the prompt shows."""
        rows = [row.strip("│┃").rstrip() for row in self.emulator.rows[:-1]]  # in a large terminal it has a frame
        first = next((y for y, row in enumerate(rows) if row.startswith(PROMPT)), len(rows))
        last = next((y for y in range(first, len(rows)) if rows[y].startswith(("╰", "┗"))), len(rows))
        text = "\n".join(row[len(PROMPT) :] for row in rows[first:last])
        return "" if text.startswith(EMPTY) else text.rstrip()

    @property
    def dialog(self) -> bool:
        """Something lies over the session: the prompt's sign is under it, or a frame stands in the middle."""
        shown = self.screen.lower()
        return any(said in shown for said in ("esc back", "esc closes", "esc cancel", "esc no,"))

    @property
    def screen(self) -> str:
        return "\n".join(self.emulator.rows)
