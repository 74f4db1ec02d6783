"""JSON as people and graphs write it: nothing is dropped silently."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hitl_tui.core.errors import BadInput
from hitl_tui.core.safe_text import one_line


def strict_json(text: str) -> Any:
    """Return the JSON value that a text is.

    Raises:
        BadInput: an object names a key twice, so that one of its values would count for nothing.
        ValueError: it isn't JSON, which NaN and Infinity aren't either.
        RecursionError: it is nested too deeply.
    """
    return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_once)


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise BadInput(f'The JSON names "{one_line(key, 40)}" twice in one object; say it once.')
        found[key] = value
    return found
