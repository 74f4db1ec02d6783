"""What is compared in a thread of a store, and how the two moments differ (I9, C5)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from hitl_tui.console.marks import Marks
from hitl_tui.console.screens import storewords
from hitl_tui.console.screens.storepast import StoredPast
from hitl_tui.language import _
from hitl_tui.threads.state_diff import differences
from hitl_tui.wording.rows import Row, text_row

if TYPE_CHECKING:
    from hitl_tui.console.keymap import Keymap
    from hitl_tui.threads.thread_model import CheckpointInfo


async def pair(past: StoredPast, marks: Marks, info: CheckpointInfo) -> tuple[CheckpointInfo | None, CheckpointInfo]:
    """Return what is compared, the older one first; with none marked a checkpoint and its parent.

    Args:
        past: the thread.
        marks: the marked checkpoints.
        info: the one that is shown.
    """
    return marks.pair(info) or (await past.info(info.parent_id), info)


async def title(past: StoredPast, marks: Marks, info: CheckpointInfo) -> str:
    """Return what is compared, in words; see `pair`."""
    older, newer = await pair(past, marks, info)
    which = storewords.name_of(older) if older else _("nothing")
    return _("Diff · {which} → {newer}").format(which=which, newer=storewords.name_of(newer))


async def rows(past: StoredPast, marks: Marks, info: CheckpointInfo, keymap: Keymap) -> list[Row]:
    """Return what differs; see `pair`.

    Raises:
        BadInput: one of the two can't be read.
    """
    older, newer = await pair(past, marks, info)
    moments = [await past.moment(c.checkpoint_id) for c in (older, newer) if c is not None]
    before = moments[0].values if older is not None else {}
    found = await asyncio.to_thread(differences, before, moments[-1].values)
    which = _("between the two marks") if len(marks.infos) == 2 else _("mark and this moment")
    parent = older is None or older.checkpoint_id == info.parent_id
    said = _("this moment and the one it came from") if parent and len(marks.infos) < 2 else which
    how = keymap.named(_("{said}; {replay.mark} marks another to compare")).replace("{said}", said)
    notes = dict.fromkeys(note for moment in moments for note in moment.notes)
    return [text_row(how, "$text-muted"), *map(storewords.note_row, notes), *storewords.difference_rows(found)]
