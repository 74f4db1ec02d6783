"""Edit, then approve: another exact input for a step in a form or an editor, and what would run with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from hitl_tui.console.fields import declared_fields, editable, field_text, schema_fields
from hitl_tui.console.keymap import keymap_of
from hitl_tui.console.rows import text_row
from hitl_tui.console.screens.form import EditArea, FieldInput, Form, problem
from hitl_tui.console.subject import input_rows
from hitl_tui.console.widgets.frame import Dialog, Flow
from hitl_tui.console.widgets.rows import Rows
from hitl_tui.core.errors import HitlError
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


class Edit(Form[Edited | None]):
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
    #edit-task { height: auto; max-height: 5; min-height: 1; margin: 0 0 1 0; }
    """
    FRAME = "edit"
    LEFT = None

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
        with Dialog(classes="dialog -large", id="edit") as box:
            box.border_title = Content(self._heading)
            if not self._command:
                yield Static(Content(_("Task in words")), classes="dialog-label")
                yield EditArea(safe_text(self._wanted), id="edit-task", compact=True, tab_behavior="focus")
            yield from self.field_rows(
                FieldInput(field, field_text(field, self._present), number) for number, field in enumerate(self._fields)
            )
            yield Static(Content(_("Will run")), classes="dialog-label")
            with VerticalScroll(id="edit-shown", classes="dialog-shown", can_focus=False):
                yield Rows(id="edit-result")
            with Flow(classes="dialog-row"):
                yield self.button("form.send", _("Ask anew"))
                yield self.button("form.approve", _("Approve it"))
                yield self.button("form.editor", _("Editor"))
                yield self.button("form.cancel", _("Back"))

    def on_mount(self) -> None:
        fields = self.query(FieldInput)
        if fields:
            fields.first().focus()
        elif not self._command:
            self.query_one("#edit-task", EditArea).focus()
        self.look()

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

    def look(self) -> None:
        for box in self.query(FieldInput):
            box.set_class(bool(problem(box)), "-wrong")
        result = self.query_one("#edit-result", Rows)
        try:
            task, __, bound = self._read()
        except HitlError as error:
            result.show([text_row(_("error: {message}").format(message=safe_text(error.message)), "bold $text-error")])
            return
        result.show(input_rows(bound, task, self._workspace))

    def action_send(self) -> None:
        self._save(approve=False)

    def action_approve(self) -> None:
        self._save(approve=True)

    def _save(self, *, approve: bool) -> None:
        try:
            task, parameters, bound = self._read()
        except HitlError:
            self.look()
            return
        self.dismiss(Edited(task, parameters, bound, approve))

    # The editor ------------------------------------------------------------------------------------------------

    def editor_text(self) -> str:
        """Return what the editor opens with: what came back unreadable, else the fields as JSON."""
        if self._unread:
            return self._unread
        found: dict[str, Any] = {}
        for box in self.query(FieldInput):
            text = unsafe_text(box.value)
            if text:
                found[box.field.name] = text if problem(box) else box.field.value(text)
        return json.dumps(found, ensure_ascii=False, indent=2) + "\n"

    def take_editor_text(self, text: str) -> str:
        """Take what came back from the editor into the fields; return one sentence when that can't be done.

        Then nothing is lost: the fields stay as they were, and the editor opens with this text again.
        """
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            self._unread = text
            return self.not_json(error)
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
            told = _("What came back can't be used: {said} (known: {known}); {form.editor} opens it again.")
            return keymap_of(self.app).named(told).format(said=said, known=known)
        self._unread = ""
        for box in names.values():
            box.value = field_text(box.field, found)
        return ""

    def told(self, said: str) -> None:
        super().told(said)
        if said:
            rows = [text_row(safe_text(_("error: {said}").format(said=said), multiline=False), "bold $text-error")]
            self.query_one("#edit-result", Rows).show(rows)
