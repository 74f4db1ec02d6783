"""What can be done from a moment of the past: compare, look at a TODO, go back, begin another session (C5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hitl_tui.console.dialogs.prompt_dialogs import confirm
from hitl_tui.console.dialogs.text_viewer import TextViewer
from hitl_tui.console.history_cursor import HistoryCursor
from hitl_tui.console.session_handle import SessionHandle
from hitl_tui.core.safe_text import safe_text
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.language import _, render
from hitl_tui.threads.session_diff import changed_lines, compare, consequences
from hitl_tui.threads.thread_reader import HistoryPlace
from hitl_tui.wording.difference_rows import difference_rows
from hitl_tui.wording.history_rows import event_rows, fork_words, restore_words, todo_rows, todos_at
from hitl_tui.wording.rows import Row, in_line, labelled, text_row
from hitl_tui.wording.status_words import history_said, number_of, status_words
from hitl_tui.wording.times import clock_words, day_words

if TYPE_CHECKING:
    from hitl_tui.commands.results import CommandResult
    from hitl_tui.console.screens.replay_screen import ReplayScreen
    from hitl_tui.console.screens.session_screen import SessionScreen
    from hitl_tui.console.services import SessionConsole
    from hitl_tui.threads.session_history import CheckpointInfo


_TEXTS_COMPARED = 5


async def result_of(link: SessionHandle, reference: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return what a state's reference to a result stands for, None when it stands for nothing.

    Raises:
        StorageError: it is missing or damaged.
    """
    digest = str((reference or {}).get("digest") or "")
    return await link.face.artifact(digest) if digest else None


async def difference_between(link: SessionHandle, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Row]:
    """Return how two states differ; of results that changed, the first few line by line."""
    found = compare(before, after)
    texts: dict[str, Sequence[str]] = {}
    for change in [r for r in found.results if r.before and r.after][:_TEXTS_COMPARED]:
        old, new = [await result_of(link, r) or {} for r in (change.before, change.after)]
        texts[change.todo_id] = changed_lines(_text(old), _text(new))
    return difference_rows(found, texts)


def _text(result: Mapping[str, Any]) -> str:
    return str(result.get("text") or result.get("summary") or "")


async def show_todo(
    screen: ReplayScreen, link: SessionHandle, place: HistoryPlace, state: Mapping[str, Any], todo_id: str
) -> None:
    """Show a TODO whole, with the result that it had then."""
    todo = todos_at(state).get(todo_id)
    if todo is None:
        return
    rows = todo_rows(todo, link.face.snapshot.workspace, await result_of(link, todo.result))
    if todo.result is None:
        rows += [text_row(""), text_row(_("It had no result at that moment."), "$text-muted")]
    title = _("TODO · {id} · as it was at {time}").format(id=number_of(todo.id), time=clock_words(place.info.timestamp))
    await screen.app.push_screen_wait(TextViewer(title, rows))


async def show_checkpoint(app: SessionConsole, link: SessionHandle, info: CheckpointInfo) -> None:
    """Show what is known of a checkpoint, and how each TODO stood at it."""
    state = await link.thread.state_at(info.checkpoint_id)
    number, shape = await link.thread.place(info.checkpoint_id), await link.thread.shape()
    rows = [
        _("checkpoint  {number} of {total}").format(number=number, total=shape.total),
        _("from        {parent_id}").format(parent_id=info.parent_id or "-"),
        _("time        {day} {time}").format(day=day_words(info.timestamp)[:10], time=clock_words(info.timestamp)),
        _("node        {node}").format(node=safe_text(info.node)),
        _("branch      {branch}").format(branch=info.branch),
        _("completed   {todos_completed}").format(todos_completed=info.todos_completed),
        _("said        {history_said}").format(history_said=safe_text(history_said(info), multiline=False) or "-"),
        _("id          {checkpoint_id}").format(checkpoint_id=info.checkpoint_id),
    ]
    then = todos_at(state).values()
    todos = [labelled(number_of(t.id), f"{' '.join(status_words(t)[:2])}  {in_line(t.name)}") for t in then]
    said = app.keymap.named(_("\n{viewer.close} closes; {history.restore} in the history restores it."))
    reel = HistoryCursor(link.thread, 2)
    await reel.open(info.checkpoint_id)
    place = await reel.look()
    led = event_rows(place) if place is not None and place.info.checkpoint_id == info.checkpoint_id else []
    shown = [*map(text_row, rows), *led, text_row(""), *todos, text_row(said)]
    await app.push_screen_wait(TextViewer(_("Checkpoint"), shown))


