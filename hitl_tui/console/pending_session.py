"""A session on its way to the screen: who waits for it gets that one, or none."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from hitl_tui.core.errors import Refused
from hitl_tui.language import _

if TYPE_CHECKING:
    from hitl_tui.console.engine import SessionHandle


class PendingSession:
    """One opening; what was sent meanwhile is for its session and for no other (C8)."""

    def __init__(self) -> None:
        self._begun = False
        self._over = asyncio.Event()
        self._link: SessionHandle | None = None

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

    def came(self, link: SessionHandle) -> PendingSession:
        """The session is open."""
        self._link = link
        self._over.set()
        return self

    def failed(self) -> None:
        """It can't be opened."""
        self._over.set()

    async def link(self) -> SessionHandle:
        """Return the session, once it is open.

        Raises:
            Refused: it couldn't be opened.
        """
        await self._over.wait()
        if self._link is None:
            raise Refused(
                _("The session that this was meant for could not be opened; nothing was done."), reason="gone"
            )
        return self._link
