"""Commands that show or change the plan, or go back to a checkpoint."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from hitl_tui.commands.command_context import CommandContext
from hitl_tui.commands.graph_commands import step_back
from hitl_tui.commands.parser import CommandValues, names_command, unknown_command
from hitl_tui.commands.question_target import find_todo
from hitl_tui.commands.results import CommandResult, ShownTodo, failure
from hitl_tui.commands.spec import help_table, registry
from hitl_tui.commands.todo_input import edited_input, manual_todo, typed_priority, typed_status
from hitl_tui.core.errors import BadInput
from hitl_tui.core.events import EventKind
from hitl_tui.core.fold_decisions import asks_nobody
from hitl_tui.core.json_types import EventData
from hitl_tui.core.messages import Message, counted_message, joined, word
from hitl_tui.core.names import clip, resolve_id, step_name, typed_command
from hitl_tui.core.plan import AgentFacts, changed_words
from hitl_tui.core.requests import Verdict
from hitl_tui.core.safe_text import one_line
from hitl_tui.core.supersession import Cause
from hitl_tui.core.todos import OPERATOR, Status, SupervisorTodo, check_transition
from hitl_tui.ledger.approval_log import logged_decisions
from hitl_tui.planning.proposals import NoChange, UnknownTask
from hitl_tui.planning.replies import Reply, load_replies, reply_of
from hitl_tui.supervisor.session_view import SessionView
from hitl_tui.supervisor.snapshot import todo_document
from hitl_tui.threads.session_diff import consequences, ran_since
from hitl_tui.threads.session_thread import SessionThread
from hitl_tui.threads.thread_reader import HeadAncestry

_PAGE = 50


async def todos(context: CommandContext, values: CommandValues) -> CommandResult:
    """Show the plan: every TODO, counts per status, the current one."""
    seen = context.snapshot
    summary = seen.summary
    current = seen.current_todo_id
    message = counted_message(
        "{} step, {} completed, {} waiting for you.",
        "{} steps, {} completed, {} waiting for you.",
        summary["total"],
        summary["completed"],
        len(seen.questions),
    )
    data = {
        "todos": seen.todo_documents,
        "summary": summary,
        "current_todo_id": current or None,
        "checkpoint_id": seen.checkpoint_id,
    }
    return CommandResult("ok", message, data)


async def show(context: CommandContext, values: CommandValues) -> CommandResult:
    """Show all there is to a TODO: its question and its result, too."""
    todo = await find_todo(context, values.text("id"))
    question = context.snapshot.question_of(todo.id)
    shown = await shown_todo(context.session, todo)
    data = {
        "todo_id": todo.id,
        "todo": todo_document(todo),
        **({"question": question.to_dict()} if question is not None else {}),
        **({"result": shown.result} if shown.result is not None else {}),
        **({"used": shown.used.to_dict()} if shown.used is not None else {}),
    }
    message = Message("{} is {}: {}", step_name(todo.id), todo.status, todo.name)
    return CommandResult("ok", message, data, shown=shown)


async def shown_todo(session: SessionView, todo: SupervisorTodo) -> ShownTodo:
    """Return a TODO with its result, and what a model used for it."""
    kept = todo.result and todo.result.get("digest")
    model = session.setup.model
    return ShownTodo(
        todo,
        await session.artifact(str(kept)) if kept else None,
        await model.used_by(todo.id) if model is not None else None,
    )


async def checkpoint_list(context: CommandContext, values: CommandValues) -> CommandResult:
    """List the session's checkpoints, newest first; with a TODO, its team's own steps."""
    limit = number(values.text("limit", str(_PAGE)))
    if "todo" in values:
        todo_id = (await find_todo(context, values.text("todo"))).id
        steps = await context.session.steps(todo_id, limit)
        message = Message("{} steps of its team, newest first; /checkpoint restore ID goes back to one.", len(steps))
        return CommandResult("ok", message, {"checkpoints": [c.to_dict() for c in steps], "todo_id": todo_id})
    before = await context.session.find_checkpoint(values.text("before")) if "before" in values else ""
    # one more than asked for: what led to a checkpoint is known from the one before it
    found = await context.session.checkpoints(limit + 1, before)
    past = SessionThread(context.session)
    from hitl_tui.threads.checkpoint_causes import CheckpointCauses

    causes = await CheckpointCauses().of(past, found)
    shape, newest = await past.shape(), await past.place(found[0].checkpoint_id) if found else 0
    ancestry = HeadAncestry.of(shape.head, shape.turns)
    listed = [
        {
            "number": newest - n,
            **info.to_dict(),
            "left_behind": not ancestry.has(info),
            "happened": causes[info.checkpoint_id].to_dict() if info.checkpoint_id in causes else None,
        }
        for n, info in enumerate(found[:limit])
    ]
    quiet = sum(info.checkpoint_id in causes and causes[info.checkpoint_id].quiet for info in found[:limit])
    older = newest - len(listed)
    if not listed:
        message = Message("No checkpoints before that.")
    else:
        message = counted_message("{} checkpoint", "{} checkpoints", shape.total)
        if quiet:
            message = Message("{}, {} of them engine steps", message, quiet)
        if older:
            command = f"/checkpoint list --before {older + 1}"
            message = Message("{}. {} to {} shown; older: {}", message, older + 1, newest, command)
    return CommandResult("ok", message, {"checkpoints": listed, "total": shape.total, "older": older})


async def decisions(context: CommandContext, values: CommandValues) -> CommandResult:
    """Show who decided what in the session, when and why, the newest last."""
    found = await logged_decisions(context.session.writer.ledger, context.session.id)
    message = counted_message("{} decision.", "{} decisions.", len(found))
    return CommandResult("ok", message, {"decisions": [one.to_dict() for one in found]})


async def help_(context: CommandContext, values: CommandValues) -> CommandResult:
    """List all commands, or those whose names begin with some words.

    Raises:
        UnknownName: none does.
    """
    words = values.text("command").removeprefix("/").lower()
    table = help_table()
    if words:
        specs = {s.name: s for n, s in registry().items() if n == words or n.startswith(f"{words} ")}
        if not specs:
            raise unknown_command(words)
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


async def add(context: CommandContext, values: CommandValues) -> CommandResult:
    """Add a TODO that a person writes, for an agent; a declared command stands for the agent that runs it.

    Raises:
        UnknownName: there is no such agent, or no TODO that it shall come after.
        BadInput: the agent is disabled, or its team can't use the text.
    """
    seen, name, text = context.snapshot, values.text("agent"), values.text("text")
    if name in context.session.setup.commands and name not in context.planner.agents:
        name, text = "command_team", f"{name} {text}".rstrip()
    facts = await _looked_at(context, _agent(context, name))
    behind = [(await find_todo(context, name)).id for name in values.words("after")]
    level = typed_priority(values.text("priority", "medium"))
    try:
        todo = await asyncio.to_thread(
            manual_todo,
            facts,
            text,
            query=seen.query,
            taken=seen.taken,
            after=behind,
            priority=level,
            now=context.session.writer.now(),
        )
    except BadInput as error:
        if text.strip():
            raise
        raise await asyncio.to_thread(_untold, facts, error) from error
    seq, event_id = await context.session.writer.post(EventKind.ADD, {"todo": todo.to_dict()}, by=context.by)
    after = await context.session.applied(seq)
    refused = await context.refusal(seq, event_id)
    if refused:
        return refused
    added = next((t for t in after.todos if t.metadata.get("event") == event_id), todo)
    data = {"todo": todo_document(added), "todo_id": added.id}
    return context.change_result("added", Message("Added {} for {}.", step_name(added.id), facts.name), data)


def _untold(facts: AgentFacts, error: BadInput) -> BadInput:
    """Return what is said where a team can't take the session's question for a text that wasn't given."""
    try:
        facts.bind("", {})
    except BadInput as wanted:
        return BadInput(Message("{} needs a text after it. {}", facts.name, wanted.message), help=wanted.help)
    return error


