"""Line mode as a process: at a pseudo-terminal, or with pipes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pexpect  # type: ignore[import-untyped]
import pyte
from trusting import trust_workspace

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SEARCH = "강남구 아파트 시세 조회"
DEADLINE = 60
CTRL_D, CTRL_C, CTRL_U = "\x04", "\x03", "\x15"


class _Screen(pyte.HistoryScreen):
    """Answers where the cursor is, as terminals do."""

    def __init__(self, process: pexpect.spawn[str], rows: int, columns: int) -> None:
        super().__init__(columns, rows, history=5000)
        self._process = process

    def write_process_input(self, data: str) -> None:
        self._process.send(data)


PAUSE = 0.2
"""Seconds between two things that a person types."""


class Terminal:
    """A person's terminal: draws what the program sends, and answers what it asks.

    Args:
        process: the program at its pseudo-terminal.
        rows, columns: size.
    """

    def __init__(self, process: pexpect.spawn[str], rows: int, columns: int) -> None:
        self.process = process
        process.delaybeforesend = PAUSE
        self._screen = _Screen(process, rows, columns)
        self._stream = pyte.Stream(self._screen)

    @property
    def text(self) -> str:
        """Everything that was ever shown: what scrolled away, then the screen."""
        gone = ["".join(line[x].data for x in range(self._screen.columns)) for line in self._screen.history.top]
        return "\n".join(line.rstrip() for line in [*gone, *self._screen.display])

    def wait(self, text: str, count: int = 1) -> str:
        """Read until the text was shown that many times; return everything."""
        while self.text.count(text) < count:
            try:
                self._stream.feed(self.process.read_nonblocking(65536, DEADLINE))
            except (pexpect.EOF, pexpect.TIMEOUT) as error:
                raise AssertionError(f"{text!r} never came; there was:\n{self.text}") from error
        return self.text

    def wait_more(self, seconds: float) -> None:
        """Read what comes next. Raises pexpect.TIMEOUT: nothing did for so long."""
        self._stream.feed(self.process.read_nonblocking(65536, seconds))

    def send(self, keys: str) -> None:
        """Press keys; a line is typed first, and ended once it is seen: all at once it would be a paste."""
        line = keys.removesuffix("\r")
        if line and line != keys:
            begun = f"> {line[:40]}"
            count = self.text.count(begun)
            self.process.send(line)
            self.wait(begun, count + 1)
            keys = "\r"
        self.process.send(keys)

    def paste(self, text: str) -> None:
        """Send what a terminal sends for a paste without its marks."""
        self.process.send(text)

    def end(self) -> int:
        """Read until the program ends; return its exit code."""
        while True:
            try:
                self._stream.feed(self.process.read_nonblocking(65536, DEADLINE))
            except pexpect.EOF:
                break
        self.process.wait()
        assert self.process.exitstatus is not None
        return int(self.process.exitstatus)

    def leave(self) -> int:
        """Press Ctrl-D twice; return the exit code."""
        self.send(CTRL_D)
        self.wait("Press Ctrl-D again")
        self.send(CTRL_D)
        return self.end()


class Line:
    """A data folder and a workspace with the lease example.

    Args:
        root: an empty folder.
    """

    def __init__(self, root: Path) -> None:
        self.data = root / "data"
        self.workspace = root / "lease"
        shutil.copytree(EXAMPLES / "lease", self.workspace)
        trust_workspace(self.data, self.workspace)
        self.env = {
            **{k: v for k, v in os.environ.items() if not k.startswith("HITL_")},
            "HITL_DATA_DIR": str(self.data),
            "HITL_USER": "tester",
            "PYTHONUTF8": "1",
        }

    def pipe(self, text: str, *arguments: str) -> tuple[int, str, str]:
        """Give lines through a pipe; return exit code, output and errors."""
        done = subprocess.run(
            [sys.executable, "-m", "hitl_tui", *arguments],
            input=text.encode(),
            capture_output=True,
            cwd=self.workspace,
            env=self.env,
            timeout=DEADLINE,
            check=False,
        )
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def spawn(self, *arguments: str, term: str = "xterm") -> pexpect.spawn[str]:
        """Start line mode at a pseudo-terminal of 40 rows and 120 columns."""
        return self.started("--line", *arguments, term=term)

    def started(self, *arguments: str, term: str = "xterm") -> pexpect.spawn[str]:
        """Start the program there, with these arguments alone."""
        return pexpect.spawn(
            sys.executable,
            ["-m", "hitl_tui", *arguments],
            cwd=str(self.workspace),
            env={**self.env, "TERM": term},
            dimensions=(40, 120),
            timeout=DEADLINE,
            encoding="utf-8",
        )

    def terminal(self, *arguments: str) -> Terminal:
        """Start line mode at a terminal that draws."""
        return Terminal(self.spawn(*arguments), 40, 120)
