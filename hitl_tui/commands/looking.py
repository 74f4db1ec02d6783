"""Commands that only look."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hitl_tui.commands.hand import Hand
from hitl_tui.commands.results import CommandResult
from hitl_tui.commands.spec import help_table, registry
from hitl_tui.core.errors import BadInput, UnknownName
from hitl_tui.core.names import clip

_PAGE = 20


async def todos(hand: Hand, values: Mapping[str, Any]) -> CommandResult:
    """Show the plan: every TODO, counts per status, the current one (D10)."""
    seen = hand.snapshot
    summary = seen.summary
    current = seen.current_todo_id
    noun = "TODO" if summary["total"] == 1 else "TODOs"
    waiting = f"{len(seen.questions)} waiting for you"
    message = f"{summary['total']} {noun}, {summary['completed']} completed, {waiting}."
    data = {
        "todos": [t.to_dict() for t in seen.todos],
        "summary": summary,
        "current_todo_id": current or None,
        "checkpoint_id": seen.checkpoint_id,
    }
    return CommandResult("ok", message, data)


async def show(hand: Hand, values: Mapping[str, Any]) -> CommandResult:
    """Show all there is to a TODO: its question and its result, too."""
    todo = hand.todo(values["id"])
    question = hand.snapshot.question_of(todo.id)
    data: dict[str, Any] = {"todo_id": todo.id, "todo": todo.to_dict()}
    if question is not None:
        data["question"] = question.to_dict()
    if todo.result and todo.result.get("digest"):
        data["result"] = await hand.face.artifact(str(todo.result["digest"]))
    return CommandResult("ok", f"{todo.id} is {todo.status}: {todo.name}", data)


async def checkpoint_list(hand: Hand, values: Mapping[str, Any]) -> CommandResult:
    """List the session's checkpoints, newest first; with a TODO, its team's own steps (D13)."""
    limit = number(values.get("limit", str(_PAGE)))
    if "todo" in values:
        steps = await hand.face.steps(hand.todo(values["todo"]).id, limit)
        message = f"{len(steps)} steps of its team, newest first."
        return CommandResult("ok", message, {"checkpoints": [c.to_dict() for c in steps]})
    before = await hand.face.find_checkpoint(values["before"]) if "before" in values else ""
    found = await hand.face.checkpoints(limit, before)
    message = f"{len(found)} checkpoints, newest first." if found else "There are no checkpoints before that."
    async with hand.face.reading() as history:
        newest = await history.place(found[0].checkpoint_id) if found else 0
    listed = [{"number": newest - n, **c.to_dict()} for n, c in enumerate(found)]
    return CommandResult("ok", message, {"checkpoints": listed})


async def help_(hand: Hand, values: Mapping[str, Any]) -> CommandResult:
    """List all commands, or those whose names begin with some words.

    Raises:
        UnknownName: none does.
    """
    words = " ".join(values.get("command", ())).removeprefix("/").lower()
    table = help_table()
    if words:
        specs = {s.name: s for n, s in registry().items() if n == words or n.startswith(f"{words} ")}
        if not specs:
            raise UnknownName(f'There is no command "/{clip(words)}"; /help lists all.')
        table = [(s.usage, s.summary) for s in specs.values()]
    commands = [{"usage": usage, "summary": summary} for usage, summary in table]
    return CommandResult("ok", "\n".join(f"{usage}\n    {text}" for usage, text in table), {"commands": commands})


def number(text: str) -> int:
    """Return the number of lines that was asked for.

    Raises:
        BadInput: it is none from 1 to 1000.
    """
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 1000:
        raise BadInput(f'"{clip(text)}" must be a number from 1 to 1000.')
    return int(text)
