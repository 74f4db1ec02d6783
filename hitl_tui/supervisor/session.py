"""`Session`: drives one thread of the supervising graph, for the process that owns it.

`Session.advance` takes one round: finish an intended restore, deliver what is in the inbox, one superstep, see that
open questions are in the ledger and that TODOs in progress run. Interfaces read `snapshot` and write through the
session's `LedgerWriter`; none of them touches the graph.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any, cast

from hitl_tui.core.board import Board, LazyTodos
from hitl_tui.core.errors import HitlError, StorageError
from hitl_tui.core.events import Event, EventKind
from hitl_tui.core.json_text import storable
from hitl_tui.core.json_types import EventData, Json, JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.plan import Proposal
from hitl_tui.core.plan_review import EndedBy, ended_message
from hitl_tui.core.policy import Risk
from hitl_tui.core.requests import Verdict
from hitl_tui.core.safe_text import mask_json
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.ledger.approval_log import UnaskedRulings
from hitl_tui.ledger.records import Branch, Posted
from hitl_tui.supervisor.activity import ActivityStream
from hitl_tui.supervisor.attached_graphs.graph_view import GraphView
from hitl_tui.supervisor.checkpoint_copy import head_before_restore, restore_checkpoint
from hitl_tui.supervisor.final_answer import Response
from hitl_tui.supervisor.graph import TeamSupervisor, config_of
from hitl_tui.supervisor.ledger_writer import LedgerWriter, event_of
from hitl_tui.supervisor.open_questions import OpenQuestions
from hitl_tui.supervisor.policy_sync import PolicySync, check_policy, renew_settings
from hitl_tui.supervisor.ports import Mailbox, StartDispatcher, Storage
from hitl_tui.supervisor.record_check import check_record, creation_entry
from hitl_tui.supervisor.run_spec import RunSpec
from hitl_tui.supervisor.session_setup import SessionSetup
from hitl_tui.supervisor.session_view import SessionView, SnapshotBroadcast, make_snapshot
from hitl_tui.supervisor.snapshot import ResponseData, Snapshot
from hitl_tui.supervisor.state import GateState, MainSupervisorState
from hitl_tui.teams.contract import TeamResult
from hitl_tui.threads.session_history import SessionHistory

log = logging.getLogger(__name__)

_OF_THE_PROGRAM = frozenset({"run", "supervisor"})
"""Who reports: nobody ordered what they say, so nobody is told when it comes too late."""
_ENDING = frozenset({EventKind.DECIDED, EventKind.SKIP, EventKind.CANCEL, EventKind.UPDATE, EventKind.REMOVE})
"""Events by which people end a TODO; `EventKind.STOP` ends all."""
_RUN_ENDS = frozenset(
    {
        EventKind.FINISHED,
        EventKind.FAILED,
        EventKind.INTERRUPTED,
        EventKind.CHANGED,
        EventKind.DOUBT,
        EventKind.CANCEL,
        EventKind.STOP,
    }
)
"""Events after which a run did what it did, and something else may be there than was before."""
_OVER = frozenset({Status.COMPLETED, Status.FAILED, Status.SKIPPED})

_POLL, _POLL_AT_REST, _LIVELY = 0.1, 0.25, 10.0
"""Seconds between looks at what other processes wrote: while things happen, otherwise, and how long is "while"."""


def _may_change(board: Board, event: Event) -> bool:
    """Whether what ended may have changed what previews show: a step of low risk only looks."""
    todo_id = str(event.data.get("todo_id", ""))
    return todo_id not in board.todos or SupervisorTodo.from_state(board.todos[todo_id]).risk is not Risk.LOW


class Session(SessionView):
    """One session, owned by this process; `own_session.own_session` opens it in its folder."""

    activity: ActivityStream

    def __init__(self, setup: SessionSetup, storage: Storage, dispatcher: StartDispatcher) -> None:
        self.setup = setup
        self.activity = storage.activity
        self.history = storage.history
        self._storage = storage
        self._mailbox: Mailbox = setup.ledger
        self._dispatcher = dispatcher(self._post_run, self._follow_up)
        self._supervisor = TeamSupervisor(
            setup.planner,
            lambda: setup.rules,
            storage.artifacts,
            storage.saver,
            setup.now,
            setup.policy,
            partial(setup.ledger.effects, setup.info.id),
            self._written_up if setup.model is not None else None,
        )
        self._state: MainSupervisorState = {}
        self._interrupt = ""
        self._why_closed: str = Message("the session was closed")
        self._stands = self._read_board()
        self._seq_at_opening = 0
        self._risks_checked_on = -1
        """The branch whose TODOs are of the risk that they are declared to be of."""
        self._settings_seen = setup.policy.obeyed_config
        self._rulings = UnaskedRulings(setup.ledger, setup.info.id, setup.info.created, setup.now)
        self._questions = OpenQuestions(setup, self.activity, self._publish_evidence, self._post_own)
        self._response: tuple[str, ResponseData] | None = None
        self._watched = SnapshotBroadcast()
        self._publishing = asyncio.Lock()
        self._begun_before: frozenset[str] = frozenset()
        check_decision = partial(check_policy, setup.policy, lambda: self._board().control.policy_version)
        self.writer = LedgerWriter(
            setup.ledger, setup.info.id, setup.secrets, setup.now, storage.make_durable, check_decision, setup.approvers
        )
        self._policy_sync = PolicySync(setup, self.activity, self.writer)

    @classmethod
    @asynccontextmanager
    async def open(
        cls, setup: SessionSetup, storage: Storage, dispatcher: StartDispatcher, query: str = ""
    ) -> AsyncIterator[Session]:
        """Recover a session that this process owns, and let it go on while the context lasts.

        Args:
            setup: what it is opened with.
            storage: where it is kept.
            dispatcher: makes what runs its teams.
            query: begins a session that has no checkpoints yet.

        Raises:
            StorageError: its checkpoints can't be used; they are not touched.
        """
        session = cls(setup, storage, dispatcher)
        try:
            try:
                await session._recover(query or setup.info.query or setup.info.title)
            except (ValueError, TypeError, KeyError) as error:
                raise StorageError(Message("{} can't be continued: {}.", storage.location, error)) from error
            loop = asyncio.create_task(session._run(), name=f"session {setup.info.id}")
            try:
                yield session
            finally:
                loop.cancel()
                await asyncio.wait({loop})
        finally:
            await session._close()

    # What interfaces use ---------------------------------------------------------------------------------------

    @property
    def owned(self) -> bool:
        return True

    @property
    def begun(self) -> Sequence[str]:
        return self._dispatcher.begun

    async def drain(self) -> None:
        """Begin no step from now on, and wait until those that run have ended."""
        await self._dispatcher.drain()

    @property
    def snapshot(self) -> Snapshot:
        return self._watched.snapshot

    async def changed(self, since: Snapshot | None) -> Snapshot:
        return await self._watched.changed(since)

    async def settled(self) -> Snapshot:
        return await self._watched.until(lambda s: s.at_rest)

    async def applied(self, seq: int) -> Snapshot:
        return await self._watched.until(lambda s: s.cursor >= seq)

    async def on_branch(self, number: int) -> Snapshot:
        return await self._watched.until(lambda s: s.branch >= number and not s.busy)

    async def renew(self) -> str:
        return await renew_settings(self.setup)

    async def graph(self, todo_id: str, update: JsonObject | None = None, at: str = "") -> GraphView:
        todo = SupervisorTodo.from_state(self._board().todos[todo_id])
        return await self._dispatcher.view(self._spec(todo), update, at)

    async def state_at(self, checkpoint_id: str) -> dict[str, Any]:
        config = config_of(self.id)
        config["configurable"]["checkpoint_id"] = checkpoint_id
        found = await self._supervisor.graph.aget_state(config)
        return dict(found.values)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[SessionHistory]:
        yield self.history

    async def artifact(self, digest: str) -> dict[str, Json]:
        return await self._storage.artifacts.get(digest)

    # One round -------------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        lively = loop.time()
        try:
            while True:
                if await self.advance():
                    lively = loop.time()
                poll = _POLL if loop.time() - lively < _LIVELY else _POLL_AT_REST
                patience = self._policy_sync.poll_after(self._questions.poll_after)
                await self._mailbox.wait(self.id, self._board().control.cursor, patience, poll)
        except Exception as error:
            log.exception("session %s stopped", self.id)
            stopped = (
                error
                if isinstance(error, HitlError)
                else HitlError(Message("Session {} can't continue: {}.", self.id, error))
            )
            self._why_closed = stopped.message
            await self._watched.fail(stopped)

    async def advance(self) -> bool:
        """Take one round; return whether anything happened."""
        branch = await self._mailbox.branch(self.id)
        restored = bool(branch.checkpoint_id)
        if restored:
            await self._restore(branch)
            branch = Branch(branch.number)
        other = await self._policy_sync.refresh()
        if self._settings_seen is not self.setup.policy.obeyed_config:
            self._settings_seen, self._risks_checked_on = self.setup.policy.obeyed_config, -1
        control = self._board().control
        if control.branch == branch.number and control.cursor >= self._seq_at_opening:
            unchecked = control.branch != self._risks_checked_on
            await self._policy_sync.apply(control, todos=self._board().all() if unchecked else ())
            self._risks_checked_on = control.branch
        delivered = await self._deliver(branch)
        asked = False
        control = self._board().control
        if control.branch == branch.number and control.cursor >= self._seq_at_opening:
            await self._rulings.write_plan(self._board())
            await self._rulings.write_refused(self._board(), self.rules)
            # First what may run: it doesn't wait until the next questions stand in the ledger.
            await self._keep_running()
            async with self._publishing:  # a preview that ends meanwhile would show what was asked by half
                asked = await self._questions.ask(self._board())
        happened = restored or delivered or asked or other
        if happened or self._questions:
            await self._publish(happened=happened)
        return delivered or restored

    async def _deliver(self, branch: Branch) -> bool:
        expired = await self._questions.expire()
        control = self._board().control
        posted = await self._mailbox.after(self.id, control.cursor, branch.number)
        if not posted:
            return expired
        if control.cursor < self._seq_at_opening:
            # After a power cut the checkpoints may be behind the ledger: what happened is gone through in the steps
            # it happened in, for an approval starts what a later event says the end of.
            posted = posted[:1]
        events = [event_of(p) for p in posted]
        state = await self._supervisor.resume(self.id, self._interrupt, events)
        before = self._board()
        reviewed = before.control.reviewed
        self._questions.mark_delivered(str(e.data.get("request_id", "")) for e in events if e.kind == EventKind.DECIDED)
        seen = {r["event"] for r in control.refused}
        ordered = {e.id for e in events if e.by not in _OF_THE_PROGRAM}
        self._take(state)
        ended = self._board().control.reviewed
        if ended and not reviewed and ended.get("ended_by") != EndedBy.PERSON:
            self.activity.write("", "note", ended_message(ended))
        self._end_orphans(before, events)
        if any(e.kind in _RUN_ENDS and _may_change(before, e) for e in events):
            self._questions.outdate()
        for refusal in self._board().control.refused:
            if refusal["event"] not in seen:
                await self._mailbox.record(self.id, "refused", dict(refusal), self.setup.now())
                if refusal["event"] in ordered:
                    self.activity.write("", "note", Message("refused: {}", refusal["message"]))
        return True

    def _end_orphans(self, before: Board, events: Sequence[Event]) -> None:
        """End the commands of earlier processes that somebody stopped or skipped with their TODO."""
        named = {str(event.data.get("todo_id", "")) for event in events if event.kind in _ENDING}
        everything = any(
            event.kind == EventKind.STOP
            or (event.kind == EventKind.DECIDED and ("" in named or event.data.get("verdict") == Verdict.STOP))
            for event in events
        )
        now = self._board().todos
        for todo_id, raw in before.todos.items() if everything else ((i, before.todos.get(i)) for i in named):
            if raw is None or not raw.get("attempt") or raw["status"] in _OVER:
                continue
            if todo_id not in now or now[todo_id]["status"] in (Status.FAILED, Status.SKIPPED):
                self._dispatcher.end_orphan(todo_id)

    def _take(self, state: GateState) -> None:
        interrupts = state.pop("__interrupt__", ())
        if not interrupts:
            raise HitlError(Message("Session {} ended without a gate; its checkpoints can't be continued.", self.id))
        self._state, self._interrupt = state, interrupts[0].id
        self._stands = self._read_board()

    def _read_board(self) -> Board:
        return Board.from_state(self._state, self._supervisor.follower)

    def _board(self) -> Board:
        return self._stands

    async def _keep_running(self) -> None:
        board = self._board()
        wanted: dict[str, SupervisorTodo] = {}
        for todo_id in board.running:
            todo = SupervisorTodo.from_state(board.todos[todo_id])
            wanted[todo.run_id] = todo
        for run_id in self._dispatcher.stoppable - wanted.keys():
            if not await self._dispatcher.stop(run_id):
                self.activity.write(run_id.split("/")[1], "note", Message("{} can't be stopped and still runs", run_id))
        for todo in wanted.values():
            await self._rulings.write(board, self.rules, todo)
            self._dispatcher.ensure(self._spec(todo))

    def _spec(self, todo: SupervisorTodo) -> RunSpec:
        board = self._board()
        needed = (*todo.dependencies, *todo.metadata.get("inputs", ()), str(todo.arguments.get("thread", "")))
        todos = {i: SupervisorTodo.from_state(board.todos[i]) for i in needed if i in board.todos}
        fresh = todo.run_id not in self._begun_before
        return RunSpec.of(todo, todos, board.control.branch, board.query, fresh=fresh)

    async def _publish(self, *, happened: bool, evidence_of: str = "") -> None:
        """Publish a snapshot of the session as it is now.

        Args:
            happened: something changed; else it is published only when what is said about questions did.
            evidence_of: id of a request that got a preview or findings just now; empty for none.
        """
        async with self._publishing:
            if evidence_of:
                self._questions.reload(evidence_of)
            board = self._board()
            await self._questions.look_up(board)
            asked = self._questions.shown(board)
            busy = self._questions.previewing or await self._mailbox.wait(self.id, board.control.cursor, 0)
            if not happened and (asked, busy) == (self.snapshot.questions, self.snapshot.busy):
                return
            snapshot = make_snapshot(
                self.setup,
                self._state,
                self._board(),
                head=await self.history.head(),
                questions=asked,
                response=await self._load_response(),
                owned=True,
                busy=busy,
            )
            await self._watched.publish(snapshot)

    async def _publish_evidence(self, request_id: str) -> None:
        await self._publish(happened=True, evidence_of=request_id)

    async def _load_response(self) -> ResponseData | None:
        reference = self._state.get("response")
        if not reference:
            return None
        digest = str(reference["digest"])
        if self._response is None or self._response[0] != digest:
            self._response = digest, cast("ResponseData", await self._storage.artifacts.get(digest))
        return self._response[1]

    # Runs ------------------------------------------------------------------------------------------------------

    async def _post_run(self, event_id: str, kind: EventKind, data: EventData) -> None:
        run_branch = int(str(data["run_id"]).rsplit("/", 1)[1].split(".")[0])
        now = self.setup.now()
        body = mask_json(storable(cast("JsonObject", data)), self.setup.secrets)
        event = Event(kind=kind, data=body, id=event_id, at=now, by="run")
        stops = ", ".join(" → ".join(i["path"]) for i in data.get("interrupts", ()))
        said = data.get("error") or (data.get("result") or {}).get("summary", "") or stops
        self.activity.write(str(data["todo_id"]), kind.value, said)
        cursor = self._board().control.cursor
        seq = await self._mailbox.post(self.id, run_branch, event_id, event.to_dict(), now)
        if seq <= cursor:
            # It was said before a power cut and didn't fit when it was gone through again; now it does.
            event = replace(event, id=f"{event_id}:{cursor}")
            await self._mailbox.post(self.id, run_branch, event.id, event.to_dict(), now)

    async def _post_own(self, event_id: str, kind: EventKind, data: EventData) -> None:
        await self.writer.post(kind, data, by="supervisor", event_id=event_id)

    async def _written_up(self, response: Response) -> Response:
        model = self.setup.model
        if model is None or not model.name:
            return response
        from hitl_tui.supervisor.model_answer import written_up

        return await written_up(model, response)

    async def _follow_up(self, todo: SupervisorTodo, result: TeamResult) -> Proposal | None:
        board = self._board()
        try:
            return await self.setup.planner.follow_up(
                board.query, todo, result.to_dict(), LazyTodos(board), taken=[f"todo_{board.control.highest:03d}"]
            )
        except HitlError as error:
            log.info("no follow-up for %s: %s", todo.id, error.message)
            self.activity.write(
                todo.id, "note", Message("Whether the plan should change wasn't found out: {}", error.message)
            )
            return None

    # Opening, restoring, closing -------------------------------------------------------------------------------

    async def _begin(self, query: str) -> GateState:
        """Begin the thread, or bring it to rest; what was asked before a power cut is asked under the same ids."""
        first = await self._mailbox.entries(self.id, limit=1)
        lineage = str(first[0].data.get("lineage", "")) if first else ""
        setup = self.setup
        return await self._supervisor.execute(
            query, self.id, mode=setup.mode, lineage=lineage, review=setup.info.review
        )

    async def _recover(self, query: str) -> None:
        """Bring the session to rest and see that its settings are today's."""
        await check_record(self._mailbox, self.id, self.history, self._storage.location)
        entries = (await self._mailbox.head(self.id)).n
        last = await self._mailbox.entries(self.id, entries - 1, limit=1) if entries else []
        if not entries:  # its maker died before: it has a record before checkpoints
            await self._mailbox.record(self.id, *creation_entry(self.setup.info), self.setup.now())
        branch = await self._mailbox.branch(self.id)
        if branch.checkpoint_id:
            if not await self.history.head():  # a power cut took everything
                await self._begin(query)
            await self._restore(branch)
        newest = await self.history.page(1)
        begins = not newest
        self._take(await self._begin(query))
        self._begun_before = frozenset(todo.run_id for todo in self._board().all() if todo.attempt)
        board = self._board()
        await self._policy_sync.apply(board.control, begins=begins, todos=board.all())
        pending = await self._mailbox.after(self.id, self._board().control.cursor, branch.number)
        times = [*(entry.at for entry in last), *(info.timestamp for info in newest)]
        pending += await self._continue_runs(pending, times)
        self._seq_at_opening = pending[-1].seq if pending else 0
        await self.advance()
        await self._publish(happened=True)

    async def _continue_runs(self, pending: Sequence[Posted], times: Sequence[str]) -> list[Posted]:
        """Record of each run that goes on since when nothing ran; return the events.

        Args:
            pending: what isn't in the state yet; what it names is left to that.
            times: when the process before wrote its last, ISO 8601; those of a clock that went back aren't believed.
        """
        now = self.setup.now()
        named = {str(p.event.get("todo_id") or (p.event.get("data") or {}).get("todo_id", "")) for p in pending}
        before = pending[-1].seq if pending else self._board().control.cursor
        for todo in self._board().all():
            if todo.status is not Status.IN_PROGRESS or todo.id in named:
                continue
            steps = await self.history.of_thread(todo.thread).page(1)
            written = [todo.started_at, *times, *(info.timestamp for info in steps)]
            since = max(at for at in written if at <= now or at == todo.started_at)
            data: EventData = {"todo_id": todo.id, "run_id": todo.run_id, "since": since}
            await self._post_own(f"continued:{todo.run_id}:{since}", EventKind.CONTINUED, data)
        return await self._mailbox.after(self.id, before, (await self._mailbox.branch(self.id)).number)

    async def _restore(self, branch: Branch) -> None:
        """Carry an intended restore out; every step may be repeated after a crash."""
        for run_id in await self._dispatcher.stop_all():
            self.activity.write(
                run_id.split("/")[1], "note", Message("{} can't be stopped; its effects are refused", run_id)
            )
        left = Board.from_state(await self.state_at(await head_before_restore(self.history, self.id)))
        if not await restore_checkpoint(self.setup, self._supervisor, self._storage.make_durable, branch, left):
            # A power cut took it, and the head is older than it was: there is nothing to go back from.
            self.activity.write(
                "", "note", Message("the checkpoint {} was lost; the session stays here", branch.checkpoint_id)
            )
        # Only now: what runs here is no copy, and a restore that is repeated would take it for the head that is left.
        self._take(await self._supervisor.execute("", self.id))
        self._questions.forget()

    async def _close(self) -> None:
        said = Message("Session {} was closed; what was recorded takes effect when it is opened again.", self.id)
        await self._watched.fail(HitlError(said))
        await self.writer.showing.settled()
        self._questions.close()
        await self._dispatcher.close(self._why_closed)
        self.activity.close()
