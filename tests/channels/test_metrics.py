"""Figures for Prometheus of a data folder."""

from __future__ import annotations

import asyncio
import urllib.request
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from hitl_tui.channels.metrics import ProcessFigures, metrics_at
from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.supervisor.session_registry import SessionRegistry


def scraped(port: int) -> dict[str, float]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        families = text_string_to_metric_families(answer.read().decode())
        return {one.name: one.value for family in families for one in family.samples}


async def test_figures_of_a_folder_are_told_and_what_cannot_be_read_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with SessionRegistry.open(tmp_path, {"HITL_AUDIT_KEY": ""}) as registry:
        figures = ProcessFigures(lambda: 3)
        async with metrics_at("127.0.0.1", 0, registry, figures) as port:
            figures.carried(2.0, failed=True)
            found = await asyncio.to_thread(scraped, port)
            assert (found["hitl_up"], found["hitl_requests_waiting"], found["hitl_sessions_open"]) == (1, 0, 3)
            assert (found["hitl_carry_seconds_sum"], found["hitl_carry_failures_total"]) == (2.0, 1)
            assert "hitl_queue_oldest_seconds" not in found
            with pytest.raises(BadInput, match="can't be used"):
                async with metrics_at("127.0.0.1", port, registry, ProcessFigures(lambda: 0)):
                    pass
        with pytest.raises(OSError, match="refused"):
            await asyncio.to_thread(scraped, port)

        async def away(now: str) -> None:
            raise StorageError("away")

        monkeypatch.setattr(registry.ledger, "figures", away)
        async with metrics_at("127.0.0.1", 0, registry, ProcessFigures(lambda: 0)) as port:
            assert (await asyncio.to_thread(scraped, port))["hitl_up"] == 0
