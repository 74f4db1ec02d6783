"""LangSmith's own variables work, and an address where nobody answers holds nothing up (I8)."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cli_support import Shell

pytestmark = pytest.mark.long

QUESTION = "What is the deposit cap?"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    made = Shell(tmp_path)
    made.env |= {"HITL_LANG": "en", "LANGSMITH_TRACING": "true", "LANGSMITH_API_KEY": "lsv2_test", "HITL_MODEL": "none"}
    return made


@pytest.fixture
def heard() -> Iterator[tuple[str, list[bytes]]]:
    """A server that takes what LangSmith's client sends."""
    bodies: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            limits = {"size_limit": 100, "scale_up_nthreads_limit": 4, "scale_up_qsize_trigger": 100}
            config = {"use_multipart_endpoint": False, "size_limit_bytes": 20_000_000, **limits}
            self._say(json.dumps({"version": "1", "batch_ingest_config": config}).encode())

        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            self._say(b"{}")

        def _say(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", bodies
    server.shutdown()
    server.server_close()
    thread.join()


def test_its_variables_work(shell: Shell, heard: tuple[str, list[bytes]]) -> None:
    url, bodies = heard
    ran = shell.process("run", QUESTION, "--json", LANGSMITH_ENDPOINT=url, LANGCHAIN_PROJECT="leases")
    assert (ran.code, ran.err) == (3, "")
    sent = b"".join(bodies)
    assert b"team_supervisor" in sent and b'"leases"' in sent and QUESTION.encode() in sent


@pytest.mark.parametrize("variable", ["LANGSMITH_ENDPOINT", "LANGCHAIN_ENDPOINT"])
def test_a_dead_address_holds_nothing_up(shell: Shell, variable: str) -> None:
    shell.env |= {variable: "http://127.0.0.1:9"}
    with subprocess.Popen(
        shell.command("run", QUESTION, "--json"),
        cwd=shell.workspace,
        env=shell.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        assert running.stdout is not None and running.stderr is not None
        document = json.loads(running.stdout.readline())
        answered = time.monotonic()
        assert running.wait(60) == 3
        assert time.monotonic() - answered < 5
        assert document["session_id"] == "s1"
        assert running.stderr.read() == b""
