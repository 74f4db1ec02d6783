"""Figures for Prometheus: of the record and its queue, read when they are asked for, and of this process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import datetime

from prometheus_client import CollectorRegistry, Counter, Histogram, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from hitl_tui.core.errors import BadInput, HitlError
from hitl_tui.core.messages import Message
from hitl_tui.supervisor.session_registry import SessionRegistry

FRESH = 5.0
"""Seconds for which the figures of the record are good: they count all of it."""
_PATIENCE = 10.0

METRICS = {
    "hitl_up": "1 while the record can be read",
    "hitl_requests_waiting": "requests that wait for a decision, of all sessions",
    "hitl_request_oldest_seconds": "for how long the first of them waits",
    "hitl_requests_ended_total": "requests that ended, by outcome: approved, rejected, expired, superseded, …",
    "hitl_decisions_total": "decisions on record",
    "hitl_effects": "effects on record, by status: started (also those whose end nobody knows), done, failed",
    "hitl_queue_jobs": "jobs of a database's queue, by status: todo, doing",
    "hitl_queue_jobs_again": "jobs that wait for another try, since the session couldn't go on",
    "hitl_queue_oldest_seconds": "for how long the first job waits that a worker could take",
    "hitl_workers": "workers of a database that gave a sign of life",
    "hitl_sessions_open": "sessions that this worker has open, or jobs of this serve that aren't finished",
    "hitl_carry_seconds": "histogram: seconds from opening a session until it rests, in this process",
    "hitl_carry_failures_total": "how often a session couldn't go on, in this process",
}
"""What is told, with its meaning."""


class ProcessFigures:
    """What this process does, counted as it happens.

    Args:
        open_now: returns how many sessions are open here.
    """

    def __init__(self, open_now: Callable[[], int]) -> None:
        self.open_now = open_now
        self.collected = CollectorRegistry()
        seconds, failures = "hitl_carry_seconds", "hitl_carry_failures"
        self._seconds = Histogram(
            seconds, METRICS[seconds], buckets=(0.1, 0.5, 1, 5, 15, 60, 300, 1800), registry=self.collected
        )
        self._failures = Counter(failures, METRICS[f"{failures}_total"], registry=self.collected)

    def carried(self, seconds: float, *, failed: bool) -> None:
        """Count that a session was open until it rested, or couldn't go on."""
        self._seconds.observe(seconds)
        if failed:
            self._failures.inc()


class _Record(Collector):
    """What is on record, and queued; asked on a thread of the server's.

    Args:
        registry: the sessions.
        loop: where the record is read.
        figures: of this process.
    """

    def __init__(self, registry: SessionRegistry, loop: asyncio.AbstractEventLoop, figures: ProcessFigures) -> None:
        self._registry = registry
        self._loop = loop
        self._figures = figures
        self._read: list[Metric] = []
        self._at = float("-inf")

    def describe(self) -> Iterator[Metric]:
        """Nothing is read before somebody asks."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """Yield the figures as they are now, or were a moment ago."""
        if time.monotonic() - self._at > FRESH:
            try:
                reading = asyncio.run_coroutine_threadsafe(self._measured(), self._loop)
                self._read = [_gauge("hitl_up", 1), *reading.result(_PATIENCE)]
                self._at = time.monotonic()
            except (HitlError, TimeoutError, RuntimeError):
                self._read = [_gauge("hitl_up", 0)]
        yield from self._read
        yield _gauge("hitl_sessions_open", self._figures.open_now())

    async def _measured(self) -> list[Metric]:
        registry, now = self._registry, self._registry.now()
        record = await registry.ledger.figures(now)
        age = 0.0
        if record.oldest:
            age = (datetime.fromisoformat(now) - datetime.fromisoformat(record.oldest)).total_seconds()
        ended = CounterMetricFamily("hitl_requests_ended", METRICS["hitl_requests_ended_total"], labels=["outcome"])
        for outcome, count in record.settled.items():
            ended.add_metric([outcome], count)
        effects = GaugeMetricFamily("hitl_effects", METRICS["hitl_effects"], labels=["status"])
        for status in ("started", "done", "failed"):
            effects.add_metric([status], record.effects.get(status, 0))
        found: list[Metric] = [
            _gauge("hitl_requests_waiting", record.waiting),
            _gauge("hitl_request_oldest_seconds", max(0.0, age)),
            CounterMetricFamily("hitl_decisions", METRICS["hitl_decisions_total"], value=record.decisions),
            ended,
            effects,
        ]
        queue = await asyncio.to_thread(registry.data.queue_figures)
        if queue is not None:
            jobs = GaugeMetricFamily("hitl_queue_jobs", METRICS["hitl_queue_jobs"], labels=["status"])
            jobs.add_metric(["todo"], queue.todo)
            jobs.add_metric(["doing"], queue.doing)
            found += [
                jobs,
                _gauge("hitl_queue_jobs_again", queue.again),
                _gauge("hitl_queue_oldest_seconds", queue.oldest),
                _gauge("hitl_workers", queue.workers),
            ]
        return found


def _gauge(name: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, METRICS[name], value=value)


@asynccontextmanager
async def metrics_at(host: str, port: int, registry: SessionRegistry, figures: ProcessFigures) -> AsyncIterator[int]:
    """Tell figures over HTTP while the block lasts; yields the port.

    Args:
        host, port: where; port 0 takes a free one.
        registry: whose record they are of.
        figures: of this process.

    Raises:
        BadInput: nothing can listen there.
    """
    figures.collected.register(_Record(registry, asyncio.get_running_loop(), figures))
    try:
        server, thread = start_http_server(port, addr=host, registry=figures.collected)
    except OSError as error:
        why = error.strerror or error
        raise BadInput(
            Message("Port {} of {} can't be used ({}); port 0 picks a free one.", port, host, why)
        ) from error
    try:
        yield int(server.server_port)
    finally:
        await asyncio.to_thread(server.shutdown)
        server.server_close()
        await asyncio.to_thread(thread.join)
