"""Describing and calling a declared tool in a process of its own, and what is said where that fails."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hitl_tui.config.atomic_files import make_private, write_atomically
from hitl_tui.config.declared_commands import command_environment
from hitl_tui.config.declared_tools import ToolDeclaration
from hitl_tui.config.extras import install_help
from hitl_tui.core.errors import BadInput
from hitl_tui.core.interrupts.json_schema import why_unusable
from hitl_tui.core.json_text import digest, strict_json
from hitl_tui.core.json_types import Json, JsonObject, JsonSchema, Stored
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import mask, mask_json
from hitl_tui.teams.bounded_output import NOTES, Notes
from hitl_tui.teams.contract import TeamFailure, one
from hitl_tui.teams.process import CommandOutcome, Exchange, run_command
from hitl_tui.teams.tool import worker

DESCRIBE_TIMEOUT = 30.0
"""Seconds that importing a module, or asking a server, may take."""
_A_DAY = 86_400.0
"""Seconds that what a server at an address said is kept: no file tells when it changes."""
_FORM = 1
"""Of what is kept of a description; another number makes it be read anew."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Described:
    """What a tool says of itself.

    Args:
        schema: JSON Schema of its arguments.
        description: its first paragraph, in one line.
        takes_inputs: it is given the results of earlier steps.
    """

    schema: JsonSchema
    description: str = ""
    takes_inputs: bool = False


class Descriptions:
    """What tools say of themselves, kept by the digest of their files.

    Args:
        folder: where they are kept between processes; None for nowhere.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def of(self, declaration: ToolDeclaration, files: Mapping[str, str], secrets: Mapping[str, str]) -> Described:
        """Return what a tool says of itself; its module is imported, or its server asked, in a process of its own.

        Args:
            declaration: which tool.
            files: digests of the files that it is made of, by name.
            secrets: values of the declared secrets by name.

        Raises:
            BadInput: it can't be found out; the message says why.
        """
        path = self._path(declaration, files)
        if (kept := _read(path, _A_DAY if declaration.url else 0.0)) is not None:
            return kept
        with ThreadPoolExecutor(1) as pool:  # the caller's thread may have an event loop
            found = pool.submit(lambda: asyncio.run(_describe(declaration, secrets))).result()
        if why := why_unusable(found.schema):
            raise BadInput(Message("The input schema of {} can't be used: it {}.", declaration.name, why))
        if path is not None:
            kept_data = {"schema": found.schema, "description": found.description, "inputs": found.takes_inputs}
            _write(path, json.dumps(kept_data))
        return found

    def kept(self, declaration: ToolDeclaration, files: Mapping[str, str]) -> Described | None:
        """Return what a tool said of itself when its files were these, however long ago; None where it isn't kept."""
        return _read(self._path(declaration, files), 0.0)

    def _path(self, declaration: ToolDeclaration, files: Mapping[str, str]) -> Path | None:
        made_of = [declaration.kind, declaration.calls, declaration.folder, dict(files), sys.version, _FORM]
        return None if self._folder is None else self._folder / f"tool-{digest(made_of)[:32]}.json"


