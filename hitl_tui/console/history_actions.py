"""What can be done from a checkpoint of a session: compare, look at a TODO or its team's steps, go back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from hitl_tui.console.history_cursor import HistoryCursor
from hitl_tui.console.session_handle import SessionHandle
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.language import _
from hitl_tui.threads.checkpoint_causes import CheckpointCauses
from hitl_tui.threads.session_diff import changed_lines, compare
from hitl_tui.threads.thread_reader import HistoryPlace
from hitl_tui.wording.difference_rows import difference_rows
from hitl_tui.wording.history_rows import cause_words, event_rows, todo_rows, todos_at
from hitl_tui.wording.rows import Row, in_line, labelled, text_row
from hitl_tui.wording.status_words import number_of, status_words
from hitl_tui.wording.times import clock_words, day_words

if TYPE_CHECKING:
    from hitl_tui.console.keymap import Keymap
    from hitl_tui.console.services import Console
    from hitl_tui.threads.session_history import CheckpointInfo


Say = Callable[[str], None]

_TEXTS_COMPARED = 5


async def result_of(handle: SessionHandle, reference: Mapping[str, object] | None) -> JsonObject | None:
    """Return what a state's reference to a result stands for, None when it stands for nothing.

    Raises:
        StorageError: it is missing or damaged.
    """
    digest = str((reference or {}).get("digest") or "")
    return await handle.session.artifact(digest) if digest else None


async def difference_between(
    handle: SessionHandle, before: JsonObject, after: JsonObject, folded: str = ""
) -> list[Row]:
    """Return how two states differ; of results that changed, the first few line by line.

    Args:
        handle: the session.
        before, after: the states.
        folded: how the key reads that shows the engine's own values; empty to show them.
    """
    found = compare(before, after)
    texts: dict[str, Sequence[str]] = {}
    for change in [r for r in found.results if r.before and r.after][:_TEXTS_COMPARED]:
        old, new = [await result_of(handle, r) or {} for r in (change.before, change.after)]
        texts[change.todo_id] = changed_lines(_text(old), _text(new))
    return difference_rows(found, texts, folded)


def _text(result: JsonObject) -> str:
    return str(result.get("text") or result.get("summary") or "")


async def todo_then(
    handle: SessionHandle, place: HistoryPlace, state: JsonObject, todo_id: str
) -> tuple[str, list[Row]] | None:
    """Return a TODO whole as it was, with the result that it had then: title and rows; None where there was none.

    Args:
        handle: the session.
        place: when.
        state: as it was.
        todo_id: which.
    """
    todo = todos_at(state).get(todo_id)
    if todo is None:
        return None
    rows = todo_rows(todo, handle.session.snapshot.workspace, await result_of(handle, todo.result))
    if todo.result is None:
        rows += [text_row(""), text_row(_("It had no result at that moment."), "$text-muted")]
    title = _("Step {id} · as it was at {time}").format(id=number_of(todo.id), time=clock_words(place.info.timestamp))
    return title, rows


async def checkpoint_rows(
    handle: SessionHandle, info: CheckpointInfo, keymap: Keymap, *, engine: bool = False
) -> list[Row]:
    """Return what is known of a checkpoint, and how each TODO stood at it.

    Args:
        handle: the session.
        info: the checkpoint.
        keymap: names the keys.
        engine: say which of its nodes the engine stood at, too.
    """
    state = await handle.thread.state_at(info.checkpoint_id)
    reel = HistoryCursor(handle.thread, 2, CheckpointCauses())
    await reel.open(info.checkpoint_id)
    place = await reel.look()
    here = place is not None and place.info.checkpoint_id == info.checkpoint_id
    cause = reel.causes.get(info.checkpoint_id)
    number, shape = await handle.thread.place(info.checkpoint_id), await handle.thread.shape()
    rows = [
        labelled(_("checkpoint"), _("{number} of {total}").format(number=number, total=shape.total), "bold"),
        labelled(_("time"), f"{day_words(info.timestamp)[:10]} {clock_words(info.timestamp)}"),
    ]
    if cause is not None and (said := cause_words(cause)):
        rows.append(labelled(_("what"), said))
    rows += event_rows(place) if place is not None and here else []
    then = todos_at(state).values()
    rows += [text_row(""), text_row(_("The plan then"), "bold")] if then else []
    rows += [labelled(number_of(t.id), f"{' '.join(status_words(t)[:2])}  {in_line(t.name)}") for t in then]
    rows += [text_row(""), labelled(_("branch"), str(info.branch))]
    rows += [labelled(_("engine"), in_line(info.node))] if engine else []
    rows.append(labelled("id", info.checkpoint_id))
    said = keymap.named(_("{viewer.close} closes; {history.restore} in the history goes back to it."))
    return [*rows, text_row(""), text_row(said, "$text-muted")]


async def show_steps(
    console: Console, handle: SessionHandle, todo: SupervisorTodo | None, say: Say, say_after: Say
) -> bool:
    """Show the steps of a TODO's team; return whether the team is to go on from one of them.

    Args:
        console: the app.
        handle: the session.
        todo: as it is, or as it was; None when there is none.
        say: shows one safe line.
        say_after: shows one where the session is shown.
    """
    from hitl_tui.console.screens.steps_view import StepsScreen, StepsView

    if todo is None or not todo.thread:
        number = number_of(todo.id) if todo is not None else ""
        say(_("{todo} has not run, so its team has no steps.").format(todo=number))
        return False
    return await console.push_screen_wait(StepsScreen(StepsView(console, handle, todo, say_after)))
