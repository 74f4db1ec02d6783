"""A form for the fields of an answer: from a schema or from what is there, with exactly what would be sent (I2)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath
from typing import Any, ClassVar

from textual.actions import SkipAction
from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static, TextArea

from hitl_tui.console.asking import text_row
from hitl_tui.console.fields import Field, field_text, schema_fields
from hitl_tui.console.inner import payload_rows
from hitl_tui.console.screens.edit import EditArea, FieldInput
from hitl_tui.console.screens.saying import NOTHING_SAID, edited
from hitl_tui.console.widgets.rows import Rows
from hitl_tui.core.errors import BadInput, HitlError
from hitl_tui.core.safe_text import cell_width, one_line, safe_text, unsafe_text
from hitl_tui.core.shapes.forms import inferred
from hitl_tui.core.shapes.model import Wants
from hitl_tui.language import _, render

_LONG = 60
_INDENT = 2

Filled = Callable[[Mapping[str, Any]], Any]
"""The fields → what is sent; raises BadInput."""


class FieldArea(EditArea):
    """A field of several lines."""

    def __init__(self, field: Field, text: str) -> None:
        super().__init__(text, compact=True, tab_behavior="focus", soft_wrap=True)
        self.field = field


class Filling(ModalScreen[Any]):
    """The form; dismissed with the answer, or with `NOTHING_SAID`.

    Args:
        title: one line, safe.
        wants: the fields, and what stands in them at first.
        made: makes the answer.
    """

    CSS_PATH: ClassVar[list[str | PurePath]] = ["dialogs.tcss", "answering.tcss", "../widgets/rows.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.focus_next", "Next", id="filling.next", priority=True),
        Binding("shift+tab", "app.focus_previous", "Previous", id="filling.previous", priority=True),
        Binding("down,enter", "field(1)", "Next field", id="filling.down", priority=True),
        Binding("up", "field(-1)", "Previous field", id="filling.up", priority=True),
        Binding("escape", "cancel", "Back", id="filling.cancel"),
        Binding("ctrl+s,f9", "send", "Send", id="filling.send", priority=True),
        Binding("ctrl+e", "editor", "Editor", id="filling.editor", priority=True),
    ]

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
        with Vertical(classes="dialog -large", id="filling") as box:
            box.border_title = Content(self._heading)
            with VerticalScroll(id="filling-fields", can_focus=False):
                for number, field in enumerate(self._fields):
                    with Horizontal(classes="fill-field"):
                        yield Static(Content(safe_text(field.name, multiline=False)), classes="fill-name")
                        yield self._box(field, number)
                        yield Static(Content(field.hint), classes="fill-hint")
            yield Static(Content(_("Will be sent")), classes="dialog-label")
            with VerticalScroll(id="filling-shown", can_focus=False):
                yield Rows(id="filling-result")
            with Horizontal(classes="dialog-row"):
                yield Button(Content(_("Ctrl+S Send")), id="send", compact=True)
                yield Button(Content(_("Ctrl+E Editor")), id="editor", compact=True)
                yield Button(Content(_("Esc Back")), id="cancel", compact=True)

    def _box(self, field: Field, number: int) -> FieldInput | FieldArea:
        text = _long_text(field, self._before)
        if text is not None:
            return FieldArea(field, text)
        return FieldInput(field, field_text(field, self._before), number)

    def on_mount(self) -> None:
        first = next(iter(self._boxes()), None)
        if first is not None:
            first.focus()
        self._show()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._show()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._show()

    def action_field(self, by: int) -> None:
        """Go to the next or previous field from a field of one line; in others the key is what it is there."""
        if not isinstance(self.focused, FieldInput):
            raise SkipAction
        boxes = list(self._boxes())
        place = boxes.index(self.focused) + by
        if 0 <= place < len(boxes):
            boxes[place].focus()

    def _boxes(self) -> Iterator[FieldInput | FieldArea]:
        for widget in self.query("FieldInput, FieldArea"):
            if isinstance(widget, FieldInput | FieldArea):
                yield widget

    # What is written -------------------------------------------------------------------------------------------

    def _values(self) -> dict[str, Any]:
        """Return the fields as they are written.

        Raises:
            BadInput: one isn't what it has to be; the first is named.
        """
        found: dict[str, Any] = {}
        for box in self._boxes():
            text, name = _written(box), box.field.name
            if text or (box.field.type == "string" and isinstance(self._before.get(name), str)):
                found[name] = box.field.value(text)
        return {**found, **self._extra}

    def _show(self) -> None:
        for box in self._boxes():
            box.set_class(bool(_problem(box)), "-wrong")
        result = self.query_one("#filling-result", Rows)
        try:
            values = self._values()
            self._made(values)
        except HitlError as error:
            said = safe_text(render(error.message), multiline=False)
            result.show([text_row(_("error: {message}").format(message=said), "bold $text-error")])
            return
        result.show(payload_rows(values, self._before))

    def action_send(self) -> None:
        try:
            value = self._made(self._values())
        except HitlError:
            self._show()
            return
        self.dismiss(value)

    def action_cancel(self) -> None:
        self.dismiss(NOTHING_SAID)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        if event.button.id == "cancel":
            self.action_cancel()
        elif event.button.id == "editor":
            self.action_editor()
        else:
            self.action_send()

    # The editor ------------------------------------------------------------------------------------------------

    def editor_text(self) -> str:
        """Return what the editor opens with: a long text by itself, else all fields as JSON."""
        if isinstance(self.focused, FieldArea) and self.focused.field.type == "string":
            return _written(self.focused)
        if self._unread:
            return self._unread
        found = {
            box.field.name: _written(box) if _problem(box) else box.field.value(_written(box))
            for box in self._boxes()
            if _written(box)
        }
        return json.dumps({**found, **self._extra}, ensure_ascii=False, indent=_INDENT) + "\n"

    def take_editor_text(self, text: str) -> str:
        """Take what came back from the editor; return one sentence when that can't be done, and lose nothing."""
        if isinstance(self.focused, FieldArea) and self.focused.field.type == "string":
            self.focused.text = safe_text(text)
            return ""
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            self._unread = text
            return _("What came back isn't valid JSON ({error}); Ctrl+E opens it again as you left it.").format(
                error=error
            )
        if not isinstance(found, dict):
            self._unread = text
            return _("What came back can't be used: it has to be one object; Ctrl+E opens it again.")
        self._unread = ""
        names = {box.field.name for box in self._boxes()}
        self._extra = {name: value for name, value in found.items() if name not in names}
        for box in self._boxes():
            if isinstance(box, FieldArea):
                box.text = (_long_text(box.field, found, always=True) or "") if box.field.name in found else ""
            else:
                box.value = field_text(box.field, found)
        self._show()
        return ""

    def action_editor(self) -> None:
        self.run_worker(self._edit_outside(), group="editor", exclusive=True)

    async def _edit_outside(self) -> None:
        try:
            with self.app.suspend(), self.app.batch_update():
                text = await edited(self.editor_text())
        except SuspendNotSupported:
            said = _("This terminal can't lend itself to an editor.")
        except HitlError as error:
            said = render(error.message)
        else:
            said = self.take_editor_text(text)
        self.app.refresh(layout=True)
        self.query_one("#filling").border_subtitle = Content(one_line(said, 200))


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


def _written(box: FieldInput | FieldArea) -> str:
    return unsafe_text(box.value if isinstance(box, FieldInput) else box.text)


def _problem(box: FieldInput | FieldArea) -> str:
    """Return what is wrong in a field; nothing when it is empty, for then it is left out or its default holds."""
    try:
        if _written(box):
            box.field.value(_written(box))
    except BadInput as error:
        return error.message
    return ""
