"""Where the person is, in one plain line: for screen readers, and for who lost the place (C7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widget import Widget
from textual.widgets import DataTable, Input, OptionList, TextArea

from hitl_tui.console.terms import mode_words
from hitl_tui.console.words import status_of_session
from hitl_tui.core.safe_text import one_line
from hitl_tui.language import _

if TYPE_CHECKING:
    from hitl_tui.supervisor.snapshot import Snapshot

_LONGEST = 400


def where_words(focused: Widget | None, snapshot: Snapshot | None) -> str:
    """Return session, mode, what waits and what has the focus, as one safe line.

    Args:
        focused: what has the focus.
        snapshot: the session on the screen; None on the first screen.
    """
    parts = [_("First screen")]
    if snapshot is not None:
        name = _("Session {id}").format(id=snapshot.session_id)
        parts = [name, mode_words(snapshot.mode), status_of_session(snapshot)]
    return one_line(" · ".join([*parts, focus_words(focused)]), _LONGEST)


def focus_words(focused: Widget | None) -> str:
    """Return what has the focus, and what stands there."""
    if focused is None:
        return _("nothing has the focus")
    name = " ".join(str(focused.border_title or "").partition(" · ")[0].split())
    if isinstance(focused, DataTable):
        name = name or _("list")
        if not focused.row_count:
            return _("{name}: empty").format(name=name)
        cells = [str(cell).strip() for cell in focused.get_row_at(focused.cursor_row)]
        row = _("{name}, row {n} of {total}: {text}")
        return row.format(
            name=name, n=focused.cursor_row + 1, total=focused.row_count, text=" ".join(c for c in cells if c)
        )
    if isinstance(focused, OptionList):
        place = focused.highlighted
        text = str(focused.get_option_at_index(place).prompt) if place is not None else ""
        return _("choice: {text}").format(text=" ".join(text.split()))
    if isinstance(focused, (TextArea, Input)):
        text = focused.text if isinstance(focused, TextArea) else focused.value
        return _("prompt: {text}").format(text=text) if text.strip() else _("prompt: empty")
    return name or focused.id or ""
