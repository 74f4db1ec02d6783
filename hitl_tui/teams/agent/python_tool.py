"""`PythonTeam`: runs Python that a model wrote, in the scratch folder, with limits on time, memory and output."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypedDict

from hitl_tui.config import process_limits
from hitl_tui.config.declared_agents import PYTHON
from hitl_tui.config.declared_commands import command_environment
from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_types import Json, JsonObject, JsonSchema
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Risk
from hitl_tui.core.safe_markdown import fenced
from hitl_tui.teams.contract import Team, TeamContext, TeamFailure, TeamGraph, TeamResult, in_steps
from hitl_tui.teams.process import run_command

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

SCRATCH = ".hitl-scratch"
"""The folder of the workspace that such programs are written to and run in."""
SECONDS, OUTPUT = 60, 64 << 10
"""Limits of one run: seconds, bytes of output kept."""
_LIMITS = (str(1 << 30), str(SECONDS), str(64 << 20))
"""What the program may take: bytes of memory, seconds of processor time, bytes of a file."""
_LONGEST = 50_000


class PythonState(TypedDict, total=False):
    """State of the team's graph."""

    task: str
    result: dict[str, Any]


class PythonTeam(Team):
    """Runs a program with the Python of this installation, without the network's or the user's own settings."""

    name = PYTHON
    description = Message("Runs a Python program in the scratch folder of the workspace and returns what it prints.")
    risk = Risk.HIGH
    timeout = SECONDS + 15.0

    @property
    def input_schema(self) -> JsonSchema:
        """JSON Schema of `arguments`."""
        return {
            "type": "object",
            "properties": {"code": {"type": "string", "description": "the whole program; print what is to be seen"}},
            "required": ["code"],
            "additionalProperties": False,
        }

    def bind(self, text: str, arguments: JsonObject) -> dict[str, Json]:
        """Return the program.

        Raises:
            BadInput: it is none.
        """
        code = arguments.get("code", text)
        if not isinstance(code, str) or not code.strip() or len(code) > _LONGEST or set(arguments) - {"code"}:
            raise BadInput(Message('{} takes "code", a program of at most {} characters.', self.name, f"{_LONGEST:,}"))
        try:
            compile(code, "program.py", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise BadInput(Message("The program isn't valid Python: {}.", str(error)[:200])) from error
        return {"code": code}

    def build(self) -> TeamGraph:
        """Return a graph of one node."""
        return in_steps(PythonState, ("run", self._run))

    async def _run(self, state: PythonState, runtime: Runtime[TeamContext]) -> PythonState:
        context = runtime.context
        code = str(context.task.arguments["code"])

        async def act() -> dict[str, Json]:
            folder = context.workspace / SCRATCH
            folder.mkdir(exist_ok=True)
            if folder.is_symlink() or not folder.is_dir():
                raise TeamFailure(Message("{} must be a folder of the workspace.", SCRATCH))
            file = folder / f"program-{sha256(code.encode()).hexdigest()[:12]}.py"
            file.write_text(code, encoding="utf-8")
            try:
                outcome = await run_command(
                    [sys.executable, "-I", "-X", "utf8", process_limits.__file__, *_LIMITS, str(file)],
                    folder,
                    SECONDS,
                    _environment(),
                    limit=OUTPUT,
                    on_line=lambda _, line: context.progress(line.expandtabs()),
                    lock_fd=context.lock_fd,
                    secrets=context.secrets,
                )
            finally:  # what stays in the workspace would change what other steps may execute
                file.unlink(missing_ok=True)
                with suppress(OSError):
                    folder.rmdir()
            return outcome.to_dict()

        outcome = await context.effects("python", {"code": code}, act)
        return {"result": _report(outcome).to_dict()}


def _environment() -> dict[str, str]:
    """Return the environment of a program: no keys, no secrets."""
    plain = command_environment({}, os.environ)
    return {name: plain[name] for name in ("PATH", "LANG", "LC_ALL", "TZ") if name in plain}


def _report(outcome: Mapping[str, Any]) -> TeamResult:
    if outcome.get("declared_done"):
        return TeamResult(text="A person said that it was done; its output is not known.\n")
    parts = []
    if outcome.get("timed_out"):
        parts.append(f"It was stopped after {SECONDS:g} s.")
    elif outcome.get("exit_code") != 0:
        parts.append(f"It failed (exit code {outcome.get('exit_code')}).")
    printed = (str(outcome.get(name) or "").rstrip() for name in ("stdout", "stderr"))
    parts += [fenced(text) for text in printed if text]
    return TeamResult(text="\n\n".join(parts) or "It printed nothing.", found=not outcome.get("timed_out"))
