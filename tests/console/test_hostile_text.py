"""Hostile text in panes, titles, dialogs and fields: shown exactly, parsed by nobody (C10)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from console_support import EXAMPLE, RISE, Console, console
from rich.segment import Segment
from textual.events import Paste
from textual.widgets import Markdown

from hitl_tui.console.dialogs.prompt_dialogs import WordsDialog
from hitl_tui.console.widgets.answer_pane import AnswerPane, parser
from hitl_tui.console.widgets.stream_pane import Line, StreamPane, wrapped
from hitl_tui.console.widgets.text_search import TextSearch, lowered
from hitl_tui.core.safe_text import cell_width, safe_text
from hitl_tui.supervisor.activity import Activity

HOSTILE = (
    "\x1b[2J\x1b]0;t\x07\x1b]8;;http://e\x1b\\\x9b1m\u202ea\u2066b\u200bc\U000e0041d [@click=app.quit]x[/] [/ [red]r"
)
MOVING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e0fff]")


def drawn(c: Console) -> str:
    """What is on the screen, row by row."""
    return "\n".join(strip.text for strip in c.app.screen._compositor.render_strips())


def clickable(c: Console) -> list[Segment]:
    """Actions and links that text on the screen carries."""
    found = []
    for strip in c.app.screen._compositor.render_strips():
        for segment in strip:
            if segment.style is not None and (segment.style.link or "@click" in segment.style.meta):
                found.append(segment)
    return found


async def test_the_stream_shows_it_exactly(tmp_path: Path) -> None:
    async with console(tmp_path, EXAMPLE, query=RISE, size=(140, 40)) as c:
        await c.asked()
        text = safe_text(HOSTILE, multiline=False)
        c.session.query_one(StreamPane).add([Line("todo_001", "12:00:00 001 ", text)])
        await c.pilot.pause()
        assert text in drawn(c).replace("│", "")
        assert not MOVING.search(drawn(c).replace("\n", ""))
        assert clickable(c) == []


async def test_an_answer_has_no_links_no_entities_and_no_markup(tmp_path: Path) -> None:
    said = (
        '# Answer\n\n[bank](http://evil.example "t") <http://auto.example> ![i](http://e/x.png) [ref][r]\n\n'
        "&#x202e;entity &lt; <b onclick=x>html</b> <!-- comment --> [@click=app.quit]x[/]\n\n[r]: http://ref.example\n\n"
        f"> quoted {HOSTILE}\n\n| a | b |\n| - | - |\n| [l](http://cell) | `code` |\n"
    )
    async with console(tmp_path, EXAMPLE, query=RISE, size=(140, 60)) as c:
        await c.asked()
        await c.session.query_one(AnswerPane).show({"text": said})
        c.session.show_pane("answer", focus=True)
        await c.pilot.pause()
        text = drawn(c)
        for written in (
            "[bank](http://evil.example",
            "<http://auto.example>",
            "![i](http://e/x.png)",
            "&#x202e;entity &lt; <b onclick=x>html</b> <!-- comment --> [@click=app.quit]x[/]",
            "[r]: http://ref.example",
            "␛[2J␛]0;t␇",
        ):
            assert written in text
        assert not MOVING.search(text.replace("\n", ""))
        assert clickable(c) == []
        assert c.session.query_one(Markdown)._open_links is False


@pytest.mark.parametrize("text", ["&#x202e;", "&#27;", "&amp;", "<b>x</b>", "[a](b)", "<http://a.b>", "![a](b)"])
def test_the_parser_leaves_text_as_it_was_written(text: str) -> None:
    tokens = parser().parse(text)
    inline = next(t for t in tokens if t.type == "inline")
    assert "".join(child.content for child in inline.children or ()) == text
    assert {child.type for child in inline.children or ()} == {"text"}


async def test_titles_messages_and_the_windows_title(tmp_path: Path) -> None:
    async with console(tmp_path, EXAMPLE, query="law \u202e [@click=app.quit]x[/] [/ now", size=(140, 40)) as c:
        await c.asked()
        c.app.say(safe_text(HOSTILE, multiline=False), error=True)
        c.session.query_one(StreamPane).border_subtitle = TextSearch().shown("")
        await c.pilot.pause()
        text = drawn(c)
        assert " law ⟨U+202E⟩ [@click=app.quit]x[/] [/ now " in text.split("\n")[0]
        assert "error: ␛[2J␛]0;t␇" in text
        assert not MOVING.search(text.replace("\n", ""))
        assert clickable(c) == []


async def test_what_is_looked_for_may_be_hostile(tmp_path: Path) -> None:
    async with console(tmp_path, EXAMPLE, query=RISE, size=(140, 40)) as c:
        await c.asked()
        stream = c.session.query_one(StreamPane)
        stream.add([Line("", "", safe_text(HOSTILE, multiline=False))])
        c.session.show_pane("stream", focus=True)
        await c.press("slash")
        stream.post_message(Paste("\x1b[2J"))
        await c.pilot.pause()
        assert stream.finding.text == "␛[2J"
        assert "1 of 1" in drawn(c)
        await c.press("escape", "slash")
        stream.post_message(Paste("[@click=app.quit]x[/"))
        await c.pilot.pause()
        assert "/[@click=app.quit]x[/" in drawn(c)
        assert clickable(c) == []


@pytest.mark.long
async def test_dialogs_parse_nothing(tmp_path: Path) -> None:
    async with console(tmp_path, EXAMPLE, query=f"{RISE} [@click=app.quit]x[/] [/") as c:
        await c.asked()
        await c.to_question()
        await c.press("3")
        await c.until(lambda: isinstance(c.app.screen, WordsDialog), "the dialog")
        assert clickable(c) == []
        await c.press("escape")
        await c.press("6")
        await c.pilot.pause()
        assert "[@click=app.quit]x[/] [/" in drawn(c)
        assert clickable(c) == []


def test_a_megabyte_in_one_line_is_broken_and_nothing_lost() -> None:
    text = "A" * 1_000_000
    rows = wrapped(Line("", "12:00:00 001 ", text), 100)
    assert all(cell_width(row) <= 100 for row in rows)
    assert sum(row.count("A") for row in rows) == 1_000_000


def test_comparing_keeps_places() -> None:
    for text in ("İstanbul", "ẞ", "보증금", "ΑΣ"):
        assert len(lowered(text)) == len(text)


def test_an_activity_is_clean_before_it_is_a_line() -> None:
    from hitl_tui.console.widgets.stream_pane import stream_line

    line = stream_line(Activity(1, "2026-01-01T00:00:00+00:00", "todo_\x1b[2J", "line", "clean"))
    assert line is not None and not MOVING.search(line.head)


def test_what_a_question_says_at_once_is_no_line_of_the_stream() -> None:
    from hitl_tui.console.widgets.stream_pane import stream_line

    at = "2026-01-01T00:00:00+00:00"
    assert stream_line(Activity(1, at, "todo_001", "doubt", "")) is None
    assert stream_line(Activity(1, at, "todo_001", "interrupted", "mail → ask")) is None
    assert stream_line(Activity(2, at, "todo_001", "line", "")) is not None, "an empty line that a team put out"
