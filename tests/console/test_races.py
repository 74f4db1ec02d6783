"""Random races in this process, and the judge that they are held to (C3)."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from console_support import Unheard

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.races import inside
from benchmarks.races_judge import Decided, Pressed, wrong
from benchmarks.races_seen import Emulator, Ends, Sight, Text, squeezed
from hitl_tui.console.keyguard.guard import KeyGuard

SHOWN = Sight(digest="0123abcd", focused=True)
APPROVED = Decided("q", "approve", "0123abcd" + "0" * 56)


def pressed(key: str = "1", at: float = 10.0, before: float = 0.0, sight: Sight = SHOWN, since: float = 0.0) -> Pressed:
    return Pressed(key, 1, at, before, sight, since)


def test_the_judge_lets_a_key_decide_that_came_after_the_pause() -> None:
    assert wrong([APPROVED], [pressed()]) == []


@pytest.mark.parametrize(
    "not_enough",
    [
        pressed(since=9.6),
        pressed(sight=Sight(digest="ffffffff", focused=True)),
        pressed(sight=Sight(digest="0123abcd", focused=False)),
        pressed(sight=Sight(digest="0123abcd", focused=True, more=True)),
        Pressed("4", 4, 10.0, 0.0, SHOWN, 0.0),
    ],
    ids=["just drawn", "another question", "focus elsewhere", "unread", "another key"],
)
def test_the_judge_refuses_every_other_key(not_enough: Pressed) -> None:
    assert len(wrong([APPROVED], [not_enough])) == 1


@pytest.mark.parametrize("beside", [("0", 10.2), ("ctrl+g", 9.99), ("0", 9.8)])
def test_the_judge_refuses_a_key_with_another_beside_it(beside: tuple[str, float]) -> None:
    other = Pressed(beside[0], 0, beside[1], 0.0, SHOWN, 0.0)
    keys = sorted([pressed(), other], key=lambda key: key.at)
    assert len(wrong([APPROVED], keys)) == 1


@pytest.mark.parametrize(("rest", "found"), [(0.125, 1), (0.5, 0)])
def test_what_a_dialog_sends_needs_a_pause_since_it_was_there(rest: float, found: int) -> None:
    key = Pressed("r", 3, 10.0, 0.0, SHOWN, 0.0)
    enter = Pressed("enter", 0, 10.2 + rest, 10.2, SHOWN, 0.0, "WordsDialog", 10.0)
    assert len(wrong([Decided("q", "reject", APPROVED.digest)], [key, enter])) == found


def test_one_key_decides_one_question() -> None:
    assert len(wrong([APPROVED, APPROVED], [pressed()])) == 1


def entered(at: float = 10.0, before: float = 9.8, digest: str = "0123abcd", *, text: bool = False) -> Pressed:
    return Pressed("enter", 0, at, before, Sight(digest=digest), 0.0, text=text)


def test_the_judge_lets_an_enter_by_itself_send_the_command_that_approves_what_is_shown() -> None:
    assert wrong([APPROVED], [entered()], ["/todo approve"]) == []


@pytest.mark.parametrize(
    ("enter", "sent"),
    [
        (entered(), []),
        (entered(), ["hello\n/todo approve"]),
        (entered(before=9.95), ["/todo approve"]),
        (entered(text=True), ["/todo approve"]),
        (entered(digest="ffffffff"), ["/todo approve"]),
    ],
    ids=["nothing sent", "words sent", "the rest of a burst", "in a burst", "another question"],
)
def test_the_judge_refuses_every_other_enter(enter: Pressed, sent: list[str]) -> None:
    assert len(wrong([APPROVED], [enter], sent)) == 1


def test_the_emulator_finds_the_question_on_the_screen() -> None:
    emulator = Emulator(60, 6)
    emulator.feed("┏━ Approve 002? · keep ━━━━━┓\r\n┃ runs  touch 가 ┃\r\n┃ 1 Approve  3 Reject ┃\r\n")
    emulator.feed("┗━ digest 0123abcd · read to the end to decide by key: PgDn, End ━┛\r\n")
    sight = emulator.look()
    assert (sight.digest, sight.focused, sight.more) == ("0123abcd", True, True)
    assert sight.places == ((1, 3, 3), (3, 14, 3))


def test_an_end_was_read_only_once_it_stood_on_the_screen() -> None:
    ends, lines = Ends(), ["runs  touch a", "in    /tmp/b c ▂"]
    text = Text("0123abcd", squeezed(lines), squeezed(lines[-1:]))
    ends.saw(Sight(digest="0123abcd", rows=("runs  touch a", "more")), text)
    ends.saw(Sight(digest="ffffffff", rows=tuple(lines)), text)
    assert not ends.has(text)
    ends.saw(Sight(digest="0123abcd", rows=("in    /tmp/b c │",)), text)
    assert ends.has(text)
    assert not ends.has(Text("0123abcd", text.whole + "x", text.end))  # it says something else since


def test_a_key_counts_from_when_it_was_pressed_not_from_when_the_console_came_to_it() -> None:
    now = [100.0]
    guard = KeyGuard(Unheard(), lambda: now[0])
    guard.drawn()
    now[0] = 100.7
    guard.acts(guard.now - 0.4)  # the console was busy: the key came 0.3 s after what was drawn
    assert not guard.decides
    now[0] = 101.6
    guard.acts(guard.now - 0.1)
    assert guard.decides


def test_a_click_counts_from_when_it_was_made() -> None:
    now = [100.0]
    guard = KeyGuard(Unheard(), lambda: now[0])
    guard.drawn()
    now[0] = 100.7
    guard.click(late=0.4)
    assert not guard.click_decides
    guard.click()
    assert guard.click_decides


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(400)
@pytest.mark.parametrize("seed", ["a", pytest.param("b", marks=pytest.mark.slow)])
def test_no_race_decides_anything_or_loses_a_character(seed: str) -> None:
    outcomes = asyncio.run(inside(seed, range(12)))
    assert [(o.number, o.wrong, o.lost, o.moved, o.missed) for o in outcomes if o.bad] == []
    assert sum(o.decisions for o in outcomes) > 0 and sum(o.keys for o in outcomes) > 100
