"""A clean stop when a signal asks for it: SIGTERM, and SIGHUP where it isn't ignored (T11).

The command line loads this before anything else, so asyncio is imported only where it is used.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")

SIGNALS = (signal.SIGTERM, signal.SIGHUP)


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


@contextmanager
def raising() -> Iterator[None]:
    """Raise `Terminated` in the main thread when a signal asks for it, while the context lasts.

    A signal that is ignored stays ignored (`nohup`).
    """

    def stop(number: int, _: FrameType | None) -> None:
        raise Terminated(number)

    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number, handler in before.items():
        if handler is signal.SIG_DFL:
            signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is signal.SIG_DFL:
                signal.signal(number, handler)


def on_termination(stop: Callable[[int], None]) -> None:
    """Let the running loop call `stop` with the number of the signal, at most once, when one asks for it."""
    from asyncio import get_running_loop

    loop = get_running_loop()
    pending = [stop]

    def heard(number: int) -> None:
        while pending:
            pending.pop()(number)

    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, heard, number)


def run_until_terminated(main: Coroutine[Any, Any, T]) -> T:
    """Run like `asyncio.run`; a signal that asks for it cancels `main`, which closes what it opened.

    Raises:
        Terminated: a signal did.
    """

    import asyncio

    async def guarded() -> T:
        task = asyncio.current_task()
        assert task is not None
        told: list[int] = []

        def stop(number: int) -> None:
            told.append(number)
            task.cancel()

        on_termination(stop)
        try:
            return await main
        except asyncio.CancelledError:
            if told:
                raise Terminated(told[0]) from None
            raise

    return asyncio.run(guarded())
