"""Edit, then approve: another exact input for a step in a form or an editor, and what would run with it."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, ClassVar

from textual.actions import SkipAction
from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Key
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Button, Input, Static, TextArea

from hitl_tui.console.asking import input_rows, text_row
from hitl_tui.console.fields import Field, declared_fields, editable, field_text, schema_fields
from hitl_tui.console.widgets.prompt import typed_text
from hitl_tui.console.widgets.rows import Rows
from hitl_tui.core.errors import BadInput, HitlError
from hitl_tui.core.safe_text import one_line, safe_text, unsafe_text
from hitl_tui.language import _

if TYPE_CHECKING:
    from hitl_tui.config.parameters import Parameter

Bind = Callable[[str, Mapping[str, Any]], dict[str, Any]]
"""Task text and parameters → the exact arguments; raises BadInput."""


@dataclass(frozen=True)
class Edited:
    """What came out of the dialog.

    Args:
        task: the task in words.
        given: parameters as they were written.
        bound: the exact arguments that were shown with them.
        approve: approve it at once, when exactly this is asked.
    """

    task: str
    given: Mapping[str, Any]
    bound: Mapping[str, Any]
    approve: bool


async def act_in_order(field: Widget, event: Key) -> None:
    """Let a text field's own keys act when they arrive.

    Textual lets a key that is bound rise to the app before it acts, while a letter acts at once: of keys that come in
    one burst, letters would overtake the arrows before them.
    """
    bound = field._bindings.key_to_bindings.get(event.key, ())
    if event.key == "ctrl+e":  # the dialog's, although text fields have it too
        await field.screen.run_action("editor")
    elif bound:
        await field.run_action(bound[0].action)
    else:
        return
    event.stop()
    event.prevent_default()


class EditArea(TextArea):
    """A text field of the dialog."""

    async def on_key(self, event: Key) -> None:
        await act_in_order(self, event)

    async def on_paste(self, event: Any) -> None:
        """What is pasted passes as typed text."""
        event.stop()
        event.prevent_default()
        self.insert(typed_text(event.text))


class FieldInput(Input):
    """One parameter."""

    def __init__(self, field: Field, value: str, number: int) -> None:
        super().__init__(value, placeholder=field.when_empty, id=f"field-{number}", compact=True, select_on_focus=False)
        self.field = field

    async def on_key(self, event: Key) -> None:
        await act_in_order(self, event)


class Edit(ModalScreen[Edited | None]):
    """The dialog.

    Args:
        title: one line, safe.
        task: the task in words; not editable for a declared command.
        arguments: the exact arguments now.
        schema: JSON Schema of the team's input.
        bind: makes exact arguments.
        workspace: where it runs.
        parameters: what the declared command takes, where one runs.
    """

    CSS_PATH: ClassVar[list[str | PurePath]] = ["dialogs.tcss", "../widgets/rows.tcss"]
    DEFAULT_CSS = """
    #edit-fields { height: auto; max-height: 50%; }
    .edit-field { height: 1; }
    .edit-name { width: auto; min-width: 10; max-width: 24; padding: 0 1 0 0; }
    .edit-field FieldInput { width: 1fr; min-width: 16; background: $background; height: 1; }
    .edit-field FieldInput.-wrong { background: $error 30%; }
    #edit .dialog-row Button { min-width: 0; margin: 0 1 0 0; }
    .edit-hint { width: auto; max-width: 50%; height: 1; padding: 0 0 0 1; color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        # What changes the focus acts at once, so that the next key of a burst goes to the next field. What uses the
        # fields comes after what was typed before it.
        Binding("tab", "app.focus_next", "Next", id="edit.next", priority=True),
        Binding("shift+tab", "app.focus_previous", "Previous", id="edit.previous", priority=True),
        Binding("down,enter", "field(1)", "Next field", id="edit.down", priority=True),
        Binding("up", "field(-1)", "Previous field", id="edit.up", priority=True),
        Binding("escape", "cancel", "Cancel", id="edit.cancel"),
        Binding("ctrl+s", "save(False)", "Ask again", id="edit.save"),
        Binding("f9", "save(True)", "Edit and approve", id="edit.approve"),
        Binding("ctrl+e", "editor", "Editor", id="edit.editor"),
    ]

    def __init__(
        self,
        title: str,
        task: str,
        arguments: Mapping[str, Any],
        schema: Mapping[str, Any],
        bind: Bind,
        workspace: str,
        parameters: Mapping[str, Parameter] | None = None,
    ) -> None:
        super().__init__()
        self._heading = title
        self._wanted = task
        self._arguments = arguments
        self._bind = bind
        self._workspace = workspace
        self._command = "argv" in arguments
        self._present = editable(arguments, schema)
        if parameters is not None:
            self._fields = declared_fields(parameters)
        else:
            self._fields = schema_fields(schema, self._present)
        self._unread = ""
        """What came back from the editor and couldn't be read."""

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -large", id="edit") as box:
            box.border_title = Content(self._heading)
            if not self._command:
                yield Static(Content(_("Task in words")), classes="dialog-label")
                yield EditArea(safe_text(self._wanted), id="edit-task", compact=True, tab_behavior="focus")
            with VerticalScroll(id="edit-fields", can_focus=False):
                for number, field in enumerate(self._fields):
                    with Horizontal(classes="edit-field"):
                        yield Static(Content(safe_text(field.name, multiline=False)), classes="edit-name")
                        yield FieldInput(field, field_text(field, self._present), number)
                        yield Static(Content(field.hint), classes="edit-hint")
            yield Static(Content(_("Will run")), classes="dialog-label")
            with VerticalScroll(id="edit-shown", can_focus=False):
                yield Rows(id="edit-result")
            with Horizontal(classes="dialog-row"):
                yield Button(Content(_("Ctrl+S Ask anew")), id="save", compact=True)
                yield Button(Content(_("F9 Approve it")), id="approve", compact=True)
                yield Button(Content(_("Ctrl+E Editor")), id="editor", compact=True)
                yield Button(Content(_("Esc Cancel")), id="cancel", compact=True)

    def on_mount(self) -> None:
        fields = self.query(FieldInput)
        if fields:
            fields.first().focus()
        elif not self._command:
            self.query_one("#edit-task", EditArea).focus()
        self._show()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._show()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._show()

    def action_field(self, by: int) -> None:
        """Go to the next or previous field from one; elsewhere the key is what it is there."""
        if not isinstance(self.focused, FieldInput):
            raise SkipAction
        if by > 0:
            self.focus_next(FieldInput)
        else:
            self.focus_previous(FieldInput)

    # What is written -------------------------------------------------------------------------------------------

    def _parameters(self) -> dict[str, Any]:
        """Return the parameters as they are written.

        Raises:
            BadInput: one isn't what it has to be; the first is named.
        """
        found = {}
        for box in self.query(FieldInput):
            text = unsafe_text(box.value)
            kept_empty = box.field.type == "string" and self._present.get(box.field.name) == ""
            if text or kept_empty:
                found[box.field.name] = box.field.value(text)
        return found

    def _read(self) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """Return task, parameters and the exact arguments they make.

        Raises:
            HitlError: they can't be used.
        """
        task = self._wanted if self._command else unsafe_text(self.query_one("#edit-task", EditArea).text)
        parameters = self._parameters()
        if self._command:
            parameters = {"command": self._arguments["command"], "parameters": parameters}
        return task, parameters, self._bind(task, parameters)

    def _show(self) -> None:
        for box in self.query(FieldInput):
            box.set_class(bool(_problem(box)), "-wrong")
        result = self.query_one("#edit-result", Rows)
        try:
            task, __, bound = self._read()
        except HitlError as error:
            result.show([text_row(_("error: {message}").format(message=safe_text(error.message)), "bold $text-error")])
            return
        result.show(input_rows(bound, task, self._workspace))

    def action_save(self, approve: bool) -> None:
        try:
            task, parameters, bound = self._read()
        except HitlError:
            self._show()
            return
        self.dismiss(Edited(task, parameters, bound, approve))

    def action_cancel(self) -> None:
        self.dismiss(None)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        if event.button.id == "cancel":
            self.dismiss(None)
        elif event.button.id == "editor":
            self.action_editor()
        else:
            self.action_save(event.button.id == "approve")

    # The editor ------------------------------------------------------------------------------------------------

    def json_text(self) -> str:
        """Return what the editor opens with: what came back unreadable, else the fields as JSON."""
        if self._unread:
            return self._unread
        found: dict[str, Any] = {}
        for box in self.query(FieldInput):
            text = unsafe_text(box.value)
            if text:
                found[box.field.name] = text if _problem(box) else box.field.value(text)
        return json.dumps(found, ensure_ascii=False, indent=2) + "\n"

    def take_json(self, text: str) -> str:
        """Take what came back from the editor into the fields; return one sentence when that can't be done.

        Then nothing is lost: the fields stay as they were, and the editor opens with this text again.
        """
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            self._unread = text
            return _("What came back isn't valid JSON ({error}); Ctrl+E opens it again as you left it.").format(
                error=error
            )
        names = {box.field.name: box for box in self.query(FieldInput)}
        strange = [name for name in found if name not in names] if isinstance(found, dict) else [""]
        if strange:
            self._unread = text
            known = ", ".join(names) or _("none")
            said = (
                _('there is no parameter "{value}"').format(value=one_line(strange[0], 40))
                if strange[0]
                else _("it has to be one object")
            )
            return _("What came back can't be used: {said} (known: {known}); Ctrl+E opens it again.").format(
                said=said, known=known
            )
        self._unread = ""
        for box in names.values():
            box.value = field_text(box.field, found)
        return ""

    def action_editor(self) -> None:
        self.run_worker(self._edit_outside(), group="editor", exclusive=True)

    async def _edit_outside(self) -> None:
        try:
            with self.app.suspend(), self.app.batch_update():
                text = await text_from_editor(self.json_text(), os.environ)
        except SuspendNotSupported:
            said = _("This terminal can't lend itself to an editor.")
        except HitlError as error:
            said = error.message
        else:
            said = self.take_json(text)
        self.app.refresh(layout=True)
        self.query_one("#edit").border_subtitle = Content(safe_text(said, multiline=False, limit=200))
        if said:
            rows = [text_row(safe_text(_("error: {said}").format(said=said), multiline=False), "bold $text-error")]
            self.query_one("#edit-result", Rows).show(rows)


