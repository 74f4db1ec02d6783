"""`/trust` in an open session: what was withheld works at once, and only a verified person says so (T4)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from people import verified
from trusting import trust_workspace

from hitl_tui.commands.handler import CommandHandler
from hitl_tui.core.errors import Refused
from hitl_tui.core.requests import Verdict
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.session import Session
from hitl_tui.supervisor.session_registry import SessionRegistry

SETTINGS = """
[teams.command_team.commands.mark]
description = "Leave a mark"
run = ["touch", "mark"]
risk = "{risk}"
"""
SECRET = '[secrets]\nnames = ["PASSWORD_OF_MARK"]\n'


class CommandedSession:
    """An open session of a workspace, and who acts on it."""

    def __init__(self, registry: SessionRegistry, session: Session, workspace: Path) -> None:
        self.registry, self.session, self.workspace = registry, session, workspace
        self.handler = self.person()

    def person(self, *, proven: bool = True) -> CommandHandler:
        planner, acting = self.session.setup.planner, verified("ann") if proven else None
        return CommandHandler(
            self.session, planner, by="ann", channel="test", admin=self.registry.admin, acting=acting, terminal=True
        )

    async def trusts(self) -> str:
        shown = await self.handler.handle_command("/trust")
        return (await self.handler.handle_command(f"/trust --digest {shown.data['digest']}")).message

    async def runs(self, line: str, path: str) -> None:
        """Add a step by a command, approve it, and wait until it did what it does."""
        added = await self.handler.handle_command(line)
        assert not added.failed, added.message
        todo_id, seen = added.data["todo_id"], self.session.snapshot
        while seen.raw[todo_id]["status"] != "completed":
            assert seen.raw[todo_id]["status"] != "failed", seen.raw[todo_id]["error"]
            if (question := seen.question_of(todo_id)) is not None:
                with suppress(Refused):  # it is asked anew once other rules hold
                    await self.handler.decide(question, Verdict.APPROVE)
            seen = await self.session.changed(seen)
        assert (self.workspace / path).exists()


@asynccontextmanager
async def commanded_session(root: Path, settings: str = "") -> AsyncIterator[CommandedSession]:
    workspace = root / "w"
    workspace.mkdir()
    (workspace / "cap.md").write_text("# Cap\n\nThe cap.\n", encoding="utf-8")
    (workspace / "hitl.toml").write_text(settings or SETTINGS.format(risk="high"), encoding="utf-8")
    async with SessionRegistry.open(root / "d", {"PASSWORD_OF_MARK": "a long password"}) as registry:
        setup = await registry.create("The cap", workspace, session_id="s1")
        async with open_session(registry.store, setup) as opened:
            session = opened.view
            assert isinstance(session, Session)
            made = CommandedSession(registry, session, workspace)
            await made.handler.handle_command("/todo approve")  # what comes after is asked once this is done
            yield made


async def test_what_was_withheld_works_at_once(tmp_path: Path) -> None:
    async with commanded_session(tmp_path) as d:
        refused = await d.handler.handle_command("/todo add command_team mark")
        assert "works only once this folder is trusted" in refused.message
        assert await d.trusts() == f"Trusted {d.workspace} as it is now."
        await d.runs("/todo add command_team mark", "mark")
        assert d.session.setup.commands.keys() == {"mark"}


async def test_trust_from_elsewhere_is_followed_too(tmp_path: Path) -> None:
    async with commanded_session(tmp_path) as d:
        trust_workspace(tmp_path / "d", d.workspace)
        while not d.session.setup.commands:
            assert await d.session.renew() == ""
        await d.runs("/todo add command_team mark", "mark")


async def test_settings_that_were_edited_and_trusted_hold_at_once(tmp_path: Path) -> None:
    async with commanded_session(tmp_path) as d:
        await d.trusts()
        file = d.workspace / "hitl.toml"
        file.write_text(SETTINGS.format(risk="low").replace('"mark"]', '"other"]'), encoding="utf-8")
        await d.trusts()
        await d.runs("/todo add command_team mark", "other")
        assert not (d.workspace / "mark").exists()


async def test_nobody_trusts_by_a_name_that_nothing_proves(tmp_path: Path) -> None:
    async with commanded_session(tmp_path) as d:
        digest = (await d.handler.handle_command("/trust")).data["digest"]
        refused = await d.person(proven=False).handle_command(f"/trust --digest {digest}")
        assert refused.failed and "only a verified person can trust a folder" in refused.message
        assert not (await d.registry.trust.of(d.workspace)).trusted


async def test_other_secrets_wait_until_the_session_is_opened_again(tmp_path: Path) -> None:
    async with commanded_session(tmp_path, SECRET + SETTINGS.format(risk="high")) as d:
        assert "open this session again" in await d.trusts()
        refused = await d.handler.handle_command("/todo add command_team mark")
        assert refused.failed
