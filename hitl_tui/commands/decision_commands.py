"""Commands that answer questions."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from hitl_tui.commands.command_context import AHEAD, CommandContext
from hitl_tui.commands.parser import CommandValues
from hitl_tui.commands.plan_commands import number, set_status
from hitl_tui.commands.question_lookup import REQUEST, is_request_id
from hitl_tui.commands.question_target import QuestionTarget, check_digest, find_target, refuse_answered, request_named
from hitl_tui.commands.results import CommandResult, failure
from hitl_tui.core.board import judge, limit_reached
from hitl_tui.core.errors import BadInput, Refused
from hitl_tui.core.events import EventKind
from hitl_tui.core.fold_operator_events import DEFAULT_SKIP_REASON
from hitl_tui.core.json_text import names_digest
from hitl_tui.core.json_types import EventData
from hitl_tui.core.messages import Message, word
from hitl_tui.core.names import resolve_id, step_name, typed_command
from hitl_tui.core.plan_review import LAST_REVISION, UNSAID
from hitl_tui.core.policy import Ruling
from hitl_tui.core.questions import question_of
from hitl_tui.core.requests import EVERYTHING, Kind, Verdict
from hitl_tui.core.supersession import Cause
from hitl_tui.core.todos import OPERATOR, Status, check_transition
from hitl_tui.supervisor.snapshot import Question


async def approve(context: CommandContext, values: CommandValues) -> CommandResult:
    """Approve the TODOs that are named; with none, the current one alone.

    Raises:
        BadInput: one of them waits for no approval; nothing was decided.
        Refused: it can't count. Of several the result says what became of each.
    """
    names = values.words("id")
    if not names:
        return await _approve_all(context, [_current_question(context)])
    targets = list({found.todo.id: found for found in [await find_target(context, name) for name in names]}.values())
    questions = [await _question(context, found, Kind.TODO, "approve") for found in targets]
    return await _approve_all(context, questions)


async def _approve_all(context: CommandContext, questions: list[Question]) -> CommandResult:
    await check_digest(context, questions)
    context.check(questions, Verdict.APPROVE)
    if len(questions) == 1:
        return await context.decide(questions[0], Verdict.APPROVE)
    results = [await _approve_one(context, question) for question in questions]
    failed = next((r for r in results if r.failed), None)
    data = {
        "todo_id": questions[0].todo_id,
        "todo_ids": [q.todo_id for q in questions],
        "results": [r.to_dict() for r in results],
    }
    if failed is None:
        return CommandResult(results[0].status, Message("Approved {} steps.", len(questions)), data)
    approved = [q.todo_id for q, r in zip(questions, results, strict=True) if not r.failed]
    message = failed.message
    if approved:
        message = Message("{} Approved: {}.", message, ", ".join(map(step_name, approved)))
    return CommandResult(failed.status, message, {**failed.data, **data}, failed.exit_code)


async def _approve_one(context: CommandContext, question: Question) -> CommandResult:
    """Approve one of several: a refusal of one doesn't hide what became of the others."""
    try:
        return await context.decide(question, Verdict.APPROVE)
    except Refused as error:
        return failure(error.message, error.help, reason=error.reason)


def _current_question(context: CommandContext) -> Question:
    asked = context.snapshot.questions
    for question in asked:
        if question.kind is Kind.TODO:
            return question
    for question in asked:
        if Verdict.APPROVE in question.view.request.options:
            return question
    if asked:
        ways = ", ".join(map(typed_command, asked[0].commands.values()))
        raise BadInput(
            Message("{} isn't waiting for approval; answer it with one of {}.", step_name(asked[0].name), ways)
        )
    raise BadInput(Message("Nothing is waiting for approval."), help=Message("/todos shows where everything stands."))


