"""The open questions in the order they came, which one is shown and which are marked. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from hitl_tui.supervisor.snapshot import Question


class QuestionPlace(NamedTuple):
    """Where a question stands among the open ones.

    Args:
        number: from 1.
        total: how many are open.
        steps: how many further it is than the one that is shown; after the last comes the first.
    """

    number: int
    total: int
    steps: int


@dataclass(frozen=True, slots=True)
class QuestionQueue:
    """All open questions, one of them shown.

    Args:
        listed: in the order they came.
        shown: id of the one on the screen; empty when none is open.
        marks: by the id of each marked one, the digest that it had when it was marked.
    """

    listed: tuple[Question, ...] = ()
    shown: str = ""
    marks: Mapping[str, str] = field(default_factory=dict)

    @property
    def place(self) -> int:
        """Index of the one that is shown; 0 when there is none."""
        return next((n for n, q in enumerate(self.listed) if q.id == self.shown), 0)

    @property
    def question(self) -> Question | None:
        """The one that is shown."""
        return next((q for q in self.listed if q.id == self.shown), None)

    @property
    def marked(self) -> tuple[Question, ...]:
        """The marked ones, in the order they came."""
        return tuple(q for q in self.listed if q.id in self.marks)

    def updated(self, asked: Sequence[Question]) -> QuestionQueue:
        """Return what there is now that these are open: what stays keeps its place, what is new comes last.

        When the one that was shown is gone, the next about its TODO is shown, else the one that followed it. A mark
        goes with its question, and when another thing is asked than what was marked.

        Args:
            asked: the open questions, each id once, in any order.
        """
        fresh = {q.id: q for q in asked}
        kept = [fresh[q.id] for q in self.listed if q.id in fresh]
        known = {q.id for q in kept}
        listed = (*kept, *(q for q in asked if q.id not in known))
        marks = {i: seen for i, seen in self.marks.items() if i in fresh and fresh[i].digest == seen}
        shown = self.shown if self.shown in fresh else self._successor(listed, known)
        return QuestionQueue(listed, shown, marks)

    def _successor(self, listed: Sequence[Question], kept: Collection[str]) -> str:
        """Return the id of what takes the place of the one that was shown; empty when nothing is open."""
        about = gone.todo_id if (gone := self.question) is not None else ""
        anew = next((q.id for q in listed if about and q.todo_id == about), "")
        before = sum(q.id in kept for q in self.listed[: self.place])
        following = listed[before:] or listed[-1:]
        return anew or (following[0].id if following else "")

    def selected(self, name: str) -> QuestionQueue | None:
        """Return them with the question of this id or name, or about this TODO, shown; None when there is none."""
        found = next((q for q in self.listed if name and name in (q.id, q.todo_id, q.name)), None)
        return replace(self, shown=found.id) if found is not None else None

    def place_of(self, name: str) -> QuestionPlace | None:
        """Return where the question of this id or name stands; None when it isn't open."""
        place = next((n for n, q in enumerate(self.listed) if name and name in (q.id, q.name)), None)
        if place is None:
            return None
        return QuestionPlace(place + 1, len(self.listed), (place - self.place) % len(self.listed))

    def turned(self, by: int) -> QuestionQueue:
        """Return them with another one shown, so many places further; after the last comes the first."""
        if self.question is None:
            return self
        return replace(self, shown=self.listed[(self.place + by) % len(self.listed)].id)

    def marking(self, question: Question) -> QuestionQueue:
        """Return them with a question marked as it is asked now."""
        return replace(self, marks={**self.marks, question.id: question.digest})

    def unmarking(self, ids: Collection[str]) -> QuestionQueue:
        """Return them without the marks of these questions."""
        return replace(self, marks={i: seen for i, seen in self.marks.items() if i not in ids})
