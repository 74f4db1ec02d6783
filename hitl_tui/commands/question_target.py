"""The TODO or open question that a command names, and the refusal when it was answered already."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from hitl_tui.commands.command_context import CommandContext
from hitl_tui.commands.question_lookup import NUMBERED, REQUEST, by_request, not_as_shown, open_question
from hitl_tui.core.errors import Refused
from hitl_tui.core.json_text import names_digest
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip, person
from hitl_tui.core.requests import Kind, Outcome, closed_words, name_of
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.ledger.records import RequestView
from hitl_tui.supervisor.snapshot import Question, as_questions

_MOST = 10_000


@dataclass(frozen=True, slots=True)
class QuestionTarget:
    """What a command names.

    Args:
        todo: the TODO.
        question: the open question that was named by its request's id or number; None where only the TODO was.
    """

    todo: SupervisorTodo
    question: Question | None = None


async def find_target(context: CommandContext, name: str) -> QuestionTarget:
    """Return the TODO that a name stands for, and the question where it names one.

    Raises:
        UnknownName: there is none of that name, or it could be several.
        Refused: the question was answered or replaced meanwhile.
    """
    if name.startswith(REQUEST):
        question = await request_named(context, name)
        if not question.todo_id:
            raise Refused(
                Message("{} isn't about a step; it asks about the {}.", question.id, question.kind),
                reason="not_allowed",
            )
        return QuestionTarget(context.todo(question.todo_id), question)
    match = NUMBERED.fullmatch(name)
    if match is None or name in context.snapshot.raw:
        return QuestionTarget(context.todo(name))
    todo = context.todo(match.group(1))
    number = int(match.group(2))
    if not any(q.todo_id == todo.id and q.number == number for q in context.snapshot.questions):
        await refuse_answered(context, todo.id, kinds=(Kind.INTERRUPT,), number=number)
    return QuestionTarget(todo, open_question(context.snapshot, name))


async def find_todo(context: CommandContext, name: str) -> SupervisorTodo:
    """Return the TODO that a command is about, named in any way in which one is decided; see `find_target`."""
    return (await find_target(context, name)).todo


async def request_named(context: CommandContext, name: str) -> Question:
    """Return the open question whose request has this id.

    Raises:
        UnknownName: it could be several.
        Refused: it was decided, replaced, or never there.
    """
    found = by_request(context.snapshot, name)
    if found is not None:
        return found
    view = await context.session.writer.request(name)
    if view is None or view.request.session != context.session.id:
        raise Refused(Message('No open question "{}".', clip(name)), reason="unknown")
    if view.resolution.outcome is Outcome.PENDING:
        return as_questions([view], context.snapshot.raw)[0]
    raise closed_error(context, view)


def closed_error(context: CommandContext, view: RequestView) -> Refused:
    """Return what is said to who comes too late."""
    resolution = view.resolution
    reason = "superseded" if resolution.outcome is Outcome.SUPERSEDED else "late"
    if resolution.decisions and person(resolution.decisions[-1].by) == person(context.by):
        reason = "repeated"
    return Refused(closed_words(view.request, resolution, context.session.writer.now()), reason=reason)


async def refuse_answered(
    context: CommandContext,
    todo_id: str,
    *,
    kinds: Collection[Kind],
    number: int = 0,
    name: str = "",
    digest: str = "",
    help: str = "",
) -> None:
    """Refuse a command for a question that was answered already.

    Args:
        context: who gives it.
        todo_id: the TODO; empty for the plan or a proposal.
        kinds: what the question may have been.
        number: the interrupt's; 0 for any.
        name: the proposal's id; empty for any.
        digest: the beginning of its digest; empty for any.
        help: what would work instead.

    Raises:
        Refused: the last such question was answered; the message says what was said, by whom and when.
    """
    writer = context.session.writer
    views = await writer.ledger.requests(
        writer.now(), session=context.session.id, todo_id=todo_id, pending=False, limit=_MOST
    )
    for view in reversed(views):
        request = view.request
        meant = request.kind in kinds and number in (0, request.about.get("number", 0))
        meant = meant and name in ("", name_of(request))
        answered = view.resolution.decided or request.ended_at
        if meant and answered and (not digest or names_digest(digest, request.digest)):
            refused = closed_error(context, view)
            refused.help = help
            raise refused


async def check_digest(context: CommandContext, questions: Collection[Question]) -> None:
    """Check that the one question a command decides is the one whose digest was given, if one was.

    What was answered may have been asked again with the same digest, as after a restore. Which of both is meant
    only the request's id says.

    Raises:
        Refused: it is another one, or what was said of that digest has been said already.
    """
    digest = context.digest
    if not digest:
        return
    shown = [q for q in questions if names_digest(digest, q.digest)]
    known = (*questions, None)[0]
    help = Message("To answer the current question, name it: {}.", shown[0].id) if shown else ""
    if known is not None and not any(question.id in context.names for question in shown):
        await refuse_answered(context, known.todo_id, kinds=(known.kind,), digest=digest, help=help)
    if len(questions) != 1 or not shown:
        raise not_as_shown()