async def _looked_at(context: CommandContext, facts: AgentFacts) -> AgentFacts:
    """Return an agent with what only its own code says of it."""
    return (await context.planner.looked_at(facts.name)).get(facts.name, facts)


def _agent(context: CommandContext, name: str) -> AgentFacts:
    agents = {n: a for n, a in context.planner.agents.items() if a.enabled}
    facts = context.planner.agents.get(name)
    if facts is not None and not facts.enabled:
        raise BadInput(Message("{} is disabled in hitl.toml.", name))
    return agents[resolve_id(name, agents, Message("agent"))]


async def edit(context: CommandContext, values: CommandValues) -> CommandResult:
    """Give a TODO another exact input; it is asked anew.

    Raises:
        BadInput: its team can't use it.
    """
    todo = await find_todo(context, values.text("id"))
    return await context.edit(todo, *edited_input(todo, values.text("input")))


async def update(context: CommandContext, values: CommandValues) -> CommandResult:
    """Give a TODO another status, by the operator's part of the transition table.

    Raises:
        UnknownName: there is no such status.
        IllegalTransition: it can't become that by hand.
    """
    todo, status = await find_todo(context, values.text("id")), typed_status(values.text("status"))
    fitting = {Status.SKIPPED: Verdict.SKIP, Status.FAILED: Verdict.REJECT}.get(status)
    if fitting is not None:
        for question in await context.open_questions(todo.id):
            if fitting in question.view.request.options:  # it is a decision, and counts as one
                done = await context.decide(question, fitting)
                return done if done.failed else replace(done, data={**done.data, "new_status": status.value})
    check_transition(todo, status, OPERATOR)
    return await set_status(context, todo, status, fitting)


