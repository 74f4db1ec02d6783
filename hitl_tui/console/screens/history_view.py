"""What a history screen shows of one kind of thread, and what can be done at a checkpoint of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from hitl_tui.console.history_actions import Push
    from hitl_tui.console.history_cursor import HistoryCursor
    from hitl_tui.console.widgets.bars import HeaderBar
    from hitl_tui.threads.session_diff import Difference
    from hitl_tui.threads.thread_model import CheckpointInfo, FullCheckpoint, Namespace
    from hitl_tui.threads.thread_reader import HistoryPlace, ThreadReader
    from hitl_tui.wording.rows import Row
    from hitl_tui.wording.status_words import PlanRow


class Host(Protocol):
    """Talks to the person at the screen."""

    async def ask(self, title: str, text: str, yes: str) -> bool:
        """Ask before something that can't be taken back by a key."""

    def say(self, text: str, *, error: bool = False) -> None:
        """Show one safe line."""


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
        plan: the plan as it was, of a session.
        difference: what differs from the checkpoint before, of a session.
        full: the checkpoint whole, of a foreign store.
    """

    place: HistoryPlace
    ours: bool
    where: str
    decided: str
    state: Mapping[str, Any]
    rows: Sequence[Row] = ()
    plan: Sequence[PlanRow] = ()
    difference: Difference | None = None
    full: FullCheckpoint | None = None


class HistoryView:
    """One kind of thread on a history screen. Texts of the class are marked for translation."""

    panes: ClassVar[Sequence[tuple[str, str]]]
    """Widget ids of the panes, with their titles; the first is in front at the beginning."""
    banner: ClassVar[str] = ""
    empty: ClassVar[str]
    """What is said where there is no checkpoint."""
    ends: ClassVar[tuple[str, str]]
    """What is said at the first and at the newest checkpoint."""
    beside: ClassVar[str]
    """What is compared when none is marked."""
    labels: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Keys that do something else here, by id."""
    numbered: ClassVar[bool] = True
    """Rows of the graph show which checkpoint each is, else its superstep."""
    interval: ClassVar[float]
    """Seconds after which it is looked whether the thread went on."""

    cursor: HistoryCursor
    reader: ThreadReader
    spaces: Sequence[Namespace] = ()
    """The graph and the subgraphs that have a history of their own."""
    ns = ""
    """Which of them is shown."""

    async def begin(self) -> None:
        """Go to the checkpoint that is shown first."""
        raise NotImplementedError

    def entitle(self, header: HeaderBar) -> None:
        """Say in the header whose history it is."""
        raise NotImplementedError

    def live(self, header: HeaderBar) -> None:
        """Say in the header how the thread stands now, where that is known."""

    async def changed(self) -> bool:
        """Return whether the thread went on."""
        raise NotImplementedError

    async def refresh(self) -> None:
        """Take note of how the thread went on."""
        raise NotImplementedError

    async def load(self, place: HistoryPlace, host: Host, *, ours: bool) -> ShownCheckpoint:
        """Return what is shown of a checkpoint, the rows of the moment aside."""
        raise NotImplementedError

    async def moment_rows(self, shown: ShownCheckpoint, host: Host) -> Sequence[Row]:
        """Return what is known of the moment."""
        raise NotImplementedError

    async def before(self, place: HistoryPlace) -> CheckpointInfo | None:
        """Return what a checkpoint is compared with when none is marked."""
        raise NotImplementedError

    def name(self, info: CheckpointInfo, number: int) -> str:
        """Return a checkpoint's name among others, safe."""
        raise NotImplementedError

    async def difference_rows(self, older: CheckpointInfo | None, newer: CheckpointInfo) -> Sequence[Row]:
        """Return what differs; where there is no older one everything is new."""
        raise NotImplementedError

    async def seek(self, by: int) -> str:
        """Go to the next (1) or previous (-1) checkpoint where something was decided or asked; else say there is none.

        Returns:
            what to say; empty when there was one.
        """
        raise NotImplementedError

    def graph_title(self, title: str) -> str:
        """Return the title of the graph, with what is shown of the thread."""
        return title

    async def fork(self, place: HistoryPlace, host: Host) -> bool:
        """Begin another session at a checkpoint when that is confirmed; return whether the screen is left."""
        raise NotImplementedError

    async def restore(self, place: HistoryPlace, host: Host) -> bool:
        """Go back to a checkpoint when that is confirmed; return whether the screen is left."""
        raise NotImplementedError

    async def choose(self, shown: ShownCheckpoint, pane: str, row: str) -> tuple[str, Sequence[Row]] | None:
        """Carry out that a row of a pane was chosen.

        Returns:
            title and rows of what is to be shown whole; None for nothing.
        """
        return None

    def value(self, shown: ShownCheckpoint, path: Sequence[str]) -> tuple[str, Sequence[Row]] | None:
        """Return a value of the state whole, with its name; None where the tree shows all of it."""
        return None

    async def show_steps(self, shown: ShownCheckpoint, todo_id: str, push: Push, host: Host) -> bool:
        """Show the steps of a TODO's team; return whether the team is to go on from one."""
        return False
