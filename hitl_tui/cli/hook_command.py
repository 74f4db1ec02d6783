"""`hitl-tui hook`: answers programs that ask before an agent calls a tool, from the rules and from people.

Whatever goes wrong here refuses the call: the program that asks would go on after any other failure.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hitl_tui.cli.fast_args import Arguments, language_of
from hitl_tui.cli.output import Output, json_text
from hitl_tui.cli.settings import data_folder
from hitl_tui.core.errors import BadInput, HitlError
from hitl_tui.core.json_text import canonical, strict_json
from hitl_tui.core.json_types import Json, JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Judgement, Policy, Ruling
from hitl_tui.core.requests import Outcome
from hitl_tui.core.safe_text import one_line
from hitl_tui.core.secret_masks import put_back
from hitl_tui.language import translate, using
from hitl_tui.ledger.entry_files import at_once
from hitl_tui.ledger.existing_record import has_record
from hitl_tui.notifications.wake import wake
from hitl_tui.policy.secrecy import Secrecy
from hitl_tui.task_checkpoints.checkpoint import Call, Checkpoint, Ruled, Status
from hitl_tui.task_checkpoints.folders import held_under, masc_folder, register, store_of, trust_of
from hitl_tui.task_checkpoints.service import TaskCheckpoints

if TYPE_CHECKING:
    from hitl_tui.cli.job import Job, Stdin

CLAUDE_CODE = "claude-code"
PROJECT = "CLAUDE_PROJECT_DIR"
DEFAULT_WAIT = 50.0
"""Seconds; the shortest time that a program is known to give a hook is a minute."""
ALLOWED, DENIED, ASKS, EDITED = 0, 2, 3, 4
_SETTINGS = "hitl.toml"
_LARGEST = 4_000_000
_NAME = re.compile(r"\w[\w.@+-]{0,59}")
_CHANNEL = "hook"


class Answer(StrEnum):
    """What a program is told."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"
    EDIT = "edit"  # another call may be made, which this program has to be changed to


@dataclass(frozen=True, slots=True)
class Said:
    """The answer to a call.

    Args:
        answer: whether it may be made.
        reason: why, and who says so.
        step: what was recorded about it, if anything was.
        arguments: what it is to be made with instead; None for its own.
    """

    answer: Answer
    reason: str
    step: Checkpoint | None = None
    arguments: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A call that a program asks about.

    Args:
        session: of the agent; a decision counts in one alone.
        call: what it would do.
        message: what the agent says of it.
    """

    session: str
    call: Call
    message: str

    @property
    def task(self) -> str:
        """The task that calls of this agent's session are steps of."""
        return f"{self.call.agent}:{self.session}"


def main(argv: Sequence[str]) -> int:
    """Run `hitl-tui hook …` without loading what other subcommands need; return the exit code."""
    from hitl_tui.cli.arguments import parse

    err = Output(sys.stderr, Secrecy())
    try:
        with using(language_of(argv, os.environ)):
            given = parse(argv)
            if given.help:
                Output(sys.stdout, Secrecy()).lines([given.help.rstrip("\n")])
                return ALLOWED
            stdin = sys.stdin.buffer if sys.stdin is not None else None
            return answer(given, dict(os.environ), stdin, Output(sys.stdout, Secrecy()), err)
    except HitlError as error:
        err.lines([f"hitl-tui: {one_line(line, 2_000)}" for line in (error.message, *error.help.splitlines())])
    except KeyboardInterrupt:
        pass
    except Exception as error:  # noqa: BLE001 - any other exit code than 2 would let the call be made
        with suppress(HitlError):
            err.lines([f"hitl-tui: {type(error).__name__}: {one_line(str(error), 500)}"])
    return DENIED


def hook(job: Job) -> int:
    """Answer a program that asks; return the exit code."""
    return answer(job.arguments, job.environ, job.stdin, Output(sys.stdout, Secrecy()), job.err)


