"""`/trust`: show what the workspace of a session wants to run that nobody trusts yet, and trust it."""

from __future__ import annotations

from pathlib import Path

from hitl_tui.commands.command_context import CommandContext
from hitl_tui.commands.parser import CommandValues
from hitl_tui.commands.results import CommandResult
from hitl_tui.commands.session_commands import admin_of
from hitl_tui.core.errors import Refused
from hitl_tui.core.identity import Identity
from hitl_tui.core.messages import Message


async def trust(context: CommandContext, values: CommandValues) -> CommandResult:
    """Trust the workspace as it was shown, by its digest; without one show what it wants.

    Raises:
        BadInput: it is something else by now; nothing was changed.
        Refused: nothing proves who says it.
    """
    store, folder = admin_of(context).store, Path(context.session.setup.info.workspace)
    found = await store.trust.of(folder)
    if not context.digest:
        data = found.to_dict()
        if found.trusted:
            return CommandResult("ok", found.words, data)
        line = f"/trust --digest {found.digest}"
        message: str = found.words
        if not context.terminal:
            message = Message("{} isn't trusted; to trust it as it is now: {}", found.folder, line)
        return CommandResult("ok", message, {**data, "give": [line]})
    who = context.acting() if context.acting is not None else Identity(context.by)
    if not who.person:
        raise Refused(
            Message("{} is a claimed name; only a verified person can trust a folder. Nothing was changed.", who.name),
            reason="not_allowed",
        )
    store.data.check_writable()
    granted = await store.trust.grant(folder, context.digest, by=who.name, how=context.channel)
    message = Message("Trusted {} as it is now.", granted.folder)
    if why := await context.session.renew():
        message = Message("{} {}", message, why)
    return CommandResult("trusted", message, granted.to_dict())
