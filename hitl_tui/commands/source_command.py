"""The command that lists what an answer rests on, and tells where one of these places is."""

from __future__ import annotations

import asyncio
from pathlib import Path

from hitl_tui.commands.command_context import CommandContext
from hitl_tui.commands.parser import CommandValues
from hitl_tui.commands.plan_commands import number
from hitl_tui.commands.results import CommandResult
from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message, joined
from hitl_tui.core.safe_text import one_line
from hitl_tui.supervisor.answer_sources import AnswerSource, file_of, sources_of


async def source(context: CommandContext, values: CommandValues) -> CommandResult:
    """List the sources of the answer, or find one; interfaces at a terminal open the `file` that is found.

    Raises:
        BadInput: there is no answer yet, no such source, or its file can't be shown as text any more.
    """
    snapshot = context.session.snapshot
    if snapshot.response is None:
        raise BadInput(Message("There is no answer yet."))
    found = sources_of(snapshot)
    if not found:
        raise BadInput(Message("The answer names no sources."))
    if "n" not in values:
        return _listed(found)
    wanted = number(values.text("n"))
    if wanted > len(found):
        raise BadInput(Message("The answer has {} sources.", len(found)), help=Message("/source lists them."))
    chosen = found[wanted - 1]
    file = await asyncio.to_thread(file_of, chosen, Path(snapshot.workspace))
    message = Message("{} · {}", chosen.label, str(file))
    return CommandResult("source", message, {"source": chosen.to_dict(), "file": str(file)})


def _listed(found: tuple[AnswerSource, ...]) -> CommandResult:
    lines = [f"{n}  {one_line(f'{source.label}  {source.quote}'.strip(), 100)}" for n, source in enumerate(found, 1)]
    return CommandResult("ok", joined(lines, "\n"), {"sources": [source.to_dict() for source in found]})
