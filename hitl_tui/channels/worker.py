"""`SessionWorker`: carries the sessions of a database whose workspaces this machine has.

procrastinate says when to look at which session; what is to be done there is read from the record and the checkpoints,
and a session is opened as everywhere: by whoever gets its lock.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any, Protocol

from procrastinate import App, BaseRetryStrategy, PsycopgConnector, RetryDecision
from procrastinate.exceptions import ConnectorException
from procrastinate.job_context import JobContext
from procrastinate.jobs import Job, Status
from procrastinate.worker import Worker

from hitl_tui.config.postgres_address import shown_address
from hitl_tui.config.workspace_copy import WorkspaceCopy, workspace_copy
from hitl_tui.core.errors import HitlError, ServerAway, StorageError, UnknownName
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line
from hitl_tui.ledger.postgres_connection import OPTIONS, prepare_connection
from hitl_tui.policy import standing_rules
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.postgres_sessions import DatabaseFolder
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.wake_queue import HEARTBEAT, PRUNE, STALLED, UPKEEP, UPKEEP_QUEUE, WAKE, LiveWorker, leaves

log = logging.getLogger(__name__)

_NOTHING = "hitl-tui-nothing"
"""The queue, in which nothing ever is, of a worker that leaves all its workspaces to others."""
_RULES = 0.5
"""Seconds that standing rules have to answer what is asked."""
_UPKEEP = "* * * * * */5"
_PRUNING = "17 * * * *"
_SWEPT = 500
"""Sessions that one sweep wakes."""
_AGAIN = 1.0
"""Seconds until it is tried again to reach the server."""
_LOOK = 2.0
"""Seconds between looks at what the workspaces declare."""
_PATIENCE = 60
"""Most seconds until a session is tried again that couldn't go on."""


class Carried(Protocol):
    """Counts turns of sessions."""

    def __call__(self, seconds: float, *, failed: bool) -> None: ...


