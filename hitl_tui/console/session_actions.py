"""What an operator does on a session: commands, undo, cancel, restore, looking. Dialogs and their consequences."""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.content import Content

from hitl_tui.commands.parser import on_behalf
from hitl_tui.commands.spec import SPECS
from hitl_tui.config.model_settings import NONE
from hitl_tui.console.approver_token import approver_by_token
from hitl_tui.console.bulk_actions import BulkActions, PlanOrdering
from hitl_tui.console.decision_flow import DecisionFlow, Deed
from hitl_tui.console.dialogs.decided_elsewhere import told_when_ended
from hitl_tui.console.dialogs.mode_dialog import ModeDialog
from hitl_tui.console.dialogs.prompt_dialogs import LineDialog, confirm
from hitl_tui.console.dialogs.rule_dialogs import list_rules
from hitl_tui.console.dialogs.text_viewer import TextViewer
from hitl_tui.console.history_actions import checkpoint_rows, show_steps
from hitl_tui.console.local_commands import OWN, carry_out, parsed_command
from hitl_tui.console.prompt_hints import digit_meant, noted, way
from hitl_tui.console.restore_actions import go_back, restore_named
from hitl_tui.console.session_handle import SessionHandle
from hitl_tui.console.source_opening import choose_source, open_file
from hitl_tui.core.policy import Mode
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.language import _, ngettext, safe_message, translate
from hitl_tui.wording.history_rows import todo_rows
from hitl_tui.wording.rows import text_row
from hitl_tui.wording.status_words import number_of, status_words, stop_words, undo_command
from hitl_tui.wording.times import MODES, mode_words

if TYPE_CHECKING:
    from hitl_tui.commands.handler import CommandHandler
    from hitl_tui.commands.results import CommandResult, ShownTodo
    from hitl_tui.console.services import SessionConsole
    from hitl_tui.console.session_display import SessionDisplay
    from hitl_tui.supervisor.snapshot import Snapshot
    from hitl_tui.threads.session_history import CheckpointInfo

_FREED = 8


