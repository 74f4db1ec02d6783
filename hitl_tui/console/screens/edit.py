"""Edit, then approve: another exact input for a step, and what would run with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static, TextArea

from hitl_tui.console.asking import input_rows, text_row
from hitl_tui.console.widgets.prompt import typed_text
from hitl_tui.console.widgets.rows import Rows
from hitl_tui.core.errors import BadInput, HitlError
from hitl_tui.core.safe_text import safe_text, unsafe_text

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


def editable(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a step's arguments that a person may change: what isn't derived from the rest."""
    properties = schema.get("properties", {})
    if "command" in arguments and "argv" in arguments:
        return dict(arguments.get("parameters") or {})
    return {k: v for k, v in arguments.items() if not properties.get(k, {}).get("readOnly")}


def given(text: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that an edited JSON text gives.

    Raises:
        BadInput: it is no JSON object.
    """
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        raise BadInput(f"The parameters aren't valid JSON: {error}.") from error
    if not isinstance(found, dict):
        raise BadInput("The parameters have to be one JSON object, {…}.")
    if "command" in arguments and "argv" in arguments:
        return {"command": arguments["command"], "parameters": found}
    return found


class EditArea(TextArea):
    """A text field of the dialog."""

    async def on_paste(self, event: Any) -> None:
        """What is pasted passes as typed text."""
        event.stop()
        event.prevent_default()
        self.insert(typed_text(event.text))


class Edit(ModalScreen[Edited | None]):
    """The dialog.

    Args:
        title: one line, safe.
        task: the task in words; not editable for a declared command.
        arguments: the exact arguments now.
        schema: JSON Schema of the team's input.
        bind: makes exact arguments.
        workspace: where it runs.
    """

    CSS_PATH: ClassVar[list[str | PurePath]] = ["dialogs.tcss", "../widgets/rows.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel", id="edit.cancel"),
        Binding("ctrl+s", "save(False)", "Ask again", id="edit.save", priority=True),
        Binding("f9", "save(True)", "Edit and approve", id="edit.approve", priority=True),
    ]

    def __init__(
        self, title: str, task: str, arguments: Mapping[str, Any], schema: Mapping[str, Any], bind: Bind, workspace: str
    ) -> None:
        super().__init__()
        self._heading = title
        self._wanted = task
        self._arguments = arguments
        self._schema = schema
        self._bind = bind
        self._workspace = workspace
        self._command = "argv" in arguments

    def compose(self) -> ComposeResult:
        parameters = json.dumps(editable(self._arguments, self._schema), ensure_ascii=False, indent=2)
        with Vertical(classes="dialog -large") as box:
            box.border_title = Content(self._heading)
            if not self._command:
                yield Static(Content("Task in words"), classes="dialog-label")
                yield EditArea(safe_text(self._wanted), id="edit-task", compact=True, tab_behavior="focus")
            yield Static(Content("Parameters (JSON)"), classes="dialog-label")
            yield EditArea(safe_text(parameters), id="edit-parameters", compact=True, tab_behavior="focus")
            yield Static(Content("Will run"), classes="dialog-label")
            with VerticalScroll(id="edit-shown", can_focus=False):
                yield Rows(id="edit-result")
            with Horizontal(classes="dialog-row"):
                yield Button(Content("Ctrl+S Edit, ask again"), id="save", compact=True)
                yield Button(Content("F9 Edit and approve"), id="approve", compact=True)
                yield Button(Content("Esc Cancel"), id="cancel", compact=True)

    def on_mount(self) -> None:
        self.query_one("#edit-parameters", EditArea).focus()
        self._show()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._show()

    def _read(self) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """Return task, parameters and the exact arguments they make.

        Raises:
            HitlError: they can't be used.
        """
        task = self._wanted if self._command else unsafe_text(self.query_one("#edit-task", EditArea).text)
        parameters = given(unsafe_text(self.query_one("#edit-parameters", EditArea).text), self._arguments)
        return task, parameters, self._bind(task, parameters)

    def _show(self) -> None:
        result = self.query_one(Rows)
        try:
            task, _, bound = self._read()
        except HitlError as error:
            result.show([text_row(f"error: {safe_text(error.message)}", "bold $text-error")])
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
        else:
            self.action_save(event.button.id == "approve")
