"""A session that another process owns: read-only, yet every command can be given."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from hitl_tui.core.board import Board
from hitl_tui.core.errors import BadInput, OwnerGone
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.supervisor.activity import ActivityTail
from hitl_tui.supervisor.checkpoint_file import StoredCheckpoints, open_empty
from hitl_tui.supervisor.ledger_writer import LedgerWriter
from hitl_tui.supervisor.policy_sync import check_policy, renew_settings
from hitl_tui.supervisor.record_check import check_record, has_worked, lost_checkpoints
from hitl_tui.supervisor.recorded_board import is_over, recorded_board
from hitl_tui.supervisor.schema_library import load_validators
from hitl_tui.supervisor.session_setup import SessionSetup
from hitl_tui.supervisor.session_view import SessionView, make_snapshot
from hitl_tui.supervisor.snapshot import ResponseData, Snapshot, as_questions, with_obstacles
from hitl_tui.supervisor.stored_state import state_of
from hitl_tui.threads.session_history import SessionHistory

if TYPE_CHECKING:
    from hitl_tui.supervisor.attached_graphs.graph_view import GraphView

_POLL = 0.3
_EVERY = 10.0
"""Seconds after which it is read anew though no file changed: deadlines pass."""
_GRAIN = 0.05
"""Seconds; of what was written less than that before it was read, a part may have been written after."""


class SessionFollower(SessionView):
    """One session that another process owns. Use `SessionFollower.open`.

    Args:
        setup: what the session is opened with.
    """

    activity: ActivityTail

    def __init__(self, setup: SessionSetup) -> None:
        self.setup = setup
        self._policy_version = ""
        check_decision = partial(check_policy, setup.policy, lambda: self._policy_version)
        self.writer = LedgerWriter(
            setup.ledger,
            setup.info.id,
            setup.secrets,
            setup.now,
            before_deciding=check_decision,
            approvers=setup.approvers,
            broken=setup.broken,
            read_only=setup.read_only or bool(setup.broken),
        )
        self.activity = ActivityTail(setup.folder.activity)
        self._snapshot: Snapshot | None = None
        self._files: tuple[tuple[int, int], ...] = ()
        self._read_at = float("-inf")
        self._checked = False

    @classmethod
    @asynccontextmanager
    async def open(cls, setup: SessionSetup) -> AsyncIterator[SessionFollower]:
        """Follow a session.

        Raises:
            StorageError: its checkpoints can't be read.
        """
        follower = cls(setup)
        with closing(follower.activity):
            await follower.refresh()
            try:
                yield follower
            finally:
                await follower.writer.showing.settled()

    @property
    def owned(self) -> bool:
        return False

    @property
    def snapshot(self) -> Snapshot:
        assert self._snapshot is not None
        return self._snapshot

    @property
    def alone(self) -> bool:
        folder = self.setup.folder
        return not (self.setup.read_only or folder.carried or folder.is_owned())

    async def drain(self) -> None:
        """Do nothing: none of its steps runs here."""

    async def refresh(self) -> Snapshot:
        """Return how the session stands; it is read anew only when its files changed."""
        files, now, loop = await asyncio.to_thread(self.setup.folder.written), time.time(), asyncio.get_running_loop()
        began = loop.time()
        if self._snapshot is not None and files == self._files and began - self._read_at < _EVERY:
            return self._snapshot
        snapshot = await self._read()
        settled = abs(now - max(at for at, __ in files) / 1e9) > _GRAIN  # a clock may have gone back since
        self._files, self._read_at = (files if settled else ()), began
        return snapshot

    async def _read(self) -> Snapshot:
        async with self._file() as file:
            values = await state_of(file, self.id)
            head = await SessionHistory(file, self.id).head()
            if self._snapshot is None:
                history, place = SessionHistory(file, self.id), self.setup.folder.place
                await check_record(self.setup.ledger, self.id, history, place)
        views = await self.setup.ledger.requests(self.setup.now(), session=self.id)
        await self.setup.policy.look()
        await self.setup.renew()
        await load_validators((view.request for view in views), self.rules.policy)
        self._policy_version = str((values.get("control") or {}).get("policy_version", ""))
        reference = values.get("response")
        artifacts = self.setup.folder.artifacts()
        where = await asyncio.to_thread(self.setup.folder.whereabouts)
        stored = board = Board.from_state(values)
        if not await asyncio.to_thread(self.setup.folder.is_owned):  # else its owner is about to take it in
            board = await recorded_board(self.setup.ledger, stored, self.rules)
        snapshot = make_snapshot(
            self.setup,
            values,
            board,
            head=head,
            questions=with_obstacles(as_questions(views, board.todos), self.setup.approvers()),
            response=cast("ResponseData", await artifacts.get(str(reference["digest"]))) if reference else None,
            owned=False,
        )
        if board is not stored and is_over(board):
            snapshot = replace(snapshot, over=True)
        if where is not None:
            snapshot = replace(snapshot, carrier=where.carrier, problem=snapshot.problem or where.problem)
        self._snapshot = snapshot
        return snapshot

    @asynccontextmanager
    async def _file(self) -> AsyncIterator[StoredCheckpoints]:
        if not await asyncio.to_thread(self.setup.folder.begun):
            if not await has_worked(self.setup.ledger, self.id, self.setup.now()):
                async with open_empty() as file:
                    yield file
                return
            if not await asyncio.to_thread(self.setup.folder.begun):  # its first one may have come meanwhile
                raise lost_checkpoints(self.setup.folder.place)
        async with self.setup.folder.reading(checked=self._checked) as file:
            self._checked = True
            yield file

    async def state_at(self, checkpoint_id: str) -> dict[str, Any]:
        async with self._file() as file:
            return await state_of(file, self.id, checkpoint_id)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[SessionHistory]:
        async with self._file() as file:
            yield SessionHistory(file, self.id)

    async def changed(self, since: Snapshot | None) -> Snapshot:
        seen = await self.refresh()
        while seen == since:
            if await asyncio.to_thread(lambda: self.alone):
                raise OwnerGone(Message("No process has {} open any longer.", self.id))
            await asyncio.sleep(_POLL)
            seen = await self.refresh()
        return seen

    async def settled(self) -> Snapshot:
        return await self.refresh()

    async def applied(self, seq: int) -> Snapshot:
        return self.snapshot

    async def renew(self) -> str:
        return await renew_settings(self.setup)

    async def on_branch(self, number: int) -> Snapshot:
        return self.snapshot

    async def graph(self, todo_id: str, update: JsonObject | None = None, at: str = "") -> GraphView:
        if self.setup.read_only:
            raise BadInput(Message("Only an account that can write to {} can load its graphs.", self.id))
        raise BadInput(Message("Another process has {} open; look at its graphs there.", self.id))
