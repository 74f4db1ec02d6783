"""Work in the background that ends with the widget that began it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Protocol

from hitl_tui.core.errors import AskedAnew, GivenUp, HitlError
from hitl_tui.wording.error_lines import error_line, failure_words

if TYPE_CHECKING:
    from textual.dom import DOMNode
    from textual.worker import Worker

log = logging.getLogger(__name__)

Work = Callable[[], Coroutine[Any, Any, None]]
"""What is done; called once it begins, for what is closed before that never awaits a coroutine that it was given."""


def work_on(node: DOMNode, work: Work, *, group: str, exclusive: bool = False) -> Worker[None]:
    """Begin something that ends with a widget, a screen or the app.

    Args:
        node: what it ends with.
        work: what is done.
        group: what kind of work it is, in a word.
        exclusive: other work of its kind ends.
    """
    return node.run_worker(work, group=group, exclusive=exclusive)


class _Say(Protocol):
    def __call__(self, text: str, *, error: bool = False) -> None: ...


async def guarded(work: Work, say: _Say) -> None:
    """Run something; an error becomes a sentence, that a question is asked anew a note.

    Args:
        work: what is done.
        say: shows one safe line.
    """
    try:
        await work()
    except HitlError as error:
        say(error_line(error), error=not isinstance(error, AskedAnew | GivenUp))
    except Exception as error:
        log.exception("a command failed")
        say(failure_words(error), error=True)
