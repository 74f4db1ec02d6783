"""Commands that show or change the plan, or go back to a checkpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hitl_tui.commands.command_context import CommandContext
from hitl_tui.commands.graph_commands import step_back
from hitl_tui.commands.lookup import aim
from hitl_tui.commands.results import CommandResult, failure
from hitl_tui.commands.spec import help_table, registry
from hitl_tui.commands.todo_input import edited_input, manual_todo
from hitl_tui.core.errors import BadInput, UnknownName
from hitl_tui.core.events import EventKind
from hitl_tui.core.messages import Message, counted_message, joined, word
from hitl_tui.core.names import clip, resolve_id
from hitl_tui.core.plan import AgentFacts
from hitl_tui.core.requests import Verdict
from hitl_tui.core.safe_text import one_line
from hitl_tui.core.supersession import Cause
from hitl_tui.core.todos import OPERATOR, Status, SupervisorTodo, check_transition, parse_priority, parse_status
from hitl_tui.planning.replies import Reply, load_replies, reply_of
from hitl_tui.planning.rule_planner.plan_edit import NoChange

_PAGE = 20


async def todos(hand: CommandContext, values: Mapping[str, Any]) -> CommandResult:
    """Show the plan: every TODO, counts per status, the current one."""
    seen = hand.snapshot
    summary = seen.summary
    current = seen.current_todo_id
    message = counted_message(
        "{} TODO, {} completed, {} waiting for you.",
        "{} TODOs, {} completed, {} waiting for you.",
        summary["total"],
        summary["completed"],
        len(seen.questions),
    )
    data = {
        "todos": [t.to_dict() for t in seen.todos],
        "summary": summary,
        "current_todo_id": current or None,
        "checkpoint_id": seen.checkpoint_id,
    }
    return CommandResult("ok", message, data)


async def show(hand: CommandContext, values: Mapping[str, Any]) -> CommandResult:
    """Show all there is to a TODO: its question and its result, too."""
    todo = hand.todo(values["id"])
    question = hand.snapshot.question_of(todo.id)
    data: dict[str, Any] = {"todo_id": todo.id, "todo": todo.to_dict()}
    if question is not None:
        data["question"] = question.to_dict()
    if todo.result and todo.result.get("digest"):
        data["result"] = await hand.face.artifact(str(todo.result["digest"]))
    return CommandResult("ok", f"{todo.id} is {todo.status}: {todo.name}", data)


async def checkpoint_list(hand: CommandContext, values: Mapping[str, Any]) -> CommandResult:
    """List the session's checkpoints, newest first; with a TODO, its team's own steps."""
    limit = number(values.get("limit", str(_PAGE)))
    if "todo" in values:
        steps = await hand.face.steps(hand.todo(values["todo"]).id, limit)
        message = Message("{} steps of its team, newest first.", len(steps))
        return CommandResult("ok", message, {"checkpoints": [c.to_dict() for c in steps]})
    before = await hand.face.find_checkpoint(values["before"]) if "before" in values else ""
    found = await hand.face.checkpoints(limit, before)
    message = (
        Message("{} checkpoints, newest first.", len(found))
        if found
        else Message("There are no checkpoints before that.")
    )
    async with hand.face.reading() as history:
        newest = await history.place(found[0].checkpoint_id) if found else 0
    listed = [{"number": newest - n, **c.to_dict()} for n, c in enumerate(found)]
    return CommandResult("ok", message, {"checkpoints": listed})


async def help_(hand: CommandContext, values: Mapping[str, Any]) -> CommandResult:
    """List all commands, or those whose names begin with some words.

    Raises:
        UnknownName: none does.
    """
    words = " ".join(values.get("command", ())).removeprefix("/").lower()
    table = help_table()
    if words:
        specs = {s.name: s for n, s in registry().items() if n == words or n.startswith(f"{words} ")}
        if not specs:
            raise UnknownName(Message('There is no command "/{}"; /help lists all.', clip(words)))
        table = [(s.usage, s.summary) for s in specs.values()]
    commands = [{"usage": usage, "summary": summary} for usage, summary in table]
    lines = [Message("{}\n    {}", usage, word(text)) for usage, text in table]
    return CommandResult("ok", joined(lines, "\n"), {"commands": commands})


def number(text: str) -> int:
    """Return the number of lines that was asked for.

    Raises:
        BadInput: it is none from 1 to 1000.
    """
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 1000:
        raise BadInput(Message('"{}" must be a number from 1 to 1000.', clip(text)))
    return int(text)


LONGEST_TEXT = 10_000
"""Characters of plain text, as of a session's question."""
NO_CHANGE, NO_DECISION = "no_change", "no_decision"
"""Why plain text came to nothing: it asks for no change of the plan, or it is the answer to a question."""
_SAID = 40


