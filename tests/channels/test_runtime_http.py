"""The runtime over HTTP, by a client written from the public contract of its platform alone (P8, T8)."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from people import write_approvers
from runtime_support import PATIENCE, QUESTION, Place, Told, listening, serving

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

SESSION = "X-Amzn-Bedrock-AgentCore-Runtime-Session-Id"
RISKY = """
[teams.command_team.commands.clear]
description = "Clear the records"
run = ["touch", "cleared"]
risk = "high"
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def invoked(client: httpx.AsyncClient, body: object, **headers: str) -> AsyncIterator[Told]:
    """Invoke as the platform does, and yield the events."""
    async with client.stream("POST", "/invocations", json=body, headers=headers, timeout=PATIENCE) as answer:
        assert answer.status_code == 200, await answer.aread()
        assert answer.headers["content-type"].startswith("text/event-stream")
        async for line in answer.aiter_lines():
            if line.startswith("data: "):
                yield json.loads(line.removeprefix("data: "))


async def until(events: AsyncIterator[Told], type: str) -> Told:
    """Return the next event of a type."""
    async for event in events:
        if event["type"] == type:
            return event
    raise AssertionError(f"no {type}")


async def health(client: httpx.AsyncClient) -> dict[str, Any]:
    answer = await client.get("/ping")
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    assert set(found) == {"status", "time_of_last_update"} and isinstance(found["time_of_last_update"], int)
    return found


async def test_a_client_of_the_platform_reviews_a_plan_twice(place: Place) -> None:
    session = "a-session-of-the-platform-with-33-characters"
    with listening(place) as (_, address):
        async with httpx.AsyncClient(base_url=address) as client:
            assert (await health(client))["status"] == "Healthy"
            events = invoked(client, {"prompt": QUESTION}, **{SESSION: session})
            first = await until(events, "plan_review_request")
            assert (await health(client))["status"] == "HealthyBusy"
            said = {"request_id": first["request_id"], "approved": False, "feedback": "also analyse it"}
            answer = await client.post("/invocations", json={**said, "timestamp": "2026-01-01T00:00:00Z"})
            assert answer.status_code == 200 and answer.json()["request_id"] == first["request_id"]
            second = await until(events, "plan_review_request")
            assert second["revision_count"] == 1 and len(second["steps"]) == 2
            late = await client.post(f"/requests/{first['request_id']}", json={"approved": True})
            assert (late.status_code, late.json()["reason"]) == (409, "late")
            assert (await client.post(f"/requests/{second['request_id']}", json={"approved": True})).status_code == 200
            done = await until(events, "done")
            assert done["job_id"] == session
            assert [event async for event in events] == []
            await asyncio.sleep(0.2)
            assert (await health(client))["status"] == "Healthy"
            # The same again is the same job.
            again = invoked(client, {"prompt": QUESTION}, **{SESSION: session})
            assert (await until(again, "done"))["response"] == done["response"]


async def approved(client: httpx.AsyncClient, asked: Told, answer: str = "approve") -> None:
    said = {"request_id": asked["request_id"], "answer": answer, "digest": asked["digest"]}
    given = await client.post("/invocations", json=said)
    assert given.status_code == 200, given.text


async def test_the_next_question_of_a_session_goes_on_from_the_last(place: Place) -> None:
    session = {SESSION: "a-session-of-the-platform-with-33-characters"}
    with listening(place) as (served, address):
        async with httpx.AsyncClient(base_url=address) as client:
            first = invoked(client, {"prompt": QUESTION}, **session)
            plan = await until(first, "plan_review_request")
            # What comes while the first is worked on waits for its turn.
            second = invoked(client, {"prompt": "and for a holding deposit?"}, **session)
            accepted = await anext(second)
            assert accepted["type"] == "accepted" and accepted["session_id"] == plan["session_id"]
            await approved(client, plan)
            done = await until(first, "done")
            asked = await until(second, "question")
            assert asked["asks"] == "proposal" and asked["session_id"] == plan["session_id"]
            assert "What is the holding deposit cap?" in json.dumps(asked["question"]["subject"])
            # The first again is told as it ended, whatever the session does now.
            again = invoked(client, {"prompt": QUESTION}, **session)
            assert await until(again, "done") == done
            await approved(client, asked)
            answer = await until(second, "done")
            assert answer["job_id"] != done["job_id"] and "holding deposit" in answer["response"][:200]
            # What is refused isn't told as done; words that are a command elsewhere are none here.
            third = invoked(client, {"prompt": "and for a rent increase?"}, **session)
            await approved(client, await until(third, "question"), "reject")
            assert "rejected" in (await until(third, "failed"))["error"]
            fourth = await anext(invoked(client, {"prompt": "/todo add search_team x"}, **session))
            assert fourth["type"] == "accepted"
            await asyncio.to_thread(served.until, "started", 4)
    assert len({event["session_id"] for event in served.of("done")}) == 1