async def set_status(
    context: CommandContext, todo: SupervisorTodo, status: Status, fitting: Verdict | None = None
) -> CommandResult:
    """Post the change of a status that was checked; `fitting` is what says the same of an open question."""
    data: EventData = {"todo_id": todo.id, "status": status.value}
    if status is Status.PENDING and (was := _ended_by(todo)):
        data["was"] = was
    shown = {"todo_id": todo.id, "new_status": status.value}
    amounts_to = {Status.COMPLETED: Verdict.APPROVE, Status.PENDING: None}.get(status, Verdict.REJECT)
    closing = context.ends(Cause.STATUS, todo.id, verdict=fitting or "", detail=status, amounts_to=amounts_to)
    return await context.change(
        EventKind.UPDATE, data, "updated", Message("{} is {} now.", step_name(todo.id), status), shown, closing=closing
    )


def _ended_by(todo: SupervisorTodo) -> str:
    """Return the verdict that a step that ended would be taken out of, or that it failed; empty for none of these."""
    if todo.status is Status.SKIPPED:
        return Verdict.SKIP
    if todo.status is Status.FAILED:
        return Verdict.REJECT if todo.metadata.get("rejected") else Verdict.RETRY
    return ""


async def remove(context: CommandContext, values: CommandValues) -> CommandResult:
    """Take a TODO that never started out of the plan."""
    todo_id = (await find_todo(context, values.text("id"))).id
    data = {"todo_id": todo_id, "undo": f"/todo putback {todo_id}"}
    closing = context.ends(Cause.REMOVED, todo_id)
    message = Message("Removed {}.", step_name(todo_id))
    return await context.change(EventKind.REMOVE, {"todo_id": todo_id}, "removed", message, data, closing=closing)


async def put_back(context: CommandContext, values: CommandValues) -> CommandResult:
    """Put a TODO that was removed back into the plan; it asks anew.

    Raises:
        UnknownName: none of those that were removed last is called so.
    """
    data: EventData = {"todo_id": resolve_id(values.text("id"), context.snapshot.removed)}
    message = Message("{} is in the plan again.", step_name(data["todo_id"]))
    return await context.change(EventKind.PUT_BACK, data, "restored", message, data)


