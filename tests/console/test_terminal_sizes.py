"""The size of the terminal: the last one wins, whenever the signals come."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# An app in a terminal. After it asked for the size, the terminal has the next one before the answer is used.
PROGRAM = """
import fcntl, os, signal, struct, sys, termios
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from hitl_tui.terminal.textual_driver import tolerant

terminal = os.dup(0)  # the console keeps what is 0 now to itself
coming = [(90, 20), (70, 15), (10, 3), (60, 9), (100, 30)]

def give_next():
    if coming:
        columns, rows = coming.pop(0)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.kill(os.getpid(), signal.SIGWINCH)

class Meanwhile({base}):
    def _get_terminal_size(self):
        size = tuple(os.get_terminal_size(terminal))
        give_next()
        return size

class Sized(App):
    def on_mount(self):
        self.set_interval(0.01, self.look)
        give_next()

    def look(self):
        self.looks = getattr(self, "looks", 0) + 1
        if not coming and (self.screen.size == (100, 30) or self.looks > {looks}):
            self.exit(self.screen.size)

found = Sized(driver_class=Meanwhile).run()
sys.stdout.write("ended at %dx%d after %d." % (*found, len(coming)))
"""


def ended_at(base: str, looks: int) -> str:
    """Run the program, which looks so many times whether the last size has come; return what it said at its end."""
    master, slave = pty.openpty()
    environ = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
    command = [sys.executable, "-c", PROGRAM.format(base=base, looks=looks)]
    with subprocess.Popen(
        command,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=ROOT,
        env={**environ, "TERM": "xterm-256color"},
        start_new_session=True,
    ):
        os.close(slave)
        said = b""
        try:
            while chunk := os.read(master, 65_536):
                said += chunk
        except OSError:  # the other end is closed
            pass
    os.close(master)
    return said.decode("utf-8", "replace").rpartition("ended at ")[2]


def test_a_size_that_comes_while_another_is_being_read_wins() -> None:
    assert ended_at("tolerant(LinuxDriver)", 3000) == "100x30 after 0."


@pytest.mark.long
def test_textual_by_itself_keeps_an_earlier_one() -> None:
    """Once it doesn't, our own handling of the signal can go."""
    said = ended_at("LinuxDriver", 50)
    assert said.endswith(" after 0.") and not said.startswith("100x30")
