"""Edit, then approve: another exact input for a step, in a form or an editor, with its preview."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.content import Content
from textual.events import Key
from textual.timer import Timer
from textual.widgets import Static

from hitl_tui.commands.todo_input import call_description, command_description
from hitl_tui.console import keys
from hitl_tui.console.dialogs.answer_dialog import UNREAD, FieldsAnswer
from hitl_tui.console.dialogs.form_fields import PAGES, EditArea, FieldInput
from hitl_tui.console.dialogs.form_model import (
    Draft,
    Field,
    Form,
    declared_fields,
    editable,
    editable_schema,
    schema_fields,
)
from hitl_tui.console.dialogs.reading_dialog import ReadingText
from hitl_tui.console.keymap import keymap_of
from hitl_tui.console.question_preview import QuestionPreviews
from hitl_tui.console.widgets.dialog_frame import Dialog
from hitl_tui.console.widgets.virtual_rows import Rows
from hitl_tui.console.workers import Work, work_on
from hitl_tui.core.errors import HitlError
from hitl_tui.core.json_types import Json, JsonObject, JsonSchema
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.language import _, mark, translate
from hitl_tui.wording.rows import Row, labelled
from hitl_tui.wording.subject_rows import argument_label, is_call, limits, runs

if TYPE_CHECKING:
    from hitl_tui.config.declared_commands import Parameter

Bind = Callable[[str, JsonObject], dict[str, Json]]
"""Task text and parameters → the exact arguments; raises BadInput."""


_RESTED = 0.4
"""Seconds after which what was typed is looked ahead for."""
_PENDING = mark("Its preview is still being made; nothing was decided")
_UNKNOWN = mark("Can't be approved here because its preview can't be made; {form.send} asks again")
_SOON = mark("Too soon after the last key; nothing was decided")


@dataclass(frozen=True)
class Edited:
    """What came out of the dialog.

    Args:
        task: the task in words.
        given: parameters as they were written.
        bound: the exact arguments that were shown with them.
        seen: what was shown of what they would touch or write.
        approve: approve it at once, when exactly this is asked.
    """

    task: str
    given: JsonObject
    bound: dict[str, Json]
    seen: Sequence[Row]
    approve: bool = False


class EditDialog(FieldsAnswer[Edited | None]):
    """The dialog. Approving counts for exactly what is shown, once that and its preview were read to the end.

    Args:
        title: one line, safe.
        task: the task in words; not editable for a declared command, a function or a tool.
        arguments: the exact arguments now.
        schema: JSON Schema of the team's input.
        bind: makes exact arguments.
        workspace: where it runs.
        ahead: finds out what it would do with another input.
        parameters: what the declared command takes, where one runs.
    """

    LEFT = None
    SENDS = ("form.send", mark("Save and ask again"))
    DECIDES = "approve"

    def __init__(
        self,
        title: str,
        task: str,
        arguments: JsonObject,
        schema: JsonSchema,
        bind: Bind,
        workspace: str,
        ahead: QuestionPreviews,
        parameters: Mapping[str, Parameter] | None = None,
    ) -> None:
        present = editable(arguments, schema)
        taken = editable_schema(arguments, schema)
        fields = schema_fields(taken, present) if parameters is None else declared_fields(parameters)
        super().__init__(title, Form(fields, present, empties=False), self._edited)
        self._wanted = task
        self._arguments = arguments
        self._bind = bind
        self._workspace = workspace
        self._command = parameters is not None
        self._exact = self._command or is_call(arguments)
        """Its arguments say all of it, and no words do."""
        self._foresight = ahead
        self._seen: Sequence[Row] = ()
        self._waiting: Timer | None = None
        self._wished: tuple[str, dict[str, Json]] | None = None
        """The task and the exact arguments that are shown."""
        self._pending, self._failed = False, False

    def compose(self) -> ComposeResult:
        with Dialog(self._heading, large=True, id="edit"):
            if not self._exact:
                yield Static(Content(_("Task in words")), classes="dialog-label")
                yield EditArea(safe_text(self._wanted), id="edit-task", compact=True, tab_behavior="focus")
            yield from self.field_rows()
            yield Static(Content(_("Will run")), classes="dialog-label")
            with ReadingText(id="edit-shown", classes="dialog-shown", can_focus=False):
                yield Rows(id="edit-result")
            approve = ("form.approve", _("Save and approve"))
            rest = (("form.editor", _("Editor")), ("form.cancel", _("Back")))
            yield self.buttons((self.SENDS[0], _(self.SENDS[1])), approve, *rest)

    def on_mount(self) -> None:
        self.query_one("#approve").can_focus = False  # else Enter on it would approve
        if not self.boxes and not self._exact:
            self.query_one("#edit-task", EditArea).focus()

    # What is written -------------------------------------------------------------------------------------------

    def box(self, field: Field, number: int) -> FieldInput:
        return FieldInput(field, self.form.present, number)

    def label(self, field: Field) -> str:
        """Return what the question calls an argument, too."""
        return argument_label(field.name)

    def _edited(self, parameters: dict[str, Json]) -> Edited:
        task = self._wanted if self._exact else self.query_one("#edit-task", EditArea).written
        if self._command:
            command = str(self._arguments["command"])
            task = command_description(task, self._arguments, command, parameters)
            parameters = {"command": command, "parameters": parameters}
        elif is_call(self._arguments):
            task = call_description(task, parameters)
            parameters = {"calls": self._arguments["calls"], "input": parameters}
        return Edited(task, parameters, self._bind(task, parameters), self._seen)

    def show_error(self, said: str) -> None:
        self._wished = None
        super().show_error(said)

    def show_answer(self, answer: Edited | None) -> None:
        if answer is None or (answer.task, answer.bound) == self._wished:
            return
        first, self._wished = self._wished is None, (answer.task, answer.bound)
        self._look_ahead(answer.task, answer.bound, 0.0 if first else _RESTED)

    def written_now(self) -> Draft:
        found = super().written_now()
        return found if self._exact else replace(found, task=self.query_one("#edit-task", EditArea).text)

    def fill_in(self, draft: Draft) -> None:
        super().fill_in(draft)
        if not self._exact:
            self.query_one("#edit-task", EditArea).text = draft.task

    # What it would do ------------------------------------------------------------------------------------------

    def _look_ahead(self, task: str, bound: dict[str, Json], after: float) -> None:
        """Show an input, and its preview a moment after typing rests."""
        if self._waiting is not None:
            self._waiting.stop()
        self.workers.cancel_group(self, "foresight")
        self._pending, self._failed = self._foresight.needed(bound), False
        self._show(task, bound, [labelled(_("preview"), "…", "$text-warning")] if self._pending else [])
        if self._pending:
            work = self._foresee(task, bound)
            if after:
                self._waiting = self.set_timer(after, lambda: self._begin_looking(work))
            else:
                self._begin_looking(work)

    def _begin_looking(self, work: Work) -> None:
        work_on(self, work, group="foresight", exclusive=True)

    def _foresee(self, task: str, bound: dict[str, Json]) -> Work:
        async def foresee() -> None:
            failed = False
            try:
                rows = await self._foresight.rows(bound)
            except (HitlError, OSError) as error:
                said = safe_text(
                    translate(getattr(error, "message", error.args[0] if error.args else "")), multiline=False
                )
                rows, failed = [labelled(_("preview"), _("failed: {error}").format(error=said), "$text-warning")], True
            if (task, bound) == self._wished and not self.left:
                self._pending, self._failed = False, failed
                self._show(task, bound, rows)

        return foresee

    def _show(self, task: str, bound: JsonObject, found: Sequence[Row]) -> None:
        self._seen = found
        self.query_one(Rows).show([*runs(bound, task), *found, *limits(bound, self._workspace, digests=False)])
        self.text.restart()
        self._end, self._told, self._hurry = False, "", ""
        self.guard.drawn()
        self.call_after_refresh(self.look_for_end)

    @property
    def whole(self) -> bool:
        return not self._pending

    @property
    def remaining(self) -> float:
        """Seconds until what sends or approves counts; 0 when it does."""
        return max(super().remaining, self.guard.remaining)

    def state_words(self, remaining: float) -> str:
        if self._wrong:
            return self._wrong
        if self._hurry and remaining <= 0:
            return _("ready now: press it again")
        told, state = self._hurry or self._told, _("ready")
        if self._pending or (self._end and remaining > 0):
            state = "…"
        elif not self._end:
            state = self.to_read(_("read to the end first: {reading.page_down}"))
        return told if told and not self._end else f"{told} · {state}".removeprefix(" · ")

    def on_key(self, event: Key) -> None:
        """Read on from a button, too."""
        page = 0 if event.is_printable else PAGES.get(keymap_of(self.app).at(keys.READING, event.key), 0)
        if page:
            event.stop()
            event.prevent_default()
            self.action_page(page)

    def _holds(self) -> str:
        """Return why what is shown can't be approved yet, or at all; empty when it can."""
        if self._failed:
            return _(_UNKNOWN)
        if self._pending:
            return _(_PENDING)
        if not self._end:
            return _(UNREAD)
        return "" if (self.guard.click_decides if self.guard.pointer else self.guard.decides) else _(_SOON)

    def action_approve(self) -> None:
        self.look()
        if self._wished is None or self.hurried():
            return
        if why := self._holds():
            self._hurry, self._told = "", self.to_read(why)
            self.show_state()
        else:
            self.dismiss(replace(self._edited(self.values()), approve=True))

    # The editor ------------------------------------------------------------------------------------------------

    def unusable(self, found: Json) -> str:
        strange = list(self.form.unknown(found)) if isinstance(found, dict) else [""]
        if not strange:
            return ""
        said = (
            _('no parameter "{value}"').format(value=one_line(strange[0], 40))
            if strange[0]
            else _("it must be one object")
        )
        known = ", ".join(field.name for field in self.form.fields) or _("none")
        told = _("The edited text can't be used: {said} (known: {known}); {form.editor} opens it again.")
        return keymap_of(self.app).named(told).format(said=said, known=known)

    def told(self, said: str) -> None:
        if said:
            self.show_error(said)
