"""Reading the history of one thread of a foreign store, or of a subgraph that ran in it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from hitl_tui.core.json_types import Json
from hitl_tui.threads.thread_reader import Capability, HistoryForm, LastRead, Obstacle

if TYPE_CHECKING:
    from hitl_tui.core.requests import Request
    from hitl_tui.ledger.records import Posted
    from hitl_tui.threads.thread_model import CheckpointInfo, FullCheckpoint
    from hitl_tui.threads.thread_store import ThreadStore

_MOMENTS_KEPT = 8


class StoreThread:
    """The history of a thread's graph, or of a subgraph that ran in it.

    Args:
        store: where it lies.
        thread: the thread.
        ns: the subgraph's namespace; empty for the graph itself.
        forks: the graph that wrote it is at hand, so that a copy can go on.
    """

    def __init__(self, store: ThreadStore, thread: str, ns: str = "", *, forks: bool = False) -> None:
        self._store = store
        self.thread = thread
        self.ns = ns
        self._forks = forks
        self._moments = LastRead(partial(store.moment, thread, ns), _MOMENTS_KEPT)

    async def older(self, limit: int, before: str = "") -> list[CheckpointInfo]:
        return await self._store.older(self.thread, self.ns, limit, before)

    async def newer(self, limit: int, after: str = "") -> list[CheckpointInfo]:
        return await self._store.newer(self.thread, self.ns, limit, after)

    async def shape(self) -> HistoryForm:
        head = await self._store.head(self.thread, self.ns)
        total = await self._store.count(self.thread, self.ns)
        return HistoryForm(head, total, tuple(await self._store.turns(self.thread, self.ns)))

    async def newest(self) -> tuple[str, int]:
        """Return the id of the newest checkpoint, and how much its tasks have written: either changes as it goes on."""
        head = await self._store.head(self.thread, self.ns)
        return head, await self._store.written(self.thread, self.ns, head)

    async def place(self, checkpoint_id: str) -> int:
        return await self._store.place(self.thread, self.ns, checkpoint_id)

    async def events(self, branch: int, after: int = 0) -> list[Posted]:
        return []  # what was decided elsewhere is in no record of ours

    async def request(self, request_id: str) -> Request | None:
        return None

    async def state_at(self, checkpoint_id: str) -> dict[str, Json]:
        return dict((await self.moment(checkpoint_id)).values)

    async def moment(self, checkpoint_id: str, *, fresh: bool = False) -> FullCheckpoint:
        """Return a checkpoint whole; the last few are kept.

        Args:
            checkpoint_id: which one.
            fresh: read it again: what runs from the newest one may still be added.
        """
        return await self._moments.get(checkpoint_id, fresh=fresh)

    async def info(self, checkpoint_id: str) -> CheckpointInfo | None:
        return await self._store.one(self.thread, self.ns, checkpoint_id) if checkpoint_id else None

    async def asked(self, checkpoint_id: str, by: int) -> str:
        """Return the next (1) or previous (-1) checkpoint where something was asked; empty for none."""
        return await self._store.asked(self.thread, self.ns, checkpoint_id, by)

    def obstacle(self, capability: Capability, *, newest: bool) -> Obstacle | None:
        if capability is Capability.RESUME:
            return Obstacle.OTHER_KIND
        if not self._forks:
            return Obstacle.READ_ONLY
        if capability is Capability.RESTORE:
            return Obstacle.FORK_ONLY
        return Obstacle.SUBGRAPH if self.ns else None
