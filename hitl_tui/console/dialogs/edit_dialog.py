"""Edit, then approve: another exact input for a step, in a form or an editor, with its preview."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.content import Content
from textual.events import Key, Resize
from textual.timer import Timer
from textual.widgets import Static

from hitl_tui.commands.todo_input import retold
from hitl_tui.console import keys
from hitl_tui.console.dialogs.form_dialog import PAGES, EditArea, FieldInput, FormDialog, problem
from hitl_tui.console.dialogs.form_model import declared_fields, editable, field_text, schema_fields
from hitl_tui.console.keyguard.guard import guard_of
from hitl_tui.console.keymap import keymap_of, shown_keys
from hitl_tui.console.question_preview import QuestionPreviews
from hitl_tui.console.widgets.dialog_frame import Dialog, Flow
from hitl_tui.console.widgets.virtual_rows import Readable, Rows
from hitl_tui.core.errors import BadInput, HitlError
from hitl_tui.core.json_text import strict_json
from hitl_tui.core.safe_text import one_line, safe_text, unsafe_text
from hitl_tui.language import _, mark, translate
from hitl_tui.wording.rows import Row, labelled, text_row
from hitl_tui.wording.subject_rows import limits, runs

if TYPE_CHECKING:
    from hitl_tui.config.declared_commands import Parameter

Bind = Callable[[str, Mapping[str, Any]], dict[str, Any]]
"""Task text and parameters → the exact arguments; raises BadInput."""


_RESTED = 0.4
"""Seconds after which what was typed is looked ahead for."""
_ON = "reading.page_down"
_PENDING = mark("Its preview is still being made; nothing was decided")
_UNKNOWN = mark("It can't be approved here because its preview can't be made; {form.send} asks again")
_UNREAD = mark("Read to the end first ({reading.page_down}); nothing was decided")
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
    given: Mapping[str, Any]
    bound: Mapping[str, Any]
    seen: Sequence[Row]
    approve: bool


class Shown(Readable, can_focus=False):
    """What would run; its dialog looks where its end is."""

    def on_resize(self, event: Resize) -> None:
        self._look()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._look()

    def _look(self) -> None:
        if self.is_attached and isinstance(self.screen, EditDialog):
            self.call_after_refresh(self.screen.look_for_end)


class EditDialog(FormDialog[Edited | None]):
    """The dialog. Approving counts for exactly what is shown, once that and its preview were read to the end.

    Args:
        title: one line, safe.
        task: the task in words; not editable for a declared command.
        arguments: the exact arguments now.
        schema: JSON Schema of the team's input.
        bind: makes exact arguments.
        workspace: where it runs.
        ahead: finds out what it would do with another input.
        parameters: what the declared command takes, where one runs.
    """

    CSS_PATH: ClassVar[list[str | PurePath]] = ["dialogs.tcss", "../widgets/rows.tcss"]
    DEFAULT_CSS = """
    #edit-task { height: auto; max-height: 5; min-height: 1; margin: 0 0 1 0; }
    """
    LEFT = None

    def __init__(
        self,
        title: str,
        task: str,
        arguments: Mapping[str, Any],
        schema: Mapping[str, Any],
        bind: Bind,
        workspace: str,
        ahead: QuestionPreviews,
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
        self._foresight = ahead
        self._seen: Sequence[Row] = ()
        self._waiting: Timer | None = None
        self._wished: tuple[str, dict[str, Any]] | None = None
        """The task and the exact arguments that are shown."""
        self._pending, self._failed, self._end, self._told = False, False, False, ""

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
            with Shown(id="edit-shown", classes="dialog-shown"):
                yield Rows(id="edit-result")
            with Flow(classes="dialog-row"):
                yield self.button("form.send", _("Ask again"))
                approve = self.button("form.approve", _("Approve it"))
                approve.can_focus = False  # else Enter on it would approve
                yield approve
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
            task = retold(task, self._arguments, self._arguments["command"], parameters)
            parameters = {"command": self._arguments["command"], "parameters": parameters}
        return task, parameters, self._bind(task, parameters)

    def look(self) -> None:
        for box in self.query(FieldInput):
            box.set_class(bool(problem(box)), "-wrong")
        result = self.query_one("#edit-result", Rows)
        try:
            task, __, bound = self._read()
        except HitlError as error:
            self._wished = None
            result.show([text_row(_("error: {message}").format(message=safe_text(error.message)), "bold $text-error")])
            return
        if (task, bound) == self._wished:
            return
        first, self._wished = self._wished is None, (task, bound)
        self._look_ahead(task, bound, 0.0 if first else _RESTED)

    # What it would do ------------------------------------------------------------------------------------------

    def _look_ahead(self, task: str, bound: dict[str, Any], after: float) -> None:
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

    def _begin_looking(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self.run_worker(work(), group="foresight", exclusive=True)

    def _foresee(self, task: str, bound: dict[str, Any]) -> Callable[[], Coroutine[Any, Any, None]]:
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

    def _show(self, task: str, bound: Mapping[str, Any], found: Sequence[Row]) -> None:
        self._seen = found
        self.query_one("#edit-result", Rows).show([*runs(bound, task), *found, *limits(bound, self._workspace)])
        self.query_one(Shown).restart()
        self._end, self._told = False, ""
        guard_of(self.app).drawn()
        self.call_after_refresh(self.look_for_end)

    def look_for_end(self) -> None:
        """See whether the end of what would run is on the screen."""
        if not self.query(Shown):  # it was left meanwhile
            return
        region = self.query_one(Shown)
        if not self._pending and not self._end and region.laid_out and region.at_end:
            self._end = True
            guard_of(self.app).drawn()  # a key that was pressed before the end could be seen decides nothing
        self._show_state()

    @property
    def remaining(self) -> float:
        """Seconds until what sends or approves counts; 0 when it does."""
        return max(super().remaining, guard_of(self.app).remaining)

    def _rest_ends(self) -> None:
        remaining = self.remaining
        self._told = self._hurry if remaining > 0 else ""
        self._show_state()
        if remaining > 0 and self._hurry:
            self.set_timer(remaining + 0.02, self._rest_ends)

    def _show_state(self) -> None:
        remaining = self.remaining
        more = self._named(_("more below: {reading.page_down}"))
        state = "…" if self._pending or (self._end and remaining > 0) else _("ready") if self._end else more
        self._say_below(self._told if self._told and not self._end else f"{self._told} · {state}".removeprefix(" · "))
        if remaining > 0 and self._end:
            self.set_timer(remaining + 0.02, self._show_state)

    def _named(self, text: str) -> str:
        """Return a text with the keys that it names; of those that read on, one that isn't typed into a field."""
        keymap = keymap_of(self.app)
        found = [k for spec in keymap.specs if spec.id == _ON for k in spec.keys.split(",")]
        free = [k for k in found if len(k) > 1 and k != "space" and not keymap.at(keys.FORM, k)]
        return keymap.named(text.replace(f"{{{_ON}}}", shown_keys(free[0])) if free else text)

    @property
    def read(self) -> bool:
        """The end of what would run, its preview included, was on the screen."""
        return self._end

    def read_on(self, by: int) -> bool:
        self.query_one(Shown).page(by)
        return True

    def on_key(self, event: Key) -> None:
        """Read on from a button, too."""
        page = 0 if event.is_printable else PAGES.get(keymap_of(self.app).at(keys.READING, event.key), 0)
        if page:
            event.stop()
            event.prevent_default()
            self.read_on(page)

    def _holds(self) -> str:
        """Return why what is shown can't be approved yet, or at all; empty when it can."""
        if self._failed:
            return _(_UNKNOWN)
        if self._pending:
            return _(_PENDING)
        if not self._end:
            return _(_UNREAD)
        guard = guard_of(self.app)
        return "" if (guard.click_decides if guard.pointer else guard.decides) else _(_SOON)

    def action_send(self) -> None:
        if not self.hurried():
            self._save(approve=False)

    def action_approve(self) -> None:
        self.look()
        if self._wished is None or self.hurried():
            return
        if why := self._holds():
            self._told = self._named(why)
            self._show_state()
        else:
            self._save(approve=True)

    def _save(self, *, approve: bool) -> None:
        try:
            task, parameters, bound = self._read()
        except HitlError:
            self.look()
            return
        self.dismiss(Edited(task, parameters, bound, self._seen, approve))

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
            found = strict_json(text)
        except (BadInput, ValueError, RecursionError) as error:
            self._unread = text
            return self.not_json(error)
        names = {box.field.name: box for box in self.query(FieldInput)}
        values = found if isinstance(found, dict) else {"": None}
        strange = [name for name in values if name not in names]
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
            box.value = field_text(box.field, values)
        return ""

    def told(self, said: str) -> None:
        if said:
            self._wished = None
            rows = [text_row(safe_text(_("error: {said}").format(said=said), multiline=False), "bold $text-error")]
            self.query_one("#edit-result", Rows).show(rows)
