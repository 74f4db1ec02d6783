"""A thread of its own for a connection: what is handed to it runs whole, one after another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar, cast

T = TypeVar("T")


class WorkThread:
    """Runs jobs in the order they come; cancelling whoever waits for one doesn't cut it short."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ledger")

    async def run(self, job: Callable[[], T]) -> T:
        """Run a job on the thread, and return what it returns."""
        # A future of our own, which the job answers: cancelling it doesn't withdraw a job that is in line, as it would
        # with the executor's, and the way back is shorter.
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[T] = loop.create_future()

        def answer(result: T | None, error: BaseException | None) -> None:
            if waiter.done():
                return
            if error is not None:
                waiter.set_exception(error)
            else:
                waiter.set_result(cast("T", result))

        def run() -> None:
            result: T | None = None
            failure: BaseException | None = None
            try:
                result = job()
            except BaseException as error:  # noqa: BLE001 - handed to whoever waits
                failure = error
            with suppress(RuntimeError):  # the loop was closed meanwhile: nobody waits
                loop.call_soon_threadsafe(answer, result, failure)

        self._thread.submit(run)
        return await waiter

    def end(self) -> None:
        """Take no more jobs; those that are in line still run."""
        self._thread.shutdown(wait=False)
