"""Dialogs learn at once that somebody else decided what they are about; what was typed into them stays."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from hitl_tui.console.modal_screen import Modal
from hitl_tui.core.errors import HitlError
from hitl_tui.core.names import plain_name
from hitl_tui.core.requests import Outcome
from hitl_tui.core.safe_text import safe_text
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.language import _, translate
from hitl_tui.wording.status_words import number_of

if TYPE_CHECKING:
    from hitl_tui.console.dialogs.review_dialog import ReviewDialog
    from hitl_tui.console.services import Console
    from hitl_tui.console.session_handle import SessionHandle
    from hitl_tui.supervisor.snapshot import Question

_AGAIN = 0.2
"""Seconds after which a dialog that opened since is told, too."""


@asynccontextmanager
async def told_when_gone(app: Console, handle: SessionHandle, question: Question) -> AsyncIterator[None]:
    """While dialogs about a question are open, tell them when it is decided or replaced elsewhere.

    Args:
        app: shows the dialogs.
        handle: the session.
        question: what they are about.
    """

    async def tell() -> None:
        await _gone(handle, [question])
        await overtake(app, await gone_words(handle, question))

    async with beside(tell()):
        yield


@asynccontextmanager
async def told_when_ended(app: Console, handle: SessionHandle, todo: SupervisorTodo) -> AsyncIterator[None]:
    """While a dialog asks whether to stop a step that runs, tell it when the step has ended by itself.

    Args:
        app: shows the dialog.
        handle: the session.
        todo: the step.
    """

    async def tell() -> None:
        seen = handle.session.snapshot
        while (now := seen.todo(todo.id)) is not None and now.status is Status.IN_PROGRESS:
            seen = await handle.session.changed(seen)
        await overtake(app, _("{id} has ended; there is nothing left to stop.").format(id=number_of(todo.id)))

    async with beside(tell()):
        yield


async def overtake(app: Console, words: str) -> None:
    """Tell every dialog, also one that opens from now on, why it can only be left."""
    while True:
        for screen in app.screen_stack:
            if isinstance(screen, Modal):
                screen.overtaken(words)
        await asyncio.sleep(_AGAIN)


@asynccontextmanager
async def told_when_some_gone(
    review: ReviewDialog, handle: SessionHandle, questions: Sequence[Question]
) -> AsyncIterator[None]:
    """While a review is open, tell it which of its questions are decided or replaced elsewhere.

    Args:
        review: the dialog.
        handle: the session.
        questions: what it lists.
    """

    async def tell() -> None:
        waiting = list(questions)
        while waiting:
            for question in await _gone(handle, waiting):
                waiting.remove(question)
                review.gone(question, await gone_words(handle, question))

    async with beside(tell()):
        yield


@asynccontextmanager
async def beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Let something be done while dialogs are open.

    Args:
        work: what is done; it ends with them.
    """

    async def quietly() -> None:
        with suppress(HitlError):  # the session itself can't go on, and says so
            await work

    task = asyncio.create_task(quietly())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})
        work.close()


async def _gone(handle: SessionHandle, questions: Sequence[Question]) -> list[Question]:
    """Wait until some of these aren't asked any more; return them."""
    seen = handle.session.snapshot
    while True:
        asked = {q.id for q in seen.questions}
        if found := [q for q in questions if q.id not in asked]:
            return found
        seen = await handle.session.changed(seen)


async def gone_words(handle: SessionHandle, question: Question) -> str:
    """Return who decided a question and what, or why it isn't asked any more; one safe line."""
    view = await handle.session.writer.request(question.id)
    if view is None:
        said = _("This is no longer asked.")
    elif view.resolution.outcome is Outcome.EXPIRED:
        said = _("This expired meanwhile.")
    elif (gone := view.request.superseded) is not None:
        ended = _("{what} by {who}").format(what=translate(gone.word), who=gone.who)
        said = _("This is no longer asked: {why}.").format(why=ended if gone.ended_at else translate(gone.word))
    elif not view.decisions:
        said = _("This is no longer asked.")
    else:
        last = view.decisions[-1]
        said = _("Decided meanwhile: {verdict} by {by}.").format(verdict=_(last.said), by=plain_name(last.by))
        if last.reason:
            said += " " + _("Reason: {reason}").format(reason=last.reason)
    return safe_text(said, multiline=False, limit=400)
