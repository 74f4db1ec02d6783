"""Answers what a team asks from inside a step: each action's own dialog, and calls one by one with a review."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.content import Content

from hitl_tui.console import keys
from hitl_tui.console.answer_actions import is_edit
from hitl_tui.console.dialogs.answer_dialog import (
    NOTHING_SAID,
    FieldsAnswer,
    Given,
    NothingSaid,
    OptionAnswer,
    TextAnswer,
    WrittenAnswer,
)
from hitl_tui.console.dialogs.form_model import wanted_form
from hitl_tui.console.dialogs.reading_dialog import ReadingDialog
from hitl_tui.console.services import Console
from hitl_tui.core.errors import BadInput
from hitl_tui.core.interrupts.answer_parser import declared_value
from hitl_tui.core.interrupts.shape import IGNORE, REJECT, RESPOND, Action, Form, Shape
from hitl_tui.core.interrupts.tool_shapes import BatchShape
from hitl_tui.core.json_types import Json, JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import _, safe_message, translate
from hitl_tui.wording.interrupt_rows import asked, detail_rows, payload_rows
from hitl_tui.wording.rows import Row, text_row
from hitl_tui.wording.status_words import number_of

if TYPE_CHECKING:
    from hitl_tui.console.dialogs.dialog_drafts import DialogDrafts
    from hitl_tui.supervisor.snapshot import Question


_EDITS = "Edit"
"""Label of an action that changes what is there; to fill a form in changes nothing."""
_LONGEST_LABEL = 24
"""Cells of a button's words that a graph chose."""


async def answer_of(app: Console, question: Question, name: str, drafts: DialogDrafts) -> Given:
    """Return the answer that an action gives once its dialog was filled in, `NOTHING_SAID` when it was left.

    Args:
        app: the app.
        question: the question as it was shown.
        name: the action.
        drafts: what was written in dialogs that were left.

    Raises:
        BadInput: the action isn't possible.
    """
    shape = question.shape
    if shape is None:
        return NOTHING_SAID
    if isinstance(shape, BatchShape) and shape.possible(name).wants.form is Form.PARTS:
        return await _one_by_one(app, question, shape, drafts)
    kept = partial(drafts.shown, app, question, name)
    return await _asked_for(app, shape, shape.possible(name), number_of(question.name), kept)


Kept = Callable[[WrittenAnswer[Given]], Awaitable[Given]]
"""Shows a dialog with what was written in it before, and keeps what is written when it is left."""


async def _asked_for(app: Console, shape: Shape, action: Action, name: str, kept: Kept) -> Given:
    wants, title = action.wants, f"{translate(action.label)} · {name}"
    as_it_is = partial(shape.answer, action.name)
    if wants.form is Form.NONE:
        return as_it_is()
    if wants.form is Form.FIELDS:
        return await kept(_named(FieldsAnswer(title, wanted_form(wants), as_it_is), action))
    content = Content(_explained(shape, action))
    if wants.form is Form.OPTIONS:
        return await app.push_screen_wait(OptionAnswer(title, content, wants.options, as_it_is))
    if wants.form is not Form.VALUE or wants.present is None:
        return await kept(_named(TextAnswer(title, content, _read(shape, action)), action))
    if isinstance(wants.present, str):  # a text that is edited stays a text, whatever it looks like
        return await kept(_named(TextAnswer(title, content, as_it_is, text=wants.present, lines=True), action))
    text = json.dumps(wants.present, ensure_ascii=False, indent=2)
    return await kept(_named(TextAnswer(title, content, _read(shape, action), text=text, lines=True), action))


def _named(dialog: WrittenAnswer[Given], action: Action) -> WrittenAnswer[Given]:
    """Return a dialog that says what it does; it sends an edit only once that was read, as its question may not be."""
    dialog.must_read = is_edit(action)
    if dialog.must_read and action.label == _EDITS:
        dialog.does = _("Send edited")
    elif action.name in (REJECT, IGNORE, RESPOND):
        dialog.does = safe_text(translate(action.label), multiline=False, limit=_LONGEST_LABEL)
    return dialog


def _read(shape: Shape, action: Action) -> Callable[[str], Json]:
    """Return what makes the answer of a text: of the text itself, or of the value that it stands for.

    A value that isn't written yet is none: Enter pressed by mistake would send an empty text.
    """

    def made(text: str) -> Json:
        if action.wants.form is Form.VALUE and not text.strip():
            raise BadInput(Message('Write what to send; "" sends an empty text.'))
        return shape.answer(action.name, text if action.wants.form is Form.TEXT else declared_value(action, text))

    return made


