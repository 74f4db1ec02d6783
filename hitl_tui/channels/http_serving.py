"""Serving an application over HTTP until cancelled."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

_GRACE = 1
"""Seconds that answers get to be sent after a signal."""


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # signals are the program's: it cancels what serves


async def serve_http(application: Any, listener: socket.socket, ready: Callable[[], object]) -> None:
    """Serve clients until cancelled.

    Args:
        application: an ASGI application.
        listener: a socket that listens.
        ready: called once requests are taken.
    """
    config = uvicorn.Config(
        application,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_GRACE,
    )
    web = _Server(config)
    serving = asyncio.create_task(web.serve([listener]))
    ready()
    try:
        await asyncio.shield(serving)
    finally:
        web.should_exit = True
        await serving


def local_names(port: int) -> list[str]:
    """Return what a client at this machine calls a server at a loopback address."""
    return [f"{host}:{port}" for host in ("127.0.0.1", "localhost", "[::1]")]
