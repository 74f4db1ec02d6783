"""What a `Session` sees of the place it lives in: a mailbox, a dispatcher of runs, a storage.

A deployment elsewhere (another database, a queue of jobs) brings others; nothing in a session changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from langgraph.checkpoint.base import BaseCheckpointSaver

from hitl_tui.core.json_types import Json, JsonObject
from hitl_tui.ledger.protocols import Branches, Inbox, Streams
from hitl_tui.supervisor.activity import ActivityStream
from hitl_tui.supervisor.attached_graphs.graph_view import GraphView
from hitl_tui.supervisor.run_spec import FollowUp, PostEvent, RunSpec
from hitl_tui.threads.session_history import SessionHistory


class Mailbox(Streams, Inbox, Branches, Protocol):
    """Where what is said to a session waits for it, and where it puts on record what happens."""


class Dispatcher(Protocol):
    """Runs teams for one session; each method may be called as often as wanted."""

    @property
    def stoppable(self) -> set[str]:
        """Ids of the runs that go on now, without those that were stopped and didn't end, or say now how they ended."""
        ...

    def ensure(self, spec: RunSpec) -> None:
        """Let a run go on unless it does already.

        Raises:
            StorageError: it ended, and that couldn't be put on record.
        """
        ...

    async def stop(self, run_id: str) -> bool:
        """Stop a run, so that it begins no more effects; return whether it has ended."""
        ...

    async def stop_all(self) -> list[str]:
        """Stop every run; return the ids of those that did not end in time."""
        ...

    def end_orphan(self, todo_id: str) -> None:
        """Begin to end what an earlier process started for a TODO and left running."""
        ...

    async def view(self, spec: RunSpec, update: JsonObject | None, at: str) -> GraphView:
        """Return a TODO's attached graph and where it stands; see `SessionView.graph`."""
        ...

    @property
    def begun(self) -> list[str]:
        """Ids of the TODOs whose effect has begun while how it ended isn't on record, and whose run nobody stopped."""
        ...

    async def drain(self) -> None:
        """Begin no run from now on, and wait until those that go on have ended."""
        ...

    async def close(self, why: str) -> None:
        """End all tasks, and leave their runs as ones that go on when the session is opened again.

        Args:
            why: said in the stream of what is ended by it.
        """
        ...


StartDispatcher = Callable[[PostEvent, FollowUp], Dispatcher]
"""Makes a session's dispatcher, which tells the session through these how its runs end."""


class Artifacts(Protocol):
    """Results by digest."""

    async def put(self, value: Mapping[str, object]) -> str:
        """Keep a JSON object; return the SHA-256 of its canonical form."""
        ...

    async def get(self, digest: str) -> dict[str, Json]:
        """Return the object with this digest.

        Raises:
            StorageError: it is missing or damaged.
        """
        ...


class Storage(Protocol):
    """Where one session is kept, while this process owns it."""

    @property
    def location(self) -> str:
        """Where its checkpoints are, as people are told."""
        ...

    @property
    def saver(self) -> BaseCheckpointSaver[str]:
        """Its checkpoints, open for writing."""
        ...

    @property
    def history(self) -> SessionHistory:
        """The same, for reading pages of them."""
        ...

    @property
    def artifacts(self) -> Artifacts:
        """Its results."""
        ...

    @property
    def activity(self) -> ActivityStream:
        """What its teams say and do."""
        ...

    def make_durable(self) -> None:
        """Bring everything that was written so far to where a power cut can't take it.

        Raises:
            StorageError: it can't be written.
        """
        ...
