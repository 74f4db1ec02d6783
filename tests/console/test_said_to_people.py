"""What people are told in the words they need: whom something waits for, what expired, and when."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from console_support import COMMANDS, command_workspace, console
from people import write_approvers

from hitl_tui.console.answer_actions import Answer, spots
from hitl_tui.console.help_rows import palette
from hitl_tui.console.widgets.bars import HeaderBar, MessageLine
from hitl_tui.console.widgets.plan_list import needs_words, title_words
from hitl_tui.core.step_heads import STEP_HEADS
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.policy.operator_identity import Operator
from hitl_tui.terminal import ascii_signs
from hitl_tui.terminal.own_editor import text_from_editor
from hitl_tui.wording.evidence_rows import preview_rows
from hitl_tui.wording.history_rows import deed
from hitl_tui.wording.status_words import SIGNS, PlanRow, ended_words, fork_first, status_words
from hitl_tui.wording.subject_rows import input_rows, value_text
from hitl_tui.wording.times import day_words, local_times

AT = "2026-11-22T00:59:23.444043+00:00"
TWO = '[[policy]]\nteam = "command_team"\ndecision = "ask"\nquorum = 2\n'


def test_a_deadline_reads_as_people_read_a_time_and_the_text_of_others_stays() -> None:
    said = local_times(f"expired: nobody decided before {AT}")
    assert said == f"expired: nobody decided before {day_words(AT)}:23"
    said = local_times(f"expired: only 1 of 2 people had decided before {AT}")
    assert said == f"expired: only 1 of 2 people had decided before {day_words(AT)}:23"
    assert local_times(f"log: {AT} started") == f"log: {AT} started"


def test_what_expired_is_called_so() -> None:
    todo = SupervisorTodo("todo_001", "n", "d", "search_team")
    refused = replace(todo, status=Status.FAILED, metadata={"rejected": True})
    assert status_words(replace(refused, error="expired: nobody decided"))[1] == "expired"
    assert status_words(replace(refused, error="rejected by ops"))[1] == "rejected"
    data = {"todo_id": "todo_001", "verdict": "reject", "asked": "todo", "outcome": "expired"}
    assert deed("decided", data) == "001 expired: reject"


def test_what_is_not_possible_keeps_its_name_where_there_is_room() -> None:
    names = ["Approve", "Edit", "Stop step", "Skip", "Answer", "Details", "Always"]
    found = [Answer(n, name, why_not="" if n in (3, 5, 6) else "no", key=str(n)) for n, name in enumerate(names, 1)]
    shown = " ".join(spot.label for spot in spots(found, 76))
    assert "– Edit" in shown and "– Skip" in shown and max(s.y for s in spots(found, 76)) == 0
    assert "" in [spot.label for spot in spots(found, 50)], "what isn't possible makes room first"


@pytest.mark.long
async def test_what_others_have_to_answer_does_not_need_you(tmp_path: Path) -> None:
    work = command_workspace(tmp_path / "w")
    (work / "hitl.toml").write_text(COMMANDS + TWO, encoding="utf-8")
    write_approvers(tmp_path / "d", "bob")
    operator = Operator(tmp_path / "d", "ops")
    async with console(tmp_path / "d", work, query="The cap", mode="risk", operator=operator) as c:
        await c.until(lambda: c.shown() and c.snapshot.concluded, "the search")
        await c.send("/todo add command_team keep file=one")
        await c.asked()
        header = c.session.query_one(HeaderBar)
        await c.until(lambda: "1 needs you" in header.status, "the question")
        await c.send("/todo approve todo_002")
        await c.until(lambda: "you answered; 1 more is needed" in header.status, "the other one")
        assert "needs you" not in header.status


def test_a_plan_says_once_what_a_team_does_and_which_steps_one_needs() -> None:
    row = PlanRow("todo_003", "·", "waits", "", "003", "search", "Search the documents: The landlord wants", "", "", "")
    assert title_words(row, beside_team=True) == "The landlord wants"
    assert title_words(row, beside_team=False) == row.title
    assert [needs_words("← 001 002 013", width) for width in (13, 9, 8, 6)] == [
        "← 001 002 013",
        "← 1 2 13",
        "← 1 2 13",
        "← 1 +2",
    ]


@pytest.mark.parametrize("title", [(h.team, t) for h in STEP_HEADS.values() for t in h.titles.values()], ids=str)
def test_beside_its_team_a_title_goes_without_what_those_of_the_team_begin_with(title: tuple[str, str]) -> None:
    team, head = title
    row = PlanRow("todo_003", "·", "waits", "", "003", team.removesuffix("_team"), f"{head}: key", "", "", "")
    assert title_words(row, beside_team=True) == "key"
    assert title_words(replace(row, team="mail"), beside_team=True) == row.title


def test_a_fork_says_first_of_what_it_is_one() -> None:
    assert fork_first("The landlord wants (fork of s1)") == "fork of s1 · The landlord wants"
    assert fork_first("About a fork of s1") == "About a fork of s1"


def test_a_text_of_several_lines_that_is_exact_stays_in_lines() -> None:
    assert value_text("Hello,\nyou") == value_text("Hello,\r\nyou\n") == "Hello,\nyou"
    assert value_text("  Hello,\nyou \\n") == "  Hello,\nyou \\n", "what somebody wrote as two characters stays two"
    assert value_text("[1,\n2]") == '"[1,\n2]"', "a text that is JSON can't pass for a list"
    assert value_text("\n \n") == '"\n \n"'
    listed = value_text({"text": "Hello,\nyou", "n": 1}).split("\n")
    assert listed == ["{", '  "text": "Hello,', '  you",', '  "n": 1', "}"]


def test_paths_and_exit_codes_stand_without_brackets() -> None:
    rows = [*input_rows({"documents": ["notes", "a.md"], "query": "x"}, "x", "")]
    assert "notes a.md" in [row.text.plain for row in rows]
    assert value_text(["a b"]) == '["a b"]'
    run = {"argv": ["ls"], "timeout": 5, "exit_codes": [0, 1]}
    assert "stopped after 5 s; done if its exit code is 0, 1" in [row.text.plain for row in input_rows(run, "", "")]


@pytest.mark.long
async def test_what_is_near_is_said_and_found(tmp_path: Path) -> None:
    async with console(tmp_path / "d", command_workspace(tmp_path / "w"), query="Count 10") as c:
        await c.asked()
        await c.send("/todo add command_team")
        await c.until(lambda: "command_team needs a text" in c.message, "what is missing")
        assert "Count" not in c.message
        await c.send("also compute 3 + 4")
        await c.until(
            lambda: "Proposed" in c.message and "comes after the question on the screen" in c.message, "where"
        )
        offered = {command.title: command for command in palette(c.app)}
        assert not offered["Theme: light"].discover
        offered["Theme: light"].callback()
        assert c.app.theme == "light"


@pytest.mark.parametrize(("passing", "colour"), [(True, "$text-warning"), (False, "$text-success")])
def test_a_refusal_has_not_the_colour_of_success(passing: bool, colour: str) -> None:
    line = MessageLine()
    line.say("Read to the end first; nothing was decided.", passing=passing)
    assert [str(span.style) for span in line._content(80).spans] == [colour]


@pytest.mark.parametrize(("text", "name"), [('{"a": 1}', "input.json"), ("Hello,\nyou", "input.txt")])
async def test_an_editor_gets_plain_text_as_such(tmp_path: Path, text: str, name: str) -> None:
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\nbasename "$1" > {shlex.quote(str(tmp_path / "opened"))}\n', encoding="utf-8")
    editor.chmod(0o755)
    assert await text_from_editor(text, {"EDITOR": str(editor)}) == text
    assert (tmp_path / "opened").read_text(encoding="utf-8").strip() == name


def test_a_preview_is_not_cut_for_a_line_or_two() -> None:
    def shown(count: int) -> int:
        text = "\n".join(map(str, range(count)))
        return len(list(preview_rows({"text": text, "exit_code": 0, "lines": count}, 12, "6")))

    assert (shown(12), shown(14), shown(40)) == (13, 15, 14)


def test_failed_rejected_and_expired_are_told_apart_without_colour_and_in_ascii() -> None:
    told = {"failed", "rejected", "expired", "skipped", "blocked", "done"}
    glyphs = [glyph for glyph, word in SIGNS if word in told]
    assert len(glyphs) == len(told) == len(set(glyphs))
    plain = [glyph.translate(ascii_signs.SIGNS) for glyph in glyphs]
    assert all(sign.isascii() for sign in plain) and len(set(plain)) == len(plain)
    assert ended_words({"done": 1, "rejected": 1}).startswith("⊘ ")
    assert ended_words({"done": 1, "rejected": 1, "failed": 1}).startswith("✗ ")
