"""A plan or a step of a runtime elsewhere, shown whole before it is decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from hitl_tui.console import keys
from hitl_tui.console.dialogs.reading_dialog import ReadingDialog
from hitl_tui.console.dialogs.task_step_dialog import Said
from hitl_tui.core.review_request import PLAN
from hitl_tui.language import _
from hitl_tui.wording.review_rows import review_heading, waiting_rows

if TYPE_CHECKING:
    from hitl_tui.supervisor.remote_reviews import WaitingReview


class RemoteDialog(ReadingDialog[Said | None]):
    """Shows a request that waits elsewhere; its result is what is said of it, or None.

    Args:
        waiting: the request.
    """

    BINDINGS: ClassVar[list[BindingType]] = [b for b in keys.bindings(keys.TASK) if b.id == "task.reject"]
    LEFT = None

    def __init__(self, waiting: WaitingReview) -> None:
        self._takes_approval = waiting.why_not is None
        rejects = _("{task.reject} Revise") if waiting.request.kind == PLAN else _("{task.reject} Reject")
        approves = _("{reading.yes} Approve exactly this") if self._takes_approval else ""
        said = " · ".join(filter(None, (approves, rejects, _("{reading.close} Close"))))
        super().__init__(review_heading(waiting.request), waiting_rows(waiting), said)

    def key_specs(self) -> Sequence[keys.KeySpec]:
        unused = {"task.edit"} if self._takes_approval else {"task.edit", "reading.yes"}
        return [spec for spec in super().key_specs() if spec.id not in unused]

    def confirmed(self) -> None:
        if self._takes_approval:
            self.dismiss(Said.APPROVE)

    def action_reject(self) -> None:
        """Send it back, or reject it: that needs no reading to the end, but a rested keyboard."""
        self.at_once(Said.REJECT)
