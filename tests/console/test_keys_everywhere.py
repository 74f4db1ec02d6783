"""Every key is in the one map, and every text that names a key reads it there (C2)."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import polib
import pytest
from console_support import EXAMPLE, RISE, command_workspace, console
from textual.app import App
from textual.binding import BindingsMap
from textual.command import CommandPalette
from textual.content import Content
from textual.dom import DOMNode
from textual.widgets import Button, Input, TextArea

import hitl_tui.console
from hitl_tui.console.app import HitlApp
from hitl_tui.console.dialogs.edit_dialog import EditDialog
from hitl_tui.console.dialogs.inbox_dialog import InboxDialog
from hitl_tui.console.dialogs.prompt_dialogs import WordsDialog
from hitl_tui.console.help_rows import help_rows
from hitl_tui.console.keymap import load_keymap
from hitl_tui.console.keys import FINDING, KEYS, PROMPT, SAY
from hitl_tui.console.widgets.plan_table import PlanTable
from hitl_tui.console.widgets.question_panel import QuestionPanel
from hitl_tui.core.todos import Status
from hitl_tui.language.catalogue import catalogue_path

pytestmark = pytest.mark.long

KNOWN = {spec.id for spec in KEYS}
NAMED = re.compile(r"\{([a-z_]+\.[a-z0-9_]+)\}")
# Textual's, everywhere alike: moving cursor, view or focus, copying what is selected, Enter on a button with the focus.
MOVES = re.compile(r"(app\.focus_(next|previous)|(cursor|scroll|page)_\w+|first|last|screen\.copy_text|press)(\(.*\))?")
WRITTEN = (Input, TextArea, CommandPalette)
"""Text fields: their editing keys are Textual's."""
LITERAL = re.compile(r"\b(Esc|Enter|Tab|Space|PgUp|PgDn|Del|F\d{1,2})(?![a-z])|(?:Ctrl|Shift)[+-]")


def our_widgets() -> list[type[DOMNode]]:
    """Return the app, all screens and all widgets of the console."""
    found: dict[type[DOMNode], None] = {}
    for entry in pkgutil.walk_packages(hitl_tui.console.__path__, "hitl_tui.console."):
        for kind in vars(importlib.import_module(entry.name)).values():
            if inspect.isclass(kind) and issubclass(kind, DOMNode) and kind.__module__ == entry.name:
                found[kind] = None
    assert len(found) > 40
    return [kind for kind in found if not issubclass(kind, App) or issubclass(kind, HitlApp)]  # no base of the app


def test_every_binding_is_from_the_map() -> None:
    bound = set()
    for kind in our_widgets():
        own = BindingsMap(kind.__dict__.get("BINDINGS", ())) if issubclass(kind, WRITTEN) else kind._merge_bindings()
        for key, binding in own:
            assert binding.id in KNOWN or MOVES.fullmatch(binding.action), (kind.__name__, key, binding.action)
            bound.add(binding.id)
    # The prompt's, a text's and a search's keys come before what is typed, so these ask the map themselves.
    asked = {spec.id for spec in KEYS if spec.where in (PROMPT, SAY, FINDING)}
    assert bound - {None} | asked == KNOWN


def test_nothing_is_bound_or_listed_past_the_map() -> None:
    for path in Path(hitl_tui.console.__file__).parent.rglob("*.py"):
        made = re.findall(r"(?<![\w.])(Binding|DataTable|OptionList|Tree)\(", path.read_text(encoding="utf-8"))
        assert made == (["Binding"] if path.name == "keys.py" else []), path


def test_no_text_of_the_console_names_a_key_but_by_its_id() -> None:
    checked = 0
    for entry in polib.pofile(str(catalogue_path("ko").with_suffix(".po"))):
        if "console/" not in entry.comment or entry.msgctxt:
            continue
        checked += 1
        for text in (entry.msgid, entry.msgstr, *entry.msgstr_plural.values()):
            assert not LITERAL.search(text), text
    assert checked > 500


def sought(plan: PlanTable) -> str:
    return Content.from_markup(plan.border_subtitle or "").plain


async def test_remapped_keys_of_a_search_keep_and_forget_the_words(tmp_path: Path) -> None:
    (tmp_path / "keys.toml").write_text('"finding.keep" = "f9"\n"finding.forget" = "f10"\n', encoding="utf-8")
    async with console(tmp_path, EXAMPLE, query=RISE) as c:
        await c.asked()
        plan = c.session.query_one(PlanTable)
        plan.focus()
        await c.press("slash", "0", "0", "2")
        assert plan.row_count == 1 and sought(plan).startswith("/002▏")
        await c.press("enter", "escape")  # by habit: neither keeps, forgets, opens nor leaves
        assert plan.has_focus and sought(plan).startswith("/002▏") and c.app.screen is c.session
        await c.press("f9")
        assert sought(plan).startswith("/002 ") and plan.row_count == 1
        await c.press("slash", "1", "f10")
        assert not sought(plan) and plan.row_count == 2
        helped = [row.text.plain for row in help_rows(c.app.keymap)]
        assert "Show only what has these words; F10 shows all again" in helped


