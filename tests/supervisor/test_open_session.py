"""A session that is open stays the same object when this process takes its owner's place."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from portable_support import QUERY, cleanup

from hitl_tui.commands.handler import CommandHandler
from hitl_tui.core.errors import OwnerGone
from hitl_tui.supervisor.activity import Activity
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.session_registry import SessionRegistry


async def test_who_followed_goes_on_in_its_owners_place(tmp_path: Path) -> None:
    data = tmp_path / "data"
    workspace, heard = cleanup(data), list[Activity]()
    async with SessionRegistry.open(data, {}) as one, SessionRegistry.open(data, {}) as two, AsyncExitStack() as stack:
        setup = await one.create(QUERY, workspace)
        async with open_session(one.store, setup) as owner:
            await owner.settled()
            session = await stack.enter_async_context(open_session(two.store, await two.setup("s1")))
            handler = CommandHandler(session, session.setup.planner, by="ann", channel="test", terminal=True)
            end = session.listen(heard.append)
            assert owner.owned and not session.owned and not session.alone
            assert not session.add_lines(["from elsewhere"])
            question = session.snapshot.questions[0].todo_id
            assert (await handler.handle_command(f"/todo approve {question}")).status == "recorded"
        seen = session.snapshot
        with pytest.raises(OwnerGone):
            while True:
                seen = await session.changed(seen)
        assert session.alone
        await session.take_over()
        assert session.owned and not session.alone and not session.unheard()
        assert session.add_lines(["written here"])
        assert heard[-1].text == "written here"
        end()
        assert session.add_lines(["nobody listens"])
        assert heard[-1].text == "written here"
        assert (await handler.handle_command("/mode plan")).status == "updated"
    async with SessionRegistry.open(data, {}) as again:
        assert not again.data.session("s1").is_owned()
