"""`hitl-tui review`: what a runtime elsewhere asks is shown, and the answer goes where it looks (P4, P6)."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pexpect
import pytest
from cli_support import S1_EN, Shell

from hitl_tui.channels.plan_feedback.feedback import Feedback, read
from hitl_tui.channels.plan_feedback.poller import Poller, Refusal, Report, Taken
from hitl_tui.channels.plan_feedback.review_feed import Reviews
from hitl_tui.channels.plan_feedback.store import Found, PublishedRequest
from hitl_tui.channels.plan_feedback.store_address import store_at
from hitl_tui.core.messages import Message

DIGEST = "ab" * 32


def step(number: int, title: str, agent: str, **changes: Any) -> dict[str, Any]:
    """A step as events tell it."""
    needs = [f"todo_{number - 1:03d}"] if number > 1 else []
    plain = {"task": title, "arguments": {"query": title}, "dependencies": needs, "risk": "low"}
    return {"id": f"todo_{number:03d}", "title": title, "agent": agent, **plain, **changes}


SEARCH, ANALYSE, WRITE = (
    step(1, "Search the lease", "search_team"),
    step(2, "Analyse it", "analysis_team"),
    step(2, "Write a letter", "document_team"),
)


def plan(name: str, *steps: Mapping[str, Any], revision: int = 0, **changes: Any) -> dict[str, Any]:
    """The event of a plan that waits."""
    return {
        "type": "plan_review_request",
        "event_type": "plan_review_request",
        "job_id": "j1",
        "session_id": "s1",
        "plan": "\n".join(str(one["title"]) for one in steps),
        "revision_count": revision,
        "max_revisions": 10,
        "request_id": name,
        "feedback_s3_path": None,
        "timeout_seconds": 300,
        "message": "Please review the plan.",
        "digest": DIGEST,
        "steps": list(steps),
        "on_timeout": "approve",
        **changes,
    }


def todo(name: str, **changes: Any) -> dict[str, Any]:
    """The event of a step that waits."""
    return {
        "type": "todo_review_request",
        "event_type": "todo_review_request",
        "job_id": "j1",
        "session_id": "s1",
        "request_id": name,
        "digest": DIGEST,
        "asks": "todo",
        "todo_id": "todo_001",
        "options": ["approve", "reject"],
        "risk": "medium",
        "quorum": 1,
        "level": 0,
        "timeout_seconds": None,
        "message": "Run step 001?",
        "question": {"subject": {"team": "command_team", "arguments": {"argv": ["rm", "-r", "old files"]}}},
        **changes,
    }


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "feedback"


def events(shell: Shell, *told: Mapping[str, Any]) -> str:
    """Write a file of events, and return its name."""
    file = shell.workspace / "events.jsonl"
    file.write_text("".join(f"{json.dumps(event)}\n" for event in told), encoding="utf-8")
    return str(file)


def publish(folder: Path, *told: Mapping[str, Any]) -> None:
    async def all_() -> None:
        for event in told:
            await store_at(str(folder)).publish(PublishedRequest(event["request_id"], event))

    asyncio.run(all_())


@contextmanager
def runtime(folder: Path, *waiting: str, refuse: str = "") -> Iterator[list[tuple[str, Feedback]]]:
    """Take what is put into a folder, on a thread of its own."""
    taken: list[tuple[str, Feedback]] = []
    left, ended = set(waiting), threading.Event()
    reports: list[Report] = []

    async def decide(request_id: str, feedback: Feedback, found: Found) -> Taken | Refusal:
        if refuse:
            return Refusal(Message("{}", refuse))
        left.discard(request_id)
        taken.append((request_id, feedback))
        return Taken()

    async def ours(request_id: str) -> bool:
        return False

    async def run() -> None:
        store = store_at(str(folder))
        poller = Poller(store, lambda: left, decide, ours=ours, report=reports.append, interval=0.05)
        polling = asyncio.create_task(poller.run())
        await asyncio.to_thread(ended.wait)
        polling.cancel()

    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    try:
        yield taken
    finally:
        ended.set()
        thread.join(10)


def test_the_newest_plan_is_shown_with_its_difference(shell: Shell) -> None:
    told = events(shell, plan("r1", SEARCH, ANALYSE), plan("r2", SEARCH, WRITE, revision=1))
    done = shell.run("review", "--from", told)
    assert done.code == 3
    assert "revision 1 of at most 10 · answer within 5:00, or it is approved" in done.out
    assert "- Analyse it · analysis_team · removed" in done.out
    assert "+ Write a letter · document_team · added" in done.out
    assert f"hitl-tui review r2 --from {told} --approve" in done.out
    assert done.out.endswith("1 request waits for a review.\n")


def test_the_difference_that_a_runtime_tells_is_shown_with_what_was_not_worked_in(shell: Shell) -> None:
    named = {"id": "todo_002", "title": "Analyse it"}
    told = {"removed": [named], "moved": [], "notes": ["No team writes\x1b letters."], "added": "all"}
    done = shell.run("review", "--from", events(shell, plan("r2", SEARCH, revision=1, difference=told)))
    assert "1 change to the plan before\n    - Analyse it · removed\n" in done.out
    assert "\n  No team writes␛ letters.\n" in done.out


def test_requests_come_from_a_pipe_too(shell: Shell) -> None:
    told = json.dumps(plan("r1", SEARCH)) + "\nno event\n" + json.dumps(todo("r2")) + "\n"
    done = shell.process("review", "--json", input=told)
    assert done.code == 3
    assert [one["event"]["request_id"] for one in done.json["requests"]] == ["r1", "r2"]


def test_a_step_is_shown_exactly_and_its_answer_carries_the_digest(shell: Shell, folder: Path) -> None:
    publish(folder, todo("r1"))
    with runtime(folder, "r1") as taken:
        done = shell.run("review", "r1", "--from", str(folder), "--approve", "--as", "kim")
    assert done.code == 0, done.err
    assert "runs: rm -r 'old files'" in done.out
    assert DIGEST in done.out
    assert done.out.endswith("Approved.\n")
    [(name, feedback)] = taken
    assert (name, feedback.approved, feedback.digest, feedback.reviewer) == ("r1", True, DIGEST, "kim")


def test_feedback_says_what_to_change(shell: Shell, folder: Path) -> None:
    publish(folder, plan("r1", SEARCH, ANALYSE))
    with runtime(folder, "r1") as taken:
        done = shell.run("review", "r1", "--from", str(folder), "--feedback", "검색만", "--json")
    assert done.code == 0
    assert done.json["message"] == "The runtime took your feedback; the next revision is a new request."
    assert done.json["path"] == str(folder / "r1.json")
    [(_, feedback)] = taken
    assert (feedback.approved, feedback.feedback) == (False, "검색만")


def test_events_say_where_feedback_goes(shell: Shell, folder: Path) -> None:
    told = events(shell, plan("r1", SEARCH, feedback_s3_path=str(folder / "r1.json")))
    done = shell.run("review", "r1", "--from", told, "--approve", "--wait", "0")
    assert done.code == 0
    assert done.out.endswith(f"Sent to {folder / 'r1.json'}. The runtime hasn't taken it yet.\n")
    found = read((folder / "r1.json").read_bytes(), "r1")
    assert isinstance(found, Feedback)
    assert datetime.now(UTC) - found.timestamp < datetime.now(UTC) - datetime(2026, 1, 1, tzinfo=UTC)


def test_a_second_reviewer_is_told(shell: Shell, folder: Path) -> None:
    told = events(shell, plan("r1", SEARCH, feedback_s3_path=str(folder / "r1.json")))
    assert shell.run("review", "r1", "--from", told, "--approve", "--wait", "0").code == 0
    done = shell.run("review", "r1", "--from", told, "--feedback", "no", "--wait", "0")
    assert done.code == 2
    assert done.err == "hitl-tui: Somebody answered r1 already; your answer was not sent.\n"


@pytest.mark.parametrize(
    ("ended", "said"),
    [
        (
            {"outcome": "approved", "by": ["kim (claimed)"], "at": "2026-03-01T09:00:00+00:00"},
            r"r1 is decided already: approved, by kim \(claimed\) at 2026-0[23]-\d\d \d\d:\d\d\.",
        ),
        (
            {"outcome": "expired", "by": [], "at": "2026-03-01T09:00:00Z"},
            r"r1 is decided already: expired, at 2026-\S+ \S+\.",
        ),
        ({"outcome": "rejected", "by": ["kim"]}, r"r1 is decided already: rejected, by kim\."),
        ({"outcome": "approved", "by": ["kim"], "at": "noon"}, r"r1 is decided already: approved, by kim\."),
        ({"outcome": 3, "by": 4, "at": 5}, r"r1 is decided already: 3\."),
        ({}, r"r1 waits no more\."),
    ],
)
def test_who_comes_after_a_decision_is_told_of_it(
    shell: Shell, folder: Path, ended: Mapping[str, Any], said: str
) -> None:
    publish(folder, plan("r1", SEARCH))
    asyncio.run(store_at(str(folder)).withdraw("r1", {"type": "decided", "request_id": "r1", **ended}))
    for answer in (("--approve",), ("--feedback", "no"), ()):
        done = shell.run("review", "r1", "--from", str(folder), *answer, "--json")
        assert (done.code, done.json["kind"]) == (2, "refused")
        assert re.fullmatch(said, done.json["error"])
    assert not list(folder.glob("*.json")), "nothing was put"
    decided = shell.run("decide", "r1", "approve", "--json", HITL_REVIEW_RUNTIME=str(folder))
    assert (decided.code, decided.json["kind"]) == (2, "refused")
    assert re.fullmatch(said, decided.json["error"])


@pytest.mark.long
@pytest.mark.parametrize("listens", [False, True])
def test_a_second_reviewer_of_a_runtime_is_told_who_was_first(shell: Shell, folder: Path, listens: bool) -> None:
    more = ("--listen", "127.0.0.1:0") if listens else ("--feedback", str(folder))
    shell.env["PLAN_FEEDBACK_POLL_INTERVAL"] = "0.1"
    runtime = shell.start("serve", "--once", S1_EN, *more)
    assert runtime.stderr is not None and runtime.stdout is not None
    try:
        place = str(folder)
        if listens:
            place = next(found[0] for line in runtime.stderr if (found := re.search(r"http://[\d.:]+", line)))
        told = (json.loads(line) for line in runtime.stdout)
        name = next(event["request_id"] for event in told if event["type"] == "plan_review_request")
        assert shell.run("review", name, "--from", place, "--approve", "--as", "kim").code == 0
        decided = next(event for event in told if event["type"] == "decided")
        second = shell.run("review", name, "--from", place, "--feedback", "no", "--json")
        assert (second.code, second.json["kind"]) == (2, "refused")
        assert second.json["error"].startswith(f"{name} is decided already: approved, by {decided['by'][0]} at 20")
        missing = shell.run("review", "req-0000", "--from", place, "--approve", "--json")
        assert (missing.json["kind"], missing.json["error"]) == ("bad_input", "No request req-0000 waits there.")
    finally:
        runtime.terminate()
        runtime.communicate(timeout=60)


def test_an_answer_that_the_runtime_refuses_is_told_with_the_reason(shell: Shell, folder: Path) -> None:
    publish(folder, plan("r1", SEARCH))
    with runtime(folder, "r1", refuse="Two approvers are needed."):
        done = shell.run("review", "r1", "--from", str(folder), "--approve")
    assert done.code == 2
    assert done.err == "hitl-tui: The runtime didn't take it: Two approvers are needed.\n"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["r9", "--approve"], "No request r9 waits there."),
        (["r1", "--approve"], "r1 waits no more."),
        (["r4", "--approve"], "r4 is decided already: approved, by kim."),
        (["--approve"], "Name the request that is answered."),
        (["r2", "--feedback", "  "], "--feedback takes what should change"),
        (["r2", "--approve", "--feedback", "x"], "not allowed with"),
        (["r2", "--approve"], "doesn't say where feedback is looked for; name it with --to."),
        (["r3", "--approve"], "r3 takes a verified approver"),
        (["r2", "--approve", "--to", "ftp://x"], "s3://BUCKET"),
    ],
)
def test_what_cannot_be_answered_is_refused(shell: Shell, given: list[str], said: str) -> None:
    told = events(
        shell,
        plan("r1", SEARCH, ANALYSE),
        plan("r2", SEARCH, revision=1),
        todo("r3", risk="high"),
        plan("r4", SEARCH, job_id="j2"),
        {"type": "decided", "request_id": "r4", "outcome": "approved", "by": ["kim"]},
    )
    done = shell.run("review", *given, "--from", told)
    assert done.code == 2
    assert said in done.err


@pytest.mark.parametrize("place", ["missing.jsonl", "http://", "http://user@x", "ftp://x", "s3://"])
def test_a_source_that_cannot_be_read_is_named(shell: Shell, place: str) -> None:
    done = shell.run("review", "--from", place)
    assert done.code == 2
    assert place in done.err


def test_a_runtime_that_is_down_is_named(shell: Shell) -> None:
    done = shell.run("review", "--from", "http://127.0.0.1:1")
    assert done.code == 1
    assert done.err.startswith("hitl-tui: The runtime at http://127.0.0.1:1 can't be reached: ")


@pytest.mark.long
def test_a_runtime_that_listens_is_reviewed_over_http(shell: Shell) -> None:
    runtime = shell.start("serve", "--once", S1_EN, "--listen", "127.0.0.1:0")
    assert runtime.stderr is not None
    try:
        place = next(found[0] for line in runtime.stderr if (found := re.search(r"http://[\d.:]+", line)))
        deadline = time.monotonic() + 60
        while (listed := shell.process("review", "--from", place, "--json")).code != 3:
            assert time.monotonic() < deadline, listed
        [first] = listed.json["requests"]
        name = first["event"]["request_id"]
        done = shell.process("review", name, "--from", place, "--feedback", "only the search")
        assert done.code == 0, done.err
        late = shell.process("review", name, "--from", place, "--approve")
        assert late.code == 2
        while (listed := shell.process("review", "--from", place, "--json")).code != 3:
            assert time.monotonic() < deadline, listed
        [second] = listed.json["requests"]
        assert second["event"]["revision_count"] == 1
        assert len(second["event"]["steps"]) < len(first["event"]["steps"])
        done = shell.process("review", second["event"]["request_id"], "--from", place, "--approve")
        assert (done.code, done.out.split("\n")[-2]) == (0, "Approved.")
    finally:
        runtime.terminate()
        runtime.communicate(timeout=60)


def test_hostile_events_are_shown_harmlessly(shell: Shell) -> None:
    hostile = step(1, "\x1b[2J\u202eevil", "a\nb", arguments={"\x07": ["\x00"]}, dependencies=[1, "\x1b"], risk="?")
    strange = {"type": "plan_review_request", "request_id": "\x1b]0;x", "plan": ["x"], "steps": [1, None, {}]}
    done = shell.run("review", "--from", events(shell, plan("r1", hostile), strange, {"type": []}))
    assert done.code == 3
    assert not set(done.out) & {"\x1b", "\u202e", "\x07", "\x00"}


def test_a_plan_told_as_text_alone_is_shown_quoted(shell: Shell) -> None:
    told = {"event_type": "plan_review_request", "plan": "1. Look\n2. Tell", "request_id": "r1"}
    done = shell.run("review", "--from", events(shell, told))
    assert "| 1. Look" in done.out
    assert "| 2. Tell" in done.out


@pytest.mark.long
def test_what_the_runtime_did_not_take_is_asked_again(shell: Shell, folder: Path) -> None:
    publish(folder, plan("r1", SEARCH))
    screen = shell.terminal("review", "--from", str(folder))
    prompt = r"\x1b\[\?25h"
    for refused, said in (("Two approvers are needed.", "didn't take it: Two approvers"), ("", "Approved")):
        with runtime(folder, "r1", refuse=refused):
            screen.expect(prompt)
            screen.send("a")
            time.sleep(0.5)  # a person's Enter doesn't come with the text, as that of a paste does
            screen.send("\r")
            screen.expect(said)
            if refused:
                screen.expect("a approve")
    screen.sendintr()
    screen.expect(pexpect.EOF)
    screen.close()


@pytest.mark.long
def test_at_a_terminal_requests_are_asked_as_they_come(shell: Shell, folder: Path) -> None:
    publish(folder, plan("r1", SEARCH, ANALYSE))
    with runtime(folder, "r1", "r2", "r3") as taken:
        screen = shell.terminal("review", "--from", str(folder))
        prompt = r"\x1b\[\?25h"

        def type_line(text: str) -> None:
            screen.expect(prompt)
            screen.send(text)
            screen.expect(re.escape(text[-4:]))
            time.sleep(0.3)  # a person's Enter doesn't come with the text, as that of a paste does
            screen.send("\r")

        screen.expect("Approve the plan")
        type_line("what?")
        screen.expect("f and what to change")
        type_line("f only the search")
        screen.expect("took your feedback")
        publish(folder, plan("r2", SEARCH, revision=1))
        asyncio.run(store_at(str(folder)).withdraw("r1"))
        screen.expect("revision 1 of at most 10")
        screen.expect("1 change to the plan before")
        screen.expect(prompt)
        publish(folder, plan("r3", SEARCH, job_id="j2"))
        asyncio.run(store_at(str(folder)).withdraw("r2"))  # somebody else decided
        screen.expect("r2 waits no more")
        screen.expect("j2")
        type_line("approve")
        screen.expect("Approved")
        screen.expect("Waiting for requests")
        screen.sendintr()
        screen.expect(pexpect.EOF)
        screen.close()
    assert [(name, one.approved, one.feedback) for name, one in taken] == [
        ("r1", False, "only the search"),
        ("r3", True, ""),
    ]


def test_the_inbox_has_what_a_runtime_elsewhere_asks(shell: Shell, folder: Path) -> None:
    asked = plan("r1", SEARCH, query="Who pays for repairs?", expires_at="2999-01-01T00:00:00+00:00")
    publish(folder, asked, todo("r2", risk="high"))
    ran = shell.run("inbox", HITL_REVIEW_RUNTIME=str(folder))
    assert ran.code == 3
    assert "Approve the plan? Who pays for repairs?" in ran.out and "takes a verified approver" in ran.out
    found = json.loads(shell.run("inbox", "--json", HITL_REVIEW_RUNTIME=str(folder)).out)["requests"]
    assert [(one["id"], one["source"], one["event"]["request_id"]) for one in found] == [
        ("r1", "runtime", "r1"),
        ("r2", "runtime", "r2"),
    ]
    with runtime(folder, "r1") as taken:
        ran = shell.run(
            "decide", "r1", "reject", "--reason", "only the search", "--as", "ann", HITL_REVIEW_RUNTIME=str(folder)
        )
        assert ran.code == 0 and "took your feedback" in ran.out
    [(_, feedback)] = taken
    assert (feedback.approved, feedback.feedback, feedback.reviewer) == (False, "only the search", "ann")


def test_a_proposal_is_reviewed_as_a_plan_is(shell: Shell, folder: Path) -> None:
    added = {"name": "Search again", "agent_name": "search_team", "description": "Find it", "risk": "low"}
    changes = [{"kind": "add", "todo": {**added, "id": "todo_002"}}, {"kind": "skip", "todo_id": "todo_001"}, 7]
    proposal = {"text": "and for 1959?", "reason": "Adds a step.", "changes": changes}
    asked = todo(
        "r1", asks="proposal", risk="low", message="Change the plan?", question={"subject": {"proposal": proposal}}
    )
    publish(
        folder,
        {**asked, "type": "question", "event_type": "question"},
        {**asked, "request_id": "r2", "type": "question"},
    )
    for broken in (None, 7, [], {"changes": {}}, {"changes": [{"kind": "add", "todo": 7}]}):
        publish(
            folder, {**asked, "request_id": "r3", "type": "question", "question": {"subject": {"proposal": broken}}}
        )
        assert shell.run("review", "--from", str(folder)).code == 3
    ran = shell.run("review", "r1", "--from", str(folder))
    assert ran.code == 3 and "Search again" in ran.out and "skip todo_001" in ran.out and "Adds a step." in ran.out
    assert "Change the plan? and for 1959?" in shell.run("inbox", HITL_REVIEW_RUNTIME=str(folder)).out
    with runtime(folder, "r1") as taken:
        assert "Approved." in shell.run("review", "r1", "--from", str(folder), "--approve").out
    assert [(name, feedback.approved, feedback.digest) for name, feedback in taken] == [("r1", True, DIGEST)]


def test_a_second_answer_from_the_inbox_is_told_so(shell: Shell, folder: Path) -> None:
    publish(folder, plan("r1", SEARCH))
    asyncio.run(store_at(str(folder)).put_new("r1", Feedback(True, "", datetime.now(UTC))))
    ran = shell.run("decide", "r1", "approve", HITL_REVIEW_RUNTIME=str(folder))
    assert ran.code == 2 and "already" in ran.err


def test_an_inbox_whose_runtime_is_away_says_so_and_goes_on(shell: Shell) -> None:
    ran = shell.run("inbox", HITL_REVIEW_RUNTIME="http://127.0.0.1:9")
    assert ran.code == 0 and "can't be reached" in ran.err and "0 questions wait." in ran.out
    document = json.loads(shell.run("inbox", "--json", HITL_REVIEW_RUNTIME="http://127.0.0.1:9").out)
    assert "can't be reached" in document["warnings"][0]
    ran = shell.run("decide", "r1", "approve", HITL_REVIEW_RUNTIME="http://127.0.0.1:9")
    assert ran.code == 1 and "can't be reached" in ran.err
    ran = shell.run("inbox", HITL_REVIEW_RUNTIME="ftp://somewhere")
    assert ran.code == 0 and "HITL_REVIEW_RUNTIME must be" in ran.err


def test_an_address_without_a_runtime_is_no_empty_list(shell: Shell) -> None:
    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>")

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as page:
        threading.Thread(target=page.serve_forever).start()
        address = f"http://127.0.0.1:{page.server_address[1]}"
        ran = shell.run("review", "--from", address)
        assert ran.code == 1 and "isn't a runtime" in ran.err
        assert "isn't a runtime" in shell.run("inbox", HITL_REVIEW_RUNTIME=address).err
        page.shutdown()


def test_a_runtime_puts_no_words_of_its_own_into_a_command(shell: Shell, folder: Path) -> None:
    publish(folder, todo("r1", digest="0; rm -rf x", risk="high"))
    assert "rm -rf x" not in shell.run("inbox", HITL_REVIEW_RUNTIME=str(folder)).out.partition("hitl-tui decide")[2]


def test_many_requests_are_read_at_once(shell: Shell) -> None:
    reviews = Reviews()
    began = time.monotonic()
    for number in range(20_000):
        reviews.take({**plan(f"r{number}", SEARCH), "job_id": f"j{number}"})
    assert len(reviews.waiting) == 20_000
    assert time.monotonic() - began < 20, "each is looked at once, not against each other"


def test_a_request_that_is_told_again_waits_again_and_one_that_was_answered_does_not() -> None:
    reviews = Reviews()
    for event in (plan("r1", SEARCH), {"type": "decided", "request_id": "r1"}):
        reviews.take(event)
    assert not reviews.waiting
    reviews.take(plan("r1", SEARCH))
    assert list(reviews.waiting) == ["r1"], "its runtime began anew"
    reviews.answer("r1")
    reviews.take(plan("r1", SEARCH))
    reviews.take({**plan("r2", SEARCH), "job_id": "j2"})
    reviews.take({"type": "decided", "request_id": "r2", "outcome": "approved"})
    reviews.take({**plan("r2", SEARCH), "job_id": "j2"})
    assert not reviews.waiting
