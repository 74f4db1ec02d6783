"""What teams ask from inside, answered in the console: forms, options, typed values, batches; nothing by accident."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from console_support import Clock, Console
from textual.events import Paste
from textual.widgets import Button, OptionList, Static, TextArea

from hitl_tui.config.declared_graphs import Attachment, GraphDeclaration
from hitl_tui.console.answer_actions import NO_KEY, Answer, spots
from hitl_tui.console.app import HitlApp
from hitl_tui.console.dialogs.answer_dialog import FieldsAnswer, OptionAnswer, TextAnswer, WrittenAnswer
from hitl_tui.console.dialogs.form_fields import FieldArea, FieldInput, FieldRows
from hitl_tui.console.dialogs.interrupt_answer import Gathered, Part
from hitl_tui.console.dialogs.prompt_dialogs import WordsDialog
from hitl_tui.console.modal_screen import Modal
from hitl_tui.console.widgets.action_bar import Place
from hitl_tui.console.widgets.dialog_frame import Dialog
from hitl_tui.console.widgets.virtual_rows import Rows
from hitl_tui.core.safe_text import cell_width
from hitl_tui.core.todos import Status
from hitl_tui.supervisor.open_options import OpenOptions

pytestmark = pytest.mark.long

GRAPHS = Path(__file__).parents[1] / "commands" / "shape_graphs.py"


@asynccontextmanager
async def asking(folder: Path, name: str, size: tuple[int, int] = (80, 24)) -> AsyncIterator[Console]:
    """Run the console on a graph until that asks from inside."""
    work, clock = folder / "w", Clock()
    work.mkdir()
    graph = GraphDeclaration(name, f"{GRAPHS}:{name}", str(GRAPHS.parent))
    options = OpenOptions(folder / "d", work, "", "", "ops", "{}", Attachment(graph, "{}", True))
    app = HitlApp(options, clock)
    async with app.run_test(size=size) as pilot:
        try:
            c = Console(app, pilot, clock)
            await c.until(lambda: c.shown() and c.panel.question and c.panel.question.shape, "its question")
            yield c
        finally:
            await app.engine.close()


async def to_answer(c: Console) -> None:
    """Go to the question, read it to its end, and let the keyboard rest."""
    await c.to_question()
    await c.read_on()


async def said(c: Console) -> dict[str, Any]:
    """Return what the graph's nodes got."""
    await c.until(lambda: c.status("todo_001") == Status.COMPLETED, "the graph's end")
    todo = c.snapshot.todo("todo_001")
    assert todo is not None and todo.result is not None and c.session.handle is not None
    result = await c.session.handle.session.artifact(str(todo.result["digest"]))
    found: dict[str, Any] = {}
    for entry in result["data"]["values"]["said"]:
        found.update(entry)
    return found


def row(c: Console) -> list[str]:
    """Return the row of actions as it is drawn: what isn't possible has a dash for its key, with colours or without."""
    places = list(c.panel.query(Place))
    return [str(p.render()) for p in places]


def shown(c: Console) -> str:
    """Return what is to be read."""
    return "\n".join(f"{r.label} {r.text.plain}" for r in c.panel.query_one(Rows).rows)


def sends(c: Console) -> str:
    return str(c.app.screen.query_one("#say-sends", Static).render())


def does(c: Console) -> str:
    """Return what the first button of the dialog says that it does, which the last row says, too."""
    words = str(c.app.screen.query(Button).first().label).split(" ", 1)[1]
    assert words.lower() in [spec.label for spec in cast(Modal[Any], c.app.screen).key_specs()]
    return words


async def dialog(c: Console, kind: type) -> Any:
    await c.until(lambda: isinstance(c.app.screen, kind), kind.__name__)
    return c.app.screen


async def test_a_tool_call_is_shown_whole_with_who_asks_and_approved_after_its_end(tmp_path: Path) -> None:
    async with asking(tmp_path, "approval", (80, 20)) as c:
        assert "Dear Kim,\n\nthe offer is attached.\n\nYours\nOps" in shown(c)
        assert "asked by approval › approval" in shown(c)
        await c.to_question()
        assert not c.panel.read
        await c.press("1")
        assert "Read to the end" in c.message
        assert c.panel.question is not None and not c.panel.question.view.decisions
        await c.read_on()
        assert row(c)[:5] == ["1 Approve", "2 Edit", "3 Reject", "– Skip", "5 Respond"]
        await c.press("1")
        assert await said(c) == {"approval": {"type": "approve"}}


