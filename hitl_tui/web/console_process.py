"""One console in a process of its own, for one open page."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

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
    """A console and the page that shows it; when one ends, so does the other.

    Nothing that a console writes can make the browser open an address or take a file: such packets are dropped.

    Args:
        command: argument vector that starts it.
        page: the page's connection.
        inherited: the environment it gets, apart from what says how it is shown.
    """

    def __init__(self, command: Sequence[str], page: web.WebSocketResponse, inherited: Mapping[str, str]) -> None:
        super().__init__(
            command[0],
            write_bytes=page.send_bytes,
            write_str=page.send_str,
            close=self._close_page,
            download_manager=DownloadManager(),
        )
        self._vector = tuple(command)
        self._page = page
        self._inherited = inherited
        self._complaint = b""

    async def _close_page(self) -> None:
        with suppress(ConnectionError):
            await self._page.close()

    async def start(self, width: int, height: int) -> None:
        """Start the process; it is shown from now on."""
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
        """Show what it draws until it ends; then the page is told, and why, if it said so."""
        process = self._process
        assert process is not None
        assert process.stdout is not None
        assert process.stderr is not None
        complaints = asyncio.create_task(self._keep_complaint(process.stderr))
        try:
            if not await self._show(process.stdout):
                await complaints
                await self._explain()
        finally:
            await self._close_page()
            # While it goes it still draws, and would wait for somebody to take that.
            while await process.stdout.read(_COMPLAINT):
                pass
            await complaints

    async def _show(self, drawn: asyncio.StreamReader) -> bool:
        """Hand on what it draws; return whether it goes on for all that is known: the page is gone, or it raves."""
        try:
            return await self._hand_on(drawn)
        except asyncio.IncompleteReadError:
            return False
        except ConnectionError:
            return True

    async def _hand_on(self, drawn: asyncio.StreamReader) -> bool:
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
            with suppress(ConnectionError):
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
        process, task = self._process, self._task
        if process is None or task is None:
            return
        await self.send_meta({"type": "quit"})
        try:
            await asyncio.wait_for(process.wait(), GRACE)
        except TimeoutError:
            log.warning("a console didn't end within %.0f s and was killed", GRACE)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        try:
            await asyncio.wait_for(task, GRACE)
        except TimeoutError:
            log.warning("something that a console had started still holds its output")
        self._task = None


def clipped(cells: int) -> int:
    """Return a number of columns or rows that a console can be drawn in."""
    return max(1, min(cells, 1_000))
