"""`/rename`, `/export`, `/fork`: the session that is open, kept in order from its own prompt (C8)."""

from __future__ import annotations

from pathlib import Path

from hitl_tui.commands.handler import CommandHandler
from hitl_tui.config.declared_graphs import GraphDeclaration
from hitl_tui.config.starters import new_copy, starters
from hitl_tui.ledger.approval_log import logged_decisions
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.wording.decision_rows import decision_cells
from hitl_tui.wording.history_rows import checkpoint_cells


async def test_a_session_is_renamed_exported_and_forked_from_its_own_prompt(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "notes.md").write_text("The cap is 5 percent a year.\n", encoding="utf-8")
    async with SessionRegistry.open(tmp_path / "data", {}) as registry:
        setup = await registry.create("Find the cap.", workspace)
        async with open_session(registry.store, setup) as session:
            await session.settled()
            handler = CommandHandler(
                session, setup.planner, by="ann", channel="test", terminal=True, admin=registry.admin
            )
            renamed = await handler.handle_command("/rename The  cap")
            assert (renamed.status, renamed.data["title"]) == ("renamed", "The cap")
            assert registry.data.session("s1").info().title == "The cap"
            target = tmp_path / "cap.hitl"
            exported = await handler.handle_command(f"/export {target}")
            assert exported.data["size"] == target.stat().st_size
            again = await handler.handle_command(f"/export {target}")
            assert again.failed and target.stat().st_size == exported.data["size"]
            forked = await handler.handle_command("/fork")
            assert forked.data["session_id"] == "s2"
            assert [s.title for s in await registry.admin.sessions()] == ["The cap", "The cap (fork of s1)"]
            empty = await handler.handle_command("/rename")
            assert empty.failed
            alone = CommandHandler(session, setup.planner, by="ann", channel="test", terminal=True)
            assert (await alone.handle_command("/fork")).failed


async def test_a_fork_tells_where_it_comes_from_and_who_decided_there(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "notes.md").write_text("The cap is 5 percent a year.\n", encoding="utf-8")
    async with SessionRegistry.open(tmp_path / "data", {}) as registry:
        setup = await registry.create("Find the cap.", workspace)
        async with open_session(registry.store, setup) as session:
            await session.settled()
            handler = CommandHandler(
                session, setup.planner, by="ann", channel="test", terminal=True, admin=registry.admin
            )
            await handler.handle_command("/todo approve 1")
            while not session.snapshot.concluded:
                await session.changed(session.snapshot)
            await handler.handle_command("/fork")
            await handler.handle_command("/checkpoint restore 5")
            await session.settled()
            number = (await registry.ledger.entries("s2", 0, 1))[0].data["origin"]["number"]
        fork = await registry.setup("s2")
        async with open_session(registry.store, fork) as session:
            await session.settled()
            listed = await CommandHandler(
                session, fork.planner, by="ann", channel="test", terminal=True
            ).handle_command("/checkpoint list --limit 50")
        told = [cells[2] for row in listed.data["checkpoints"] if (cells := checkpoint_cells(row))]
        assert f"forked from s1, checkpoint {number}" in told and "approved 001 by ann" in told
        assert not any("fork" in words for words in told if "from s1" not in words)
        ledger = registry.ledger
        lines = [decision_cells(d.to_dict())[1:] for name in ("s1", "s2") for d in await logged_decisions(ledger, name)]
    assert [line[-1] for line in lines[1:]] == ["went back to checkpoint 5", f"forked from s1, checkpoint {number}"]
    assert {line[0] for line in lines} == {"ann (test)"}


async def test_sessions_are_listed_imported_and_deleted_by_command_and_never_the_one_in_use(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "notes.md").write_text("The cap is 5 percent a year.\n", encoding="utf-8")
    file = tmp_path / "cap.hitl"
    async with SessionRegistry.open(tmp_path / "data", {}) as registry:
        setup = await registry.create("Find the cap.", workspace)
        async with open_session(registry.store, setup) as session:
            await session.settled()
            handler = CommandHandler(
                session, setup.planner, by="ann", channel="test", terminal=True, admin=registry.admin
            )
            await handler.handle_command(f"/export {file}")
            imported = await handler.handle_command(f"/import {file}")
            assert (imported.status, imported.data["session_id"]) == ("imported", "s2")
            listed = await handler.handle_command("/sessions CAP waiting")
            assert [s["session_id"] for s in listed.data["sessions"]] == ["s1", "s2"]
            assert (await handler.handle_command("/sessions nowhere")).data["sessions"] == []
            shown = await handler.handle_command("/delete s2")
            assert shown.status == "ok" and "Nothing was deleted" in shown.message
            assert (await handler.handle_command("/delete s2 s1")).failed
            assert registry.data.ids() == ["s1", "s2"]
            assert (await handler.handle_command("/delete s2 s2")).status == "deleted"
            assert (await handler.handle_command("/delete s1 s1")).failed
            assert (await handler.handle_command("/delete s2 s2")).failed
    assert registry.data.ids() == ["s1"] and file.exists()


async def test_the_copies_that_only_a_session_goes_on_in_go_with_it(tmp_path: Path) -> None:
    workspace, copies = tmp_path / "workspace", tmp_path / "data" / "copies"
    workspace.mkdir()
    (workspace / "notes.md").write_text("The cap is 5 percent a year.\n", encoding="utf-8")
    outside = tmp_path / "theirs.db"
    async with SessionRegistry.open(tmp_path / "data", {}) as registry:
        copies.mkdir()
        kept = [copies / name for name in ("own.db", "own.db-wal", "shared.db", "other.db")]
        for path in (*kept, outside):
            path.write_bytes(b"x")
        used = {"s1": ("own.db", "shared.db"), "s2": ("shared.db",)}
        for name, files in used.items():
            await registry.create("Find the cap.", workspace)
            savers = [str(copies / f) for f in files] + ([str(outside), "postgresql://h/d"] if name == "s1" else [])
            graphs = [GraphDeclaration(f"g{n}", "a.py:graph", str(workspace), saver=s) for n, s in enumerate(savers)]
            registry.data.session(name).write_graphs(graphs)
        assert (await registry.admin.removal("s1")).copies == (copies / "own.db",)
        await registry.admin.delete("s1")
        assert sorted(p.name for p in copies.iterdir()) == ["other.db", "shared.db"]
        await registry.admin.delete("s2")
        assert [p.name for p in copies.iterdir()] == ["other.db"]
    assert outside.exists()


async def test_a_starter_is_reset_from_its_session_and_nothing_else_is(tmp_path: Path) -> None:
    data = tmp_path / "data"
    copy = new_copy(next(s for s in starters("en") if s.key == "lease"), data)
    own = tmp_path / "own"
    own.mkdir()
    async with SessionRegistry.open(data, {}) as registry:
        for folder, status in ((copy, "reset"), (own, "error")):
            (folder / "README.md").write_text("changed", encoding="utf-8")
            setup = await registry.create("Find the cap.", folder)
            async with open_session(registry.store, setup) as session:
                before = await session.settled()
                handler = CommandHandler(
                    session, setup.planner, by="ann", channel="test", terminal=True, admin=registry.admin
                )
                result = await handler.handle_command("/reset")
                assert result.failed is (status == "error"), result.message
                assert session.snapshot.todos == before.todos, "the plan stays"
    assert (copy / "README.md").read_text(encoding="utf-8") != "changed"
    assert (own / "README.md").read_text(encoding="utf-8") == "changed"