async def test_the_next_question_has_to_be_read_anew(tmp_path: Path) -> None:
    async with asking(tmp_path, "two", (80, 20)) as c:
        first = c.panel.question
        await to_answer(c)
        await c.send("/answer 1 1 approve 2 respond blue")
        await c.until(lambda: c.panel.question and first and c.panel.question.id != first.id, "the next one")
        await c.pilot.pause()
        assert not c.panel.read, "it stands where the one before was scrolled to"


async def test_keys_before_it_is_drawn_and_pastes_and_enter_decide_nothing(tmp_path: Path) -> None:
    async with asking(tmp_path, "yes_no") as c:
        await c.press("ctrl+g")
        await c.press("1")
        assert "Too soon" in c.message
        c.clock.rest()
        c.app.post_message(Paste("1"))
        await c.pilot.pause()
        await c.press("enter")
        await c.press("escape")  # the details
        await c.press("escape")  # to the prompt
        assert c.status("todo_001") == Status.WAITING_APPROVAL
        assert c.panel.question is not None and not c.panel.question.view.decisions


async def test_yes_and_no_are_two_keys_and_another_value_is_never_taken_for_one(tmp_path: Path) -> None:
    async with asking(tmp_path, "yes_no") as c:
        await to_answer(c)
        assert [p for p in row(c)[:5] if not p.startswith("–")] == ["1 Yes", "3 No", "5 Other"]
        await c.press("5")
        await dialog(c, TextAnswer)
        await c.press(*"no")
        assert "would count as true" in sends(c)
        await c.press("enter")
        assert isinstance(c.app.screen, TextAnswer), "it isn't sent"
        await c.press("escape")
        await c.until(lambda: c.app.screen is c.session, "back")
        c.clock.rest()
        await c.press("3")
        assert await said(c) == {"yes_no": False}


async def test_the_type_of_a_value_is_shown_before_it_is_sent(tmp_path: Path) -> None:
    async with asking(tmp_path, "prompt") as c:
        await to_answer(c)
        assert row(c)[0] == "– Approve"
        await c.press("1")
        assert "it takes 3 Stop step, 5 Answer" in c.message
        c.clock.rest()
        await c.press("5")
        await dialog(c, TextAnswer)
        await c.press(*"30")
        assert sends(c) == "Sends: the number 30"
        c.clock.rest()
        await c.press("home", "quotation_mark", "end", "quotation_mark")
        assert sends(c) == 'Sends: the text "30"'
        await c.press("enter")
        assert await said(c) == {"prompt": "30"}


async def test_what_a_graph_asks_offers_no_mark_and_says_why(tmp_path: Path) -> None:
    async with asking(tmp_path, "yes_no") as c:
        await to_answer(c)
        assert "question.mark" in c.panel.idle_keys
        await c.press("space")
        assert c.message == "A graph's question is answered on its own, so it can't be marked."


async def test_nothing_is_no_answer_unless_it_is_quoted(tmp_path: Path) -> None:
    async with asking(tmp_path, "prompt") as c:
        await to_answer(c)
        await c.press("5")
        await dialog(c, TextAnswer)
        for keys in (["enter"], ["space", "enter"]):
            c.clock.rest()
            await c.press(*keys)
            assert isinstance(c.app.screen, TextAnswer), "nothing is sent"
            assert sends(c) == 'Write what to send; "" sends an empty text.'
        c.clock.rest()
        await c.press("backspace", "quotation_mark", "quotation_mark")
        assert sends(c) == 'Sends: the text ""'
        await c.press("enter")
        assert await said(c) == {"prompt": ""}


async def test_a_paste_of_several_lines_is_kept_whole_and_not_sent(tmp_path: Path) -> None:
    async with asking(tmp_path, "other") as c:
        await to_answer(c)
        await c.press("5")
        screen = await dialog(c, TextAnswer)
        screen.query_one(TextArea).post_message(Paste("one\ntwo\n"))
        await c.until(lambda: screen.written == "one\ntwo\n", "the text")
        c.clock.rest()
        await c.press("ctrl+j", *"three")
        assert isinstance(c.app.screen, TextAnswer)
        await c.press("enter")
        assert await said(c) == {"other": "one\ntwo\n\nthree"}


