"""Processes that are forked from one that has imported everything already: a start costs no imports."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from select import select

STUCK = -1
"""The exit code of a process that doesn't end and was killed for it."""


@dataclass
class Forked:
    """A process with pipes to its standard input and from its standard output.

    Args:
        pid: its id.
        input: descriptor of what it reads; closed after `give`.
        output: descriptor of what it writes; closed when it ended.
        ended: its exit code, or less than 0 for a signal; None while it runs.
    """

    pid: int
    input: int
    output: int
    ended: int | None = None

    def give(self, data: bytes) -> None:
        """Write all that it reads."""
        with suppress(OSError):
            os.write(self.input, data)
        os.close(self.input)

    def listen(self, heard: Callable[[bytes], None], patience: float, meanwhile: Callable[[], None] = bool) -> int:
        """Give each line that it writes until it ends, and do something again and again; return the exit code."""
        end, rest = time.monotonic() + patience, b""
        while time.monotonic() < end:
            meanwhile()
            if not select([self.output], [], [], 0.1)[0]:
                continue
            piece = os.read(self.output, 65_536)
            if not piece:
                return self.wait()
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                heard(line)
        self.send(signal.SIGKILL)
        self.wait()
        return STUCK

    def send(self, number: int) -> None:
        """Send a signal."""
        if self.ended is None:
            os.kill(self.pid, number)

    def wait(self) -> int:
        """Wait until it ends; return the exit code."""
        while (code := self.code()) is None:
            time.sleep(0.02)
        return code

    def code(self) -> int | None:
        """Return the exit code; None while it runs."""
        if self.ended is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.ended = os.waitstatus_to_exitcode(status)
                os.close(self.output)
        return self.ended


def fork(work: Callable[[], int], folder: Path, environ: Mapping[str, str]) -> Forked:
    """Do something in a process of its own, in a folder and with more in the environment."""
    given, told = os.pipe(), os.pipe()
    pid = os.fork()
    if pid:
        os.close(given[0])
        os.close(told[1])
        return Forked(pid, given[1], told[0])
    code = 1
    try:
        for source, target in ((given[0], 0), (told[1], 1), (os.open(os.devnull, os.O_WRONLY), 2)):
            os.dup2(source, target)
        os.closerange(3, 256)
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115 - they last as long as it
        os.chdir(folder)
        os.environ.update(environ)
        code = work()
        sys.stdout.flush()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException:  # noqa: BLE001 - nothing of the process that forked it may go on here
        traceback.print_exc()
    finally:
        os._exit(code)


def import_ahead(modules: Sequence[str]) -> None:
    """Import what a process had imported when it ended."""
    for name in modules:
        if name.partition(".")[0] != "__main__":
            with suppress(Exception):
                importlib.import_module(name)
