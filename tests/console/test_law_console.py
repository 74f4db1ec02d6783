"""hitl.toml is edited while the console is open: what is wrong with it is said once, and the question stays (M9)."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import COMMANDS, command_workspace, console
from people import write_approvers

from hitl_tui.policy.operator_identity import Operator

pytestmark = pytest.mark.long

TWO = '[[policy]]\nteam = "command_team"\ndecision = "ask"\nquorum = 2\n'


async def test_a_file_that_breaks_is_named_and_what_it_says_afterwards_holds(tmp_path: Path) -> None:
    work = tmp_path / "w"
    command_workspace(work)
    write_approvers(tmp_path / "d", "bob")
    async with console(tmp_path / "d", work, query="The cap", operator=Operator(tmp_path / "d", "ops")) as c:
        await c.asked()
        await c.send("/todo skip 1")
        await c.until(lambda: not c.panel.questions, "it is skipped")
        await c.send("/todo add command_team keep")
        await c.asked()
        question = c.panel.questions[0]
        (work / "hitl.toml").write_text(COMMANDS + '[[policy]]\nquorum = "two"\n', encoding="utf-8")
        c.clock.rest(6.0)  # what they did themselves is said first
        await c.until(lambda: "hitl.toml line 8" in c.message, "it is named with its line")
        await c.send(f"/todo approve {question.todo_id}")
        await c.until(lambda: "hitl.toml line 8" in c.message, "it can't be approved")
        assert [q.id for q in c.panel.questions] == [question.id]
        (work / "hitl.toml").write_text(COMMANDS + TWO, encoding="utf-8")
        await c.until(lambda: c.panel.questions and c.panel.questions[0].id != question.id, "it asks anew")
        assert c.panel.questions[0].view.request.terms.quorum == 2
        await c.send(f"/todo approve {question.todo_id}")
        await c.until(lambda: "1 more" in c.message, "another one has to approve")
        assert not (work / "made").exists()
