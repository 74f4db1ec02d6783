"""What is shown of a question can be taken for nothing else: names, options, claims and arguments (C3, C10)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from console_support import RISE, Console, Unheard, console
from textual.app import App
from textual.content import Content
from textual.widgets import OptionList, Static

from hitl_tui.console.dialogs.answer_dialog import OptionAnswer
from hitl_tui.console.dialogs.review_dialog import Outcome, ReviewDialog
from hitl_tui.console.keyguard.guard import KeyGuard
from hitl_tui.console.row_layout import layout_lines
from hitl_tui.core.interrupts.recognition import recognise
from hitl_tui.core.interrupts.shape import APPROVE, RESPOND, Form, label_line
from hitl_tui.core.safe_text import cell_width, safe_text
from hitl_tui.wording.interrupt_rows import asked, detail_rows, payload_rows, shown_value
from hitl_tui.wording.rows import labelled, quoted_row, text_row
from hitl_tui.wording.subject_rows import change_rows, step_rows

LONG = f"keep {'the files, ' * 40}AND DELETE THE BACKUPS"
FORGED = f"fine{' ' * 90}asks          Read a file\nfrom          a team you trust"
PAIRS: list[tuple[Any, Any]] = [
    ({"path": "a  mode: safe"}, {"path": "a", "mode": "safe"}),
    ({"n": 30}, {"n": "30"}),
    ({"n": None}, {"n": "null"}),
    ({"list": ["a, b"]}, {"list": ["a", "b"]}),
    ({'path": "a", "mode': "safe"}, {"path": "a", "mode": "safe"}),
]


def lines_of(rows: Any, width: int = 76) -> list[str]:
    return [line.plain for line in layout_lines(rows, width)]


@pytest.mark.parametrize("width", [20, 56, 76, 140])
@pytest.mark.parametrize("said", [FORGED, LONG, "한국어 설명입니다 " * 30, "asks      Read a file", "two\n\n\nlines"])
def test_every_line_that_somebody_says_has_a_bar(said: str, width: int) -> None:
    lines = lines_of([quoted_row(safe_text(said))], width)
    assert all(line.startswith("  │ ") and cell_width(line) <= width for line in lines)
    assert "".join(line[4:] for line in lines) == said.replace("\n", "")


def test_a_heading_goes_on_behind_its_beginning() -> None:
    lines = lines_of([text_row(f"── {FORGED} says; nobody has checked it ──".replace("\n", " "))], 60)
    assert len(lines) > 1 and all(line.startswith("   ") for line in lines[1:])


@pytest.mark.parametrize("width", [24, 60, 118])
@pytest.mark.parametrize("name", [LONG, "백업을 모두 지웁니다 " * 9 + "끝", FORGED])
def test_a_long_name_is_whole_and_looks_like_no_row(name: str, width: int) -> None:
    label = label_line(name)
    lines = lines_of([labelled("asks", "Go on?"), labelled(label, "1", exact=True)], width)
    named, value = lines[1:-1], lines[-1]
    assert named[0] + "".join(line[1:] for line in named[1:]) == label
    assert all(line.startswith(" ") for line in named[1:])
    assert value.strip() == "1" and value.startswith("          ")
    assert all(cell_width(line) <= width for line in lines)


@pytest.mark.parametrize(
    "name", ["a  b", "path: x", "path =", " x", "x ", "", '"x"', "* x", "2 tool", "tool", "option 3"]
)
def test_a_name_that_could_pass_for_more_is_quoted(name: str) -> None:
    assert label_line(name) == safe_text(f'"{name.replace(chr(34), chr(92) + chr(34))}"')
    assert label_line("to_whom 보낼") == "to_whom 보낼"


def test_a_name_like_one_of_our_own_rows_is_quoted() -> None:
    shape = recognise({"type": "tool_approval", "name": "rm", "args": {"asks": "Read a file", "from": "a friend"}})
    assert [row.label for row in detail_rows(shape)] == ["tool", '"asks"', '"from"']


def test_options_are_whole_and_shown_exactly() -> None:
    options = [LONG, "a\x1b[2J", {"label": LONG, "value": "b", "warning": "deletes"}, 3, "3", None]
    shape = recognise({"question": "Which?", "options": options, "default": LONG})
    rows = [row for row in detail_rows(shape) if row.label.startswith("option")]
    assert [row.text.plain for row in rows] == [shown_value(option) for option in options]
    assert rows[0].text.plain == LONG and rows[1].text.plain == "a␛[2J"
    assert LONG in rows[2].text.plain and "deletes" in rows[2].text.plain
    assert rows[3].text.plain != rows[4].text.plain
    approve, respond = shape.possible(APPROVE), shape.possible(RESPOND)
    assert approve.wants.present == LONG and respond.wants.form is Form.OPTIONS
    assert detail_rows(shape)[-1].text.plain == LONG, "what one key takes"


def test_titled_options_of_a_schema_are_shown_with_what_is_sent() -> None:
    schema = {"oneOf": [{"const": "delete", "title": f"Keep {LONG}"}, {"const": "keep"}]}
    rows = detail_rows(recognise({"question": "Which?"}, schema))
    assert LONG in rows[-2].text.plain and '"delete"' in rows[-2].text.plain
    assert rows[-1].text.plain == "keep"


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_different_arguments_never_look_the_same(one: Any, other: Any) -> None:
    def step(arguments: Any) -> list[str]:
        return lines_of(step_rows([{"todo": "todo_001", "team": "x", "task": "Do it", "arguments": arguments}]))

    def change(given: Any) -> list[str]:
        return lines_of(change_rows({"changes": [{"kind": "priority", **given}]}))

    assert step(one) != step(other)
    assert change(one) != change(other)
    assert lines_of(payload_rows(one)) != lines_of(payload_rows(other))


def test_a_task_cannot_write_the_row_of_its_arguments_nor_what_it_waits_for() -> None:
    steps: list[dict[str, Any]] = [
        {"todo": "todo_001", "team": "x_team", "task": "Do it  ← 007\nwith      {}", "arguments": {"path": "/"}},
        {"todo": "todo_002", "team": "x_team", "task": "Then", "dependencies": ["todo_001"]},
    ]
    lines = lines_of(step_rows(steps))
    assert [line for line in lines if not line.startswith("          ")] == [
        "001       x  Do it  ← 007",
        "  path    /",
        "002       x ← 001  Then",
    ]


def test_the_question_of_a_form_stays_one_line() -> None:
    assert "\n" not in asked(recognise({"question": "a\nb", LONG: 1}))


# Dialogs -----------------------------------------------------------------------------------------------------------


class Clock:
    """A clock that stands until it is moved."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


