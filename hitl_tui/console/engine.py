"""The console's side of the engine: it is imported after the first frame, and sessions live in tasks of their own."""

from __future__ import annotations

import asyncio
import gc
import importlib
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from hitl_tui.core.errors import HitlError

if TYPE_CHECKING:
    from hitl_tui.commands.handler import CommandHandler
    from hitl_tui.core.policy import Mode
    from hitl_tui.ledger.contract import RequestView
    from hitl_tui.supervisor.activity import Activity
    from hitl_tui.supervisor.follower import Follower
    from hitl_tui.supervisor.session import Session, SessionSetup
    from hitl_tui.supervisor.snapshot import Snapshot
    from hitl_tui.supervisor.workbench import SessionSummary, Workbench

log = logging.getLogger(__name__)


class Watcher(Protocol):
    """Who is told what happens in the open session."""

    def seen(self, snapshot: Snapshot) -> None:
        """The session looks like this now."""

    def said(self, lines: Sequence[Activity]) -> None:
        """These lines are new in the stream."""

    def stopped(self, message: str) -> None:
        """The session can't go on."""


class Link:
    """One open session.

    Args:
        face: the session, owned or followed.
        handler: carries commands out on it.
    """

    def __init__(self, face: Session | Follower, handler: CommandHandler) -> None:
        self.face = face
        self.handler = handler

    @property
    def setup(self) -> SessionSetup:
        return self.face.setup

    def lines(self) -> list[Activity]:
        """Return the stream so far."""
        activity = self.face.activity
        return list(activity) if isinstance(activity, list) else activity.lines

    async def state_at(self, checkpoint_id: str) -> dict[str, Any] | None:
        """Return the state at a checkpoint, None where this process can't look into it."""
        look = getattr(self.face, "state_at", None)
        return dict(await look(checkpoint_id)) if look is not None else None


class Engine:
    """Opens the workbench and one session at a time.

    Args:
        data: the data folder.
        by: who decides.
        hide: is told the secrets that no log may show.
    """

    def __init__(self, data: Path, by: str, hide: Callable[[Mapping[str, str]], None]) -> None:
        self.data = data
        self._hide = hide
        self._by = by
        self._bench: asyncio.Future[Workbench] | None = None
        self._leave = asyncio.Event()
        self._bench_task: asyncio.Task[None] | None = None
        self._session_task: asyncio.Task[None] | None = None
        self._session_leave = asyncio.Event()
        self._opening = asyncio.Lock()

    async def bench(self) -> Workbench:
        """Return the workbench; the first call imports the engine, in a thread, and opens it.

        Raises:
            HitlError: the data folder can't be used.
        """
        if self._bench is None or (self._bench.done() and self._bench.exception() is not None):
            self._bench = asyncio.get_running_loop().create_future()
            self._bench_task = asyncio.create_task(self._serve_bench(self._bench), name="workbench")
        return await asyncio.shield(self._bench)

    async def _serve_bench(self, ready: asyncio.Future[Workbench]) -> None:
        try:
            try:
                module = await asyncio.to_thread(importlib.import_module, "hitl_tui.supervisor.workbench")
            finally:
                # What was imported stays for good; looking through it again and again would only make keys wait.
                gc.freeze()
                gc.enable()
            async with module.Workbench.open(self.data) as bench:
                ready.set_result(bench)
                await self._leave.wait()
        except Exception as error:
            log.exception("the workbench stopped")
            if not ready.done():
                ready.set_exception(error)

    @property
    def session_open(self) -> bool:
        """A session is open."""
        return self._session_task is not None

    async def sessions(self) -> list[SessionSummary]:
        """Return all sessions, newest last."""
        return await (await self.bench()).sessions()

    async def requests(self) -> list[RequestView]:
        """Return everything that waits for a person, of all sessions: what expires first comes first."""
        from hitl_tui.supervisor.clock import utc_now

        found = await (await self.bench()).ledger.requests(utc_now(), limit=500)
        return sorted(found, key=lambda v: (v.request.deadline or "9999", v.request.opened_at))

    async def begin(self, query: str, workspace: Path, mode: Mode | None, watcher: Watcher) -> Link:
        """Begin a session and open it.

        Raises:
            HitlError: it can't be begun; what was open before stays open.
        """
        bench = await self.bench()
        setup = await bench.create(query, workspace, mode=mode)
        return await self._open(bench, setup, query, watcher)

    async def open(self, session_id: str, watcher: Watcher) -> Link:
        """Open a session there is; another one that was open is left.

        Raises:
            HitlError: there is none, or it can't be opened.
        """
        bench = await self.bench()
        return await self._open(bench, await asyncio.to_thread(bench.setup, session_id), "", watcher)

    async def _open(self, bench: Workbench, setup: SessionSetup, query: str, watcher: Watcher) -> Link:
        from hitl_tui.commands.handler import CommandHandler

        self._hide(setup.secrets)
        async with self._opening:
            await self.leave_session()
            ready: asyncio.Future[Session | Follower] = asyncio.get_running_loop().create_future()
            serve = self._serve_session(bench, setup, query, watcher, ready)
            self._session_task = asyncio.create_task(serve, name=f"console {setup.info.id}")
            try:
                face = await asyncio.shield(ready)
            except Exception:
                self._session_task = None
                raise
            return Link(face, CommandHandler(face, setup.planner, by=self._by, channel="console"))

    async def _serve_session(
        self,
        bench: Workbench,
        setup: SessionSetup,
        query: str,
        watcher: Watcher,
        ready: asyncio.Future[Session | Follower],
    ) -> None:
        leave = self._session_leave = asyncio.Event()
        try:
            async with bench.session(setup, query) as face:
                unsubscribe = _listen(face, watcher)
                ready.set_result(face)
                watching = asyncio.create_task(_watch(face, watcher), name=f"watch {setup.info.id}")
                try:
                    leaving = asyncio.create_task(leave.wait())
                    await asyncio.wait({watching, leaving}, return_when=asyncio.FIRST_COMPLETED)
                    await leave.wait()
                finally:
                    unsubscribe()
                    watching.cancel()
                    await asyncio.wait({watching})
        except Exception as error:
            log.exception("session %s", setup.info.id)
            if ready.done():
                watcher.stopped(sentence(error))
            else:
                ready.set_exception(error)

    async def leave_session(self) -> None:
        """Close the open session; what it did is kept, and what ran goes on when it is opened again."""
        task, self._session_task = self._session_task, None
        if task is not None:
            self._session_leave.set()
            await asyncio.wait({task})

    async def close(self) -> None:
        """Close everything; may be called again."""
        await self.leave_session()
        self._leave.set()
        if self._bench_task is not None:
            await asyncio.wait({self._bench_task})
            if self._bench is not None and self._bench.done():
                self._bench.exception()  # it was reported where it was waited for


def _listen(face: Session | Follower, watcher: Watcher) -> Callable[[], None]:
    activity = face.activity
    if isinstance(activity, list):
        return lambda: None
    return activity.subscribe(lambda line: watcher.said([line]))


async def _watch(face: Session | Follower, watcher: Watcher) -> None:
    seen = face.snapshot
    watcher.seen(seen)
    try:
        while True:
            seen = await face.changed(seen)
            watcher.seen(seen)
    except HitlError as error:
        watcher.stopped(error.message)
    except Exception as error:
        log.exception("watching %s", face.id)
        watcher.stopped(sentence(error))


def sentence(error: BaseException) -> str:
    """Return what a person is told about an error."""
    if isinstance(error, HitlError):
        return error.message
    return f"Something unexpected happened ({type(error).__name__}); the log file has the details."
