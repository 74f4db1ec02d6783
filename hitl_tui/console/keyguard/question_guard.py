"""Whether a key or click answers a question, and how much of the question was on the screen before."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from hitl_tui.console.answer_actions import Answer
from hitl_tui.console.keyguard.dialog_keys import DialogKeys, opens
from hitl_tui.console.keyguard.guard import KeyGuard
from hitl_tui.core.bursts import ARM_AFTER
from hitl_tui.wording.evidence_rows import awaits_preview
from hitl_tui.wording.rows import Row

if TYPE_CHECKING:
    from hitl_tui.supervisor.snapshot import Question


class HoldReason(Enum):
    """Why an answer doesn't count."""

    IMPOSSIBLE = "this question can't be answered so"
    TOO_SOON = "it came too soon after what was typed or drawn last"
    INCOMPLETE = "what the step would touch is still being found out"
    UNREAD = "the end of the question wasn't on the screen yet"


@dataclass(frozen=True, slots=True)
class AnswerPress:
    """How a key or a click came.

    Args:
        ready: after the pause, to a question that stood on the screen meanwhile: it may decide.
        may_look: it may show something; it isn't one of several in a row that seem to be words.
        rested: it came after the pause, but others came since: it may open a dialog, which they are kept for.
    """

    ready: bool
    may_look: bool
    rested: bool


def held(question: Question, answer: Answer, press: AnswerPress, *, read: bool, complete: bool) -> HoldReason | None:
    """Return why an answer doesn't count; None when it does.

    Args:
        question: what is on the screen.
        answer: the one that was chosen.
        press: how it was.
        read: the question was read to its end.
        complete: all that there is to be read is there.
    """
    if answer.why_not:
        return HoldReason.IMPOSSIBLE
    looks = answer.looks and press.may_look  # to look decides nothing
    if not (press.ready or looks or (press.rested and opens(question, answer))):
        return HoldReason.TOO_SOON
    if answer.binds and not read:
        return HoldReason.UNREAD if complete else HoldReason.INCOMPLETE
    return None


Picture = tuple[str, tuple[Row, ...]]
"""The id of a question, and the rows that it was drawn with."""


class ReadProgress:
    """Keeps which questions were read to their end, and what stands with them besides.

    Args:
        guard: when keys decide; a question that was drawn, or read to its end, just now disarms them.
    """

    def __init__(self, guard: KeyGuard) -> None:
        self._guard = guard
        self._read: set[str] = set()
        self._read_at = float("-inf")
        self._drafts: dict[str, tuple[Row, ...]] = {}
        self._awaited: set[str] = set()
        self.picture: Picture | None = None
        """What was drawn last."""
        self.unseen = False
        """It isn't on the screen yet."""

    # What stands with a question -------------------------------------------------------------------------------

    def keep(self, ids: Collection[str]) -> None:
        """Forget the drafts of all other questions."""
        self._drafts = {i: rows for i, rows in self._drafts.items() if i in ids}
        self._awaited.intersection_update(ids)

    def has_draft(self, question_id: str) -> bool:
        """Return whether what a file would hold is known, or being found out."""
        return question_id in self._drafts

    def draft(self, question_id: str) -> Sequence[Row]:
        """Return the rows that stand with a question."""
        return self._drafts.get(question_id, ())

    def show_draft(self, question_id: str, rows: Sequence[Row], *, awaited: bool) -> None:
        """Let rows stand with a question.

        Args:
            question_id: the question.
            rows: what a file would hold, or a word that it is being found out.
            awaited: it is: until that is over the question can't be read to its end.
        """
        (self._awaited.add if awaited else self._awaited.discard)(question_id)
        self._drafts[question_id] = tuple(rows)

    def complete(self, question: Question) -> bool:
        """Return whether what the step would touch or write has been found out."""
        return question.id not in self._awaited and not awaits_preview(question)

    # What was drawn --------------------------------------------------------------------------------------------

    def draws(self, picture: Picture, shown: Callable[[], object]) -> bool:
        """Return whether a picture is another one than the last; that has to be read, and stand, before keys decide.

        Args:
            picture: what is drawn.
            shown: called once the terminal shows it.
        """
        if picture == self.picture:
            return False
        self.picture, self.unseen = picture, True
        self._read.discard(picture[0])
        self._guard.drawn(shown)
        return True

    def begin_anew(self) -> None:
        """Whoever looks at it has seen nothing of it yet."""
        self._read.clear()
        self.unseen = self.picture is not None

    def put_away(self) -> bool:
        """Draw nothing; return whether something was drawn."""
        was, self.picture = self.picture, None
        return was is not None

    def on_screen(self, picture: Picture | None) -> bool:
        """The terminal shows a picture: a busy console may have taken a while for it.

        Returns:
            False when another picture was drawn since.
        """
        if picture is not self.picture:
            return False
        self.unseen = False
        return True

    # Read to the end -------------------------------------------------------------------------------------------

    def read(self, question_id: str) -> bool:
        """Return whether the end of a question was on the screen."""
        return question_id in self._read

    def look(self, question: Question, *, end: bool) -> None:
        """Take over how much of a question is on the screen now; what waits to be drawn isn't on it.

        Args:
            question: what is shown.
            end: its last row is to be seen.
        """
        if self.unseen:
            return
        if not end:
            if self._guard.now - self._read_at < ARM_AFTER:
                self._read.discard(question.id)  # it was there for a moment only, as when a frame shrinks
        elif self.complete(question) and not self.read(question.id):
            self._read.add(question.id)
            self._read_at = self._guard.now
            self._guard.drawn()  # a key that was pressed before the end could be seen decides nothing

    def read_elsewhere(self, question: Question) -> None:
        """The end of a question was read on a screen of its own."""
        if self.complete(question):
            self._read.add(question.id)
            self._read_at = float("-inf")


