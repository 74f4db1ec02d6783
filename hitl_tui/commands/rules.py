"""Commands on rules: what is always allowed, shown, written, changed and taken back, beside hitl.toml's own (C3)."""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from hitl_tui.commands.hand import Hand, names_digest
from hitl_tui.commands.results import CommandResult
from hitl_tui.config import standing
from hitl_tui.config.standing import StandingRule
from hitl_tui.core.errors import BadInput, Refused, UnknownName
from hitl_tui.core.names import clip
from hitl_tui.core.policy import Mode, Rule, Terms
from hitl_tui.core.requests import Verdict
from hitl_tui.supervisor.snapshot import Question

if TYPE_CHECKING:
    from hitl_tui.supervisor.setup import SessionSetup


@runtime_checkable
class _Opened(Protocol):
    """A session that knows what it was opened with; owned and followed ones do."""

    setup: SessionSetup


def rules_file(hand: Hand) -> Path:
    """Return where standing rules lie (C3).

    Raises:
        BadInput: this session has no place for them.
    """
    if not isinstance(hand.face, _Opened):
        raise BadInput("This session keeps no rules.")
    return hand.face.setup.folder.path.parent.parent / standing.FILE_NAME


async def listed(hand: Hand, values: Mapping[str, Any]) -> CommandResult:
    """List what is always allowed, and hitl.toml's own rules beside it."""
    found = await asyncio.to_thread(standing.load_rules, rules_file(hand))
    policy, here, now = hand.face.rules.policy.rules, hand.snapshot.workspace, hand.face.desk.now()
    data = {
        "rules": [{"n": n, "id": rule.id, **rule.to_dict()} for n, rule in enumerate(found, start=1)],
        "policy": [{"n": n, "said": _said(rule), **rule.to_dict()} for n, rule in enumerate(policy, start=1)],
    }
    count = f"{len(found)} thing{' is' if len(found) == 1 else 's are'} always allowed, except in mode step."
    lines = [count if found else "Nothing is always allowed."]
    lines += [_line(n, rule, here, now) for n, rule in enumerate(found, start=1)]
    if policy:
        lines.append("hitl.toml says, and comes first:")
        lines += [f"{n}. {_said(rule)}" for n, rule in enumerate(policy, start=1)]
    return CommandResult("ok", "\n".join(lines), data)


def _line(number: int, rule: StandingRule, here: str, now: str) -> str:
    end = (f", ended at {rule.until}" if rule.ended(now) else f", until {rule.until}") if rule.until else ""
    if rule.workspace == here:
        return f"{number}. {rule.shown}  ({rule.risk} risk, here, by {rule.by} at {rule.at}{end})"
    return f"{number}. {rule.shown}  ({rule.risk} risk, {rule.workspace}, by {rule.by} at {rule.at}{end})"


def _said(rule: Rule) -> str:
    """Return what a rule of hitl.toml says, as it would stand there."""
    found = {key: value for key, value in rule.to_dict().items() if value and value != Terms().to_dict().get(key)}
    return "  ".join(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in found.items())


def _proposed(hand: Hand, question: Question) -> StandingRule:
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
    return standing.rule_for(request, hand.snapshot.workspace, by=hand.by, at=hand.face.desk.now(), shown=shown)


async def allow(hand: Hand, values: Mapping[str, Any]) -> CommandResult:
    """Show the rule that would always allow what a TODO asks; with its digest, save it (C3).

    Raises:
        BadInput: it asks nothing, or no rule can be made of it.
        Refused: what was shown isn't what it asks any more.
    """
    todo = hand.todo(values["id"])
    question = hand.snapshot.question_of(todo.id)
    if question is None:
        raise BadInput(f"{todo.id} asks nothing now, so there is no exact input to allow.")
    rule, given = _proposed(hand, question), values.get("digest")
    if given is None:
        data = {"rule": rule.to_dict(), "toml": rule.to_toml(), "digest": question.digest}
        how = f"Nothing was saved; /rules allow {todo.id} --digest {question.digest[:12]} saves it."
        return CommandResult("ok", f"This rule would be saved:\n{rule.to_toml()}{how}", data)
    if not names_digest(given, question.digest):
        raise Refused("What was shown isn't what is asked any more; look again and decide anew.", reason="stale")
    hand.check([question], Verdict.APPROVE)
    return await _allow_always(hand, question, rule)