def _read(path: Path | None, lasts: float) -> Described | None:
    """Return what is kept of a description; None where nothing is, or it is older than so many seconds (0 for ever)."""
    try:
        if path is None or (lasts and time.time() - path.stat().st_mtime > lasts):
            return None
        data: Any = strict_json(path.read_text(encoding="utf-8"))
        return Described(data["schema"], str(data["description"]), bool(data["inputs"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(path: Path, text: str) -> None:
    try:
        make_private(path.parent)
        write_atomically(path, text.encode())
    except OSError as error:
        log.warning("%s isn't kept: %s", path.name, error)


async def _describe(declaration: ToolDeclaration, secrets: Mapping[str, str]) -> Described:
    outcome, answer = await _ask(declaration, {"op": "describe"}, secrets, DESCRIBE_TIMEOUT)
    if outcome.timed_out:
        raise BadInput(Message("{} took longer than {} s to be read.", one(declaration.calls), f"{DESCRIBE_TIMEOUT:g}"))
    found = answer.get("found")
    if not isinstance(found, Mapping):
        said, help = _why(declaration, outcome, answer, secrets)
        raise BadInput(said, help=help)
    first = str(found["description"]).strip().split("\n\n")[0]
    return Described(dict(found["schema"]), one(mask(first, secrets), 300), bool(found["takes_inputs"]))


@dataclass(frozen=True, slots=True)
class Returned:
    """What a call returned.

    Args:
        value: JSON.
        text: its own words for a person; empty for none.
        duration: seconds.
    """

    value: Json
    text: str
    duration: float


async def call(
    declaration: ToolDeclaration,
    arguments: JsonObject,
    inputs: JsonObject,
    secrets: Mapping[str, str],
    *,
    on_line: Callable[[str, str], None],
    lock_fd: int,
    notes: Notes,
) -> Returned:
    """Call a tool in a process of its own, and end that with all it started when the caller is cancelled.

    Args:
        declaration: which tool.
        arguments: exactly what it is called with.
        inputs: results of earlier steps, for a function that takes them.
        secrets: values of the declared secrets by name; they are in its environment, and masked in what it returns.
        on_line: gets the stream's name and each line that is printed.
        lock_fd: descriptor that is held until the last process is gone; -1 for none.
        notes: what stands in place of lines that aren't shown.

    Raises:
        BadInput: it can't be called so; nothing was done.
        TeamFailure: it failed; the message is one sentence.
        StillRunning: it could not be stopped.
    """
    request: JsonObject = {"op": "call", "arguments": dict(arguments), "inputs": dict(inputs)}
    outcome, answer = await _ask(
        declaration, request, secrets, declaration.timeout, on_line=on_line, lock_fd=lock_fd, notes=notes
    )
    if outcome.timed_out:
        seconds = f"{declaration.timeout:g}"
        raise TeamFailure(Message("{} was stopped because its time, {} s, was up.", declaration.name, seconds))
    found = answer.get("found")
    if isinstance(found, Mapping):
        told = mask_json(dict(found), secrets)
        return Returned(told["value"], str(told.get("text") or ""), outcome.duration)
    error = answer.get("error")
    if isinstance(error, Mapping) and (trace := str(error.get("traceback") or "")):
        log.error("%s failed\n%s", declaration.calls, mask(trace, secrets))
    said, help = _why(declaration, outcome, answer, secrets)
    if isinstance(error, Mapping) and ("misfit" in error or error.get("unusable") not in (None, "result", "large")):
        raise BadInput(said, help=help)
    raise TeamFailure(said, help=help)


async def _ask(
    declaration: ToolDeclaration,
    request: JsonObject,
    secrets: Mapping[str, str],
    seconds: float,
    *,
    on_line: Callable[[str, str], None] | None = None,
    lock_fd: int = -1,
    notes: Notes = NOTES["en"],
) -> tuple[CommandOutcome, Stored]:
    folder = declaration.folder or str(Path.cwd())
    asked = {
        **request,
        "kind": declaration.kind,
        "target": declaration.target,
        "folder": folder,
        "server": list(declaration.server),
        "tool": declaration.tool,
        "url": bool(declaration.url),
    }
    environment = command_environment(secrets, os.environ)
    if request["op"] == "describe":  # what is compiled beside its source isn't what was looked at
        environment["PYTHONPYCACHEPREFIX"] = os.devnull
    exchange = Exchange(json.dumps(asked).encode(), worker.LIMIT + 1)
    outcome = await run_command(
        [sys.executable, "-P", "-u", "-X", "utf8", worker.__file__],
        Path(folder),
        seconds,
        environment,
        on_line=on_line,
        lock_fd=lock_fd,
        secrets=secrets,
        notes=notes,
        exchange=exchange,
    )
    try:
        answer = strict_json(exchange.answer.decode()) if exchange.whole else None
    except ValueError:
        answer = None
    return outcome, answer if isinstance(answer, dict) else {}


# Words -----------------------------------------------------------------------------------------------------------

_UNUSABLE: Mapping[str, Message] = {
    "hints": Message("The type hints of {0} can't be read: {1}."),
    "positional": Message('The parameter "{1}" of {0} can\'t be given by name; take away the "/" or "*".'),
    "type": Message("A parameter of {0} can't be written as JSON: {1}."),
    "no tool": Message('The server of {0} has no tool "{1}"; it has {2}.'),
    "server": Message("The server of {0} can't be reached: {1}."),
    "no mcp": Message("{0} needs the package mcp."),
    "no attribute": Message('{0}: {1} has no "{2}"; it has {3}.'),
    "no module": Message('{0}: no module "{1}" in the workspace or installed beside hitl-tui.'),
    "no file": Message("{0}: file {1} not found."),
    "not callable": Message('{0}: "{1}" can\'t be called: it is a {2}.'),
    "graph": Message('{0}: "{1}" is a graph; declare it with kind = "graph".'),
    "result": Message("{0} returned a {1}, which JSON has no form for."),
    "large": Message("{0} returned more than {1} bytes; let it write a file and return its name."),
}


def _why(
    declaration: ToolDeclaration, outcome: CommandOutcome, answer: Stored, secrets: Mapping[str, str]
) -> tuple[str, str]:
    """Return in one sentence why there is no result, and what would help."""
    name, error = declaration.name, answer.get("error")
    if not isinstance(error, Mapping):
        if outcome.signal:
            return Message("{} was ended by {}.", name, outcome.signal), ""
        return Message("{} ended its process (exit code {}) and returned nothing.", name, outcome.exit_code), ""
    told = {key: one(mask(str(value), secrets), 300).rstrip(".") for key, value in error.items() if key != "values"}
    if "unusable" in error:
        values = [one(mask(str(value), secrets), 200).rstrip(".") for value in error.get("values") or ()]
        last = [line for line in outcome.stderr.splitlines() if line.strip()][-1:]
        if error["unusable"] == "server" and last:  # what it said of its own end
            values = [one(last[0], 200).rstrip(".")]
        help = install_help("mcp") if error["unusable"] == "no mcp" else ""
        return _UNUSABLE[str(error["unusable"])].filled(name, *values), help
    if "misfit" in error:
        return Message('{} can\'t use "{}": {}.', name, told["misfit"], told["why"]), ""
    if "failure" in error:
        return Message("{} failed: {}.", name, told["failure"]), ""
    at = Message("{} line {}", told["file"], told["line"]) if told["file"] else name
    if missing := told["missing"]:
        package = missing.split(".")[0].replace("_", "-")
        return (
            Message('{} needs the module "{}", which isn\'t installed beside hitl-tui.', at, missing),
            Message("With uv: uv run --with {} hitl-tui …", package),
        )
    if told["said"]:
        return Message("{} raised {}: {}.", at, told["raised"], told["said"]), ""
    return Message("{} raised {}.", at, told["raised"]), ""
