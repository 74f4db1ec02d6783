"""Sessions that the console holds open side by side, each in a task of its own; one of them is shown (C8)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hitl_tui.console.engine import SessionHandle, Watcher, sentence
from hitl_tui.core.errors import HitlError, OwnerGone

if TYPE_CHECKING:
    from hitl_tui.supervisor.activity import Activity
    from hitl_tui.supervisor.session import Session
    from hitl_tui.supervisor.session_follower import SessionFollower
    from hitl_tui.supervisor.session_registry import SessionRegistry
    from hitl_tui.supervisor.session_setup import SessionSetup
    from hitl_tui.supervisor.snapshot import Snapshot

log = logging.getLogger(__name__)

_TOGETHER = 0.02
"""Seconds within which lines of the stream are shown at once."""
_EVERY = 0.15
"""Seconds between two showings while lines keep coming: each draws the whole pane, and goes over a slow link."""

Elsewhere = Callable[[str, "Snapshot"], None]
"""Is told how a session looks that isn't on the screen."""


class OpenSession:
    """One session that is held open until `leave`.

    Args:
        bench: opens it.
        setup: what it is opened with.
        query: begins it when it has no checkpoints yet.
        watcher: is told what happens while it is on the screen.
        elsewhere: is told while it isn't.
        link: makes the link of its face.
    """

    def __init__(
        self,
        bench: SessionRegistry,
        setup: SessionSetup,
        query: str,
        watcher: Watcher,
        elsewhere: Elsewhere,
        link: Callable[[Session | SessionFollower], SessionHandle],
    ) -> None:
        self.id = setup.info.id
        self.shown = False
        self._setup = setup
        self._watcher = watcher
        self._elsewhere = elsewhere
        self._leave = asyncio.Event()
        self._ready: asyncio.Future[SessionHandle] = asyncio.get_running_loop().create_future()
        self._stopped = ""
        self._heard: list[Activity] = []
        self._told = float("-inf")
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(self._serve(bench, query, link), name=f"console {self.id}")

    @property
    def over(self) -> bool:
        """It can't go on: it has to be opened again."""
        return self._task.done() or bool(self._stopped)

    @property
    def hears(self) -> bool:
        """It is open, and its stream is written here."""
        return self._open_link is not None and self._open_link.face.owned and not self.over

    @property
    def runs(self) -> bool:
        """Something in it is in progress."""
        return self._open_link is not None and bool(self._open_link.face.snapshot.running)

    def hear(self, lines: Sequence[str]) -> None:
        """Add lines to its stream: to the TODO's that runs, where no other does."""
        from hitl_tui.supervisor.activity import ActivityStream

        link = self._open_link
        if link is not None and isinstance(stream := link.face.activity, ActivityStream):
            running = link.face.snapshot.running
            for line in lines:
                stream.write(running[0] if len(running) == 1 else "", "line", line)

    @property
    def finished(self) -> bool:
        """Nothing in it goes on or waits for a person."""
        return self._open_link is not None and self._open_link.face.snapshot.status in ("finished", "failed")

    @property
    def rests(self) -> bool:
        """Nothing in it goes on by itself, not even towards a deadline."""
        link = self._open_link
        if link is None or not link.face.snapshot.at_rest:
            return False
        return not any(question.view.request.terms.deadline for question in link.face.snapshot.questions)

    @property
    def owned(self) -> bool:
        """This process drives it; another one doesn't."""
        return self._open_link is not None and self._open_link.face.owned

    @property
    def _open_link(self) -> SessionHandle | None:
        opened = self._ready.done() and not self._ready.cancelled() and self._ready.exception() is None
        return self._ready.result() if opened else None

    async def link(self) -> SessionHandle:
        """Return the link once the session is open.

        Raises:
            HitlError: it can't be opened.
        """
        return await asyncio.shield(self._ready)

    def show(self) -> None:
        """Put it on the screen."""
        self.shown = True
        if self._open_link is not None:
            self._watcher.seen(self._open_link.face.snapshot)

    async def leave(self) -> None:
        """Close it; what it did is kept, and what ran goes on when it is opened again."""
        self.shown = False
        self._leave.set()
        await asyncio.wait({self._task})

    async def _serve(
        self, bench: SessionRegistry, query: str, link: Callable[[Session | SessionFollower], SessionHandle]
    ) -> None:
        try:
            while await self._open(bench, query, link):
                query = ""
        except Exception as error:
            log.exception("session %s", self.id)
            if self._ready.done():
                self._stop(sentence(error))
            else:
                self._ready.set_exception(error)

    async def _open(
        self, bench: SessionRegistry, query: str, link: Callable[[Session | SessionFollower], SessionHandle]
    ) -> bool:
        """Hold it open until it is left, or until its owner is gone; return whether to open it again."""
        async with bench.session(self._setup, query) as face:
            unsubscribe = self._listen(face)
            if self._ready.done():
                self._said(self._ready.result().fresh())
                self._ready.result().become(link(face))
            else:
                self._ready.set_result(link(face))
            watching = asyncio.create_task(self._watch(face), name=f"watch {self.id}")
            leaving = asyncio.create_task(self._leave.wait(), name=f"leave {self.id}")
            try:
                await asyncio.wait({watching, leaving}, return_when=asyncio.FIRST_COMPLETED)
                if watching.done() and watching.result():
                    return True
                await leaving
                return False
            finally:
                unsubscribe()
                watching.cancel()
                leaving.cancel()
                await asyncio.wait({watching, leaving})

    def _listen(self, face: Session | SessionFollower) -> Callable[[], None]:
        from hitl_tui.supervisor.activity import ActivityStream

        activity = face.activity
        return activity.subscribe(self._hear) if isinstance(activity, ActivityStream) else lambda: None

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

    async def _watch(self, face: Session | SessionFollower) -> bool:
        """Tell how it stands; return True once its owner is gone, False when it can't be watched any more."""
        seen = face.snapshot
        self._seen(seen)
        try:
            while True:
                seen = await face.changed(seen)
                self._seen(seen)
        except OwnerGone:
            return True
        except HitlError as error:
            self._stop(error.message)
        except Exception as error:
            log.exception("watching %s", self.id)
            self._stop(sentence(error))
        return False

    def _seen(self, snapshot: Snapshot) -> None:
        if self.shown:
            self._watcher.seen(snapshot)
        else:
            self._elsewhere(self.id, snapshot)

    def _said(self, lines: Sequence[Activity]) -> None:
        if self.shown:
            self._watcher.said(self.id, lines)

    def _stop(self, why: str) -> None:
        self._stopped = why
        if self._open_link is not None:
            self._open_link.stopped = why
        if self.shown:
            self._watcher.stopped(self.id, why)
