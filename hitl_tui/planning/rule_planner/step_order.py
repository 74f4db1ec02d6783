"""The order of a plan's steps, changed: before, after, first, last, one after the other, all at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.core.names import step_name
from hitl_tui.planning.proposals import inherited
from hitl_tui.planning.rule_planner.scene import ancestors


class StepOrder:
    """Which step waits for which. A step that works from what others find keeps them before it.

    Args:
        steps: what each step that hasn't ended waits for, in order; also for steps that have.
        readers: those that work from what the steps before them find.
        searches: those that need nothing that comes before them.
        running: those that wait for nothing any more.
    """

    def __init__(
        self,
        steps: Mapping[str, tuple[str, ...]],
        readers: Collection[str],
        searches: Collection[str],
        running: Collection[str],
    ) -> None:
        self.after = dict(steps)
        self.places: dict[str, tuple[str, str]] = {}
        self._readers, self._searches, self._running = readers, searches, running

    def release(self, ids: Collection[str]) -> None:
        """Let nothing wait for these."""
        self.after = {key: _but(after, ids) for key, after in self.after.items()}

    def remove(self, gone: str) -> None:
        """Let what waits for a step wait for what that waits for, and take it out."""
        self._take_out(gone, frozenset())
        del self.after[gone]

    def before(self, moved: str, *anchors: str) -> None:
        """Let a step come right before others.

        Raises:
            BadInput: it works from what one of them finds, or others between them do.
        """
        anchors = tuple(one for one in _but(anchors, (moved,)) if moved not in self._before(one))
        if not anchors:
            return
        self._take_out(moved, self._readers)
        for anchor in anchors if moved in self._readers else ():
            self.after[moved] = self._sources(moved, anchor)
        if moved not in self._readers and moved not in self._searches:
            self.after[moved] = _but((one for anchor in anchors for one in self.after[anchor]), (moved,))
        for anchor in anchors:
            waits = () if {moved, anchor}.isdisjoint(self._readers) else self.after[anchor]
            self.after[anchor] = (*_but(waits, (moved,)), moved)
        self._place(moved, "before", anchors[0])

    def follow(self, moved: str, *anchors: str) -> None:
        """Let a step come after others; what only waited for those waits for it.

        Raises:
            BadInput: one of them works from what it finds, or others between them do.
        """
        anchors = _but(anchors, (moved,))
        if {*anchors} <= self._before(moved):
            return
        self._take_out(moved, self._readers)
        for anchor in anchors:
            if moved in self.after.get(anchor, ()):
                self.after[anchor] = self._sources(anchor, moved)
        ahead = self.after.keys() & {*anchors}
        for key, after in self.after.items():
            if key not in self._readers and key != moved:
                self.after[key] = tuple(dict.fromkeys(moved if d in ahead else d for d in after))
        kept = self.after[moved] if moved in self._readers else ()
        self.after[moved] = tuple(dict.fromkeys((*kept, *anchors)))
        self._place(moved, "after", anchors[-1])

    def first(self, moved: str) -> None:
        """Let all others come after a step, but those that it works from.

        Raises:
            BadInput: it works from all that could come after it.
        """
        needed = self._before(moved) if moved in self._readers else ()
        others = _but(self.after, (moved, *self._running))
        roots = [key for key in others if {*others, moved}.isdisjoint(self.after[key]) or self.after[key] == (moved,)]
        self.before(moved, *(_but(roots, needed) or roots))

    def last(self, moved: str) -> None:
        """Let a step come after all others.

        Raises:
            BadInput: one of them works from what it finds.
        """
        self._take_out(moved, self._readers)
        if using := next((key for key, after in self.after.items() if moved in after), ""):
            raise _impossible(using, moved)
        needed = {one for key, after in self.after.items() if key != moved for one in after}
        if leaves := _but(self.after, (*needed, moved)):
            self.follow(moved, *leaves)

    def apart(self) -> None:
        """Let steps that only wait for others wait for none."""
        self.after |= {key: () for key in self.after if key not in self._readers}

    def _before(self, key: str) -> set[str]:
        return ancestors((key,), self.after) - {key}

    def _take_out(self, moved: str, kept: Collection[str]) -> None:
        """Let all but some that wait for a step wait for what that waits for."""
        for key, after in self.after.items():
            if moved in after and key not in kept:
                self.after[key] = inherited(after, moved, self.after[moved])

    def _sources(self, reader: str, without: str) -> tuple[str, ...]:
        """Return what a step works from where it doesn't from another, nor from what rests on that: what that does."""
        heirs = inherited(self.after[reader], without, self.after[without])
        kept = tuple(d for d in heirs if d != without and without not in self._before(d))
        if self.after[reader] and not kept:
            raise _impossible(reader, without)
        return kept

    def _place(self, moved: str, where: str, anchor: str) -> None:
        if any(moved in self._before(key) for key in self.after[moved]):
            raise _impossible(anchor, moved)
        self.places[moved] = where, anchor


def _but(after: Iterable[str], gone: Collection[str]) -> tuple[str, ...]:
    return tuple(key for key in after if key not in gone)


def _impossible(reader: str, source: str) -> BadInput:
    return BadInput(
        Message("{} works from what {} finds, so it can't come before it.", step_name(reader), step_name(source))
    )
