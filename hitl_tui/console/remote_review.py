"""A request of a runtime elsewhere, shown whole and answered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from textual.content import Content

from hitl_tui.console.dialogs.decided_elsewhere import beside, overtake
from hitl_tui.console.dialogs.prompt_dialogs import WordsDialog
from hitl_tui.console.dialogs.remote_dialog import RemoteDialog
from hitl_tui.console.dialogs.task_step_dialog import Said
from hitl_tui.core.review_request import PLAN
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import _, safe_message

if TYPE_CHECKING:
    from hitl_tui.console.remote_inbox import RemoteInbox
    from hitl_tui.console.services import Console
    from hitl_tui.supervisor.remote_reviews import WaitingReview

_LOOK = 0.2
"""Seconds between looks whether it still waits."""


async def review(app: Console, remote: RemoteInbox, waiting: WaitingReview) -> None:
    """Show a request and send what the operator says of it; somebody else may be first, and that is said.

    Args:
        app: shows it.
        remote: where it comes from.
        waiting: the request.

    Raises:
        HitlError: the answer can't count, or can't be sent.
    """
    text: str | None = ""
    async with _told_when_gone(app, remote, waiting):
        said = await app.push_screen_wait(RemoteDialog(waiting))
        if said is Said.REJECT:
            text = await app.push_screen_wait(_words_dialog(waiting))
    runtime = remote.runtime
    if said is None or text is None or runtime is None:
        return
    app.say(_("Sending…"))
    result = await runtime.answer(waiting.request, approved=said is Said.APPROVE, text=text)
    app.say(safe_message(result, multiline=False))


def _words_dialog(waiting: WaitingReview) -> WordsDialog:
    if waiting.request.kind == PLAN:
        said = Content(_("What should change? The planner makes another plan."))
        return WordsDialog(_("Revise · plan"), said, _("Revise"))
    return WordsDialog(_("Reject · {name}").format(name=_name(waiting)), Content(_("Reason (recorded)")), _("Reject"))


def _name(waiting: WaitingReview) -> str:
    return safe_text(waiting.request.todo_id or waiting.request.title, multiline=False)


@asynccontextmanager
async def _told_when_gone(app: Console, remote: RemoteInbox, waiting: WaitingReview) -> AsyncIterator[None]:
    """While dialogs about a request are open, tell them when it doesn't wait any more."""

    async def tell() -> None:
        gone = None
        while gone is None:
            await asyncio.sleep(_LOOK)
            gone = remote.runtime.gone(waiting.request.request_id) if remote.runtime is not None else None
        await overtake(app, safe_message(gone, multiline=False))

    async with beside(tell()):
        yield
