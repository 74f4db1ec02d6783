"""The contract of the durable record, in five small protocols; `Ledger` is all of them.

A store implements those that its use needs: `Streams` and `Requests` are enough for tasks outside of sessions. Every
store keeps these promises, and `tests/ledger` checks them on each. An entry in a stream is the commit point of whatever
it records; tables of requests and inboxes are views that can be rebuilt from entries. Each method is one transaction:
it happened whole and durably when it returned, or it didn't happen.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Protocol

from hitl_tui.core.errors import HitlError
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.requests import Decision, Request
from hitl_tui.core.supersession import Cause
from hitl_tui.ledger.records import (
    Branch,
    Closing,
    Effect,
    EffectClaim,
    Entry,
    Head,
    Posted,
    Problem,
    RequestView,
    SessionCopy,
)


class Conflict(HitlError):
    """The stream had another length than the writer expected; read again and decide anew."""


OWN_KINDS = frozenset(
    {
        "request_opened",
        "request_shown",
        "decision",
        "event",
        "request_superseded",
        "evidence",
        "restore_intended",
        "restore_finished",
        "effect_started",
        "effect_ended",
        "run_stopped",
        "effect_known",
    }
)
"""Kinds of entries that views are built from: only the methods below write them, never `append` or `record`."""

_PAGE = 500
"""Entries held in memory at a time."""

OWN_EVENTS = ("decided:", "restored:")
"""Beginnings of event ids that only the ledger gives: nobody else can take the place of a decision's event."""


class Streams(Protocol):
    """Append-only streams of sealed entries, one for each session or external task."""

    async def append(self, stream: str, expected_n: int, kind: str, data: Mapping[str, object], at: str) -> Entry:
        """Append one entry as number `expected_n + 1`.

        Raises:
            Conflict: the stream has another length.
            BadInput: `kind` is one of `OWN_KINDS`, or `data` isn't JSON.
        """
        ...

    async def record(self, stream: str, kind: str, data: Mapping[str, object], at: str) -> Entry:
        """Append one entry, whatever the stream's length.

        Raises:
            BadInput: `kind` is one of `OWN_KINDS`, or `data` isn't JSON.
        """
        ...

    async def entries(self, stream: str, after: int = 0, limit: int = 1000) -> list[Entry]:
        """Return entries with n > `after`, in order."""
        ...

    async def streams(self) -> list[Head]:
        """Return all streams with their heads, by name."""
        ...

    async def head(self, stream: str) -> Head:
        """Return the head of one stream (n 0 for one that doesn't exist)."""
        ...

    async def view_problems(self, stream: str | None = None) -> list[Problem]:
        """Return how the store's views differ from its entries, for one stream or all; empty when they agree."""
        ...


async def read_stream(streams: Streams, stream: str, after: int = 0) -> AsyncIterator[Entry]:
    """Yield the entries of a stream with n > `after` in order, a page at a time.

    Raises:
        StorageError: an entry can't be read.
    """
    while page := await streams.entries(stream, after, _PAGE):
        for entry in page:
            yield entry
        after = page[-1].n


