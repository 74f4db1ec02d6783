"""Words are looked for in a text on the whole screen, and what is seen of it is copied, as in the stream (C1, C2)."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import Console, console
from textual.content import Content

from hitl_tui.console.dialogs.text_viewer import TextViewer
from hitl_tui.console.dialogs.viewer_text import FoundLine, SearchedText
from hitl_tui.wording.rows import labelled, markdown_row, text_row

OUTPUT = "\n".join(f"line {n:05d}" for n in range(5_000))
ROWS = [
    labelled("step", "003, the one with the many lines"),
    text_row("words in rows " * 40 + "at the end of a row"),
    markdown_row(f"# Result\n\n{'Some words that fill lines. ' * 12}Twelve are enough.\n\n```\n{OUTPUT}\n```\n"),
]


async def shown(c: Console, opened_by: str = "") -> SearchedText:
    c.app.push_screen(TextViewer("Step 003", ROWS, opened_by))
    await c.until(lambda: isinstance(c.app.screen, TextViewer) and c.app.screen.query(SearchedText), "the text")
    text = c.app.screen.query_one(SearchedText)
    await c.until(lambda: text.max_scroll_y > 4_900, "all lines")
    return text


def foot(text: SearchedText) -> str:
    return Content.from_markup(str(text.border_subtitle)).plain


def seen(text: SearchedText) -> list[str]:
    """What is drawn in the rows of the text."""
    top, rows = text.scrollable_content_region.y, text.scrollable_content_region.height
    return [strip.text for strip in text.screen._compositor.render_strips()[top : top + rows]]


@pytest.mark.long
async def test_words_are_found_in_rows_and_in_results_and_the_keys_go_from_match_to_match(tmp_path: Path) -> None:
    async with console(tmp_path, size=(80, 24)) as c:
        text = await shown(c)
        assert "/ Find" in foot(text) and "y Copy" in foot(text)
        await c.press("slash", *"04321")
        assert "/04321" in foot(text) and "1 of 1" in foot(text)
        await c.until(lambda: any("line 04321" in line for line in seen(text)), "the line")
        (mark,) = text.query(FoundLine)
        await c.until(lambda: "line 04321" in seen(text)[mark.region.y - text.content_region.y], "it is marked")
        await c.press("escape")
        assert "Close" in foot(text) and isinstance(c.app.screen, TextViewer) and not mark.display
        await c.press("g", "slash", *"0499", "enter")
        assert "1 of 11" in foot(text), "00499, and 04990 to 04999"
        await c.press("n", "n")
        assert "3 of 11" in foot(text)
        await c.press("p", "p", "p")
        assert "11 of 11" in foot(text), "round about"
        await c.press("slash", *"end of a row")
        await c.until(lambda: "1 of 1" in foot(text) and text.scroll_offset.y == 0, "above")
        await c.press("ctrl+u", *"twelve are", "enter")
        assert "1 of 1" in foot(text), "also where a line is broken between"
        await c.press("ctrl+u", "slash", *"nowhere", "enter")
        assert "not found" in foot(text)
        await c.press("n", "escape", "escape")
        await c.until(lambda: not isinstance(c.app.screen, TextViewer), "it is closed")


async def test_what_is_seen_is_copied(tmp_path: Path) -> None:
    async with console(tmp_path, size=(80, 24)) as c:
        text = await shown(c)
        await c.press("G")
        await c.until(lambda: any("line 04999" in line for line in seen(text)), "the end")
        await c.press("y")
        assert foot(text).startswith("Copied 21 lines, if the terminal allows it. · Esc Close")
        lines = [line.strip() for line in c.app.clipboard.splitlines()]
        assert lines == [f"line {5_000 - n:05d}" for n in range(len(lines), 0, -1)] and len(lines) > 10


async def test_the_key_that_opened_it_is_a_letter_while_words_are_typed(tmp_path: Path) -> None:
    async with console(tmp_path, size=(80, 24)) as c:
        text = await shown(c, "question.6")
        await c.press("slash", "d", "q", "6")
        assert "/dq6" in foot(text)
        await c.press("escape", "d")
        await c.until(lambda: not isinstance(c.app.screen, TextViewer), "it is closed")
