"""One console in a process of its own, shown on one page, and on the next when that is loaded again."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from aiohttp import web
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from hitl_tui.core.safe_text import safe_text

GRACE = 5.0
"""Seconds that a console has to put its session away before it is killed; nothing is lost by either."""
DRIVER = "hitl_tui.terminal.web_driver:ServedDriver"

_LARGEST = 16 * 1024 * 1024
_COMPLAINT = 8_192
_BEGUN = b"__GANGLION__\n"
_ITS_OWN = ("TMUX", "STY", "LINES", "TERM_PROGRAM_VERSION")
_CLEARED = "\x1b[?1049l\x1b[?25h\x1b[0m\x1b[2J\x1b[H"

log = logging.getLogger(__name__)


def environment(inherited: Mapping[str, str], width: int, height: int) -> dict[str, str]:
    """Return the environment of a console that is shown on a page of so many columns and rows."""
    kept = {name: value for name, value in inherited.items() if name not in _ITS_OWN}
    return {
        **kept,
        "TEXTUAL_DRIVER": DRIVER,
        "TEXTUAL_FPS": "60",
        "TEXTUAL_COLOR_SYSTEM": "truecolor",
        "TERM": "xterm-256color",
        "TERM_PROGRAM": "textual",
        "COLORTERM": "truecolor",
        "COLUMNS": str(width),
        "ROWS": str(height),
    }


class ServedConsole(AppService):
    """A console and the page that shows it. When it ends, so does the page; a page that is gone leaves it for another.

    Nothing that a console writes can make the browser open an address or take a file: such packets are dropped.

    Args:
        command: argument vector that starts it.
        inherited: the environment it gets, apart from what says how it is shown.
    """

    def __init__(self, command: Sequence[str], inherited: Mapping[str, str]) -> None:
        super().__init__(
            command[0],
            write_bytes=self._draw,
            write_str=self._tell,
            close=self._close_page,
            download_manager=DownloadManager(),
        )
        self._vector = tuple(command)
        self._inherited = inherited
        self._complaint = b""
        self._closing: asyncio.Task[None] | None = None
        """Closes the pages that it was taken from."""
        self._starting = asyncio.Lock()
        """Held while the process is being started: pages that come at once share it."""
        self.page: web.WebSocketResponse | None = None
        """The connection of the page that shows it; None while none does."""
        self.seat = ""
        """What that page calls itself, also when it is loaded again."""
        self.over = False
        """It has ended, or shall: no page is to show it any more."""

    async def _draw(self, data: bytes) -> None:
        if self.page is not None:
            with suppress(ConnectionError):  # it goes; another one is drawn whole
                await self.page.send_bytes(data)

    async def _tell(self, text: str) -> None:
        if self.page is not None:
            with suppress(ConnectionError):
                await self.page.send_str(text)

    async def _close_page(self) -> None:
        self._take_page(None)

    def _take_page(self, page: web.WebSocketResponse | None) -> None:
        """Take another page, or none; nothing waits until the one before has answered that it closes."""
        before, self.page = self.page, page
        self._closing = asyncio.create_task(_close(before, self._closing))

    async def show(self, page: web.WebSocketResponse, seat: str, width: int, height: int) -> None:
        """Show it on a page from now on: start the process, or let it draw all of itself again."""
        self._take_page(page)
        self.seat = seat
        async with self._starting:
            if self._process is None and not self.over:
                await self._start(width, height)
                return
        if self.over:
            await page.close()
        elif self.page is page:
            await self.set_terminal_size(width, height)
            await self.send_meta({"type": "shown"})

    async def left(self, page: web.WebSocketResponse) -> None:
        """A page is gone: unless another one has taken it over, nobody sees what it draws."""
        if self.page is page:
            self.page = None
            if self._process is not None:
                await self.send_meta({"type": "left"})

    async def _start(self, width: int, height: int) -> None:
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(
            *self._vector,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            env=environment(self._inherited, width, height),
            start_new_session=True,
        )
        assert self._process.stdin is not None
        self._stdin = self._process.stdin
        self._task = asyncio.create_task(self.run())

    async def run(self) -> None:
        """Show what it draws until it ends; then a page is told, and why, if it said so."""
        process = self._process
        assert process is not None
        assert process.stdout is not None
        assert process.stderr is not None
        complaints = asyncio.create_task(self._keep_complaint(process.stderr))
        raves = False
        try:
            with suppress(asyncio.IncompleteReadError):
                raves = await self._raves(process.stdout)
            if not raves:
                await complaints
                await self._explain()
        finally:
            self.over = True
            await self._close_page()
        # While it goes it still draws, and would wait for somebody to take that.
        while await process.stdout.read(_COMPLAINT):
            pass
        await complaints

    async def _raves(self, drawn: asyncio.StreamReader) -> bool:
        """Hand on what it draws; return whether that is nothing a console draws, though it goes on.

        Raises:
            IncompleteReadError: it has ended.
        """
        if await drawn.readline() != _BEGUN:
            return False
        while True:
            kind = await drawn.readexactly(1)
            size = int.from_bytes(await drawn.readexactly(4), "big")
            if size > _LARGEST:
                log.error("a console wrote a packet of %d bytes, which is none of Textual's", size)
                return True
            payload = await drawn.readexactly(size)
            if kind == b"D":
                await self.on_data(payload)
            elif kind == b"M":
                await self.on_meta(payload)

    async def on_meta(self, data: bytes) -> None:
        """Take the notice that it leaves; drop whatever would act on the browser."""
        kind = json.loads(data).get("type")
        if kind == "exit":
            return
        log.warning("a console wanted %s of the browser, which pages don't do", safe_text(str(kind), multiline=False))

    async def _keep_complaint(self, stream: asyncio.StreamReader) -> None:
        while data := await stream.read(4_096):
            self._complaint = (self._complaint + data)[-_COMPLAINT:]

    async def _explain(self) -> None:
        said = safe_text(self._complaint.decode("utf-8", "replace").strip())
        if said:
            log.warning("a console said as it ended: %s", said)
            await self.on_data((_CLEARED + said.replace("\n", "\r\n")).encode())

    async def heard(self, envelope: Any) -> None:
        """Hand on what the page says; what it can't say is left out."""
        match envelope:
            case ["stdin", str(text)]:
                await self.send_bytes(text.encode("utf-8", "replace"))
            case ["resize", {"width": int(width), "height": int(height)}]:
                await self.set_terminal_size(clipped(width), clipped(height))
            case ["ping", str(when)]:
                await self.remote_write_str(json.dumps(["pong", when[:32]]))
            case ["focus"]:
                await self.focus()
            case ["blur"]:
                await self.blur()

    async def stop(self) -> None:
        """End the process: it may put its session away first."""
        self.over = True
        async with self._starting:
            process, task = self._process, self._task
        self._take_page(None)
        if process is None or task is None:
            return
        quitting = self.send_meta({"type": "quit"})
        ends = {task, asyncio.create_task(process.wait()), asyncio.create_task(quitting)}
        __, left = await asyncio.wait(ends, timeout=GRACE)
        if process.returncode is None:
            log.warning("a console didn't end within %.0f s and was killed", GRACE)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            __, left = await asyncio.wait(ends, timeout=GRACE)
        if left:
            log.warning("something that a console had started still holds its output")
            cast("Any", process)._transport.close()  # asyncio has no public way to stop reading it
            await asyncio.wait(left)
        self._task = None


async def _close(page: web.WebSocketResponse | None, before: asyncio.Task[None] | None = None) -> None:
    if page is not None:
        with suppress(ConnectionError):
            await page.close()
    if before is not None:
        await before


def clipped(cells: int) -> int:
    """Return a number of columns or rows that a console can be drawn in."""
    return max(1, min(cells, 1_000))
