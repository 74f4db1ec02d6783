"""A collector on loopback: takes OpenTelemetry's spans over HTTP, as protobuf."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

PATIENCE = 20.0


@dataclass(frozen=True)
class Seen:
    """One span as it came."""

    name: str
    trace: str
    id: str
    parent: str
    began: int
    ended: int
    about: Mapping[str, Any]
    error: str
    service: str


@dataclass
class Receiver:
    """The collector.

    Args:
        url: its base.
        spans: what came, in order.
        raw: the bodies, as they came.
        status: what it answers.
    """

    url: str
    spans: list[Seen] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    status: int = 200

    def named(self, name: str) -> list[Seen]:
        return [span for span in self.spans if span.name == name]

    def one(self, name: str) -> Seen:
        (found,) = self.named(name)
        return found

    def until(self, condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, sorted(span.name for span in self.spans)
            time.sleep(0.05)

    def take(self, body: bytes) -> None:
        self.raw.append(body)
        request = ExportTraceServiceRequest.FromString(body)
        for resource in request.resource_spans:
            about = {a.key: a.value.string_value for a in resource.resource.attributes}
            for scope in resource.scope_spans:
                for span in scope.spans:
                    told = {a.key: getattr(a.value, a.value.WhichOneof("value")) for a in span.attributes}
                    made = Seen(
                        span.name,
                        span.trace_id.hex(),
                        span.span_id.hex(),
                        span.parent_span_id.hex(),
                        span.start_time_unix_nano,
                        span.end_time_unix_nano,
                        told,
                        span.status.message,
                        about.get("service.name", ""),
                    )
                    self.spans.append(made)


@contextmanager
def otlp_receiver() -> Iterator[Receiver]:
    """Serve on a free port of loopback."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if receiver.status == 200:
                receiver.take(body)
            self.send_response(receiver.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Quiet: what came is in `spans`."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver = Receiver(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
