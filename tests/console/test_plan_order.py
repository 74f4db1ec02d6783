"""The order of the plan, changed by dragging rows and by keys; and which rows show a mark (D15, D17)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from console_support import PATIENCE, RISE, TWO, command_workspace, console
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual._xterm_parser import XTermParser
from textual.app import App, ComposeResult
from textual.coordinate import Coordinate
from textual.message import Message
from textual.pilot import Pilot
from textual.widgets import DataTable, Static

from hitl_tui.console.widgets.plan_table import PlanTable
from hitl_tui.console.widgets.row_drag import AFTER, BEFORE, DRAGGED, MARKED, Drop, RowDrag
from hitl_tui.core.policy import Risk
from hitl_tui.core.todos import Priority, SupervisorTodo
from hitl_tui.wording.status_words import PRIORITIES, RISKY, PlanRow, plan_row

pytestmark = pytest.mark.long


def a_row(number: int, **changes: Any) -> PlanRow:
    row = PlanRow(
        f"todo_{number:03}", "·", "waits", "$text-muted", f"{number:03}", "search", f"step {number}", "", "", ""
    )
    return replace(row, **changes)


def rows(*numbers: int) -> list[PlanRow]:
    return [a_row(n) for n in numbers]


class Mouse:
    """A mouse as terminals report it: escape sequences, through Textual's own parser."""

    def __init__(self, app: App[Any], pilot: Pilot[Any]) -> None:
        self._app, self._pilot, self._parser = app, pilot, XTermParser()

    async def _report(self, code: int, x: int, y: int, end: str = "M") -> None:
        for event in self._parser.feed(f"\x1b[<{code};{x + 1};{y + 1}{end}"):
            self._app.post_message(event)
        await self._pilot.pause()

    async def down(self, x: int, y: int) -> None:
        await self._report(0, x, y)

    async def to(self, x: int, y: int) -> None:
        await self._report(32, x, y)

    async def up(self, x: int, y: int) -> None:
        await self._report(0, x, y, "m")

    async def hover(self, x: int, y: int) -> None:
        await self._report(35, x, y)

    async def drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        await self.down(*start)
        await self.to(*end)
        await self.up(*end)


class Bench(App[None]):
    """A plan alone, with its neighbour; it keeps what the plan says."""

    CSS = "PlanTable { height: 8; } #beside { height: 4; }"

    def __init__(self, fixed: str = "") -> None:
        super().__init__()
        self.plan = PlanTable(id="plan", fixed=fixed)
        self.said: list[Message] = []

    def compose(self) -> ComposeResult:
        yield self.plan
        yield Static("beside", id="beside")

    def on_plan_table_moved(self, event: PlanTable.Moved) -> None:
        self.said.append(event)

    def on_plan_table_held(self, event: PlanTable.Held) -> None:
        self.said.append(event)

    def on_plan_table_wanted(self, event: PlanTable.Wanted) -> None:
        self.said.append(event)

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        self.said.append(event)


@dataclass
class Plan:
    app: Bench
    pilot: Pilot[None]
    mouse: Mouse

    @property
    def table(self) -> PlanTable:
        return self.app.plan

    def drags(self) -> bool:
        return self.table.dragging

    @property
    def drops(self) -> list[Drop]:
        return [m.drop for m in self.app.said if isinstance(m, PlanTable.Moved)]

    @property
    def held(self) -> list[str]:
        return [m.why for m in self.app.said if isinstance(m, PlanTable.Held)]

    @property
    def lines(self) -> list[str]:
        return ["".join(s.text for s in self.table.render_line(y)).rstrip() for y in range(self.table.size.height)]

    def y(self, number: int) -> int:
        """Line of the screen on which a TODO stands."""
        return next(n for n, line in enumerate(self.lines) if f" {number:03} " in line) + self.table.content_region.y

    async def until(self, condition: Callable[[], object]) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + PATIENCE
        while not condition():
            assert loop.time() < deadline, self.lines
            await self.pilot.pause(0.01)


