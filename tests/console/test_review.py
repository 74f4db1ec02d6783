"""Marking, reviewing and approving several at once; what the question shows first (C3)."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import RISE, Console, console
from people import write_approvers
from textual import events

from hitl_tui.console.dialogs.edit_dialog import EditDialog
from hitl_tui.console.dialogs.form_fields import FieldInput
from hitl_tui.console.dialogs.prompt_dialogs import WordsDialog
from hitl_tui.console.dialogs.review_dialog import ReviewDialog
from hitl_tui.console.row_layout import layout
from hitl_tui.console.widgets.bars import KeyLine
from hitl_tui.console.widgets.virtual_rows import Rows
from hitl_tui.core.errors import Refused
from hitl_tui.core.requests import Verdict
from hitl_tui.core.todos import Status
from hitl_tui.policy.operator_identity import Operator
from hitl_tui.wording.question_rows import body

TOML = """
[teams.command_team.commands.keep]
run = ["touch", "{file}"]
preview = ["ls", "-a", "."]
parameters.file = { type = "string", default = "made", description = "its name" }
risk = "high"

[teams.command_team.commands.note]
run = ["touch", "{file}"]
parameters.file = { type = "string", default = "noted" }
parameters.days = { type = "integer", default = 14, minimum = 1, maximum = 99 }
risk = "medium"

[teams.command_team.commands.both]
run = ["touch", "both"]
risk = "high"

