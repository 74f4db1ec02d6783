"""What is written for changes leaves the terminal as if everything had been written (C10)."""

from __future__ import annotations

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, InlineUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from hitl_tui.terminal.compositor import Changes, TerminalPainter

WIDTH, HEIGHT = 12, 3
CONSOLE = Console(force_terminal=True, color_system="truecolor", width=WIDTH, height=HEIGHT)
STYLES = (None, Style.parse("bold red"), Style.parse("on blue"))
CUTS = (0, 4, 8, WIDTH)
Row = list[Strip]


def chop(letters: str, style: int) -> Strip:
    """Four cells: letters, wide ones as two."""
    text = letters
    while (strip := Strip([Segment(text, STYLES[style])])).cell_length > 4:
        text = text[:-1]
    return strip.extend_cell_length(4, STYLES[(style + 1) % 3])


chops = st.builds(chop, st.text("ab 가나│✓", max_size=4), st.integers(0, 2))
rows = st.lists(chops, min_size=3, max_size=3)
screens = st.lists(rows, min_size=HEIGHT, max_size=HEIGHT)
spans = st.lists(st.tuples(st.integers(0, HEIGHT - 1), st.integers(0, 8), st.integers(1, 4)), min_size=1, max_size=3)


def terminal(text: str, screen: pyte.Screen | None = None) -> pyte.Screen:
    screen = screen or pyte.Screen(WIDTH, HEIGHT)
    pyte.Stream(screen).feed(text)
    return screen


def cells(screen: pyte.Screen) -> list[list[pyte.screens.Char]]:
    return [[screen.buffer[y][x] for x in range(WIDTH)] for y in range(HEIGHT)]


def whole(screen: list[Row]) -> LayoutUpdate:
    return LayoutUpdate([list(row) for row in screen], Region(0, 0, WIDTH, HEIGHT))


def part(screen: list[Row], where: list[tuple[int, int, int]]) -> ChopsUpdate:
    lines = [dict(zip(CUTS[:-1], row, strict=True)) for row in screen]
    ends = [list(CUTS[1:]) for __ in screen]
    return ChopsUpdate(lines, [(y, x, x + size) for y, x, size in sorted(where)], ends)


@settings(max_examples=60)
@given(screens, st.lists(st.tuples(screens, st.none() | spans), max_size=4))
def test_the_terminal_is_as_if_everything_had_been_written(
    first: list[Row], then: list[tuple[list[Row], list[tuple[int, int, int]] | None]]
) -> None:
    painting = TerminalPainter()
    ours = terminal(painting.changes(whole(first), CONSOLE))
    stock = terminal(whole(first).render_segments(CONSOLE))
    for screen, where in then:
        update = whole(screen) if where is None else part(screen, where)
        terminal(painting.changes(update, CONSOLE), ours)
        terminal(update.render_segments(CONSOLE), stock)
        assert cells(ours) == cells(stock)


@settings(max_examples=60)
@given(screens, screens, spans)
def test_what_counts_as_shown_stands_on_the_terminal(
    before: list[Row], now: list[Row], where: list[tuple[int, int, int]]
) -> None:
    painting, region = TerminalPainter(), Region(0, 0, WIDTH, HEIGHT)
    strips = [Strip.join(row) for row in now]
    assert painting.shows(strips, region) is None, "nothing is known yet"
    written = painting.changes(whole(before), CONSOLE) + painting.changes(part(now, where), CONSOLE)
    if painting.shows(strips, region):
        shown, wanted = cells(terminal(written)), cells(terminal(TerminalPainter().changes(whole(now), CONSOLE)))
        assert [[cell.data for cell in row] for row in shown] == [[cell.data for cell in row] for row in wanted]
    painting.changes(whole(now), CONSOLE)
    assert painting.shows(strips, region)


@settings(max_examples=60)
@given(screens)
def test_what_is_there_is_not_written_again_until_it_is_forgotten(screen: list[Row]) -> None:
    painting = TerminalPainter()
    written = painting.changes(whole(screen), CONSOLE)
    assert written
    assert painting.changes(whole(screen), CONSOLE) == ""
    assert painting.changes(part(screen, [(1, 0, WIDTH)]), CONSOLE) == ""
    painting.forget()
    assert painting.changes(whole(screen), CONSOLE) == written


def test_only_the_part_that_differs_is_written() -> None:
    painting = TerminalPainter()
    row = [chop("aaaa", 0), chop("bbbb", 1), chop("aaaa", 0)]
    painting.changes(whole([row, row, row]), CONSOLE)
    other = [row[0], chop("abab", 1), row[2]]
    assert painting.changes(whole([row, other, row]), CONSOLE) == "\x1b[2;5H" + other[1].render(CONSOLE)


def test_where_widths_are_unsure_the_rest_of_the_row_is_written_too() -> None:
    painting = TerminalPainter()
    row = [chop("🙂", 0), chop("bbbb", 1), chop("aaaa", 0)]
    painting.changes(whole([row, row, row]), CONSOLE)
    other = [row[0], chop("abab", 1), row[2]]
    assert painting.changes(whole([row, other, row]), CONSOLE) == "\x1b[2;1H" + Strip.join(other).render(CONSOLE)


def test_what_something_else_wrote_is_not_relied_on() -> None:
    painting, row = TerminalPainter(), [chop("aaaa", 0)] * 3
    painting.changes(whole([row, row, row]), CONSOLE)
    painting.changes(InlineUpdate([Strip.join(row)]), CONSOLE)
    assert painting.changes(whole([row, row, row]), CONSOLE)


def test_after_an_error_nothing_is_taken_for_written() -> None:
    painting, row = TerminalPainter(), [chop("aaaa", 0)] * 3
    painting.changes(whole([row, row, row]), CONSOLE)
    broken = LayoutUpdate([row, [3], row], Region(0, 0, WIDTH, HEIGHT))  # type: ignore[list-item]
    with pytest.raises(AttributeError):
        Changes(broken, painting).render_segments(CONSOLE)
    assert painting.changes(whole([row, row, row]), CONSOLE)
