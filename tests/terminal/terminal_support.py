"""The console in a real pseudo-terminal, seen through a terminal emulator."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pexpect
import pyte

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "lease"
PATIENCE = 60.0
# The emulator doesn't know the requests of the keyboard protocol and of terminal modes, and would print them.
_UNKNOWN = re.compile(r"\x1b\[[<>=][\d;]*u|\x1b\[\?u|\x1b\[\?\d+\$p|\x1b\[>[\d;]*[a-zA-Z]")


def _unread(terminal: int) -> int:
    """Return how many bytes were typed and not read yet."""
    return int.from_bytes(fcntl.ioctl(terminal, termios.FIONREAD, bytes(4)), sys.byteorder)


class Terminal:
    """One console in a terminal of its own.

    Args:
        data: the data folder.
        size: columns and rows.
        arguments: of the command line.
        before: is called in the new process first.
    """

    def __init__(
        self, data: Path, size: tuple[int, int], *arguments: str, before: Callable[[], None] | None = None
    ) -> None:
        columns, rows = size
        self.left = ""
        """What was written since the last look when it was left."""
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.Stream(self.screen)
        inherited = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR")}
        environ = {**inherited, "TERM": "xterm-256color", "COLORTERM": "truecolor", "HITL_USER": "ops"}
        command = ["-m", "hitl_tui", "--data", str(data), *arguments]
        self._child = pexpect.spawn(
            sys.executable,
            command,
            dimensions=(rows, columns),
            env=environ,
            cwd=str(ROOT),
            encoding="utf-8",
            codec_errors="replace",
            timeout=PATIENCE,
            preexec_fn=before,
        )
        self._rest = ""
        self.written = ""
        """All that the console wrote so far."""

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self._child.isalive():
            self.kill()
        self._child.close(force=True)

    @property
    def text(self) -> str:
        """What the screen shows."""
        return "\n".join(self.screen.display)

    def see(self, *words: str, without: str = "") -> None:
        """Wait until all words are on the screen (and one isn't)."""
        what = f"{words} (without {without!r})"
        self.until(lambda: all(w in self.text for w in words) and not (without and without in self.text), what)

    def see_one(self, *words: str) -> None:
        """Wait until one of these is on the screen."""
        self.until(lambda: any(w in self.text for w in words), f"any of {words}")

    def until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for a condition of a whole picture: while one is still being drawn, nothing is looked at."""
        deadline = time.monotonic() + PATIENCE
        while not (self._read() and condition()):
            assert time.monotonic() < deadline, f"never seen: {what}\n{self.text}"

    def _read(self) -> bool:
        """Take in what the console writes; return whether it pauses."""
        try:
            data = self._child.read_nonblocking(65_536, timeout=0.1)
        except pexpect.TIMEOUT:
            self._stream.feed(_UNKNOWN.sub("", self._rest))
            self._rest = ""
            return True
        self.written += data
        data = self._rest + data
        cut = data.rfind("\x1b")
        whole, self._rest = (data[:cut], data[cut:]) if cut >= 0 and len(data) - cut < 16 else (data, "")
        self._stream.feed(_UNKNOWN.sub("", whole))
        return False

    def keys(self, text: str) -> None:
        """Type."""
        self._child.send(text)

    def bytes_apart(self, data: bytes) -> None:
        """Type bytes of which each is read alone, as they may come over a slow link."""
        name = subprocess.check_output(["ps", "-o", "tty=", "-p", str(self._child.pid)], text=True).strip()
        other = os.open(f"/dev/{name}", os.O_RDWR | os.O_NOCTTY)
        try:
            for byte in data:
                os.write(self._child.child_fd, bytes((byte,)))
                self.until(lambda: not _unread(other), "it was read")
        finally:
            os.close(other)

    def send(self, line: str) -> None:
        """Type a line and send it."""
        self._child.send(line)
        self.see(line[:20])
        self._child.send("\r")

    def decide(self, key: str, *question: str) -> None:
        """Wait for a question, go to it, and press a key once the panel says that it decides."""
        self.see("6 Details", *question, without="No question yet")
        if not re.search(r"┏━ [^┓\n]*\? ", self.text):  # after a decision the focus is there still
            self.keys(CTRL_G)
        self.ready()
        self.keys(key)

    def ready(self) -> None:
        """Read the question to its end, and wait until the panel says that a key decides."""
        while True:
            self.see_one("ready ━", "read to the end")
            if "ready ━" in self.text:
                return
            self._read_on(self.text)

    def _read_on(self, page: str) -> None:
        """Turn the page."""
        self.keys(PAGE_DOWN)
        self.until(lambda: self.text != page, "the next page")

    def scribble(self, text: str) -> None:
        """Write to the terminal as another program would."""
        self._stream.feed(text)

    def kill(self) -> None:
        """kill -9."""
        self._child.kill(signal.SIGKILL)
        self._child.wait()

    def wait_until_stopped(self) -> None:
        """Wait until it has suspended itself, as a shell does."""
        self.until(lambda: os.WIFSTOPPED(os.waitpid(self._child.pid, os.WUNTRACED | os.WNOHANG)[1]), "it is stopped")

    def go_on(self) -> None:
        """Let it go on, as `fg` does."""
        os.kill(self._child.pid, signal.SIGCONT)

    def hang_up(self) -> int:
        """Take the terminal away; return how the console ended."""
        os.close(self._child.child_fd)
        self._child.ptyproc.closed = self._child.closed = True
        self._child.wait()
        return int(-self._child.signalstatus if self._child.exitstatus is None else self._child.exitstatus)

    def end(self, number: int) -> int:
        """Send a signal; return the exit code, negative for the signal that ended it."""
        self._child.kill(number)
        self._child.expect(pexpect.EOF)
        self._child.close()
        return int(-self._child.signalstatus if self._child.exitstatus is None else self._child.exitstatus)

    def leave(self) -> int:
        """Leave with Ctrl+Q; return the exit code."""
        self.keys("\x11")
        self._child.expect(pexpect.EOF)
        self.left = str(self._child.before)
        self._child.close()
        return int(self._child.exitstatus if self._child.exitstatus is not None else -1)


CTRL_G = "\x07"
DOWN = "\x1b[B"
F6 = "\x1b[17~"
PAGE_DOWN = "\x1b[6~"


def shown(data: Path, session: str) -> dict[str, Any]:
    """Return `hitl-tui show SESSION --json`."""
    command = [sys.executable, "-m", "hitl_tui", "show", session, "--json", "--data", str(data)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False, timeout=PATIENCE)
    found: dict[str, Any] = json.loads(done.stdout)
    return found
