"""Sessions that the console holds open side by side, each in a task of its own; one of them is shown."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hitl_tui.console.session_handle import SessionHandle, Watcher
from hitl_tui.core.errors import HitlError, OwnerGone
from hitl_tui.supervisor.open_session import OpenSession, open_session
from hitl_tui.wording.error_lines import failure_words

if TYPE_CHECKING:
    from hitl_tui.supervisor.activity import Activity
    from hitl_tui.supervisor.session_setup import SessionSetup
    from hitl_tui.supervisor.session_store import SessionStore
    from hitl_tui.supervisor.snapshot import Snapshot

log = logging.getLogger(__name__)

_TOGETHER = 0.02
"""Seconds within which lines of the stream are shown at once."""
_EVERY = 0.15
"""Seconds between two showings while lines keep coming: each draws the whole pane, and goes over a slow link."""

Elsewhere = Callable[[str, "Snapshot"], None]
"""Is told how a session looks that isn't on the screen."""


class HeldSession:
    """One session that is held open until `leave`.

    Args:
        store: the sessions of the data folder.
        setup: what it is opened with.
        query: begins it when it has no checkpoints yet.
        watcher: is told what happens while it is on the screen.
        elsewhere: is told while it isn't.
        make_handle: makes the handle of the open session.
    """

    def __init__(
        self,
        store: SessionStore,
        setup: SessionSetup,
        query: str,
        watcher: Watcher,
        elsewhere: Elsewhere,
        make_handle: Callable[[OpenSession], SessionHandle],
    ) -> None:
        self.id = setup.info.id
        self.shown = False
        self._watcher = watcher
        self._elsewhere = elsewhere
        self._leave = asyncio.Event()
        self._ready: asyncio.Future[SessionHandle] = asyncio.get_running_loop().create_future()
        self._stopped = ""
        self._heard: list[Activity] = []
        self._told = float("-inf")
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(self._serve(store, setup, query, make_handle), name=f"console {self.id}")

    @property
    def over(self) -> bool:
        """It can't go on: it has to be opened again."""
        return self._task.done() or bool(self._stopped)

    @property
    def hears(self) -> bool:
        """It is open, and its stream is written here."""
        return self.owned and not self.over

    @property
    def running(self) -> Sequence[str]:
        """Ids of its TODOs in progress."""
        return self._open_handle.session.snapshot.running if self._open_handle is not None else ()

    def hear(self, lines: Sequence[str]) -> None:
        """Add lines to its stream."""
        if self._open_handle is not None:
            self._open_handle.session.add_lines(lines)

    @property
    def finished(self) -> bool:
        """Nothing in it goes on or waits for a person."""
        return self._open_handle is not None and self._open_handle.session.snapshot.status in ("finished", "failed")

    @property
    def rests(self) -> bool:
        """Nothing in it goes on by itself, not even towards a deadline."""
        handle = self._open_handle
        if handle is None or not handle.session.snapshot.at_rest:
            return False
        return not any(question.view.request.terms.deadline for question in handle.session.snapshot.questions)

    @property
    def owned(self) -> bool:
        """This process drives it; another one doesn't."""
        return self._open_handle is not None and self._open_handle.session.owned

    @property
    def _open_handle(self) -> SessionHandle | None:
        opened = self._ready.done() and not self._ready.cancelled() and self._ready.exception() is None
        return self._ready.result() if opened else None

    async def handle(self) -> SessionHandle:
        """Return the handle once the session is open.

        Raises:
            HitlError: it can't be opened.
        """
        return await asyncio.shield(self._ready)

    def show(self) -> None:
        """Put it on the screen."""
        self.shown = True
        if self._open_handle is not None:
            self._watcher.seen(self._open_handle.session.snapshot)

    async def leave(self) -> None:
        """Close it; what it did is kept, and what ran goes on when it is opened again."""
        self.shown = False
        self._leave.set()
        await asyncio.wait({self._task})

    async def _serve(
        self, store: SessionStore, setup: SessionSetup, query: str, make_handle: Callable[[OpenSession], SessionHandle]
    ) -> None:
        try:
            async with open_session(store, setup, query, lasting=True) as session:
                session.listen(self._hear)
                self._ready.set_result(make_handle(session))
                while await self._watched(session):
                    self._said(session.unheard())
                    await session.take_over()
        except Exception as error:
            log.exception("session %s", self.id)
            if self._ready.done():
                self._stop(failure_words(error))
            else:
                self._ready.set_exception(error)

    async def _watched(self, session: OpenSession) -> bool:
        """Watch it until it is left, or until its owner is gone; return whether to take the owner's place."""
        watching = asyncio.create_task(self._watch(session), name=f"watch {self.id}")
        leaving = asyncio.create_task(self._leave.wait(), name=f"leave {self.id}")
        try:
            await asyncio.wait({watching, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if watching.done() and watching.result():
                return True
            await leaving
            return False
        finally:
            watching.cancel()
            leaving.cancel()
            await asyncio.wait({watching, leaving})

    def _hear(self, line: Activity) -> None:
        """Take one line of the stream; those of a moment are handed on together, or a fast team would hold keys up."""
        self._heard.append(line)
        if len(self._heard) == 1:
            wait = max(_TOGETHER, self._told + _EVERY - self._loop.time())
            # Lines come from threads, too: those of synchronous nodes.
            self._loop.call_soon_threadsafe(self._loop.call_later, wait, self._tell)

    def _tell(self) -> None:
        self._told = self._loop.time()
        heard, self._heard = self._heard, []
        self._said(heard)

    async def _watch(self, session: OpenSession) -> bool:
        """Tell how it stands; return True once its owner is gone, False when it can't be watched any more."""
        seen = session.snapshot
        try:
            while True:
                if self.shown:
                    self._watcher.seen(seen)
                else:
                    self._elsewhere(self.id, seen)
                seen = await session.changed(seen)
        except OwnerGone:
            return True
        except HitlError as error:
            self._stop(error.message)
        except Exception as error:
            log.exception("watching %s", self.id)
            self._stop(failure_words(error))
        return False

    def _said(self, lines: Sequence[Activity]) -> None:
        if self.shown:
            self._watcher.said(self.id, lines)

    def _stop(self, why: str) -> None:
        self._stopped = why
        if self._open_handle is not None:
            self._open_handle.stopped = why
        if self.shown:
            self._watcher.stopped(self.id, why)
