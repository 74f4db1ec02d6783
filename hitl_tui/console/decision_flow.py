"""The decisions on a session's questions, singly and together, with the dialogs that they need."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from hitl_tui.console.answer_actions import Answer
from hitl_tui.console.dialogs.decided_elsewhere import told_when_gone, told_when_some_gone
from hitl_tui.console.dialogs.dialog_drafts import DialogDrafts
from hitl_tui.console.dialogs.edit_dialog import EditDialog, Edited
from hitl_tui.console.dialogs.prompt_dialogs import WordsDialog, confirm
from hitl_tui.console.dialogs.proposal_parts import chosen_changes
from hitl_tui.console.dialogs.review_dialog import Outcome, ReviewDialog
from hitl_tui.console.dialogs.rule_dialogs import allow_always
from hitl_tui.console.dialogs.text_viewer import TextViewer
from hitl_tui.console.question_preview import QuestionPreviews, draft_of, graph_rows, seen_of, writes_file
from hitl_tui.console.session_handle import SessionHandle
from hitl_tui.core.errors import HitlError
from hitl_tui.core.json_text import digest
from hitl_tui.core.json_types import Json
from hitl_tui.core.requests import Kind, Verdict
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.language import _, safe_message, translate
from hitl_tui.supervisor.snapshot import RESCUE
from hitl_tui.wording.draft_rows import unknown_draft
from hitl_tui.wording.evidence_rows import awaits_preview
from hitl_tui.wording.question_rows import body, details, name_words
from hitl_tui.wording.rows import Row, in_line, markdown_row, text_row
from hitl_tui.wording.status_words import asked_about, number_of, stop_words

if TYPE_CHECKING:
    from hitl_tui.commands.results import CommandResult
    from hitl_tui.console.services import SessionConsole
    from hitl_tui.console.session_display import SessionDisplay
    from hitl_tui.console.widgets.question_panel import QuestionPanel
    from hitl_tui.core.todos import SupervisorTodo
    from hitl_tui.supervisor.snapshot import Question, Snapshot

    Decision = Callable[[], Awaitable[CommandResult]]


class Deed(NamedTuple):
    """What somebody did here, so that it can be taken back.

    Args:
        todo_ids: the TODOs it was about; empty for a plan.
        commands: what takes it back, in this order; empty for a decision, whose step says what can be done.
    """

    todo_ids: tuple[str, ...]
    commands: tuple[str, ...] = ()


class DecisionFlow:
    """Answers questions of the session that a screen shows.

    Args:
        console: the app.
        display: the screen that shows it.
        report: shows what one command answered.
    """

    def __init__(
        self,
        console: SessionConsole,
        display: SessionDisplay,
        report: Callable[[CommandResult], None],
    ) -> None:
        self._console = console
        self._display = display
        self._report = report
        self._decided: defaultdict[tuple[str, int], list[Deed]] = defaultdict(list)
        self._drafts = DialogDrafts()
        self._turn = asyncio.Lock()
        """Of one decision after the other: what takes the last one back comes after those that were made before."""

    def answer(self, question: Question, answer: Answer) -> None:
        """Give the chosen answer to a question, as it was shown."""
        handle = self._display.handle
        if handle is not None and handle.session.id == question.view.request.session:
            self._display.begin(partial(self._answer, handle, question, answer))

    async def _answer(self, handle: SessionHandle, question: Question, answer: Answer) -> None:
        try:
            if answer.ask == "details":
                await self._details(handle, question)
            elif answer.ask == "always":
                await self._always(handle, question)
            elif answer.ask == "edit":
                await self._edit(handle, question)
            elif answer.ask == "parts":
                await self._parts(handle, question)
            elif answer.ask == "run" and answer.verdict is not None:
                await self._decide(handle, question, answer.verdict, value={"run": True})
            elif answer.ask == "rescue":
                self._report(await handle.handler.handle_command(question.commands[RESCUE]))
            elif answer.ask == "inner":
                await self._inner(handle, question, answer)
            elif answer.verdict is not None:
                asks = answer.ask if answer.ask != "reason" else ""
                app = self._console
                async with told_when_gone(app, handle, question):
                    words = await self._words(question, answer) if answer.ask == "reason" else ""
                    said = stop_words(handle.session.snapshot) if asks == "stop" else _(asks)
                    if words is None or (asks and not await confirm(app, answer.label, said, answer.label)):
                        return
                await self._decide(handle, question, answer.verdict, reason=words)
        finally:
            self._display.answered()

    async def _inner(self, handle: SessionHandle, question: Question, answer: Answer) -> None:
        """Answer what a team asks from inside, in the dialog that the answer needs."""
        from hitl_tui.console.dialogs.answer_dialog import NothingSaid
        from hitl_tui.console.dialogs.interrupt_answer import answer_of

        app = self._console
        async with told_when_gone(app, handle, question):
            value = await answer_of(app, question, answer.action, self._drafts)
        if isinstance(value, NothingSaid):
            return
        self._report(await self.carry_out(handle, partial(handle.handler.answer, question, value, answer.action)))

    async def _parts(self, handle: SessionHandle, question: Question) -> None:
        """Accept a proposal change by change."""
        async with told_when_gone(self._console, handle, question):
            numbers = await chosen_changes(self._console, question, handle.handler.plan_with)
        if numbers is not None:
            value = question.accepting(numbers)
            await self._decide(handle, question, Verdict.APPROVE, value=value)

    async def _decide(
        self, handle: SessionHandle, question: Question, verdict: Verdict, *, reason: str = "", value: Json = None
    ) -> None:
        """Decide a question as it was shown, and say what came of it."""
        decision = partial(handle.handler.decide, question, verdict, reason=reason, value=value)
        self._report(await self.carry_out(handle, decision))

    async def carry_out(self, handle: SessionHandle, decision: Decision) -> CommandResult:
        """Carry out what may be a decision, and keep what it was about: it can be taken back."""
        async with self._turn:
            proposed = {q.id for q in handle.session.snapshot.questions if q.kind is Kind.PROPOSAL}
            result = await decision()
            refused = result.data.get("verdict") == Verdict.REJECT.value
            if not (refused and result.data.get("request_id") in proposed):  # which changed nothing
                self.remember(handle, result)
        return result

    async def settled(self) -> None:
        """Wait for the decisions that were made before."""
        async with self._turn:
            pass

    def decided(self, handle: SessionHandle) -> list[Deed]:
        """Return what was decided and changed here, the last last.

        What was decided before a restore isn't among them: the steps stand as they stood then.
        """
        return self._decided[handle.session.id, handle.session.snapshot.branch]

    def remember(self, handle: SessionHandle, *results: CommandResult) -> None:
        """Keep what was decided about or changed: it can be taken back, changes that were made together at once."""
        decided, done = self.decided(handle), [result.data for result in results if not result.failed]
        if ways := [data for data in done if data.get("undo")]:
            commands = tuple(str(data["undo"]) for data in reversed(ways))
            decided.append(Deed(tuple(str(data["todo_id"]) for data in ways), commands))
        for result in results:
            data = result.data
            if not result.failed and ("verdict" in data or "todo_ids" in data or result.status == "skipped"):
                ids = data.get("todo_ids") or [data.get("todo_id")]
                decided.extend(Deed((str(todo_id),) if todo_id else ()) for todo_id in ids)

    async def _words(self, question: Question, answer: Answer) -> str | None:
        name = name_words(question)
        title = one_line(asked_about(question.view.request), 300)
        if question.kind is Kind.PLAN:
            said = Content(_("With feedback the planner makes another plan; with none the plan is dropped."))
            return await self._console.push_screen_wait(
                WordsDialog(_("Reject · plan"), said, _("Reject"), required=False)
            )
        asks = _("{title}\nReason (optional, recorded; to change the plan, describe the change at the prompt)")
        said = Content(asks.format(title=title))
        if answer.verdict is Verdict.SKIP:
            heading = _("Skip · {name}").format(name=name)
            return await self._console.push_screen_wait(WordsDialog(heading, said, _("Skip"), required=False))
        if waiting := self._waiting_for(question):
            stops_too = _("What waits for it won't run: {names}. Skipping it goes on without it.")
            said = Content(stops_too.format(names=", ".join(waiting)) + "\n") + said
        stops = question.kind is Kind.INTERRUPT
        heading = f"{answer.label} · {number_of(question.todo_id)}" if stops else _("Reject · {name}").format(name=name)
        send = _("Stop step") if stops else _("Reject")
        return await self._console.push_screen_wait(WordsDialog(heading, said, send, required=False))

    def _waiting_for(self, question: Question) -> list[str]:
        """Return the numbers of the steps that need the one a question is about, or one that does."""
        handle = self._display.handle
        todos = handle.session.snapshot.todos if handle is not None and question.kind is Kind.TODO else ()
        found = {question.todo_id}
        while more := {t.id for t in todos if t.id not in found and not t.settled and found & {*t.dependencies}}:
            found |= more
        return sorted(number_of(todo_id) for todo_id in found - {question.todo_id})

    async def _details(self, handle: SessionHandle, question: Question) -> None:
        draft = [*graph_rows(handle, question), *await draft_of(handle, question)]
        rows = details(question, handle.session.snapshot.workspace, draft)
        async with told_when_gone(self._console, handle, question):
            title = _("Question · {name}").format(name=name_words(question))
            read = await self._console.push_screen_wait(TextViewer(title, rows, "question.6"))
        if not read:
            return
        now = _open(handle, question.id)
        if now is not None and now.view.evidence == question.view.evidence:  # else there is more than was read
            self._display.read_whole(question.id)

    def show_results(self, question: Question) -> None:
        """Show what the steps before a question's found, whole."""
        handle = self._display.handle
        if handle is not None and handle.session.id == question.view.request.session:
            self._display.begin(partial(self._results, handle, question))

    async def _results(self, handle: SessionHandle, question: Question) -> None:
        try:
            await self._read_results(handle, question)
        finally:
            self._display.answered()

    async def _read_results(self, handle: SessionHandle, question: Question) -> None:
        rows: list[Row] = []
        for todo_id, reference in results_of(handle, question).items():
            todo, result = handle.session.snapshot.todo(todo_id), await handle.session.artifact(reference)
            heading = number_of(todo_id) + (f" · {in_line(todo.name)}" if todo is not None else "")
            rows += [text_row(""), text_row(heading, "bold"), text_row("")]
            rows.append(markdown_row(safe_text(str(result.get("text", "")))))
        if not rows:
            self._display.say(_("No earlier step has a result."))
            return
        name = number_of(question.todo_id)
        async with told_when_gone(self._console, handle, question):
            title = _("What {name} works from").format(name=name)
            await self._console.push_screen_wait(TextViewer(title, rows[1:], "question.results"))

    # Several at once, once and for all --------------------------------------------------------------------------

    def review(self, marked: Sequence[Question], note: str = "") -> None:
        """Show the marked questions, and what is said of the rest; there, one key approves exactly those."""
        if not marked:
            self._display.say(
                self._console.keymap.named(_("Nothing is marked: {question.mark} marks the question on the screen."))
            )
            return
        if self._display.handle is not None:
            self._display.begin(partial(self._review, self._display.handle, marked, note))

    async def _review(self, handle: SessionHandle, marked: Sequence[Question], note: str) -> None:
        app = self._console
        key = app.keymap.shown("question.6")
        items = [(q, body(q, key, [*graph_rows(handle, q), *await draft_of(handle, q)])) for q in marked]
        dialog = ReviewDialog(items, partial(self._approve_marked, handle), note)
        async with told_when_some_gone(dialog, handle, marked):
            await app.push_screen_wait(dialog)

    async def _approve_marked(self, handle: SessionHandle, question: Question) -> Outcome:
        """Approve one question as it was reviewed, unless it isn't the same any more."""
        now = _open(handle, question.id)
        if now is None or now.digest != question.digest:
            return Outcome(False, _("not approved: it was answered or changed since it was shown"))
        if awaits_preview(now):
            return Outcome(False, _("not approved: its preview is still being made"))
        if now.view.evidence != question.view.evidence:
            return Outcome(False, _("not approved: its preview changed since it was shown"))
        try:
            result = await self.carry_out(handle, partial(handle.handler.decide, question, Verdict.APPROVE))
        except HitlError as error:
            why = _("not approved: {message}").format(message=translate(error.message))
            return Outcome(False, safe_text(why, multiline=False))
        return Outcome(not result.failed, safe_message(result.message, multiline=False))

    async def _always(self, handle: SessionHandle, question: Question) -> None:
        """Show the rule that would always allow exactly this; write it when that is confirmed."""
        app = self._console
        result = await allow_always(app, handle, question)
        if result is not None:
            self._report(result)

    # What a file would hold --------------------------------------------------------------------------------------

    def prepare(self, panel: QuestionPanel) -> None:
        """Work out, for questions about documents, what the file would hold."""
        handle = self._display.handle
        for question in panel.questions:
            if handle is not None and question.kind is Kind.TODO and not panel.has_draft(question.id):
                if writes_file(handle, question):
                    wait = text_row(_("writes    … being worked out"), "$text-warning")
                    panel.show_draft(question.id, [wait], awaited=True)
                    self._display.begin(partial(self._show_draft, handle, panel, question))
                else:
                    panel.show_draft(question.id, graph_rows(handle, question))

    async def _show_draft(self, handle: SessionHandle, panel: QuestionPanel, question: Question) -> None:
        rows = [unknown_draft()]
        try:
            rows = await draft_of(handle, question, headed=False)
        finally:
            if _open(handle, question.id) is not None:
                panel.show_draft(question.id, rows)

    # Editing ---------------------------------------------------------------------------------------------------

    async def _edit(self, handle: SessionHandle, question: Question) -> None:
        todo = handle.session.snapshot.todo(question.todo_id)
        facts = handle.setup.planner.agents.get(todo.agent_name) if todo is not None else None
        if todo is None or facts is None:
            self._display.say(_("This can't be edited any more."), error=True)
            return
        team = handle.setup.team(facts.team)
        await asyncio.to_thread(team.look)  # its code may have changed since it was asked about
        declared = team.commands.get(todo.command)
        dialog = EditDialog(
            _("Edit · {id}").format(id=number_of(todo.id)),
            todo.description,
            todo.arguments,
            team.input_schema,
            facts.bind,
            handle.setup.info.workspace,
            QuestionPreviews(handle, question),
            declared.parameters if declared is not None else None,
        )
        async with told_when_gone(self._console, handle, question):
            edited = await self._drafts.shown(self._console, question, "edit", dialog)
        if edited is None:
            return
        if not edited.approve and (edited.task, edited.bound) == (todo.description, todo.arguments):
            self._display.say(_("Nothing was changed."))
        else:
            await self._edited(handle, question, todo, edited)

    async def _edited(self, handle: SessionHandle, question: Question, todo: SupervisorTodo, edited: Edited) -> None:
        result = await handle.handler.edit(todo, edited.task, edited.given)
        self._report(result)
        if result.failed or not handle.session.owned or not edited.approve:
            return
        fresh = await _asked_anew(handle, todo.id, question.id)
        known = await _previewed(handle, fresh) if fresh is not None else None
        if known is None:
            return
        if _is_what_was_shown(known, question, edited) and await seen_of(handle, known) == list(edited.seen):
            await self._decide(handle, known, Verdict.APPROVE)
        else:
            self._display.say(_("What is asked now isn't exactly what the dialog showed; look at it and decide."))


