"""Spans as they are told of, and whether somebody wants them: OpenTelemetry's own variables say so."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from hitl_tui.config.extras import install_command
from hitl_tui.core.messages import Message

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_SPOKEN = ("", "http/protobuf")

Attribute = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Span:
    """Something that took a while.

    Args:
        name: what it was.
        trace: id of its trace, 128 bits.
        id: of the span, 64 bits.
        parent: id of the span it is part of; 0 for none.
        began, ended: ISO 8601, UTC.
        attributes: what else is known of it, without values of secrets.
        failed: why it failed, in a sentence; empty where it didn't.
    """

    name: str
    trace: int
    id: int
    parent: int
    began: str
    ended: str
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    failed: str = ""


class SpanExport(Protocol):
    """Takes spans and sends them on, in the background."""

    def send(self, span: Span, done: Callable[[bool], None]) -> None:
        """Take a span; `done` is told whether it arrived, in a thread of its own."""
        ...

    def flush(self) -> None:
        """Wait until what was taken has arrived or can't; never longer than a moment."""
        ...


def wants_spans(environ: Mapping[str, str]) -> bool:
    """Return whether the environment names where spans go."""
    off = environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return not off and environ.get("OTEL_TRACES_EXPORTER", "").strip() != "none" and any(map(environ.get, _ENDPOINTS))


def why_unsent(environ: Mapping[str, str]) -> str:
    """Return why spans that are wanted can't be sent, one sentence; empty where they can."""
    protocol = next((environ[name].strip() for name in _PROTOCOLS if environ.get(name, "").strip()), "")
    if protocol not in _SPOKEN:
        return Message("No traces are sent: OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf, not {}.", protocol)
    try:
        import opentelemetry.exporter.otlp.proto.http.trace_exporter  # noqa: F401
    except ImportError:
        return Message("No traces are sent without OpenTelemetry; install it with: {}", install_command("traces"))
    return ""


def made_id(bits: int, *parts: object) -> int:
    """Return an id that is always the same for the same parts, and never 0."""
    made = hashlib.sha256("\0".join(map(str, parts)).encode()).digest()
    return int.from_bytes(made[: bits // 8]) or 1
