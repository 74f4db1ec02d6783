"""Commands about tasks outside of sessions: what an agent or script waits for (M1)."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from hitl_tui.commands.command_context import CommandContext
from hitl_tui.commands.parser import CommandValues
from hitl_tui.commands.results import CommandResult
from hitl_tui.core.errors import BadInput, Refused, UnknownName
from hitl_tui.core.json_text import strict_json
from hitl_tui.core.json_types import Json
from hitl_tui.core.messages import Message
from hitl_tui.core.names import resolve_id, step_name
from hitl_tui.core.requests import Verdict
from hitl_tui.core.safe_text import one_line


async def approve(context: CommandContext, values: CommandValues) -> CommandResult:
    """Approve the step of a task that waits.

    Raises:
        BadInput: no such task is known here, or several steps of it wait.
        Refused: nothing of it waited when the command began, or the decision can't count.
    """
    text = values.text("value") if "value" in values else ""
    return await _decide(context, values.text("task"), Verdict.APPROVE, value=_value(text))


def _value(text: str) -> Json:
    """Return what an approval gives along: JSON, or words; a text that begins with a brace or bracket isn't words."""
    try:
        return strict_json(text) if text else None
    except ValueError as error:
        if text.startswith(("{", "[")):
            raise BadInput(Message("The value isn't valid JSON: {}.", one_line(str(error), 200))) from error
        return text


async def reject(context: CommandContext, values: CommandValues) -> CommandResult:
    """Reject the step of a task that waits. Raises as `approve` does."""
    reason = values.text("reason") if "reason" in values else ""
    return await _decide(context, values.text("task"), Verdict.REJECT, reason=reason)


async def _decide(
    context: CommandContext, task: str, verdict: Verdict, *, reason: str = "", value: Json = None
) -> CommandResult:
    if context.tasks is None:
        raise BadInput(Message("Tasks can't be decided from here."))
    try:
        waiting = await context.tasks.of_task(task, Path(context.snapshot.workspace))
    except UnknownName as error:
        with suppress(UnknownName):  # it isn't a step of the session either
            meant = f"/todo {verdict} {step_name(resolve_id(task, context.snapshot.raw))}"
            error.help = Message("Did you mean {}?", meant)
        raise
    if context.began and waiting.view.request.opened_at > context.began:  # an edited call asks anew
        raise Refused(
            Message("{} asks only since you began that line; look at it first.", waiting.step.name), reason="unshown"
        )
    step = await context.tasks.decide(waiting, verdict, context.identity, context.channel, reason=reason, value=value)
    what = Message("{}: {} · {}", step.agent, step.does, step.message)
    status = "recorded" if step.needed else "approved" if verdict is Verdict.APPROVE else "rejected"
    return CommandResult(status, Message("{} {}", step.decision_words(verdict), what), {"checkpoint": step.to_dict()})
