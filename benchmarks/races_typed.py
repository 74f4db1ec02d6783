"""What a person types in a race, and what the race showed."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

WORDS = (
    "any way",
    "a quick answer 1",
    "and 3 more",
    "skip it",
    "yes 1",
    "error 42",
    "read 12 files",
    "analyse the cap too",
    "no",
    "1",
    "14 a",
    "all",
    "search the cap again",
    "집주인이 1 전세금을",
    "ㅁㄴㅇㄹ",
    "분석도 추가해줘",
    "안녕 3",
    "r",
    "ㅁ",
    "9",
    "0 u",
)
NOTICES = (
    "10 days notice",
    "2 of them",
    "1 or 2",
    "3rd floor, 4 rooms",
    "4u",
    "0 days",
    "9 to 5",
    "also 1",
    "1 동 2 호",
    "11",
    "just 1",
    "a1",
)
"""Words that begin with a key of a question and have others in them: typed at a question they are words."""
BURSTS = (
    "hello\r/todo approve\r",
    "/todo approve\r",
    "\r/todo approve\r",
    "1\r",
    "10 days\r1\r1",
    "1\n1\ny\r",
    "\x071",
    "\x07a1\r",
    "a\r",
    "r because\r",
    "가나 1\r",
    "\x13\x1b[20~1",
    "x\x7f1",
)
"""What comes all at once without the marks of a paste: from a clipboard, a macro, a multiplexer's send-keys."""
OPENINGS = ("any way y", "1", "10 days notice", "and then 3 more", "집주인이 1", "a", "/todo approve", "one\ntwo 2")
"""What is typed while a session opens."""
PASTES = ("1\n1\na\n", "approve all\nof them\n", "1", "yes\n\n", "여러 줄\n1\n", "a")
# Keys that move the focus, or open and close what lies over the screen: nothing else may move it.
MOVES = {
    "\x07": "ctrl+g",
    "\x1bOQ": "f2",
    "\x1b": "escape",
    "\x1b[Z": "shift+tab",
    "\t": "tab",
    "\x1b[17~": "f6",
}
OTHERS = {
    "\x04": "ctrl+d",
    "\x1b[6~": "pagedown",
    "\x1b[5~": "pageup",
    "\x1b[B": "down",
    "\x1b[A": "up",
    "\x0a": "ctrl+j",
}
RESTS = (0.02, 0.1, 0.3, 0.45, 0.49, 0.5, 0.51, 0.6, 0.9, 2.0)
SIZES = ((80, 24), (100, 30), (120, 40), (60, 20))
FILES = "abcdefgh"
PADDING = " " * 180


def file_name(dice: random.Random) -> str:
    """Return a name; sometimes one that pushes its end, and what comes after it, off the screen."""
    name = dice.choice(FILES)
    return f'"{name}{PADDING}{dice.choice(FILES)}"' if dice.random() < 0.15 else name


@dataclass
class Outcome:
    """What one race showed.

    Args:
        keys: keys typed.
        decisions: decisions on record that were this person's.
        wrong: decisions without a key that may decide.
        lost: how the text fields differ from what was typed.
        moved: how the focus moved, or another question came in the place of one, by itself.
        missed: what a person who looked, pressed one key and waited meant, and the record doesn't hold.
        opened: sessions opened while something was typed.
    """

    number: int
    keys: int = 0
    decisions: int = 0
    wrong: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    opened: int = 0

    @property
    def bad(self) -> bool:
        return bool(self.wrong or self.lost or self.moved or self.missed)
