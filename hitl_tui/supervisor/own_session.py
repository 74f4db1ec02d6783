"""`own_session`: a session owned by this process, with all that keeps it on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from langgraph.checkpoint.base import BaseCheckpointSaver

from hitl_tui.supervisor.activity import ActivityStream
from hitl_tui.supervisor.checkpoint_saver import SessionSaver, create_checkpointer
from hitl_tui.supervisor.dispatcher import LocalDispatcher
from hitl_tui.supervisor.open_questions import listed_otherwise
from hitl_tui.supervisor.run_spec import FollowUp, PostEvent, RunServices
from hitl_tui.supervisor.session import Session
from hitl_tui.supervisor.session_setup import SessionSetup
from hitl_tui.supervisor.session_trace import SessionTrace, span_export, traced
from hitl_tui.supervisor.storage import ArtifactStore, SessionFolder
from hitl_tui.threads.session_history import SessionHistory

if TYPE_CHECKING:
    from hitl_tui.supervisor.postgres_checkpoints import DatabaseSaver

    OwnSaver = SessionSaver | DatabaseSaver


@dataclass(frozen=True, slots=True)
class FolderStorage:
    """`Storage` in a session's folder."""

    folder: SessionFolder
    saver: BaseCheckpointSaver[str]
    history: SessionHistory
    artifacts: ArtifactStore
    activity: ActivityStream

    @property
    def location(self) -> str:
        return self.folder.place

    def make_durable(self) -> None:
        self.folder.make_durable()


@asynccontextmanager
async def own_session(setup: SessionSetup, query: str = "") -> AsyncIterator[Session]:
    """Own a session, recover it, and let it go on while the context lasts.

    Args:
        setup: what it is opened with.
        query: begins a session that has no checkpoints yet.

    Raises:
        SessionBusy: another process owns it.
        StorageError: its checkpoints can't be used; they are not touched.
    """
    async with _owned_folder(setup) as storage:
        export = await asyncio.to_thread(span_export, storage.activity)
        trace = SessionTrace(setup, export, storage.activity) if export is not None else None

        def dispatcher(post: PostEvent, follow_up: FollowUp) -> LocalDispatcher:
            return LocalDispatcher(
                RunServices(
                    saver=storage.saver,
                    team=setup.team,
                    ledger=setup.ledger,
                    artifacts=storage.artifacts,
                    folder=storage.folder,
                    activity=storage.activity,
                    session=setup.info.id,
                    lineage=setup.info.lineage,
                    workspace=Path(setup.info.workspace),
                    secrets=setup.secrets,
                    post=post,
                    follow_up=follow_up,
                    listed=partial(listed_otherwise, setup),
                    now=setup.now,
                    model=setup.model,
                    policy=lambda: setup.rules.policy,
                    node=trace.node if trace is not None else None,
                )
            )

        async with Session.open(setup, storage, dispatcher, query) as session, traced(session, trace):
            yield session


@asynccontextmanager
async def _owned_folder(setup: SessionSetup) -> AsyncIterator[FolderStorage]:
    folder = setup.folder
    async with owned_saver(folder) as saver:
        activity = ActivityStream(folder.activity, setup.now, setup.secrets)
        await asyncio.to_thread(activity.recall)
        history, artifacts = SessionHistory(saver, setup.info.id), folder.artifacts(setup.secrets)
        yield FolderStorage(folder, saver, history, artifacts, activity)


@asynccontextmanager
async def owned_saver(folder: SessionFolder) -> AsyncIterator[OwnSaver]:
    """Own a session while the context lasts, and open the saver of its checkpoints.

    Raises:
        SessionBusy: another process owns it.
        StorageError: its checkpoints can't be used.
    """
    if folder.address:
        from hitl_tui.supervisor.postgres_checkpoints import owning_saver

        async with owning_saver(folder.address, folder.path.name, folder.holder) as there, folder.held():
            yield there
        return
    with folder.own():
        async with create_checkpointer(folder.checkpoints) as saver:
            assert isinstance(saver, SessionSaver)
            yield saver
