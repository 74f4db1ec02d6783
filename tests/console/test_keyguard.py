"""The rules of the keyboard's guard, with a clock that only the test moves (C3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from console_support import Clock, late_by, lateness
from textual.events import Key, Paste
from textual.keys import _character_to_key

from hitl_tui.console.keyguard.guard import BlockReason, KeyGuard, KeyKind, Typed
from hitl_tui.console.keyguard.key_kinds import kind_bound
from hitl_tui.console.keys import KEYS

SLOW, FAST = 0.2, 0.01
"""Seconds between keys: of a person's, and of a burst's."""
NAMES = {"\r": "enter", " ": "space", "\x07": "ctrl+g", "\x1b": "escape", "\x13": "ctrl+s"}


class Desk:
    """A question, or a prompt, that somebody types at."""

    def __init__(self, *, question: bool) -> None:
        self.question = question
        self.prompt = ""
        self.sent: list[str] = []
        self.decided: list[str] = []
        self.told: list[BlockReason] = []
        self.busy = False
        """What is drawn isn't written to the terminal yet."""
        self.written: Callable[[], None] = lambda: None
        self.clock = Clock()
        self.guard = KeyGuard(self, self.clock)
        self.guard.lateness = lateness
        self.clock.rest(10)

    def kind_of(self, event: Typed) -> KeyKind:
        if isinstance(event, Paste):
            return KeyKind.TEXT
        if event.key == "ctrl+s":
            return KeyKind.COMMANDS
        if self.question:
            known = {"1": KeyKind.DECIDES, "a": KeyKind.DECIDES, "ㅁ": KeyKind.DECIDES, "j": KeyKind.LOOKS}
            return known.get(event.character or "", KeyKind.WORD if event.is_printable else KeyKind.OTHER)
        return KeyKind.SENDS if event.key == "enter" else KeyKind.TEXT if event.is_printable else KeyKind.OTHER

    def place(self) -> object:
        return self.question

    async def as_text(self, key: Key) -> bool:
        self.question = False
        await self.hand_on(key)
        return True

    async def hand_on(self, event: Typed) -> None:
        if isinstance(event, Paste):
            self.prompt += event.text
        elif event.key == "ctrl+g":
            self.question = not self.question
        elif event.key == "ctrl+s":
            self.sent.append("ctrl+s")
        elif not self.question and event.key == "enter":
            self.sent.append(self.prompt)
            self.prompt = ""
        elif not self.question and event.is_printable:
            self.prompt += event.character or ""
        elif event.is_printable and self.guard.decides:
            self.decided.append(event.key)

    def tell(self, why: BlockReason) -> None:
        self.told.append(why)

    def when_shown(self, callback: Callable[[], None]) -> None:
        self.written = callback
        if not self.busy:
            callback()

    def set_timer(self, delay: float, callback: Callable[[], Awaitable[None]]) -> Any:
        return Nothing()

    async def types(self, text: str, every: float) -> None:
        for character in text:
            await self.presses(Key(NAMES.get(character, _character_to_key(character)), character), every)

    async def presses(self, event: Typed, after: float) -> None:
        self.clock.rest(after)
        await self.guard.lapse()
        await self.guard.see(event)

    async def waits(self, seconds: float = 1.0) -> None:
        self.clock.rest(seconds)
        await self.guard.lapse()


class Nothing:
    """A timer that the test stands in for."""

    def stop(self) -> None:
        pass


@pytest.mark.parametrize("key", ["1", "a", "ㅁ"])
async def test_a_digit_or_letter_decides_once_it_stayed_alone(key: str) -> None:
    desk = Desk(question=True)
    await desk.types(key, SLOW)
    assert desk.decided == []
    await desk.waits()
    assert desk.decided == [_character_to_key(key)]


@pytest.mark.parametrize("text", ["10 days notice", "also check", "11", "just 1", "j1", "x1", "ㅁ1 "])
@pytest.mark.parametrize("every", [SLOW, FAST])
async def test_words_typed_at_a_question_are_text_whole_and_decide_nothing(text: str, every: float) -> None:
    desk = Desk(question=True)
    await desk.types(text, every)
    await desk.waits()
    assert (desk.prompt, desk.decided) == (text, [])


@pytest.mark.parametrize("text", ["hello\r/todo approve\r", "/todo approve\r", "x\r", "a b\r\rc\r"])
async def test_nothing_in_a_burst_is_sent_and_all_of_it_stands_there(text: str) -> None:
    desk = Desk(question=False)
    await desk.types(text, FAST)
    await desk.waits()
    assert (desk.prompt, desk.sent) == (text.replace("\r", "\n"), [])
    await desk.types("\r", SLOW)
    await desk.waits()
    assert desk.sent == [text.replace("\r", "\n")]


async def test_a_line_end_that_begins_a_burst_does_not_send_what_was_typed_before_it() -> None:
    desk = Desk(question=False)
    await desk.types("draft", SLOW)
    await desk.presses(Key("enter", "\r"), SLOW)
    await desk.types("/todo approve\r", FAST)
    await desk.waits()
    assert (desk.sent, desk.prompt) == ([], "draft\n/todo approve\n")


async def test_the_end_of_a_burst_that_a_slow_link_delivers_later_is_not_a_persons_enter() -> None:
    desk = Desk(question=False)
    await desk.types("/todo approve", FAST)
    await desk.presses(Key("enter", "\r"), 0.06)
    await desk.waits()
    assert desk.sent == []


