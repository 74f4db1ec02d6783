"""`pins`: which files of a workspace an approval of high risk doesn't bind, as hitl.toml names them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from hitl_tui.core.messages import Message

_PIECE = re.compile(r"\*\*/|\*\*|\*|\?|\[!?\]?[^\]/]*\]|.", re.DOTALL)


@lru_cache(maxsize=64)
def path_pattern(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Return what matches the workspace-relative paths that any of these patterns names, with all that lies below.

    `*` and `?` stay within a name, `**` crosses folders; a folder stands for everything in it. Case counts.
    """
    return re.compile("|".join(_translated(pattern) for pattern in patterns) or r"(?!)", re.DOTALL)


def _translated(pattern: str) -> str:
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if not parts:
        return r"(?s:.*)\Z"
    text = "".join(_piece(match[0]) for match in _PIECE.finditer("/".join(parts)))
    return rf"{text}(?:/.*)?\Z"


def _piece(text: str) -> str:
    if text == "**/":
        return "(?:.*/)?"
    if text == "**":
        return ".*"
    if text == "*":
        return "[^/]*"
    if text == "?":
        return "[^/]"
    if len(text) > 2 and text[0] == "[" and text[-1] == "]":
        negated, inside = text[1] == "!", text[1:-1].removeprefix("!")
        kept = re.sub(r"([\\\[\]^&~|])", r"\\\1", inside)
        return f"[{'^/' if negated else ''}{kept}]"
    return re.escape(text)


def is_pattern(pin: str) -> bool:
    """Return whether a pin may stand for any number of files; else it names one file or folder."""
    return any(sign in pin for sign in "*?[")


def pattern_problem(pattern: str) -> str:
    """Return why a pattern can't be used, to complete a sentence; empty when it can."""
    parts = [part for part in pattern.split("/") if part]
    if not pattern.strip() or "\0" in pattern:
        return Message("must name files of the workspace")
    if pattern.startswith("/") or ".." in parts:
        return Message("must stay within the workspace")
    if all(part in (".", "*", "**") for part in parts):
        return Message("would leave out every file, so that nothing is bound; name those that no step executes")
    try:
        path_pattern((pattern,))
    except re.error:
        return Message("isn't a pattern; use *, ?, [abc] and **")
    return ""


def unmatched(patterns: Iterable[str], paths: Iterable[str]) -> list[str]:
    """Return the patterns that name none of these paths."""
    left = {pattern: path_pattern((pattern,)) for pattern in patterns}
    for path in paths:
        for pattern in [pattern for pattern, regex in left.items() if regex.match(path)]:
            del left[pattern]
        if not left:
            break
    return list(left)
