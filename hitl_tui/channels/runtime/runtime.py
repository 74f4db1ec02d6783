"""`Runtime`: carries jobs out, each as a session of the ordinary kind; a session that waits for people is closed.

Of a job that waits only its record here is kept: what it asked, and how far it had gone through its inbox. One look at
the ledger says which of them have news; those are opened again. Decisions are the ledger's, wherever they come from.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from hitl_tui.channels.runtime import events
from hitl_tui.channels.runtime.event_stream import EventStream
from hitl_tui.channels.runtime.job_journal import JobJournal, Taken
from hitl_tui.channels.runtime.jobs import Job
from hitl_tui.channels.runtime.session_events import (
    accepted_event,
    decided_event,
    ended_event,
    question_event,
    stopped_event,
    todo_event,
)
from hitl_tui.commands.handler import CommandHandler
from hitl_tui.core.errors import BadInput, HitlError, OwnerGone, Refused, StorageError, UnknownName
from hitl_tui.core.events import seconds_between
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip
from hitl_tui.core.policy import Mode
from hitl_tui.core.requests import Kind, Outcome
from hitl_tui.core.safe_text import mask, one_line
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.policy import standing_rules
from hitl_tui.supervisor.open_session import OpenSession, open_session
from hitl_tui.supervisor.session_follower import SessionFollower
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.session_setup import SessionSetup, secrets_of
from hitl_tui.supervisor.snapshot import Question, Snapshot

log = logging.getLogger(__name__)

KEEPALIVE = 30.0
"""Seconds after which it is told again that a plan waits."""
CHANNEL = "serve"
"""Where questions were shown, as the record calls it."""
_LOOK = 0.1
"""Seconds between looks at what was written into the ledger."""
_SECOND = 1.0
_RULES = 0.5
"""Seconds that standing rules have to answer what is asked."""
_ORPHANS = 30.0
"""Seconds between looks for jobs of processes that died."""
_MOST = 100_000
_PATIENCE = 60.0
"""Most seconds until a job is tried again that couldn't go on."""


class Source(Protocol):
    """Where jobs come from."""

    def jobs(self) -> AsyncIterator[Job | events.Failed]:
        """Yield jobs, and what isn't one; each is on record before the next is asked for."""
        ...

    async def taken(self, job: Job) -> None:
        """Take note that a job is on record."""
        ...


class RequestBoard(Protocol):
    """Where requests are put up for reviewers who don't read the runtime's events."""

    def path(self, request_id: str) -> str | None:
        """Return where a feedback object for a request would be; None for nowhere."""
        ...

    async def publish(self, request_id: str, event: events.Event) -> bool:
        """Put a request up; return whether anybody can have seen it."""
        ...

    async def withdraw(self, request_id: str, ended: events.Event | None) -> None:
        """Take a request down that doesn't wait any more, and tell who comes later what became of it."""
        ...


class NoBoard:
    """Requests are put up nowhere."""

    def path(self, request_id: str) -> str | None:
        return None

    async def publish(self, request_id: str, event: events.Event) -> bool:
        return False

    async def withdraw(self, request_id: str, ended: events.Event | None) -> None:
        """There is nothing to take down."""


@dataclass(slots=True)
class _Asked:
    """A request that was told.

    Args:
        plan: it is about a plan.
        since: when it was told first, ISO 8601.
        timeout: how long it waits; None for ever.
        reminded: how often it was told that it waits.
    """

    plan: bool
    since: str
    timeout: float | None
    reminded: int = 0


