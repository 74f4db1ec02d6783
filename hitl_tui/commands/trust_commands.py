"""`/trust`: show what the workspace of a session wants to run that nobody trusts yet, and trust it (T4)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hitl_tui.commands.command_context import CommandContext
from hitl_tui.commands.results import CommandResult
from hitl_tui.commands.session_commands import admin_of
from hitl_tui.core.errors import Refused
from hitl_tui.core.identity import Identity


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
            return CommandResult("ok", f"{found.folder} is trusted ({found.by}).", data)
        line = f"/trust --digest {found.digest}"
        message = f"{found.folder} is not trusted."
        if not hand.terminal:
            message = f"{found.folder} is not trusted; trust it as it is now with: {line}"
        return CommandResult("ok", message, {**data, "give": [line]})
    who = hand.acting() if hand.acting is not None else Identity(hand.by)
    if not who.person:
        raise Refused(
            f"{who.name} is a claimed name, and only a verified person trusts a folder; nothing was changed.",
            reason="not_allowed",
        )
    store.data.check_writable()
    granted = await store.trust.grant(folder, hand.digest, by=who.name, how=hand.channel)
    message = f"Trusted {granted.folder} as it is now."
    if why := await hand.face.renew():
        message += f" {why}"
    return CommandResult("trusted", message, granted.to_dict())
