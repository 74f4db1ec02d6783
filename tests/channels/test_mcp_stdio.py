"""The MCP server as a client's configuration starts it (M5)."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bolt_server import bolt_server
from mcp import McpError
from mcp_support import ASKS, PROGRAM, Heard, Place, given, on_stdio, refused
from pydantic import AnyUrl

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.long
async def test_two_agents_an_approver_and_the_shell_see_the_same_steps(place: Place) -> None:
    agent_heard, other_heard = Heard(), Heard()
    async with (
        on_stdio(place, agent_heard) as agent,
        on_stdio(place, other_heard),
        on_stdio(place, HITL_APPROVER_TOKEN="token of ann") as ann,
    ):
        assert [tool.name for tool in (await agent.list_tools()).tools] == [
            "masc_interrupt",
            "masc_approve",
            "masc_reject",
            "masc_pending",
        ]
        asked = await given(agent, "masc_interrupt", task_id="clean", **ASKS)
        assert asked["waiting_for_approval"] is True
        assert asked["masc_dir"] == str(place.masc)
        await other_heard.until(lambda: ("opened", "clean") in other_heard.events)
        assert "10,000 records" in other_heard.announced[0]["message"]

        waiting = asyncio.create_task(
            given(agent, "masc_pending", checkpoint_id=asked["checkpoint_id"], wait_seconds=60)
        )
        (seen,) = (await given(ann, "masc_pending"))["pending"]
        assert (seen["action"], seen["outcome"]) == ("DELETE FROM customers", "waiting")
        assert not waiting.done()
        done = await given(ann, "masc_approve", task_id="clean", digest=seen["digest"], value={"limit": 500})
        assert (done["outcome"], done["message"]) == ("approved", "Approved clean.2.")
        (released,) = (await waiting)["checkpoints"]
        assert (released["outcome"], released["resume_value"], released["by"]) == ("approved", {"limit": 500}, ["ann"])
        await agent_heard.until(lambda: ("approved", "clean") in agent_heard.events)

        # What a shell does is announced as well, and what a client does is there for the shell.
        step = ("--step", "3", "--action", "DROP TABLE", "--agent", "cleaner", "--interrupt", "Drop?")
        assert (await place.checkpoint("--task-id", "clean", *step))[0] == 3
        await agent_heard.until(lambda: agent_heard.events.count(("opened", "clean")) == 2)
        assert (
            "no backup"
            in (await given(ann, "masc_reject", task_id="clean", reason="no backup"))["checkpoint"]["reason"]
        )
        assert (await place.checkpoint("--task-id", "clean", "--status"))[0] == 4
        await other_heard.until(lambda: ("rejected", "clean") in other_heard.events)
        assert "ended" in await refused(agent, "masc_interrupt", task_id="clean", **(ASKS | {"step": 4}))


@pytest.mark.long
async def test_subscribers_hear_of_their_step_alone(place: Place) -> None:
    heard = Heard()
    async with on_stdio(place, heard) as agent, on_stdio(place, HITL_APPROVER_TOKEN="token of ann") as ann:
        mine = await given(agent, "masc_interrupt", task_id="mine", **ASKS)
        uri = AnyUrl(f"masc://checkpoints/{mine['checkpoint_id']}")
        await agent.subscribe_resource(uri)
        theirs = await given(agent, "masc_interrupt", task_id="theirs", **ASKS)
        await given(ann, "masc_approve", checkpoint_id=theirs["checkpoint_id"])
        await given(ann, "masc_approve", checkpoint_id=mine["checkpoint_id"])
        await heard.until(lambda: str(uri) in heard.updated)
        assert set(heard.updated) == {str(uri)}
        (content,) = (await agent.read_resource(uri)).contents
        assert json.loads(content.text)["outcome"] == "approved"  # type: ignore[union-attr]
        await agent.subscribe_resource(AnyUrl("masc://pending"))
        await agent.unsubscribe_resource(uri)
        await agent.set_logging_level("error")
        announced = len(heard.announced)
        await given(agent, "masc_interrupt", task_id="third", **ASKS)
        await heard.until(lambda: "masc://pending" in heard.updated)
        assert len(heard.announced) == announced
        for unknown in (
            "masc://checkpoints/cp-none-1-00000000",
            "masc://checkpoints/..%2F..%2Fup",
            "file:///etc/passwd",
        ):
            with pytest.raises(McpError, match=r"No (checkpoint|resource)"):
                await agent.read_resource(AnyUrl(unknown))


@pytest.mark.long
async def test_who_asks_can_not_decide(place: Place) -> None:
    async with on_stdio(place) as agent:
        asked = await given(agent, "masc_interrupt", task_id="clean", **ASKS)
        which = {"checkpoint_id": asked["checkpoint_id"]}
        assert "can't decide" in await refused(agent, "masc_approve", **which)
        assert "can't decide" in await refused(agent, "masc_reject", **which, reason="no")
        # An agent of an approver's name asks; not even that approver's token decides then.
        named = ASKS | {"agent": "ANN"}
        own = await given(agent, "masc_interrupt", task_id="own", **named)
    async with on_stdio(place, HITL_APPROVER_TOKEN="token of ann") as ann:
        assert "ann asked for this and can't decide it" in await refused(
            ann, "masc_approve", checkpoint_id=own["checkpoint_id"]
        )
        assert "can't ask" in await refused(ann, "masc_interrupt", task_id="sly", **ASKS)
        (place.data / "approvers.toml").write_text("")  # ann is removed
        assert "isn't the token of an approver" in await refused(ann, "masc_approve", **which)
    assert (await place.checkpoint("--task-id", "clean", "--status"))[0] == 3
    assert (await place.checkpoint("--task-id", "sly", "--status"))[0] == 2


@pytest.mark.long
async def test_two_of_two_people_and_a_deadline(place: Place) -> None:
    (place.work / "hitl.toml").write_text(
        '[[policy]]\naction = "drop *"\ndecision = "deny"\n'
        '[[policy]]\nagent = "slow"\ndecision = "ask"\ndeadline = "1s"\n'
        '[[policy]]\nagent = "cleaner"\ndecision = "ask"\nquorum = 2\n'
    )
    heard = Heard()
    async with (
        on_stdio(place, heard) as agent,
        on_stdio(place, HITL_APPROVER_TOKEN="token of ann") as ann,
        on_stdio(place, HITL_APPROVER_TOKEN="token of bob") as bob,
    ):
        assert "rule 1 denies" in await refused(agent, "masc_interrupt", task_id="d", **(ASKS | {"action": "drop x"}))
        (denied,) = (await given(agent, "masc_pending", task_id="d"))["checkpoints"]
        assert (denied["outcome"], denied["ruled"]["rule"]) == ("rejected", 1)
        assert "its step 2 was rejected" in await refused(agent, "masc_interrupt", task_id="d", **(ASKS | {"step": 3}))
        asked = await given(agent, "masc_interrupt", task_id="clean", **ASKS)
        which = {"checkpoint_id": asked["checkpoint_id"]}
        one = await given(ann, "masc_approve", **which)
        assert (one["outcome"], one["needed"]) == ("waiting", 1)
        assert "another person" in await refused(ann, "masc_approve", **which)
        await heard.until(lambda: ("voted", "clean") in heard.events)  # two votes at once are told of as one
        assert (await given(bob, "masc_approve", **which))["outcome"] == "approved"
        await heard.until(lambda: len(heard.events) == 3)
        assert [event for event, _ in heard.events] == ["opened", "voted", "approved"]

        late = await given(agent, "masc_interrupt", task_id="late", **(ASKS | {"agent": "slow"}))
        which = {"checkpoint_id": late["checkpoint_id"]}
        (gone,) = (await given(agent, "masc_pending", **which, wait_seconds=30))["checkpoints"]
        assert gone["outcome"] == "expired"
        await heard.until(lambda: ("expired", "late") in heard.events)
        assert "expired" in await refused(ann, "masc_approve", **which)


@pytest.mark.long
async def test_a_token_that_is_nobodys_starts_no_server(place: Place) -> None:
    process = await asyncio.create_subprocess_exec(
        PROGRAM,
        "mcp",
        env=place.environment(HITL_APPROVER_TOKEN="token of eve"),
        cwd=place.work,
        stdin=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    _, err = await process.communicate()
    assert process.returncode == 2
    assert err.decode().splitlines() == [
        "hitl-tui: This isn't the token of an approver; to list them: hitl-tui approver list"
    ]


@pytest.mark.long
async def test_what_is_no_message_is_answered_and_the_next_one_served(place: Place) -> None:
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    lines = [
        b'{"jsonrpc": "2.0", "id": 1, "method"',
        b"\xff\xfe",
        b'{"jsonrpc": "2.0", "id": 2, "id": 3, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": 4, "method": "ping", "params": {"x": NaN}}',
        b"[" * 100_000,
        b'"' + b"x" * 5_000_000 + b'"',
        b'{"id": 5}',
        b"[1]",
        json.dumps({"jsonrpc": "2.0", "id": 6, "method": "initialize", "params": params}).encode(),
        b'{"jsonrpc": "2.0", "id": 7, "method": "ping"}',
    ]
    process = await asyncio.create_subprocess_exec(
        PROGRAM,
        "mcp",
        env=place.environment(),
        cwd=place.work,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=2**24,
    )
    out, err = await process.communicate(b"\n".join(lines))
    answers: list[dict[str, Any]] = [json.loads(line) for line in out.splitlines()]
    wrong = [one["error"] for one in answers if "error" in one]
    assert [one["code"] for one in wrong] == [-32700, -32700, -32600, -32700, -32700, -32600, -32600, -32600]
    assert all(one["message"].endswith(".") and "\n" not in one["message"] for one in wrong)
    assert [one["id"] for one in answers if "result" in one] == [6, 7]
    assert (process.returncode, err) == (0, b"")


@pytest.mark.long
async def test_a_signal_ends_it_though_its_client_says_nothing(place: Place) -> None:
    process = await asyncio.create_subprocess_exec(
        PROGRAM,
        "mcp",
        env=place.environment(),
        cwd=place.work,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(b"{\n")
    await process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(20):
        assert await process.wait() == 128 + signal.SIGTERM


@pytest.mark.long
@pytest.mark.parametrize("moment", ["asking", "waiting"])
async def test_nothing_is_lost_when_a_server_is_killed(place: Place, moment: str) -> None:
    async with on_stdio(place, HITL_APPROVER_TOKEN="token of ann") as ann:
        async with on_stdio(place) as agent:
            asking = asyncio.create_task(agent.call_tool("masc_interrupt", {"task_id": "clean", **ASKS}))
            if moment == "waiting":
                await asking
                asking = asyncio.create_task(agent.call_tool("masc_pending", {"task_id": "clean", "wait_seconds": 60}))
            await agent.send_ping()
            place.kill_server()
            if moment == "waiting" or not asking.done():
                with pytest.raises(McpError, match="closed"):
                    await asking
        # The agent starts it anew: the step is there once, whether or not it had been told so.
        async with on_stdio(place) as agent:
            again = await given(agent, "masc_interrupt", task_id="clean", **ASKS)
            assert again["waiting_for_approval"]
            (found,) = (await given(agent, "masc_pending", task_id="clean"))["checkpoints"]
            waiting = asyncio.create_task(given(agent, "masc_pending", task_id="clean", wait_seconds=60))
            await given(ann, "masc_approve", checkpoint_id=found["checkpoint_id"], value="go")
            (released,) = (await waiting)["checkpoints"]
            assert (released["outcome"], released["resume_value"]) == ("approved", "go")
            late = await refused(ann, "masc_approve", checkpoint_id=found["checkpoint_id"])
            assert "was approved by ann" in late


@pytest.mark.long
async def test_steps_in_a_database_are_announced_and_decided_alike(place: Place) -> None:
    heard = Heard()
    with bolt_server(place.data.parent / "bolt") as server:
        async with (
            on_stdio(place, heard, **server.environ) as agent,
            on_stdio(place, HITL_APPROVER_TOKEN="token of ann", **server.environ) as ann,
        ):
            asked = await given(agent, "masc_interrupt", task_id="clean", **ASKS)
            which = {"checkpoint_id": asked["checkpoint_id"]}
            waiting = asyncio.create_task(given(agent, "masc_pending", **which, wait_seconds=60))
            assert (await given(ann, "masc_pending"))["count"] == 1
            assert (await given(ann, "masc_approve", **which))["outcome"] == "approved"
            assert (await waiting)["checkpoints"][0]["outcome"] == "approved"
            await heard.until(lambda: heard.events == [("opened", "clean"), ("approved", "clean")])
        assert not place.masc.exists()


def test_the_sdk_is_loaded_by_nothing_but_the_server() -> None:
    loads = "import sys, hitl_tui.cli.mcp_command, hitl_tui.cli.subcommands; print('mcp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", loads], capture_output=True, text=True).stdout == "False\n"
