"""What waits in all the `.masc` folders that are known here (M6)."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hitl_tui.core.errors import BadInput, ConfigError, StorageError, UnknownName
from hitl_tui.core.events import utc_now
from hitl_tui.core.identity import Identity
from hitl_tui.core.json_types import Json, JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip
from hitl_tui.core.policy import Policy
from hitl_tui.core.requests import REFUSING, Verdict
from hitl_tui.core.safe_text import one_line
from hitl_tui.ledger.records import RequestView
from hitl_tui.ledger.stream_ledger import StreamLedger
from hitl_tui.policy.approvers import ApproverFile
from hitl_tui.policy.secrecy import Secrecy
from hitl_tui.task_checkpoints.checkpoint import Checkpoint
from hitl_tui.task_checkpoints.folders import NAME, held_policy, registered, store_of, uses_neo4j, written_at
from hitl_tui.task_checkpoints.service import TaskCheckpoints, UnknownTask


@dataclass(frozen=True, slots=True)
class WaitingStep:
    """A step, such as one that asks for a decision, and where.

    Args:
        masc: the `.masc` folder that it is in.
        step: the step.
    """

    masc: Path
    step: Checkpoint

    @property
    def view(self) -> RequestView:
        """Its request."""
        assert self.step.view is not None, "a step that asks has a request"
        return self.step.view

    @property
    def request_id(self) -> str:
        """The id of its request."""
        return self.view.request.id


_LOOK = 5.0
"""Seconds after which a database is asked again: it tells nobody that somebody wrote."""


class TaskInbox:
    """The steps that wait, in every folder that the data folder knows of and in that of a workspace.

    Args:
        data: the data folder.
        environ: the environment, which says which store is used.
        now: the time, ISO 8601, UTC.
        changed: called with a folder whose requests were opened, decided or superseded.

    Attributes:
        problems: why folders couldn't be read when they were looked at last, a sentence each.
    """

    def __init__(
        self,
        data: Path,
        environ: Mapping[str, str],
        now: Callable[[], str] = utc_now,
        changed: Callable[[Path], None] | None = None,
    ) -> None:
        self._data, self._environ, self._now, self._changed = data, environ, now, changed
        self._tasks: dict[Path, TaskCheckpoints] = {}
        self.problems: tuple[str, ...] = ()

    def folders(self, workspace: Path | None = None) -> list[Path]:
        """Return the folders, that of the workspace first; of several whose steps are in one database the first."""
        known = self._known(workspace)
        return (known or [self._data / NAME])[:1] if self._in_database else known

    def _known(self, workspace: Path | None = None) -> list[Path]:
        own = [workspace / NAME] if workspace is not None and (workspace / NAME).is_dir() else []
        return list(dict.fromkeys((*own, *registered(self._data))))

    @property
    def _in_database(self) -> bool:
        try:
            return uses_neo4j(self._environ)
        except BadInput:  # it is told when the store is opened
            return False

    def stamp(self, workspace: Path | None = None) -> tuple[int, ...]:
        """Return what is another one after anybody has written into one of the folders."""
        if self._in_database:
            return (int(time.monotonic() / _LOOK),)
        return tuple(stamp for masc in self.folders(workspace) if (stamp := written_at(masc)))

    def tasks(self, masc: Path) -> TaskCheckpoints:
        """Return the tasks of a folder, to decide about them.

        Raises:
            StorageError: its store can't be used.
        """
        if masc not in self._tasks:
            self._tasks[masc] = self._with_rules(masc, Policy())
        return self._tasks[masc]

    def _with_rules(self, masc: Path, policy: Policy) -> TaskCheckpoints:
        secrecy = Secrecy()
        # What is in a database may be of any of them.
        secrecy.look_in([one.parent for one in ((masc, *self._known()) if self._in_database else (masc,))], self._data)
        approvers = ApproverFile(self._data, elsewhere=self._in_database)
        return TaskCheckpoints(self._store(masc), policy, self._now, secrecy, approvers)

    def _store(self, masc: Path) -> StreamLedger:
        return store_of(masc, self._environ, partial(self._changed, masc) if self._changed is not None else None)

    async def waiting(self, workspace: Path | None = None) -> list[WaitingStep]:
        """Return what waits: what expires first comes first, then what waits longest."""
        found = await self._of_each(workspace, TaskCheckpoints.waiting)
        return sorted(found, key=lambda one: one.view.request.urgency)

    async def recorded(self, workspace: Path | None = None) -> list[WaitingStep]:
        """Return all steps that were ever recorded; nothing is settled by it."""
        return await self._of_each(workspace, TaskCheckpoints.recorded)

    async def of_task(self, task_id: str, workspace: Path | None = None) -> WaitingStep:
        """Return the only step of a task that waits, in whatever folder.

        Raises:
            UnknownName: there is none.
            BadInput: there are several.
        """
        found = [one for one in await self.waiting(workspace) if one.step.task_id == task_id]
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(one.request_id for one in found[:4])
            raise BadInput(Message("Several steps of {} wait; name one by its id: {}.", task_id, ids))
        for masc in self.folders(workspace):
            try:
                await self.tasks(masc).the_waiting(task_id, None)  # says what became of it
            except UnknownTask:
                continue
        raise UnknownName(Message('No task "{}" waits here.', one_line(clip(task_id), 80)))

    async def request(self, request_id: str, workspace: Path | None = None) -> RequestView | None:
        """Return what was asked under an id, decided or not, in a folder that can be read."""
        for masc in self.folders(workspace):
            with suppress(StorageError, BadInput):
                if (found := await self.tasks(masc).request(request_id)) is not None:
                    return found
        return None

    async def decide(
        self,
        waiting: WaitingStep,
        verdict: Verdict,
        who: Identity,
        channel: str,
        *,
        reason: str = "",
        value: Json = None,
        seen: str | None = None,
    ) -> Checkpoint:
        """Say something of a step under the rules of its folder; see `TaskCheckpoints.decide`.

        A step in a database whose rules no folder here has counts under those that it was asked under.
        """
        tasks = self.tasks(waiting.masc)
        if verdict not in REFUSING:
            with suppress(BadInput):
                tasks = self._with_rules(waiting.masc, self._rules_of(waiting))
        return await tasks.decide(waiting.step, verdict, who, channel, reason=reason, value=value, seen=seen)

    async def edit(self, waiting: WaitingStep, arguments: JsonObject, who: Identity, seen: str) -> Checkpoint:
        """Give a call that waits other arguments, under the rules of its folder; see `TaskCheckpoints.edit`.

        Raises:
            BadInput: the step is in a database, and was asked under rules that no folder here has.
        """
        tasks = self._with_rules(waiting.masc, self._rules_of(waiting))
        return await tasks.edit(waiting.step, arguments, who, seen)

    def _rules_of(self, waiting: WaitingStep) -> Policy:
        """Return the rules of the folder that a step was asked in: a database doesn't say which that was."""
        if not self._in_database:
            return held_policy(waiting.masc, self._data)
        asked = waiting.view.request.subject.get("policy")
        for masc in self._known() or [waiting.masc]:
            with suppress(ConfigError):
                if (policy := held_policy(masc, self._data)).version == asked:
                    return policy
        raise BadInput(
            Message("No folder here has the rules that {} was asked under; approve or reject it.", waiting.step.name)
        )

    async def decided_since(self, since: str) -> list[RequestView]:
        """Return what was decided from a time on, ISO 8601, UTC, in every folder that can be read."""
        found: list[RequestView] = []
        for masc in self.folders():
            with suppress(StorageError, BadInput):
                found += await self.tasks(masc).decided_since(since)
        return found

    async def expire(self) -> list[WaitingStep]:
        """Settle what is overdue, in every folder; return it."""
        return await self._of_each(None, TaskCheckpoints.expire)

    async def _of_each(
        self, workspace: Path | None, read: Callable[[TaskCheckpoints], Awaitable[list[Checkpoint]]]
    ) -> list[WaitingStep]:
        """Return what is read of every folder; note why some can't be."""
        found: list[WaitingStep] = []
        problems: list[str] = []
        for masc in self.folders(workspace):
            try:
                found += [WaitingStep(masc, step) for step in await read(self.tasks(masc))]
            except (StorageError, BadInput) as error:
                problems.append(error.message)
        self.problems = tuple(dict.fromkeys(problems))
        return found
