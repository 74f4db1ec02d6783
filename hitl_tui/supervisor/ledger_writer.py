"""`LedgerWriter`: writes a session's events and decisions into the ledger, and which questions were shown."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from itertools import count
from typing import cast

from hitl_tui.core.errors import BadInput, HitlError, StorageError
from hitl_tui.core.events import Event, EventKind, after_seconds
from hitl_tui.core.json_text import check_storable, short_id
from hitl_tui.core.json_types import EventData
from hitl_tui.core.requests import Decision, Request, Verdict
from hitl_tui.core.safe_text import mask, mask_json
from hitl_tui.core.secret_masks import check_masks
from hitl_tui.ledger.protocols import Ledger, Requests
from hitl_tui.ledger.records import Closing, Posted, RequestView
from hitl_tui.policy.approvers import Approvers

log = logging.getLogger(__name__)


class ShownQuestions:
    """Records each question once, when it was first shown.

    Args:
        ledger: the record.
        now: the clock.
        secrets: values to mask, by name.
        read_only: this account can't write, so nothing is recorded; it can't decide either.
    """

    def __init__(
        self, ledger: Requests, now: Callable[[], str], secrets: Mapping[str, str], *, read_only: bool = False
    ) -> None:
        self._ledger, self._secrets = ledger, secrets
        self._now = now
        self._read_only = read_only
        self._recorded: set[str] = set()
        self._writing: set[asyncio.Task[None]] = set()

    def note(self, request_ids: Iterable[str], by: str, channel: str) -> None:
        """Take note that questions are on the screen, or were printed; `settled` waits until that is on record.

        Args:
            request_ids: the questions' ids.
            by: who looks at them.
            channel: `console`, `repl`, `cli`, …
        """
        fresh = [i for i in dict.fromkeys(request_ids) if i not in self._recorded]
        if not fresh or self._read_only:
            return
        self._recorded.update(fresh)
        task = asyncio.create_task(self._write(fresh, by, channel), name="shown")
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def settled(self) -> None:
        """Wait until all that was noted is on record."""
        while self._writing:
            await asyncio.wait(set(self._writing))

    async def _write(self, request_ids: list[str], by: str, channel: str) -> None:
        try:
            await self._ledger.mark_shown(request_ids, mask(by, self._secrets), channel, self._now())
        except HitlError as error:  # deciding them will say so
            self._recorded.difference_update(request_ids)
            log.warning("not recorded as shown: %s", error.message)


def event_of(posted: Posted) -> Event:
    """Return an inbox event; what the ledger itself posts has its fields beside the kind, the rest within `data`.

    One that no checkpoint can hold comes without its content, and `fold` refuses it.
    """
    data = posted.event
    try:
        check_storable(data)
    except BadInput as error:
        return Event("unreadable", {"why": error.message}, posted.event_id, posted.seq)
    if "data" in data:
        return replace(Event.from_dict(data), id=posted.event_id, seq=posted.seq)
    body = cast(EventData, {k: v for k, v in data.items() if k != "kind"})
    at, by = str(data.get("at", "")), str(data.get("by", ""))
    return Event(str(data.get("kind", "")), body, posted.event_id, posted.seq, at, by)


class LedgerWriter:
    """Writes a session's events and decisions into the ledger.

    Args:
        ledger: the record.
        session: session id.
        secrets: values to mask, by name.
        now: the clock.
        before_restore: brings the checkpoints to the disk, so that a power cut can't take the one to restore.
        before_deciding: refuses what may not be decided now.
        approvers: who counts where several people or a level are demanded.
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
        approvers: Callable[[], Approvers] | None = None,
        broken: str = "",
        read_only: bool = False,
    ) -> None:
        self.ledger = ledger
        self.now = now
        self._session = session
        self.secrets = secrets
        self._before_restore = before_restore
        self._before_deciding = before_deciding
        self._approvers = approvers
        self._broken = broken
        self._numbers = count()
        self.showing = ShownQuestions(ledger, now, secrets, read_only=read_only)

    async def post(
        self,
        kind: EventKind,
        data: Mapping[str, object],
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
        now, by = self.now(), mask(by, self.secrets)
        masked = mask_json(dict(data), self.secrets)
        if closing is not None:
            hidden = [replace(one, name=mask(one.name, self.secrets)) for one in closing.who]
            closing = replace(closing, by=mask(closing.by, self.secrets), who=tuple(hidden))
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
        view = await self.request(decision.request_id)
        self.check_whole()
        if self._before_deciding is not None:
            await self._before_deciding(decision.verdict, view.request if view is not None else None)
        if self.secrets and decision.value is not None:
            check_masks(decision.value, view.request.subject.get("value") if view else None, self.secrets)
        reason, value = mask(decision.reason, self.secrets), mask_json(decision.value, self.secrets)
        by, claimed = mask(decision.by, self.secrets), mask(decision.claimed, self.secrets)
        decision = replace(decision, reason=reason, value=value, by=by, claimed=claimed)
        if view is not None and view.decisions and self._approvers is not None:
            decision = replace(decision, without=self._approvers().without(view.decisions, view.request.terms))
        check_storable(decision.to_dict())
        return await self.ledger.decide(decision, self.now())

    async def request(self, request_id: str) -> RequestView | None:
        """Return a request as it stands now; None when there is none of that id."""
        return await self.ledger.request(request_id, self.now())

    async def open(self, request: Request) -> None:
        """Open a request unless it is there; its time begins now."""
        self.check_whole()
        await self.ledger.open_requests([with_opening_times(request, self.now())])

    async def restore(self, checkpoint_id: str, by: str, channel: str = "", number: int = 0) -> int:
        """Ask for an earlier checkpoint, of this number, to be the head; return the branch that begins there."""
        self.check_whole()
        await asyncio.to_thread(self._before_restore)
        by, now = mask(by, self.secrets), self.now()
        branch = await self.ledger.begin_restore(self._session, checkpoint_id, by, now, channel=channel, number=number)
        return branch.number

    async def record(self, kind: str, data: Mapping[str, object], at: str) -> None:
        """Record what people do that no view is built from."""
        self.check_whole()
        await self.ledger.record(self._session, kind, mask_json(dict(data), self.secrets), at)

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


def with_opening_times(request: Request, now: str) -> Request:
    """Return a request with the times it is opened and, by its terms, expires at.

    A deadline that ends in an approval begins when the request is shown, not now.
    """
    begins = request.terms.deadline and not request.ends_in_approval
    deadline = after_seconds(now, request.terms.deadline) if begins else ""
    return replace(request, opened_at=now, deadline=deadline)
