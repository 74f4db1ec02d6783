"""Conversion of what graphs hold and send into JSON: total, bounded, never raising."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any
from uuid import UUID

from hitl_tui.core.json_types import Json

_DEEPEST = 40
_MOST_ITEMS = 20_000
_LONGEST_REPR = 2_000
_LONGEST_SAID = 300


def plain(value: object) -> Any:
    """Return any Python value as JSON.

    Messages become `role` and `content`, models and dataclasses objects, sets lists. What can't be JSON becomes an
    object that names its type; a value within itself, one nested deeper than 40 levels, and what comes after 20,000
    parts become "…".
    """
    return _Plain().of(value, 0, frozenset())


class _Plain:
    def __init__(self) -> None:
        self._left = _MOST_ITEMS

    def of(self, value: object, depth: int, above: frozenset[int]) -> Any:
        self._left -= 1
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, Enum):
            return self.of(value.value, depth, above)
        if isinstance(value, str):
            return str(value)
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else str(value)
        if self._left < 0 or depth > _DEEPEST or id(value) in above:
            return "…"
        if isinstance(value, datetime | date | time):
            return value.isoformat()
        if isinstance(value, Decimal | UUID | PurePath | timedelta):
            return str(value)
        if isinstance(value, bytes | bytearray | memoryview):
            return _foreign(value, f"{len(bytes(value))} bytes")
        try:
            return self._composed(value, depth + 1, above | {id(value)})
        except Exception as error:  # noqa: BLE001 - somebody's __iter__ or model_dump: nothing in it may stop us
            return _foreign(value, f"can't be read: {type(error).__name__}")

    def _composed(self, value: Any, depth: int, above: frozenset[int]) -> object:
        if isinstance(value, Mapping):
            return {_key(k): self.of(v, depth, above) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self.of(v, depth, above) for v in value]
        if isinstance(value, set | frozenset):
            return [self.of(v, depth, above) for v in _sorted(value)]
        message = _message(value)
        if message is not None:
            return self.of(message, depth, above)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {f.name: self.of(getattr(value, f.name), depth, above) for f in dataclasses.fields(value)}
        dump = getattr(value, "model_dump", None)
        if callable(dump) and not isinstance(value, type):
            return self.of(dump(), depth, above)
        return _foreign(value, repr(value)[:_LONGEST_REPR])


def _key(key: object) -> str:
    return key if isinstance(key, str) else str(key.value if isinstance(key, Enum) else key)


def _sorted(values: Iterable[object]) -> list[object]:
    return sorted(values, key=lambda v: (type(v).__name__, str(v)))


def _foreign(value: object, shown: str) -> dict[str, str]:
    kind = type(value)
    return {"type": f"{kind.__module__}.{kind.__qualname__}", "repr": shown}


def _message(value: object) -> dict[str, Json] | None:
    """Return a chat message as the fields people read; None for anything else."""
    role, content = getattr(value, "type", None), getattr(value, "content", None)
    if not isinstance(role, str) or content is None or not hasattr(value, "additional_kwargs"):
        return None
    found: dict[str, Any] = {"role": _ROLES.get(role, role), "content": content}
    for name in ("name", "tool_calls", "tool_call_id", "status", "id"):
        held = getattr(value, name, None)
        if held:
            found[name] = held
    return found


_ROLES = {"human": "user", "ai": "assistant"}


def said(update: object) -> list[str]:
    """Return what a node's update says, as lines for the stream; empty when it says nothing worth one."""
    if not isinstance(update, Mapping):
        return [] if update is None else [_short(plain(update))]
    lines: list[str] = []
    for key, value in update.items():
        items = value if isinstance(value, list | tuple) else [value]
        messages = [m for m in map(_message, items) if m is not None]
        if messages:
            for message in messages:
                lines += _spoken(message)
        elif value is not None:
            lines.append(f"{key}: {_short(plain(value))}")
    return lines


def _spoken(message: Mapping[str, Any]) -> list[str]:
    text = content_text(message["content"])
    calls = [c for c in message.get("tool_calls", ()) if isinstance(c, Mapping)]
    said = [f"{message['role']}: {text}"] if text.strip() else []
    return [*said, *(f"{message['role']} calls {c.get('name')} {_short(plain(c.get('args')))}" for c in calls)]


def content_text(content: Json) -> str:
    """Return the text of a message's content, which may be a text or a list of blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [p if isinstance(p, str) else str(p.get("text", "")) for p in content if isinstance(p, str | Mapping)]
        return "\n".join(part for part in parts if part)
    return str(content)


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_SAID else f"{text[: _LONGEST_SAID - 1]}…"
