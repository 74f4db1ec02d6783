"""`/answer`: answer an interrupt, checked before it is sent."""

from __future__ import annotations

from hitl_tui.commands.command_context import CommandContext
from hitl_tui.commands.parser import CommandValues
from hitl_tui.commands.question_lookup import REQUEST, open_question
from hitl_tui.commands.question_target import check_digest, find_target, refuse_answered, request_named
from hitl_tui.commands.results import CommandResult
from hitl_tui.core.errors import BadInput, Refused
from hitl_tui.core.interrupts.answer_parser import read
from hitl_tui.core.interrupts.shape import APPROVE, EDIT, RESPOND, Shape, said
from hitl_tui.core.json_text import check_storable, names_digest
from hitl_tui.core.json_types import Json
from hitl_tui.core.messages import Message, joined
from hitl_tui.core.names import step_name, typed_command
from hitl_tui.core.requests import Kind, Verdict
from hitl_tui.supervisor.snapshot import Question

_SENT_CELLS = 4_000


async def answer(context: CommandContext, values: CommandValues) -> CommandResult:
    """Answer the question that an id names with what was written.

    Raises:
        BadInput: what was written doesn't answer it.
        Refused: it isn't the one with this digest, or takes no answer any more.
    """
    question = await find(context, values.text("id"))
    await check_digest(context, [question])
    form, text = form_of(question), values.text("value")
    if (why := question.stop_reason(text)) is not None:
        return await context.decide(question, Verdict.REJECT, reason=why)
    found = read(form, text)
    return await send(context, question, found.value, found.action, found.reason)


async def send(
    context: CommandContext, question: Question, value: Json, action: str = "", reason: str = ""
) -> CommandResult:
    """Check an answer and send it; the result says exactly what was sent.

    Args:
        context: who answers.
        question: the question as it was shown.
        value: the answer, JSON.
        action: the action that made it, when a person chose one.
        reason: why, for the record; the answer doesn't carry it.

    Raises:
        BadInput: it doesn't fit the question, or can't be kept.
        Refused: it can't count: late, repeated, stale, superseded, not allowed.
    """
    form = form_of(question)
    from hitl_tui.core.interrupts.tool_permissions import why_refused

    form.check(value, action)
    check_storable(value)
    todo = context.snapshot.todo(question.todo_id)
    why = why_refused(context.session.rules.policy, todo.risk, question.view.request, value) if todo is not None else ""
    if why:
        raise Refused(why, reason="not_allowed")
    # Where nothing is approved, to edit is only how the answer is written.
    chosen = action if action != EDIT or form.action(APPROVE) is not None else RESPOND
    result = await context.decide(question, Verdict.RESPOND, reason=reason, value=value, action=chosen)
    if result.failed:
        return result
    sent = await _recorded(context, question, value)
    data = {**result.data, "shape": form.kind.value, "sent": sent}
    sent_words = said(sent, _SENT_CELLS)
    recorded = result.status == "recorded"
    told = Message("Your answer: {}.", sent_words) if recorded else Message("Sent: {}.", sent_words)
    message = joined([result.message, told, *([Message("Your reason is on record.")] if reason else [])])
    return CommandResult(result.status, message, data)


async def _recorded(context: CommandContext, question: Question, value: Json) -> Json:
    """Return the answer as it was recorded: secrets in it were masked."""
    view = await context.session.writer.request(question.id)
    decisions = view.decisions if view is not None else ()
    return next((d.value for d in reversed(decisions) if d.by == context.by and d.verdict is Verdict.RESPOND), value)


def form_of(question: Question) -> Shape:
    """Return the form of what a team asks from inside.

    Raises:
        BadInput: it is another kind of question.
    """
    if question.shape is None:
        ways = ", ".join(map(typed_command, question.commands.values()))
        raise BadInput(Message("{} isn't waiting for an answer; use one of {}.", step_name(question.name), ways))
    return question.shape


async def find(context: CommandContext, name: str) -> Question:
    """Return the open question that a name stands for; of several that it could be, the one with the digest given.

    Raises:
        UnknownName: there is none of that name, or it could be several.
        BadInput: it doesn't wait for an answer.
        Refused: it was answered or replaced meanwhile.
    """
    if name.startswith(REQUEST):
        found = await request_named(context, name)
    else:
        target = await find_target(context, name)
        found = target.question or await _inside(context, target.todo.id)
    form_of(found)
    return found


async def _inside(context: CommandContext, todo_id: str) -> Question:
    """Return what a TODO asks from inside; its id alone was the name of the first such question and stays that.

    Raises:
        Refused: that was answered already.
    """
    inside = [q for q in context.snapshot.questions if q.todo_id == todo_id and q.number]
    shown = [q for q in inside if names_digest(context.digest, q.digest)]
    if len(shown) == 1:
        return shown[0]
    if len(inside) < 2 and all(q.number > 1 for q in inside):
        now = Message("To answer the current question, name it: {}.", inside[0].name) if inside else ""
        await refuse_answered(context, todo_id, kinds=(Kind.INTERRUPT,), number=1 if inside else 0, help=now)
    return open_question(context.snapshot, todo_id)
