"""Screens that are left once: a key that is pressed twice quickly reaches what it closed already."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen, Screen

if TYPE_CHECKING:
    from textual.message_pump import Callback
    from textual.timer import Timer, TimerCallback

Answered = TypeVar("Answered")


def on_top(screen: Screen[Any]) -> bool:
    """Return whether a screen is the one that is seen: it wasn't left, and nothing lies over it."""
    stack = screen.app.screen_stack
    return bool(stack) and stack[-1] is screen


class Once(Screen[Answered], Generic[Answered]):
    """A screen that gives one answer. Textual would give each, and take the screen below away for the second.

    What it meant to do later isn't done once it was left: its widgets go before its work is stopped.
    """

    @property
    def left(self) -> bool:
        """It gave its answer; its widgets may be gone."""
        return self not in self.app.screen_stack

    def dismiss(self, result: Answered | None = None) -> AwaitComplete:
        if not on_top(self):
            return AwaitComplete()
        return super().dismiss(result)

    def call_after_refresh(self, callback: Callback, *args: Any, **kwargs: Any) -> bool:
        return super().call_after_refresh(self._unless_left, partial(callback, *args, **kwargs))

    def set_timer(
        self, delay: float, callback: TimerCallback | None = None, *, name: str | None = None, pause: bool = False
    ) -> Timer:
        later = partial(self._unless_left, callback) if callback is not None else None
        return super().set_timer(delay, later, name=name, pause=pause)

    def _unless_left(self, callback: Callable[[], Any]) -> Any:
        return None if self.left else callback()


class Modal(Once[Answered], ModalScreen[Answered], Generic[Answered]):
    """A dialog that gives one answer."""

    LEFT: ClassVar[Any] = None
    """Its answer when it is left without one."""
