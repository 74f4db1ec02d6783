"""Screens: sizes, the first frame, what is remembered, hostile text, themes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import ClassVar

import pytest
from console_support import EXAMPLE, RISE, command_workspace, console, streamed
from textual.events import Key
from textual.widgets import DataTable, OptionList

from hitl_tui.console.app import HitlApp
from hitl_tui.console.dialogs.text_viewer import TextViewer
from hitl_tui.console.dialogs.trust_dialog import TrustScreen
from hitl_tui.console.help_rows import help_rows
from hitl_tui.console.keyguard.keyboard import ConsoleKeyboard
from hitl_tui.console.keymap import Keymap
from hitl_tui.console.keys import KEYS, with_jamo
from hitl_tui.console.row_layout import layout
from hitl_tui.console.screens.home_screen import HomeScreen
from hitl_tui.console.screens.session_screen import SessionScreen
from hitl_tui.console.themes import load_themes
from hitl_tui.console.user_files import Remembered, recall, recall_lines, remember, remember_lines
from hitl_tui.console.widgets.answer_pane import AnswerPane
from hitl_tui.console.widgets.bars import MessageLine
from hitl_tui.console.widgets.history_table import HistoryTable
from hitl_tui.console.widgets.plan_table import PlanTable
from hitl_tui.console.widgets.prompt_line import Prompt
from hitl_tui.console.widgets.stream_pane import Line, StreamPane, wrapped
from hitl_tui.console.widgets.virtual_rows import Rows
from hitl_tui.core.safe_text import cell_width
from hitl_tui.policy.operator_identity import Operator
from hitl_tui.supervisor.open_options import OpenOptions
from hitl_tui.wording.rows import text_row
from hitl_tui.wording.subject_rows import command_line

ROOT = Path(__file__).resolve().parents[2]


def test_importing_the_console_leaves_the_engine_alone() -> None:
    code = "import sys, hitl_tui.console.app; print([m for m in sys.modules if m.startswith('langgraph')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"


def test_the_first_frame_waits_for_nothing_it_can_do_without() -> None:
    spared = ["argparse", "gettext", "importlib.resources", "logging.handlers", "hitl_tui.config.sandbox"]
    spared += ["hitl_tui.console.screens.session_screen", "hitl_tui.console.widgets.panes", "hitl_tui.cli.arguments"]
    code = (
        "import sys, hitl_tui.cli.dispatch as e, hitl_tui.cli.log_file, hitl_tui.cli.settings, hitl_tui.console.app\n"
    )
    code += f"assert e.plain(['--workspace', '.']) is not None\nprint([m for m in {spared} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.long
def test_sessions_are_listed_before_the_engine_is_there(tmp_path: Path) -> None:
    code = f"""
import asyncio, sys
from pathlib import Path
from hitl_tui.console.engine import Engine
from hitl_tui.supervisor.open_options import OpenOptions

async def listed():
    engine = Engine(OpenOptions(Path({str(tmp_path)!r})), lambda *seen: None)
    sessions = await (await engine.admin()).sessions(newest=100)
    print(sessions, await engine.count_waiting(), [m for m in sys.modules if m.startswith("langgraph")])
    await engine.prepare()
    print("langgraph.graph" in sys.modules)
    await engine.close()

asyncio.run(listed())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.splitlines() == ["[] 0 []", "True"]


class Hasty(HitlApp):
    """Somebody types before there is a prompt, and goes on while it is made."""

    CSS_PATH: ClassVar[list[str | PurePath]] = [ROOT / "hitl_tui" / "console" / path for path in HitlApp.CSS_PATH]

    def __init__(self, options: OpenOptions) -> None:
        super().__init__(options)
        self.keyboard = HastyKeyboard(self, self.type)

    def type(self, letters: str) -> None:
        for letter in letters:
            self.post_message(Key(letter, letter))

    def on_load(self) -> None:
        self.type("ab")


class HastyKeyboard(ConsoleKeyboard):
    """More is typed while what was typed too early is handed on."""

    def __init__(self, app: HitlApp, type_in: Callable[[str], None]) -> None:
        super().__init__(app, time.monotonic)
        self._type = type_in

    def take_early(self) -> None:
        self._type("cd")
        super().take_early()
        self._type("ef")


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_what_is_typed_before_there_is_a_prompt_stays_in_its_order(tmp_path: Path, size: tuple[int, int]) -> None:
    app = Hasty(OpenOptions(tmp_path, EXAMPLE))
    async with app.run_test(size=size) as pilot:
        try:
            await pilot.press("g")
            assert app.screen.query_one(Prompt).text == "abcdefg"
        finally:
            await app.engine.close()