class Requests(Protocol):
    """Questions to people, and what they decided."""

    async def open_requests(self, requests: Sequence[Request]) -> list[str]:
        """Insert those requests that don't exist yet (by id); return the ids that are new.

        An existing one is left as it is: its opening time and deadline stand over restarts. One for a branch that
        isn't the session's current one is recorded as superseded at once, so none waits that can't be answered.

        Raises:
            BadInput: a request's digest isn't the digest of its subject; nothing was written.
        """
        ...

    async def request(self, request_id: str, now: str) -> RequestView | None:
        """Return one request with its decisions, resolved at `now`; None when there is none."""
        ...

    async def requests(
        self,
        now: str,
        *,
        session: str | None = None,
        todo_id: str | None = None,
        pending: bool = True,
        limit: int = 500,
    ) -> list[RequestView]:
        """Return requests in the order they were opened; `pending` leaves out the decided and superseded.

        Args:
            now: as of when.
            session: only of this session.
            todo_id: only about this TODO; empty for those about none.
            pending: only those that wait for a decision.
            limit: at most so many.
        """
        ...

    async def decided_since(self, since: str, now: str) -> list[RequestView]:
        """Return the requests that were decided or superseded from a time on, in the order they were opened.

        Args:
            since, now: ISO 8601, UTC.
        """
        ...

    async def mark_shown(self, request_ids: Sequence[str], by: str, channel: str, now: str) -> list[str]:
        """Record that open requests were shown to somebody; return the ids of those that it was the first time for.

        A deadline that ends in an approval begins now. What is decided, superseded or unknown is left as it is.

        Args:
            request_ids: what was drawn, returned by a command, or published as an event.
            by: to whom.
            channel: `console`, `repl`, `cli`, …
            now: ISO 8601, UTC.
        """
        ...

    async def decide(self, decision: Decision, now: str) -> RequestView:
        """Record a decision; when it settles the request, post the inbox event `decided:<request id>` with it.

        One transaction: check (`core.requests.check_decision`, and that the request's branch is the session's
        current one), write the decision and its entry, and the event if settled. The event is
        `decided_event(view)`.

        Raises:
            Refused: the decision can't count; nothing was written.
        """
        ...

    async def expire(self, now: str, session: str | None = None) -> list[str]:
        """Post the `decided` events of all requests whose deadline has passed; return their ids.

        Args:
            session: only of this session.
        """
        ...

    async def supersede(
        self, session: str, keep: Sequence[str], cause: Cause, now: str, by: str = "", detail: str = ""
    ) -> list[str]:
        """Mark the session's undecided requests that aren't in `keep` as superseded; return their ids."""
        ...

    async def attach_evidence(self, request_id: str, evidence: Mapping[str, object], now: str) -> None:
        """Replace a request's evidence (a preview's output).

        Raises:
            Refused: there is no such request (`unknown`).
        """
        ...


class Waiting(Protocol):
    """What waits for people, in a session and in all together, also where it is very much."""

    async def urgent(self, now: str, limit: int) -> list[RequestView]:
        """Return what waits for a decision and expires first, then what waits longest; at most `limit`."""
        ...

    async def open_ids(self, session: str) -> list[str]:
        """Return the ids of a session's requests that are neither decided nor superseded, as they were opened.

        Those whose deadline has passed are among them until that is written.
        """
        ...

    async def waiting_counts(self, now: str) -> dict[str, int]:
        """Return by session how many of its requests wait for a decision; sessions with none are left out."""
        ...


class Inbox(Protocol):
    """Events that wait for the process that owns a session."""

    async def post(
        self,
        session: str,
        branch: int,
        event_id: str,
        event: Mapping[str, object],
        at: str,
        *,
        closing: Closing | None = None,
    ) -> int:
        """Put an event into a session's inbox; return its number. A duplicate id gets the number it has.

        With `closing`, in the same transaction, the open requests that it ends are superseded
        (`core.supersession`) and named in the event's data: `closed` {request id: todo id}.

        Raises:
            Refused: a request that it would end was decided since the command began (`late`), or takes the decision
                itself (`stale`); nothing was written.
            BadInput: the event has no `kind`, isn't JSON, or its id begins like one of `OWN_EVENTS`.
        """
        ...

    async def after(self, session: str, cursor: int, branch: int) -> list[Posted]:
        """Return the events with seq > `cursor` that are meant for `branch`, in order."""
        ...

    async def last_seq(self, session: str) -> int:
        """Return the highest number in a session's inbox on the branch that counts, 0 for none. Cheap: it is polled.

        Events for branches that were left don't count: nobody will ever take them.
        """
        ...

    async def highest_seq(self, session: str) -> int:
        """Return the highest number that any event of a session has or is kept free for, on any branch; 0 for none."""
        ...

    async def wait(
        self,
        session: str,
        cursor: int,
        timeout: float | None,  # noqa: ASYNC109 - running out of time is an answer here, not an error
        poll: float = 0.1,
    ) -> bool:
        """Wait until there is something for the session to do.

        That is an event with a number above `cursor` on the branch that counts, or a restore that isn't finished.
        Events for branches that were left don't count: nobody will ever take them.

        Args:
            timeout: seconds; None waits for ever.
            poll: seconds between looks at what other processes wrote; what this one writes is seen at once.

        Returns:
            True as soon as there is one, False when the time is up.
        """
        ...

    async def news(self, cursors: Mapping[str, int]) -> frozenset[str]:
        """Return which of many sessions have something to do, as `wait` means it. Cheap while nothing is written.

        Args:
            cursors: by session the number of the last event that it has gone through.
        """
        ...


