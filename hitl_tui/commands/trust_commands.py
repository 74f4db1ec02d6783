"""`/trust`: show what the workspace of a session wants to run that nobody trusts yet, and trust it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hitl_tui.commands.command_context import CommandContext
from hitl_tui.commands.results import CommandResult
from hitl_tui.commands.session_commands import admin_of
from hitl_tui.core.errors import Refused
from hitl_tui.core.identity import Identity
from hitl_tui.core.messages import Message


async def trust(hand: CommandContext, values: Mapping[str, Any]) -> CommandResult:
    """Trust the workspace as it was shown, by its digest; without one show what it wants.

    Raises:
        BadInput: it is something else by now; nothing was changed.
        Refused: nothing proves who says it.
    """
    store, folder = admin_of(hand).store, Path(hand.face.setup.info.workspace)
    found = await store.trust.of(folder)
    if not hand.digest:
        data = found.to_dict()
        if found.trusted:
            return CommandResult("ok", Message("{} is trusted ({}).", found.folder, found.by), data)
        line = f"/trust --digest {found.digest}"
        message: str = Message("{} is not trusted.", found.folder)
        if not hand.terminal:
            message = Message("{} is not trusted; trust it as it is now with: {}", found.folder, line)
        return CommandResult("ok", message, {**data, "give": [line]})
    who = hand.acting() if hand.acting is not None else Identity(hand.by)
    if not who.person:
        raise Refused(
            Message("{} is a claimed name, and only a verified person trusts a folder; nothing was changed.", who.name),
            reason="not_allowed",
        )
    store.data.check_writable()
    granted = await store.trust.grant(folder, hand.digest, by=who.name, how=hand.channel)
    message = Message("Trusted {} as it is now.", granted.folder)
    if why := await hand.face.renew():
        message = Message("{} {}", message, why)
    return CommandResult("trusted", message, granted.to_dict())
