"""What is compared in a thread of a store: marks, and the differences between two moments (I9, C5)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hitl_tui.console.rows import Row, text_row
from hitl_tui.console.screens import storewords
from hitl_tui.console.screens.storepast import StoredPast
from hitl_tui.language import _
from hitl_tui.supervisor.comparing import last_two
from hitl_tui.supervisor.foreign.differences import differences

if TYPE_CHECKING:
    from hitl_tui.supervisor.moments import CheckpointInfo


@dataclass(frozen=True, slots=True)
class Marks:
    """The marked checkpoints, at most two, in the order they were marked."""

    infos: tuple[CheckpointInfo, ...] = ()

    def toggled(self, info: CheckpointInfo) -> Marks:
        """Return the marks after one was set, or taken away if it was there."""
        known = {c.checkpoint_id: c for c in (*self.infos, info)}
        kept = last_two([c.checkpoint_id for c in self.infos], info.checkpoint_id)
        return Marks(tuple(known[ident] for ident in kept))

    @property
    def letters(self) -> dict[str, str]:
        """`A` and `B` by checkpoint id."""
        return {c.checkpoint_id: letter for c, letter in zip(self.infos, "AB", strict=False)}

    @property
    def words(self) -> str:
        """Which ones are marked, in a line."""
        named = [f"{letter} {storewords.name_of(c)}" for c, letter in zip(self.infos, "AB", strict=False)]
        return _("marks: ") + ", ".join(named) if named else ""

    async def pair(self, past: StoredPast, info: CheckpointInfo) -> tuple[CheckpointInfo | None, CheckpointInfo]:
        """Return what is compared, the older one first: two marks, mark and this one, or this one and its parent."""
        marked: Sequence[CheckpointInfo] = self.infos
        if len(marked) == 1 and marked[0].checkpoint_id != info.checkpoint_id:
            marked = (*marked, info)
        if len(marked) == 2:
            older, newer = sorted(marked, key=lambda c: c.checkpoint_id)
            return older, newer
        return await past.info(info.parent_id), info

    async def title(self, past: StoredPast, info: CheckpointInfo) -> str:
        """Return what is compared, in words."""
        older, newer = await self.pair(past, info)
        which = storewords.name_of(older) if older else _("nothing")
        return _("Diff · {which} → {newer}").format(which=which, newer=storewords.name_of(newer))

    async def rows(self, past: StoredPast, info: CheckpointInfo) -> list[Row]:
        """Return what differs.

        Raises:
            BadInput: one of the two can't be read.
        """
        older, newer = await self.pair(past, info)
        moments = [await past.moment(c.checkpoint_id) for c in (older, newer) if c is not None]
        before = moments[0].values if older is not None else {}
        found = await asyncio.to_thread(differences, before, moments[-1].values)
        which = _("between the two marks") if len(self.infos) == 2 else _("mark and this moment")
        parent = older is None or older.checkpoint_id == info.parent_id
        said = _("this moment and the one it came from") if parent and len(self.infos) < 2 else which
        head = text_row(_("{said}; m marks another to compare").format(said=said), "$text-muted")
        notes = dict.fromkeys(note for moment in moments for note in moment.notes)
        return [head, *map(storewords.note_row, notes), *storewords.difference_rows(found)]
