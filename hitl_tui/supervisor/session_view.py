"""`SessionView`: a session as commands and interfaces use it, whoever owns it."""

from __future__ import annotations

import asyncio
import os
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from itertools import count
from typing import Any

from hitl_tui.core.board import Board, Rules
from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.core.events import Event, EventKind, after_seconds
from hitl_tui.core.json_text import check_storable, short_id
from hitl_tui.core.requests import Decision, Request, Verdict
from hitl_tui.core.safe_text import mask, mask_json
from hitl_tui.core.secret_masks import check_masks
from hitl_tui.ledger.protocols import Ledger
from hitl_tui.ledger.records import Closing, RequestView
from hitl_tui.supervisor.activity import Activity, ActivityStream, ActivityTail
from hitl_tui.supervisor.attached_graphs.graph_view import GraphView
from hitl_tui.supervisor.ledger_writer import ShownQuestions
from hitl_tui.supervisor.session_setup import SessionSetup
from hitl_tui.supervisor.snapshot import Question, Snapshot
from hitl_tui.threads.session_history import CheckpointInfo, SessionHistory


class SessionView(ABC):
    """A session as commands and interfaces use it: owned by this process, or followed.

    Attributes:
        setup: what it was opened with.
        desk: writes its events and decisions.
        activity: its stream: written here where this process owns it, else what the owner writes.
    """

    setup: SessionSetup
    desk: LedgerWriter
    activity: ActivityStream | ActivityTail

    @property
    def id(self) -> str:
        return self.setup.info.id

    @property
    def rules(self) -> Rules:
        return self.setup.rules

    @property
    @abstractmethod
    def owned(self) -> bool:
        """This process owns it."""

    @property
    def alone(self) -> bool:
        """It is followed, no process owns it any more, and this one can."""
        return False

    @property
    @abstractmethod
    def snapshot(self) -> Snapshot:
        """The session as it is now."""

    @abstractmethod
    async def changed(self, since: Snapshot | None) -> Snapshot:
        """Wait until the snapshot is another one than `since`; return it.

        Raises:
            OwnerGone: nobody owns it any more, so that nothing in it will change.
            HitlError: the session can't go on (a full disk, a damaged file).
        """

    @abstractmethod
    async def settled(self) -> Snapshot:
        """Wait until nothing goes on by itself: a person is needed, or it is finished; a follower doesn't wait."""

    @abstractmethod
    async def applied(self, seq: int) -> Snapshot:
        """Wait until the event with this number is in the session's state; a follower doesn't wait."""

    @abstractmethod
    async def on_branch(self, number: int) -> Snapshot:
        """Wait until the session is on this branch; a follower doesn't wait."""

    @abstractmethod
    async def renew(self) -> str:
        """Take in what the workspace declares, where it was trusted since the session was opened.

        Returns:
            why the session has to be opened again for all of it, one sentence; empty where it hasn't.
        """

    @abstractmethod
    def reading(self) -> AbstractAsyncContextManager[SessionHistory]:
        """Read the session's checkpoints while the context lasts."""

    @abstractmethod
    async def state_at(self, checkpoint_id: str) -> dict[str, Any]:
        """Return the supervisor's state at a checkpoint."""

    @abstractmethod
    async def graph(self, todo_id: str, update: Mapping[str, Any] | None = None, at: str = "") -> GraphView:
        """Return the attached graph of a TODO and where it stands.

        Args:
            todo_id: the TODO.
            update: a change of its state to check against the graph's schema; nothing is changed.
            at: a checkpoint of its thread; empty for where it stands.

        Raises:
            BadInput: its team is no attached graph, the update doesn't fit, or another process has it open.
        """

    async def checkpoints(self, limit: int, before: str = "") -> list[CheckpointInfo]:
        """Return a page of the history, newest first."""
        async with self.reading() as history:
            return await history.page(limit, before)

    async def find_checkpoint(self, text: str) -> str:
        """Return the id of the checkpoint that an id, prefix or ending names."""
        async with self.reading() as history:
            return await history.find(text)

    async def steps(self, todo_id: str, limit: int) -> list[CheckpointInfo]:
        """Return the checkpoints of a TODO's team, of its last run, newest first."""
        thread = run_thread(self.snapshot, todo_id)
        async with self.reading() as history:
            return await history.of_thread(thread).page(limit)

    async def find_step(self, text: str) -> tuple[str, str]:
        """Return thread and checkpoint id of a team's own step; empty texts when none or several match."""
        async with self.reading() as history:
            return await history.find_step(text)

    async def artifact(self, digest: str) -> dict[str, Any]:
        """Return what was kept under a digest: a result, a response."""
        return await self.setup.folder.artifacts().get(digest)

    def listen(self, hear: Callable[[Activity], None]) -> Callable[[], None]:
        """Call `hear` with each line that this process writes into the stream; return what ends that."""
        return self.activity.subscribe(hear) if isinstance(self.activity, ActivityStream) else lambda: None

    def unheard(self) -> list[Activity]:
        """Return what another process wrote into the stream since somebody looked; nothing where this one writes."""
        return self.activity.take() if isinstance(self.activity, ActivityTail) else []

    def add_lines(self, lines: Sequence[str]) -> bool:
        """Add lines to the stream, as the TODO's that runs where no other does; False where another process writes."""
        if not isinstance(self.activity, ActivityStream):
            return False
        running = self.snapshot.running
        for line in lines:
            self.activity.write(running[0] if len(running) == 1 else "", "line", line)
        return True


