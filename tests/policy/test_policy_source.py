"""`FilePolicy`: whoever looks at a workspace knows then what holds, even while somebody else looks."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

from trusting import trust_workspace

from hitl_tui.config.workspace_files import WorkspaceFiles
from hitl_tui.policy.policy_source import FilePolicy
from hitl_tui.policy.trust_book import TrustBook
from hitl_tui.policy.workspace_trust import WorkspaceTrust
from hitl_tui.supervisor.session_registry import SessionRegistry

SETTINGS = '[teams.command_team.commands.mark]\ndescription = "Leave a mark"\nrun = ["touch", "mark"]\n'


class SlowlyJudged(FilePolicy):
    """A policy whose first judgement after it is opened waits until it is let go."""

    def __init__(self, workspace: Path, book: TrustBook) -> None:
        super().__init__(workspace, book)
        self.judging, self.let_go = threading.Event(), threading.Event()
        judge = book.judge

        def slowly(files: WorkspaceFiles) -> WorkspaceTrust:
            if not self.judging.is_set():
                self.judging.set()
                assert self.let_go.wait(60)
            return judge(files)

        book.judge = slowly  # type: ignore[method-assign]


async def test_a_look_beside_another_one_knows_what_that_one_found(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    workspace.mkdir()
    (workspace / "hitl.toml").write_text(SETTINGS, encoding="utf-8")
    async with SessionRegistry.open(tmp_path / "d", {}) as registry:
        await registry.trust.of(workspace)
        policy = SlowlyJudged(workspace, registry.trust)
        trust_workspace(tmp_path / "d", workspace)
        while not policy.judging.is_set():
            first = asyncio.create_task(policy.look())
            await asyncio.wait([first], timeout=0.3)  # the book looks at what others wrote a few times a second
        second = asyncio.create_task(policy.look())
        await asyncio.wait([second], timeout=1)
        policy.let_go.set()
        await second
        assert policy.trust.trusted and policy.renewable
        await first
