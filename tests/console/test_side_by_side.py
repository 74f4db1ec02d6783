"""Several sessions at once: each goes on unseen, and switching loses nothing (C8)."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import EXAMPLE, RISE, Console, console
from textual.widgets import DataTable

from hitl_tui.console.screens.home_screen import HomeScreen
from hitl_tui.console.session_switcher import SessionSwitcher
from hitl_tui.console.widgets.bars import HeaderBar
from hitl_tui.console.widgets.plan_table import PlanTable
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.session_registry import SessionRegistry

pytestmark = pytest.mark.long

CAP = "What is the legal cap on a rent increase?"


async def two_sessions(c: Console) -> tuple[str, str]:
    """Begin two sessions; the second one is shown, the first one has a draft in its prompt."""
    await c.asked()
    first = c.snapshot.session_id
    c.prompt.text = "/todo skip 1 a reason that isn't finished"
    await c.press("ctrl+o")
    await c.send(CAP)
    await c.until(lambda: c.shown() and c.snapshot.session_id != first, "the second session")
    await c.asked()
    return first, c.snapshot.session_id


async def choose(c: Console, session: str) -> None:
    await c.press("ctrl+o")
    await c.until(lambda: isinstance(c.app.screen, HomeScreen), "the first screen")
    await c.until(lambda: c.app.screen.query("#sessions"), "the list of sessions")
    table = c.app.screen.query_one("#sessions", DataTable)
    await c.until(lambda: table.row_count == 2, "both sessions")
    rows = [str(table.get_row_at(n)[0]) for n in range(2)]
    table.focus()
    table.move_cursor(row=rows.index(session))
    await c.press("enter")
    await c.until(lambda: c.shown() and c.snapshot.session_id == session, f"session {session}")


async def test_a_draft_and_the_question_are_where_they_were(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        first, _ = await two_sessions(c)
        assert c.prompt.text == ""
        await choose(c, first)
        await c.asked()
        assert c.prompt.text == "/todo skip 1 a reason that isn't finished"
        assert c.snapshot.query == RISE


async def test_words_that_a_plan_is_looked_through_for_hide_nothing_of_another_session(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        first, _ = await two_sessions(c)
        c.session.show_pane("plan", focus=True)
        c.clock.rest()
        await c.press("slash", *"nowhere", "enter")
        plan = c.session.query_one(PlanTable)
        assert plan.row_count == 0 and str(plan.border_title) == "Plan · 0 of 1"
        await choose(c, first)
        await c.until(lambda: plan.row_count == 2, "both steps of the first session")
        assert (str(plan.border_title), str(plan.border_subtitle)) == ("Plan · 2", "")


async def test_the_header_counts_what_waits_everywhere(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await two_sessions(c)
        header = c.session.query_one(HeaderBar)
        await c.until(lambda: "inbox 2" in header.status, f"both questions in the header, not {header.status}")


@pytest.mark.long
async def test_what_was_approved_goes_on_while_another_session_is_shown(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        first, second = await two_sessions(c)
        await choose(c, first)
        session = c.session.handle.session if c.session.handle else None
        assert session is not None
        await c.asked()
        await c.to_question()
        await c.press("1")
        await choose(c, second)
        await c.until(lambda: session.snapshot.todos[0].status.value == "completed", "the search that nobody watches")
        assert c.snapshot.session_id == second
        assert c.status("todo_001") == "waiting_approval"
        await choose(c, first)
        await c.asked()
        assert c.panel.questions[0].todo_id == "todo_002"


@pytest.mark.slow
@pytest.mark.long
async def test_sessions_that_only_wait_are_closed_but_for_the_last_ones_and_open_again(tmp_path: Path) -> None:
    async with console(tmp_path, query=CAP) as c:
        await c.asked()
        first = c.snapshot.session_id
        for _ in range(10):
            shown = c.snapshot.session_id
            await c.press("ctrl+o")
            await c.send(CAP)
            await c.until(lambda shown=shown: c.shown() and c.snapshot.session_id != shown, "another session")  # type: ignore[misc]
            await c.asked()
        assert not c.app.engine.holds(first)
        assert sum(c.app.engine.holds(f"s{n}") for n in range(1, 12)) == 9, "the one that is shown and eight others"
        assert len(await c.app.engine.requests()) == 11, "all of them ask still"
        await c.send(f"/open {first}")
        await c.until(lambda: c.shown() and c.snapshot.session_id == first, "the first one")
        await c.asked()


@pytest.mark.long
async def test_a_session_that_another_process_began_is_listed_and_what_it_asks_is_counted(tmp_path: Path) -> None:
    async with console(tmp_path) as c:
        home = c.app.screen
        assert isinstance(home, HomeScreen)
        await c.send(CAP)
        await c.asked()
        async with SessionRegistry.open(tmp_path) as other:
            setup = await other.create(RISE, EXAMPLE)
            async with open_session(other.store, setup, RISE) as session:
                while not session.snapshot.questions:
                    await session.changed(session.snapshot)
                header = c.session.query_one(HeaderBar)
                await c.until(lambda: "inbox 2" in header.status, f"its question in the header, not {header.status}")
                await c.press("ctrl+o")
                await c.until(lambda: setup.info.id in [s.id for s in home.known], "it in the list")
                last = (await other.create(CAP, EXAMPLE)).info
                await c.until(lambda: last.id in [s.id for s in home.known], "another one, while the list is shown")


async def test_a_line_that_is_sent_before_the_first_session_opens_is_for_that_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        session = c.snapshot.session_id
    opened = SessionSwitcher.open

    def open_late(sessions: SessionSwitcher, session_id: str, *, unasked: bool = False) -> None:
        sessions._app.session.operator.send("/rename early", ())
        opened(sessions, session_id, unasked=unasked)

    monkeypatch.setattr(SessionSwitcher, "open", open_late)
    async with console(tmp_path, session=session) as c:
        await c.until(lambda: c.shown() and "early" in c.session.query_one(HeaderBar).title_text, "what was sent")


async def test_another_session_is_opened_at_its_prompt(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        first, _ = await two_sessions(c)
        c.session.show_pane("stream", focus=True)
        await choose(c, first)
        await c.until(lambda: c.prompt.has_focus, "the prompt: the pane was the other session's")