class SessionActions:
    """Carries out what is wanted on the session that a screen shows.

    Args:
        console: the app.
        display: the screen that shows it.
    """

    def __init__(self, console: SessionConsole, display: SessionDisplay) -> None:
        self._console = console
        self._display = display
        self.unsent: list[str] = []  # lines that wait for their session to open
        self.decisions = DecisionFlow(console, display, self._report)
        self.order = PlanOrdering(display, self._report, self.decisions.remember)
        self.bulk = BulkActions(console, display, self._report, self.decisions.review, self.decisions.remember)

    def _on(self, work: Callable[[SessionHandle], Coroutine[object, None, None]]) -> None:
        """Begin something on the session that is on the screen now, or on its way there, whatever is there later."""
        pending = self._display.pending

        async def begin() -> None:
            await work(await pending.handle())

        self._display.begin(begin)

    # Commands --------------------------------------------------------------------------------------------------

    def send(self, line: str, known: Collection[str]) -> None:
        """Carry a line out: a command, or words that change the plan. While the session opens it waits for it.

        Args:
            line: what was typed.
            known: ids of the questions that were shown when it was begun; it answers no other one.
        """
        parsed = parsed_command(line)
        if parsed is not None and parsed.spec.name == "clear":
            self._clear(undo=bool(parsed.values.get("undo")))
            return
        if parsed is not None and parsed.spec.name in OWN:
            carry_out(self._console, parsed)
            return
        if not self._display.pending.is_set():
            self.unsent.append(line)
            said = _("The session is still opening; what you sent is carried out as soon as it is open.")
            self._display.say(said, passing=True)
        elif meant := self._digit_meant(line):
            self._display.say(meant, passing=True)
            return
        self._on(partial(self._send, line, known))

    def _clear(self, *, undo: bool) -> None:
        if self._display.handle is None:
            self._display.say(_("The session is still opening."), passing=True)
            return
        self._display.clear_stream(undo=undo)
        said = _("Stream shown again") if undo else _("Stream cleared · /clear undo shows it again")
        self._display.say(said)

    def _digit_meant(self, line: str) -> str:
        """Return what a key of the question that was sent as a line means; empty for any other line."""
        return digit_meant(line, self._console.keymap, self._display.question)

    async def _send(self, line: str, known: Collection[str], handle: SessionHandle) -> None:
        display = self._display
        if line in self.unsent:
            self.unsent.remove(line)
        display.note(noted(line))
        handler, other, began = handle.handler, on_behalf(line), ""
        if other is not None:
            began = handle.session.writer.now()  # what is asked while they type their token isn't what they decide
            identity = await approver_by_token(self._console, other[0])
            if identity is None:
                return
            handler, line = handler.acting_as(identity), other[1]
        typed = parsed_command(line) if other is None else None
        if typed is not None and typed.spec.name == "checkpoint restore":
            await self._restore_named(handle, typed.values.text("id"))
            return
        if typed is not None and typed.spec.name == "stop" and not typed.values.text("id"):
            ends, title = stop_words(handle.session.snapshot), _("End the plan")
            if ends and not await confirm(self._console, title, ends, title):
                display.answer_line(_("Nothing was changed."))
                return
        work = partial(handler.handle_command, line, known, began)
        if parsed_command(line) is not None:
            result = await self.decisions.carry_out(handle, work)
        else:  # words may be planned for a while
            with display.working_on(line):
                result = await work()
            self.decisions.remember(handle, result)
        if commands := result.data.get("commands"):
            await self._help(commands)
            return
        self._answer(result)
        if result.data.get("reason") == "no_change":
            self._console.draft(line)  # nobody took it: it can be changed, or asked in another session
        if result.data.get("trusted") is False:
            await self._trust(handle, handler, result)
            return
        await self._show_result(handle, result, line)

    async def _help(self, commands: Sequence[Mapping[str, str]]) -> None:
        """Show how commands are used; of all of them in the help that a key opens, too."""
        from hitl_tui.console.dialogs.text_viewer import HelpScreen
        from hitl_tui.console.help_rows import command_rows

        if len(commands) == len(SPECS):
            self._console.action_help(commands=True)
        else:
            rows = command_rows((one["usage"], one["summary"]) for one in commands)
            await self._console.push_screen_wait(HelpScreen(rows))

    async def _restore_named(self, handle: SessionHandle, name: str) -> None:
        """Go back to what a typed command names, after the preview that the key shows, too."""
        result = await restore_named(self._console, handle, name)
        if result is not None:
            self._answer(result)
        else:
            self._display.answer_line(_("Nothing was changed."))

    async def _trust(self, handle: SessionHandle, handler: CommandHandler, result: CommandResult) -> None:
        """Show what the folder wants to run, and trust it when that is said."""
        from hitl_tui.console.dialogs.trust_dialog import TrustScreen

        app = self._console
        trust = await app.engine.trust(Path(str(result.data["workspace"])))
        if trust.asks and await app.push_screen_wait(TrustScreen(trust)):
            self._answer(await handler.handle_command(f"/trust --digest {trust.digest}"))

    def _report(self, result: CommandResult) -> None:
        """Say what a key came to; what it changed stands in the plan and in the history."""
        message, text = self._words(result)
        self._display.say(safe_text(text, multiline=False), error=result.failed)
        if "\n" in message:
            self._display.note(message)

    def _answer(self, result: CommandResult) -> None:
        """Say what a typed command came to: above the prompt, or in the stream what is longer than a line."""
        message, text = self._words(result)
        if "event" in result.data:  # the session refused it, and says so in the stream
            self._display.say(safe_text(text, multiline=False), error=True)
            return
        if "\n" not in message:
            self._display.answer_line(safe_text(text, multiline=False), error=result.failed)
            return
        self._display.note(_("error: {text}").format(text=text) if result.failed else message)
        seen = self._display.at_prompt and not result.failed
        self._display.say("" if seen else safe_text(text, multiline=False), error=result.failed)

    def _words(self, result: CommandResult) -> tuple[str, str]:
        """Return what a command answered whole, and what is said of it in one line."""
        message = way(str(result.data.get("reason", "")), self._console.keymap, self._display.question)
        message = message or translate(result.message)
        if (
            "checkpoints" in result.data and "todo_id" not in result.data
        ):  # the pane shows them, older ones as it goes down
            said = _("{command} takes a row's number; {history.restore} restores the row at the cursor.")
            message = self._console.keymap.named(said.replace("{command}", "/checkpoint restore"))
        first, __, rest = message.partition("\n")
        help_text = translate(result.data.get("help", "")) if result.failed else ""
        text = _after(message, help_text) if help_text else (f"{first} …" if rest else first)
        if result.status == "proposed":
            text = _after(text, self._where_asked(str(result.data.get("proposal_id", ""))))
        return message, text

    def _where_asked(self, proposal: str) -> str:
        """Return which keys go to what was proposed just now, which comes after what is asked already."""
        if not self._display.at_prompt:
            return ""
        place = self._display.way_to(proposal)
        if place is None or not place.steps:
            return self._console.keymap.named(_("{session.question} goes to the question."))
        if place.steps == 1:
            said = _("It comes after the question on the screen: {session.question}, then {question.next}.")
            return self._console.keymap.named(said)
        said = _("It is question {number} of {count}: {session.question}, then {question.next} {times} times.")
        numbers = {"number": place.number, "count": place.total, "times": place.steps}
        for name, number in numbers.items():
            said = said.replace(f"{{{name}}}", str(number))
        return self._console.keymap.named(said)

    async def _show_result(self, handle: SessionHandle, result: CommandResult, line: str) -> None:
        display, data = self._display, result.data
        if result.failed:
            return
        if "checkpoints" in data and "todo_id" in data:
            await self._show_steps(str(data["todo_id"]), handle)
        elif "checkpoints" in data:
            display.show_pane("history", focus=True)
        elif "decisions" in data:
            from hitl_tui.wording.text_lines import decision_lines

            if lines := decision_lines(data["decisions"]):
                display.note("\n".join(lines))
            await self._let_read(line, "\n".join(lines))
        elif "todos" in data and "summary" in data:
            display.show_pane("plan")
        elif "rules" in data:
            app = self._console
            await list_rules(app, handle, self._report, app.options.by)
        elif result.status == "renamed":
            display.renamed(str(data["title"]))
        elif "source" in data and "file" in data:  # a fork has a source, too
            await open_file(self._console, Path(data["file"]), int(data["source"]["line"]))
        elif result.shown is not None:
            await self._view_todo(handle, result.shown)
        elif "\n" in result.message and display.at_prompt:
            await self._let_read(line, self._words(result)[0])  # all of it is only there

    async def _let_read(self, line: str, text: str) -> None:
        """Let the end of the stream be read, which is the answer to a line; whole where it has too few rows for it."""
        if not await self._display.fits_stream(text):
            rows = [text_row(safe_text(text))]
            await self._console.push_screen_wait(TextViewer(safe_text(line, multiline=False), rows))

    def open_source(self) -> None:
        """Open a place that the answer cites, or a file that was written."""
        self._on(self._open_source)

    async def _open_source(self, handle: SessionHandle) -> None:
        number = await choose_source(self._console, handle.session.snapshot)
        if number:
            result = await handle.handler.handle_command(f"/source {number}")
            self._report(result)
            await self._show_result(handle, result, f"/source {number}")

    def choose_mode(self) -> None:
        """Let a mode be chosen."""
        if self._display.snapshot is None:
            self._display.say(_("The session is still opening."), passing=True)
            return
        self._on(self._choose_mode)

    async def _choose_mode(self, handle: SessionHandle) -> None:
        now = handle.session.snapshot.mode
        freed = {mode: await handle.handler.freed(Mode(mode)) for mode in MODES}
        going = max(freed.values(), key=len)
        said = self._freed_words(handle, going) if going else _("When are you asked in this session?")
        counts = {mode: len(ids) for mode, ids in freed.items()}
        chosen = await self._console.push_screen_wait(ModeDialog(now, said, counts))
        if isinstance(chosen, str) and chosen != now:
            await self._set_mode(handle, chosen)

    def _freed_words(self, handle: SessionHandle, going: Sequence[str]) -> str:
        """Return which steps another mode would let run that nobody has said yes to."""
        todos = [todo for i in going if (todo := handle.session.snapshot.todo(i)) is not None]
        shown = [f"{number_of(todo.id)}  {one_line(todo.name, 60)}" for todo in todos[:_FREED]]
        if len(todos) > _FREED:
            shown.append(_("… and {n:,} more").format(n=len(todos) - _FREED))
        return "\n".join([_("Another mode lets these run without a question, from now on:"), *shown])

    async def _set_mode(self, handle: SessionHandle, mode: str) -> None:
        result = await handle.handler.handle_command(f"/mode {mode}")
        said = (
            translate(result.message)
            if result.failed
            else _("{mode}, in this session.").format(mode=mode_words(mode).capitalize())
        )
        self._display.say(said, error=result.failed)

    def choose_model(self) -> None:
        """Let another model be typed for this session, or none."""
        self._on(self._choose_model)

    async def _choose_model(self, handle: SessionHandle) -> None:
        model = handle.session.setup.model
        if model is None:
            self._display.say(_("This session can't have a model."), error=True)
            return
        now = safe_message(await model.said(), multiline=False)
        said = _("{now}\nWrite provider:model, such as openai:gpt-5-mini, or none. It holds for this session.")
        dialog = LineDialog(_("Model"), Content(said.format(now=now)), _("Use it"), model.name or NONE)
        if name := await self._console.push_screen_wait(dialog):
            self._report(await handle.handler.handle_command(f"/model {name}"))

    async def model_words(self) -> str:
        """Return which model the session has and what it used; how to have one where it has none."""
        handle = self._display.handle
        model = handle.session.setup.model if handle is not None else None
        return translate(await model.said()) if model is not None else ""

    # Undo, cancel, restore -------------------------------------------------------------------------------------

    def undo(self, todo_id: str) -> None:
        """Take back what was decided about a TODO, the last decision with no id."""
        self._on(partial(self._take_back, todo_id))

    async def _take_back(self, todo_id: str, handle: SessionHandle) -> None:
        await self.decisions.settled()
        decided = self.decisions.decided(handle)
        about = [deed for deed in decided if not todo_id or todo_id in deed.todo_ids]
        last = about[-1] if about else None
        if last is not None and last.commands:
            decided.remove(last)
            await self._undo_change(handle, last)
        elif todo_id:
            await self._undo(handle, todo_id)
        elif last is None:
            self._display.say(_("No decision of yours to undo."), passing=True)
        elif not last.todo_ids:
            decided.pop()
            said = _(
                "The last decision changed the plan: {session.replay} goes back to before it. "
                "To undo one about a step instead: {plan.undo} on that step in the plan."
            )
            self._display.say(self._console.keymap.named(said))
        elif await self._undo(handle, last.todo_ids[0]):
            decided.pop()

    async def _undo_change(self, handle: SessionHandle, deed: Deed) -> None:
        """Take a change of the plan back, and say so; what can't be taken back any more says why."""
        results = [await handle.handler.handle_command(command) for command in deed.commands]
        if failed := next((result for result in results if result.failed), None):
            self._report(failed)
        elif len(results) == 1:
            answer = safe_message(results[0].message, multiline=False)
            self._display.say(_("Undone: {said}").format(said=answer))
        else:
            said = ngettext("Undone for {n} step.", "Undone for {n} steps.", len(results))
            self._display.say(said.format(n=len(results)))

    def undoable(self, handle: SessionHandle) -> bool:
        """Return whether the last decision made here can still be taken back."""
        decided, snapshot = self.decisions.decided(handle), handle.session.snapshot
        if not decided or not decided[-1].todo_ids:
            return False
        todo = snapshot.todo(decided[-1].todo_ids[0])
        if todo is None:
            return decided[-1].todo_ids[0] in snapshot.removed
        if decided[-1].commands:
            return not todo.why_fixed
        rejected = todo.status is Status.FAILED and bool(todo.metadata.get("rejected"))
        approved = todo.status is Status.PENDING and todo.approval is not None
        return approved or rejected or todo.status in (Status.IN_PROGRESS, Status.SKIPPED)

    async def _undo(self, handle: SessionHandle, todo_id: str) -> bool:
        """Take a decision back; return whether there is nothing left to take back about this TODO."""
        todo = handle.session.snapshot.todo(todo_id)
        if todo is None:
            self._display.say(_("No decision of yours to undo."))
        elif todo.status is Status.PENDING and todo.approval is not None:
            result = await handle.handler.edit(todo, todo.description, todo.arguments)
            if result.failed:
                self._report(result)
                return False
            said = _("{id} isn't approved any more; it asks again.").format(id=number_of(todo.id))
            self._display.say(said)
        elif todo.status is Status.IN_PROGRESS:
            return await self._cancel(handle, todo)
        elif todo.status is Status.SKIPPED or (todo.status is Status.FAILED and todo.metadata.get("rejected")):
            result = await handle.handler.handle_command(f"/todo update {todo.id} pending")
            if result.failed:
                self._report(result)
                return False
            skipped = todo.status is Status.SKIPPED
            said = _("{id}: the skip is undone.") if skipped else _("{id}: the rejection is undone.")
            self._display.say(said.format(id=number_of(todo.id)))
        elif todo.status is Status.COMPLETED:
            said = _("{id} has run; restore a checkpoint to go back before it (its effects stay).")
            self._display.say(said.format(id=number_of(todo.id)))
        else:
            said = _("Nothing to undo about {id} ({status}).")
            said = said.format(id=number_of(todo.id), status=status_words(todo)[1])
            before = _left_out_before(todo, handle.session.snapshot)
            if before is not None:
                way = _("{id} was skipped before it: {command} takes that back.")
                if before.status is not Status.SKIPPED:
                    way = _("{id} was rejected before it: {command} takes that back.")
                said += " " + way.format(id=number_of(before.id), command=undo_command(before.id))
            elif self.undoable(handle):
                said += " " + self._console.keymap.named(_("{session.undo} undoes your last decision."))
            self._display.say(said)
        return True

    async def _cancel(self, handle: SessionHandle, todo: SupervisorTodo) -> bool:
        said = _("{id} runs. Stop it? Its side effects stay; you are asked what next.")
        title = _("Cancel {id}").format(id=number_of(todo.id))
        async with told_when_ended(self._console, handle, todo):
            if not await confirm(self._console, title, said.format(id=number_of(todo.id)), _("Stop it")):
                return False
        self._report(await handle.handler.handle_command(f"/todo cancel {todo.id}"))
        return True

    def restore(self, info: CheckpointInfo) -> None:
        """Offer to go back to a checkpoint."""
        self._on(partial(self._restore, info))

    async def _restore(self, info: CheckpointInfo, handle: SessionHandle) -> None:
        result = await go_back(self._console, handle, info)
        if result is not None:
            self._report(result)
            if not result.failed:
                self._display.to_next_question()

    # Looking ---------------------------------------------------------------------------------------------------

    def show_todo(self, todo_id: str) -> None:
        """Show a TODO whole, with its result."""
        self._on(partial(self._show_todo, todo_id))

    async def _show_todo(self, todo_id: str, handle: SessionHandle) -> None:
        from hitl_tui.commands.plan_commands import shown_todo

        todo = handle.session.snapshot.todo(todo_id)
        if todo is not None:
            await self._view_todo(handle, await shown_todo(handle.session, todo))

    async def _view_todo(self, handle: SessionHandle, shown: ShownTodo) -> None:
        rows = todo_rows(shown.todo, handle.session.snapshot.workspace, shown.result, shown.used)
        await self._console.push_screen_wait(TextViewer(_("Step {id}").format(id=number_of(shown.todo.id)), rows))

    def show_steps(self, todo_id: str) -> None:
        """Show the steps of a TODO's team."""
        self._on(partial(self._show_steps, todo_id))

    async def _show_steps(self, todo_id: str, handle: SessionHandle) -> None:
        say = self._display.say
        await show_steps(self._console, handle, handle.session.snapshot.todo(todo_id), say, say)

    def show_checkpoint(self, info: CheckpointInfo, *, engine: bool = False) -> None:
        """Show what is known of a checkpoint; which node the engine stood at only where that is wanted."""
        self._on(partial(self._show_checkpoint, info, engine))

    async def _show_checkpoint(self, info: CheckpointInfo, engine: bool, handle: SessionHandle) -> None:
        rows = await checkpoint_rows(handle, info, self._console.keymap, engine=engine)
        await self._console.push_screen_wait(TextViewer(_("Checkpoint"), rows))


def _left_out_before(todo: SupervisorTodo, snapshot: Snapshot) -> SupervisorTodo | None:
    """Return the nearest step that this one waited for and that a person left out; None for none."""
    waits, seen = [*todo.dependencies], set[str]()
    while waits:
        before = snapshot.todo(name := waits.pop(0))
        if before is None or name in seen:
            continue
        if before.status is Status.SKIPPED or before.metadata.get("rejected"):
            return before
        seen.add(name)
        waits += before.dependencies
    return None


def _after(said: str, more: str) -> str:
    """Return two sentences; a point between them where the first one has no end of its own."""
    between = " " if said[-1:] in ".?!…" else " · "
    return f"{said}{between}{more}" if more else said
