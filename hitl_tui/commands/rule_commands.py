"""Commands for standing rules and the mode: what runs without a question."""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from hitl_tui.commands.command_context import CommandContext
from hitl_tui.commands.parser import CommandValues
from hitl_tui.commands.question_target import find_target
from hitl_tui.commands.results import CommandResult
from hitl_tui.core.errors import BadInput, HitlError, Refused, UnknownName
from hitl_tui.core.events import EventKind
from hitl_tui.core.json_types import EventData
from hitl_tui.core.messages import Message, counted_message, joined
from hitl_tui.core.names import clip, step_name
from hitl_tui.core.policy import Mode, Rule, Ruling, Terms
from hitl_tui.core.requests import Kind, Verdict
from hitl_tui.core.supersession import Cause
from hitl_tui.core.todos import GAPS, Status, SupervisorTodo
from hitl_tui.policy import standing_rules
from hitl_tui.policy.standing_rules import StandingRule
from hitl_tui.supervisor.snapshot import Question


def rules_file(context: CommandContext) -> Path:
    """Return where standing rules lie."""
    return context.session.setup.folder.path.parent.parent / standing_rules.FILE_NAME


async def list_rules(context: CommandContext, values: CommandValues) -> CommandResult:
    """List what is always allowed, and hitl.toml's own rules beside it."""
    found = await asyncio.to_thread(standing_rules.load_rules, rules_file(context))
    policy, here, now = context.session.rules.policy.rules, context.snapshot.workspace, context.session.writer.now()
    data = {
        "rules": [{"n": n, "id": rule.id, **rule.to_dict()} for n, rule in enumerate(found, start=1)],
        "policy": [{"n": n, "said": _said(rule), **rule.to_dict()} for n, rule in enumerate(policy, start=1)],
    }
    count = counted_message(
        "{} thing is always allowed, except in mode step.",
        "{} things are always allowed, except in mode step.",
        len(found),
    )
    lines: list[str] = [count if found else Message("Nothing is always allowed.")]
    lines += [_line(n, rule, here, now) for n, rule in enumerate(found, start=1)]
    if policy:
        lines.append(Message("hitl.toml says, and comes first:"))
        lines += [f"{n}. {_said(rule)}" for n, rule in enumerate(policy, start=1)]
    return CommandResult("ok", joined(lines, "\n"), data)


def _line(number: int, rule: StandingRule, here: str, now: str) -> str:
    end = (
        (Message(", ended at {}", rule.until) if rule.ended(now) else Message(", until {}", rule.until))
        if rule.until
        else ""
    )
    if rule.workspace == here:
        return Message("{}. {}  ({} risk, here, by {} at {}{})", number, rule.shown, rule.risk, rule.by, rule.at, end)
    return Message(
        "{}. {}  ({} risk, {}, by {} at {}{})", number, rule.shown, rule.risk, rule.workspace, rule.by, rule.at, end
    )


def _said(rule: Rule) -> str:
    """Return what a rule of hitl.toml says, as it would stand there."""
    found = {key: value for key, value in rule.to_dict().items() if value and value != Terms().to_dict().get(key)}
    return "  ".join(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in found.items())


def _proposed(context: CommandContext, question: Question) -> StandingRule:
    """Return the rule that would always allow exactly what a question asks.

    Raises:
        BadInput: no rule can.
    """
    request = question.view.request
    arguments = request.subject.get("arguments") or {}
    argv = arguments.get("argv")
    plain = {key: value for key, value in arguments.items() if key != "programs" or "input" not in arguments}
    said = shlex.join(map(str, argv)) if isinstance(argv, list) else json.dumps(plain, ensure_ascii=False)
    shown = f"{request.source.removesuffix('_team')}: {said}"
    return standing_rules.rule_for(
        request, context.snapshot.workspace, by=context.by, at=context.session.writer.now(), shown=shown
    )