async def priority(context: CommandContext, values: CommandValues) -> CommandResult:
    """Give a TODO another priority; the scheduler goes by it at once.

    Raises:
        UnknownName: there is no such priority.
    """
    level, todo = typed_priority(values.text("level")), await find_todo(context, values.text("id"))
    event: EventData = {"todo_id": todo.id, "priority": level.value}
    data = {**event, "undo": f"/todo priority {todo.id} {todo.priority}"}
    return await context.change(
        EventKind.PRIORITY, event, "updated", Message("{} is {} now.", step_name(todo.id), level), data
    )


async def move(context: CommandContext, values: CommandValues) -> CommandResult:
    """Give a TODO another place in the order.

    Raises:
        BadInput: neither "before" nor "after" was said, or it can't have another place any more.
    """
    where = values.text("where").lower()
    if where not in ("before", "after"):
        raise BadInput(
            Message('"{}" must be before or after.', clip(values.text("where"))), help=registry()["todo move"].usage
        )
    todo, anchor = await find_todo(context, values.text("id")), await find_todo(context, values.text("anchor"))
    if todo.why_fixed:
        raise BadInput(todo.why_fixed)
    event: EventData = {"todo_id": todo.id, "where": where, "anchor": anchor.id}
    moved = Message("{} is before {} now.") if where == "before" else Message("{} is after {} now.")
    return await context.change(
        EventKind.MOVE,
        event,
        "moved",
        moved.filled(step_name(todo.id), step_name(anchor.id)),
        {**event, "undo": _way_back(todo.id, [one.id for one in context.snapshot.todos])},
    )


def _way_back(todo_id: str, order: list[str]) -> str:
    """Return the command that gives a TODO the place that it has in an order; empty where it is alone."""
    place = order.index(todo_id)
    beside = f"after {order[place - 1]}" if place else f"before {order[1]}" if order[1:] else ""
    return f"/todo move {todo_id} {beside}" if beside else ""


async def cancel(context: CommandContext, values: CommandValues) -> CommandResult:
    """Stop a TODO that runs.

    Raises:
        BadInput: it doesn't run.
    """
    todo = await find_todo(context, values.text("id"))
    if todo.status is not Status.IN_PROGRESS:
        raise BadInput(Message("{} is {}; only a running step can be cancelled.", step_name(todo.id), todo.status))
    data: EventData = {"todo_id": todo.id}
    closing = context.ends(Cause.CANCELLED, todo.id)
    return await context.change(
        EventKind.CANCEL, data, "cancelled", Message("Stopped {}.", step_name(todo.id)), data, closing=closing
    )


async def checkpoint_restore(context: CommandContext, values: CommandValues) -> CommandResult:
    """Go back to a checkpoint of the session, or to a step of a TODO's team; say what ran since.

    Raises:
        UnknownName: there is no such checkpoint, or it could be several.
    """
    thread, step = await context.session.find_step(values.text("id"))
    if thread:
        return await _rewind(context, thread, step)
    checkpoint_id = await context.session.find_checkpoint(values.text("id"))
    async with context.session.reading() as history:
        number, total = await history.place(checkpoint_id), await history.count()
    then = await context.session.state_at(checkpoint_id)
    found = consequences(then, await context.session.state_at(context.snapshot.checkpoint_id))
    branch = await context.session.writer.restore(checkpoint_id, context.by, context.channel, number)
    await context.session.on_branch(branch)
    ran = ran_since(found, await context.session.writer.ledger.effects(context.session.id)) if found.ran else []
    data = {"checkpoint_id": checkpoint_id, "number": number, "branch": branch, "ran_since": ran}
    message = Message("Restored to {} of {}; nothing was executed.", number, total)
    return context.change_result("restored", message, data)