async def _question(context: CommandContext, found: QuestionTarget, kind: Kind, what: str) -> Question:
    """Return the open question of this kind about a TODO; some verdicts may be given before it is asked."""
    todo = found.todo
    if found.question is not None:
        return _of_kind(found.question, (kind,))
    asked = [q for q in context.snapshot.questions if q.todo_id == todo.id]
    for question in asked:
        if question.kind is kind:
            return question
    if kind is not Kind.TODO or todo.status is not Status.PENDING:
        ways = ", ".join(typed_command(way) for question in asked for way in question.commands.values())
        now = Message("Answer {} with one of {}.", step_name(todo.id), ways) if asked else ""
        await refuse_answered(context, todo.id, kinds=(kind,), help=now)
        if asked:
            _of_kind(asked[0], (kind,))
        raise BadInput(
            Message("{} is {} and isn't waiting for a decision to {}.", step_name(todo.id), todo.status, what)
        )
    if todo.approval is not None:
        await refuse_answered(context, todo.id, kinds=(kind,))
        raise BadInput(Message("{} was already approved by {}.", step_name(todo.id), todo.approval.get("by", "")))
    request = question_of(context.draft(), todo)
    if request is None:
        if judge(context.draft(), todo).ruling is Ruling.DENY:
            raise BadInput(Message("{} is denied by the policy and can't be approved.", step_name(todo.id)))
        waits = ", ".join(todo.dependencies)
        raise BadInput(
            Message("{} ({} risk) asks once its input is known, after {}.", step_name(todo.id), word(todo.risk), waits)
        )
    if todo.risk not in AHEAD.get(what, ()):
        raise BadInput(
            Message("{} is {}-risk and hasn't asked yet; decide when it asks.", step_name(todo.id), word(todo.risk))
        )
    await context.session.writer.open(request)
    view = await context.session.writer.request(request.id)
    if view is None:
        raise Refused(Message("The question about {} is gone.", step_name(todo.id)), reason="unknown")
    return Question(view)


def _of_kind(question: Question, kinds: Collection[Kind]) -> Question:
    if question.kind in kinds:
        return question
    raise _other_decision(question)


def _other_decision(question: Question) -> BadInput:
    ways = ", ".join(map(typed_command, question.commands.values()))
    return BadInput(Message("{} can't take this decision now; use one of {}.", step_name(question.name), ways))


async def reject(context: CommandContext, values: CommandValues) -> CommandResult:
    """Reject a TODO: what depends on it is blocked.

    Raises:
        BadInput: it can't be rejected now; the message says how it is answered.
        Refused: it was answered already, or isn't what was shown.
    """
    found = await find_target(context, values.text("id"))
    asked = (
        [found.question] if found.question else [q for q in context.snapshot.questions if q.todo_id == found.todo.id]
    )
    fit = [q for q in asked if _refusal(q) is not None]
    if not found.question:
        fit = [q for q in fit if names_digest(context.digest, q.digest)] or fit
    if asked and not fit:
        await refuse_answered(context, found.todo.id, kinds=(Kind.TODO, Kind.INTERRUPT, Kind.EFFECT))
        ways = ", ".join(map(typed_command, asked[0].commands.values()))
        raise BadInput(Message("{} can't be rejected now; answer it with one of {}.", step_name(asked[0].name), ways))
    # A doubt comes first: it is about what may have happened already.
    fit.sort(key=lambda question: question.kind is not Kind.EFFECT)
    question = fit[0] if fit else await _question(context, found, Kind.TODO, "reject")
    await check_digest(context, [question])
    verdict = _refusal(question) or Verdict.REJECT
    return await context.decide(question, verdict, reason=values.text("reason"))


def _refusal(question: Question) -> Verdict | None:
    """Return the verdict that refuses a TODO as a whole; None where the question takes none."""
    verdict = Verdict.STOP if question.kind is Kind.EFFECT else Verdict.REJECT
    return verdict if verdict in question.view.request.options else None