@asynccontextmanager
async def plan(shown: Sequence[PlanRow], fixed: str = "") -> AsyncIterator[Plan]:
    app = Bench(fixed)
    async with app.run_test(size=(80, 20)) as pilot:
        app.plan.update_rows(shown)
        await pilot.pause()
        yield Plan(app, pilot, Mouse(app, pilot))


# What letting go would do ----------------------------------------------------------------------------------------


@given(st.integers(2, 9), st.data())
def test_a_drop_puts_the_row_where_the_pointer_is(count: int, data: st.DataObject) -> None:
    ids = [f"t{n}" for n in range(count)]
    start, end = data.draw(st.integers(0, count - 1)), data.draw(st.integers(0, count - 1))
    drag = RowDrag(ids[start], (ids[start],), start).moved(end, inside=True).above(ids, 0)
    drop = drag.drop(ids)
    if start == end:
        assert drop is None
        return
    assert drop is not None
    assert drop.ids == (ids[start],)
    rest = [i for i in ids if i != ids[start]]
    rest.insert(rest.index(drop.anchor) + (drop.where == "after"), ids[start])
    assert rest.index(ids[start]) == end


def test_at_the_edges_it_scrolls_the_faster_the_further() -> None:
    drag = replace(RowDrag("t", ("t",), 3), begun=True)
    assert [drag.moved(y, inside=True).scroll(6) for y in (-3, -1, 0, 1, 4, 5, 7)] == [-4, -2, -1, 0, 0, 1, 3]
    assert RowDrag("t", ("t",), 0).scroll(6) == 0


# Dragging --------------------------------------------------------------------------------------------------------


async def test_a_row_is_dragged_up_and_down() -> None:
    async with plan(rows(1, 2, 3, 4, 5)) as p:
        await p.mouse.drag((20, p.y(4)), (20, p.y(2)))
        await p.mouse.drag((20, p.y(1)), (25, p.y(3)))
        assert p.drops == [Drop(("todo_004",), "before", "todo_002"), Drop(("todo_001",), "after", "todo_003")]
        assert len(p.app.said) == 2, "no click comes of it"


async def test_the_place_is_shown_while_it_is_dragged() -> None:
    async with plan(rows(1, 2, 3, 4)) as p:
        y = p.y(2)
        await p.mouse.down(20, p.y(4))
        assert not p.drags()
        await p.mouse.to(20, y)
        assert p.drags()
        assert p.lines[y].startswith(BEFORE) and p.lines[p.y(4)].startswith(DRAGGED)
        assert any(s.style and s.style.underline for s in p.table.render_line(y - 1)), "a line above the row"
        assert "004 before 002" in str(p.table.border_subtitle)
        await p.mouse.to(20, p.y(3))
        assert p.lines[p.y(3)].startswith(BEFORE) and p.lines[y].startswith(" ")
        await p.mouse.up(20, p.y(3))
        assert not p.drags() and not str(p.table.border_subtitle)
        assert all(line.startswith(" ") for line in p.lines[:4])


async def test_below_the_last_row_is_after_it() -> None:
    async with plan(rows(1, 2, 3)) as p:
        await p.mouse.down(20, p.y(1))
        await p.mouse.to(20, p.y(3) + 3)
        assert p.lines[p.y(3)].startswith(AFTER)
        await p.mouse.up(20, p.y(3) + 3)
        assert p.drops == [Drop(("todo_001",), "after", "todo_003")]


async def test_escape_takes_it_back() -> None:
    async with plan(rows(1, 2, 3)) as p:
        await p.mouse.down(20, p.y(3))
        await p.mouse.to(20, p.y(1))
        await p.pilot.press("escape")
        assert not p.drags()
        await p.mouse.up(20, p.y(1))
        assert p.drops == []
        assert not [m for m in p.app.said if isinstance(m, PlanTable.Wanted)], "it stays in the plan"
        await p.pilot.press("escape")
        assert isinstance(p.app.said[-1], PlanTable.Wanted), "now Esc leaves"