async def _rewind(context: CommandContext, thread: str, step: str) -> CommandResult:
    """Let a TODO's team go on from one of its own steps, once it is approved anew."""
    todo = context.todo(thread.split("/")[1])
    data: EventData = {**await step_back(context, todo, step), "thread": thread}
    message = Message(
        "{} will continue from that step of {}; you are asked first.", step_name(todo.id), todo.agent_name
    )
    closing = context.ends(Cause.REWOUND, todo.id, amounts_to=None)
    return await context.change(EventKind.REWIND, data, "restored", message, data, closing=closing)


async def propose(context: CommandContext, text: str) -> CommandResult:
    """Propose the change of the plan that plain text asks for.

    What answers a question elsewhere (`1`, `yes`, `승인`) decides nothing here: the answer says where it would. A
    graph that waits for its next input takes such words as what they are.
    """
    seen = context.snapshot
    words = text.strip()
    if not words:
        raise BadInput(Message("Nothing was written."), help=Message("/help lists all commands."))
    if len(words) > LONGEST_TEXT:
        raise BadInput(
            Message("The text has {} characters; the limit is {}.", f"{len(words):,}", f"{LONGEST_TEXT:,}"),
            help=Message("Put longer text into a document in the workspace."),
        )
    reply = reply_of(words, load_replies())
    if reply is not None and (seen.questions or reply is Reply.RECORD):
        return await _replied(reply, context, words)
    try:
        proposal = await context.planner.revise(words, seen.query, seen.todos, seen.taken)
    except NoChange as error:
        if reply is not None:
            return await _replied(reply, context, words)
        if isinstance(error, UnknownTask):
            raise
        said = one_line(words, _SAID)
        known = Message('To start another session, write /new before it; no change to the plan found in "{}".', said)
        if context.channel == "cli":
            known = Message(
                'To start another session, pass it to hitl-tui run; no change to the plan found in "{}".', said
            )
        meant = f"/{words}" if names_command(words) else ""
        help = Message("Did you mean {}?", meant) if meant else error.help
        return failure(known, help, reason=NO_CHANGE)
    event: EventData = {"proposal": proposal.to_dict()}
    data = {"proposal": proposal.to_dict(), "proposal_id": proposal.id}
    if asks_nobody(context.draft(), event["proposal"]):
        done = Message("Taken without a question, as the mode says: {}", proposal.reason)
        return await context.change(EventKind.PROPOSED, {**event, "unasked": True}, "added", done, data)
    if context.channel == "console":  # its question comes up there, with its keys
        message = Message("Proposed: {}", proposal.reason)
    else:
        changed = changed_words(proposal.changes)
        message = Message(
            "Proposed: {} To change the plan ({}): /proposal accept {}", proposal.reason, changed, proposal.id
        )
    return await context.change(EventKind.PROPOSED, event, "proposed", message, data)


async def _replied(reply: Reply, context: CommandContext, words: str) -> CommandResult:
    """Answer words that are no change of the plan: with the help, who decided what, or where a decision is given."""
    if reply is Reply.HELP:
        return await help_(context, CommandValues())
    if reply is Reply.RECORD:
        return await decisions(context, CommandValues())
    said = one_line(words, _SAID)
    if not context.snapshot.questions:
        return failure(Message('"{}" decides nothing: no question is open.', said), reason=NO_DECISION)
    question = context.snapshot.questions[0]
    ways = (command.partition(" [")[0].removesuffix(" REASON") for command in question.commands.values())
    commands = [typed_command(command) for command in ways]
    way = Message("Answer {} with {}.", step_name(question.name), commands[0]) if commands else ""
    if len(commands) > 1:
        way = Message("Answer {} with {} or {}.", step_name(question.name), commands[0], commands[1])
    if context.channel == "repl" and context.terminal:
        keys = Message("A key alone decides there, too: y approves, n rejects.")
        way = Message("{} {}", way, keys) if way else keys
    return failure(Message('"{}" decides nothing here; answer with a command.', said), way, reason=NO_DECISION)
