"""A report on steps that found nothing isn't asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_tui.commands.handler import CommandHandler
from hitl_tui.core.policy import Mode
from hitl_tui.core.todos import Status
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.session_registry import SessionRegistry

FOUND, ABSENT = "Find the parking rules and write a report", "Find the zygote frobnication and write a report"


@pytest.mark.parametrize(("query", "report"), [(FOUND, Status.WAITING_APPROVAL), (ABSENT, Status.SKIPPED)])
async def test_only_a_report_on_something_is_asked_for(tmp_path: Path, query: str, report: Status) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "house.md").write_text("# House\n\n## Parking rules\n\nCars park in the yard for two hours.\n")
    async with SessionRegistry.open(tmp_path / "data", {}) as registry:
        setup = await registry.create(query, folder, mode=Mode.STEP)
        async with open_session(registry.store, setup) as session:
            handler = CommandHandler(session, setup.planner, by="ann", channel="console", terminal=True)
            await session.settled()
            await handler.handle_command("/todo approve")
            last = (await session.settled()).todos[-1]
            assert (last.agent_name, last.status) == ("document_team", report)
            if report is Status.SKIPPED:
                assert last.metadata["skip_reason"] == "the steps before it found nothing"
                await handler.handle_command(f"/todo update {last.id} pending")
                assert (await session.settled()).todos[-1].status is Status.WAITING_APPROVAL, "a person wants it"
