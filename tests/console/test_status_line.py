"""The status line says what just happened, and goes before it contradicts the screen."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import RISE, Console, command_workspace, console
from textual.widgets import OptionList

from hitl_tui.console.dialogs.prompt_dialogs import ConfirmDialog
from hitl_tui.console.palette import Palette
from hitl_tui.console.user_files import recall_lines
from hitl_tui.console.widgets.bars import MessageLine
from hitl_tui.console.widgets.history_table import HistoryTable
from hitl_tui.console.widgets.stream_pane import StreamPane

pytestmark = pytest.mark.long


def streamed(c: Console, words: str) -> int:
    """Return how many lines of the stream have these words."""
    return sum(words in line for line in c.session.query_one(StreamPane).lines)


async def wrong_command(c: Console) -> str:
    """Send what is no command; return what the line says of it."""
    await c.asked()
    await c.send("/nonsense")
    await c.until(lambda: c.message, "an error")
    return c.message


async def test_a_message_goes_with_the_next_key_and_stands_in_the_stream_only_then(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        said = await wrong_command(c)
        assert streamed(c, "› /nonsense") == 1 and streamed(c, said) == 0
        c.clock.rest()
        await c.press("x")
        assert not c.message
        assert streamed(c, said) == 1


async def test_a_file_is_named_when_it_was_written_and_not_at_the_ends_after_that(tmp_path: Path) -> None:
    workspace = command_workspace(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await c.until(lambda: c.shown() and c.snapshot.concluded, "the first end")
        await c.send("/todo add document_team Caps --after 1")
        await c.asked()
        await c.to_question()
        await c.until(lambda: c.panel.complete, "the draft")
        await c.read_on()
        await c.press("1")
        await c.until(lambda: "written: reports/" in c.message, "the report")
        await c.send("/todo add search_team deposit")
        await c.until(lambda: len(c.snapshot.todos) > 2 and c.snapshot.concluded, "the next end")
        await c.until(lambda: c.message.startswith("Nothing found") and "written" not in c.message, "its message")
        assert (c.snapshot.response or {}).get("files")


async def test_a_message_goes_after_five_seconds_and_nothing_moves_then(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE, size=(80, 24)) as c:
        await c.asked()
        line = c.session.query_one(MessageLine)
        c.session.say("word " * 30)
        await c.until(lambda: line.size.height == 2, "two rows")
        place = c.panel.region
        c.clock.rest(4)
        await c.pilot.pause(1.1)
        assert c.message
        c.clock.rest(2)
        await c.until(lambda: not c.message, "its end")
        await c.pilot.pause()
        assert c.panel.region == place
        await c.press("x")
        await c.until(lambda: line.size.height == 1, "one row again")


async def ask_another(c: Console) -> None:
    """Let another process add a step that is asked about."""
    assert c.session.handle is not None
    await c.session.handle.handler.handle_command("/todo add command_team keep file=one")
    await c.asked()


async def test_a_message_goes_with_the_next_question_once_it_could_be_read(tmp_path: Path) -> None:
    async with console(tmp_path / "d", command_workspace(tmp_path / "w"), query="The cap", mode="risk") as c:
        await c.until(lambda: c.shown() and c.snapshot.concluded, "the search")
        c.session.say("Something of the moment before")
        c.clock.rest(3.5)
        assert c.message
        await ask_another(c)
        assert not c.message


async def test_what_a_person_did_can_still_be_read_beside_the_question_that_follows(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.to_question()
        await c.read_on()
        await c.press("1")
        await c.until(lambda: c.panel.question is not None and c.panel.question.todo_id == "todo_002", "the next one")
        assert "001" in c.message
        c.clock.rest(3.5)
        await c.until(lambda: not c.message, "its end, before the usual five seconds")


async def test_that_nothing_was_done_goes_with_the_next_question_at_once(tmp_path: Path) -> None:
    async with console(tmp_path / "d", command_workspace(tmp_path / "w"), query="The cap", mode="risk") as c:
        await c.until(lambda: c.shown() and c.snapshot.concluded, "the search")
        await c.press("ctrl+g")
        assert c.message == "Nothing waits for you now."
        await ask_another(c)
        assert not c.message


async def test_the_stream_does_not_repeat_what_a_key_decided(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.to_question()
        await c.read_on()
        await c.press("1")
        await c.until(lambda: c.status("todo_001") == "completed", "the first step")
        await c.until(lambda: streamed(c, " ✓ "), "its end")
        c.clock.rest()
        await c.press("x")
        assert streamed(c, "approved") == 0


async def test_what_goes_wrong_is_said_again_once_the_message_over_it_is_gone(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        line = c.session.query_one(MessageLine)
        line.stand("The record can't be read.")
        c.session.say("Something else")
        assert c.message == "Something else" and not line.error
        c.clock.rest()
        await c.press("x")
        assert c.message == "The record can't be read." and line.error
        line.stand("")
        assert not c.message


async def test_what_the_session_refused_stands_in_the_stream_once_and_in_the_history_as_refused(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.send("/todo move 1 before 1")
        await c.until(lambda: c.message, "the refusal")
        said = c.message.removeprefix("error: ").removesuffix(".")
        c.clock.rest()
        await c.press("x")
        await c.until(lambda: not c.message, "it is gone")
        assert streamed(c, said) == 1
        table = c.session.query_one(HistoryTable)
        await c.until(lambda: table.row_count > 2, "the history")
        rows = [str(table.get_row_at(n)[0]) for n in range(table.row_count)]
        assert "refused: move 001" in rows[0] and not any("moved" in row for row in rows)
        assert not any(node in row for row in rows for node in ("approval", "coordinator", "planning"))


async def test_a_question_stands_in_the_stream_once_however_often_the_session_is_opened(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        name = c.snapshot.session_id
    for _n in range(2):
        async with console(tmp_path, session=name) as c:
            await c.asked()
            assert streamed(c, " 001 ? ") == 1


async def test_a_list_of_checkpoints_is_the_history_pane(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE, size=(80, 24)) as c:
        await c.asked()
        before = len(c.session.query_one(StreamPane).lines)
        await c.send("/checkpoint list")
        await c.until(lambda: isinstance(c.app.focused, HistoryTable), "the pane")
        assert len(c.session.query_one(StreamPane).lines) == before + 1
        assert "/checkpoint restore takes a row's number; r restores" in c.message


async def test_clear_empties_the_stream_and_can_be_taken_back(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE, mode="step") as c:
        await c.asked()
        stream = c.session.query_one(StreamPane)
        await c.until(lambda: streamed(c, "001 ?"), "the question")
        await c.send("/clear")
        assert not stream.lines and "/clear undo" in c.message
        await c.send("/clear undo")
        assert streamed(c, "001 ?") == 1


async def test_a_theme_is_chosen_by_name_or_from_a_list_and_kept(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE, mode="step") as c:
        await c.asked()
        before = c.app.theme
        other = next(name for name in sorted(c.app.available_themes) if name != before)
        found = [choice.text for choice in c.session.completions(f"/theme {other[:2]}", len(f"/theme {other[:2]}"))]
        assert other in found
        await c.send(f"/theme {other}")
        assert c.app.theme == c.app.memory.known.theme == other
        await c.send("/theme nonsense")
        assert c.app.theme == other and other in c.message and before in c.message
        await c.send("/theme")
        await c.until(lambda: isinstance(c.app.screen, Palette), "the list")
        rows = c.app.screen.query_one(OptionList)
        await c.until(lambda: rows.option_count > 1, "the themes")
        listed = [str(rows.get_option_at_index(n).prompt) for n in range(rows.option_count)]
        assert [row for row in listed if "now" in row] == [f"{other} · now"]


async def test_leaving_says_in_the_terminal_what_waits_and_how_to_continue(tmp_path: Path) -> None:
    async with console(tmp_path / "asks", query=RISE) as c:
        await c.asked()
        await c.press("ctrl+q")
        assert c.app.parting == "1 question waits in s1. To continue: hitl-tui --session s1"
    async with console(tmp_path / "asks", session="s1") as c:
        await c.asked()
        c.prompt.text = "also ask hunter2secret"
        c.app.memory.hide({"DB_PASSWORD": "hunter2secret"})
        await c.press("ctrl+q")
        assert c.app.parting.endswith(" ↑ at the prompt brings back what you had typed.")
    assert recall_lines(tmp_path / "asks")[-1] == "also ask ‹DB_PASSWORD›"
    async with console(tmp_path / "asks", session="s1") as c:
        await c.asked()
        await c.send("/stop")
        await c.until(lambda: isinstance(c.app.screen, ConfirmDialog), "what would end")
        c.clock.rest()
        await c.press("1")
        await c.until(lambda: c.snapshot.concluded, "the end")
        await c.press("ctrl+q")
        assert c.app.parting == "To open s1 again: hitl-tui --session s1"
    async with console(tmp_path / "home", query="") as c:
        await c.press("ctrl+q")
        assert not c.app.parting


async def test_the_history_shows_what_is_new_unless_somebody_looks_at_it(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        table = c.session.query_one(HistoryTable)
        await c.send("/checkpoint list")
        await c.until(lambda: table.has_focus and table.row_count > 1, "the history")
        await c.press("end")
        old = table.selected
        await c.send("/todo priority 2 low")
        await c.until(lambda: table.selected != old and table.cursor_row == 0, "the newest")
        assert table.scroll_y == 0
