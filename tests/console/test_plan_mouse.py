"""Dragging a row in a real terminal, directly and through a terminal multiplexer."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pexpect  # type: ignore[import-untyped]
import pyte
import pytest
from console_support import EXAMPLE, TWO

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0
SIZE = (120, 40)
# The emulator doesn't know the requests of the keyboard protocol and of terminal modes, and would print them.
_UNKNOWN = re.compile(r"\x1b\[[<>=][\d;]*u|\x1b\[\?u|\x1b\[\?\d+\$p|\x1b\[>[\d;]*[a-zA-Z]")


class Terminal:
    """A terminal with a mouse: what is drawn goes through an emulator, what the mouse does is reported as SGR says."""

    def __init__(self, child: pexpect.spawn[str]) -> None:
        self._child = child
        self._screen = pyte.Screen(*SIZE)
        self._stream = pyte.Stream(self._screen)

    @property
    def lines(self) -> Sequence[str]:
        return list(self._screen.display)

    def until(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                self._stream.feed(_UNKNOWN.sub("", self._child.read_nonblocking(65_536, timeout=0.2)))
            except pexpect.TIMEOUT:
                if condition():
                    return
            assert time.monotonic() < deadline, f"never seen: {what}\n" + "\n".join(self.lines)

    def see(self, *words: str) -> None:
        self.until(lambda: all(any(w in line for line in self.lines) for w in words), str(words))

    def place(self, word: str) -> tuple[int, int]:
        """Return column and row of a word, as terminals count them."""
        return next((line.index(word) + 2, y + 1) for y, line in enumerate(self.lines) if word in line)

    def mouse(self, code: int, x: int, y: int, end: str = "M") -> None:
        self._child.send(f"\x1b[<{code};{x};{y}{end}")


def direct(command: Sequence[str], tmp_path: Path) -> list[str]:
    return list(command)


def through_tmux(command: Sequence[str], tmp_path: Path) -> list[str]:
    settings = tmp_path / "tmux.conf"
    settings.write_text("set -g mouse on\nset -g status off\nset -g default-terminal tmux-256color\n", encoding="utf-8")
    return ["tmux", "-S", str(tmp_path / "socket"), "-f", str(settings), "new-session", *command]


@contextmanager
def terminal(command: Sequence[str]) -> Iterator[Terminal]:
    environ = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR", "TMUX")}
    child = pexpect.spawn(
        command[0],
        list(command[1:]),
        dimensions=(SIZE[1], SIZE[0]),
        env={**environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "HITL_USER": "ops"},
        cwd=str(ROOT),
        encoding="utf-8",
        codec_errors="replace",
        timeout=PATIENCE,
    )
    try:
        yield Terminal(child)
    finally:
        child.send("\x11")  # Ctrl+Q: the console leaves, and with it the multiplexer
        child.expect(pexpect.EOF)
        child.close(force=True)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("way", [direct, through_tmux])
def test_a_row_is_dragged(way: Callable[[Sequence[str], Path], list[str]], tmp_path: Path) -> None:
    if way is through_tmux and shutil.which("tmux") is None:
        pytest.skip("tmux isn't installed")
    program = [sys.executable, "-m", "hitl_tui", "--data", str(tmp_path / "d"), "--workspace", str(EXAMPLE)]
    with terminal(way([*program, TWO], tmp_path)) as t:
        t.see("? asks", " 001 ", " 002 ", "6 Details")
        (x, y), (to_x, to_y) = t.place("002  search"), t.place("001  search")
        t.mouse(0, x, y)
        t.mouse(32, to_x, to_y)
        t.see("002 before 001", "▲?", "»?")
        t.mouse(0, to_x, to_y, "m")
        t.see("002 is before 001 now.")
        asked = [sys.executable, "-m", "hitl_tui", "do", "s1", "/todos", "--json", "--data", str(tmp_path / "d")]
        told = json.loads(subprocess.run(asked, capture_output=True, text=True, cwd=ROOT, check=False).stdout)
        assert [todo["id"] for todo in told["todos"]] == ["todo_002", "todo_001"]
        # Taken back half-way: nothing moves.
        t.mouse(0, *t.place("001  search"))
        t.mouse(32, *t.place("002  search"))
        t.see("001 before 002")
        t.mouse(32, 5, SIZE[1] - 1)
        t.see("nothing moves")
        t.mouse(0, 5, SIZE[1] - 1, "m")
        t.until(lambda: not any("nothing moves" in line for line in t.lines), "let go")
        told = json.loads(subprocess.run(asked, capture_output=True, text=True, cwd=ROOT, check=False).stdout)
        assert [todo["id"] for todo in told["todos"]] == ["todo_002", "todo_001"]
