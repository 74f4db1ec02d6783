"""What changed is drawn, and nothing else: plans have ten thousand lines, and links are slow."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from textual.app import App, ComposeResult
from textual.containers import VerticalScroll

from hitl_tui.console.widgets.plan_table import PlanTable
from hitl_tui.console.widgets.virtual_rows import Rows
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.supervisor.snapshot import Snapshot
from hitl_tui.wording.history_rows import plan_at
from hitl_tui.wording.rows import Row, styled
from hitl_tui.wording.status_words import PlanLines, PlanRow, plan_rows, running_rows

NOW = datetime(2026, 3, 2, 12, 0, 9, tzinfo=UTC)


def raw(number: int, **changes: Any) -> dict[str, Any]:
    todo = SupervisorTodo(
        id=f"todo_{number:03d}",
        name=f"Step {number}",
        description="",
        agent_name="search_team",
        agent_purpose="",
        expected_output="",
        rank=float(number),
    )
    return replace(todo, **changes).to_state()


def snapshot(*todos: dict[str, Any]) -> Snapshot:
    return Snapshot("s", "", "/", "step", "", 0, 0, "", {t["id"]: t for t in todos})


def running(number: int) -> dict[str, Any]:
    return raw(number, status=Status.IN_PROGRESS, started_at="2026-03-02T12:00:00+00:00")


def test_lines_are_those_of_the_plan_whatever_happens_to_it() -> None:
    lines = PlanLines()
    one, two, three = raw(1), running(2), raw(3)
    done = raw(2, status=Status.COMPLETED, rank=2.0)
    for seen in (
        snapshot(one, two, three),
        snapshot(dict(one), done, three),
        snapshot(one, done, raw(3, rank=0.5)),
        snapshot(done),
        snapshot(one, done, three, raw(4, name="Another")),
        snapshot(),
    ):
        assert lines.rows(seen, NOW) == plan_rows(seen, NOW)


def test_a_line_is_made_again_only_when_its_todo_changed_or_runs() -> None:
    lines = PlanLines()
    first = lines.rows(snapshot(raw(1), running(2), raw(3)), NOW)
    again = lines.rows(snapshot(raw(1), running(2), raw(3, name="Other words")), NOW.replace(second=10))
    assert again[0] is first[0]
    assert (first[1].time, again[1].time) == ("9.0 s", "10.0 s") and again[2].title == "Other words"


def test_a_step_into_the_past_makes_only_the_lines_that_differ() -> None:
    lines, one, two = PlanLines(), raw(1), raw(2)
    at = NOW.isoformat()
    before = plan_at({"todos": {"todo_001": one, "todo_002": two}}, at, lines)
    after = plan_at({"todos": {"todo_001": dict(one), "todo_002": raw(2, name="Other"), "todo_003": raw(3)}}, at, lines)
    assert after[0] is before[0] and [r.title for r in after] == ["Step 1", "Other", "Step 3"]
    assert plan_at({}, at, lines) == []


def test_only_what_runs_has_running_lines() -> None:
    assert [r.todo_id for r in running_rows(snapshot(raw(1), running(2), raw(3)), NOW)] == ["todo_002"]


class Plan(App[None]):
    def compose(self) -> ComposeResult:
        yield PlanTable(id="plan")


def shown(table: PlanTable) -> list[str]:
    return ["".join(s.text for s in table.render_line(y)) for y in range(table.row_count)]


async def test_running_times_go_on_and_leave_the_other_lines_alone() -> None:
    app = Plan()
    async with app.run_test(size=(100, 20)) as pilot:
        table = app.query_one(PlanTable)
        seen = snapshot(raw(1), running(2), raw(3))
        table.update_rows(plan_rows(seen, NOW))
        await pilot.pause()
        table.update_some(running_rows(seen, NOW.replace(second=30)))
        assert "30.0 s" in shown(table)[1] and "9.0 s" not in shown(table)[1]
        table.update_some([PlanRow("todo_009", "", "", "", "", "", "", "", "")])
        assert table.row_count == 3, "what has no line yet is left out"
        long = running_rows(seen, NOW.replace(hour=14))
        table.update_some(long)
        await pilot.pause()
        assert long[0].time in shown(table)[1], "a longer time makes room for itself"
        table.update_rows(plan_rows(seen, NOW))
        assert "9.0 s" in shown(table)[1] and table.row_count == 3


async def drawn(width: int, rows: list[PlanRow], theme: str) -> list[str]:
    app = Plan()
    async with app.run_test(size=(width, 20)) as pilot:
        app.theme = theme
        app.query_one(PlanTable).update_rows(rows)
        await pilot.pause()
        return pictures(app.query_one(PlanTable))


def pictures(table: PlanTable) -> list[str]:
    return [str([(s.text, s.style) for s in table.render_line(y)]) for y in range(table.row_count)]


async def test_a_plan_looks_the_same_however_it_came_to_its_width_and_colours() -> None:
    long = "A name that goes on and on until it finds no room in any table that is as narrow as this"
    rows = plan_rows(snapshot(raw(1, name=long), running(2), raw(3, dependencies=("todo_001",))), NOW)
    changed = plan_rows(
        snapshot(raw(1, name=long + ", or not"), running(2), raw(3, dependencies=("todo_001", "todo_002"))), NOW
    )
    app = Plan()
    async with app.run_test(size=(80, 20)) as pilot:
        table = app.query_one(PlanTable)
        for width, theme, seen in (
            (80, "textual-dark", rows),
            (76, "textual-dark", changed),
            (140, "textual-light", changed),
            (44, "textual-light", changed),
            (140, "textual-dark", rows),
        ):
            app.theme = theme
            table.update_rows(seen)
            await pilot.resize_terminal(width, 20)
            wanted = await drawn(width, seen, theme)
            for _ in range(200):  # a theme's colours come when the application has a moment
                await pilot.pause(0.01)
                if pictures(table) == wanted:
                    break
            assert pictures(table) == wanted


async def test_another_width_leaves_the_cursor_on_its_todo_and_in_sight() -> None:
    app = Plan()
    async with app.run_test(size=(100, 20)) as pilot:
        table = app.query_one(PlanTable)
        table.update_rows(plan_rows(snapshot(*[raw(n) for n in range(1, 200)]), NOW))
        table.move_cursor(row=150)
        await pilot.resize_terminal(96, 8)
        await pilot.pause()
        assert table.selected == "todo_151"
        assert "151" in "".join(s.text for s in table.render_line(150 - int(table.scroll_y)))


async def test_a_cell_that_stays_as_it_is_is_not_touched() -> None:
    app = Plan()
    async with app.run_test(size=(100, 20)):
        table = app.query_one(PlanTable)
        seen = snapshot(raw(1), running(2), raw(3))
        table.update_rows(plan_rows(seen, NOW))
        touched: list[tuple[object, object]] = []
        change = table.update_cell

        def noted(row: Any, column: Any, value: Any, *, update_width: bool = False) -> None:
            touched.append((row, column))
            change(row, column, value, update_width=update_width)

        table.update_cell = noted  # type: ignore[method-assign, assignment]
        table.update_some(running_rows(seen, NOW.replace(second=30)))
        table.update_rows(plan_rows(seen, NOW.replace(second=30)))
        assert touched == [], "a time that goes on draws its row alone"
        assert "30.0 s" in shown(table)[1]
        done = snapshot(raw(1), raw(2, status=Status.COMPLETED, duration=31.5), raw(3))
        table.update_rows(plan_rows(done, NOW))
        assert touched == [("todo_002", "status"), ("todo_002", "time")]
        assert "done" in shown(table)[1] and "31.5 s" in shown(table)[1]


async def test_a_time_that_went_on_stays_with_its_todo() -> None:
    app = Plan()
    async with app.run_test(size=(100, 20)) as pilot:
        table = app.query_one(PlanTable)
        table.update_rows(plan_rows(snapshot(raw(1), running(2), raw(3)), NOW))
        table.update_some(running_rows(snapshot(running(2)), NOW.replace(second=30)))
        later = NOW.replace(second=30)
        table.update_rows(plan_rows(snapshot(raw(1, rank=2.5), running(2), raw(3)), later))
        await pilot.pause()
        assert ["30.0 s" in line for line in shown(table)] == [True, False, False]
        await pilot.resize_terminal(70, 20)
        await pilot.pause()
        assert ["30.0 s" in line for line in shown(table)] == [True, False, False]


class Text(App[None]):
    CSS = "Rows { height: auto; width: 1fr; }"

    def __init__(self, rows: list[Row]) -> None:
        super().__init__()
        self.rows = rows

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Rows(self.rows)


async def test_of_many_rows_only_those_that_are_seen_are_drawn() -> None:
    app = Text([Row(f"{n}", styled(f"row {n}, 가나다")) for n in range(5_000)])
    async with app.run_test(size=(60, 10)) as pilot:
        rows = app.query_one(Rows)
        drawn: set[int] = set()
        draw = rows.render_line

        def noted(y: int) -> Any:
            drawn.add(y)
            return draw(y)

        rows.render_line = noted  # type: ignore[method-assign]
        rows.refresh()
        app.query_one(VerticalScroll).scroll_to(y=3_000, animate=False)
        await pilot.pause(0.1)
        assert rows.size.height == rows.needed == 5_000
        assert 3_000 in drawn and len(drawn) < 50
        assert "row 4999, 가나다" in rows.render_line(4_999).text


async def test_rows_that_find_no_room_beside_their_label_are_drawn_whole() -> None:
    app = Text([Row("a label that is long", styled("words"))])
    async with app.run_test(size=(14, 12)) as pilot:
        await pilot.pause()
        rows = app.query_one(Rows)
        said = "".join(rows.render_line(y).text.strip() for y in range(rows.size.height))
        assert "words" in said and rows.size.height == rows.needed


async def test_text_that_is_selected_in_rows_can_be_copied() -> None:
    app = Text([Row("", styled("first")), Row("", styled("second"))])
    async with app.run_test(size=(40, 6)) as pilot:
        await pilot.pause()
        app.screen.text_select_all()
        assert "first\nsecond" in (app.screen.get_selected_text() or "")
        strip = app.query_one(Rows).render_line(1)
        chosen = app.screen.get_component_rich_style("screen--selection").bgcolor
        assert any(s.style is not None and s.style.bgcolor == chosen for s in strip)
