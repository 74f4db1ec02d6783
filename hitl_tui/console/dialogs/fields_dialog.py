"""A form for the fields of an answer: from a schema or from what is there, with exactly what would be sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from hitl_tui.console.dialogs.form_dialog import FieldArea, FieldInput, FormDialog, problem, written
from hitl_tui.console.dialogs.form_model import Field, field_text, schema_fields
from hitl_tui.console.keymap import keymap_of
from hitl_tui.console.widgets.dialog_frame import Dialog, Flow
from hitl_tui.console.widgets.virtual_rows import Rows
from hitl_tui.core.errors import BadInput, HitlError
from hitl_tui.core.interrupts.schema_fields import inferred
from hitl_tui.core.interrupts.shape import Wants
from hitl_tui.core.json_text import strict_json
from hitl_tui.core.safe_text import cell_width, one_line, safe_text
from hitl_tui.language import _, mark, translate
from hitl_tui.wording.interrupt_rows import payload_rows
from hitl_tui.wording.rows import Row, text_row

_LONG = 60
_INDENT = 2

Filled = Callable[[Mapping[str, Any]], Any]
"""The fields → what is sent; raises BadInput."""


class FieldsDialog(FormDialog[Any]):
    """The form; dismissed with the answer, or with `NOTHING_SAID`.

    Args:
        title: one line, safe.
        wants: the fields, and what stands in them at first.
        made: makes the answer.
    """

    CSS_PATH: ClassVar[list[str | PurePath]] = ["dialogs.tcss", "answering.tcss", "../widgets/rows.tcss"]
    LABEL = mark("Will be sent")

    def __init__(self, title: str, wants: Wants, made: Filled) -> None:
        super().__init__()
        self._heading = title
        self._made = made
        self._before = dict(wants.present) if isinstance(wants.present, Mapping) else {}
        schema = wants.schema if wants.schema and "properties" in wants.schema else inferred(self._before)
        self._fields = schema_fields(schema, self._before)
        self._hint = wants.hint
        self._extra: dict[str, Any] = {}
        """Fields that only the editor gave: the form has no line for them."""
        self._unread = ""

    def compose(self) -> ComposeResult:
        with Dialog(classes="dialog -large", id="filling") as box:
            box.border_title = Content(self._heading)
            yield from self.field_rows(self._box(field, number) for number, field in enumerate(self._fields))
            yield Static(Content(_(self.LABEL)), classes="dialog-label")
            with VerticalScroll(id="filling-shown", classes="dialog-shown", can_focus=False):
                yield Rows(id="filling-result")
            with Flow(classes="dialog-row"):
                yield self.button("form.send", _("Send"))
                yield self.button("form.editor", _("Editor"))
                yield self.button("form.cancel", _("Back"))

    def _box(self, field: Field, number: int) -> FieldInput | FieldArea:
        text = _long_text(field, self._before)
        if text is not None:
            return FieldArea(field, text)
        return FieldInput(field, field_text(field, self._before), number)

    def on_mount(self) -> None:
        first = next(iter(self.boxes()), None)
        if first is not None:
            first.focus()
        self.look()

    # What is written -------------------------------------------------------------------------------------------

    def _values(self) -> dict[str, Any]:
        """Return the fields as they are written.

        Raises:
            BadInput: one isn't what it has to be; the first is named.
        """
        found: dict[str, Any] = {}
        for box in self.boxes():
            text, name = written(box), box.field.name
            if text or (box.field.type == "string" and isinstance(self._before.get(name), str)):
                found[name] = box.field.value(text)
        return {**found, **self._extra}

    def look(self) -> None:
        for box in self.boxes():
            box.set_class(bool(problem(box)), "-wrong")
        result = self.query_one("#filling-result", Rows)
        try:
            values = self._values()
            made = self._made(values)
        except HitlError as error:
            said = safe_text(translate(error.message), multiline=False)
            result.show([text_row(_("error: {message}").format(message=said), "bold $text-error")])
            return
        result.show(self.made_rows(values, made))

    def made_rows(self, values: Mapping[str, Any], made: Any) -> list[Row]:
        """Return what is shown of the answer that the fields make."""
        return payload_rows(values, self._before)

    def action_send(self) -> None:
        self.send(lambda: self._made(self._values()))

    # The editor ------------------------------------------------------------------------------------------------

    def editor_text(self) -> str:
        """Return what the editor opens with: a long text by itself, else all fields as JSON."""
        if isinstance(self.focused, FieldArea) and self.focused.field.type == "string":
            return written(self.focused)
        if self._unread:
            return self._unread
        found = {
            box.field.name: written(box) if problem(box) else box.field.value(written(box))
            for box in self.boxes()
            if written(box)
        }
        return json.dumps({**found, **self._extra}, ensure_ascii=False, indent=_INDENT) + "\n"

    def take_editor_text(self, text: str) -> str:
        """Take what came back from the editor; return one sentence when that can't be done, and lose nothing."""
        if isinstance(self.focused, FieldArea) and self.focused.field.type == "string":
            self.focused.text = safe_text(text)
            return ""
        try:
            found = strict_json(text)
        except (BadInput, ValueError, RecursionError) as error:
            self._unread = text
            return self.not_json(error)
        if not isinstance(found, dict):
            self._unread = text
            said = _("What came back can't be used: it has to be one object; {form.editor} opens it again.")
            return keymap_of(self.app).named(said)
        self._unread = ""
        names = {box.field.name for box in self.boxes()}
        self._extra = {name: value for name, value in found.items() if name not in names}
        for box in self.boxes():
            if isinstance(box, FieldArea):
                box.text = (_long_text(box.field, found, always=True) or "") if box.field.name in found else ""
            else:
                box.value = field_text(box.field, found)
        self.look()
        return ""


def _long_text(field: Field, values: Mapping[str, Any], *, always: bool = False) -> str | None:
    """Return how a value stands in a field of several lines; None when one line holds it."""
    value = values.get(field.name)
    if field.type == "string" and isinstance(value, str):
        return safe_text(value) if always or "\n" in value or cell_width(one_line(value, 10_000)) > _LONG else None
    if field.type == "json" and isinstance(value, dict | list):
        text = json.dumps(value, ensure_ascii=False)
        if always or len(text) > _LONG:
            return safe_text(json.dumps(value, ensure_ascii=False, indent=_INDENT))
    return safe_text(json.dumps(value, ensure_ascii=False)) if always else None
