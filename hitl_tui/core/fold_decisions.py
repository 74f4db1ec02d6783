"""What a decision, or a deadline that passed, does to a board."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from hitl_tui.core import board, fold_operator_events
from hitl_tui.core.board import Draft
from hitl_tui.core.errors import Refused
from hitl_tui.core.events import Event, refusal
from hitl_tui.core.fold_operator_events import DEFAULT_SKIP_REASON, by_whom, rejected, stop_all
from hitl_tui.core.interrupts.numbers import asked_anew
from hitl_tui.core.json_text import digest
from hitl_tui.core.json_types import (
    Approval,
    EffectResolution,
    Interrupt,
    InterruptAnswer,
    PlanReviewed,
    ProposalState,
    TodoMetadata,
    TodoQuestion,
)
from hitl_tui.core.messages import Message
from hitl_tui.core.names import step_name
from hitl_tui.core.plan import Change
from hitl_tui.core.plan_review import EndedBy
from hitl_tui.core.policy import Mode, Risk, Ruling, Terms
from hitl_tui.core.proposal_changes import carry_out
from hitl_tui.core.questions import interrupt_questions, plan_question, proposal_now, proposal_question, question_of
from hitl_tui.core.requests import REFUSING, Kind, Outcome, Request, Verdict, accepted_changes, lets_run
from hitl_tui.core.todos import GAPS, Status, SupervisorTodo


def decided(draft: Draft, event: Event) -> None:
    """A request was settled; data is what `ledger.records.decided_event` makes.

    What lets something happen counts for the question that it was given to alone. A refusal counts for whatever is
    asked in its place by now: it was asked anew while that was recorded, because the rules, or files, had changed.
    """
    kind, verdict = Kind(event.data["asked"]), Verdict(event.data["verdict"])
    if kind is Kind.PLAN:
        _decided_plan(draft, event, verdict)
        return
    if kind is Kind.PROPOSAL:
        _decided_proposal(draft, event, verdict)
        return
    todo = fold_operator_events.target(draft, event)
    if kind is Kind.INTERRUPT:
        _decided_interrupt(draft, event, todo, verdict)
        return
    if todo.risk is Risk.HIGH and verdict is Verdict.APPROVE and event.data.get("outcome") == Outcome.EXPIRED:
        verdict = Verdict.REJECT  # an older record may say so; silence is no consent
    question = question_of(draft, todo)
    if question is None or question.kind is not kind or not _answers(event, verdict, question):
        raise _stale(todo)
    _TODO_VERDICTS[kind](draft, event, todo, verdict)


def _answers(event: Event, verdict: Verdict, question: Request) -> bool:
    return verdict in REFUSING or event.data["request_id"] == question.id


def _stale(todo: SupervisorTodo) -> Refused:
    return Refused(Message("{} no longer asks this.", step_name(todo.id)), reason="stale")


def _decided_plan(draft: Draft, event: Event, verdict: Verdict) -> None:
    if draft.control.plan != board.PLAN_DRAFT:
        raise Refused(Message("The plan was already decided."), reason="late")
    if not _answers(event, verdict, plan_question(draft)):
        raise Refused(Message("The plan isn't the one that was shown; look at it again."), reason="stale")
    expired = event.data.get("outcome") == Outcome.EXPIRED
    if verdict is not Verdict.APPROVE and not expired and str(event.data.get("reason", "")).strip():
        spared = draft.control.spared + int(event.data.get("spares", False))  # it uses up none until it is worked in
        remarks = _remarks(draft, event)
        draft.control = replace(draft.control, plan=board.PLAN_REVISE, feedback=remarks, spared=spared)
        return
    reviewed = _reviewed(draft, event, verdict, EndedBy.TIMEOUT if expired else EndedBy.PERSON)
    draft.control = replace(draft.control, reviewed=reviewed, difference={})
    if verdict is Verdict.APPROVE:
        draft.control = replace(draft.control, plan=board.PLAN_ACCEPTED, limited=expired)
    else:
        draft.control = replace(draft.control, plan=board.PLAN_REJECTED)
        stop_all(draft, event, Message("plan rejected by {}", event.data.get("by", "")))


def _reviewed(draft: Draft, event: Event, verdict: Verdict, ended_by: EndedBy) -> PlanReviewed:
    return {
        "ended_by": ended_by.value,
        "verdict": verdict.value,
        "by": event.data.get("by", ""),
        "people": list(event.data.get("people", ())),
        "channel": event.data.get("channel", ""),
        "at": event.data.get("at", event.at),
        "request_id": event.data["request_id"],
        "revisions": draft.control.revised,
        "max_revisions": draft.control.review.max_revisions,
    }


def _remarks(draft: Draft, event: Event) -> str:
    """Return all remarks so far, one a line."""
    earlier = draft.control.feedback
    lines = (" ".join(line.split()) for line in str(event.data["reason"]).splitlines())
    remark = " ".join(line if line[-1] in ".!?;" else f"{line};" for line in lines if line).removesuffix(";")
    return f"{earlier}\n{remark}" if earlier else remark


def _decided_proposal(draft: Draft, event: Event, verdict: Verdict) -> None:
    proposals = dict(draft.control.proposals)
    found = [k for k, p in proposals.items() if proposal_question(draft, p).id == event.data["request_id"]]
    if not found and verdict in REFUSING:
        found = [k for k in proposals if k == event.data.get("proposal_id")]
    if not found:
        raise Refused(Message("This proposal is no longer open."), reason="stale")
    proposal = proposal_now(draft, proposals.pop(found[0]))
    draft.control = replace(draft.control, proposals=proposals)
    if verdict is Verdict.APPROVE:
        value = event.data.get("value")
        added = carry_out(draft, event, accepted_changes(proposal["changes"], value))
        for todo_id in added if lets_run(value) else ():
            _let_run(draft, event, draft.get(todo_id))


def _let_run(draft: Draft, event: Event, todo: SupervisorTodo) -> None:
    """Approve a step with the proposal that showed it, where one person's word for a step of low risk is enough.

    What gets all that is completed when its turn comes asks then, where something else still comes before it.
    """
    judged, gaps = board.judge(draft, todo), GAPS & todo.metadata.keys()
    if todo.risk is not Risk.LOW or judged.ruling is not Ruling.ASK or judged.terms != Terms() or gaps:
        return
    given = board.with_inputs(draft, todo)
    if given is not todo and any(t.rank < todo.rank and not t.settled for t in map(draft.get, draft)):
        return
    ahead = bool(todo.dependencies)
    seen = digest(board.subject_of(draft, given, ahead=ahead))
    draft.put(replace(given, approval=_approval(event, seen, ahead=ahead)))


def asks_nobody(draft: Draft, proposal: ProposalState) -> bool:
    """Whether a proposal only adds steps that run without a question, in the mode that asks for risky steps alone."""
    changes = proposal["changes"]
    if draft.control.mode is not Mode.RISK or any(Change(change["kind"]) is not Change.ADD for change in changes):
        return False
    added = [SupervisorTodo.from_dict(change["todo"]) for change in changes]
    return all(board.judge(draft, todo).ruling is Ruling.ALLOW for todo in added)


def _decided_run(draft: Draft, event: Event, todo: SupervisorTodo, verdict: Verdict) -> None:
    if verdict is Verdict.APPROVE:
        ahead = todo.status is Status.PENDING and not board.dependencies_met(draft, todo.id)
        approval = _approval(event, event.data["digest"], ahead=ahead)
        if todo.status is Status.WAITING_APPROVAL:
            todo = todo.with_status(Status.PENDING)
        draft.put(replace(todo, approval=approval))
    elif verdict is Verdict.SKIP:
        fold_operator_events.skip(
            draft, replace(event, data={"todo_id": todo.id, "reason": _reason(event)}, by=by_whom(event))
        )
    else:
        draft.put(rejected(todo, event))


def _approval(event: Event, seen: str, *, ahead: bool = False) -> Approval:
    """Return who let it run and the digest of what they saw; events of earlier versions don't name each person."""
    approval: Approval = {"by": event.data.get("by", "")}
    if event.data.get("people"):
        approval["people"] = event.data["people"]
    return {
        **approval,
        "at": event.data.get("at", event.at),
        "channel": event.data.get("channel", ""),
        "digest": seen,
        "request_id": event.data["request_id"],
        "ahead": ahead,
    }


