"""Text typed while the question has the focus: none of it decides, and no dialog opens on another (C3)."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import RISE, Console, console
from test_known_failures import burst, undecided
from test_review import begun, place
from test_shapes_console import asking
from textual import events
from textual.widgets import TextArea

from hitl_tui.console.dialogs.answer_dialog import TextAnswer
from hitl_tui.console.dialogs.prompt_dialogs import WordsDialog, WordsInput
from hitl_tui.core.todos import Status

pytestmark = pytest.mark.long

KEYS = ["r", "3", "ㄱ", "2", "d", "7", "w", "j", "u", "9", "z"]
SOON = "Too soon after the last key; nothing was decided"


async def typed(c: Console, *names: str) -> None:
    """Type ten keys a second."""
    await c.press(*names)


def dialogs(c: Console) -> list[str]:
    return [type(s).__name__ for s in c.app.screen_stack if s is not c.session and s is not c.app.home]


async def closed(c: Console) -> None:
    while c.app.screen is not c.session:
        c.clock.rest()
        await c.press("escape")
    c.clock.rest()


@pytest.mark.slow
@pytest.mark.long
async def test_words_typed_over_a_question_decide_nothing_whatever_they_begin_with(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        for key in KEYS:
            await c.to_question()
            await c.read_on()
            await typed(c, key, *"eally", "space", *"good", "enter", "ctrl+s", "f9")
            assert undecided(c), key
            assert len(dialogs(c)) <= 1, key
            await closed(c)


async def test_a_reason_that_was_typed_without_a_pause_waits_for_one(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.to_question()
        await c.press("r")
        await c.until(lambda: isinstance(c.app.screen, WordsDialog), "the reason")
        await typed(c, *"eally", "enter")
        assert str(c.app.screen.query(".dialog").first().border_subtitle) == SOON
        assert c.app.screen.query_one(WordsInput).value == "eally" and undecided(c)
        c.clock.rest(0.5)
        await typed(c, "enter")
        await c.until(lambda: c.status("todo_001") == Status.FAILED, "rejected")
        assert c.snapshot.todos[0].error == "rejected by ops: eally"


async def test_keys_that_edit_a_reason_act_in_the_order_in_which_they_were_typed(tmp_path: Path) -> None:
    """Over a slow link several keys arrive at once; a Backspace that came last would delete another character."""
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.to_question()
        await c.press("r")
        await c.until(lambda: isinstance(c.app.screen, WordsDialog), "the reason")
        for name in (*"abx", "backspace", "c", "left", "left", "y", "delete", "z", "end", "1"):
            c.app.post_message(events.Key(name, name if len(name) == 1 else None))
        line = c.app.screen.query_one(WordsInput)
        await c.until(lambda: line.value.endswith("1"), "all of it")
        await c.pilot.pause()
        assert line.value == "ayzc1"


async def test_a_dialog_says_that_it_is_ready_only_once_it_sends(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.to_question()
        await c.press("r")
        await c.until(lambda: isinstance(c.app.screen, WordsDialog), "the reason")
        await typed(c, *"eally")
        c.clock.rest(0.25)
        await typed(c, "left")
        c.clock.rest(0.25)
        words = c.app.screen
        assert isinstance(words, WordsDialog) and words.remaining > 0  # the last text is longer ago than the last key
        await typed(c, "enter")
        assert str(words.query(".dialog").first().border_subtitle) == SOON and undecided(c)
        c.clock.rest(0.5)
        assert words.remaining == 0
        await typed(c, "enter")
        await c.until(lambda: c.status("todo_001") == Status.FAILED, "rejected")


async def test_a_pause_anywhere_since_the_dialog_opened_is_enough(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.to_question()
        await c.press("3")
        await c.until(lambda: isinstance(c.app.screen, WordsDialog), "the reason")
        c.clock.rest(0.5)
        await typed(c, *"no", "enter")
        await c.until(lambda: c.status("todo_001") == Status.FAILED, "rejected")


async def test_an_answer_in_words_waits_for_a_pause_too(tmp_path: Path) -> None:
    async with asking(tmp_path, "approval") as c:
        await c.to_question()
        await c.read_on()
        await c.press("w")
        await c.until(lambda: isinstance(c.app.screen, TextAnswer), "the answer")
        await typed(c, *"ell", "enter")
        assert isinstance(c.app.screen, TextAnswer) and c.app.screen.query_one(TextArea).text == "ell"
        assert str(c.app.screen.query(".dialog").first().border_subtitle) == SOON


@pytest.mark.parametrize("rested", [True, False])
async def test_of_what_is_typed_at_once_at_most_the_first_key_opens_a_dialog(tmp_path: Path, rested: bool) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        for text in ("/rules", "really good idea\r", "well done\r", "ldldld", "d l9", "all good 6\r"):
            await c.press("escape", "ctrl+g")
            if rested:
                c.clock.rest()
            burst(c, text)
            for __ in range(12):
                await c.pilot.pause(0.01)
                assert len(dialogs(c)) <= 1, text
            assert undecided(c), text
            await closed(c)


async def test_a_rule_that_isnt_confirmed_says_that_nothing_was_written(tmp_path: Path) -> None:
    async with console(tmp_path / "d", place(tmp_path / "w"), query="The cap", mode="risk") as c:
        await begun(c, "note file=one")
        for key in ("enter", "escape", "2"):
            await c.to_question()
            await c.press("7")
            await c.until(lambda: dialogs(c) == ["RuleDialog"], "the rule")
            await c.press(key)
            await c.until(lambda: c.message == "Nothing was written.", "what became of it")
            c.session.say("")
