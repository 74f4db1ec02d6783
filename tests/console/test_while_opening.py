"""What a person goes to while a session opens stays when it comes; keys of a question never become a line's text."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from console_support import RISE, Console, console
from test_first_keys import labels
from textual.screen import Screen

from hitl_tui.console.dialogs.inbox_dialog import InboxDialog
from hitl_tui.console.dialogs.text_viewer import HelpScreen
from hitl_tui.console.palette import Palette
from hitl_tui.console.screens.home_screen import HomeScreen


def begin(c: Console) -> None:
    c.app.sessions.begin(RISE)


def open_another(c: Console) -> None:
    c.app.sessions.open("s1")


@asynccontextmanager
async def opening(data: Path, begins: Callable[[Console], None]) -> AsyncIterator[Console]:
    """Hold up the opening of a session, a new one or one with a question, until `come`."""
    async with console(data, query=RISE) as c:
        await c.asked()
        if begins is open_another:
            c.app.sessions.begin("What is the legal cap?")
            await c.until(lambda: c.shown() and c.snapshot.session_id == "s2", "the second session")
            await c.asked()
        await c.app.engine._opening.acquire()
        begins(c)
        await c.until(lambda: c.session.handle is None and c.app.screen is c.session, "the opening")
        await c.pilot.pause()
        yield c


async def come(c: Console) -> None:
    c.app.engine._opening.release()
    await c.until(lambda: c.app.session.handle is not None and c.app.session.question, "the session with its question")
    await c.pilot.pause()


WAYS = pytest.mark.parametrize("begins", [begin, open_another])


@pytest.mark.sampled(3)
@pytest.mark.long
@WAYS
@pytest.mark.parametrize(
    ("key", "screen"), [("f3", InboxDialog), ("f1", HelpScreen), ("ctrl+p", Palette), ("ctrl+o", HomeScreen)]
)
async def test_what_is_opened_meanwhile_stays(
    tmp_path: Path, begins: Callable[[Console], None], key: str, screen: type[Screen[object]]
) -> None:
    async with opening(tmp_path, begins) as c:
        await c.press(key)
        await c.until(lambda: isinstance(c.app.screen, screen), "what was opened")
        await come(c)
        assert isinstance(c.app.screen, screen)
        if screen is HomeScreen:
            assert c.message == f"{c.app.sessions.opened} is open; Ctrl+O shows it."
        await c.press("ctrl+o" if screen is HomeScreen else "escape")
        await c.until(lambda: c.app.screen is c.session, "the session")
        assert c.panel.display


@pytest.mark.long
async def test_the_first_screen_goes_back_to_what_still_opens(tmp_path: Path) -> None:
    async with opening(tmp_path, open_another) as c:
        await c.press("ctrl+o")
        await c.until(lambda: isinstance(c.app.screen, HomeScreen), "the first screen")
        await c.press("ctrl+o")
        await c.until(lambda: c.app.screen is c.app.session, "the session")
        await c.press("ctrl+o")
        c.app.sessions.open("s1")  # picked in the list again
        await c.until(lambda: c.app.screen is c.app.session, "the session")
        await come(c)
        assert c.snapshot.session_id == "s1"


@pytest.mark.long
@WAYS
async def test_who_goes_to_its_question_is_there_when_it_comes(
    tmp_path: Path, begins: Callable[[Console], None]
) -> None:
    async with opening(tmp_path, begins) as c:
        await c.press("ctrl+g")
        c.clock.rest()
        await c.press("1")
        assert not c.prompt.text
        await come(c)
        assert c.panel.has_focus and not c.prompt.text and c.status("todo_001") == "waiting_approval"
        await c.read_on()
        await c.press("1")
        await c.until(lambda: c.status("todo_001") == "completed", "what was approved")


@pytest.mark.long
@WAYS
async def test_words_meanwhile_are_its_line_though_its_question_was_gone_to(
    tmp_path: Path, begins: Callable[[Console], None]
) -> None:
    async with opening(tmp_path, begins) as c:
        await c.press("ctrl+g")
        c.clock.rest()
        await c.press(*"10", "space", *"days")
        assert c.prompt.text == "10 days"
        await come(c)
        assert c.prompt.has_focus and c.prompt.text == "10 days"


@pytest.mark.long
async def test_keys_that_do_nothing_yet_are_not_offered(tmp_path: Path) -> None:
    async with opening(tmp_path, open_another) as c:
        assert not {"console.mode", "session.replay"} & set(labels(c))
        await c.press("f4")
        assert c.app.screen is c.session and c.message == "The session is still opening."


async def test_keys_of_a_question_that_is_not_there_are_not_offered(tmp_path: Path) -> None:
    async with console(tmp_path) as c:
        await c.app.engine._opening.acquire()
        begin(c)
        await c.until(lambda: c.app.session_shown and c.app.screen is c.session, "the opening")
        await c.press("ctrl+g")
        await c.until(lambda: "question.leave" in labels(c), "the keys of a question that isn't there")
        assert {name for name in labels(c) if name.startswith("question.")} == {"question.leave"}
        await come(c)
        assert {"console.mode", "session.replay"} <= set(labels(c))


@WAYS
async def test_lines_that_no_session_came_for_are_named_on_the_way_out(
    tmp_path: Path, begins: Callable[[Console], None]
) -> None:
    async with opening(tmp_path, begins) as c:
        await c.send("/todo add search_team one")
        await c.send("/todo skip 1")
        await c.press("ctrl+q")
        assert "Not carried out, as the session was still opening: /todo add search_team one · /todo skip 1" in (
            c.app.parting
        )
        c.app.engine._opening.release()


@pytest.mark.long
async def test_lines_that_are_carried_out_are_not_named_on_the_way_out(tmp_path: Path) -> None:
    async with opening(tmp_path, open_another) as c:
        await c.send("/todo add search_team one")
        await come(c)
        await c.until(lambda: len(c.snapshot.todos) == 3, "the step")
        await c.press("ctrl+q")
        assert "Not carried out" not in c.app.parting
