"""Words for messages about values that somebody else wrote: short, one line, harmless (C10)."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from hitl_tui.core.safe_text import safe_text

LARGE = 10**18
"""Whole numbers from here on (of either sign) are refused, and not written out."""


def quoted(text: str) -> str:
    """Return text in quotation marks, cut where it is long."""
    return f'"{safe_text(text, multiline=False, limit=60)}"'


def described(value: object) -> str:
    """Return a value as a message may show it, in the words of TOML and JSON."""
    if isinstance(value, str):
        return quoted(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) >= LARGE:
        return "a very large number"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, dict):
        return "a table"
    return "a date or time" if type(value).__module__ == "datetime" else "something else"


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name that was probably meant, or an empty text."""
    matches = get_close_matches(name[:100].lower().replace("_", "-"), [k.replace("_", "-") for k in known], 1, 0.6)
    by_form = {k.replace("_", "-"): k for k in known}
    return by_form[matches[0]] if matches else ""
