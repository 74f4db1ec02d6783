"""Asking for an approver's token at the controlling terminal, without showing it."""

from __future__ import annotations

import os
import termios

from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message

_LONGEST = 4096
TERMINAL = "/dev/tty"


def ask_token(question: str) -> str:
    """Ask at the controlling terminal, whatever the standard streams are.

    Args:
        question: what stands before the cursor, safe.

    Raises:
        BadInput: there is no controlling terminal, or nothing was typed.
    """
    try:
        terminal = os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        raise BadInput(
            Message(
                "A token is only taken at the controlling terminal, and this process has none; nothing was decided."
            )
        ) from error
    try:
        typed = _hidden(terminal, question)
    except termios.error as error:
        raise BadInput(Message("The controlling terminal can't hide a token, so it isn't asked for.")) from error
    finally:
        os.close(terminal)
    token = typed.decode(errors="replace").strip()
    if not token:
        raise BadInput(Message("No token was given; nothing was decided."))
    return token


def _hidden(terminal: int, question: str) -> bytes:
    before = termios.tcgetattr(terminal)
    quiet = [*before]
    # Line by line, signals as always, and no echo.
    quiet[0] = before[0] | termios.ICRNL
    quiet[3] = (before[3] | termios.ICANON | termios.ISIG) & ~termios.ECHO & ~termios.ECHONL
    # What was typed before it was asked for is no token.
    termios.tcsetattr(terminal, termios.TCSAFLUSH, quiet)
    try:
        os.write(terminal, question.encode())
        typed = b""
        while not typed.endswith(b"\n") and len(typed) < _LONGEST:
            chunk = os.read(terminal, 1024)
            if not chunk:
                break
            typed += chunk
        return typed
    finally:
        termios.tcsetattr(terminal, termios.TCSAFLUSH, before)
        os.write(terminal, b"\r\n")
