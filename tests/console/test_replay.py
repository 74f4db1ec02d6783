"""Replay: stepping through the past, differences, going back and elsewhere, and the branch graph (C5)."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from console_support import EXAMPLE, RISE, Console, command_workspace, console
from textual.widgets import Markdown, Static

from hitl_tui.console.dialogs.prompt_dialogs import ConfirmDialog, WordsDialog
from hitl_tui.console.dialogs.text_viewer import TextViewer
from hitl_tui.console.history_cursor import HistoryCursor
from hitl_tui.console.screens.history_screen import HistoryScreen
from hitl_tui.console.widgets.bars import HeaderBar
from hitl_tui.console.widgets.history_table import GraphTable, HistoryTable, branch_graph
from hitl_tui.console.widgets.plan_table import PlanTable
from hitl_tui.console.widgets.state_tree import StateTree
from hitl_tui.console.widgets.stream_pane import StreamPane
from hitl_tui.console.widgets.virtual_rows import Rows
from hitl_tui.core.todos import Status
from hitl_tui.ledger.records import Posted
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.threads.session_history import CheckpointInfo
from hitl_tui.threads.thread_reader import HeadAncestry, HistoryForm, Stretch, is_decision
from hitl_tui.wording.history_rows import event_words

pytestmark = pytest.mark.long


class Replay:
    """The replay screen under test."""

    def __init__(self, console_: Console) -> None:
        self.console = console_

    @property
    def screen(self) -> HistoryScreen:
        return next(s for s in self.console.app.screen_stack if isinstance(s, HistoryScreen))

    @property
    def number(self) -> int:
        assert self.screen.place is not None
        return self.screen.place.number

    @property
    def where(self) -> str:
        return str(self.screen.query_one("#history-where", Static).content)

    @property
    def text(self) -> str:
        rows = self.screen.query_one("#history-text", Rows).rows
        return "\n".join(f"{row.label} {row.text.plain}" for row in rows)

    @property
    def plan(self) -> list[str]:
        table = self.screen.query_one(PlanTable)
        return [str(table.get_row_at(n)[0]) for n in range(table.row_count)]

    @property
    def drawn(self) -> str:
        table = self.screen.query_one(GraphTable)
        return "\n".join(str(table.get_row_at(n)[0]) for n in range(table.row_count))

    async def settle(self) -> None:
        await self.console.until(lambda: self.screen.settled and self.screen.place is not None, "the moment")

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.console.press(key)
            await self.settle()


async def approved(c: Console, *todo_ids: str) -> None:
    """Approve TODOs as they ask, each to its end."""
    for todo_id in todo_ids:
        await c.until(partial(_asks, c, todo_id), f"{todo_id} asks")
        await c.to_question()
        await c.read_on()
        await c.press("1")
        await c.until(partial(_done, c, todo_id), f"{todo_id} done")


def _asks(c: Console, todo_id: str) -> bool:
    return c.shown() and c.panel.select(todo_id)


def _done(c: Console, todo_id: str) -> bool:
    return c.status(todo_id) == Status.COMPLETED


@asynccontextmanager
async def replayed(data: Path, *, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Replay]:
    """Open replay on a session of two steps that is finished."""
    async with console(data, query=RISE, size=size) as c:
        await approved(c, "todo_001", "todo_002")
        await c.until(lambda: c.snapshot.concluded, "the answer")
        await c.press("f5")
        await c.until(lambda: isinstance(c.app.screen, HistoryScreen), "replay")
        replay = Replay(c)
        await replay.settle()
        yield replay


async def test_esc_ends_the_search_in_a_pane_before_it_leaves_the_past(tmp_path: Path) -> None:
    async with replayed(tmp_path) as replay:
        plan = replay.screen.query_one(PlanTable)
        plan.focus()
        await replay.press("slash", *"001", "enter")
        assert plan.row_count == 1
        await replay.press("escape")
        assert plan.row_count == 2 and isinstance(replay.console.app.screen, HistoryScreen)
        await replay.console.press("escape")
        await replay.console.until(lambda: not isinstance(replay.console.app.screen, HistoryScreen), "the session")


@pytest.mark.long
async def test_stepping_shows_the_plan_as_it_was_and_runs_nothing(tmp_path: Path) -> None:
    async with replayed(tmp_path) as r:
        handle = r.console.session.handle
        assert handle is not None
        before, entries = await handle.thread.shape(), await handle.setup.ledger.entries(handle.session.id)
        assert "VIEWING THE PAST · nothing runs from here" in str(r.screen.query_one("#history-banner", Static).content)
        assert r.plan == ["✓ done", "✓ done"]
        total = r.number
        seen, numbers = {tuple(r.plan)}, [r.number]
        while not r.console.message:
            await r.press("left")
            seen.add(tuple(r.plan))
            numbers.append(r.number)
        assert r.number > 1 and r.console.message == "Only engine steps before this: . shows them."
        assert {("? asks", "· waits"), ("✓ done", "? asks")} <= seen and () not in seen
        assert "coordinator" not in r.drawn and "execute_teams" not in r.drawn
        folded = set(range(1, total + 1)) - set(numbers)
        assert {1, 2, 3} <= folded
        await r.press("full_stop", "home")
        assert r.number == 1 and r.plan == [] and r.drawn.count("coordinator") == 2
        await r.press("end")
        assert (r.number, r.plan) == (total, ["✓ done", "✓ done"])
        await r.press("right")
        assert "newest" in r.console.message
        await r.press("home", "right", "right")
        assert r.number == 3
        await r.console.press("escape")
        assert r.console.app.screen is r.console.session
        assert (await handle.thread.shape(), await handle.setup.ledger.entries(handle.session.id)) == (before, entries)


@pytest.mark.long
async def test_decisions_are_found_and_say_who(tmp_path: Path) -> None:
    async with replayed(tmp_path) as r:
        await r.press("left_square_bracket")
        assert re.search(r"approved 002 분석.* · by ops \(console\)", r.where)
        await r.press("left_square_bracket")
        assert "approved 001 " in r.where and " · by ops (console)" in r.where
        decided = next(line for line in r.text.split("\n") if line.startswith("decided"))
        assert decided.startswith("decided approved 001 ") and "by ops (console)" in r.text
        assert "? asks → ○ approved" in r.text
        here = r.number
        await r.press("left_square_bracket")
        assert r.number == here
        assert r.console.message == "Nothing was decided before this."
        await r.press("right_square_bracket")
        assert "approved 002" in r.where


@pytest.mark.long
async def test_differences_of_a_moment_a_mark_and_two_marks(tmp_path: Path) -> None:
    async with replayed(tmp_path) as r:
        await r.press("full_stop", "home", "2")
        assert "none before it" in r.console.message
        await r.press("end", "left_square_bracket", "left_square_bracket", "2")
        assert "? asks → ○ approved · by ops (console)" in r.text
        assert "Results · the same" in r.text
        marked = r.where.split()[0]
        await r.press("m", "end")
        assert "~ 001 ○ approved → ✓ done" in r.text
        assert "~ 002 · waits → ✓ done" in r.text
        assert "+ 001" in r.text.partition("Results")[2]
        assert "+ answer" in r.text.partition("Results")[2]
        await r.press("m", "home")
        assert "between the two marks" in r.text
        assert "~ 001 ○ approved → ✓ done" in r.text
        shape = r.screen._cursor.shape
        assert shape is not None
        last = f"{shape.total} "
        marks = str(r.screen.query_one("#history-marks", Static).content)
        assert f"A {marked} " in marks and f"B {last}" in marks
        title = str(r.screen.query_one("#history-moment").border_title)
        assert title.startswith(f"Diff · {marked} ") and f"→ {last}" in title
        await r.press("right", "right", "right", "m")
        assert "~ 002" in r.text
        await r.press("1")
        assert "decided" in r.text


async def test_differences_are_told_in_words_and_the_engine_s_values_are_folded(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.to_question()
        await c.press("3")
        await c.until(lambda: isinstance(c.app.screen, WordsDialog), "the reason")
        c.clock.rest()
        await c.press("enter")
        await c.until(lambda: c.status("todo_001") == Status.FAILED, "it is rejected")
        await c.send("/mode risk")
        await c.until(lambda: c.snapshot.mode == "risk", "the mode")
        await c.press("f5")
        await c.until(lambda: isinstance(c.app.screen, HistoryScreen), "replay")
        r = Replay(c)
        await r.settle()
        await r.press("home", "m", "end", "2")
        assert "rejected" in r.text and "mode: ASK EVERY STEP → ASK RISKY STEPS ONLY" in r.text
        assert "approval_status" not in r.text and "internal values · . shows them" in r.text
        await r.press("full_stop")
        assert "approval_status" in r.text and "internal values" not in r.text


async def test_keys_of_the_session_do_or_say_something_in_the_past(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE, size=(80, 24)) as c:
        await c.asked()
        await c.press("f5")
        await c.until(lambda: isinstance(c.app.screen, HistoryScreen), "replay")
        r = Replay(c)
        await r.settle()
        await r.press("1")
        assert r.screen.focused is r.screen.query_one("#history-moment"), "what it shows is in front"
        c.clock.rest()
        await c.press("f8")
        await c.until(lambda: c.message.startswith("Nothing is undone in the past"), "why")
        await c.press("ctrl+g")
        await c.until(lambda: c.app.screen is c.session and c.panel.has_focus, "the question")


async def test_a_typed_restore_shows_what_the_key_shows_and_asks(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await approved(c, "todo_001")
        await c.until(partial(_asks, c, "todo_002"), "the next one")
        assert c.session.handle is not None
        asking = [n for n in range(1, 8) if (await state_of(c, n)).get("todo_001") == "waiting_approval"]
        number = asking[0]
        await c.send(f"/checkpoint restore {number}")
        await c.until(lambda: isinstance(c.app.screen, ConfirmDialog), "the preview")
        assert "? Asked again: 001" in str(c.app.screen.query_one(".dialog-text Static", Static).content)
        await c.press("escape")
        await c.until(lambda: c.message == "Nothing was changed.", "that nothing was done")
        assert c.snapshot.branch == 0
        await c.send(f"/checkpoint restore {number}")
        await c.until(lambda: isinstance(c.app.screen, ConfirmDialog), "the preview")
        c.clock.rest()
        await c.press("1")
        await c.until(lambda: c.snapshot.branch == 1 and c.status("todo_001") == Status.WAITING_APPROVAL, "restored")
        await c.send("/checkpoint restore 999")
        await c.until(lambda: "999" in c.message, "that there is none")


async def state_of(c: Console, number: int) -> dict[str, str]:
    """Return the statuses of the TODOs at a checkpoint."""
    handle = c.session.handle
    assert handle is not None
    state = await handle.thread.state_at(await handle.session.find_checkpoint(str(number)))
    return {name: str(todo["status"]) for name, todo in (state.get("todos") or {}).items()}


@pytest.mark.parametrize("size", [(120, 40), (200, 60)])
async def test_all_panes_are_seen_where_there_is_room_and_none_is_mostly_empty(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with console(tmp_path, query=RISE, size=size) as c:
        await c.asked()
        await c.press("f5")
        await c.until(lambda: isinstance(c.app.screen, HistoryScreen), "replay")
        r = Replay(c)
        await r.settle()
        await c.pilot.pause()
        panes = {name: r.screen.query_one(f"#history-{name}").region for name in ("plan", "graph", "moment", "state")}
        assert all(region.area > 0 for region in panes.values()), panes
        assert panes["plan"].height == panes["graph"].height < panes["moment"].height == panes["state"].height


@pytest.mark.long
async def test_a_result_is_shown_as_it_was(tmp_path: Path) -> None:
    async with replayed(tmp_path) as r:
        for keys, expected in ((("end",), "233.3%"), (("home", "right_square_bracket"), "It had no result")):
            await r.press(*keys)
            r.screen.query_one(PlanTable).focus()
            r.screen.query_one(PlanTable).move_cursor(row=1)
            await r.console.press("enter")
            await r.console.until(lambda: isinstance(r.console.app.screen, TextViewer), "the TODO")
            viewer = r.console.app.screen
            shown = [row.text.plain for rows in viewer.query(Rows) for row in rows.rows]
            shown += [part.source for part in viewer.query(Markdown)]  # a result is rendered
            assert expected in "\n".join(shown)
            await r.console.press("escape")


@pytest.mark.long
async def test_going_back_says_what_it_means_and_asks_first(tmp_path: Path) -> None:
    async with replayed(tmp_path) as r:
        c = r.console
        await r.press("4")
        assert c.message == "The session is already here."
        await r.press("left_square_bracket", "left")
        assert r.plan == ["✓ done", "? asks"]
        await c.press("4")
        await c.until(lambda: isinstance(c.app.screen, ConfirmDialog), "the preview")
        said = str(c.app.screen.query_one(".dialog-text Static", Static).content)
        assert "? Asked again: 002" in said
        assert "! Ran since: 002. No effects outside this session." in said
        assert "~ 002: ✓ done → ? asks" in said
        assert "001" not in said
        assert "The final answer is no longer the session's" in said
        await c.press("enter")
        await r.settle()
        assert c.snapshot.branch == 0
        assert c.message == "Nothing was changed."
        await c.press("4")
        await c.until(lambda: isinstance(c.app.screen, ConfirmDialog), "the preview")
        c.clock.rest()
        await c.press("1")
        await c.until(lambda: c.app.screen is c.session and c.snapshot.branch == 1, "restored")
        assert any(re.search(r"Restored to \d+ of \d+", line) for line in c.session.query_one(StreamPane).lines)
        await c.asked()
        assert c.status("todo_002") == Status.WAITING_APPROVAL
        await c.press("f5")
        await c.until(lambda: isinstance(c.app.screen, HistoryScreen), "replay")
        await r.settle()
        assert "restored · by ops" in r.where and "restored to " in r.drawn
        await r.press("left_square_bracket")
        assert "LEFT BEHIND" in r.where
        assert "left behind" in r.drawn and "├─" in r.drawn


async def test_what_a_command_did_is_named_before_going_back(tmp_path: Path) -> None:
    workspace = command_workspace(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="keep") as c:
        await approved(c, "todo_001")
        assert (workspace / "made").exists()
        await c.press("f5")
        await c.until(lambda: isinstance(c.app.screen, HistoryScreen), "replay")
        r = Replay(c)
        await r.settle()
        await r.press("left_square_bracket", "left")
        assert r.plan == ["? asks"]
        await c.press("4")
        await c.until(lambda: isinstance(c.app.screen, ConfirmDialog), "the preview")
        said = str(c.app.screen.query_one(".dialog-text Static", Static).content)
        stays = said.partition("Not undone by this:")[2]
        assert "001" in stays and "touch" in stays and "(done)" in stays


async def test_a_moment_lists_the_files_that_a_step_deleted(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    (folder / "logs").mkdir(parents=True)
    for name in ("a.gz", "b.gz"):
        (folder / "logs" / name).write_text("x")
    (folder / "hitl.toml").write_text(
        '[teams.command_team.commands.clean]\nrun = ["find", "logs", "-type", "f", "-print", "-delete"]\n'
    )
    async with console(tmp_path / "d", folder, query="clean") as c:
        await approved(c, "todo_001")
        await c.press("f5")
        await c.until(lambda: isinstance(c.app.screen, HistoryScreen), "replay")
        r = Replay(c)
        await r.settle()
        for _ in range(9):
            if "logs/a.gz" in r.text:
                break
            await r.press("left")
        assert "deleted 001 · 2 files\nlogs/a.gz\nlogs/b.gz" in r.text


@pytest.mark.long
async def test_keys_in_one_burst_act_where_they_led(tmp_path: Path) -> None:
    async with replayed(tmp_path) as r:
        await r.press("full_stop")
        total = r.number
        await r.console.pilot.press("left", "left", "left", "m", "left", "2")
        await r.settle()
        assert r.number == total - 4
        marked = await r.console.session.handle.thread.older(4) if r.console.session.handle else []
        assert r.screen.marks == (marked[3].checkpoint_id,)
        assert "mark and this moment" in r.text


@pytest.mark.long
async def test_a_fork_is_another_session_that_asks_the_same(tmp_path: Path) -> None:
    async with replayed(tmp_path) as r:
        c = r.console
        old = c.snapshot.session_id
        await r.press("left_square_bracket", "left")
        await c.press("3")
        await c.until(lambda: isinstance(c.app.screen, ConfirmDialog), "the question")
        c.clock.rest()
        await c.press("1")
        await c.until(lambda: isinstance(c.app.screen, ConfirmDialog) and "Open" in _title(c), "the offer to open it")
        offered = str(c.app.screen.query(Static).first().content)
        assert f"What runs in {old} continues meanwhile." in offered and "pauses" not in offered
        c.clock.rest()
        await c.press("1")
        await c.until(lambda: c.app.screen is c.session and c.shown() and c.snapshot.session_id != old, "the fork")
        await c.asked()
        assert [t.status for t in c.snapshot.todos] == [Status.COMPLETED, Status.WAITING_APPROVAL]
        # Its own record begins with the fork; what was decided before is told by the state.
        await c.press("f5")
        await c.until(lambda: isinstance(c.app.screen, HistoryScreen), "replay")
        await r.settle()
        while not ("approved 001 " in r.where and "by ops (console)" in r.where):
            assert c.message == ""
            await r.press("left_square_bracket")
        await c.press("escape")
    async with SessionRegistry.open(tmp_path) as bench:
        assert [s.status for s in await bench.admin.sessions()] == ["finished", "waiting"]


def _title(c: Console) -> str:
    return "".join(str(box.border_title) for box in c.app.screen.query("#confirm"))  # none while it is being built


@pytest.mark.long
async def test_mouse_and_graph_keys_go_to_a_moment(tmp_path: Path) -> None:
    async with replayed(tmp_path) as r:
        await r.press("full_stop")
        total = r.number
        await r.console.pilot.click("#history-graph", offset=(6, 4))
        await r.console.until(lambda: r.number == total - 3, "the clicked checkpoint")
        await r.settle()
        await r.press("down")
        await r.console.until(lambda: r.number == total - 4, "the one below")
        await r.settle()
        await r.console.pilot.click("#replay-2")
        await r.settle()
        assert "Steps ·" in r.text
        await r.console.pilot.click("#replay-4")
        await r.console.until(lambda: isinstance(r.console.app.screen, ConfirmDialog), "the preview")


@pytest.mark.long
async def test_what_is_added_meanwhile_is_counted(tmp_path: Path) -> None:
    async with replayed(tmp_path) as r:
        handle = r.console.session.handle
        assert handle is not None
        await r.press("left")
        here, total = r.number, r.screen.place.total if r.screen.place else 0
        await handle.handler.handle_command("/mode risk")
        await r.console.until(lambda: r.screen.place and r.screen.place.total > total, "the new checkpoint")
        await r.settle()
        assert r.number == here
        await r.press("end")
        assert "mode ASK RISKY STEPS ONLY · by ops" in r.where


async def test_f5_in_the_history_begins_at_its_checkpoint(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        table = c.session.query_one(HistoryTable)
        await c.until(lambda: len(table.loaded) > 3, "the history")
        table.focus()
        await c.press("full_stop")
        table.move_cursor(row=2)
        await c.press("f5")
        await c.until(lambda: isinstance(c.app.screen, HistoryScreen), "replay")
        r = Replay(c)
        await r.settle()
        place = r.screen.place
        assert place is not None and place.number == place.total - 2
        await c.press("f5")
        assert c.app.screen is c.session


async def test_a_follower_looks_into_the_past_too(tmp_path: Path) -> None:
    async with SessionRegistry.open(tmp_path) as bench:
        setup = await bench.create(RISE, EXAMPLE)
        async with open_session(bench.store, setup) as owner:
            await owner.settled()  # type: ignore[union-attr]
            async with console(tmp_path, session=setup.info.id) as c:
                await c.asked()
                assert not c.session.handle or not c.session.handle.session.owned
                await c.press("f5")
                await c.until(lambda: isinstance(c.app.screen, HistoryScreen), "replay")
                r = Replay(c)
                await r.settle()
                assert r.plan == ["? asks", "· waits"]
                await r.press("full_stop", "left", "left", "left")
                assert r.plan == []


@pytest.mark.long
@pytest.mark.parametrize("size", [(60, 15), (30, 8)])
async def test_any_size_shows_where_it_is(tmp_path: Path, size: tuple[int, int]) -> None:
    async with replayed(tmp_path) as r:
        await r.console.pilot.resize_terminal(*size)
        for _ in range(4):
            await r.console.press("f6")
            focused = r.screen.focused
            assert focused is not None and focused.display and focused.region.width > 0
        for name in ("history-banner", "history-where", "history-actions"):
            region = r.screen.query_one(f"#{name}").region
            assert region.height >= 1 and region.bottom <= size[1]
        state = r.screen.query_one(StateTree)
        assert any("query" in str(node.label) for node in state.root.children)


# The reel ---------------------------------------------------------------------------------------------------------


@pytest.mark.long
async def test_small_pages_lead_through_the_whole_history(tmp_path: Path) -> None:
    async with replayed(tmp_path) as r:
        handle = r.console.session.handle
        assert handle is not None
        await r.press("full_stop", "home", "right_square_bracket", "left")
        assert r.screen.place is not None
        await handle.handler.handle_command(f"/checkpoint restore {r.screen.place.info.checkpoint_id}")
        everything = await handle.thread.older(1000)
        reel = HistoryCursor(handle.thread, 3)
        await reel.open()
        backwards = [reel.current]
        while await reel.step(-1):
            backwards.append(reel.current)
            assert len(reel.infos) <= 12
        assert backwards == everything
        forwards = [reel.current]
        while await reel.step(1):
            forwards.append(reel.current)
        assert forwards == everything[::-1]
        await reel.first()
        assert reel.current == everything[-1]
        for info in everything:
            await reel.open(info.checkpoint_id)
            place = await reel.look()
            assert place is not None and place.info == info
            assert place.number == len(everything) - everything.index(info)
            if place.before is not None:
                came_from = place.before.parent_id if info.source == "fork" else place.before.checkpoint_id
                assert came_from == info.parent_id
        found = []
        await reel.last()
        while await reel.decision(-1):
            place = await reel.look()
            assert place is not None
            found += [event_words(e).split(" · ")[0].split(" ")[0] for e in place.events if is_decision(e)]
        # The newest checkpoint is the restore itself.
        assert found == ["approved", "approved"]


# The graph --------------------------------------------------------------------------------------------------------


def info(number: int, parent: int, source: str = "loop") -> CheckpointInfo:
    ident = f"{number:03d}"
    return CheckpointInfo(ident, f"{parent:03d}" if parent else "", "", "", 0, number, 0, source, number == 3, "")


CHAIN = [info(n, n - 1) for n in range(1, 8)]


def drawn(checkpoints: Sequence[CheckpointInfo]) -> list[str]:
    return [row.drawn for row in branch_graph(checkpoints[::-1])]


def test_a_history_without_restores_is_one_line() -> None:
    assert drawn(CHAIN[:4]) == ["│", "●", "│", "○"]


def test_what_a_restore_leaves_behind_stands_beside_the_line() -> None:
    rows = branch_graph([*CHAIN, info(8, 3, "fork"), info(9, 8)][::-1])
    assert [row.drawn for row in rows] == ["│", "◂", "│ ○", "│ ┊", "│ ┊", "├─○", "●", "│", "○"]
    assert [row.ours for row in rows] == [True, True, False, False, False, False, True, True, True]
    assert [n for n, row in enumerate(rows) if row.tip] == [2]


def test_several_restores_make_several_branches() -> None:
    again = [*CHAIN, info(8, 3, "fork"), info(9, 8), info(10, 2, "fork")]
    assert drawn(again) == ["◂", "│ ○", "│ ◂", "│ ┊ ○", "│ ┊ ┊", "│ ┊ ┊", "│ ├─○", "├─○", "│", "○"]
    to_the_same = [*CHAIN[:4], info(5, 2, "fork"), info(6, 2, "fork"), info(7, 6)]
    assert drawn(to_the_same) == ["│", "◂", "├─◂", "│ ○", "├─○", "│", "○"]
    back_to_what_was_left = [*CHAIN[:5], info(6, 3, "fork"), info(7, 5, "fork")]
    assert drawn(back_to_what_was_left) == ["◂", "│ ◂", "│ ┊", "│ ┊", "●─╯", "│", "○"]


def test_a_part_of_a_history_is_drawn_like_the_whole() -> None:
    whole = [*CHAIN, info(8, 3, "fork"), info(9, 8), info(10, 9)][::-1]
    turns = [("008", "003")]
    part = branch_graph(whole[3:], "010", turns)
    assert [row.drawn for row in part] == [row.drawn for row in branch_graph(whole)[3:]]
    assert [row.ours for row in part] == [row.ours for row in branch_graph(whole)[3:]]


def test_what_the_head_came_from_leaves_out_what_was_left() -> None:
    ancestry = HeadAncestry.of("012", [("008", "003"), ("010", "006"), ("011", "002")])
    assert ancestry.stretches == (Stretch("", "002"), Stretch("011", "012"))
    assert [n for n in range(1, 13) if ancestry.has(info(n, n - 1))] == [1, 2, 11, 12]
    assert HeadAncestry.of("", []).stretches == ()
    assert HistoryForm("012", 12).turns == ()


def test_events_are_told_in_safe_words() -> None:
    event = {"kind": "decided", "asked": "todo", "todo_id": "todo_001", "verdict": "reject", "by": "o\x1b[31mps"}
    said = event_words(Posted(1, "e", 0, {**event, "channel": "console", "reason": "no\nway"}))
    assert "\x1b" not in said and "\n" not in said
    assert said.startswith("rejected 001 · by o")
    skipped = {"kind": "skip", "data": {"todo_id": "todo_002", "reason": "User skipped"}, "by": "ops"}
    assert event_words(Posted(2, "e", 0, skipped)) == "skipped 002 · by ops"


async def test_the_past_is_headed_by_the_title_that_the_session_has_now(tmp_path: Path) -> None:
    async with console(tmp_path, query="What is the deposit cap?") as c:
        await c.asked()
        await c.send("/title Another name")
        live = c.session.query_one(HeaderBar)
        await c.until(lambda: live.title_text == "Another name", "the title")
        await c.press("f5")
        await c.until(lambda: isinstance(c.app.screen, HistoryScreen), "the past")
        await c.until(lambda: c.app.screen.query_one(HeaderBar).title_text, "its title")
        assert c.app.screen.query_one(HeaderBar).title_text == "Another name"
