"""The row of actions under a question: what each of its places means, and why one isn't possible. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hitl_tui.core.interrupts.shape import EDIT, Action, Form
from hitl_tui.core.policy import Mode
from hitl_tui.core.requests import Kind, Verdict
from hitl_tui.core.safe_text import cell_width, clip
from hitl_tui.language import _, mark, translate
from hitl_tui.policy.standing_rules import objection

if TYPE_CHECKING:
    from hitl_tui.core.interrupts.shape import Shape
    from hitl_tui.supervisor.snapshot import Question


NO_KEY = "–"
"""Stands for the number of a place that can't be chosen: no key acts there, which isn't told by colour alone."""
_GAP = 2
"""Cells between two places, where there is room for so many."""
_HARMLESS = ("", "reject", "ignore")
"""Actions on a team's own question that let nothing happen, and none."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One place of the row of actions.

    Args:
        number: 1 to 7; what a place means never changes.
        label: one or two words.
        verdict: what it says; None for edit and details.
        ask: what comes first: nothing, `reason`, `inner`, `edit`, `parts`, `details`, `always`, `rescue`, `run`
            (what a proposal adds), `stop` (says what is stopped, to confirm), or a question to confirm.
        why_not: why it isn't possible; empty when it is.
        action: what it answers a team's own question with; empty for any other.
        edits: its dialog shows all that is sent, and holds it until that was read.
        key: how the key reads that chooses it; empty for its number.
    """

    number: int
    label: str
    verdict: Verdict | None = None
    ask: str = ""
    why_not: str = ""
    action: str = ""
    edits: bool = False
    key: str = ""

    @property
    def name(self) -> str:
        """What stands before its label."""
        return self.key or str(self.number)

    @property
    def binds(self) -> bool:
        """It lets something happen, so what is asked has to be read first."""
        return self.verdict in _BINDING or (self.action not in _HARMLESS and not self.edits)

    @property
    def looks(self) -> bool:
        """It only shows something."""
        return self.ask in ("details", "always")


_BINDING = (Verdict.APPROVE, Verdict.USE_AS_DONE, Verdict.RETRY, Verdict.DO_AGAIN)
_PLACES = {1: mark("Approve"), 2: mark("Edit"), 3: mark("Reject"), 4: mark("Skip"), 5: mark("Respond")}
_DO_AGAIN = mark("Do it again, although it may have happened already?")

_ANSWERS: Mapping[Kind, Mapping[int, tuple[str, Verdict | None, str]]] = {
    Kind.TODO: {
        1: (mark("Approve"), Verdict.APPROVE, ""),
        2: (mark("Edit"), None, "edit"),
        3: (mark("Reject"), Verdict.REJECT, "reason"),
        4: (mark("Skip"), Verdict.SKIP, ""),
    },
    Kind.FAILURE: {
        1: (mark("Retry"), Verdict.RETRY, ""),
        2: (mark("Edit"), None, "edit"),
        3: (mark("Stop all"), Verdict.STOP, "stop"),
        4: (mark("Skip"), Verdict.SKIP, ""),
    },
    Kind.EFFECT: {
        1: (mark("Use as done"), Verdict.USE_AS_DONE, ""),
        3: (mark("Reject"), Verdict.STOP, "reason"),
        5: (mark("Do again"), Verdict.DO_AGAIN, _DO_AGAIN),
    },
    Kind.INTERRUPT: {},
    Kind.PLAN: {1: (mark("Approve"), Verdict.APPROVE, ""), 3: (mark("Reject"), Verdict.REJECT, "reason")},
    Kind.PROPOSAL: {1: (mark("Accept"), Verdict.APPROVE, ""), 3: (mark("Reject"), Verdict.REJECT, "reason")},
    Kind.EXTERNAL: {1: (mark("Approve"), Verdict.APPROVE, ""), 3: (mark("Reject"), Verdict.REJECT, "reason")},
}

_WHY_NOT: Mapping[tuple[Kind, int], str] = {
    (Kind.TODO, 5): mark("Nothing to respond to: this asks whether a step may run."),
    (Kind.FAILURE, 5): mark("Nothing to respond to: this asks what to do about a failure."),
    (Kind.EFFECT, 2): mark("What may have happened already can't be edited."),
    (Kind.EFFECT, 4): mark("An effect in doubt is used as done, done again or rejected."),
    (Kind.PLAN, 2): mark("Reject the plan with feedback to have it changed, or edit its steps once it is approved."),
    (Kind.PLAN, 4): mark("A plan is approved, or rejected with feedback."),
    (Kind.PROPOSAL, 2): mark("It has a single change: accept or reject it."),
    (Kind.PLAN, 5): mark("Reject the plan with feedback: what you write goes to the planner."),
}


def answers(question: Question, mode: str = "") -> tuple[Answer, ...]:
    """Return the seven places of the row of actions for a question.

    Args:
        question: the question.
        mode: the session's; where it asks about everything, no rule changes that.
    """
    if question.shape is not None:
        return _inner(question.shape)
    known, options = _ANSWERS[question.kind], question.view.request.options
    if question.incomplete:
        known = {**known, 1: (mark("Fill in"), None, "edit")}
    if question.parts > 1 and Verdict.APPROVE in options:
        known = {**known, 2: (mark("Choose"), None, "parts")}
    if question.adds_low_risk_only and mode == Mode.STEP:  # else they run unasked, or aren't all of low risk
        known = {**known, 5: (mark("Accept and run"), Verdict.APPROVE, "run")}
    if question.done_before:  # what happened is known, so to say it once is enough
        known = {**known, 5: (mark("Do again"), Verdict.DO_AGAIN, "")}
    if question.wedged:
        known = {**known, 5: (mark("Rescue"), None, "rescue")}
    found = []
    for number, name in _PLACES.items():
        label, verdict, ask = known.get(number, (name, None, ""))
        if number not in known or (verdict is not None and verdict not in options):
            reason = _WHY_NOT.get((question.kind, number), "")
            why_not = _(reason) if reason else _("{answer} doesn't fit this question.").format(answer=_(name))
            found.append(Answer(number, _(name), why_not=why_not))
        elif ask == "edit" and not question.incomplete and _takes_no_values(question):
            found.append(Answer(number, _(label), why_not=_("This command takes no values, so nothing can be edited.")))
        else:
            found.append(Answer(number, _(label), verdict, ask))
    why_not = translate(objection(question.view.request))
    if mode == Mode.STEP and not why_not:
        why_not = _("This mode asks about everything, even what is always allowed; {console.mode} changes the mode.")
    return (*found, Answer(6, _("Details"), ask="details"), Answer(7, _("Always"), ask="always", why_not=why_not))


def _takes_no_values(question: Question) -> bool:
    """Return whether a step is a declared command that always runs as it is."""
    arguments = question.subject.get("arguments") or {}
    return "command" in arguments and arguments.get("parameters") == {}


@dataclass(frozen=True, slots=True)
class ActionSlot:
    """Where a place stands under a question.

    Args:
        label: how it reads; empty where there is no room for it at all.
        x: the cell it begins at.
        y: its row.
    """

    label: str
    x: int
    y: int


def spots(found: Sequence[Answer], room: int, most: int = 1) -> list[ActionSlot]:
    """Return where the places stand: what is possible with its whole label, in as many rows as that takes.

    What isn't possible has a dash for its number. Where there is little room, it is left out as far as it has to; where
    there isn't even room without it in all rows, the last labels shrink to their numbers. Only the first is cut, where
    it is wider than a row by itself.

    Args:
        found: the places.
        room: cells in a row; 0 for as many as it takes.
        most: rows there may be.
    """
    whole = [f"{NO_KEY if a.why_not else a.name} {a.label}" for a in found]
    if not room or _width(whole, _GAP) <= room:
        return _laid(whole, room, _GAP)
    numbers = ["" if a.why_not else a.name for a in found]
    short = [n if a.why_not or cell_width(w) > room else w for a, n, w in zip(found, numbers, whole, strict=True)]
    short[0] = clip(whole[0], room)
    for kept in range(len(short), 0, -1):
        labels = short[:kept] + numbers[kept:]
        for gap in (_GAP, 1):
            laid = _laid(labels, room, gap)
            if laid[-1].y < most and (gap == 1 or laid[-1].y == _laid(labels, room, 1)[-1].y):
                return _named(labels, whole, room, gap) if kept == len(short) else laid
    return [s if s.y < most else ActionSlot("", 0, 0) for s in laid]


def _named(labels: Sequence[str], whole: Sequence[str], room: int, gap: int) -> list[ActionSlot]:
    """Return labels with as many whole ones, from the first on, as find room without another row."""
    laid = _laid(labels, room, gap)
    for place, label in enumerate(whole):
        if cell_width(label) > room:
            continue
        fuller = [*labels[:place], label, *labels[place + 1 :]]
        if (found := _laid(fuller, room, gap))[-1].y == laid[-1].y:
            labels, laid = fuller, found
    return laid


def _laid(labels: Sequence[str], room: int, gap: int) -> list[ActionSlot]:
    """Return labels one after the other, in another row where one has no room in this."""
    placed, x, y = [], 0, 0
    for label in labels:
        width = cell_width(label)
        if room and x and x + width > room:
            x, y = 0, y + 1
        placed.append(ActionSlot(label, x, y))
        x += width + gap if width else 0
    return placed


def _width(labels: Sequence[str], gap: int) -> int:
    return sum(map(cell_width, labels)) + gap * (len(labels) - 1)


def is_edit(action: Action) -> bool:
    """Return whether an action sends a value that is there already, as it is edited."""
    return action.name == EDIT and action.wants.form in (Form.FIELDS, Form.VALUE) and action.wants.present is not None


def _inner(shape: Shape) -> tuple[Answer, ...]:
    """Return the places for what a team asks from inside: what its form offers, and 3 always a way to say no."""
    offered = {a.place: a for a in shape.actions}
    if len(shape.actions) == 1 and shape.options:  # its one answer stands first, too: nothing is approved unchosen
        offered[1] = shape.actions[0]
    stop = Answer(3, _("Stop step"), Verdict.REJECT, "reason")
    found: list[Answer] = []
    for number, name in _PLACES.items():
        action = offered.get(number)
        if action is not None and not (action.why_not and number == 3):
            why_not, edits = translate(action.why_not), is_edit(action)
            found.append(
                Answer(number, translate(action.label), ask="inner", why_not=why_not, action=action.name, edits=edits)
            )
        elif number == 3:
            found.append(stop)
        else:
            found.append(Answer(number, _(name)))
    ways = ", ".join(f"{a.number} {a.label}" for a in found if a.ask and not a.why_not)
    unfit = _("That doesn't fit this question: it takes {ways}.").format(ways=ways)
    always = _("Only the question whether a step may run can be always allowed.")
    return (
        *(a if a.ask else replace(a, why_not=unfit) for a in found),
        Answer(6, _("Details"), ask="details"),
        Answer(7, _("Always"), ask="always", why_not=always),
    )
