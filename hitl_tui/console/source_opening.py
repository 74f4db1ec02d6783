"""Chooses a source of the answer, and shows it at its line."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from hitl_tui.console.dialogs.sources_dialog import SourcesDialog
from hitl_tui.console.dialogs.text_viewer import SourceViewer
from hitl_tui.console.outside_programs import step_aside
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import _
from hitl_tui.supervisor.answer_sources import lines_around, sources_of
from hitl_tui.terminal.own_editor import chosen_program, open_at
from hitl_tui.wording.rows import Row, styled, text_row

if TYPE_CHECKING:
    from hitl_tui.console.services import Console
    from hitl_tui.supervisor.snapshot import Snapshot


async def choose_source(console: Console, snapshot: Snapshot) -> int:
    """Return the number of the source that a person chooses; 0 for none."""
    found = sources_of(snapshot)
    return await console.push_screen_wait(SourcesDialog(found)) if len(found) > 1 else 1


async def open_file(console: Console, file: Path, line: int) -> None:
    """Show a file at a line: in the program that the person chose for that, while the console steps aside, or here.

    Raises:
        BadInput: it can't be read, the terminal can't be given away, or that program can't be started.
    """
    if chosen_program(os.environ):
        await step_aside(console, lambda: open_at(file, line, os.environ))
        return
    found = await asyncio.to_thread(lines_around, file, line)
    numbered = enumerate(found.lines, start=found.first)
    rows = [
        Row(str(n), styled(safe_text(text), "bold $text-accent" if n == line else ""), exact=True)
        for n, text in numbered
    ]
    if found.more:
        rows.append(
            text_row(
                _("The file has more than these lines; EDITOR or PAGER names a program for all of it."), "$text-muted"
            )
        )
    title = safe_text(f"{file.name}:{line}" if line else file.name, multiline=False)
    await console.push_screen_wait(SourceViewer(title, rows, max(0, line - found.first)))
