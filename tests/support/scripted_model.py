"""A model server on loopback that speaks OpenAI's chat completions and says what a test scripts.

Each request takes the next answer of the script; the last one is given again for ever. A speaker, a function of the
request, may stand in the place of an answer.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Says:
    """One answer.

    Args:
        text: its words.
        calls: tools that it calls, by name and arguments; text in the place of arguments is sent as it is.
        usage: tokens of input and output that it counts; None where it counts nothing.
        finish: why it ended.
        pieces: characters of a piece that is streamed.
    """

    text: str = ""
    calls: tuple[tuple[str, Mapping[str, Any] | str], ...] = ()
    usage: tuple[int, int] | None = (100, 20)
    finish: str = ""
    pieces: int = 16


@dataclass(frozen=True)
class Fails:
    """An answer with an HTTP status.

    Args:
        status: it.
        message: what its error says.
        retry_after: seconds; None for no such header.
    """

    status: int
    message: str = "no"
    retry_after: float | None = None


@dataclass(frozen=True)
class Cuts:
    """A stream that ends in the middle, without a word.

    Args:
        text: what was said until then.
    """

    text: str = "half of"


@dataclass(frozen=True)
class Garbage:
    """Something that isn't JSON."""

    body: str = "<html>a proxy speaks</html>"


@dataclass(frozen=True)
class Hangs:
    """No answer for as long as the server lives."""


Reply = Says | Fails | Cuts | Garbage | Hangs
Speaker = Callable[[Mapping[str, Any]], Reply]


@dataclass
class ScriptedModel:
    """The server.

    Args:
        url: what clients call their base URL.
        script: what it says, in order.
        asked: the requests it got.
    """

    url: str
    script: list[Reply | Speaker]
    asked: list[dict[str, Any]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    closing: threading.Event = field(default_factory=threading.Event)

    @property
    def environ(self) -> dict[str, str]:
        """What a process that is to speak with it needs."""
        return {"HITL_MODEL": "openai:scripted", "HITL_MODEL_BASE_URL": self.url, "OPENAI_API_KEY": "test-key"}

    def texts(self, number: int = -1) -> str:
        """Return all that a request said, as one text."""
        return "\n".join(str(message.get("content")) for message in self.asked[number]["messages"])

    def next(self, body: dict[str, Any]) -> Reply:
        with self._lock:
            self.asked.append(body)
            found = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        return found(body) if callable(found) else found


def _message(said: Says, turn: int) -> dict[str, Any]:
    calls = [
        {"index": n, "id": f"call_{turn}_{n}", "type": "function",
         "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)}}
        for n, (name, given) in enumerate(said.calls)
    ]  # fmt: skip
    return {"role": "assistant", "content": said.text or None, **({"tool_calls": calls} if calls else {})}


def _usage(said: Says) -> dict[str, Any]:
    if said.usage is None:
        return {}
    given, made = said.usage
    return {"usage": {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}}


def _document(said: Says, turn: int) -> dict[str, Any]:
    finish = said.finish or ("tool_calls" if said.calls else "stop")
    choice = {"index": 0, "message": _message(said, turn), "finish_reason": finish}
    return {"id": f"c{turn}", "object": "chat.completion", "created": 1, "model": "scripted",
            "choices": [choice], **_usage(said)}  # fmt: skip


def _stream(said: Says, turn: int) -> Iterator[dict[str, Any]]:
    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {"id": f"c{turn}", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
                "choices": [choice]}  # fmt: skip

    yield chunk({"role": "assistant", "content": ""})
    for start in range(0, len(said.text), said.pieces):
        yield chunk({"content": said.text[start : start + said.pieces]})
    if said.calls:
        yield chunk({"tool_calls": _message(said, turn)["tool_calls"]})
    yield chunk({}, said.finish or ("tool_calls" if said.calls else "stop"))
    if said.usage is not None:
        yield {**chunk({}), "choices": [], **_usage(said)}


@contextmanager
def scripted_model(script: Sequence[Reply | Speaker]) -> Iterator[ScriptedModel]:
    """Serve on a free port of loopback."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body["authorization"] = self.headers.get("Authorization", "")
            said = model.next(body)
            turn = len(model.asked)
            try:
                self._answer(said, body, turn)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def _answer(self, said: Reply, body: Mapping[str, Any], turn: int) -> None:
            if isinstance(said, Fails):
                error = {"error": {"message": said.message, "type": "error"}}
                headers = {} if said.retry_after is None else {"Retry-After": f"{said.retry_after:g}"}
                self._whole(said.status, json.dumps(error), headers)
            elif isinstance(said, Garbage):
                self._whole(200, said.body, {})
            elif isinstance(said, Hangs):
                model.closing.wait(60)
                self.close_connection = True
            elif not body.get("stream"):
                assert isinstance(said, Says)
                self._whole(200, json.dumps(_document(said, turn)), {})
            else:
                self._events(said, turn)

        def _whole(self, status: int, text: str, headers: Mapping[str, str]) -> None:
            data = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def _events(self, said: Says | Cuts, turn: int) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            if isinstance(said, Cuts):
                first = next(_stream(Says(said.text), turn))
                for event in (first, {**first, "choices": [{"index": 0, "delta": {"content": said.text}}]}):
                    self._event(json.dumps(event))
                self.wfile.flush()
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
                return
            for event in _stream(said, turn):
                self._event(json.dumps(event))
            self._event("[DONE]")
            self.wfile.write(b"0\r\n\r\n")

        def _event(self, text: str) -> None:
            data = f"data: {text}\n\n".encode()
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

        def log_message(self, format: str, *args: object) -> None:
            """Quiet: what was asked is in `asked`."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """Quiet: clients go as they please."""

    server = Server(("127.0.0.1", 0), Handler)
    model = ScriptedModel(f"http://127.0.0.1:{server.server_port}/v1", list(script))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        model.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