def _explained(shape: Shape, action: Action) -> str:
    """Return what stands above the words: the question, and what they are for; safe."""
    hint, meaning = translate(action.wants.hint), translate(action.meaning)
    lines = [asked(shape), *(safe_text(line, multiline=False) for line in (meaning, hint) if line)]
    return "\n".join(dict.fromkeys(lines))


# One by one --------------------------------------------------------------------------------------------------------


class Part(ReadingDialog[str | None]):
    """Shows one call whole, with its own actions; dismissed with an action's name, `<` to go back, None to leave.

    Args:
        title: one line, safe.
        shape: the call.
        before: there is one to go back to.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.PART)]

    def __init__(self, title: str, shape: Shape, *, before: bool) -> None:
        self._shape = shape
        self._before = before
        rows = [text_row(asked(shape), "bold"), text_row(""), *detail_rows(shape)]
        rows += [text_row(safe_message(note, multiline=False), "bold $text-warning") for note in shape.notes]
        super().__init__(title, rows, self._key_words())

    def _key_words(self) -> str:
        named = {1: "{reading.yes}", **{n: f"{{part.{n}}}" for n in range(2, 6)}}
        offered = [f"{named.get(a.place, a.place)} {translate(a.label)}" for a in self._shape.actions if not a.why_not]
        back = [_("{part.back} Back")] if self._before else []
        return "  ".join([*offered, *back, _("{reading.close} Cancel")])

    def confirmed(self) -> None:
        self._take(1)

    def action_choose(self, number: int) -> None:
        action = next((a for a in self._shape.actions if a.place == number), None)
        if action is None or action.why_not:
            self._take(number)
            return
        why = self.holds()
        if why and not (action.name in (REJECT, IGNORE) and not self.read and self.guard.decides):
            self.say(why)
            return
        self._take(number)

    def _take(self, number: int) -> None:
        action = next((a for a in self._shape.actions if a.place == number), None)
        if action is None or action.why_not:
            self.say(safe_message(action.why_not, multiline=False) if action else _("not possible here"))
            return
        self.dismiss(action.name)

    def action_back(self) -> None:
        if self._before:
            self.dismiss("<")


class Gathered(ReadingDialog[str | None]):
    """Shows all decisions before they are sent together; dismissed with `send`, `<`, or None to leave."""

    BINDINGS: ClassVar[list[BindingType]] = [b for b in keys.bindings(keys.PART) if b.id == "part.back"]

    def confirmed(self) -> None:
        self.dismiss("send")

    def action_back(self) -> None:
        self.dismiss("<")


async def _one_by_one(app: Console, question: Question, shape: BatchShape, drafts: DialogDrafts) -> Given:
    parts, made, name = shape.parts, list[Json](), number_of(question.name)
    while True:
        if len(made) == len(parts):
            title = _("Review · {name}").format(name=name)
            words = _("{reading.yes} Send exactly these {n} · {part.back} Back · {reading.close} Cancel")
            said = await app.push_screen_wait(
                Gathered(title, _reviewed(parts, made), words.replace("{n}", str(len(made))))
            )
        else:
            part = parts[len(made)]
            title = _("Call {n} of {total} · {name}").format(n=len(made) + 1, total=len(parts), name=name)
            said = await app.push_screen_wait(Part(title, part, before=bool(made)))
        if said is None:
            return NOTHING_SAID
        if said == "<":
            made.pop()
        elif len(made) == len(parts):
            return shape.gathered(made)
        else:
            kept = partial(drafts.shown, app, question, f"{len(made)} {said}")
            value = await _asked_for(app, part, part.possible(said), f"{name} · {len(made) + 1}", kept)
            if not isinstance(value, NothingSaid):
                made.append(value)


def _reviewed(parts: Sequence[Shape], made: Sequence[Json]) -> list[Row]:
    rows: list[Row] = []
    for number, (part, decision) in enumerate(zip(parts, made, strict=True), start=1):
        kind = str(decision.get("type", "")) if isinstance(decision, dict) else ""
        rows.append(text_row(f"{number}  {safe_text(kind, multiline=False)}  {asked(part)}", "bold"))
        rest = {k: v for k, v in decision.items() if k != "type"} if isinstance(decision, dict) else {}
        rows += detail_rows(part) if not any(rest.values()) else decision_rows(rest)
        rows.append(text_row(""))
    return rows


def decision_rows(rest: JsonObject) -> list[Row]:
    """Return what a decision sends besides its type."""
    found: dict[str, Json] = {}
    for key, value in rest.items():
        nested = value.get("args") if isinstance(value, dict) else None
        found.update(nested if isinstance(nested, dict) else {key: value})
    return payload_rows(found)
