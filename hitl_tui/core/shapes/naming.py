"""Calls of tools that any JSON names, whatever its form: what isn't understood as a call may still be one (M10)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from typing import Any

from hitl_tui.core.errors import BadInput
from hitl_tui.core.safe_text import ELLIPSIS
from hitl_tui.core.shapes.jsontext import strict_json

Call = tuple[str, Mapping[str, Any] | None]
"""A tool's name and its arguments; None where they aren't known."""

_NAMES = frozenset({"name", "tool", "toolname", "action", "actionname", "function", "functionname", "call", "toolcall"})
_ARGUMENTS = frozenset({"args", "arguments", "input", "toolinput", "parameters", "params", "kwargs"})
_LONGEST_TEXT = 1_000_000
_MORE = re.compile(r"… \d[\d,]* more")


def named_calls(value: Any, tools: Set[str]) -> Iterator[Call]:
    """Yield the calls of these tools that a value names anywhere.

    A tool is named by its name under `name`, `tool`, `action`, `function`, `call` or the like, one or several, or by
    a key that has an object; a text that is JSON counts as that JSON. Its arguments are the one object beside the name
    under `args`, `arguments`, `input`, `parameters` or the like, which may be a JSON text, too.

    Args:
        value: JSON.
        tools: names of tools.
    """
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, Mapping):
            for key, part in item.items():
                if key in tools and isinstance(part, Mapping):
                    yield key, part
                if _plain(key) in _NAMES:
                    several = part if isinstance(part, list | tuple) else [part]
                    yield from ((one, _arguments(item)) for one in several if isinstance(one, str) and one in tools)
                pending.append(part)
        elif isinstance(item, list | tuple):
            pending += item
        elif isinstance(item, str) and _is_object(item) and any(tool in item for tool in tools):
            pending.append(_parsed(item))


def hidden_calls(shown: Any, tools: Set[str]) -> Iterator[Call]:
    """Yield calls that a question which was cut may be about besides those that it still shows.

    Of a JSON text that was cut, of an object with more fields, and of a list of calls that goes on, nothing is known:
    each tool may be called there.

    Args:
        shown: how its parts begin.
        tools: names of tools.
    """
    pending = [shown]
    while pending:
        item = pending.pop()
        if _hides(item, whole=item is shown):
            yield from ((tool, None) for tool in sorted(tools))
            return
        if isinstance(item, Mapping):
            pending += item.values()
        elif isinstance(item, list | tuple):
            pending += item


def _hides(item: Any, *, whole: bool) -> bool:
    """Return whether calls may stand in what was cut from one part of a question, or from the whole of it."""
    if isinstance(item, str):
        return item.lstrip()[:1] in ("{", "[") and (whole or item.endswith(" characters)"))
    if isinstance(item, Mapping):
        return whole and ELLIPSIS in item
    if isinstance(item, list | tuple):
        goes_on = bool(item) and isinstance(item[-1], str) and _MORE.fullmatch(item[-1]) is not None
        return goes_on and (whole or any(_is_call(part) for part in item))
    return False


def _is_call(value: Any) -> bool:
    inside = value.get("action_request", value) if isinstance(value, Mapping) else {}
    return isinstance(inside, Mapping) and any(_plain(key) in _NAMES for key in inside)


def _arguments(beside: Mapping[str, Any]) -> Mapping[str, Any] | None:
    found = [part for key, part in beside.items() if _plain(key) in _ARGUMENTS]
    given = found[0] if len(found) == 1 else None
    given = _parsed(given) if isinstance(given, str) else given
    return given if isinstance(given, Mapping) else None


def _plain(key: str) -> str:
    """Return a key without its separators, in small letters and in the singular, except for `args` and the like."""
    name = "".join(letter for letter in key.casefold() if letter.isalnum())
    return name if name in _ARGUMENTS else name.removesuffix("s")


def _is_object(text: str) -> bool:
    return len(text) <= _LONGEST_TEXT and text.lstrip()[:1] in ("{", "[")


def _parsed(text: str) -> Any:
    """Return what a JSON text stands for; None when that can't be told."""
    try:
        return strict_json(text) if _is_object(text) else None
    except (BadInput, ValueError, RecursionError):
        return None
