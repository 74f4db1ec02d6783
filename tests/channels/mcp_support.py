"""Clients of the MCP server: the official one, over each transport."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from anyio import BrokenResourceError
from mcp import ClientSession, types
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from people import write_approvers

PROGRAM = str(Path(sys.executable).with_name("hitl-tui"))
CHECKPOINT = str(Path(sys.executable).with_name("masc-checkpoint"))
ASKS = {"step": 2, "action": "DELETE FROM customers", "agent": "cleaner", "message": "10,000 records will be deleted"}
AGENTS = "token-of-all-the-agents"


class Place:
    """A folder to work in, its data folder, and an approver `ann`.

    Args:
        root: where both are made.
    """

    def __init__(self, root: Path) -> None:
        self.work, self.data, self.masc = root / "work", root / "data", root / "work" / ".masc"
        self.number = root / "server-started-last"
        self.work.mkdir()
        write_approvers(self.data, "ann", "bob")

    def environment(self, **more: str) -> dict[str, str]:
        """Return the environment of a program that works there."""
        ours = {name: value for name, value in os.environ.items() if not name.startswith(("HITL_", "NEO4J", "MASC_"))}
        return {**ours, "HITL_DATA_DIR": str(self.data), **more}

    def kill_server(self) -> None:
        """Kill -9 the server that was started last on standard input."""
        os.kill(int(self.number.read_text()), signal.SIGKILL)

    async def checkpoint(self, *arguments: str, **more: str) -> tuple[int, str]:
        """Run `masc-checkpoint`; return its exit code and output."""
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            CHECKPOINT, *arguments, cwd=self.work, env=self.environment(**more), stdout=pipe
        )
        out, _ = await process.communicate()
        return process.returncode or 0, out.decode()


class Heard:
    """What a client was told without asking."""

    def __init__(self) -> None:
        self.announced: list[dict[str, Any]] = []
        self.updated: list[str] = []
        self._news = asyncio.Event()

    async def log(self, params: types.LoggingMessageNotificationParams) -> None:
        """Take an announcement."""
        self.announced.append(params.data)
        self._news.set()

    async def message(self, message: object) -> None:
        """Take anything else."""
        if isinstance(message, types.ServerNotification) and isinstance(
            message.root, types.ResourceUpdatedNotification
        ):
            self.updated.append(str(message.root.params.uri))
            self._news.set()

    @property
    def events(self) -> list[tuple[str, str]]:
        """What was announced, and of which task."""
        return [(one["event"], one["checkpoint"]["task_id"]) for one in self.announced]

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait until something is true after being told of something."""
        async with asyncio.timeout(60):
            while not true():
                self._news.clear()
                await self._news.wait()


@asynccontextmanager
async def on_stdio(place: Place, heard: Heard | None = None, **environment: str) -> AsyncIterator[ClientSession]:
    """Start a server as a client's configuration does, and speak to it."""
    told = heard or Heard()
    server = StdioServerParameters(
        command="sh",  # which tells its number, and becomes the server
        args=[
            "-c",
            'echo $$ > "$0"; exec "$@"',
            str(place.number),
            PROGRAM,
            "mcp",
            "--masc-dir",
            str(place.masc),
        ],
        env=place.environment(**environment),
        cwd=place.work,
    )
    try:
        async with (
            stdio_client(server) as (read, write),
            ClientSession(read, write, logging_callback=told.log, message_handler=told.message) as session,
        ):
            await session.initialize()
            yield session
    except* BrokenResourceError:
        pass  # the client's own, which is told of something while it leaves


@asynccontextmanager
async def serving(place: Place) -> AsyncIterator[tuple[str, asyncio.subprocess.Process]]:
    """Start a server over HTTP; give its address."""
    process = await asyncio.create_subprocess_exec(
        PROGRAM,
        "mcp",
        "--http",
        "127.0.0.1:0",
        "--masc-dir",
        str(place.masc),
        cwd=place.work,
        env=place.environment(HITL_MCP_TOKEN=AGENTS),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(60):
            line = (await process.stdout.readline()).decode()
        found = re.search(r"http://\S+", line)
        assert found is not None, line
        yield found[0], process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


@asynccontextmanager
async def over_http(address: str, token: str = AGENTS, heard: Heard | None = None) -> AsyncIterator[ClientSession]:
    """Speak to a server over HTTP."""
    told = heard or Heard()
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx.AsyncClient(headers=headers, timeout=60) as client,
        streamable_http_client(address, http_client=client) as (read, write, _),
        ClientSession(read, write, logging_callback=told.log, message_handler=told.message) as session,
    ):
        await session.initialize()
        yield session


async def given(session: ClientSession, tool: str, **arguments: object) -> dict[str, Any]:
    """Call a tool that has to succeed; return its structured answer, which the client has held against the schema."""
    result = await session.call_tool(tool, arguments)
    assert not result.isError, result.content
    assert result.structuredContent is not None
    return result.structuredContent


async def refused(session: ClientSession, tool: str, **arguments: object) -> str:
    """Call a tool that has to fail; return its sentence."""
    result = await session.call_tool(tool, arguments)
    assert result.isError, result.structuredContent
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    assert "\n" not in content.text
    return content.text