async def _allow_always(hand: Hand, question: Question, rule: StandingRule) -> CommandResult:
    """Write a rule that was confirmed, and let it answer the question it was made from.

    Raises:
        HitlError: it can't be written; nothing changed.
    """
    request, desk, path = question.view.request, hand.face.desk, rules_file(hand)
    desk.check_whole()
    known, now = list[StandingRule](), desk.now()

    def add(before: tuple[StandingRule, ...]) -> tuple[StandingRule, ...]:
        known.extend(r for r in before if r.allows(request, rule.workspace, now))
        return before if known else (*before, rule)

    written = await asyncio.to_thread(standing.change_rules, path, add)
    number = written.index(known[0] if known else rule) + 1
    if not known:
        await desk.record("rule_added", {"id": rule.id, **rule.to_dict()}, now)
    data = {"rule": rule.to_dict(), "n": number, "todo_id": question.todo_id}
    said = f"Rule {number} allows exactly this from now on"
    mode = Mode(hand.snapshot.mode)
    if mode is Mode.STEP:
        told = f"{said}, but in mode step everything still asks: {question.name} waits for you."
        return CommandResult("allowed", told, data)
    for decision in standing.decisions([request], mode, rule.workspace, written, desk.now()):
        with suppress(Refused):  # whoever watches over the rules may have been faster
            await desk.decide(decision)
    refused = await hand.refusal(await desk.last_seq(), f"decided:{question.id}")
    return refused or hand.done_with("allowed", f"{said}.", data)


async def edit(hand: Hand, values: Mapping[str, Any]) -> CommandResult:
    """Change until when a rule holds, or for which input.

    Raises:
        UnknownName: there is no such rule.
        BadInput: nothing is changed by it.
    """
    name, desk = str(values["n"]), hand.face.desk
    changes = {key: str(values[key]) for key in ("input", "until") if values.get(key) is not None}
    if not changes:
        raise BadInput("Say what to change: --until 8h, --until never, or --input any.")
    desk.check_whole()
    now, pair = desk.now(), list[tuple[StandingRule, StandingRule]]()

    def put(before: tuple[StandingRule, ...]) -> tuple[StandingRule, ...]:
        old = _named(name, before)
        fresh = standing.changed(old, changes, by=hand.by, at=now)
        if fresh is old:
            raise BadInput("That changes nothing of the rule.")
        pair.append((old, fresh))
        return tuple(fresh if rule == old else rule for rule in before)

    written = await asyncio.to_thread(standing.change_rules, rules_file(hand), put)
    old, fresh = pair[0]
    await desk.record("rule_changed", {"id": fresh.id, "was": old.id, **fresh.to_dict()}, now)
    number = written.index(fresh) + 1
    data = {"n": number, "id": fresh.id, "rule": fresh.to_dict(), "before": old.to_dict(), "toml": fresh.to_toml()}
    until = f", until {fresh.until}" if fresh.until else ""
    return CommandResult("changed", f"Rule {number} allows this now: {fresh.shown}{until}.", data)


async def revoke(hand: Hand, values: Mapping[str, Any]) -> CommandResult:
    """Take a rule back: what it allowed asks again.

    Raises:
        UnknownName: there is no such rule.
    """
    name, gone = str(values["n"]), list[StandingRule]()

    def drop(before: tuple[StandingRule, ...]) -> tuple[StandingRule, ...]:
        gone.append(_named(name, before))
        return tuple(rule for rule in before if rule not in gone)

    desk = hand.face.desk
    desk.check_whole()
    await asyncio.to_thread(standing.change_rules, rules_file(hand), drop)
    rule = gone[0]
    entry = {"id": rule.id, "revoked_by": hand.by, **rule.to_dict()}
    await desk.record("rule_revoked", entry, desk.now())
    message = f"Rule {name} is revoked; {rule.shown} asks again."
    return CommandResult("revoked", message, {"rule": rule.to_dict()})


def _named(name: str, rules: Sequence[StandingRule]) -> StandingRule:
    """Return the rule that a number or an id names.

    Raises:
        UnknownName: none.
    """
    found = next((rule for n, rule in enumerate(rules, start=1) if name in (str(n), rule.id)), None)
    if found is None:
        counted = f"there are {len(rules)}" if rules else "there are none"
        raise UnknownName(f'There is no rule "{clip(name)}"; {counted}.', help="/rules lists them.")
    return found