class QuestionGuard:
    """Judges keys and clicks at the question panel: what answers, what a dialog gets, what is only words.

    Args:
        guard: when keys decide.
    """

    def __init__(self, guard: KeyGuard) -> None:
        self._guard = guard
        self.dialog = DialogKeys(guard)
        self.reading = ReadProgress(guard)
        self._swallow_click = False

    def focused(self) -> None:
        """The panel got the focus: a click that brought it there decides nothing."""
        self._swallow_click = self._guard.pointer
        self._guard.turned()

    def only_focuses(self, *, focused: bool) -> bool:
        """Return whether a click does no more than bring the focus, which the panel has or hasn't yet."""
        if self._swallow_click or not focused:
            self._swallow_click = False
            return True
        return False

    def clicked(self) -> AnswerPress:
        """Return how the click came that chooses an answer now."""
        self.dialog.rested = False  # that was said of a key
        ready = self._guard.click_decides and not self.reading.unseen
        return AnswerPress(ready, may_look=True, rested=False)

    def pressed(self) -> AnswerPress:
        """Return how the key came that chooses an answer now."""
        self._swallow_click = False
        ready = self._guard.decides and not self.reading.unseen
        return AnswerPress(ready, may_look=ready or not self.dialog.flowing, rested=self.dialog.rested)

    def judge(self, question: Question, answer: Answer, press: AnswerPress) -> HoldReason | None:
        """Return why an answer doesn't count, None when it does; what is typed next is kept for a dialog that it opens.

        After one that came too soon, the rest of the same words opens nothing.
        """
        read, complete = self.reading.read(question.id), self.reading.complete(question)
        why = held(question, answer, press, read=read, complete=complete)
        if why is HoldReason.TOO_SOON:
            self.dialog.flowing = True
        elif why is None and opens(question, answer):
            self.dialog.flowing = True
            self.dialog.begin()
        return why

    def judge_review(self, *, marked: bool) -> HoldReason | None:
        """Return why the marked questions aren't shown for a review, None when they are."""
        if self.dialog.flowing and not self._guard.decides:
            return HoldReason.TOO_SOON
        self.dialog.flowing = self.dialog.flowing or marked
        return None

    def judge_results(self) -> HoldReason | None:
        """Return why the results of earlier steps aren't shown, None when they are; what is typed is kept for them."""
        if self.dialog.flowing and not self._guard.decides:
            return HoldReason.TOO_SOON
        self.dialog.flowing = True
        self.dialog.begin()
        return None

    def judge_undo(self) -> HoldReason | None:
        """Return why the last decision isn't taken back, None when it is."""
        if self._guard.decides:
            return None
        self.dialog.flowing = True
        return HoldReason.TOO_SOON
