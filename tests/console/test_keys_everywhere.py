"""Every key is in the one map, and every text that names a key reads it there (C2)."""

from __future__ import annotations

import re
from pathlib import Path

import polib
import pytest
from console_support import EXAMPLE, RISE, command_workspace, console
from textual.binding import BindingsMap
from textual.widgets import Button

from hitl_tui.console.help import help_rows
from hitl_tui.console.keymap import load_keymap
from hitl_tui.console.keys import KEYS
from hitl_tui.console.screens.answering import Gathered, Part
from hitl_tui.console.screens.choosing import Choosing
from hitl_tui.console.screens.dialogs import Confirm, Reading, Words
from hitl_tui.console.screens.edit import Edit
from hitl_tui.console.screens.filling import Filling
from hitl_tui.console.screens.review import Review
from hitl_tui.console.screens.rules import Always, Rules
from hitl_tui.console.screens.saying import Saying
from hitl_tui.console.screens.viewer import Viewer
from hitl_tui.console.widgets.question import QuestionPanel
from hitl_tui.core.todos import Status
from hitl_tui.language.catalogue import catalogue_path

KNOWN = {spec.id for spec in KEYS}
NAMED = re.compile(r"\{([a-z_]+\.[a-z0-9_]+)\}")
DIALOGS = [Gathered, Part, Choosing, Confirm, Reading, Words, Edit, Filling, Review, Always, Rules, Saying, Viewer]


@pytest.mark.parametrize("screen", DIALOGS, ids=lambda screen: screen.__name__)
def test_dialogs_bind_only_what_the_map_has(screen: type[object]) -> None:
    bound = {binding.id for __, binding in BindingsMap(screen.BINDINGS)}  # type: ignore[attr-defined]
    assert bound and bound <= KNOWN


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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('"form.send" = "s"', "s is a character that you type"),
        ('"words.cancel" = "q"', "q is a character that you type"),
        ('"form.approve" = "enter"', "Enter never decides anything"),
        ('"reading.yes" = "space"', "Space never decides anything"),
        ('"choosing.1" = "enter"', "Enter never decides anything"),
        ('"review.first" = "1"', '1 is the key of "reading.yes"'),
        ('"form.sned" = "f8"', 'there is no binding "form.sned"; the nearest is "form.send"'),
    ],
)
def test_what_a_dialogs_key_cant_be_is_told(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "keys.toml").write_text(text + "\n", encoding="utf-8")
    found = load_keymap(tmp_path / "keys.toml")
    assert found.changed == {}
    assert len(found.problems) == 1 and said in found.problems[0]


async def test_a_remapped_key_of_the_edit_dialog_works_and_is_named(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "keys.toml").write_text('"form.send" = "f12"\n"form.cancel" = "f8"\n', encoding="utf-8")
    workspace = command_workspace(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await c.until(lambda: c.shown() and c.status("todo_001") == Status.COMPLETED, "the search")
        await c.send("/todo add command_team keep file=before")
        await c.asked()
        await c.to_question()
        await c.press("2")
        await c.until(lambda: isinstance(c.app.screen, Edit), "the dialog")
        assert [str(b.label) for b in c.app.screen.query(Button)] == [
            "F12 Ask anew",
            "F9 Approve it",
            "Ctrl+E Editor",
            "F8 Cancel",
        ]
        old = c.panel.question
        await c.press("ctrl+s", "escape")
        assert isinstance(c.app.screen, Edit)
        await c.press("x", "f12")
        await c.until(lambda: old and c.panel.question and c.panel.question.digest != old.digest, "asked anew")


async def test_remapped_keys_are_named_wherever_the_console_speaks_of_them(tmp_path: Path) -> None:
    keys = '"session.question" = "ctrl+t"\n"question.1" = "y"\n"question.page_down" = "f9"\n"words.cancel" = "f8"\n'
    (tmp_path / "keys.toml").write_text(keys + '"console.mode" = "f11"\n', encoding="utf-8")
    async with console(tmp_path, EXAMPLE, query=RISE, size=(80, 24)) as c:
        await c.asked()
        await c.until(lambda: c.panel.read or "F9" in str(c.panel.border_subtitle), "the panel")
        panel = c.session.query_one(QuestionPanel)
        assert "Ctrl+T to answer" in str(panel.border_subtitle) or "more below: F9" in str(panel.border_subtitle)
        assert str(c.session.query_one("#place-1").render()) == "y Approve"
        titles = [row.text.plain for row in help_rows(c.app.keymap)]
        assert "Question (Ctrl+T)" in titles
        await c.press("ctrl+t")
        c.clock.rest()
        await c.press("3")
        await c.until(lambda: isinstance(c.app.screen, Words), "the reason")
        assert "F8 back, nothing happens" in str(c.app.screen.query(".dialog-keys").first().render())
        await c.press("escape")
        assert isinstance(c.app.screen, Words)
        await c.press("f8")
        await c.until(lambda: c.app.screen is c.session, "back")