async def allow(context: CommandContext, values: CommandValues) -> CommandResult:
    """Show the rule that would always allow what a TODO asks; with its digest, save it.

    Raises:
        BadInput: it asks nothing, or no rule can be made of it.
        Refused: what was shown isn't what it asks any more.
    """
    target = await find_target(context, values.text("id"))
    todo, question = target.todo, target.question or context.snapshot.question_of(target.todo.id)
    if question is None:
        raise BadInput(Message("{} has no open question, so no exact input to allow.", step_name(todo.id)))
    rule = _proposed(context, question)
    if not context.digest:
        data = {"rule": rule.to_dict(), "toml": rule.to_toml(), "digest": question.digest}
        how = Message(
            "Nothing was saved; /rules allow {} --digest {} saves it.", step_name(todo.id), question.digest[:12]
        )
        message = Message("This rule would be saved:\n{}{}", rule.to_toml(), how)
        if context.snapshot.mode == Mode.STEP:
            message = Message("{} It has no effect in mode step, which asks about everything.", message)
        return CommandResult("ok", message, data)
    context.check([question], Verdict.APPROVE)
    return await _allow_always(context, question, rule)


async def _allow_always(context: CommandContext, question: Question, rule: StandingRule) -> CommandResult:
    """Write a rule that was confirmed, and let it answer the question it was made from.

    Raises:
        HitlError: it can't be written; nothing changed.
    """
    request, writer, path = question.view.request, context.session.writer, rules_file(context)
    writer.check_whole()
    known, now = list[StandingRule](), writer.now()

    def add(before: tuple[StandingRule, ...]) -> tuple[StandingRule, ...]:
        known.extend(r for r in before if r.allows(request, rule.workspace, now))
        return before if known else (*before, rule)

    written = await asyncio.to_thread(standing_rules.change_rules, path, add)
    number = written.index(known[0] if known else rule) + 1
    if not known:
        await writer.record("rule_added", {"id": rule.id, **rule.to_dict()}, now)
    data = {"rule": rule.to_dict(), "n": number, "todo_id": question.todo_id}
    mode = Mode(context.snapshot.mode)
    if mode is Mode.STEP:
        told = Message(
            "Rule {} allows exactly this from now on, but in mode step everything still asks: {} waits for you.",
            number,
            step_name(question.name),
        )
        return CommandResult("allowed", told, data)
    for decision in standing_rules.decisions([request], mode, rule.workspace, written, writer.now()):
        with suppress(Refused):  # whoever watches over the rules may have been faster
            await writer.decide(decision)
    refused = await context.refusal(await writer.last_seq(), f"decided:{question.id}")
    return refused or context.change_result(
        "allowed", Message("Rule {} allows exactly this from now on.", number), data
    )


async def edit(context: CommandContext, values: CommandValues) -> CommandResult:
    """Change until when a rule holds, or for which input.

    Raises:
        UnknownName: there is no such rule.
        BadInput: nothing is changed by it.
    """
    name, writer = values.text("n"), context.session.writer
    changes = {key: values.text(key) for key in ("input", "until") if key in values}
    if not changes:
        raise BadInput(Message("Say what to change: --until 8h, --until never, or --input any."))
    writer.check_whole()
    now, pair = writer.now(), list[tuple[StandingRule, StandingRule]]()

    def put(before: tuple[StandingRule, ...]) -> tuple[StandingRule, ...]:
        old = _named(name, before)
        fresh = standing_rules.changed(old, changes, by=context.by, at=now)
        if fresh is old:
            raise BadInput(Message("That doesn't change the rule."))
        pair.append((old, fresh))
        return tuple(fresh if rule == old else rule for rule in before)

    written = await asyncio.to_thread(standing_rules.change_rules, rules_file(context), put)
    old, fresh = pair[0]
    await writer.record("rule_changed", {"id": fresh.id, "was": old.id, **fresh.to_dict()}, now)
    number = written.index(fresh) + 1
    data = {"n": number, "id": fresh.id, "rule": fresh.to_dict(), "before": old.to_dict(), "toml": fresh.to_toml()}
    until = Message(", until {}", fresh.until) if fresh.until else ""
    return CommandResult("changed", Message("Rule {} allows this now: {}{}.", number, fresh.shown, until), data)


