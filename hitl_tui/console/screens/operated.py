"""What the widgets on a session's screen want, handed to the operator who carries it out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import DataTable

from hitl_tui.console.screens.lasting import LastingScreen
from hitl_tui.console.widgets.answer import AnswerPane
from hitl_tui.console.widgets.history import HistoryTable
from hitl_tui.console.widgets.panes import Panes
from hitl_tui.console.widgets.plan import PlanTable
from hitl_tui.console.widgets.question import QuestionPanel
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import _

if TYPE_CHECKING:
    from hitl_tui.console.screens.operate import Operator


class OperatedScreen(LastingScreen):
    """A screen with a question and panes, and an operator."""

    operator: Operator

    # The question ----------------------------------------------------------------------------------------------

    def on_question_panel_chosen(self, event: QuestionPanel.Chosen) -> None:
        event.stop()
        self.operator.deciding.answer(event.question, event.answer)

    def on_question_panel_held(self, event: QuestionPanel.Held) -> None:
        event.stop()
        self.say(event.why)

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
        self.say(event.why)

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
