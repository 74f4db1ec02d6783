"""Work in the background that ends with the widget that began it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.dom import DOMNode
    from textual.worker import Worker

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