async def test_options_are_chosen_by_digits_that_wait_for_the_list(tmp_path: Path) -> None:
    async with asking(tmp_path, "options") as c:
        await to_answer(c)
        await c.press("5")
        screen = await dialog(c, OptionAnswer)
        await c.press("2")
        assert c.app.screen is screen, "typed before the list was there to be read"
        assert screen.query_one(OptionList).highlighted == 1
        assert "the number 3" in str(screen.query_one("#choosing-sends", Static).render())
        await c.press("enter")
        assert c.app.screen is screen, "Enter decides nothing"
        c.clock.rest()
        await c.press("2")
        assert await said(c) == {"options": 3}


async def test_the_first_key_chooses_where_nothing_is_proposed(tmp_path: Path) -> None:
    async with asking(tmp_path, "options") as c:
        await to_answer(c)
        assert row(c)[0] == "1 Choose"
        await c.press("1")
        screen = await dialog(c, OptionAnswer)
        assert not screen.query_one("#choosing-whole").display, "its line is what it sends"
        c.clock.rest()
        await c.press("1")
        assert await said(c) == {"options": "red"}


async def test_a_form_from_a_schema_checks_before_it_sends(tmp_path: Path) -> None:
    async with asking(tmp_path, "booking") as c:
        await to_answer(c)
        assert row(c)[1] == "2 Fill in"
        await c.press("2")
        screen = await dialog(c, FieldsAnswer)
        fields = {box.field.name: box for box in screen.query(FieldInput)}
        assert fields["guests"].value == "4" and fields["guests"].has_focus
        fields["guests"].value = "40"
        await c.press("f9")
        assert c.app.screen is screen and fields["guests"].has_class("-wrong")
        fields["guests"].value, fields["note"].value = "5", "by the window"
        await sent(c)
        assert await said(c) == {"booking": {"guests": 5, "room": "hall", "note": "by the window"}}


async def test_a_mail_is_edited_with_its_line_breaks(tmp_path: Path) -> None:
    async with asking(tmp_path, "action") as c:
        await to_answer(c)
        await c.press("2")
        screen = await dialog(c, FieldsAnswer)
        body = screen.query_one(FieldArea)
        assert body.text.startswith("Dear Kim,\n\nthe offer")
        body.focus()
        body.move_cursor(body.document.end)
        await c.press("enter", *"PS")
        changed = [r.label for r in screen.query_one("#filling-result", Rows).rows]
        assert changed[0] == "* body", "what is different comes first"
        await sent(c)
        assert await said(c) == {
            "action": {"action": "approve", "body": "Dear Kim,\n\nthe offer is attached.\n\nYours\nOps\nPS"}
        }


@pytest.mark.parametrize("size", [(80, 24), (80, 18)])
async def test_the_line_that_is_written_stays_on_the_screen(tmp_path: Path, size: tuple[int, int]) -> None:
    async with asking(tmp_path, "action", size) as c:
        await c.to_question()
        await c.press("2")
        screen = await dialog(c, FieldsAnswer)
        assert does(c) == "Send edited"
        body, around = screen.query_one(FieldArea), screen.query_one(FieldRows)
        body.focus()
        for keys in (["ctrl+end", *["enter", *"one", "enter", *"two"]], ["up"] * 6, ["ctrl+end"], ["ctrl+home"]):
            await c.press(*keys)
            await c.pilot.pause()
            assert around.content_region.contains_point(body.cursor_screen_offset), keys


async def sent(c: Console) -> None:
    """Send an edit: once it was read to its end, and the keyboard rested."""
    screen = c.app.screen
    assert isinstance(screen, WrittenAnswer) and screen.must_read
    await c.pilot.pause()
    while screen.unread:
        await c.press("pagedown")
    c.clock.rest()
    await c.press("f9")


async def test_an_edit_opens_before_its_question_was_read_and_is_sent_once_it_was(tmp_path: Path) -> None:
    async with asking(tmp_path, "approval", (80, 20)) as c:
        await c.to_question()
        assert not c.panel.read
        await c.press("2")
        screen = await dialog(c, FieldsAnswer)
        c.clock.rest()
        await c.press("f9")
        assert c.app.screen is screen
        assert "Read to the end first (PgDn)" in str(screen.query_one(Dialog).border_subtitle)
        await sent(c)
        await c.until(lambda: c.app.screen is not screen, "it was sent")


