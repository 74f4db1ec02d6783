"""The world outside a session: a process of its own that counts effects in a file of its own.

Each line of the file is a JSON object, on disk before its sender is answered, so what a person finds there is what
happened, whatever became of the process that did it.
"""

from __future__ import annotations

import asyncio
import json
import os
import selectors
import signal
import socket
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class World:
    """Where effects go and where they are looked up.

    Args:
        root: folder of one run; holds the file.
    """

    root: Path

    @property
    def socket(self) -> Path:
        # Beside the folder it could be longer than a socket's name may be.
        return Path(tempfile.gettempdir()) / f"world-{sha256(str(self.root).encode()).hexdigest()[:16]}.sock"

    @property
    def file(self) -> Path:
        return self.root / "effects.jsonl"

    async def act(self, todo: str, effect: str) -> int:
        """Do an effect to the world; return how often it has been done."""
        return int((await self._tell({"op": "act", "todo": todo, "effect": effect}))["count"])

    async def begin(self, todo: str, effect: str) -> int:
        """Say that an effect starts; return how often it has started."""
        return int((await self._tell({"op": "begin", "todo": todo, "effect": effect}))["count"])

    async def end(self, todo: str, effect: str, *, failed: bool) -> None:
        """Say that an effect ended: with what it should do done, or not."""
        await self._tell({"op": "failed" if failed else "done", "todo": todo, "effect": effect})

    async def release(self, todo: str) -> None:
        """Let the TODO's command, which lingers after its effect, come to its end."""
        await self._tell({"op": "release", "todo": todo})

    async def settle(self) -> None:
        """Return when everything that was sent before has been counted."""
        while (await self._tell({"op": "settle"}))["again"]:
            pass

    async def _tell(self, message: dict[str, Any]) -> dict[str, Any]:
        reader, writer = await asyncio.open_unix_connection(str(self.socket))
        try:
            writer.write(json.dumps(message).encode() + b"\n")
            answer = await reader.readline()
        finally:
            writer.close()
        if not answer:
            raise ConnectionError("the world doesn't answer")
        found: dict[str, Any] = json.loads(answer)
        return found

    def lines(self) -> list[dict[str, Any]]:
        """Return everything that was recorded, in order."""
        if not self.file.exists():
            return []
        return [json.loads(line) for line in self.file.read_text(encoding="utf-8").splitlines()]

    def done(self) -> Counter[tuple[str, str]]:
        """Return how often each effect was done, by TODO id and name."""
        return Counter((line["todo"], line["effect"]) for line in self.lines() if line["op"] == "act")

    def begun(self) -> Counter[tuple[str, str]]:
        """Return how often each effect started, by TODO id and name."""
        return Counter((line["todo"], line["effect"]) for line in self.lines() if line["op"] == "begin")

    def overlaps(self) -> list[str]:
        """Return the TODOs that went on while a process of an earlier run of theirs was still alive."""
        lines = self.lines()
        alive = Counter(line["todo"] for line in lines if line.get("lingers"))
        alive.subtract(line["todo"] for line in lines if line["op"] == "ended")
        return [*(line["todo"] for line in lines if line["op"] == "overlap"), *alive.elements()]


@contextmanager
def served(world: World, *, lingering: bool = True) -> Iterator[None]:
    """Let a process of its own serve the world while the block lasts.

    Args:
        world: which.
        lingering: commands wait after their effect until they are released.
    """
    listener = socket.socket(socket.AF_UNIX)
    world.socket.unlink(missing_ok=True)
    listener.bind(str(world.socket))
    listener.listen(64)
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            _Server(world, listener, parent, lingering).serve()
        finally:
            os._exit(1)
    listener.close()
    try:
        yield
    finally:
        os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)
        world.socket.unlink(missing_ok=True)


@dataclass
class _Peer:
    connection: socket.socket
    rest: bytes = b""
    command: str = ""


@dataclass
class _Server:
    """One thread, one file.

    Args:
        world: what it serves.
        listener: where its peers connect.
        parent: process whose end is its own end.
        lingering: see `served`.
    """

    world: World
    listener: socket.socket
    parent: int
    lingering: bool = True
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    begun: Counter[tuple[str, str]] = field(default_factory=Counter)
    peers: dict[int, _Peer] = field(default_factory=dict)
    released: set[str] = field(default_factory=set)

    def serve(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with self.world.file.open("ab", buffering=0) as file, selectors.DefaultSelector() as ready:
            ready.register(self.listener, selectors.EVENT_READ)
            while True:
                found = [key.fd for key, _ in ready.select(1.0)]
                if os.getppid() != self.parent:
                    os._exit(0)  # nobody is left who would end it
                settling: list[socket.socket] = []
                for fd in found:
                    if fd == self.listener.fileno():
                        connection, _ = self.listener.accept()
                        self.peers[connection.fileno()] = _Peer(connection)
                        ready.register(connection, selectors.EVENT_READ)
                        continue
                    peer = self.peers[fd]
                    data = _received(peer.connection)
                    if not data:
                        if peer.command:
                            self._write(file, {"op": "ended", "todo": peer.command})
                        ready.unregister(peer.connection)
                        peer.connection.close()
                        del self.peers[fd]
                        continue
                    *lines, peer.rest = (peer.rest + data).split(b"\n")
                    for line in lines:
                        self._take(file, peer, json.loads(line), settling)
                for connection in settling:
                    if ready.select(0):  # somebody else was first
                        _answer(connection, {"again": True})
                    else:
                        _answer(connection, {"again": False})

    def _take(self, file: Any, peer: _Peer, message: dict[str, Any], settling: list[socket.socket]) -> None:
        todo = str(message.get("todo", ""))
        if message["op"] == "settle":
            settling.append(peer.connection)
            return
        if message["op"] == "release":
            self.released.add(todo)
            self._free()
            _answer(peer.connection, {})
            return
        key = todo, str(message["effect"])
        if message["op"] in ("begin", "done", "failed"):
            self.begun[key] += message["op"] == "begin"
            self._write(file, {"op": message["op"], "todo": todo, "effect": message["effect"]})
            _answer(peer.connection, {"count": self.begun[key]})
            return
        if any(other.command == todo for other in self.peers.values() if other is not peer):
            self._write(file, {"op": "overlap", "todo": todo})
        self.counts[key] += 1
        lingers = bool(message.get("lingers"))
        self._write(file, {"op": "act", "todo": todo, "effect": message["effect"], "lingers": lingers})
        _answer(peer.connection, {"count": self.counts[key]})
        if lingers:
            peer.command = todo
            self._free()

    def _free(self) -> None:
        """Answer the commands that may end: they wait for a second line."""
        for peer in self.peers.values():
            if peer.command and (peer.command in self.released or not self.lingering):
                _answer(peer.connection, {"end": True})

    @staticmethod
    def _write(file: Any, line: dict[str, Any]) -> None:
        line["at"] = datetime.now(UTC).isoformat(timespec="microseconds")
        file.write(json.dumps(line).encode() + b"\n")
        os.fsync(file.fileno())


def _received(connection: socket.socket) -> bytes:
    """Return what came, nothing when the other side is gone, by its own will or not."""
    try:
        return connection.recv(65536)
    except OSError:
        return b""


def _answer(connection: socket.socket, message: dict[str, Any]) -> None:
    try:
        connection.sendall(json.dumps(message).encode() + b"\n")
    except OSError:
        return  # its process was killed