class LedgerWriter:
    """Writes a session's events and decisions into the ledger.

    Args:
        ledger: the record.
        session: session id.
        secrets: values to mask, by name.
        now: the clock.
        before_restore: brings the checkpoints to the disk, so that a power cut can't take the one to restore.
        before_deciding: refuses what may not be decided now.
        broken: why nothing is taken: the session's record isn't as it was written; empty where it is.
        read_only: nothing can be written.
    """

    def __init__(
        self,
        ledger: Ledger,
        session: str,
        secrets: Mapping[str, str],
        now: Callable[[], str],
        before_restore: Callable[[], None] = lambda: None,
        before_deciding: Callable[[Verdict, Request | None], Awaitable[None]] | None = None,
        broken: str = "",
        read_only: bool = False,
    ) -> None:
        self.ledger = ledger
        self.now = now
        self._session = session
        self.secrets = secrets
        self._before_restore = before_restore
        self._before_deciding = before_deciding
        self._broken = broken
        self._numbers = count()
        self.showing = ShownQuestions(ledger, now, read_only=read_only)

    async def post(
        self,
        kind: EventKind,
        data: Mapping[str, Any],
        *,
        by: str,
        event_id: str = "",
        closing: Closing | None = None,
    ) -> tuple[int, str]:
        """Put an event into the inbox, with the questions that it ends; return its number and id.

        Raises:
            Refused: one of them was decided since the command began; nothing was written.
            BadInput: it holds something that no checkpoint can keep; nothing was written.
        """
        self.check_whole()
        check_storable(data)
        now = self.now()
        masked = mask_json(dict(data), self.secrets)
        while True:
            branch = (await self.ledger.branch(self._session)).number
            unique = event_id or f"{kind}:{short_id(now, os.getpid(), next(self._numbers), by)}"
            event = Event(kind=kind, data=masked, id=unique, at=now, by=by)
            seq = await self.ledger.post(self._session, branch, unique, event.to_dict(), now, closing=closing)
            # A restore in between would leave the event on a branch that nobody reads any more.
            if event_id or (await self.ledger.branch(self._session)).number == branch:
                return seq, unique

    async def decide(self, decision: Decision) -> RequestView:
        """Record a decision.

        Raises:
            Refused: it can't count; nothing was written.
            BadInput: its value or reason can't be kept, or its value holds a secret that wasn't asked with; nothing
                was written.
        """
        view = await self.ledger.request(decision.request_id, self.now())
        self.check_whole()
        if self._before_deciding is not None:
            await self._before_deciding(decision.verdict, view.request if view is not None else None)
        if self.secrets and decision.value is not None:
            check_masks(decision.value, view.request.subject.get("value") if view else None, self.secrets)
        reason, value = mask(decision.reason, self.secrets), mask_json(decision.value, self.secrets)
        decision = replace(decision, reason=reason, value=value)
        check_storable(decision.to_dict())
        return await self.ledger.decide(decision, self.now())

    async def open(self, request: Request) -> None:
        """Open a request unless it is there; its time begins now."""
        self.check_whole()
        await self.ledger.open_requests([opened(request, self.now())])

    async def restore(self, checkpoint_id: str, by: str) -> int:
        """Ask for an earlier checkpoint to be the head (D11); return the branch that begins there."""
        self.check_whole()
        await asyncio.to_thread(self._before_restore)
        branch = await self.ledger.intend_restore(self._session, checkpoint_id, by, self.now())
        return branch.number

    async def record(self, kind: str, data: Mapping[str, Any], at: str) -> None:
        """Record what people do that no view is built from."""
        self.check_whole()
        await self.ledger.record(self._session, kind, data, at)

    def check_whole(self) -> None:
        """Check that something may be written for the session.

        Raises:
            StorageError: its record isn't as it was written, so it is only looked at.
        """
        if self._broken:
            raise StorageError(self._broken)

    async def last_seq(self) -> int:
        """Return the number of the last event in the inbox."""
        return await self.ledger.last_seq(self._session)


