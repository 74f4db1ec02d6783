"""What the console holds of a session that is open, and of one that is on its way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from hitl_tui.core.errors import Refused
from hitl_tui.core.json_types import JsonObject
from hitl_tui.language import _

if TYPE_CHECKING:
    from hitl_tui.commands.handler import CommandHandler
    from hitl_tui.supervisor.activity import Activity
    from hitl_tui.supervisor.session_setup import SessionSetup
    from hitl_tui.supervisor.session_view import SessionView
    from hitl_tui.supervisor.snapshot import Question, Snapshot
    from hitl_tui.teams.contract import FilePreview, OutputPreview, QueryPreview


class Watcher(Protocol):
    """Who is told what happens in the open session."""

    def seen(self, snapshot: Snapshot) -> None:
        """The session looks like this now."""

    def said(self, session: str, lines: Sequence[Activity]) -> None:
        """These lines are new in the session's stream."""

    def stopped(self, session: str, message: str) -> None:
        """The session can't go on."""

    def planning(self, model: str, give_up: Callable[[], object]) -> None:
        """A model is asked for the plan of the session that begins; calling `give_up` ends that."""


class SessionHandle:
    """One open session.

    Args:
        session: the session.
        handler: carries commands out on it.
    """

    def __init__(self, session: SessionView, handler: CommandHandler) -> None:
        from hitl_tui.threads.session_thread import SessionThread

        self.session = session
        self.handler = handler
        self.thread = SessionThread(session)
        """Its history."""
        self.stopped = ""
        """Why it can't go on; empty while it can."""

    @property
    def setup(self) -> SessionSetup:
        """What it was opened with."""
        return self.session.setup

    async def preview(
        self, question: Question, arguments: JsonObject
    ) -> OutputPreview | QueryPreview | FilePreview | None:
        """Return what a question's step would do with exact arguments; None where that isn't known before.

        Raises:
            HitlError: it can't be found out.
        """
        from hitl_tui.supervisor.open_questions import preview_of

        return await preview_of(self.setup, question.view.request, arguments, self.session.snapshot.query)


class PendingSession:
    """One opening; what was sent meanwhile is for its session and for no other."""

    def __init__(self) -> None:
        self._begun = False
        self._over = asyncio.Event()
        self._handle: SessionHandle | None = None

    def begin(self) -> PendingSession:
        """Return what stands for the session that is opened now: this one, unless it stands for another one already.

        Before the first session is opened somebody may have sent something; it is for that session.
        """
        found = PendingSession() if self._begun or self.is_set() else self
        found._begun = True
        return found

    def is_set(self) -> bool:
        """Return whether it is over."""
        return self._over.is_set()

    def came(self, handle: SessionHandle) -> PendingSession:
        """The session is open."""
        self._handle = handle
        self._over.set()
        return self

    def failed(self) -> None:
        """It can't be opened."""
        self._over.set()

    async def handle(self) -> SessionHandle:
        """Return the session, once it is open.

        Raises:
            Refused: it couldn't be opened.
        """
        await self._over.wait()
        if self._handle is None:
            raise Refused(
                _("The session that this was meant for could not be opened; nothing was done."), reason="gone"
            )
        return self._handle
