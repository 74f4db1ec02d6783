"""Commands for attached graphs: breakpoints and steps, their state, their drawing, and the way out of a wedge."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, cast

from hitl_tui.commands import answer_commands
from hitl_tui.commands.command_context import CommandContext
from hitl_tui.commands.parser import CommandValues
from hitl_tui.commands.question_target import QuestionTarget, check_digest, find_target, find_todo
from hitl_tui.commands.results import CommandResult
from hitl_tui.core.errors import BadInput, HitlError
from hitl_tui.core.events import EventKind
from hitl_tui.core.json_text import strict_json
from hitl_tui.core.json_types import EventData, Json, JsonObject, StateChange
from hitl_tui.core.messages import Message, counted_message, joined
from hitl_tui.core.names import step_name
from hitl_tui.core.requests import Kind
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.core.secret_names import check_stored
from hitl_tui.core.supersession import Cause
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.supervisor.session_view import run_thread
from hitl_tui.supervisor.snapshot import Question
from hitl_tui.threads.state_diff import (
    ABSENT,
    ValueChange,
    differences,
    from_difference,
    lines_apart,
    same,
    values_that_differ,
)

if TYPE_CHECKING:
    from hitl_tui.supervisor.attached_graphs.graph_view import GraphView

_END = "__end__"
_LONGEST_STATE = 20_000


async def _todo(context: CommandContext, values: CommandValues) -> SupervisorTodo:
    """Return the TODO that was named, or the one that is at it: what asks, runs, or ran last."""
    if name := values.text("id") or values.text("todo"):
        return await find_todo(context, name)
    seen = context.snapshot
    asking = [q.todo_id for q in seen.questions if q.todo_id]
    going = [t.id for t in seen.todos if t.status is Status.IN_PROGRESS]
    ran = [t.id for t in seen.todos if t.attempt]
    for found in (asking, going, ran[-1:]):
        if found:
            return context.todo(found[0])
    raise BadInput(Message("No step is running or asking; name one."))


async def set_breakpoints(context: CommandContext, values: CommandValues) -> CommandResult:
    """Let an attached graph stop before or after nodes from now on.

    Raises:
        BadInput: it has no such node; the message names those it has.
    """
    todo, where = await _todo(context, values), values.text("where")
    if where not in ("before", "after"):
        raise BadInput(Message('A graph stops before or after a node, not "{}".', one_line(where, 60)))
    view = await context.session.graph(todo.id)
    nodes = values.words("nodes")
    known = [n for n in view.nodes if not n.startswith("__") and ":" not in n]
    for node in nodes:
        if node != "*" and node not in known:
            raise BadInput(Message('{} has no node "{}"; it has {}.', view.agent, one_line(node, 60), ", ".join(known)))
    own = todo.metadata.get("breaks", {})
    breaks = {"before": list(own.get("before", ())), "after": list(own.get("after", ()))}
    breaks[where] = list(dict.fromkeys([*breaks[where], *nodes]))
    data: EventData = {"todo_id": todo.id, "before": breaks["before"], "after": breaks["after"]}
    stops = Message("{} will stop before {}.") if where == "before" else Message("{} will stop after {}.")
    message = stops.filled(step_name(todo.id), ", ".join(nodes))
    if todo.status is Status.IN_PROGRESS:
        message = Message("{} It first runs on to its next stop.", message)
    return await context.change(EventKind.BREAK, data, "updated", message, data)


async def clear_breakpoints(context: CommandContext, values: CommandValues) -> CommandResult:
    """Take all breakpoints of an attached graph away."""
    todo = await _todo(context, values)
    data: EventData = {"todo_id": todo.id, "before": [], "after": []}
    return await context.change(
        EventKind.BREAK, data, "updated", Message("{} has no more breakpoints.", step_name(todo.id)), data
    )


async def step(context: CommandContext, values: CommandValues) -> CommandResult:
    """Go on from a breakpoint to the next node.

    Raises:
        BadInput: it isn't at one.
    """
    return await _pass(context, values, "step")


async def continue_run(context: CommandContext, values: CommandValues) -> CommandResult:
    """Go on from a breakpoint to the next one.

    Raises:
        BadInput: it isn't at one.
    """
    return await _pass(context, values, "continue")


async def _pass(context: CommandContext, values: CommandValues, action: str) -> CommandResult:
    target = (
        await find_target(context, values.text("id"))
        if "id" in values
        else QuestionTarget(await _todo(context, values))
    )
    todo = target.todo
    question = _at_breakpoint(context, todo, target.question)
    await check_digest(context, [question] if question else [])
    if question is None:
        raise BadInput(
            Message("{} isn't at a breakpoint.", step_name(todo.id)),
            help=Message(
                "Set one before it is approved: /break before * --todo {} stops at every node.", step_name(todo.id)
            ),
        )
    return await answer_commands.send(context, question, {"action": action})


def _at_breakpoint(context: CommandContext, todo: SupervisorTodo, named: Question | None) -> Question | None:
    for question in context.snapshot.questions if named is None else (named,):
        value = question.view.request.subject.get("value")
        mine = question.todo_id == todo.id and question.kind is Kind.INTERRUPT
        if mine and isinstance(value, Mapping) and set(value) == {"breakpoint", "nodes", "next"}:
            return question
    return None


async def state_show(context: CommandContext, values: CommandValues) -> CommandResult:
    """Show the state of an attached graph; of a long one the beginning."""
    view = await context.session.graph((await _todo(context, values)).id)
    shown = json.dumps(view.values, ensure_ascii=False, indent=2)
    cut = (
        Message("\n… {} characters more; --json has all", f"{len(shown) - _LONGEST_STATE:,}")
        if len(shown) > _LONGEST_STATE
        else ""
    )
    stands = (
        Message("before {}", ", ".join(view.next))
        if view.next
        else Message("at its end")
        if view.thread
        else Message("not begun")
    )
    message = Message(
        "{} of {} is now {}.\n{}{}", view.agent, step_name(view.todo_id), stands, safe_text(shown[:_LONGEST_STATE]), cut
    )
    return CommandResult("ok", message, view.to_dict())


async def state_edit(context: CommandContext, values: CommandValues) -> CommandResult:
    """Change the state of a paused graph; it goes on with that once it is approved.

    Raises:
        BadInput: the change is no JSON object, the graph can't take it, or it runs.
    """
    todo = await find_todo(context, values.text("id"))
    try:
        update = strict_json(values.text("update"))
    except ValueError as error:
        raise BadInput(
            Message("The change must be JSON."),
            help=Message('For example: /state edit {} {{"amount": 82000}}', step_name(todo.id)),
        ) from error
    if not isinstance(update, dict) or not update:
        raise BadInput(Message('The change must be an object of fields, such as {"amount": 82000}.'))
    check_stored(Message("The change"), update, context.session.writer.secrets)
    if todo.status is Status.IN_PROGRESS:
        raise BadInput(
            Message(
                "{} is running; its state can be changed when it asks something or has finished.", step_name(todo.id)
            )
        )
    view = await context.session.graph(todo.id, update)
    changes = list(_state_changes(view, update))
    data: EventData = {**_place(todo, view), "values": update, "changes": changes}
    changed = ", ".join(f"{c['name']}: {_short(c.get('before', ABSENT))} → {_after(c)}" for c in changes)
    message = Message(
        "{} will continue with the changed state ({}); you are asked first.", step_name(todo.id), one_line(changed, 300)
    )
    closing = context.ends(Cause.REWOUND, todo.id, amounts_to=None)
    return await context.change(EventKind.REWIND, data, "updated", message, data, closing=closing)


def _state_changes(view: GraphView, update: JsonObject) -> Iterator[StateChange]:
    """Yield what a change makes of a state: where its fields have reducers, what those make of it."""
    before = view.values if isinstance(view.values, Mapping) else {}
    after = view.edited if isinstance(view.edited, Mapping) else {**before, **update}
    for name, given in update.items():
        becomes = after.get(name)
        reduced: StateChange = {} if same(becomes, given) else {"reduced": True}
        there = {name: before[name]} if name in before else {}
        found = differences(there, {name: becomes})
        for change in found:
            yield {**_sides(change), **reduced}
        if not found:
            yield {"name": name, "before": becomes, "after": becomes, **reduced}


def _sides(change: ValueChange) -> StateChange:
    found: StateChange = {"name": change.name}
    if change.before is not ABSENT:
        found["before"] = cast("Json", change.before)
    if change.after is not ABSENT:
        found["after"] = cast("Json", change.after)
    return found


def _after(change: StateChange) -> str:
    return _short(change.get("after", ABSENT))


_SHORT = 120
"""Cells of a value in a line."""


async def state_diff(context: CommandContext, values: CommandValues) -> CommandResult:
    """Show what differs between an earlier step of a graph, the one before by default, and now.

    Raises:
        BadInput: there is only one step, or the step is another TODO's.
    """
    todo = await _todo(context, values)
    now = await context.session.graph(todo.id)
    place = values.text("checkpoint")
    if place:
        thread, step = await context.session.find_step(place)
        if thread != now.thread:
            raise BadInput(
                Message("{} is no step of {}.", one_line(place, 60), step_name(todo.id)),
                help=f"/checkpoint list --todo {step_name(todo.id)}",
            )
    else:
        earlier = await context.session.steps(todo.id, 2)
        if len(earlier) < 2:
            raise BadInput(Message("{} has only one step; nothing to compare.", step_name(todo.id)))
        step = earlier[1].checkpoint_id
    before = await context.session.graph(todo.id, at=step)
    found = list(values_that_differ(before.values, now.values))
    lines = [line for change in differences(before.values, now.values) for line in _apart(change)]
    count = counted_message(
        "{} difference between {} and now.", "{} differences between {} and now.", len(found), step[-8:]
    )
    data = {
        "todo_id": todo.id,
        "from": step,
        "to": now.checkpoint_id,
        "changes": [{"path": list(c.path), "before": _json(c.before), "after": _json(c.after)} for c in found],
    }
    return CommandResult("ok", "\n".join([count, *lines]), data)


def _json(value: object) -> object:
    return None if value is ABSENT else value


def _apart(change: ValueChange) -> list[str]:
    """Return how a value differs in one line, or line by line where it is a long text of several."""
    if lines := lines_apart(change.before, change.after, _SHORT):
        return [f"{change.name}:", *(f"  {one_line(line, _SHORT)}" for line in lines)]
    if change.before is ABSENT or change.after is ABSENT:
        return [f"{change.name}: {_short(change.before)} → {_short(change.after)}"]
    before, after = (json.dumps(value, ensure_ascii=False) for value in (change.before, change.after))
    old, new = from_difference(before, after, _SHORT // 2)
    return [f"{change.name}: {one_line(old, _SHORT)} → {one_line(new, _SHORT)}"]


def _short(value: object) -> str:
    return "nothing" if value is ABSENT else one_line(json.dumps(value, ensure_ascii=False), _SHORT)


async def draw(context: CommandContext, values: CommandValues) -> CommandResult:
    """Show an attached graph as lines: its nodes, where they go and how they stand."""
    view = await context.session.graph((await _todo(context, values)).id)
    return CommandResult(
        "ok", joined([f"{view.agent} of {step_name(view.todo_id)}", *_lines(view)], "\n"), view.to_dict()
    )


_HALTS: Mapping[tuple[bool, bool], str] = {
    (False, False): "",
    (True, False): Message("  stops before it"),
    (False, True): Message("  stops after it"),
    (True, True): Message("  stops before and after it"),
}


def _lines(view: GraphView) -> Iterator[str]:
    """Draw a graph as lines: a node a line, with where it goes and how it stands."""
    asking = {"/".join(path) for path in view.asking} | {path[0] for path in view.asking if path}
    names = [n for n in view.nodes if n != _END]
    width = max((len(_name(n)) for n in names), default=0)
    for node in names:
        path = node.replace(":", "/")
        glyph = "○" if node.startswith("__") else "·"
        if view.entered.get(path):
            glyph = "✓"
        standing: str = ""
        if path in asking:
            glyph, standing = "?", Message("  asks")
        elif node in view.next:
            glyph, standing = "▶", Message("  comes next")
        times = view.entered.get(path, 0)
        entered = Message("  entered {} times", times) if times > 1 else ""
        before, after = ({node, "*"} & set(at) for at in (view.before, view.after))
        halts = _HALTS[bool(before), bool(after)] if not node.startswith("__") else ""
        goes = ", ".join(_goes(view, node)) or "…"
        line = safe_text(f"{glyph} {_name(node):<{width}} → {goes}", multiline=False)
        yield joined([line, *filter(None, (standing, entered, halts))], "")


def _name(node: str) -> str:
    return {"__start__": "start", _END: "end"}.get(node, node.replace(":", "/"))


def _goes(view: GraphView, node: str) -> Iterator[str]:
    for edge in view.edges:
        if edge.source == node:
            label = f" ({edge.label})" if edge.label and edge.label != edge.target else ""
            yield f"{_name(edge.target)}{label or ('?' if edge.conditional else '')}"


async def rescue(context: CommandContext, values: CommandValues) -> CommandResult:
    """Go back to before the last answer, for a graph that fails because of it, once that is approved.

    Raises:
        BadInput: it runs, or has nowhere to go back to.
    """
    todo = await _todo(context, values)
    if todo.status is Status.IN_PROGRESS:
        raise BadInput(Message("{} is running; nothing to rescue.", step_name(todo.id)))
    view = await context.session.graph(todo.id)
    if not view.checkpoint_id:
        raise BadInput(Message("{} has no thread to go back in.", step_name(todo.id)))
    data: EventData = _place(todo, view)
    message = Message(
        "{} will go back to before its last answer, on a copy of that checkpoint; you "
        "are asked first. Nodes that finished beside the question run again.",
        step_name(todo.id),
    )
    closing = context.ends(Cause.REWOUND, todo.id, amounts_to=None)
    return await context.change(EventKind.REWIND, data, "restored", message, data, closing=closing)


def _place(todo: SupervisorTodo, view: GraphView) -> EventData:
    """Return where a graph is to go on from, as an event says it, with the nodes that run then."""
    place: EventData = {"todo_id": todo.id, "thread": view.thread, "checkpoint_id": view.checkpoint_id}
    return {**place, "next": list(view.next)} if view.next else place


async def step_back(context: CommandContext, todo: SupervisorTodo, step: str) -> EventData:
    """Return one of a team's own steps as an event says it; of an attached graph, with what runs then."""
    place: EventData = {"todo_id": todo.id, "thread": run_thread(context.snapshot, todo.id), "checkpoint_id": step}
    try:
        return _place(todo, await context.session.graph(todo.id, at=step))
    except HitlError:  # its team is none, or it can't be loaded now: then nobody knows
        return place