def run_thread(snapshot: Snapshot, todo_id: str) -> str:
    """Return the thread of a TODO's last run.

    Raises:
        BadInput: it never ran.
    """
    todo = snapshot.todo(todo_id)
    if todo is None or not todo.run_id:
        raise BadInput(f"{todo_id} has not run, so its team has no steps yet.")
    return todo.thread


def opened(request: Request, now: str) -> Request:
    """Return a request with the times it is opened and, by its terms, expires at.

    A deadline that ends in an approval begins when the request is shown, not now (T3).
    """
    begins = request.terms.deadline and not request.ends_in_approval
    deadline = after_seconds(now, request.terms.deadline) if begins else ""
    return replace(request, opened_at=now, deadline=deadline)


class SnapshotBroadcast:
    """Holds the newest snapshot and wakes whoever waits for another one."""

    def __init__(self) -> None:
        self._snapshot: Snapshot | None = None
        self._failure: BaseException | None = None
        self._changed = asyncio.Condition()

    @property
    def snapshot(self) -> Snapshot:
        if self._snapshot is None:
            raise RuntimeError("the session wasn't opened")
        return self._snapshot

    async def publish(self, snapshot: Snapshot) -> None:
        async with self._changed:
            self._snapshot = snapshot
            self._changed.notify_all()

    async def fail(self, error: BaseException) -> None:
        """Let everybody who waits, now or later, meet this error."""
        async with self._changed:
            self._failure = error
            self._changed.notify_all()

    async def changed(self, since: Snapshot | None) -> Snapshot:
        """Wait until the snapshot is another one than `since`; return it.

        Raises:
            BaseException: the one given to `fail`.
        """
        async with self._changed:
            await self._changed.wait_for(lambda: self._snapshot is not since or self._failure is not None)
        if self._failure is not None:
            raise self._failure
        return self.snapshot

    async def until(self, condition: Callable[[Snapshot], bool]) -> Snapshot:
        """Wait until a snapshot fulfils a condition; return it."""
        seen = self.snapshot
        while not condition(seen):
            seen = await self.changed(seen)
        return seen


def picture(
    setup: SessionSetup,
    values: Mapping[str, Any],
    *,
    head: str,
    questions: Sequence[Question],
    response: Mapping[str, Any] | None,
    owned: bool,
    busy: bool = False,
) -> Snapshot:
    """Return how a session stands.

    Args:
        setup: of the session.
        values: the supervisor's state.
        head: id of its checkpoint.
        questions: what is asked.
        response: the answer that `values` refers to, None before it is there.
        owned: this process owns the session.
        busy: something is on its way.
    """
    board, planning = Board.from_state(values), values.get("planning") or {}
    return Snapshot(
        session_id=setup.info.id,
        query=board.query or setup.info.title,
        workspace=setup.info.workspace,
        mode=board.control.mode.value,
        phase=str(values.get("current_phase", "")),
        branch=board.control.branch,
        cursor=board.control.cursor,
        checkpoint_id=head,
        raw=board.todos,
        questions=tuple(questions),
        proposals=board.control.proposals,
        response=response,
        concluded=board.control.concluded,
        errors=tuple(planning.get("errors", ())),
        intent=planning.get("intent") or {},
        refused=board.control.refused,
        owned=owned,
        busy=busy,
        highest=board.control.highest,
        lineage=board.control.lineage,
        problem=setup.law.problem,
    )
