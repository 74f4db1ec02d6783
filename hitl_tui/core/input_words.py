"""What an input is called in words: the text of its last message, its only prose, or its fields. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping

from hitl_tui.core.json_types import Json, JsonObject
from hitl_tui.core.safe_text import one_line

LONGEST = 80
"""Cells of a name."""
_MESSAGES = "messages"
_PROSE = frozenset({"query", "question", "request", "input", "text", "prompt", "task", "topic", "message", "content"})
"""Fields whose text says by itself what is wanted."""


def in_words(text: str) -> str:
    """Return what an input is called, one safe line of at most `LONGEST` cells.

    `{"messages": [{"role": "user", "content": "Find it"}]}` and `{"query": "Find it"}` are called `Find it`,
    `{"to": "ann@example.com", "n": 3}` is called `to="ann@example.com", n=3`, and words are called what they are.

    Args:
        text: the input as it was given, JSON or not.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return one_line(_plain(text), LONGEST)
    return one_line(_said(value) or _plain(text), LONGEST)


def _said(value: Json) -> str:
    """Return a JSON value in words; empty for one that says nothing."""
    if isinstance(value, Mapping):
        return _message(value[_MESSAGES]) if _talks(value) else _fields(value)
    if isinstance(value, str):
        return _plain(value)
    return _message(value) or _json(value) if isinstance(value, list) else _json(value)


def _talks(value: JsonObject) -> bool:
    return set(value) == {_MESSAGES} and bool(_message(value[_MESSAGES]))


def _fields(value: JsonObject) -> str:
    prose = [_plain(v) for k, v in value.items() if k in _PROSE and isinstance(v, str)]
    if len(value) == 1 and prose:
        return prose[0]
    return ", ".join(f"{_plain(str(key))}={_json(item)}" for key, item in value.items())


def _message(value: Json) -> str:
    """Return the words of a message, or of the last one of several that has any; empty where there are none.

    Messages are texts, pairs of role and text, or objects with a `content`: a text or a list of parts.
    """
    if isinstance(value, str):
        return _plain(value)
    if isinstance(value, Mapping):
        kept = value.get("content", value.get("text", value.get("data")))
        return _message(kept) if kept is not value else ""
    if isinstance(value, list):
        return next((said for item in reversed(value) if (said := _message(item))), "")
    return ""


def _json(value: Json) -> str:
    return _plain(json.dumps(value, ensure_ascii=False))


def _plain(text: str) -> str:
    return " ".join(text.split())