async def test_enter_with_the_syllable_that_it_committed_sends() -> None:
    desk = Desk(question=False)
    await desk.types("안", SLOW)
    await desk.types("녕", SLOW)
    await desk.types("\r", FAST)
    await desk.waits()
    assert desk.sent == ["안녕"]
    await desk.types("안녕\r", FAST)
    await desk.waits()
    assert desk.sent == ["안녕"], "two at once are a paste"


@pytest.mark.parametrize("text", ["\x071", "\x07a\x07", "\x131"])
async def test_what_decides_in_one_burst_with_other_keys_is_dropped(text: str) -> None:
    desk = Desk(question="\x07" not in text)
    await desk.types(text, FAST)
    await desk.waits()
    assert (desk.decided, desk.sent) == ([], [])
    assert desk.told


async def test_a_key_that_goes_to_the_question_is_no_typing() -> None:
    desk = Desk(question=False)
    await desk.types("\x07", SLOW)
    await desk.types("1", 0.05)
    await desk.waits(0.35)
    assert desk.decided == ["1"]


async def test_after_typing_a_key_is_held_until_the_pause_ends() -> None:
    desk = Desk(question=False)
    await desk.types("x", SLOW)
    await desk.types("\x07", 0.04)
    await desk.types("1", 0.04)
    await desk.waits(0.38)
    assert desk.decided == []
    await desk.waits(0.05)
    assert (desk.decided, desk.prompt) == (["1"], "x")


async def test_a_key_that_is_held_for_the_pause_is_text_when_another_follows() -> None:
    desk = Desk(question=False)
    await desk.types("x", SLOW)
    await desk.types("\x07", 0.04)
    await desk.types("1", 0.04)
    await desk.types("0", 0.4)
    await desk.waits()
    assert (desk.decided, desk.prompt) == ([], "x10")


@pytest.mark.parametrize("after", [0.0, 0.3, 0.49])
async def test_a_key_within_half_a_second_after_the_question_was_drawn_decides_nothing(after: float) -> None:
    desk = Desk(question=True)
    desk.guard.drawn()
    await desk.types("1", after)
    await desk.waits()
    assert desk.decided == []


async def test_a_question_that_changes_while_a_key_is_held_is_not_answered_by_it() -> None:
    desk = Desk(question=True)
    await desk.types("1", SLOW)
    desk.guard.drawn()
    await desk.waits()
    assert desk.decided == []


async def test_a_key_is_for_where_it_was_pressed() -> None:
    desk = Desk(question=True)
    await desk.types("1", SLOW)
    desk.question = False
    await desk.waits()
    assert (desk.decided, desk.prompt, desk.told) == ([], "", [BlockReason.GONE])


@pytest.mark.parametrize("after", ["\x1b", "\x07"])
async def test_another_key_right_after_it_takes_it_back(after: str) -> None:
    desk = Desk(question=True)
    await desk.types("1", SLOW)
    await desk.types(after, SLOW)
    await desk.waits()
    assert (desk.decided, desk.told) == ([], [BlockReason.FOLLOWED])


@pytest.mark.parametrize("every", [0.02, 0.033, 0.25])
async def test_a_key_that_repeats_decides_at_most_once(every: float) -> None:
    desk = Desk(question=True)
    await desk.types("1", SLOW)
    await desk.presses(Key("1", "1"), 0.5)  # what a terminal waits before it repeats
    desk.guard.drawn()  # by the next question
    await desk.types("1" * 30, every)
    await desk.waits()
    assert desk.decided == ["1"]


async def test_a_key_that_came_while_the_console_was_busy_counts_from_when_it_was_pressed() -> None:
    desk = Desk(question=True)
    desk.guard.drawn()
    desk.clock.rest(0.7)
    await desk.guard.see(late_by(Key("1", "1"), 0.4))
    await desk.waits()
    assert desk.decided == []


async def test_another_page_begins_anew_and_what_is_held_is_dropped() -> None:
    desk = Desk(question=True)
    desk.guard.drawn()
    await desk.types("1", 2.0)
    desk.busy = True
    desk.guard.begin()
    await desk.types("1", 2.0)
    await desk.waits(2)
    assert desk.decided == [] and not desk.guard.rested_since(0), "the page hasn't shown anything yet"
    desk.written()
    assert not desk.guard.rested_since(0)
    await desk.types("1", 1.0)
    await desk.waits()
    assert desk.decided == ["1"] and desk.guard.rested_since(0)


async def test_a_key_decides_nothing_that_the_terminal_did_not_show_for_half_a_second() -> None:
    desk = Desk(question=True)
    desk.busy = True
    desk.guard.drawn()
    await desk.types("1", 2.0)
    await desk.waits(2)
    assert desk.decided == [], "it stood on no screen, however long ago it was drawn"
    desk.written()
    await desk.types("1", 0.3)
    await desk.waits(2)
    assert desk.decided == [], "it stood there for less than half a second"
    await desk.types("1", 1.0)
    await desk.waits(2)
    assert desk.decided == ["1"]


LOOKS = frozenset(
    {
        *(
            f"question.{name}"
            for name in ("mark", "next", "previous", "page_down", "page_up", "first", "last", "leave")
        ),
        *(f"plan.{name}" for name in ("show", "find", "choose", "steps", "filter", "first", "last", "leave")),
        *("plan.move_up", "plan.move_down", "plan.maximise"),
    }
)
"""Keys of the plan and the question that decide nothing: they look, mark, or change an order that is changed back."""


def test_every_key_of_the_plan_and_the_question_is_judged_or_known_to_decide_nothing() -> None:
    for spec in (spec for spec in KEYS if spec.id.startswith(("plan.", "question."))):
        kind = kind_bound(Key("1", "1"), spec.id)
        assert kind is (KeyKind.LOOKS if spec.id in LOOKS else KeyKind.DECIDES), spec.id
