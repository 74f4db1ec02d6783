"""Whether an answer counts that a key or a click chose, as it came and as much as was read (C3). Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from hitl_tui.console.keyguard.dialog_keys import opens
from hitl_tui.console.places import Answer

if TYPE_CHECKING:
    from hitl_tui.supervisor.snapshot import Question


class Hold(Enum):
    """Why an answer doesn't count."""

    IMPOSSIBLE = "this question can't be answered so"
    TOO_SOON = "it came too soon after what was typed or drawn last"
    INCOMPLETE = "what the step would touch is still being found out"
    UNREAD = "the end of the question wasn't on the screen yet"


@dataclass(frozen=True, slots=True)
class Press:
    """How a key or a click came.

    Args:
        ready: after the pause, to a question that stood on the screen meanwhile: it may decide.
        may_look: it may show something; it isn't one of several in a row that seem to be words.
        rested: it came after the pause, but others came since: it may open a dialog, which they are kept for.
    """

    ready: bool
    may_look: bool
    rested: bool


def held(question: Question, answer: Answer, press: Press, *, read: bool, complete: bool) -> Hold | None:
    """Return why an answer doesn't count; None when it does.

    Args:
        question: what is on the screen.
        answer: the one that was chosen.
        press: how it was.
        read: the question was read to its end.
        complete: all that there is to be read is there.
    """
    if answer.why_not:
        return Hold.IMPOSSIBLE
    looks = answer.looks and press.may_look  # to look decides nothing
    if not (press.ready or looks or (press.rested and opens(question, answer))):
        return Hold.TOO_SOON
    if answer.binds and not read:
        return Hold.UNREAD if complete else Hold.INCOMPLETE
    return None
