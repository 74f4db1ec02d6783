"""Steps of agents' tasks stand in the console's inbox and are answered there (M6)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from console_support import Console, command_workspace, console
from people import write_approvers
from textual.screen import ModalScreen
from textual.widgets import DataTable, Static

from hitl_tui.console.dialogs.inbox_dialog import InboxDialog
from hitl_tui.console.dialogs.prompt_dialogs import LineDialog, WordsDialog
from hitl_tui.console.dialogs.task_step_dialog import CallDialog, TaskStepDialog
from hitl_tui.console.widgets.virtual_rows import Rows
from hitl_tui.core.events import utc_now
from hitl_tui.core.identity import Identity
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.policy import Policy, Rule, Ruling
from hitl_tui.core.requests import Terms, Verdict
from hitl_tui.ledger.entry_files import at_once
from hitl_tui.notifications.moments import Moment, Told
from hitl_tui.notifications.outbox import Outbox
from hitl_tui.notifications.wake import FOLDER, take_lock
from hitl_tui.policy.operator_identity import Operator
from hitl_tui.task_checkpoints.checkpoint import Call, Checkpoint, Status
from hitl_tui.task_checkpoints.folders import register, store_of
from hitl_tui.task_checkpoints.service import TaskCheckpoints

pytestmark = pytest.mark.long


def ask(masc: Path, data: Path) -> TaskCheckpoints:
    tasks = TaskCheckpoints(store_of(masc, {}))
    at_once(tasks.record("cleanup", 2, "DELETE FROM customers", "cleaner", "10,000 records will be deleted"))
    register(data, masc)
    return tasks


@asynccontextmanager
async def step_before_one(folder: Path) -> AsyncIterator[tuple[Console, TaskCheckpoints]]:
    """A console that shows an agent's step, and the tasks it is of."""
    data = folder / "d"
    async with console(data, command_workspace(folder / "w")) as c:
        tasks = ask(folder / "elsewhere" / ".masc", data)
        await open_step(c)
        yield c, tasks


async def open_step(c: Console, says: str = "") -> None:
    await c.press("f3")
    await c.until(
        lambda: isinstance(c.app.screen, InboxDialog) and [t.row_count for t in c.app.screen.query(DataTable)] == [1],
        "the inbox",
    )
    row = c.app.screen.query_one(DataTable).get_row_at(0)
    assert "cleanup" in str(row[0]) and "10,000 records" in str(row[1])
    await c.until(lambda: says in str(c.app.screen.query_one("#inbox-one", Static).content), "what it takes")
    await c.press("enter")
    await c.until(lambda: isinstance(c.app.screen, TaskStepDialog) and c.app.screen.read, "the step")
    c.clock.rest()


async def decided(c: Console, tasks: TaskCheckpoints) -> Checkpoint:
    """Return the step once it doesn't wait any more."""
    await c.until(lambda: at_once(tasks.the_step("cleanup", None)).status is not Status.INTERRUPTED, "the decision")
    return await tasks.the_step("cleanup", None)


async def test_a_step_is_approved_from_the_inbox(tmp_path: Path) -> None:
    async with step_before_one(tmp_path) as (c, tasks):
        await c.press("1")
        await c.until(lambda: not isinstance(c.app.screen, TaskStepDialog), "that it is decided")
        step = await decided(c, tasks)
        assert step.status is Status.COMPLETED
        assert step.view is not None and step.view.resolution.decisions[0].channel == "console"


async def vote(c: Console, name: str, stands: str) -> None:
    """Approve the step as an approver, after the operator's own word was refused."""
    await open_step(c, stands)
    await c.press("1")
    await c.until(lambda: type(c.app.screen) is LineDialog, "whose token it is")
    asked = c.app.screen
    await c.press(*name, "enter")
    await c.until(lambda: type(c.app.screen) is LineDialog and c.app.screen is not asked, "the token")
    await c.press(*"token", "space", *"of", "space", *name, "enter")
    await c.until(lambda: not isinstance(c.app.screen, ModalScreen), "that it is said")