def answer(given: Arguments, environ: Mapping[str, str], stdin: Stdin | None, out: Output, err: Output) -> int:
    """Read what is asked, answer it, and return the exit code.

    Args:
        given: the command line.
        environ: the environment.
        stdin: where the call is read from.
        out: for the document; it masks nothing, since the program is to run what is in it.
        err: for people.
    """
    hooked = _Hook(given, environ)
    try:
        asked = _read(given, stdin)
        said = hooked.decide(asked)
        if given.what != CLAUDE_CODE:
            said = _as_taken(said, asked.call, takes_input=given.takes_input)
    except HitlError as error:
        words = translate(error.message)
        said, failed = Said(Answer.DENY, words), True
        err.lines([f"hitl-tui hook: {one_line(hooked.mask(words), 2_000)}"])
    else:
        failed = False
    if given.what == CLAUDE_CODE:
        out.lines([json_text(_for_claude(said, hooked.mask))])
        return DENIED if failed else ALLOWED
    out.lines([json_text(_for_command(said, hooked.mask))])
    return {Answer.ALLOW: ALLOWED, Answer.DENY: DENIED, Answer.ASK: ASKS, Answer.EDIT: EDITED}[said.answer]


def _as_taken(said: Said, call: Call, *, takes_input: bool) -> Said:
    """Return an answer as a program can carry it out that runs its `input`, or nothing but the call that it has.

    A program that makes its own call after "allow" would make the one that somebody edited away.
    """
    if said.answer is not Answer.ALLOW:
        return said
    if takes_input:
        return replace(said, arguments=call.arguments if said.arguments is None else said.arguments)
    if said.arguments is None:
        return said
    how = translate(Message("Make the call with this input; a program that always does so passes --takes-input."))
    return replace(said, answer=Answer.EDIT, reason=f"{said.reason} {how}")


def _for_claude(said: Said, mask: Callable[[str], str]) -> JsonObject:
    found: dict[str, Json] = {
        "hookEventName": "PreToolUse",
        "permissionDecision": said.answer.value,
        "permissionDecisionReason": mask(said.reason),
    }
    if said.arguments is not None:
        found["updatedInput"] = dict(said.arguments)
    return {"hookSpecificOutput": found}


def _for_command(said: Said, mask: Callable[[str], str]) -> JsonObject:
    found: dict[str, Json] = {"decision": said.answer.value, "reason": mask(said.reason)}
    if said.arguments is not None:
        found["input"] = dict(said.arguments)
    if said.step is not None and said.step.view is not None:
        found["request"] = said.step.view.request.id
        found["by"] = [mask(d.by) for d in said.step.view.resolution.decisions]
    return found


