"""What a runtime elsewhere asks stands in the console's inbox, and is answered there (P4, P6, M6)."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from console_support import Console, command_workspace, console
from people import write_approvers
from runtime_support import QUESTION, Place, Served, listening, serving
from textual.screen import ModalScreen
from textual.widgets import DataTable, Static

from hitl_tui.channels.plan_feedback.feedback import Feedback
from hitl_tui.channels.plan_feedback.reviewed_runtime import ReviewedRuntimes
from hitl_tui.channels.plan_feedback.store import PublishedRequest
from hitl_tui.channels.plan_feedback.store_address import store_at
from hitl_tui.config.review_settings import REVIEW_RUNTIME
from hitl_tui.console.dialogs.inbox_dialog import InboxDialog
from hitl_tui.console.dialogs.prompt_dialogs import WordsDialog
from hitl_tui.console.dialogs.remote_dialog import RemoteDialog

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]


@asynccontextmanager
async def reviewing(
    folder: Path, place: str, monkeypatch: pytest.MonkeyPatch, name: str = "mine"
) -> AsyncIterator[Console]:
    """A console whose inbox has the requests of a runtime."""
    monkeypatch.setenv(REVIEW_RUNTIME, place)
    reach = partial(ReviewedRuntimes, environ=os.environ, by="ann")
    async with console(folder / name, command_workspace(folder / f"{name}-work"), reach=reach) as c:
        yield c


async def open_inbox(c: Console, rows: int) -> None:
    await c.press("f3")
    await c.until(
        lambda: (
            isinstance(c.app.screen, InboxDialog) and [t.row_count for t in c.app.screen.query(DataTable)] == [rows]
        ),
        f"an inbox with {rows} rows",
    )


async def open_request(c: Console, asks: str) -> str:
    """Open the only request; return what it says."""
    await open_inbox(c, 1)
    row = c.app.screen.query_one(DataTable).get_row_at(0)
    assert asks in str(row[1]), row
    await c.press("enter")
    await c.until(lambda: isinstance(c.app.screen, RemoteDialog), "the request")
    while not c.app.screen.read:  # type: ignore[attr-defined]
        await c.press("pagedown")
    c.clock.rest()
    return "\n".join(str(static.content) for static in c.app.screen.query(Static)) + said(c)


def said(c: Console) -> str:
    from hitl_tui.console.widgets.virtual_rows import Rows

    return "\n".join(f"{row.label} {row.text.plain}" for row in c.app.screen.query_one(Rows).rows)


def key_line(c: Console) -> str:
    return str(c.app.screen.query_one("#reading-keys", Static).content)


async def told(served: Served, type: str, number: int = 1) -> dict[str, object]:
    return await asyncio.to_thread(served.until, type, number)


@pytest.mark.slow
async def test_a_plan_is_revised_and_approved_over_http(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = Place(tmp_path / "there")
    with listening(there) as (served, address):
        await asyncio.to_thread(invoke, address, QUESTION)
        async with reviewing(tmp_path, address, monkeypatch) as c:
            shown = await open_request(c, QUESTION)
            assert QUESTION in shown and address.removeprefix("http://") in shown
            await c.press("3")
            await c.until(lambda: isinstance(c.app.screen, WordsDialog), "what to change")
            await c.press(*"add", "space", *"a", "space", *"report")
            c.clock.rest()
            await c.press("enter")
            await told(served, "plan_review_request", 2)
            await c.until(lambda: not isinstance(c.app.screen, ModalScreen), "that it is sent")
            shown = await open_request(c, QUESTION)
            assert "revision 1 of at most" in str(c.app.screen.query_one("#reading").border_title)
            assert "added" in shown
            await c.press("1")
            await c.until(lambda: c.message == "Approved.", "what became of it")
            assert (await told(served, "decided", 2))["outcome"] == "approved"
            await told(served, "todo_review_request")
            assert "takes a verified approver" in await open_request(c, "Approve 002?")
            await c.press("1")
            assert isinstance(c.app.screen, RemoteDialog) and "Approve" not in key_line(c), "nobody proves who they are"
            await c.press("escape")
        write_approvers(there.data, "ann")
        monkeypatch.setenv("HITL_APPROVER_TOKEN", "token of ann")
        async with reviewing(tmp_path, address, monkeypatch, "again") as c:
            await open_request(c, "Approve 002?")
            await c.press("1")
            assert (await told(served, "done"))["response"]


async def test_a_plan_is_approved_through_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there, folder = Place(tmp_path / "there"), tmp_path / "feedback"
    with serving(there, "--feedback", str(folder), PLAN_FEEDBACK_POLL_INTERVAL="0.2") as served:
        served.give({"id": "j1", "query": QUESTION})
        await told(served, "plan_review_request")
        async with reviewing(tmp_path, str(folder), monkeypatch) as c:
            await open_request(c, QUESTION)
            await c.press("1")
            await told(served, "done")
            await c.until(lambda: c.message == "Approved.", "what became of it")


async def test_who_comes_second_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there, folder = Place(tmp_path / "there"), tmp_path / "feedback"
    with serving(there, "--feedback", str(folder), PLAN_FEEDBACK_POLL_INTERVAL="300") as served:
        served.give({"id": "j1", "query": QUESTION})
        asked = await told(served, "plan_review_request")
        async with reviewing(tmp_path, str(folder), monkeypatch) as c:
            await open_request(c, QUESTION)
            other = Feedback(True, "", datetime.now(UTC), str(asked["digest"]), "bob")
            await store_at(str(folder)).put_new(str(asked["request_id"]), other)
            await c.press("1")
            await c.until(lambda: "already" in c.message, "that somebody was first")


async def test_a_request_that_is_decided_while_it_is_read_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = Place(tmp_path / "there")
    with listening(there) as (served, address):
        await asyncio.to_thread(invoke, address, QUESTION)
        async with reviewing(tmp_path, address, monkeypatch) as c:
            await open_request(c, QUESTION)
            await asyncio.to_thread(there.decide, await told(served, "plan_review_request"), "approve")
            await c.until(lambda: "is decided already" in c.app.screen.over, "that it is decided")  # type: ignore[attr-defined]
            await c.press("1")
            assert isinstance(c.app.screen, RemoteDialog), "it decides nothing any more"


@pytest.mark.parametrize("place", ["http://127.0.0.1:{port}", "http://127.0.0.1:{silent}", "{folder}/none"])
async def test_a_runtime_out_of_reach_is_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = place.format(port=port, silent=silent.getsockname()[1], folder=tmp_path)
        async with reviewing(tmp_path, address, monkeypatch) as c:
            await open_inbox(c, 0)
            line = c.app.screen.query_one("#inbox-warnings", Static)
            if "none" not in place:  # an empty place is no fault
                await c.until(lambda: line.display and address in str(line.content), "that it is out of reach")


async def test_a_workspace_names_its_runtime_once_it_is_trusted(tmp_path: Path) -> None:
    store = store_at(str(tmp_path / "feedback"))
    work = command_workspace(tmp_path / "w")
    settings = work / "hitl.toml"
    settings.write_text(f'{settings.read_text()}\n[review]\nruntime = "../feedback"\n', encoding="utf-8")
    event = {"type": "plan_review_request", "request_id": "r1", "job_id": "j1", "plan": "1. Search", "query": "the cap"}
    await store.publish(PublishedRequest("r1", event))
    reach = partial(ReviewedRuntimes, environ={}, by="ann")
    async with console(tmp_path / "d1", work, reach=reach, trusted=False) as c:
        await c.pilot.pause(0.5)
        await open_inbox(c, 0)
        await c.press("escape")
        await c.pilot.pause(0.5)
    async with console(tmp_path / "d2", work, reach=reach) as c:
        await open_request(c, "the cap")
        await c.press("1")
        await c.until(lambda: (tmp_path / "feedback" / "r1.json").exists(), "the answer")
        found = json.loads((tmp_path / "feedback" / "r1.json").read_text())
        assert found["approved"] is True and found["reviewer"] == "ann"


async def test_several_runtimes_stand_in_one_inbox_and_one_out_of_reach_hides_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = [store_at(str(tmp_path / name)) for name in ("north", "south")]
    for number, store in enumerate(stores):
        event = {"type": "plan_review_request", "request_id": f"r{number}", "job_id": "j1", "query": f"cap {number}"}
        await store.publish(PublishedRequest(f"r{number}", event))
    with socket.create_server(("127.0.0.1", 0)) as free:
        gone = f"http://127.0.0.1:{free.getsockname()[1]}"
    places = f"{tmp_path / 'north'}, {gone},{tmp_path / 'south'}"
    async with reviewing(tmp_path, places, monkeypatch) as c:
        await open_inbox(c, 2)
        line = c.app.screen.query_one("#inbox-warnings", Static)
        await c.until(lambda: line.display and gone in str(line.content), "which one is out of reach")
        rows = [str(c.app.screen.query_one(DataTable).get_row_at(n)) for n in range(2)]
        south = next(n for n, row in enumerate(rows) if "south" in row)
        assert "north" in rows[1 - south]
        await c.press(*["down"] * south, "enter")
        await c.until(lambda: isinstance(c.app.screen, RemoteDialog), "the request")
        c.clock.rest()
        await c.press("1")
        await c.until(lambda: (tmp_path / "south" / "r1.json").exists(), "the answer, where it was asked")
    assert not (tmp_path / "north" / "r0.json").exists()


async def test_what_a_hostile_runtime_asks_is_shown_as_what_it_is(tmp_path: Path) -> None:
    evil = "\x1b]0;x\x07\x1b[31m\u202eevil\u2066 " + "a" + "\u0301" * 200 + "\x00\r\n\tline"
    step = dict.fromkeys(("id", "title", "agent", "task", "risk"), evil)
    asked = {
        "type": "plan_review_request", "request_id": "r1", "job_id": evil, "query": evil, "digest": evil, "plan": evil,
        "steps": [{**step, "arguments": {evil: [evil], "n": 1e308}, "dependencies": [evil, 7]}, 7], "notes": [evil, 7],
        "difference": {"added": [step], "removed": 7}, "expires_at": evil, "timeout_seconds": -1, "on_timeout": evil,
    }  # fmt: skip
    store = store_at(str(tmp_path / "feedback"))
    await store.publish(PublishedRequest("r1", asked))
    work = command_workspace(tmp_path / "w")
    settings = f'[review]\nruntime = "{tmp_path / "feedback"}"\n'
    (work / "hitl.toml").write_text(settings, encoding="utf-8")
    async with console(tmp_path / "d", work, reach=partial(ReviewedRuntimes, environ={}, by="ann")) as c:
        shown = await open_request(c, "Approve the plan?")
        assert "evil" in shown and not {"\x1b", "\x07", "\u202e", "\x00"} & set(shown)


def invoke(address: str, prompt: str) -> None:
    """Start a job, and leave."""
    import httpx

    with httpx.Client(base_url=address, timeout=60).stream("POST", "/invocations", json={"prompt": prompt}) as answer:
        for line in answer.iter_lines():
            if '"plan_review_request"' in line:
                return
