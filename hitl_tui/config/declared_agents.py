"""Declared agents: teams whose work a chat model does, with tools that it may call."""

from __future__ import annotations

from dataclasses import dataclass

from hitl_tui.core.policy import Risk

PYTHON = "run_python"
"""The tool that runs Python which the model wrote, in the scratch folder of the workspace."""
DEFAULT_TIMEOUT = 1800.0
"""Seconds that one attempt may take; waiting for people doesn't count."""
MOST_CALLS = 25


@dataclass(frozen=True, slots=True)
class AgentDeclaration:
    """One `[teams.NAME]` of kind `agent`.

    Args:
        name: the team's name.
        prompt: what the model is told to be and to do.
        tools: what it may call: other teams, declared commands, and `run_python`, by name.
        description: one line.
        risk: risk class of its work; None for the highest of its tools.
        timeout: seconds one attempt may take.
        optional: a failure skips the step instead of blocking what depends on it.
        most_calls: calls of tools that one attempt may make.
        pins: as those of other teams; a model binds no files of its own.
    """

    name: str
    prompt: str
    tools: tuple[str, ...] = ()
    description: str = ""
    risk: Risk | None = None
    timeout: float = DEFAULT_TIMEOUT
    optional: bool = False
    most_calls: int = MOST_CALLS
    pins: tuple[str, ...] = ()
