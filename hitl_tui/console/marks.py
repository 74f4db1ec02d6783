"""The marked checkpoints of a history, and which two of it are compared (C5). Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hitl_tui.language import _
from hitl_tui.threads.session_diff import last_two

if TYPE_CHECKING:
    from hitl_tui.threads.thread_model import CheckpointInfo

_LETTERS = "AB"


@dataclass(frozen=True, slots=True)
class Marks:
    """The marked checkpoints, at most two, in the order they were marked."""

    infos: tuple[CheckpointInfo, ...] = ()

    def toggled(self, info: CheckpointInfo) -> Marks:
        """Return the marks after one was set, or taken away if it was there."""
        known = {c.checkpoint_id: c for c in (*self.infos, info)}
        kept = last_two(self.ids, info.checkpoint_id)
        return Marks(tuple(known[ident] for ident in kept))

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the checkpoints."""
        return tuple(c.checkpoint_id for c in self.infos)

    def glyphs(self, here: str) -> dict[str, str]:
        """Return what stands before checkpoints in the graph, by id: `A` and `B`, and a pointer at the one shown.

        Args:
            here: id of the checkpoint that is shown.
        """
        letters = dict(zip(self.ids, _LETTERS, strict=False))
        return {**{i: f" {letter}" for i, letter in letters.items()}, here: "▸" + letters.get(here, "")}

    def words(self, name: Callable[[CheckpointInfo], str]) -> str:
        """Return which ones are marked, in a line; empty when none is.

        Args:
            name: tells what a checkpoint is called, safe.
        """
        named = [f"{letter} {name(c)}" for c, letter in zip(self.infos, _LETTERS, strict=False)]
        return _("marks: ") + ", ".join(named) if named else ""

    def pair(self, here: CheckpointInfo) -> tuple[CheckpointInfo, CheckpointInfo] | None:
        """Return what is compared, the older one first: two marks, or mark and the checkpoint that is shown.

        Args:
            here: the checkpoint that is shown.

        Returns:
            None when no other one is marked: then it is compared with the one before it.
        """
        compared = {c.checkpoint_id: c for c in (self.infos if len(self.infos) == 2 else (*self.infos, here))}
        if len(compared) < 2:
            return None
        older, newer = sorted(compared.values(), key=lambda c: c.checkpoint_id)
        return older, newer
