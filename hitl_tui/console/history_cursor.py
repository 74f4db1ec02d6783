"""A place in a history with the checkpoints around it, loaded a page at a time, and the checkpoints that are marked."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hitl_tui.language import _
from hitl_tui.threads.checkpoint_causes import copied_from
from hitl_tui.threads.session_diff import compare, decided_in, last_two
from hitl_tui.threads.thread_reader import HistoryForm, HistoryPlace, ThreadReader, is_decision

if TYPE_CHECKING:
    from hitl_tui.core.requests import Request
    from hitl_tui.ledger.records import Posted
    from hitl_tui.threads.checkpoint_causes import CheckpointCause, CheckpointCauses
    from hitl_tui.threads.thread_model import CheckpointInfo

PAGE = 50
_PAGES_KEPT = 4


class HistoryCursor:
    """Steps through a history.

    Args:
        past: where it is read.
        page: checkpoints that are read at once, at least 2.
        causes: tell what led to checkpoints, of a session; None where each checkpoint is a step of its own.
    """

    def __init__(self, past: ThreadReader, page: int = PAGE, causes: CheckpointCauses | None = None) -> None:
        self._past = past
        self._causes = causes
        self.causes: Mapping[str, CheckpointCause] = {}
        """What led to the checkpoints in the window, by id."""
        self.folded = causes is not None
        """Steps pass over checkpoints at which only the engine went on."""
        self._page = page
        self._infos: list[CheckpointInfo] = []
        self._index = 0
        self._bottom = self._top = True
        self._events: dict[int, list[Posted]] = {}
        self.shape: HistoryForm | None = None

    @property
    def infos(self) -> Sequence[CheckpointInfo]:
        """The checkpoints in the window, newest first."""
        return tuple(self._infos)

    @property
    def index(self) -> int:
        """Where in the window this place is."""
        return self._index

    @property
    def current(self) -> CheckpointInfo | None:
        """The checkpoint here; None before `open` and when there is none at all."""
        return self._infos[self._index] if self._infos else None

    @property
    def folds(self) -> bool:
        """Some of its checkpoints are only the engine's."""
        return self._causes is not None

    @property
    def shown(self) -> list[int]:
        """Where in the window checkpoints are that aren't folded: the newest of all and the one here never are."""
        return [n for n, info in enumerate(self._infos) if n == self._index or not self._is_folded(info)]

    def _is_folded(self, info: CheckpointInfo) -> bool:
        if not self.folded or (self.shape is not None and info.checkpoint_id == self.shape.head):
            return False
        cause = self.causes.get(info.checkpoint_id)
        return cause is not None and cause.quiet

    @property
    def at_head(self) -> bool:
        """This is where the session stands."""
        return self.shape is not None and self.current is not None and self.current.checkpoint_id == self.shape.head

    async def open(self, at: str = "") -> None:
        """Go to a checkpoint, the newest when none is named."""
        self.shape = await self._past.shape()
        if not at or at == self.shape.head:
            await self.last()
            return
        newer = await self._past.newer(self._page, at)
        older = await self._past.older(self._page + 1, newer[-1].checkpoint_id if newer else "")
        self._infos = [*newer, *older]
        self._bottom, self._top = len(older) <= self._page, len(newer) < self._page
        self._index = next((i for i, c in enumerate(self._infos) if c.checkpoint_id == at), 0)
        await self._fill()

    async def last(self) -> None:
        """Go to the newest checkpoint."""
        self.shape = await self._past.shape()
        self._infos = await self._past.older(self._page)
        self._bottom, self._top = len(self._infos) < self._page, True
        self._index = 0
        await self._fill()

    async def first(self) -> None:
        """Go to the first checkpoint."""
        self._infos = await self._past.newer(self._page)
        self._bottom, self._top = True, len(self._infos) < self._page
        self._index = max(0, len(self._infos) - 1)
        await self._fill()
        if self._infos and self._is_folded(self._infos[self._index]):
            await self.step(1)

    async def step(self, by: int) -> bool:
        """Go so many checkpoints forward, or back when negative, past what is folded; return whether there was one."""
        back = self.current
        if back is None:
            return True
        for _n in range(abs(by)):
            while await self._stepped(1 if by > 0 else -1):
                here = self._infos[self._index]
                if not self._is_folded(here):
                    break
            else:
                if back is not self.current:
                    await self.open(back.checkpoint_id)  # all before it is folded
                return False
            back = here
        return True

    async def go(self, index: int) -> None:
        """Go to a checkpoint in the window."""
        self._index = index
        await self._fill()

    async def decision(self, by: int) -> bool:
        """Go to the next place (1) or the one before (-1) where something was decided; return whether there is one."""
        back = (self._infos[self._index].checkpoint_id) if self._infos else ""
        while await self._stepped(by):
            if await self._decided_here():
                return True
        if back:
            await self.open(back)
        return False

    async def _stepped(self, by: int) -> bool:
        """Go to the next checkpoint (1) or the one before (-1), folded or not; return whether there is one."""
        before = self.current
        await self.go(min(max(0, self._index - by), len(self._infos) - 1))
        now = self.current
        return before is not None and now is not None and before.checkpoint_id != now.checkpoint_id

    async def refresh(self) -> bool:
        """Take note of what was added since; return whether anything was."""
        shape = await self._past.shape()
        if shape == self.shape:
            return False
        self.shape, self._top = shape, not self._infos or self._infos[0].checkpoint_id == shape.head
        await self._fill()
        return True

    async def look(self) -> HistoryPlace | None:
        """Return this place; None when there is no checkpoint at all."""
        info = self.current
        if info is None or self.shape is None:
            return None
        number = await self._past.place(info.checkpoint_id)
        before = self._infos[self._index + 1] if self._index + 1 < len(self._infos) else None
        if before is not None and info.source == "fork":
            # A copy is made by the restore itself: it stands for what it copies, not for the one before it in time.
            before = await copied_from(self._past, info) or before
        events = await self._events_here()
        total, answered = max(self.shape.total, number), await self._answered(events)
        return HistoryPlace(info, before, number, total, events, answered, frozenset(info.refused))

    async def _answered(self, events: Sequence[Posted]) -> dict[str, Request]:
        ids = dict.fromkeys(str(e.event.get("request_id", "")) for e in events if e.event.get("kind") == "decided")
        found = {name: await self._past.request(name) for name in ids if name}
        return {name: request for name, request in found.items() if request is not None}

    async def _events_here(self) -> tuple[Posted, ...]:
        info = self.current
        after = self._infos[self._index + 1].cursor if self._index + 1 < len(self._infos) else 0
        if info is None or info.source == "fork" or info.cursor <= after:
            return ()
        return await self._between(info.branch, after, info.cursor)

    async def _decided_here(self) -> bool:
        events = await self._events_here()
        info = self.current
        before = self._infos[self._index + 1] if self._index + 1 < len(self._infos) else None
        if events or info is None or before is None or info.source == "fork" or info.cursor <= before.cursor:
            refused = info.refused if info is not None else ()
            return any(is_decision(e) and e.event_id not in refused for e in events)
        # What came in isn't in this session's record (a fork begins with another's history): the state tells.
        old, new = await self._past.state_at(before.checkpoint_id), await self._past.state_at(info.checkpoint_id)
        return any(g.channel != "policy" for g in decided_in(compare(old, new)))

    async def _between(self, branch: int, after: int, upto: int) -> tuple[Posted, ...]:
        known = self._events.setdefault(branch, [])
        if not known or known[-1].seq < upto:
            known += await self._past.events(branch, known[-1].seq if known else 0)
        seqs = [p.seq for p in known]
        return tuple(known[bisect_right(seqs, after) : bisect_right(seqs, upto)])

    async def _fill(self) -> None:
        """See that what stands beside this place is in the window, and that the window stays small."""
        if not self._infos:
            return
        if self._index >= len(self._infos) - 2 and not self._bottom:
            page = await self._past.older(self._page, self._infos[-1].checkpoint_id)
            self._bottom = len(page) < self._page
            self._infos += page
        if self._index <= 1 and not self._top:
            page = await self._past.newer(self._page, self._infos[0].checkpoint_id)
            self._top = len(page) < self._page
            self._infos[:0] = page
            self._index += len(page)
        self._trim()
        if self._causes is not None:
            self.causes = await self._causes.of(self._past, self._infos)

    def _trim(self) -> None:
        most = self._page * _PAGES_KEPT
        if len(self._infos) <= most:
            return
        if self._index >= len(self._infos) // 2:
            cut = len(self._infos) - most
            self._infos, self._index, self._top = self._infos[cut:], self._index - cut, False
        else:
            self._infos, self._bottom = self._infos[:most], False