@pytest.mark.parametrize("where", ["beside", "own place"])
async def test_nothing_moves_when_it_is_let_go(where: str) -> None:
    async with plan(rows(1, 2, 3)) as p:
        start = p.y(3)
        end = p.app.query_one("#beside").region.y + 1 if where == "beside" else start
        await p.mouse.down(20, start)
        await p.mouse.to(20, p.y(1))
        await p.mouse.to(20, end)
        assert "nothing moves" in str(p.table.border_subtitle)
        await p.mouse.up(20, end)
        assert p.app.said == []
        await p.mouse.down(20, p.y(2))
        await p.mouse.up(20, p.y(2))
        assert p.table.selected == "todo_002", "the next click is a click"


async def test_a_release_that_nobody_reported_moves_nothing() -> None:
    async with plan(rows(1, 2, 3)) as p:
        await p.mouse.down(20, p.y(3))
        await p.mouse.to(20, p.y(1))
        await p.mouse.hover(20, p.y(2))
        assert not p.drags() and p.app.mouse_captured is None and p.drops == []


@pytest.mark.parametrize("event", [events.AppBlur])
async def test_a_window_that_loses_the_focus_moves_nothing(event: type[events.Event]) -> None:
    async with plan(rows(1, 2, 3)) as p:
        await p.mouse.down(20, p.y(3))
        await p.mouse.to(20, p.y(1))
        p.app.post_message(event())
        await p.until(lambda: not p.drags())
        await p.mouse.up(20, p.y(1))
        assert p.drops == []


async def test_what_has_had_its_turn_says_why_it_stays() -> None:
    async with plan([a_row(1, fixed="had its turn"), *rows(2, 3)]) as p:
        await p.mouse.drag((20, p.y(1)), (20, p.y(3)))
        assert p.held == ["had its turn"] and p.drops == []
        await p.mouse.drag((20, p.y(3)), (20, p.y(1)))
        assert p.drops == [Drop(("todo_003",), "before", "todo_001")], "others move past it"


async def test_a_plan_of_the_past_says_why_it_stays() -> None:
    async with plan(rows(1, 2), fixed="the past") as p:
        await p.mouse.drag((20, p.y(2)), (20, p.y(1)))
        p.table.focus()
        await p.pilot.press("shift+down")
        assert p.held == ["the past", "the past"] and p.drops == []


async def test_marked_rows_move_together() -> None:
    async with plan([a_row(1, fixed="had its turn"), *rows(2, 3, 4, 5, 6)]) as p:
        p.table.focus()
        await p.pilot.press("x", "down", "down", "x", "down", "down", "x")
        assert [n for n, line in enumerate(p.lines) if line.startswith(MARKED)] == [0, 2, 4]
        assert "3 marked" in str(p.table.border_subtitle)
        await p.mouse.down(20, p.y(5))
        await p.mouse.to(20, p.y(3))
        assert "nothing moves" in str(p.table.border_subtitle), "not onto one of themselves"
        await p.mouse.to(20, p.y(2))
        assert "2 steps before 002" in str(p.table.border_subtitle)
        assert [n for n, line in enumerate(p.lines) if line.startswith(DRAGGED)] == [2, 4]
        await p.mouse.up(20, p.y(2))
        await p.mouse.drag((20, p.y(4)), (20, p.y(6)))
        marked = ("todo_003", "todo_005")
        assert p.drops == [Drop(marked, "before", "todo_002"), Drop(("todo_004",), "after", "todo_006")]
        p.table.update_rows([a_row(5, fixed="runs"), *rows(3, 2, 4, 6)])
        await p.pilot.pause()
        assert [line.split()[2] for line in p.lines if line.startswith(MARKED)] == ["005", "003"]
        await p.pilot.press("escape")
        assert not any(line.startswith(MARKED) for line in p.lines)
        assert not [m for m in p.app.said if isinstance(m, PlanTable.Wanted) and m.what != "mark"]


async def test_the_first_and_the_last_line_are_a_key_away() -> None:
    async with plan(rows(*range(1, 60))) as p:
        p.table.focus()
        for last, first in (("end", "home"), ("G", "g"), ("G", "ㅎ")):
            await p.pilot.press(last)
            assert p.table.selected == "todo_059"
            await p.pilot.press(first)
            assert p.table.selected == "todo_001"


