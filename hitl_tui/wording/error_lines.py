"""Errors in words. The first screen needs them, so nothing heavier is imported here. Pure."""

from __future__ import annotations

from hitl_tui.core.errors import HitlError
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import translate
from hitl_tui.terminal.ascii_signs import _


def error_line(error: HitlError) -> str:
    """Return what an error says, and what would help, in one safe line in the person's language."""
    return safe_text(f"{translate(error.message)} {translate(error.help)}".strip(), multiline=False)


def failure_words(error: BaseException) -> str:
    """Return what a person is told of an error that ended something."""
    if isinstance(error, HitlError):
        return error.message
    return _("Unexpected error ({name}); the log file has the details.").format(name=type(error).__name__)