async def test_a_remapped_key_chooses_in_lists_without_keys_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "keys.toml").write_text('"list.choose" = "o"\n"inbox.close" = "x"\n', encoding="utf-8")
    async with console(tmp_path, EXAMPLE, query=RISE) as c:
        await c.asked()
        await c.press("f3")
        await c.until(lambda: isinstance(c.app.screen, InboxDialog), "the inbox")
        said = str(c.app.screen.query(".dialog-keys").first().render())
        assert said == "o Open the question · / Find · x Close"
        await c.press("enter", "escape", "q")
        assert isinstance(c.app.screen, InboxDialog)
        await c.press("o")
        await c.until(lambda: c.app.screen is c.session and c.panel.has_focus, "the question")


def test_texts_name_only_keys_that_there_are_in_both_languages() -> None:
    catalogue = polib.pofile(str(catalogue_path("ko").with_suffix(".po")))
    named = 0
    for entry in catalogue:
        wanted = set(NAMED.findall(entry.msgid))
        named += len(wanted)
        assert wanted <= KNOWN, entry.msgid
        for said in (entry.msgstr, *entry.msgstr_plural.values()):
            assert not said or set(NAMED.findall(said)) == wanted, entry.msgid
    assert named > 20


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('"form.send" = "s"', "s is a character that you type"),
        ('"words.cancel" = "q"', "q is a character that you type"),
        ('"form.approve" = "enter"', "Enter never decides anything"),
        ('"reading.yes" = "space"', "Space never decides anything"),
        ('"choosing.1" = "enter"', "Enter never decides anything"),
        ('"review.first" = "1"', '1 already belongs to "reading.yes"'),
        ('"form.sned" = "f8"', 'unknown binding "form.sned"; the nearest is "form.send"'),
    ],
)
def test_what_a_dialogs_key_cant_be_is_told(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "keys.toml").write_text(text + "\n", encoding="utf-8")
    found = load_keymap(tmp_path / "keys.toml")
    assert found.changed == {}
    assert len(found.problems) == 1 and said in found.problems[0]


async def test_a_remapped_key_of_the_edit_dialog_works_and_is_named(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "keys.toml").write_text('"form.send" = "f12"\n"form.cancel" = "f10"\n', encoding="utf-8")
    workspace = command_workspace(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await c.until(lambda: c.shown() and c.status("todo_001") == Status.COMPLETED, "the search")
        await c.send("/todo add command_team keep file=before")
        await c.asked()
        await c.to_question()
        await c.press("2")
        await c.until(lambda: isinstance(c.app.screen, EditDialog), "the dialog")
        assert [str(b.label) for b in c.app.screen.query(Button)] == [
            "F12 Save and ask again",
            "F9 Save and approve",
            "Ctrl+E Editor",
            "F10 Back",
        ]
        old = c.panel.question
        await c.press("ctrl+s", "escape")
        assert isinstance(c.app.screen, EditDialog)
        c.clock.rest()
        await c.press("x", "f12")
        await c.until(lambda: old and c.panel.question and c.panel.question.digest != old.digest, "asked anew")


async def test_remapped_keys_are_named_wherever_the_console_speaks_of_them(tmp_path: Path) -> None:
    keys = '"session.question" = "ctrl+t"\n"question.1" = "y"\n"question.page_down" = "f9"\n"words.cancel" = "f10"\n'
    (tmp_path / "keys.toml").write_text(keys + '"console.mode" = "f11"\n', encoding="utf-8")
    async with console(tmp_path, EXAMPLE, query=RISE, size=(80, 24)) as c:
        await c.asked()
        await c.until(lambda: c.panel.read or "F9" in str(c.panel.border_subtitle), "the panel")
        panel = c.session.query_one(QuestionPanel)
        assert "Ctrl+T to answer" in str(panel.border_subtitle) or "read to the end to decide by key: F9" in str(
            panel.border_subtitle
        )
        assert str(c.session.query_one("#place-1").render()) == "y Approve"
        titles = [row.text.plain for row in help_rows(c.app.keymap)]
        assert "Question (Ctrl+T)" in titles
        await c.press("ctrl+t")
        c.clock.rest()
        await c.press("3")
        await c.until(lambda: isinstance(c.app.screen, WordsDialog), "the reason")
        assert "F10 Cancel" in str(c.app.screen.query(".dialog-keys").first().render())
        await c.press("escape")
        assert isinstance(c.app.screen, WordsDialog)
        await c.press("f10")
        await c.until(lambda: c.app.screen is c.session, "back")
