"""The library that judges JSON Schemas, imported in a thread before something needs it: few questions do."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Iterable, Mapping

from hitl_tui.core.policy import Policy
from hitl_tui.core.requests import Request

_LIBRARY = ("jsonschema", "jsonschema.validators", "referencing")


async def load_validators(requests: Iterable[Request], policy: Policy) -> None:
    """Return once everything is loaded that it takes to judge and to show these requests."""
    if all(name in sys.modules for name in _LIBRARY):
        return
    if any(rule.arguments for rule in policy.all_rules) or any(map(_has_schema, requests)):
        await asyncio.to_thread(_load)


def _load() -> None:
    for name in _LIBRARY:
        importlib.import_module(name)


def _has_schema(request: Request) -> bool:
    value = request.subject.get("value")
    if "schema" in request.subject or not isinstance(value, Mapping):
        return "schema" in request.subject
    # The forms in which a payload itself brings a schema of its answer.
    return "review_configs" in value or value.get("method") == "elicitation/create"
