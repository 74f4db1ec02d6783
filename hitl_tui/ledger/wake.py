"""Waking those who wait for a session's inbox, from any thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from contextlib import suppress
from types import TracebackType


class Subscription:
    """An event that is set whenever this process posts to one session; use it as a context manager.

    Made by `Wakeups.subscribe` on the loop that will wait.
    """

    def __init__(self, wakeups: Wakeups, session: str) -> None:
        self.session = session
        self._wakeups = wakeups
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()

    def is_set(self) -> bool:
        """Tell whether something was posted since `clear`."""
        return self._event.is_set()

    def clear(self) -> None:
        """Forget what was posted so far. Clear first, then read the inbox: so nothing is missed."""
        self._event.clear()

    async def wait(self) -> None:
        """Wait until something is posted; return at once when it was since `clear`."""
        await self._event.wait()

    def close(self) -> None:
        """End the subscription; repeating it is harmless."""
        self._wakeups.drop(self)

    def __enter__(self) -> Subscription:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def wake(self) -> None:
        """Set the event, from any thread; a loop that has ended is left alone."""
        with suppress(RuntimeError):  # the loop was closed meanwhile
            self._loop.call_soon_threadsafe(self._event.set)


class Wakeups:
    """The subscriptions of one ledger."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_session: dict[str, set[Subscription]] = {}

    def subscribe(self, session: str) -> Subscription:
        """Return a new subscription to a session's posts, on the running loop."""
        subscription = Subscription(self, session)
        with self._lock:
            self._by_session.setdefault(session, set()).add(subscription)
        return subscription

    def drop(self, subscription: Subscription) -> None:
        """End a subscription."""
        with self._lock:
            left = self._by_session.get(subscription.session, set())
            left.discard(subscription)
            if not left:
                self._by_session.pop(subscription.session, None)

    def announce(self, sessions: Iterable[str]) -> None:
        """Wake all subscribers of these sessions."""
        with self._lock:
            waiting = [s for session in sessions for s in self._by_session.get(session, ())]
        for subscription in waiting:
            subscription.wake()
