"""Commands that keep sessions in order: another title, a file to take along, another one that begins here (C8)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from hitl_tui.commands.hand import Hand
from hitl_tui.commands.results import CommandResult
from hitl_tui.core.errors import BadInput
from hitl_tui.supervisor.storage import SessionInfo


class Keeper(Protocol):
    """Keeps all sessions of a user; `supervisor.workbench.Workbench` is one."""

    async def rename(self, session_id: str, title: str, *, by: str = "") -> SessionInfo:
        """Give a session another title."""
        ...

    async def fork(self, session_id: str, checkpoint_id: str = "", *, title: str = "", by: str = "") -> SessionInfo:
        """Make a session that begins where another stands or stood."""
        ...

    async def export(self, session_id: str, path: Path) -> Path:
        """Write a session into one file."""
        ...


def _keeper(hand: Hand) -> Keeper:
    if hand.keeper is None:
        raise BadInput("Sessions can't be kept in order from here.")
    return hand.keeper


async def rename(hand: Hand, values: Mapping[str, Any]) -> CommandResult:
    info = await _keeper(hand).rename(hand.face.id, str(values["title"]), by=hand.by)
    message = f'{info.id} is called "{info.title}" now.'
    return CommandResult("renamed", message, {"session_id": info.id, "title": info.title})


async def export(hand: Hand, values: Mapping[str, Any]) -> CommandResult:
    path = await asyncio.to_thread(_path, str(values["file"]))
    written = await _keeper(hand).export(hand.face.id, path)
    size = (await asyncio.to_thread(written.stat)).st_size
    message = f"{hand.face.id} was written to {written} ({size:,} bytes)."
    return CommandResult("exported", message, {"session_id": hand.face.id, "file": str(written), "size": size})


async def fork(hand: Hand, values: Mapping[str, Any]) -> CommandResult:
    info = await _keeper(hand).fork(hand.face.id, str(values.get("checkpoint", "")), by=hand.by)
    message = f"{info.id} is a fork of {hand.face.id}; nothing was executed."
    return CommandResult("forked", message, {"session_id": info.id, "source": hand.face.id, "title": info.title})


def _path(text: str) -> Path:
    return Path(text.strip().strip('"')).expanduser()
