"""The pictures of the documentation show the console as it is."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from draw import HERE, PICTURES, WALKED, taken
from scenes import Walk

NEWER = "draw it anew with `python tests/pictures/draw.py`, look at it, and commit it if it is what you want"


async def differing(walk: Walk, language: str) -> set[str]:
    """Return the pictures that the console draws otherwise now."""
    found = set()
    async for picture, text in taken(walk, language):
        path = HERE / picture.file
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            found.add(picture.file)
    return found


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="the folder that is shown has another name elsewhere")
@pytest.mark.parametrize(("walk", "language"), WALKED, ids=lambda value: getattr(value, "__name__", value))
async def test_the_pictures_are_what_is_drawn_now(walk: Walk, language: str) -> None:
    other = await differing(walk, language)
    if other:  # two things that happen at once may come into the stream in either order
        other &= await differing(walk, language)
    assert not other, f"{', '.join(sorted(other))} isn't what the console draws now: {NEWER}"


def test_the_pictures_are_there_small_and_name_no_host() -> None:
    assert {path.name for path in HERE.glob("*.svg")} == {picture.file for picture in PICTURES}
    for path in HERE.glob("*.svg"):
        text = Path(path).read_text(encoding="utf-8")
        assert len(text.encode()) < 64_000
        assert re.findall(r"\w+://[^\"'\s]+", text) == ["http://www.w3.org/2000/svg"]
