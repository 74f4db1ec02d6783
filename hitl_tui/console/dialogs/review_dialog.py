"""Review of the marked questions: the whole list, and one key that approves exactly those."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.content import Content

from hitl_tui.console import keys
from hitl_tui.console.dialogs.reading_dialog import ReadingDialog
from hitl_tui.console.keymap import keymap_of
from hitl_tui.console.keys import KeySpec
from hitl_tui.console.services import console_of
from hitl_tui.console.widgets.bars import KeyLine
from hitl_tui.console.widgets.dialog_frame import Dialog
from hitl_tui.core.safe_text import clip
from hitl_tui.language import _, ngettext
from hitl_tui.wording.question_rows import name_words, short_title
from hitl_tui.wording.rows import Row, joined, styled, text_row
from hitl_tui.wording.status_words import risk_words

if TYPE_CHECKING:
    from hitl_tui.console.services import Console
    from hitl_tui.supervisor.snapshot import Question

_TITLE = 60
"""Cells of a step's title above what is to be read of it."""
_ORDER = ("low", "medium", "high")
"""Risk classes in the order they are to be taken."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one approval.

    Args:
        approved: it took effect.
        words: why, safe text.
    """

    approved: bool
    words: str


Approve = Callable[["Question"], Awaitable[Outcome]]
"""Approves one question exactly as it was shown."""


def risk_class(question: Question) -> str:
    """Return the class that a question may be approved together with: its risk, or its kind where it has none."""
    return str(question.view.request.about.get("risk") or question.kind.value)


def classes(questions: Iterable[Question]) -> list[str]:
    """Return the classes of questions, the one to take first at the front."""
    found = dict.fromkeys(risk_class(q) for q in questions)
    return sorted(found, key=lambda name: _ORDER.index(name) if name in _ORDER else -1)


def class_words(name: str) -> str:
    """Return what a class is called: `low risk`, `RISKY`, `plan`."""
    return risk_words(name).partition(":")[0]