async def add(hand: CommandContext, values: Mapping[str, Any]) -> CommandResult:
    """Add a TODO that a person writes, for an agent.

    Raises:
        UnknownName: there is no such agent, or no TODO that it shall come after.
        BadInput: the agent is disabled, or its team can't use the text.
    """
    facts = _agent(hand, values["agent"])
    seen, text = hand.snapshot, str(values.get("text", ""))
    behind = [resolve_id(name, seen.raw) for name in values.get("after", ())]
    level = parse_priority(values.get("priority", "medium"))
    try:
        todo = await asyncio.to_thread(
            manual_todo,
            facts,
            text,
            query=seen.query,
            taken=seen.taken,
            after=behind,
            priority=level,
            now=hand.face.desk.now(),
        )
    except BadInput as error:
        if text.strip():
            raise
        raise await asyncio.to_thread(_untold, facts, error) from error
    seq, event_id = await hand.face.desk.post(EventKind.ADD, {"todo": todo.to_dict()}, by=hand.by)
    after = await hand.face.applied(seq)
    refused = await hand.refusal(seq, event_id)
    if refused:
        return refused
    added = next((t for t in after.todos if t.metadata.get("event") == event_id), todo)
    data = {"todo": added.to_dict(), "todo_id": added.id}
    return hand.done_with("added", Message("{} added for {}.", added.id, facts.name), data)


def _untold(facts: AgentFacts, error: BadInput) -> BadInput:
    """Return what is said where a team can't take the session's question for a text that wasn't given."""
    try:
        facts.bind("", {})
    except BadInput as wanted:
        return BadInput(Message("{} needs a text behind it. {}", facts.name, wanted.message), help=wanted.help)
    return error


def _agent(hand: CommandContext, name: str) -> AgentFacts:
    agents = {n: a for n, a in hand.planner.agents.items() if a.enabled}
    facts = hand.planner.agents.get(name)
    if facts is not None and not facts.enabled:
        raise BadInput(Message("{} is disabled in hitl.toml.", name))
    return agents[resolve_id(name, agents, "agent")]


async def edit(hand: CommandContext, values: Mapping[str, Any]) -> CommandResult:
    """Give a TODO another exact input; it is asked anew.

    Raises:
        BadInput: its team can't use it.
    """
    todo = hand.todo(values["id"])
    return await hand.edit(todo, *edited_input(todo, values["input"]))


async def update(hand: CommandContext, values: Mapping[str, Any]) -> CommandResult:
    """Give a TODO another status, by the operator's part of the transition table.

    Raises:
        UnknownName: there is no such status.
        IllegalTransition: it can't become that by hand.
    """
    todo, status = (await aim(hand, values["id"])).todo, parse_status(values["status"])
    fitting = {Status.SKIPPED: Verdict.SKIP, Status.FAILED: Verdict.REJECT}.get(status)
    if fitting is not None:
        for question in await hand.open_questions(todo.id):
            if fitting in question.view.request.options:  # it is a decision, and counts as one
                done = await hand.decide(question, fitting)
                return done if done.failed else replace(done, data={**done.data, "new_status": status.value})
    check_transition(todo, status, OPERATOR)
    return await set_status(hand, todo, status, fitting)


async def set_status(
    hand: CommandContext, todo: SupervisorTodo, status: Status, fitting: Verdict | None = None
) -> CommandResult:
    """Post the change of a status that was checked; `fitting` is what says the same of an open question."""
    data = {"todo_id": todo.id, "status": status.value}
    shown = {"todo_id": todo.id, "new_status": status.value}
    amounts_to = {Status.COMPLETED: Verdict.APPROVE, Status.PENDING: None}.get(status, Verdict.REJECT)
    closing = hand.ends(Cause.STATUS, todo.id, verdict=fitting or "", detail=status, amounts_to=amounts_to)
    return await hand.change(
        EventKind.UPDATE, data, "updated", Message("{} is {} now.", todo.id, status), shown, closing=closing
    )


async def remove(hand: CommandContext, values: Mapping[str, Any]) -> CommandResult:
    """Take a TODO that never started out of the plan."""
    data = {"todo_id": hand.todo(values["id"]).id}
    closing = hand.ends(Cause.REMOVED, data["todo_id"])
    return await hand.change(
        EventKind.REMOVE, data, "removed", Message("{} is removed.", data["todo_id"]), data, closing=closing
    )


async def priority(hand: CommandContext, values: Mapping[str, Any]) -> CommandResult:
    """Give a TODO another priority; the scheduler goes by it at once.

    Raises:
        UnknownName: there is no such priority.
    """
    level = parse_priority(values["level"])
    data = {"todo_id": hand.todo(values["id"]).id, "priority": level.value}
    return await hand.change(
        EventKind.PRIORITY, data, "updated", Message("{} is {} now.", data["todo_id"], level), data
    )