async def test_a_text_is_edited_before_its_question_was_read(tmp_path: Path) -> None:
    async with asking(tmp_path, "review", (80, 20)) as c:
        await c.to_question()
        assert not c.panel.read
        await c.press("2")
        screen = await dialog(c, TextAnswer)
        await sent(c)
        await c.until(lambda: c.app.screen is not screen, "it was sent")


async def test_a_text_under_review_is_edited_line_by_line(tmp_path: Path) -> None:
    async with asking(tmp_path, "review") as c:
        await to_answer(c)
        await c.press("2")
        screen = await dialog(c, TextAnswer)
        area = screen.query_one(TextArea)
        area.move_cursor((0, 0))
        await c.press(*"30 ", "enter")
        assert isinstance(c.app.screen, TextAnswer), "Enter begins a line in a text"
        c.clock.rest()
        await c.press("f9")
        assert await said(c) == {"review": "30 \nDear Kim,\n\nthe offer is attached.\n\nYours\nOps"}


async def test_reject_says_why_and_respond_warns(tmp_path: Path) -> None:
    async with asking(tmp_path, "approval") as c:
        await to_answer(c)
        await c.press("5")
        screen = await dialog(c, TextAnswer)
        assert does(c) == "Respond"
        assert "becomes its successful result" in str(screen.query_one(".dialog-text Static", Static).render())
        await c.press("enter")
        assert c.app.screen is screen, "an empty answer is none"
        await c.press("escape")
        await c.until(lambda: c.app.screen is c.session, "back")
        c.clock.rest()
        await c.press("3")
        await dialog(c, TextAnswer)
        assert does(c) == "Reject"
        c.clock.rest()
        await c.press(*"no", "enter")
        assert await said(c) == {"approval": {"type": "reject", "message": "no"}}


@pytest.mark.long
async def test_a_batch_is_decided_call_by_call_and_sent_after_a_review(tmp_path: Path) -> None:
    async with asking(tmp_path, "batch") as c:
        await to_answer(c)
        assert row(c)[:3] == ["– Approve all 2", "2 One by one", "3 Stop step"]
        await c.press("2")
        part = await dialog(c, Part)
        await c.press("1")
        assert c.app.screen is part, "typed before the call was there to be read"
        c.clock.rest()
        await c.press("1")
        await c.until(lambda: isinstance(c.app.screen, Part) and c.app.screen is not part, "the second call")
        part = c.app.screen
        c.clock.rest()
        await c.press("1")
        assert c.app.screen is part, "this one can't be approved"
        c.clock.rest()
        await c.press("5")
        await dialog(c, TextAnswer)
        c.clock.rest()
        await c.press(*"blue", "enter")
        review = await dialog(c, Gathered)
        text = "\n".join(f"{r.label} {r.text.plain}" for r in review.query_one(Rows).rows)
        assert "DELETE FROM logs\nWHERE old" in text and "message blue" in text
        assert c.panel.question is not None and not c.panel.question.view.decisions, "nothing was sent yet"
        c.clock.rest()
        await c.press("left")
        await dialog(c, Part)
        c.clock.rest()
        await c.press("5")
        await dialog(c, TextAnswer)
        c.clock.rest()
        await c.press(*"red", "enter")
        review = await dialog(c, Gathered)
        c.clock.rest()
        await c.press("1")
        assert await said(c) == {
            "batch": {"decisions": [{"type": "approve"}, {"type": "respond", "message": "red"}]},
        }


async def test_leaving_a_batch_sends_nothing(tmp_path: Path) -> None:
    async with asking(tmp_path, "batch") as c:
        await to_answer(c)
        await c.press("2")
        part = await dialog(c, Part)
        c.clock.rest()
        await c.press("1")
        await c.until(lambda: isinstance(c.app.screen, Part) and c.app.screen is not part, "the second call")
        await c.press("escape")
        await c.until(lambda: c.app.screen is c.session, "left")
        assert c.panel.question is not None and not c.panel.question.view.decisions


async def test_an_inbox_request_is_ignored_in_the_place_of_skip(tmp_path: Path) -> None:
    async with asking(tmp_path, "inbox") as c:
        await to_answer(c)
        assert row(c)[:5] == ["1 Approve", "2 Edit", "3 Stop step", "4 Ignore", "5 Respond"]
        await c.press("4")
        assert await said(c) == {"inbox": [{"type": "ignore", "args": None}]}


