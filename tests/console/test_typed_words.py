"""What a person types at the prompt that is no command: answers, calls for help, questions, and far too much."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from console_support import RISE, console, streamed
from textual.events import Key, Paste

from hitl_tui.commands.parser import LONGEST_LINE
from hitl_tui.commands.plan_commands import LONGEST_TEXT as LONGEST_PLAIN
from hitl_tui.console.dialogs.text_viewer import TextViewer
from hitl_tui.console.screens.home_screen import HomeScreen
from hitl_tui.console.user_files import recall_lines, remember_lines
from hitl_tui.console.widgets.bars import MessageLine
from hitl_tui.console.widgets.prompt_line import LONGEST_COMMAND, LONGEST_TEXT, MOST_LINES
from hitl_tui.console.widgets.stream_pane import StreamPane
from hitl_tui.core.todos import Status
from hitl_tui.language import using
from hitl_tui.supervisor.session_input import LONGEST_QUERY

pytestmark = pytest.mark.long

MANY = "".join(f"line {number:06d}\n" for number in range(20_000))


async def test_an_answer_at_the_prompt_decides_nothing_and_says_where_it_would(tmp_path: Path) -> None:
    (tmp_path / "keys.toml").write_text('"session.question" = "ctrl+t"\n"question.1" = "y"\n', encoding="utf-8")
    async with console(tmp_path, query=RISE, size=(80, 24)) as c:
        await c.asked()
        for words in ("1", "Yes!", "ok", "approve", "승인", "네", "no"):
            c.session.say("")
            await c.send(words)
            await c.until(lambda: c.message, words)
            how = "is Approve" if words == "1" else "approves"  # a lone digit was meant for the question
            assert f"Ctrl+T goes to the question, where y {how}" in c.message[:78]
            assert words == "1" or "/todo approve 001" in c.message
        assert c.status("todo_001") == Status.WAITING_APPROVAL
        assert [q.view.decisions for q in c.snapshot.questions] == [()]
        await c.send("help")
        await c.until(lambda: isinstance(c.app.screen, TextViewer), "the help")
        await c.press("escape")
        assert c.status("todo_001") == Status.WAITING_APPROVAL


@pytest.mark.long
async def test_both_are_said_in_korean(tmp_path: Path) -> None:
    with using("ko"):
        async with console(tmp_path, query=RISE, size=(80, 24)) as c:
            await c.asked()
            await c.send("승인")
            await c.until(lambda: "Ctrl+G 키로 질문에 간 뒤 1 키로 승인" in c.message, "where it is decided")
            assert c.status("todo_001") == Status.WAITING_APPROVAL
            await c.send("호텔 숙박비 한도가 얼마야?")
            await c.until(lambda: "앞에 /new를 붙이면 새 세션이 시작됩니다." in c.message, "the way out")


async def test_what_is_no_change_of_the_plan_is_told_the_way_out_and_not_lost(tmp_path: Path) -> None:
    question = "What is the hotel limit per night?"
    async with console(tmp_path, query=RISE, size=(80, 24)) as c:
        await c.asked()
        await c.send(question)
        await c.until(lambda: "No change to the plan" in c.message, "an answer")
        line = c.session.query_one(MessageLine)
        assert str(line.render()).lstrip().startswith("error: No change to the plan found. /new before it starts")
        assert not any("가" <= letter <= "힣" for letter in c.message)
        await c.until(lambda: c.prompt.text == question, "the line")
        await c.press("home", *"/new ", "enter")
        await c.until(lambda: c.shown() and c.snapshot.query == question, "another session with it")


@pytest.mark.long
async def test_what_is_far_too_much_is_refused_at_once_and_kept_nowhere(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE, size=(80, 24)) as c:
        await c.asked()
        c.prompt.focus()
        await c.press("a")
        for text, said in (
            (MANY, f"That is {len(MANY) + 1:,} characters; at most 10,000 can be used. Nothing was pasted."),
            ("x" * 1_048_576, "That is 1,048,577 characters"),
        ):
            c.prompt.post_message(Paste(text))
            await c.until(lambda said=said: c.message.startswith(said), said)  # type: ignore[misc]
            assert c.prompt.text == "a"
        c.prompt.text = "/todo skip 1 "
        c.prompt.post_message(Paste("x\n" * (MOST_LINES + 1)))
        await c.until(lambda: f"at most {MOST_LINES:,} can be used" in c.message, "too many lines")
        c.prompt.text = "what about " + "x" * LONGEST_TEXT
        await c.press("enter")
        await c.until(lambda: "at most 10,000 can be used" in c.message, "too long to be sent")
        assert len(c.prompt.text) > LONGEST_TEXT, "it stays where it was typed"
        assert recall_lines(tmp_path) == []
        assert c.status("todo_001") == Status.WAITING_APPROVAL


@pytest.mark.long
async def test_the_first_screen_takes_a_paste_up_to_the_length_of_a_question(tmp_path: Path) -> None:
    async with console(tmp_path) as c:
        await c.until(lambda: isinstance(c.app.screen, HomeScreen), "the first screen")
        c.prompt.post_message(Paste("x" * 1_048_576))
        await c.until(lambda: "at most 10,000 can be used" in c.message, "too long")
        assert c.prompt.text == ""
        c.prompt.post_message(Paste("상한 " * 3_000))
        await c.until(lambda: c.prompt.text, "what can be used")
        c.prompt.text = ""
        await c.send("?")
        await c.until(lambda: isinstance(c.app.screen, TextViewer), "the help")
        assert not list((tmp_path / "sessions").glob("*")), "no session was begun for it"


def test_the_prompt_takes_what_the_rooms_below_take() -> None:
    assert LONGEST_TEXT == LONGEST_PLAIN == LONGEST_QUERY
    assert LONGEST_COMMAND == LONGEST_LINE


@pytest.mark.parametrize("letter", ["x", "가", "😀"])
def test_lines_are_kept_up_to_a_length_and_a_size(tmp_path: Path, letter: str) -> None:
    lines = [f"first {letter}", *(f"{n} {letter * 9_000}" for n in range(200)), letter * 10_001, "last"]
    remember_lines(tmp_path, lines)
    path = tmp_path / "prompt-history.jsonl"
    assert path.stat().st_size <= 500_000
    kept = recall_lines(tmp_path)
    assert kept[-1] == "last" and kept[-2].startswith("199 ")
    assert lines[-len(kept) - 1 : -2] == kept[:-1]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines * 3), encoding="utf-8")
    assert set(recall_lines(tmp_path)) <= set(lines) - {letter * 10_001}


async def test_words_begun_in_a_pane_with_a_letter_that_is_no_key_there_open_nothing(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE, mode="risk") as c:
        await c.until(lambda: c.shown() and c.snapshot.concluded, "the answer")
        c.session.show_pane("answer", focus=True)
        await c.pilot.pause()
        for character in "also once":
            c.app.post_message(Key("space" if character == " " else character, character))
        await c.until(lambda: c.prompt.text == "also once", f"the words, not {c.prompt.text!r}")
        assert c.app.screen is c.session


async def test_a_command_begun_in_a_pane_goes_to_the_prompt_whole(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE, mode="risk") as c:
        await c.until(lambda: c.shown() and c.snapshot.concluded, "the answer")
        for pane in ("answer", "history"):
            c.session.show_pane(pane, focus=True)
            await c.pilot.pause()
            for character in "/export":
                c.app.post_message(Key("slash" if character == "/" else character, character))
            await c.until(lambda: c.prompt.text == "/export", f"the command, not {c.prompt.text!r}")
            assert c.app.screen is c.session
            c.prompt.text = ""
        c.session.show_pane("plan", focus=True)
        await c.press("slash", "x")
        assert c.prompt.text == "", "there it finds"


@pytest.mark.parametrize(
    ("line", "prompt", "listed"), [("decisions", "", True), ("todo approve 1", "/todo approve 1", False)]
)
async def test_a_command_that_is_typed_in_a_pane_is_a_command(
    tmp_path: Path, line: str, prompt: str, listed: bool
) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        stream = c.session.query_one(StreamPane)
        c.session.show_pane("stream")
        stream.focus()
        await c.press("slash", *["space" if letter == " " else letter for letter in line], "enter")
        if listed:
            await c.until(lambda: "0 decisions." in "\n".join(streamed(c)) + c.message, "the list")
        else:
            assert c.prompt.has_focus and "Not sent yet" in c.message
        assert c.prompt.text == prompt
        assert not stream.finding.active
        assert c.status("todo_001") == Status.WAITING_APPROVAL


async def test_other_words_in_a_pane_are_looked_for(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        stream = c.session.query_one(StreamPane)
        c.session.show_pane("stream")
        stream.focus()
        await c.press("slash", *"search", "enter")
        assert stream.finding.text == "search" and not stream.finding.typing
        await c.press("slash", *"todo", "enter")
        assert stream.finding.text == "todo", "no command is called so"
        await c.press("escape")
        c.prompt.text = "draft"
        stream.focus()
        await c.press("slash", *"approve", "enter")
        assert (stream.finding.text, c.prompt.text) == ("approve", "draft"), "a draft isn't written over"
