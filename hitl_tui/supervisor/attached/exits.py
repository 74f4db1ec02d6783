"""A node of somebody else's graph that calls `sys.exit()` fails; the program that supervises it goes on.

asyncio lets `SystemExit` out of a task through the event loop, which would end everything that runs in it. So tasks
that are made within a run turn it into an error of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_IN_RUN: ContextVar[bool] = ContextVar("hitl_in_run", default=False)


class NodeExited(Exception):
    """A node ended the program; its cause is the `SystemExit`."""


class _Tasks:
    """Makes tasks: those of runs keep `SystemExit` to themselves, all others are as they were.

    Args:
        make: what made tasks before; None for asyncio's own way.
    """

    def __init__(self, make: Callable[..., Any] | None) -> None:
        self._make = make

    def __call__(self, loop: asyncio.AbstractEventLoop, coro: Any, **options: Any) -> Any:
        if _IN_RUN.get() and asyncio.iscoroutine(coro):
            coro = _kept(coro)
        if self._make is None:
            return asyncio.Task(coro, loop=loop, **options)
        return self._make(loop, coro, **options)


async def _kept(coro: Coroutine[Any, Any, Any]) -> Any:
    try:
        return await coro
    except SystemExit as error:
        raise NodeExited from error


@contextmanager
def exits_kept() -> Iterator[None]:
    """Within the context, and in tasks that it makes, `SystemExit` of a task becomes `NodeExited`."""
    loop = asyncio.get_running_loop()
    made = loop.get_task_factory()
    if not isinstance(made, _Tasks):
        loop.set_task_factory(_Tasks(made))
    # From Python 3.12 on LangGraph starts its tasks eagerly, which passes the loop's factory by.
    eager = getattr(asyncio, "eager_task_factory", None)
    if eager is not None and not isinstance(eager, _Tasks):
        setattr(asyncio, "eager_task_factory", _Tasks(eager))  # noqa: B010 - unknown to Python 3.11
    token = _IN_RUN.set(True)
    try:
        yield
    finally:
        _IN_RUN.reset(token)
