"""Questions that change while somebody is at work on them: an edited one, and one that a typed command would take."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from console_support import command_workspace, console
from test_known_failures import burst

from hitl_tui.console.dialogs.text_viewer import TextViewer
from hitl_tui.core.requests import Verdict
from hitl_tui.supervisor.snapshot import Snapshot


@pytest.mark.long
async def test_no_moment_shows_another_question_in_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with console(tmp_path / "d", command_workspace(tmp_path / "w"), query="The cap", mode="risk") as c:
        await c.until(lambda: c.shown() and c.snapshot.concluded, "the search")
        await c.send("/todo add command_team keep file=one")
        await c.asked(1)
        first = c.panel.questions[0].todo_id
        handle = c.session.handle
        assert handle is not None
        ledger, asking = handle.setup.ledger, asyncio.Event()
        attach, request, supersede = ledger.attach_evidence, ledger.request, ledger.supersede

        async def attach_late(*given: Any) -> None:
            await asking.wait()
            await attach(*given)

        async def request_slowly(request_id: str, *given: Any) -> Any:
            found = await request(request_id, *given)
            if asking.is_set():
                await asyncio.sleep(0.2)
            return found

        async def supersede_meanwhile(*given: Any) -> Any:
            asking.set()  # the preview of the other one ends just now
            await asyncio.sleep(0.05)
            return await supersede(*given)

        monkeypatch.setattr(ledger, "attach_evidence", attach_late)
        await c.send("/todo add command_team keep file=two")
        await c.asked(2)
        monkeypatch.setattr(ledger, "request", request_slowly)
        monkeypatch.setattr(ledger, "supersede", supersede_meanwhile)
        seen: list[Snapshot] = [c.snapshot]

        async def watch() -> None:
            while True:
                seen.append(await handle.session.changed(seen[-1]))

        watching = asyncio.create_task(watch())
        old = c.panel.questions[0].id
        await c.send(f"/todo edit {first} file=three")
        await c.until(lambda: c.panel.question and c.panel.question.id != old, "asked anew")
        watching.cancel()
        assert c.panel.question and c.panel.question.todo_id == first
        assert all(s.question_of(first) for s in seen), "in between only the other one was asked"


@pytest.mark.long
async def test_a_typed_approval_takes_no_question_that_came_while_it_was_typed(tmp_path: Path) -> None:
    async with console(tmp_path / "d", command_workspace(tmp_path / "w"), query="The cap", mode="risk") as c:
        await c.until(lambda: c.shown() and c.snapshot.concluded, "the search")
        await c.send("/todo add command_team keep file=one")
        await c.asked(1)
        first = c.panel.questions[0]
        c.prompt.focus()
        await c.press(*"/todo approve"[:12])
        handle = c.session.handle
        assert handle is not None
        await handle.handler.decide(first, Verdict.REJECT)
        await handle.handler.handle_command("/todo add command_team keep file=two")
        await c.until(lambda: [q.todo_id for q in c.panel.questions] == ["todo_003"], "the next question")
        await c.press("e", "enter")
        await c.until(lambda: "003 was asked after you began that line" in c.message, "the refusal")
        assert c.status("todo_003") == "waiting_approval"
        await c.press("up", "enter")  # begun anew, with the question on the screen
        await c.until(lambda: c.status("todo_003") == "completed", "what was approved then")


@pytest.mark.long
async def test_words_turn_no_question_and_nothing_unseen_is_decided(tmp_path: Path) -> None:
    async with console(tmp_path / "d", command_workspace(tmp_path / "w"), query="The cap", mode="risk") as c:
        await c.until(lambda: c.shown() and c.snapshot.concluded, "the search")
        for number, name in enumerate(("one", "two"), start=1):
            await c.send(f"/todo add command_team keep file={name}")
            await c.asked(number)
        await c.to_question()
        first, second = c.panel.questions
        await c.press("escape", "ctrl+g", *"quick")
        assert c.panel.question is not None and c.panel.question.id == first.id
        assert c.prompt.text == "quick"
        await c.to_question()
        c.clock.rest()
        await c.press("6")
        await c.until(lambda: isinstance(c.app.screen, TextViewer), "the details")
        burst(c, "quick kick")
        await c.until(lambda: c.app.screen is c.session, "what the first letter closes")
        await c.pilot.pause(0.1)
        assert c.panel.question is not None and c.panel.question.id == first.id
        c.clock.rest()
        await c.press("k", "k", "k")
        assert c.panel.question is not None and c.panel.question.id == second.id
        c.panel.select(first.id)
        c.clock.rest()
        c.app.guard.acts(c.app.guard.now)
        c.panel.action_act(4)  # before the screen was drawn again
        await c.pilot.pause(0.2)
        assert len(c.panel.questions) == 2 and c.message.startswith("Too soon")
        c.clock.rest()
        await c.press("4")
        await c.until(lambda: [q.id for q in c.panel.questions] == [second.id], "once it could be seen")
