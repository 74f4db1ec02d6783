"""Jobs as JSON lines on a descriptor, and a single one."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

from hitl_tui.channels.runtime.events import Failed
from hitl_tui.channels.runtime.jobs import LARGEST, Job, read_job
from hitl_tui.channels.runtime.session_events import stopped_event
from hitl_tui.core.errors import BadInput

_PIECE = 65_536
_AHEAD = 64
"""Lines that are read before they are on record."""


class OneJob:
    """A job that was given on the command line.

    Args:
        job: the job.
    """

    def __init__(self, job: Job) -> None:
        self._job = job

    async def jobs(self) -> AsyncIterator[Job | Failed]:
        yield self._job

    async def taken(self, job: Job) -> None:
        """Nothing has to be done."""


class JobLines:
    """Jobs as JSON lines, until the end of the file. What was read is answered by an event each.

    Args:
        descriptor: where they are read.
        root: the folder that jobs work in, or below it.
    """

    def __init__(self, descriptor: int, root: Path) -> None:
        self._descriptor = descriptor
        self._root = root

    async def jobs(self) -> AsyncIterator[Job | Failed]:
        lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        room, loop = threading.Semaphore(_AHEAD), asyncio.get_running_loop()

        def hand_on(line: bytes | None) -> None:
            with suppress(RuntimeError):  # the loop has ended: nobody takes any more
                loop.call_soon_threadsafe(lines.put_nowait, line)

        def read() -> None:
            for line in _lines(self._descriptor):
                room.acquire()
                hand_on(line)
            hand_on(None)

        # Of its own, and without a buffer of Python's: one that waits for a line must not keep the program from ending.
        threading.Thread(target=read, name="job lines", daemon=True).start()
        number = 0
        while (line := await lines.get()) is not None:
            room.release()
            number += 1
            if not line.strip():
                continue
            try:
                yield read_job(line, self._root)
            except BadInput as error:
                unnamed = Job(f"stdin:{number}", "", "")
                yield stopped_event(unnamed, error.message, final=True, begun=False)

    async def taken(self, job: Job) -> None:
        """Nothing has to be done: the event that says so is the answer."""


def _lines(descriptor: int) -> Iterator[bytes]:
    """Yield lines; of one that is too long only its beginning, which is too long, too."""
    kept = b""
    while piece := _read(descriptor):
        *whole, kept = (kept + piece).split(b"\n")
        yield from whole
        kept = kept[: LARGEST + 1]
    if kept:
        yield kept


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _PIECE)
    except OSError:  # it was closed, or a terminal that is gone
        return b""