class ReviewDialog(ReadingDialog[None]):
    """Lists marked questions whole, with risk and exact input. `1` approves those that are listed, and no others.

    Args:
        items: the marked questions, as they are now, each with what is to be read of it.
        approve: approves one.
        note: what else is marked and can't be approved, in one safe line; empty for nothing.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.REVIEW)]

    def __init__(self, items: Sequence[tuple[Question, Sequence[Row]]], approve: Approve, note: str = "") -> None:
        self._note = note
        self._questions = tuple(question for question, __ in items)
        self._bodies = {question.id: tuple(rows) for question, rows in items}
        self._approve = approve
        self._outcomes: dict[str, Outcome] = {}
        self._begun = False
        super().__init__(self._title_words(), self._rows(), self._key_words())

    def _title_words(self) -> str:
        return _("Marked · {n}").format(n=len(self._questions))

    def _key_words(self) -> str:
        if self._begun and len(self._outcomes) < len(self._questions):
            return _("{reading.close} Close; the rest is still approved")
        if self._begun:
            return _("{reading.close} Close")
        found = classes(self._asked)
        if len(found) > 1:
            said = _("{review.first} Keep only {risk} · {reading.page_down} Read on · {reading.close} Back")
            return said.replace("{risk}", class_words(found[0]))
        count = len(self._asked)
        return ngettext(
            "{reading.yes} Approve exactly this one · {reading.page_down} Read on · {reading.close} Back",
            "{reading.yes} Approve exactly these {count} · {reading.page_down} Read on · {reading.close} Back",
            count,
        ).replace("{count}", str(count))

    def _rows(self) -> list[Row]:
        rows = []
        if self._note and not self._begun:
            rows += [text_row(self._note, "$text-warning"), text_row("")]
        if len(classes(self._asked)) > 1 and not self._begun:
            rows += [text_row(mixed_words(self._asked), "bold $text-warning"), text_row("")]
        for question in self._questions:
            rows += self._item(question)
        return rows

    def _item(self, question: Question) -> Iterable[Row]:
        name = name_words(question)
        risk = risk_class(question)
        style = "bold $text-error" if risk == "high" else "bold"
        title = clip(short_title(question), _TITLE)
        yield Row("", styled(joined(f"◆ {name}", title, risk_words(risk)), style))
        outcome = self._outcomes.get(question.id)
        if outcome is not None:
            glyph, colour = ("✓", "$text-success") if outcome.approved else ("✗", "$text-error")
            yield Row("", styled(f"{glyph} {outcome.words}", f"bold {colour}"))
        elif not self._begun:
            yield from self._bodies[question.id]
            yield text_row("")

    def confirmed(self) -> None:
        found = classes(self._asked)
        if self._begun:
            return
        if len(found) > 1:
            said = keymap_of(self.app).named(_("not across risk classes: {review.first} takes {risk} first"))
            self.say(said.format(risk=class_words(found[0])))
            return
        self._begun = True
        self.redraw(self._rows(), self._key_words())
        app = console_of(self.app)
        app.start(partial(self._approve_all, app), "review")  # one of the dialog's own would end with it

    def gone(self, question: Question, words: str) -> None:
        """Say that one of them isn't asked any more; the others have to be read anew. What was confirmed goes on.

        Args:
            question: which.
            words: who decided what, safe.
        """
        if self._begun or question not in self._questions:
            return
        self._outcomes[question.id] = Outcome(False, _("not approved: {message}").format(message=words))
        if not self.query(Dialog):  # it isn't drawn yet, or left
            return
        if self._asked:
            self.redraw(self._rows(), self._key_words())
        else:
            self.redraw(self._rows(), _("{reading.close} Close"))
            self.overtaken(words)

    @property
    def _asked(self) -> tuple[Question, ...]:
        """Those that nothing is known to have become of."""
        return tuple(q for q in self._questions if q.id not in self._outcomes)

    async def _approve_all(self, app: Console) -> None:
        for question in self._asked:
            self._outcomes[question.id] = await self._approve(question)
            if self in app.screen_stack:
                self.redraw(self._rows(), self._key_words())
        outcomes = [(question, self._outcomes[question.id]) for question in self._questions]
        whole = all(outcome.approved for __, outcome in outcomes)
        if self not in app.screen_stack or whole:
            self.dismiss()
            app.say(outcome_words(outcomes), error=not whole)

    def redraw(self, rows: Sequence[Row], said: str) -> None:
        super().redraw(rows, said)
        for line in self.query(KeyLine):
            line.show(self.key_specs())

    def key_specs(self) -> Sequence[KeySpec]:
        idle = {"reading.yes", "review.first"} if self._begun else set[str]()
        if len(classes(self._asked)) < 2:
            idle.add("review.first")
        return [spec for spec in super().key_specs() if spec.id not in idle]

    def action_first(self) -> None:
        """Leave only the class that is to be taken first; the others stay marked."""
        found = classes(self._asked)
        if self._begun or len(found) < 2:
            return
        self._questions = tuple(q for q in self._asked if risk_class(q) == found[0])
        self.query_one("#reading").border_title = Content(self._title_words())
        self.redraw(self._rows(), self._key_words())


def outcome_words(outcomes: Sequence[tuple[Question, Outcome]]) -> str:
    """Return what became of approvals: how many took effect, and why one didn't."""
    if len(outcomes) == 1:
        return outcomes[0][1].words
    done = sum(outcome.approved for __, outcome in outcomes)
    said = _("{done} of {n} approved.").format(done=done, n=len(outcomes))
    failed = [f"{name_words(question)}: {outcome.words}" for question, outcome in outcomes if not outcome.approved]
    return " ".join([said, *failed])


def mixed_words(questions: Sequence[Question]) -> str:
    """Return why questions of several classes aren't approved at once, and which class to take first."""
    counts = {name: sum(risk_class(q) == name for q in questions) for name in classes(questions)}
    listed = ", ".join(f"{count} {class_words(name)}" for name, count in counts.items())
    first = class_words(next(iter(counts)))
    return _("Different risks ({listed}) are never approved together: take {first} first.").format(
        listed=listed, first=first
    )
