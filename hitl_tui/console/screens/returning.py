"""What can be done from a moment of the past: compare, look at a TODO, go back, begin another session (C5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textual.content import Content

from hitl_tui.console.asking import Row
from hitl_tui.console.engine import Link
from hitl_tui.console.past import difference_rows, fork_words, restore_words, todo_rows, todos_at
from hitl_tui.console.reel import Place
from hitl_tui.console.screens.dialogs import Confirm
from hitl_tui.console.screens.viewer import Viewer
from hitl_tui.console.terms import clock_words
from hitl_tui.console.words import number_of
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import _
from hitl_tui.supervisor.comparing import changed_lines, compare, consequences

if TYPE_CHECKING:
    from hitl_tui.console.screens.replay import ReplayScreen
    from hitl_tui.console.screens.session import SessionScreen


_TEXTS_COMPARED = 5


async def result_of(link: Link, reference: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return what a state's reference to a result stands for, None when it stands for nothing.

    Raises:
        StorageError: it is missing or damaged.
    """
    digest = str((reference or {}).get("digest") or "")
    return await link.face.artifact(digest) if digest else None


async def difference_between(link: Link, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Row]:
    """Return how two states differ; of results that changed, the first few line by line."""
    found = compare(before, after)
    texts: dict[str, Sequence[str]] = {}
    for change in [r for r in found.results if r.before and r.after][:_TEXTS_COMPARED]:
        old, new = [await result_of(link, r) or {} for r in (change.before, change.after)]
        texts[change.todo_id] = changed_lines(_text(old), _text(new))
    return difference_rows(found, texts)


def _text(result: Mapping[str, Any]) -> str:
    return str(result.get("text") or result.get("summary") or "")


async def show_todo(screen: ReplayScreen, link: Link, place: Place, state: Mapping[str, Any], todo_id: str) -> None:
    """Show a TODO whole, with the result that it had then."""
    todo = todos_at(state).get(todo_id)
    if todo is None:
        return
    rows = todo_rows(todo, link.face.snapshot.workspace, await result_of(link, todo.result))
    title = _("TODO · {id} · as it was at {time}").format(id=number_of(todo.id), time=clock_words(place.info.timestamp))
    await screen.app.push_screen_wait(Viewer(title, rows))


async def _confirm(screen: ReplayScreen, title: str, said: str, yes: str) -> bool:
    dialog: Confirm = Confirm(title, Content(said), yes, screen.hitl.arming)
    return await screen.app.push_screen_wait(dialog)


async def restore(
    screen: ReplayScreen, session: SessionScreen, link: Link, place: Place, then: Mapping[str, Any]
) -> None:
    """Say what going back would change and what it wouldn't undo; go back when that is confirmed (D11)."""
    now = await link.state_at(link.face.snapshot.checkpoint_id)
    said = restore_words(place, consequences(then, now), await link.effects())
    if not await _confirm(
        screen, _("Restore the checkpoint of {time}").format(time=clock_words(place.info.timestamp)), said, _("Restore")
    ):
        screen.say(_("Nothing was changed."))
        return
    result = await link.handler.handle(f"/checkpoint restore {place.info.checkpoint_id}")
    message = safe_text(result.message, multiline=False)
    if result.failed:
        screen.say(message, error=True)
        return
    session.say(message)
    session.note(message)
    screen.dismiss(None)


async def fork(screen: ReplayScreen, link: Link, place: Place) -> None:
    """Begin another session at a moment when that is confirmed; then offer to open it (C8)."""
    engine, name = screen.hitl.engine, safe_text(link.face.id, multiline=False)
    when = clock_words(place.info.timestamp)
    if not await _confirm(
        screen, _("Fork {name} at {when}").format(name=name, when=when), fork_words(place, name), _("Fork")
    ):
        screen.say(_("Nothing was made."))
        return
    info = await engine.fork(link.face.id, place.info.checkpoint_id)
    fresh = safe_text(info.id, multiline=False)
    pauses = _(" What runs in {name} pauses until that is opened again.").format(name=name) if link.face.owned else ""
    said = _("{fresh} was made and nothing runs in it.\nOpen it now?{pauses}").format(fresh=fresh, pauses=pauses)
    if await _confirm(screen, _("Open {fresh}").format(fresh=fresh), said, _("Open it")):
        screen.hitl.open(info.id)
    else:
        screen.say(_("{fresh} begins at this moment; Ctrl+O on the session's screen lists it.").format(fresh=fresh))
