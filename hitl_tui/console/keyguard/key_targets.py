"""What a screen, a prompt or a pane tells the key guard about keys. Console classes derive from these."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Generic, TypeVar

from textual.events import Key, Paste
from textual.geometry import Region
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import TextArea

from hitl_tui.console.keyguard.guard import KeyKind, Typed
from hitl_tui.console.keymap import keymap_of
from hitl_tui.console.keys import FINDING

Answered = TypeVar("Answered")


class KeyScreen(Screen[Answered], Generic[Answered]):
    """A screen that may know more of its keys than their bindings say."""

    covers_prompt: ClassVar[bool] = False
    """It lies over another screen until it has its result: text that it has no field for goes to the prompt there."""

    @property
    def asked_region(self) -> Region | None:
        """Where what decides is on the screen, empty while it isn't there yet; None when nothing is asked."""
        return self.region

    def begin_anew(self) -> None:
        """Somebody looks at it who has seen nothing of it: what has to be read counts as read no more."""

    def kind_of(self, key: Key) -> KeyKind | None:
        """Return what a key would do; None where its binding says so."""
        return None

    def focus_text(self) -> bool:
        """Give the focus to the field for a character that would have decided; return False where there is none."""
        return False

    def typed(self) -> None:
        """Something was typed that the screen takes now."""

    def typed_command(self, line: str) -> bool:
        """Take a line that was typed where words are looked for, if it is a command; return whether it was."""
        return False

    def show_refusal(self, words: str) -> bool:
        """Show why a key did nothing, in safe words; return False where the console's message line shall show it."""
        return False


class PromptField(TextArea):
    """The text field for commands and words."""

    async def take(self, event: Typed) -> None:
        """Take a character or a paste that was typed at a dialog without a field."""
        self.insert(event.text if isinstance(event, Paste) else event.character or "")


class SearchField(Widget):
    """A pane that words are looked for in, which are typed in the pane itself.

    A key is on its way for a while, and others are judged meanwhile: what it will do is worked out when it is sent.
    """

    PART: ClassVar[str]
    """Of the key map: its key that ends in `.find` begins."""
    _coming = 0
    _will_type = False

    @property
    @abstractmethod
    def typing(self) -> bool:
        """What arrives now are words to look for."""

    @property
    def takes_text(self) -> bool:
        """What is typed now are words to look for, also while the key that begins or ends them is on its way."""
        return self._will_type if self._coming else self.typing

    def post_message(self, message: Message) -> bool:
        if isinstance(message, Key):
            keymap = keymap_of(self.app)
            typing = self.takes_text
            if not typing:
                self._will_type = keymap.at(self.PART, message.key).endswith(".find")
            else:
                self._will_type = not keymap.at(FINDING, message.key)
            self._coming += 1
        return super().post_message(message)

    def key_arrived(self) -> None:
        """A key that was on its way is here."""
        self._coming = max(0, self._coming - 1)