@pytest.mark.long
async def test_the_first_screen_offers_what_works(tmp_path: Path) -> None:
    async with console(tmp_path) as c:
        assert isinstance(c.app.screen, HomeScreen)
        assert c.prompt.has_focus
        options = c.app.screen.query_one("#starters", OptionList)
        assert options.option_count == len(c.app.starters) + 1
        await c.press("1", "enter")
        await c.asked()
        assert c.snapshot.query == c.app.starters[0].question
        assert (tmp_path / "starters").is_dir()
        assert c.snapshot.workspace.startswith(str(tmp_path))


@pytest.mark.long
async def test_an_unfinished_session_is_opened_again_and_another_chosen(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        name = c.snapshot.session_id
    assert recall(tmp_path)[:2] == (name, False)
    async with console(tmp_path) as c:
        await c.asked()
        assert c.snapshot.session_id == name
        said = f"{name} was left unfinished here and is open again. Ctrl+O goes to the first screen."
        await c.until(lambda: c.message == said, "that nobody asked for it")
        assert not c.session.query_one(MessageLine).error
        assert any(said in line for line in streamed(c)), "the stream keeps it"
        await c.press("ctrl+o")
        await c.until(lambda: isinstance(c.app.screen, HomeScreen), "the first screen")
        await c.until(lambda: c.app.screen.query("#sessions"), "the list of sessions")
        assert c.app.screen.query_one("#sessions", DataTable).row_count == 1
        await c.press("ctrl+o")
        await c.until(lambda: isinstance(c.app.screen, SessionScreen), "the session again")
        assert said not in c.message, "it was read"
    async with console(tmp_path, session=name) as c:
        await c.asked()
        assert "left unfinished" not in c.message, "it was asked for by its name"


async def test_bad_input_keeps_what_was_typed(tmp_path: Path) -> None:
    workspace = command_workspace(tmp_path / "w")
    (workspace / "hitl.toml").write_text("nonsense = 1\n")
    async with console(tmp_path / "d", workspace, trusted=False) as c:
        await c.send("What is the cap?")
        await c.until(lambda: "nonsense" in c.message, "the error")
        assert isinstance(c.app.screen, HomeScreen)
        assert c.prompt.text == "What is the cap?"


@pytest.mark.long
async def test_trust_asks_in_an_open_session_and_takes_one_key(tmp_path: Path) -> None:
    workspace = command_workspace(tmp_path / "w")
    person = Operator(tmp_path / "d", "ops")
    async with console(tmp_path / "d", workspace, trusted=False, query="What is the cap?", operator=person) as c:
        await c.until(lambda: isinstance(c.app.screen, TrustScreen), "what the folder wants, before the session opens")
        await c.press("2")
        await c.asked()
        await c.send("/trust")
        await c.until(lambda: isinstance(c.app.screen, TrustScreen) and c.app.screen.read, "what the folder wants")
        c.clock.rest()
        await c.press("1")
        await c.until(lambda: c.message.startswith("Trusted "), "that it is trusted")
        await c.send("/trust")
        await c.until(lambda: "is trusted" in c.message, "by whom")


async def test_a_session_that_is_not_there_is_said_in_one_sentence(tmp_path: Path) -> None:
    async with console(tmp_path, session="nowhere") as c:
        await c.until(lambda: isinstance(c.app.screen, HomeScreen) and "nowhere" in c.message, "the error")


@pytest.mark.long
async def test_any_size_shows_something(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        for width, height in [(200, 60), (120, 40), (80, 24), (60, 15), (30, 8), (8, 4), (100, 30), (80, 24)]:
            await c.pilot.resize_terminal(width, height)
            await c.pilot.pause()
        assert c.panel.region.height <= 9
        places = [c.session.query_one(f"#place-{n}").region for n in range(1, 7)]
        assert all(r.width and r.height and r.right <= 80 and r.bottom <= 24 for r in places)
        await c.pilot.resize_terminal(120, 40)
        await c.pilot.pause()
        for widget in (PlanTable, HistoryTable, StreamPane):
            assert c.session.query_one(widget).region.height > 3


@pytest.mark.long
async def test_hostile_text_is_shown_and_does_nothing(tmp_path: Path) -> None:
    query = "[bold red]cap[/] [@click=app.quit]here[/] \u202eevil\u200b"
    async with console(tmp_path, EXAMPLE, query=query) as c:
        await c.asked()
        shown = "\n".join(row.text.plain for row in c.panel.query_one(Rows).rows)
        assert "[bold red]cap[/] [@click=app.quit]here[/] ⟨U+202E⟩evil⟨U+200B⟩" in shown
        await c.to_question()
        await c.press("1")
        await c.until(lambda: c.message.startswith(("Answer ready", "Nothing found")), "that the session finished")
        await c.send("/todos")
        await c.until(lambda: "completed" in c.message, "the answer of the command")
        for _ in range(4):
            await c.press("f6")


async def test_help_comes_from_the_key_map_and_the_commands(tmp_path: Path) -> None:
    async with console(tmp_path) as c:
        await c.press("f1")
        assert isinstance(c.app.screen, TextViewer)
        await c.press("escape")
        assert isinstance(c.app.screen, HomeScreen)
    said = "\n".join(row.label + row.text.plain for row in help_rows())
    assert all(Keymap().named(spec.help) in said for spec in KEYS)
    assert "/checkpoint restore <id>" in said


@pytest.mark.long
async def test_completion_and_history_of_the_prompt(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        c.prompt.text = ""
        await c.press(*"/todo", "space", *"app", "tab")
        assert c.prompt.text == "/todo approve "
        await c.press("1", "tab")
        assert c.prompt.text == "/todo approve todo_001 "
        c.prompt.text = ""
        await c.send("/todos")
        await c.press(*"next", "up")
        assert c.prompt.text == "/todos"
        await c.press("down")
        assert c.prompt.text == "next"
        await c.press("ctrl+j", "x")
        assert c.prompt.text == "next\nx"
    assert recall_lines(tmp_path)[-1] == "/todos"


async def test_the_answer_is_rendered_only_when_it_is_there(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        assert c.session.query_one(AnswerPane).text == ""


async def test_a_broken_theme_is_reported_and_left_out(tmp_path: Path) -> None:
    (tmp_path / "themes").mkdir()
    (tmp_path / "themes" / "broken.toml").write_text('primary = "no colour"\n')
    async with console(tmp_path) as c:
        await c.until(lambda: "broken.toml" in c.message, "the report")
        assert set(c.app.available_themes) == {"dark", "light", "contrast", "colourblind", "terminal", "terminal-light"}


@pytest.mark.parametrize("name", ["dark", "light", "contrast"])
async def test_packaged_themes(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HITL_THEME", name)
    async with console(tmp_path) as c:
        assert c.app.theme == name


def test_packaged_themes_are_sound() -> None:
    found = load_themes([ROOT / "themes"])
    assert found.problems == ()
    assert {t.dark for t in found.themes.values()} == {True, False}


def test_binding_ids_are_unique_and_letters_have_their_jamo() -> None:
    assert len({spec.id for spec in KEYS}) == len(KEYS)
    assert with_jamo("1,a") == "1,a,ㅁ"
    assert with_jamo("ctrl+g,f2") == "ctrl+g,ctrl+ㅎ,f2"


def test_a_session_is_opened_again_where_it_was_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, here, there = (tmp_path / name for name in ("data", "here", "there"))
    for folder in (data, here, there):
        folder.mkdir()
    remember(data, Remembered("s1", workspace="/starters/1", folder=str(here)))
    for folder, wanted in ((here, "s1"), (there, "")):
        monkeypatch.chdir(folder)
        assert HitlApp(OpenOptions(data, None, "", "", "ops", ""))._wanted == wanted
        assert HitlApp(OpenOptions(data, folder, "", "", "ops", ""))._wanted == ""
    remember(data, Remembered("s1", workspace=str(there), folder=str(here)))
    assert HitlApp(OpenOptions(data, None, "", "", "ops", ""))._wanted == "s1", "it works in this folder"


def test_memory_survives_damage(tmp_path: Path) -> None:
    remember(tmp_path, Remembered("s1", True, "light"))
    assert recall(tmp_path) == Remembered("s1", True, "light")
    for damage in ("", "[]", "{", json.dumps({"session": 5, "finished": "x"})):
        (tmp_path / "console.json").write_text(damage)
        assert recall(tmp_path) == Remembered()
    remember_lines(tmp_path, ["한 줄\nzwei", "b"])
    assert recall_lines(tmp_path) == ["한 줄\nzwei", "b"]


def test_argument_vectors_show_every_space() -> None:
    assert command_line(["rm", "a b", "", "x\ny"]) == "rm 'a b' '' 'x␊y'"


@pytest.mark.parametrize("width", [20, 33, 80])
def test_wrapped_lines_fit_and_lose_nothing(width: int) -> None:
    text = "보증금 증액 " * 9 + "x" * 150 + " end"
    rows = wrapped(Line("todo_001", "12:00:00 001 ", text), width)
    assert all(cell_width(row) <= width for row in rows)
    assert "".join("".join(rows).split()) == "".join(("12:00:00 001 " + text).split())


def test_exact_rows_keep_every_space() -> None:
    row = text_row("a" + " " * 50 + "b")
    exact = layout([type(row)(row.label, row.text, exact=True)], 20).plain
    assert exact.replace("\n", "") == row.text.plain
