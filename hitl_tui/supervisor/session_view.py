"""`SessionView`: a session as commands and interfaces use it, whoever owns it."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from hitl_tui.core.board import Board, Rules
from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_types import Json, JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.names import step_name
from hitl_tui.supervisor.activity import Activity, ActivityStream, ActivityTail
from hitl_tui.supervisor.ledger_writer import LedgerWriter
from hitl_tui.supervisor.session_setup import SessionSetup
from hitl_tui.supervisor.snapshot import Question, ResponseData, Snapshot
from hitl_tui.threads.session_history import CheckpointInfo, SessionHistory

if TYPE_CHECKING:
    from hitl_tui.supervisor.attached_graphs.graph_view import GraphView


class SessionView(ABC):
    """A session as commands and interfaces use it: owned by this process, or followed.

    Attributes:
        setup: what it was opened with.
        writer: writes its events and decisions.
        activity: its stream: written here where this process owns it, else what the owner writes.
    """

    setup: SessionSetup
    writer: LedgerWriter
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
    def begun(self) -> Sequence[str]:
        """Ids of the TODOs that act on the world now; what came of it is asked if the session is closed meanwhile."""
        return ()

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
    async def graph(self, todo_id: str, update: JsonObject | None = None, at: str = "") -> GraphView:
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

    async def artifact(self, digest: str) -> dict[str, Json]:
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


def run_thread(snapshot: Snapshot, todo_id: str) -> str:
    """Return the thread of a TODO's last run.

    Raises:
        BadInput: it never ran.
    """
    todo = snapshot.todo(todo_id)
    if todo is None or not todo.run_id:
        raise BadInput(Message("{} has not run, so its team has no steps yet.", step_name(todo_id)))
    return todo.thread


class SnapshotBroadcast:
    """Holds the newest snapshot and wakes whoever waits for another one."""

    def __init__(self) -> None:
        self._snapshot: Snapshot | None = None
        self._failure: BaseException | None = None
        self._changed = asyncio.Condition()

    @property
    def snapshot(self) -> Snapshot:
        if self._snapshot is None:
            raise RuntimeError(Message("the session wasn't opened"))
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


def make_snapshot(
    setup: SessionSetup,
    values: Mapping[str, Any],
    board: Board,
    *,
    head: str,
    questions: Sequence[Question],
    response: ResponseData | None,
    owned: bool,
    busy: bool = False,
) -> Snapshot:
    """Return how a session stands.

    Args:
        setup: of the session.
        values: the supervisor's state.
        board: what it holds.
        head: id of its checkpoint.
        questions: what is asked.
        response: the answer that `values` refers to, None before it is there.
        owned: this process owns the session.
        busy: something is on its way.
    """
    planning = values.get("planning") or {}
    return Snapshot(
        session_id=setup.info.id,
        query=board.query or setup.info.query or setup.info.title,
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
        removed=board.control.removed,
        owned=owned,
        busy=busy,
        highest=board.control.highest,
        revision=board.control.revised,
        review=board.control.review,
        reviewed=board.control.reviewed,
        lineage=board.control.lineage,
        problem=setup.policy.problem,
        follower=board.follower,
    )