async def show_steps(
    app: SessionConsole, link: SessionHandle, todo: SupervisorTodo | None, say: Callable[[str], None]
) -> bool:
    """Show the steps of a TODO's team; return whether the team is to go on from one of them (D13).

    Args:
        app: the console.
        link: the session.
        todo: as it is, or as it was; None when there is none.
        say: shows one line.
    """
    from hitl_tui.console.screens.steps_screen import StepsScreen

    if todo is None or not todo.thread:
        number = number_of(todo.id) if todo is not None else ""
        say(_("{todo} has not run, so its team has no steps.").format(todo=number))
        return False
    chosen: bool = await app.push_screen_wait(StepsScreen(link, todo))
    return chosen


async def go_back(app: SessionConsole, link: SessionHandle, info: CheckpointInfo) -> CommandResult | None:
    """Say what going back to a checkpoint would change and what it wouldn't undo; go when that is confirmed (D11).

    Returns:
        what the command answered; None when it wasn't confirmed.
    """
    then, now = (
        await link.thread.state_at(info.checkpoint_id),
        await link.thread.state_at(link.face.snapshot.checkpoint_id),
    )
    number, shape = await link.thread.place(info.checkpoint_id), await link.thread.shape()
    said = restore_words(info, number, shape.total, consequences(then, now), await link.thread.effects())
    title = _("Restore the checkpoint of {time}").format(time=clock_words(info.timestamp))
    if not await confirm(app, title, said, _("Restore")):
        return None
    result = await link.handler.handle(f"/checkpoint restore {info.checkpoint_id}")
    if result.status != "restored":
        return result
    told = _("The session is back at checkpoint {number} of {total} ({time}, {node}); nothing was executed.")
    when, node = clock_words(info.timestamp), safe_text(info.node, multiline=False)
    return replace(result, message=told.format(number=number, total=shape.total, time=when, node=node))


async def restore(screen: ReplayScreen, session: SessionScreen, link: SessionHandle, place: HistoryPlace) -> None:
    """Go back to a moment of replay, once that is confirmed; then to the session."""
    result = await go_back(screen.hitl, link, place.info)
    if result is None:
        screen.say(_("Nothing was changed."))
        return
    message = safe_text(render(result.message), multiline=False)
    if result.failed:
        screen.say(message, error=True)
        return
    session.say(message)
    session.note(message)
    screen.dismiss(None)


async def fork(screen: ReplayScreen, link: SessionHandle, place: HistoryPlace) -> None:
    """Begin another session at a moment when that is confirmed; then offer to open it (C8)."""
    engine, name = screen.hitl.engine, safe_text(link.face.id, multiline=False)
    when = clock_words(place.info.timestamp)
    if not await confirm(
        screen.hitl, _("Fork {name} at {when}").format(name=name, when=when), fork_words(place, name), _("Fork")
    ):
        screen.say(_("Nothing was made."))
        return
    admin = await engine.admin()
    made = (await admin.fork(link.face.id, place.info.checkpoint_id, by=screen.hitl.options.by)).session
    fresh = safe_text(made.id, multiline=False)
    goes_on = _(" What runs in {name} goes on meanwhile.").format(name=name) if link.face.owned else ""
    said = _("{fresh} was created and nothing runs in it.\nOpen it now?{goes_on}").format(fresh=fresh, goes_on=goes_on)
    screen.say("")  # what was said of another fork isn't true of this one
    if await confirm(screen.hitl, _("Open {fresh}").format(fresh=fresh), said, _("Open it")):
        screen.hitl.sessions.open(made.id)
    else:
        said = _("{fresh} begins at this moment; {console.home} on the session's screen lists it.")
        screen.say(screen.hitl.keymap.named(said).replace("{fresh}", fresh))
