"""LangGraph's own conformance suite for savers, with the one that sessions in a database are written through."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from langgraph.checkpoint.conformance import checkpointer_test, validate
from postgres_server import PostgresServer

from hitl_tui.ledger.postgres_ledger import PostgresLedger
from hitl_tui.supervisor.postgres_checkpoints import DatabaseSaver, saver_of

pytestmark = pytest.mark.long


async def test_the_saver_as_it_is_opened_keeps_langgraphs_contract(postgres: PostgresServer) -> None:
    @checkpointer_test(name="DatabaseSaver")
    async def opened() -> AsyncIterator[DatabaseSaver]:
        with postgres.database() as address:
            async with PostgresLedger.open(address):
                pass
            async with saver_of(address) as saver:
                await saver.prepare()
                yield saver

    report = await validate(opened)
    report.print_report()
    assert report.passed_all_base()
