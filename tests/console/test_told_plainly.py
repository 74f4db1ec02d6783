"""What a person reads can't be mistaken: options for keys, own words for claims, broken JSON for an object (C3, I2)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from console_support import Clock, Console, command_workspace, console
from test_question_state import question
from test_shapes_console import GRAPHS, asking, dialog, sends, shown, to_answer
from textual.widgets import Input, TextArea

from hitl_tui.config.declared_graphs import Attachment, GraphDeclaration
from hitl_tui.console.app import HitlApp
from hitl_tui.console.dialogs.answer_dialog import OptionAnswer, TextAnswer
from hitl_tui.console.dialogs.prompt_dialogs import LineDialog
from hitl_tui.console.help_rows import KeyRow, help_rows, placed
from hitl_tui.console.widgets.answer_pane import AnswerPane
from hitl_tui.console.widgets.history_table import HistoryTable
from hitl_tui.console.widgets.question_panel import headline
from hitl_tui.supervisor.open_options import OpenOptions
from hitl_tui.wording.question_rows import details, short_title


@pytest.mark.long
async def test_an_option_has_no_digit_beside_keys_that_mean_something_else(tmp_path: Path) -> None:
    async with asking(tmp_path, "options", (120, 40)) as c:
        assert "option 1" not in shown(c) and shown(c).count("option ") >= 2
        await to_answer(c)
        await c.press("5")
        await dialog(c, OptionAnswer)
        c.clock.rest()
        await c.press("1")
        await c.until(lambda: c.app.screen is c.session and c.status("todo_001") == "completed", "the graph's end")
        history = c.session.query_one(HistoryTable)

        def rows() -> str:
            return "\n".join(str(history.get_row_at(n)[0]) for n in range(history.row_count))

        await c.until(lambda: "answered 001" in rows(), "that it was answered")


@pytest.mark.long
async def test_half_typed_json_is_named_as_such(tmp_path: Path) -> None:
    async with asking(tmp_path, "other") as c:
        await to_answer(c)
        await c.press("5")
        saying = await dialog(c, TextAnswer)
        await c.press(*'{"ok": true')
        assert "isn't valid JSON" in sends(c) and "the text" in sends(c)
        await c.press("}")
        assert "isn't valid JSON" not in sends(c) and saying.written == '{"ok": true}'


@pytest.mark.long
async def test_a_question_says_which_graph_runs_and_from_where(tmp_path: Path) -> None:
    work, clock = tmp_path / "w", Clock()
    work.mkdir()
    graph = GraphDeclaration("options", f"{GRAPHS.name}:options", str(GRAPHS.parent))
    app = HitlApp(OpenOptions(tmp_path / "d", work, "", "", "ops", "{}", Attachment(graph, "", False)), clock)
    async with app.run_test(size=(120, 40)) as pilot:
        try:
            c = Console(app, pilot, clock)
            await c.asked()
            await c.until(lambda: "graph " in shown(c), "the graph")
            assert f"{GRAPHS.name}:options in {GRAPHS.parent}" in shown(c)
        finally:
            await app.engine.close()


@pytest.mark.long
async def test_risk_and_own_words_and_the_name_of_an_export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with console(tmp_path / "d", command_workspace(tmp_path / "w"), query="The cap", mode="risk") as c:
        await c.until(lambda: c.shown() and c.snapshot.concluded, "the search")
        await c.send("/todo add command_team keep file=one")
        await c.asked()
        asked = c.snapshot.questions[0]
        now = datetime.now(UTC)
        assert "RISKY: changes things outside this session" in headline(asked, 1, 1, now, 76).plain
        whole = [f"{row.label} {row.text.plain}" for row in details(asked, "")]
        assert "risk RISKY: changes things outside this session" in whole
        await c.send("/mode plan")
        await c.send("also compute 3 + 4")
        await c.asked(2)
        c.panel.select(c.snapshot.questions[1].id)
        assert "asked for also compute 3 + 4" in shown(c) and "nobody has checked it" not in shown(c)
        c.session.show_pane("answer")
        c.session.query_one(AnswerPane).focus()
        await c.press("e")
        await c.until(lambda: isinstance(c.app.screen, LineDialog) and c.app.screen.is_mounted, "the name")
        c.app.screen.query_one(Input).value = str(tmp_path / "told")
        await c.press("enter")
        await c.until((tmp_path / "told.md").exists, "what the dialog said")
        assert not (tmp_path / "told").exists()


def test_names_of_bindings_stand_near_their_texts_in_a_wide_terminal() -> None:
    for row in placed([r for r in help_rows() if isinstance(r, KeyRow)], 200):
        assert row.text.cell_length < 130


@pytest.mark.parametrize(
    ("title", "arguments", "says"),
    [
        ("Run: clean-logs", {"command": "clean-logs", "argv": ["true"], "parameters": {}}, "clean-logs"),
        ("Search: the cap", {"query": "the cap"}, "Search"),
        ("Search: the landlord wants…", {"query": "The landlord wants to raise it"}, "Search: the landlord wants…"),
        ("ann@example.com: your order", {"input": {"request": "ann@example.com: your order 1"}}, ""),
    ],
)
def test_a_title_leaves_out_only_what_stands_below_it(title: str, arguments: dict[str, object], says: str) -> None:
    assert short_title(question(title, subject={"arguments": arguments})) == says


async def test_an_object_that_is_edited_says_where_its_json_is_wrong(tmp_path: Path) -> None:
    async with asking(tmp_path, "review_fields") as c:
        await to_answer(c)
        await c.press("2")
        saying = await dialog(c, TextAnswer)
        area = saying.query_one(TextArea)
        for broken in ('{\n  "to": "kim"\n  "copies": 1\n}', '{\n  "to": "kim"\n  "copies": 1'):
            area.text = broken
            await c.pilot.pause()
            assert "line 3, column 3: a comma is missing before this" in sends(c)
            assert "quotation marks" not in sends(c) and "sent as text" not in sends(c)
