"""`/model`: show or choose the model of a session, and what it may spend."""

from __future__ import annotations

from dataclasses import replace

from hitl_tui.commands.command_context import CommandContext
from hitl_tui.commands.parser import CommandValues
from hitl_tui.commands.results import CommandResult
from hitl_tui.config.model_settings import NONE
from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.supervisor.session_model import SessionModel

_BUDGET, _TOKENS = "budget", "tokens"


async def model(context: CommandContext, values: CommandValues) -> CommandResult:
    """Show the model, or take another one or another budget for this session.

    Raises:
        HitlError: the model can't be opened; the one before stays.
    """
    found = context.session.setup.model
    if found is None:
        raise BadInput(Message("This session can't have a model."))
    words = values.text("choice").split()
    if not words:
        return CommandResult("ok", await _said(found), await _data(found))
    choice = found.choice
    match words:
        case ["budget", amount]:
            choice = replace(choice, budget=_amount(amount))
        case ["tokens", amount]:
            choice = replace(choice, token_budget=int(_amount(amount)))
        case [name] if name not in (_BUDGET, _TOKENS):
            choice = replace(choice, name=name)
        case _:
            raise BadInput(
                Message("Give a model, a budget or a number of tokens."),
                help=Message("For example: /model openai:gpt-5-mini, /model budget 2.50, /model tokens 200000"),
            )
    await found.choose(choice, context.by)
    return CommandResult("updated", await _said(found), await _data(found))


def _amount(text: str) -> float:
    try:
        amount = float(text.replace(",", "").removeprefix("$"))
    except ValueError:
        amount = -1.0
    if not 0 <= amount < 1e12:
        raise BadInput(Message("A budget is a number of at least 0, not {}.", repr(text[:40])))
    return amount


async def _said(found: SessionModel) -> Message:
    settings, total = found.settings, (await found.spending()).total
    if not settings.name:
        return Message("No model: plans are made by rules. To use one: /model openai:gpt-5-mini")
    used = Message("{} tokens", f"{total.tokens:,}")
    if total.cost:
        used = Message("{} tokens, ${}", f"{total.tokens:,}", f"{total.cost:.4f}")
    limits: list[str] = []
    if settings.budget:
        limits.append(f"${settings.budget:g}")
    if settings.token_budget:
        limits.append(Message("{} tokens", f"{settings.token_budget:,}"))
    if not limits:
        return Message("The model is {}; it used {}.", settings.name, used)
    if len(limits) == 1:
        return Message("The model is {}; it used {} of {}.", settings.name, used, limits[0])
    return Message("The model is {}; it used {} of {} and {}.", settings.name, used, *limits)


async def _data(found: SessionModel) -> dict[str, object]:
    settings, spending = found.settings, await found.spending()
    return {
        "model": settings.name or NONE,
        "budget": settings.budget,
        "token_budget": settings.token_budget,
        "used": spending.total.to_dict(),
        "used_by": {todo_id or "planning": usage.to_dict() for todo_id, usage in spending.by_todo.items()},
    }
