"""A proxy on loopback before a server: it cuts connections, delays them, and lets one direction of them die."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

FAULTS = ("cut", "delay", "half")
_DELAYS = 0.2, 4.0
_HALF = 5.0, 20.0
"""Seconds for which one direction is dead; then the connection ends, as the kernel's own limits would end it."""


@dataclass(eq=False)
class _Link:
    """One connection through the proxy.

    Args:
        writers: to the server, and back to the client.
    """

    writers: tuple[asyncio.StreamWriter, asyncio.StreamWriter]
    goes: asyncio.Event = field(default_factory=asyncio.Event)
    dead: set[int] = field(default_factory=set)

    def cut(self) -> None:
        self.goes.set()
        for writer in self.writers:
            with suppress(RuntimeError, AttributeError):
                writer.transport.abort()


class Proxy:
    """Passes connections on; made by `proxy_to`.

    Args:
        port: where the server listens on loopback.
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self._links: set[_Link] = set()
        self._loop = asyncio.new_event_loop()
        self._chance = random.Random(port)
        self.port = 0

    async def listen(self) -> None:
        """Take connections from now on."""
        server = await asyncio.start_server(self._pass, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]

    def fault(self, what: str) -> bool:
        """Let a fault happen to one of the connections; return whether there was one."""
        return asyncio.run_coroutine_threadsafe(self._fault(what), self._loop).result(10)

    async def _fault(self, what: str) -> bool:
        links = [link for link in self._links if not link.dead and link.goes.is_set()]
        if not links:
            return False
        link = self._chance.choice(links)
        if what == "cut":
            link.cut()
        elif what == "delay":
            link.goes.clear()
            self._loop.call_later(self._chance.uniform(*_DELAYS), link.goes.set)
        else:
            link.dead.add(self._chance.randrange(2))
            self._loop.call_later(self._chance.uniform(*_HALF), link.cut)
        return True

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.transport.abort()
            return
        link = _Link((back, writer))
        link.goes.set()
        self._links.add(link)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._copy(link, reader, 0))
                group.create_task(self._copy(link, there, 1))
        except* OSError:
            pass
        finally:
            self._links.discard(link)
            link.cut()

    async def _copy(self, link: _Link, reader: asyncio.StreamReader, direction: int) -> None:
        writer = link.writers[direction]
        while data := await reader.read(65_536):
            await link.goes.wait()
            if direction not in link.dead:
                writer.write(data)
                await writer.drain()
        link.cut()

    def run(self) -> None:
        """Serve until `stop`."""
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self.listen())
        self._loop.run_forever()

    def stop(self) -> None:
        """End."""
        self._loop.call_soon_threadsafe(self._loop.stop)


@contextmanager
def proxy_to(port: int) -> Iterator[Proxy]:
    """Run a proxy before a server on loopback."""
    proxy = Proxy(port)
    thread = threading.Thread(target=proxy.run, daemon=True)
    thread.start()
    while not proxy.port:
        thread.join(0.01)
    try:
        yield proxy
    finally:
        proxy.stop()
        thread.join(10)
