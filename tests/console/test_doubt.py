"""Whether something happened: what helps to decide that comes first (D12)."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import command_workspace, console

from hitl_tui.console.dialogs.prompt_dialogs import ConfirmDialog
from hitl_tui.console.widgets.action_bar import Place
from hitl_tui.console.widgets.virtual_rows import Rows
from hitl_tui.core.requests import Kind
from hitl_tui.core.todos import Status

pytestmark = pytest.mark.long


async def test_a_doubt_shows_what_ran_when_and_what_it_put_out(tmp_path: Path) -> None:
    workspace = command_workspace(tmp_path / "w")
    path = workspace / "hitl.toml"
    path.write_text(path.read_text(encoding="utf-8").replace('"touch", ', '"echo", "made", '), encoding="utf-8")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await c.until(lambda: c.shown() and c.status("todo_001") == Status.COMPLETED, "the search")
        await c.send("/todo add command_team keep file=one")
        await c.asked(1)
        assert c.session.handle is not None
        before = (await c.session.handle.session.checkpoints(1))[0]
        await c.send("/todo approve 2")
        await c.until(lambda: c.status("todo_002") == Status.COMPLETED, "the command")
        await c.send(f"/checkpoint restore {before.checkpoint_id}")
        await c.until(lambda: isinstance(c.app.screen, ConfirmDialog), "the preview")
        c.clock.rest()
        await c.press("1")
        await c.until(lambda: c.snapshot.branch == 1, "restored")
        await c.asked(1)
        await c.send("/todo approve 2")
        await c.until(lambda: c.panel.question and c.panel.question.kind is Kind.EFFECT, "the doubt")
        await c.until(lambda: c.panel.question and c.panel.question.view.evidence, "what is known of the first run")
        rows = [(r.label, r.text.plain) for r in c.panel.query_one(Rows).rows]
        labels = [label for label, __ in rows]
        assert ("ran", "echo made one") in rows and any("made one" in text for label, text in rows if not label)
        assert labels.index("RAN BEFORE") < labels.index("ran") < labels.index("began") < labels.index("put out")
        assert "ended" in labels and "key" not in labels, "keys of the record are among the details"
        assert [str(p.render()) for p in c.panel.query(Place)][:5] == [
            "1 Use as done", "– Edit", "3 Reject", "– Skip", "5 Do again",
        ]  # fmt: skip
