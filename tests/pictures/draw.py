"""Draws the pictures of the documentation anew: `python tests/pictures/draw.py`.

What changed is seen by `git diff --stat tests/pictures` and by looking at the files; committing them accepts it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import rooms
from scenes import Walk, first_start, inner, kinds, lease, risky, store
from stage import Shown, folder, steady
from svg import drawn

from hitl_tui.language import using

HERE = Path(rooms.__file__).resolve().parent


class Picture(NamedTuple):
    """One picture.

    Args:
        walk: where its screen comes up.
        screen: its name.
        size: columns and rows.
        theme, language: how it looks and what it speaks.
    """

    walk: Walk
    screen: str
    size: tuple[int, int]
    theme: str = "dark"
    language: str = "en"

    @property
    def file(self) -> str:
        """Its file."""
        columns, rows = self.size
        return f"{self.screen}-{columns}x{rows}-{self.theme}-{self.language}.svg"


WIDE, USUAL = (120, 40), (80, 24)
PICTURES = (
    Picture(first_start, "home", USUAL),
    Picture(risky, "question-command", WIDE),
    Picture(risky, "question-command", USUAL, "light", "ko"),
    Picture(risky, "edit-command", USUAL),
    Picture(kinds, "review", WIDE),
    Picture(kinds, "inbox", USUAL, "light"),
    Picture(lease, "question-analysis", WIDE, "dark", "ko"),
    Picture(lease, "answer", WIDE, "light"),
    Picture(lease, "replay-diff", WIDE),
    Picture(lease, "replay-restore", USUAL, "light", "ko"),
    Picture(inner, "answer-form", USUAL),
    Picture(store, "store-thread", WIDE),
)


async def taken(walk: Walk, language: str) -> AsyncIterator[tuple[Picture, str]]:
    """Yield the pictures of one walk in one language, each with its SVG document."""
    wanted = [p for p in PICTURES if p.walk is walk and p.language == language]
    with using(language), folder() as root:
        screens = walk(root, language)
        async for seen in screens:
            for picture in [p for p in wanted if p.screen == seen.name]:
                wanted.remove(picture)
                yield picture, await _taken(seen, picture)
            if not wanted:
                break
            await seen.at(WIDE)
        await screens.aclose()
    assert not wanted, wanted


async def _taken(seen: Shown, picture: Picture) -> str:
    app = seen.app
    usual, app.theme = app.theme, picture.theme
    await seen.at(picture.size)
    await seen.armed()
    rows = steady(seen.drawn().strips)
    found = drawn(rows, app.current_theme.background or "#000000", app.ansi_theme)
    app.theme = usual
    return found


WALKED = sorted({(p.walk, p.language) for p in PICTURES}, key=lambda pair: (pair[0].__name__, pair[1]))


async def _draw() -> None:
    for walk, language in WALKED:
        async for picture, text in taken(walk, language):
            path = HERE / picture.file
            same = path.is_file() and path.read_text(encoding="utf-8") == text
            path.write_text(text, encoding="utf-8")
            print(f"{'as it was' if same else 'drawn anew'}  {picture.file}  {len(text) // 1024} KB", flush=True)
    for path in HERE.glob("*.svg"):
        if path.name not in {p.file for p in PICTURES}:
            path.unlink()


if __name__ == "__main__":
    asyncio.run(_draw())
