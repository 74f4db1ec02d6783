"""`open_session`: a session held open by one process, whoever owns it.

The engine is imported where this process owns it: to follow one needs none.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hitl_tui.core.errors import HitlError, ServerAway, SessionBusy
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.safe_text import mask
from hitl_tui.policy import standing_rules
from hitl_tui.supervisor.activity import Activity
from hitl_tui.supervisor.ledger_sealing import known_signatures
from hitl_tui.supervisor.policy_sync import apply_standing_rules
from hitl_tui.supervisor.record_check import broken_record
from hitl_tui.supervisor.session_follower import SessionFollower
from hitl_tui.supervisor.session_setup import SessionSetup
from hitl_tui.supervisor.session_store import SessionStore
from hitl_tui.supervisor.session_view import SessionView
from hitl_tui.supervisor.snapshot import Snapshot
from hitl_tui.threads.session_history import SessionHistory

if TYPE_CHECKING:
    from hitl_tui.supervisor.attached_graphs.graph_view import GraphView
    from hitl_tui.supervisor.session import Session


GRACE = 20.0
"""Seconds in which what runs may end in a session that is carried no longer; the rest is left to whoever is next."""
_AWAY = 1.0
"""Seconds between looks for a server that is away."""

log = logging.getLogger(__name__)


async def _let_go(held: AsyncExitStack) -> None:
    """Close what can't be written to any more."""
    try:
        await held.aclose()
    except HitlError as error:
        log.info("%s", error.message)


def _load_engine() -> Callable[[SessionSetup, str], AbstractAsyncContextManager[Session]]:
    from hitl_tui.supervisor.own_session import own_session

    return own_session


@asynccontextmanager
async def open_session(
    store: SessionStore, setup: SessionSetup, query: str = "", *, lasting: bool = False
) -> AsyncIterator[OpenSession]:
    """Open a session: own it, or follow it where another process does or this account can't write.

    What stands in its standing rules is allowed while this process owns it. It is closed when the context is left.

    Args:
        store: the sessions of its data folder.
        setup: what it is opened with, see `SessionRegistry.setup` and `SessionRegistry.create`.
        query: begins a session that has no checkpoints yet.
        lasting: a server that is away is waited for, and the session opened again, by whoever looks what changed.

    Raises:
        StorageError: its checkpoints can't be used; they are not touched.
    """
    session = OpenSession(store, setup, lasting=lasting)
    try:
        await session._open(query)
        yield session
    finally:
        await session._held.aclose()


