"""`hitl-tui hook`: answers programs that ask before an agent calls a tool, from the rules and from people.

Whatever goes wrong here refuses the call: the program that asks would go on after any other failure.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hitl_tui.cli.fast_args import Arguments, language_of
from hitl_tui.cli.output import Output, json_text
from hitl_tui.cli.settings import data_folder
from hitl_tui.core.errors import BadInput, HitlError
from hitl_tui.core.json_text import strict_json
from hitl_tui.core.json_types import Json, JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line
from hitl_tui.language import translate, using
from hitl_tui.ledger.entry_files import at_once
from hitl_tui.notifications.wake import wake
from hitl_tui.policy.secrecy import Secrecy
from hitl_tui.task_checkpoints.call_gate import Answer, Asked, CallGate, Said, usable_name
from hitl_tui.task_checkpoints.checkpoint import Call
from hitl_tui.task_checkpoints.folders import masc_folder

if TYPE_CHECKING:
    from hitl_tui.cli.job import Job, Stdin

CLAUDE_CODE = "claude-code"
PROJECT = "CLAUDE_PROJECT_DIR"
DEFAULT_WAIT = 50.0
"""Seconds; the shortest time that a program is known to give a hook is a minute."""
ALLOWED, DENIED, ASKS, EDITED = 0, 2, 3, 4
_CODES = {"allow": ALLOWED, "deny": DENIED, "ask": ASKS, "edit": EDITED}
_LARGEST = 4_000_000


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
    secrecy, call, failed = Secrecy(), None, False
    try:
        asked = _read(given, stdin)
        call, said = asked.call, _decide(given, environ, asked, secrecy)
    except HitlError as error:
        said, failed = Said(Answer.DENY, (error.message,)), True
        err.lines([f"hitl-tui hook: {one_line(secrecy.mask(translate(error.message)), 2_000)}"])
    if given.what == CLAUDE_CODE:
        out.lines([json_text(_for_claude(said, secrecy.mask))])
        return DENIED if failed else ALLOWED
    document = _for_command(said, call if given.takes_input else None, secrecy.mask)
    out.lines([json_text(document)])
    return _CODES[str(document["decision"])]


def _decide(given: Arguments, environ: Mapping[str, str], asked: Asked, secrecy: Secrecy) -> Said:
    data = data_folder(given.data, environ)
    # The rules are looked for where the program was started, wherever its agent went since.
    text = environ.get(PROJECT, "") if given.what == CLAUDE_CODE else ""
    masc = masc_folder(given.masc_dir, Path(text) if text and Path(text).is_dir() else None)
    gate = CallGate(masc, data, environ, secrecy, partial(wake, data, (masc.parent,), environ))
    return at_once(gate.decide(asked, DEFAULT_WAIT if given.wait is None else given.wait, _pause))


async def _pause(seconds: float) -> None:
    time.sleep(seconds)  # noqa: ASYNC251 - no event loop runs here


def _for_claude(said: Said, mask: Callable[[str], str]) -> JsonObject:
    found: dict[str, Json] = {
        "hookEventName": "PreToolUse",
        "permissionDecision": said.answer.value,
        "permissionDecisionReason": mask(_sentences(said.reason)),
    }
    if said.arguments is not None:
        found["updatedInput"] = dict(said.arguments)
    return {"hookSpecificOutput": found}


def _for_command(said: Said, taking: Call | None, mask: Callable[[str], str]) -> JsonObject:
    """Return an answer as a program can carry it out that runs its `input`, or nothing but the call that it has.

    A program that makes its own call after "allow" would make the one that somebody edited away.

    Args:
        said: the answer.
        taking: the call of a program that runs `input`; None of one that doesn't.
        mask: hides secrets.
    """
    decision, reason, arguments = said.answer.value, said.reason, said.arguments
    if said.answer is Answer.ALLOW and taking is not None:
        arguments = taking.arguments if arguments is None else arguments
    elif arguments is not None:
        how = Message("Make the call with this input; a program that always does so passes --takes-input.")
        decision, reason = "edit", (*reason, how)
    found: dict[str, Json] = {"decision": decision, "reason": mask(_sentences(reason))}
    if arguments is not None:
        found["input"] = dict(arguments)
    if said.step is not None and said.step.view is not None:
        found["request"] = said.step.view.request.id
        found["by"] = [mask(d.by) for d in said.step.view.resolution.decisions]
    return found


def _sentences(reason: Sequence[str]) -> str:
    return " ".join(map(translate, reason))


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
    return Asked(_name(sent, "session_id"), call, _message(arguments.get("description")))


def _command_call(sent: JsonObject, agent: str) -> Asked:
    named = {**sent, "agent": agent} if agent else sent
    folder = _text(sent, "cwd") if "cwd" in sent else str(Path.cwd())
    call = Call(_name(named, "agent"), _text(sent, "tool"), _object(sent, "input"), folder)
    session = _name(sent, "session") if "session" in sent else "default"
    return Asked(session, call, _message(sent.get("reason")))


def _message(said: object) -> str:
    return said.strip()[:20_000].replace("\0", "") if isinstance(said, str) else ""


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
    return usable_name(key, _text(sent, key))