class Patience(BaseRetryStrategy):
    """Tries again what couldn't go on, sooner and then later: what stopped it may pass, such as a full disk."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        return RetryDecision(retry_in={"seconds": min(_PATIENCE, 2 ** min(job.attempts, 10))})


class SessionWorker:
    """One process that carries sessions.

    Args:
        registry: the sessions, of a database.
        copies: the workspaces that this machine has a copy of.
        name: what people call this worker.
        concurrency: how many sessions may be open at once.
        tell: is given what people should know, a sentence each.
        hide: is told the declared secrets of each session.
    """

    def __init__(
        self,
        registry: SessionRegistry,
        copies: Sequence[WorkspaceCopy],
        *,
        name: str,
        concurrency: int,
        tell: Callable[[str], None],
        hide: Callable[[Mapping[str, str]], None],
    ) -> None:
        assert isinstance(registry.data, DatabaseFolder)
        self._registry = registry
        self._data = registry.data
        self._data.carries, self._data.holder = True, f"{name}@{socket.gethostname()}"
        self._copies = tuple(copies)
        self._name = name
        self._concurrency = concurrency
        self._tell = tell
        self._hide = hide
        self.prune_after: timedelta | None = None
        """How old sessions that ended become before they are deleted; None for as old as people let them."""
        self.count: Carried | None = None
        """Is told of each turn of a session."""
        self._away = ""
        self._left: Mapping[str, str] = {}
        self._at_work = set[int]()
        self._forgotten = set[int]()
        self._since = registry.now()

    @property
    def open_now(self) -> int:
        """How many sessions are open here."""
        return len(self._data.open_here)

    async def run(self) -> None:
        """Carry sessions until it is cancelled; a server that is away is waited for.

        Raises:
            StorageError: the queue can't be used.
        """
        await asyncio.to_thread(self._data.queue.make)
        while True:
            try:
                await self._serve()
                self._away = ""
            except (ConnectorException, StorageError) as error:
                said = one_line(str(error.__cause__ or error), 300)
                if not self._away:
                    self._tell(
                        Message("{} can't be used now: {}.", shown_address(self._data.address), said.rstrip("."))
                    )
                self._away = said
                log.info("worker begins again: %s", said, exc_info=error)
            await asyncio.sleep(_AGAIN)

    async def _serve(self) -> None:
        """Take jobs until the workspaces declare something else, or the server can't be reached."""
        self._copies = self._data.copies = tuple(
            [await asyncio.to_thread(workspace_copy, copy.folder, copy.name) for copy in self._copies]
        )
        teams = {copy.name: await self._teams(copy) for copy in self._copies}
        app = App(connector=self._connector())
        self._declare(app)
        async with app.open_async():
            common: dict[str, Any] = {
                "app": app,
                "install_signal_handlers": False,
                "delete_jobs": "always",
                "update_heartbeat_interval": HEARTBEAT,
                "stalled_worker_timeout": STALLED,
            }
            carrying = Worker(
                queues=[copy.queue for copy in self._taken()] or [_NOTHING],
                name=self._name,
                concurrency=self._concurrency,
                shutdown_graceful_timeout=0.0,  # a session that is cancelled lets its steps end
                fetch_job_polling_interval=5.0,
                **common,
            )
            # Of its own: those that carry sessions may all be busy, and deadlines pass all the same.
            keeping = Worker(
                queues=[UPKEEP_QUEUE],
                name=f"{self._name} upkeep",
                listen_notify=False,
                fetch_job_polling_interval=2.0,
                **common,
            )
            runs: list[Callable[[], Coroutine[Any, Any, None]]] = [carrying.run, keeping.run]
            running = [asyncio.create_task(run()) for run in runs]
            watching = asyncio.create_task(self._watch(app, carrying, teams))
            try:
                done, _ = await asyncio.wait([*running, watching], return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (watching, *running):
                    task.cancel()
                await asyncio.wait([watching, *running])
            for task in done:
                task.result()

    def _connector(self) -> PsycopgConnector:
        return PsycopgConnector(
            conninfo=self._data.address,
            kwargs=dict(OPTIONS),
            configure=prepare_connection,
            min_size=1,
            max_size=4,
            timeout=10.0,
        )

    def _declare(self, app: App) -> None:
        @app.task(name=WAKE, retry=Patience(), pass_context=True)
        async def wake(context: JobContext, session: str) -> None:
            began, failed = time.monotonic(), True
            job = context.job.id or 0
            self._at_work.add(job)
            try:
                await self.carry(session)
                failed = False
            except ServerAway:
                raise
            except HitlError as error:
                self._tell(Message("{} can't go on now: {}", session, error.message))
                raise
            finally:
                self._at_work.discard(job)
                if self.count is not None:
                    self.count(time.monotonic() - began, failed=failed)

        if self.prune_after is not None:

            @app.periodic(cron=_PRUNING)
            @app.task(name=PRUNE, queue=UPKEEP_QUEUE, queueing_lock=PRUNE)
            async def prune(timestamp: int) -> None:
                await self.prune()

        @app.periodic(cron=_UPKEEP)
        @app.task(name=UPKEEP, queue=UPKEEP_QUEUE, queueing_lock=UPKEEP)
        async def upkeep(timestamp: int) -> None:
            await self.sweep(app)

    def _taken(self) -> list[WorkspaceCopy]:
        return [copy for copy in self._copies if copy.name not in self._left]

    async def _watch(self, app: App, worker: Worker, teams: Mapping[str, Sequence[str]]) -> None:
        """Keep this worker on the list; end once it is to take other queues than it is on the list with."""
        while True:
            if worker.worker_id is not None:
                about = LiveWorker(
                    worker.worker_id,
                    self._name,
                    socket.gethostname(),
                    os.getpid(),
                    tuple(copy.queue for copy in self._taken()),
                    {copy.name: copy.digest for copy in self._copies},
                    teams,
                    self._concurrency,
                    self._since,
                )
                await asyncio.to_thread(self._data.queue.enrol, about)
                if self._away:
                    self._tell(Message("{} is back.", shown_address(self._data.address)))
                    self._away = ""
                if await self._leave_to_others(about):
                    return
                await self._drop_forgotten(app, worker.worker_id)
            await asyncio.sleep(_LOOK if worker.worker_id is not None else 0.05)
            for copy in self._copies:
                now = await asyncio.to_thread(workspace_copy, copy.folder, copy.name)
                if now != copy:
                    if worker.worker_id is not None:
                        await asyncio.to_thread(self._data.queue.take_along, copy, now, worker.worker_id)
                    self._tell(Message("The workspace {} declares something else now.", copy.name))
                    return
                if copy.name in self._left and await self._teams(copy, tell=False) != teams[copy.name]:
                    return

    async def _drop_forgotten(self, app: App, worker: int) -> None:
        """Drop jobs that ended here and that the queue wasn't told of: as long as it has them, their sessions wait.

        A job that failed can't be put back where another one of its session waits already, and a connection may be cut.
        """
        found = await asyncio.to_thread(self._data.queue.held, worker) - self._at_work
        for job in found & self._forgotten:  # one that was taken a moment ago begins before the next look
            with suppress(ConnectorException):
                await app.job_manager.finish_job_by_id_async(job, Status.FAILED, delete_job=True)
        self._forgotten = found

    async def _leave_to_others(self, here: LiveWorker) -> bool:
        """Leave workspaces to workers that carry more of their teams while those live; return whether that changed."""
        workers = await asyncio.to_thread(self._data.queue.workers)
        found = {copy.name: other for copy in self._copies if (other := leaves(copy, here, workers)) is not None}
        for name, other in found.items():
            if name not in self._left:
                lacking = ", ".join(sorted(here.lacks(name, other)))
                self._tell(Message("{} is left to {}: {} can't be carried here.", name, other.shown, lacking))
        for name in self._left:
            if name not in found:
                self._tell(Message("{} is carried here again.", name))
        before, self._left = self._left, {name: other.shown for name, other in found.items()}
        return before.keys() != self._left.keys()

    async def _teams(self, copy: WorkspaceCopy, *, tell: bool = True) -> tuple[str, ...]:
        """Return the teams of a workspace that can be carried here.

        Raises:
            ServerAway: that isn't known now.
        """
        try:
            return await self._registry.team_names(copy.folder)
        except ServerAway:
            raise
        except HitlError as error:
            if tell:
                self._tell(Message("{}: {}", copy.name, error.message))
            return ()

    async def carry(self, session_id: str) -> None:
        """Open a session and let it go as far as it goes by itself; one that somebody else has open is left to them.

        Raises:
            HitlError: it can't go on now; it is tried again later.
        """
        registry, queue = self._registry, self._data.queue
        try:
            setup = await registry.setup(session_id)
        except UnknownName:  # deleted meanwhile
            return
        self._hide(dict(setup.secrets))
        linger = _RULES if (self._data.root / standing_rules.FILE_NAME).exists() else 0.0
        try:
            while True:
                async with open_session(registry.store, setup, setup.info.query) as session:
                    if session.setup.broken:
                        log.warning("%s is only looked at: %s", session_id, session.setup.broken)
                        return
                    if not session.owned:
                        return
                    found = await session.carry(linger=linger)
                if not (found.questions or found.concluded):
                    raise StorageError(found.problem or Message("{} can't go on.", session_id))
                await asyncio.to_thread(queue.note_rest, session_id, found.cursor)
                if not await registry.ledger.news({session_id: found.cursor}):
                    return
                setup = await registry.setup(session_id)
        except asyncio.CancelledError:  # this worker ends: whoever is next goes on
            with suppress(HitlError):
                await asyncio.to_thread(queue.wake, session_id)
            raise

    async def prune(self) -> None:
        """Delete what ended long ago, as `hitl-tui prune` does. Raises StorageError: the database can't be used."""
        admin = self._registry.admin
        pruned = await admin.prune(await admin.prunable(older_than=self.prune_after), by=self._name)
        if pruned.deleted:
            self._tell(Message("Deleted {} sessions that ended long ago.", len(pruned.deleted)))
        for session, why in pruned.stayed.items():
            log.info("%s stays: %s", session, why)

    async def sweep(self, app: App) -> None:
        """Wake what nobody carries: whose job was lost, whose worker died, whose deadline passed."""
        for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=STALLED):
            with suppress(ConnectorException):  # another sweep was faster
                await app.job_manager.finish_job(job, Status.FAILED, delete_job=True)
        await self._registry.ledger.expire(self._registry.now())
        for session in await asyncio.to_thread(self._data.queue.left, _SWEPT):
            await asyncio.to_thread(self._data.wake, session)
