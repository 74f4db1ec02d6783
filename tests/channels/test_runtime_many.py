"""Many runtimes and many requests share one bucket, and no answer is for another request (P3, P5)."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from runtime_support import QUESTION, Place, Served, Told, serving
from s3_server import S3Server, s3_server

PREFIX = "deep-insight/feedback/"


@pytest.fixture(scope="module")
def service() -> Iterator[S3Server]:
    with s3_server() as running:
        yield running


def carried_out(service: S3Server, root: Path, runtimes: int, jobs: int) -> None:
    """Let runtimes carry jobs out while somebody answers all of their plans with plain PUTs; every second one is
    revised first."""
    key, bucket = service.key(), service.bucket()
    client, environ = service.client(key), key.environ(service.url)

    def answer(request: Told) -> None:
        revise = int(request["job_id"].rpartition("-")[2]) % 2 == 0 and request["revision_count"] == 0
        said = {
            "approved": not revise,
            "feedback": "also analyse it" if revise else "",
            "timestamp": "2026-01-01T00:00:00",
        }
        _, _, name = request["feedback_s3_path"].removeprefix("s3://").partition("/")
        client.put_object(Bucket=bucket, Key=name, Body=json.dumps(said).encode())

    with ExitStack() as stack:
        served: list[Served] = []
        for number in range(runtimes):
            place = Place(root / f"runtime-{number}")
            places = ("--feedback", f"s3://{bucket}", "--concurrency", "2")
            served.append(stack.enter_context(serving(place, *places, PLAN_FEEDBACK_POLL_INTERVAL="0.5", **environ)))
        for number, runtime in enumerate(served):
            runtime.patience *= runtimes  # they share the machine
            for job in range(jobs):
                flat = chr(ord("B") + number * jobs + job)  # a number would be looked for in the documents
                runtime.give({"id": f"r{number}-{job}", "query": f"What is the deposit cap of flat {flat}?"})
            runtime.no_more()
        for job in range(jobs):  # those of all runtimes wait at once
            for number, runtime in enumerate(served):
                answer(runtime.until("plan_review_request", job_id=f"r{number}-{job}"))
        for job in range(0, jobs, 2):
            for number, runtime in enumerate(served):
                answer(runtime.until("plan_review_request", job_id=f"r{number}-{job}", revision_count=1))
        for number, runtime in enumerate(served):
            for job in range(jobs):
                name = f"r{number}-{job}"
                flat = chr(ord("B") + number * jobs + job)
                assert f"flat {flat}?" in runtime.of("accepted", job_id=name)[0]["query"]
                runtime.until("done", job_id=name)
                outcomes = [event["outcome"] for event in runtime.of("decided", job_id=name)]
                assert outcomes == (["rejected", "approved"] if job % 2 == 0 else ["approved"])
            assert runtime.ended() == 0
    left = client.list_objects_v2(Bucket=bucket, Prefix=PREFIX).get("Contents", [])
    assert [one["Key"] for one in left] == []


@pytest.mark.slow
@pytest.mark.long
def test_three_runtimes_share_one_bucket(service: S3Server, tmp_path: Path) -> None:
    carried_out(service, tmp_path, 3, 4)


@pytest.mark.slow
@pytest.mark.long
def test_jobs_in_a_bucket_are_taken_once_whoever_dies(service: S3Server, tmp_path: Path) -> None:
    key, bucket = service.key(), service.bucket()
    client, environ = service.client(key), {**service.key().environ(service.url), "PLAN_FEEDBACK_POLL_INTERVAL": "0.3"}
    places = [Place(tmp_path / name) for name in ("one", "two")]
    told: list[Told] = []

    def names(prefix: str) -> set[str]:
        found = client.list_objects_v2(Bucket=bucket, Prefix=prefix).get("Contents", [])
        return {str(one["Key"]).removeprefix(prefix) for one in found}

    for number in range(6):
        job = json.dumps({"query": QUESTION, "mode": "risk"}).encode()
        client.put_object(Bucket=bucket, Key=f"jobs/j{number}.json", Body=job)
    client.put_object(Bucket=bucket, Key="jobs/bad.json", Body=b"{}")
    arguments = ("--jobs", f"s3://{bucket}/jobs/")
    with serving(places[0], *arguments, **environ) as dying:
        dying.until("accepted")
        dying.kill()
    told += dying.told
    with serving(places[0], *arguments, **environ) as one, serving(places[1], *arguments, **environ) as two:
        end = time.monotonic() + 120
        while time.monotonic() < end:
            done = {event["job_id"] for runtime in (one, two) for event in runtime.of("done")}
            if len(done) == 6 and names("jobs/") == set():
                break
            time.sleep(0.2)
        told += [*one.told, *two.told]
    assert {event["job_id"] for event in told if event["type"] == "done"} == {f"j{n}" for n in range(6)}
    sessions = [path.name for place in places for path in (place.data / "sessions").iterdir() if path.name[0] != "."]
    assert sorted(sessions) == [f"job-j{n}" for n in range(6)], "no job has two sessions"
    assert names("jobs/") == set() and names("jobs-refused/") == {"bad.json"}
    assert len([event for event in told if event["job_id"] == "bad.json"]) == 1


@pytest.mark.slow
@pytest.mark.long
def test_jobs_that_can_not_be_deleted_are_told_once_and_hold_up_none(service: S3Server, tmp_path: Path) -> None:
    bucket, place = service.bucket(), Place(tmp_path)
    client = service.client(service.key())
    for name, job in (
        ("bad", {}),
        ("j1", {"query": QUESTION, "mode": "risk"}),
        ("j2", {"query": QUESTION, "mode": "risk"}),
    ):
        client.put_object(Bucket=bucket, Key=f"jobs/{name}.json", Body=json.dumps(job).encode())
    reading = service.key("s3:GetObject", "s3:PutObject", "s3:ListBucket").environ(service.url)
    with serving(place, "--jobs", f"s3://{bucket}/jobs/", PLAN_FEEDBACK_POLL_INTERVAL="0.2", **reading) as served:
        for name in ("j1", "j2"):
            served.until("done", job_id=name)
        client.put_object(
            Bucket=bucket, Key="jobs/j3.json", Body=json.dumps({"query": QUESTION, "mode": "risk"}).encode()
        )
        served.until("done", job_id="j3")
        client.put_object(Bucket=bucket, Key="jobs/j1.json", Body=b"{ }")  # another object under a name that was taken
        served.until("failed", 2)
        assert [event["job_id"] for event in served.of("failed")] == ["bad.json", "j1.json"]
        assert sorted(event["job_id"] for event in served.of("done")) == ["j1", "j2", "j3"]


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_ten_runtimes_share_one_bucket_for_200_jobs(service: S3Server, tmp_path: Path) -> None:
    carried_out(service, tmp_path, 10, 20)
