"""What nodes of others do to the process stays within their run."""

from __future__ import annotations

import asyncio
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from hitl_tui.supervisor.attached_graphs.node_containment import NodeExited, contained
from hitl_tui.supervisor.attached_graphs.outcomes import failure_text


async def leave(code: int) -> None:
    await asyncio.sleep(0)
    sys.exit(code)


async def test_an_exit_in_a_task_of_a_run_is_an_error_of_that_run() -> None:
    with pytest.raises(NodeExited) as caught:
        async with contained():
            await asyncio.create_task(leave(3))
    assert isinstance(caught.value.__cause__, SystemExit)
    assert caught.value.__cause__.code == 3


class Abort(BaseException):
    """What some libraries raise to get past everybody's `except Exception`."""


async def test_what_is_no_exception_is_an_error_of_that_run_too() -> None:
    async def node() -> None:
        raise Abort("enough")

    with pytest.raises(NodeExited) as caught:
        async with contained():
            await asyncio.create_task(node())
    assert isinstance(caught.value.__cause__, Abort) and failure_text(caught.value).startswith("Abort: enough (")


async def test_an_exit_in_a_thread_of_a_run_is_an_error_of_that_run() -> None:
    async def node() -> None:
        await asyncio.to_thread(sys.exit, 4)

    with pytest.raises(NodeExited):
        async with contained():
            await asyncio.create_task(node())


async def test_a_cancelled_run_is_over_when_its_threads_are() -> None:
    entered, go, acted = asyncio.Event(), threading.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def node() -> None:
        loop.call_soon_threadsafe(entered.set)
        go.wait()
        acted.set()

    async def run() -> None:
        async with contained():
            await asyncio.to_thread(node)

    task = asyncio.create_task(run())
    await entered.wait()
    task.cancel()
    await asyncio.wait({task}, timeout=0.05)
    assert not task.done()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert acted.is_set()


async def test_a_second_cancellation_leaves_a_thread_that_does_not_end() -> None:
    entered, go = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()
    threads: list[threading.Thread] = []

    def node() -> None:
        threads.append(threading.current_thread())
        loop.call_soon_threadsafe(entered.set)
        go.wait()

    async def run() -> None:
        async with contained():
            await asyncio.to_thread(node)

    task = asyncio.create_task(run())
    await entered.wait()
    task.cancel()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert threads[0].is_alive()
    assert threads[0].daemon
    go.set()


async def test_what_is_no_run_has_the_loop_s_own_threads_and_tasks() -> None:
    async with contained():
        await asyncio.to_thread(threading.current_thread)
    thread = await asyncio.to_thread(threading.current_thread)
    assert not thread.daemon or "asyncio" in thread.name
    assert isinstance(asyncio.get_running_loop()._default_executor, ThreadPoolExecutor)  # type: ignore[attr-defined]
    assert await asyncio.create_task(asyncio.sleep(0, "done")) == "done"
