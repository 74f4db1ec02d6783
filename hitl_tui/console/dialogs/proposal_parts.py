"""Accepts a proposal change by change: each is shown whole, and at the end the plan that comes of those accepted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import BindingType

from hitl_tui.console import keys
from hitl_tui.console.dialogs.interrupt_answer import Gathered
from hitl_tui.console.dialogs.reading_dialog import ReadingDialog
from hitl_tui.console.services import Console
from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_types import ProposedChange, StepNamed
from hitl_tui.core.requests import accepted_changes
from hitl_tui.language import _, mark, translate
from hitl_tui.wording.rows import Row, text_row
from hitl_tui.wording.subject_rows import one_change_rows, plan_change_rows

if TYPE_CHECKING:
    from hitl_tui.supervisor.snapshot import Question

_ACCEPT, _LEAVE, _BACK = "accept", "leave", "<"
_LEAVES_OUT = 3


class ChangePart(ReadingDialog[str | None]):
    """Shows one change: `1` accepts it, `3` leaves it out; dismissed with which, `<` to go back, None to leave.

    Args:
        title: one line, safe.
        rows: the change.
        before: there is one to go back to.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.PART)]

    def __init__(self, title: str, rows: Sequence[Row], *, before: bool) -> None:
        self._before = before
        offered = [_("{reading.yes} Accept"), _("{part.3} Leave out")]
        back = [_("{part.back} Back")] if before else []
        super().__init__(title, rows, "  ".join([*offered, *back, _("{reading.close} Cancel")]))

    def key_specs(self) -> Sequence[keys.KeySpec]:
        labels = {"reading.yes": mark("accept"), f"part.{_LEAVES_OUT}": mark("leave out")}
        own = [spec for spec in super().key_specs() if spec.where != keys.PART or spec.id in (*labels, "part.back")]
        return [spec._replace(label=labels.get(spec.id, spec.label)) for spec in own]

    def confirmed(self) -> None:
        self.dismiss(_ACCEPT)

    def action_choose(self, number: int) -> None:
        if number != _LEAVES_OUT:
            self.say(_("not possible here"))
        elif self.guard.decides and not self.over:
            self.dismiss(_LEAVE)
        else:
            self.say(self.holds())

    def action_back(self) -> None:
        if self._before:
            self.dismiss(_BACK)


PlanWith = Callable[[Sequence[ProposedChange]], tuple[Sequence[StepNamed], Sequence[StepNamed]]]
"""The steps of the plan as they stand, and as they would with some changes."""


async def chosen_changes(app: Console, question: Question, plan_with: PlanWith) -> list[int] | None:
    """Return the numbers of the changes that a person accepts of a proposal; None where they left it.

    Args:
        app: the app.
        question: the proposal's, as it was shown.
        plan_with: what changes make of the plan.
    """
    changes: Sequence[Any] = question.view.request.subject["proposal"]["changes"]
    shown = question.view.request.about.get("steps") or {}
    each = [list(one_change_rows(change, shown, number)) for number, change in enumerate(changes, start=1)]
    said: list[str] = []
    while True:
        if len(said) < len(each):
            title = _("Change {n} of {total}").format(n=len(said) + 1, total=len(each))
            answer = await app.push_screen_wait(ChangePart(title, each[len(said)], before=bool(said)))
        else:
            accepted = [number for number, word in enumerate(said, start=1) if word == _ACCEPT]
            answer = await app.push_screen_wait(_review(question, each, accepted, plan_with))
            if answer == "send":
                return accepted
        if answer is None:
            return None
        if answer == _BACK:
            said.pop()
        else:
            said.append(answer)


def _review(
    question: Question, each: Sequence[Sequence[Row]], accepted: Sequence[int], plan_with: PlanWith
) -> Gathered:
    """Return what shows all that is accepted, and the plan that comes of it."""
    title, back = _("Review · proposal"), _("{part.back} Back · {reading.close} Cancel")
    changes = question.view.request.subject["proposal"]["changes"]
    rows = [row for number, own in enumerate(each, start=1) if number in accepted for row in own]
    try:
        taken = accepted_changes(changes, {"changes": list(accepted)})
    except BadInput as error:
        why = translate(error.message) if accepted else _("No change is left: go back, or cancel and reject it.")
        return Unfit(title, [text_row(why, "bold $text-error"), *rows], back)
    words = _("{reading.yes} Accept exactly these {n} · ").replace("{n}", str(len(accepted))) + back
    return Gathered(title, [*rows, text_row(""), *plan_change_rows(*plan_with(taken))], words)


class Unfit(Gathered):
    """The same for what can't be accepted like this: it can only be gone back from."""

    def confirmed(self) -> None:
        self.say(_("not possible here"))