class _Hook:
    """One question of a program.

    Args:
        given: the command line.
        environ: the environment.
    """

    def __init__(self, given: Arguments, environ: Mapping[str, str]) -> None:
        self._given, self._environ = given, environ
        self._secrecy = Secrecy()
        self._poll = 0.0
        self._end = time.monotonic() + (DEFAULT_WAIT if given.wait is None else given.wait)

    def mask(self, text: str) -> str:
        """Return a text with the names of secrets instead of their values."""
        return self._secrecy.mask(text)

    def decide(self, asked: Asked) -> Said:
        """Return what a call is answered with: by a rule, by people, or by nobody within the time.

        Raises:
            HitlError: it can't be told.
        """
        data = data_folder(self._given.data, self._environ)
        masc = masc_folder(self._given.masc_dir, self._project())
        self._secrecy.look_in([masc.parent], data)
        exact = asked.call.arguments
        shown: JsonObject = self._secrecy.mask_json(exact, json.dumps(exact, ensure_ascii=False))
        call, message = replace(asked.call, arguments=shown), self.mask(asked.message)
        rules = _Rules(masc, data)
        changed = partial(wake, data, (masc.parent,), self._environ)
        store = store_of(masc, self._environ, changed)
        tasks, self._poll = TaskCheckpoints(store, rules.held, secrecy=self._secrecy), store.poll
        register(data, masc)
        judged, note = rules.judge(call)
        if judged.ruling is not Ruling.ASK:
            ruled = Ruled(judged.ruling.value, judged.rule, judged.name)
            step = at_once(tasks.note_ruled(asked.task, call, ruled))
            return Said(Answer(judged.ruling.value), _ruled_words(ruled), step)
        said = self._people(tasks, replace(asked, call=call, message=message))
        if said.answer is Answer.ASK and said.step is not None:
            return replace(said, reason=" ".join(filter(None, (said.reason, note, rules.shortfall(said.step)))))
        if said.arguments is not None:
            restored = put_back(dict(said.arguments), dict(shown), dict(exact), self._secrecy.known)
            assert isinstance(restored, dict), "an edited call has an object"
            return replace(said, arguments=None if canonical(restored) == canonical(exact) else restored)
        return said

    def _project(self) -> Path | None:
        """Return where the rules are looked for: where the program was started, wherever its agent went since."""
        text = self._environ.get(PROJECT, "") if self._given.what == CLAUDE_CODE else ""
        return Path(text) if text and Path(text).is_dir() else None

    def _people(self, tasks: TaskCheckpoints, asked: Asked) -> Said:
        """Ask people, and wait for them."""
        while True:
            step = at_once(tasks.ask(asked.task, asked.call, asked.message))
            step = self._wait_for(tasks, step)
            assert step.view is not None, "what was asked has a request"
            outcome = step.view.resolution.outcome
            if outcome is Outcome.PENDING:
                return Said(Answer.ASK, self._unanswered(step), step)
            if outcome is not Outcome.SUPERSEDED and at_once(tasks.take(step)):
                return _decided(step, outcome)
            # Somebody is editing it, or another call of the same input took the decision.

    def _wait_for(self, tasks: TaskCheckpoints, step: Checkpoint) -> Checkpoint:
        noted = ""
        while True:
            asked = step.view.request.id if step.status is Status.INTERRUPTED and step.view is not None else noted
            if asked != noted:  # one that was edited is another
                noted, step = asked, at_once(tasks.await_for(step, self._end - time.monotonic()))
            assert step.view is not None, "what was asked has a request"
            open_still = step.view.resolution.outcome in (Outcome.PENDING, Outcome.SUPERSEDED)
            if not open_still or time.monotonic() >= self._end:
                return step
            time.sleep(self._poll)
            step = at_once(tasks.the_step(step.task_id, step.step))

    def _unanswered(self, step: Checkpoint) -> str:
        assert step.view is not None, "what was asked has a request"
        return translate(
            Message(
                "Nobody decided in time. It waits in hitl-tui inbox as {}; approved there, this exact call may be made "
                "once.",
                step.view.request.id,
            )
        )


class _Rules:
    """The rules of a folder: those that hold in any case, and those that allow once it is trusted.

    Raises:
        ConfigError: they can't be used.
    """

    def __init__(self, masc: Path, data: Path) -> None:
        self._masc, self._folder, self._data = masc, masc.parent, data
        self._trust = trust_of(masc, data) if has_record(data, os.environ) else None
        self.held = held_under(masc, self._trust)
        self._declared = Policy()
        if self.held.rules:
            from hitl_tui.config.loader import content_of, parse_content

            self._declared = parse_content(content_of(self._folder / _SETTINGS)).policy

    def judge(self, call: Call) -> tuple[Judgement, str]:
        """Return what they say of a call, and what would help where a rule would allow it but isn't obeyed."""
        held = self.held.judge_step(call.agent, call.tool, call.arguments)
        wanted = self._declared.judge_step(call.agent, call.tool, call.arguments)
        if wanted.ruling is not Ruling.ALLOW or held.ruling is Ruling.DENY:
            return held, ""
        trust = self._trust or trust_of(self._masc, self._data)
        if trust.trusted:
            return trust.declared.policy.judge_step(call.agent, call.tool, call.arguments), ""
        said = Message("Rule {} allows it once this folder is trusted: {}", wanted.rule, trust.command)
        return held, translate(said)

    def shortfall(self, step: Checkpoint) -> str:
        """Return why nobody can approve a step, if nobody can."""
        assert step.view is not None, "what was asked has a request"
        request = step.view.request
        if request.terms.quorum <= 1 and not request.terms.level:
            return ""
        from hitl_tui.policy.approvers import ApproverFile

        return translate(ApproverFile(self._data).load().shortfall(request.terms, request.requester))


