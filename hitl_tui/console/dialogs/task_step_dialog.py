"""A step of an agent's task, shown whole before it is decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from hitl_tui.console import keys
from hitl_tui.console.dialogs.reading_dialog import ReadingDialog
from hitl_tui.core.requests import Verdict
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import _
from hitl_tui.wording.inbox_rows import step_rows

if TYPE_CHECKING:
    from hitl_tui.task_checkpoints.task_inbox import WaitingStep


class TaskStepDialog(ReadingDialog[Verdict | None]):
    """Shows a step that waits; its result is what is said of it, or None.

    Args:
        waiting: the step.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.TASK)]
    LEFT = None

    def __init__(self, waiting: WaitingStep) -> None:
        title = _("Approve {name}?").format(name=safe_text(waiting.step.name, multiline=False))
        said = _("{reading.yes} Approve exactly this · {task.reject} Reject · {reading.close} Close")
        super().__init__(title, step_rows(waiting.step, str(waiting.masc.parent)), said)

    def confirmed(self) -> None:
        self.dismiss(Verdict.APPROVE)

    def action_reject(self) -> None:
        """Reject it: that needs no reading to the end, but a rested keyboard."""
        if self.over or not self.guard.decides:
            self.say(self.over or _("Too soon after the last key; nothing was decided"))
        else:
            self.dismiss(Verdict.REJECT)
