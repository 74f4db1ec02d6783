"""Chooses a source of the answer, and opens it in the person's own editor while the console steps aside."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from hitl_tui.console.dialogs.sources_dialog import SourcesDialog
from hitl_tui.console.outside_programs import step_aside
from hitl_tui.supervisor.answer_sources import sources_of
from hitl_tui.terminal.own_editor import open_at

if TYPE_CHECKING:
    from hitl_tui.console.services import Console
    from hitl_tui.supervisor.snapshot import Snapshot


async def choose_source(console: Console, snapshot: Snapshot) -> int:
    """Return the number of the source that a person chooses; 0 for none."""
    found = sources_of(snapshot)
    return await console.push_screen_wait(SourcesDialog(found)) if len(found) > 1 else 1


async def open_in_editor(console: Console, file: Path, line: int) -> None:
    """Open a file at a line; the console has the terminal again when the person leaves it.

    Raises:
        BadInput: the terminal can't be given away, or no editor can be started.
    """
    await step_aside(console, lambda: open_at(file, line, os.environ))