def _ruled_words(ruled: Ruled) -> str:
    name = f' "{ruled.name}"' if ruled.name else ""
    if ruled.ruling == Ruling.ALLOW:
        return translate(Message("{} rule {}{} allows it.", _SETTINGS, ruled.rule, name))
    return translate(Message("{} rule {}{} denies it.", _SETTINGS, ruled.rule, name))


def _decided(step: Checkpoint, outcome: Outcome) -> Said:
    assert step.view is not None, "what was asked has a request"
    decisions = step.view.resolution.decisions
    by, reasons = ", ".join(d.by for d in decisions), " ".join(d.reason for d in decisions if d.reason)
    if outcome is Outcome.APPROVED:
        said = Message("Approved by {}.", by) if step.edited is None else Message("Approved by {} as edited.", by)
        return Said(Answer.ALLOW, f"{translate(said)} {reasons}".rstrip(), step, step.edited)
    if outcome is Outcome.EXPIRED:
        said = Message("Nobody decided before {}.", step.view.request.deadline)
        return Said(Answer.DENY, translate(said), step)
    return Said(Answer.DENY, f"{translate(Message('Rejected by {}.', by))} {reasons}".rstrip(), step)


# What programs send ------------------------------------------------------------------------------------------------


def _read(given: Arguments, stdin: Stdin | None) -> Asked:
    """Return the call that a program asks about.

    Raises:
        BadInput: what it sends is no call.
    """
    content = stdin.read(_LARGEST + 1) if stdin is not None else b""
    if len(content) > _LARGEST:
        raise BadInput(Message("What was sent is larger than {} bytes.", _LARGEST))
    try:
        sent = strict_json(content.decode("utf-8-sig"))
    except ValueError as error:
        raise BadInput(Message("What was sent isn't JSON: {}.", one_line(str(error), 200))) from error
    if not isinstance(sent, dict):
        raise BadInput(Message("What was sent isn't a JSON object."))
    return _claude_call(sent) if given.what == CLAUDE_CODE else _command_call(sent, given.agent)


def _claude_call(sent: JsonObject) -> Asked:
    event = sent.get("hook_event_name")
    if event != "PreToolUse":
        said = one_line(json.dumps(event, ensure_ascii=False), 60)
        raise BadInput(Message("This answers PreToolUse alone, and hook_event_name is {}.", said))
    tool, arguments = _text(sent, "tool_name"), _object(sent, "tool_input")
    call = Call(CLAUDE_CODE, tool, arguments, _text(sent, "cwd"))
    return Asked(_name(sent, "session_id"), call, _message(arguments.get("description"), call))


def _command_call(sent: JsonObject, agent: str) -> Asked:
    named = {**sent, "agent": agent} if agent else sent
    folder = _text(sent, "cwd") if "cwd" in sent else str(Path.cwd())
    call = Call(_name(named, "agent"), _text(sent, "tool"), _object(sent, "input"), folder)
    session = _name(sent, "session") if "session" in sent else "default"
    return Asked(session, call, _message(sent.get("reason"), call))


def _message(said: object, call: Call) -> str:
    text = said.strip() if isinstance(said, str) else ""
    return text[:20_000].replace("\0", "") or f"{call.agent} is about to use {call.tool}"


def _text(sent: JsonObject, key: str) -> str:
    found: Any = sent.get(key)
    if not isinstance(found, str) or not found.strip():
        raise BadInput(Message("What was sent has no {}: it must be a text.", key))
    return found


def _object(sent: JsonObject, key: str) -> dict[str, Json]:
    found: Any = sent.get(key)
    if not isinstance(found, dict):
        raise BadInput(Message("What was sent has no {}: it must be an object.", key))
    return found


def _name(sent: JsonObject, key: str) -> str:
    found = _text(sent, key)
    if not _NAME.fullmatch(found):
        raise BadInput(
            Message("{} can't be {}: up to 60 letters, digits and . - _ @ +.", key, one_line(json.dumps(found), 80))
        )
    return found
