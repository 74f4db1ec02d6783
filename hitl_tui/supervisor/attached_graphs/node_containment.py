"""What nodes of somebody else's graph do to the process stays in their run: `sys.exit()`, endless threads, printing."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import Any, TextIO

from langgraph.pregel._loop import AsyncPregelLoop, SyncPregelLoop

from hitl_tui.core.messages import Message

MOST_THREADS = 32
"""Synchronous nodes of one run that run at once; more wait for one to end."""


class NodeExited(Exception):
    """A node ended the program, or raised what isn't meant to be caught; its cause says what it was."""


class _Run:
    """The threads of one run."""

    def __init__(self) -> None:
        self.calls: set[Future[Any]] = set()
        self._permits = threading.Semaphore(MOST_THREADS)

    def start(self, call: Callable[[], Any]) -> Future[Any]:
        future: Future[Any] = Future()
        self.calls.add(future)
        future.add_done_callback(self.calls.discard)
        threading.Thread(target=self._work, args=(future, call), name=Message("graph node"), daemon=True).start()
        return future

    def _work(self, future: Future[Any], call: Callable[[], Any]) -> None:
        with self._permits:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = call()
            except BaseException as error:  # noqa: BLE001 - SystemExit too: whoever waits for it gets it
                future.set_exception(error)
            else:
                future.set_result(result)

    async def over(self) -> None:
        """Wait until none of its threads works any more."""
        calls = [asyncio.wrap_future(call) for call in tuple(self.calls) if not call.cancel()]
        if calls:
            await asyncio.wait(calls)


_RUN: ContextVar[_Run | None] = ContextVar("hitl_contained_run", default=None)


class _Threads(ThreadPoolExecutor):
    """The loop's threads; calls that come from a run get threads of that run."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        run = _RUN.get()
        if run is None:
            return super().submit(fn, *args, **kwargs)
        return run.start(lambda: fn(*args, **kwargs))


class _Tasks:
    """Makes tasks: those of runs keep `SystemExit` to themselves, all others are as they were.

    Args:
        make: what made tasks before; None for asyncio's own way.
    """

    def __init__(self, make: Callable[..., Any] | None) -> None:
        self._make = make

    def __call__(self, loop: asyncio.AbstractEventLoop, coro: Any, **options: Any) -> Any:
        if _RUN.get() is not None and asyncio.iscoroutine(coro):
            coro = _kept(coro)
        if self._make is None:
            return asyncio.Task(coro, loop=loop, **options)
        return self._make(loop, coro, **options)


async def _kept(coro: Coroutine[Any, Any, Any]) -> Any:
    try:
        return await coro
    except (Exception, asyncio.CancelledError, GeneratorExit, KeyboardInterrupt):
        raise
    except BaseException as error:  # SystemExit, or one of somebody's own
        raise NodeExited from error


class _NothingToStore:
    """Stands for the checkpoint that a graph without a saver doesn't write; waiting for it takes no time."""

    def result(self) -> None:
        return None

    def __await__(self) -> Iterator[None]:
        return iter(())


def _prepare(loop: asyncio.AbstractEventLoop) -> None:
    for kind in (SyncPregelLoop, AsyncPregelLoop):
        # A graph with checkpointer=False in a node inherits durability="sync", and waits for what it never writes.
        if not hasattr(kind, "_put_checkpoint_fut"):
            setattr(kind, "_put_checkpoint_fut", _NothingToStore())  # noqa: B010 - LangGraph's own name
    made = loop.get_task_factory()
    if isinstance(made, _Tasks):
        return
    loop.set_task_factory(_Tasks(made))
    loop.set_default_executor(_Threads(thread_name_prefix="asyncio"))
    # From Python 3.12 on LangGraph starts its tasks eagerly, which passes the loop's factory by.
    eager = getattr(asyncio, "eager_task_factory", None)
    if eager is not None and not isinstance(eager, _Tasks):
        setattr(asyncio, "eager_task_factory", _Tasks(eager))  # noqa: B010 - unknown to Python 3.11


@asynccontextmanager
async def contained() -> AsyncIterator[None]:
    """Run what others wrote: its exits become `NodeExited`, and its threads end before the context does.

    A second cancellation leaves without waiting for threads that don't end.
    """
    _prepare(asyncio.get_running_loop())
    run = _Run()
    token = _RUN.set(run)
    try:
        try:
            yield
        finally:
            _RUN.reset(token)
    except BaseException:
        await run.over()
        raise


Line = Callable[[str], None]

_SINK: ContextVar[Line | None] = ContextVar("hitl_print_sink", default=None)


class _Routed:
    """A text stream that hands what is printed within a run to the run; all else goes where it went before."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._rest: dict[int, str] = {}

    def write(self, text: str) -> int:
        sink = _SINK.get()
        if sink is None:
            return self._stream.write(text)
        whole = self._rest.pop(id(sink), "") + text
        *lines, rest = whole.split("\n")
        for line in lines:
            sink(line)
        if rest:
            self._rest[id(sink)] = rest
            if len(rest) > _LONGEST:
                sink(self._rest.pop(id(sink)))
        return len(text)

    def flush(self) -> None:
        self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


_LONGEST = 4_000


@contextmanager
def printed_to(sink: Line) -> Iterator[None]:
    """Hand every line that is printed within the context (its tasks and threads too) to `sink`."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, _Routed):
            setattr(sys, name, _Routed(stream))
    token = _SINK.set(sink)
    try:
        yield
    finally:
        _SINK.reset(token)
