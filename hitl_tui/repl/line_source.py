"""Where lines come from without a screen: a pipe, a file, or a terminal that can't move its cursor."""

from __future__ import annotations

import asyncio
import os
import select
import threading
from typing import Protocol

from hitl_tui.core.bursts import BURST
from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message

LONGEST = 1_000_000
"""Bytes a line may have."""

_CHUNK = 65_536


class LineSource(Protocol):
    """Gives lines, one at a time."""

    @property
    def waits(self) -> bool:
        """Whether each line waits until what the one before set free has settled."""
        ...

    @property
    def key(self) -> str:
        """The line that came last where it is a single key that somebody pressed; empty for any other, and a paste."""
        ...

    async def next(self) -> str | None:
        """Return the next line without its end, None at the end of input.

        Raises:
            BadInput: the line is no text, or too long; the one behind it can still be read.
        """
        ...


class PlainLines:
    """Reads a descriptor, no further than lines are asked for, and never in the way of leaving.

    A thread of its own reads: a person may take all day, and neither a signal nor the end of the program waits for
    that. It works on files too, which an event loop can't watch.

    Args:
        fd: what to read; None has no lines.
        waits: see `LineSource`. Where lines don't wait somebody types them, and those that come together are refused.
    """

    key = ""
    """Nobody knows when the keys of a whole line were pressed."""

    def __init__(self, fd: int | None, *, waits: bool) -> None:
        self.waits = waits
        self._fd = fd
        self._wanted = threading.Semaphore(0)
        self._found: asyncio.Queue[bytes | int | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._rest = bytearray()
        if fd is not None:
            threading.Thread(target=self._pump, name="lines", daemon=True).start()

    async def next(self) -> str | None:
        """See `LineSource`."""
        if self._fd is None:
            return None
        self._wanted.release()
        line = await self._found.get()
        if line is None:
            return None
        if isinstance(line, int):
            raise BadInput(Message("{} lines arrived all at once, like a paste; none was run.", line))
        if len(line) > LONGEST:
            raise BadInput(Message("That line is longer than {} bytes; it was left out.", f"{LONGEST:,}"))
        try:
            return line.decode("utf-8").rstrip("\r")
        except UnicodeDecodeError as error:
            raise BadInput(Message("That line isn't UTF-8 text; it was left out.")) from error

    def _pump(self) -> None:
        while True:
            self._wanted.acquire()
            line = self._line()
            together = 1
            while not self.waits and line is not None and self._more():
                self._line()
                together += 1
            try:
                self._loop.call_soon_threadsafe(self._found.put_nowait, line if together == 1 else together)
            except RuntimeError:  # the loop is closed: nobody asks any more
                return

    def _more(self) -> bool:
        """Return whether another line came together with this one, as those of a paste do."""
        return b"\n" in self._rest or bool(self._fd is not None and select.select([self._fd], [], [], BURST)[0])

    def _line(self) -> bytes | None:
        """Return the next line, of one that is too long only its start; None at the end, which may come again."""
        kept = bytearray()
        while True:
            head, end, rest = self._rest.partition(b"\n")
            kept += head[: LONGEST + 1 - len(kept)]
            self._rest = rest
            if end:
                return bytes(kept)
            chunk = self._read()
            if not chunk:
                return bytes(kept) or None
            self._rest += chunk

    def _read(self) -> bytes:
        assert self._fd is not None
        try:
            return os.read(self._fd, _CHUNK)
        except OSError:  # a terminal that was closed
            return b""