def urgent(number: int, sign: str, level: str) -> PlanRow:
    return a_row(number, title=f"a step whose title is long {number}", priority=sign, level=level)


async def test_a_priority_shows_as_a_sign_and_where_there_is_room_as_a_word() -> None:
    async with plan(
        [urgent(1, "↑↑", "critical"), urgent(2, "↑", "high"), urgent(3, "", ""), urgent(4, "↓", "low")]
    ) as p:
        assert [line.split()[3:5] for line in p.lines[:4]] == [
            ["↑↑", "critical"],
            ["↑", "high"],
            ["search", "a"],
            ["↓", "low"],
        ]
        await p.pilot.resize_terminal(50, 20)
        narrow = ["↑↑", "↑", "a", "↓"]
        for _ in range(200):  # the columns are laid out anew a moment after the resize
            if [line.split()[3] for line in p.lines[:4]] == narrow:
                break
            await p.pilot.pause(0.01)
        assert [line.split()[3] for line in p.lines[:4]] == narrow
        p.table.update_rows([replace(urgent(n, "", ""), todo_id=f"todo_{n:03}") for n in range(1, 5)])
        await p.pilot.pause()
        assert p.lines[0].split()[3] != "↑↑", "all as usual: no column for it"
        p.table.update_rows([urgent(1, "", ""), urgent(2, "↑↑", "critical")])
        p.table.focus()
        await p.pilot.press("slash", *"critical", "enter")
        assert p.table.selected == "todo_002" and p.table.row_count == 1


async def test_only_a_risky_step_has_a_sign_of_risk_and_it_is_no_sign_of_priority() -> None:
    async with plan([a_row(1, priority="↑", level="high"), replace(a_row(2), risk=RISKY)]) as p:
        assert [RISKY in line.split() for line in p.lines[:2]] == [False, True]
        assert RISKY not in "".join(PRIORITIES.values())
    todos = [SupervisorTodo("todo_001", "n", "d", "t", risk=risk, priority=Priority.CRITICAL) for risk in Risk]
    now = datetime(2026, 3, 2, tzinfo=UTC)
    assert {t.risk.value: plan_row(t, now).risk for t in todos} == {"low": "", "medium": "", "high": RISKY}


async def test_a_title_has_room_before_what_a_step_waits_for() -> None:
    long = "count the records that stand there more than once"
    async with plan([replace(a_row(2, title=f"Run: {long}"), team="command", needs="← 001")]) as p:
        await p.pilot.resize_terminal(70, 20)
        await p.pilot.pause()
        assert long[:31] in p.lines[0] and "← 001" in p.lines[0]


async def test_what_is_marked_as_a_question_counts_in_the_plan_and_can_be_unmarked_there() -> None:
    async with plan(rows(1, 2, 3)) as p:
        p.table.focus()
        p.table.show_marks(["todo_001"])
        await p.pilot.press("down", "x")
        assert [line.startswith(MARKED) for line in p.lines[:3]] == [True, True, False]
        assert "2 marked" in str(p.table.border_subtitle)
        await p.pilot.press("home", "x")
        wanted = [(m.what, m.todo_id) for m in p.app.said if isinstance(m, PlanTable.Wanted)]
        assert wanted == [("mark", "todo_002"), ("unmark", "todo_001")], "their questions go with them"


async def test_title_and_foot_count_alike_when_steps_come_while_words_are_looked_for() -> None:
    async with plan(rows(1, 2, 3)) as p:
        p.table.heading = "Plan"
        p.table.focus()
        await p.pilot.press("slash", *"step", "space", "2", "enter")
        p.table.update_rows(rows(1, 2, 3, 20))
        assert str(p.table.border_title) == "Plan · 2 of 4" and "2 of 4" in str(p.table.border_subtitle)
        p.table.reset()
        p.table.update_rows(rows(1, 3))
        assert (str(p.table.border_title), str(p.table.border_subtitle)) == ("Plan · 2", "")


