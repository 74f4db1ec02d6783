"""The answer to one request, as `hitl-tui decide` and programs elsewhere give it: a word, and what goes with it."""

from __future__ import annotations

from hitl_tui.commands.answer_commands import form_of
from hitl_tui.commands.handler import CommandHandler
from hitl_tui.commands.results import CommandResult
from hitl_tui.core.errors import BadInput
from hitl_tui.core.interrupts.answer_parser import read_as
from hitl_tui.core.interrupts.recognition import answers_to
from hitl_tui.core.interrupts.shape import RESPOND, Form
from hitl_tui.core.json_text import strict_json
from hitl_tui.core.json_types import Json
from hitl_tui.core.messages import Message
from hitl_tui.core.requests import Kind, Request, Verdict
from hitl_tui.core.safe_text import one_line
from hitl_tui.supervisor.snapshot import Question

EDIT = "edit"


async def answer_request(
    handler: CommandHandler, question: Question, answer: str, text: str = "", reason: str = ""
) -> CommandResult:
    """Answer a question as it was shown.

    Args:
        handler: carries it out, for whom answers.
        question: the question.
        answer: a verdict, an action of the question's own, or `edit`.
        text: what goes with it: new arguments, an answer, the changes of a proposal that are accepted.
        reason: why.

    Raises:
        BadInput: it doesn't answer the question.
        Refused: it can't count.
    """
    request = question.view.request
    if request.kind is Kind.INTERRUPT:
        if question.stops_step(answer):
            return await handler.decide(question, Verdict.REJECT, reason=reason or text)
        form = form_of(question)
        action = form.action(answer)
        if (
            action is None and not form.options and answer not in (EDIT, RESPOND)
        ):  # to do either to several calls is to decide each
            raise BadInput(_not_an_answer(answer, request))
        if not text and action is not None and action.wants.form is not Form.NONE:
            text, reason = reason, ""
        reading = read_as(form, answer, text)
        return await handler.answer(question, reading.value, reading.action, reading.reason or reason)
    if answer == EDIT:
        return await handler.handle_command(f"/todo edit {request.todo_id} {text}", {request.id})
    verdict, value = verdict_of(request, answer), None
    if text.strip() and request.kind is Kind.PROPOSAL and verdict is Verdict.APPROVE:
        value = json_given(text)
    return await handler.decide(question, verdict, reason=reason, value=value)


def verdict_of(request: Request, answer: str) -> Verdict:
    """Return an answer as a verdict that the request takes.

    Raises:
        BadInput: it takes another one.
    """
    found = Verdict(answer) if answer in set(Verdict) else None
    if found is None or found not in request.options:
        raise BadInput(_not_an_answer(answer, request))
    return found


def _not_an_answer(answer: str, request: Request) -> Message:
    options = ", ".join(answers_to(request))
    return Message('"{}" doesn\'t answer this question; it takes {}.', one_line(answer, 40), options)


def json_given(text: str) -> Json:
    """Return the JSON that goes with an answer.

    Raises:
        BadInput: it is none.
    """
    try:
        return strict_json(text)
    except ValueError as error:
        raise BadInput(Message("--args isn't valid JSON: {}.", one_line(str(error), 200))) from error