async def test_two_approvers_decide_from_the_inbox_with_their_tokens(tmp_path: Path) -> None:
    masc, data = tmp_path / "elsewhere" / ".masc", tmp_path / "d"
    terms = Terms(quorum=2, level=1)
    tasks = TaskCheckpoints(store_of(masc, {}), Policy((Rule(Ruling.ASK, agent="cleaner", terms=terms),)))
    async with console(data, command_workspace(tmp_path / "w"), operator=Operator(data)) as c:
        at_once(tasks.record("cleanup", 2, "DELETE FROM customers", "cleaner", "10,000 records will be deleted"))
        register(data, masc)
        await open_step(c)
        rows = {row.label: row.text.plain for row in c.app.screen.query_one(Rows).rows}
        assert "Nobody can approve this" in rows["takes"]
        await c.press("escape")
        write_approvers(data, "ann", "bob", level=1)
        await vote(c, "ann", "0 of 2 approvals")
        await vote(c, "bob", "1 of 2 approvals")
        step = await decided(c, tasks)
        assert step.status is Status.COMPLETED and step.to_dict()["by"] == ["ann", "bob"]


async def test_a_rejection_asks_for_its_reason(tmp_path: Path) -> None:
    async with step_before_one(tmp_path) as (c, tasks):
        await c.press("3")
        await c.until(lambda: isinstance(c.app.screen, WordsDialog), "the reason")
        await c.press(*"no", "space", *"backup")
        c.clock.rest()
        await c.press("enter")
        step = await decided(c, tasks)
        assert step.status is Status.REJECTED
        assert step.to_dict()["reason"] == "no backup"


HOSTILE: JsonObject = {
    "command": "rm -r build",
    "none": None,
    "empty": "",
    "number": 12345678901234567890,
    "nested": {"a": [1, None, "x"]},
    "lines": "one\n\ttwo\x1b[2J",
    "true": True,
}


async def test_a_call_is_edited_and_approved_as_edited(tmp_path: Path) -> None:
    data, masc = tmp_path / "d", tmp_path / "elsewhere" / ".masc"
    async with console(data, command_workspace(tmp_path / "w")) as c:
        masc.mkdir(parents=True)
        tasks = TaskCheckpoints(store_of(masc, {}))
        asked = await tasks.ask("cleanup", Call("bot", "Bash", HOSTILE), "10,000 records will be deleted")
        assert asked.view is not None
        register(data, masc)
        await open_step(c)
        await c.press("2")
        await c.until(lambda: isinstance(c.app.screen, CallDialog), "the fields")
        c.clock.rest()
        await c.press("ctrl+s")
        await c.until(lambda: isinstance(c.app.screen, TaskStepDialog) and c.app.screen.read, "that nothing changed")
        assert [one.view and one.view.request.id for one in await tasks.steps("cleanup")] == [asked.view.request.id]
        c.clock.rest()
        await c.press("2")
        await c.until(lambda: isinstance(c.app.screen, CallDialog), "the fields")
        await c.press("end", *"-old")
        c.clock.rest()
        await c.press("ctrl+s")
        await c.until(lambda: isinstance(c.app.screen, TaskStepDialog) and c.app.screen.read, "the call as edited")
        step = await tasks.the_step("cleanup", None)
        assert step.arguments == {**HOSTILE, "command": "rm -r build-old"}
        assert step.status is Status.INTERRUPTED, "an edit approves nothing"
        c.clock.rest()
        await c.press("1")
        step = await decided(c, tasks)
        assert (step.status, step.arguments) == (Status.COMPLETED, {**HOSTILE, "command": "rm -r build-old"})


async def test_a_step_in_words_has_nothing_to_edit(tmp_path: Path) -> None:
    async with step_before_one(tmp_path) as (c, tasks):
        await c.press("2")
        assert isinstance(c.app.screen, TaskStepDialog)
        assert "Edit" not in str(c.app.screen.query_one("#reading-keys", Static).content)
        assert (await tasks.the_step("cleanup", None)).status is Status.INTERRUPTED


