"""`CommandResult`: the answer of a command, without layout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hitl_tui.core.todos import SupervisorTodo
    from hitl_tui.models.usage import Usage

OK, ERROR = 0, 2


@dataclass(frozen=True, slots=True)
class ShownTodo:
    """A TODO that a person wants to see whole.

    Args:
        todo: the TODO.
        result: its result, as it is kept; None for none.
        used: what a model used for it; None for nothing.
    """

    todo: SupervisorTodo
    result: Mapping[str, object] | None = None
    used: Usage | None = None


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The answer to one command.

    Args:
        status: `ok`, `resumed`, `skipped`, `added`, `updated`, `restored`, `proposed`, `recorded`, … or `error`.
        message: one sentence for a person.
        data: further keys, for scripts; what each command has is in the requirement's list.
        exit_code: 0, or what a script gets for an error.
        shown: what a person sees below the message.
    """

    status: str
    message: str
    data: Mapping[str, Any] = field(default_factory=dict)
    exit_code: int = OK
    shown: ShownTodo | None = None

    @property
    def failed(self) -> bool:
        """It is an error, and changed nothing."""
        return self.exit_code != OK

    def to_dict(self) -> dict[str, object]:
        """Return one JSON object: status, message and the command's own keys side by side."""
        return {"status": self.status, "message": self.message, **self.data}


def failure(message: str, help: str = "", *, reason: str = "", exit_code: int = ERROR) -> CommandResult:
    """Return an error: `error` holds its sentence, `help` what would work, `reason` why a decision was refused."""
    data: dict[str, object] = {"error": message}
    if help:
        data["help"] = help
    if reason:
        data["reason"] = reason
    return CommandResult("error", message, data, exit_code)
