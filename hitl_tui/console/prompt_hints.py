"""Plain words at the prompt that came to nothing: how what they mean is done, with the keys in force. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl_tui.core.requests import Verdict
from hitl_tui.language import _

if TYPE_CHECKING:
    from hitl_tui.console.keymap import Keymap
    from hitl_tui.supervisor.snapshot import Question

_NOTED = 2_000
_NOTED_ROWS = 20


def way(reason: str, keymap: Keymap, asked: Question | None) -> str:
    """Return how it is done here; empty where the answer itself says all there is to say.

    Args:
        reason: why the words came to nothing, as the answer has it.
        keymap: the keys in force.
        asked: the question on the screen; None for none.
    """
    if reason == "no_change":
        said = _("/new before it starts another session; {session.replay} goes back to before a decision.")
        return f"{_('No change to the plan found.')} {keymap.named(said)}"
    if reason != "no_decision" or asked is None:
        return ""
    if Verdict.APPROVE in asked.commands:
        said = _("Nothing is decided here: {session.question} goes to the question, where {question.1} approves.")
    else:
        said = _("Nothing is decided here: {session.question} goes to the question, whose keys answer it.")
    return keymap.named(said)


def digit_meant(line: str, keymap: Keymap, asked: Question | None) -> str:
    """Return where a digit belongs that was sent as a line, as one that came too late for the question is.

    Args:
        line: what was sent.
        keymap: the keys in force.
        asked: the question on the screen; None for none.

    Returns:
        A sentence; empty for any other line.
    """
    from hitl_tui.console.answer_actions import answers

    digit = line.strip()
    if len(digit) != 1 or not digit.isascii() or not digit.isdigit():
        return ""
    if digit == "0":
        return keymap.named(_("{session.undo} undoes your last decision; a digit in a line does nothing."))
    if asked is None:
        return _("Nothing waits for you now; a digit in a line does nothing.")
    found = next((a for a in answers(asked) if a.number == int(digit)), None)
    if found is None or found.why_not:
        said = _("A digit in a line decides nothing: {session.question} goes to the question, whose keys answer it.")
        return keymap.named(said)
    said = _("Nothing is decided here: {session.question} goes to the question, where {key} is {label}.")
    key = keymap.shown(f"question.{digit}")
    return keymap.named(said).replace("{key}", key).replace("{label}", found.label)


def noted(line: str) -> str:
    """Return as much of a line as the stream repeats."""
    rows = line[:_NOTED].split("\n")
    whole = len(line) <= _NOTED and len(rows) <= _NOTED_ROWS
    return line if whole else "\n".join([*rows[:_NOTED_ROWS], "…"])
