"""Programs that have the terminal while the console steps aside: an editor, a pager."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from textual.app import SuspendNotSupported

from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message

if TYPE_CHECKING:
    from hitl_tui.console.services import Console

T = TypeVar("T")


async def step_aside(console: Console, work: Callable[[], Awaitable[T]]) -> T:
    """Return what came of work that had the terminal; the console has it again then, whatever happened.

    Raises:
        BadInput: the terminal can't be given away.
    """
    error: BaseException | None = None
    try:
        with console.suspend(), console.batch_update():
            # What is raised in here would leave the console suspended: Textual resumes it after an orderly end only.
            try:
                result = await work()
            except BaseException as raised:  # noqa: BLE001 - it is raised again
                error = raised
    except SuspendNotSupported as raised:
        raise BadInput(Message("This terminal can't open an editor.")) from raised
    if error is not None:
        raise error
    return result
