"""Kill -9 of `hitl-tui serve` at every durable write, event and call of its feedback store (P2, P3, D12).

One job is given, as a line or as a file; a reviewer in the parent process approves its plan and its step, by objects in
a folder; the step appends a line to a file. The runtime dies at one point and is started again until the job is done.
Nothing may be lost, repeated or told otherwise than it was.

`uv run python benchmarks/crash_serve.py --points 20 --seed 1`; without `--points` all of them, which takes hours.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from crash_faults import Faults, around, around_call, install, use
from crash_process import fork, import_ahead

QUERY = "append the record"
SETTINGS = """
[teams.command_team.commands.append]
description = "Append the record"
run = ["{python}", "append.py"]
risk = "medium"
"""
APPEND = """
import os
handle = os.open("records", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
os.write(handle, b"one\\n")
os.fsync(handle)
"""
LIMIT = 90.0
"""Seconds after which a runtime counts as stuck."""
_SETTLED = 3.0
"""Seconds after which a runtime that finds nothing to do would have told something else."""


# The driver: one runtime, which dies ------------------------------------------------------------------------------


def drive(kill_at: str, record: Path, arguments: Sequence[str]) -> int:
    """Run the program with the faults around it; return its exit code. The points that were met are in `record`."""
    from hitl_tui.channels.plan_feedback.store import FeedbackStore
    from hitl_tui.channels.runtime.event_stream import EventStream
    from hitl_tui.channels.runtime.job_journal import JobJournal
    from hitl_tui.cli import main

    faults = use(Faults(kill_at, record))
    install(faults)
    for name in ("publish", "withdraw", "remove", "set_aside"):
        setattr(FeedbackStore, name, around(faults, getattr(FeedbackStore, name), f"store.{name}"))
    EventStream.tell = around(faults, EventStream.tell, "event.tell")  # type: ignore[method-assign]
    for name in ("take", "end", "unfinished"):
        setattr(JobJournal, name, around_call(faults, getattr(JobJournal, name), f"journal.{name}"))
    if find_spec("aiobotocore"):
        _wrap_s3(faults)
    for name in ("rename", "unlink"):
        setattr(Path, name, around_call(faults, getattr(Path, name), f"file.{name}"))
    code = main(arguments)
    record.with_suffix(".met").write_text(json.dumps({"points": faults.met, "modules": sorted(sys.modules)}))
    return code


def _wrap_s3(faults: Faults) -> None:
    from aiobotocore.client import AioBaseClient

    call = AioBaseClient._make_api_call

    async def spied(self: Any, operation: str, given: Any) -> Any:
        return await around(faults, call, f"s3.{operation}")(self, operation, given)

    AioBaseClient._make_api_call = spied


# The world: a workspace, a reviewer, and what is left ---------------------------------------------------------------


@dataclass
class Run:
    """One job, carried out in spite of a death.

    Args:
        root: folder of the run.
        by_file: the job is a file in a folder, not a line.
        kill_at: where the runtime dies the first time; empty for nowhere.
        told: the events.
    """

    root: Path
    by_file: bool
    kill_at: str
    told: list[dict[str, Any]] = field(default_factory=list)
    starts: int = 0

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def records(self) -> int:
        """How often the step was carried out."""
        file = self.work / "records"
        return len(file.read_text().splitlines()) if file.exists() else 0

    @property
    def finished(self) -> bool:
        """The job was told as done, and the next start has nothing to do."""
        told = any(event["type"] == "done" for event in self.told)
        return told and not list((self.data / "runtime" / "open").glob("*.json"))

    def go(self) -> list[str]:
        """Let it be carried out; return what isn't as it has to be."""
        if self.by_file:
            (self.root / "jobs").mkdir(exist_ok=True)
            (self.root / "jobs" / "one.json").write_text(json.dumps({"query": QUERY}))
        for self.starts in range(1, 7):
            code = self._start(self.kill_at if self.starts == 1 else "")
            if code in (0, 128 + signal.SIGTERM) and self.finished:
                return self._judge()
            if code not in (0, -signal.SIGKILL, 128 + signal.SIGTERM):
                return [f"exit code {code}"]
        return [f"not finished after {self.starts} starts: {[event['type'] for event in self.told]}"]

    def _judge(self) -> list[str]:
        found = []
        if self.records != 1:
            found.append("repeated" if self.records else "lost")
        if [path.name for path in (self.data / "sessions").iterdir() if not path.name.startswith(".")] != ["job-one"]:
            found.append("another session")
        if len({event["response"] for event in self.told if event["type"] == "done"}) != 1:
            found.append("told otherwise")
        if any(event["type"] == "failed" for event in self.told):
            found.append("told as failed")
        if self.by_file and [path.name for path in (self.root / "jobs" / "taken").iterdir()] != ["one.json"]:
            found.append("the job's file isn't with those that were taken")
        return found

    def _start(self, kill_at: str) -> int:
        source = ["--jobs", str(self.root / "jobs")] if self.by_file else []
        places = ["--feedback", str(self.root / "feedback"), "--workspace", str(self.work), "--data", str(self.data)]
        arguments, record = ["serve", *source, *places], self.root / "record"
        process = fork(
            lambda: drive(kill_at, record, arguments), self.work, {"PLAN_FEEDBACK_POLL_INTERVAL": "0.1"}
        )  # given again at each start: it is known by its id
        process.give(b"" if self.by_file else json.dumps({"id": "one", "query": QUERY}).encode() + b"\n")
        ends_at = [time.monotonic() + _SETTLED] if self.by_file else []

        def end() -> None:
            if ends_at and self.finished and time.monotonic() > ends_at[0]:
                ends_at.clear()
                process.send(signal.SIGTERM)

        return process.listen(lambda line: self._heard(json.loads(line)), LIMIT, end)

    def _heard(self, event: dict[str, Any]) -> None:
        self.told.append(event)
        if event["type"] in ("plan_review_request", "todo_review_request"):
            said = {"approved": True, "feedback": "", "timestamp": "2026-01-01T00:00:00Z", "digest": event["digest"]}
            folder = self.root / "feedback"
            folder.mkdir(exist_ok=True)
            (folder / ".vote").write_text(json.dumps(said))
            (folder / ".vote").replace(folder / f"{event['request_id']}.json")
        elif event["type"] == "question":
            answer = "use_as_done" if self.records else "do_again"
            command = ["decide", event["request_id"], answer, "--digest", event["digest"], "--data", str(self.data)]
            subprocess.run(
                [sys.executable, "-m", "hitl_tui", *command], cwd=self.work, capture_output=True, check=False
            )


def prepared(root: Path) -> Callable[[bool, str], Run]:
    """Return what makes a run in a fresh world; the workspace is trusted."""
    place, template = root / "run", root / "template"
    work = place / "work"
    work.mkdir(parents=True)
    (work / "append.py").write_text(APPEND)
    (work / "hitl.toml").write_text(SETTINGS.format(python=sys.executable))
    trust = [sys.executable, "-m", "hitl_tui", "trust", str(work), "--data", str(place / "data"), "--json"]
    shown = json.loads(subprocess.run([*trust, "--show"], capture_output=True, text=True, check=False).stdout)
    subprocess.run([*trust, "--digest", shown["digest"]], capture_output=True, check=True)
    shutil.copytree(place, template)

    def fresh(by_file: bool, kill_at: str) -> Run:
        shutil.rmtree(place)
        shutil.copytree(template, place)
        return Run(place, by_file, kill_at)

    return fresh


def main() -> int:
    """Print figures, and what isn't as it has to be; return 1 where something isn't."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--points", type=int, default=0, help="how many points, of each way to give a job; 0 for all")
    options.add_argument(
        "--at",
        nargs="*",
        default=[],
        help="these alone: labels, or points such as file.fsync.after#42",
    )
    options.add_argument(
        "--part", default="1/1", help="I/N: each Nth point, from the Ith on; N such runs may go on at once"
    )
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--root", type=Path)
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    first, every = (int(number) for number in given.part.split("/"))
    root = Path(tempfile.mkdtemp(dir=given.root))
    fresh = prepared(root)
    violations: list[dict[str, Any]] = []
    figures: Counter[str] = Counter()
    labels: Counter[str] = Counter()
    for by_file in (False, True):
        run = fresh(by_file, "")
        said = run.go()
        violations += [{"kill_at": "", "by_file": by_file, "what": what} for what in said]
        seen = json.loads((run.root / "record.met").read_text())
        import_ahead(seen["modules"])
        met = seen["points"]
        figures["points"] += len(met)
        chosen = [name for name in met if not given.at or {name, name.partition("#")[0]} & {*given.at}]
        if given.points and len(chosen) > given.points:
            chosen = random.Random(given.seed).sample(chosen, given.points)
        chosen = chosen[first - 1 :: every]
        for name in chosen:
            run = fresh(by_file, name)
            said = run.go()
            figures["runs"] += 1
            figures["kills"] += run.starts > 1
            labels[name.partition("#")[0]] += 1
            figures["lost"] += "lost" in said
            figures["repeated"] += "repeated" in said
            violations += [{"kill_at": name, "by_file": by_file, "what": what} for what in said]
            if not given.json:
                print(
                    f"{name:34} {'file' if by_file else 'line'}  starts {run.starts}  {'; '.join(said) or 'right'}",
                    flush=True,
                )
    shutil.rmtree(root)
    report = {**figures, "labels": dict(labels), "violations": violations}
    print(json.dumps(report))
    return bool(violations)


if __name__ == "__main__":
    sys.exit(main())
