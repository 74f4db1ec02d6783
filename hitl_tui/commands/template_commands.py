"""`/template`: keep plans under a name, and propose them again with other values."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from hitl_tui.commands.command_context import CommandContext
from hitl_tui.commands.parser import CommandValues
from hitl_tui.commands.results import CommandResult
from hitl_tui.commands.session_commands import admin_of
from hitl_tui.core.events import EventKind
from hitl_tui.core.json_types import EventData
from hitl_tui.core.messages import Message, joined
from hitl_tui.core.plan import changed_words
from hitl_tui.core.safe_text import mask
from hitl_tui.core.todos import Status
from hitl_tui.planning.proposals import AddStep, Proposed

if TYPE_CHECKING:  # it imports pydantic, which no other command needs
    from hitl_tui.planning.plan_templates import TemplateShelf


def _shelf(context: CommandContext) -> TemplateShelf:
    from hitl_tui.planning.plan_templates import TemplateShelf

    return TemplateShelf(admin_of(context).store.data.root)


async def save(context: CommandContext, values: CommandValues) -> CommandResult:
    """Keep the plan as a template; `name=value` makes a parameter of a value that stands in it.

    Raises:
        BadInput: the plan has no steps, the name is taken, or a value stands nowhere in the plan.
    """
    from hitl_tui.planning.plan_templates import template_of, values_in

    seen, secrets, key = context.snapshot, context.session.setup.secrets, values.text("name")
    todos = [todo for todo in seen.todos if todo.status is not Status.SKIPPED]
    text = mask(template_of(key, seen.query, todos, values_in(values.text("values"))), secrets)
    path = await asyncio.to_thread(_shelf(context).save, key, text)
    message = Message("Saved the template {} with {} steps: {}", key, len(todos), path)
    return CommandResult("saved", message, {"template": key, "file": str(path)})


async def list_(context: CommandContext, values: CommandValues) -> CommandResult:
    """List the templates there are, with what is wrong with those that can't be used."""
    found, faulty = await asyncio.to_thread(_shelf(context).listed)
    names = ", ".join(f"{t.key} ({t.name})" if t.name != t.key else t.key for t in found)
    message = joined([Message("Templates: {}", names), *(one.message for one in faulty)], "\n")
    data = {"templates": [t.to_dict() for t in found], "faulty": [one.to_dict() for one in faulty]}
    return CommandResult("ok", message, data)


async def show(context: CommandContext, values: CommandValues) -> CommandResult:
    """Show a template's file.

    Raises:
        UnknownName: there is none of that name.
    """
    template = await asyncio.to_thread(_shelf(context).get, values.text("name").strip())
    message = Message("{}\n\n{}", template.key, template.text.rstrip())
    return CommandResult("ok", message, {"template": template.to_dict(), "text": template.text})


async def run(context: CommandContext, values: CommandValues) -> CommandResult:
    """Propose a template's steps, with values for its parameters.

    Raises:
        UnknownName: there is none of that name.
        BadInput: a value is missing; PlanError: a step can't be planned here.
    """
    from hitl_tui.planning.plan_templates import values_in

    template, rest = await asyncio.to_thread(_shelf(context).split, values.text("name"))
    steps = template.filled(values_in(rest))
    seen = context.snapshot
    reason = Message("The template {}.", template.name)
    proposed = Proposed(reason, tuple(AddStep(step) for step in steps))
    proposal = await context.planner.propose(proposed, seen.todos, context.line, seen.taken)
    event: EventData = {"proposal": proposal.to_dict()}
    data = {"proposal": proposal.to_dict(), "proposal_id": proposal.id}
    changed = changed_words(proposal.changes)
    message = Message("Proposed: {} To change the plan ({}): /proposal accept {}", reason, changed, proposal.id)
    if context.channel == "console":
        message = Message("Proposed: {}", reason)
    return await context.change(EventKind.PROPOSED, event, "proposed", message, data)