class Effects(Protocol):
    """What runs do to the world, each at most once."""

    async def begin_effect(self, effect: Effect, now: str, *, resolution: str = "", answer_to: str = "") -> EffectClaim:
        """Claim an effect before it is done.

        One transaction. `stale` when the session's branch isn't the effect's or is being restored, or the run was
        stopped (`stop_run`). When the key is new, or another run's `failed`: write `started`, answer `go`. When the
        same run failed with an `error` in its outcome: `failed`, for it has ended. When it is `done` by the same
        branch: `done`. When it is `done` on another branch, `failed` there with `partial` in its outcome (parts of it
        were done), or `started` by whomever: `doubt`, unless `resolution`
        says what a person said: `use_as_done` marks it done with outcome `{"declared_done": true}` (or keeps the
        outcome it has) and answers `done`; `do_again` writes `started` anew, of whatever status, and answers `go`.
        `answer_to` names the request that `resolution` answers. It counts when it was asked about this effect, in
        this session and branch, after the last start and end of it, and was settled so: one "do it again" allows one
        start, whatever became of that. `repeatable` is no person's word: what is known to change nothing may always
        start. `effect.status` and `effect.outcome` are not read.

        Raises:
            BadInput: `resolution` is something else.
        """
        ...

    async def end_effect(self, key: str, run_id: str, status: str, outcome: JsonObject, now: str) -> None:
        """Write that an effect ended: `done` or `failed`, with what came out; saying the same again is harmless.

        Raises:
            BadInput: `status` is something else.
            Refused: nobody began it (`unknown`), another run has begun it since (`stale`), or it ended otherwise
                already (`late`).
        """
        ...

    async def effects(self, *sessions: str, status: str = "") -> list[Effect]:
        """Return the effects of a session, or of several, in the order they were first started."""
        ...

    async def stop_run(self, session: str, run_id: str, now: str) -> None:
        """Say that a run may begin no more effects; repeating it is harmless."""
        ...


class Branches(Protocol):
    """Which branch of a session counts, and the restores and copies that begin one."""

    async def branch(self, session: str) -> Branch:
        """Return the branch that counts."""
        ...

    async def begin_restore(
        self, session: str, checkpoint_id: str, by: str, now: str, *, channel: str = "", number: int = 0
    ) -> Branch:
        """Begin a restore: take the next branch, supersede older open requests, in one transaction.

        The record says by what channel, and which of the session's checkpoints that was, counted from 1.

        Raises:
            BadInput: `checkpoint_id` is empty.
        """
        ...

    async def finish_restore(
        self, session: str, branch: int, now: str, extra: Mapping[str, object] | None = None
    ) -> None:
        """End a restore and post the event `restored:<branch>` on it, in one transaction; repeating it is harmless.

        The event is `{"kind": "restored", "branch": …, "checkpoint_id": …, "by": …}` with `extra` beside, and comes
        before all others of its branch. A branch that a later restore has left stays unfinished and gets no event.

        Raises:
            Refused: no restore to this branch was begun (`unknown`).
        """
        ...

    async def begin_copy(self, copy: SessionCopy, now: str) -> None:
        """Begin the stream of a session that is a copy: its origin, known effects, the restore that it opens with.

        One transaction. The branch is `copy.branch`, being restored to `copy.checkpoint_id`, and event numbers go on
        from `copy.seq`. An effect whose key the ledger has already stays as it is; for another one `begin_effect`
        says `doubt` whoever comes to it (`go` when it failed), with the session and branch that did it.

        Raises:
            Conflict: there is such a stream.
        """
        ...


class Ledger(Streams, Requests, Waiting, Inbox, Effects, Branches, Protocol):
    """The durable record of all sessions; safe with many processes at once."""
