"""What is typed at a question: whether it seems to be words, and what belongs into a dialog on its way."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from textual.events import Key, Paste

from hitl_tui.console import keys
from hitl_tui.console.answer_actions import Answer
from hitl_tui.console.keyguard.guard import KeyGuard
from hitl_tui.console.keymap import Keymap
from hitl_tui.core.interrupts.shape import Form
from hitl_tui.supervisor.snapshot import Question

_SENDS = (
    (keys.WORDS, "words.send"),
    (keys.SAY, "say.send"),
    (keys.FORM, "form.send"),
    (keys.FORM, "form.approve"),
)

Typed = Key | Paste


def opens(question: Question, answer: Answer) -> bool:
    """Return whether an answer shows a dialog first; any other counts at once."""
    if answer.ask == "inner" and question.shape is not None:
        return question.shape.possible(answer.action).wants.form is not Form.NONE
    return bool(answer.ask)


@dataclass(frozen=True, slots=True)
class _Arrived:
    """A key on its way to the question: what held when it was pressed."""

    key: Key
    decides: bool
    paused: bool
    pictures: int
    answers: bool


class DialogKeys:
    """Follows what is typed at a question, and keeps what is typed while a dialog is on its way.

    Args:
        guard: when keys decide.
    """

    def __init__(self, guard: KeyGuard) -> None:
        self._guard = guard
        self._arrived: deque[_Arrived] = deque()
        self._kept: list[Typed] | None = None
        self.rested = False
        """The key that came last was pressed after the pause, and the question is as it was then."""
        self.flowing = False
        """Keys come without a pause after one that meant nothing, came too soon or opened a dialog: words, it seems."""

    def arrived(self, key: Key, *, answers: bool) -> None:
        """A key is on its way to the question: others may be pressed before it gets there.

        Args:
            key: the key.
            answers: it chooses an answer, so that it may open a dialog.
        """
        guard = self._guard
        self._arrived.append(_Arrived(key, guard.decides, guard.paused, guard.pictures, answers))

    def came(self, key: Key, *, means: bool, unseen: bool) -> bool:
        """Take over that a key got there; return whether it is kept for a dialog.

        Args:
            key: the key, which had arrived.
            means: it does something in a question.
            unseen: what is shown was changed, and isn't on the screen yet.
        """
        arrived = self._taken(key)
        drawn = arrived is not None and arrived.pictures == self._guard.pictures and not unseen
        self.rested = arrived is not None and arrived.decides and drawn
        paused = self.rested or (arrived is not None and arrived.paused)
        kept = self.keep(key)
        self.flowing = (self.flowing and not paused) or not (means or kept)
        return kept

    def _taken(self, key: Key) -> _Arrived | None:
        while self._arrived:
            arrived = self._arrived.popleft()
            if arrived.key is key:
                return arrived
        return None

    @property
    def keeping(self) -> bool:
        """A dialog is on its way."""
        return self._kept is not None

    @property
    def pending(self) -> bool:
        """A dialog is on its way, or a key that may open one."""
        return self.keeping or any(arrived.answers for arrived in self._arrived)

    def begin(self) -> None:
        """A dialog is on its way: keep what is typed for it."""
        if self._kept is None:
            self._kept = []

    def keep(self, event: Typed) -> bool:
        """Return whether an event is kept for the dialog."""
        if self._kept is None:
            return False
        self._kept.append(event)
        return True

    def take(self, keymap: Keymap) -> list[Typed]:
        """Return what is to be handed on, and keep nothing more.

        What sends or approves in a dialog is left out: it was pressed before there was anything to be seen.
        """
        kept, self._kept = self._kept or [], None
        return [_again(e) for e in kept if isinstance(e, Paste) or not _sends(e, keymap)]


def _sends(key: Key, keymap: Keymap) -> bool:
    return any(keymap.at(where, key.key) == name for where, name in _SENDS)


def _again(event: Typed) -> Typed:
    """Return an event as it was before it was handed to the question."""
    fresh = Paste(event.text) if isinstance(event, Paste) else Key(event.key, event.character)
    fresh.time = event.time
    return fresh
