"""Models of other providers, opened by their own packages; Anthropic's speaks to a server in its protocol (D6).

Google's package speaks gRPC, which nothing answers here.

uv run --with langchain-anthropic --with langchain-google-genai pytest -n 0 -m slow tests/models/test_other_providers.py
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from hitl_tui.config.model_settings import ModelSettings
from hitl_tui.core.errors import BadInput
from hitl_tui.models.chat_model import Answer, ChatModel, Form
from hitl_tui.models.failures import ModelFailure

pytestmark = pytest.mark.slow

FORM = Form("add", "Adds.", {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})
FILLED = {"a": 1}
CLAUDE = "anthropic:claude-opus-4-8"
Events = Sequence[tuple[str, Mapping[str, Any]]]


@dataclass
class Server:
    """A server that gives the same answer to everything.

    Args:
        url: its base.
        asked: path, headers in lower case, and body of each request.
    """

    url: str
    asked: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)


@contextmanager
def serving(status: int, events: Events) -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            if status != 200:
                data = json.dumps(dict(events[0][1])).encode()
            else:
                named = (f"event: {name}\n" if name else "" for name, _ in events)
                told = (f"data: {json.dumps(event)}\n\n" for _, event in events)
                data = "".join(a + b for a, b in zip(named, told, strict=True)).encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/event-stream" if status == 200 else "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Quiet: what was asked is in `asked`."""

    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = Server(f"http://127.0.0.1:{made.server_port}")
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        made.shutdown()
        made.server_close()
        thread.join()


def claude(*blocks: tuple[Mapping[str, Any], Mapping[str, Any]], stop: str = "end_turn") -> Events:
    """Return the events of an answer in Anthropic's protocol: the start and the one piece of each block."""
    message = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "content": [],
               "stop_reason": None, "usage": {"input_tokens": 100, "output_tokens": 1}}  # fmt: skip
    events: list[tuple[str, Mapping[str, Any]]] = [("message_start", {"type": "message_start", "message": message})]
    for n, (block, delta) in enumerate(blocks):
        events += [
            ("content_block_start", {"type": "content_block_start", "index": n, "content_block": block}),
            ("content_block_delta", {"type": "content_block_delta", "index": n, "delta": delta}),
            ("content_block_stop", {"type": "content_block_stop", "index": n}),
        ]
    ended = {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None},
             "usage": {"input_tokens": 100, "output_tokens": 20}}  # fmt: skip
    return [*events, ("message_delta", ended), ("message_stop", {"type": "message_stop"})]


def claude_says(text: str, stop: str = "end_turn") -> Events:
    return claude(({"type": "text", "text": ""}, {"type": "text_delta", "text": text}), stop=stop)


def claude_fills() -> Events:
    block = {"type": "tool_use", "id": "t1", "name": "add", "input": {}}
    return claude((block, {"type": "input_json_delta", "partial_json": json.dumps(FILLED)}), stop="tool_use")


def ask(server: Server, form: Form | None = None) -> Answer:
    pytest.importorskip("langchain_anthropic")
    chat = ChatModel(
        ModelSettings(CLAUDE, base_url=server.url, retries=0, timeout=20), {"ANTHROPIC_API_KEY": "test-key"}
    )
    return asyncio.run(chat.ask([("system", "You add."), ("human", "1")], form))


def test_words_and_tokens() -> None:
    with serving(200, claude_says("Two words.")) as server:
        answer = ask(server)
    assert answer.text == "Two words."
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (100, 20)
    ((path, headers, _),) = server.asked
    assert path == "/v1/messages"
    assert "test-key" in headers.get("x-api-key", headers.get("authorization", ""))


def test_a_form_is_filled_in() -> None:
    with serving(200, claude_fills()) as server:
        assert ask(server, FORM).filled == FILLED
    assert server.asked[0][2]["tool_choice"]["name"] == "add"


def test_a_cut_answer_and_a_refused_key_are_one_sentence() -> None:
    with serving(200, claude_says("half", "max_tokens")) as server, pytest.raises(ModelFailure) as cut:
        ask(server)
    assert cut.value.message == f"{CLAUDE} was cut off at 8,192 tokens."
    refusal = {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}
    with serving(401, [("", refusal)]) as server, pytest.raises(ModelFailure) as refused:
        ask(server)
    assert refused.value.message == f"{server.url.split('/')[2]} refused the key in ANTHROPIC_API_KEY."


def test_google_is_opened_with_its_key() -> None:
    pytest.importorskip("langchain_google_genai")
    settings = ModelSettings("google_genai:gemini-2.5-flash")
    with pytest.raises(BadInput, match="set GOOGLE_API_KEY in the environment"):
        ChatModel(settings, {})
    assert ChatModel(settings, {"GOOGLE_API_KEY": "test-key"}).chat is not None