@pytest.mark.slow
async def test_a_question_that_goes_on_is_asked_once_whatever_stops_the_runtime(place: Place) -> None:
    session = {SESSION: "a-session-of-the-platform-with-33-characters"}
    with listening(place) as (served, address):
        async with httpx.AsyncClient(base_url=address) as client:
            first = invoked(client, {"prompt": QUESTION}, **session)
            await approved(client, await until(first, "plan_review_request"))
            await until(first, "done")
            asked = await until(invoked(client, {"prompt": "and for a holding deposit?"}, **session), "question")
        served.kill()
    with listening(place) as (served, address):
        async with httpx.AsyncClient(base_url=address) as client:
            again = invoked(client, {"prompt": "and for a holding deposit?"}, **session)
            assert (await until(again, "question"))["request_id"] == asked["request_id"]
            await approved(client, asked)
            assert "holding deposit" in (await until(again, "done"))["response"][:200]


async def test_who_leaves_finds_the_job_again(place: Place) -> None:
    with listening(place) as (_, address):
        async with httpx.AsyncClient(base_url=address) as client:
            asked = await until(invoked(client, {"query": QUESTION, "id": "mine"}), "plan_review_request")
        async with httpx.AsyncClient(base_url=address) as client:
            (waiting,) = (await client.get("/requests")).json()["requests"]
            del waiting["expires_at"], asked["expires_at"]  # its time runs from the first telling on
            assert waiting == asked
            async with client.stream("GET", "/jobs/mine/events", timeout=PATIENCE) as answer:
                lines = answer.aiter_lines()
                async for line in lines:
                    if '"plan_review_request"' in line:
                        break
                await client.post(f"/requests/{asked['request_id']}", json={"answer": "approve"})
                assert any('"done"' in line for line in [line async for line in lines])
            assert (await client.get("/jobs/nobody/events")).status_code == 404


async def test_a_risky_step_takes_digest_and_approver_and_nothing_less(place: Place) -> None:
    place.declare(RISKY)
    write_approvers(place.data, "ann")
    with listening(place) as (_, address):
        async with httpx.AsyncClient(base_url=address) as client:
            events = invoked(client, {"prompt": "clear the records", "mode": "risk"})
            asked = await until(events, "todo_review_request")
            assert asked["risk"] == "high"
            where = f"/requests/{asked['request_id']}"
            ann = {"Authorization": "Bearer token of ann"}

            async def refused(body: dict[str, object], **headers: str) -> str:
                answer = await client.post(where, json=body, headers=headers)
                assert answer.status_code in (400, 409), answer.text
                return str(answer.json()["error"])

            assert "takes the digest" in await refused({"approved": True}, **ann)
            assert "changed since" in await refused({"approved": True, "digest": "0" * 16}, **ann)
            assert "the token of an approver" in await refused({"approved": True, "digest": asked["digest"]})
            eve = {"Authorization": "Bearer token of eve"}
            assert "the token of an approver" in await refused({"approved": True, "digest": asked["digest"]}, **eve)
            assert "Authorization" in await refused({"approved": True, "digest": asked["digest"], "reviewer": "ann"})
            assert not (place.work / "cleared").exists()
            good = await client.post(where, json={"approved": True, "digest": asked["digest"]}, headers=ann)
            assert good.status_code == 200
            assert (await until(events, "decided"))["by"] == ["ann"]
            await until(events, "done")
            assert (place.work / "cleared").exists()


async def test_other_rules_ask_anew_and_the_old_question_approves_nothing(place: Place) -> None:
    place.declare(RISKY.replace("high", "medium"))
    with listening(place) as (_, address):
        async with httpx.AsyncClient(base_url=address) as client:
            events = invoked(client, {"prompt": "clear the records", "mode": "step"})
            asked = await until(events, "todo_review_request")
            place.declare(
                RISKY.replace("high", "medium") + '[[policy]]\nrisk = "medium"\ndecision = "ask"\ndeadline = "1h"\n'
            )
            said = {"approved": True, "digest": asked["digest"]}
            answer = await client.post(f"/requests/{asked['request_id']}", json=said)
            assert answer.status_code == 409, answer.text
            again = await until(events, "todo_review_request")
            assert again["timeout_seconds"] == 3600 and again["request_id"] != asked["request_id"]
            said = {"approved": True, "digest": again["digest"]}
            assert (await client.post(f"/requests/{again['request_id']}", json=said)).status_code == 200
            await until(events, "done")
            assert (place.work / "cleared").exists()