async def move(hand: CommandContext, values: Mapping[str, Any]) -> CommandResult:
    """Give a TODO another place in the order.

    Raises:
        BadInput: neither "before" nor "after" was said, or it can't have another place any more.
    """
    where = values["where"].lower()
    if where not in ("before", "after"):
        raise BadInput(
            Message('"{}" must be before or after.', clip(values["where"])), help=registry()["todo move"].usage
        )
    todo, anchor = hand.todo(values["id"]), hand.todo(values["anchor"])
    if todo.why_fixed:
        raise BadInput(todo.why_fixed)
    data = {"todo_id": todo.id, "where": where, "anchor": anchor.id}
    return await hand.change(
        EventKind.MOVE, data, "moved", Message("{} is {} {} now.", todo.id, where, anchor.id), data
    )


async def cancel(hand: CommandContext, values: Mapping[str, Any]) -> CommandResult:
    """Stop a TODO that runs.

    Raises:
        BadInput: it doesn't run.
    """
    todo = hand.todo(values["id"])
    if todo.status is not Status.IN_PROGRESS:
        raise BadInput(Message("{} is {}; only a running TODO can be cancelled.", todo.id, todo.status))
    data = {"todo_id": todo.id}
    closing = hand.ends(Cause.CANCELLED, todo.id)
    return await hand.change(
        EventKind.CANCEL, data, "cancelled", Message("{} is stopped.", todo.id), data, closing=closing
    )


async def checkpoint_restore(hand: CommandContext, values: Mapping[str, Any]) -> CommandResult:
    """Go back to a checkpoint of the session, or to a step of a TODO's team.

    Raises:
        UnknownName: there is no such checkpoint, or it could be several.
    """
    thread, step = await hand.face.find_step(values["id"])
    if thread:
        return await _rewind(hand, thread, step)
    checkpoint_id = await hand.face.find_checkpoint(values["id"])
    async with hand.face.reading() as history:
        number, total = await history.place(checkpoint_id), await history.count()
    branch = await hand.face.desk.restore(checkpoint_id, hand.by)
    await hand.face.on_branch(branch)
    data = {"checkpoint_id": checkpoint_id, "number": number, "branch": branch}
    message = Message("The session is back at checkpoint {} of {}; nothing was executed.", number, total)
    return hand.done_with("restored", message, data)


async def _rewind(hand: CommandContext, thread: str, step: str) -> CommandResult:
    """Let a TODO's team go on from one of its own steps, once it is approved anew."""
    todo = hand.todo(thread.split("/")[1])
    data = {**await step_back(hand, todo, step), "thread": thread}
    message = Message("{} will continue from that step of {}; you are asked first.", todo.id, todo.agent_name)
    closing = hand.ends(Cause.REWOUND, todo.id, amounts_to=None)
    return await hand.change(EventKind.REWIND, data, "restored", message, data, closing=closing)


async def propose(hand: CommandContext, text: str) -> CommandResult:
    """Propose the change of the plan that plain text asks for.

    What answers a question elsewhere (`1`, `yes`, `승인`) decides nothing here: the answer says where it would. A
    graph that waits for its next input takes such words as what they are.
    """
    seen = hand.snapshot
    words = text.strip()
    if not words:
        raise BadInput(Message("Nothing was written."), help=Message("/help lists all commands."))
    if len(words) > LONGEST_TEXT:
        raise BadInput(
            Message("The text has {} characters; at most {} can be used.", f"{len(words):,}", f"{LONGEST_TEXT:,}"),
            help=Message("Put what is longer into a document of the workspace."),
        )
    reply = reply_of(words, load_replies())
    if reply is not None and seen.questions:
        return await _replied(reply, hand, words)
    try:
        proposal = await hand.planner.revise(words, seen.query, seen.todos, seen.taken)
    except NoChange as error:
        if reply is not None:
            return await _replied(reply, hand, words)
        said = one_line(words, _SAID)
        known = Message(
            'Write /new before it to begin another session: no change of the plan was recognised in "{}".', said
        )
        if hand.channel == "cli":
            known = Message(
                'Give it to hitl-tui run to begin another session: no change of the plan was found in "{}".', said
            )
        return failure(known, error.help, reason=NO_CHANGE)
    event = {"proposal": proposal.to_dict()}
    data = {"proposal": proposal.to_dict(), "proposal_id": proposal.id}
    message = Message("Proposed: {} Accept with /proposal accept {}.", proposal.reason, proposal.id)
    return await hand.change(EventKind.PROPOSED, event, "proposed", message, data)


async def _replied(reply: Reply, hand: CommandContext, words: str) -> CommandResult:
    """Answer words that are no change of the plan: with the help, or with where a decision is given."""
    if reply is Reply.HELP:
        return await help_(hand, {})
    said = one_line(words, _SAID)
    if not hand.snapshot.questions:
        return failure(Message('"{}" decides nothing: no question waits for you now.', said), reason=NO_DECISION)
    question = hand.snapshot.questions[0]
    commands = [command.partition(" [")[0] for command in question.commands.values()]
    way = Message("What {} asks is answered by {}.", question.name, commands[0]) if commands else ""
    if len(commands) > 1:
        way = Message("What {} asks is answered by {} or {}.", question.name, commands[0], commands[1])
    return failure(Message('"{}" decides nothing; a question is answered by a command.', said), way, reason=NO_DECISION)
