"""Bell, desktop notification, window title and clipboard: sparingly, and never with anything but our own sequences."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from console_support import EXAMPLE, RISE, Clock, console
from hypothesis import given
from hypothesis import strategies as st

from hitl_tui.console.notifications import (
    EVERY,
    QUIET,
    NotificationMeans,
    Notifications,
    clipboard,
    hand_to_tmux,
    how_chosen,
    notification,
    osc_text,
    through,
    title,
)
from hitl_tui.console.user_files import recall

BELL = "\x07"


class Desk:
    """A terminal that remembers what was written, and a clock."""

    def __init__(self, how: NotificationMeans = NotificationMeans.ALL, environ: dict[str, str] | None = None) -> None:
        self.clock = Clock()
        self.written: list[str] = []
        self.notifications = Notifications(self.written.append, self.clock, environ or {}, how)

    def look(self, *, focused: bool = False) -> list[str]:
        self.written.clear()
        self.notifications.look(focused=focused)
        return list(self.written)


def test_a_question_calls_once_while_the_window_has_no_focus() -> None:
    desk = Desk()
    desk.notifications.asked("s1", ["a"])
    assert desk.look() == [BELL, "\x1b]9;1 question waits for you in s1\x07"]
    assert desk.look() == []
    desk.clock.rest(EVERY * 2)
    assert desk.look() == []


def test_who_looks_isnt_called() -> None:
    desk = Desk()
    desk.notifications.asked("s1", ["a"])
    assert desk.look(focused=True) == []
    assert desk.look(focused=False) == []


def test_who_types_isnt_called_before_the_keyboard_rests() -> None:
    desk = Desk()
    desk.notifications.typed()
    desk.notifications.asked("s1", ["a"])
    desk.clock.rest(QUIET - 0.1)
    assert desk.look() == []
    desk.clock.rest(0.2)
    assert BELL in desk.look()


def test_a_session_calls_once_a_minute_and_another_one_for_itself() -> None:
    desk = Desk()
    desk.notifications.asked("s1", ["a"])
    assert desk.look()
    desk.notifications.asked("s1", ["a", "b"])
    desk.notifications.asked("s2", ["c"])
    assert desk.look() == [BELL, "\x1b]9;1 question waits for you in s2\x07"]
    desk.clock.rest(EVERY)
    assert desk.look() == [BELL, "\x1b]9;2 questions wait for you in s1\x07"]


def test_what_was_answered_meanwhile_calls_nobody() -> None:
    desk = Desk()
    desk.notifications.typed()
    desk.notifications.asked("s1", ["a"])
    desk.look()
    desk.notifications.asked("s1", [])
    desk.clock.rest(EVERY)
    assert desk.look() == []


@pytest.mark.parametrize(
    ("how", "count"), [(NotificationMeans.ALL, 2), (NotificationMeans.BELL, 1), (NotificationMeans.OFF, 0)]
)
def test_the_setting_says_how(how: NotificationMeans, count: int) -> None:
    desk = Desk(how)
    desk.notifications.asked("s1", ["a"])
    assert len(desk.look()) == count


def test_the_environment_comes_before_what_was_chosen() -> None:
    assert how_chosen({"HITL_NOTICES": "off"}, "bell") is NotificationMeans.OFF
    assert how_chosen({}, "bell") is NotificationMeans.BELL
    assert how_chosen({"HITL_NOTICES": "loud"}, "nonsense") is NotificationMeans.ALL


def test_the_title_says_how_many_wait_and_is_given_back() -> None:
    desk = Desk()
    desk.notifications.begin()
    desk.notifications.entitle("s1", 2)
    desk.notifications.entitle("s1", 2)
    desk.notifications.end()
    desk.notifications.end()
    assert desk.written == ["\x1b[22;2t", "\x1b]2;hitl-tui\x07", "\x1b]2;(2) hitl-tui s1\x07", "\x1b[23;2t"]


@pytest.mark.parametrize("environ", [{"VTE_VERSION": "7200"}, {"TERM": "rxvt-unicode"}, {"TERM": "foot"}])
def test_some_terminals_take_the_other_form(environ: dict[str, str]) -> None:
    assert notification("x", environ) == "\x1b]777;notify;hitl-tui;x\x07"


def test_a_multiplexer_gets_it_wrapped() -> None:
    assert notification("x", {"TMUX": "/tmp/t"}) == "\x1bPtmux;\x1b\x1b]9;x\x07\x1b\\"
    assert through("\x1bA", {"STY": "1"}) == "\x1bP\x1bA\x1b\\"
    assert through("\x1bA", {}) == ""


def test_the_clipboard_gets_every_character() -> None:
    sequence = clipboard("보증금\n␛[2J")
    assert sequence.startswith("\x1b]52;c;") and sequence.endswith("\x07")
    assert base64.b64decode(sequence[7:-1]).decode() == "보증금\n␛[2J"


@given(st.text(st.characters()))
def test_nothing_within_a_sequence_can_end_or_divide_it(text: str) -> None:
    inner = osc_text(text)
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069;]", inner)
    for sequence in (title(text), notification(text, {}), notification(text, {"VTE_VERSION": "1"})):
        assert sequence.count("\x1b") == 1 and sequence.count("\x07") == 1


async def test_the_console_calls_and_entitles(tmp_path: Path) -> None:
    async with console(tmp_path, EXAMPLE, query=RISE) as c:
        written: list[str] = []
        c.app.notifications = Notifications(written.append, c.clock, {}, NotificationMeans.ALL)
        c.app.app_focus = False
        c.clock.rest(100)
        await c.asked()
        c.app.notifications.asked("s1", [q.id for q in c.snapshot.questions])
        await c.until(lambda: any("1 question waits" in w for w in written), "the call")
        c.app.sessions.seen(c.snapshot)
        assert "\x1b]2;(1) hitl-tui s1\x07" in written


async def test_the_choice_is_remembered(tmp_path: Path) -> None:
    async with console(tmp_path) as c:
        await c.app.run_action("notices")
        assert "bell only" in c.message
    assert recall(tmp_path).notices == "bell"


@pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux")
def test_tmux_gets_what_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmux = ("tmux", "-S", str(tmp_path / "tmux"), "-f", "/dev/null")
    subprocess.run((*tmux, "new-session", "-d", "cat"), check=True)
    try:
        monkeypatch.setenv("TMUX", f"{tmp_path / 'tmux'},0,0")
        hand_to_tmux("5 % of 보증금;\n-x $(id)\n")
        shown = subprocess.run((*tmux, "show-buffer"), check=True, capture_output=True, text=True).stdout
    finally:
        subprocess.run((*tmux, "kill-server"), check=True)
    assert shown == "5 % of 보증금;\n-x $(id)\n"
    hand_to_tmux("nobody takes it any more")
