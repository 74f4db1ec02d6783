"""Forms that a model writes into its text, where a server has no calls of tools for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from hitl_tui.core.errors import BadInput
from hitl_tui.core.interrupts.json_schema import fits
from hitl_tui.core.json_text import strict_json
from hitl_tui.core.json_types import JsonObject

_MARKED = re.compile(r"```[\w-]*\n(.*?)(?:```|\Z)|<(tools|tool_call)>(.*?)(?:</\2>|\Z)", re.DOTALL)
_CALL = (frozenset({"name", "arguments"}), frozenset({"name", "parameters"}))
"""What an object has that is a call of a tool, written down."""


def form_in(text: str, name: str, schema: JsonObject) -> dict[str, Any] | None:
    """Return the one JSON object in a text that a form was filled in with; None for none, and for several.

    It is the text, or what stands in a fence, or what stands between the tags that models write calls in; else what
    stands in braces. Of several, it is the one that fits. A single one that doesn't fit is returned too: whoever checks
    it can say what is wrong with it.

    Args:
        text: what the model said.
        name: of the form.
        schema: JSON Schema of the form.
    """
    found = [part for part in map(object_of, _parts(text)) if part is not None]
    forms = [form for form in (_called(part, name) for part in found) if form is not None]
    fitting = [form for form in forms if fits(schema, form)]
    if len(fitting) == 1:
        return fitting[0]
    return forms[0] if len(found) == len(forms) == 1 else None


def object_of(text: str) -> dict[str, Any] | None:
    """Return the JSON object that a text is; None for anything else."""
    try:
        found = strict_json(text)
    except (ValueError, BadInput):
        return None
    return found if isinstance(found, dict) else None


def _parts(text: str) -> Iterator[str]:
    if object_of(text) is not None:
        yield text
        return
    marked = [fenced or tagged for fenced, _, tagged in _MARKED.findall(text)]
    if marked:
        yield from marked
        return
    first, last = text.find("{"), text.rfind("}")
    if 0 <= first < last:
        yield text[first : last + 1]


def _called(part: dict[str, Any], name: str) -> dict[str, Any] | None:
    """Return what an object fills the form in with: itself, or the arguments of a call of it."""
    if frozenset(part) not in _CALL or not isinstance(part["name"], str):
        return part
    given = part.get("arguments", part.get("parameters"))
    return given if part["name"] == name and isinstance(given, dict) else None
