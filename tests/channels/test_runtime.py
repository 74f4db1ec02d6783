"""A headless runtime, with real processes on both sides (P1, P2, P5, P6)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
from runtime_support import QUESTION, Place, listening, serving

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_plan_is_revised_twice_and_approved_from_another_process(place: Place) -> None:
    with serving(place, "--once", QUESTION, "--id", "deposit") as served:
        first = served.until("plan_review_request", job_id="deposit")
        assert (first["revision_count"], first["max_revisions"], first["feedback_s3_path"]) == (0, 10, None)
        place.decide(first, "reject", "--reason", "also analyse it")
        second = served.until("plan_review_request", 2)
        place.decide(second, "reject", "--reason", "only the search")
        third = served.until("plan_review_request", 3)
        assert [second["revision_count"], third["revision_count"]] == [1, 2]
        assert len({first["request_id"], second["request_id"], third["request_id"]}) == 3
        assert len(second["steps"]) == 2 and len(third["steps"]) == 1
        place.decide(third, "approve")
        done = served.until("done", job_id="deposit")
        assert served.ended() == 0
    assert "deposit" in done["response"].lower()
    assert [e["outcome"] for e in served.of("decided")] == ["rejected", "rejected", "approved"]
    assert [e["status"] for e in served.of("todo")][-1] == "completed"
    types = [event["type"] for event in served.told]
    assert types[:3] == ["accepted", "started", "plan_review_request"] and types[-1] == "done"


def test_who_reviews_the_last_revision_knows_that_the_plan_goes_ahead_then(place: Place) -> None:
    """(P1, P4)"""
    with listening(place, "--once", QUESTION, "--id", "deposit", MAX_PLAN_REVISIONS="1") as (served, address):
        asked = served.until("plan_review_request")
        assert "The next revision is the last" in asked["message"]
        said = place.run("review", asked["request_id"], "--from", address, "--feedback", "also analyse it").stdout
        assert "last revision: after it the plan goes ahead" in said
        assert "The next revision is the last: the plan goes ahead with it" in said and "new request" not in said
        accepted = served.until("plan_accepted")
        assert (accepted["ended_by"], accepted["revision_count"], accepted["max_revisions"]) == ("limit", 1, 1)
        served.until("done")
    types = [event["type"] for event in served.told]
    assert types.count("plan_accepted") == 1 and types.index("plan_accepted") < types.index("todo")


def test_silence_approves_a_plan_that_was_told_and_says_so(place: Place) -> None:
    with serving(place, "--once", QUESTION, PLAN_FEEDBACK_TIMEOUT="2", MAX_PLAN_REVISIONS="4") as served:
        asked = served.until("plan_review_request")
        assert (asked["timeout_seconds"], asked["on_timeout"], asked["max_revisions"]) == (2, "approve", 4)
        assert served.until("decided")["outcome"] == "expired"
        assert served.until("plan_accepted")["ended_by"] == "timeout"
        served.until("done")
        assert served.ended() == 0
    with serving(place, "--once", QUESTION, PLAN_FEEDBACK_TIMEOUT="1", PLAN_FEEDBACK_ON_TIMEOUT="reject") as served:
        assert served.until("plan_review_request")["on_timeout"] == "reject"
        assert not served.until("done")["tally"].get("done")


@pytest.mark.slow
def test_a_plan_that_waits_is_told_again_also_after_a_restart(place: Place) -> None:
    with serving(place, "--once", QUESTION) as served:
        asked = served.until("plan_review_request")
        waits = served.until("plan_review_keepalive")
        assert waits["message"] == "Waiting for plan feedback... (30s elapsed)"
        assert (waits["elapsed_seconds"], waits["timeout_seconds"]) == (30, 300)
        assert waits["request_id"] == asked["request_id"]
        served.kill()
    with serving(place) as served:
        served.no_more()
        assert served.until("plan_review_request")["request_id"] == asked["request_id"]
        assert served.until("plan_review_keepalive")["elapsed_seconds"] >= 30  # its time goes on


@pytest.mark.slow
def test_who_stops_reading_stops_nothing(place: Place) -> None:
    command = [sys.executable, "-m", "hitl_tui", "serve", "--once", QUESTION, "--mode", "risk", "--id", "one"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=place.work, env=place.environ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(60) == 0
    assert json.loads(place.run("show", "job-one", "--json").stdout)["session_status"] == "finished"


@pytest.mark.slow
def test_many_jobs_wait_beside_each_other_and_none_answers_for_another(place: Place) -> None:
    jobs = [f"job {number}" for number in range(6)]
    with serving(place, "--concurrency", "2") as served:
        for name in jobs:
            served.give({"id": name, "query": QUESTION})
        served.no_more()
        asked = {name: served.until("plan_review_request", job_id=name) for name in jobs}
        assert len({request["request_id"] for request in asked.values()}) == len(jobs)
        for name in jobs[:3]:
            place.decide(asked[name], "approve")
        for name in jobs[:3]:
            served.until("done", job_id=name)
        assert not any(served.of("done", job_id=name) for name in jobs[3:])
        for name in jobs[3:]:
            place.decide(asked[name], "reject")
        assert {served.until("done", job_id=name)["tally"].get("done", 0) for name in jobs[3:]} == {0}
        assert served.ended() == 0


@pytest.mark.slow
def test_steps_ask_with_a_digest_where_the_mode_says_so(place: Place) -> None:
    with serving(place, "--once", QUESTION, "--mode", "step") as served:
        asked = served.until("todo_review_request")
        assert (asked["asks"], asked["risk"], asked["quorum"], asked["level"]) == ("todo", "low", 1, 0)
        assert asked["question"]["digest"] == asked["digest"]
        place.decide(asked, "approve")
        served.until("done")
        assert served.ended() == 0


def test_what_is_no_job_is_said_and_stops_nothing(place: Place) -> None:
    lines = ["{", "[]", '{"query": ""}', '{"qurey": "x"}', '{"query": "x", "workspace": ".."}', '{"query": 1}',
             '{"query": "x", "mode": "fast"}', '{"query": "a", "query": "b"}', "", "x" * 1_100_000]  # fmt: skip
    with serving(place, "--mode", "risk") as served:
        for line in lines:
            served.give(line)
        served.give({"id": "good", "query": QUESTION})
        served.no_more()
        served.until("done", job_id="good")
        assert served.ended() == 1
    said = {event["job_id"]: event["error"] for event in served.of("failed")}
    assert list(said) == [f"stdin:{n}" for n in (1, 2, 3, 4, 5, 6, 7, 8, 10)]
    assert 'did you mean "query"' in said["stdin:4"] and "or below it" in said["stdin:5"]
    assert all(error[-1] in ".?" and "\n" not in error for error in said.values())


def test_a_job_is_carried_out_once_whoever_gives_it_how_often(place: Place) -> None:
    job = {"id": "once", "query": QUESTION, "mode": "risk"}
    with serving(place) as served:
        served.give(job)
        first = served.until("done")
        served.give(job)  # it ended, and how it ended is told again
        assert served.until("done", 2)["response"] == first["response"]
        served.give({**job, "query": "something else"})
        assert "Another job has the id once" in served.until("failed")["error"]
        served.no_more()
        assert served.ended() == 1
    assert len(served.of("accepted")) == 1
    with serving(place) as served:
        served.give(job)
        assert served.until("done")["response"] == first["response"]
        assert served.until("started")["resumed"]
    sessions = json.loads(place.run("sessions", "--json").stdout)["sessions"]
    assert [s["session_id"] for s in sessions] == ["job-once"]


def test_a_signal_loses_nothing_and_the_next_start_goes_on(place: Place) -> None:
    with serving(place, "--concurrency", "1") as served:
        for name in ("a", "b", "c"):
            served.give({"id": name, "query": QUESTION})
        asked = served.until("plan_review_request", job_id="a")
        served.until("accepted", job_id="c")
        served.process.send_signal(signal.SIGTERM)
        assert served.ended() == 143
    place.decide(asked, "approve")  # while nothing runs
    with serving(place) as served:
        served.no_more()
        served.until("done", job_id="a")
        for name in ("b", "c"):
            place.decide(served.until("plan_review_request", job_id=name), "approve")
        assert served.ended() == 0
    assert {event["job_id"] for event in served.of("done")} == {"a", "b", "c"}


@pytest.mark.slow
def test_a_folder_that_is_gone_for_a_while_ends_no_job(place: Place) -> None:
    folder = place.work / "flat"
    folder.mkdir()
    (folder / "cap.md").write_text("The deposit cap is 5 percent.\n")
    with serving(place) as served:
        served.give({"id": "one", "query": QUESTION, "workspace": "flat"})
        served.until("plan_review_request")
    folder.rename(place.work / "away")
    with serving(place) as served:
        said = served.until("failed")
        assert not said["final"] and "doesn't exist" in said["error"]
        (place.work / "away").rename(folder)
        place.decide(served.until("plan_review_request"), "approve")
        served.until("done")
        served.no_more()
        assert served.ended() == 0


@pytest.mark.slow
def test_what_a_person_does_with_the_session_open_is_told_too(place: Place) -> None:
    with serving(place, "--once", QUESTION, "--mode", "step", "--id", "one") as served:
        served.until("todo_review_request")
        person = subprocess.Popen(
            [sys.executable, "-m", "hitl_tui", "--line", "--session", "job-one"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=place.work,
            env=place.environ,
        )
        assert person.stdin is not None
        try:
            person.stdin.write("/todo approve\n")
            person.stdin.flush()
            served.until("done")  # while they still have it open
            assert person.poll() is None
            assert served.ended() == 0
        finally:
            person.kill()
            person.wait()


def test_a_folder_of_jobs_is_shared_by_two_runtimes(place: Place, tmp_path: Path) -> None:
    folder, other = tmp_path / "jobs", Place(tmp_path / "other")
    folder.mkdir()
    with serving(place, "--jobs", str(folder), "--mode", "risk") as one, \
            serving(other, "--jobs", str(folder), "--mode", "risk") as two:  # fmt: skip
        for number in range(8):
            (folder / f"j{number}.json").write_text(json.dumps({"query": QUESTION}))
        (folder / "bad.json").write_text("{}")
        for number in range(8):
            found = [s for s in (one, two) for e in s.of("done") if e["job_id"] == f"j{number}"]
            while not found:
                found = [s for s in (one, two) for e in s.of("done") if e["job_id"] == f"j{number}"]
                assert one.process.poll() is None and two.process.poll() is None
        assert len(one.of("accepted")) + len(two.of("accepted")) == 8
        said = one.of("failed") + two.of("failed")
        assert [event["job_id"] for event in said if event["final"]] == ["bad.json"], said
        for event in said:
            if not event["final"]:  # a busy machine may put a job off; what for stands in the summary
                warnings.warn(f"{event['job_id']} was put off: {event['error']}", stacklevel=1)
    assert {path.name for path in (folder / "taken").iterdir()} == {f"j{n}.json" for n in range(8)}
    assert (folder / "refused" / "bad.reason.txt").read_text().startswith('A job needs a "query"')


@pytest.mark.sampled(2)
@pytest.mark.parametrize("folder", ["a\\u0000b", "\\ud800", "loop", "a/" * 3000])
def test_a_folder_that_can_not_be_ends_its_job_and_no_other(place: Place, folder: str) -> None:
    (place.work / "loop").symlink_to("loop")
    with serving(place) as served:
        served.give(f'{{"query": "x", "workspace": "{folder}"}}')
        served.give({"id": "good", "query": QUESTION})
        served.until("failed")
        served.until("plan_review_request", job_id="good")


def test_what_lies_in_a_folder_and_is_no_job_holds_up_none(place: Place, tmp_path: Path) -> None:
    folder = tmp_path / "jobs"
    folder.mkdir()
    os.mkfifo(folder / "a-pipe.json")
    (folder / "b-folder.json").mkdir()
    (folder / "c-link.json").symlink_to("/dev/zero")
    (folder / "d-dangling.json").symlink_to("nowhere.json")
    (folder / ("e" * 249 + ".json")).write_text("no job}")
    Path(os.fsdecode(os.fsencode(folder) + b"/f-\xff\x1b[31m\n.json")).write_text("{}")
    with (folder / "g-huge.json").open("wb") as huge:
        huge.truncate(1 << 32)
    os.utime(folder / "g-huge.json", (1, 1))
    (folder / "z-job.json").write_text(json.dumps({"query": QUESTION}))
    with serving(place, "--jobs", str(folder)) as served:
        served.until("plan_review_request", job_id="z-job")
        served.until("failed", 7)
        time.sleep(1.5)  # long enough to be told again
        told = served.of("failed")
        assert len(told) == 7 and sum("isn't a regular file" in event["error"] for event in told) == 4
        assert all(event["job_id"].isprintable() for event in told)
    assert sorted(path.name for path in folder.iterdir()) == [".claimed", "refused", "taken"]


def test_a_single_job_without_a_question_is_refused(place: Place) -> None:
    ended = place.run("serve", "--once", " ")
    assert (ended.returncode, ended.stderr) == (2, 'hitl-tui: A job needs a "query".\n')
