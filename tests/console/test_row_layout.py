"""How rows fill a width."""

from __future__ import annotations

from hitl_tui.console.help_rows import help_rows, sections_of
from hitl_tui.console.keymap import Keymap
from hitl_tui.console.row_layout import layout_lines
from hitl_tui.wording.rows import labelled, text_row


def test_only_titles_begin_at_the_edge_of_a_narrow_help() -> None:
    rows = help_rows(Keymap(), ["keys.toml: " + "nothing that fits into a line " * 4])
    titles = {section[0].text.plain for section in sections_of(rows)}
    lines = [line.plain for line in layout_lines(rows, 76)]
    assert {line for line in lines if line.strip() and not line.startswith("  ")} == titles


def test_a_line_goes_on_as_far_from_the_edge_as_it_begins() -> None:
    text = "first words of it\n    then indented words"
    assert [line.plain for line in layout_lines([text_row(text)], 16)] == [
        "first words of",
        "it",
        "    then",
        "    indented",
        "    words",
    ]
    exact = labelled("code", "    x = 1, y = 2", exact=True)
    assert [line.plain for line in layout_lines([exact], 20)] == ["code          x = ", "          1, y = 2"]
