"""Commands that keep sessions in order: another title, a file to take along, another one that begins here (C8)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from hitl_tui.commands.command_context import CommandContext
from hitl_tui.commands.results import CommandResult
from hitl_tui.config.paths import given_path
from hitl_tui.core.errors import BadInput
from hitl_tui.supervisor.session_document import export_for_reading, is_for_reading
from hitl_tui.supervisor.storage import SessionInfo

if TYPE_CHECKING:
    from hitl_tui.policy.workspace_trust import WorkspaceTrust
    from hitl_tui.supervisor.session_summary import SessionSummary


class Keeper(Protocol):
    """Keeps all sessions of a user; `supervisor.workbench.Workbench` is one."""

    async def sessions(self, search: str = "") -> list[SessionSummary]:
        """Return the sessions that have these words, newest last."""
        ...

    async def summary(self, session_id: str) -> SessionSummary:
        """Return one session as `sessions` lists it."""
        ...

    async def copies(self, session_id: str) -> list[Path]:
        """Return the copies of threads that would go with a session; UnknownName when there is no such session."""
        ...

    async def workspace_trust(self, session_id: str) -> WorkspaceTrust:
        """Return the trust in a session's workspace as it is now."""
        ...

    async def trust_workspace(self, session_id: str, digest: str, *, by: str, how: str) -> WorkspaceTrust:
        """Trust a session's workspace as it was shown; BadInput when it is something else by now."""
        ...

    async def rename(self, session_id: str, title: str, *, by: str = "") -> SessionInfo:
        """Give a session another title."""
        ...

    async def fork(self, session_id: str, checkpoint_id: str = "", *, title: str = "", by: str = "") -> SessionInfo:
        """Make a session that begins where another stands or stood."""
        ...

    async def export(self, session_id: str, path: Path) -> Path:
        """Write a session into one file."""
        ...

    async def import_(self, path: Path, *, workspace: Path | None = None, by: str = "") -> SessionInfo:
        """Make a session of an exported file."""
        ...

    async def delete(self, session_id: str, *, by: str = "") -> None:
        """Remove a session; the record of its decisions stays."""
        ...


def keeper_of(hand: CommandContext) -> Keeper:
    """Return what keeps all sessions. Raises BadInput: there is only this one."""
    if hand.keeper is None:
        raise BadInput("Sessions can't be kept in order from here.")
    return hand.keeper


async def rename(hand: CommandContext, values: Mapping[str, Any]) -> CommandResult:
    """Give the session another title."""
    info = await keeper_of(hand).rename(hand.face.id, str(values["title"]), by=hand.by)
    message = f'{info.id} is called "{info.title}" now.'
    return CommandResult("renamed", message, {"session_id": info.id, "title": info.title})


async def export(hand: CommandContext, values: Mapping[str, Any]) -> CommandResult:
    """Write the session into one file, or what is to be read of it; the name's ending says which.

    Raises:
        BadInput: the name has another ending, the file is there already, or its folder isn't.
    """
    path = await asyncio.to_thread(_path, str(values["file"]))
    if is_for_reading(path):
        written = await export_for_reading(hand.face, path)
    else:
        written = await keeper_of(hand).export(hand.face.id, path)
    size = (await asyncio.to_thread(written.stat)).st_size
    message = f"{hand.face.id} was written to {written} ({size:,} bytes)."
    return CommandResult("exported", message, {"session_id": hand.face.id, "file": str(written), "size": size})


async def fork(hand: CommandContext, values: Mapping[str, Any]) -> CommandResult:
    """Make a session that begins at a checkpoint of this one, the newest by default."""
    info = await keeper_of(hand).fork(hand.face.id, str(values.get("checkpoint", "")), by=hand.by)
    message = f"{info.id} is a fork of {hand.face.id}; nothing was executed."
    return CommandResult("forked", message, {"session_id": info.id, "source": hand.face.id, "title": info.title})


async def sessions(hand: CommandContext, values: Mapping[str, Any]) -> CommandResult:
    """List all sessions, or those that have some words."""
    return await _listed(keeper_of(hand), values, hand.by)


async def import_(hand: CommandContext, values: Mapping[str, Any]) -> CommandResult:
    """Make a session of an exported file."""
    return await _imported(keeper_of(hand), values, hand.by)


async def delete(hand: CommandContext, values: Mapping[str, Any]) -> CommandResult:
    """Show what would go with a session; with its id given again, delete it.

    Raises:
        BadInput: it is the session one is in, or the id given again is another.
    """
    if str(values["session"]) == hand.face.id:
        raise BadInput(
            f"{hand.face.id} is the session you are in, so it can't be deleted here.",
            help=f"Leave it first; hitl-tui delete {hand.face.id} deletes it.",
        )
    return await _deleted(keeper_of(hand), values, hand.by)


# Where no session is open -----------------------------------------------------------------------------------------


async def _listed(keeper: Keeper, values: Mapping[str, Any], by: str) -> CommandResult:
    found = await keeper.sessions(str(values.get("words", "")))
    count = f"{len(found)} session{'' if len(found) == 1 else 's'}."
    return CommandResult("ok", count, {"sessions": [s.to_dict() for s in found]})


async def _imported(keeper: Keeper, values: Mapping[str, Any], by: str) -> CommandResult:
    path = await asyncio.to_thread(_path, str(values["file"]))
    info = await keeper.import_(path, by=by)
    message = f"{info.id} was created from {path.name} and works in {info.workspace}; nothing was executed."
    return CommandResult("imported", message, {"session_id": info.id, "from": str(path), "title": info.title})


async def _deleted(keeper: Keeper, values: Mapping[str, Any], by: str) -> CommandResult:
    name, again = str(values["session"]), str(values.get("again", ""))
    copies = await keeper.copies(name)
    summary = await keeper.summary(name)
    data: dict[str, Any] = {"session": summary.to_dict(), "copies": [str(path) for path in copies]}
    if not again:
        told = f"{what_goes(summary, copies)} Nothing was deleted; /delete {name} {name} deletes it."
        return CommandResult("ok", told, data)
    if again != name:
        raise BadInput(f"Nothing was deleted: the id given again isn't {name}.")
    await keeper.delete(name, by=by)
    return CommandResult(
        "deleted", f"{name} was deleted; the record of its decisions stays.", {**data, "session_id": name}
    )


ALONE: Mapping[str, Callable[[Keeper, Mapping[str, Any], str], Awaitable[CommandResult]]] = MappingProxyType(
    {"sessions": _listed, "import": _imported, "delete": _deleted}
)
"""Commands that work with no session open: keeper, arguments and who gives them."""


def what_goes(summary: SessionSummary, copies: Sequence[Path]) -> str:
    """Return what deleting a session removes and what stays, in plain sentences."""
    with_them = ""
    if copies:
        with_them = f" It also removes {len(copies)} copies of threads in {copies[0].parent}."
    return (
        f'Deleting {summary.id} ("{summary.title}") removes its checkpoints and results.{with_them} '
        "Exported files, the workspace and the record of its decisions stay."
    )


def _path(text: str) -> Path:
    return given_path(text.strip().strip('"'))
