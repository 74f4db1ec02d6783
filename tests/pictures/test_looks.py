"""Each named screen at each size in each language: nothing that can be done is cut, and nothing is untranslated."""

from __future__ import annotations

import pytest
from looks import describe, problems, unreadable
from scenes import CONTENT, WALKS, Walk
from stage import LANGUAGES, SIZES, folder
from test_console import KNOWN

from hitl_tui.language import using

pytestmark = [pytest.mark.long, pytest.mark.timeout(240)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("walk", "language"),
    [
        pytest.param(
            walk,
            language,
            id=f"{walk.__name__}-{language}",
            marks=[] if language == "ko" and walk.__name__ not in ("kinds", "inner") else [pytest.mark.slow],
        )
        for walk in WALKS
        for language in LANGUAGES
    ],
)
async def test_nothing_is_cut_and_nothing_is_untranslated(walk: Walk, language: str) -> None:
    known, found = KNOWN | CONTENT, {}
    with using(language), folder() as root:
        async for seen in walk(root, language):
            for size in SIZES:
                await seen.at(size)
                what = problems(seen, language, known)
                if size == SIZES[-1]:
                    what += await unreadable(seen)
                if what:
                    found[f"{seen.name} at {size[0]}x{size[1]}"] = what
            await seen.at(SIZES[0])
    assert not found, describe(found)