def _problem(box: FieldInput) -> str:
    """Return what is wrong in a field; nothing when it is empty, for then its default holds."""
    try:
        if box.value:
            box.field.value(unsafe_text(box.value))
    except BadInput as error:
        return error.message
    return ""


async def text_from_editor(text: str, environ: Mapping[str, str]) -> str:
    """Let the person edit a text in $VISUAL or $EDITOR, and return it; the session's work goes on meanwhile.

    Raises:
        BadInput: there is no editor, or it failed; the text wasn't changed.
    """
    command = environ.get("VISUAL") or environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="hitl-") as folder:
        path = Path(folder) / "input.json"
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        try:
            # Standard output may be kept from what graphs write; the screen is the one that is drawn on.
            screen = sys.__stderr__ if sys.__stderr__ is not None and sys.__stderr__.isatty() else None
            process = await asyncio.create_subprocess_exec(*shlex.split(command), str(path), stdout=screen)
        except (OSError, ValueError, IndexError) as error:
            said = one_line(command, 60)
            raise BadInput(
                _('The editor "{said}" can\'t be started ({error}); set EDITOR to one that can.').format(
                    said=said, error=error
                )
            ) from error
        code = await process.wait()
        if code:
            raise BadInput(_("The editor ended with exit code {code}, so nothing was taken from it.").format(code=code))
        return path.read_text(encoding="utf-8", errors="surrogateescape")
