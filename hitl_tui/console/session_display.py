"""What actions on a session need of the screen that shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from hitl_tui.console.question_queue import QuestionPlace
    from hitl_tui.console.session_handle import PendingSession, SessionHandle
    from hitl_tui.console.workers import Work
    from hitl_tui.supervisor.snapshot import Question, Snapshot


class SessionDisplay(Protocol):
    """The screen of one session.

    Args:
        handle: the session; None while it opens.
        pending: what opens it.
        snapshot: how it looks.
    """

    handle: SessionHandle | None
    pending: PendingSession
    snapshot: Snapshot | None

    @property
    def question(self) -> Question | None:
        """The question that is shown."""
        ...

    def way_to(self, name: str) -> QuestionPlace | None:
        """Return where the question of this id or name stands, as it was asked last; None when it isn't open."""
        ...

    @property
    def at_prompt(self) -> bool:
        """What is typed goes to the prompt."""
        ...

    def begin(self, work: Work) -> None:
        """Do something that ends with the screen; an error becomes a sentence."""
        ...

    def say(self, text: str, *, error: bool = False, passing: bool = False) -> None:
        """Show one safe line above the prompt."""
        ...

    def answer_line(self, text: str, *, error: bool = False) -> None:
        """Show what a typed command came to in one safe line, which the stream has afterwards."""
        ...

    def note(self, text: str) -> None:
        """Add a command, or what it answered, to the stream."""
        ...

    async def fits_stream(self, text: str) -> bool:
        """Bring the stream to the front; return whether all of a text that it ends with can be seen there."""
        ...

    def working_on(self, line: str) -> AbstractContextManager[None]:
        """Say that words which were sent are being planned for, as long as the context lasts."""
        ...

    def clear_stream(self, *, undo: bool) -> None:
        """Empty the stream, or show again what was said before."""
        ...

    def show_pane(self, pane: str, *, focus: bool = False) -> None:
        """Bring a pane to the front."""
        ...

    def to_question(self) -> None:
        """Give the focus to the question that is shown."""
        ...

    def to_next_question(self) -> None:
        """Give the focus to the question that is asked, or to the next one as soon as it is."""
        ...

    def called(self, handle: SessionHandle) -> str:
        """Return the title of its session as it is shown: safe, in one line."""
        ...

    def renamed(self, title: str) -> None:
        """Show the session under another title."""
        ...

    def answered(self) -> None:
        """An answer to the question was given, or not: no dialog is on its way any more."""
        ...

    def read_whole(self, question_id: str) -> None:
        """The end of a question was read on the screen of details."""
        ...
