"""The inbox says in words what waits where, since when and until when (C3)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from console_support import RISE, TWO, Console, command_workspace, console
from textual.widgets import DataTable

from hitl_tui.commands.handler import CommandHandler
from hitl_tui.console.dialogs.inbox_dialog import InboxDialog
from hitl_tui.console.widgets.dialog_frame import Dialog
from hitl_tui.core.policy import Mode
from hitl_tui.core.requests import Verdict
from hitl_tui.core.todos import Status
from hitl_tui.ledger.records import RequestView
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.wording.question_rows import body

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
        await c.send("/mode plan")
        await c.send("also compute 3 + 4")
        await c.asked(2)
        await c.press("f3")
        await c.until(
            lambda: isinstance(c.app.screen, InboxDialog) and "The cap" in f"{lines(c)[:1]}", "the sessions' titles"
        )
        table = c.app.screen.query_one(DataTable)
        assert table.show_header
        assert [str(column.label) for column in table.ordered_columns] == ["session", "what it asks", "risk", "waits"]
        step, proposal = lines(c)
        assert step[0].startswith("→ s1 The cap") and step[1].startswith("Approve 002? ") and step[2] == "RISKY"
        assert proposal[1].startswith("Change the plan? also compute")
        assert step[3].startswith("for ")


async def test_its_risk_is_the_one_that_the_question_says(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE, size=(100, 40)) as c:
        await c.asked()
        await c.send("also write a report")
        await c.asked(2)
        asked = c.panel.questions[1]
        assert any("RISKY: changes things outside" in row.text.plain for row in body(asked, "6"))
        await c.press("f3")
        await c.until(lambda: isinstance(c.app.screen, InboxDialog) and len(lines(c)) == 2, "both lines")
        assert [risk for __, asks, risk, __ in lines(c) if asks.startswith("Change the plan?")] == ["RISKY"]


async def test_it_goes_on_while_it_is_open_and_the_cursor_stays_on_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hitl_tui.console.session_switcher._LOOK", 0.05)
    workspace, data = command_workspace(tmp_path / "w"), tmp_path / "d"
    async with console(data, workspace, query="The cap", mode="risk", size=(100, 30)) as c:
        await c.until(lambda: c.shown() and c.status("todo_001") == Status.COMPLETED, "the search")
        await c.press("f3")
        await c.until(lambda: isinstance(c.app.screen, InboxDialog) and c.app.screen.query(DataTable), "the inbox")
        inbox = c.app.screen
        await c.until(lambda: not inbox.query_one(DataTable).display, "that nothing waits")
        assert isinstance(inbox, InboxDialog)

        async with SessionRegistry.open(data) as bench:  # as another process has it
            setup = await bench.create("The cap", workspace, mode=Mode.STEP)
            async with open_session(bench.store, setup, "The cap") as session:
                seen = session.snapshot
                while not seen.questions:
                    seen = await session.changed(seen)
                await c.until(lambda: "The cap" in "".join(line[0] for line in lines(c)), "what another process asks")
                assert "Inbox · 1 open" in str(inbox.query_one(Dialog).border_title)

                handle = c.session.handle
                assert handle is not None
                await handle.handler.handle_command("/todo add command_team keep file=one")
                await c.until(lambda: len(lines(c)) == 2, "a second one")
                await c.press("down")
                at = lines(c)[1]
                handler = CommandHandler(
                    session, setup.planner, by="kim", channel="cli", terminal=True, admin=bench.admin
                )
                await handler.decide(seen.questions[0], Verdict.SKIP)
                await c.until(lambda: len(lines(c)) == 1, "the first one went")
                assert lines(c)[0][:3] == at[:3]
        when = lines(c)[0][3]
        await c.until(lambda: lines(c)[0][3] != when, "its time goes on")
        await c.press("f3")
        await c.until(lambda: c.app.screen is c.session, "the key that opened it closes it")


async def test_words_after_a_slash_leave_the_lines_that_have_them(tmp_path: Path) -> None:
    workspace = command_workspace(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk", size=(100, 30)) as c:
        await c.until(lambda: c.shown() and c.status("todo_001") == Status.COMPLETED, "the search")
        await c.send("/todo add command_team keep file=one")
        await c.asked(1)
        await c.send("/mode plan")
        await c.send("also compute 3 + 4")
        await c.asked(2)
        await c.press("f3")
        await c.until(lambda: isinstance(c.app.screen, InboxDialog) and len(lines(c)) == 2, "both")
        await c.press("slash", *"compute")
        await c.until(lambda: len(lines(c)) == 1, "the one with the word")
        assert "also compute" in lines(c)[0][1]
        assert "1 of 2" in str(c.app.screen.query_one(Dialog).border_title)
        await c.press(*"zq")
        await c.until(lambda: not lines(c), "that no line has it, and q was no key to close")
        await c.press("escape")
        await c.until(lambda: len(lines(c)) == 2, "all again")
        await c.press("slash", *"keep", "enter", "enter")
        await c.until(lambda: not isinstance(c.app.screen, InboxDialog), "the question")


async def test_the_inbox_is_there_at_once_and_what_comes_late_opens_nothing(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        read, gate = c.app.engine.requests, asyncio.Event()

        async def late(most: int) -> object:
            await gate.wait()
            return await read(most)

        c.app.engine.requests = late  # type: ignore[method-assign,assignment]
        await c.press("f3")
        await c.until(lambda: isinstance(c.app.screen, InboxDialog), "the inbox, while it is read")
        await c.press("escape", "x")
        gate.set()
        await c.pilot.pause(0.3)
        assert c.app.screen is c.session and c.prompt.text.endswith("x")
        await c.press("f3")
        await c.until(lambda: "1 open" in str(c.app.screen.query(".dialog").first().border_title), "what waits")


class _Read(InboxDialog):
    CSS_PATH = None
    views: Sequence[RequestView] = ()

    def on_mount(self) -> None:  # before that of the dialog, as when reading is quick
        self.take(self.views, len(self.views))


async def test_what_is_read_before_it_is_laid_out_is_shown(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        inbox = _Read(c.snapshot.session_id)
        inbox.views = await c.app.engine.requests()
        c.app.push_screen(inbox)
        await c.until(lambda: inbox.query(DataTable) and len(lines(c)) == 1, "what waits")
        assert "1 open" in str(inbox.query(".dialog").first().border_title)


@pytest.mark.parametrize("height", [8, 10, 14, 24])
async def test_the_line_at_the_cursor_is_seen_in_a_low_terminal(tmp_path: Path, height: int) -> None:
    async with console(tmp_path, query=TWO, size=(40, height)) as c:
        await c.asked(2)
        await c.press("f3")
        await c.until(lambda: isinstance(c.app.screen, InboxDialog) and len(lines(c)) == 2, "both questions")
        for key, words in (("down", "Approve 002"), ("up", "Approve 001")):
            await c.press(key)
            table = c.app.screen.query_one(DataTable)
            seen = ["".join(s.text for s in table.render_line(y)) for y in range(table.size.height)]
            assert any(words in line for line in seen), (height, seen)