async def skip(context: CommandContext, values: CommandValues) -> CommandResult:
    """Skip a TODO and go on without it; also one that asks nothing.

    Raises:
        IllegalTransition: it can't be skipped any more.
        Refused: it was answered already, or isn't what was shown.
    """
    found, reason = await find_target(context, values.text("id")), values.text("reason", DEFAULT_SKIP_REASON)
    todo = found.todo
    asked = [found.question] if found.question else [q for q in context.snapshot.questions if q.todo_id == todo.id]
    if not asked:
        asked = [*await context.open_questions(todo.id)]
    for question in asked:
        if Verdict.SKIP in question.view.request.options:
            await check_digest(context, [question])
            return await context.decide(question, Verdict.SKIP, reason=reason)
    if found.question is not None:
        _of_kind(found.question, (Kind.TODO, Kind.FAILURE))
    context.check_seen(asked)
    await check_digest(context, asked)
    check_transition(todo, Status.SKIPPED, OPERATOR)
    data: EventData = {"todo_id": todo.id, "reason": reason}
    closing = context.ends(Cause.SKIPPED, todo.id, verdict=Verdict.SKIP)
    return await context.change(
        EventKind.SKIP, data, "skipped", Message("Skipped {}.", step_name(todo.id)), data, closing=closing
    )


async def retry(context: CommandContext, values: CommandValues) -> CommandResult:
    """Try a failed TODO again, also one that doesn't ask about it.

    Raises:
        BadInput: it didn't fail.
        Refused: it was answered already, or isn't what was shown.
    """
    found = await find_target(context, values.text("id"))
    todo = found.todo
    question = _of_kind(found.question, (Kind.FAILURE,)) if found.question else None
    if question is None:
        failures = (q for q in context.snapshot.questions if q.todo_id == todo.id and q.kind is Kind.FAILURE)
        question = next(failures, None)
    await check_digest(context, [question] if question else [])
    if question is not None:
        return await context.decide(question, Verdict.RETRY)
    if todo.status is not Status.FAILED:
        await refuse_answered(context, todo.id, kinds=(Kind.FAILURE,))
    check_transition(todo, Status.PENDING, OPERATOR)
    if todo.status is not Status.FAILED:
        raise BadInput(Message("{} is {}; only a failed step can be retried.", step_name(todo.id), todo.status))
    return await set_status(context, todo, Status.PENDING)


async def done(context: CommandContext, values: CommandValues) -> CommandResult:
    """Say that an effect in doubt happened: what it was meant to bring counts as done."""
    return await _settle_doubt(context, values, Verdict.USE_AS_DONE, Message("use an effect as done"))


async def again(context: CommandContext, values: CommandValues) -> CommandResult:
    """Say that an effect in doubt shall be done again."""
    return await _settle_doubt(context, values, Verdict.DO_AGAIN, Message("do an effect again"))


async def _settle_doubt(context: CommandContext, values: CommandValues, verdict: Verdict, what: str) -> CommandResult:
    question = await _question(context, await find_target(context, values.text("id")), Kind.EFFECT, what)
    await check_digest(context, [question])
    if verdict not in question.view.request.options:
        raise _other_decision(question)
    return await context.decide(question, verdict)


async def stop(context: CommandContext, values: CommandValues) -> CommandResult:
    """Stop everything that has not ended, and ask nothing more; named a failure's request, as the answer to that.

    Raises:
        BadInput: the request takes no such answer.
        Refused: it was answered already.
    """
    name = values.text("id")
    if not name:
        closing = context.ends(Cause.STOPPED, EVERYTHING)
        seen = context.snapshot
        message = Message("Ended the plan: {} stopped, {} skipped.", len(seen.running), seen.unstarted)
        return await context.change(EventKind.STOP, {}, "stopped", message, {}, closing=closing)
    question = await _question(context, await find_target(context, name), Kind.FAILURE, "stop")
    await check_digest(context, [question])
    return await context.decide(question, Verdict.STOP)


async def plan_approve(context: CommandContext, values: CommandValues) -> CommandResult:
    """Let the plan begin.

    Raises:
        BadInput: no plan waits for a decision.
    """
    return await _approve_all(context, [await _only(context, Kind.PLAN, values.text("id"))])


