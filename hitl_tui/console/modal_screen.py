"""Screens that are left once: a key that is pressed twice quickly reaches what it closed already."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from textual.await_complete import AwaitComplete
from textual.binding import Binding
from textual.content import Content
from textual.geometry import Region
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from hitl_tui.console.keyguard.key_targets import KeyScreen
from hitl_tui.console.keys import KEYS, KeySpec
from hitl_tui.console.widgets.bars import KeyLine
from hitl_tui.console.widgets.dialog_frame import Dialog
from hitl_tui.console.widgets.layout import SHORT
from hitl_tui.language import _

if TYPE_CHECKING:
    from textual.message_pump import Callback
    from textual.timer import Timer, TimerCallback

Answered = TypeVar("Answered")
_ALWAYS = {"console.help", "console.quit"}
"""Keys that act over a dialog, too."""


def on_top(screen: Widget) -> bool:
    """Return whether a screen is the one that is seen: it wasn't left, and nothing lies over it."""
    stack = screen.app.screen_stack
    return bool(stack) and stack[-1] is screen


class SingleResultScreen(KeyScreen[Answered], Generic[Answered]):
    """A screen that gives one answer. Textual would give each, and take the screen below away for the second.

    What it meant to do later isn't done once it was left: its widgets go before its work is stopped.
    """

    covers_prompt = True

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

    def _unless_left(self, callback: Callable[[], object]) -> Any:
        return None if self.left else callback()


class Modal(SingleResultScreen[Answered], ModalScreen[Answered], Generic[Answered]):
    """A dialog that gives one answer.

    Args:
        title: one line, safe.
    """

    LEFT: ClassVar[Any] = None
    """Its answer when it is left without one."""
    NAMES_KEYS: ClassVar[bool] = True
    """The last row of the screen names its keys; one that takes the whole screen names them in its frame."""
    over = ""
    """Why nothing can be sent any more, safe: somebody else decided. It stays, as does what was typed."""

    def __init__(self, title: str = "") -> None:
        super().__init__()
        self._heading = title

    def on_mount(self) -> None:
        if self.NAMES_KEYS and self.app.size.height >= SHORT:
            line = KeyLine()
            self.mount(line)
            line.show(self.key_specs())

    def key_specs(self) -> Sequence[KeySpec]:
        """Return the keys that act while it is open, the most important first; not those of what lies below."""
        declared = (binding for made in type(self).__mro__ for binding in vars(made).get("BINDINGS", ()))
        own = {binding.id for binding in declared if isinstance(binding, Binding)}
        last = [spec for spec in KEYS if spec.id in _ALWAYS]
        return [*(spec for spec in KEYS if spec.line and spec.id in own), *last]

    def overtaken(self, words: str) -> None:
        """Say at once that what it is about was decided elsewhere; from now on it can only be left.

        Args:
            words: who decided what, safe.
        """
        if self.over or self.left or not self.query(Dialog):
            return
        self.over = words
        box = self.query(Dialog).first()
        box.mount(Static(Content(words), classes="dialog-over"), before=0)
        self.below("")

    @property
    def asked_region(self) -> Region | None:
        dialogs = self.query(Dialog)
        return dialogs.first().region if dialogs else super().asked_region

    def show_refusal(self, words: str) -> bool:
        if not self.query(Dialog):
            return False
        self.below(words)
        return True

    def below(self, words: str) -> None:
        """Say a few safe words at the lower edge; nothing is ready there any more once it was overtaken."""
        said = _("can no longer be sent") if self.over else words
        self.query(Dialog).first().border_subtitle = Content(said)

    def dismiss(self, result: Answered | None = None) -> AwaitComplete:
        if self.over and result is not self.LEFT:
            return AwaitComplete()
        return super().dismiss(result)