async def test_the_plan_changes_under_the_pointer() -> None:
    async with plan(rows(1, 2, 3, 4)) as p:
        y = p.y(2)
        await p.mouse.down(20, p.y(4))
        await p.mouse.to(20, y)
        p.table.update_rows(rows(1, 9, 2, 3, 4))
        await p.pilot.pause()
        assert p.lines[y].startswith(BEFORE) and " 009 " in p.lines[y]
        await p.mouse.up(20, y)
        assert p.drops == [Drop(("todo_004",), "before", "todo_009")], "what was marked when it was let go"


async def test_what_is_dragged_goes_away() -> None:
    async with plan(rows(1, 2, 3, 4)) as p:
        await p.mouse.down(20, p.y(4))
        await p.mouse.to(20, p.y(2))
        p.table.update_rows(rows(1, 2, 3))
        await p.pilot.pause()
        assert not p.drags()
        await p.mouse.up(20, p.y(2))
        assert p.drops == []


async def test_it_scrolls_at_the_edge_in_a_long_plan() -> None:
    async with plan(rows(*range(1, 10_001))) as p:
        bottom = p.table.content_region.bottom - 1
        await p.mouse.down(20, p.y(2))
        await p.mouse.to(20, bottom)
        await p.until(lambda: p.table.scroll_y >= 5)
        await p.mouse.to(20, bottom - 3)
        top = int(p.table.scroll_y)
        await p.mouse.up(20, bottom - 3)
        at = top + bottom - 3 - p.table.content_region.y + 1
        assert p.drops == [Drop(("todo_002",), "after", f"todo_{at:03}")]
        assert p.table.scroll_y == top


async def test_another_order_keeps_the_view_and_the_cursor() -> None:
    async with plan(rows(*range(1, 10_001))) as p:
        p.table.focus()
        p.table.move_cursor(row=5_000)
        await p.pilot.pause()
        seen, chosen = p.table.scroll_y, p.table.selected
        p.table.update_rows(rows(*range(1, 4_990), *range(4_991, 10_001), 4_990))
        await p.pilot.pause()
        assert p.table.selected == chosen and abs(p.table.scroll_y - seen) <= 1
        assert p.table.row_count == 10_000
        p.table.update_rows(rows(*range(2, 10_001)))
        await p.pilot.pause()
        assert p.table.selected == chosen and abs(p.table.scroll_y - seen) <= 1
        shown = [line.split()[2] for line in p.lines[:-1]]
        assert shown == [f"{int(shown[0]) + n}" for n in range(len(shown))], "numbers are shown whole"


async def test_the_rows_are_right_after_any_changes() -> None:
    async with plan(rows(1, 2, 3)) as p:
        for numbers in ((3, 1, 2), (3, 2), (5, 3, 2, 4), (4,), (), (1, 2), (*range(1, 60),), (59, *range(1, 59))):
            p.table.update_rows(rows(*numbers))
            await p.pilot.pause()
            shown = [str(p.table.get_cell_at(Coordinate(n, 1))) for n in range(p.table.row_count)]
            assert shown == [f"{n:03}" for n in numbers]


# In a session ----------------------------------------------------------------------------------------------------


def order(found: Sequence[Any]) -> list[str]:
    return [t.id for t in found]


async def test_a_drop_is_a_command_like_any_other(tmp_path: Path) -> None:
    async with console(tmp_path, query=TWO) as c:
        await c.asked(2)
        table, mouse = c.session.query_one(PlanTable), Mouse(c.app, c.pilot)
        await c.until(lambda: table.row_count == 2, "both rows")
        x, y = table.content_region.x + 5, table.content_region.y
        await mouse.drag((x, y + 1), (x, y))
        await c.until(lambda: order(c.snapshot.todos) == ["todo_002", "todo_001"], "the other order")
        await c.until(lambda: "002 is before 001" in c.message, "the answer")
        await c.until(lambda: str(table.get_cell_at(Coordinate(0, 1))) == "002", "the rows")
        assert c.status("todo_001") == "waiting_approval", "nothing is decided by it"


