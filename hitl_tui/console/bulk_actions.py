"""Several TODOs of the plan moved, or acted on, one command after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from textual.content import Content

from hitl_tui.console.dialogs.answer_dialog import Picking
from hitl_tui.console.dialogs.prompt_dialogs import confirm
from hitl_tui.console.dialogs.text_viewer import TextViewer
from hitl_tui.console.session_handle import SessionHandle
from hitl_tui.core.interrupts.shape import Option
from hitl_tui.core.requests import Verdict
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.core.todos import Priority, Status, SupervisorTodo
from hitl_tui.language import _, mark, safe_message
from hitl_tui.wording.rows import text_row
from hitl_tui.wording.status_words import number_of, status_words, why_fixed

if TYPE_CHECKING:
    from hitl_tui.commands.results import CommandResult
    from hitl_tui.console.services import SessionConsole
    from hitl_tui.console.session_display import SessionDisplay
    from hitl_tui.supervisor.snapshot import Question

    class Remember(Protocol):
        """Keeps what commands did together, so that it can be taken back."""

        def __call__(self, handle: SessionHandle, *results: CommandResult) -> None: ...


class PlanOrdering:
    """Moves TODOs in the session that a screen shows; what is wanted meanwhile waits until that has taken effect.

    Args:
        display: the screen that shows it.
        report: shows what a command answered.
        remember: keeps what commands did together, so that it can be taken back.
    """

    def __init__(self, display: SessionDisplay, report: Callable[[CommandResult], None], remember: Remember) -> None:
        self._display = display
        self._report = report
        self._remember = remember
        self._one = asyncio.Lock()

    def move(self, ids: Sequence[str], where: str, anchor: str) -> None:
        """Give TODOs another place: `before` or `after` another one."""
        if self._display.handle is not None:
            self._display.begin(partial(self._move, self._display.handle, ids, where, anchor))

    async def _move(self, handle: SessionHandle, ids: Sequence[str], where: str, anchor: str) -> None:
        async with self._one:
            await self._put(handle, ids, where, anchor)

    async def _put(self, handle: SessionHandle, ids: Sequence[str], where: str, anchor: str) -> None:
        results: list[CommandResult] = []
        for todo_id in ids if where == "before" else reversed(ids):
            results.append(await handle.handler.handle_command(f"/todo move {todo_id} {where} {anchor}"))
            if results[-1].failed:
                break
        self._remember(handle, *results)
        if len(ids) == 1 or results[-1].failed:
            self._report(results[-1])
        else:
            said = (
                _("{n} steps are before {anchor} now.") if where == "before" else _("{n} steps are after {anchor} now.")
            )
            self._display.say(said.format(n=len(ids), anchor=number_of(anchor)))

    def step(self, ids: Collection[str], by: int, shown: Collection[str]) -> None:
        """Move TODOs up (-1) or down (1) among those that are shown (all with none given)."""
        if self._display.handle is not None:
            self._display.begin(partial(self._step, self._display.handle, ids, by, shown))

    async def _step(self, handle: SessionHandle, ids: Collection[str], by: int, shown: Collection[str]) -> None:
        async with self._one:  # where they stand is known once the step before has taken effect
            todos = [t for t in handle.session.snapshot.todos if not shown or t.id in shown]
            places = [i for i, t in enumerate(todos) if t.id in ids]
            why = next(filter(None, (why_fixed(todos[i]) for i in places)), "")
            beside = (places[0] - 1 if by < 0 else places[-1] + 1) if places else -1
            if why:
                self._display.say(why)
            elif 0 <= beside < len(todos):
                moving = [todos[i].id for i in places]
                await self._put(handle, moving, "before" if by < 0 else "after", todos[beside].id)


_LISTED = 200
_COMMANDS: Mapping[str, str] = MappingProxyType(
    {"skip": "/todo skip {id}", "cancel": "/todo cancel {id}", "remove": "/todo remove {id}"}
)
_TITLES = MappingProxyType(
    {"skip": mark("Skip"), "cancel": mark("Cancel"), "remove": mark("Remove"), "priority": mark("Priority")}
)
_SAID = MappingProxyType(
    {
        "skip": mark("Go on without these? What depends on them asks again, marked as missing its input."),
        "cancel": mark("Stop these? Their side effects stay; you are asked what next."),
        "remove": mark("Remove these from the plan? Only what never started can go, and what nothing depends on."),
    }
)
_DONE = MappingProxyType(
    {
        "skip": mark("Skipped {n} steps."),
        "cancel": mark("Stopping {n} steps."),
        "remove": mark("Removed {n} steps."),
        "priority": mark("{n} steps are {level} now."),
    }
)
"""What is said when each of several was done; what failed is listed instead."""


class BulkActions:
    """Acts on TODOs of the session that a screen shows.

    Args:
        console: the app.
        display: the screen that shows it.
        report: shows what one command answered.
        review: shows questions to be approved together, with what is said of the rest.
        remember: keeps what commands did together, so that it can be taken back.
    """

    def __init__(
        self,
        console: SessionConsole,
        display: SessionDisplay,
        report: Callable[[CommandResult], None],
        review: Callable[[Sequence[Question], str], None],
        remember: Remember,
    ) -> None:
        self._console = console
        self._display = display
        self._report = report
        self._review = review
        self._remember = remember

    def act(self, what: str, ids: Sequence[str]) -> None:
        """Do something to TODOs: `approve`, `skip`, `cancel`, `remove` or `priority`."""
        handle = self._display.handle
        if handle is None or not ids:
            return
        todos = [todo for i in ids if (todo := handle.session.snapshot.todo(i)) is not None]
        if what == "approve":
            self._approve(handle, ids)
        elif what == "cancel" and not any(todo.status is Status.IN_PROGRESS for todo in todos):
            self._display.say(_("Only a running step can be cancelled."))
        else:
            self._display.begin(partial(self._act, handle, what, todos))

    def review(self, marked: Sequence[Question], ids: Collection[str]) -> None:
        """Show marked questions on the screen of review, with what is said of TODOs that don't ask yet."""
        self._review(marked, self._left_words(ids, marked))

    def _approve(self, handle: SessionHandle, ids: Sequence[str]) -> None:
        """Show what these ask on the screen of review, which approves exactly that and never across risk classes."""
        asked = [handle.session.snapshot.question_of(i) for i in ids]
        ready = [q for q in asked if q is not None and Verdict.APPROVE in q.view.request.options]
        note = self._left_words(ids, ready)
        if ready:
            self._review(ready, note)
        else:
            self._display.say(note)

    def _left_words(self, ids: Collection[str], ready: Sequence[Question]) -> str:
        """Return which TODOs aren't among the questions, and what can be done about them; empty for none."""
        asked = {q.todo_id for q in ready}
        names = ", ".join(number_of(i) for i in ids if i not in asked)
        said = _("{names}: not asked yet. What is of low risk can be approved before its turn with /todo approve.")
        return said.format(names=one_line(names, 200)) if names else ""

    async def _act(self, handle: SessionHandle, what: str, todos: Sequence[SupervisorTodo]) -> None:
        app = self._console
        shown: list[str] = [one_line(_line(todo), max(20, app.size.width - 14)) for todo in todos[:_LISTED]]
        if len(todos) > _LISTED:
            shown.append(_("… and {n:,} more").format(n=len(todos) - _LISTED))
        title = _("{what} · {n}").format(what=_(_TITLES[what]), n=len(todos))
        said = _(_DONE[what])
        if what == "priority":
            level = await self._level(title, shown)
            if level is None:
                return
            command = f"/todo priority {{id}} {level}"
            said = said.format(n=len(todos), level=_(level.value))
        else:
            if not await confirm(app, title, "\n".join([_(_SAID[what]), *shown]), _(_TITLES[what])):
                return
            command, said = _COMMANDS[what], said.format(n=len(todos))
        await self._each(handle, title, command, [todo.id for todo in todos], said)

    async def _level(self, title: str, shown: Sequence[str]) -> Priority | None:
        options = tuple(Option(_(level.value), level) for level in Priority)
        chosen = await self._console.push_screen_wait(Picking(title, Content("\n".join(shown)), options))
        return chosen if isinstance(chosen, Priority) else None

    async def _each(self, handle: SessionHandle, title: str, command: str, ids: Sequence[str], said: str) -> None:
        """Carry a command out for each; `said` is what is said when all went well, else each has a line."""
        results = [(i, await handle.handler.handle_command(command.format(id=i))) for i in ids]
        self._remember(handle, *(result for __, result in results))
        if len(results) == 1:
            self._report(results[0][1])
            return
        rows = []
        for todo_id, result in results:
            answer = safe_message(result.message, multiline=False)
            colour, glyph = ("$text-error", "✗") if result.failed else ("$text-success", "✓")
            rows.append(text_row(f"{glyph} {number_of(todo_id)}  {answer}", colour))
        done = sum(not result.failed for __, result in results)
        if done == len(results):
            self._display.say(said)
            return
        self._display.say(_("{title}: {done} of {n} done.").format(title=title, done=done, n=len(results)))
        await self._console.push_screen_wait(TextViewer(title, rows))


def _line(todo: SupervisorTodo) -> str:
    glyph, word, __ = status_words(todo)
    name = safe_text(todo.name, multiline=False)
    return f"{number_of(todo.id)}  {glyph} {word}  {safe_text(todo.agent_name, multiline=False)}  {name}"
