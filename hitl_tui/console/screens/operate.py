"""What an operator does on a session: commands, decisions, edits, undo, restore. Dialogs and their consequences."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from textual.content import Content

from hitl_tui.console.asking import body, details, title_of
from hitl_tui.console.drafts import document_path, draft_of
from hitl_tui.console.engine import Link
from hitl_tui.console.past import todo_rows
from hitl_tui.console.places import Answer
from hitl_tui.console.rows import text_row
from hitl_tui.console.screens.always import allow_always
from hitl_tui.console.screens.dialogs import Confirm, Words
from hitl_tui.console.screens.edit import Edit, Edited
from hitl_tui.console.screens.lines import carry_out, own_command
from hitl_tui.console.screens.ordering import Ordering
from hitl_tui.console.screens.returning import go_back, show_checkpoint, show_steps
from hitl_tui.console.screens.review import Outcome, Review
from hitl_tui.console.screens.rules import list_rules
from hitl_tui.console.screens.several import Several
from hitl_tui.console.screens.typed import noted, way
from hitl_tui.console.screens.viewer import Viewer
from hitl_tui.console.terms import error_words, mode_words, next_mode
from hitl_tui.console.words import number_of, status_words
from hitl_tui.core.digest import digest
from hitl_tui.core.errors import HitlError
from hitl_tui.core.requests import Kind, Verdict
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.language import _, render

if TYPE_CHECKING:
    from hitl_tui.commands.results import CommandResult
    from hitl_tui.console.screens.session import SessionScreen
    from hitl_tui.console.widgets.question import QuestionPanel
    from hitl_tui.supervisor.history import CheckpointInfo
    from hitl_tui.supervisor.snapshot import Question, Snapshot

_LISTED = 30
_DRAFT_LINES = 8


class Operator:
    """Carries out what is wanted on the session that a screen shows.

    Args:
        screen: the screen.
    """

    def __init__(self, screen: SessionScreen) -> None:
        self._screen = screen
        self._decided: list[str] = []
        self.order = Ordering(screen, self._report, self._start)
        self.several = Several(screen, self._report, self._start, self.review)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self._screen.run_worker(self._screen.hitl.guarded(work), group="operator")

    async def _linked(self) -> Link:
        await self._screen.linked.wait()
        assert self._screen.link is not None
        return self._screen.link

    def _todo(self, todo_id: str) -> SupervisorTodo | None:
        snapshot = self._screen.snapshot
        return snapshot.todo(todo_id) if snapshot is not None else None

    # Commands --------------------------------------------------------------------------------------------------

    def send(self, line: str) -> None:
        """Carry a line out: a command, or words that change the plan. While the session opens it waits for it."""
        self._start(self._send(line))

    async def _send(self, line: str) -> None:
        screen = self._screen
        own = own_command(line)
        if own is not None:
            carry_out(screen.hitl, own)
            return
        if not screen.linked.is_set():
            screen.say(_("The session is still opening; what you sent is carried out as soon as it is open."))
        link = await self._linked()
        screen.note(noted(line))
        result = await link.handler.handle(line)
        if "commands" in result.data and not line.lstrip().startswith("/"):
            screen.hitl.action_help()
            return
        self._report(result)
        await self._show_result(result)

    def _report(self, result: CommandResult) -> None:
        from hitl_tui.console.widgets.question import QuestionPanel

        screen = self._screen
        asked = screen.query_one(QuestionPanel).question
        message = way(str(result.data.get("reason", "")), screen.hitl.keymap, asked) or render(result.message)
        first, __, rest = message.partition("\n")
        help_text = render(str(result.data.get("help", ""))) if result.failed else ""
        text = f"{message}  {help_text}".strip() if help_text else (f"{first} …" if rest else first)
        screen.say(safe_text(text, multiline=False), error=result.failed)
        screen.note(_("error: {text}").format(text=text) if result.failed else message)

    async def _show_result(self, result: CommandResult) -> None:
        screen, data = self._screen, result.data
        if result.failed:
            return
        if "checkpoints" in data:
            for row in data["checkpoints"][:_LISTED]:
                waits = f" {render(str(row['message']))}" if row["waiting"] else ""
                screen.note(
                    _("{number}  {checkpoint_id}  {node}, {todos_completed} completed{waits}").format(
                        number=row.get("number", row["step"]),
                        checkpoint_id=row["checkpoint_id"],
                        node=row["node"],
                        todos_completed=row["todos_completed"],
                        waits=waits,
                    )
                )
            screen.show_pane("history")
        elif "todos" in data and "summary" in data:
            screen.show_pane("plan")
        elif "commands" in data:
            screen.show_pane("stream")
        elif "rules" in data:
            await self._rules()
        elif result.status == "renamed":
            screen.renamed(str(data["title"]))
        elif "todo" in data and result.status == "ok":
            await self._view_todo(str(data["todo_id"]), data.get("result"))

    def cycle_mode(self) -> None:
        """Go on to the next mode (C4)."""
        snapshot = self._screen.snapshot
        if snapshot is None:
            self._screen.say(_("The session is still opening."))
            return
        self._start(self._set_mode(next_mode(snapshot.mode)))

    async def _set_mode(self, mode: str) -> None:
        result = await (await self._linked()).handler.handle(f"/mode {mode}")
        said = render(result.message) if result.failed else mode_words(mode).capitalize() + "."
        self._screen.say(said, error=result.failed)

    # Decisions -------------------------------------------------------------------------------------------------

    def answer(self, question: Question, answer: Answer) -> None:
        """Give the chosen answer to a question, as it was shown."""
        self._start(self._answered(question, answer))

    async def _answered(self, question: Question, answer: Answer) -> None:
        from hitl_tui.console.widgets.question import QuestionPanel

        try:
            await self._answer(question, answer)
        finally:
            for panel in self._screen.query(QuestionPanel):
                panel.answered()

    async def _answer(self, question: Question, answer: Answer) -> None:
        if answer.ask == "details":
            await self._details(question)
        elif answer.ask == "always":
            await self._always(question)
        elif answer.ask == "edit":
            await self._edit(question)
        elif answer.ask == "inner":
            await self._inner(question, answer)
        elif answer.verdict is not None:
            words = await self._words(question) if answer.ask == "reason" else ""
            asks = answer.ask if answer.ask != "reason" else ""
            if words is None or (asks and not await self._confirm(answer.label, Content(_(asks)), answer.label)):
                return
            await self._decide(question, answer.verdict, words)

    async def _inner(self, question: Question, answer: Answer) -> None:
        """Answer what a team asks from inside, in the dialog that the answer needs (I2)."""
        from hitl_tui.console.screens.answering import answer_of
        from hitl_tui.console.screens.form import NOTHING_SAID

        link, app = await self._linked(), self._screen.hitl
        value = await answer_of(app, app.arming, question, answer.action)
        if value is NOTHING_SAID:
            return
        result = await link.handler.answer(question, value, answer.action)
        self._decided.append(question.todo_id)
        self._report(result)

    async def _decide(self, question: Question, verdict: Verdict, words: str) -> None:
        link = await self._linked()
        result = await link.handler.decide(question, verdict, reason=words)
        self._decided.append(question.todo_id)
        self._report(result)

    async def _words(self, question: Question) -> str | None:
        name = number_of(question.todo_id) if question.todo_id else render(question.kind.value)
        title = one_line(title_of(question), 300)
        if question.kind is Kind.PLAN:
            said = Content(_("With feedback the planner makes another plan; with none the plan is dropped."))
            return await self._screen.app.push_screen_wait(
                Words(_("Reject · plan"), said, _("reject it"), required=False)
            )
        said = Content(_("{title}\nWhy? The reason goes into the record; it may stay empty.").format(title=title))
        return await self._screen.app.push_screen_wait(
            Words(_("Reject · {name}").format(name=name), said, _("reject it"), required=False)
        )

    async def _confirm(self, title: str, content: Content, yes: str) -> bool:
        app = self._screen.hitl
        dialog: Confirm = Confirm(title, content, yes, app.arming)
        return await app.push_screen_wait(dialog)

    async def _details(self, question: Question) -> None:
        snapshot = self._screen.snapshot
        draft = await draft_of(await self._linked(), question, None)
        rows = details(question, snapshot.workspace if snapshot else "", draft)
        name = number_of(question.todo_id) if question.todo_id else render(question.kind.value)
        if not await self._screen.app.push_screen_wait(Viewer(_("Question · {name}").format(name=name), rows)):
            return
        now = self._open(question.id)
        if now is not None and now.view.evidence == question.view.evidence:  # else there is more than was read
            self._screen.operator_read(question.id)

    def _open(self, question_id: str) -> Question | None:
        """Return a question as it is now, None when it isn't open any more."""
        link = self._screen.link
        asked = link.face.snapshot.questions if link is not None else ()
        return next((q for q in asked if q.id == question_id), None)

    # Several at once, once and for all --------------------------------------------------------------------------

    def review(self, marked: Sequence[Question]) -> None:
        """Show the marked questions; there, one key approves exactly those."""
        if not marked:
            self._screen.say(
                self._screen.hitl.keymap.named(
                    _("Nothing is marked: {question.mark} marks the question on the screen.")
                )
            )
            return
        self._start(self._review(marked))

    async def _review(self, marked: Sequence[Question]) -> None:
        snapshot, app = self._screen.snapshot, self._screen.hitl
        workspace, link = snapshot.workspace if snapshot is not None else "", await self._linked()
        key = app.keymap.shown("question.6")
        items = [(q, body(q, workspace, key, await draft_of(link, q, None))) for q in marked]
        await app.push_screen_wait(Review(items, app.arming, self._approve_marked))

    async def _approve_marked(self, question: Question) -> Outcome:
        """Approve one question as it was reviewed, unless it isn't the same any more."""
        link, now = await self._linked(), self._open(question.id)
        if now is None or now.digest != question.digest:
            return Outcome(False, _("not approved: it was answered or changed since it was shown"))
        if now.view.evidence != question.view.evidence:
            return Outcome(False, _("not approved: its preview changed since it was shown"))
        try:
            result = await link.handler.decide(question, Verdict.APPROVE)
        except HitlError as error:
            why = error_words(error.message)
            return Outcome(False, safe_text(_("not approved: {message}").format(message=why), multiline=False))
        self._decided.append(question.todo_id)
        self._screen.note(render(result.message))
        return Outcome(not result.failed, safe_text(render(result.message), multiline=False))

    async def _rules(self) -> None:
        app = self._screen.hitl
        await list_rules(app, await self._linked(), self._report, app.arming, app.options.by)

    async def _always(self, question: Question) -> None:
        """Show the rule that would always allow exactly this; write it when that is confirmed."""
        app = self._screen.hitl
        result = await allow_always(app, await self._linked(), question, app.arming)
        if result is not None:
            self._report(result)

    # What a file would hold --------------------------------------------------------------------------------------

    def prepare(self, panel: QuestionPanel) -> None:
        """Work out, for questions about documents, what the file would hold."""
        link = self._screen.link
        for question in panel.questions:
            if link is not None and question.kind is Kind.TODO and not panel.has_draft(question.id):
                if document_path(question):
                    panel.await_draft(question.id, [text_row(_("writes    … being worked out"), "$text-warning")])
                    self._start(self._show_draft(link, panel, question))
                else:
                    panel.show_draft(question.id, ())

    async def _show_draft(self, link: Link, panel: QuestionPanel, question: Question) -> None:
        rows = [text_row(_("writes    what it would hold can't be worked out"), "bold $text-warning")]
        try:
            rows = await draft_of(link, question, _DRAFT_LINES, self._screen.hitl.keymap.shown("question.6"))
        finally:
            if self._open(question.id) is not None:
                panel.draft_ready(question.id, rows)

    # Editing ---------------------------------------------------------------------------------------------------

    async def _edit(self, question: Question) -> None:
        link = await self._linked()
        todo = self._todo(question.todo_id)
        facts = link.setup.planner.agents.get(todo.agent_name) if todo is not None else None
        if todo is None or facts is None:
            self._screen.say(_("This can't be edited any more."), error=True)
            return
        team = link.setup.team(facts.team)
        declared = getattr(team, "commands", {}).get(todo.command)
        dialog = Edit(
            _("Edit · {id}").format(id=number_of(todo.id)),
            todo.description,
            todo.arguments,
            team.input_schema,
            facts.bind,
            link.setup.info.workspace,
            declared.parameters if declared is not None else None,
        )
        edited = await self._screen.app.push_screen_wait(dialog)
        if edited is not None:
            await self._edited(link, question, todo, edited)

    async def _edited(self, link: Link, question: Question, todo: SupervisorTodo, edited: Edited) -> None:
        result = await link.handler.edit(todo, edited.task, edited.given)
        self._report(result)
        if result.failed or not link.face.owned:
            return
        expected = _expected(question, edited)
        fresh = await self._asked_anew(link, todo.id, question.id)
        if fresh is None:
            return
        self._screen.select_question(fresh.id)
        if not edited.approve:
            return
        if fresh.digest == expected:
            await self._decide(fresh, Verdict.APPROVE, "")
        else:
            self._screen.say(_("What is asked now isn't exactly what the dialog showed; look at it and decide."))

    async def _asked_anew(self, link: Link, todo_id: str, old: str) -> Question | None:
        """Wait until a TODO is asked again; None when it isn't, because it waits for another one first."""
        seen: Snapshot = link.face.snapshot
        while True:
            fresh = seen.question_of(todo_id)
            if fresh is not None and fresh.id != old:
                return fresh
            if fresh is None and not seen.busy:
                return None
            seen = await link.face.changed(seen)

    # Undo, cancel, restore -------------------------------------------------------------------------------------

    def undo(self, todo_id: str) -> None:
        """Take back what was decided about a TODO, the last decision with no id."""
        self._start(self._take_back(todo_id))

    async def _take_back(self, todo_id: str) -> None:
        if todo_id:
            await self._undo(todo_id)
        elif not self._decided:
            self._screen.say(_("There is no decision of yours to take back."))
        elif not self._decided[-1]:
            self._decided.pop()
            self._screen.say(_("What was decided about the plan can't be taken back by a key; restore a checkpoint."))
        elif await self._undo(self._decided[-1]):
            self._decided.pop()

    async def _undo(self, todo_id: str) -> bool:
        """Take a decision back; return whether there is nothing left to take back about this TODO."""
        link, todo = await self._linked(), self._todo(todo_id)
        if todo is None:
            self._screen.say(_("There is no decision of yours to take back."))
        elif todo.status is Status.PENDING and todo.approval is not None:
            result = await link.handler.edit(todo, todo.description, todo.arguments)
            self._report(result)
            return not result.failed
        elif todo.status is Status.IN_PROGRESS:
            return await self._cancel(todo.id)
        elif todo.status is Status.SKIPPED or (todo.status is Status.FAILED and todo.metadata.get("rejected")):
            result = await link.handler.handle(f"/todo update {todo.id} pending")
            self._report(result)
            return not result.failed
        elif todo.status is Status.COMPLETED:
            self._screen.say(
                _("{id} has run; restore a checkpoint to go back before it (its effects stay).").format(id=todo.id)
            )
        else:
            self._screen.say(
                _("{id} is {status}; there is nothing to take back.").format(id=todo.id, status=status_words(todo)[1])
            )
        return True

    async def _cancel(self, todo_id: str) -> bool:
        todo = self._todo(todo_id)
        if todo is None or todo.status is not Status.IN_PROGRESS:
            self._screen.say(_("Only a running TODO can be cancelled."))
            return True
        said = Content(
            _("{id} runs. Stop it? What it has done to the world stays done; you are asked what next.").format(
                id=todo.id
            )
        )
        if not await self._confirm(_("Cancel {id}").format(id=number_of(todo.id)), said, _("Stop it")):
            return False
        self._report(await (await self._linked()).handler.handle(f"/todo cancel {todo.id}"))
        return True

    def restore(self, info: CheckpointInfo) -> None:
        """Offer to go back to a checkpoint (D11)."""
        self._start(self._restore(info))

    async def _restore(self, info: CheckpointInfo) -> None:
        result = await go_back(self._screen.hitl, await self._linked(), info)
        if result is not None:
            self._report(result)

    # Looking ---------------------------------------------------------------------------------------------------

    def show_todo(self, todo_id: str) -> None:
        """Show a TODO whole, with its result."""
        self._start(self._show_todo(todo_id))

    async def _show_todo(self, todo_id: str) -> None:
        link, todo = await self._linked(), self._todo(todo_id)
        result = None
        if todo is not None and todo.result and todo.result.get("digest"):
            result = await link.face.artifact(str(todo.result["digest"]))
        await self._view_todo(todo_id, result)

    async def _view_todo(self, todo_id: str, result: Any) -> None:
        todo, snapshot = self._todo(todo_id), self._screen.snapshot
        if todo is None or snapshot is None:
            return
        rows = todo_rows(todo, snapshot.workspace, result if isinstance(result, dict) else None)
        await self._screen.app.push_screen_wait(Viewer(_("TODO · {id}").format(id=number_of(todo.id)), rows))

    def show_steps(self, todo_id: str) -> None:
        """Show the steps of a TODO's team (D13)."""
        self._start(self._show_steps(todo_id))

    async def _show_steps(self, todo_id: str) -> None:
        await show_steps(self._screen.hitl, await self._linked(), self._todo(todo_id), self._screen.say)

    def show_checkpoint(self, info: CheckpointInfo) -> None:
        """Show what is known of a checkpoint."""
        self._start(self._show_checkpoint(info))

    async def _show_checkpoint(self, info: CheckpointInfo) -> None:
        await show_checkpoint(self._screen.hitl, await self._linked(), info)


def _expected(question: Question, edited: Edited) -> str:
    """Return the digest of the question that an edit has to lead to: the same one with the input that was shown."""
    subject = dict(question.view.request.subject)
    subject.update(task=edited.task, arguments=dict(edited.bound), asked=int(subject.get("asked", 0)) + 1)
    return digest(subject)
