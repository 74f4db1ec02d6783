"""Sessions kept in order from inside the console: found, renamed, forked, exported, imported, deleted (C8)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from console_support import EXAMPLE, RISE, Console, console
from textual.events import Paste
from textual.widgets import Input

from hitl_tui.console import session_switcher
from hitl_tui.console.dialogs.prompt_dialogs import said_is
from hitl_tui.console.screens.home_screen import HomeScreen
from hitl_tui.console.screens.session_screen import SessionScreen
from hitl_tui.console.widgets.session_table import SessionTable
from hitl_tui.supervisor.admin import SessionAdmin
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.session import Session
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.session_summary import SessionSummary
from hitl_tui.supervisor.storage import DataFolder

pytestmark = pytest.mark.long

CAP = "What is the legal cap on a rent increase?"
HOSTILE = "\x1b[2J\u202e [@click=app.quit]x[/]"


async def made(data: Path, *queries: str) -> None:
    """Begin sessions and leave them at their first question."""
    async with SessionRegistry.open(data, {}) as bench:
        for query in queries:
            setup = await bench.create(query, EXAMPLE)
            async with open_session(bench.store, setup, query) as opened:
                session = opened.view
                assert isinstance(session, Session)
                await session.settled()


def table_of(c: Console) -> SessionTable:
    return c.app.screen.query_one(SessionTable)


def ids(c: Console) -> list[str]:
    table = table_of(c)
    return [str(table.get_row_at(n)[0]) for n in range(table.row_count)]


async def at_sessions(c: Console, count: int) -> None:
    """Wait for the list of sessions and go to it."""
    await c.until(lambda: isinstance(c.app.screen, HomeScreen), "the first screen")
    await c.until(lambda: c.app.screen.query(SessionTable) and len(ids(c)) == count, f"{count} sessions")
    while not table_of(c).has_focus:
        await c.press("f6")


async def listed(c: Console, wanted: list[str]) -> None:
    await c.until(lambda: ids(c) == wanted, f"these sessions: {wanted}")


async def fill(c: Console, text: str) -> None:
    """Write a line into the dialog and send it."""
    await c.until(lambda: c.app.screen.query(Input), "a dialog")
    c.app.screen.query_one(Input).value = text
    await c.press("enter")


async def test_the_newest_sessions_are_listed_while_the_others_are_still_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await made(tmp_path, RISE, CAP, RISE)
    read, gate = SessionAdmin.sessions, asyncio.Event()

    async def slow(admin: SessionAdmin, search: str = "", newest: int | None = None) -> list[SessionSummary]:
        if newest is None:
            await gate.wait()
        return await read(admin, search, newest)

    monkeypatch.setattr(SessionAdmin, "sessions", slow)
    monkeypatch.setattr(session_switcher, "_FIRST", 2)
    async with console(tmp_path) as c:
        await at_sessions(c, 2)
        assert ids(c) == ["s3", "s2"]
        await c.press("down")
        gate.set()
        await listed(c, ["s3", "s2", "s1"])
        assert table_of(c).selected == "s2"


@pytest.mark.long
async def test_sessions_are_found_as_words_are_typed_and_the_cursor_stays_on_its_session(tmp_path: Path) -> None:
    await made(tmp_path, RISE, CAP, "보증금 반환 기한은?")
    async with console(tmp_path) as c:
        await at_sessions(c, 3)
        assert ids(c) == ["s3", "s2", "s1"]
        await c.press("slash", *"CAP")
        assert ids(c) == ["s2"]
        await c.press("enter", "enter")
        await c.until(lambda: c.shown() and c.snapshot.session_id == "s2", "the session that was found")
        await c.press("ctrl+o")
        await at_sessions(c, 3)
        assert table_of(c).selected == "s2"
        for words, found in (("s1", ["s1"]), ("waiting", ["s3", "s2", "s1"]), ("보증금", ["s3"]), ("nowhere", [])):
            await c.send(f"/sessions {words}")
            await listed(c, found)
        await c.press("escape", "escape")
        assert c.prompt.has_focus


@pytest.mark.long
async def test_each_thing_is_done_by_a_key_on_the_list(tmp_path: Path) -> None:
    data, file = tmp_path / "data", tmp_path / "kept.hitl"
    await made(data, CAP)
    async with console(data) as c:
        await at_sessions(c, 1)
        await c.press("r")
        await fill(c, f"Another {HOSTILE}")
        await c.until(lambda: c.message.startswith("Renamed s1"), "another title")
        await c.press("f")
        await fill(c, "The other way")
        await at_sessions(c, 2)
        assert table_of(c).selected == "s2" and "fork of s1" in c.message
        await c.press("e")
        await fill(c, str(file))
        await c.until(file.exists, "the file")
        await c.press("e")
        await fill(c, str(file))
        await c.until(lambda: c.message and "exists" in c.message, "that no file is written over")
        await c.press("i")
        await fill(c, str(file))
        await at_sessions(c, 3)
        await c.press("d")
        await fill(c, "s3")
        await at_sessions(c, 2)
        assert ids(c) == ["s2", "s1"] and file.exists()
        known = [s.title for s in await (await c.app.engine.admin()).sessions()]
    assert known[1] == "The other way"
    assert known[0].startswith("Another ␛[2J") and "\x1b" not in known[0] and "\u202e" not in known[0]


async def test_another_name_deletes_nothing_and_neither_does_enter(tmp_path: Path) -> None:
    await made(tmp_path, CAP, RISE)
    async with console(tmp_path) as c:
        await at_sessions(c, 2)
        assert table_of(c).selected == "s2"
        await c.press("d", "enter")
        for other in ("s1", "s", "yes"):
            await fill(c, other)
            assert c.app.screen.query(Input), "the dialog stays"
        await c.press("escape")
        await c.until(lambda: c.message == "Nothing was deleted.", "that nothing was deleted")
        assert DataFolder(tmp_path).ids() == ["s1", "s2"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("said", "name"), [("s12", "s12"), (" s12 ", "s12"), ("ㄴ12", "s12"), ("ㅡㅛ-ㅓㅐㅠ", "my-job")]
)
def test_a_name_counts_as_typed_with_a_korean_input_method_on(said: str, name: str) -> None:
    assert said_is(said, name)
    assert not said_is(said + "x", name)


async def test_the_open_session_is_deleted_from_its_own_prompt_and_the_first_screen_is_shown(tmp_path: Path) -> None:
    async with console(tmp_path, query=CAP) as c:
        await c.asked()
        await c.send("/delete s1")
        await fill(c, "s1")
        await c.until(lambda: isinstance(c.app.screen, HomeScreen), "the first screen")
        await c.until(lambda: c.message == "Deleted s1; the record of its decisions stays.", "that it is gone")
        assert DataFolder(tmp_path).ids() == []
        assert not any(isinstance(s, SessionScreen) for s in c.app.screen_stack)
        await c.send(RISE)
        await c.asked()
        assert c.snapshot.session_id == "s2"


async def test_a_session_at_work_elsewhere_is_never_deleted(tmp_path: Path) -> None:
    await made(tmp_path, CAP, RISE)
    async with console(tmp_path) as c:
        await at_sessions(c, 2)
        with DataFolder(tmp_path).session("s2").own():
            await c.press("d")
            await c.until(lambda: "Another process has session s2 open" in c.message, "why not")
            assert not c.app.screen.query(Input)
            await c.send("/delete s2 s2")
            await c.until(lambda: "can't be deleted" in c.message, "why not")
        assert DataFolder(tmp_path).ids() == ["s1", "s2"]


async def test_commands_of_the_first_screen_need_no_session(tmp_path: Path) -> None:
    data, file = tmp_path / "data", tmp_path / "kept.hitl"
    await made(data, CAP)
    async with SessionRegistry.open(data, {}) as bench:
        await bench.admin.export("s1", file)
    async with console(data) as c:
        await c.send("/todos")
        assert "Open or start a session first" in c.message
        await c.send("/delete s1 s1")
        await c.until(lambda: c.message == "Deleted s1; the record of its decisions stays.", "that it is gone")
        await c.send(f"/import {file}")
        await c.until(lambda: "from kept.hitl, working in" in c.message, "the import")
        (fresh,) = DataFolder(data).ids()
        await c.send(f"/open {fresh}")
        await c.asked()
        await c.send("/open nowhere")
        await c.until(lambda: "No session" in c.message, "an error")
        assert c.snapshot.session_id == fresh


async def test_the_palette_has_them_and_says_why_one_is_not_possible(tmp_path: Path) -> None:
    async with console(tmp_path) as c:
        entries = {e.title: e.help for e in c.app.get_system_commands(c.app.screen)}
        assert "no session yet" in entries["Delete · sessions"]
        assert "no session yet" not in entries["Import · sessions"]
        await c.send(CAP)
        await c.asked()
        found = {e.title: e for e in c.app.get_system_commands(c.app.screen)}
        await found["Rename · sessions"].callback()
        await fill(c, "By the palette")
        await c.until(lambda: "By the palette" in c.message, "another title")


async def test_the_answer_is_copied_and_exported_from_its_own_pane(tmp_path: Path) -> None:
    data, file = tmp_path / "data", tmp_path / "answer.md"
    async with console(data, query=CAP, mode="risk") as c:
        await c.until(lambda: c.shown() and c.snapshot.status == "finished", "the end")
        await c.until(lambda: c.message == "Answer ready · F6 to scroll, copy or export", "what to do with it")
        await c.press("f6", "f7")
        assert "Session s1" in c.message and "Answer" in c.message
        await c.press("y")
        assert c.app.clipboard and "5%" in c.app.clipboard
        await c.press("e")
        await c.until(lambda: c.app.screen.query(Input), "the file's name")
        line = c.app.screen.query_one(Input)
        assert line.value.endswith("/s1.md") and line.selection == (0, len(line.value))
        c.app.post_message(Paste(str(file)))
        await c.until(lambda: line.value == str(file), "another name in its place")
        await c.press("enter")
        await c.until(file.exists, "the file")
        text = file.read_text(encoding="utf-8")
        assert text.startswith(f"# {CAP}\n") and "**001**" in text
        assert all(line.strip("#> ") in text for line in c.app.clipboard.splitlines()), "it is quoted there"
        await c.until(lambda: "answer.md" in c.message, "that it was written")
        await c.press("escape")
        assert c.prompt.has_focus


async def test_one_plain_line_says_where_the_person_is(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.press("f7")
        assert c.message.startswith(
            f"Session s1 · {EXAMPLE} · ASK EVERY STEP · ● 1 needs you · prompt: empty · No model"
        )
        await c.to_question()
        await c.press("f7")
        assert " · Approve 001? · No model" in c.message
        await c.press("escape", "f6", "f7")
        assert " · Plan, row 1 of 2: ? asks 001 search 자료 검색 · " in c.message
        await c.press("ctrl+o")
        await at_sessions(c, 1)
        await c.press("f7")
        assert "Sessions, row 1 of 1: s1 ? waiting ●1" in c.message
