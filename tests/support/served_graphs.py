"""A LangGraph server on loopback, as `langgraph dev` starts it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

COMMAND = (
    *(
        "uv",
        "tool",
        "run",
        "--python",
        sys.executable,
        "--from",
        "langgraph-cli[inmem]==0.4.40",
        "--with",
        "langgraph-api==0.16.7",
    ),
    *("langgraph", "dev", "--no-browser", "--no-reload", "--n-jobs-per-worker", "5"),
)
"""The server is a program of its own: what it needs isn't installed beside the tests."""
_STARTS = 120


@dataclass(frozen=True, slots=True)
class LangGraphProcess:
    """A server that runs.

    Args:
        url: its address.
        port: the port of that.
        process: it itself, first of a group of processes.
    """

    url: str
    port: int
    process: subprocess.Popen[bytes]


@contextmanager
def langgraph_server(
    folder: Path, graphs: Mapping[str, str], environ: Mapping[str, str], *, port: int = 0, auth: str = ""
) -> Iterator[LangGraphProcess]:
    """Start a server.

    Args:
        folder: where its threads are kept; one that was used before goes on.
        graphs: `path.py:attribute` by name.
        environ: what its graphs get besides.
        port: of an earlier one; 0 for a free one.
        auth: `path.py:attribute` of what says who may ask it; empty for anybody.
    """
    declared: dict[str, object] = {"dependencies": ["."], "graphs": dict(graphs)}
    if auth:
        declared["auth"] = {"path": auth}
    (folder / "langgraph.json").write_text(json.dumps(declared))
    if not port:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LANGGRAPH_", "LANGSMITH_", "LANGCHAIN_"))}
    given = {**kept, "LANGSMITH_TRACING": "false", "LANGGRAPH_CLI_NO_ANALYTICS": "1", **environ}
    with (folder / "server.log").open("ab") as log:
        process = subprocess.Popen(
            [*COMMAND, "--port", str(port)], cwd=folder, env=given, stdout=log, stderr=log, start_new_session=True
        )
        try:
            url = f"http://127.0.0.1:{port}"
            _wait(url, process, folder / "server.log")
            yield LangGraphProcess(url, port, process)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + _STARTS
    while time.monotonic() < until:
        with suppress(OSError), urllib.request.urlopen(f"{url}/ok", timeout=2):
            return
        assert process.poll() is None, log.read_text()[-2000:]
        time.sleep(0.2)
    raise AssertionError(f"the server never came: {log.read_text()[-2000:]}")
