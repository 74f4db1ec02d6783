"""`OtlpExport`: sends spans by OpenTelemetry's SDK; loaded only where the environment names an endpoint."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import datetime
from threading import Lock, Thread

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from hitl_tui.tracing.spans import Span
from hitl_tui.version import __version__

PATIENCE = 2.0
"""Seconds that the end of a session waits for spans to arrive."""
_AGAIN = 0.2
"""The same once they didn't."""
_DELAY = 1000
"""Milliseconds that spans are gathered for, unless OTEL_BSP_SCHEDULE_DELAY says it."""


class _GivenIds(IdGenerator):
    """The ids of the span that is made now."""

    trace, span = 1, 1

    def generate_trace_id(self) -> int:
        return self.trace

    def generate_span_id(self) -> int:
        return self.span


class _Telling(SpanExporter):
    """Exports as another one does, and tells of each span whether it arrived."""

    def __init__(self, exporter: SpanExporter, tell: Callable[[int, bool], None]) -> None:
        self._exporter = exporter
        self._tell = tell

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._exporter.export(spans)
        for span in spans:
            if span.context is not None:
                self._tell(span.context.span_id, result is SpanExportResult.SUCCESS)
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()


class OtlpExport:
    """See `spans.SpanExport`. What OpenTelemetry's variables say besides (headers, service, sampler) holds, too."""

    def __init__(self) -> None:
        named = "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "") or os.environ.get("OTEL_SERVICE_NAME")
        about = {SERVICE_VERSION: __version__, **({} if named else {SERVICE_NAME: "hitl-tui"})}
        self._ids, self._lock = _GivenIds(), Lock()
        self._waiting: dict[int, Callable[[bool], None]] = {}
        self._patience = PATIENCE
        self._provider = TracerProvider(resource=Resource.create(about), id_generator=self._ids, shutdown_on_exit=False)
        delay = None if os.environ.get("OTEL_BSP_SCHEDULE_DELAY") else _DELAY
        exporter = _Telling(OTLPSpanExporter(), self._arrived)
        self._provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=delay))
        self._tracer = self._provider.get_tracer("hitl_tui", __version__)

    def send(self, span: Span, done: Callable[[bool], None]) -> None:
        context = Context()
        if span.parent:
            above = SpanContext(span.trace, span.parent, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))
            context = set_span_in_context(NonRecordingSpan(above), context)
        with self._lock:
            self._ids.trace, self._ids.span = span.trace, span.id
            self._waiting[span.id] = done
            made = self._tracer.start_span(
                span.name, context, attributes=dict(span.attributes), start_time=_nanoseconds(span.began)
            )
        if span.failed:
            made.set_status(Status(StatusCode.ERROR, span.failed))
        made.end(_nanoseconds(span.ended))

    def _arrived(self, span_id: int, arrived: bool) -> None:
        done = self._waiting.pop(span_id, None)
        if done is not None:
            done(arrived)

    def flush(self) -> None:
        # The SDK's own waits as long as the exporter does, however long it may.
        flushing = Thread(target=self._provider.force_flush, name="flush of spans", daemon=True)
        flushing.start()
        flushing.join(self._patience)
        self._patience = _AGAIN if flushing.is_alive() else PATIENCE


def _nanoseconds(at: str) -> int:
    return int(datetime.fromisoformat(at).timestamp() * 1_000_000) * 1000