async def test_a_declared_secret_is_told_and_kept_by_its_name(place: Place) -> None:
    place.declare('[secrets]\nnames = ["API_KEY"]\n')
    with listening(place, API_KEY="swordfish-1234") as (served, address):
        async with httpx.AsyncClient(base_url=address) as client:
            job = {"prompt": "What is the deposit cap for swordfish-1234?", "id": "quiet"}
            asked = await until(invoked(client, job), "plan_review_request")
            listed = (await client.get("/requests")).text
            assert "API_KEY" in json.dumps(served.until("accepted")) and "swordfish" not in json.dumps(asked) + listed
            again = await anext(invoked(client, job))  # it is known though its secret was replaced
            assert again["type"] in ("started", "plan_review_request")
        assert "swordfish" not in json.dumps(served.told)
    for path in place.data.rglob("*"):
        assert not path.is_file() or b"swordfish" not in path.read_bytes(), path


async def test_pages_and_strangers_stay_outside(place: Place) -> None:
    with listening(place, HITL_SERVE_TOKEN="a-token-of-all-programs") as (_, address):
        async with httpx.AsyncClient(base_url=address) as client:
            right = {"Authorization": "Bearer a-token-of-all-programs"}
            job = {"prompt": QUESTION}
            for wrong in ({}, {"Authorization": "Bearer x"}, {"Authorization": "Basic a-token-of-all-programs"}):
                answer = await client.post("/invocations", json=job, headers=wrong)
                assert answer.status_code == 401 and answer.headers["www-authenticate"] == "Bearer"
            for foreign in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
                assert (await client.post("/invocations", json=job, headers={**right, **foreign})).status_code in (
                    403,
                    421,
                )
            assert (await client.get("/ping")).status_code == 200
            (place.work / "loop").symlink_to("loop")
            odd = ("/", "\\u0000", "\\ud800", "loop", "~nobody-at-all/x", "a/" * 3000)
            bad_folders = [f'{{"prompt": "x", "workspace": "{folder}"}}' for folder in odd]
            for bad in ("{", "[]", "{}", '{"prompt": 1}', '{"promt": "x"}', '{"prompt": "\\ud800"}', *bad_folders):
                answer = await client.post("/invocations", content=bad, headers=right)
                assert answer.status_code == 400 and answer.json()["error"].endswith((".", "?")), answer.text
            huge = await client.post("/invocations", content=b"x" * 1_100_000, headers=right)
            assert huge.status_code == 400
            assert (await client.get("/nowhere")).status_code == 404
            assert (await client.get("/invocations")).status_code == 405


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("arguments", "environ", "words"),
    [
        (("--listen", "0.0.0.0:0"), {}, "HITL_SERVE_TOKEN must hold"),
        (("--listen", "127.0.0.1:0"), {"HITL_SERVE_TOKEN": "short"}, "at least 20 characters"),
        (("--listen", "0.0.0.0:0", "--no-token"), {"HITL_SERVE_TOKEN": "x" * 20}, "--no-token says"),
        (("--listen", "example.com"), {}, "--listen takes an address"),
        (("--no-token",), {}, "--no-token says"),
        (("--concurrency", "0"), {}, "--concurrency takes"),
        (("--jobs", "/nowhere/at/all"), {}, "doesn't exist"),
        (("--id", "x"), {}, "--id names"),
        (("--feedback", "ftp://x"), {}, "Feedback lies"),
    ],
)
def test_what_can_not_be_served_is_said(
    place: Place, arguments: tuple[str, ...], environ: dict[str, str], words: str
) -> None:
    with serving(place, *arguments, **environ) as served:
        assert served.ended() == 2
        assert served.process.stderr is not None
        assert words in served.process.stderr.read()


def test_a_folder_of_feedback_decides_plans_and_nothing_risky(place: Place, tmp_path: Path) -> None:
    place.declare(RISKY)
    folder = tmp_path / "feedback"
    settings = {"PLAN_FEEDBACK_POLL_INTERVAL": "0.2"}
    with serving(place, "--once", "clear the records", "--feedback", str(folder), **settings) as served:
        plan = served.until("plan_review_request")
        assert plan["feedback_s3_path"] == str(folder / f"{plan['request_id']}.json")
        said = {"approved": True, "feedback": "", "timestamp": "2026-01-01T00:00:00"}
        Path(plan["feedback_s3_path"]).write_text(json.dumps(said))
        step = served.until("todo_review_request")
        assert not Path(plan["feedback_s3_path"]).exists()
        assert served.of("decided")[0]["by"] == ["reviewer (claimed)"]
        vote = folder / f"{step['request_id']}.json"
        vote.write_text(json.dumps({**said, "digest": step["digest"]}))
        aside = folder / "set-aside"
        end = time.monotonic() + PATIENCE
        while vote.exists() and time.monotonic() < end:
            time.sleep(0.1)
        reasons = [path.read_text() for path in aside.rglob("*") if path.is_file()]
        assert any("token of an approver" in reason for reason in reasons)
        assert not (place.work / "cleared").exists()
        place.decide(step, "reject", "--reason", "no")
        served.until("done")
        assert served.ended() == 0