[[policy]]
team = "command_team"
command = "both"
decision = "ask"
quorum = 2
deadline = "10m"
"""


def place(folder: Path) -> Path:
    """Return a workspace with commands of two risk classes, and one that takes two people."""
    folder.mkdir()
    for number in range(1, 7):
        text = f"# Cap {number}\n\nThe cap number {number} is {number} percent.\n"
        (folder / f"cap{number}.md").write_text(text, encoding="utf-8")
    toml = TOML.replace('run = ["touch", "{file}"]\nparameters.file = { type = "string", default = "noted" }', NOTE)
    (folder / "hitl.toml").write_text(toml, encoding="utf-8")
    return folder


NOTE = 'run = ["touch", "{file}-{days}"]\nparameters.file = { type = "string", default = "noted" }'


async def begun(c: Console, *commands: str) -> None:
    """Wait for the search, then let commands ask."""
    await c.until(lambda: c.shown() and c.status("todo_001") == Status.COMPLETED, "the search")
    for number, command in enumerate(commands, start=1):
        await c.send(f"/todo add command_team {command}")
        await c.asked(number)


def text_of(c: Console) -> str:
    """Return what the review shows."""
    rows = c.app.screen.query_one(Rows)
    return layout(rows.rows, 200).plain


async def review(c: Console) -> ReviewDialog:
    """Open the review and read it to its end."""
    c.clock.rest()
    await c.press("9")
    await c.until(lambda: isinstance(c.app.screen, ReviewDialog), "the review")
    return await read(c)


async def read(c: Console) -> ReviewDialog:
    screen = c.app.screen
    assert isinstance(screen, ReviewDialog)
    for _ in range(40):
        await c.pilot.pause()
        if screen.read:
            break
        await c.press("pagedown")
    assert screen.read
    c.clock.rest()
    return screen


@pytest.mark.long
async def test_what_is_marked_is_approved_at_once_and_nothing_else(tmp_path: Path) -> None:
    workspace = place(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk", size=(80, 24)) as c:
        await begun(c, "note file=one", "note file=two", "note file=three")
        await c.to_question()
        await c.press("space")
        assert "marked (1)" in str(c.panel.border_title)
        await c.press("down", "space")
        assert "marked (2)" in str(c.panel.border_title)
        assert [q.todo_id for q in c.panel.questions] == ["todo_002", "todo_003", "todo_004"], "places are fixed"
        await review(c)
        assert "touch one-14" in text_of(c)
        assert "three" not in text_of(c)
        assert "◆ 002 · note · MEDIUM RISK" in text_of(c) and "digest" not in text_of(c)
        keys = str(c.app.screen.query_one(KeyLine).render())
        assert "1 yes" in keys and "2 keep" not in keys, "they are of one class"
        await c.press("1")
        await c.until(lambda: c.app.screen is c.session, "it is over")
        await c.until(lambda: c.message == "2 of 2 approved.", "what came of it")
        await c.until(lambda: (workspace / "two-14").exists(), "the second")
        assert (workspace / "one-14").exists()
        await c.asked(1)
        assert c.panel.has_focus, "it stays while questions remain"
        assert c.status("todo_004") == Status.WAITING_APPROVAL
        assert not (workspace / "three-14").exists()


@pytest.mark.long
async def test_nothing_is_approved_across_risk_classes(tmp_path: Path) -> None:
    workspace = place(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await begun(c, "keep file=risky", "note file=one")
        await c.to_question()
        await c.press("space", "down", "space")
        await review(c)
        assert "take MEDIUM RISK first" in text_of(c)
        await c.press("1")
        await c.pilot.pause()
        assert "not across risk classes" in str(c.app.screen.query_one("#reading").border_subtitle)
        assert {q.view.decisions for q in c.snapshot.questions} == {()}
        await c.press("2")
        assert "risky" not in text_of(c)
        await c.press("1")
        assert {q.view.decisions for q in c.snapshot.questions} == {()}, "another list has to be read anew"
        await read(c)
        await c.press("1")
        await c.until(lambda: (workspace / "one-14").exists(), "the first class")
        await c.until(lambda: c.app.screen is c.session, "it is over")
        await c.asked(1)
        # Its preview lists the file that was made meanwhile: it is asked anew, and what was marked is no more.
        await c.until(lambda: not c.panel.marked, "that another question isn't marked")
        assert not (workspace / "risky").exists()


@pytest.mark.long
async def test_what_changed_since_it_was_drawn_is_not_approved(tmp_path: Path) -> None:
    workspace = place(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await begun(c, "note file=one", "note file=two", "note file=three")
        await c.to_question()
        await c.press("space", "down", "space", "down", "space")
        await review(c)
        handle = c.session.handle
        assert handle is not None
        await handle.handler.handle_command("/todo edit 2 file=changed")
        await handle.handler.handle_command("/todo skip 3")
        await c.until(lambda: text_of(c).count("not approved") == 2, "two refusals, before anything is confirmed")
        c.clock.rest()
        await c.press("1")
        await c.until(lambda: "Approved 004" in text_of(c), "the third")
        assert text_of(c).count("Approved ") == 1
        keys = str(c.app.screen.query_one(KeyLine).render())
        assert "Esc close" in keys and "1 yes" not in keys and "2 keep" not in keys
        await c.until(lambda: (workspace / "three-14").exists(), "the one that stayed the same")
        assert not (workspace / "one-14").exists()
        assert not (workspace / "changed-14").exists()
        assert not (workspace / "two-14").exists()
        await c.press("escape")
        await c.until(lambda: c.panel.marked == (), "a changed question isn't marked any more")


@pytest.mark.sampled(3)
@pytest.mark.long
@pytest.mark.parametrize("key", ["enter", "escape", "ctrl+d", "9", "y", "a"])
async def test_keys_that_approve_nothing_in_the_review(tmp_path: Path, key: str) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.to_question()
        await c.press("9")
        assert "Nothing is marked" in c.message
        await c.press("space")
        await review(c)
        c.clock.rest()
        await c.press(key)
        await c.pilot.pause(0.05)
        assert c.snapshot.questions[0].view.decisions == ()


async def test_the_review_counts_no_key_before_it_was_drawn(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.to_question()
        await c.press("space")
        c.clock.rest()
        await c.press("9", "1", "1")
        await c.pilot.pause(0.05)
        assert c.status("todo_001") == Status.WAITING_APPROVAL
        assert c.snapshot.questions[0].view.decisions == ()


async def test_space_takes_a_mark_away_again(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.to_question()
        await c.press("space", "space")
        assert c.panel.marked == ()
        assert "marked" not in str(c.panel.border_title)


# What the question shows -------------------------------------------------------------------------------------------


@pytest.mark.long
async def test_what_decides_stands_above_the_fold_at_80x24(tmp_path: Path) -> None:
    workspace = place(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk", size=(80, 24)) as c:
        await begun(c, "keep file=x")
        await c.until(lambda: c.panel.question and c.panel.question.view.evidence, "preview")
        await c.pilot.pause()
        rows = c.panel.query_one(Rows)
        seen = layout(rows.rows, rows.size.width).plain.split("\n")[: c.panel.query_one("#question-body").size.height]
        assert seen[0].split() == ["runs", "touch", "x"]
        assert seen[1].strip() == "preview", "how it ended and how long it is says nothing of what would happen"
        assert "│ cap1.md" in "".join(seen)


@pytest.mark.long
async def test_padding_hides_nothing_and_has_to_be_read_to_its_end(tmp_path: Path) -> None:
    workspace = place(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk", size=(80, 24)) as c:
        padded = "a" + " " * 900 + "hidden"
        await begun(c, f'note file="{padded}"')
        question = c.panel.question
        assert question is not None
        (runs, *_) = body(question, "6")
        assert runs.text.plain == f"touch '{padded}-14'"
        shown = layout([runs], 60).plain
        assert shown.replace("\n", "").count(" ") >= 900
        assert "hidden-14'" in shown
        await c.to_question()
        await c.press("1")
        assert c.message.startswith("Read to the end")
        assert c.status("todo_002") == Status.WAITING_APPROVAL


@pytest.mark.long
async def test_deadline_and_those_who_said_yes_are_in_the_title(tmp_path: Path) -> None:
    workspace = place(tmp_path / "w")
    write_approvers(tmp_path / "d", "bob")
    operator, size = Operator(tmp_path / "d", "ops"), (80, 24)
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk", size=size, operator=operator) as c:
        await begun(c, "both")
        title = str(c.panel.border_title)
        assert "RISKY" in title
        assert "votes 0/2" in title
        assert "expires in 9:5" in title
        await c.to_question()
        await c.read_on()
        await c.press("1")
        await c.until(lambda: "votes 1/2" in str(c.panel.border_title), "the first of two")
        shown = layout(c.panel.query_one(Rows).rows, 80).plain
        assert f"approve by {operator.name}" in shown
        assert not (workspace / "both").exists()


@pytest.mark.long
async def test_a_document_is_shown_as_the_diff_that_is_written(tmp_path: Path) -> None:
    workspace = place(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await begun(c)
        await c.send("/todo add document_team Caps --after 1")
        await c.asked(1)
        await c.until(lambda: "writes" in layout(c.panel.query_one(Rows).rows, 100).plain, "the draft")
        await c.to_question()
        await c.press("6")
        await c.until(lambda: c.app.screen is not c.session, "the details")
        rows = [row.text.plain for row in c.app.screen.query_one(Rows).rows]
        first = next(i for i, row in enumerate(rows) if row.startswith("  @@ "))
        added = []
        for row in rows[first + 1 :]:
            if not row.startswith("  +"):
                break
            added.append(row.removeprefix("  +"))
        assert rows[first - 2 : first] == ["  --- /dev/null", "  +++ reports/caps.md"]
        await c.press("escape")
        await c.until(lambda: c.app.screen is c.session, "back")
        await c.read_on()
        await c.press("2")
        await c.until(lambda: isinstance(c.app.screen, EditDialog), "the dialog")
        result = c.app.screen.query_one("#edit-result", Rows)
        await c.until(lambda: "reports/caps.md (new): " in layout(result.rows, 200).plain, "what it would write")
        path = next(box for box in c.app.screen.query(FieldInput) if box.field.name == "path")
        path.value = "reports/other.md"
        await c.until(lambda: "reports/other.md (new): " in layout(result.rows, 200).plain, "what it would write then")
        assert added == [r.text.plain.removeprefix("  +") for r in result.rows if r.text.plain.startswith("  +")][1:]
        await c.press("escape")
        await c.until(lambda: c.app.screen is c.session, "back")
        await c.read_on()
        await c.press("1")
        await c.until(lambda: c.status("todo_002") == Status.COMPLETED, "the report")
        assert (workspace / "reports" / "caps.md").read_text(encoding="utf-8").splitlines() == added


# What went wrong elsewhere -----------------------------------------------------------------------------------------


@pytest.mark.long
async def test_words_typed_while_a_question_opens_stay_words(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        for key in "any way":
            await c.press("space" if key == " " else key)
        await c.asked()
        for key in "1 2 3 approve":
            await c.press("space" if key == " " else key)
        assert c.prompt.text == "any way1 2 3 approve"
        assert c.snapshot.questions[0].view.decisions == ()


async def test_an_answer_to_what_was_shown_before_is_refused(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        old, handle = c.panel.question, c.session.handle
        assert old is not None
        assert handle is not None
        await handle.handler.handle_command('/todo edit 1 {"query": "전세"}')
        await c.until(lambda: c.panel.question and c.panel.question.digest != old.digest, "asked anew")
        with pytest.raises(Refused):
            await handle.handler.decide(old, Verdict.APPROVE)
        assert c.status("todo_001") == Status.WAITING_APPROVAL


@pytest.mark.long
async def test_rejecting_one_of_several_leaves_the_others(tmp_path: Path) -> None:
    workspace = place(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await begun(c, "note file=one", "note file=two", "note file=three")
        await c.to_question()
        await c.press("down")
        c.clock.rest()
        await c.press("3")
        await c.until(lambda: isinstance(c.app.screen, WordsDialog), "the reason")
        c.clock.rest()
        await c.press("n", "o", "enter")
        await c.until(lambda: c.status("todo_003") == Status.FAILED, "rejected")
        await c.asked(2)
        assert [q.todo_id for q in c.panel.questions] == ["todo_002", "todo_004"]
        assert {q.view.decisions for q in c.panel.questions} == {()}
        assert not any((workspace / f"{name}-14").exists() for name in ("one", "two", "three"))


@pytest.mark.long
async def test_after_the_last_answer_the_draft_is_as_it_was(tmp_path: Path) -> None:
    workspace = place(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await begun(c, "note file=one", "note file=two")
        c.prompt.focus()
        await c.press(*"draft", "ctrl+j", *"more", "left")
        cursor = c.prompt.cursor_location
        await c.to_question()
        await c.press("4")
        await c.asked(1)
        assert c.panel.has_focus
        c.clock.rest()
        await c.press("4")
        await c.until(lambda: c.prompt.has_focus, "the prompt")
        assert (c.prompt.text, c.prompt.cursor_location) == ("draft\nmore", cursor)


def burst(c: Console, *keys: str) -> None:
    """Let keys arrive all at once, as from a paste buffer or a slow line."""
    for key in keys:
        c.app.post_message(events.Key(key, key if len(key) == 1 else None))


@pytest.mark.long
async def test_keys_of_one_burst_act_in_their_order(tmp_path: Path) -> None:
    workspace = place(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await begun(c, "note file=one days=14")
        await c.to_question()
        await c.press("2")
        await c.until(lambda: isinstance(c.app.screen, EditDialog), "the form")
        file, days = c.app.screen.query(FieldInput)
        assert file.has_focus
        burst(c, "x", "left", "y", "down", "down", "up", "end", "backspace", "backspace", "3", "home", "1", "tab")
        await c.until(lambda: days.value == "13", "what was typed into the second field")
        assert file.value == "oneyx"


@pytest.mark.long
async def test_a_key_that_approves_comes_after_what_was_typed_before_it(tmp_path: Path) -> None:
    workspace = place(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await begun(c, "note file=one")
        await c.to_question()
        await c.press("2")
        await c.until(lambda: isinstance(c.app.screen, EditDialog), "the form")
        c.clock.rest()
        burst(c, "s", "i", "x", "f9", "ctrl+s")
        await c.until(lambda: c.app.screen.query(FieldInput).first().value == "onesix", "what was typed")
        assert isinstance(c.app.screen, EditDialog), "nothing in a burst is sent"
        c.clock.rest()
        await c.press("ctrl+s")
        await c.until(lambda: c.panel.question and "onesix" in str(c.panel.question.view.request.subject), "asked anew")
        assert not any((workspace / f"{name}-14").exists() for name in ("one", "onesix")), "approved before it was seen"
        await c.to_question()
        await c.read_on()
        await c.press("1")
        await c.until(lambda: c.status("todo_002") == Status.COMPLETED, "the command")
        assert (workspace / "onesix-14").exists()
        assert not (workspace / "one-14").exists()


@pytest.mark.long
async def test_undo_takes_back_one_decision_after_the_other(tmp_path: Path) -> None:
    workspace = place(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await begun(c, "note file=one", "note file=two", "note file=three")
        await c.to_question()
        for todo_id, left in (("todo_002", 2), ("todo_003", 1)):
            await c.press("4")
            await c.until(lambda t=todo_id: c.status(t) == Status.SKIPPED, f"{todo_id} skipped")
            await c.asked(left)
            c.clock.rest()
        for todo_id, open_again in (("todo_003", 2), ("todo_002", 3)):
            await c.press("u")
            await c.until(lambda t=todo_id: c.status(t) == Status.WAITING_APPROVAL, f"{todo_id} asks again")
            await c.asked(open_again)
            c.clock.rest()
        await c.press("0")
        await c.until(lambda: "No decision of yours" in c.message, "nothing more")


@pytest.mark.long
async def test_undo_too_soon_takes_nothing_back(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.to_question()
        await c.press("4")
        await c.until(lambda: c.status("todo_001") == Status.SKIPPED, "skipped")
        await c.asked()
        c.panel.focus()
        await c.press("u")
        await c.until(lambda: c.message.startswith("Too soon"), "no word follows the letter")
        assert c.status("todo_001") == Status.SKIPPED


@pytest.mark.long
async def test_a_document_is_approved_only_once_all_of_it_was_read(tmp_path: Path) -> None:
    workspace = place(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk", size=(80, 24)) as c:
        await begun(c)
        await c.send("/todo add document_team Caps --after 1")
        await c.asked(1)
        await c.until(lambda: c.panel.complete, "the draft")
        rows = [row.text.plain for row in c.panel.query_one(Rows).rows]
        assert sum(row.startswith("  +") for row in rows) > 20 and not any("more lines" in row for row in rows)
        await c.to_question()
        await c.press("pagedown")
        c.clock.rest()
        await c.press("1")
        assert c.message.startswith("Read to the end first") and not (workspace / "reports").exists()
        await c.press("6")
        await c.until(lambda: c.app.screen is not c.session, "the details")
        await c.press("G")
        await c.press("escape")
        await c.until(lambda: c.app.screen is c.session and c.panel.read, "read on a screen of its own")
        c.clock.rest()
        await c.press("1")
        await c.until(lambda: c.status("todo_002") == Status.COMPLETED, "the report")
