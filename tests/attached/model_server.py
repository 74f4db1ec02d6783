"""A model server on loopback that speaks OpenAI's chat completions, for agents whose real client asks it.

What it says depends on the conversation alone: a process that was killed and asks again hears the same. The name of the
model chooses who speaks; `SPEAKERS` has them.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Messages = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Says:
    """What a model answers.

    Args:
        text: its words.
        calls: tools it calls, by name and arguments.
    """

    text: str = ""
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()


Speaker = Callable[[Messages], Says]


def since_asked(messages: Messages) -> list[Mapping[str, Any]]:
    """Return what came after the last thing that a person said."""
    last = max((n for n, m in enumerate(messages) if m["role"] == "user"), default=-1)
    return list(messages[last + 1 :])


def heard(messages: Messages) -> list[str]:
    """Return what tools answered since a person spoke last."""
    return [str(m["content"]) for m in since_asked(messages) if m["role"] == "tool"]


def clerk(messages: Messages) -> Says:
    """Sends one mail, then says what came of it."""
    if not heard(messages):
        mail = {"to": "alice@example.com", "subject": "Meeting", "body": "It is at ten."}
        return Says(calls=(("send_email", mail),))
    return Says(f"Done: {heard(messages)[-1]}")


def operator(messages: Messages) -> Says:
    """Wants two dangerous things and a harmless one at once, then says what came of them."""
    if not heard(messages):
        return Says(
            "I will look, delete and write.",
            (
                ("read_data", {"table": "people"}),
                ("execute_sql", {"query": "DELETE FROM people WHERE age > 90"}),
                ("write_note", {"name": "notes.txt", "content": "cleaned"}),
            ),
        )
    return Says("Came of it: " + " | ".join(heard(messages)))


def chief(messages: Messages) -> Says:
    """Hands a job to one agent, then to another, then sums up."""
    handed = [m for m in since_asked(messages) if m["role"] == "assistant" and m.get("tool_calls")]
    names = [c["function"]["name"] for m in handed for c in m["tool_calls"]]
    for step in ("transfer_to_researcher", "transfer_to_payer"):
        if step not in names:
            return Says(calls=((step, {}),))
    return Says("Researched and paid.")


def researcher(messages: Messages) -> Says:
    """Looks the price up, then says it."""
    found = [h for h in heard(messages) if h.startswith("price")]
    return Says(f"It is the {found[-1]}.") if found else Says(calls=(("look_up", {"what": "desk"}),))


def payer(messages: Messages) -> Says:
    """Pays once, then says so."""
    found = [h for h in heard(messages) if "paid" in h or "rejected" in h]
    return Says(f"So: {found[-1]}") if found else Says(calls=(("pay", {"amount": 120, "to": "desk shop"}),))


def deep(messages: Messages) -> Says:
    """Plans, writes a file, sends it, and reports: one tool after the other."""
    done = len(heard(messages))
    steps: list[tuple[str, Mapping[str, Any]]] = [
        ("write_todos", {"todos": [{"content": "write and send", "status": "in_progress"}]}),
        ("write_file", {"file_path": "/report.md", "content": "# Report\n\nAll is well.\n"}),
        ("send_report", {"to": "board@example.com", "text": "All is well."}),
    ]
    if done < len(steps):
        return Says(calls=(steps[done],))
    return Says(f"Finished: {heard(messages)[-1]}")


SPEAKERS: Mapping[str, Speaker] = {f.__name__: f for f in (clerk, operator, chief, researcher, payer, deep)}


@dataclass
class ModelServer:
    """The server.

    Args:
        url: what clients call their base URL.
        asked: names of models in the order they were asked.
    """

    url: str
    asked: list[str] = field(default_factory=list)

    @property
    def environ(self) -> dict[str, str]:
        """What a process that is to speak with it needs."""
        return {"OPENAI_BASE_URL": self.url, "OPENAI_API_BASE": self.url, "OPENAI_API_KEY": "none"}


def completion(path: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return OpenAI's document for what a model says.

    Raises:
        ValueError, KeyError: it isn't asked for a plain chat completion of a model it has.
    """
    if path != "/v1/chat/completions" or body.get("stream"):
        raise ValueError(f"only plain chat completions are served, not {path}")
    messages: Messages = body["messages"]
    said = SPEAKERS[body["model"]](messages)
    offered = {tool["function"]["name"] for tool in body.get("tools") or ()}
    unknown = [name for name, _ in said.calls if name not in offered]
    if unknown:
        raise ValueError(f"{body['model']} was not offered the tool {unknown[0]}")
    turn = sum(m["role"] == "assistant" for m in messages)
    calls = [
        {"id": f"call_{body['model']}_{turn}_{n}", "type": "function",
         "function": {"name": name, "arguments": json.dumps(arguments)}}
        for n, (name, arguments) in enumerate(said.calls)
    ]  # fmt: skip
    message = {"role": "assistant", "content": said.text or None, **({"tool_calls": calls} if calls else {})}
    return {
        "id": f"chatcmpl-{turn}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """Serve on a free port of loopback."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, found = 200, {}
            try:
                asked.append(body["model"])
                found = completion(self.path, body)
            except (KeyError, ValueError, TypeError) as error:
                status, found = 400, {"error": {"message": str(error), "type": "invalid_request_error"}}
            data = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Quiet: what was asked is in `asked`."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield ModelServer(f"http://127.0.0.1:{server.server_port}/v1", asked)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
