"""The row of actions under a question: what each of its places means, and why one isn't possible. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hitl_tui.core.requests import Kind, Verdict

if TYPE_CHECKING:
    from hitl_tui.supervisor.snapshot import Question


@dataclass(frozen=True, slots=True)
class Answer:
    """One place of the row of actions.

    Args:
        number: 1 to 7; what a place means never changes.
        label: one or two words.
        verdict: what it says; None for edit and details.
        ask: what comes first: nothing, `reason`, `value`, `edit`, `details`, `always`, or a question to confirm.
        why_not: why it isn't possible; empty when it is.
    """

    number: int
    label: str
    verdict: Verdict | None = None
    ask: str = ""
    why_not: str = ""


_PLACES = {1: "Approve", 2: "Edit", 3: "Reject", 4: "Skip", 5: "Respond"}
_STOP_ALL = "Stop everything that hasn't ended?"
_DO_AGAIN = "Do it again, although it may have happened already?"

_ANSWERS: Mapping[Kind, Mapping[int, tuple[str, Verdict | None, str]]] = {
    Kind.TODO: {
        1: ("Approve", Verdict.APPROVE, ""),
        2: ("Edit", None, "edit"),
        3: ("Reject", Verdict.REJECT, "reason"),
        4: ("Skip", Verdict.SKIP, ""),
    },
    Kind.FAILURE: {
        1: ("Retry", Verdict.RETRY, ""),
        2: ("Edit", None, "edit"),
        3: ("Stop all", Verdict.STOP, _STOP_ALL),
        4: ("Skip", Verdict.SKIP, ""),
    },
    Kind.EFFECT: {
        1: ("Use as done", Verdict.USE_AS_DONE, ""),
        3: ("Stop", Verdict.STOP, "reason"),
        5: ("Do again", Verdict.DO_AGAIN, _DO_AGAIN),
    },
    Kind.INTERRUPT: {3: ("Reject", Verdict.REJECT, "reason"), 5: ("Respond", Verdict.RESPOND, "value")},
    Kind.PLAN: {1: ("Approve", Verdict.APPROVE, ""), 3: ("Reject", Verdict.REJECT, "reason")},
    Kind.PROPOSAL: {1: ("Accept", Verdict.APPROVE, ""), 3: ("Reject", Verdict.REJECT, "reason")},
    Kind.EXTERNAL: {1: ("Approve", Verdict.APPROVE, ""), 3: ("Reject", Verdict.REJECT, "reason")},
}

_WHY_NOT: Mapping[tuple[Kind, int], str] = {
    (Kind.TODO, 5): "There is nothing to respond to: this asks whether a step may run.",
    (Kind.FAILURE, 5): "There is nothing to respond to: this asks what to do about a failure.",
    (Kind.EFFECT, 2): "What may have happened already can't be edited.",
    (Kind.EFFECT, 4): "An effect in doubt is used as done, done again or stopped.",
    (Kind.INTERRUPT, 1): "The team wants an answer in words: press 5.",
    (Kind.INTERRUPT, 2): "The team wants an answer in words: press 5.",
    (Kind.INTERRUPT, 4): "A team that asks is answered (5) or rejected (3).",
    (Kind.PLAN, 2): "Reject the plan with feedback to have it changed, or edit its steps once it is approved.",
    (Kind.PLAN, 4): "A plan is approved, or rejected with feedback.",
    (Kind.PLAN, 5): "Reject the plan with feedback: what you write goes to the planner.",
}


def answers(question: Question) -> tuple[Answer, ...]:
    """Return the seven places of the row of actions for a question."""
    known, options = _ANSWERS[question.kind], question.view.request.options
    found = []
    for number, name in _PLACES.items():
        label, verdict, ask = known.get(number, (name, None, ""))
        if number not in known or (verdict is not None and verdict not in options):
            reason = _WHY_NOT.get((question.kind, number), f"{name} doesn't fit this question.")
            found.append(Answer(number, name, why_not=reason))
        else:
            found.append(Answer(number, label, verdict, ask))
    why_not = "" if question.kind is Kind.TODO else "Only whether a step may run can be answered once and for all."
    return (*found, Answer(6, "Details", ask="details"), Answer(7, "Always", ask="always", why_not=why_not))