class OpenSession(SessionView):
    """A session that is open: the same object whether it is owned or followed. Use `open_session`.

    Args:
        store: the sessions of its data folder.
        setup: what it is opened with.
        lasting: see `open_session`.
    """

    def __init__(self, store: SessionStore, setup: SessionSetup, *, lasting: bool = False) -> None:
        self._lasting = lasting
        self.setup = self._given = setup
        self._store = store
        self._held = AsyncExitStack()
        self._view: Session | SessionFollower
        self._hearing: dict[Callable[[Activity], None], Callable[[], None]] = {}

    async def take_over(self) -> None:
        """Open it anew, once its owner is gone: own it, or follow whoever was faster.

        Raises:
            StorageError: its checkpoints can't be used; it is closed.
        """
        await self._held.aclose()
        await self._open("")

    async def _open(self, query: str) -> None:
        store, setup = self._store, self._given
        broken = await broken_record(store.ledger, known_signatures(store.environ), setup.info.id, setup.folder)
        if broken:
            setup = replace(setup, read_only=True, broken=broken)
        view = await self._owned(setup, mask(query, setup.secrets))
        if view is None:
            await asyncio.to_thread(setup.folder.follow)
            view = await self._held.enter_async_context(SessionFollower.open(setup))
        self._view, self.setup, self.writer, self.activity = view, view.setup, view.writer, view.activity
        self._hearing = {hear: view.listen(hear) for hear in self._hearing}

    async def _owned(self, setup: SessionSetup, query: str) -> Session | SessionFollower | None:
        """Own it, and keep its standing rules; None where that can't be."""
        if setup.read_only or await asyncio.to_thread(lambda: setup.folder.carried or setup.folder.is_owned()):
            return None
        own_session = await asyncio.to_thread(_load_engine)
        await asyncio.to_thread(setup.make_teams)
        try:
            session = await self._held.enter_async_context(own_session(setup, query))
        except SessionBusy:
            return None
        rules = apply_standing_rules(session, self._store.data.root / standing_rules.FILE_NAME, self._store.now)
        keeping = asyncio.create_task(rules, name=f"rules {setup.info.id}")

        async def end_keeping() -> None:
            keeping.cancel()
            await asyncio.wait({keeping})

        self._held.push_async_callback(end_keeping)
        return session

    @property
    def view(self) -> Session | SessionFollower:
        """What it is open as now."""
        return self._view

    @property
    def owned(self) -> bool:
        return self._view.owned

    @property
    def alone(self) -> bool:
        return self._view.alone

    @property
    def begun(self) -> Sequence[str]:
        return self._view.begun

    @property
    def snapshot(self) -> Snapshot:
        return self._view.snapshot

    async def changed(self, since: Snapshot | None) -> Snapshot:
        while True:
            try:
                return await self._view.changed(since)
            except ServerAway as error:
                if not self._lasting:
                    raise
                self.add_lines([error.message])
                await self._reopen()

    async def _reopen(self) -> None:
        """Open it anew once its server is back: it may be another's by then."""
        while True:
            await asyncio.sleep(_AWAY)
            with suppress(ServerAway):
                held, self._held = self._held, AsyncExitStack()
                await _let_go(held)
                await self._open("")
                return

    async def settled(self) -> Snapshot:
        return await self._view.settled()

    async def carried_on(self) -> Snapshot:
        """Wait until a person is needed or it is finished, also where workers carry it."""
        found = await self.settled()
        return await self.at_rest() if found.carrier else found

    async def at_rest(self, seen: Callable[[Snapshot], Awaitable[None]] | None = None, linger: float = 0.0) -> Snapshot:
        """Wait until nothing goes on by itself; return how it stands then.

        Args:
            seen: awaited with each snapshot, the first and the last included.
            linger: seconds that a standing rule has to answer what is asked.
        """
        found = self.snapshot
        while True:
            if seen is not None:
                await seen(found)
            if not found.at_rest:
                found = await self.changed(found)
                continue
            if not (found.questions and linger):
                return found
            try:
                found = await asyncio.wait_for(self.changed(found), linger)
            except TimeoutError:
                return found

    async def carry(self, seen: Callable[[Snapshot], Awaitable[None]] | None = None, linger: float = 0.0) -> Snapshot:
        """Wait as `at_rest` does; where that is cancelled no step begins any more, and those that run may end."""
        try:
            return await self.at_rest(seen, linger)
        except asyncio.CancelledError:
            with suppress(TimeoutError):
                async with asyncio.timeout(GRACE):
                    await self._view.drain()
            raise

    async def applied(self, seq: int) -> Snapshot:
        return await self._view.applied(seq)

    async def on_branch(self, number: int) -> Snapshot:
        return await self._view.on_branch(number)

    async def renew(self) -> str:
        return await self._view.renew()

    def reading(self) -> AbstractAsyncContextManager[SessionHistory]:
        return self._view.reading()

    async def state_at(self, checkpoint_id: str) -> dict[str, Any]:
        return await self._view.state_at(checkpoint_id)

    async def graph(self, todo_id: str, update: JsonObject | None = None, at: str = "") -> GraphView:
        return await self._view.graph(todo_id, update, at)

    def listen(self, hear: Callable[[Activity], None]) -> Callable[[], None]:
        """See `SessionView.listen`; it goes on when this process takes the owner's place."""
        self._hearing[hear] = self._view.listen(hear)

        def end() -> None:
            if ending := self._hearing.pop(hear, None):
                ending()

        return end
