"""`/answer`: what a team asks from inside gets its answer, checked before it is sent (I2, I3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hitl_tui.commands.asked import REQUEST, by_request, open_question
from hitl_tui.commands.hand import Hand, names_digest
from hitl_tui.commands.results import CommandResult
from hitl_tui.core.errors import BadInput, Refused
from hitl_tui.core.names import clip, person, plain_name
from hitl_tui.core.requests import Outcome, Verdict
from hitl_tui.core.shapes.judging import why_refused
from hitl_tui.core.shapes.model import APPROVE, EDIT, RESPOND, Shape, said
from hitl_tui.core.shapes.reading import read
from hitl_tui.core.storable import check_storable
from hitl_tui.supervisor.snapshot import Question

_SENT_CELLS = 4_000


async def answer(hand: Hand, values: Mapping[str, Any]) -> CommandResult:
    """Answer the question that an id names with what was written.

    Raises:
        BadInput: what was written doesn't answer it.
        Refused: it isn't the one with this digest, or takes no answer any more.
    """
    question = await find(hand, str(values["id"]))
    seen = values.get("digest")
    if seen is not None and not names_digest(str(seen), question.digest):
        raise Refused("What was shown isn't what is asked any more; look again and answer anew.", reason="stale")
    found = read(form_of(question), str(values["value"]))
    return await send(hand, question, found.value, found.action)


async def send(hand: Hand, question: Question, value: Any, action: str = "") -> CommandResult:
    """Check an answer and send it; the result says exactly what was sent.

    Args:
        hand: who answers.
        question: the question as it was shown.
        value: the answer, JSON.
        action: the action that made it, when a person chose one.

    Raises:
        BadInput: it doesn't fit the question, or can't be kept.
        Refused: it can't count: late, repeated, stale, superseded, not allowed.
    """
    form = form_of(question)
    form.check(value, action)
    check_storable(value)
    todo = hand.snapshot.todo(question.todo_id)
    why = why_refused(hand.face.rules.policy, todo.risk, question.view.request, value) if todo is not None else ""
    if why:
        raise Refused(why, reason="not_allowed")
    # Where nothing is approved, to edit is only how the answer is written.
    chosen = action if action != EDIT or form.action(APPROVE) is not None else RESPOND
    result = await hand.decide(question, Verdict.RESPOND, value=value, action=chosen)
    if result.failed:
        return result
    sent = await _recorded(hand, question, value)
    data = {**result.data, "shape": form.kind.value, "sent": sent}
    words = "Your answer" if result.status == "recorded" else "Sent"
    return CommandResult(result.status, f"{result.message} {words}: {said(sent, _SENT_CELLS)}.", data)


async def _recorded(hand: Hand, question: Question, value: Any) -> Any:
    """Return the answer as it was recorded: secrets in it were masked."""
    view = await hand.face.desk.ledger.request(question.id, hand.face.desk.now())
    decisions = view.decisions if view is not None else ()
    return next((d.value for d in reversed(decisions) if d.by == hand.by and d.verdict is Verdict.RESPOND), value)


def form_of(question: Question) -> Shape:
    """Return the form of what a team asks from inside.

    Raises:
        BadInput: it is another kind of question.
    """
    if question.shape is None:
        ways = ", ".join(question.commands.values())
        raise BadInput(f"{question.name} isn't waiting for an answer; use one of {ways}.")
    return question.shape


async def find(hand: Hand, name: str) -> Question:
    """Return the open question that a name stands for.

    Raises:
        UnknownName: there is none of that name, or it could be several.
        BadInput: it doesn't wait for an answer.
        Refused: it was answered or replaced meanwhile.
    """
    if name.startswith(REQUEST):
        found = by_request(hand.snapshot, name)
        if found is None:
            await _refuse_closed(hand, name)
        assert found is not None
    else:
        found = open_question(hand.snapshot, name)
    form_of(found)
    return found


async def _refuse_closed(hand: Hand, name: str) -> None:
    """Say why a request by this id takes no answer any more.

    Raises:
        Refused: it was decided, replaced, or never there.
    """
    view = await hand.face.desk.ledger.request(name, hand.face.desk.now())
    if view is None or view.request.session != hand.face.id:
        raise Refused(f'There is no open question "{clip(name)}".', reason="unknown")
    outcome = view.resolution.outcome
    if outcome is Outcome.SUPERSEDED:
        why = view.request.superseded
        raise Refused(f"This question was replaced ({why}); look at the new one.", reason="superseded")
    if outcome is Outcome.EXPIRED:
        raise Refused(f"This question expired at {view.request.deadline}.", reason="late")
    if not view.resolution.decisions:
        raise Refused("This was decided already.", reason="late")
    last = view.resolution.decisions[-1]
    reason = "repeated" if person(last.by) == person(hand.by) else "late"
    raise Refused(f"This was decided already: {last.said} by {plain_name(last.by)}.", reason=reason)
