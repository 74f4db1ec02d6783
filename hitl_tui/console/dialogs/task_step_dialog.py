"""A step of an agent's task, shown whole before it is decided, and what its call would run with instead."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from hitl_tui.console import keys
from hitl_tui.console.dialogs.answer_dialog import FieldsAnswer
from hitl_tui.console.dialogs.form_model import Form, schema_fields
from hitl_tui.console.dialogs.reading_dialog import ReadingDialog
from hitl_tui.core.interrupts.schema_fields import inferred
from hitl_tui.core.json_types import Json
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import _, mark
from hitl_tui.wording.inbox_rows import step_rows

if TYPE_CHECKING:
    from hitl_tui.task_checkpoints.task_inbox import WaitingStep


class Said(StrEnum):
    """What is said of a step."""

    APPROVE = "approve"
    REJECT = "reject"
    EDIT = "edit"


class TaskStepDialog(ReadingDialog[Said | None]):
    """Shows a step that waits; its result is what is said of it, or None. A call can be edited, too.

    Args:
        waiting: the step.
        nobody: why nobody can approve it; empty where somebody can.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.TASK)]
    LEFT = None

    def __init__(self, waiting: WaitingStep, nobody: str) -> None:
        self._is_call = waiting.step.call is not None
        title = _("Approve {name}?").format(name=safe_text(waiting.step.name, multiline=False))
        said = _("{reading.yes} Approve exactly this · {task.reject} Reject · {reading.close} Close")
        if self._is_call:
            said = _(
                "{reading.yes} Approve exactly this · {task.edit} Edit · {task.reject} Reject · {reading.close} Close"
            )
        super().__init__(title, step_rows(waiting.step, str(waiting.masc.parent), nobody), said)

    def key_specs(self) -> Sequence[keys.KeySpec]:
        return [spec for spec in super().key_specs() if self._is_call or spec.id != "task.edit"]

    def confirmed(self) -> None:
        self.dismiss(Said.APPROVE)

    def action_edit(self) -> None:
        """Give its call other arguments."""
        if self._is_call:
            self.at_once(Said.EDIT)

    def action_reject(self) -> None:
        """Reject it: that needs no reading to the end, but a rested keyboard."""
        self.at_once(Said.REJECT)


class CallDialog(FieldsAnswer[dict[str, Json] | None]):
    """Takes what a call would run with instead: a field for each argument, or all of them in the editor.

    Args:
        waiting: the call.
    """

    LEFT = None
    LABEL = mark("Will run")
    SENDS = ("form.send", mark("Save and ask again"))
    DECIDES = ""

    def __init__(self, waiting: WaitingStep) -> None:
        present = dict(waiting.step.arguments or {})
        title = _("Edit · {id}").format(id=safe_text(waiting.step.name, multiline=False))
        super().__init__(title, Form(schema_fields(inferred(present), present), present), dict)