async def revoke(context: CommandContext, values: CommandValues) -> CommandResult:
    """Take a rule back: what it allowed asks again.

    Raises:
        UnknownName: there is no such rule.
    """
    name, gone = values.text("n"), list[StandingRule]()

    def drop(before: tuple[StandingRule, ...]) -> tuple[StandingRule, ...]:
        gone.append(_named(name, before))
        return tuple(rule for rule in before if rule not in gone)

    writer = context.session.writer
    writer.check_whole()
    await asyncio.to_thread(standing_rules.change_rules, rules_file(context), drop)
    rule = gone[0]
    entry = {"id": rule.id, "revoked_by": context.by, **rule.to_dict()}
    await writer.record("rule_revoked", entry, writer.now())
    message = Message("Revoked rule {}: it no longer allows {}.", name, rule.shown)
    return CommandResult("revoked", message, {"rule": rule.to_dict()})


def _named(name: str, rules: Sequence[StandingRule]) -> StandingRule:
    """Return the rule that a number or an id names.

    Raises:
        UnknownName: none.
    """
    found = next((rule for n, rule in enumerate(rules, start=1) if name in (str(n), rule.id)), None)
    if found is None:
        counted = Message("known: {}", len(rules)) if rules else Message("there are none")
        message = Message('No rule "{}"; {}.', clip(name), counted)
        raise UnknownName(message, help=Message("/rules lists them."))
    return found


_NAMED = 8


async def mode(context: CommandContext, values: CommandValues) -> CommandResult:
    """Say which mode it is, or change it: the answer names what goes on without a question from now on.

    Raises:
        UnknownName: there is no such mode.
    """
    name = values.text("mode")
    if not name:
        mode = context.snapshot.mode
        return CommandResult("ok", Message("The mode is {}.", mode), {"mode": mode})
    try:
        mode = Mode(values.text("mode").lower())
    except ValueError:
        raise UnknownName(Message('Unknown mode "{}"; use step, plan or risk.', clip(values.text("mode")))) from None
    going = await freed(context, mode)
    data: EventData = {"mode": mode.value}
    message = Message("The mode is now {}.", mode.value)
    if going:
        names = ", ".join(map(step_name, going[:_NAMED])) + (", …" if len(going) > _NAMED else "")
        message = Message("The mode is now {}; from now on these run without asking: {}.", mode.value, names)
    closing = replace(context.ends(Cause.MODE, *going, detail=mode), since="") if going else None
    shown = {**data, "freed": list(going)}
    return await context.change(EventKind.MODE, data, "updated", message, shown, closing=closing)


async def freed(context: CommandContext, mode: Mode) -> tuple[str, ...]:
    """Return the ids of the TODOs that ask or would ask now, and would run without a question in another mode.

    Args:
        context: the session.
        mode: the other mode.
    """
    seen, policy = context.snapshot, context.session.rules.policy
    now, plan = Mode(seen.mode), any(q.kind is Kind.PLAN for q in seen.questions)
    if mode is now:
        return ()

    def passes(todo: SupervisorTodo, mode: Mode) -> bool:
        if todo.missing or GAPS & todo.metadata.keys():
            return False
        return policy.judge(mode, todo.agent_name, todo.risk, todo.command, todo.arguments).ruling is Ruling.ALLOW

    waiting = [
        todo
        for todo in seen.todos
        if todo.status in (Status.PENDING, Status.WAITING_APPROVAL) and todo.question is None and todo.approval is None
    ]
    # What asks while the rules allow it was asked before they did: another mode is what lets it run.
    found = {
        t.id for t in waiting if passes(t, mode) and (plan or t.status is Status.WAITING_APPROVAL or not passes(t, now))
    }
    if now is Mode.STEP:
        with suppress(HitlError):  # a file that can't be read allows nothing
            found.update(await _ruled(context, mode))
    return tuple(todo.id for todo in waiting if todo.id in found)


async def _ruled(context: CommandContext, mode: Mode) -> list[str]:
    """Return the TODOs whose questions standing rules answer in a mode."""
    seen = context.snapshot
    requests = [q.view.request for q in seen.questions if q.kind is Kind.TODO]
    rules = await asyncio.to_thread(standing_rules.load_rules, rules_file(context))
    given = standing_rules.decisions(requests, mode, seen.workspace, rules, context.session.writer.now())
    answered = {decision.request_id for decision in given}
    return [request.todo_id for request in requests if request.id in answered]
