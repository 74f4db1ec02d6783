"""The pictures of the documentation show the console as it is."""

from __future__ import annotations

import difflib
import html
import re
import sys
from pathlib import Path

import pytest
from draw import HERE, PICTURES, WALKED, taken
from scenes import Walk

NEWER = "draw it anew with `python tests/pictures/draw.py`, look at it, and commit it if it is what you want"


_WORDS = re.compile("<text[^>]*>([^<]*)</text>")


async def differing(walk: Walk, language: str) -> dict[str, str]:
    """Return the pictures that the console draws otherwise now, each with its words that are other ones."""
    found = {}
    async for picture, text in taken(walk, language):
        path = HERE / picture.file
        kept = path.read_text(encoding="utf-8") if path.is_file() else ""
        if kept != text:
            words = difflib.ndiff(*([html.unescape(word) for word in _WORDS.findall(svg)] for svg in (kept, text)))
            found[picture.file] = "\n".join(word for word in words if word[0] in "+-") or "(other colours or places)"
    return found


@pytest.mark.sampled(3)
@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="the folder that is shown has another name elsewhere")
@pytest.mark.parametrize(("walk", "language"), WALKED, ids=lambda value: getattr(value, "__name__", value))
async def test_the_pictures_are_what_is_drawn_now(walk: Walk, language: str) -> None:
    other = await differing(walk, language)
    if other:  # two things that happen at once may come into the stream in either order
        again = await differing(walk, language)
        other = {name: words for name, words in again.items() if name in other}
    told = [f"{name} isn't what the console draws now:\n{words}" for name, words in sorted(other.items())]
    assert not other, "\n".join([*told, NEWER])


def test_the_pictures_are_there_small_and_name_no_host() -> None:
    assert {path.name for path in HERE.glob("*.svg")} == {picture.file for picture in PICTURES}
    for path in HERE.glob("*.svg"):
        text = Path(path).read_text(encoding="utf-8")
        assert len(text.encode()) < 64_000
        assert re.findall(r"\w+://[^\"'\s]+", text) == ["http://www.w3.org/2000/svg"]
