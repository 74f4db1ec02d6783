"""What comes all at once without the marks of a paste, and what is typed while a session opens (C3)."""

from __future__ import annotations

from pathlib import Path

import pytest
from terminal_support import CTRL_G, EXAMPLE, Terminal, shown

pytestmark = pytest.mark.long

RISE = "A landlord wants to raise a deposit from 300 million to 1 billion won. Is that legal?"
SIZE = (120, 40)


def waits(data: Path) -> bool:
    """Return whether the first TODO still asks, and nobody decided anything."""
    return bool(shown(data, "s1")["todos"][0]["status"] == "waiting_approval")


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "text",
    [
        "hello\r/todo approve\r",
        *[pytest.param(text, marks=pytest.mark.slow) for text in ("\r/todo approve\r", "/todo approve\r")],
        f"{CTRL_G}1",
    ],
)
def test_nothing_in_a_burst_is_sent_or_decides(tmp_path: Path, text: str) -> None:
    with Terminal(tmp_path, SIZE, "--workspace", str(EXAMPLE), RISE) as terminal:
        terminal.see("6 Details")
        terminal.keys(CTRL_G)
        terminal.ready()
        terminal.keys("\x1b")
        terminal.see("Ctrl+G to answer")
        terminal.keys(text)
        terminal.see("all at once" if "\x07" in text else "/todo approve")
        assert waits(tmp_path)
        assert terminal.leave() == 0
        assert waits(tmp_path)


def test_words_that_begin_with_a_digit_are_words(tmp_path: Path) -> None:
    with Terminal(tmp_path, SIZE, "--workspace", str(EXAMPLE), RISE) as terminal:
        terminal.decide("10 days notice", "6 Details")
        terminal.see("› 10 days notice")
        assert waits(tmp_path)
        terminal.keys(CTRL_G)
        terminal.ready()
        terminal.keys("1")
        terminal.see("done")


def test_what_is_typed_while_a_session_opens_is_in_its_prompt(tmp_path: Path) -> None:
    with Terminal(tmp_path, SIZE, "--workspace", str(EXAMPLE)) as terminal:
        terminal.see("your question or job")
        terminal.send(RISE)
        # With the next key at once, Enter would be a burst's; a quick session is open by the time that is seen.
        terminal.see_one("Beginning", "opening", "6 Details")
        for character in "any way y":
            terminal.bytes_apart(character.encode())
        terminal.see("6 Details", "› any way y")
        assert waits(tmp_path)
