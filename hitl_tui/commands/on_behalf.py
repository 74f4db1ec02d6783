"""`/as APPROVER COMMAND`: one command of an approver, at somebody else's session."""

from __future__ import annotations

from hitl_tui.commands.parser import is_command, parse
from hitl_tui.core.errors import BadInput, HitlError


def on_behalf(line: str) -> tuple[str, str] | None:
    """Return the approver and the command of such a line; None for any other line.

    Raises:
        BadInput: what follows isn't a command that a session carries out.
    """
    if not is_command(line):
        return None
    try:
        parsed = parse(line)
    except HitlError:
        if line.split()[0].lower() == "/as":
            raise
        return None
    if parsed.spec.name != "as":
        return None
    command = str(parsed.values.text("command"))
    if not is_command(command):
        raise BadInput("/as takes a command after the name, such as: /as bob /todo approve 1", help=parsed.spec.usage)
    if parse(command).spec.local:
        raise BadInput(f"/as can't give {command.split()[0]}; it takes a command of the session.")
    return str(parsed.values.text("approver")), command
