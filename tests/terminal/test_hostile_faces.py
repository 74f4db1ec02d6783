"""Hostile content beside the panes: session names, dialogs, palette, clipboard, notifications and exports (C10)."""

from __future__ import annotations

import base64
import json
import re
import zipfile
from pathlib import Path

import pytest
from terminal_support import EXAMPLE, F6
from test_hostile import CTRL_P, ESC, ESCAPES, F1, F3, HOSTILE, MARKUP, REORDERING, Watched

from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.session import Session
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.storage import DataFolder

pytestmark = pytest.mark.long

CTRL_O, CTRL_U, F7 = "\x0f", "\x15", "\x1b[18~"
_MOVES = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e0fff]")


async def made(data: Path, title: str) -> None:
    """Begin two sessions; somebody wrote the title of the first into its file."""
    async with SessionRegistry.open(data, {}) as bench:
        for _ in range(2):
            setup = await bench.create("How high may the deposit rise be?", EXAMPLE)
            async with open_session(bench.store, setup, setup.info.query) as opened:
                session = opened.view
                assert isinstance(session, Session)
                await session.settled()
    file = DataFolder(data).session("s1").path / "session.json"
    told = json.loads(file.read_text(encoding="utf-8"))
    del told["checksum"]
    file.write_text(json.dumps({**told, "title": title}), encoding="utf-8")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
async def test_names_of_sessions_and_every_dialog_about_them(tmp_path: Path, size: tuple[int, int]) -> None:
    data = tmp_path / "data"
    await made(data, f"{ESCAPES} {REORDERING} {MARKUP}")
    with Watched(data, size) as terminal:
        terminal.see("Sessions", "␛[2J")
        terminal.keys(F6 + F6 + "\x1b[B")
        terminal.see("r rename")
        for key, title in (("r", "Rename s1"), ("f", "Fork s1"), ("e", "Export s1"), ("d", "Delete s1")):
            terminal.keys(key)
            terminal.see(title)
            terminal.keys(ESC)
            terminal.see("r rename", without=title)
        terminal.keys("i")
        terminal.see("Import a session")
        terminal.keys(CTRL_U)
        terminal.until(lambda: True, "it is empty")
        terminal.keys(f"\x1b[200~/nowhere/{ESCAPES.replace(ESC, '')}{REORDERING} {MARKUP}\x1b[201~")
        terminal.see("quit]x[/]")
        terminal.keys("\r")
        terminal.see("error:", without="Import a session")
        terminal.keys("/")
        terminal.keys(f"\x1b[200~{REORDERING} {MARKUP}\x1b[201~")
        terminal.see("0 of 2")
        terminal.keys(ESC + F7)
        terminal.see("First screen")
        for key, title in ((CTRL_P, "Search for commands"), (F1, "─ Help"), (F3, "─ Inbox")):
            terminal.keys(key)
            terminal.see(title)
            terminal.keys(ESC)
            terminal.see("r rename", without=title)
        terminal.keys("\r")
        terminal.see("Approve 001?")
        terminal.keys(F7)
        terminal.see("Session s1")
        terminal.send(f"/rename {MARKUP}")
        terminal.see("Renamed ")
        terminal.harmless()
        assert terminal.leave() == 0


def test_the_clipboard_and_files_to_read_hold_it_harmlessly(tmp_path: Path) -> None:
    workspace = tmp_path / "ws"
    workspace.mkdir()
    said = f"# Rise cap {HOSTILE}\n\nThe deposit cap is 5 percent. {HOSTILE}\n"
    (workspace / "cap.md").write_text(said, encoding="utf-8")
    files = [tmp_path / f"out.{end}" for end in ("md", "json", "hitl")]
    query = f"What is the deposit cap? {MARKUP}"
    with Watched(tmp_path / "data", (120, 40), "--workspace", str(workspace), query) as terminal:
        terminal.decide("1", "Approve 001?")
        terminal.see("✓ finished")
        terminal.keys(F6)
        terminal.see("y copy")
        terminal.keys("y")
        terminal.see("was copied")
        (copied,) = re.findall(r"\x1b\]52;c;([^\x07]*)\x07", terminal.raw)
        text = base64.b64decode(copied).decode("utf-8")
        assert "5 percent" in text and "␛[2J" in text and not _MOVES.search(text)
        terminal.keys(ESC)
        terminal.see("Enter send")
        for file in files:
            terminal.send(f"/export {file}")
            terminal.see(file.name, "bytes)")
        assert terminal.leave() == 0
    markdown, document, whole = files
    shown = markdown.read_text(encoding="utf-8")
    assert "5 percent" in shown and "␛\\[2J" in shown and not _MOVES.search(shown)
    exact = document.read_text(encoding="ascii")
    assert "\x1b" not in exact and json.loads(exact)["query"] == query
    assert zipfile.is_zipfile(whole)


def test_who_looks_elsewhere_is_called_once_and_who_looks_here_is_not(tmp_path: Path) -> None:
    query = f"집주인이 전세금 3억을 10억으로 올려달래. 법적으로 해결방법 알려줘 {MARKUP}"
    with Watched(tmp_path, (100, 30), "--workspace", str(EXAMPLE), query) as terminal:
        terminal.decide("1", "Approve 001?")
        terminal.see("Approve 002?")
        assert "\x1b]9;" not in terminal.raw and not _bells(terminal.raw)
        terminal.send("/todo skip 2")
        terminal.keys("\x1b[O")
        terminal.see("1 done, 1 skipped")
        terminal.send("/todo update 2 pending")
        terminal.keys("\x1b[O")
        terminal.until(lambda: "\x1b]9;" in terminal.raw, "a notification")
        terminal.rest()
        (told,) = re.findall(r"\x1b\]9;([^\x07]*)\x07", terminal.raw)
        assert "s1" in told and "@click" not in told and not _MOVES.search(told)
        assert _bells(terminal.raw) == 1
        terminal.keys("\x1b[I")
        assert terminal.leave() == 0


def _bells(raw: str) -> int:
    return re.sub(r"\x1b\][^\x07\x1b]*\x07", "", raw).count("\x07")
