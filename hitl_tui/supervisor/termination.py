"""A clean stop when a signal asks for it: SIGINT, SIGTERM, and SIGHUP where it isn't ignored.

The first signal stops the program cleanly, a second one at once, and so does a clean stop that takes too long. The
command line loads this before anything else, so other modules are imported only where they are used.
"""

from __future__ import annotations

import atexit
import os
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")

SIGNALS = (signal.SIGTERM, signal.SIGHUP)
PATIENCE = 30.0
"""Seconds that a clean stop may take."""
_WORDS = 1.0
"""Seconds that the last words may take: standard output may be a pipe that nobody reads."""


class Terminated(KeyboardInterrupt):
    """A signal asked the program to stop.

    Args:
        number: the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.signal = signal.Signals(number)

    @property
    def exit_code(self) -> int:
        """The exit code that a shell gives to what this signal ended."""
        return 128 + self.signal


class Termination:
    """Remembers the first signal that asked the program to stop, and sees to it that it does.

    An exception that a signal raises can be lost, in a callback of an import or of the garbage collector, or where
    somebody catches everything. So most of the time a signal is only noted, and raised where that is safe.

    Args:
        patience: seconds that a clean stop may take.
    """

    def __init__(self, patience: float = PATIENCE) -> None:
        self.number = 0
        self.last_words: Callable[[KeyboardInterrupt], object] = _nothing
        self._patience = patience
        self._ending = False
        self._act: Callable[[], object] = self._note

    @classmethod
    def current(cls) -> Termination:
        """Return the one that signals of this process go to, or a new one that none goes to yet."""
        for number in SIGNALS:
            owner = getattr(signal.getsignal(number), "__self__", None)
            if isinstance(owner, cls):
                return owner
        return cls()

    @property
    def error(self) -> KeyboardInterrupt:
        """What stands for the signal as an exception."""
        return KeyboardInterrupt() if self.number == signal.SIGINT else Terminated(self.number)

    def check(self) -> None:
        """Raise what stands for the signal, if there was one.

        Raises:
            KeyboardInterrupt: it was SIGINT.
            Terminated: it was another one.
        """
        if self.number:
            raise self.error

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Only note signals while the context lasts; one that came is raised at its end."""
        with self._acting(self._note, interrupts=True):
            yield
        self.check()

    @contextmanager
    def raising(self) -> Iterator[None]:
        """Raise `Terminated` wherever the program is while the context lasts; SIGINT is Python's own again."""
        with self._acting(self.check, interrupts=False):
            self.check()
            yield

    @contextmanager
    def calling(self, act: Callable[[int], object]) -> Iterator[None]:
        """Let the running loop call `act` with the number of the signal while the context lasts."""
        from asyncio import get_running_loop

        loop = get_running_loop()
        with self._acting(lambda: loop.call_soon_threadsafe(act, self.number), interrupts=True):
            yield

    @contextmanager
    def _acting(self, act: Callable[[], object], *, interrupts: bool) -> Iterator[None]:
        before = self._act
        self._act = act
        ours = {number for number in SIGNALS if signal.getsignal(number) is signal.SIG_DFL}
        found = signal.getsignal(signal.SIGINT)
        try:
            for number in ours:
                signal.signal(number, self._heard)
            if interrupts and found is signal.default_int_handler:
                signal.signal(signal.SIGINT, self._heard)
            elif not interrupts and found == self._heard:
                signal.signal(signal.SIGINT, signal.default_int_handler)
            yield
        finally:
            self._act = before
            if self.number and ours:  # what is left to do is the interpreter's end, which a signal still cuts short
                atexit.register(_ignore_signals)
            else:
                if signal.getsignal(signal.SIGINT) != found:
                    signal.signal(signal.SIGINT, found)
                for number in ours:
                    signal.signal(number, signal.SIG_DFL)

    def _heard(self, number: int, _: FrameType | None) -> None:
        if self.number:
            self._end()
            return
        self.number = number
        watch = threading.Timer(self._patience, self._end)
        watch.daemon = True
        watch.start()
        self._act()

    def _note(self) -> None:
        """Do nothing more."""

    def _end(self) -> None:
        """End the process now, with its last words and what it started."""
        if self._ending:
            return
        self._ending = True
        speaker = threading.Thread(target=self._speak, daemon=True)
        speaker.start()
        speaker.join(_WORDS)
        _end_children()
        os._exit(128 + self.number)

    def _speak(self) -> None:
        with suppress(OSError, ValueError, RuntimeError):
            self.last_words(self.error)


def _ignore_signals() -> None:
    """Leave the exit code alone while the interpreter, which takes its handlers away, comes to its end."""
    for number in (signal.SIGINT, *SIGNALS):
        signal.signal(number, signal.SIG_IGN)


def _nothing(_: KeyboardInterrupt) -> None:
    return


def _end_children() -> None:
    """Tell the processes that this one started to end: what watches over a command ends all of it."""
    from hitl_tui.teams.command_init import processes, send

    with suppress(OSError, ValueError):
        for pid, (parent, _) in processes().items():
            if parent == os.getpid():
                send(pid, signal.SIGTERM)


def run_until_terminated(main: Coroutine[Any, Any, T]) -> T:
    """Run like `asyncio.run`; a signal that asks for it cancels `main`, which closes what it opened.

    Raises:
        Terminated: a signal did.
        KeyboardInterrupt: SIGINT did.
    """
    import asyncio

    ending = Termination.current()

    async def guarded() -> T:
        task = asyncio.current_task()
        assert task is not None
        with ending.calling(lambda _: task.cancel()):
            if ending.number:
                main.close()
                raise asyncio.CancelledError
            return await main

    with ending.noting():
        try:
            return asyncio.run(guarded())
        except asyncio.CancelledError:
            ending.check()
            raise
