"""A way to a server that can be cut at any word."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress


class Wire:
    """A port that passes everything on to another, until it is cut.

    Args:
        port: the other.
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self._loop = asyncio.new_event_loop()
        self._writers: set[asyncio.StreamWriter] = set()
        self.silent_after: bytes | None = None
        self.cut_at: bytes | None = None
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._server = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._pass, "127.0.0.1", 0), self._loop
        ).result(10)
        self.port: int = self._server.sockets[0].getsockname()[1]

    def cut(self) -> None:
        """End all connections."""
        self._loop.call_soon_threadsafe(self._cut)

    def close(self) -> None:
        """End everything."""
        self._loop.call_soon_threadsafe(self._server.close)
        self.cut()
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _cut(self) -> None:
        for writer in self._writers:
            with suppress(OSError):
                writer.transport.abort()
        self._writers.clear()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._target)
        self._writers |= {writer, back}
        lost = asyncio.Event()
        await asyncio.gather(self._outward(reader, back, lost), self._inward(there, writer, lost))

    async def _outward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, lost: asyncio.Event) -> None:
        """Pass on what the driver says; the connection is lost before or after the words that were named."""
        with suppress(OSError):
            while data := await reader.read(65_536):
                if self.cut_at is not None and self.cut_at in data:
                    self.cut_at = None
                    self._cut()
                    return
                if self.silent_after is not None and self.silent_after in data:
                    self.silent_after = None
                    lost.set()
                writer.write(data)
                await writer.drain()
            writer.close()

    async def _inward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, lost: asyncio.Event) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                if lost.is_set():  # the server has done it, and nobody hears so
                    self._cut()
                    return
                writer.write(data)
                await writer.drain()
            writer.close()
