"""Reading a session's own history, and that of its teams' runs, which lie in the same file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Protocol

from hitl_tui.core.json_types import Json
from hitl_tui.threads.thread_reader import Capability, HistoryForm, Obstacle

if TYPE_CHECKING:
    from hitl_tui.core.requests import Request
    from hitl_tui.ledger.protocols import Ledger
    from hitl_tui.ledger.records import Effect, Posted, RequestView
    from hitl_tui.threads.session_history import SessionHistory
    from hitl_tui.threads.thread_model import CheckpointInfo


class LedgerAccess(Protocol):
    """A session's record."""

    @property
    def ledger(self) -> Ledger: ...

    async def request(self, request_id: str) -> RequestView | None: ...


class ReadableSession(Protocol):
    """A session that is open, owned or followed."""

    @property
    def id(self) -> str: ...

    @property
    def writer(self) -> LedgerAccess: ...

    def reading(self) -> AbstractAsyncContextManager[SessionHistory]: ...

    async def state_at(self, checkpoint_id: str) -> dict[str, Json]: ...


class OwnThread:
    """A thread in a session's checkpoint file.

    Args:
        session: the session.
        thread: the thread; empty for the session's own.
    """

    def __init__(self, session: ReadableSession, thread: str = "") -> None:
        self.session = session
        self._thread = thread

    @asynccontextmanager
    async def _history(self) -> AsyncIterator[SessionHistory]:
        async with self.session.reading() as history:
            yield history.of_thread(self._thread) if self._thread else history

    async def older(self, limit: int, before: str = "") -> list[CheckpointInfo]:
        async with self._history() as history:
            return await history.page(limit, before)

    async def newer(self, limit: int, after: str = "") -> list[CheckpointInfo]:
        async with self._history() as history:
            return await history.page_after(limit, after)

    async def info(self, checkpoint_id: str) -> CheckpointInfo | None:
        async with self._history() as history:
            return await history.one(checkpoint_id)

    async def shape(self) -> HistoryForm:
        async with self._history() as history:
            return HistoryForm(await history.head(), await history.count(), tuple(await history.turns()))

    async def place(self, checkpoint_id: str) -> int:
        async with self._history() as history:
            return await history.place(checkpoint_id)

    async def state_at(self, checkpoint_id: str) -> dict[str, Json]:
        async with self._history() as history:
            return await history.values(checkpoint_id)


class TeamThread(OwnThread):
    """A team's own steps: the history of one run of a TODO, in which nothing is decided step by step."""

    async def events(self, branch: int, after: int = 0) -> list[Posted]:
        return []

    async def request(self, request_id: str) -> Request | None:
        return None

    def obstacle(self, capability: Capability, *, newest: bool) -> Obstacle | None:
        return None if capability is Capability.RESUME else Obstacle.OTHER_KIND


class SessionThread(OwnThread):
    """A session's history, with what was decided on its way."""

    def of_team(self, thread: str) -> TeamThread:
        """Return the history of a run's thread in the same place."""
        return TeamThread(self.session, thread)

    async def state_at(self, checkpoint_id: str) -> dict[str, Json]:
        return await self.session.state_at(checkpoint_id)

    async def events(self, branch: int, after: int = 0) -> list[Posted]:
        """Return what was recorded of a branch; one that is older than a fork is on record where that comes from."""
        ledger, name = self.session.writer.ledger, self.session.id
        while first := await ledger.entries(name, 0, 1):
            origin = first[0].data.get("origin", {}) if first[0].kind == "session_copied" else {}
            if origin.get("kind") != "fork" or branch >= int(origin.get("branch", 0)):
                break
            name = str(origin["session"])
        return await ledger.after(name, after, branch)

    async def request(self, request_id: str) -> Request | None:
        view = await self.session.writer.request(request_id)
        return view.request if view is not None else None

    async def effects(self) -> list[Effect]:
        """Return what the session did to the world, from the ledger."""
        return await self.session.writer.ledger.effects(self.session.id)

    def obstacle(self, capability: Capability, *, newest: bool) -> Obstacle | None:
        if capability is Capability.RESTORE:
            return Obstacle.NEWEST if newest else None
        return None if capability is Capability.FORK else Obstacle.OTHER_KIND
