"""The screen kept apart from what else is written to the terminal: by libraries in C, by processes that graphs start.

Python's own prints never get that far. But descriptors 0 to 2 are the process's, and whatever it starts inherits them:
what is written there would be drawn over the screen, with all that it says to the terminal, and what reads there would
take keys that were typed for a question.
"""

from __future__ import annotations

import fcntl
import os
import re
import selectors
import sys
import termios
import threading
import time
from codecs import getincrementaldecoder
from collections.abc import Callable, Sequence
from contextlib import suppress

from hitl_tui.language import _

Heard = Callable[[Sequence[str]], None]

_STANDARD_INPUT, _WRITTEN = 0, (1, 2)
_ENDS = re.compile(r"\r\n|\n|\r")
_CHUNK = 65_536
_ROOM = 1_048_576
"""Bytes that a pipe is asked to hold, so that who writes while Python can't read is not kept waiting."""
_PAUSE = 0.2
"""Seconds after which a line that isn't ended is taken as it is."""
_BREATH = 0.05
"""Seconds of rest after a full chunk: who writes without end waits a little, and keys are answered meanwhile."""
_LONGEST = 4_000
_MOST = 50
"""Characters of a line, and lines at a chunk's begin and end, that are handed on."""


class StdioRedirect:
    """Descriptors 0 to 2, pointed away from the terminal between `begin` and `end`; the main thread alone does that.

    What is written meanwhile is always read, also by whoever has inherited them before and writes after `end`.

    Args:
        heard: gets the lines, unsafe as they are, on a thread of its own.
    """

    def __init__(self, heard: Heard) -> None:
        self._heard = heard
        self._kept: dict[int, int] = {}
        self._pipe = -1

    def begin(self) -> None:
        """Point them at nothing to read and at a pipe; when that can't be they stay as they are."""
        if self._kept:
            return
        with suppress(OSError):
            if self._pipe < 0:
                self._pipe = HeardPipe(self._heard).writing
            _flush()
            for descriptor in _WRITTEN:
                self._point(descriptor, self._pipe)
            nothing = os.open(os.devnull, os.O_RDONLY)
            self._point(_STANDARD_INPUT, nothing)
            os.close(nothing)

    def end(self) -> None:
        """Put them back to what they were; nothing when they are."""
        _flush()
        while self._kept:
            descriptor, kept = self._kept.popitem()
            os.dup2(kept, descriptor)
            os.close(kept)

    def _point(self, descriptor: int, where: int) -> None:
        self._kept[descriptor] = os.dup(descriptor)
        os.dup2(where, descriptor)


class HeardPipe:
    """A pipe whose lines are heard for as long as this program lives, also of whoever has inherited its end.

    Args:
        heard: gets the lines, unsafe as they are, on a thread of its own.

    Attributes:
        writing: the descriptor to write to.
    """

    def __init__(self, heard: Heard) -> None:
        self._heard = heard
        self._busy = False
        self._reading, self.writing = os.pipe()
        with suppress(OSError, AttributeError):  # macOS has no such thing
            fcntl.fcntl(self.writing, fcntl.F_SETPIPE_SZ, _ROOM)
        threading.Thread(target=self._read, name="written past the screen", daemon=True).start()

    def drain(self, seconds: float = 1.0) -> None:
        """Wait until all that was written is heard, so many seconds at most: others may go on writing."""
        until = time.monotonic() + seconds
        while (self._unread() or self._busy) and time.monotonic() < until:
            time.sleep(0.01)

    def _unread(self) -> bool:
        try:
            return any(fcntl.ioctl(self._reading, termios.FIONREAD, bytes(4)))
        except OSError:
            return False

    def _read(self) -> None:
        decode = getincrementaldecoder("utf-8")(errors="replace").decode
        rest = ""
        with selectors.DefaultSelector() as selector:
            selector.register(self._reading, selectors.EVENT_READ)
            while True:
                if not selector.select(_PAUSE if rest else None):
                    self._heard([rest])
                    rest = ""
                    self._busy = False
                    continue
                self._busy = True
                data = os.read(self._reading, _CHUNK)
                if not data:  # nobody has its end any more
                    if rest:
                        self._heard([rest])
                    self._busy = False
                    return
                *lines, rest = _ENDS.split(rest + decode(data))
                if len(rest) > _LONGEST:
                    lines, rest = [*lines, rest], ""
                lines = [line[:_LONGEST] for line in lines if line.strip()]
                if lines:
                    self._heard(_some(lines))
                self._busy = bool(rest)
                if len(data) == _CHUNK:
                    time.sleep(_BREATH)


def _some(lines: Sequence[str]) -> list[str]:
    """Return the first and the last of many lines."""
    if len(lines) <= 2 * _MOST:
        return list(lines)
    left = _("… {n} more lines").format(n=len(lines) - 2 * _MOST)
    return [*lines[:_MOST], left, *lines[-_MOST:]]


def _flush() -> None:
    """Let what Python has kept back go where it was written to."""
    for stream in (sys.__stdout__, sys.__stderr__):
        with suppress(OSError, ValueError):
            if stream is not None:
                stream.flush()
