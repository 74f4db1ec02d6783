"""`/rename`, `/export`, `/fork`: the session that is open, kept in order from its own prompt (C8)."""

from __future__ import annotations

from pathlib import Path

from hitl_tui.commands.handler import CommandHandler
from hitl_tui.supervisor.workbench import Workbench


async def test_a_session_is_renamed_exported_and_forked_from_its_own_prompt(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "notes.md").write_text("The cap is 5 percent a year.\n", encoding="utf-8")
    async with Workbench.open(tmp_path / "data", {}) as bench:
        setup = await bench.create("Find the cap.", workspace)
        async with bench.session(setup) as session:
            await session.settled()
            handler = CommandHandler(session, setup.planner, by="ann", channel="test", keeper=bench)
            renamed = await handler.handle("/rename The  cap")
            assert (renamed.status, renamed.data["title"]) == ("renamed", "The cap")
            assert bench.data.session("s1").info().title == "The cap"
            target = tmp_path / "cap.hitl"
            exported = await handler.handle(f"/export {target}")
            assert exported.data["size"] == target.stat().st_size
            again = await handler.handle(f"/export {target}")
            assert again.failed and target.stat().st_size == exported.data["size"]
            forked = await handler.handle("/fork")
            assert forked.data["session_id"] == "s2"
            assert [s.title for s in await bench.sessions()] == ["The cap", "The cap"]
            empty = await handler.handle("/rename")
            assert empty.failed
            alone = CommandHandler(session, setup.planner, by="ann", channel="test")
            assert (await alone.handle("/fork")).failed
