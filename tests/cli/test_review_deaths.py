"""Kill -9 of runtime and reviewer before and after each S3 call: a plan takes two revisions to approval, once."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from cli_support import S1_EN, Shell
from s3_server import Pass, Proxy, S3Server, hang_up, proxy_to, s3_server

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

PATIENCE = 120.0
ANSWERS = ("only the search", "add an analysis", None)
"""What the reviewer says to each revision; nothing is approval."""
STEPS = (2, 1, 2)
"""How many steps each has."""
RUNTIME_CALLS = (
    "put request",
    "list feedback",
    "get feedback",
    "delete feedback",
    "put decided",
    "delete request",
)
REVIEWER_CALLS = ("get request", "put feedback", "get feedback", "get set-aside")
REVIEWER_DEATHS = [(call, when) for call in REVIEWER_CALLS for when in ("before", "after")]
"""One for each answer, in as many runs as it takes."""
_PLACES = {
    "feedback/": "feedback",
    "feedback-requests/": "request",
    "feedback-set-aside/": "set-aside",
    "feedback-decided/": "decided",
}


@pytest.fixture(scope="module")
def service() -> Iterator[S3Server]:
    with s3_server() as running:
        yield running


def call_of(request: web.Request) -> str:
    """What a request to S3 does, in words."""
    if "list-type" in request.query:
        prefix = request.query["prefix"].removeprefix("deep-insight/")
        return f"list {_PLACES.get(prefix, prefix)}"
    place = request.path.split("/deep-insight/")[-1].split("/")[0] + "/"
    return f"{request.method.lower()} {_PLACES.get(place, place)}"


class Deaths:
    """Kills a process at chosen calls, each once.

    Args:
        proxy: what the process talks to.

    Attributes:
        left: at which calls, before they reach the service or after they did, before their answer is read.
        process: what is killed.
    """

    def __init__(self, proxy: Proxy) -> None:
        self.left: set[tuple[str, str]] = set()
        self.process: subprocess.Popen[Any] | None = None
        self._lock = threading.Lock()
        proxy.fault = self._fault

    async def _fault(self, request: web.Request, forward: Pass) -> web.StreamResponse:
        call = call_of(request)
        if self._dies(call, "before"):
            return await hang_up(request, forward)
        answer = await forward()
        return await hang_up(request, forward) if self._dies(call, "after") else answer

    def _dies(self, call: str, when: str) -> bool:
        with self._lock:
            if self.process is None or (call, when) not in self.left:
                return False
            self.left.discard((call, when))
            self.process.send_signal(signal.SIGKILL)
            return True


class World:
    """A bucket, a runtime that is started again whenever it dies, and what it told.

    Args:
        shell: its data folder and workspace.
        service: the S3 service.
        runtime, reviewer: the proxies that both talk to.
    """

    def __init__(self, shell: Shell, service: S3Server, runtime: Proxy, reviewer: Proxy) -> None:
        self.shell, self.service, self.key = shell, service, service.key()
        self.proxies = runtime, reviewer
        self.bucket = service.bucket()
        self.place = f"s3://{self.bucket}"
        self.told = shell.data.parent / "events.jsonl"
        for file in (self.told, self.told.parent / "errors"):
            file.touch()
        self._reviewer = {**shell.env, **self.key.environ(reviewer.url)}
        self._runtime = {
            **shell.env,
            **self.key.environ(runtime.url),
            "PLAN_FEEDBACK_POLL_INTERVAL": "0.2",
            "PLAN_FEEDBACK_TIMEOUT": "3600",
        }

    @contextmanager
    def runtime(self, deaths: Deaths | None = None) -> Iterator[None]:
        """Run the runtime until the block ends, again after each death."""
        ended = threading.Event()

        def keep() -> None:
            while not ended.is_set():
                command = self.shell.command("serve", "--once", S1_EN, "--id", "job", "--feedback", self.place)
                with self.told.open("ab") as out, (self.told.parent / "errors").open("ab") as err:
                    process = subprocess.Popen(
                        command, cwd=self.shell.workspace, env=self._runtime, stdout=out, stderr=err
                    )
                if deaths is not None:
                    deaths.process = process
                while process.poll() is None and not ended.is_set():
                    time.sleep(0.02)
                if process.poll() == 0:
                    return
                if process.poll() is None:
                    process.kill()
                process.wait()

        keeping = threading.Thread(target=keep)
        keeping.start()
        try:
            yield
        finally:
            ended.set()
            keeping.join(PATIENCE)

    def events(self) -> list[dict[str, Any]]:
        found = []
        for line in self.told.read_text(encoding="utf-8").splitlines():
            with suppress(ValueError):  # a line that a death cut off
                found.append(json.loads(line))
        return found

    def plan(self, revision: int) -> dict[str, Any]:
        """Wait until a revision is told, and return its event."""
        return self.until(
            lambda: next(
                (e for e in self.events() if e["type"] == "plan_review_request" and e["revision_count"] == revision),
                None,
            ),
            f"revision {revision}",
        )

    def until(self, found: Callable[[], Any], what: str) -> Any:
        deadline = time.monotonic() + PATIENCE
        while not (result := found()):
            errors = (self.told.parent / "errors").read_text()
            assert time.monotonic() < deadline, f"{what} never came: {self.events()[-3:]} {errors[-2000:]}"
            time.sleep(0.05)
        return result

    def review(self, asked: dict[str, Any], answer: str | None, deaths: Deaths | None = None) -> list[int]:
        """Answer, again after each death and until the request is published; return the exit codes."""
        said = ["--approve"] if answer is None else ["--feedback", answer]
        codes: list[int] = []
        while True:
            process = subprocess.Popen(
                self.shell.command("review", asked["request_id"], "--from", self.place, *said),
                cwd=self.shell.workspace,
                env=self._reviewer,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
            if deaths is not None:
                deaths.process = process
            _, said_of_it = process.communicate(timeout=PATIENCE)
            if b"waits there" in said_of_it and not self.is_settled(asked):
                time.sleep(0.1)
                continue
            codes.append(process.returncode)
            assert codes[-1] in (-9, 0, 2), said_of_it
            if codes[-1] >= 0:
                return codes

    def is_settled(self, asked: dict[str, Any]) -> bool:
        """Whether something was told that comes after an answer."""
        later = [e for e in self.events() if e["type"] in ("todo", "done", "plan_review_request")]
        return any(e.get("revision_count", len(ANSWERS)) > asked["revision_count"] for e in later)

    def check(self) -> None:
        """Check that each answer counted once, and that only what became of each plan is left in the bucket."""
        self.until(lambda: [e for e in self.events() if e["type"] in ("done", "failed")], "the end")
        events = self.events()
        assert [e["type"] for e in events if e["type"] in ("done", "failed")].count("done") >= 1
        plans = {e["request_id"]: e for e in events if e["type"] == "plan_review_request"}
        assert sorted(e["revision_count"] for e in plans.values()) == [0, 1, 2]
        assert [len(e["steps"]) for e in sorted(plans.values(), key=lambda e: e["revision_count"])] == list(STEPS)
        client = self.service.client(self.key)
        left = [e["Key"] for e in client.list_objects_v2(Bucket=self.bucket).get("Contents", [])]
        assert sorted(left) == sorted(f"deep-insight/feedback-decided/{request_id}.json" for request_id in plans)


@pytest.fixture
def world(tmp_path: Path, service: S3Server) -> Iterator[World]:
    with proxy_to(service.url) as runtime, proxy_to(service.url) as reviewer:
        yield World(Shell(tmp_path), service, runtime, reviewer)


def test_a_plan_goes_through_two_revisions_to_approval(world: World) -> None:
    with world.runtime():
        for revision, answer in enumerate(ANSWERS):
            assert world.review(world.plan(revision), answer) == [0]
        world.check()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("dying", range(len(ANSWERS)))
def test_the_runtime_dies_before_and_after_each_call(world: World, dying: int) -> None:
    deaths = Deaths(world.proxies[0])
    with world.runtime(deaths):
        for revision, answer in enumerate(ANSWERS):
            if revision == dying:
                calls = RUNTIME_CALLS[1:] if revision else RUNTIME_CALLS
                deaths.left = {(call, when) for call in calls for when in ("before", "after")}
            world.review(world.plan(revision), answer)
        world.check()
        assert deaths.left == set()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("calls", [REVIEWER_DEATHS[i : i + len(ANSWERS)] for i in range(0, len(REVIEWER_DEATHS), 3)])
def test_the_reviewer_dies_before_and_after_each_call(world: World, calls: list[tuple[str, str]]) -> None:
    deaths = Deaths(world.proxies[1])
    with world.runtime():
        for revision, answer in enumerate(ANSWERS):
            deaths.left = set(calls[revision : revision + 1])
            codes = world.review(world.plan(revision), answer, deaths)
            assert codes.count(-9) == len(calls[revision : revision + 1])
        world.check()
