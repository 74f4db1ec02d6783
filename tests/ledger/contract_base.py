"""What the parts of the ledger's contract share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

import pytest

from hitl_tui.ledger import audit
from hitl_tui.ledger.protocols import Ledger

Store = Callable[[], AbstractAsyncContextManager[Ledger]]


async def kinds(ledger: Ledger, stream: str = "s1") -> list[str]:
    """Return the kinds of a stream's entries."""
    return [entry.kind for entry in await ledger.entries(stream)]


async def events(ledger: Ledger, branch: int = 0, session: str = "s1") -> list[str]:
    """Return the ids of a branch's events."""
    return [posted.event_id for posted in await ledger.after(session, 0, branch)]


class StoreFixtures:
    """A ledger that is verified at the end of each test; a store's tests give `store`."""

    @pytest.fixture
    def store(self) -> Store:
        """Return what opens the same ledger, each time over a connection of its own."""
        raise NotImplementedError

    @pytest.fixture
    async def ledger(self, store: Store) -> AsyncIterator[Ledger]:
        async with store() as ledger:
            yield ledger
            assert (await audit.verify(ledger)).problems == ()
