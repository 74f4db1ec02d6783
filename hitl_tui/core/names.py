"""How people name things, and how what they wrote is shown in a message."""

from __future__ import annotations

from collections.abc import Iterable

from hitl_tui.core.errors import UnknownName


def resolve_id(text: str, ids: Iterable[str], what: str = "TODO") -> str:
    """Return the one id that `text` names: the id itself, a unique prefix, or (for TODOs) its number.

    `2` and `002` name `todo_002`.

    Raises:
        UnknownName: none or several match; the message says which.
    """
    known = list(ids)
    if text in known:
        return text
    if what == "TODO" and text.isascii() and text.isdigit():
        wanted = text.lstrip("0")
        numbered = [i for i in known if i.startswith("todo_") and i.removeprefix("todo_").lstrip("0") == wanted]
        if len(numbered) == 1:
            return numbered[0]
    matches = [i for i in known if text and i.startswith(text)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        shown = ", ".join(matches[:4]) + (", …" if len(matches) > 4 else "")
        raise UnknownName(f'"{clip(text)}" could be {shown}; write more of the id.')
    if not known:
        raise UnknownName(f'There is no {what} "{clip(text)}"; there is none at all yet.')
    shown = ", ".join(known[:6]) + (", …" if len(known) > 6 else "")
    raise UnknownName(f'There is no {what} "{clip(text)}"; there are {shown}.')


def clip(text: str, length: int = 60) -> str:
    """Return the text, cut for a message."""
    return text if len(text) <= length else text[: length - 1] + "…"
