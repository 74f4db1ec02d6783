"""Servers that aren't LangGraph's, or don't answer: one sentence, and nothing made (I11)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cli_support import Shell

from hitl_tui.graphs.langgraph_server import LangGraphServer


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@contextmanager
def answering(status: int, content: bytes) -> Iterator[str]:
    """Serve one answer to everything, on loopback; yield the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(
    ("status", "content", "says"),
    [
        (200, b"<html>hello</html>", "is no LangGraph server"),
        (200, b'[1, 2, {"a": null}]', "is no LangGraph server"),
        (200, b"{}", "has no assistants"),
        (200, b"null", "is no LangGraph server"),
        (200, b"7", "is no LangGraph server"),
        (302, b"", "is no LangGraph server"),
        (401, b"", "refuses (401)"),
        (500, b"broken", "answers 500"),
    ],
)
def test_what_isnt_a_langgraph_server_is_told_in_a_sentence(
    shell: Shell, status: int, content: bytes, says: str
) -> None:
    with answering(status, content) as url:
        ran = shell.run("attach", url, "--input", "{}", "--json")
    assert (ran.code, ran.err) == (2, "")
    assert says in ran.json["error"], ran.json
    assert not shell.run("sessions", "--json").json["sessions"]


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "caf\u00e9"])
def test_what_cant_be_a_header_is_named_by_its_variable(shell: Shell, value: str) -> None:
    arguments = ("attach", "http://127.0.0.1:9", "--header", "X=AGENTS_TOKEN", "--input", "{}", "--json")
    ran = shell.run(*arguments, AGENTS_TOKEN=value)
    assert ran.json["error"] == "What AGENTS_TOKEN holds can't be sent as a header."


@pytest.mark.parametrize("key", ["sesame\r\nX-Evil: 1", "s\u00e9same"])
def test_a_key_that_cant_be_sent_is_named_and_not_shown(shell: Shell, key: str) -> None:
    with answering(200, b"[]") as url:
        ran = shell.run("attach", url, "--input", "{}", "--json", LANGGRAPH_API_KEY=key)
    assert ran.json["error"] == "What LANGGRAPH_API_KEY holds can't be sent as a header."
    assert "same" not in ran.out


@pytest.mark.parametrize("header", ["Content-Length", "host", "X Y"])
def test_headers_of_the_connection_are_refused(shell: Shell, header: str) -> None:
    ran = shell.run("attach", "http://127.0.0.1:9", "--header", f"{header}=TOKEN", "--input", "{}", "--json")
    assert "--header takes NAME=VARIABLE" in ran.json["error"]


def test_a_key_goes_to_this_machine_and_by_https_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGGRAPH_API_KEY", "sesame")

    def sent(url: str, **headers: str) -> str | None:
        client = LangGraphServer(url, headers)
        return client.client().http.client.headers.get("x-api-key")

    assert sent("http://127.0.0.1:9") == "sesame"
    assert sent("https://agents.example") == "sesame"
    assert sent("http://192.0.2.2") is None
    assert sent("http://127.0.0.1.example") is None
    assert sent("http://192.0.2.2", **{"x-api-key": "named"}) == "named"
