"""Errors that teams have in common."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from hitl_tui.core.errors import HitlError, UnknownName
from hitl_tui.core.safe_text import safe_text


class TeamFailure(HitlError):
    """A team did its work and it failed in a way that is known (D8).

    It is known what happened, so the same work may be tried again when a person says so.

    Args:
        message: one sentence.
        data: JSON that says what is known, for example a command's exit code and output.
        help: an optional second line with what would work.
    """

    kind = "team_failure"

    def __init__(self, message: str, *, data: Mapping[str, Any] | None = None, help: str = "") -> None:
        super().__init__(message, help=help)
        self.data: dict[str, Any] = dict(data or {})


def unknown_name(what: str, name: str, known: Iterable[str]) -> UnknownName:
    """Return the error for a name that doesn't exist, with the nearest that does and the list of all.

    Args:
        what: the kind of thing, for example `declared command`.
        name: what was given.
        known: the names there are.
    """
    names, name = sorted(known), one(name)
    if not names:
        return UnknownName(f'There is no {what} "{name}", as there is none at all.')
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if near:
        return UnknownName(f'There is no {what} "{name}"; did you mean "{near[0]}" (of {", ".join(names)})?')
    return UnknownName(f'There is no {what} "{name}"; there are {", ".join(names)}.')


def one(text: str, limit: int = 80) -> str:
    """Return somebody's text as a message names it: one line, harmless, at most `limit` characters."""
    return safe_text(" ".join(text.split()), multiline=False, limit=limit)
