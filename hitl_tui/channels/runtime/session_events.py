"""How a session stands, as events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from hitl_tui.channels.runtime import events
from hitl_tui.channels.runtime.jobs import Job
from hitl_tui.core.events import after_seconds
from hitl_tui.core.json_types import PlanReviewed
from hitl_tui.core.messages import Message
from hitl_tui.core.plan_review import LAST_REVISION, UNSAID, EndedBy, ended_message
from hitl_tui.core.requests import Kind, Verdict, expiry_verdict
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.ledger.records import RequestView
from hitl_tui.supervisor.snapshot import FAILED, Question, Snapshot
from hitl_tui.wording.inbox_rows import asked_words


def todo_event(job: Job, todo: SupervisorTodo) -> events.Todo:
    """Return where a step stands."""
    result = todo.result or {}
    return events.Todo(
        job_id=job.id,
        session_id=job.session_id,
        todo_id=todo.id,
        name=todo.name,
        agent=todo.agent_name,
        status=todo.status.value,
        error=todo.error,
        summary=str(result.get("summary", "")),
    )


def question_event(job: Job, question: Question, feedback_path: Callable[[str], str | None], now: str) -> events.Event:
    """Return what is asked.

    Args:
        job: the job.
        question: the question.
        feedback_path: says where a feedback object for a request would be; None for nowhere.
        now: when it is told; one that silence approves waits from its first telling on.
    """
    request = question.view.request
    timeout = request.terms.deadline or None
    expires = request.expires_at or (after_seconds(now, timeout) if timeout else None)
    if request.kind is Kind.PLAN:
        revision = int(request.about.get("revision", 0))
        most = int(request.about.get("max_revisions", UNSAID.max_revisions))
        message = Message("Please review the plan: approve it, or say what should change.")
        return events.PlanReviewRequest(
            job_id=job.id,
            session_id=job.session_id,
            plan="\n".join(plan_text(question)),
            revision_count=revision,
            max_revisions=most,
            request_id=request.id,
            feedback_s3_path=feedback_path(request.id),
            timeout_seconds=timeout,
            message=Message("{} {}", message, LAST_REVISION) if revision + 1 >= most else message,
            digest=request.digest,
            steps=[_step(question, step) for step in request.subject.get("steps", ())],
            on_timeout=expiry_verdict(request).value,
            notes=[str(note) for note in request.about.get("notes", ())],
            difference=dict(request.about.get("difference", {})),
            query=job.query,
            expires_at=expires,
        )
    kind = events.TodoReviewRequest if request.kind is Kind.TODO else events.Question
    return kind(
        job_id=job.id,
        session_id=job.session_id,
        request_id=request.id,
        digest=request.digest,
        asks=request.kind.value,
        todo_id=request.todo_id,
        options=list(question.answers),
        risk=question.risk.value,
        quorum=request.terms.quorum,
        level=request.terms.level,
        timeout_seconds=timeout,
        message=asked_words(question.view),
        question=question.to_dict(),
        expires_at=expires,
    )


def accepted_event(job: Job, reviewed: PlanReviewed) -> events.PlanAccepted | None:
    """Return what let a plan go ahead that no person approved; None where one did, and where it doesn't."""
    if reviewed.get("verdict") != Verdict.APPROVE or reviewed["ended_by"] == EndedBy.PERSON:
        return None
    return events.PlanAccepted(
        job_id=job.id,
        session_id=job.session_id,
        ended_by=reviewed["ended_by"],
        by=reviewed["by"],
        revision_count=reviewed["revisions"],
        max_revisions=reviewed["max_revisions"],
        message=ended_message(reviewed),
    )


def _step(question: Question, step: Any) -> dict[str, Any]:
    shown = question.view.request.about.get("steps", {}).get(step["todo"], {})
    return {
        "id": step["todo"],
        "title": shown.get("title", ""),
        "agent": step["team"],
        "task": step["task"],
        "arguments": dict(step["arguments"]),
        "dependencies": list(step["dependencies"]),
        "risk": step["risk"],
    }


def plan_text(question: Question) -> Iterator[str]:
    """Yield the lines of a plan as people read it."""
    for number, step in enumerate((_step(question, s) for s in question.view.request.subject.get("steps", ())), 1):
        after = f", after {', '.join(step['dependencies'])}" if step["dependencies"] else ""
        yield f"{number}. {step['title']} ({step['id']}, {step['agent']}, risk {step['risk']}{after})"
        if step["task"] and step["task"] != step["title"]:
            yield f"   {step['task']}"
    for note in question.view.request.about.get("notes", ()):
        yield f"Note: {note}"


def decided_event(job: Job, view: RequestView) -> events.Decided:
    """Return what became of a request."""
    decisions, request = view.resolution.decisions, view.request
    at = decisions[-1].at if decisions else request.ended_at if request.superseded else request.expires_at
    return events.Decided(
        job_id=job.id,
        session_id=job.session_id,
        request_id=view.request.id,
        outcome=view.resolution.outcome.value,
        by=[decision.by for decision in decisions],
        at=at or None,
    )


def ended_event(job: Job, snapshot: Snapshot) -> events.Event:
    """Return how a session that is concluded ended."""
    response = dict(snapshot.response or {})
    text = str(response.pop("text", ""))
    tally = dict(snapshot.tally)
    if snapshot.status == FAILED:
        error = snapshot.errors[0] if snapshot.errors else Message("No step of it could be carried out.")
        return events.Failed(
            job_id=job.id,
            session_id=job.session_id,
            error=error,
            final=True,
            response=text,
            details=response,
            tally=tally,
        )
    return events.Done(job_id=job.id, session_id=job.session_id, response=text, details=response, tally=tally)


def stopped_event(job: Job, error: str, *, final: bool, begun: bool = True) -> events.Failed:
    """Return that a job can't go on, or couldn't be begun."""
    return events.Failed(
        job_id=job.id,
        session_id=job.session_id if begun else None,
        error=error,
        final=final,
        response="",
        details={},
        tally={},
    )
