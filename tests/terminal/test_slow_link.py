"""Over a slow link: little is written, nothing is cleared, and what is on the screen is what should be there (C10)."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from terminal_support import CTRL_G, EXAMPLE, Terminal

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

RISE = "A landlord wants to raise a deposit from 300 million to 1 billion won. Is that legal?"
REDRAW = "\x0c"
CLEARED = re.compile(r"\x1b\[[0-3]?J|\x1b\[[0-2]?K|\x1bc")
F1, F4, F6, F7 = "\x1bOP", "\x1bOS", "\x1b[17~", "\x1b[18~"
WALK = (
    "x",
    "y ",
    "\x7f",
    "\x0a",
    CTRL_G,
    F1,
    F4,
    F6,
    F6,
    F7,
    "\x1b[A",
    "\x1b[B",
    "\x1b[5~",
    "\x1b[6~",
    "\x1b",
    "j",
    "한",
)


def rested(terminal: Terminal) -> None:
    """Wait until nothing was written for a while."""
    for __ in range(4):
        terminal.until(lambda: True, "a pause")


def cells(terminal: Terminal) -> list[list[tuple[str, ...]]]:
    screen = terminal.screen
    return [[tuple(map(str, screen.buffer[y][x])) for x in range(screen.columns)] for y in range(screen.lines)]


def cost(terminal: Terminal, act: Callable[[], None]) -> int:
    """Return how many bytes something takes."""
    before = len(terminal.written)
    act()
    rested(terminal)
    return len(terminal.written[before:].encode())


def screenful(terminal: Terminal) -> int:
    return cost(terminal, lambda: terminal.keys(REDRAW))


@pytest.mark.parametrize(
    "size", [pytest.param(size, marks=pytest.mark.slow) for size in ((80, 24), (120, 40))], ids=str
)
def test_what_is_on_the_screen_is_what_drawing_all_of_it_gives(tmp_path: Path, size: tuple[int, int]) -> None:
    draw = random.Random(7)
    with Terminal(tmp_path / "d", size, "--workspace", str(EXAMPLE)) as terminal:
        terminal.see("your question or job")
        terminal.send(RISE)
        terminal.see("6 Details")
        for step in range(12):
            keys = draw.choices(WALK, k=3)
            for key in keys:
                terminal.keys(key)
                rested(terminal)
            seen = cells(terminal)
            assert screenful(terminal) > size[0] * size[1] / 4, "Ctrl+L draws everything"
            assert cells(terminal) == seen, f"step {step}: {keys}"


def test_after_another_program_had_the_terminal_everything_is_drawn(tmp_path: Path) -> None:
    with Terminal(tmp_path / "d", (80, 24), "--workspace", str(EXAMPLE)) as terminal:
        terminal.see("your question or job")
        rested(terminal)
        seen = terminal.text
        terminal.scribble("\x1b[5;5HSomething else wrote this.")
        assert "Something else" in terminal.text
        terminal.keys(REDRAW)
        terminal.see("your question", without="Something else")
        assert terminal.text == seen


def test_what_changes_little_takes_little_and_nothing_is_cleared(tmp_path: Path) -> None:
    with Terminal(tmp_path / "d", (120, 40), "--workspace", str(EXAMPLE)) as terminal:
        terminal.see("your question or job")
        rested(terminal)
        start = len(terminal.written)
        whole = screenful(terminal)
        assert cost(terminal, lambda: terminal.keys("x")) < whole / 10
        terminal.keys("\x7f")
        terminal.send(RISE)
        terminal.see("6 Details")
        rested(terminal)
        whole = screenful(terminal)
        assert cost(terminal, lambda: terminal.keys("x")) < whole / 10
        assert cost(terminal, lambda: terminal.keys("\x7f")) < whole / 10
        assert cost(terminal, lambda: terminal.keys(CTRL_G)) < whole
        assert cost(terminal, lambda: terminal.keys("\x1b")) < whole
        assert not CLEARED.search(terminal.written, start)


def test_a_character_that_comes_byte_by_byte_is_typed_whole(tmp_path: Path) -> None:
    with Terminal(tmp_path, (80, 24), "--workspace", str(EXAMPLE)) as terminal:
        terminal.see("ASK EVERY STEP")
        for character in "보증금 5%":
            terminal.bytes_apart(character.encode())
        terminal.see("보증금 5%")
