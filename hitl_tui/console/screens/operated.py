"""What the widgets on a session's screen want, handed to the operator who carries it out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import DataTable

from hitl_tui.console.screens.lasting import LastingScreen
from hitl_tui.console.widgets.answer import AnswerPane
from hitl_tui.console.widgets.bars import MessageLine
from hitl_tui.console.widgets.history import HistoryTable
from hitl_tui.console.widgets.panes import Panes
from hitl_tui.console.widgets.plan import PlanTable
from hitl_tui.console.widgets.question import QuestionPanel
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import _, render

if TYPE_CHECKING:
    from textual.events import Key

    from hitl_tui.console.screens.operate import Operator
    from hitl_tui.supervisor.snapshot import Snapshot

_STALE = 5.0
"""Seconds after which what a command came to gives way to a new question."""


class OperatedScreen(LastingScreen):
    """A screen with a question and panes, and an operator."""

    operator: Operator
    _asked: frozenset[str] = frozenset()
    _said_at = float("-inf")
    _problem = ""
    decided_here = False
    """The question has the focus since something was decided there: it keeps it while the plan goes on."""

    # Messages --------------------------------------------------------------------------------------------------

    def say(self, text: str, *, error: bool = False, passing: bool = False) -> None:
        self._said_at = self.hitl.guard.now
        super().say(text, error=error, passing=passing)

    def pass_by(self, snapshot: Snapshot) -> None:
        """Take away what was said of the moment before, and what was said long before what is asked now."""
        before, self._asked = self._asked, frozenset(q.id for q in snapshot.questions)
        line = self.query_one(MessageLine)
        if snapshot.problem != self._problem and (snapshot.problem or line.error):
            self.say(safe_text(render(snapshot.problem), multiline=False), error=bool(snapshot.problem))
        self._problem = snapshot.problem
        if before != self._asked:
            line.pass_by()
        if self._asked - before and not line.error and self.hitl.guard.now - self._said_at > _STALE:
            line.say("")

    # Keys ------------------------------------------------------------------------------------------------------

    @property
    def question_focused(self) -> bool:
        """What is typed goes to the question."""
        return isinstance(self.focused, QuestionPanel)

    @property
    def takes_for_dialog(self) -> bool:
        """The question has the focus, and keeps what is typed for a dialog that is on its way."""
        return self.question_focused and self.query_one(QuestionPanel).takes_for_dialog

    def begins_words(self, key: Key) -> bool:
        """Return whether a key begins a command, at a question also words: it means nothing else where the focus is."""
        if self.question_focused:
            return self.query_one(QuestionPanel).begins_words(key)
        pane = self.query_one(Panes).pane(self.focused)
        return key.character == "/" and bool(pane) and not self.hitl.keymap.at(pane, key.key)

    def typed(self) -> None:
        """A key was pressed: the question shows whether the next one decides."""
        self.query_one(MessageLine).pass_by()
        self.query_one(QuestionPanel).typed()

    # The question ----------------------------------------------------------------------------------------------

    def action_undo(self) -> None:
        """Take back the last decision, wherever the focus is."""
        if self.hitl.guard.decides:
            self.operator.undo("")
        else:
            self.say(_("Too soon after the last key; nothing was taken back."), passing=True)

    def on_question_panel_chosen(self, event: QuestionPanel.Chosen) -> None:
        event.stop()
        self.decided_here = self.decided_here or not event.answer.looks
        self.operator.deciding.answer(event.question, event.answer)

    def on_question_panel_held(self, event: QuestionPanel.Held) -> None:
        event.stop()
        self.say(event.why, passing=True)

    def on_question_panel_marked(self, event: QuestionPanel.Marked) -> None:
        event.stop()
        self.show_marks()

    def show_marks(self) -> None:
        """Show in the plan which questions are marked."""
        marked = self.query_one(QuestionPanel).marked
        self.query_one(PlanTable).show_marks([q.todo_id for q in marked if q.todo_id])

    def on_question_panel_wanted(self, event: QuestionPanel.Wanted) -> None:
        event.stop()
        if event.what == "review":
            self.operator.deciding.review(self.query_one(QuestionPanel).marked)
        else:
            self.operator.undo("")

    def on_question_panel_left(self, event: QuestionPanel.Left) -> None:
        event.stop()
        self.to_prompt()

    # The plan --------------------------------------------------------------------------------------------------

    def on_plan_table_moved(self, event: PlanTable.Moved) -> None:
        event.stop()
        self.operator.order.move(event.drop.ids, event.drop.where, event.drop.anchor)

    def on_plan_table_stepped(self, event: PlanTable.Stepped) -> None:
        event.stop()
        self.operator.order.step(event.ids, event.by, event.shown)

    def on_plan_table_held(self, event: PlanTable.Held) -> None:
        event.stop()
        self.say(event.why, passing=True)

    def on_plan_table_wanted(self, event: PlanTable.Wanted) -> None:
        event.stop()
        if event.what == "leave":
            self.to_prompt()
        elif event.what == "filter":
            self.query_one(Panes).filter(event.todo_id)
        elif event.what == "undo":
            self.operator.undo(event.todo_id)
        elif event.what == "unmark":
            self.query_one(QuestionPanel).unmark(event.todo_id)
        elif event.what == "steps" and event.todo_id:
            self.operator.show_steps(event.todo_id)

    def on_plan_table_acted(self, event: PlanTable.Acted) -> None:
        event.stop()
        self.operator.several.act(event.what, event.ids)

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        event.stop()
        plan, history = self.query_one(PlanTable), self.query_one(HistoryTable)
        if event.data_table is plan and plan.selected:
            self.operator.show_todo(plan.selected)
        elif event.data_table is history and history.selected is not None:
            self.operator.show_checkpoint(history.selected)

    # The other panes -------------------------------------------------------------------------------------------

    def on_history_table_restore(self, event: HistoryTable.Restore) -> None:
        event.stop()
        self.operator.restore(event.info)

    def on_history_table_left(self, event: HistoryTable.Left) -> None:
        event.stop()
        self.to_prompt()

    def on_answer_pane_wanted(self, event: AnswerPane.Wanted) -> None:
        event.stop()
        if event.what == "leave":
            self.to_prompt()
        elif event.what == "export":
            self.hitl.sessions.keep("export")
        elif text := self.query_one(AnswerPane).text:
            self.app.copy_to_clipboard(safe_text(text))
            self.say(_("The answer was copied."))
