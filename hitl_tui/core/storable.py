"""What checkpoints can hold: JSON with 64-bit integers, texts that are Unicode, and a bounded depth.

JSON itself allows more, and one value beyond this would end a session for good: its event would come again at every
opening.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hitl_tui.core.errors import BadInput

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
_DEEPEST = 200


def check_storable(value: Any) -> None:
    """Check that a checkpoint can hold a JSON value.

    Raises:
        BadInput: an integer is too large, a text isn't Unicode, or it is nested too deeply.
    """
    pending = [(value, 0)]
    while pending:
        item, depth = pending.pop()
        if depth > _DEEPEST:
            raise BadInput(f"This value is nested deeper than {_DEEPEST} levels.")
        if isinstance(item, str):
            if not _is_unicode(item):
                raise BadInput("This value holds half of a surrogate pair, which is no text.")
        elif isinstance(item, int):
            if not _SMALLEST <= item <= _LARGEST:
                raise BadInput("This value holds a whole number beyond 64 bits; write it as a text.")
        elif isinstance(item, Mapping):
            pending += [(part, depth + 1) for pair in item.items() for part in pair]
        elif isinstance(item, list | tuple):
            pending += [(part, depth + 1) for part in item]


def storable(value: Any, _depth: int = 0) -> Any:
    """Return a JSON value as a checkpoint can hold it: what it can't is replaced by a text that says it.

    For what teams report: it has to arrive, whatever it is.
    """
    if isinstance(value, str):
        return value if _is_unicode(value) else value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, bool) or not isinstance(value, int | Mapping | list | tuple):
        return value
    if isinstance(value, int):
        return value if _SMALLEST <= value <= _LARGEST else hex(value)
    if _depth >= _DEEPEST:
        return "…"
    if isinstance(value, Mapping):
        return {storable(k): storable(v, _depth + 1) for k, v in value.items()}
    return [storable(v, _depth + 1) for v in value]


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True
