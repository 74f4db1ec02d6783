"""Commands that answer questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hitl_tui.commands.changing import set_status
from hitl_tui.commands.hand import Hand, names_digest
from hitl_tui.commands.results import CommandResult, failure
from hitl_tui.core.board import judge
from hitl_tui.core.errors import BadInput, Refused
from hitl_tui.core.events import EventKind
from hitl_tui.core.names import resolve_id
from hitl_tui.core.policy import Ruling
from hitl_tui.core.questions import question_of
from hitl_tui.core.reactions.operators import DEFAULT_SKIP_REASON
from hitl_tui.core.requests import Kind, Verdict
from hitl_tui.core.todos import OPERATOR, Status, SupervisorTodo, check_transition
from hitl_tui.supervisor.snapshot import Question


async def approve(hand: Hand, values: Mapping[str, Any]) -> CommandResult:
    """Approve the TODOs that are named; with none, the current one alone (D10).

    Raises:
        BadInput: one of them waits for no approval; nothing was decided.
        Refused: it can't count. Of several the result says what became of each.
    """
    names = values.get("id") or []
    if not names:
        return await _approve_all(hand, [_current_question(hand)], values.get("digest"))
    todos = list({todo.id: todo for todo in map(hand.todo, names)}.values())
    questions = [await _question(hand, todo, Kind.TODO, "approve") for todo in todos]
    return await _approve_all(hand, questions, values.get("digest"))


async def _approve_all(hand: Hand, questions: list[Question], digest: str | None) -> CommandResult:
    if digest is not None and not (len(questions) == 1 and names_digest(digest, questions[0].digest)):
        raise Refused("What was shown isn't what is asked any more; look again and decide anew.", reason="stale")
    if len(questions) == 1:
        return await hand.decide(questions[0], Verdict.APPROVE)
    results = [await _approve_one(hand, question) for question in questions]
    failed = next((r for r in results if r.failed), None)
    data = {
        "todo_id": questions[0].todo_id,
        "todo_ids": [q.todo_id for q in questions],
        "results": [r.to_dict() for r in results],
    }
    if failed is None:
        return CommandResult(results[0].status, f"{len(questions)} TODOs approved.", data)
    approved = [q.todo_id for q, r in zip(questions, results, strict=True) if not r.failed]
    told = f" Approved: {', '.join(approved)}." if approved else ""
    return CommandResult(failed.status, failed.message + told, {**failed.data, **data}, failed.exit_code)


async def _approve_one(hand: Hand, question: Question) -> CommandResult:
    """Approve one of several: a refusal of one doesn't hide what became of the others."""
    try:
        return await hand.decide(question, Verdict.APPROVE)
    except Refused as error:
        return failure(error.message, error.help, reason=error.reason)


def _current_question(hand: Hand) -> Question:
    asked = hand.snapshot.questions
    for question in asked:
        if question.kind is Kind.TODO:
            return question
    for question in asked:
        if Verdict.APPROVE in question.view.request.options:
            return question
    if asked:
        ways = ", ".join(asked[0].commands.values())
        raise BadInput(f"{asked[0].name} doesn't wait for an approval; answer it with one of {ways}.")
    raise BadInput("Nothing waits for an approval now.", help="/todos shows where everything stands.")


async def _question(hand: Hand, todo: SupervisorTodo, kind: Kind, what: str) -> Question:
    """Return the open question of this kind about a TODO; an approval may be given before it is asked."""
    question = hand.snapshot.question_of(todo.id)
    if question is not None and question.kind is kind:
        return question
    if question is not None:
        ways = ", ".join(question.commands.values())
        raise BadInput(f"{todo.id} can't take this decision now; use one of {ways}.")
    if kind is not Kind.TODO or todo.status is not Status.PENDING:
        raise BadInput(f"{todo.id} is {todo.status} and doesn't wait for a decision to {what}.")
    if todo.approval is not None:
        raise BadInput(f"{todo.id} was approved by {todo.approval.get('by', '')} already.")
    request = question_of(hand.draft(), todo)
    if request is None:
        if judge(hand.draft(), todo).ruling is Ruling.DENY:
            raise BadInput(f"{todo.id} is denied by the policy and can't be approved.")
        waits = ", ".join(todo.dependencies)
        raise BadInput(f"{todo.id} is of {todo.risk} risk and asks once its input is known, after {waits}.")
    await hand.face.desk.open(request)
    view = await hand.face.desk.ledger.request(request.id, hand.face.desk.now())
    if view is None:
        raise Refused(f"The question about {todo.id} is gone.", reason="unknown")
    return Question(view)


