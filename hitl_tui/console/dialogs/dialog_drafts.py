"""What was written in a dialog that was left comes back when a dialog about the same opens again."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from hitl_tui.language import _

if TYPE_CHECKING:
    from hitl_tui.console.dialogs.answer_dialog import WrittenAnswer
    from hitl_tui.console.dialogs.form_model import Draft
    from hitl_tui.console.services import Console
    from hitl_tui.supervisor.snapshot import Question

Answered = TypeVar("Answered")

_MOST = 20
"""Drafts that are kept, the newest of them."""


class DialogDrafts:
    """Keeps drafts by question and what is done with it; another digest of the question is another question."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, ...], Draft] = {}

    async def shown(self, app: Console, question: Question, name: str, dialog: WrittenAnswer[Answered]) -> Answered:
        """Show a dialog, with what was written in it before, and return its answer.

        Args:
            app: the app.
            question: what it is about.
            name: what is done with the question.
            dialog: the dialog.
        """
        key = question.id, question.digest, name
        dialog.recall(self._kept.pop(key, None))
        answer = await app.push_screen_wait(dialog)
        if dialog.draft is not None:
            self._kept[key] = dialog.draft
            app.say(_("Draft kept: it comes back when you open this again."))
        for oldest in list(self._kept)[:-_MOST]:
            del self._kept[oldest]
        return answer
