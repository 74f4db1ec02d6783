"""Always allow: shown exactly, confirmed, written, used, taken back; and the form and editor of an input (C3)."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from console_support import RISE, Console, console
from test_review import begun, burst, place
from textual.widgets import DataTable

from hitl_tui.config.declared_commands import Parameter
from hitl_tui.console.dialogs.edit_dialog import EditDialog
from hitl_tui.console.dialogs.form_fields import FieldInput
from hitl_tui.console.dialogs.form_model import Field, declared_fields, schema_fields
from hitl_tui.console.dialogs.rule_dialogs import RuleChange, RuleDialog, RulesDialog
from hitl_tui.console.row_layout import layout
from hitl_tui.console.widgets.virtual_rows import Rows
from hitl_tui.core.errors import BadInput
from hitl_tui.core.todos import Status
from hitl_tui.language import using
from hitl_tui.policy.standing_rules import load_rules
from hitl_tui.terminal.own_editor import text_from_editor

pytestmark = pytest.mark.long


async def always(c: Console, key: str = "7") -> RuleDialog:
    """Open the rule of the question on the screen and read it to its end."""
    await c.press(key)
    return await reading(c)


async def reading(c: Console) -> RuleDialog:
    """Wait for what would be written, and read it to its end."""
    await c.until(lambda: isinstance(c.app.screen, RuleDialog), "the rule")
    screen = c.app.screen
    assert isinstance(screen, RuleDialog)
    while not screen.read:
        await c.press("pagedown")
    c.clock.rest()
    return screen


async def test_the_rule_is_shown_exactly_and_written_when_it_is_confirmed(tmp_path: Path) -> None:
    workspace, path = place(tmp_path / "w"), tmp_path / "d" / "rules.toml"
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk", size=(80, 24)) as c:
        await begun(c, "keep file=one", "keep file=one", "keep file=two")
        await c.until(lambda: c.panel.question and c.panel.question.view.evidence, "preview")
        await c.to_question()
        screen = await always(c, "l")
        shown = layout(screen.query_one(Rows).rows, 300).plain
        assert "touch one" in shown
        assert "whatever it does later" in shown
        assert "no effect yet" not in shown
        assert not path.exists()
        await c.press("1")
        await c.until(lambda: c.status("todo_003") == Status.COMPLETED, "both with that input")
        (rule,) = load_rules(path)
        assert all(line in shown for line in rule.to_toml().splitlines() if not line.startswith("at = "))
        assert (rule.by, rule.workspace, rule.command) == ("ops", str(workspace), "keep")
        approval = c.snapshot.raw["todo_003"]["approval"]
        assert (approval["channel"], approval["by"]) == ("rule", f"rule {rule.id} of ops")
        await c.asked(1)
        assert c.status("todo_004") == Status.WAITING_APPROVAL
        assert not (workspace / "two").exists()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("key", ["enter", "escape", "n", "2", "ctrl+d"])
async def test_no_other_key_writes_a_rule(tmp_path: Path, key: str) -> None:
    workspace = place(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await begun(c, "note file=one")
        await c.to_question()
        await always(c)
        await c.press(key)
        await c.pilot.pause(0.05)
        assert not (tmp_path / "d" / "rules.toml").exists()
        assert c.status("todo_002") == Status.WAITING_APPROVAL


async def test_in_mode_step_no_rule_is_offered_and_the_key_says_which_one_changes_the_mode(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.to_question()
        await c.press("7")
        await c.until(lambda: "asks about everything" in c.message and "F4" in c.message, "why not")
        assert c.app.screen is c.session
        assert c.status("todo_001") == Status.WAITING_APPROVAL


async def test_where_hitl_toml_speaks_no_rule_is_offered(tmp_path: Path) -> None:
    workspace = place(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await begun(c, "both")
        await c.to_question()
        await c.press("7")
        await c.until(lambda: "hitl.toml" in c.message, "why not")
        assert c.app.screen is c.session


@pytest.mark.long
async def test_rules_are_listed_and_taken_back_on_one_screen(tmp_path: Path) -> None:
    workspace, path = place(tmp_path / "w"), tmp_path / "d" / "rules.toml"
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await begun(c, "note file=one")
        await c.to_question()
        await always(c)
        await c.press("1")
        await c.until(lambda: c.status("todo_002") == Status.COMPLETED, "allowed")
        await c.send("/rules")
        await c.until(lambda: isinstance(c.app.screen, RulesDialog), "the list")
        table = c.app.screen.query_one(DataTable)
        assert table.row_count == 2
        assert "touch one-14" in str(table.get_row_at(0)[2])
        await c.press("enter", "1", "space")
        assert len(load_rules(path)) == 1
        c.clock.rest()  # a letter right after others is text
        await c.press("x")
        await c.until(lambda: load_rules(path) == (), "taken back")
        await c.until(lambda: table.row_count == 1, "what hitl.toml says is left")
        await c.press("escape")
        await c.send("/todo add command_team note file=one")
        await c.asked(1)
        assert c.status("todo_003") == Status.WAITING_APPROVAL


@pytest.mark.long
async def test_a_rule_is_changed_in_a_form_shown_and_written_when_it_is_confirmed(tmp_path: Path) -> None:
    workspace, path = place(tmp_path / "w"), tmp_path / "d" / "rules.toml"
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await begun(c, "note file=one")
        await c.to_question()
        await always(c)
        await c.press("1")
        await c.until(lambda: c.status("todo_002") == Status.COMPLETED, "allowed")
        (before,) = load_rules(path)
        await c.send("/rules")
        await c.until(lambda: isinstance(c.app.screen, RulesDialog), "the list")
        await c.press("e")
        await c.until(lambda: isinstance(c.app.screen, RuleChange), "the form")
        c.clock.rest()
        await c.press(*"8 days", "ctrl+s")
        assert isinstance(c.app.screen, RuleChange), "what can't be read isn't taken"
        await c.press(*["backspace"] * 5, "h", "tab")
        await c.press(*["backspace"] * len("exact"), *"any", "ctrl+s")
        await c.until(lambda: isinstance(c.app.screen, RuleDialog), "what would be written")
        screen = c.app.screen
        assert isinstance(screen, RuleDialog)
        shown = layout(screen.query_one(Rows).rows, 300).plain
        await c.press("enter")
        await c.until(lambda: isinstance(c.app.screen, RulesDialog), "Enter writes nothing")
        assert load_rules(path) == (before,)
        await c.press("e")
        await c.until(lambda: isinstance(c.app.screen, RuleChange), "the form again")
        c.clock.rest()
        await c.press(*"8h", "tab", *["backspace"] * len("exact"), *"any", "ctrl+s")
        screen = await reading(c)
        await c.press("1")
        await c.until(lambda: load_rules(path) != (before,), "written")
        (after,) = load_rules(path)
        assert (after.input, bool(after.until), after.by) == ("", True, "ops")
        assert 'shown = "note: any input"' in shown and before.to_toml().splitlines()[-1] in shown
        await c.press("escape")
        await c.send("/todo add command_team note file=other")
        await c.until(lambda: c.status("todo_003") == Status.COMPLETED, "another input passes, too")


# The form ----------------------------------------------------------------------------------------------------------


def test_a_declared_command_becomes_a_form() -> None:
    fields = declared_fields(
        {
            "days": Parameter("integer", 14, 1, 99, description="older than", descriptions={"ko": "며칠보다"}),
            "who": Parameter("choice", choices=("nginx", "app")),
        }
    )
    assert [(f.name, f.explained, f.when_empty) for f in fields] == [
        ("days", "older than · a whole number from 1 to 99", "default 14"),
        ("who", "one of nginx, app, needed", ""),
    ]


def test_a_parameter_is_explained_in_the_persons_language_where_its_declaration_speaks_it() -> None:
    with using("ko"):
        fields = declared_fields(
            {
                "days": Parameter("integer", 14, description="older than", descriptions={"ko": "며칠보다"}),
                "who": Parameter(description="whose"),
            }
        )
        assert [f.explained.split(" · ")[0] for f in fields] == ["며칠보다", "whose"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("field", "text", "value"),
    [
        (Field("n", "integer", minimum=1, maximum=9), "7", 7),
        (Field("n", "number"), "2.5", 2.5),
        (Field("b", "boolean"), "True", True),
        (Field("c", "choice", ("x", "y")), "y", "y"),
        (Field("s"), " 007 ", " 007 "),
        (Field("j", "json"), "[1]", [1]),
    ],
)
def test_what_a_text_stands_for(field: Field, text: str, value: object) -> None:
    assert field.value(text) == value


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("field", "text"),
    [
        (Field("n", "integer", minimum=1), "0"),
        (Field("n", "integer", maximum=9), "10"),
        (Field("n", "integer"), "1.5"),
        (Field("n", "integer"), ""),
        (Field("n", "number"), "nan"),
        (Field("b", "boolean"), "maybe"),
        (Field("c", "choice", ("x", "y")), "z"),
        (Field("j", "json"), "{"),
    ],
)
def test_what_a_field_does_not_take_is_said(field: Field, text: str) -> None:
    with pytest.raises(BadInput) as error:
        field.value(text)
    assert error.value.message.startswith(f"{field.name} must be ")


def test_a_schema_becomes_a_form_without_what_is_derived() -> None:
    schema = {
        "properties": {
            "query": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1, "default": 8},
            "argv": {"type": "array", "readOnly": True},
            "places": {"type": "array"},
        },
        "required": ["query"],
    }
    fields = schema_fields(schema, {"query": "q", "extra": 1})
    assert [(f.name, f.type, f.required) for f in fields] == [
        ("query", "string", True),
        ("limit", "integer", False),
        ("places", "json", False),
        ("extra", "json", False),
    ]


async def edit(c: Console) -> EditDialog:
    """Open the form of the question on the screen."""
    await c.to_question()
    await c.press("2")
    await c.until(lambda: isinstance(c.app.screen, EditDialog), "the form")
    screen = c.app.screen
    assert isinstance(screen, EditDialog)
    return screen


async def test_a_field_is_checked_while_it_is_typed(tmp_path: Path) -> None:
    workspace = place(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await begun(c, "note file=one")
        screen = await edit(c)
        _, days = screen.query(FieldInput)
        burst(c, "down", "end", "0", "0")
        await c.until(lambda: days.value == "1400", "the digits")
        assert days.has_class("-wrong")
        assert "days must be" in layout(screen.query_one(Rows).rows, 200).plain
        await c.press("f9", "ctrl+s")
        assert c.app.screen is screen, "what is wrong doesn't leave the dialog"
        await c.press("backspace", "backspace", "backspace")
        assert not days.has_class("-wrong")
        assert "touch one-1" in layout(screen.query_one(Rows).rows, 200).plain


async def test_what_comes_back_broken_from_the_editor_is_kept(tmp_path: Path) -> None:
    workspace = place(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await begun(c, "note file=one")
        screen = await edit(c)
        file, days = screen.query(FieldInput)
        assert json.loads(screen.editor_text()) == {"file": "one", "days": 14}
        for broken in (
            '{"file": "much work", ',
            '["much work"]',
            '{"flie": "much work"}',
            '{"file": "much", "file": "work"}',
        ):
            said = screen.take_editor_text(broken)
            assert "Ctrl+E" in said
            assert "\n" not in said
            assert screen.editor_text() == broken, "nothing is lost"
            assert (file.value, days.value) == ("one", "14")
        assert screen.take_editor_text('{"file": "two", "days": 15}') == ""
        assert (file.value, days.value) == ("two", "15")
        assert json.loads(screen.editor_text()) == {"file": "two", "days": 15}


async def test_the_editor_changes_the_text_and_an_editor_that_fails_changes_nothing(tmp_path: Path) -> None:
    script = tmp_path / "editor"
    script.write_text('#!/bin/sh\nsed "s/one/two/" "$1" > "$1.new" && mv "$1.new" "$1"\n', encoding="utf-8")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    assert await text_from_editor("one\n", {"EDITOR": "false", "VISUAL": str(script)}) == "two\n"
    for environ in ({"EDITOR": "false"}, {"EDITOR": str(tmp_path / "none")}, {"VISUAL": "'"}):
        with pytest.raises(BadInput):
            await text_from_editor("one", environ)