def _reason(event: Event) -> str:
    return event.data.get("reason") or DEFAULT_SKIP_REASON


def _decided_failure(draft: Draft, event: Event, todo: SupervisorTodo, verdict: Verdict) -> None:
    if verdict is Verdict.RETRY:
        # What was decided is exactly what was shown: this input, from where the run stands.
        approval = _approval(event, digest(board.subject_of(draft, todo)))
        again = todo.with_status(Status.PENDING, question=None, error="", completed_at="", duration=None)
        draft.put(replace(again, approval=approval))
    elif verdict is Verdict.SKIP:
        fold_operator_events.skip(
            draft, replace(event, data={"todo_id": todo.id, "reason": _reason(event)}, by=by_whom(event))
        )
    else:
        draft.put(replace(todo, question=None))
        stop_all(draft, event, Message("stopped by {}", by_whom(event)))


def _decided_effect(draft: Draft, event: Event, todo: SupervisorTodo, verdict: Verdict) -> None:
    if verdict is Verdict.STOP:
        draft.put(rejected(todo, event))
        return
    question = todo.question
    if question is None:
        raise _stale(todo)
    key = str(question["effect"]["key"])
    answer: EffectResolution = {"verdict": verdict.value, "request_id": event.data["request_id"]}
    resolutions = {**todo.metadata.get("resolutions", {}), key: answer}
    metadata: TodoMetadata = {**todo.metadata, "resolutions": resolutions}
    kept = question.get("interrupts")
    inside: TodoQuestion | None = {"kind": Kind.INTERRUPT.value, "interrupts": kept} if kept else None
    draft.put(todo.goes_on(event.at).with_status(Status.IN_PROGRESS, question=inside, metadata=metadata))