async def _asked_anew(handle: SessionHandle, todo_id: str, old: str) -> Question | None:
    """Wait until a TODO is asked again; None when it isn't, because it waits for another one first."""
    seen: Snapshot = handle.session.snapshot
    while True:
        fresh = seen.question_of(todo_id)
        if fresh is not None and fresh.id != old:
            return fresh
        if fresh is None and not seen.busy:
            return None
        seen = await handle.session.changed(seen)


async def _previewed(handle: SessionHandle, question: Question) -> Question | None:
    """Wait until a question has its preview; None when it isn't asked any more."""
    seen: Snapshot = handle.session.snapshot
    while (now := _open(handle, question.id)) is not None and awaits_preview(now):
        seen = await handle.session.changed(seen)
    return now


def results_of(handle: SessionHandle, question: Question) -> dict[str, str]:
    """Return the digests of the results that a question's step works from or comes after, by TODO."""
    about, used = question.view.request.about, question.view.request.subject.get("inputs") or {}
    known = [str(found["id"]) for found in about.get("results") or ()]
    digests: dict[str, str] = {}
    for todo_id in dict.fromkeys([*known, *used]):
        todo = handle.session.snapshot.todo(todo_id)
        now = (todo.result or {}).get("digest") if todo is not None else None
        if reference := used.get(todo_id) or now:
            digests[todo_id] = str(reference)
    return digests


def _open(handle: SessionHandle, question_id: str) -> Question | None:
    """Return a question as it is now, None when it isn't open any more."""
    return next((q for q in handle.session.snapshot.questions if q.id == question_id), None)


def _is_what_was_shown(now: Question, question: Question, edited: Edited) -> bool:
    """Whether an edit led to the same question with the input that was shown; of a failure, to the step anew."""
    shown = {**question.view.request.subject, "task": edited.task, "arguments": dict(edited.bound)}
    asked = now.view.request.subject
    return digest(_of_the_step(shown)) == digest(_of_the_step(asked))


def _of_the_step(subject: Mapping[str, object]) -> dict[str, object]:
    """Return what a subject says of what would run, not how often it was asked nor how it failed."""
    return {name: value for name, value in subject.items() if name not in ("asked", "run", "error")}
