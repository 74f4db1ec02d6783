"""A thread of a foreign store on the screen: its questions, what ran, subgraphs, and a copy that can go on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from hitl_tui.console.dialogs.prompt_dialogs import confirm
from hitl_tui.console.history_cursor import PAGE, HistoryCursor
from hitl_tui.console.screens.history_panes import GRAPH, MOMENT, SPACES, STATE, ThreadPanes
from hitl_tui.console.screens.history_view import HistoryPanes, HistoryView, ShownCheckpoint
from hitl_tui.core.errors import BadInput
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.language import _, mark
from hitl_tui.threads.channel_values import is_edit
from hitl_tui.threads.state_diff import ABSENT, differences
from hitl_tui.threads.store_thread import StoreThread
from hitl_tui.threads.thread_model import FullCheckpoint
from hitl_tui.wording import thread_rows
from hitl_tui.wording.error_lines import error_line
from hitl_tui.wording.rows import in_line

if TYPE_CHECKING:
    from hitl_tui.console.services import Console, Speaker
    from hitl_tui.console.widgets.bars import HeaderBar
    from hitl_tui.threads.thread_model import CheckpointInfo, Namespace
    from hitl_tui.threads.thread_reader import Capability, HistoryPlace
    from hitl_tui.threads.thread_store import ThreadStore
    from hitl_tui.wording.rows import Row

_PANES = ((GRAPH, mark("Graph")), (MOMENT, mark("Moment")), (SPACES, mark("Subgraphs")), (STATE, mark("State")))


class ThreadView(HistoryView):
    """The history of a thread in a store that is only read.

    Args:
        console: the app.
        store: where it lies.
        thread: its id.
        title: what it is about, any text.
        graph: the graph that can go on in a copy; empty for none.
        forked: called with thread and checkpoint where a session shall begin with a copy.
    """

    empty = mark("No checkpoint here.")
    ends = (mark("This is the first checkpoint."), mark("This is the newest checkpoint."))
    beside = mark("this moment and the one it came from")
    labels = MappingProxyType({"replay.decision_after": mark("later question"), "replay.leave": mark("threads")})
    interval = 2.0

    def __init__(
        self,
        console: Console,
        store: ThreadStore,
        thread: str,
        title: str,
        graph: str,
        forked: Callable[[str, str], None],
    ) -> None:
        self._console = console
        self._store = store
        self._thread = thread
        self._title = title
        self._graph = graph
        self._forked = forked
        self._spaces: list[Namespace] = []
        self._newest = ("", 0)
        self._turn_to("")

    def _turn_to(self, ns: str) -> None:
        """Show the history of a subgraph, or that of the graph around it."""
        self._ns = ns
        self.reader: StoreThread = StoreThread(self._store, self._thread, ns, forks=bool(self._graph))
        self.cursor = HistoryCursor(self.reader, PAGE)

    def panes(self) -> HistoryPanes:
        return ThreadPanes(_PANES)

    async def begin(self) -> None:
        self._spaces = await self._store.namespaces(self._thread)
        if self._spaces and self._ns not in {space.ns for space in self._spaces}:
            self._turn_to(self._spaces[0].ns)  # a thread of which only subgraphs are left
        self._newest = await self.reader.newest()
        await self.cursor.open()

    def entitle(self, header: HeaderBar) -> None:
        header.session = one_line(in_line(self._thread), 40)
        header.title_text = safe_text(self._title, multiline=False, limit=400)
        header.mode = _("READ-ONLY")

    async def changed(self) -> bool:
        return await self.reader.newest() != self._newest

    async def refresh(self) -> None:
        self._newest = await self.reader.newest()
        if self.cursor.shape is None or self._newest[0] == self.cursor.shape.head:
            return
        newest = self.cursor.at_head
        await self.cursor.refresh()
        if newest:  # who looks at the newest moment goes on looking at it
            await self.cursor.last()
        self._spaces = await self._store.namespaces(self._thread)

    async def load(self, place: HistoryPlace, host: Speaker, *, ours: bool) -> ShownCheckpoint:
        full = await self._read(place.info, host, fresh=self.cursor.at_head)
        where = thread_rows.where_words(place.info, place.number, place.total, ours=ours)
        tree = await asyncio.to_thread(thread_rows.tree_of, full)
        asked = thread_rows.asked_line(full)
        return ShownCheckpoint(place, ours, where, asked, tree, full=full, spaces=self._spaces, ns=self._ns)

    async def _read(self, info: CheckpointInfo, host: Speaker, *, fresh: bool = False) -> FullCheckpoint:
        """Return a checkpoint whole; of one that can't be read, why."""
        try:
            return await self.reader.moment(info.checkpoint_id, fresh=fresh)
        except BadInput as error:
            host.say(error_line(error), error=True)
            return FullCheckpoint(info.checkpoint_id, {}, at=info.timestamp, notes=(error.message,))

    async def moment_rows(self, shown: ShownCheckpoint, host: Speaker) -> Sequence[Row]:
        info, full = shown.place.info, shown.full
        assert full is not None
        parent = await self.reader.info(info.parent_id)
        before = await self._read(parent, host) if parent is not None else FullCheckpoint("", {})
        edit = info.source == "update"
        led = () if edit else [task for task in before.tasks if not is_edit(task, before.checkpoint_id)]
        edited = await asyncio.to_thread(differences, before.values, full.values) if edit else ()
        inside = [s for s in self._spaces if s.parent == info.checkpoint_id and s.ns.rpartition("|")[0] == self._ns]
        return thread_rows.moment_rows(info, full, led, edited, inside, ours=shown.ours)

    def name(self, info: CheckpointInfo, number: int) -> str:
        return thread_rows.name_of(info)

    async def difference_rows(self, older: CheckpointInfo | None, newer: CheckpointInfo) -> Sequence[Row]:
        compared = [await self.reader.moment(c.checkpoint_id) for c in (older, newer) if c is not None]
        before = compared[0].values if older is not None else {}
        found = await asyncio.to_thread(differences, before, compared[-1].values)
        notes = dict.fromkeys(note for full in compared for note in full.notes)
        return [*map(thread_rows.note_row, notes), *thread_rows.difference_rows(found)]

    async def seek(self, by: int) -> str:
        current = self.cursor.current
        found = await self.reader.asked(current.checkpoint_id, by) if current is not None else ""
        if found:
            await self.cursor.open(found)
            return ""
        return _("Nothing was asked after this.") if by > 0 else _("Nothing was asked before this.")

    async def act(self, capability: Capability, place: HistoryPlace, host: Speaker) -> bool:
        """Leave the store, when that is confirmed, for a session that goes on with a copy."""
        info, at_end = place.info, self.cursor.at_head
        text = thread_rows.fork_words(info, in_line(self._graph), at_end=at_end)
        title = _("Continue in a copy from {name}").format(name=thread_rows.name_of(info))
        if await confirm(self._console, title, text, _("Copy and start")):
            self._forked(self._thread, info.checkpoint_id)
        else:
            host.say(_("Nothing was made."))
        return False

    async def choose(self, shown: ShownCheckpoint, pane: str, row: str) -> tuple[str, Sequence[Row]] | None:
        if pane == SPACES:
            self._turn_to(row)
            self._newest = await self.reader.newest()
            await self.cursor.open()
            return None
        return in_line(shown.place.info.checkpoint_id), shown.rows

    def value(self, shown: ShownCheckpoint, path: Sequence[str]) -> tuple[str, Sequence[Row]] | None:
        value = thread_rows.value_at(shown.full, path) if shown.full is not None else ABSENT
        if value is ABSENT:
            return None
        return one_line(in_line(".".join(path)), 60), thread_rows.value_rows(value)
