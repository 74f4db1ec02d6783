"""Screens that are left once: a key that is pressed twice quickly reaches what it closed already."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, TypeVar

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen, Screen

Answered = TypeVar("Answered")


def on_top(screen: Screen[Any]) -> bool:
    """Return whether a screen is the one that is seen: it wasn't left, and nothing lies over it."""
    stack = screen.app.screen_stack
    return bool(stack) and stack[-1] is screen


class Once(Screen[Answered], Generic[Answered]):
    """A screen that gives one answer. Textual would give each, and take the screen below away for the second."""

    def dismiss(self, result: Answered | None = None) -> AwaitComplete:
        if not on_top(self):
            return AwaitComplete()
        return super().dismiss(result)


class Modal(Once[Answered], ModalScreen[Answered], Generic[Answered]):
    """A dialog that gives one answer."""

    LEFT: ClassVar[Any] = None
    """Its answer when it is left without one."""