_LETTERS = "AB"


@dataclass(frozen=True, slots=True)
class CheckpointMarks:
    """The marked checkpoints, in the order they were marked.

    Args:
        infos: the checkpoints.
        most: so many at most, one or two; the one that was marked first gives way.
    """

    infos: tuple[CheckpointInfo, ...] = ()
    most: int = 2

    def toggled(self, info: CheckpointInfo) -> CheckpointMarks:
        """Return the marks after one was set, or taken away if it was there."""
        known = {c.checkpoint_id: c for c in (*self.infos, info)}
        kept = last_two(self.ids, info.checkpoint_id)[-self.most :]
        return CheckpointMarks(tuple(known[ident] for ident in kept), self.most)

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

    def pair(self, here: CheckpointInfo, numbers: Mapping[str, int]) -> tuple[CheckpointInfo, CheckpointInfo] | None:
        """Return what is compared, the older one first: two marks, or mark and the checkpoint that is shown.

        Args:
            here: the checkpoint that is shown.
            numbers: which of all checkpoints each of these is, by id.

        Returns:
            None when no other one is marked: then it is compared with the one before it.
        """
        compared = {c.checkpoint_id: c for c in (self.infos if len(self.infos) == 2 else (*self.infos, here))}
        if len(compared) < 2:
            return None
        older, newer = sorted(compared.values(), key=lambda c: numbers[c.checkpoint_id])
        return older, newer
