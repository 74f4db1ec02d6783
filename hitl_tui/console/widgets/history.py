"""The history: checkpoints, newest first, with what was left behind by a restore."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import BindingType
from textual.events import Resize
from textual.message import Message
from textual.widgets import DataTable

from hitl_tui.console import keys
from hitl_tui.console.terms import clock_words
from hitl_tui.console.words import history_said, number_of
from hitl_tui.core.safe_text import one_line, safe_text

if TYPE_CHECKING:
    from hitl_tui.supervisor.history import CheckpointInfo

_NODE = 13
_CLOCK = 8


def lineage(checkpoints: Sequence[CheckpointInfo]) -> frozenset[str]:
    """Return the ids, among these (newest first), that the newest one came from; the others were left behind."""
    parents = {c.checkpoint_id: c.parent_id for c in checkpoints}
    found: set[str] = set()
    current = checkpoints[0].checkpoint_id if checkpoints else ""
    while current in parents and current not in found:
        found.add(current)
        current = parents[current]
    return frozenset(found)


class HistoryTable(DataTable[Text]):
    """Checkpoints; further pages are asked for when the cursor comes to the end."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.HISTORY)]

    class Restore(Message):
        """The session shall stand at this checkpoint again."""

        def __init__(self, info: CheckpointInfo) -> None:
            super().__init__()
            self.info = info

    class Older(Message):
        """The cursor is at the end: the page before is wanted."""

    class Left(Message):
        """Back to the prompt."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id, cursor_type="row", show_header=False, zebra_stripes=False)
        self._checkpoints: list[CheckpointInfo] = []
        self._said_width = 0

    def on_mount(self) -> None:
        self.add_column("", key="mark", width=3)
        self.add_column("", key="node", width=_NODE)
        self.add_column("", key="said", width=10)
        self.add_column("", key="clock", width=_CLOCK)
        self._fit()

    def on_resize(self, event: Resize) -> None:
        self._fit()

    def _fit(self) -> None:
        width = max(6, self.size.width - 3 - _NODE - _CLOCK - 4 * 2 - 1)
        if width != self._said_width and "said" in self.columns:
            self._said_width = width
            self.columns["said"].width = width  # type: ignore[index]
            self._fill()

    @property
    def checkpoints(self) -> Sequence[CheckpointInfo]:
        """What is shown, newest first."""
        return tuple(self._checkpoints)

    @property
    def selected(self) -> CheckpointInfo | None:
        """The checkpoint at the cursor."""
        return self._checkpoints[self.cursor_row] if 0 <= self.cursor_row < len(self._checkpoints) else None

    def reset(self) -> None:
        """Show nothing: another session comes."""
        self._checkpoints = []
        self._fill()

    def newest(self, page: Sequence[CheckpointInfo]) -> None:
        """Take over the newest page; the cursor stays at the top, or on its checkpoint."""
        if list(page) == self._checkpoints[: len(page)]:
            return
        last = page[-1].checkpoint_id if page else ""
        older = [c for c in self._checkpoints if c.checkpoint_id < last] if page else []
        overlaps = bool({c.checkpoint_id for c in page} & {c.checkpoint_id for c in self._checkpoints})
        self._checkpoints = [*page, *(older if overlaps else [])]
        self._fill()

    def older(self, page: Sequence[CheckpointInfo]) -> None:
        """Add the page that comes before what is shown."""
        known = {c.checkpoint_id for c in self._checkpoints}
        self._checkpoints += [c for c in page if c.checkpoint_id not in known]
        self._fill()

    def _fill(self) -> None:
        here = self.selected.checkpoint_id if self.selected and self.cursor_row else ""
        ours = lineage(self._checkpoints)
        self.clear()
        for info in self._checkpoints:
            self.add_row(*self._cells(info, info.checkpoint_id in ours), key=info.checkpoint_id)
        ids = [c.checkpoint_id for c in self._checkpoints]
        if ids:
            self.move_cursor(row=ids.index(here) if here in ids else 0, animate=False)

    def _cells(self, info: CheckpointInfo, ours: bool) -> list[Text]:
        mark = ("●" if info.waiting or info.outcome else "│") if ours else "├─○"
        said = " ".join(number_of(word) for word in history_said(info).replace(",", " ").split())
        if not ours:
            said = f"(left behind) {said}".strip()
        if info.todos_completed and not info.outcome:
            said = f"{said} · {info.todos_completed} done" if said else f"{info.todos_completed} done"
        style = "" if ours else "dim"
        return [
            Text(mark, style=style),
            Text(one_line(safe_text(info.node, multiline=False), _NODE), style=style),
            Text(one_line(safe_text(said, multiline=False), self._said_width or 10), style=style),
            Text(clock_words(info.timestamp), style=style or "dim"),
        ]

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        if self.has_focus and event.cursor_row >= len(self._checkpoints) - 1:
            self.post_message(self.Older())

    def action_restore(self) -> None:
        if self.selected is not None:
            self.post_message(self.Restore(self.selected))

    def action_leave(self) -> None:
        self.post_message(self.Left())