async def test_keys_move_the_chosen_row_one_after_the_other(tmp_path: Path) -> None:
    workspace = command_workspace(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="what is the cap?") as c:
        await c.asked()
        before = len(c.snapshot.todos)
        for _ in range(3):
            await c.send("/todo add command_team keep")
        await c.until(lambda: len(c.snapshot.todos) == before + 3, "three more")
        ids = order(c.snapshot.todos)
        table = c.session.query_one(PlanTable)
        await c.until(lambda: table.row_count == len(ids), "the rows")
        table.focus()
        table.move_cursor(row=len(ids) - 1)
        await c.press("shift+up", "shift+up", "K", "shift+down")
        wanted = [*ids[:-3], ids[-1], *ids[-3:-1]]
        await c.until(lambda: order(c.snapshot.todos) == wanted, "two up")
        await c.until(lambda: table.selected == ids[-1], "the cursor goes along")
        await c.press("x", "down", "down", "x", "shift+up")
        both = [*ids[:-4], ids[-1], ids[-2], ids[-4], ids[-3]]
        await c.until(lambda: order(c.snapshot.todos) == both, "both, one after the other")
        await c.press("shift+down", "shift+down")
        down = [*ids[:-4], ids[-4], ids[-3], ids[-1], ids[-2]]
        await c.until(lambda: order(c.snapshot.todos) == down, "both down")


async def test_a_marked_question_shows_in_its_row(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        table = c.session.query_one(PlanTable)

        def first() -> str:
            return "".join(s.text for s in table.render_line(0))[0]

        assert first() == " "
        await c.to_question()
        await c.press("space")
        await c.until(lambda: first() == MARKED, "the mark")
        await c.press("space")
        await c.until(lambda: first() == " ", "no mark")
        await c.press("space")
        await c.until(lambda: first() == MARKED, "the mark again")
        table.focus()
        await c.press("x")
        await c.until(lambda: first() == " " and not c.panel.marked, "unmarked from the plan")


@pytest.mark.parametrize("cursor", [0, 33])
async def test_other_columns_and_many_new_rows_leave_the_view_where_it_is(cursor: int) -> None:
    async with plan(rows(*range(1, 61))) as p:
        p.table.move_cursor(row=cursor, animate=False)
        await p.pilot.pause()
        p.table.scroll_to(y=30, animate=False, immediate=True)
        await p.pilot.pause()
        for changed in (
            [a_row(n, needs="← 001" if n == 40 else "", attempts="2" if n == 41 else "") for n in range(1, 61)],
            rows(*range(1, 100)),
            [a_row(n, priority="↑", level="high") for n in range(1, 100)],
        ):
            p.table.update_rows(changed)
            await p.pilot.pause()
            assert (int(p.table.scroll_y), p.table.selected) == (30, f"todo_{cursor + 1:03}")


async def test_the_row_at_the_cursor_stays_in_sight_in_a_pane_that_gets_lower() -> None:
    async with plan(rows(*range(1, 61))) as p:
        p.table.styles.height = 14
        await p.pilot.pause()
        p.table.move_cursor(row=59, animate=False)
        await p.pilot.pause()
        p.table.styles.height = 6

        def sees_to() -> float:
            return p.table.scroll_y + p.table.scrollable_content_region.height

        for _drawn in range(20):  # it is drawn in as many turns as the machine takes
            await p.pilot.pause()
            if sees_to() == 60:
                break
        assert sees_to() == 60


async def test_what_a_step_waits_for_stands_near_its_title_in_a_wide_pane() -> None:
    async with plan([a_row(1), a_row(2, needs="← 001")]) as p:
        await p.pilot.resize_terminal(250, 20)
        await p.pilot.pause()
        assert 0 < p.lines[1].index("← 001") < 110
        p.table.update_rows([a_row(1, title="t" * 150), a_row(2, needs="← 001")])
        await p.pilot.pause()
        assert "t" * 99 in p.lines[0] and 0 < p.lines[1].index("← 001") < 140
