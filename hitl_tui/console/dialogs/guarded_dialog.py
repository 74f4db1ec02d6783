"""Dialogs that say at their lower edge whether a key decides yet, and the buttons that name their keys."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Generic

from textual.content import Content
from textual.widgets import Button

from hitl_tui.console.keyguard.guard import KeyGuard, guard_of
from hitl_tui.console.keymap import Keymap
from hitl_tui.console.modal_screen import Answered, Modal
from hitl_tui.core.bursts import ARM_AFTER
from hitl_tui.language import _

CSS: list[str | PurePath] = ["dialogs.tcss", "../widgets/rows.tcss"]
"""The stylesheets of the dialogs."""
_NAMED = re.compile(r"(\{[a-z_]+\.[a-z0-9_]+\})")


class KeyButton(Button):
    """A button that says its key, then what it does; both safe.

    Args:
        keymap: the keys as they are mapped now.
        binding: id of the key that does the same; its last part is the button's id, too.
        label: what it does.
        focusable: it can have the focus, so that Enter presses it.
    """

    def __init__(self, keymap: Keymap, binding: str, label: str, *, focusable: bool = True) -> None:
        said = Content.assemble((keymap.shown(binding), "bold $text-primary"), " ", label)
        super().__init__(said, id=binding.rpartition(".")[2], compact=True)
        self.can_focus = focusable


def named_keys(keymap: Keymap, text: str) -> Content:
    """Return a line that says what keys do, with those that it names by id (`Keymap.named`) standing out."""
    parts = _NAMED.split(text)
    return Content.assemble(
        *((keymap.named(part), "bold $text-primary" if n % 2 else "$text-muted") for n, part in enumerate(parts))
    )


class GuardedDialog(Modal[Answered], Generic[Answered]):
    """A dialog in which a key decides only some time after it was drawn; its lower edge says whether it does yet."""

    CSS_PATH = CSS
    _hurry = ""
    """What was said when something was sent too soon."""
    _looks_again = False

    @property
    def guard(self) -> KeyGuard:
        """When keys decide."""
        return guard_of(self.app)

    @property
    def remaining(self) -> float:
        """Seconds until a key decides; 0 when the next one does."""
        return self.guard.remaining

    def on_mount(self) -> None:
        self.guard.drawn()
        self.show_state()

    def show_state(self) -> None:
        """Say at the lower edge whether a key decides yet, and again once it does."""
        remaining = self.remaining
        self.below(self.state_words(remaining))
        if remaining > 0 and not self._looks_again:  # one is enough, however much is typed meanwhile
            self._looks_again = True
            self.set_timer(min(remaining, ARM_AFTER) + 0.02, self._look_again)

    def _look_again(self) -> None:
        self._looks_again = False
        self.show_state()

    def state_words(self, remaining: float) -> str:
        """Return what stands at the lower edge while a key decides in so many seconds."""
        if remaining > 0:
            return self._hurry or "…"
        return _("ready now: press it again") if self._hurry else _("ready")


class UnhurriedDialog(GuardedDialog[Answered], Generic[Answered]):
    """A dialog that a key of the question opens: what is typed on and on, unawares, sends nothing in it.

    What sends counts once the keyboard rested at some moment since the dialog was there.
    """

    _opened = float("inf")

    def on_mount(self) -> None:
        self._opened = self.guard.now

    @property
    def remaining(self) -> float:
        """Seconds until what sends counts; 0 when it does."""
        return self.guard.rest_remaining(self._opened)

    def hurried(self) -> bool:
        """Return whether nothing may be sent yet; then that is said, and what was typed stays."""
        if self.over:
            return True
        if self.guard.rested_since(self._opened):
            return False
        self._hurry = _("Too soon after the last key; nothing was decided")
        self.show_state()
        return True