async def reject(hand: Hand, values: Mapping[str, Any]) -> CommandResult:
    """Reject a TODO: what depends on it is blocked.

    Raises:
        BadInput: it can't be rejected now; the message says how it is answered.
    """
    todo = hand.todo(values["id"])
    question = hand.snapshot.question_of(todo.id)
    verdict = Verdict.STOP if question is not None and question.kind is Kind.EFFECT else Verdict.REJECT
    if question is None:
        question = await _question(hand, todo, Kind.TODO, "reject")
    elif verdict not in question.view.request.options:
        ways = ", ".join(question.commands.values())
        raise BadInput(f"{todo.id} can't be rejected now; answer it with one of {ways}.")
    return await hand.decide(question, verdict, reason=values.get("reason", ""))


async def skip(hand: Hand, values: Mapping[str, Any]) -> CommandResult:
    """Skip a TODO and go on without it (D8); also one that asks nothing.

    Raises:
        IllegalTransition: it can't be skipped any more.
    """
    todo, reason = hand.todo(values["id"]), values.get("reason", DEFAULT_SKIP_REASON)
    question = hand.snapshot.question_of(todo.id)
    if question is not None and Verdict.SKIP in question.view.request.options:
        return await hand.decide(question, Verdict.SKIP, reason=reason)
    check_transition(todo, Status.SKIPPED, OPERATOR)
    data = {"todo_id": todo.id, "reason": reason}
    return await hand.change(EventKind.SKIP, data, "skipped", f"{todo.id} is skipped.", data)


async def retry(hand: Hand, values: Mapping[str, Any]) -> CommandResult:
    """Try a failed TODO again, also one that doesn't ask about it.

    Raises:
        BadInput: it didn't fail.
    """
    todo = hand.todo(values["id"])
    question = hand.snapshot.question_of(todo.id)
    if question is not None and question.kind is Kind.FAILURE:
        return await hand.decide(question, Verdict.RETRY)
    check_transition(todo, Status.PENDING, OPERATOR)
    if todo.status is not Status.FAILED:
        raise BadInput(f"{todo.id} is {todo.status}; only a failed TODO can be tried again.")
    return await set_status(hand, todo, Status.PENDING)


async def done(hand: Hand, values: Mapping[str, Any]) -> CommandResult:
    """Say that an effect in doubt happened: what it was meant to bring counts as done (D12)."""
    question = await _question(hand, hand.todo(values["id"]), Kind.EFFECT, "use an effect as done")
    return await hand.decide(question, Verdict.USE_AS_DONE)


async def again(hand: Hand, values: Mapping[str, Any]) -> CommandResult:
    """Say that an effect in doubt shall be done again (D12)."""
    question = await _question(hand, hand.todo(values["id"]), Kind.EFFECT, "do an effect again")
    return await hand.decide(question, Verdict.DO_AGAIN)


async def plan_approve(hand: Hand, values: Mapping[str, Any]) -> CommandResult:
    """Let the plan begin.

    Raises:
        BadInput: no plan waits for a decision.
    """
    return await _approve_all(hand, [_only(hand, Kind.PLAN)], values.get("digest"))


async def plan_reject(hand: Hand, values: Mapping[str, Any]) -> CommandResult:
    """Refuse the plan; with feedback it is planned anew (P1).

    Raises:
        BadInput: no plan waits for a decision.
    """
    return await hand.decide(_only(hand, Kind.PLAN), Verdict.REJECT, reason=values.get("feedback", ""))


async def proposal_accept(hand: Hand, values: Mapping[str, Any]) -> CommandResult:
    """Let the plan change as proposed; with one proposal open its id may be left out.

    Raises:
        BadInput: none is open, or several are and none was named.
    """
    return await _approve_all(hand, [_only(hand, Kind.PROPOSAL, values.get("id"))], values.get("digest"))


async def proposal_reject(hand: Hand, values: Mapping[str, Any]) -> CommandResult:
    """Leave the plan as it is; with one proposal open its id may be left out.

    Raises:
        BadInput: none is open, or several are and none was named.
    """
    question = _only(hand, Kind.PROPOSAL, values.get("id"))
    return await hand.decide(question, Verdict.REJECT, reason=values.get("reason", ""))


def _only(hand: Hand, kind: Kind, name: str | None = None) -> Question:
    found = {q.name: q for q in hand.snapshot.questions if q.kind is kind}
    if name is not None:
        return found[resolve_id(name, found, kind.value)]
    if not found:
        raise BadInput(f"No {kind} waits for a decision now.")
    if len(found) > 1:
        raise BadInput(f"Several are open: {', '.join(found)}; name one.")
    return next(iter(found.values()))