async def plan_reject(context: CommandContext, values: CommandValues) -> CommandResult:
    """Refuse the plan; with feedback it is planned anew.

    Raises:
        BadInput: no plan waits for a decision.
    """
    first, _, rest = values.text("feedback").partition(" ")
    named = is_request_id(first)
    context = replace(context, names=(first,)) if named else context
    question = await _only(context, Kind.PLAN, first if named else "")
    await check_digest(context, [question])
    reason = rest.strip() if named else values.text("feedback")
    result = await context.decide(question, Verdict.REJECT, reason=reason)
    about = question.view.request.about
    most = int(about.get("max_revisions", UNSAID.max_revisions))
    return _at_limit(result, int(about.get("revision", 0)), most) if reason.strip() else result


def _at_limit(result: CommandResult, revision: int, most: int) -> CommandResult:
    """Say what feedback on a plan leads to when it is the last that is heeded, or the last but one."""
    left = most - revision - 1
    if result.failed or "needed" in result.data:
        return result
    if result.status != "recorded":
        result = replace(result, message=Message("Replanning with your feedback."))
    if left > 1:
        return result
    data = {**result.data, "revisions_left": max(0, left)}
    if left == 1:
        return replace(
            result, message=Message("{} One revision is left; then the plan goes ahead.", result.message), data=data
        )
    if result.status == "recorded":  # it isn't known yet whether it can be worked in
        return replace(result, message=Message("{} {}", result.message, LAST_REVISION), data=data)
    message = Message("Replanning once more with your feedback. {}", limit_reached(most))
    return replace(result, status="limit_reached", message=message, data=data)


async def proposal_accept(context: CommandContext, values: CommandValues) -> CommandResult:
    """Let the plan change as proposed; with one proposal open its id may be left out.

    Raises:
        BadInput: none is open, or several are and none was named.
    """
    return await _approve_all(context, [await _only(context, Kind.PROPOSAL, values.text("id"))])


async def proposal_run(context: CommandContext, values: CommandValues) -> CommandResult:
    """Accept a proposal and let what it adds run as far as one person's word is enough; its id may be left out.

    Raises:
        BadInput: none is open, several are and none was named, or it adds something else.
    """
    question = await _only(context, Kind.PROPOSAL, values.text("id"))
    await check_digest(context, [question])
    if not question.adds_low_risk_only:
        raise BadInput(Message("This proposal doesn't only add steps of low risk; accept it, and each step asks."))
    return await context.decide(question, Verdict.APPROVE, value={"run": True})


async def proposal_keep(context: CommandContext, values: CommandValues) -> CommandResult:
    """Accept some changes of a proposal, by their numbers.

    Raises:
        BadInput: a number is none of a change, or one needs another; nothing was decided.
    """
    question = await _only(context, Kind.PROPOSAL, values.text("id"))
    await check_digest(context, [question])
    numbers = [number(word) for text in values.words("numbers") for word in text.split(",") if word]
    return await context.decide(question, Verdict.APPROVE, value=question.accepting(numbers))


async def proposal_reject(context: CommandContext, values: CommandValues) -> CommandResult:
    """Leave the plan as it is; with one proposal open its id may be left out.

    Raises:
        BadInput: none is open, or several are and none was named.
    """
    question = await _only(context, Kind.PROPOSAL, values.text("id"))
    await check_digest(context, [question])
    return await context.decide(question, Verdict.REJECT, reason=values.text("reason"))


async def _only(context: CommandContext, kind: Kind, name: str = "") -> Question:
    if name.startswith(REQUEST):
        return _of_kind(await request_named(context, name), (kind,))
    found = {q.name: q for q in context.snapshot.questions if q.kind is kind}
    if name and name not in found:
        await refuse_answered(context, "", kinds=(kind,), name=name)
    if name:
        return found[resolve_id(name, found, word(kind.value))]
    if not found:
        raise BadInput(Message("No {} is waiting for a decision.", kind))
    if len(found) > 1:
        raise BadInput(Message("Several are open: {}; name one.", ", ".join(found)))
    return next(iter(found.values()))
