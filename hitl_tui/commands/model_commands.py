"""`/model`: show or choose the model of a session, and what it may spend."""

from __future__ import annotations

from dataclasses import replace

from hitl_tui.commands.command_context import CommandContext
from hitl_tui.commands.parser import CommandValues
from hitl_tui.commands.results import CommandResult
from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message

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
        return CommandResult("ok", await found.said(), await found.document())
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
    return CommandResult("updated", await found.said(), await found.document())


def _amount(text: str) -> float:
    try:
        amount = float(text.replace(",", "").removeprefix("$"))
    except ValueError:
        amount = -1.0
    if not 0 <= amount < 1e12:
        raise BadInput(Message("A budget is a number of at least 0, not {}.", repr(text[:40])))
    return amount