async def test_a_step_is_stopped_when_its_question_has_no_no(tmp_path: Path) -> None:
    async with asking(tmp_path, "prompt") as c:
        await to_answer(c)
        await c.press("3")
        await dialog(c, WordsDialog)
        box = c.app.screen.query_one(".dialog")
        assert str(box.border_title) == "Stop step · 001"
        assert "Enter Stop step · Esc Cancel" in str(box.query_one(".dialog-keys", Static).render())
        c.clock.rest()
        await c.press(*"why", "enter")
        await c.until(lambda: c.status("todo_001") == Status.FAILED, "stopped")


async def test_several_questions_of_one_step_are_answered_one_by_one(tmp_path: Path) -> None:
    async with asking(tmp_path, "several") as c:

        def fewer(count: int) -> bool:
            return len(c.panel.questions) == count and c.app.screen is c.session

        await c.asked(3)
        await c.to_question()
        for left in (2, 1, 0):
            await c.read_on()
            question = c.panel.question
            assert question is not None and question.shape is not None
            node = question.view.request.subject["path"][-1]
            if node == "yes_no":
                await c.press("1")
            elif node == "prompt":
                await c.press("5")
                await dialog(c, TextAnswer)
                c.clock.rest()
                await c.press(*"30", "enter")
            else:
                await c.press("5")
                await dialog(c, OptionAnswer)
                c.clock.rest()
                await c.press("1")
            await c.until(partial(fewer, left), f"{left} left")
            if left:
                assert c.panel.has_focus, "the focus stays while questions remain"
                c.clock.rest()
        assert await said(c) == {"yes_no": True, "prompt": 30, "options": "red"}


async def test_hostile_text_is_shown_as_it_is(tmp_path: Path) -> None:
    async with asking(tmp_path, "hostile") as c:
        text = shown(c)
        assert "␛]0;pwned␇[red]x[/red]⟨U+202E⟩" in text
        assert "x" * 5000 in text, "arguments are shown whole"
        await c.to_question()
        assert not c.panel.read
        await c.read_on()
        await c.press("1")
        assert await said(c) == {"hostile": True}


async def test_a_question_that_was_answered_elsewhere_says_so(tmp_path: Path) -> None:
    async with asking(tmp_path, "prompt") as c:
        await to_answer(c)
        await c.press("5")
        screen = await dialog(c, TextAnswer)
        assert c.session.handle is not None
        await c.session.handle.handler.handle_command("/answer 1 31")
        await c.until(lambda: c.app.screen.query(".dialog-over"), "who answered")
        await c.press(*"30")
        c.clock.rest()
        await c.press("enter")
        assert screen.written == "30" and c.app.screen is screen, "nothing is sent, and nothing typed is lost"
        await c.press("escape")
        assert await said(c) == {"prompt": 31}


def test_the_row_of_actions_keeps_what_is_possible_where_room_is_scarce() -> None:
    found = [
        Answer(1, "Approve all 12", action="approve"),
        Answer(2, "One by one", action="each"),
        Answer(3, "모두 거부", action="reject"),
        Answer(4, "Skip", why_not="no"),
        Answer(5, "Respond", why_not="no"),
        Answer(6, "Details"),
        Answer(7, "Always", why_not="no"),
    ]
    assert [spot.label for spot in spots(found, 0)][3] == "– Skip"
    assert [spot.label for spot in spots(found, 120)][6] == "– Always"
    short = ["1 Approve all 12", "2 One by one", "3 모두 거부", "", "", "6 Details", ""]
    assert [spot.label for spot in spots(found, 58)] == short
    for room, most in ((60, 2), (40, 2), (18, 5)):
        laid = [spot.label for spot in spots(found, room, most)]
        assert all(
            label in (least, f"{least or NO_KEY} {answer.label}")
            for label, least, answer in zip(laid, short, found, strict=True)
        )
    for room, most in ((40, 1), (18, 2), (9, 3)):
        laid = spots(found, room, most)
        assert {spot.label for spot in laid[1:]} <= {*short, *"12367", "– Skip", "– Respond", "– Always"}
        assert all(spot.x + cell_width(spot.label) <= room and spot.y < most for spot in laid)
        taken = [(x, spot.y) for spot in laid for x in range(spot.x, spot.x + cell_width(spot.label))]
        assert len(taken) == len(set(taken))
