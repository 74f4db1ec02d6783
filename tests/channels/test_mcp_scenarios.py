"""A deletion and a payment by agents that speak MCP, decided by two of three people, with servers killed meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from mcp import McpError
from mcp_support import Heard, Place, given, on_stdio
from people import write_approvers

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    found = Place(tmp_path)
    write_approvers(found.data, "ann", "bob", "cho")
    (found.work / "hitl.toml").write_text('[[policy]]\nagent = "*"\naction = "*"\ndecision = "ask"\nquorum = 2\n')
    return found


async def agent(place: Place, task: str, action: str, message: str, act: Callable[[], object]) -> str:
    """Ask, wait, and act once that is approved; start the server anew whenever it is gone."""
    asks = {"task_id": task, "step": 2, "action": action, "agent": "worker", "message": message}
    while True:
        step = None
        async with on_stdio(place) as session:
            try:
                if (await session.call_tool("masc_pending", {"task_id": task})).isError:
                    await given(session, "masc_interrupt", **asks)
                (step,) = (await given(session, "masc_pending", task_id=task, wait_seconds=60))["checkpoints"]
            except McpError:
                continue
        if step is None:  # the server was gone before it answered
            continue
        if step["outcome"] == "approved":
            act()
        return str(step["outcome"])


async def test_records_are_deleted_once_after_two_of_three_approved(place: Place) -> None:
    deleted: list[str] = []
    heard = Heard()
    async with (
        on_stdio(place, heard, HITL_APPROVER_TOKEN="token of ann") as ann,
        on_stdio(place, HITL_APPROVER_TOKEN="token of cho") as cho,
    ):
        says = "10,000 records will be deleted"
        running = asyncio.create_task(
            agent(place, "cleanup", "DELETE FROM customers", says, lambda: deleted.append("customers"))
        )
        await heard.until(lambda: ("opened", "cleanup") in heard.events)
        place.kill_server()
        (step,) = (await given(ann, "masc_pending"))["pending"]
        which = {"task_id": "cleanup", "digest": step["digest"]}
        assert (await given(ann, "masc_approve", **which))["needed"] == 1
        assert not deleted and not running.done()
        await heard.until(lambda: ("voted", "cleanup") in heard.events)  # two votes at once are told of as one
        assert (await given(cho, "masc_approve", **which))["outcome"] == "approved"
        assert await running == "approved"
        assert deleted == ["customers"]
        await heard.until(lambda: len(heard.events) == 3)
        assert [event for event, _ in heard.events] == ["opened", "voted", "approved"]


async def test_a_payment_that_one_of_them_rejects_is_never_made(place: Place) -> None:
    paid: list[str] = []
    heard = Heard()
    async with on_stdio(place, heard, HITL_APPROVER_TOKEN="token of bob") as bob:
        running = asyncio.create_task(
            agent(place, "invoice", "pay 4,200 EUR", "Pays 4,200 EUR", lambda: paid.append("4,200 EUR"))
        )
        await heard.until(lambda: ("opened", "invoice") in heard.events)
        place.kill_server()
        await given(bob, "masc_reject", task_id="invoice", reason="paid already")
        assert await running == "rejected"
        assert paid == []
