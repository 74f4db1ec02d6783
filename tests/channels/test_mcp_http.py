"""The MCP server over HTTP: who gets in, and as whom (M5, T8)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest
from mcp_support import AGENTS, ASKS, PROGRAM, Heard, Place, given, over_http, refused, serving

pytestmark = pytest.mark.timeout(300)
_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def headers(token: str, **more: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream", **more}


async def test_agents_ask_and_approvers_decide_over_one_server(place: Place) -> None:
    heard = Heard()
    async with (
        serving(place) as (address, _),
        over_http(address, heard=heard) as agent,
        over_http(address, "token of ann") as ann,
    ):
        asked = await given(agent, "masc_interrupt", task_id="clean", **ASKS)
        which = {"checkpoint_id": asked["checkpoint_id"]}
        assert "can't decide" in await refused(agent, "masc_approve", **which)
        assert "can't ask" in await refused(ann, "masc_interrupt", task_id="sly", **ASKS)
        waiting = asyncio.create_task(given(agent, "masc_pending", **which, wait_seconds=60))
        assert (await given(ann, "masc_pending"))["count"] == 1
        assert (await given(ann, "masc_approve", **which, reason="backed up"))["outcome"] == "approved"
        assert (await waiting)["checkpoints"][0]["outcome"] == "approved"
        # In the shell, too; and what is done there is announced here.
        step = ("--step", "3", "--action", "DROP TABLE", "--agent", "cleaner", "--interrupt", "Drop?")
        assert (await place.checkpoint("--task-id", "clean", *step))[0] == 3
        await heard.until(lambda: ("opened", "clean") in heard.events and "Drop?" in heard.announced[-1]["message"])
        (place.data / "approvers.toml").write_text("")  # ann is removed, and her connection with her
        async with httpx.AsyncClient() as client:
            gone = await client.post(address, json=_HELLO, headers=headers("token of ann"))
        assert gone.status_code == 401
    assert (await place.checkpoint("--task-id", "clean", "--status"))[0] == 3


@pytest.mark.long
async def test_without_a_token_nobody_gets_in(place: Place) -> None:
    async with serving(place) as (address, _), httpx.AsyncClient() as client:
        for wrong in ({}, headers("token of eve"), headers(AGENTS + "x"), {"Authorization": AGENTS}):
            answer = await client.post(address, json=_HELLO, headers=wrong)
            assert answer.status_code == 401
            assert answer.json()["error"] == "invalid_token"
        # A page in a browser that has found the port gets nowhere, even with the token.
        for foreign in ({"Host": "evil.example:80"}, {"Origin": "http://evil.example"}):
            assert (await client.post(address, json=_HELLO, headers=headers(AGENTS, **foreign))).status_code in (
                403,
                421,
            )
        found = await client.post(address, json=_HELLO, headers=headers(AGENTS))
        session = {"Mcp-Session-Id": found.headers["mcp-session-id"]}
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        assert (await client.post(address, json=ping, headers=headers(AGENTS, **session))).status_code == 200
        # A session is its own caller's, and ends for good.
        assert (await client.post(address, json=ping, headers=headers("token of ann", **session))).status_code == 404
        assert (await client.delete(address, headers=headers(AGENTS, **session))).status_code == 200
        assert (await client.post(address, json=ping, headers=headers(AGENTS, **session))).status_code == 404
        json_type = {"Content-Type": "application/json"}
        assert (await client.post(address, content=b"{", headers=headers(AGENTS, **json_type))).status_code == 400


@pytest.mark.long
async def test_a_killed_server_loses_nothing(place: Place) -> None:
    async with serving(place) as (address, process), over_http(address) as agent:
        asked = await given(agent, "masc_interrupt", task_id="clean", **ASKS)
        process.kill()
        await process.wait()
    async with serving(place) as (address, _), over_http(address) as agent, over_http(address, "token of bob") as bob:
        await given(bob, "masc_approve", checkpoint_id=asked["checkpoint_id"], value=[1, 2])
        (found,) = (await given(agent, "masc_pending", task_id="clean", wait_seconds=60))["checkpoints"]
        assert (found["outcome"], found["resume_value"]) == ("approved", [1, 2])


@pytest.mark.long
async def test_a_signal_ends_it_while_clients_are_connected(place: Place) -> None:
    async with serving(place) as (address, process), over_http(address) as agent:
        asked = await given(agent, "masc_interrupt", task_id="clean", **ASKS)
        which = {"checkpoint_id": asked["checkpoint_id"]}
        waiting = asyncio.create_task(agent.call_tool("masc_pending", {**which, "wait_seconds": 60}))
        await agent.send_ping()
        process.terminate()
        async with asyncio.timeout(20):
            assert await process.wait() == 143
        waiting.cancel()


@pytest.mark.sampled(3)
@pytest.mark.long
@pytest.mark.parametrize(
    ("address", "token", "words"),
    [
        ("0.0.0.0:0", "", "isn't a loopback address, so HITL_MCP_TOKEN must hold"),
        ("127.0.0.1:0", "short", "HITL_MCP_TOKEN needs at least 20 characters"),
        ("127.0.0.1:0", "token of someone-long-enough", "HITL_MCP_TOKEN is an approver's token"),
        ("example.com:80", "", "--http takes an address and a port"),
        ("127.0.0.1:99999", "", "--http takes an address and a port"),
        ("127.0.0.1:-1", "", "--http takes an address and a port"),
        ("192.0.2.1:0", AGENTS, "can't be used"),
    ],
)
async def test_an_address_or_token_that_will_not_do(place: Place, address: str, token: str, words: str) -> None:
    from people import write_approvers

    write_approvers(place.data, "someone-long-enough")
    process = await asyncio.create_subprocess_exec(
        PROGRAM,
        "mcp",
        f"--http={address}",
        cwd=place.work,
        env=place.environment(HITL_MCP_TOKEN=token),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert (process.returncode, out) == (2, b"")
    assert words in err.decode().splitlines()[0]