@dataclass(slots=True)
class _OpenJob:
    """A job that isn't finished, and what was told of it.

    Args:
        job: the job.
        resumed: an earlier process began it.
        started: it was told that it began.
        cursor: the last inbox event that its session has gone through; None while it isn't closed to wait.
        asked: what it asks, by request.
        told: the status of each step that was told.
        reviewed: it was told what let its plan go ahead where no person did.
        tries: how often it couldn't go on.
        again: it was given again meanwhile, so that how it stands is told again.
        end: the event that told how it ended; None while it didn't.
    """

    job: Job
    resumed: bool
    started: bool = False
    cursor: int | None = None
    asked: dict[str, _Asked] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=dict)
    reviewed: bool = False
    tries: int = 0
    again: bool = False
    end: events.Event | None = None

    def afresh(self) -> _OpenJob:
        """Return it as one of which nothing was told yet."""
        return _OpenJob(self.job, resumed=True, end=self.end)

    def apart(self) -> _OpenJob:
        """Return it with a session of its own: what it asks goes on from nothing."""
        return _OpenJob(replace(self.job, session=""), self.resumed, end=self.end)


class Runtime:
    """Carries jobs out.

    Args:
        registry: the sessions.
        journal: which jobs were taken.
        stream: where events go.
        root: the folder that jobs work in, or below it.
        mode: when people are asked where a job doesn't say it.
        by: who looks at what is told, for the record.
        concurrency: how many sessions may be open at once.
        environ: where secrets come from.
        hide: is told the declared secrets of each session.
        board: where requests are put up besides.
    """

    def __init__(
        self,
        registry: SessionRegistry,
        journal: JobJournal,
        stream: EventStream,
        *,
        root: Path,
        mode: Mode,
        by: str,
        concurrency: int,
        environ: Mapping[str, str],
        hide: Callable[[dict[str, str]], None],
        board: RequestBoard | None = None,
    ) -> None:
        self.registry = registry
        self.stream = stream
        self.root = root
        self._journal = journal
        self._mode = mode
        self._by = by
        self._concurrency = concurrency
        self._environ = environ
        self._hide = hide
        self._board = board or NoBoard()
        self._ready: asyncio.Queue[_OpenJob] = asyncio.Queue()
        self._open: dict[str, _OpenJob] = {}
        self._waiting: dict[str, _OpenJob] = {}
        self._queued: dict[str, list[_OpenJob]] = {}
        self._elsewhere: set[asyncio.Task[None]] = set()
        self._rules = 0
        self._emptied = asyncio.Event()
        self.failed = 0
        """How many jobs ended without an answer."""

    @property
    def busy(self) -> bool:
        """A job isn't finished."""
        return bool(self._open)

    @property
    def unfinished(self) -> int:
        """How many jobs aren't finished."""
        return len(self._open)

    @property
    def asked(self) -> list[str]:
        """The ids of the requests that wait."""
        return [request_id for kept in self._open.values() for request_id in kept.asked]

    async def waiting_requests(self) -> list[dict[str, Any]]:
        """Return the requests of its jobs that wait, as they were told; they count as shown."""
        found: list[dict[str, Any]] = []
        for view in await self.registry.ledger.requests(self.registry.now(), limit=_MOST):
            kept = self._open.get(view.request.session)
            if kept is not None and view.request.id in kept.asked:
                found.append(question_event(kept.job, Question(view), self._board.path, self.registry.now()).to_dict())
        shown = [one["request_id"] for one in found]
        await self.registry.ledger.mark_shown(shown, self._by, CHANNEL, self.registry.now())
        return found

    async def request(self, request_id: str) -> dict[str, Any]:
        """Return a request of one of its jobs as it was told, which counts as shown, or what became of it.

        Raises:
            UnknownName: there is none.
        """
        view = await self.registry.ledger.request(request_id, self.registry.now())
        if view is not None and view.resolution.outcome is Outcome.PENDING:
            kept = self._open.get(view.request.session)
            if kept is not None and request_id in kept.asked:
                await self.registry.ledger.mark_shown([request_id], self._by, CHANNEL, self.registry.now())
                return question_event(kept.job, Question(view), self._board.path, self.registry.now()).to_dict()
        elif view is not None:
            taken = await asyncio.to_thread(self._journal.find, view.request.session)
            if taken is not None:
                return decided_event(taken.job, view).to_dict()
        raise UnknownName(Message("No request {}.", one_line(clip(request_id), 80)))

    async def run(self, sources: Sequence[Source], *, endless: bool = False) -> None:
        """Carry out what isn't finished, and what the sources give.

        Args:
            sources: where jobs come from.
            endless: go on when nothing is left to do.

        Raises:
            StorageError: what was taken can't be put on record.
        """
        await self._adopt()
        async with asyncio.TaskGroup() as group, self._leaving():
            taking = [group.create_task(self._take_from(source)) for source in sources]
            keeping = [group.create_task(self._work()) for _ in range(self._concurrency)]
            keeping.append(group.create_task(self._watch()))
            if taking:
                await asyncio.wait(taking)
            while endless or self._open:
                self._emptied.clear()
                await self._emptied.wait()
            for task in keeping:
                task.cancel()

    @asynccontextmanager
    async def _leaving(self) -> AsyncIterator[None]:
        """Let go of what other processes have open when the context is left."""
        try:
            yield
        finally:
            for task in self._elsewhere:
                task.cancel()
            if self._elsewhere:
                await asyncio.wait(set(self._elsewhere))

    # Jobs ------------------------------------------------------------------------------------------------------

    async def submit(self, job: Job) -> Taken:
        """Put a job on record and let it be carried out; of one that was there it is told again how it stands.

        Raises:
            BadInput: another job had this id, or a session that no job began is called like this one's.
            StorageError: it can't be put on record.
        """
        declared = (await self.registry.trust.of(Path(job.workspace))).config
        job = replace(job, query=mask(job.query, secrets_of(declared, self._environ)))
        taken = await asyncio.to_thread(self._journal.take, job)
        if (taken.job.query, taken.job.workspace) != (job.query, job.workspace):
            raise BadInput(Message("Another job has the id {}; choose another.", one_line(job.id, 80)))
        if taken.new:
            await self._accept(taken.job)
        elif (kept := self._kept(taken.job)) is not None:
            kept.again = kept.started
            if self._waiting.pop(kept.job.session_id, None) is not None:
                self._rest(kept)
        elif taken.ended:
            end = events.read_event(taken.end)
            if end is not None and taken.job.session_id in self._open:  # the next question has its session
                await self.stream.tell(end)
            else:
                self._begin(_OpenJob(taken.job, resumed=True, end=end))
        return taken

    def _kept(self, job: Job) -> _OpenJob | None:
        """Return a job that isn't finished and has a session; None for any other."""
        found = (self._open.get(session) for session in (job.session_id, job.key))
        return next((kept for kept in found if kept is not None and kept.job.id == job.id), None)

    async def find(self, job_id: str) -> Taken | None:
        """Return what became of the job with this id; None where there is none.

        Raises:
            StorageError: it can't be read.
        """
        return await asyncio.to_thread(self._journal.find, Job(job_id, "", "").key)

    async def _accept(self, job: Job) -> None:
        told = events.Accepted(job_id=job.id, session_id=job.session_id, query=job.query, workspace=job.workspace)
        await self.stream.tell(told)
        self._begin(_OpenJob(job, resumed=False))

    def _begin(self, kept: _OpenJob) -> None:
        """Let a job be carried out, once those that have its session before it have ended."""
        session = kept.job.session_id
        if (before := self._open.get(session)) is not None and before.job.id != kept.job.id:
            queue = self._queued.setdefault(session, [])
            if all(other.job.id != kept.job.id for other in queue):
                queue.append(kept)
            return
        self._open[session] = kept
        self._ready.put_nowait(kept)

    def _leave(self, kept: _OpenJob) -> None:
        """Let the next one have a job's session."""
        session = kept.job.session_id
        del self._open[session]
        queue = self._queued.pop(session, [])
        if queue:
            self._begin(queue.pop(0))
        if queue:
            self._queued[session] = queue

    async def _take_from(self, source: Source) -> None:
        async for found in source.jobs():
            if isinstance(found, events.Failed):
                self.failed += 1
                await self.stream.tell(found)
                continue
            try:
                await self.submit(found)
            except BadInput as error:
                self.failed += 1
                await self.stream.tell(stopped_event(found, error.message, final=True, begun=False))
            await source.taken(found)

    async def _adopt(self) -> None:
        """Go on with the jobs that no process takes care of."""
        jobs, problems = await asyncio.to_thread(self._journal.unfinished)
        for problem in problems:
            log.warning("%s", problem)
        for job in jobs:
            if all(kept.job.id != job.id for kept in (*self._open.values(), *chain(*self._queued.values()))):
                self._begin(_OpenJob(job, resumed=True))

    # One job ---------------------------------------------------------------------------------------------------

    async def _work(self) -> None:
        while True:
            kept = await self._ready.get()
            await self._carry(kept, self._advance(kept))

    async def _carry(self, kept: _OpenJob, work: Coroutine[Any, Any, None]) -> None:
        """Do something for a job; what stops it stops no other one."""
        try:
            await work
        except HitlError as error:
            log.info("%s can't go on: %s", kept.job.id, error.message, exc_info=error)
            await self._put_off(kept, error.message)
        except Exception as error:
            log.exception("%s can't go on", kept.job.id)
            await self._put_off(kept, Message("Unexpected error ({}).", one_line(repr(error), 200)))

    async def _advance(self, kept: _OpenJob) -> None:
        """Open a job's session and let it go as far as it goes by itself."""
        job, store = kept.job, self.registry.store
        if bool(job.session) and await asyncio.to_thread(self.registry.data.has, job.key):  # it has had one of its own
            self._leave(kept)
            self._begin(kept.apart())
            return
        if await asyncio.to_thread(self.registry.data.has, job.session_id):
            setup = await self.registry.setup(job.session_id)
        else:
            try:
                setup = await self._create(job)
            except (BadInput, Refused) as error:
                await self._end(kept, stopped_event(job, error.message, final=True, begun=False))
                return
        self._hide(dict(setup.secrets))
        async with open_session(store, setup, job.query) as session:
            if session.setup.broken:
                raise StorageError(session.setup.broken)
            owned = session.owned
            if job.session and kept.end is None and not await self._go_on(kept, session):
                self._leave(kept)
                self._begin(kept.apart())
                return
            snapshot = await self._follow(kept, session) if owned else session.snapshot
        if not owned:
            following = asyncio.create_task(self._carry(kept, self._follow_elsewhere(kept, setup)))
            self._elsewhere.add(following)
            following.add_done_callback(self._elsewhere.discard)
        elif snapshot.concluded and not snapshot.questions:
            await self._end(kept, await self._how_it_ended(kept, snapshot))
        elif snapshot.questions:
            kept.tries, kept.cursor = 0, snapshot.cursor
            self._rest(kept)
        else:
            await self._put_off(kept, snapshot.problem)

    def _rest(self, kept: _OpenJob) -> None:
        """Let a job wait for people, unless how it stands is to be told again."""
        if kept.again:
            self._begin(kept.afresh())
        else:
            self._waiting[kept.job.session_id] = kept

    async def _create(self, job: Job) -> SessionSetup:
        """Begin a job's session."""
        workspace, mode = Path(job.workspace), Mode(job.mode) if job.mode else self._mode
        settings = self.registry.plan_settings(await self.registry.trust.of(workspace))
        return await self.registry.create(
            job.query, workspace, session_id=job.session_id, mode=mode, review=settings.review
        )

    async def _follow(self, kept: _OpenJob, session: OpenSession) -> Snapshot:
        """Tell what happens until nothing goes on by itself; return how it stands then."""
        kept.cursor = None

        async def tell(snapshot: Snapshot) -> None:
            await self._tell(kept, session.setup, snapshot)

        return await session.carry(tell, _RULES if self._rules else 0.0)

    async def _follow_elsewhere(self, kept: _OpenJob, setup: SessionSetup) -> None:
        """Tell what happens in a session that another process has open, such as a console; then go on with it here."""
        kept.cursor = None
        try:
            async with SessionFollower.open(setup) as session:
                seen = session.snapshot
                while True:
                    await self._tell(kept, setup, seen)
                    if seen.concluded and not seen.questions:
                        await self._end(kept, await self._how_it_ended(kept, seen))
                        return
                    seen = await session.changed(seen)
        except OwnerGone:
            self._ready.put_nowait(kept)

    async def _tell(self, kept: _OpenJob, setup: SessionSetup, snapshot: Snapshot) -> None:
        job = kept.job
        if not kept.started:
            kept.started = True
            told = events.Started(
                job_id=job.id,
                session_id=job.session_id,
                query=job.query,
                workspace=job.workspace,
                resumed=kept.resumed,
            )
            await self.stream.tell(told)
            if kept.resumed:  # what the process before had put up
                for view in await self.registry.ledger.requests(
                    self.registry.now(), session=job.session_id, pending=False
                ):
                    if view.resolution.outcome is not Outcome.PENDING:
                        await self._board.withdraw(view.request.id, decided_event(job, view))
        await self._tell_settled(kept, snapshot)
        if not kept.reviewed and (accepted := accepted_event(job, snapshot.reviewed)) is not None:
            kept.reviewed = True
            await self.stream.tell(accepted)
        if not any(question.kind is Kind.PLAN for question in snapshot.questions):
            for todo_id, raw in snapshot.raw.items():
                if kept.told.get(todo_id) != raw["status"]:
                    kept.told[todo_id] = str(raw["status"])
                    await self.stream.tell(todo_event(job, SupervisorTodo.from_state(raw)))
        if snapshot.busy:  # a preview is being made; the question comes with it
            return
        for question in snapshot.questions:
            if question.id not in kept.asked:
                asks = question_event(job, question, self._board.path, self.registry.now())
                put_up = await self._board.publish(question.id, asks)
                published = await self.stream.tell(asks) or put_up
                request, now = question.view.request, self.registry.now()
                if published:
                    await setup.mark_shown([question.id], self._by, CHANNEL)
                kept.asked[question.id] = _Asked(
                    question.kind is Kind.PLAN, request.first_shown or now, request.terms.deadline or None
                )

    async def _tell_settled(self, kept: _OpenJob, snapshot: Snapshot) -> None:
        """Tell what became of requests that don't wait any more."""
        for request_id in kept.asked.keys() - {question.id for question in snapshot.questions}:
            view = await self.registry.ledger.request(request_id, self.registry.now())
            del kept.asked[request_id]
            ended = None if view is None else decided_event(kept.job, view)
            await self._board.withdraw(request_id, ended)
            if ended is not None:
                await self.stream.tell(ended)

    async def _go_on(self, kept: _OpenJob, session: OpenSession) -> bool:
        """Ask a job's question in the session of the job before, once; return whether that goes on from it."""
        job, registry = kept.job, self.registry
        branch = (await registry.ledger.branch(job.session_id)).number
        posted = await registry.ledger.after(job.session_id, 0, branch)
        if any(one.event_id == _asking(job) for one in posted):
            return True
        if session.owned:
            await session.settled()
        kept.told = {todo_id: str(raw["status"]) for todo_id, raw in session.snapshot.raw.items()}
        kept.reviewed = bool(session.snapshot.reviewed)
        handler = CommandHandler(session, session.setup.planner, by=self._by, channel=CHANNEL, admin=registry.admin)
        try:
            return not (await handler.propose(job.query, _asking(job))).failed
        except (BadInput, Refused) as error:
            log.info("%s has a session of its own: %s", job.id, error.message)
            return False

    async def _how_it_ended(self, kept: _OpenJob, snapshot: Snapshot) -> events.Event:
        """Return what tells so: as it was told before, and of one whose question nobody let in that it wasn't."""
        job = kept.job
        if kept.end is not None:
            return kept.end
        if job.session:
            views = await self.registry.ledger.requests(self.registry.now(), session=job.session_id, pending=False)
            branch = (await self.registry.ledger.branch(job.session_id)).number
            posted = await self.registry.ledger.after(job.session_id, 0, branch)
            asked = next((one.event["data"].get("proposal") for one in posted if one.event_id == _asking(job)), None)
            for view in views:
                if asked and view.request.subject.get("proposal", {}).get("id") == asked["id"]:
                    by = ", ".join(decision.by for decision in view.resolution.decisions)
                    if view.resolution.outcome is not Outcome.APPROVED:
                        why = Message("Not carried out: {} ({}).", view.resolution.outcome.value, one_line(by, 200))
                        return stopped_event(job, why, final=True)
        return ended_event(job, snapshot)

    async def _end(self, kept: _OpenJob, event: events.Event) -> None:
        await self.stream.tell(event)
        self.failed += isinstance(event, events.Failed)
        await asyncio.to_thread(self._journal.end, kept.job, self.stream.masked(event.to_dict()))
        kept.end = event
        self._leave(kept)
        if kept.again:
            self._begin(kept.afresh())
        if not self._open:
            self._emptied.set()

    async def _put_off(self, kept: _OpenJob, why: str) -> None:
        """Try a job again later: what stopped it may pass, such as a full disk."""
        await self.stream.tell(stopped_event(kept.job, why, final=False))
        kept.tries += 1
        delay = min(_PATIENCE, 2.0 ** min(kept.tries, 10) / 2)
        asyncio.get_running_loop().call_later(delay, self._ready.put_nowait, kept)

    def look_at(self, session: str) -> None:
        """Open a session that waits: what it would ask now may be something else."""
        if (kept := self._waiting.pop(session, None)) is not None:
            self._ready.put_nowait(kept)

    # All that wait ---------------------------------------------------------------------------------------------

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        last_second = last_orphans = loop.time()
        self._look_at_rules()
        while True:
            await asyncio.sleep(_LOOK)
            try:
                await self._wake()
                if loop.time() - last_second >= _SECOND:
                    last_second = loop.time()
                    await self.registry.ledger.expire(self.registry.now())
                    await self._remind()
                    self._look_at_rules()
                if loop.time() - last_orphans >= _ORPHANS:
                    last_orphans = loop.time()
                    await self._adopt()
            except HitlError as error:  # it may pass
                log.warning("%s", error.message)

    async def _wake(self) -> None:
        """Open those again that something was said to."""
        cursors = {session: kept.cursor for session, kept in self._waiting.items() if kept.cursor is not None}
        if cursors:
            for session in await self.registry.ledger.news(cursors):
                self.look_at(session)

    def _look_at_rules(self) -> None:
        """Open all that wait where somebody's standing rules are others now: one may allow what they ask."""
        try:
            written = (self.registry.data.root / standing_rules.FILE_NAME).stat().st_mtime_ns
        except OSError:
            written = 0
        if written != self._rules:
            self._rules = written
            for session in list(self._waiting):
                self.look_at(session)

    async def _remind(self) -> None:
        """Tell of plans that still wait."""
        now = self.registry.now()
        for kept in list(self._open.values()):
            for request_id, asked in list(kept.asked.items()):
                elapsed = int(seconds_between(asked.since, now) or 0)
                if not asked.plan or elapsed < KEEPALIVE * (asked.reminded + 1):
                    continue
                asked.reminded = int(elapsed // KEEPALIVE)
                elapsed = int(asked.reminded * KEEPALIVE)
                told = events.PlanReviewKeepalive(
                    job_id=kept.job.id,
                    session_id=kept.job.session_id,
                    message=f"Waiting for plan feedback... ({elapsed}s elapsed)",
                    elapsed_seconds=elapsed,
                    timeout_seconds=asked.timeout,
                    request_id=request_id,
                )
                await self.stream.tell(told)


def _asking(job: Job) -> str:
    """Return the id of the event that asks a job's question in the session of the job before."""
    return f"asked:{job.key}"
