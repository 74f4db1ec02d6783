"""Going back: to a checkpoint of a session, to a step of a team, after a person saw what that means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl_tui.console.dialogs.prompt_dialogs import confirm
from hitl_tui.console.session_handle import SessionHandle
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.language import _, safe_message
from hitl_tui.threads.session_diff import consequences
from hitl_tui.wording.history_rows import restore_words
from hitl_tui.wording.status_words import number_of
from hitl_tui.wording.thread_rows import name_of

if TYPE_CHECKING:
    from hitl_tui.commands.results import CommandResult
    from hitl_tui.console.services import Console, Speaker
    from hitl_tui.threads.session_history import CheckpointInfo


async def step_back(
    console: Console, handle: SessionHandle, todo: SupervisorTodo, info: CheckpointInfo
) -> CommandResult | None:
    """Say what it means that a team goes on from one of its own steps; let it when that is confirmed.

    Args:
        console: the app.
        handle: the session.
        todo: the team's TODO.
        info: the step.

    Returns:
        what the command answered; None when it wasn't confirmed.
    """
    steps = handle.thread.of_team(todo.thread)
    later = (await steps.shape()).total - await steps.place(info.checkpoint_id)
    number, step = number_of(todo.id), name_of(info)
    said = "\n".join(
        [
            _("{todo} would continue from {step}, once it is approved again.").format(todo=number, step=step),
            _("! {n} steps came after it. Their side effects are NOT undone.").format(n=later),
            _("Nothing is executed by going back, and the steps stay."),
        ]
    )
    if not await confirm(console, _("Continue from a step of {todo}").format(todo=number), said, _("Restore")):
        return None
    return await handle.handler.handle_command(f"/checkpoint restore {info.checkpoint_id}")


def done_words(result: CommandResult | None, host: Speaker) -> str | None:
    """Return what came of going back, one safe line; None where it failed or wasn't confirmed, which is said.

    Args:
        result: what the command answered; None when it wasn't confirmed.
        host: shows why nothing was done.
    """
    if result is None:
        host.say(_("Nothing was changed."))
        return None
    message = safe_message(result.message, multiline=False)
    if not result.failed:
        return message
    host.say(message, error=True)
    return None


async def restore_named(console: Console, handle: SessionHandle, name: str) -> CommandResult | None:
    """Go back to a checkpoint, or to a step of a team, that a typed command names, as the key does that restores.

    Returns:
        what the command answered; None when it wasn't confirmed.

    Raises:
        UnknownName: there is no such checkpoint, or it could be several.
    """
    thread, step = await handle.session.find_step(name)
    todo = handle.session.snapshot.todo(thread.split("/")[1]) if thread else None
    if todo is not None and thread == todo.thread:
        info = await handle.thread.of_team(thread).info(step)
        return await step_back(console, handle, todo, info) if info is not None else None
    if not thread and (found := await handle.thread.info(await handle.session.find_checkpoint(name))) is not None:
        return await go_back(console, handle, found)
    return await handle.handler.handle_command(f"/checkpoint restore {name}")  # which says why it can't be


async def go_back(console: Console, handle: SessionHandle, info: CheckpointInfo) -> CommandResult | None:
    """Say what going back to a checkpoint would change and what it wouldn't undo; go when that is confirmed.

    Args:
        console: the app.
        handle: the session.
        info: the checkpoint.

    Returns:
        what the command answered; None when it wasn't confirmed.
    """
    past, head = handle.thread, handle.session.snapshot.checkpoint_id
    then, now = await past.state_at(info.checkpoint_id), await past.state_at(head)
    number, shape = await past.place(info.checkpoint_id), await past.shape()
    said = restore_words(info, number, shape.total, consequences(then, now), await past.effects())
    title = _("Restore checkpoint {number}").format(number=number)
    if not await confirm(console, title, said, _("Restore")):
        return None
    return await handle.handler.handle_command(f"/checkpoint restore {info.checkpoint_id}")