async def test_a_call_that_nobody_waits_for_any_more_says_so_in_the_list_and_at_its_question(tmp_path: Path) -> None:
    data, masc = tmp_path / "d", tmp_path / "elsewhere" / ".masc"
    async with console(data, command_workspace(tmp_path / "w")) as c:
        masc.mkdir(parents=True)
        tasks = TaskCheckpoints(store_of(masc, {}))
        asked = await tasks.ask("cleanup", Call("bot", "Bash", {"command": "rm"}), "10,000 records will be deleted")
        await tasks.await_for(asked, 0)
        register(data, masc)
        await open_step(c, "Nobody waits any more; approving allows the next identical call.")
        rows = {row.label: row.text.plain for row in c.app.screen.query_one(Rows).rows}
        assert rows["NOTE"].startswith("Nobody waits any more")


async def test_what_was_decided_meanwhile_is_not_edited(tmp_path: Path) -> None:
    data, masc = tmp_path / "d", tmp_path / "elsewhere" / ".masc"
    async with console(data, command_workspace(tmp_path / "w")) as c:
        masc.mkdir(parents=True)
        tasks = TaskCheckpoints(store_of(masc, {}))
        asked = await tasks.ask("cleanup", Call("bot", "Bash", {"command": "rm"}), "10,000 records will be deleted")
        register(data, masc)
        await open_step(c)
        await c.press("2")
        await c.until(lambda: isinstance(c.app.screen, CallDialog), "the fields")
        await tasks.decide(asked, Verdict.APPROVE, Identity("kim", "kim", "token"), "cli")
        await c.press("end", *"dir")
        c.clock.rest()
        await c.press("ctrl+s")
        await c.until(lambda: not isinstance(c.app.screen, ModalScreen), "that it was too late")
        step = await tasks.the_step("cleanup", None)
        assert (step.status, step.arguments) == (Status.COMPLETED, {"command": "rm"})


async def test_the_inbox_says_who_approves_too_fast_and_what_could_not_be_told(tmp_path: Path) -> None:
    data, masc = tmp_path / "d", tmp_path / "elsewhere" / ".masc"
    async with console(data, command_workspace(tmp_path / "w")) as c:
        tasks = ask(masc, data)
        for number in range(20):
            step = at_once(tasks.record("hurry", number, "rm -r build " * 40, "bot", "Delete?"))
            at_once(tasks.was_shown(step, "bot", "cli"))
            at_once(tasks.decide(step, Verdict.APPROVE, Identity("kim", "kim", "token"), "cli"))
        (data / FOLDER).mkdir(exist_ok=True)
        assert take_lock(data / FOLDER) is not None, "no sender comes: it would find that there is no such target"
        assert step.view is not None
        told, now = Told(Moment.OPENED, step.view.request), utc_now()
        with Outbox.open(data, now) as outbox:
            outbox.queue(told, "t1", "json (settings.toml, target 1)", "", now)
            outbox.failed(outbox.due(now), "it is down", now, 60)
        await c.press("f3")
        await c.until(lambda: isinstance(c.app.screen, InboxDialog), "the inbox")
        await c.until(lambda: bool(c.app.screen.query_one("#inbox-warnings").display), "the warnings")
        said = str(c.app.screen.query_one("#inbox-warnings", Static).content)
        assert "kim approved 20 in a row" in said
        assert "json (settings.toml, target 1): 1 notification couldn't be sent yet: it is down" in said


async def test_who_is_cancelled_leaves_the_store_of_tasks_to_nobody_before_its_thread_has_ended(tmp_path: Path) -> None:
    began, goes_on, inside = threading.Event(), threading.Event(), []

    async def slow() -> None:
        inside.append("slow")
        began.set()
        goes_on.wait(10)
        inside.append("slow ended")

    async def quick() -> None:
        inside.append("quick")

    async with console(tmp_path / "d", command_workspace(tmp_path / "w")) as c:
        first = asyncio.create_task(c.app.engine._in_tasks(slow()))
        await asyncio.to_thread(began.wait, 10)
        first.cancel()
        second = asyncio.create_task(c.app.engine._in_tasks(quick()))
        for _turn in range(3):  # by then the cancellation has arrived, and the second has asked for its place
            await asyncio.sleep(0)
        assert not first.done() and inside == ["slow"]
        goes_on.set()
        await second
        assert inside == ["slow", "slow ended", "quick"] and first.cancelled()
