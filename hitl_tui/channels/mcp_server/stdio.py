"""MCP over standard input and output.

Reading and writing are done by threads of their own, so that a client that neither writes nor reads never keeps the
process from ending.
"""

from __future__ import annotations

import asyncio
import json
import os
import queue
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress

import anyio
from mcp import types
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_text import strict_json
from hitl_tui.core.json_types import Json
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line
from hitl_tui.language import translate

_LONGEST = 4 * 1024 * 1024
"""Bytes of a message; the server over HTTP has the same limit."""
_CHUNK = 65_536
_PATIENCE = 1.0
"""Seconds that requests get to be answered after the client has closed its end."""
_AHEAD = 64
"""Lines that are read before they are wanted."""


async def serve(server: Server[dict[str, object], object], source: int, target: int) -> None:
    """Serve one client until it closes its end.

    Args:
        server: the server.
        source: descriptor to read from.
        target: descriptor to write to.
    """
    writer = _Writer(target)
    arriving, reader = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    answers, leaving = anyio.create_memory_object_stream[SessionMessage](0)
    unanswered: set[types.RequestId] = set()
    answered = asyncio.Event()

    async def take() -> None:
        async with arriving:
            async for line in _lines(source):
                message = _message(line)
                if isinstance(message, bytes):
                    await writer.write(message)
                    continue
                if isinstance(message.root, types.JSONRPCRequest):
                    unanswered.add(message.root.id)
                    answered.clear()
                await arriving.send(SessionMessage(message))
            with anyio.move_on_after(_PATIENCE if unanswered else 0):
                await answered.wait()

    async def give() -> None:
        async with leaving:
            async for sent in leaving:
                await writer.write(sent.message.model_dump_json(by_alias=True, exclude_none=True).encode() + b"\n")
                if isinstance(sent.message.root, types.JSONRPCResponse | types.JSONRPCError):
                    unanswered.discard(sent.message.root.id)
                    if not unanswered:
                        answered.set()

    async with anyio.create_task_group() as group:
        group.start_soon(take)
        group.start_soon(give)
        await server.run(reader, answers, server.create_initialization_options())
        group.cancel_scope.cancel()


class _Writer:
    """Writes to a descriptor in a thread of its own; what is written once nobody reads there goes nowhere.

    Args:
        target: the descriptor.
    """

    def __init__(self, target: int) -> None:
        self._target = target
        self._loop = asyncio.get_running_loop()
        self._waiting: queue.SimpleQueue[tuple[bytes, asyncio.Event]] = queue.SimpleQueue()
        threading.Thread(target=self._write_all, daemon=True).start()

    async def write(self, line: bytes) -> None:
        """Write a line."""
        written = asyncio.Event()
        self._waiting.put((line, written))
        await written.wait()

    def _write_all(self) -> None:
        with suppress(RuntimeError):  # the loop is gone: nobody writes any more
            while True:
                line, written = self._waiting.get()
                view = memoryview(line)
                with suppress(OSError):
                    while view:
                        view = view[os.write(self._target, view) :]
                self._loop.call_soon_threadsafe(written.set)


async def _lines(source: int) -> AsyncIterator[bytes]:
    """Give the lines that come from a descriptor; one that is too long is given cut."""
    loop, found = asyncio.get_running_loop(), asyncio.Queue[bytes]()
    room = threading.Semaphore(_AHEAD)

    def read_all() -> None:
        with suppress(RuntimeError):  # the loop is gone: nobody wants more
            for line in _read(source):
                room.acquire()
                loop.call_soon_threadsafe(found.put_nowait, line)
            loop.call_soon_threadsafe(found.put_nowait, b"")

    threading.Thread(target=read_all, daemon=True).start()
    while line := await found.get():
        room.release()
        if line.strip():
            yield line


def _read(source: int) -> Iterator[bytes]:
    kept = bytearray()
    while chunk := _chunk(source):
        *whole, rest = chunk.split(b"\n")
        for part in whole:
            kept += part[: _LONGEST + 1 - len(kept)]
            yield bytes(kept) + b"\n"
            kept.clear()
        kept += rest[: _LONGEST + 1 - len(kept)]
    if kept:
        yield bytes(kept) + b"\n"


def _chunk(source: int) -> bytes:
    try:
        return os.read(source, _CHUNK)
    except OSError:
        return b""


def _message(line: bytes) -> types.JSONRPCMessage | bytes:
    """Return the message that a line is, or the answer to what is none."""
    if len(line) > _LONGEST:
        return _answer(types.INVALID_REQUEST, Message("A message may have {} bytes at most.", f"{_LONGEST:,}"))
    try:
        found = strict_json(line.decode("utf-8"))
    except BadInput as error:
        return _answer(types.INVALID_REQUEST, error.message)
    except ValueError as error:
        return _answer(types.PARSE_ERROR, Message("This line isn't valid JSON: {}.", one_line(str(error), 200)))
    try:
        return types.JSONRPCMessage.model_validate(found)
    except ValidationError:
        asked = found.get("id") if isinstance(found, dict) else None
        return _answer(types.INVALID_REQUEST, Message("This line isn't a message of JSON-RPC 2.0."), asked)


def _answer(code: int, message: str, asked: Json = None) -> bytes:
    known = asked if isinstance(asked, str | int) and not isinstance(asked, bool) else None
    fields = {"jsonrpc": "2.0", "id": known, "error": {"code": code, "message": translate(message)}}
    return json.dumps(fields).encode() + b"\n"
