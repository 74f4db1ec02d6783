"""A screen of the console as it is drawn: its rows, and what differs from run to run made the same."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from rich.segment import Segment
from textual.app import App
from textual.geometry import Region
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widgets import Input, TextArea

from hitl_tui.core.safe_text import cell_width

SIZES = ((120, 40), (80, 24))
LANGUAGES = ("en", "ko")
ARMED = 0.6
"""Seconds after which a question looks whether keys decide."""

_DAY = date(2026, 3, 2)
_HALF_DAY = timedelta(hours=12)
"""What the sandbox's files are older than their age in days."""
_HEX = "5f1e9c07b2d84a63e9f01c7d5a28b64c" * 2


def _day(found: re.Match[str]) -> str:
    """Return a day as long before the one of the pictures as it was before today."""
    try:
        passed = (datetime.now(UTC) - _HALF_DAY).date() - datetime.strptime(found[0], "%Y%m%d").date()
    except ValueError:
        return found[0]
    return (_DAY - passed).strftime("%Y%m%d") if abs(passed.days) < 400 else found[0]


def _waited(found: re.Match[str]) -> str:
    """Return how long something waits or runs, as wide as it is."""
    return ("for 0:07" if ":" in found[0] else "for 0.2 s").ljust(len(found[0]))


_Changing = tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...]
# What differs from run to run; each stands in as many cells as what it replaces.
_CHANGING: _Changing = (
    (re.compile(r"/tmp/hitl-[a-z0-9_]{8}"), lambda found: "/home/ops/projects"),
    (re.compile(r"\b20\d{6}\b"), _day),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), lambda found: "09:41:07"),
    (re.compile(r"(?<=^..)\d\d(?::\d{0,2}){0,2}(?=[│┃╭╰┏┗])"), lambda found: "09:41:07"[: len(found[0])]),
    (re.compile(r"\b20\d\d-\d\d-\d\d \d\d:\d\d\b"), lambda found: "2026-03-02 09:41"),
    (re.compile(r"\bfor (?:\d+\.\d s|\d+:\d\d)(?![:\d])"), _waited),
    (re.compile(r"(?<![\d.])\d\.\d s\b"), lambda found: "0.2 s"),
    (re.compile(r"(?<![\d.])\d\.\d초"), lambda found: "0.2초"),
    (re.compile(r"(?<![:\d])\d:\d\d(?![:\d])"), lambda found: "9:12"),
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), lambda found: _uuid()),
)
_DIGEST = re.compile(r"\b(?!20\d{6}\b)[0-9a-f]{8,64}\b")


def _uuid() -> str:
    return "-".join((_HEX[:8], _HEX[8:12], _HEX[12:16], _HEX[16:20], _HEX[:12]))


@dataclass(frozen=True)
class Shown:
    """A named screen that is up.

    Args:
        name: of the screen, see `scenes.NAMES`.
        app: what draws it.
        pilot: its hands.
        runs: what would run, which has to be readable to its end on it.
        wait: lets the clock of the keys go on, so that they decide.
    """

    name: str
    app: App[Any]
    pilot: Pilot[Any]
    runs: tuple[str, ...] = ()
    wait: Callable[[], None] = lambda: None

    async def at(self, size: tuple[int, int]) -> None:
        """Give the terminal another size, and wait until everything has its place."""
        if tuple(self.app.size) != size:
            await self.pilot.resize_terminal(*size)
        await self.rest()

    async def rest(self) -> None:
        """Wait until nothing moves any more."""
        for _ in range(3):
            await self.pilot.pause()
        await self.pilot.wait_for_scheduled_animations()

    async def armed(self) -> None:
        """Wait until keys decide and say so, and until no cursor blinks."""
        self.wait()
        await self.pilot.pause(ARMED)
        for field in (*self.app.screen.query(Input), *self.app.screen.query(TextArea)):
            field._pause_blink(visible=True)
        await self.rest()

    def drawn(self) -> Drawn:
        """Return what is drawn now."""
        return Drawn(self.app.screen._compositor.render_strips(self.app.size))


@dataclass(frozen=True)
class Drawn:
    """The rows of a screen."""

    strips: list[Strip]

    def sign(self, x: int, y: int) -> str:
        """Return what stands in one cell."""
        return self.strips[y].crop(x, x + 1).text

    def rows(self, region: Region | None = None) -> list[str]:
        """Return the rows as text, or a part of them."""
        if region is None:
            return [strip.text for strip in self.strips]
        return [strip.crop(region.x, region.right).text for strip in self.strips[region.y : region.bottom]]


@contextmanager
def folder() -> Iterator[Path]:
    """Return a new folder whose name is always of the same length, for it is shown."""
    root = Path(tempfile.mkdtemp(prefix="hitl-", dir="/tmp"))
    try:
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)


def steady(strips: list[Strip]) -> list[Strip]:
    """Return rows in which times, durations, digests and the folder of the run are always the same ones."""
    digests: dict[str, str] = {}

    def digest(found: re.Match[str]) -> str:
        """Return the same for the same, long or short, and another for another."""
        at = 5 * len(digests) % len(_HEX)
        return digests.setdefault(found[0][:8], (_HEX[at:] + _HEX)[: len(_HEX)])[: len(found[0])]

    return [_steady(strip, (*_CHANGING, (_DIGEST, digest))) for strip in strips]


def _steady(strip: Strip, changing: _Changing) -> Strip:
    for pattern, instead in changing:
        for found in pattern.finditer(strip.text):
            begin = cell_width(strip.text[: found.start()])
            end = begin + cell_width(found[0])
            style = next(s.style for s in strip.crop(begin, end))
            strip = Strip.join([strip.crop(0, begin), Strip([Segment(instead(found), style)]), strip.crop(end)])
    return strip