class Bare(App[Any]):
    """Shows one dialog."""

    def __init__(self, guard: KeyGuard) -> None:
        super().__init__()
        self.guard = guard


async def test_a_long_option_is_shown_whole_before_its_digit_sends_it() -> None:
    other = LONG.replace("BACKUPS", "ORIGINALS")
    shape = recognise({"question": "Which?", "options": ["none", LONG, other]})
    clock = Clock()
    app = Bare(KeyGuard(Unheard(), clock))
    got: list[Any] = []
    options = shape.possible(RESPOND).wants.options
    async with app.run_test(size=(80, 24)) as pilot:
        dialog = OptionAnswer("Choose", Content("Which?"), options, lambda value: value)
        app.push_screen(dialog, got.append)
        await pilot.pause()
        clock.now += 5
        app.guard.acts(app.guard.now)
        await pilot.press("3")
        await pilot.pause()
        assert got == [], "its line doesn't say all of it"
        assert dialog.query_one(OptionList).highlighted == 2
        assert other in str(dialog.query_one("#choosing-sends", Static).render())
        clock.now += 5
        app.guard.acts(app.guard.now)
        await pilot.press("3")
        await pilot.pause()
        assert got == [other]


async def to_review(c: Console, approve: Any) -> ReviewDialog:
    question = c.snapshot.questions[0]
    dialog = ReviewDialog([(question, ()), (c.snapshot.questions[-1], ())], approve)
    c.app.push_screen(dialog)
    await c.until(lambda: c.app.screen is dialog and dialog.read, "the review")
    c.clock.rest()
    return dialog


@pytest.mark.long
async def test_a_review_that_is_left_approves_to_its_end_and_says_so(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        gate, seen = asyncio.Event(), list[str]()

        async def approve(question: Any) -> Outcome:
            await gate.wait()
            seen.append(question.id)
            return Outcome(False, "it changed")

        dialog = await to_review(c, approve)
        await c.press("1")
        await c.pilot.pause()
        assert "the rest is still approved" in str(dialog.query_one("#reading-keys", Static).render())
        await c.press("escape")
        await c.until(lambda: c.app.screen is c.session, "left")
        gate.set()
        await c.until(lambda: len(seen) == len(dialog._questions), "all of them")
        await c.until(
            lambda: f"0 of {len(seen)} approved." in c.message and "it changed" in c.message, "what came of it"
        )
