"""A plan of very many lines is filled in at once, and is then the same table as one that grew line by line."""

from __future__ import annotations

from typing import Any

from test_drawn_once import NOW, Plan, pictures, raw, snapshot
from textual.coordinate import Coordinate

from hitl_tui.console.widgets.plan_table import PlanTable
from hitl_tui.wording.status_words import plan_rows

MANY = 40


def rows(count: int) -> list[dict[str, Any]]:
    return [raw(n) for n in range(1, count + 1)]


async def test_a_table_filled_at_once_is_one_that_grew_row_by_row() -> None:
    wanted = plan_rows(snapshot(*rows(MANY)), NOW)
    at_once, by_row = Plan(), Plan()
    async with at_once.run_test(size=(100, 60)) as pilot:
        at_once.query_one(PlanTable).update_rows(wanted)
        await pilot.pause()
        filled = at_once.query_one(PlanTable)
        drawn = pictures(filled)
        async with by_row.run_test(size=(100, 60)) as other:
            grown = by_row.query_one(PlanTable)
            for count in range(1, MANY + 1):
                grown.update_rows(wanted[:count])
            await other.pause()
            assert pictures(grown) == drawn
            assert grown.virtual_size.height == filled.virtual_size.height == MANY
            assert [str(r.key.value) for r in grown.ordered_rows] == [r.todo_id for r in wanted]
        assert [str(r.key.value) for r in filled.ordered_rows] == [r.todo_id for r in wanted]
        assert [str(cell) for cell in filled.get_row("todo_017")] == [str(cell) for cell in filled.get_row_at(16)]


async def test_cursor_words_and_order_stay_in_a_table_that_was_filled_at_once() -> None:
    seen = rows(MANY)
    app = Plan()
    async with app.run_test(size=(100, 20)) as pilot:
        table = app.query_one(PlanTable)
        table.update_rows(plan_rows(snapshot(*seen), NOW))
        await pilot.pause()
        table.focus()
        await pilot.press("end")
        assert table.selected == "todo_040"
        await pilot.press("slash", *"40", "enter")
        assert [r.todo_id for r in table._rows] == ["todo_040"] and table.row_count == 1
        await pilot.press("escape")
        await pilot.pause()
        assert table.selected == "todo_040" and table.row_count == MANY
        assert table.scroll_offset.y > 0, "the line at the cursor is in sight"
        moved = [*seen[:-1], raw(40, rank=0.5)]
        table.update_rows(plan_rows(snapshot(*moved), NOW))
        await pilot.pause()
        assert (table.selected, table.cursor_row) == ("todo_040", 0)
        assert str(table.get_cell_at(Coordinate(1, 1))) == "001"
        fewer = plan_rows(snapshot(*moved[5:]), NOW)
        table.update_rows(fewer)
        assert table.row_count == MANY - 5
