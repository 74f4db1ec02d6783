"""The key map, and what `keys.toml` changes in it (C2)."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from console_support import EXAMPLE, RISE, console
from textual.binding import BindingsMap
from textual.events import Key
from textual.screen import Screen

from hitl_tui.console.dialogs.inbox_dialog import InboxDialog
from hitl_tui.console.dialogs.prompt_dialogs import ConfirmDialog, WordsDialog
from hitl_tui.console.dialogs.text_viewer import TextViewer
from hitl_tui.console.help_rows import KeyRow, help_rows, palette
from hitl_tui.console.keymap import TITLES, Keymap, load_keymap, normal_keys, shown_keys
from hitl_tui.console.keys import CONFIRM, HOME, INBOX, KEYS, PROMPT, QUESTION, VIEWER, WORDS, with_jamo
from hitl_tui.console.screens.home_screen import HomeScreen
from hitl_tui.console.widgets.bars import KeyLine
from hitl_tui.console.widgets.plan_table import PlanTable
from hitl_tui.console.widgets.stream_pane import Line, StreamPane


def keymap(tmp_path: Path, text: str) -> Keymap:
    path = tmp_path / "keys.toml"
    path.write_text(text, encoding="utf-8")
    return load_keymap(path)


def test_every_binding_has_an_id_of_its_own_and_a_part_with_a_title() -> None:
    assert len({spec.id for spec in KEYS}) == len(KEYS)
    assert {spec.where for spec in KEYS} == set(TITLES)


@pytest.mark.parametrize(
    ("where", "screen"),
    [(HOME, HomeScreen), (INBOX, InboxDialog), (VIEWER, TextViewer), (CONFIRM, ConfirmDialog), (WORDS, WordsDialog)],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_map_says_what_dialogs_bind(where: str, screen: type[Screen[object]]) -> None:
    bound: dict[str | None, set[str]] = {}
    for key, binding in BindingsMap(screen.BINDINGS):
        bound.setdefault(binding.id, set()).add(key)
    assert bound == {s.id: set(with_jamo(s.keys).split(",")) for s in KEYS if s.where == where}


def test_no_file_changes_nothing(tmp_path: Path) -> None:
    found = load_keymap(tmp_path / "keys.toml")
    assert (found.specs, dict(found.changed), found.problems) == (KEYS, {}, ())


def test_an_entry_replaces_all_keys_and_what_is_shown(tmp_path: Path) -> None:
    found = keymap(tmp_path, '"question.1" = "y"\n"console.help" = ["f1", "ctrl+t"]\n')
    assert found.problems == ()
    assert found.changed == {"question.1": with_jamo("y"), "console.help": with_jamo("f1,ctrl+t")}
    assert next(s for s in found.of(QUESTION) if s.id == "question.1").shown == "y"
    assert found.shown("console.help") == "F1"
    assert found.shown("question.2") == "2"


def test_names_may_stand_without_quotes(tmp_path: Path) -> None:
    assert keymap(tmp_path, 'question.1 = "y"\n[plan]\nshow = "o"\n').changed.keys() == {"question.1", "plan.show"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('"queston.1" = "y"', 'keys.toml: unknown binding "queston.1"; the nearest is "question.1"'),
        ('"nosuch.id" = "y"', 'keys.toml: unknown binding "nosuch.id"; the help lists all.'),
        ('"question.1" = "banana"', '"banana" isn\'t a key'),
        ('"question.1" = ""', "isn't a key"),
        ('"question.1" = "hyperctrl+x"', "isn't a key"),
        ('"question.1" = "e"', 'e already belongs to "question.2"'),
        ('"question.1" = "f1"', 'F1 already belongs to "console.help"'),
        ('"question.1" = "ㄷ"', 'ㄷ already belongs to "question.2"'),
        ('"question.1" = "enter"', "Enter never decides anything"),
        ('"question.3" = "ctrl+d"', "Ctrl+D never decides anything"),
        ('"confirm.yes" = "escape"', "Esc never decides anything"),
        ('"console.help" = "h"', "h is a character that you type"),
        ('"console.help" = "?"', "? is a character that you type"),
        ('"prompt.send" = "x"', "x is a character that you type"),
        ("question", "Keys in keys.toml ignored"),
    ],
)
def test_what_cant_be_taken_is_told_in_one_sentence_and_left_out(tmp_path: Path, text: str, said: str) -> None:
    found = keymap(tmp_path, text + "\n")
    assert found.changed == {}
    assert len(found.problems) == 1
    assert said in found.problems[0]
    assert "\n" not in found.problems[0] and found.problems[0].endswith(".")
    assert found.specs == KEYS


def test_one_mistake_leaves_the_others_alone(tmp_path: Path) -> None:
    found = keymap(tmp_path, '"plan.show" = "nokey"\n"plan.undo" = "z"\n')
    assert found.changed == {"plan.undo": with_jamo("z")}
    assert len(found.problems) == 1


def test_two_bindings_may_swap_their_keys(tmp_path: Path) -> None:
    found = keymap(tmp_path, '"question.1" = "2,e"\n"question.2" = "1,a"\n')
    assert found.problems == ()
    assert found.changed == {"question.1": with_jamo("2,e"), "question.2": with_jamo("1,a")}


def test_two_entries_for_one_key_leave_one_of_them(tmp_path: Path) -> None:
    found = keymap(tmp_path, '"plan.show" = "z"\n"plan.undo" = "z"\n')
    assert len(found.problems) == 1
    assert len(found.changed) == 1


def test_the_same_key_means_different_things_in_different_parts(tmp_path: Path) -> None:
    assert keymap(tmp_path, '"plan.show" = "z"\n"history.show" = "z"\n').problems == ()


@pytest.mark.parametrize(
    ("written", "normal", "shown"),
    [
        ("ctrl+g, F2", "ctrl+g,f2", "Ctrl+G F2"),
        ("?", "question_mark", "?"),
        ("Y", "Y", "Y"),
        ("ctrl+Y", "ctrl+y", "Ctrl+Y"),
        ("PageDown", "pagedown", "PgDn"),
        ("up", "up", "↑"),
        ("/", "slash", "/"),
        ("ㅁ", "ㅁ", "ㅁ"),
        ("y,y", "y", "y"),
    ],
)
def test_keys_as_people_write_them(written: str, normal: str, shown: str) -> None:
    assert normal_keys(written) == normal
    assert shown_keys(normal) == shown


def test_no_default_key_of_a_decision_is_one_that_never_decides() -> None:
    specs = {s.id: s for s in KEYS}
    for number in (1, 2, 3, 4, 5):
        assert not {"enter", "escape", "ctrl+d", "ctrl+c"} & set(specs[f"question.{number}"].keys.split(","))


HABITS = (
    "ctrl+[ shift+enter ctrl+enter alt+y return <ignore> backspace ctrl+h shift+tab ctrl+m ctrl+ㅡ ctrl+j ctrl+i "
    "ctrl+3 ctrl+shift+m ctrl+d ctrl+w delete pagedown super+v"
)


@pytest.mark.parametrize("key", HABITS.split())
def test_what_is_pressed_by_habit_or_arrives_as_such_a_key_never_decides(tmp_path: Path, key: str) -> None:
    for binding in ("question.1", "choosing.send", "confirm.yes"):
        found = keymap(tmp_path, f'"{binding}" = ["f12", "{key}"]\n')
        assert found.changed == {}
        assert len(found.problems) == 1 and f'keys.toml: "{binding}" unchanged' in found.problems[0]
        assert "never decides anything" in found.problems[0]
    assert keymap(tmp_path, '"question.1" = ["f12", "ctrl+s", "Y"]\n').problems == ()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a = " + b"[" * 5_000, "it is nested too deeply"),
        (b"a." * 3_000 + b"b = 1", 'unknown binding "a.a.'),
        (b'"question.1" = ' + b"[" * 200 + b"]" * 200, "isn't a key"),
        (b'"' + b"x" * 40_000 + b'" = "y"', "unknown binding"),
        (b"#" * 60_000, "it is larger than 50,000 bytes"),
        (b"\x7fELF\x02\xff\x00", "it isn't UTF-8 text"),
    ],
    ids=["nested", "dotted", "list", "name", "huge", "binary"],
)
def test_no_file_keeps_the_console_from_starting(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "keys.toml"
    path.write_bytes(content)
    found = load_keymap(path)
    assert (found.specs, dict(found.changed)) == (KEYS, {})
    assert said in "".join(found.problems) and len(found.problems) == 1 and len(found.problems[0]) < 300


def test_what_is_no_file_is_told(tmp_path: Path) -> None:
    folder, pipe, loop = tmp_path / "folder", tmp_path / "pipe", tmp_path / "loop"
    folder.mkdir()
    os.mkfifo(pipe)
    loop.symlink_to(loop)
    assert all(len(load_keymap(path).problems) == 1 for path in (folder, pipe, loop))


@pytest.mark.long
async def test_remapped_keys_work_and_are_shown(tmp_path: Path) -> None:
    (tmp_path / "keys.toml").write_text(
        '"question.1" = "y"\n"session.question" = "ctrl+t"\n"prompt.send" = "ctrl+s"\n', encoding="utf-8"
    )
    async with console(tmp_path, EXAMPLE, query=RISE) as c:
        await c.asked()
        assert "Ctrl+T" in [shown for _, shown, _ in c.session.query_one(KeyLine).keys]
        assert "Ctrl+S" in [shown for _, shown, _ in c.session.query_one(KeyLine).keys]
        await c.press("ctrl+g")
        assert c.prompt.has_focus
        c.prompt.text = "/todos"
        await c.press("enter")
        assert c.prompt.text.strip() == "/todos"
        await c.press("ctrl+s")
        await c.until(lambda: c.prompt.text == "", "the line is sent")
        await c.press("ctrl+t")
        assert c.panel.has_focus
        c.clock.rest()
        await c.press("1")
        assert c.status("todo_001") == "waiting_approval"
        assert c.prompt.text == "1", "it means nothing any more, so it is text"
        await c.press("ctrl+t")
        await c.read_on()
        await c.press("ㅛ")  # y with a Korean keyboard
        await c.until(lambda: c.status("todo_001") == "completed", "approved")


async def test_problems_are_said_at_the_start_and_listed_in_the_help(tmp_path: Path) -> None:
    (tmp_path / "keys.toml").write_text('"questio.1" = "y"\n"plan.show" = "nokey"\n', encoding="utf-8")
    async with console(tmp_path) as c:
        await c.until(lambda: "questio.1" in c.message, "the first problem")
        assert "1 more" in c.message
        text = "\n".join(f"{r.label}{r.text.plain}" for r in help_rows(c.app.keymap, c.app.keymap.problems))
        assert "questio.1" in text and "nokey" in text


@pytest.mark.long
async def test_a_problem_of_the_start_outlasts_what_a_session_says_until_a_key_is_pressed(tmp_path: Path) -> None:
    (tmp_path / "keys.toml").write_text('"question.2" = "enter"\n', encoding="utf-8")
    async with console(tmp_path, EXAMPLE, query="What is the cap on rent increases?", mode="risk") as c:
        await c.until(lambda: "Answer ready" in c.message, "the answer")
        c.clock.rest(10)
        await c.until(lambda: "question.2" in c.message, "the problem, once that is gone")
        c.clock.rest(10)
        c.session.say("Something else.")
        await c.press("a")
        assert "question.2" in c.message, "the key saw something else"
        c.clock.rest(10)
        await c.press("backspace")
        c.clock.rest(10)
        await c.press("a")
        assert not c.message


def test_the_help_follows_the_map(tmp_path: Path) -> None:
    text = "\n".join(f"{r.label}{r.text.plain}" for r in help_rows(keymap(tmp_path, '"plan.undo" = "z"')))
    assert re.search(r"^  z +Undo its approval", text, re.MULTILINE)
    for spec in KEYS:
        assert Keymap().named(spec.help) in text
    names = "\n".join(row.binding for row in help_rows() if isinstance(row, KeyRow))
    merged = {"choosing.1 … 9", "part.2 … 5"}
    told = {name for name in names.split("\n") if name not in merged}
    assert {s.id for s in KEYS} - told == {
        *(f"choosing.{n}" for n in range(1, 10)),
        *(f"part.{n}" for n in range(2, 6)),
    }
    assert merged <= set(names.split("\n"))


def test_numbers_share_a_line_of_the_help_only_while_they_are_what_they_were(tmp_path: Path) -> None:
    rows = help_rows(keymap(tmp_path, '"choosing.3" = "z"'))
    found = [(row.label.strip(), row.binding) for row in rows if isinstance(row, KeyRow) and "choosing." in row.binding]
    numbers = [f for f in found if f[1][-1].isdigit()]
    assert numbers == [("1 2", "choosing.1 2"), ("z", "choosing.3"), ("4 … 9", "choosing.4 … 9")]


async def test_the_palette_says_why_something_isnt_possible(tmp_path: Path) -> None:
    async with console(tmp_path) as c:
        entries = {e.title: e for e in palette(c.app)}
        assert entries["/todo approve"].help.startswith("not now: needs an open session")
        entries["/todo approve"].callback()
        assert "needs an open session" in c.message
        assert not entries["Help (F1)"].help.startswith("not now")


async def test_the_palette_offers_commands_in_a_session(tmp_path: Path) -> None:
    async with console(tmp_path, EXAMPLE, query=RISE) as c:
        await c.asked()
        entries = {e.title: e for e in palette(c.app)}
        assert not [e.title for e in entries.values() if e.help.startswith("not now")]
        entries["/todo skip"].callback()
        assert c.prompt.text == "/todo skip "
        await entries["Question (Ctrl+G)"].callback()
        await c.pilot.pause()
        assert c.panel.has_focus


def lines(count: int, todo: str = "todo_001") -> list[Line]:
    return [Line(todo, f"{n:06d} ", f"line {n} of many") for n in range(count)]


@pytest.mark.long
async def test_words_are_found_in_the_stream(tmp_path: Path) -> None:
    async with console(tmp_path, EXAMPLE, query=RISE, size=(100, 40)) as c:
        await c.asked()
        stream = c.session.query_one(StreamPane)
        stream.add([*lines(300), Line("", "", "NEEDLE one"), *lines(300), Line("", "", "a needle two"), *lines(50)])
        c.session.show_pane("stream", focus=True)
        await c.press("slash", "n", "e", "e", "d", "l", "e")
        assert "2 of 2" in str(stream.border_subtitle)
        await c.press("enter", "p")
        assert "1 of 2" in str(stream.border_subtitle)
        top = stream.scroll_offset.y
        assert any("NEEDLE one" in row for row in stream.lines[top : top + stream.size.height])
        await c.press("escape")
        assert not stream.finding.active and stream.has_focus
        await c.press("escape")
        assert c.prompt.has_focus


async def test_typing_a_search_decides_nothing_and_calls_no_other_key(tmp_path: Path) -> None:
    async with console(tmp_path, EXAMPLE, query=RISE) as c:
        await c.asked()
        c.session.show_pane("stream", focus=True)
        await c.press("slash", "y", "n", "1", "ㅁ", "backspace", "z")
        assert c.session.query_one(StreamPane).finding.text == "yn1z"
        assert c.status("todo_001") == "waiting_approval"


@pytest.mark.long
async def test_a_hundred_thousand_lines_are_broken_in_slices(tmp_path: Path) -> None:
    async with console(tmp_path, EXAMPLE, query=RISE, size=(100, 40)) as c:
        await c.asked()
        stream = c.session.query_one(StreamPane)
        stream.reset()
        stream.add(lines(130_000))
        assert 100_000 <= len(stream.lines) <= 105_000
        await c.pilot.resize_terminal(60, 40)
        await c.until(lambda: len(stream.lines) >= 100_000, "the older lines follow")
        assert stream.lines[-1].endswith("line 129999 of many")
        numbers = [int(row.split()[2]) for row in stream.lines]
        assert numbers == list(range(numbers[0], 130_000))


async def test_progress_moves_a_bar_and_the_end_takes_it_away(tmp_path: Path) -> None:
    async with console(tmp_path, EXAMPLE, query=RISE, size=(100, 40)) as c:
        await c.asked()
        stream = c.session.query_one(StreamPane)
        stream.follow(["todo_001", "todo_002"])
        stream.add([Line("todo_001", "", "", 0.4), Line("todo_002", "", "", 0.75)])
        assert "001 ████░░░░░░ 40%" in str(stream.border_subtitle)
        assert "002 ████████░░ 75%" in str(stream.border_subtitle)
        stream.add([Line("todo_001", "", "done", ends=True)])
        assert stream.bars == {"todo_002": 0.75}
        stream.follow(["todo_001"])
        stream.add([Line("todo_002", "", "", 0.8)])  # said before it was cancelled, and heard after
        assert not stream.bars and not str(stream.border_subtitle)


async def test_the_plan_shows_only_what_is_looked_for(tmp_path: Path) -> None:
    async with console(tmp_path, EXAMPLE, query=RISE) as c:
        await c.asked()
        plan = c.session.query_one(PlanTable)
        assert plan.row_count == 2
        plan.focus()
        await c.press("slash", *"analy", "enter")
        assert plan.row_count == 1 and plan.selected == "todo_002"
        await c.press("escape")
        assert plan.row_count == 2 and plan.has_focus


async def test_words_to_look_for_are_no_keys_of_the_pane_however_fast_they_come(tmp_path: Path) -> None:
    async with console(tmp_path, EXAMPLE, query=RISE) as c:
        await c.asked()
        plan = c.session.query_one(PlanTable)
        plan.focus()
        for key, character in (("slash", "/"), *((letter, letter) for letter in "analysaduc0")):
            c.app.post_message(Key(key, character))
        await c.until(lambda: plan.finding.text == "analysaduc0", "all of it")
        assert c.prompt.text == "" and c.app.screen is c.session


def test_prompt_keys_have_no_jamo() -> None:
    assert all("ㅁ" not in s.keys for s in KEYS if s.where == PROMPT)
