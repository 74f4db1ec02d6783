"""Memory of a runtime with many jobs whose plans wait, and what it takes to wake one.

A process of `hitl-tui serve` gets jobs as JSON lines; when each has told its plan, its resident memory is read, then
its processor time over some seconds. Then plans are approved one by one from another connection to the ledger, timed
from the answer to the first event of the job.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hitl_tui.channels.runtime.remote_answers import RemoteAnswers, read_answer
from hitl_tui.supervisor.session_registry import SessionRegistry

if __package__:
    from benchmarks.common import machine
else:
    from common import machine

_TARGET = 400


class Runtime:
    """A runtime in a process of its own.

    Args:
        root: where its folders are made.
        concurrency: how many sessions may be open at once.
    """

    def __init__(self, root: Path, concurrency: int) -> None:
        self.data, work = root / "data", root / "work"
        work.mkdir()
        (work / "deposit.md").write_text("# Deposits\n\nThe deposit cap is 5 percent of the price.\n")
        command = ["serve", "--concurrency", str(concurrency), "--data", str(self.data), "--workspace", str(work)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hitl_tui", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PLAN_FEEDBACK_TIMEOUT": "86400"},
        )
        self.plans: dict[str, str] = {}

    def give(self, jobs: int) -> None:
        """Give so many jobs."""
        assert self.process.stdin is not None
        for number in range(jobs):
            job = {"id": f"j{number}", "query": f"What is the deposit cap of flat {number}?"}
            self.process.stdin.write(json.dumps(job).encode() + b"\n")
        self.process.stdin.flush()

    def until(self, type: str, job: str = "") -> float:
        """Read events up to one of a type, of a job; return when it came."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            event = json.loads(line)
            if event["type"] == "plan_review_request":
                self.plans[event["job_id"]] = event["request_id"]
            if event["type"] == type and job in ("", event["job_id"]):
                return time.perf_counter()
        raise AssertionError(f"it ended before {type} {job}")

    @property
    def resident(self) -> float:
        """Its memory in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    @property
    def cpu(self) -> float:
        """Its processor time in seconds."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def measure(root: Path, jobs: int, concurrency: int, woken: int, seconds: float) -> None:
    """Print the figures."""
    runtime = Runtime(root, concurrency)
    try:
        began = time.perf_counter()
        runtime.give(jobs)
        while len(runtime.plans) < jobs:
            runtime.until("plan_review_request")
        took = time.perf_counter() - began
        print(f"{jobs} jobs told their plans in {took:.1f} s, {took / jobs * 1000:.0f} ms each")
        await asyncio.sleep(3)
        print(f"resident memory: {runtime.resident:.0f} MB (target: at most {_TARGET} with 500)")
        before = runtime.cpu
        await asyncio.sleep(seconds)
        print(f"processor while all wait: {(runtime.cpu - before) / seconds * 100:.1f} %")
        times = []
        async with SessionRegistry.open(runtime.data) as registry:
            answers = RemoteAnswers(registry)
            for job in list(runtime.plans)[:woken]:
                await answers.give(read_answer({"request_id": runtime.plans[job], "approved": True}), "benchmark")
                decided = time.perf_counter()
                times.append(await asyncio.to_thread(runtime.until, "decided", job) - decided)
                await asyncio.to_thread(runtime.until, "done", job)
        print(f"from an answer to the job's first event: median {statistics.median(times) * 1000:.0f} ms, "
              f"most {max(times) * 1000:.0f} ms, of {woken}")  # fmt: skip
        print(f"resident memory afterwards: {runtime.resident:.0f} MB")
    finally:
        runtime.process.terminate()
        runtime.process.wait()


def main() -> None:
    """Print the figures, and the machine they were taken on."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--jobs", type=int, default=500)
    options.add_argument("--concurrency", type=int, default=8)
    options.add_argument("--woken", type=int, default=20, help="how many are approved")
    options.add_argument("--seconds", type=float, default=10.0, help="how long the processor is watched")
    options.add_argument("--data", type=Path, help="a folder on the disk to measure")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(dir=given.data) as root:
        asyncio.run(measure(Path(root), given.jobs, given.concurrency, given.woken, given.seconds))
    print(machine())


if __name__ == "__main__":
    main()