def _decided_interrupt(draft: Draft, event: Event, todo: SupervisorTodo, verdict: Verdict) -> None:
    """One of the questions a run waits for was answered; the others stay, also while it goes on."""
    asked = {q.id: (interrupt_id, q) for interrupt_id, q in interrupt_questions(draft, todo)}
    answered, request = asked.get(str(event.data["request_id"]), ("", None))
    if todo.question is None or not asked or (request is None and verdict not in REFUSING):
        raise _stale(todo)
    if request is None or verdict is not Verdict.RESPOND:
        draft.put(rejected(todo, event))
        return
    from hitl_tui.core.interrupts.tool_permissions import why_refused  # few sessions have such answers

    why = why_refused(draft.rules.policy, todo.risk, request, event.data.get("value"))
    if why:
        _ask_anew(draft, event, todo, todo.question, answered, why)
        return
    answer: InterruptAnswer = {
        "value": event.data.get("value"),
        "by": event.data.get("by", ""),
        "request_id": event.data["request_id"],
    }
    if action := event.data.get("action"):
        answer["action"] = action
    interrupts: list[Interrupt] = [
        {**i, "answer": answer} if i["id"] == answered else i for i in todo.question["interrupts"]
    ]
    question: TodoQuestion = {**todo.question, "interrupts": interrupts}
    if (programs := request.subject.get("programs")) and question["kind"] != Kind.EFFECT.value:
        todo = replace(todo, arguments={**todo.arguments, "programs": programs})  # the last word about them
    if todo.status is Status.IN_PROGRESS or question["kind"] == Kind.EFFECT.value:
        draft.put(replace(todo, question=question))
    else:
        draft.put(todo.goes_on(event.at).with_status(Status.IN_PROGRESS, question=question))


def _ask_anew(
    draft: Draft, event: Event, todo: SupervisorTodo, question: TodoQuestion, interrupt_id: str, why: str
) -> None:
    """Ask what was answered once more: the answer may not count, and its request was settled by it."""
    interrupts = [asked_anew(i, todo.asked) if i["id"] == interrupt_id else i for i in question["interrupts"]]
    draft.put(replace(todo, question={**question, "interrupts": interrupts}, asked=todo.asked + 1))
    draft.control = draft.control.refuse([refusal(event, why, "not_allowed")])


_TODO_VERDICTS: Mapping[Kind, Callable[[Draft, Event, SupervisorTodo, Verdict], None]] = {
    Kind.TODO: _decided_run,
    Kind.FAILURE: _decided_failure,
    Kind.EFFECT: _decided_effect,
}
