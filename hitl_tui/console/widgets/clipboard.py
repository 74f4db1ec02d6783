"""Copying text that is shown: as it is shown, so that it stays harmless where it is pasted."""

from __future__ import annotations

from collections.abc import Sequence

from textual.widget import Widget

from hitl_tui.console.services import console_of
from hitl_tui.language import ngettext


def copy_lines(pane: Widget, seen: Sequence[str]) -> str:
    """Copy what is selected on a pane's screen, or else the lines that are seen in the pane; return what to say."""
    text = pane.screen.get_selected_text() or "\n".join(seen)
    count = text.count("\n") + 1
    said = ngettext(
        "Copied {n} line, if the terminal allows it.", "Copied {n} lines, if the terminal allows it.", count
    )
    console_of(pane.app).copy_to_clipboard(text)
    return said.format(n=count)
