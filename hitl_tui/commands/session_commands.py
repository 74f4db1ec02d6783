"""Commands that administer sessions: list, rename, fork, export, import, delete."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from hitl_tui.commands.command_context import CommandContext
from hitl_tui.commands.parser import CommandValues
from hitl_tui.commands.results import CommandResult
from hitl_tui.config.paths import given_path
from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message, counted_message
from hitl_tui.supervisor.admin import (
    Deleted,
    Done,
    Exported,
    Forked,
    Imported,
    Removal,
    Renamed,
    SessionAdmin,
)

# What is answered -------------------------------------------------------------------------------------------------


def result_of(done: Done) -> CommandResult:
    """Return the answer to what was done with a session: its sentence, and what a script reads."""
    match done:
        case Renamed(info):
            message = Message('Renamed {} to "{}".', info.id, info.title)
            return CommandResult("renamed", message, {"session_id": info.id, "title": info.title})
        case Forked(info, source):
            message = Message("Created {}, a fork of {}; nothing was executed.", info.id, source)
            return CommandResult("forked", message, {"session_id": info.id, "source": source, "title": info.title})
        case Exported(session_id, file, size):
            from hitl_tui.supervisor.session_document import is_for_reading

            to_read = is_for_reading(file)
            said = (
                Message("Exported the answer and the plan of {}, to read: {} ({} bytes).")
                if to_read
                else Message("Exported all of {}, to open elsewhere with import: {} ({} bytes).")
            )
            message = said.filled(session_id, file, f"{size:,}")
            return CommandResult("exported", message, {"session_id": session_id, "file": str(file), "size": size})
        case Imported(info, file):
            message = Message(
                "Created {} from {}, working in {}; nothing was executed.", info.id, file.name, info.workspace
            )
            return CommandResult("imported", message, {"session_id": info.id, "from": str(file), "title": info.title})
        case Deleted(session_id):
            message = Message("Deleted {}; the record of its decisions stays.", session_id)
            return CommandResult("deleted", message, {"session_id": session_id})


def removal_words(removal: Removal) -> str:
    """Return what deleting a session removes and what stays, in plain sentences."""
    summary, copies = removal.summary, removal.copies
    with_them = ""
    if copies:
        with_them = Message(" It also deletes {} copies of threads in {}.", len(copies), copies[0].parent)
    return Message(
        'Deletes {} ("{}") with its checkpoints and results.{} Exported files, the '
        "workspace and the record of its decisions stay.",
        summary.id,
        summary.title,
        with_them,
    )


# With a session open ----------------------------------------------------------------------------------------------


def admin_of(context: CommandContext) -> SessionAdmin:
    """Return what administers all sessions. Raises BadInput: there is only this one."""
    if context.admin is None:
        raise BadInput(Message("Sessions can't be managed from here."))
    return context.admin


async def reset(context: CommandContext, values: CommandValues) -> CommandResult:
    """Give the starter that the session works in its files back."""
    admin, session = admin_of(context), context.session
    if running := session.snapshot.running:
        raise BadInput(
            Message("{} is still in progress.", running[0]), help=Message("Stop it first: /todo cancel {}", running[0])
        )
    folder = await admin.reset_starter(session.id)
    message = Message("Reset {}: its files are as at the start. What ran stays in the plan.", folder.name)
    return CommandResult("reset", message, {"session_id": session.id, "workspace": str(folder)})


async def rename(context: CommandContext, values: CommandValues) -> CommandResult:
    """Give the session another title."""
    return result_of(await admin_of(context).rename(context.session.id, values.text("title"), by=context.by))


async def export(context: CommandContext, values: CommandValues) -> CommandResult:
    """Write the session into one file, or what is to be read of it; the name's ending says which.

    Raises:
        BadInput: the name has another ending, the file is there already, or its folder isn't.
    """
    from hitl_tui.supervisor.session_document import SESSION

    path = await asyncio.to_thread(_path, values.text("file"), context.folder)
    if context.folder is not None and not path.suffix:
        path = path.with_name(path.name + SESSION)
    return result_of(await admin_of(context).export(context.session.id, path, context.session))


async def fork(context: CommandContext, values: CommandValues) -> CommandResult:
    """Make a session that begins at a checkpoint of this one, the newest by default."""
    admin, chosen = admin_of(context), values.text("checkpoint")
    return result_of(await admin.fork(context.session.id, chosen, by=context.by, channel=context.channel))


async def sessions(context: CommandContext, values: CommandValues) -> CommandResult:
    """List all sessions, or those that have some words."""
    return await _listed(admin_of(context), values, context.by)


async def import_(context: CommandContext, values: CommandValues) -> CommandResult:
    """Make a session of an exported file."""
    return await _imported(admin_of(context), values, context.by, context.folder)


async def delete(context: CommandContext, values: CommandValues) -> CommandResult:
    """Show what would go with a session; with its id given again, delete it.

    Raises:
        BadInput: it is the session one is in, or the id given again is another.
    """
    if values.text("session") == context.session.id:
        raise BadInput(
            Message("{} is the session you are in, so it can't be deleted here.", context.session.id),
            help=Message("Leave it first, then: hitl-tui delete {}", context.session.id),
        )
    return await _deleted(admin_of(context), values, context.by)


# With or without one ----------------------------------------------------------------------------------------------


async def _listed(admin: SessionAdmin, values: CommandValues, by: str) -> CommandResult:
    found = await admin.sessions(values.text("words"))
    count = counted_message("{} session.", "{} sessions.", len(found))
    return CommandResult("ok", count, {"sessions": [s.to_dict() for s in found]})


async def _imported(admin: SessionAdmin, values: CommandValues, by: str, folder: Path | None = None) -> CommandResult:
    path = await asyncio.to_thread(_path, values.text("file"), folder)
    return result_of(await admin.import_(path, by=by))


async def _deleted(admin: SessionAdmin, values: CommandValues, by: str) -> CommandResult:
    name, again = values.text("session"), values.text("again")
    removal = await admin.removal(name)
    data = {"session": removal.summary.to_dict(), "copies": [str(path) for path in removal.copies]}
    if not again:
        message = Message("{0} Nothing was deleted yet; to delete it: /delete {1} {1}", removal_words(removal), name)
        return CommandResult("ok", message, data)
    if again != name:
        raise BadInput(Message("Nothing was deleted: the second id isn't {}.", name))
    result = result_of(await admin.delete(name, by=by))
    return replace(result, data={**data, **result.data})


WITHOUT_SESSION: Mapping[str, Callable[[SessionAdmin, CommandValues, str], Awaitable[CommandResult]]] = (
    MappingProxyType({"sessions": _listed, "import": _imported, "delete": _deleted})
)
"""Commands that work with no session open; they take the arguments and who gives them."""


def _path(text: str, folder: Path | None = None) -> Path:
    return (folder or Path()) / given_path(text.strip().strip('"'))
