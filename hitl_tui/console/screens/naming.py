"""One line to give, with something in it to begin with; or one that has to be typed to confirm."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Input
from textual.widgets.input import Selection

from hitl_tui.console.keys import JAMO
from hitl_tui.console.screens.dialogs import Words
from hitl_tui.language import _

_LETTERS = str.maketrans({jamo: letter for letter, jamo in JAMO.items()})


class Plain(Words):
    """Asks for words from a list or the prompt: they decide nothing about a question, so nothing has to rest."""

    def hurried(self) -> bool:
        return False

    def _say_below(self, words: str) -> None:
        pass

    def _rest_ends(self) -> None:
        pass


class Line(Plain):
    """Asks for a line. None when nothing is to happen.

    Args:
        title: one line, safe.
        content: what the line is for, safe text.
        send: what Enter does.
        value: what stands there to begin with.
    """

    def __init__(self, title: str, content: Content, send: str, value: str = "") -> None:
        super().__init__(title, content, send, required=True)
        self._value = value

    def on_mount(self) -> None:
        field = self.query_one(Input)
        field.value = self._value
        field.selection = Selection(0, len(self._value))  # what is typed takes its place


class Token(Plain):
    """Asks for an approver's token, which isn't shown. None when nothing is to happen."""

    def __init__(self, title: str, content: Content, send: str) -> None:
        super().__init__(title, content, send, required=True)

    def on_mount(self) -> None:
        self.query_one(Input).password = True


class Typed(Plain):
    """Does something that can't be taken back, once its name was typed; Enter alone does nothing.

    Args:
        title: one line, safe.
        content: what would happen, safe text.
        send: what Enter does then.
        name: what has to be typed.
    """

    def __init__(self, title: str, content: Content, send: str, name: str) -> None:
        super().__init__(title, content, send, required=True)
        self._must = name

    def action_send(self) -> None:
        said = self.query_one(Input).value
        if said_is(said, self._must):
            self.dismiss(self._must)
        elif said.strip():
            self.query(".dialog").first().border_subtitle = Content(_("that is another name; nothing happened"))


def said_is(said: str, name: str) -> bool:
    """Return whether a name was typed, also with a Korean input method on: there letters arrive as jamo."""
    return name in (said.strip(), said.strip().translate(_LETTERS))
