"""The inbox says in words what waits where, since when and until when (C3)."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import Console, command_workspace, console
from textual.widgets import DataTable

from hitl_tui.console.screens.inbox import Inbox
from hitl_tui.core.todos import Status

pytestmark = pytest.mark.long


def lines(c: Console) -> list[list[str]]:
    table = c.app.screen.query_one(DataTable)
    return [[str(cell).strip() for cell in table.get_row_at(n)] for n in range(table.row_count)]


async def test_each_line_has_session_question_risk_and_age(tmp_path: Path) -> None:
    workspace = command_workspace(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk", size=(100, 30)) as c:
        await c.until(lambda: c.shown() and c.status("todo_001") == Status.COMPLETED, "the search")
        await c.send("/todo add command_team keep file=one")
        await c.asked(1)
        await c.send("also compute 3 + 4")
        await c.asked(2)
        await c.press("f3")
        await c.until(lambda: isinstance(c.app.screen, Inbox) and "The cap" in lines(c)[0][0], "the sessions' titles")
        table = c.app.screen.query_one(DataTable)
        assert table.show_header
        assert [str(column.label) for column in table.ordered_columns] == ["session", "what it asks", "risk", "waits"]
        step, proposal = lines(c)
        assert step[0].startswith("→ s1 The cap") and step[1].startswith("002 may it run? ") and step[2] == "RISKY"
        assert proposal[1].startswith("may the plan change? also comp")
        assert step[3].startswith("for ")
