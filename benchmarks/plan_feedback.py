"""What it costs to wait for feedback, and how soon it is acted on.

A runtime's poller waits for some requests whose feedback would be in S3 (moto's server, in a process of its own) or in
a folder. Looks: calls and processor time of each while nothing is there, also while other runtimes' objects are. Delay:
objects are put by another client at drawn moments, and the time until the poller's `decide` is called is taken.

    python benchmarks/plan_feedback.py [--waiting 500] [--looks 20] [--answers 20] [--interval 3] [--folder]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from s3_server import s3_server

from benchmarks.common import machine
from hitl_tui.channels.plan_feedback.document_bucket import DocumentBucket
from hitl_tui.channels.plan_feedback.feedback import Feedback
from hitl_tui.channels.plan_feedback.poller import Poller, Report, Taken
from hitl_tui.channels.plan_feedback.store import FeedbackStore, Found
from hitl_tui.channels.plan_feedback.store_address import store_at
from hitl_tui.core.events import utc_now

TARGET_SHARE, TARGET_LATE = 0.01, 0.1
_SEED = 20
_ANSWER = b'{"approved": true, "feedback": "", "timestamp": "2026-11-27T09:30:00Z"}'


class Counted(DocumentBucket):
    """Counts the calls that are made."""

    calls = 0

    async def _call(self, ask: Callable[[Any], Awaitable[Any]]) -> Any:
        self.calls += 1
        return await super()._call(ask)


async def measure_looks(store: FeedbackStore, waiting: list[str], looks: int) -> tuple[float, float]:
    """Return calls and processor seconds of a look, on average."""
    await store.poll(waiting)
    before, begun = getattr(store.documents, "calls", 0), time.process_time()
    for _ in range(looks):
        await store.poll(waiting)
    return (getattr(store.documents, "calls", 0) - before) / looks, (time.process_time() - begun) / looks


async def measure_delays(
    store: FeedbackStore, waiting: list[str], put: Callable[[str], None], answers: int, interval: float
) -> list[float]:
    """Return the seconds from when an object was there to the call of `decide`."""
    left, delays, put_at = set(waiting), list[float](), dict[str, float]()
    taken = asyncio.Event()

    async def decide(request_id: str, feedback: Feedback, found: Found) -> Taken:
        delays.append(time.monotonic() - put_at[request_id])
        left.discard(request_id)
        taken.set()
        return Taken()

    async def ours(request_id: str) -> bool:
        return False

    def told(report: Report) -> None:
        print(report, file=sys.stderr)

    polling = asyncio.create_task(Poller(store, lambda: left, decide, ours=ours, report=told, interval=interval).run())
    for request_id in random.Random(_SEED).sample(waiting, answers):
        await asyncio.sleep(random.uniform(0, interval))
        taken.clear()
        await asyncio.to_thread(put, request_id)
        put_at[request_id] = time.monotonic()
        await taken.wait()
    polling.cancel()
    return delays


async def measure(store: FeedbackStore, put: Callable[[str], None], given: argparse.Namespace) -> None:
    waiting = [f"r{number:04d}" for number in range(given.waiting)]
    calls, seconds = await measure_looks(store, waiting, given.looks)
    share = seconds / given.interval
    print(f"a look, {given.waiting} waiting: {calls:.1f} calls, {seconds * 1000:.1f} ms of processor time,", end=" ")
    print(f"{share:.2%} of a core every {given.interval} s (aim {TARGET_SHARE:.0%}, one call)")
    for number in range(given.waiting):
        await asyncio.to_thread(put, f"other{number:04d}")
    calls, seconds = await measure_looks(store, waiting, given.looks)
    print(f"the same beside {given.waiting} objects of others: {calls:.1f} calls, {seconds * 1000:.1f} ms,", end=" ")
    print(f"{seconds / given.interval:.2%}")
    delays = await measure_delays(store, waiting, put, given.answers, given.interval)
    print(f"object present to decide, {len(delays)} objects: median {statistics.median(delays):.2f} s,", end=" ")
    print(f"most {max(delays):.2f} s (aim {given.interval + TARGET_LATE} s)")
    await store.close()


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--waiting", type=int, default=500)
    parser.add_argument("--looks", type=int, default=20)
    parser.add_argument("--answers", type=int, default=20)
    parser.add_argument("--interval", type=float, default=3.0)
    parser.add_argument("--folder", action="store_true", help="a folder instead of S3")
    given = parser.parse_args()
    print(machine(), utc_now())
    if given.folder:
        with tempfile.TemporaryDirectory() as place:
            folder = store_at(place)

            def write(request_id: str) -> None:
                (Path(place) / f"{request_id}.json").write_bytes(_ANSWER)

            await measure(folder, write, given)
        return
    with s3_server() as service:
        key, bucket = service.key(), service.bucket()
        os.environ |= key.environ(service.url)
        client, documents = service.client(key), Counted(f"s3://{bucket}")

        def put(request_id: str) -> None:
            client.put_object(Bucket=bucket, Key=f"{documents.prefix}{request_id}.json", Body=_ANSWER)

        await measure(FeedbackStore(documents), put, given)


if __name__ == "__main__":
    asyncio.run(main())
