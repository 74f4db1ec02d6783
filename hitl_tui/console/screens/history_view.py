"""What a history screen shows of one kind of thread, and what can be done at a checkpoint of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Protocol

from textual.containers import Container

from hitl_tui.console.history_cursor import CheckpointMarks
from hitl_tui.core.json_types import JsonObject
from hitl_tui.threads.thread_reader import Capability

if TYPE_CHECKING:
    from textual.widget import Widget

    from hitl_tui.console.history_cursor import HistoryCursor
    from hitl_tui.console.services import Speaker
    from hitl_tui.console.widgets.bars import HeaderBar
    from hitl_tui.threads.session_diff import Difference
    from hitl_tui.threads.thread_model import CheckpointInfo, FullCheckpoint, Namespace
    from hitl_tui.threads.thread_reader import HistoryPlace, ThreadReader
    from hitl_tui.wording.rows import Row
    from hitl_tui.wording.status_words import PlanRow


VIEW, DIFF, FORK, RESTORE = 1, 2, 3, 4
"""Numbers of what can be done at a checkpoint: its keys, unless they are mapped otherwise."""


@dataclass(frozen=True, slots=True)
class ShownCheckpoint:
    """A checkpoint as a history screen shows it.

    Args:
        place: which one.
        ours: the newest checkpoint came from it.
        where: where it is, one line.
        decided: what was decided or asked there, one line.
        state: what the tree shows.
        rows: what the pane of the moment shows.
        first: which of all checkpoints the first one of the graph is; 0 to show supersteps.
        plan: the plan as it was, of a session.
        difference: what differs from the checkpoint before, of a session.
        full: the checkpoint whole, of a foreign store.
        spaces: the graph and the subgraphs that have a history of their own, of a foreign store.
        ns: which of them is shown.
    """

    place: HistoryPlace
    ours: bool
    where: str
    decided: str
    state: JsonObject
    rows: Sequence[Row] = ()
    first: int = 0
    plan: Sequence[PlanRow] = ()
    difference: Difference | None = None
    full: FullCheckpoint | None = None
    spaces: Sequence[Namespace] = ()
    ns: str = ""


@dataclass(frozen=True, slots=True)
class HistoryFrame:
    """All that is drawn of a history at one moment.

    Args:
        shown: the checkpoint.
        cursor: the checkpoints around it.
        signs: what stands before checkpoints, by id: marks, and a pointer.
        marked: which ones are marked, in a line.
        title: of the pane of the moment.
        mode: what is looked at: the moment, or what differs.
        why_not: why actions aren't possible, by number; empty where one is.
    """

    shown: ShownCheckpoint
    cursor: HistoryCursor
    signs: Mapping[str, str]
    marked: str
    title: str
    mode: int
    why_not: Mapping[int, str]


class HistoryPanes(Container):
    """The panes of a history screen."""

    def draw(self, frame: HistoryFrame) -> None:
        """Show a checkpoint."""
        raise NotImplementedError

    def look(self, mode: int) -> None:
        """Bring to the front what is looked at: the moment, or what differs."""
        raise NotImplementedError

    def share_room(self) -> None:
        """Share the room anew."""
        raise NotImplementedError

    def focus_next(self, focused: Widget | None, by: int = 1) -> None:
        """Give the focus to the pane after the one that has it, or before it."""
        raise NotImplementedError

    def follow_focus(self, focused: Widget | None) -> None:
        """Bring the pane to the front that has the focus."""


class HistoryView(Protocol):
    """One kind of thread on a history screen. Texts of the class are marked for translation."""

    acts: ClassVar[Mapping[int, Capability]] = MappingProxyType({FORK: Capability.FORK, RESTORE: Capability.RESTORE})
    """What can be done besides looking, by the number of its key."""
    listed: ClassVar[bool] = False
    """The cursor of a list leads; the state and what differs stand beneath it."""
    marks: ClassVar[CheckpointMarks] = CheckpointMarks()
    empty: ClassVar[str]
    """What is said where there is no checkpoint."""
    ends: ClassVar[tuple[str, str]] = ("", "")
    """What is said at the first and at the newest checkpoint."""
    beside: ClassVar[str] = ""
    """What is compared when none is marked."""
    labels: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Keys that do something else here, by id."""
    interval: ClassVar[float] = 0
    """Seconds after which it is looked whether the thread went on; 0 for never."""

    cursor: HistoryCursor
    reader: ThreadReader

    def panes(self) -> HistoryPanes:
        """Return the widget with the panes."""
        ...

    def banner(self) -> str:
        """Return the line below the header; empty for none."""
        return ""

    async def begin(self) -> None:
        """Go to the checkpoint that is shown first."""
        ...

    def entitle(self, header: HeaderBar) -> None:
        """Say in the header whose history it is."""
        ...

    def live(self, header: HeaderBar) -> None:
        """Say in the header how the thread stands now, where that is known."""
        return

    async def changed(self) -> bool:
        """Return whether the thread went on."""
        return False

    async def refresh(self) -> None:
        """Take note of how the thread went on."""
        return

    async def load(self, place: HistoryPlace, host: Speaker, *, ours: bool) -> ShownCheckpoint:
        """Return what is shown of a checkpoint, the rows of the moment aside."""
        ...

    async def moment_rows(self, shown: ShownCheckpoint, host: Speaker) -> Sequence[Row]:
        """Return what is known of the moment."""
        return ()

    async def before(self, place: HistoryPlace) -> CheckpointInfo | None:
        """Return what a checkpoint is compared with when none is marked."""
        return await self.reader.info(place.info.parent_id)

    def name(self, info: CheckpointInfo, number: int) -> str:
        """Return a checkpoint's name among others, safe."""
        ...

    async def difference_rows(self, older: CheckpointInfo | None, newer: CheckpointInfo) -> Sequence[Row]:
        """Return what differs; where there is no older one everything is new."""
        ...

    async def seek(self, by: int) -> str:
        """Go to the next (1) or previous (-1) checkpoint where something was decided or asked; else say there is none.

        Returns:
            what to say; empty when there was one.
        """
        return ""

    def first_words(self, number: int) -> str:
        """Return what is said where a step back leads nowhere, at the checkpoint of this number; it may name keys."""
        return self.ends[0]

    def to_question(self) -> str | None:
        """Go to the question that waits now; return why not, empty once it is done, None where nothing is asked."""
        return None

    def undo_words(self) -> str:
        """Return why no decision can be taken back here; empty where nothing is decided at all. It may name keys."""
        return ""

    async def act(self, capability: Capability, place: HistoryPlace, host: Speaker) -> bool:
        """Do something at a checkpoint when that is confirmed; return whether the screen is left."""
        ...

    async def choose(self, shown: ShownCheckpoint, pane: str, row: str) -> tuple[str, Sequence[Row]] | None:
        """Carry out that a row of a pane was chosen.

        Returns:
            title and rows of what is to be shown whole; None for nothing.
        """
        return None

    def value(self, shown: ShownCheckpoint, path: Sequence[str]) -> tuple[str, Sequence[Row]] | None:
        """Return a value of the state whole, with its name; None where the tree shows all of it."""
        return None

    async def show_steps(self, shown: ShownCheckpoint, todo_id: str, host: Speaker) -> bool:
        """Show the steps of a TODO's team; return whether the team is to go on from one."""
        return False
